"""Speech headings in plain text: the typographic habit that a play's headings keep is found by counting."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sociable.datasets.plays.directions import find_closing
from sociable.datasets.plays.frame import Line
from sociable.datasets.plays.headings import HeadingKind, find_heading
from sociable.datasets.plays.spelling import is_capitals, to_full_form
from sociable.datasets.plays.wordlists import ABBREVIATED_TITLES, INTERJECTIONS, NO_NAMES, ORDINALS, SMALL, SOUNDS, TITLES

ALONE = "alone"
PARTED = re.compile(r"\s*,?\s+(?:and|&)\s+|\s*[&,/]\s*")
"""The signs between the names of several who speak together."""
NUMERAL = re.compile(r"[1-9]")
"""Witches, watchmen and citizens of old editions have no other name. Elsewhere it numbers a list."""
_LONGEST, _MOST_WORDS, _MOST_WORDS_OF_ONE = 48, 7, 5
_EMPHASISED = re.compile(r"^(?P<mark>\*\*|__|\*|_)(?P<label>[^_*\n]{1,45}?)(?P=mark)(?P<rest>.*)$")
_SPLIT = re.compile(
    r"(?P<dot>\.(?:[—–]|--|-?(?=\s|$|[\[(_])))|(?P<colon>:)|(?P<paren>,?\s*_?(?=[\[(]))|(?P<gap>\t|\s{2,})|(?P<dash>[—–]|--)"
)
_IN_SMALL = re.compile(r"(?:The|An?)\s[a-z][\w’' -]+$|[A-Z][\w’']+(?: [\w’']+)?\s(?:voice|outside|within)$")
_GAP = re.compile(r"\t|\s{2}")
_DIRECTION = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_WITH_DIRECTION = re.compile(r"(?P<label>[^,]*),\s*(?P<direction>_[^_]+_|[a-z][a-z ,'’]{2,40})[.:—]?\s*$")
_NO_LABEL = re.compile(r"[!?;…“”\"=<>{}|\[\]()]|\.\.|  ")
_NEVER_ALONE = ("mr", "mrs")
""" "MRS. ELVSTED enters." is no speech of a person called Mrs."""
_LETTERS, _LONGEST_INITIALS = ("A", "O"), 3
"""Words of one letter, which may shorten names where something parts them from the speech."""
_USUALLY = 0.97
_MANY, _HEADINGS_IN_COLUMN = 10, 0.7
FEW_SPEECHES = 6


def is_talk(speakers: Sequence[str], filled_lines: int, lines_per_speech: int) -> bool:
    """Whether so many lines are a play: they have enough speeches, and people speak again unless these are few."""
    again = sum(count for count in Counter(speakers).values() if count > 1)
    return (len(speakers) < FEW_SPEECHES or again * 2 >= len(speakers)) and len(speakers) * lines_per_speech >= filled_lines


@dataclass(frozen=True)
class Style:
    """A way to set a speech heading: what parts it from the speech, its capitals, and whether it is emphasised."""

    parted: str
    capitals: bool
    emphasised: bool

    @property
    def is_alone(self) -> bool:
        return self.parted.startswith(ALONE)

    @property
    def has_direction(self) -> bool:
        """A direction stands between heading and speech."""
        return self.parted.endswith("paren")

    @property
    def mark(self) -> str:
        """The sign that parts a heading from its speech, whether that is on the same line or on the next."""
        return self.parted.removeprefix(ALONE).strip().replace("bare", "gap")

    def is_dashed_beside(self, other: Style) -> bool:
        """ "NORA--Yes." where abbreviated names have a stop, too: "TORV.--Yes." """
        return self.capitals and other.capitals and {self.parted, other.parted} == {"dot", "dash"}


@dataclass(frozen=True)
class Candidate:
    """The heading that a line would have in a style; ``rest`` is the speech's beginning on the same line."""

    style: Style
    label: str
    rest: str


@dataclass(frozen=True)
class Found:
    """A line with which a speech begins."""

    index: int
    label: str
    rest: str


