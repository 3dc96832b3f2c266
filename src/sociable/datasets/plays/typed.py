"""Typed screenplays: reading one whose layout has been found out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from sociable.datasets.plays.columns import in_columns
from sociable.datasets.plays.frame import Line, filled
from sociable.datasets.plays.headings import heading_of
from sociable.datasets.plays.one_column import in_one_column
from sociable.datasets.plays.pages import Pages
from sociable.datasets.plays.records import Play
from sociable.datasets.plays.script import TRANSITION, Part, Script, is_scene_heading, is_stage_heading, speaker_of

_MORE = re.compile(r"^(?:MORE|\(\s*(?:MORE|more)\s*\))$")


class Layout(Protocol):
    """Tells the elements of a typed screenplay apart."""

    def is_name(self, index: int, after_blank: bool) -> bool: ...

    def is_rest(self, text: str, said: Sequence[str]) -> bool: ...

    def takes_up(self, index: int) -> bool: ...

    def is_transition(self, line: Line) -> bool: ...

    def is_speech(self, line: Line, said: Sequence[str], after_blank: bool) -> bool: ...


def typed_layout(pages: Pages) -> Layout | None:
    """The layout of a typed screenplay's pages; None where they are not typed so."""
    return in_columns(pages) or in_one_column(pages)


def read_typed(path: Path, pages: Pages, layout: Layout) -> Play:
    """A typed screenplay. Raises InputError where nobody speaks in it."""
    typed = _Typed(pages.lines, layout, Script(path.name, _title(pages.lines)))
    return typed.script().play(path, "typed screenplay")


def _title(lines: Sequence[Line]) -> str:
    for line in lines:
        if is_scene_heading(line.text) or TRANSITION.match(line.text) or heading_of(line.text):
            return ""
        if line.text:
            return line.text.strip('"“”_*')
    return ""


class _Typed:
    def __init__(self, lines: Sequence[Line], layout: Layout, script: Script) -> None:
        self._lines, self._layout, self._script = lines, layout, script
        self._open: Part | None = None
        self._goes_on = False
        """The page ended within a speech."""

    def script(self) -> Script:
        for index, line, after_blank in filled(self._lines):
            self._take(index, line, after_blank)
        return self._script

    def _take(self, index: int, line: Line, after_blank: bool) -> None:
        text = line.text
        speech = self._open if self._open is not None and self._open.cue else None
        if _MORE.match(text):
            self._goes_on = True
        elif speech is not None and (_closes(speech.lines, text) or self._layout.is_rest(text, speech.lines)):
            speech.lines.append(text)
        elif is_scene_heading(text) or (heading_of(text) is not None and is_stage_heading(text)):
            self._open, self._goes_on = None, False
            self._script.open_scene(re.sub(r"^\d{1,4}[A-Z]?\.?\s+(?=INT|EXT|I/E)", "", text))
        elif self._layout.is_name(index, after_blank):
            self._begin(line)
        elif self._layout.is_transition(line):
            self._open = None
        elif speech is not None and self._layout.is_speech(line, speech.lines, after_blank):
            speech.lines.append(text)
        elif TRANSITION.match(text):
            self._open = None
        elif after_blank and self._layout.takes_up(index) and (cue := self._last_cue()):
            self._open_part(cue, line, [text])
        elif self._open is not None and speech is None and not after_blank:
            self._open.lines.append(text)
        else:
            self._open_part("", line, [text])

    def _begin(self, line: Line) -> None:
        before = self._open
        if before is not None and before.cue and self._goes_on and speaker_of(before.cue) == speaker_of(line.text):
            self._goes_on = False
            return
        self._goes_on = False
        self._open_part(line.text, line, [])

    def _open_part(self, cue: str, line: Line, lines: Sequence[str]) -> None:
        self._script.add(cue, lines, line.number)
        self._open = self._script.scenes[-1].parts[-1]

    def _last_cue(self) -> str:
        """Who spoke last in this scene."""
        return next((part.cue for part in reversed(self._script.scenes[-1].parts) if part.cue), "")


def _closes(said: Sequence[str], text: str) -> bool:
    """It closes the parentheses opened a line or two before, though it stands in capitals or in another column."""
    before = " ".join(said[-2:])
    return text.count(")") > text.count("(") and before.count("(") > before.count(")")
