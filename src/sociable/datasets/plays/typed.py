"""Typed screenplays: reading one whose layout has been found out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sociable.datasets.plays.draft import Draft, Part
from sociable.datasets.plays.frame import Line, filled
from sociable.datasets.plays.headings import heading_of
from sociable.datasets.plays.pages import Pages
from sociable.datasets.plays.records import Play
from sociable.datasets.plays.script import EXPECTED, TRANSITION, is_scene_heading, is_stage_heading, name_of
from sociable.datasets.plays.typed_layouts import Layout

_MORE = re.compile(r"^(?:MORE|\(\s*(?:MORE|more)\s*\))$")


def read_typed(path: Path, pages: Pages, layout: Layout) -> Play:
    """A typed screenplay. Raises InputError where nobody speaks in it."""
    draft = Draft(path, "typed screenplay", _title(pages.lines), is_screenplay=True)
    _Typed(pages.lines, layout, draft).read()
    return draft.finish(EXPECTED)


def _title(lines: Sequence[Line]) -> str:
    for line in lines:
        if is_scene_heading(line.text) or TRANSITION.match(line.text) or heading_of(line.text):
            return ""
        if line.text:
            return line.text.strip('"“”_*')
    return ""


class _Typed:
    def __init__(self, lines: Sequence[Line], layout: Layout, draft: Draft) -> None:
        self._lines, self._layout, self._draft = lines, layout, draft
        self._open: Part | None = None
        self._goes_on = False
        """The page ended within a speech."""

    def read(self) -> None:
        for index, line, after_blank in filled(self._lines):
            self._take(index, line, after_blank)

    def _take(self, index: int, line: Line, after_blank: bool) -> None:
        text = line.text
        speech = self._open if self._open is not None and self._open.label else None
        if _MORE.match(text):
            self._goes_on = True
        elif speech is not None and (_closes(speech.lines, text) or self._layout.is_rest(text, speech.lines)):
            speech.lines.append(text)
        elif is_scene_heading(text) or (heading_of(text) is not None and is_stage_heading(text)):
            self._open, self._goes_on = None, False
            self._draft.open_scene(re.sub(r"^\d{1,4}[A-Z]?\.?\s+(?=INT|EXT|I/E)", "", text))
        elif self._layout.is_name(index, after_blank):
            self._begin(line)
        elif TRANSITION.match(text):
            self._open = None
        elif speech is not None and self._layout.is_speech(line, speech.lines, after_blank):
            speech.lines.append(text)
        elif after_blank and self._layout.takes_up(index) and (cue := self._last_cue()):
            self._open_part(cue, line, [text])
        elif self._open is not None and speech is None and not after_blank:
            self._open.lines.append(text)
        else:
            self._open_part("", line, [text])

    def _begin(self, line: Line) -> None:
        before = self._open
        if before is not None and before.label and self._goes_on and name_of(before.label) == name_of(line.text):
            self._goes_on = False
            return
        self._goes_on = False
        self._open_part(line.text, line, [])

    def _open_part(self, cue: str, line: Line, lines: Sequence[str]) -> None:
        self._open = self._draft.add(cue, lines, line.number)

    def _last_cue(self) -> str:
        """Who spoke last in this scene."""
        return next((part.label for part in reversed(self._draft.scenes[-1].parts) if part.label), "")


def _closes(said: Sequence[str], text: str) -> bool:
    """It closes the parentheses opened a line or two before, though it stands in capitals or in another column."""
    before = " ".join(said[-2:])
    return text.count(")") > text.count("(") and before.count("(") > before.count(")")