class Labels:
    """The speech headings of one text: ``found`` by line, and ``style``, or nothing where there is no habit at all."""

    def __init__(self, lines: Sequence[Line], cast_names: Iterable[str] = ()) -> None:
        self._lines = lines
        self._cast_words = {word.casefold() for name in cast_names for word in re.findall(r"\w+", name)} - SMALL
        self._by_line = {
            index: found
            for index, line in enumerate(lines)
            if line.text and find_heading(line.text) is None and (found := self._find_plausible(index, line))
        }
        self._counts: dict[Style, Counter[str]] = defaultdict(Counter)
        for offered in self._by_line.values():
            for each in offered:
                self._counts[each.style][_to_key(each.label)] += 1
        self.style = self._find_main_style()
        self.found = {found.index: found for found in self._accept(self.style)} if self.style is not None else {}

    def _find_plausible(self, index: int, line: Line) -> list[Candidate]:
        offered = list(find_candidates(line.text))
        if any(each.style.is_alone for each in offered) and not (self._is_followed(index) and self._is_set_apart(index)):
            return [each for each in offered if not each.style.is_alone]
        return offered

    def _is_behind_blank(self, index: int) -> bool:
        return index == 0 or self._lines[index - 1].is_blank

    def _is_followed(self, index: int) -> bool:
        """A heading alone on its line has its speech on the next, or on the one after a blank line."""
        first = next((line.text for line in self._lines[index + 1 : index + 3] if line.text), "")
        heading = find_heading(first)
        return bool(first) and (heading is None or heading.kind not in (HeadingKind.ACT, HeadingKind.SCENE))

    def _is_set_apart(self, index: int) -> bool:
        line, before = self._lines[index], self._lines[index - 1]
        return self._is_behind_blank(index) or abs(line.indent - before.indent) >= 2 or is_capitals(line.text)

    def _find_main_style(self) -> Style | None:
        scores: Counter[Style] = Counter()
        for style, counts in self._counts.items():
            repeated = self._find_known(counts, style.capitals).values()
            if len(repeated) >= 2 or (len(counts) >= 2 and style.capitals):
                # A name opens many a sentence of prose; nothing else is all in capitals as often.
                scores[style] = (sum(repeated) * 4 + min(len(counts), 3)) * (4 if style.capitals else 3) // 4
        if not scores:
            return None
        best = scores.most_common(1)[0][0]
        gap, small = replace(best, parted="gap"), replace(best, capitals=False)
        if best.parted == "dot" and self._is_in_column(gap, best):
            return gap
        # Where all names in capitals are initials, others tell whether the play prints names in small letters.
        again = {label: count for label, count in self._counts[best].items() if count > 1}
        capitals = sum(count for label, count in again.items() if self._counts[small][label] < count)
        others = sum(count for label, count in self._counts[small].items() if count > 1 and label not in again)
        return small if best.capitals and others >= max(_MANY, capitals + 1) else best

    def _is_in_column(self, gap: Style, dot: Style) -> bool:
        """Whether names stand in a column of their own, most of them with a stop, as "Mrs. M." above "Eliza"."""
        dotted, apart = (
            {
                index
                for index, offered in self._by_line.items()
                for each in offered
                if each.style == style and self._counts[style][_to_key(each.label)] > 1
            }
            for style in (dot, gap)
        )
        return len(dotted & apart) >= _USUALLY * len(dotted) and len(apart) > len(dotted)

    def _accept(self, main: Style) -> Iterator[Found]:
        """The headings in the main style, and in others that a play has beside it."""
        kin = (
            found
            for style, found in self._counts.items()
            if (style.capitals, style.emphasised) == (main.capitals, main.emphasised)
            and (style.is_alone == main.is_alone or style.mark == main.mark or style.is_dashed_beside(main))
        )
        self._main, self._known = main, self._find_known(sum(kin, Counter[str]()), main.capitals)
        frequent = [
            index
            for index, offered in self._by_line.items()
            if any(each.style == main and _to_key(each.label) in self._known for each in offered)
        ]
        self._after_blank = sum(map(self._is_behind_blank, frequent)) / max(len(frequent), 1)
        begin = Counter(self._lines[index].indent for index in frequent)
        filled = Counter(line.indent for line in self._lines if line.text)
        usual, at_usual = max(begin.items(), key=lambda found: found[1], default=(0, 0))
        keeps_indent = at_usual >= 0.9 * max(len(frequent), 1)
        # Columns where hardly anything but speeches begins, so that no blank line is needed before them.
        columns = {
            indent for indent, count in begin.items() if indent and count >= max(_MANY, _HEADINGS_IN_COLUMN * filled[indent])
        }
        for index, offered in self._by_line.items():
            indent = self._lines[index].indent
            is_apart = self._is_behind_blank(index) or indent in columns
            if indent not in columns:
                offered = [each for each in offered if not NUMERAL.fullmatch(_to_key(each.label))]
                if keeps_indent and abs(indent - usual) > (2 if main.capitals else 0):
                    continue
            if is_apart or main.capitals or self._after_blank < _USUALLY:
                best = self._find_best(offered, is_apart or (keeps_indent and self._after_blank < 0.5))
                if best is not None:
                    yield Found(index, best.label, best.rest)

    def _find_known(self, counts: Mapping[str, int], capitals: bool) -> dict[str, int]:
        """The headings that occur often enough, or mean one of the cast."""
        return {
            label: count
            for label, count in counts.items()
            if (count >= 2 and (capitals or label not in INTERJECTIONS)) or self._is_in_cast(label)
        }

    def _is_in_cast(self, label: str) -> bool:
        words = {word for word in re.findall(r"\w+", label) if word not in SMALL}
        return bool(words) and words <= self._cast_words and not words <= TITLES

    def _find_best(self, offered: Sequence[Candidate], is_apart: bool) -> Candidate | None:
        main, choice = self._main, None
        for each in offered:
            is_kin = each.style == main or (each.style.emphasised == main.emphasised and self._is_kin(each.style))
            if not is_kin or (each.style.capitals != main.capitals and not (is_apart and self._is_in_other_case(each))):
                continue
            if choice is None:
                choice = each if self._is_heading(each, is_apart) else None
            elif self._is_longer_form(each, choice):
                choice = each
        return choice

    def _is_kin(self, style: Style) -> bool:
        """A style that a play uses beside its main one: the same heading, but with a direction before the speech."""
        if style.is_alone != self._main.is_alone:
            return style.mark == self._main.mark or (style.is_alone and style.has_direction)
        return style.is_alone or style.has_direction or self._main.has_direction or style.is_dashed_beside(self._main)

    def _is_in_other_case(self, each: Candidate) -> bool:
        """A play that prints "KENT" may print "Fool" for those without a name: otherwise set alike, and again."""
        key = _to_key(each.label)
        words = key.split()
        if each.style.parted != self._main.parted or key in self._known or each.label.endswith(",") or len(words) > 3:
            return False
        often = 1 if self._main.mark == "colon" or self._is_in_cast(key) or words[0] in {*ORDINALS, *ORDINALS.values()} else 3
        return self._counts[each.style][key] >= often and not INTERJECTIONS & set(words)

    def _is_heading(self, each: Candidate, is_apart: bool) -> bool:
        main, key = self._main, _to_key(each.label)
        words = key.split()
        if self._known.get(key, 0) < 2 and (
            (key in TITLES and key + "." == each.label.casefold())
            # Castile has it for an abbreviation; one line so is the list of persons.
            or key == "cast"
            or (max(map(len, words), default=0) < 2 and not NUMERAL.match(key) and not self._is_in_cast(key))
        ):
            return False
        if each.style.is_alone and not main.is_alone and not main.capitals and not self._counts[main][key]:
            return False
        if key in self._known or each.style.capitals != main.capitals or self._is_several(key):
            return True
        if main.capitals and " and " in each.label:
            return False
        if each.style != main and not each.style.has_direction and not main.has_direction:
            return False
        if main.capitals:
            return is_apart or self._after_blank < 0.5
        return is_apart and len(words) <= 3 and words[0] not in INTERJECTIONS and each.style == main

    def _is_several(self, key: str) -> bool:
        parts = PARTED.split(key)
        return len(parts) > 1 and all(part in self._known and not set(part.split()) <= TITLES for part in parts)

    def _is_longer_form(self, longer: Candidate, shorter: Candidate) -> bool:
        """The shorter heading is only the beginning of the longer one: "Mrs." of "Mrs. Linde." """
        is_beginning = longer.label.startswith(shorter.label.rstrip("."))
        if not is_beginning or (longer.style.parted == "paren" and shorter.style.parted != "dot"):
            return False
        long_key, short_key = _to_key(longer.label), _to_key(shorter.label)
        if self._is_several(long_key) or long_key == short_key:
            return long_key != short_key
        words, longer_by = short_key.split(), len(long_key.split()) - len(short_key.split())
        if set(words) <= TITLES or all(len(word) == 1 for word in words):
            return long_key in self._known or longer_by <= 2
        beginning = sum(count for label, count in self._known.items() if label.startswith(f"{short_key} "))
        return self._known.get(long_key, 0) >= 2 and beginning >= 0.9 * self._known.get(short_key, 0)


