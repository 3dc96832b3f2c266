"""Plays in plain text, typed or scanned: headings of speeches in whatever habit the play keeps, wrapped or not."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from sociable.core.errors import InputError
from sociable.datasets.plays.cast import find_cast
from sociable.datasets.plays.directions import find_closing
from sociable.datasets.plays.draft import Draft, Part
from sociable.datasets.plays.frame import Line, find_framed_title, iterate_filled, split_lines, strip_frame, strip_furniture
from sociable.datasets.plays.headings import Heading, HeadingKind, find_heading
from sociable.datasets.plays.labels import Labels, is_talk
from sociable.datasets.plays.records import Play
from sociable.datasets.plays.script import is_scene_heading
from sociable.datasets.plays.spelling import to_full_form

_MOVES = re.compile(
    r"^[_\[(]*(?:enter|re-?enters?|exit|exeunt|manet|manent|alarums?|flourish|sennet|trumpets?|thunder|music|curtain|silence|pause|"
    r"scene\s+(?:changes|closes|shuts)|the\s+(?:curtain|scene)|they\s+(?:fight|kiss|embrace|exit|dance|go))\b",
    re.I,
)
_TALKS = re.compile(
    r"\b(?:I|me|my|mine|myself|you|your|yours|we|us|our|ours|thou|thee|thy|thine|ye|I['’]\w+|you['’]\w+|we['’]\w+)\b"
)
_QUOTED = re.compile(r"[“\"][^”\"]*[”\"]")
_ENDS_WITH_ITALICS = re.compile(r"\[_[^\[\]_]+[.!?]_$", re.M)
_UNWRAPPED_COLUMNS, _UNWRAPPED_SHARE = 100, 0.05
_ITALIC_SENTENCES = re.compile(r"^_[A-Z][^_]+\._$")
_SENTENCE_ENDS = re.compile(r"[.!?…:—)\]_][”’\"')_]*$")
_ITALIC_LINE = re.compile(r"_[^_]{3,}_\.*$")
_PRONOUNS = ("They", "He", "She", "Both", "All", "Everyone", "Everybody")
_LONGEST_DIRECTION, _LONGEST_BARE = 10, 200
"""The longest direction in lines, and the longest that nothing marks in characters."""
_OFTEN_OPEN, _USUALLY_OPEN = 10, 1.3
"""A play with so many brackets, and so many more than are closed, leaves those open that end with their line."""
_LINES_PER_SPEECH = 25
_RULE = re.compile(r"^(?:\*\s*){5,}$|^[-=_—]{5,}$")

_WIDE = re.compile("[\u2000-\u2003\u3000]")
"""Spaces as wide as two."""
_BUSINESS = re.compile(r"(?<!:)//(?=\S)([^/\n]+)//")
_STARRED = re.compile(r"(?<![*\w])\*(?![\s*])([^*\n]+?)(?<!\s)\*(?![*\w])")
_JOINED = re.compile(r"^([ \t]*_[^_\n]{1,30}|[ \t]*[A-Z][^_a-z\n]{1,30})_? (_?(?:and|&)_?) _?(?=[A-Z])", re.M)
"""Names that speak together, each or what joins them in its own italics."""
_EMPHASIS = re.compile(r"^(\s*)\*\*([^*\n]+?)\*\*[ \t]*(\*[^*\n]+\*|_[^_\n]+_|\([^)\n]+\))[ \t]*:", re.M)
"""In Markdown a direction between name and colon; behind the colon it is one as others are."""

_NUMBER = r"(?:[(\[]?\d{1,5}[.):\]]?[ \t]+)"
_WORD = r"[^\W_a-z][\w.'’&+/#-]*"
_NAME = rf"{_WORD}(?:,? (?:{_WORD}|#\d|and|&|of|the|de|von|van)){{0,6}}"
_FRONT = rf"^(?P<indent>[ \t]*)(?P<number>{_NUMBER})?"
_HEADED = [
    re.compile(rf"{_FRONT}(?P<open>[\[<({{])(?P<label>{_NAME})(?P<mark>[\]>)}}]):?(?=\s|$)[ \t]*(?P<rest>.*)$"),
    re.compile(rf"{_FRONT}(?P<open>[*~=#>@|-]{{1,3}} ?)(?P<label>{_NAME})(?P<mark>:? ?[*~=#<@|-]{{0,3}})(?P<rest>)$"),
    re.compile(rf"{_FRONT}(?P<open>)(?P<label>{_NAME}?)(?P<mark>[ \t]*[|>=–—)]|[ \t]+(?:-{{1,2}}|:))(?=\s|$)[ \t]*(?P<rest>.*)$"),
    re.compile(rf"{_FRONT}(?P<open>)(?P<label>{_NAME}?)(?P<mark>[.:]|\t|  )[ \t]*(?P<rest>.*)$"),
]
_FEWEST, _AGAIN = 10, 0.8


def read_plain(path: Path, text: str) -> Play:
    """A play in plain text. Raises InputError where no habit of speech headings shows."""
    whole = split_lines(even_headings(text))
    framed = strip_frame(whole)
    title = find_framed_title(whole) or _find_title(framed) or path.stem
    lines = strip_furniture(framed, title)
    cast, cast_end = find_cast(lines)
    labels = Labels(lines[cast_end:], [member.name for member in cast])
    speakers = [to_full_form(found.label) for found in labels.found.values()]
    filled_lines = sum(not line.is_blank for line in lines[cast_end + min(labels.found, default=0) :])
    if len(speakers) < 2 or not is_talk(speakers, filled_lines, _LINES_PER_SPEECH):
        raise InputError(
            f"{path}: no play in it that can be read: lines 1 to {len(whole)} have no two speeches with a heading alike. "
            "Expected speeches such as 'NORA. Yes.', 'Nora: Yes.' or a name alone on its line with the speech under it; or "
            "give a Fountain (.fountain) or Final Draft (.fdx) file, or a folder of Standard Ebooks XHTML."
        )
    draft = Draft(path, "plain text", title, cast)
    _Reader(lines[cast_end:], labels, draft).read()
    return draft.finish("Expected speeches such as 'NORA. Yes.'.")


def _find_title(lines: Sequence[Line]) -> str:
    place = next((place for place, line in enumerate(lines) if any(map(str.isalpha, line.text))), len(lines))
    first, under = ([line.text for line in lines[place : place + 2]] + ["", ""])[:2]
    if first.isupper() and first.count(".") == 1 and not under:
        # Title pages of old editions end every line with a stop.
        first = first.rstrip(".")
    is_title = first and find_heading(first) is None and len(first) <= 90 and not first.endswith((".", ",", ";"))
    return " ".join(first.strip("_*# ").split()) if is_title else ""


class _Reader:
    """Goes through the lines once and parts them into scenes, speeches and directions."""

    def __init__(self, lines: Sequence[Line], labels: Labels, draft: Draft) -> None:
        self._lines, self._labels, self._draft = lines, labels, draft
        full = [line.text for line in lines if line.text]
        self._unwrapped = sum(len(text) > _UNWRAPPED_COLUMNS for text in full) > _UNWRAPPED_SHARE * len(full)
        self._is_alone = bool(labels.style and labels.style.is_alone)
        names = [*(found.label.title() for found in labels.found.values()), *(member.name for member in draft.cast)]
        self._subjects = {word for name in names for word in re.findall(r"\w{3,}", name)}
        # Where speeches stand under headings alone on their lines.
        under = Counter(lines[index + 1].indent for index in labels.found if index + 1 < len(lines) and lines[index + 1].text)
        self._text_indent = max(under, key=lambda indent: under[indent], default=0)
        # Where paragraphs between speeches that are directions are marked as such, a bare one is speech.
        between = [
            line.text for index, line, after_blank in iterate_filled(lines) if index and after_blank and index not in labels.found
        ]
        marked = sum(text.startswith(("[", "(", "_")) or _MOVES.match(text) is not None for text in between)
        self._brackets_directions = marked * 3 >= len(between)
        opened, closed = (sum(text.count(bracket) for text in full) for bracket in "[]")
        self._leaves_open = opened >= _OFTEN_OPEN and opened > _USUALLY_OPEN * closed
        self._open: Part | None = None
        self._ended = False

    def read(self) -> None:
        for index, line, after_blank in iterate_filled(self._lines):
            found, heading = self._labels.found.get(index), find_heading(line.text)
            if found is not None and (after_blank or not (self._is_within_direction() or self._is_end_of_direction(index))):
                self._ended = False
                self._begin(line, found.label, found.rest)
            elif heading is not None and self._is_heading(heading, line, after_blank):
                self._read_heading(heading, line)
            elif is_scene_heading(line.text):
                self._open, self._ended = None, False
                self._draft.open_scene(line.text)
            elif _RULE.match(line.text):
                self._open = None
                # What follows a rule without any heading is an afterword.
                self._ended = after_blank and line.text.count("*") >= 5 and "* *" not in line.text
            elif not self._ended:
                self._add(index, line, after_blank)

    def _is_within_direction(self) -> bool:
        """A name with a stop here belongs to a direction, unless its bracket was never closed at all."""
        if self._open is None or self._leaves_open or len(self._open.lines) >= _LONGEST_DIRECTION:
            return False
        return _is_unclosed(self._open) and not _SENTENCE_ENDS.search(self._open.text)

    def _is_end_of_direction(self, index: int) -> bool:
        """Whether a bracket that the speech opened is closed behind this line's name: "(_Enter JACK and" over "ALGERNON._)"."""
        text = " ".join(line.text for line in takewhile(lambda line: line.text, self._lines[index : index + _LONGEST_DIRECTION]))
        closing = re.match(r"[^()\[\]]*(?P<bracket>[)\]])", text)
        if self._open is None or closing is None:
            return False
        opens = "(" if closing["bracket"] == ")" else "["
        return self._open.text.count(opens) > self._open.text.count(closing["bracket"])

    def _is_heading(self, heading: Heading, line: Line, after_blank: bool) -> bool:
        """The line is a heading, and nobody says it, as "Characters" in the middle of a speech."""
        return heading.kind is not HeadingKind.CAST and (heading.kind.is_division or after_blank or line.text.isupper())

    def _read_heading(self, heading: Heading, line: Line) -> None:
        self._open = None
        if heading.kind.is_division:
            self._draft.open_scene(line.text)
            self._ended = False
        elif heading.kind is HeadingKind.SETTING and heading.rest:
            self._begin(line, "", line.text)
        elif heading.kind is HeadingKind.ENDING:
            self._ended = True

    def _begin(self, line: Line, label: str, text: str) -> None:
        self._open = self._draft.add(label, [text], line.number)

    def _add(self, index: int, line: Line, after_blank: bool) -> None:
        """An unheaded line: more of what is open, a direction, or the speech before it going on."""
        opened, is_new = self._open, after_blank or self._unwrapped
        parts, speech = self._draft.scenes[-1].parts, self._draft.last_speech
        if opened is None:
            self._begin(line, "", line.text)
            return
        is_behind_direction = speech is not None and not opened.label
        is_apart = is_new or (is_behind_direction and opened.text[:1] in ("[", "("))
        if (_is_unclosed(opened) and not after_blank) or (opened.label and not opened.text):
            opened.lines.append(line.text)
        elif self._is_direction_line(line, is_new) or (
            is_apart and (speech is None or (self._unwrapped and not opened.label) or self._is_told(index, line))
        ):
            self._begin(line, "", line.text)
        elif speech is not None and is_behind_direction and (is_apart or _is_whole_move(opened.text)):
            # The speech goes on; the directions between become part of it.
            first = parts.index(speech) + 1
            speech.lines += [*(f"[{between.text.strip('[]()_ ')}]" for between in parts[first:]), line.text]
            del parts[first:]
            self._open = speech
        else:
            opened.lines.append(line.text)

    def _is_direction_line(self, line: Line, is_new: bool) -> bool:
        text = line.text
        if text.startswith(("[", "_[")):
            return is_new or text.endswith(("]", "]_")) or line.indent >= self._text_indent + 8
        if is_new and text[0] == "(":
            # Parentheses hold all of it, or are still open at its end.
            end = find_closing(text, 0)
            return end is None or not text[end:].strip(" ._")
        if is_new and _ITALIC_LINE.match(text):
            return True
        is_set_apart = is_new or text.startswith(("Enter", "Exit", "Exeunt", "Re-enter"))
        return is_set_apart and bool(_MOVES.match(text)) and not _TALKS.search(text)

    def _is_told(self, index: int, line: Line) -> bool:
        """Whether an unheaded paragraph behind a speech tells what happens rather than goes on speaking."""
        if _MOVES.match(line.text):
            return True
        behind = range(index + 1, index + 1 if self._unwrapped else len(self._lines))
        rest = takewhile(lambda at: self._lines[at].text and at not in self._labels.found, behind)
        printed = " ".join([line.text, *(self._lines[at].text for at in rest)])
        text = printed.strip("_ ")
        if _TALKS.search(_QUOTED.sub("", text)):
            return False
        if _ITALIC_SENTENCES.match(printed):
            return True
        if text.endswith(("!", "?", ",", ";", "—", "--")):
            return False
        if not self._brackets_directions and not self._is_alone:
            return len(text.split()) > 2
        first = re.match(r"(?:(?:The|A|An)\s+)?(?P<who>[\w’']+)\.?\s+(?P<next>[a-z][\w’']*)", text)
        is_subject = first is not None and first["who"].title() in self._subjects and first["next"] != "and"
        if self._brackets_directions:
            return is_subject and len(text) < _LONGEST_BARE
        return is_subject or (first is not None and first["who"] in _PRONOUNS)


