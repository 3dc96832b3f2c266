"""Where speeches begin in plain text: the typographic habit of a play's speech headings, found by counting."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sociable.construction.plays.frame import Line
from sociable.construction.plays.headings import HeadingKind, heading_of
from sociable.construction.plays.persons import full_form, is_capitals
from sociable.construction.plays.wordlists import ABBREVIATED_TITLES, INTERJECTIONS, NO_NAMES, ORDINALS, SMALL, SOUNDS, TITLES

_LONGEST, _MOST_WORDS, _MOST_WORDS_OF_ONE = 48, 7, 5
_EMPHASISED = re.compile(r"^(?P<mark>\*\*|__|\*|_)(?P<label>[^_*\n]{1,45}?)(?P=mark)(?P<rest>.*)$")
_SPLIT = re.compile(
    r"(?P<dot>\.(?:[—–]|--|-?(?=\s|$|[\[(_])))|(?P<colon>:)|(?P<paren>,?\s*_?(?=[\[(]))|(?P<gap>\t|\s{2,})|(?P<dash>[—–]|--)"
)
_GAP = re.compile(r"\t|\s{2}")
_ITALIC_DIRECTION = re.compile(r"^,\s*(?P<direction>_[^_]+_|[a-z][a-z ,'’]{2,40})(?P<stop>[.:—]?)\s*$")
_LETTERS, _LONGEST_INITIALS = ("A", "O"), 3
"""Words of one letter, which may shorten names where something parts them from the speech."""
_ALONE = "alone"
_SEVERAL_MORE = re.compile(r"(?:and|&)\s+[A-Z][\w’']*[.:]?$")
_PARTED = re.compile(r"\s*,?\s+(?:and|&)\s+|\s*[&,/]\s*")
_NUMERAL = re.compile(r"[1-9]")
"""Witches, watchmen and citizens of old editions have no other name. Elsewhere it numbers a list."""
_USUALLY = 0.97
_MANY, _HEADINGS_IN_COLUMN = 10, 0.7


@dataclass(frozen=True)
class Style:
    """A way to set a speech heading: what parts it from the speech, its capitals, and whether it is emphasised."""

    parted: str
    capitals: bool
    emphasised: bool

    @property
    def is_alone(self) -> bool:
        return self.parted.startswith(_ALONE)

    @property
    def mark(self) -> str:
        """What parts a heading from its speech, whether that is on the same line or on the next."""
        return self.parted.removeprefix(_ALONE).strip().replace("bare", "gap")

    def is_dashed_beside(self, other: Style) -> bool:
        """ "NORA--Yes." where abbreviated names have a stop, too: "TORV.--Yes." """
        return self.capitals and other.capitals and {self.parted, other.parted} == {"dot", "dash"}


@dataclass(frozen=True)
class Candidate:
    """What a line's heading would be in a style; ``rest`` is what of the speech stands on the same line."""

    style: Style
    label: str
    rest: str


@dataclass(frozen=True)
class Found:
    """A line with which a speech begins."""

    index: int
    label: str
    rest: str


def candidates(text: str) -> Iterator[Candidate]:
    """All headings a line could begin with, the shortest first."""
    emphasised = False
    if match := _EMPHASISED.match(text):
        emphasised = True
        text = match["label"] + match["rest"]
    for match in _SPLIT.finditer(text, 0, _LONGEST + 8):
        label, parted = text[: match.start()], str(match.lastgroup)
        if parted == "paren" and _GAP.match(match[0]):
            parted = "gap"
        rest = text[match.end() :]
        if not _could_be_label(label) and not (label in _LETTERS and parted in ("gap", "dot", "colon")):
            if parted in ("gap", "colon", "dash"):
                return
            continue
        printed = label + (match[0][:1] if parted == "dot" else "")
        if parted == "paren":
            rest = _without_stop_behind(rest)
        if parted == "colon" and rest.strip() and not rest[0].isspace() and rest[0] not in "—–-[(_":
            return
        for capitals in _cases(label):
            if not rest.strip():
                yield Candidate(Style(f"{_ALONE} {parted}", capitals, emphasised), printed, "")
            elif parted == "paren" and re.fullmatch(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])", rest):
                yield Candidate(Style(f"{_ALONE} paren", capitals, emphasised), printed, rest.strip())
            elif parted != "dash" or capitals:
                yield Candidate(Style(parted, capitals, emphasised), printed, rest.strip())
    if _could_be_label(text) and not text.endswith("."):
        for capitals in _cases(text):
            yield Candidate(Style(f"{_ALONE} bare", capitals, emphasised), text, "")
    elif "," in text and _could_be_label(text.partition(",")[0]):
        label, _, rest = text.partition(",")
        if match := _ITALIC_DIRECTION.match("," + rest):
            yield Candidate(Style(f"{_ALONE} bare", is_capitals(label), emphasised), label, f"({match['direction'].strip('_')})")