def _to_key(label: str) -> str:
    return " ".join(re.sub(r"[.]", " ", to_full_form(label)).casefold().split())


def find_candidates(text: str) -> Iterator[Candidate]:
    """All headings a line could begin with, the shortest first."""
    emphasis = _EMPHASISED.match(text)
    emphasised, text = emphasis is not None, emphasis["label"] + emphasis["rest"] if emphasis else text
    for match in _SPLIT.finditer(text, 0, _LONGEST + 8):
        label, rest, parted = text[: match.start()], text[match.end() :], str(match.lastgroup)
        if parted == "paren" and _GAP.match(match[0]):
            parted = "gap"
        if not _can_be_label(label) and not (label in _LETTERS and parted in ("gap", "dot", "colon")):
            if parted in ("gap", "colon", "dash"):
                return
            continue
        if parted == "colon" and rest.strip() and not rest[0].isspace() and rest[0] not in "—–-[(_":
            return
        if label.casefold() in _NEVER_ALONE and rest.lstrip()[:1].isupper():
            continue
        printed = label + (match[0][:1] if parted == "dot" else "")
        rest, printed_rest = (_strip_stop(rest) if parted == "paren" else rest).strip(), rest.strip()
        is_alone = not rest or (parted == "paren" and _DIRECTION.fullmatch(rest) is not None)
        # With a stop, "NORA (standing)." may be the beginning of a line that goes on below.
        may_go_on = is_alone and rest != printed_rest
        for capitals in _find_cases(label):
            if is_alone or parted != "dash" or capitals:
                yield Candidate(Style(f"{ALONE} {parted}" if is_alone else parted, capitals, emphasised), printed, rest)
            if may_go_on:
                yield Candidate(Style(parted, capitals, emphasised), printed, rest)
    if _can_be_label(text) and not text.endswith("."):
        for capitals in _find_cases(text):
            yield Candidate(Style(f"{ALONE} bare", capitals, emphasised), text, "")
    elif (found := _WITH_DIRECTION.match(text)) and _can_be_label(found["label"]):
        label, direction = found["label"], found["direction"].strip("_")
        yield Candidate(Style(f"{ALONE} bare", is_capitals(label), emphasised), label, f"({direction})")


