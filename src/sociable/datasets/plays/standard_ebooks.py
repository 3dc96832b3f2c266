"""Plays as Standard Ebooks marks them up: one XHTML file for each act, speakers in table cells of type ``z3998:persona``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sociable.core.errors import InputError
from sociable.datasets.plays.headings import HeadingKind, heading_of
from sociable.datasets.plays.names import Names
from sociable.datasets.plays.persons import cast_members, joined, words_of
from sociable.datasets.plays.records import CastMember, Direction, Entry, InlineDirection, Play, PlayScene, Speech
from sociable.datasets.plays.tree import Element, read_tree

_PERSONA, _DIRECTION = "z3998:persona", "z3998:stage-direction"
_INVISIBLE = dict.fromkeys(map(ord, "\u2060\u200b\ufeff\u00ad"))
_BREAKS = frozenset({"br", "p", "li", "td", "blockquote"})
_ORDER = ("prologue", "induction", "act", "scene", "chapter", "epilogue")
_FOLDERS = ("xhtml", "src/epub/text", "epub/text", "text", ".")


@dataclass
class _Row:
    """A speech before its speakers are known in full; a direction where ``label`` is empty."""

    label: str
    text: str
    directions: list[InlineDirection]
    place: str


@dataclass
class _Scene:
    act: str
    scene: str
    heading: str = ""
    rows: list[_Row] = field(default_factory=list)


def chapters_in(folder: Path) -> list[Path]:
    """The XHTML files of a book's folder that hold its text, in the order of the play; none where it is no such folder."""
    for place in _FOLDERS:
        if found := [
            file for file in (folder / place).glob("*.xhtml") if _rank(file) is not None or file.stem == "dramatis-personae"
        ]:
            return sorted(found, key=lambda file: _rank(file) or (-1, 0, file.stem))
    return []


def _rank(file: Path) -> tuple[int, int, str] | None:
    match = re.match(r"([a-z]+)-?(\d*)", file.stem)
    if match is None or match[1] not in _ORDER:
        return None
    return _ORDER.index(match[1]) if match[1] != "scene" else _ORDER.index("act"), int(match[2] or 0), file.stem


def read_standard_ebooks(path: Path, files: Sequence[Path]) -> Play:
    """A play from the files of its acts. Raises DataError for XML that cannot be read, InputError where nobody speaks."""
    cast: list[CastMember] = []
    scenes: list[_Scene] = []
    for file in files:
        body = next((each for each in read_tree(file, file.read_bytes()).walk() if each.name == "body"), None)
        if body is None:
            continue
        for section in body.elements:
            if "z3998:dramatis-personae" in section.types():
                cast += _cast(section)
            else:
                _Chapter(file, scenes).read(section, 0)
    rows = [row for scene in scenes for row in scene.rows]
    if not any(row.label for row in rows):
        raise InputError(
            f"{path}: nobody speaks in {', '.join(file.name for file in files)}. Expected table cells of epub:type {_PERSONA} "
            "with a name, beside the speech, as Standard Ebooks has them; for other layouts give a text file."
        )
    texts = [row.text for row in rows] + [direction.text for row in rows for direction in row.directions]
    names = Names(cast, Counter(row.label for row in rows if row.label), words_of(texts))
    return Play(
        title=_title(path, files),
        layout="Standard Ebooks XHTML",
        cast=tuple(cast),
        scenes=tuple(
            PlayScene(act=s.act, scene=s.scene, heading=s.heading, entries=tuple(_entry(row, names) for row in s.rows))
            for s in scenes
            if s.rows
        ),
    )


def _entry(row: _Row, names: Names) -> Entry:
    if not row.label:
        return Direction(text=row.text, place=row.place)
    speakers = names.speakers(row.label)
    return Speech(
        speaker=joined(speakers),
        speakers=speakers,
        label=row.label,
        text=row.text,
        directions=tuple(row.directions),
        place=row.place,
    )


def _title(path: Path, files: Sequence[Path]) -> str:
    """As the title page or the package says; otherwise after the folder."""
    folder = files[0].parent
    for file in (folder / "titlepage.xhtml", folder.parent / "content.opf"):
        if file.is_file():
            for element in read_tree(file, file.read_bytes()).walk():
                if element.name in ("h1", "dc:title") and (title := _plain(_with_breaks(element))):
                    return title
    stem = next(
        (name for name in (path.name, path.resolve().parent.name) if name not in ("xhtml", "text", "epub", "src", "")), ""
    )
    author, _, work = stem.partition("_")
    return (work or author).partition("_")[0].replace("-", " ").capitalize()


