"""Smallville's people as residents: what its files say of them in prose, read into hours, habits and ties by rule.

The benchmark's README says by which. Nothing else is made up: whoever has no place to go to stays at home.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.distance import OSA

from sociable.benchmarks.stss.keywords import has_phrase
from sociable.benchmarks.stss.residents import find_gaps
from sociable.core.errors import DataError
from sociable.town.clock import MINUTES_PER_DAY, format_time_of_day
from sociable.town.interop.smallville import SmallvillePersona, load_smallville_personas
from sociable.town.map import Address, TownMap
from sociable.town.persona import WEEKDAYS, Habit, Persona
from sociable.town.places import PlaceFinder

WAKES, SLEEPS = 7 * 60, 23 * 60
"""The hours of sleep where a lifestyle names none."""

WORK = ((9 * 60, 12 * 60), (13 * 60 + 30, 17 * 60))
"""Hours of work and study that are not said."""

VISIT_MINUTES = 90
"""The length of a visit that has no end."""

_VISITS = (12 * 60, 15 * 60, 10 * 60, 19 * 60)
"""The times at which a visit can begin that names none: the first at which there is room."""

_LEAST = 30
"""Minutes: whatever is shorter is left out, and so near to sleep nobody goes out."""


class SmallvillePeople(NamedTuple):
    people: Mapping[str, Persona]
    """Everybody by full name."""
    remarks: tuple[str, ...]
    """Remarks on what was taken for granted, or read with goodwill."""


def is_smallville_people(folder: Path) -> bool:
    """Whether ``folder`` is a folder of Smallville's personas, or has folders of them."""
    return folder.is_dir() and any((path / "personas").is_dir() for path in (folder, *folder.iterdir()))


def load_smallville_people(folder: Path, town: TownMap) -> SmallvillePeople:
    """Everybody in a folder with ``personas`` (``base_the_ville_n25``).

    Raises InputError or DataError, which name what is missing; also where somebody has no home on the map.
    """
    written = load_smallville_personas(folder)
    # The files have been read once, so they are whole.
    files = (folder / "personas").glob("*/bootstrap_memory/scratch.json")
    records = [json.loads(file.read_text(encoding="utf-8-sig")) for file in files]
    plans = {record["name"].strip(): str(record.get("daily_plan_req") or "").strip() for record in records}
    reader = _HabitReader(town, written)
    people: dict[str, Persona] = {}
    remarks: list[str] = []
    for who in written:
        plan = plans.get(who.name, "")
        if not town.find_free_tiles(who.home):
            file = folder / "personas" / who.name / "bootstrap_memory" / "scratch.json"
            raise DataError(str(file), "living_area", f"there is no '{who.home}' in {town.name}, or it cannot be reached")
        hours = parse_hours_of_sleep(who.lifestyle)
        for missing, taken in (("waking up", hours.wakes), ("going to bed", hours.sleeps)):
            if missing in hours.missing:
                remarks.append(f"{who.name}: lifestyle names no time of {missing}; {format_time_of_day(taken)} is taken.")
        ties, misspelled = find_ties(who, written)
        remarks += [f"{who.name}: '{wrong}' is taken for {name}." for wrong, name in misspelled.items()]
        first = who.name.split()[0]
        same = {name: getattr(who, name) for name in ("name", "age", "innate", "learned", "currently", "facts")}
        people[who.name] = Persona(
            **same,
            short=who.name if sum(other.name.split()[0] == first for other in written) > 1 else first,
            pronouns=_find_pronoun(f"{who.learned} {who.currently} {plan}"),
            # A day's fixed points are a part of what the original agents are told of themselves.
            lifestyle=f"{who.lifestyle} {plan}".strip(),
            home=str(who.home),
            wakes=hours.wakes,
            sleeps=hours.sleeps,
            habits=tuple(reader.read_habits(who, plan, hours)),
            ties=dict.fromkeys(ties, ""),
        )
    if idle := [name for name, persona in people.items() if not persona.habits]:
        remarks.append(f"No place to go to is named for {', '.join(idle)}: without a model they stay at home.")
    return SmallvillePeople(people, tuple(remarks))