def _find_cases(label: str) -> tuple[bool, ...]:
    """Whether it is in capitals; initials ("LG", "Mrs. L.") are so in plays that print names in small letters, too."""
    found = [word for word in re.findall(r"(?:[^\W\d_]|['’])+", label) if word != "and"]
    words = [word for word in found if word.casefold() not in TITLES] or found
    is_initials = bool(words) and all(word.isupper() and len(word) <= _LONGEST_INITIALS for word in words)
    return (True, False) if is_initials else (is_capitals(label),)


def _strip_stop(rest: str) -> str:
    """ "(laughing). That's" without the stop, which parts the heading from the speech."""
    end = find_closing(rest, 0)
    return rest if end is None else rest[:end] + re.sub(r"^_?\s?[.:—–]+(?=\s|$|\w)", " ", rest[end:])


def _can_be_label(label: str) -> bool:
    text = label.strip("_* ")
    words = text.replace(",", " ").split()
    if NUMERAL.fullmatch(text):
        return True
    is_short = 0 < len(text) <= _LONGEST and len(words) <= _MOST_WORDS and text not in ("I", *_LETTERS)
    if not is_short or text != label.strip("_*") or not (text[0].isupper() or text[0].isdigit()):
        return False
    if _NO_LABEL.search(text) or not any(map(str.isalpha, text)) or {word.strip(".:,").casefold() for word in words} <= SOUNDS:
        return False
    begins = words[0].strip(".:,").casefold()
    # A note taker may speak; "Note" alone, or "Note." before a sentence, does not.
    if (begins in NO_NAMES and (begins != "note" or len(words) == 1)) or (find_heading(text) is not None and begins != "cast"):
        return False
    if PARTED.search(text) and words[-1].strip(".").casefold() in ABBREVIATED_TITLES:
        return False
    if text.isupper() or (_IN_SMALL.match(text) and len(words) <= _MOST_WORDS_OF_ONE):
        return True
    return (
        all(len(part.split()) <= _MOST_WORDS_OF_ONE for part in PARTED.split(text))
        and all(word[0].isupper() or word[0].isdigit() or word.strip(".,").casefold() in SMALL for word in words)
        and (len(words) == 1 or words[-1].casefold() not in SMALL - {"voice", "generally", "together", "outside"})
    )
