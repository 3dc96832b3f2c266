"""The STSS authors' own instantiated tasks (``task_0905/tasks.json`` and ``tasks_dlc.json``), read as they are.

A record names its performer, everybody in it and, in ``task.goal``, what must be done, where and when. It becomes a task so:

* The goal in the performer's persona is ``FPG``, a full stop, and ``Description`` (App. A's example).
* ``target_num`` counts the performer, so one less is expected of public and online activities and of companions, whatever
  the paper's rule says of the cast. Of appointments and help it is not used.
* The time is ``start_time`` and ``duration_in_minutes``; where that is ``N/A``, the whole day that the texts name.
* The place is what the map's finder takes ``location`` for, as precise as it is said. For appointments, which name none,
  people think of the public places, one a sector, the nearest to both first.
* ``keyword`` and ``alter_kwd`` are one group of keywords. The authors look for them as substrings; here their words are
  compared by their stems. Somebody who does it says one of them.
* ``#performer`` and the like make a record a template; templates name no cast and are not run.

Nothing is mended: what does not fit together is reported as a remark, and a task is left out only when it cannot be run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from sociable.benchmarks.stss.dataset import count_expected
from sociable.benchmarks.stss.keywords import ERRANDS, find_stems, has_phrase, is_doing, phrase_preparation
from sociable.benchmarks.stss.task import DAYS, Keyword, Signs, Subtask, Task, TaskType
from sociable.core.data_files import RawRecord, Text, complaint, read_records
from sociable.core.errors import DataError, InputError
from sociable.town.clock import MINUTES_PER_DAY, Clock
from sociable.town.map import Address, TownMap
from sociable.town.persona import Persona
from sociable.town.places import PlaceFinder

_TYPES: Mapping[str, TaskType] = {
    "party": TaskType.PUBLIC,
    "public activity": TaskType.PUBLIC,
    "personal appointment": TaskType.APPOINTMENT,
    "find partner": TaskType.COMPANIONS,
    "online meeting": TaskType.ONLINE,
    "ask for others": TaskType.HELP,
}

_HEADCOUNT = re.compile(r"\b(\d{1,2})\s+(?:other\s+)?(?:people|audience|friends|persons|participants)\b")

NONE = "N/A"
"""What stands in a field that does not apply."""


class Remark(NamedTuple):
    """Something in a record that does not fit."""

    task: str
    field: str
    what: str
    left_out: bool = False
    """Whether the task cannot be run for it."""

    def __str__(self) -> str:
        return f"{self.task}: field '{self.field}': {self.what}{' The task is left out.' if self.left_out else ''}"


class AuthorsTasks(NamedTuple):
    tasks: tuple[Task, ...]
    """In the order of their files."""
    remarks: tuple[Remark, ...]


class _Goal(BaseModel):
    keyword: Keyword
    alter_kwd: tuple[Keyword, ...] = ()
    start_time: str = NONE
    duration_in_minutes: int = Field(default=30, ge=1)
    location: str = NONE
    required_character: tuple[str, ...] = ()

    @property
    def keywords(self) -> tuple[str, ...]:
        """All of them, each once: "literature" and "literatures" are one."""
        found: dict[tuple[str, ...], str] = {}
        for word in (self.keyword, *self.alter_kwd):
            found.setdefault(find_stems(word), word)
        return tuple(found.values())


class _Body(BaseModel):
    target: tuple[str, ...] = ()
    target_num: int = 1
    goal: tuple[_Goal, ...] = Field(min_length=1)


class _Record(BaseModel):
    """One entry; fields that are not here are not read."""

    goal: Text
    FPG: Text
    Description: Text
    task_type: Text
    task: _Body
    performer: Text
    all_chars: tuple[Text, ...] = ()
    n_characters: int | None = None
    performer_choices: tuple[str, ...] = ()

    @property
    def texts(self) -> Mapping[str, str]:
        return {"goal": self.goal, "FPG": self.FPG, "Description": self.Description}

    @property
    def keywords(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(word for goal in self.task.goal for word in goal.keywords))


def is_authors_tasks(path: Path) -> bool:
    """Whether a file, or a folder of them, has the authors' layout: JSON objects with ``FPG`` and ``task``."""
    try:
        first = next(iter(read_records(path, None)), None)
    except InputError:
        return False
    return first is not None and isinstance(first.value, dict) and {"FPG", "task"} <= first.value.keys()


