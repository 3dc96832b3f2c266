"""Typed screenplays: names and speeches are told by columns or, where these are lost, by how long lines are."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from pathlib import Path

from sociable.datasets.plays.draft import Draft, Part
from sociable.datasets.plays.frame import Line, is_mostly_growing, iterate_filled, split_lines, strip_frame
from sociable.datasets.plays.headings import find_heading
from sociable.datasets.plays.records import Play
from sociable.datasets.plays.script import (
    CONTINUED,
    EXPECTED,
    TRANSITION,
    clean_name,
    find_name,
    is_cue,
    is_marked,
    is_scene_heading,
    is_stage_heading,
)

_MORE = re.compile(r"^(?:MORE|\(\s*(?:MORE|more)\s*\))$")
_GOES_ON = re.compile(r"[a-zß-öø-ÿ]|\.\.\.|\. \. \.|…|--")
_NUMBER = re.compile(r"^\d{1,4}[A-Z]?\.?\s+(?=INT|EXT|I/E)")
_TAGS = re.compile(r"</?(?:b|i|u|pre)>", re.I)
_REVISED = re.compile(r"\s+(?:\*{1,3}|\(X\))$")
_PAGE = re.compile(r"^(?:page\s+)?\d{1,4}[A-Z]?\.?$", re.I)
_MARGIN_NUMBERS = re.compile(r"^\S{0,5}\d\S{0,3}\s+(?=\(?CONT)|(?<=[D:)])\s+\S{0,5}\d\S{0,3}$")
_HEAD = re.compile(r"^(?P<words>.*[^\W\d_]{2}.*?)(?P<page>\d{1,3})[A-Z]?\.?$")
_LONGEST_HEAD, _FEW_SCENES = 160, 2
_FEWEST_PAGES, _USUALLY = 6, 0.9
_MOSTLY, _OFTEN_WIDE, _MOST_APART = 3, 0.6, 4
_CUE_COLUMNS, _SPEECH_COLUMNS = 12, 4
_OFTEN, _SOME_ACTION, _SHIFTED = 5, 0.05, 0.02
_FEW_LINES, _LONGEST_NAME = 2, 4
_CAMERA = re.compile(
    r"\b(?:P\.?O\.?V|ANGLE|SHOTS?|CLOSE[RUP-]*|CUT|INSERT|INTERCUT|MONTAGE|BACK TO|LATER|CONTINUOUS|TITLE|SUPER|SERIES|FLASHBACK|"
    r"WIDE|PAN|OMITTED|DAY|NIGHT|MORNING|EVENING|CAMERA|CREDITS)\b|"
    r"^(?:IN|ON|AT|INTO|WITH|FROM|TO|OUTSIDE|INSIDE|UNDER|OVER|BEHIND)\s|,$"
)
_POSSESSIVE = re.compile(r"['’]S?\s")
_FEWEST_NAMES, _AGAIN, _UNPARTED = 10, 3, 0.1
_SURELY, _STEP, _RARE = 0.8, 3, 0.01
_TOLERANCE, _SPARE, _CROWDED = 4, 2, 0.04
_MOST, _WIDEST, _UNWRAPPED = 0.9, 70, 1_000_000
_WHOLE = (".", "!", "?", "…", "-", "—", "–", '"', "”", ")", "]", ":")


@dataclass(frozen=True)
class Pages:
    """The lines of a text as of a typed screenplay; ``is_film``: it has scene headings as films have."""

    lines: list[Line]
    is_film: bool = False
    is_closed_up: bool = False
    """Blank lines stood under the names."""


def split_pages(text: str) -> Pages:
    """The lines of what may be a typed screenplay, with their numbers in the file."""
    lines = [replace(line, text=_REVISED.sub("", line.text)) for line in strip_frame(split_lines(_TAGS.sub("", text)))]
    heads = _find_page_heads(lines)
    kept = [line for line in lines if line.text not in heads and not _is_furniture(line)]
    if sum(is_scene_heading(line.text) for line in kept) < _FEW_SCENES:
        return Pages(kept)
    closed_up = _close_up(kept)
    return Pages(closed_up, is_film=True, is_closed_up=len(closed_up) < len(kept))


def _is_furniture(line: Line) -> bool:
    """Page numbers and what is only said because a page ended."""
    return bool(_PAGE.match(line.text) or CONTINUED.match(_MARGIN_NUMBERS.sub("", line.text)))


def _find_page_heads(lines: Sequence[Line]) -> set[str]:
    """Lines alike but for the page number they end with, which grows."""
    pages: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for line in lines:
        if len(line.text) <= _LONGEST_HEAD and (match := _HEAD.match(line.text)) and not is_scene_heading(line.text):
            pages[re.sub(r"[\W\d_]+", " ", match["words"]).casefold()].append((line.text, int(match["page"])))
    heads: set[str] = set()
    for rows in pages.values():
        texts, numbers = zip(*rows, strict=True)
        heads |= set(texts) if len(set(numbers)) >= _FEWEST_PAGES and is_mostly_growing(numbers, _USUALLY) else set()
    return heads


def _close_up(lines: list[Line]) -> list[Line]:
    """The lines without the blank ones that a script puts under all its names, and under the directions between name and speech.

    Where it puts yet more blank lines over names, capitals with fewer are no name but what the camera shows.
    """
    filled = [index for index, line in enumerate(lines) if line.text]
    over = [
        (before, index, below)
        for before, index, below in zip([-_MOST_APART, *filled], filled, filled[1:], strict=False)
        if is_cue(lines[index].text) and not is_marked(lines[index].text) and not is_cue(lines[below].text)
    ]
    distances = Counter(below - index for _, index, below in over if below - index <= _MOST_APART)
    distance = max(range(2, _MOST_APART + 1), key=lambda apart: distances[apart])
    if distances[distance] < max(_FEWEST_NAMES, _MOSTLY * distances[1]):
        return lines
    names = [
        (index, index - before > distance)
        for before, index, below in over
        if below - index == distance and not lines[below].text[0].islower()
    ]
    only_wide = sum(is_wide for _, is_wide in names) >= _OFTEN_WIDE * len(names)
    dropped: set[int] = set()
    for index, is_wide in names:
        end = index + 1
        while (is_wide or not only_wide) and end < len(lines) and lines[end].is_blank:
            while end < len(lines) and lines[end].is_blank:
                dropped.add(end)
                end += 1
            end = _find_direction_end(lines, end)
    return [line for index, line in enumerate(lines) if index not in dropped]


def _find_direction_end(lines: Sequence[Line], index: int) -> int:
    """The index after a direction in parentheses; beyond the lines where there is none."""
    if index < len(lines) and lines[index].text[:1] == "(":
        for end in range(index, min(index + 3, len(lines))):
            if lines[end].text.endswith(")"):
                return end + 1
    return len(lines)


def read_typed(path: Path, pages: Pages, layout: Layout) -> Play:
    """A typed screenplay. Raises InputError where nobody speaks in it."""
    draft = Draft(path, "typed screenplay", _find_title(pages.lines), is_screenplay=True)
    opened: Part | None = None
    is_page_end = False
    for index, line, after_blank in iterate_filled(pages.lines):
        text = line.text
        speech = opened if opened is not None and opened.label else None
        if _MORE.match(text):
            is_page_end = True
        elif speech is not None and (_is_closing(speech.lines, text) or layout.is_rest(text, speech.lines)):
            speech.lines.append(text)
        elif is_scene_heading(text) or (find_heading(text) is not None and is_stage_heading(text)):
            opened, is_page_end = None, False
            draft.open_scene(_NUMBER.sub("", text))
        elif layout.is_name(index, after_blank):
            if speech is None or not is_page_end or clean_name(speech.label) != clean_name(text):
                opened = draft.add(text, [], line.number)
            is_page_end = False
        elif TRANSITION.match(text):
            opened = None
        elif speech is not None and layout.is_speech(line, speech.lines, after_blank):
            speech.lines.append(text)
        elif after_blank and layout.is_taken_up(index) and (last := draft.last_speech) is not None:
            opened = draft.add(last.label, [text], line.number)
        elif opened is not None and speech is None and not after_blank:
            opened.lines.append(text)
        else:
            opened = draft.add("", [text], line.number)
    return draft.finish(EXPECTED)


def _find_title(lines: Sequence[Line]) -> str:
    first = next((line.text for line in lines if line.text), "")
    return "" if is_marked(first) else first.strip('"“”_*')


def _is_closing(said: Sequence[str], text: str) -> bool:
    """Whether the line closes parentheses opened a line or two before, though it stands in capitals or in another column."""
    before = " ".join(said[-2:])
    return text.count(")") > text.count("(") and before.count("(") > before.count(")")


def find_layout(pages: Pages) -> Layout | None:
    """The layout of a typed screenplay's pages; None where they are not typed so."""
    is_name = _make_name_test(pages)
    columns = _find_columns(pages.lines, is_name)
    if columns is not None and (pages.is_film or _count_lines_of_action(pages.lines, min(columns[1])) >= _FEW_LINES):
        return _InColumns(pages.lines, *columns, is_name)
    layout = _InOneColumn(pages.lines) if pages.is_film else None
    return layout if layout is not None and (layout.is_crowded or pages.is_closed_up) else None


