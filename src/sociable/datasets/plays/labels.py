"""Where speeches begin in plain text: the typographic habit of a play's speech headings, found by counting."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sociable.datasets.plays.candidates import NUMERAL, PARTED, Candidate, Style, candidates
from sociable.datasets.plays.frame import Line
from sociable.datasets.plays.headings import HeadingKind, heading_of
from sociable.datasets.plays.spelling import full_form, is_capitals
from sociable.datasets.plays.wordlists import INTERJECTIONS, ORDINALS, SMALL, TITLES

_SEVERAL_MORE = re.compile(r"(?:and|&)\s+[A-Z][\w’']*[.:]?$")
_USUALLY = 0.97
_MANY, _HEADINGS_IN_COLUMN = 10, 0.7
FEW_SPEECHES = 6


def is_talk(speakers: Sequence[str], filled_lines: int, lines_per_speech: int) -> bool:
    """Whether so many lines are a play: they have enough speeches, and people speak again unless these are few."""
    again = sum(count for count in Counter(speakers).values() if count > 1)
    return (len(speakers) < FEW_SPEECHES or again * 2 >= len(speakers)) and len(speakers) * lines_per_speech >= filled_lines


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
                if not NUMERAL.match(label) and ((count >= 2 and not self._is_interjection(label, style)) or self._in_cast(label))
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
                offered = [each for each in offered if not NUMERAL.fullmatch(_key(each.label))]
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
            and not NUMERAL.match(key)
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
        parts = PARTED.split(key)
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
