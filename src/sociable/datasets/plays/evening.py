"""Habits of setting speech headings that few plays have, told by counting and brought to "NORA: Yes." before a play is read."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from sociable.datasets.plays.frame import lines_of
from sociable.datasets.plays.labels import Labels
from sociable.datasets.plays.spelling import full_form

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


def evened(text: str) -> str:
    """With "NORA: Yes." for "12. NORA: Yes.", "NORA – Yes.", "[NORA]" over "Yes." and others, where most speeches begin so.

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
    told = {habit: again for habit, found in habits.items() if (again := _again(match["label"] for match in found.values()))}
    best = max(told, key=lambda habit: told[habit], default=None)
    if best is None or told[best] < _again(found.label for found in Labels(lines_of(text)).found.values()):
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
        """Not what ``labels`` reads: a name and a stop, colon or gap."""
        return self.pattern < len(_HEADED) - 1 or self.is_numbered


def _again(labels: Iterable[str]) -> int:
    """How many headings are of people who speak again; 0 where these are few, or few of all."""
    counts = Counter(full_form(label) for label in labels)
    again = sum(count for count in counts.values() if count > 1)
    return again if again >= _FEWEST and again >= _AGAIN * sum(counts.values()) else 0
