"""The STSS authors' own instantiated tasks (``task_0905/tasks.json`` and ``tasks_dlc.json``), read as they are.

The benchmark's README says how a record becomes a task. Nothing is mended: what does not fit together is reported as a
remark, and a task is left out only when it cannot be run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field

from sociable.benchmarks.stss.keywords import ERRANDS, find_stems, has_phrase, is_doing
from sociable.benchmarks.stss.task import DAYS, LAST_MINUTE, Keyword, Signs, Subtask, Task, TaskType
from sociable.core.data_files import Text, read_records, validate_record
from sociable.core.errors import InputError
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
"""The text of a field that does not apply."""


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
    """Tasks in the order of their files."""
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
    """The tasks that can be run, and everything that is odd about any. A task's id is its file's name and its number in it.

    Raises DataError at a record that has not the authors' layout, InputError where no task is left.
    """
    records = [(raw.default_id, validate_record(_Record, raw.value, raw.place)) for raw in read_records(path, None)]
    finder = PlaceFinder(town)
    tasks: list[Task] = []
    remarks: list[Remark] = []
    for name, record in records:
        importer = _Importer(name, record, town, finder, people, clock, remarks)
        try:
            tasks.append(importer.make_task())
        except _LeftOut as reason:
            remarks.append(reason.args[0])
            continue
        foreign = (goal.keyword for _, other in records if other is not record for goal in other.task.goal)
        importer.compare(tasks[-1], foreign)
    if not tasks:
        more = f" The first reason: {remarks[0]}" if remarks else ""
        raise InputError(f"{path}: no task in it can be run in {town.name}.{more}")
    return AuthorsTasks(tuple(tasks), tuple(remarks))


class _LeftOut(Exception):
    """A task cannot be run; its one argument, a remark, says why."""


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

    def _remark(self, name: str, what: str) -> None:
        self.remarks.append(Remark(self.id, name, what))

    def _give_up(self, name: str, what: str) -> _LeftOut:
        return _LeftOut(Remark(self.id, name, what, left_out=True))

    def make_task(self) -> Task:
        """Raises _LeftOut."""
        record, goals = self.record, self.record.task.goal
        kind = _TYPES.get(record.task_type.casefold())
        if kind is None:
            raise self._give_up("task_type", f"'{record.task_type}' is none of {_quote(_TYPES)}.")
        cast = self._read_cast()
        target = self._read_target(cast) if kind is TaskType.APPOINTMENT else ""
        start, end = self._read_window(goals[0])
        subtasks: tuple[Subtask, ...] = ()
        wordings: tuple[str, ...] = ()
        place = ""
        if kind is TaskType.HELP:
            subtasks = tuple(self._read_subtask(goal, number) for number, goal in enumerate(goals))
            signs = Signs(keywords=tuple(group for step in subtasks for group in step.signs.keywords))
        else:
            signs = self._read_signs(goals[0], kind)
            wordings = self._list_wordings(signs)
            if len(goals) > 1:
                self._remark("task.goal", f"has {len(goals)} entries; of {kind} the first counts.")
        if kind in (TaskType.PUBLIC, TaskType.COMPANIONS):
            place = self._find_place(goals[0].location, "task.goal.0.location")
        elif kind is not TaskType.HELP and goals[0].location not in (NONE, ""):
            self._remark("task.goal.0.location", f"'{goals[0].location}' is not used: of {kind} no place is given.")
        return Task(
            id=self.id,
            template=self.id,
            type=kind,
            activity=goals[0].keyword,
            goal=f"{record.FPG.rstrip('. ')}. {record.Description}",
            first_person=record.goal,
            description=record.Description,
            performer=record.performer,
            cast=tuple(sorted(cast)),
            target=target,
            place=place,
            places=self._list_meeting_places(target) if target else (),
            start=start,
            end=end,
            expected=self._read_expected(kind, len(cast)),
            signs=signs,
            wordings=wordings,
            subtasks=subtasks,
        )

    # Who

    def _read_cast(self) -> list[str]:
        record = self.record
        if any("#" in text for text in (record.performer, *record.texts.values())) or not record.all_chars:
            raise self._give_up("all_chars", "this is a template: it has placeholders or names no cast.")
        if record.performer not in self.people:
            raise self._give_up("performer", f"there is nobody called '{record.performer}'.")
        if record.performer not in record.all_chars:
            self._remark("performer", f"'{record.performer}' is not in all_chars; the performer is added.")
        if record.performer_choices and not {record.performer, "#Any"} & set(record.performer_choices):
            self._remark("performer_choices", f"does not list the performer, '{record.performer}'.")
        if record.n_characters not in (None, len(record.all_chars)):
            self._remark("n_characters", f"is {record.n_characters}, while all_chars has {len(record.all_chars)} names.")
        named = [name for name in dict.fromkeys(record.all_chars) if name != record.performer]
        cast = [name for name in named if name in self.people]
        for name in named:
            if name not in cast:
                self._remark("all_chars", f"there is nobody called '{name}'; the cast goes without.")
        if not cast:
            raise self._give_up("all_chars", "nobody is there but the performer.")
        return cast

    def _read_target(self, cast: Sequence[str]) -> str:
        body = self.record.task
        needed = [name for name in body.goal[0].required_character if name != self.record.performer]
        target = next(iter((*body.target, *needed)), None)
        if target is None:
            raise self._give_up("task.target", "names nobody to meet.")
        if set(needed) - {target}:
            self._remark("task.goal.0.required_character", f"has others than the performer and the target, '{target}'.")
        if target not in cast:
            raise self._give_up("task.target", f"'{target}' is not in the cast.")
        return target

    def _read_expected(self, kind: TaskType, cast: int) -> int:
        wanted = self.record.task.target_num
        if usual := {TaskType.APPOINTMENT: 2, TaskType.HELP: 1}.get(kind):
            if wanted != usual:
                self._remark("task.target_num", f"is {wanted}, where all of this type have {usual}; it is not used.")
            return 1
        expected, rule = max(wanted - 1, 1), kind.count_expected(cast)
        if expected != rule:
            self._remark(
                "task.target_num", f"is {wanted}, so {expected} beside the performer; by the paper's rule {rule} of {cast}."
            )
        if expected > cast:
            self._remark("task.target_num", f"is {wanted}, and only {cast} people could come.")
        said = _HEADCOUNT.search(self.record.Description)
        if said and int(said[1]) != expected:
            self._remark("Description", f"wants {said[1]} people; target_num is {wanted}, the performer included.")
        return expected

    # When

    def _read_window(self, goal: _Goal) -> tuple[int, int]:
        if goal.start_time in (NONE, ""):
            start = self._find_midnight(self._read_date())
            return start, start + MINUTES_PER_DAY
        try:
            moment = datetime.fromisoformat(goal.start_time.strip())
        except ValueError:
            raise self._give_up("task.goal.0.start_time", f"'{goal.start_time}' is no date and time.") from None
        for name, text in self.record.texts.items():
            times = re.findall(r"\b\d{4}-\d{2}-\d{2} \d{2}:\d{2}\b", text)
            if times and f"{moment:%Y-%m-%d %H:%M}" not in times:
                self._remark(name, f"says {times[0]}; start_time is {goal.start_time}.")
        start = self._find_midnight(moment.date()) + moment.hour * 60 + moment.minute
        end = start + goal.duration_in_minutes
        if end > LAST_MINUTE:
            self._remark("task.goal.0.duration_in_minutes", "the simulation ends before the event does.")
        return start, min(end, LAST_MINUTE)

    def _read_date(self) -> date:
        """The day that the texts name, or else the last."""
        found = {day for text in self.record.texts.values() for day in re.findall(r"\b\d{4}-\d{2}-\d{2}\b", text)}
        if len(found) != 1:
            what = f"name {len(found)} days" if found else "name no day"
            self._remark("FPG", f"goal, FPG and Description {what}; the last day of the simulation is taken.")
            return self.clock.to_date(LAST_MINUTE - 1)
        try:
            return date.fromisoformat(found.pop())
        except ValueError:
            raise self._give_up("FPG", "names a day that is none.") from None

    def _find_midnight(self, day: date) -> int:
        number = (day - self.clock.start).days
        if 0 <= number < DAYS:
            return number * MINUTES_PER_DAY
        outside = f"{day} is not a day of the simulation, which begins on {self.clock.start}."
        raise self._give_up("task.goal.0.start_time", outside)

    # Where

    def _find_place(self, location: str, name: str) -> str:
        """Raises _LeftOut where there is no such place."""
        home = Address.parse(self.people[self.record.performer].home)
        found = self.finder.find(location, home) if location not in (NONE, "") else None
        if found is None or not self.town.find_free_tiles(found):
            raise self._give_up(name, f"there is no '{location}' in {self.town.name}.")
        if str(found).casefold() != re.sub(r"\s*:\s*", ": ", location.strip()).casefold():
            self._remark(name, f"there is no '{location}' in {self.town.name}; it is taken for '{found}'.")
        return str(found)

    def _list_meeting_places(self, target: str) -> tuple[str, ...]:
        """The arena nearest to the two homes in every sector that is nobody's home, the nearest of all first.

        There is one of each sector: in conversations people name a sector, seldom its arena.
        """
        homes = {name: Address.parse(persona.home) for name, persona in self.people.items()}
        private = {home.sector for home in homes.values()}
        doors = [self.town.find_free_tiles(homes[name])[0] for name in (self.record.performer, target)]
        nearest: dict[str, tuple[int, str]] = {}
        for place in self.town.places:
            if place.is_arena and place.sector not in private and (tiles := self.town.find_free_tiles(place)):
                way = sum(self.town.measure_distance(door, tiles[0]) or 0 for door in doors)
                nearest[place.sector] = min(nearest.get(place.sector, (way, str(place))), (way, str(place)))
        return tuple(place for _, place in sorted(nearest.values()))

    # By which signs

    def _read_signs(self, goal: _Goal, kind: TaskType) -> Signs:
        # Where the thing itself is to shop, whoever shops is doing it.
        shops = {find_stems(phrase)[0] for phrase in ERRANDS} & {stem for word in goal.keywords for stem in find_stems(word)}
        # "For the party" is said of what comes before a party; "for a coffee" of having one.
        event = kind in (TaskType.PUBLIC, TaskType.ONLINE)
        activity = goal.keyword if event else ""
        return Signs(keywords=(goal.keywords,), activity=activity, errand=kind is TaskType.HELP or bool(shops))

    def _list_wordings(self, signs: Signs) -> tuple[str, ...]:
        """The keywords themselves, as far as the filter takes them for the thing. Raises _LeftOut when it takes none."""
        words = [word for group in signs.keywords for word in group]
        usable = tuple(word for word in words if is_doing(word, signs))
        if lost := _quote(word for word in words if word not in usable):
            self._remark("task.goal.keyword", f"{lost}: whoever says so counts as talking of it or preparing it (keywords.py).")
        if not usable:
            raise self._give_up("task.goal.keyword", "no keyword is left by which it could be seen to be done.")
        return usable

    def _read_subtask(self, goal: _Goal, number: int) -> Subtask:
        signs = self._read_signs(goal, TaskType.HELP)
        place = self._find_place(goal.location, f"task.goal.{number}.location")
        wordings = self._list_wordings(signs)
        return Subtask(doing=goal.keyword, place=place, minutes=goal.duration_in_minutes, signs=signs, wordings=wordings)

    # Whether it fits together

    def compare(self, task: Task, foreign: Iterable[str]) -> None:
        """Looks for texts that are about something else than what is scored. ``foreign``: the keywords of other tasks."""
        record, own = self.record, self.record.keywords
        if not any(has_phrase(text, word) for text in (record.goal, record.FPG) for word in own):
            self._remark("task.goal.keyword", f"goal and FPG mention none of {_quote(own)}: another task's keywords?")
        else:
            others = set(foreign) - set(own)
            for name, text in record.texts.items():
                strange = sorted(word for word in others if has_phrase(text, word))
                if strange and not any(has_phrase(text, word) for word in own):
                    self._remark(name, f"mentions '{strange[0]}', of another task, and none of this one's keywords.")
        wanted = {Address.parse(place).sector for place in (task.place, *(step.place for step in task.subtasks)) if place}
        for name, text in record.texts.items():
            said = set(self._find_sectors(text))
            if wanted and said and not said & wanted:
                self._remark(name, f"is about '{min(said)}'; the place that counts is '{min(wanted)}'.")
        day = self.clock.to_date(task.start)
        # "14th": the stemmer leaves it a word of its own.
        dates = [f"{day:%B} {day.day}{end}" for end in ("", "th", "st", "nd", "rd")]
        for name in task.residents:
            for text in (self.people[name].currently, *self.people[name].facts):
                about = any(has_phrase(text, goal.keyword) for goal in record.task.goal)
                if about and any(has_phrase(text, each) for each in dates):
                    self._remark("all_chars", f"{name} has such a thing in mind that day without the task: '{text}'")

    def _find_sectors(self, text: str) -> Iterator[str]:
        """The sectors that a text names, the longer name before one that is a part of it."""
        rest = " ".join(find_stems(text))
        for sector in sorted({place.sector for place in self.town.places}, key=len, reverse=True):
            name = " ".join(find_stems(sector))
            if f" {name} " in f" {rest} ":
                yield sector
                rest = rest.replace(name, " ")


def _quote(words: Iterable[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)
