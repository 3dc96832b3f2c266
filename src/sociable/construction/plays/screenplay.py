"""Screenplays: Fountain, typed pages whose elements are told by their indents, and Final Draft's XML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from sociable.construction.plays.directions import DirectionHabit, split_directions
from sociable.construction.plays.frame import Line, lines_of
from sociable.construction.plays.headings import HeadingKind, heading_of
from sociable.construction.plays.names import Names, joined
from sociable.construction.plays.records import Direction, Entry, Play, PlayScene, Speech
from sociable.construction.plays.tree import Element, read_tree
from sociable.construction.plays.wrapping import mender_of
from sociable.core.errors import DataError, InputError

_SCENE = re.compile(r"^(?:\d{1,4}[A-Z]?\.?\s+)?(?:INT|EXT|EST|I/E|E/I)(?:\b|\.)[./ ]", re.I)
_SCENE_NUMBER = re.compile(r"\s*#[\w.\-]+#\s*$|\s{2,}\d{1,4}[A-Z]?\.?$")
_TRANSITION = re.compile(r"^(?:[A-Z ]+ TO|FADE (?:IN|OUT|TO [A-Z ]+)|THE END|END CREDITS?|DISSOLVE|BLACK)[:.]?$")
_EXTENSION = re.compile(r"\s*\((?:[^()]*)\)\s*")
_CONTINUED = re.compile(r"^\(?\s*(?:CONTINUED|CONT['’]?D)\s*:?\s*(?:\(\d+\))?\s*\)?$", re.I)
_PAGE = re.compile(r"^(?:page\s+)?\d{1,4}\.?$", re.I)
_CUE = re.compile(r"^[^a-zß-öø-ÿ]*[A-ZÀ-Þ][^a-zß-öø-ÿ]*$")
_KEY = re.compile(r"^(?P<key>[A-Za-z][A-Za-z ]{0,30}):\s*(?P<value>.*)$")
_NOTE, _BONEYARD = re.compile(r"\[\[.*?\]\]", re.S), re.compile(r"/\*.*?\*/", re.S)
_STRESS = re.compile(r"(?<!\\)(\*{1,3}|_)(?=\S)(.+?)(?<=\S)(?<!\\)\1")
_MORE = re.compile(r"^\(\s*MORE\s*\)$", re.I)
_AGAIN = re.compile(r"\(\s*(?:CONT['’]?D?\.?|CONTINUED|CONTINUING)\s*\)", re.I)
_HABIT = DirectionHabit()
_CUE_COLUMNS, _SPEECH_COLUMNS = 12, 4
_LONGEST_CUE = 45
_FEW_SCENES, _OFTEN, _SOME_ACTION, _SHIFTED = 2, 5, 0.05, 0.02
_USUAL_LINES = 0.97
"""The share of first lines that are no longer than a line of speech: a few are not wrapped as the others."""


@dataclass
class _Part:
    """A speech as cued, or an action where ``cue`` is empty; ``lines`` include parentheses, each on a line of its own."""

    cue: str
    lines: list[str]
    place: str


@dataclass
class _Scene:
    act: str
    scene: str
    heading: str
    parts: list[_Part] = field(default_factory=list)


@dataclass
class _Script:
    """What any of the layouts is read into."""

    name: str
    title: str = ""
    scenes: list[_Scene] = field(default_factory=lambda: [_Scene("", "", "")])
    number: int = 0

    def open_scene(self, heading: str) -> None:
        """A scene, numbered through, unless the heading has a label of its own."""
        found = heading_of(heading)
        act = self.scenes[-1].act
        if found is not None and found.kind is HeadingKind.ACT:
            inner = heading_of(found.rest)
            has_scene = inner is not None and inner.kind is HeadingKind.SCENE
            label, rest = (inner.label, inner.rest) if inner is not None and has_scene else ("", found.rest)
            self.scenes.append(_Scene(found.label, label, rest))
        elif found is not None and found.kind is HeadingKind.SCENE:
            self._replace_empty(_Scene(act, found.label, found.rest))
        elif found is not None and found.kind is HeadingKind.APART:
            is_act = not act.startswith("Act ") or found.label == "Epilogue"
            self.scenes.append(_Scene(found.label if is_act else act, "" if is_act else found.label, found.rest))
        else:
            self.number += 1
            self._replace_empty(_Scene(act, f"Scene {self.number}", _SCENE_NUMBER.sub("", heading).strip(". ")))

    def _replace_empty(self, scene: _Scene) -> None:
        if not self.scenes[-1].parts:
            self.scenes.pop()
        self.scenes.append(scene)

    def add(self, cue: str, lines: Sequence[str], line: int) -> None:
        self.scenes[-1].parts.append(_Part(cue, list(lines), f"{self.name}:{line}"))

    def play(self, path: Path, layout: str) -> Play:
        cues = [part.cue for scene in self.scenes for part in scene.parts if part.cue]
        if not cues:
            raise InputError(
                f"{path}: nobody speaks in it, read as {layout}. Expected a name in capitals on a line of its own with the "
                "speech under it; for a stage play in another layout give the file the ending .txt."
            )
        names = Names((), Counter(map(_speaker, cues)))
        mended = mender_of("\n".join(part.lines) for scene in self.scenes for part in scene.parts)
        return Play(
            title=self.title or path.stem,
            layout=layout,
            scenes=tuple(
                PlayScene(
                    act=s.act, scene=s.scene, heading=s.heading, entries=tuple(_entry(part, names, mended) for part in s.parts)
                )
                for s in self.scenes
                if any(part.cue for part in s.parts) or (s.parts and (s.act or s.scene))
            ),
        )


def _entry(part: _Part, names: Names, mended: Callable[[str], str]) -> Entry:
    printed = mended("\n".join(part.lines))
    if not part.cue:
        return Direction(text=" ".join(printed.split()), place=part.place)
    text, directions = split_directions(printed, _HABIT)
    speakers = names.speakers(_speaker(part.cue))
    return Speech(speaker=joined(speakers), speakers=speakers, label=part.cue, text=text, directions=directions, place=part.place)


def _speaker(cue: str) -> str:
    """The name alone, without where the voice comes from and whether the speech goes on."""
    return _EXTENSION.sub(" ", cue).strip(" ^@:")


def is_scene_heading(text: str) -> bool:
    return bool(_SCENE.match(text)) and text[:40].upper() == text[:40] and len(text) < 120


# Fountain


def read_fountain(path: Path, text: str) -> Play:
    """A screenplay in Fountain. Raises InputError where nobody speaks in it."""
    text = _BONEYARD.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = _NOTE.sub(lambda found: "\n" * found[0].count("\n"), text)
    lines = lines_of(text)
    script = _Script(path.name)
    start = _title_page(lines, script)
    index = start
    while index < len(lines):
        index = _fountain_element(lines, index, script)
    return script.play(path, "Fountain")


def _title_page(lines: Sequence[Line], script: _Script) -> int:
    """Where the script begins behind the title page; the page itself ends with a blank line."""
    first = next((index for index, line in enumerate(lines) if line.text), 0)
    if first == len(lines) or not (match := _KEY.match(lines[first].text)) or is_scene_heading(lines[first].text):
        return first
    if _TRANSITION.match(lines[first].text) or heading_of(lines[first].text):
        return first
    title: list[str] = []
    in_title = False
    for index in range(first, len(lines)):
        if lines[index].is_blank:
            break
        match = _KEY.match(lines[index].text) if lines[index].indent == 0 else None
        if match:
            in_title = match["key"].casefold() == "title"
        if in_title:
            title.append(match["value"] if match else lines[index].text)
    else:
        return first
    script.title = _without_stress(" ".join(" ".join(title).split()))
    return index


def _fountain_element(lines: Sequence[Line], index: int, script: _Script) -> int:
    """Takes what begins at ``index``; gives the index after it."""
    line = lines[index]
    text = line.text
    if not text or re.fullmatch(r"={3,}", text):
        return index + 1
    after_blank = index == 0 or lines[index - 1].is_blank
    if text[0] == "#":
        title = text.strip("# ")
        if heading_of(title):
            script.open_scene(title)
        return index + 1
    if text[0] == "=":
        return index + 1
    if text[0] == "." and text[1:2].isalnum():
        script.open_scene(text[1:])
        return index + 1
    if is_scene_heading(text) or (after_blank and _is_stage_heading(text)):
        script.open_scene(text.strip("> <"))
        return index + 1
    if text[0] == "!":
        return _action(lines, index, script)
    if _TRANSITION.match(text) or (text[0] == ">" and not text.endswith("<")):
        return index + 1
    if text[0] == ">":
        script.add("", [_without_stress(text.strip("<> "))], line.number)
        return index + 1
    if (text[0] == "@" or _is_cue(text)) and after_blank and index + 1 < len(lines) and not lines[index + 1].is_blank:
        return _fountain_speech(lines, index, script)
    return _action(lines, index, script)


def _is_stage_heading(text: str) -> bool:
    found = heading_of(text.strip("> <"))
    return found is not None and found.kind in (HeadingKind.ACT, HeadingKind.SCENE, HeadingKind.APART)


def _is_cue(text: str) -> bool:
    name = _name_in(text)
    is_name = bool(name and _CUE.match(name)) and len(name) <= _LONGEST_CUE
    return is_name and name[-1] not in "!?" and not name.endswith("TO:") and not _CONTINUED.match(text)


def _fountain_speech(lines: Sequence[Line], index: int, script: _Script) -> int:
    said = []
    first = index
    index += 1
    # A line of two blanks is a blank line within the speech; an empty one ends it.
    while index < len(lines) and (lines[index].text or (lines[index].indent >= 2 and index + 1 < len(lines))):
        said.append(_without_stress(lines[index].text.lstrip("~")))
        index += 1
    script.add(lines[first].text.lstrip("@"), said, lines[first].number)
    return index


def _action(lines: Sequence[Line], index: int, script: _Script) -> int:
    first = index
    told: list[str] = []
    while index < len(lines) and lines[index].text and not (told and is_scene_heading(lines[index].text)):
        told.append(_without_stress(lines[index].text.lstrip("!")))
        index += 1
    script.add("", told, lines[first].number)
    return index


def _without_stress(text: str) -> str:
    for _ in range(3):
        text = _STRESS.sub(r"\2", text)
    return text.replace("\\*", "*").replace("\\_", "_")


# Typed pages


def cues_of(lines: Sequence[Line]) -> Callable[[str], bool]:
    """Tells the names over speeches: capitals, or in a film script without any, what recurs over shorter columns."""
    if columns_of(lines, _is_cue) is not None or sum(is_scene_heading(line.text) for line in lines) < _FEW_SCENES:
        return _is_cue
    again = Counter(
        _name_in(line.text)
        for line, below in pairwise(lines)
        if line.indent >= _CUE_COLUMNS and below.text and below.indent < line.indent and line.text[0].isupper()
    )
    names = {name for name, count in again.items() if count >= _OFTEN}
    return lambda text: _name_in(text) in names


def _name_in(text: str) -> str:
    return _EXTENSION.sub(" ", text).strip(" ^")


@dataclass(frozen=True)
class Columns:
    """Where a script sets names, and the speeches under them; both may shift from page to page."""

    cues: frozenset[int]
    speeches: frozenset[int]

    def is_cue(self, line: Line) -> bool:
        return any(abs(line.indent - column) <= 3 for column in self.cues)

    def is_speech(self, line: Line) -> bool:
        return any(abs(line.indent - column) <= 2 for column in self.speeches)

    @property
    def least(self) -> int:
        return min(self.speeches)


def columns_of(lines: Sequence[Line], is_cue: Callable[[str], bool]) -> Columns | None:
    """The columns of a typed screenplay; None where the text is not set so."""
    cues: Counter[int] = Counter()
    under: Counter[int] = Counter()
    for line, below in pairwise(lines):
        is_over = bool(below.text) and not is_cue(below.text) and below.indent < line.indent
        if is_over and line.indent >= _CUE_COLUMNS and is_cue(line.text) and not _is_marked(line.text):
            cues[line.indent] += 1
            if below.text[0] != "(":
                under[below.indent] += 1
    if not cues or not under or cues.most_common(1)[0][1] < 3:
        return None
    cue, speech = cues.most_common(1)[0][0], under.most_common(1)[0][0]
    if cue - speech < _SPEECH_COLUMNS:
        return None
    return Columns(_usual(cues), _usual(under))


def _usual(counts: Counter[int]) -> frozenset[int]:
    return frozenset(column for column, count in counts.items() if count >= max(3, _SHIFTED * counts.total())) or frozenset(
        {counts.most_common(1)[0][0]}
    )


def _is_marked(text: str) -> bool:
    """It is a heading or a transition."""
    return heading_of(text) is not None or is_scene_heading(text) or bool(_TRANSITION.match(text))


def is_typed_screenplay(lines: Sequence[Line]) -> bool:
    """Names stand in deep columns over speeches in lesser ones, and there are action further left still or scene headings."""
    columns = columns_of(lines, cues_of(lines))
    if columns is None:
        return False
    return _lines_left_of(lines, columns.least) >= 2 or sum(is_scene_heading(line.text) for line in lines) >= _FEW_SCENES


def _lines_left_of(lines: Sequence[Line], speech: int) -> int:
    return sum(bool(line.text) and line.indent <= speech - _SPEECH_COLUMNS for line in lines)


def read_typed(path: Path, text: str) -> Play:
    """A screenplay whose elements are told by their columns. Raises InputError where nobody speaks in it."""
    lines = [line for line in lines_of(re.sub(r"</?(?:b|i|u|pre)>", "", text, flags=re.I)) if not _is_furniture(line)]
    is_cue = cues_of(lines)
    columns = columns_of(lines, is_cue)
    if columns is None:
        raise InputError(
            f"{path}: no screenplay in columns: expected names at least {_CUE_COLUMNS} columns in, over their speeches."
        )
    typed = _Typed(lines, columns, is_cue, _Script(path.name, _typed_title(lines)))
    return typed.script().play(path, "typed screenplay")


def _is_furniture(line: Line) -> bool:
    """Page numbers and what is only said because a page ended."""
    return bool(_PAGE.match(line.text) or _CONTINUED.match(line.text))


def _typed_title(lines: Sequence[Line]) -> str:
    for line in lines:
        if is_scene_heading(line.text) or _TRANSITION.match(line.text) or heading_of(line.text):
            return ""
        if line.text:
            return line.text.strip('"“”_*')
    return ""


class _Typed:
    def __init__(self, lines: Sequence[Line], columns: Columns, is_cue: Callable[[str], bool], script: _Script) -> None:
        self._lines, self._columns, self._is_cue, self._script = lines, columns, is_cue, script
        has_action_left = _lines_left_of(lines, columns.least) > _SOME_ACTION * sum(bool(line.text) for line in lines)
        self._width = None if has_action_left else self._speech_width()
        self._speakers = {_name_in(line.text) for line in lines if columns.is_cue(line) and is_cue(line.text)}
        self._open: _Part | None = None
        self._goes_on = False
        """The page ended within a speech."""

    def script(self) -> _Script:
        after_blank = True
        for index, line in enumerate(self._lines):
            if line.is_blank:
                after_blank = True
                continue
            self._take(index, line, after_blank)
            after_blank = False
        return self._script

    def _take(self, index: int, line: Line, after_blank: bool) -> None:
        text = line.text
        if _MORE.match(text):
            self._goes_on = True
        elif is_scene_heading(text) or (heading_of(text) is not None and _is_stage_heading(text)):
            self._open, self._goes_on = None, False
            self._script.open_scene(re.sub(r"^\d{1,4}[A-Z]?\.?\s+(?=INT|EXT|I/E)", "", text))
        elif self._is_cue(text) and self._has_speech(index, after_blank):
            self._begin(line)
        elif self._open is not None and self._open.cue and self._is_speech(line, after_blank):
            self._open.lines.append(text)
        elif _TRANSITION.match(text):
            self._open = None
        elif self._open is not None and not self._open.cue and not after_blank:
            self._open.lines.append(text)
        else:
            self._script.add("", [text], line.number)
            self._open = self._script.scenes[-1].parts[-1]

    def _speech_width(self) -> int:
        """How long a line of speech gets: where action stands in its column, only that and a blank line tell it apart."""
        first = sorted(
            len(below.text)
            for line, below in pairwise(self._lines)
            if self._columns.is_cue(line) and self._is_cue(line.text) and below.indent < line.indent
        )
        return first[int(len(first) * _USUAL_LINES)] + 4

    def _has_speech(self, index: int, after_blank: bool) -> bool:
        line = self._lines[index]
        below = next((line for line in self._lines[index + 1 : index + 3] if line.text), None)
        if below is None:
            return False
        if self._columns.is_cue(line):
            return (below.indent < line.indent and self._columns.is_speech(below)) or below.text[0] == "("
        # Where columns hardly tell elements apart, a name may have slipped into that of the speeches.
        is_known = self._width is not None and _name_in(line.text) in self._speakers
        return is_known and after_blank and self._lines[index + 1] is below and self._columns.is_speech(below)

    def _begin(self, line: Line) -> None:
        before = self._open
        if before is not None and before.cue and self._goes_on and _speaker(before.cue) == _speaker(line.text):
            self._goes_on = False
            return
        self._goes_on = False
        self._script.add(line.text, [], line.number)
        self._open = self._script.scenes[-1].parts[-1]

    def _is_speech(self, line: Line, after_blank: bool) -> bool:
        is_in_column = line.indent >= self._columns.least - 2
        if self._width is not None:
            assert self._open is not None
            goes_on = line.text[0] == "(" or (bool(self._open.lines) and self._open.lines[-1].endswith(")"))
            return is_in_column and (goes_on or not after_blank) and len(line.text) <= self._width
        return is_in_column and (not after_blank or (line.indent <= max(self._columns.cues) and not _TRANSITION.match(line.text)))


# Final Draft


def read_final_draft(path: Path, data: bytes) -> Play:
    """A screenplay in Final Draft's XML. Raises DataError for XML that cannot be read or is no such screenplay."""
    root = read_tree(path, data)
    if root.name != "FinalDraft":
        raise DataError(f"{path}:{root.line}", "", f"element {root.name}; expected FinalDraft, as Final Draft 8 and later write")
    script = _Script(path.name)
    content = next((child for child in root.elements if child.name == "Content"), None)
    if content is None:
        raise DataError(f"{path}:{root.line}", "FinalDraft", "no Content in it; save it from Final Draft as a script")
    title = next((child for child in root.elements if child.name == "TitlePage"), None)
    if title is not None:
        script.title = next((text for each in title.walk() if each.name == "Paragraph" and (text := _paragraph(each))), "")
    cue: tuple[str, int] | None = None
    said: list[str] = []

    def close() -> None:
        nonlocal cue
        if cue is not None and said:
            script.add(cue[0], said, cue[1])
        cue = None
        said.clear()

    for paragraph in _paragraphs(content):
        kind, text = paragraph.attributes.get("Type", "General"), _paragraph(paragraph)
        if not text:
            continue
        if kind in ("Dialogue", "Parenthetical", "Singing") and cue is not None:
            said.append(text if kind != "Parenthetical" or text.startswith("(") else f"({text})")
            continue
        close()
        if kind == "Character":
            cue = (text, paragraph.line)
        elif kind in ("Scene Heading", "New Act") or (kind != "Action" and _is_stage_heading(text)):
            script.open_scene(text)
        elif kind not in ("Transition", "End of Act", "Cast List"):
            script.add("", [text], paragraph.line)
    close()
    return script.play(path, "Final Draft")


def _paragraphs(element: Element) -> Iterator[Element]:
    """All paragraphs, those of speeches side by side one after the other."""
    for child in element.elements:
        if child.name == "Paragraph":
            if any(inner.name == "Text" for inner in child.elements):
                yield child
            yield from _paragraphs(child)
        elif child.name == "DualDialogue":
            yield from _paragraphs(child)


def _paragraph(paragraph: Element) -> str:
    return " ".join("".join(inner.text() for inner in paragraph.elements if inner.name == "Text").split())
