"""Typed screenplays that lost their columns: names, speeches and action stand below each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sociable.datasets.plays.frame import Line
from sociable.datasets.plays.pages import Pages
from sociable.datasets.plays.paragraphs import Margin
from sociable.datasets.plays.script import TRANSITION, is_cue, is_marked, name_in

_CAMERA = re.compile(
    r"\b(?:P\.?O\.?V|ANGLE|SHOTS?|CLOSE[RUP-]*|CUT|INSERT|INTERCUT|MONTAGE|BACK TO|LATER|CONTINUOUS|TITLE|SUPER|SERIES|FLASHBACK|"
    r"WIDE|PAN|OMITTED|DAY|NIGHT|MORNING|EVENING|CAMERA|CREDITS)\b|"
    r"^(?:IN|ON|AT|INTO|WITH|FROM|TO|OUTSIDE|INSIDE|UNDER|OVER|BEHIND)\s|,$"
)
_POSSESSIVE = re.compile(r"['’]S?\s")
_FEWEST_NAMES, _AGAIN, _UNPARTED = 10, 3, 0.1


def in_one_column(pages: Pages) -> InOneColumn | None:
    """The layout of a film script whose blank lines part more or less than Fountain's; None of any other text."""
    if not pages.is_film:
        return None
    layout = InOneColumn(pages.lines)
    return layout if layout.is_crowded or pages.is_closed_up else None


class InOneColumn:
    """Tells names by their capitals, and speeches by the length of their lines."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._names = Counter(name_in(line.text) for line in lines if _may_be_name(line.text))
        names = [index for index in range(len(lines) - 1) if self._is_over_speech(index) and lines[index + 1].text]
        known = [index for index in names if self._is_known(lines[index].text)]
        unparted = sum(index > 0 and not lines[index - 1].is_blank for index in known)
        self._margin = Margin.of(lines, known, unparted > _UNPARTED * len(known)) if known else None
        self.is_crowded = self._margin is not None and self._margin.is_crowded and len(known) >= _FEWEST_NAMES

    def _is_known(self, text: str) -> bool:
        return self._names[name_in(text)] >= _AGAIN

    def _is_over_speech(self, index: int) -> bool:
        text = self._lines[index].text
        if not _may_be_name(text) or (_POSSESSIVE.search(name_in(text)) and not self._is_known(text)):
            return False
        below = self._lines[index + 1 : index + 3]
        is_direct = bool(below and below[0].text)
        first = below[0].text if is_direct else below[1].text if len(below) > 1 and below[1].text[:1] == "(" else ""
        is_another = is_cue(first) and not (first.endswith(".") and self._is_known(text))
        return bool(first) and not first[0].islower() and not is_another and not is_marked(first)

    def is_name(self, index: int, after_blank: bool) -> bool:
        """There is somebody's name over a speech."""
        text = self._lines[index].text
        if index + 1 == len(self._lines):
            return False
        if self._margin is not None and self._margin.is_beyond(self._lines[index + 1].text):
            return False
        return self._is_over_speech(index) and (after_blank or text.endswith(")") or self._names[name_in(text)] > 1)

    def is_rest(self, text: str, said: Sequence[str]) -> bool:
        """Capitals that a scanner set apart from the sentence they end."""
        return bool(said) and not Margin.is_whole(said[-1]) and is_cue(text) and self._names[name_in(text)] <= 1

    def takes_up(self, index: int) -> bool:
        """A speech goes on behind action: nothing tells it here."""
        return False

    def is_transition(self, line: Line) -> bool:
        return bool(TRANSITION.match(line.text))

    def is_speech(self, line: Line, said: Sequence[str], after_blank: bool) -> bool:
        """It goes on with the speech said so far."""
        return self._margin is not None and self._margin.goes_on(said, line.text, after_blank)


def _may_be_name(text: str) -> bool:
    return is_cue(text) and not is_marked(text) and not _CAMERA.search(name_in(text))