def _cases(label: str) -> tuple[bool, ...]:
    """Whether it is in capitals; initials ("LG", "Mrs. L.") are so in plays that print names in small letters, too."""
    found = [word for word in re.findall(r"(?:[^\W\d_]|['’])+", label) if word != "and"]
    words = [word for word in found if word.casefold() not in TITLES] or found
    is_initials = bool(words) and all(word.isupper() and len(word) <= _LONGEST_INITIALS for word in words)
    return (True, False) if is_initials else (is_capitals(label),)


def _without_stop_behind(rest: str) -> str:
    """ "(laughing). That's" without the stop, which parts the heading from the speech."""
    opens, closes = rest[:1], {"[": "]", "(": ")"}.get(rest[:1], "")
    depth = 0
    for position, sign in enumerate(rest):
        depth += (sign == opens) - (sign == closes)
        if depth == 0:
            return rest[: position + 1] + re.sub(r"^_?\s?[.:—–]+(?=\s|$|\w)", " ", rest[position + 1 :])
    return rest


def _could_be_label(label: str) -> bool:
    text = label.strip("_* ")
    words = text.replace(",", " ").split()
    if _NUMERAL.fullmatch(text):
        return True
    if (
        text in ("I", *_LETTERS)
        or "  " in text
        or not text
        or len(text) > _LONGEST
        or len(words) > _MOST_WORDS
        or not (text[0].isupper() or text[0].isdigit())
    ):
        return False
    if text != label.strip("_*") or not any(sign.isalpha() for sign in text) or re.search(r"[!?;…“”\"=<>{}|\[\]()]|\.\.", text):
        return False
    begins = words[0].strip(".:,").casefold()
    # A note taker may speak; "Note" alone, or "Note." before a sentence, does not.
    if (begins in NO_NAMES and (begins != "note" or len(words) == 1)) or (heading_of(text) is not None and begins != "cast"):
        return False
    if {word.strip(".:,").casefold() for word in words} <= SOUNDS:
        return False
    if _PARTED.search(text) and words[-1].strip(".").casefold() in ABBREVIATED_TITLES:
        return False
    if text.isupper():
        return True
    return (
        all(len(part.split()) <= _MOST_WORDS_OF_ONE for part in _PARTED.split(text))
        and all(word[0].isupper() or word[0].isdigit() or word.strip(".,").casefold() in SMALL for word in words)
        and (len(words) == 1 or words[-1].casefold() not in SMALL - {"voice", "generally", "together", "outside"})
    ) or bool(
        re.match(r"^(?:The|An?)\s[a-z][\w’' -]+$|^[A-Z][\w’']+(?: [\w’']+)?\s(?:voice|outside|within)$", text)
        and len(words) <= _MOST_WORDS_OF_ONE
    )