class _Margin:
    """The length that a line of speech gets (``columns``), where no column tells it from action.

    ``is_crowded``: action often follows without a blank line.
    """

    def __init__(self, lines: Sequence[Line], names: Sequence[int], is_crowded: bool = False) -> None:
        """``names``: the indexes of the names over speeches, of which there is at least one."""
        first = sorted(len(lines[index + 1].text) for index in names)
        # Where more lines than the rest are longer, they are not wrapped at all.
        self.columns = _UNWRAPPED if first[int(len(first) * _MOST)] > _WIDEST else _find_usual_length(first)
        speeches = [list(takewhile(lambda line: line.text, lines[index + 1 : index + 40])) for index in names]
        longer = sum(
            any(self.is_beyond(line.text) for line in rest) for first, *rest in speeches if not self.is_beyond(first.text)
        )
        self.is_crowded = is_crowded or longer >= _CROWDED * len(names)

    def is_beyond(self, text: str) -> bool:
        """Whether the line is longer than a line of speech."""
        return len(text) > self.columns + _TOLERANCE

    def is_more(self, said: Sequence[str], text: str, after_blank: bool) -> bool:
        """The line belongs to the speech said so far."""
        is_beside_direction = text[0] == "(" or bool(said and said[-1].endswith(")"))
        if self.is_beyond(text) or (after_blank and not is_beside_direction):
            return False
        return is_beside_direction or not said or not (self.is_crowded and self._is_new_paragraph(said[-1], text))

    def _is_new_paragraph(self, before: str, text: str) -> bool:
        """Whether the line's first word still had room in the line before, so that the line begins a paragraph."""
        begins = next((sign for sign in text if sign.isalnum()), "")
        has_room = len(before) + 1 + len(text.split()[0]) <= self.columns - _SPARE
        return has_room and before.endswith(_WHOLE) and not begins.islower()