def _find_pronoun(text: str) -> str:
    """The pronoun with which a sentence begins, or else the first he or she."""
    found = re.search(r"(?:^|[.!?]\s+)(He|She|They)\b", text) or re.search(r"\b(he|she)\b", text)
    return found[1].casefold() if found else ""


# Hours

_TIME = r"(?:(?P<word>midnight|noon|midday)|(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?(?:\s*(?P<half>[ap])\.?m)?)"
_TIMES = re.compile(rf"(?P<before>\w+\s+|-\s*)?(?:at |about |around )?\b{_TIME}", re.IGNORECASE)
_BED = re.compile(rf"(?:to bed|to sleep|asleep|in bed|sleeps|retires|turns in)\D{{0,24}}?{_TIME}", re.IGNORECASE)
_UP = re.compile(rf"(?:awakes?|wakes?|gets? up|rises|is up|awake)\D{{0,24}}?{_TIME}", re.IGNORECASE)


class HoursOfSleep(NamedTuple):
    wakes: int
    """Minute of the day."""
    sleeps: int
    """Minute of the day, 1440 or more after midnight."""
    missing: tuple[str, ...] = ()
    """The one of the two that was not said: ``waking up``, ``going to bed``."""


def parse_hours_of_sleep(lifestyle: str) -> HoursOfSleep:
    """Reads a sentence like "goes to bed about 11pm and gets up about 6am"."""
    up, bed = _read_minute(_UP.search(lifestyle), evening=False), _read_minute(_BED.search(lifestyle), evening=True)
    missing = tuple(what for what, minute in (("waking up", up), ("going to bed", bed)) if minute is None)
    wakes, sleeps = WAKES if up is None else up, SLEEPS if bed is None else bed
    # Whoever goes to bed after midnight does so on the next day.
    return HoursOfSleep(wakes, sleeps if sleeps > wakes else sleeps + MINUTES_PER_DAY, missing)


def _read_minute(found: re.Match[str] | None, *, evening: bool) -> int | None:
    """The minute of the day; without am and pm, in the evening 5 to 11 are after noon. None: no time of day."""
    if found is None:
        return None
    if word := found["word"]:
        return 0 if word.casefold() == "midnight" else 12 * 60
    hour, half = int(found["hour"]), (found["half"] or "").casefold()
    if hour > 24:
        return None
    if (half == "p" or (not half and evening and hour >= 5)) and hour < 12:
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    return hour % 24 * 60 + int(found["minute"] or 0)


# Ties

_NAME = re.compile(r"[^\W\d_][\w'’-]+\s+[^\W\d_][\w'’-]+")


class Ties(NamedTuple):
    names: tuple[str, ...]
    """Names in the order of the alphabet."""
    misspelled: Mapping[str, str]
    """The person that was taken to be meant, by what was written."""


def find_ties(who: SmallvillePersona, everybody: Sequence[SmallvillePersona]) -> Ties:
    """The people whom somebody's own texts name."""
    others = {other.name for other in everybody if other.name != who.name}
    found: set[str] = set()
    misspelled: dict[str, str] = {}
    for sentence in [*who.facts, *_split_sentences(who.learned), *_split_sentences(who.currently)]:
        words = set(re.findall(r"[^\W\d_]+", sentence))
        # In full, or by first and family name apart.
        found |= {name for name in others if {name.split()[0], name.split()[-1]} <= words}
        for first, second in zip(sentence.split(), sentence.split()[1:], strict=False):
            written = f"{first} {second}".strip(".,;:!?*\"'’").removesuffix("'s")
            if not _NAME.fullmatch(written) or not (first[0].isupper() and second[0].isupper()):
                continue
            near = [name for name in others if OSA.distance(written, name) == 1]
            if len(near) == 1 and written not in others:
                misspelled[written] = near[0]
    return Ties(tuple(sorted(found | set(misspelled.values()))), misspelled)


