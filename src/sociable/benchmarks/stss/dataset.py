"""Task templates and residents, and a template made a task by the seed: performer, cast, place and time (section 3.1).

A task is drawn so that it can be solved: at its time enough of its cast are neither asleep nor at work.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from sociable.benchmarks.stss.keywords import at_it, before_and_after
from sociable.benchmarks.stss.residents import LEAST_MINUTES, MEETING_MINUTES
from sociable.benchmarks.stss.routine import RoutineMind, World
from sociable.benchmarks.stss.task import Keyword, KeywordGroup, Signs, Subtask, Task, TaskType
from sociable.core.data_files import Loaded, RawRecord, Text, load_items, make_data_error
from sociable.core.errors import DataError, InputError
from sociable.core.records import Record
from sociable.core.seeding import make_generator
from sociable.town.clock import MINUTES_PER_DAY, Clock, minute_of, time_of_day
from sociable.town.map import Address, TownMap
from sociable.town.persona import WEEKDAYS, Habit, Persona

BUNDLED = Path(__file__).parent / "data"

CAST = (10, 12)
"""Background characters (section 3.1: "10-12")."""

DAYS = 2

_PLACEHOLDERS = frozenset({"performer", "place", "day", "from", "to", "target", "expected"})


def _time(value: str) -> str:
    minute_of(value)
    return value


Time = Annotated[str, AfterValidator(_time)]


class _Window(Record):
    day: int = Field(ge=1, le=DAYS)
    start: Time = Field(alias="from")
    end: Time = Field(alias="to")

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if minute_of(self.end) <= minute_of(self.start):
            raise ValueError(f"'to' ({self.end}) must be later than 'from' ({self.start})")
        return self


class _SubtaskRecord(Record):
    doing: Text
    place: Text
    minutes: int = Field(default=5, ge=1)
    keywords: tuple[KeywordGroup, ...] = Field(min_length=1)
    not_keywords: tuple[Keyword, ...] = ()
    wordings: tuple[Text, ...] = ()

    @property
    def signs(self) -> Signs:
        return Signs(keywords=self.keywords, not_keywords=self.not_keywords, errand=True)


class TaskTemplate(Record):
    """One of the 30, as it stands in ``tasks.json``. People are named in full, places as ``Sector: arena``."""

    id: Text
    type: TaskType
    activity: Text
    goal: Text
    first_person: Text
    description: Text
    why_help: str = ""
    places: tuple[Text, ...] = ()
    times: tuple[_Window, ...] = Field(min_length=1)
    keywords: tuple[KeywordGroup, ...] = ()
    not_keywords: tuple[Keyword, ...] = ()
    wordings: tuple[Text, ...] = ()
    performers: tuple[Text, ...] = Field(min_length=1)
    targets: dict[str, tuple[Text, ...]] = {}
    subtasks: tuple[_SubtaskRecord, ...] = ()

    @property
    def signs(self) -> Signs:
        """Of help any step's: what speaks of the task at all."""
        if self.subtasks:
            return Signs(
                keywords=(tuple(word for step in self.subtasks for group in step.keywords for word in group),), errand=True
            )
        not_keywords = (*self.not_keywords, *before_and_after(self.activity))
        return Signs(keywords=self.keywords, not_keywords=not_keywords, there=at_it(self.activity))

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for name in ("goal", "first_person", "why_help"):
            for _, field, form, conversion in Formatter().parse(getattr(self, name)):
                if field is None:
                    continue
                if field not in _PLACEHOLDERS:
                    raise ValueError(f"{name}: unknown placeholder {{{field}}}; known are {', '.join(sorted(_PLACEHOLDERS))}")
                if form or conversion:
                    written = f"{field}{f'!{conversion}' if conversion else ''}{f':{form}' if form else ''}"
                    raise ValueError(f"{name}: {{{written}}}: a placeholder is a name and nothing more, as in {{{field}}}")
        if self.type is TaskType.HELP and len(self.subtasks) < 2:
            raise ValueError("a task of asking for help needs subtasks, at least two, to be done in order")
        if self.type is not TaskType.HELP and not self.keywords:
            raise ValueError("needs keywords, by which the activity is seen to be done")
        if self.type in (TaskType.PUBLIC, TaskType.COMPANIONS) and not self.places:
            raise ValueError(f"{self.type} needs places, one of which is drawn")
        if self.type is TaskType.APPOINTMENT and (missing := {name for name in self.performers if not self.targets.get(name)}):
            raise ValueError(f"targets: nobody for {min(missing)}")
        if alone := {name for name, targets in self.targets.items() if name in targets}:
            raise ValueError(f"targets: {min(alone)} is their own target; an appointment is with somebody else")
        return self


class _Home(Record):
    place: Text


class _Habit(Record):
    place: Text
    days: tuple[Text, ...]
    doing: Text


