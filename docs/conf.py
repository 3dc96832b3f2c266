"""The settings of the site, which `make docs`, or `sphinx-build -W --keep-going -n docs docs/_build/html`, builds."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "src")]

project = "sociable"
author = "The sociable authors"
copyright = "the sociable authors"  # noqa: A001 (Sphinx calls it so)
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "readmes", "public_names"]
exclude_patterns = ["_build", "recordings"]
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
DESCRIBED = sorted(re.findall(r"automodule:: (\S+)", "".join(page.read_text() for page in HERE.glob("reference/*.md"))))
# A name in a signature is a link where its module has a page here, and plain text where it has none.
nitpick_ignore_regex = [("py:.*", rf"(?!({'|'.join(map(re.escape, DESCRIBED))})\.).*"), ("py:.*", r".*\._\w+")]
nitpick_ignore = [
    (kind, f"{module}.{name}")
    for module in DESCRIBED
    for name, found in vars(import_module(module)).items()
    if type(found).__name__ == "TypeVar"
    for kind in ("py:class", "py:obj")
]


def skip_type_variables(app: Any, what: str, name: str, found: object, skip: bool, options: Any) -> bool | None:
    """Type variables are no part of what is described; their meaning stands where they are used."""
    return True if type(found).__name__ == "TypeVar" else None


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", skip_type_variables)
