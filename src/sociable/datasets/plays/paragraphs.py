"""Where a speech ends and action begins that no column and no blank line part: told by how long their lines are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sociable.datasets.plays.frame import Line

_SURELY, _STEP, _RARE = 0.8, 3, 0.01
_TOLERANCE, _SPARE = 4, 2
_CROWDED = 0.04
_UNWRAPPED = 1_000_000
_MOST, _WIDEST = 0.9, 70
"""Where more lines than the rest are longer, they are not wrapped at all."""
_WHOLE = (".", "!", "?", "…", "-", "—", "–", '"', "”", ")", "]", ":")


@dataclass(frozen=True)
class Margin:
    """``columns``: how long a line of speech gets. ``is_crowded``: action often follows without a blank line."""

    columns: int
    is_crowded: bool

    @staticmethod
    def of(lines: Sequence[Line], names: Sequence[int], is_crowded: bool = False) -> Margin:
        """``names``: the indexes of the names over speeches, of which there is at least one."""
        first = sorted(len(lines[index + 1].text) for index in names)
        columns = _usual_length(first)
        if first[int(len(first) * _MOST)] > _WIDEST:
            columns = _UNWRAPPED
        over = [index for index in names if len(lines[index + 1].text) <= columns + _TOLERANCE]
        longer = sum(_has_longer(lines, index + 2, columns + _TOLERANCE) for index in over)
        return Margin(columns, is_crowded or longer >= _CROWDED * len(names))

    def goes_on(self, said: Sequence[str], text: str, after_blank: bool) -> bool:
        """The line belongs to the speech said so far."""
        is_direction = text[0] == "("
        follows_direction = bool(said) and said[-1].endswith(")")
        if (after_blank and not is_direction and not follows_direction) or self.is_beyond(text):
            return False
        return is_direction or follows_direction or not said or not (self.is_crowded and self._begins_anew(said[-1], text))

    def is_beyond(self, text: str) -> bool:
        """It is longer than a line of speech."""
        return len(text) > self.columns + _TOLERANCE

    def _begins_anew(self, before: str, text: str) -> bool:
        """Its first word had still room in the line before, so that it is another paragraph."""
        begins = next((sign for sign in text if sign.isalnum()), "")
        has_room = len(before) + 1 + len(text.split()[0]) <= self.columns - _SPARE
        return has_room and self.is_whole(before) and not begins.islower()

    @staticmethod
    def is_whole(text: str) -> bool:
        """A sentence may end with it."""
        return text.endswith(_WHOLE)


def _usual_length(sorted_lengths: Sequence[int]) -> int:
    """Where the lengths that lie close together end: beyond it is action under other capitals."""
    length = sorted_lengths[int(len(sorted_lengths) * _SURELY)]
    while True:
        longer = [other for other in sorted_lengths if length < other <= length + _STEP]
        if len(longer) <= _RARE * len(sorted_lengths):
            return length
        length = longer[-1]


def _has_longer(lines: Sequence[Line], index: int, columns: int) -> bool:
    while index < len(lines) and lines[index].text:
        if len(lines[index].text) > columns:
            return True
        index += 1
    return False