class _Work(_Habit):
    start: Time = Field(alias="from")
    end: Time = Field(alias="to")

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if minute_of(self.end) <= minute_of(self.start):
            raise ValueError(
                f"'to' ({self.end}) must be later than 'from' ({self.start}); what goes past midnight is two entries"
            )
        return self


class _Usual(_Habit):
    at: Time
    minutes: int = Field(ge=1, le=MINUTES_PER_DAY)


class _Tie(Record):
    to: Text
    kind: Text
    note: Text


class ResidentRecord(Record):
    """A resident as it stands in ``residents.json``."""

    name: Text
    short: Text
    age: int = Field(ge=1, le=120)
    pronouns: str = ""
    innate: Text
    learned: Text
    currently: Text
    lifestyle: Text
    wakes: Time
    sleeps: Time
    home: _Home
    work: tuple[_Work, ...] = ()
    usual: tuple[_Usual, ...] = ()
    ties: tuple[_Tie, ...] = ()
    facts: tuple[Text, ...] = ()

    @property
    def id(self) -> str:
        return self.name

    def persona(self, names: Mapping[str, str]) -> Persona:
        """``names``: short names to full ones."""
        wakes, sleeps = minute_of(self.wakes), minute_of(self.sleeps)
        work = [Habit(days=w.days, start=minute_of(w.start), end=minute_of(w.end), doing=w.doing, place=w.place, work=True)
                for w in self.work]  # fmt: skip
        usual = [
            Habit(days=u.days, start=minute_of(u.at), end=minute_of(u.at) + u.minutes, doing=u.doing, place=u.place)
            for u in self.usual
        ]
        return Persona(
            name=self.name,
            short=self.short,
            age=self.age,
            pronouns=self.pronouns,
            innate=self.innate,
            learned=self.learned,
            currently=self.currently,
            lifestyle=self.lifestyle,
            home=self.home.place,
            wakes=wakes,
            # Whoever goes to bed after midnight does so on the next day.
            sleeps=sleeps if sleeps > wakes else sleeps + MINUTES_PER_DAY,
            habits=(*work, *usual),
            facts=self.facts,
            ties={names[tie.to]: tie.note for tie in self.ties},
        )


def load_residents(path: Path | None, town: TownMap) -> tuple[Mapping[str, Persona], Loaded[ResidentRecord]]:
    """Everybody who can be cast. Raises DataError where a resident has no home in the town, or a place is not there."""
    places: list[tuple[RawRecord, ResidentRecord]] = []

    def cut(raw: RawRecord) -> list[ResidentRecord]:
        try:
            record = ResidentRecord.model_validate(raw.value)
        except ValidationError as error:
            raise make_data_error(error, raw.place) from None
        places.append((raw, record))
        return [record]

    loaded = load_items(path, BUNDLED / "residents.json", cut, skip_invalid=False, expected="residents with name, home and facts")
    names: dict[str, str] = {}
    for raw, record in places:
        if (other := names.setdefault(record.short, record.name)) != record.name:
            raise DataError(raw.place, "short", f"'{record.short}' is what {other} is called already; ties name people by it")
    for raw, record in places:
        check_place(record.home.place, town, raw.place, "home.place")
        habits: Sequence[tuple[str, Sequence[_Habit]]] = (("work", record.work), ("usual", record.usual))
        for field, entries in habits:
            for number, entry in enumerate(entries):
                check_place(entry.place, town, raw.place, f"{field}.{number}.place")
                if unknown := set(entry.days) - set(WEEKDAYS):
                    raise DataError(raw.place, f"{field}.{number}.days", f"'{min(unknown)}' is none of {', '.join(WEEKDAYS)}")
        for number, tie in enumerate(record.ties):
            if tie.to not in names:
                raise DataError(
                    raw.place, f"ties.{number}.to", f"nobody is called '{tie.to}'; ties name people by their short names"
                )
    return {record.name: record.persona(names) for record in loaded.items}, loaded


def check_place(place: str, town: TownMap, where: str, field: str) -> None:
    address = Address.parse(place)
    if address not in town.places:
        raise DataError(where, field, f"there is no '{place}' in {town.name}; expected 'Sector: arena' as on the map")
    if not town.free_tiles(address):
        raise DataError(where, field, f"'{place}' cannot be reached in {town.name}")


def load_templates(path: Path | None, town: TownMap, people: Mapping[str, Persona]) -> Loaded[TaskTemplate]:
    """Raises DataError naming file, line and field where a template names people or places that are not there."""

    def cut(raw: RawRecord) -> list[TaskTemplate]:
        try:
            template = TaskTemplate.model_validate(raw.value)
        except ValidationError as error:
            raise make_data_error(error, raw.place) from None
        for field, places in (("places", template.places), ("subtasks", [step.place for step in template.subtasks])):
            for place in places:
                check_place(place, town, raw.place, field)
        targets = [*template.targets, *(name for several in template.targets.values() for name in several)]
        for field, named in (("performers", list(template.performers)), ("targets", targets)):
            if unknown := set(named) - set(people):
                raise DataError(raw.place, field, f"nobody is called '{min(unknown)}' in {town.name}")
        return [template]

    return load_items(path, BUNDLED / "tasks.json", cut, skip_invalid=False, expected="task templates")


