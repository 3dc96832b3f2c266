"""Typed screenplays that set names in a column deeper than the speeches under them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sociable.datasets.plays.frame import Line
from sociable.datasets.plays.pages import Pages
from sociable.datasets.plays.paragraphs import Margin
from sociable.datasets.plays.script import TRANSITION, is_cue, is_marked, name_in

_CUE_COLUMNS, _SPEECH_COLUMNS = 12, 4
_OFTEN, _SOME_ACTION, _SHIFTED = 5, 0.05, 0.02
_FEW_LINES, _LONGEST_NAME = 2, 4


def in_columns(pages: Pages) -> InColumns | None:
    """Names stand in deep columns over speeches in lesser ones, and there are action further left still or scene headings."""
    lines = pages.lines
    is_name = _names_in(pages)
    columns = _columns_of(lines, is_name)
    if columns is None:
        return None
    is_played = pages.is_film or _lines_left_of(lines, columns.least) >= _FEW_LINES
    return InColumns(lines, columns, is_name) if is_played else None


def _names_in(pages: Pages) -> Callable[[str], bool]:
    """Tells the names over speeches: capitals, or in a film script without any, what recurs over shorter columns."""
    lines = pages.lines
    if not pages.is_film or _columns_of(lines, is_cue) is not None:
        return is_cue
    over = [line for line, below in pairwise(lines) if below.text and _CUE_COLUMNS <= line.indent > below.indent]
    again = Counter(name_in(line.text) for line in over if line.text[:1].isupper())
    names = {name for name, count in again.items() if count >= _OFTEN}
    columns = Counter(line.indent for line in over if name_in(line.text) in names)
    if columns:
        usual = columns.most_common(1)[0][0]
        names |= {name_in(line.text) for line in over if line.indent == usual and _is_title(name_in(line.text))}
    return lambda text: name_in(text) in names


def _is_title(text: str) -> bool:
    words = text.split()
    return 0 < len(words) <= _LONGEST_NAME and text[-1].isalnum() and all(not word[0].islower() for word in words)


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


def _columns_of(lines: Sequence[Line], is_name: Callable[[str], bool]) -> Columns | None:
    """The columns of a typed screenplay; None where the text is not set so."""
    cues: Counter[int] = Counter()
    under: Counter[int] = Counter()
    for line, below in pairwise(lines):
        is_over = bool(below.text) and not is_name(below.text) and below.indent < line.indent
        if is_over and line.indent >= _CUE_COLUMNS and is_name(line.text) and not is_marked(line.text):
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


def _lines_left_of(lines: Sequence[Line], speech: int) -> int:
    return sum(bool(line.text) and line.indent <= speech - _SPEECH_COLUMNS for line in lines)


def _goes_on(text: str) -> bool:
    return text[0].islower() or text.startswith(("...", ". . .", "…", "--"))


class InColumns:
    """Tells names and speeches by their columns, and where action shares the speeches' column by the length of lines."""

    def __init__(self, lines: Sequence[Line], columns: Columns, is_name: Callable[[str], bool]) -> None:
        self._lines, self._columns, self._is_name = lines, columns, is_name
        has_action_left = _lines_left_of(lines, columns.least) > _SOME_ACTION * sum(bool(line.text) for line in lines)
        over = [index for index, line in enumerate(lines[:-1]) if columns.is_cue(line) and is_name(line.text)]
        over = [index for index in over if lines[index + 1].text and lines[index + 1].indent < lines[index].indent]
        self._margin = None if has_action_left else Margin.of(lines, over)
        self._speakers = Counter(name_in(line.text) for line in lines if columns.is_cue(line) and is_name(line.text))
        taken_up = sum(self._stands_behind_action(index) and _goes_on(line.text) for index, line in enumerate(lines))
        self._takes_up = taken_up >= max(_OFTEN, _SHIFTED * len(over))

    def _stands_behind_action(self, index: int) -> bool:
        line = self._lines[index]
        if self._margin is not None or not line.text or line.indent not in self._columns.speeches:
            return False
        before = next((other for other in reversed(self._lines[max(0, index - 4) : index]) if other.text), None)
        return before is not None and before.indent <= self._columns.least - _SPEECH_COLUMNS and not is_marked(before.text)

    def is_name(self, index: int, after_blank: bool) -> bool:
        """There is somebody's name over a speech."""
        line = self._lines[index]
        if not self._is_name(line.text):
            return False
        below = next((line for line in self._lines[index + 1 : index + 3] if line.text), None)
        if below is None:
            return False
        if self._margin is not None and self._margin.is_beyond(below.text):
            return False
        if self._columns.is_cue(line):
            return (below.indent < line.indent and self._columns.is_speech(below)) or below.text[0] == "("
        if not after_blank or self._lines[index + 1] is not below or not self._columns.is_speech(below):
            return False
        # Where columns hardly tell elements apart, a name may have slipped into that of the speeches.
        is_known = self._margin is not None and name_in(line.text) in self._speakers
        return is_known or line.indent >= below.indent + 2 * _SPEECH_COLUMNS

    def is_rest(self, text: str, said: Sequence[str]) -> bool:
        """Capitals that a scanner set apart from the sentence they end."""
        is_broken_off = self._margin is not None and bool(said) and not self._margin.is_whole(said[-1])
        return is_broken_off and self._is_name(text) and self._speakers[name_in(text)] < 2

    def takes_up(self, index: int) -> bool:
        """A speech goes on behind action, in a script that does not repeat the name there."""
        return self._takes_up and self._stands_behind_action(index) and not self._is_name(self._lines[index].text)

    def is_transition(self, line: Line) -> bool:
        return line.indent > max(self._columns.cues) and bool(TRANSITION.match(line.text))

    def is_speech(self, line: Line, said: Sequence[str], after_blank: bool) -> bool:
        """It goes on with the speech said so far."""
        is_in_column = line.indent >= self._columns.least - 2
        if self._margin is not None:
            return is_in_column and self._margin.goes_on(said, line.text, after_blank)
        return is_in_column and (not after_blank or (line.indent <= max(self._columns.cues) and not TRANSITION.match(line.text)))
