"""Plays as Standard Ebooks marks them up: one XHTML file for each act, speakers in table cells of type ``z3998:persona``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from sociable.datasets.plays.cast import read_members
from sociable.datasets.plays.draft import Draft, DraftScene, Part
from sociable.datasets.plays.headings import Heading, HeadingKind, find_heading
from sociable.datasets.plays.records import CastMember, InlineDirection, Play
from sociable.datasets.plays.tree import Element, part_directions, read_tree

_PERSONA = "z3998:persona"
_ORDER = ("dramatis-personae", "prologue", "induction", "act", "scene", "chapter", "epilogue")
_FOLDERS = ("xhtml", "src/epub/text", "epub/text", "text", ".")


def find_chapters(folder: Path) -> list[Path]:
    """The XHTML files of a book's folder that hold its text, in the order of the play; none where it is no such folder."""
    for place in _FOLDERS:
        ranked = [(rank, file) for file in (folder / place).glob("*.xhtml") if (rank := _find_rank(file)) is not None]
        if ranked:
            return [file for _, file in sorted(ranked)]
    return []


def _find_rank(file: Path) -> tuple[int, int, str] | None:
    match = re.match(r"(dramatis-personae|[a-z]+)-?(\d*)", file.stem)
    if match is None or match[1] not in _ORDER:
        return None
    return _ORDER.index(match[1].replace("scene", "act")), int(match[2] or 0), file.stem


def read_standard_ebooks(path: Path, files: Sequence[Path]) -> Play:
    """A play from the files of its acts. Raises DataError for XML that cannot be read, InputError where nobody speaks."""
    cast: list[CastMember] = []
    draft = Draft(path, "Standard Ebooks XHTML", _find_title(path, files), cast)
    for file in files:
        body = next((each for each in read_tree(file, file.read_bytes()).walk() if each.name == "body"), None)
        for section in body.elements if body is not None else ():
            if section.has_type("z3998:dramatis-personae"):
                cast += _read_cast(section)
            else:
                _Chapter(file, draft).read(section, 0)
    return draft.finish(
        f"Expected table cells of epub:type {_PERSONA} with a name, beside the speech, as Standard Ebooks has them; for other "
        "layouts give a text file."
    )


def _find_title(path: Path, files: Sequence[Path]) -> str:
    """The title on the title page or in the package; otherwise the folder's."""
    folder = files[0].parent
    for file in (folder / "titlepage.xhtml", folder.parent / "content.opf"):
        if file.is_file():
            for element in read_tree(file, file.read_bytes()).walk():
                if element.name in ("h1", "dc:title") and element.text:
                    return element.text
    named = [name for name in (path.name, path.resolve().parent.name) if name not in ("xhtml", "text", "epub", "src", "")]
    author, _, work = "".join(named[:1]).partition("_")
    return (work or author).partition("_")[0].replace("-", " ").capitalize()


def _read_cast(section: Element) -> Iterator[CastMember]:
    items = [element.text for element in section.walk() if element.name == "li"]
    rows = [element for element in section.walk() if element.name == "tr"]
    for entry in items or [", ".join(cell.text for cell in row.elements if cell.text) for row in rows]:
        yield from read_members(entry)


class _Chapter:
    """Reads one file's sections into scenes, one after the other."""

    def __init__(self, file: Path, draft: Draft) -> None:
        self._file, self._draft = file, draft
        self._act = ""
        self._speech: Part | None = None
        self._rows_left = 0
        """The number of rows that go on with the speech before, whose speakers' names stand beside all of them."""

    def read(self, element: Element, depth: int) -> None:
        if element.name == "section":
            self._open(element, depth)
        if element.name in ("section", "article", "div", "table", "tbody", "thead"):
            for child in element.elements:
                self.read(child, depth + 1)
        elif element.name == "tr":
            self._read_row(element)
        elif element.name in ("p", "blockquote", "ul", "ol") and element.text:
            self._add("", element.text, element)

    def _open(self, section: Element, depth: int) -> None:
        text = next((e.text for e in section.elements if re.fullmatch(r"h[1-6]|hgroup|header", e.name)), "")
        heading = find_heading(text) or Heading(HeadingKind.SETTING)
        label = heading.label or text
        if depth == 0:
            self._act = label
        if depth == 0 or label:
            rest = heading.rest if heading.kind is not HeadingKind.SETTING else ""
            self._draft.scenes.append(DraftScene(self._act, label if depth else "", rest))

    def _read_row(self, row: Element) -> None:
        cells = [cell for cell in row.elements if cell.name in ("td", "th")]
        persona = next((cell for cell in cells if cell.has_type(_PERSONA)), None)
        text, directions = part_directions(cell for cell in cells if cell is not persona)
        if persona is not None:
            rows = persona.attributes.get("rowspan", "1")
            self._rows_left = int(rows) - 1 if rows.isdecimal() and len(rows) < 4 else 0
            self._speech = self._add(_read_label(persona), text, row)
            self._speech.directions = directions
        elif self._rows_left and len(cells) == 1 and self._speech is not None and self._speech.directions is not None:
            self._rows_left -= 1
            shift = len(self._speech.text) + 1
            self._speech.directions += tuple(InlineDirection(text=each.text, at=each.at + shift) for each in directions)
            self._speech.lines = [f"{self._speech.text} {text}".strip()]
        elif row.text:
            self._add("", row.text, row)

    def _add(self, label: str, text: str, element: Element) -> Part:
        return self._draft.add(label, [text], element.line, self._file)


def _read_label(persona: Element) -> str:
    """The name, or the names of those who speak together, one under the other."""
    names = [""]
    for child in persona.children:
        if isinstance(child, Element) and child.name == "br":
            names.append("")
        else:
            names[-1] += child if isinstance(child, str) else child.text
    return ", ".join(filter(None, (" ".join(name.split()).rstrip(",") for name in names)))