def _find_usual_length(sorted_lengths: Sequence[int]) -> int:
    """The length with which those that lie close together end: beyond it is action under other capitals."""
    length = sorted_lengths[int(len(sorted_lengths) * _SURELY)]
    while True:
        longer = [other for other in sorted_lengths if length < other <= length + _STEP]
        if len(longer) <= _RARE * len(sorted_lengths):
            return length
        length = longer[-1]


class Layout(ABC):
    """Tells the elements of a typed screenplay apart.

    ``_names``: how often each name stands over a speech; ``_margin`` is None where columns tell speech from action.
    """

    _names: Counter[str]
    _margin: _Margin | None

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    @abstractmethod
    def is_name(self, index: int, after_blank: bool) -> bool:
        """There is somebody's name over a speech."""

    def is_speech(self, line: Line, said: Sequence[str], after_blank: bool) -> bool:
        """Whether the line goes on with the speech so far."""
        return self._margin is not None and self._margin.is_more(said, line.text, after_blank)

    def is_rest(self, text: str, said: Sequence[str]) -> bool:
        """Capitals that a scanner set apart from the sentence they end."""
        is_broken_off = self._margin is not None and bool(said) and not said[-1].endswith(_WHOLE)
        return is_broken_off and is_cue(text) and self._names[find_name(text)] < 2

    def is_taken_up(self, index: int) -> bool:
        """A speech goes on behind action, in a script that does not repeat the name there."""
        return False