def _split_sentences(text: str) -> list[str]:
    return [sentence for sentence in re.split(r"(?<=[.!?])\s+", text) if sentence]


# Habits


class _Doing(NamedTuple):
    said: re.Pattern[str]
    doing: str
    """The text in the log: without the name of the place, which would make it look like what is done there."""
    work: bool = False
    regular: bool = False
    """Whether it fills the hours of work."""


def _compile_words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


_KEEPS = (
    "opens?|stands?|shop ?keep(?:s|er|ing)?|keeps|own(?:s|er)|bartender|barkeeper|manag(?:es?|ing|er)|runs|running"
    "|works? (?:at|in|for|behind)"
)
_CLASSES = r"tak(?:es?|ing) (?:\w+ )?classes|attends? (?:\w+ )?classes"
_DOINGS = (
    _Doing(_compile_words(r"goes? (?:for|on) a run"), "running"),
    _Doing(_compile_words(r"teach(?:es|ing)?|professor at|teacher at"), "teaching", work=True, regular=True),
    _Doing(_compile_words(_CLASSES), "taking classes", work=True, regular=True),
    _Doing(_compile_words(_KEEPS), "seeing to those who come in", work=True, regular=True),
    _Doing(_compile_words(r"student at"), "studying", regular=True),
    _Doing(_compile_words(r"stud(?:y|ies|ying)"), "studying"),
    _Doing(_compile_words(r"read(?:s|ing)?"), "reading"),
    _Doing(_compile_words(r"writ(?:es?|ing)"), "writing"),
    _Doing(_compile_words(r"walks?(?:ing)?"), "taking a walk"),
    _Doing(_compile_words(r"exercis(?:es?|ing)"), "exercising"),
    _Doing(_compile_words(r"work(?:s|ing)?"), "working"),
    _Doing(_compile_words(r"eat(?:s|ing)?|drink(?:s|ing)?|dinner|lunch|breakfast"), "having something to eat and drink"),
    _Doing(_compile_words(r"relax(?:es|ing)?"), "relaxing"),
)
_GOES = _compile_words(r"goes?|sits?|visits?|frequents?|spends?|walks?|eats?|likes? to|hangs? out")
_JUST_THERE = _Doing(_GOES, "spending some time")
_YOU_GO = re.compile(
    r"\byou (?:(?:also|always|often|usually|sometimes|regularly|try to|like to) )*"
    r"(?:frequent|visit|go to|go for|sit|spend (?:\w+ )?time|take a walk|walk|eat|study|work) ",
    re.IGNORECASE,
)
_CLOSES = _compile_words(r"clos(?:es?|ing)")
_ALL_DAY = _compile_words(r"spends? (?:his|her|their|your|the) days?|during the day|all day")
_HOME = _compile_words(r"(?:goes|go|returns?|comes?) (?:back )?home")
_PARTS = (
    (_compile_words(r"(?:until|till) late|at night|late|evenings?|dinner"), 19 * 60),
    (_compile_words(r"mornings?"), 9 * 60),
    (_compile_words(r"afternoons?"), 14 * 60),
    (_compile_words(r"noon|lunch"), 12 * 60),
)
_VERBS = "opens?|stands?|clos|teach|takes|goes|go |eats?|sits?|likes|stud|returns|spends|works|exercises|visits"
_CLAUSES = re.compile(rf"[.;!?]\s+|,\s*(?:and\s+)?|\s+and\s+(?=(?:then\s+)?(?:{_VERBS}))", re.IGNORECASE)
_THERE = _compile_words("there")
_AFTERWARDS = _compile_words(r"then|afterwards?|after (?:that|this)")


class _Stretch(NamedTuple):
    """Time somewhere, as far as it was said."""

    place: Address
    doing: _Doing
    start: int | None = None
    end: int | None = None