class Labels:
    """The speech headings of one text: ``found`` by line, and ``style``, or nothing where there is no habit at all."""

    def __init__(self, lines: Sequence[Line], cast_names: Iterable[str] = ()) -> None:
        self._lines = lines
        self._cast_words = {word.casefold() for name in cast_names for word in re.findall(r"\w+", name)} - SMALL
        self._by_line = {
            index: found
            for index, line in enumerate(lines)
            if line.text and heading_of(line.text) is None and (found := self._plausible(index, line))
        }
        self._counts: dict[Style, Counter[str]] = defaultdict(Counter)
        for offered in self._by_line.values():
            for each in offered:
                self._counts[each.style][_key(each.label)] += 1
        self.style = self._main_style()
        self.found: dict[int, Found] = {}
        if self.style is not None:
            self._accept(self.style)

    def _plausible(self, index: int, line: Line) -> list[Candidate]:
        offered = list(candidates(line.text))
        if not offered:
            return []
        before_blank = index == 0 or self._lines[index - 1].is_blank
        return [
            each
            for each in offered
            if not each.style.is_alone or (self._followed(index) and self._set_apart(index, before_blank))
        ]

    def _followed(self, index: int) -> bool:
        """A heading alone on its line has its speech on the next, or on the one after a blank line."""
        first = next((line.text for line in self._lines[index + 1 : index + 3] if line.text), "")
        heading = heading_of(first)
        return bool(first) and (heading is None or heading.kind not in (HeadingKind.ACT, HeadingKind.SCENE))

    def _set_apart(self, index: int, before_blank: bool) -> bool:
        return (
            before_blank
            or abs(self._lines[index].indent - self._lines[index - 1].indent) >= 2
            or is_capitals(self._lines[index].text)
        )

    def _main_style(self) -> Style | None:
        scores: Counter[Style] = Counter()
        for style, counts in self._counts.items():
            repeated = {
                label: count
                for label, count in counts.items()
                if not _NUMERAL.match(label)
                and ((count >= 2 and not self._is_interjection(label, style)) or self._in_cast(label))
            }
            if len(repeated) >= 2 or (len(counts) >= 2 and sum(counts.values()) >= 2 and style.capitals):
                scores[style] = sum(repeated.values()) * 4 + min(len(counts), 3)
                if not style.capitals:
                    # A name opens many a sentence of prose; nothing else is all in capitals as often.
                    scores[style] = scores[style] * 3 // 4
                if style.is_alone and style.parted.endswith("bare") and not style.capitals:
                    scores[style] //= 2
        if not scores:
            return None
        best = scores.most_common(1)[0][0]
        # Where all names in capitals are initials, others tell whether the play prints names in small letters.
        small = replace(best, capitals=False)
        again = {label: count for label, count in self._counts[best].items() if count > 1}
        both = sum(count for label, count in again.items() if self._counts[small][label] >= count)
        others = sum(count for label, count in self._counts[small].items() if count > 1 and label not in again)
        gap = replace(best, parted="gap")
        if best.parted == "dot" and self._explains_all(gap, best):
            return gap
        return small if best.capitals and others >= _MANY and others > sum(again.values()) - both else best

    def _explains_all(self, gap: Style, dot: Style) -> bool:
        """Names stand in a column of their own, most of them with a stop, as "Mrs. M." above "Eliza"."""
        dotted, apart = (
            {index for index, offered in self._by_line.items() for each in offered if each.style == style and self._again(each)}
            for style in (dot, gap)
        )
        return len(dotted & apart) >= _USUALLY * len(dotted) and len(apart) > len(dotted)

    def _again(self, each: Candidate) -> bool:
        return self._counts[each.style][_key(each.label)] > 1

    def _is_interjection(self, label: str, style: Style) -> bool:
        return not style.capitals and label in INTERJECTIONS

    def _accept(self, main: Style) -> None:
        chosen: dict[int, Candidate] = {}
        known = self._known(main)
        frequent = [
            index for index, offered in self._by_line.items() if any(e.style == main and _key(e.label) in known for e in offered)
        ]
        after_blank = _share(index == 0 or self._lines[index - 1].is_blank for index in frequent)
        indents = Counter(self._lines[index].indent for index in frequent)
        indent, at_indent = indents.most_common(1)[0] if indents else (0, 0)
        keeps_indent = at_indent >= 0.9 * max(len(frequent), 1)
        heading_indents = self._heading_indents(main, known)
        for index, offered in self._by_line.items():
            line = self._lines[index]
            is_after_blank = index == 0 or self._lines[index - 1].is_blank or line.indent in heading_indents
            if (
                line.indent not in heading_indents
                and keeps_indent
                and line.indent != indent
                and not (main.capitals and abs(line.indent - indent) <= 2)
            ):
                continue
            if after_blank >= 0.97 and not is_after_blank and not main.capitals:
                continue
            if line.indent not in heading_indents:
                offered = [each for each in offered if not _NUMERAL.fullmatch(_key(each.label))]
            best = self._best(offered, main, known, is_after_blank or (keeps_indent and after_blank < 0.5), after_blank)
            if best is not None:
                chosen[index] = best
        self.found = {index: Found(index, each.label, each.rest) for index, each in sorted(chosen.items())}

    def _heading_indents(self, main: Style, known: Mapping[str, int]) -> set[int]:
        """Columns where hardly anything but speeches begins, so that no blank line is needed before them."""
        lines = Counter(line.indent for line in self._lines if line.text)
        begin = Counter(
            self._lines[index].indent
            for index, offered in self._by_line.items()
            if any(each.style == main and _key(each.label) in known for each in offered)
        )
        return {
            indent
            for indent, count in begin.items()
            if count >= _MANY and indent and count >= _HEADINGS_IN_COLUMN * lines[indent]
        }

    def _known(self, main: Style) -> dict[str, int]:
        """Headings that occur often enough in the main style, or mean one of the cast, after shorter ones that are none."""
        counts = Counter[str]()
        for style, found in self._counts.items():
            if (
                style.capitals == main.capitals
                and style.emphasised == main.emphasised
                and (style.is_alone == main.is_alone or style.mark == main.mark or style.is_dashed_beside(main))
            ):
                counts.update(found)
        return {
            label: count
            for label, count in counts.items()
            if (count >= 2 and (main.capitals or label not in INTERJECTIONS)) or self._in_cast(label)
        }

    def _in_cast(self, label: str) -> bool:
        words = [word for word in re.findall(r"\w+", label) if word not in SMALL]
        return bool(words) and all(word in self._cast_words for word in words) and not set(words) <= TITLES

    def _best(
        self, offered: Sequence[Candidate], main: Style, known: Mapping[str, int], is_apart: bool, after_blank: float
    ) -> Candidate | None:
        fitting = [
            each
            for each in offered
            if each.style.emphasised == main.emphasised
            and (each.style == main or self._is_kin(each.style, main))
            and (each.style.capitals == main.capitals or self._is_in_other_case(each, main, known, is_apart))
        ]
        choice: Candidate | None = None
        for each in fitting:
            if choice is None:
                if self._is_heading(each, main, known, is_apart, after_blank):
                    choice = each
            elif self._explains(each, choice, known):
                choice = each
        return choice

    def _is_kin(self, style: Style, main: Style) -> bool:
        """A style that a play uses beside its main one: the same heading, but with a direction before the speech."""
        if style.is_alone != main.is_alone:
            return (
                style.mark == main.mark
                or (style.parted == "paren" and main.parted != "gap" and not main.is_alone)
                or (style.is_alone and "paren" in style.parted)
            )
        return (
            style.is_dashed_beside(main)
            or style.parted.endswith("paren")
            or main.parted.endswith("paren")
            or (style.is_alone and main.is_alone)
        )

    def _is_in_other_case(self, each: Candidate, main: Style, known: Mapping[str, int], is_apart: bool) -> bool:
        """A play that prints "KENT" may print "Fool" for those without a name: otherwise set alike, and again."""
        key = _key(each.label)
        if not is_apart or each.style.parted != main.parted or key in known or each.label.endswith(",") or len(key.split()) > 3:
            return False
        often = 1 if main.mark == "colon" or self._in_cast(key) or key.split()[0] in {*ORDINALS, *ORDINALS.values()} else 3
        return self._counts[each.style][key] >= often and not INTERJECTIONS & set(key.split())

    def _is_heading(self, each: Candidate, main: Style, known: Mapping[str, int], is_apart: bool, after_blank: float) -> bool:
        key = _key(each.label)
        words = key.split()
        if words and set(words) <= TITLES and len(words) == 1 and key + "." == each.label.casefold() and known.get(key, 0) < 2:
            return False
        if _SEVERAL_MORE.match(each.rest):
            return False
        if each.style.is_alone and not main.is_alone and not main.capitals and not self._counts[main][key]:
            return False
        if (
            not any(len(word) > 1 for word in words)
            and not _NUMERAL.match(key)
            and known.get(key, 0) < 2
            and not self._in_cast(key)
        ):
            return False
        if key == "cast":
            # Castile has it for an abbreviation; one line so is the list of persons.
            return known.get(key, 0) > 1
        if key in known or each.style.capitals != main.capitals:
            return True
        if self._names_several(key, known):
            return True
        if " and " in each.label and (main.capitals or each.style.capitals):
            return False
        if each.style != main and not each.style.parted.endswith("paren") and not main.parted.endswith("paren"):
            return False
        if main.capitals:
            return is_apart or after_blank < 0.5
        return is_apart and len(words) <= 3 and words[0] not in INTERJECTIONS and each.style == main

    def _names_several(self, key: str, known: Mapping[str, int]) -> bool:
        parts = _PARTED.split(key)
        return len(parts) > 1 and all(
            known.get(part, 0) >= (1 if len(part) > 1 else _MANY) and not set(part.split()) <= TITLES for part in parts
        )

    def _explains(self, longer: Candidate, shorter: Candidate, known: Mapping[str, int]) -> bool:
        """The shorter heading is only the beginning of the longer one: "Mrs." of "Mrs. Linde." """
        if not longer.label.startswith(shorter.label.rstrip(".")) or (
            longer.style.parted == "paren" and shorter.style.parted != "dot"
        ):
            return False
        long_key, short_key = _key(longer.label), _key(shorter.label)
        if self._names_several(long_key, known):
            return True
        beginning = [count for label, count in known.items() if label.startswith(f"{short_key} ")]
        if long_key == short_key:
            return False
        if set(short_key.split()) <= TITLES or not any(len(word) > 1 for word in short_key.split()):
            return long_key in known or len(long_key.split()) - len(short_key.split()) <= 2
        return long_key in known and sum(beginning) >= 0.9 * known.get(short_key, 0) and known[long_key] >= 2


def _key(label: str) -> str:
    return " ".join(re.sub(r"[.]", " ", full_form(label)).casefold().split())


def _share(values: Iterable[bool]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0