class _InColumns(Layout):
    """Tells names and speeches by their columns, and where action shares the speeches' column by the length of lines.

    ``cues`` are the columns of the names, ``speeches`` those of the speeches under them; both may shift from page to page.
    """

    def __init__(
        self, lines: Sequence[Line], cues: frozenset[int], speeches: frozenset[int], is_name: Callable[[str], bool]
    ) -> None:
        super().__init__(lines)
        self._cues, self._speeches, self._is_name, self._least = cues, speeches, is_name, min(speeches)
        names = [index for index, line in enumerate(lines[:-1]) if _is_near(line, self._cues, 3) and is_name(line.text)]
        over = [index for index in names if lines[index + 1].text and lines[index + 1].indent < lines[index].indent]
        has_action_left = _count_lines_of_action(lines, self._least) > _SOME_ACTION * sum(bool(line.text) for line in lines)
        self._margin = None if has_action_left else _Margin(lines, over)
        self._names = Counter(find_name(lines[index].text) for index in names)
        goes_on = [index for index, line in enumerate(lines) if _GOES_ON.match(line.text)]
        taken_up = sum(map(self._is_behind_action, goes_on))
        self._omits_names = taken_up >= max(_OFTEN, _SHIFTED * len(over))

    def is_name(self, index: int, after_blank: bool) -> bool:
        line = self._lines[index]
        below = next((line for line in self._lines[index + 1 : index + 3] if line.text), None)
        if not self._is_name(line.text) or below is None or (self._margin is not None and self._margin.is_beyond(below.text)):
            return False
        if _is_near(line, self._cues, 3):
            return (below.indent < line.indent and _is_near(below, self._speeches, 2)) or below.text[0] == "("
        if not after_blank or self._lines[index + 1] is not below or not _is_near(below, self._speeches, 2):
            return False
        # Where columns hardly tell elements apart, a name may have slipped into that of the speeches.
        is_known = self._margin is not None and find_name(line.text) in self._names
        return is_known or line.indent >= below.indent + 2 * _SPEECH_COLUMNS

    def is_speech(self, line: Line, said: Sequence[str], after_blank: bool) -> bool:
        if line.indent < self._least - 2 or self._margin is not None:
            return line.indent >= self._least - 2 and super().is_speech(line, said, after_blank)
        return not after_blank or line.indent <= max(self._cues)

    def is_taken_up(self, index: int) -> bool:
        return self._omits_names and self._is_behind_action(index) and not self._is_name(self._lines[index].text)

    def _is_behind_action(self, index: int) -> bool:
        line = self._lines[index]
        if self._margin is not None or not line.text or line.indent not in self._speeches:
            return False
        before = next((other for other in reversed(self._lines[max(0, index - 4) : index]) if other.text), None)
        return before is not None and before.indent <= self._least - _SPEECH_COLUMNS and not is_marked(before.text)


def _is_near(line: Line, columns: Iterable[int], most: int) -> bool:
    return any(abs(line.indent - column) <= most for column in columns)


