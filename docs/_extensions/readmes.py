"""Links in files that pages include: relative to the file they stand in, where Sphinx reads them relative to the page.

A link to a file that has a page of its own leads to that page; one to any other file, to a copy of the file; one to a
folder becomes plain text. A link to nothing is left as it is, and the build complains of it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
INCLUDE = re.compile(r"^```\{include\} (\S+)", re.MULTILINE)


def find_pages(root: Path) -> dict[Path, Path]:
    """The first page that includes each included file."""
    pages: dict[Path, Path] = {}
    for page in sorted(root.rglob("*.md")):
        if "_build" not in page.parts:
            for included in INCLUDE.findall(page.read_text(encoding="utf-8")):
                pages.setdefault((page.parent / included).resolve(), page)
    return pages


def rewrite_links(text: str, file: Path, pages: dict[Path, Path]) -> str:
    """``text`` of ``file`` with its relative links as they must stand in the page that includes it."""
    here = pages[file].parent

    def rewrite(link: re.Match[str]) -> str:
        words, target = link[1], link[2]
        path, _, anchor = target.partition("#")
        if not path or "://" in path:
            return link[0]
        found = (file.parent / path).resolve()
        if found.is_dir():
            found = found / "README.md" if found / "README.md" in pages else found
        if found.is_dir():
            return words
        found = pages.get(found, found)
        return f"[{words}]({os.path.relpath(found, here)}{'#' + anchor if anchor else ''})"

    return LINK.sub(rewrite, text)


def setup(app: Sphinx) -> dict[str, bool]:
    root = Path(app.srcdir)
    pages = find_pages(root)

    def on_include(_: Sphinx, path: Path, parent: str, content: list[str]) -> None:
        content[0] = rewrite_links(content[0], (root / path).resolve(), pages)

    app.connect("include-read", on_include)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