def _is_whole_move(text: str) -> bool:
    return text.rstrip("_ ").endswith((".", "]")) and _MOVES.match(text) is not None


def _is_unclosed(part: Part) -> bool:
    """A bracket was opened that is not closed yet; "[_Exit._" ends with its italics."""
    text = _ENDS_WITH_ITALICS.sub("", part.text)
    return text.count("[") > text.count("]") or (text.startswith("(") and text.count("(") > text.count(")"))


def even_headings(text: str) -> str:
    """The text with "NORA: Yes." for "12. NORA: Yes.", "NORA – Yes.", "[NORA]" over "Yes." and others, where most begin so.

    Lines stay what they are in number.
    """
    text = _WIDE.sub("  ", _EMPHASIS.sub(lambda found: f"{found[1]}**{found[2]}:** ({found[3].strip('*_()')})", text))
    text = _JOINED.sub(lambda found: f"{found[1]} {found[2].strip('_')} ", text)
    if len(_BUSINESS.findall(text)) >= _FEWEST:
        text = _BUSINESS.sub(r"(\1)", text)
    if len(_STARRED.findall(text)) >= _FEWEST:
        text = _STARRED.sub(r"_\1_", text)
    lines = text.splitlines()
    habits: dict[_Habit, dict[int, re.Match[str]]] = defaultdict(dict)
    for number, line in enumerate(lines):
        for place, pattern in enumerate(_HEADED):
            if match := pattern.match(line):
                habit = _Habit(place, match["number"] is not None, match["open"].strip(), match["mark"].strip())
                if habit.is_unusual:
                    habits[habit][number] = match
    told = {
        habit: again for habit, found in habits.items() if (again := _count_again(match["label"] for match in found.values()))
    }
    best = max(told, key=lambda habit: told[habit], default=None)
    if best is None or told[best] < _count_again(found.label for found in Labels(split_lines(text)).found.values()):
        return text
    for number, line in enumerate(lines):
        if match := habits[best].get(number):
            lines[number] = f"{match['indent']}{match['label'].replace('#', '')}: {match['rest']}".rstrip(" ")
        elif best.is_numbered:
            lines[number] = re.sub(rf"^([ \t]*){_NUMBER}", r"\1", line)
    return "\n".join(lines)


@dataclass(frozen=True)
class _Habit:
    """One way to set headings: by which pattern, and with what around the name."""

    pattern: int
    is_numbered: bool
    opens: str
    mark: str

    @property
    def is_unusual(self) -> bool:
        """Whether the habit is another than ``labels`` reads: a name and a stop, colon or gap."""
        return self.pattern < len(_HEADED) - 1 or self.is_numbered


def _count_again(labels: Iterable[str]) -> int:
    """The number of headings of people who speak again; 0 where these are few, or few of all."""
    counts = Counter(to_full_form(label) for label in labels)
    again = sum(count for count in counts.values() if count > 1)
    return again if again >= _FEWEST and again >= _AGAIN * sum(counts.values()) else 0
