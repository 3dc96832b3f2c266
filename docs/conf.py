"""How the site is built: `make docs`, or `sphinx-build -W --keep-going -n docs docs/_build/html`."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "src")]

project = "sociable"
author = "The sociable authors"
copyright = "the sociable authors"  # noqa: A001 - Sphinx's name
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "readmes", "public_names"]
exclude_patterns = ["_build"]
templates_path: list[str] = []

html_theme = "furo"
html_title = "sociable"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False

myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 4

autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    "show-inheritance": True,
    "member-order": "bysource",
    # Of pydantic, the same for every record.
    "exclude-members": "model_config, model_fields, model_computed_fields, model_post_init",
}
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
# A name in a signature is a link where its module has a page here, and plain text where it has none.
nitpick_ignore_regex = [("py:.*", r".*")]