def _cast(section: Element) -> Iterator[CastMember]:
    items = [element for element in section.walk() if element.name == "li"]
    if items:
        for item in items:
            yield from cast_members(_plain(_with_breaks(item)))
        return
    for row in (element for element in section.walk() if element.name == "tr"):
        cells = [_plain(_with_breaks(cell)) for cell in row.elements if cell.name in ("td", "th")]
        yield from cast_members(", ".join(filter(None, cells)))


class _Chapter:
    """Reads one file's sections into scenes, one after the other."""

    def __init__(self, file: Path, scenes: list[_Scene]) -> None:
        self._file, self._scenes = file, scenes
        self._act = ""
        self._spanned = 0

    def read(self, element: Element, depth: int) -> None:
        if element.name in ("section", "article", "div"):
            if element.name == "section":
                self._open(element, depth)
            for child in element.elements:
                self.read(child, depth + 1)
        elif element.name in ("table", "tbody", "thead"):
            for child in element.elements:
                self.read(child, depth)
        elif element.name == "tr":
            self._row(element)
        elif element.name in ("p", "blockquote", "ul", "ol") and self._scenes:
            self._told(element)

    def _open(self, section: Element, depth: int) -> None:
        header = next((e for e in section.elements if re.fullmatch(r"h[1-6]|hgroup|header", e.name)), None)
        text = _plain(_with_breaks(header)) if header is not None else ""
        heading = heading_of(text)
        label = heading.label if heading is not None and heading.label else text
        rest = heading.rest if heading is not None and heading.kind is not HeadingKind.SETTING else ""
        if depth == 0:
            self._act = label
            self._scenes.append(_Scene(label, "", rest))
        elif label:
            self._scenes.append(_Scene(self._act, label, rest))

    def _row(self, row: Element) -> None:
        if not self._scenes:
            return
        cells = [cell for cell in row.elements if cell.name in ("td", "th")]
        persona = next((cell for cell in cells if _PERSONA in cell.types()), None)
        others = [cell for cell in cells if cell is not persona]
        text, directions = _parted(others)
        place = f"{self._file.name}:{row.line}"
        if persona is not None:
            rows = persona.attributes.get("rowspan", "1")
            self._spanned = int(rows) - 1 if rows.isdecimal() and len(rows) < 4 else 0
            self._scenes[-1].rows.append(_Row(_label(persona), text, directions, place))
            return
        if self._spanned and len(cells) == 1 and self._scenes[-1].rows:
            # Their names stand beside several rows.
            self._spanned -= 1
            last = self._scenes[-1].rows[-1]
            shift = len(last.text) + 1
            last.directions += [InlineDirection(text=each.text, at=each.at + shift) for each in directions]
            last.text = f"{last.text} {text}".strip()
            return
        self._told(row)

    def _told(self, element: Element) -> None:
        if text := _plain(_with_breaks(element)):
            self._scenes[-1].rows.append(_Row("", text, [], f"{self._file.name}:{element.line}"))


def _label(persona: Element) -> str:
    """The name, or the names of those who speak together, one under the other."""
    parts = [each if isinstance(each, str) else "\n" if each.name == "br" else _with_breaks(each) for each in persona.children]
    has_breaks = any(child.name == "br" for child in persona.elements)
    names = re.split(r"\n", "".join(parts)) if has_breaks else parts and ["".join(parts)]
    return ", ".join(filter(None, (_plain(name).rstrip(",") for name in names)))


def _parted(cells: Sequence[Element]) -> tuple[str, list[InlineDirection]]:
    """What is said in cells, and the directions in it."""
    said: list[str] = []
    found: list[InlineDirection] = []

    def take(element: Element) -> None:
        for child in element.children:
            if isinstance(child, str):
                said.append(child)
            elif _DIRECTION in child.types():
                if text := _plain(_with_breaks(child)):
                    found.append(InlineDirection(text=text, at=len(_plain("".join(said)))))
                said.append(" ")
            elif "noteref" not in child.types():
                take(child)
                if child.name in _BREAKS:
                    said.append(" ")

    for cell in cells:
        take(cell)
        said.append(" ")
    return _plain("".join(said)), found


def _with_breaks(element: Element) -> str:
    """All text in it without marks of notes, a space where a line breaks."""
    parts = []
    for child in element.children:
        if isinstance(child, str):
            parts.append(child)
        elif "noteref" not in child.types():
            parts.append(_with_breaks(child) + (" " if child.name in _BREAKS else ""))
    return "".join(parts)


def _plain(text: str) -> str:
    return " ".join(text.translate(_INVISIBLE).split())