def load_authors_tasks(path: Path, town: TownMap, people: Mapping[str, Persona], clock: Clock) -> AuthorsTasks:
    """The tasks that can be run, and what is odd about any. A task's id is its file's name and its number in it.

    Raises DataError at a record that has not the authors' layout, InputError where no task is left.
    """
    read = [(raw, _record(raw)) for raw in read_records(path, None)]
    finder = PlaceFinder(town)
    tasks: list[Task] = []
    remarks: list[Remark] = []
    for raw, record in read:
        importer = _Importer(raw.default_id, record, town, finder, people, clock)
        try:
            task = importer.task()
            importer.compare(task, [other for _, other in read if other is not record])
            tasks.append(task)
        except _LeftOut:
            pass
        remarks += importer.remarks
    if not tasks:
        more = f" The first reason: {remarks[0]}" if remarks else ""
        raise InputError(f"{path}: no task in it can be run in {town.name}.{more}")
    return AuthorsTasks(tuple(tasks), tuple(remarks))


def _record(raw: RawRecord) -> _Record:
    if not isinstance(raw.value, dict):
        raise DataError(raw.place, "", "expected an object with goal, FPG, Description, task_type, task and performer")
    try:
        return _Record.model_validate(raw.value)
    except ValidationError as error:
        raise complaint(error, raw.place) from None


class _LeftOut(Exception):
    """This task cannot be run; the remark says why."""