def _make_name_test(pages: Pages) -> Callable[[str], bool]:
    """A test for names over speeches: capitals, or in a film script without any, what recurs over shorter columns."""
    lines = pages.lines
    if not pages.is_film or _find_columns(lines, is_cue) is not None:
        return is_cue
    over = [
        (find_name(line.text), line.indent)
        for line, below in pairwise(lines)
        if line.text and below.text and _CUE_COLUMNS <= line.indent > below.indent
    ]
    again = Counter(name for name, _ in over if name[:1].isupper())
    names = {name for name, count in again.items() if count >= _OFTEN}
    columns = Counter(column for name, column in over if name in names)
    usual = max(columns, key=lambda column: columns[column], default=None)
    names |= {name for name, column in over if column == usual and _is_title(name)}
    return lambda text: find_name(text) in names


def _is_title(text: str) -> bool:
    words = text.split()
    return 0 < len(words) <= _LONGEST_NAME and text[-1].isalnum() and not any(word[0].islower() for word in words)


def _find_columns(lines: Sequence[Line], is_name: Callable[[str], bool]) -> tuple[frozenset[int], frozenset[int]] | None:
    """The columns of a script's names and of the speeches under them; None where the text is not set so."""
    cues, under = Counter[int](), Counter[int]()
    for line, below in pairwise(lines):
        is_over = bool(below.text) and not is_name(below.text) and below.indent < line.indent
        if is_over and line.indent >= _CUE_COLUMNS and is_name(line.text) and not is_marked(line.text):
            cues[line.indent] += 1
            under[below.indent] += below.text[0] != "("
    if not under.total() or max(cues.values()) < 3:
        return None
    if cues.most_common(1)[0][0] - under.most_common(1)[0][0] < _SPEECH_COLUMNS:
        return None
    return _find_usual(cues), _find_usual(under)


def _find_usual(counts: Counter[int]) -> frozenset[int]:
    fewest = min(max(3, _SHIFTED * counts.total()), max(counts.values()))
    return frozenset(column for column, count in counts.items() if count >= fewest)


def _count_lines_of_action(lines: Sequence[Line], speech: int) -> int:
    return sum(bool(line.text) and line.indent <= speech - _SPEECH_COLUMNS for line in lines)


class _InOneColumn(Layout):
    """Tells names by their capitals, and speeches by the length of their lines, where these lost their columns."""

    def __init__(self, lines: Sequence[Line]) -> None:
        super().__init__(lines)
        self._names = Counter(find_name(line.text) for line in lines if _can_be_name(line.text))
        names = [index for index in range(len(lines) - 1) if lines[index + 1].text and self._is_over_speech(index)]
        known = [index for index in names if self._is_known(lines[index].text)]
        unparted = sum(index > 0 and not lines[index - 1].is_blank for index in known)
        self._margin = _Margin(lines, known, unparted > _UNPARTED * len(known)) if known else None
        self.is_crowded = self._margin is not None and self._margin.is_crowded and len(known) >= _FEWEST_NAMES

    def _is_known(self, text: str) -> bool:
        return self._names[find_name(text)] >= _AGAIN

    def _is_over_speech(self, index: int) -> bool:
        text = self._lines[index].text
        if not _can_be_name(text) or (_POSSESSIVE.search(find_name(text)) and not self._is_known(text)):
            return False
        below = self._lines[index + 1 : index + 3]
        is_direct = bool(below and below[0].text)
        first = below[0].text if is_direct else below[1].text if len(below) > 1 and below[1].text[:1] == "(" else ""
        is_another = is_cue(first) and not (first.endswith(".") and self._is_known(text))
        return bool(first) and not first[0].islower() and not is_another and not is_marked(first)

    def is_name(self, index: int, after_blank: bool) -> bool:
        text = self._lines[index].text
        if index + 1 == len(self._lines) or (self._margin is not None and self._margin.is_beyond(self._lines[index + 1].text)):
            return False
        return self._is_over_speech(index) and (after_blank or text.endswith(")") or self._names[find_name(text)] > 1)


def _can_be_name(text: str) -> bool:
    return is_cue(text) and not is_marked(text) and not _CAMERA.search(find_name(text))