class _HabitReader:
    """Reads habits out of prose, for one map and its people."""

    def __init__(self, town: TownMap, people: Sequence[SmallvillePersona]) -> None:
        self._town = town
        self._finder = PlaceFinder(town)
        self._names = [who.name for who in people]
        homes = {who.home.sector for who in people}
        self._arenas: dict[str, list[Address]] = {}
        for place in town.places:
            if place.is_arena and place.sector not in homes and town.find_free_tiles(place):
                self._arenas.setdefault(place.sector, []).append(place)

    def read_habits(self, who: SmallvillePersona, plan: str, hours: HoursOfSleep) -> list[Habit]:
        """Somebody's habits in the order of the day."""
        read = [list(self._read_stretches(self._cut(text, who), who.home)) for text in (plan, who.learned, who.currently)]
        work = next((some for some in ([each for each in of if each.doing.regular] for of in read) if some), [])
        planned = read[0] if any(each in work for each in read[0]) else [*read[0], *work]
        facts = ". ".join(self._cut(fact, who) for fact in who.facts if _YOU_GO.search(fact))
        going = self._read_stretches(facts, who.home, [doing for doing in _DOINGS if not doing.regular])
        visits = [each for each in (*read[1], *read[2], *going) if not each.doing.regular]
        for visit in visits:
            if all(each.place.sector != visit.place.sector for each in planned):
                planned.append(visit)
        day = _Day(hours)
        # What has its hours comes first, then work, then what can be done at any time.
        for stretch in sorted(planned, key=lambda each: (each.start is None, not each.doing.regular)):
            day.fill(stretch, [each.start for each in planned if each.start is not None])
        return sorted(day.habits, key=lambda habit: habit.start)

    def _cut(self, text: str, who: SmallvillePersona) -> str:
        """Every sentence up to somebody else's name."""
        others = "|".join(re.escape(name) for name in self._names if name != who.name)
        return " ".join(re.split(others, sentence)[0] if others else sentence for sentence in _split_sentences(text))

    def _read_stretches(self, text: str, home: Address, doings: Sequence[_Doing] = _DOINGS) -> Iterator[_Stretch]:
        text = re.sub(r"\bat which point,?\s", "then ", text, flags=re.IGNORECASE)
        now: _Stretch | None = None
        part: int | None = None
        said = ""
        for clause in _CLAUSES.split(text):
            start, end = _read_times(clause)
            opening = next((begin for pattern, begin in _PARTS if pattern.search(clause)), None)
            places = [] if _CLOSES.search(clause) else list(self._find_places(clause, home))
            kind = next((doing for doing in doings if doing.said.search(clause)), None)
            if places and (kind is not None or _GOES.search(clause) or _YOU_GO.search(clause)):
                if start is None and now is not None and now.end is not None and _AFTERWARDS.search(clause):
                    start = now.end
                begin = next((minute for minute in (start, opening, part) if minute is not None), None)
                doing = kind or _JUST_THERE
                doing = doing._replace(regular=doing.regular or bool(_ALL_DAY.search(clause)))
                for place in places:
                    if now is not None:
                        yield now
                    now = _Stretch(self._choose_arena(place, clause), doing, begin, end)
                    begin = end = None
                    said = clause
            elif now is not None and not places:
                if kind is not None and kind.regular and not now.doing.regular and _THERE.search(clause):
                    # "Walks over to the college, teaches there from 10am."
                    place = self._choose_arena(Address(now.place.sector), f"{said} {clause}")
                    now = _Stretch(place, kind, now.start if start is None else start)
                closes = start if _CLOSES.search(clause) else None
                if closes is not None or end is not None:
                    now = now._replace(end=end if closes is None else closes)
                elif kind is not None and now.doing.doing == _JUST_THERE.doing and not _HOME.search(clause):
                    # "Goes to the library, sits there writing."
                    now = now._replace(doing=kind._replace(work=False, regular=True))
            # "In the afternoon, she visits …": a part of the day may stand before its clause.
            part = opening if not places else None
        if now is not None:
            yield now

    def _find_places(self, clause: str, home: Address) -> Iterator[Address]:
        """Public places in the order in which they are named."""
        names = {sector: re.sub(r"^the\s+", "", sector, flags=re.IGNORECASE) for sector in self._arenas}
        found = {sector: Address(sector) for sector, name in names.items() if has_phrase(clause, name)}
        for words in re.findall(r"\bthe ([^\W\d_]+(?: [^\W\d_]+)?)", clause, re.IGNORECASE) if not found else ():
            for phrase in (words, words.split()[0]):
                place = self._finder.find(f"the {phrase}", home)
                if place is not None and place.sector in self._arenas and not place.thing:
                    found.setdefault(place.sector, place)
                    break
        yield from found.values()

    def _choose_arena(self, place: Address, clause: str) -> Address:
        """An arena that is named, the only one, one for what is done there, or the first."""
        if place.arena:
            return place
        arenas = self._arenas[place.sector]
        named = [arena for arena in arenas if has_phrase(clause, arena.arena)]
        kinds = {"class": r"\bteach|\bclass", "library": r"\bstud|\bread|\bwrit"}
        wanted = [kind for kind, words in kinds.items() if re.search(words, clause, re.IGNORECASE)][:1]
        fitting = [arena for arena in arenas for kind in wanted if kind in arena.arena.casefold()]
        return [*named, *fitting, *arenas][0]