# From a template to a task.

_DRAWS = 200
"""Before a template is given up as one that cannot be solved."""


def draw_task(template: TaskTemplate, people: Mapping[str, Persona], town: TownMap, clock: Clock, seed: int) -> Task:
    """Performer, cast, place and time by the seed. Raises InputError when no draw could be solved."""
    if len(people) < 2:
        raise InputError(f"task {template.id}: nobody lives there beside {', '.join(people)}; a task needs others to ask.")
    world = World(town, clock, 6, DAYS * MINUTES_PER_DAY, seed, template.id)
    minds = {name: RoutineMind(persona, world) for name, persona in people.items()}
    for attempt in range(_DRAWS):
        draw = make_generator(seed, "task", template.id, attempt)
        task = _drawn(template, people, clock, draw)
        if task is not None and is_solvable(task, minds):
            return task
    raise InputError(
        f"task {template.id}: in {_DRAWS} draws nobody had the time for it; give it other times, places or performers."
    )


def _drawn(template: TaskTemplate, people: Mapping[str, Persona], clock: Clock, draw: random.Random) -> Task | None:
    performer = draw.choice([name for name in template.performers if name in people])
    others = sorted(set(people) - {performer})
    count = min(draw.randint(*CAST), len(others))
    targets = [name for name in template.targets.get(performer, ()) if name in people]
    target = draw.choice(targets) if targets else ""
    rest = [name for name in others if name != target]
    cast = sorted([*draw.sample(rest, count - bool(target)), *([target] if target else [])])
    window = draw.choice(template.times)
    start, end = minute_of(window.start, window.day), minute_of(window.end, window.day)
    fixed_place = template.type in (TaskType.PUBLIC, TaskType.COMPANIONS)
    place = draw.choice(template.places) if fixed_place else ""
    subtasks = tuple(
        Subtask(
            doing=step.doing,
            place=step.place,
            minutes=step.minutes,
            signs=step.signs,
            wordings=step.wordings,
        )
        for step in template.subtasks
    )
    expected = expected_participants(template.type, len(cast))
    words = {
        "performer": performer,
        "target": target,
        "place": place,
        "day": clock.day_in_words(start),
        "from": time_of_day(start),
        "to": time_of_day(end),
        "expected": str(expected),
    }
    why = f" {template.why_help.format(**words)}" if template.why_help else ""
    return Task(
        id=template.id,
        template=template.id,
        type=template.type,
        activity=template.activity,
        goal=template.goal.format(**words) + why,
        first_person=template.first_person.format(**words) + why,
        description=template.description,
        performer=performer,
        cast=tuple(cast),
        target=target,
        place=place,
        places=template.places if template.type is TaskType.APPOINTMENT else (),
        start=start,
        end=end,
        expected=expected,
        signs=template.signs,
        wordings=template.wordings,
        subtasks=subtasks,
    )


def expected_participants(kind: TaskType, background: int) -> int:
    """Half of the background characters, of companions a third, rounded up (App. A.1); elsewhere one person."""
    match kind:
        case TaskType.PUBLIC | TaskType.ONLINE:
            return math.ceil(background / 2)
        case TaskType.COMPANIONS:
            return math.ceil(background / 3)
        case _:
            return 1


def is_solvable(task: Task, minds: Mapping[str, RoutineMind]) -> bool:
    """Whether, by their habits, enough of the cast could do their part at a time at which the performer can do its own."""
    performer = minds[task.performer]

    def can(name: str, minutes: int, start: int, end: int) -> bool:
        return minds[name].free_for(minutes, start, end) is not None

    match task.type:
        case TaskType.PUBLIC | TaskType.ONLINE:
            # A little more than half, since somebody will not be found.
            able = sum(can(name, LEAST_MINUTES, task.start, task.end) for name in task.cast)
            return able >= task.expected + 1 and performer.free_for(task.end - task.start, task.start, task.end) is not None
        case TaskType.COMPANIONS | TaskType.APPOINTMENT:
            wanted = [task.target] if task.target else list(task.cast)
            needed = 1 if task.target else task.expected + 1
            return any(
                performer.free_for(MEETING_MINUTES, moment, moment + MEETING_MINUTES) is not None
                and sum(can(name, MEETING_MINUTES, moment, moment + MEETING_MINUTES) for name in wanted) >= needed
                for moment in range(-(-task.start // 30) * 30, task.end - MEETING_MINUTES, 30)
            )
        case TaskType.HELP:
            whole = sum(step.minutes + 27 for step in task.subtasks) + 10
            return sum(can(name, whole, task.start, task.end) for name in task.cast) >= 2