@dataclass
class _Importer:
    """One record on its way."""

    id: str
    record: _Record
    town: TownMap
    finder: PlaceFinder
    people: Mapping[str, Persona]
    clock: Clock
    remarks: list[Remark] = field(default_factory=list)

    def remark(self, name: str, what: str) -> None:
        self.remarks.append(Remark(self.id, name, what))

    def give_up(self, name: str, what: str) -> _LeftOut:
        self.remarks.append(Remark(self.id, name, what, left_out=True))
        return _LeftOut()

    def task(self) -> Task:
        """Raises _LeftOut after its remark."""
        record = self.record
        kind = self._type()
        cast = self._cast()
        target = self._target(cast) if kind is TaskType.APPOINTMENT else ""
        goal = record.task.goal[0]
        start, end = self._window(goal)
        subtasks: tuple[Subtask, ...] = ()
        wordings: tuple[str, ...] = ()
        if kind is TaskType.HELP:
            subtasks = tuple(self._subtask(step, number) for number, step in enumerate(record.task.goal))
            signs = _all(subtasks)
        else:
            signs = self._signs(goal, errand=False)
            wordings = self._wordings(signs)
            if len(record.task.goal) > 1:
                self.remark("task.goal", f"has {len(record.task.goal)} entries; of {kind} the first counts.")
        place = self._place(goal.location, "task.goal.0.location") if kind in (TaskType.PUBLIC, TaskType.COMPANIONS) else ""
        if kind in (TaskType.APPOINTMENT, TaskType.ONLINE) and goal.location not in (NONE, ""):
            self.remark("task.goal.0.location", f"'{goal.location}' is not used: of {kind} no place is given.")
        return Task(
            id=self.id,
            template=self.id,
            type=kind,
            activity=goal.keyword,
            goal=f"{record.FPG.rstrip('. ')}. {record.Description}",
            first_person=record.goal,
            description=record.Description,
            performer=record.performer,
            cast=tuple(sorted(cast)),
            target=target,
            place=place,
            places=self._meeting_places(target) if kind is TaskType.APPOINTMENT else (),
            start=start,
            end=end,
            expected=self._expected(kind, len(cast)),
            signs=signs,
            wordings=wordings,
            subtasks=subtasks,
        )

    # Who

    def _type(self) -> TaskType:
        kind = _TYPES.get(self.record.task_type.casefold())
        if kind is None:
            known = ", ".join(f"'{name}'" for name in _TYPES)
            raise self.give_up("task_type", f"'{self.record.task_type}' is none of {known}.")
        return kind

    def _cast(self) -> list[str]:
        record = self.record
        if any("#" in text for text in (record.performer, *record.texts.values())) or not record.all_chars:
            raise self.give_up("all_chars", "this is a template: it has placeholders or names no cast.")
        if record.performer not in self.people:
            raise self.give_up("performer", f"there is nobody called '{record.performer}'.")
        if record.performer not in record.all_chars:
            self.remark("performer", f"'{record.performer}' is not in all_chars; the performer is added.")
        if record.performer_choices and not {record.performer, "#Any"} & set(record.performer_choices):
            self.remark("performer_choices", f"does not list the performer, '{record.performer}'.")
        if record.n_characters is not None and record.n_characters != len(record.all_chars):
            self.remark("n_characters", f"is {record.n_characters}, while all_chars has {len(record.all_chars)} names.")
        cast = dict.fromkeys(name for name in record.all_chars if name != record.performer)
        for name in [name for name in cast if name not in self.people]:
            self.remark("all_chars", f"there is nobody called '{name}'; the cast goes without.")
            del cast[name]
        if not cast:
            raise self.give_up("all_chars", "nobody is there but the performer.")
        return list(cast)

    def _target(self, cast: Sequence[str]) -> str:
        record = self.record
        needed = [name for name in record.task.goal[0].required_character if name != record.performer]
        named = [*record.task.target, *needed]
        if not named:
            raise self.give_up("task.target", "names nobody to meet.")
        if set(needed) - {named[0]}:
            self.remark("task.goal.0.required_character", f"has others than the performer and the target, '{named[0]}'.")
        if named[0] not in cast:
            raise self.give_up("task.target", f"'{named[0]}' is not in the cast.")
        return named[0]

    def _expected(self, kind: TaskType, cast: int) -> int:
        wanted = self.record.task.target_num
        if kind in (TaskType.APPOINTMENT, TaskType.HELP):
            usual = 2 if kind is TaskType.APPOINTMENT else 1
            if wanted != usual:
                self.remark("task.target_num", f"is {wanted}, where all of this type have {usual}; it is not used.")
            return 1
        expected, rule = max(wanted - 1, 1), count_expected(kind, cast)
        if expected != rule:
            self.remark(
                "task.target_num", f"is {wanted}, so {expected} beside the performer; by the paper's rule {rule} of {cast}."
            )
        if expected > cast:
            self.remark("task.target_num", f"is {wanted}, and only {cast} people could come.")
        said = _HEADCOUNT.search(self.record.Description)
        if said and int(said[1]) != expected:
            self.remark("Description", f"wants {said[1]} people; target_num is {wanted}, the performer included.")
        return expected

    # When

    def _window(self, goal: _Goal) -> tuple[int, int]:
        if goal.start_time in (NONE, ""):
            start = self._day(self._date()) * MINUTES_PER_DAY
            return start, start + MINUTES_PER_DAY
        try:
            moment = datetime.fromisoformat(goal.start_time.strip())
        except ValueError:
            raise self.give_up("task.goal.0.start_time", f"'{goal.start_time}' is no date and time.") from None
        for name, text in self.record.texts.items():
            times = re.findall(r"\b\d{4}-\d{2}-\d{2} \d{2}:\d{2}\b", text)
            if times and f"{moment:%Y-%m-%d %H:%M}" not in times:
                self.remark(name, f"says {times[0]}; start_time is {goal.start_time}.")
        start = self._day(moment.date()) * MINUTES_PER_DAY + moment.hour * 60 + moment.minute
        end = start + goal.duration_in_minutes
        if end > DAYS * MINUTES_PER_DAY:
            self.remark("task.goal.0.duration_in_minutes", "the simulation ends before the event does.")
        return start, min(end, DAYS * MINUTES_PER_DAY)

    def _date(self) -> date:
        found = {day for text in self.record.texts.values() for day in re.findall(r"\b\d{4}-\d{2}-\d{2}\b", text)}
        if len(found) != 1:
            what = f"name {len(found)} days" if found else "name no day"
            self.remark("FPG", f"goal, FPG and Description {what}; the last day of the simulation is taken.")
            return self.clock.day((DAYS - 1) * MINUTES_PER_DAY)
        try:
            return date.fromisoformat(found.pop())
        except ValueError:
            raise self.give_up("FPG", "names a day that is none.") from None

    def _day(self, day: date) -> int:
        number = (day - self.clock.start).days
        if not 0 <= number < DAYS:
            raise self.give_up(
                "task.goal.0.start_time", f"{day} is not a day of the simulation, which begins on {self.clock.start}."
            )
        return number

    # Where

    def _place(self, location: str, name: str) -> str:
        """Raises _LeftOut where there is no such place."""
        home = Address.parse(self.people[self.record.performer].home)
        found = self.finder.find(location, home) if location not in (NONE, "") else None
        if found is None or not self.town.free_tiles(found):
            raise self.give_up(name, f"there is no '{location}' in {self.town.name}.")
        if str(found).casefold() != re.sub(r"\s*:\s*", ": ", location.strip()).casefold():
            self.remark(name, f"there is no '{location}' in {self.town.name}; it is taken for '{found}'.")
        return str(found)

    def _meeting_places(self, target: str) -> tuple[str, ...]:
        """Of every sector that is nobody's home the arena that is nearest to the two homes, the nearest of all first.

        One of each: in conversations people name a sector, seldom its arena.
        """
        homes = {name: Address.parse(persona.home) for name, persona in self.people.items()}
        private = {home.sector for home in homes.values()}
        doors = [self.town.free_tiles(homes[name])[0] for name in (self.record.performer, target)]
        nearest: dict[str, tuple[int, str]] = {}
        for place in self.town.places:
            if place.arena and not place.thing and place.sector not in private and (tiles := self.town.free_tiles(place)):
                way = sum(self.town.distance(door, tiles[0]) or 0 for door in doors)
                nearest[place.sector] = min(nearest.get(place.sector, (way, str(place))), (way, str(place)))
        return tuple(place for _, place in sorted(nearest.values()))

    # By which signs

    def _signs(self, goal: _Goal, *, errand: bool) -> Signs:
        # Where the thing itself is to shop, whoever shops is doing it.
        errand = errand or bool(
            {find_stems(phrase)[0] for phrase in ERRANDS} & {stem for word in goal.keywords for stem in find_stems(word)}
        )
        # "For the party" is said of what comes before a party; "for a coffee" of having one.
        event = _TYPES.get(self.record.task_type.casefold()) in (TaskType.PUBLIC, TaskType.ONLINE)
        return Signs(keywords=(goal.keywords,), not_keywords=phrase_preparation(goal.keyword) if event else (), errand=errand)

    def _wordings(self, signs: Signs) -> tuple[str, ...]:
        """The keywords themselves, as far as the filter takes them for the thing. Raises _LeftOut when it takes none."""
        words = [word for group in signs.keywords for word in group]
        usable = tuple(word for word in words if is_doing(word, signs))
        if lost := [word for word in words if word not in usable]:
            shown = ", ".join(f"'{word}'" for word in lost)
            self.remark("task.goal.keyword", f"{shown}: whoever says so counts as talking of it or preparing it (keywords.py).")
        if not usable:
            raise self.give_up("task.goal.keyword", "no keyword is left by which it could be seen to be done.")
        return usable

    def _subtask(self, step: _Goal, number: int) -> Subtask:
        signs = self._signs(step, errand=True)
        place = self._place(step.location, f"task.goal.{number}.location")
        return Subtask(
            doing=step.keyword, place=place, minutes=step.duration_in_minutes, signs=signs, wordings=self._wordings(signs)
        )

    # Whether it fits together

    def compare(self, task: Task, others: Iterable[_Record]) -> None:
        """Looks for texts that are about something else than what is scored."""
        record = self.record
        own = record.keywords
        if not any(has_phrase(text, word) for text in (record.goal, record.FPG) for word in own):
            shown = ", ".join(f"'{word}'" for word in own)
            self.remark("task.goal.keyword", f"goal and FPG mention none of {shown}: another task's keywords?")
        else:
            foreign = {goal.keyword for other in others for goal in other.task.goal} - set(own)
            for name, text in record.texts.items():
                strange = sorted(word for word in foreign if has_phrase(text, word))
                if strange and not any(has_phrase(text, word) for word in own):
                    self.remark(name, f"mentions '{strange[0]}', of another task, and none of this one's keywords.")
        wanted = {Address.parse(place).sector for place in (task.place, *(step.place for step in task.subtasks)) if place}
        for name, text in record.texts.items():
            said = set(self._sectors(text))
            if wanted and said and not said & wanted:
                self.remark(name, f"is about '{min(said)}'; the place that counts is '{min(wanted)}'.")
        day = self.clock.day(task.start)
        for name in task.residents:
            persona = self.people[name]
            for text in (persona.currently, *persona.facts):
                # "14th": the stemmer leaves it a word of its own.
                if any(has_phrase(text, f"{day:%B} {day.day}{end}") for end in ("", "th", "st", "nd", "rd")) and any(
                    has_phrase(text, goal.keyword) for goal in record.task.goal
                ):
                    self.remark("all_chars", f"{name} has such a thing in mind that day without the task: '{text}'")

    def _sectors(self, text: str) -> Iterator[str]:
        """The sectors that a text names, the longer name before one that is a part of it."""
        rest = " ".join(find_stems(text))
        for sector in sorted({place.sector for place in self.town.places}, key=len, reverse=True):
            name = " ".join(find_stems(sector))
            if f" {name} " in f" {rest} ":
                yield sector
                rest = rest.replace(name, " ")


def _all(subtasks: Sequence[Subtask]) -> Signs:
    groups = tuple(group for step in subtasks for group in step.signs.keywords)
    return Signs(keywords=groups)