def _read_times(clause: str) -> tuple[int | None, int | None]:
    """The minutes at which something begins and ends, as far as they are said."""
    start = end = None
    for found in _TIMES.finditer(clause):
        # A number alone is no time of day: "6 hours a day".
        if found["half"] or found["minute"] or found["word"]:
            if (found["before"] or "").strip().casefold() in ("until", "till", "to", "-"):
                end = _read_minute(found, evening=False)
            elif start is None:
                start = _read_minute(found, evening=False)
    return start, end


class _Day:
    """A day that fills up."""

    def __init__(self, hours: HoursOfSleep) -> None:
        self.habits: list[Habit] = []
        self._first, self._last = hours.wakes + _LEAST, hours.sleeps - _LEAST

    def fill(self, stretch: _Stretch, starts: Sequence[int]) -> None:
        """``starts``: of everything that has its hour, for whatever has no end ends when the next thing begins."""
        doing, place = stretch.doing, str(stretch.place)
        for start, end in self._find_spans(stretch, starts):
            for begin, until in self._find_room(max(start, self._first), min(end, self._last)):
                self.habits.append(Habit(days=WEEKDAYS, start=begin, end=until, doing=doing.doing, place=place, work=doing.work))

    def _find_spans(self, stretch: _Stretch, starts: Sequence[int]) -> list[tuple[int, int]]:
        start, end = stretch.start, stretch.end
        if start is None and not stretch.doing.regular:
            visits = [(begin, begin + VISIT_MINUTES) for begin in _VISITS]
            room = (each for each in visits if each[0] >= self._first and each[1] <= self._last)
            return [each for each in room if self._find_room(*each) == [each]][:1]
        if start is not None and end is not None:
            return [(start, end if end > start else end + MINUTES_PER_DAY)]
        if start is not None and not stretch.doing.regular:
            return [(start, start + VISIT_MINUTES)]
        (first, noon), (afternoon, last) = WORK
        begin = first if start is None else start
        if begin >= last:
            return [(begin, begin + 4 * 60)]
        until = min([MINUTES_PER_DAY if end is None else end, *(each for each in starts if each > begin)])
        return [(begin, min(noon, until)), (max(afternoon, begin), min(last, until))]

    def _find_room(self, start: int, end: int) -> list[tuple[int, int]]:
        """The parts of a time that nothing fills, if they are long enough."""
        return find_gaps([(habit.start, habit.end) for habit in self.habits], start, end, _LEAST)
