"""Everything that a study reads: town, residents and tasks, ours or of others; and how a template becomes a task (section 3.1).

Performer, cast, place and time of a task are drawn so that it can be solved: at its time enough of its cast are neither
asleep nor at work.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import attrgetter
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from sociable.benchmarks.stss.best import find_best
from sociable.benchmarks.stss.interop.authors import is_authors_tasks, load_authors_tasks
from sociable.benchmarks.stss.interop.smallville_people import is_smallville_people, load_smallville_people
from sociable.benchmarks.stss.obstacles import Obstacles, Rumour, Secret, Skill, Will
from sociable.benchmarks.stss.records import StssOptions
from sociable.benchmarks.stss.residents import LEAST_MINUTES, MEETING_MINUTES, RoutineMind, World, count_errand_minutes
from sociable.benchmarks.stss.task import DAYS, Keyword, KeywordGroup, Place, Signs, Subtask, Task, TaskType, check_place
from sociable.core.data_files import Loaded, RawRecord, Text, load_items, validate_record
from sociable.core.errors import DataError, InputError
from sociable.core.records import Record
from sociable.core.seeding import make_generator, select_clusters
from sociable.town.clock import MINUTES_PER_DAY, Clock, format_time_of_day, parse_minute
from sociable.town.map import TownMap
from sociable.town.persona import Habit, Persona
from sociable.town.town_file import load_map

BUNDLED = Path(__file__).parent / "data"

CAST = (10, 12)
"""The fewest and the most background characters (section 3.1: "10-12")."""

REMARKS_SHOWN = 3
"""The number of an importer's remarks that are shown; the rest are counted."""

_PLACEHOLDERS = frozenset({"performer", "place", "day", "from", "to", "target", "expected"})
_ADDED_PLACEHOLDERS = frozenset({"performer", "place", "day", "target"})


def _check_time(value: str) -> str:
    parse_minute(value)
    return value


def _check_person(name: str, info: ValidationInfo) -> str:
    if info.context and name not in info.context["people"]:
        raise ValueError(f"nobody is called '{name}' in {info.context['town'].name}")
    return name


Time = Annotated[str, AfterValidator(_check_time)]
Person = Annotated[Text, AfterValidator(_check_person)]


class _Span(Record):
    start: Time = Field(alias="from")
    end: Time = Field(alias="to")

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if parse_minute(self.end) <= parse_minute(self.start):
            order = f"'to' ({self.end}) must be later than 'from' ({self.start})"
            raise ValueError(f"{order}; what goes past midnight is two entries")
        return self


class _Day(Record):
    day: int = Field(ge=1, le=DAYS)


class _Window(_Span, _Day):
    pass


class _SubtaskRecord(Record):
    doing: Text
    place: Place
    minutes: int = Field(default=5, ge=1)
    keywords: tuple[KeywordGroup, ...] = Field(min_length=1)
    not_keywords: tuple[Keyword, ...] = ()
    wordings: tuple[Text, ...] = ()

    @property
    def signs(self) -> Signs:
        return Signs(keywords=self.keywords, not_keywords=self.not_keywords, errand=True)


def _check_placeholders(name: str, text: str, known: Collection[str]) -> None:
    for _, field, form, conversion in Formatter().parse(text):
        if field is not None and field not in known:
            raise ValueError(f"{name}: unknown placeholder {{{field}}}; known are {', '.join(sorted(known))}")
        if form or conversion:
            written = f"{field}{f'!{conversion}' if conversion else ''}{f':{form}' if form else ''}"
            raise ValueError(f"{name}: {{{written}}}: a placeholder is a name and nothing more, as in {{{field}}}")


class TaskTemplate(Record):
    """One of the 30, as it stands in ``tasks.json``. People are named in full, places as ``Sector: arena``."""

    id: Text
    type: TaskType
    activity: Text
    goal: Text
    first_person: Text
    description: Text
    why_help: str = ""
    places: tuple[Place, ...] = ()
    times: tuple[_Window, ...] = Field(min_length=1)
    keywords: tuple[KeywordGroup, ...] = ()
    not_keywords: tuple[Keyword, ...] = ()
    wordings: tuple[Text, ...] = ()
    performers: tuple[Person, ...] = Field(min_length=1)
    targets: dict[Person, tuple[Person, ...]] = {}
    subtasks: tuple[_SubtaskRecord, ...] = ()

    @property
    def signs(self) -> Signs:
        """Signs of the activity; of help those of any step: what speaks of the task at all."""
        if self.subtasks:
            words = tuple(word for step in self.subtasks for group in step.keywords for word in group)
            return Signs(keywords=(words,), errand=True)
        return Signs(keywords=self.keywords, not_keywords=self.not_keywords, activity=self.activity)

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        for name in ("goal", "first_person", "why_help"):
            _check_placeholders(name, getattr(self, name), _PLACEHOLDERS)
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


class Reason(Will):
    """A will that belongs to a resident, whatever it is invited to, as it stands in ``reasons.json``."""

    fits: tuple[TaskType, ...] = Field(min_length=1)
    """The types of tasks in which it is a reason."""
    not_with: tuple[Person, ...] = ()
    """Performers with whom it is none."""

    @property
    def id(self) -> str:
        return f"{self.who}: {self.kind}"

    @model_validator(mode="after")
    def _check_people(self, info: ValidationInfo) -> Self:
        _check_people([self.who, *self.known_by], info)
        return self

    def make_will(self, cast: Collection[str]) -> Will:
        """The will in a cast: only who is there knows of it."""
        known_by = {name: hint for name, hint in self.known_by.items() if name in cast}
        return Will(**{name: getattr(self, name) for name in Will.model_fields} | {"known_by": known_by})


class LevelTemplate(TaskTemplate):
    """A task of level 2 or 3: one of the 30, and what stands in its way."""

    base: Text
    """The template of level 1 whose activity it is. What a record leaves out is that one's."""
    adds: Text
    """What the performer knows besides, in the third person; follows the goal. Placeholders as there, {budget} and {notice}."""
    adds_first: Text
    wills: tuple[Will, ...] = Field(min_length=1)
    """Of an appointment those of all targets, one of whom is drawn."""
    secret: Secret | None = None
    rumour: Rumour | None = None
    budget: int | None = Field(default=None, ge=1)
    notice: Time | None = None
    """The hour of the first day by which people must know."""
    skill: Skill | None = None
    open: int = Field(default=1, ge=0)
    """The number of those drawn who need no reason."""

    def list_people(self) -> set[str]:
        """Everybody who must be in the cast; of those who know a reason that is not told, the first."""
        found = {will.third for will in self.wills if will.third}
        found |= {next(iter(will.known_by)) for will in self.wills if will.known_by and not will.tells}
        if self.type is not TaskType.APPOINTMENT:
            found |= {will.who for will in self.wills}
        found |= {self.secret.keeps_from} if self.secret else set()
        found |= {self.rumour.teller, *self.rumour.believed_by} if self.rumour else set()
        return found | ({*self.skill.held_by, *self.skill.known_by} if self.skill else set())

    @model_validator(mode="after")
    def _check_obstacles(self, info: ValidationInfo) -> Self:
        _check_people([*self.list_people(), *(will.who for will in self.wills)], info)
        given = {name for name in ("budget", "notice") if getattr(self, name) is not None}
        for name in ("adds", "adds_first"):
            _check_placeholders(name, getattr(self, name), _ADDED_PLACEHOLDERS | given)
        if self.type is not TaskType.APPOINTMENT and (both := self.list_people() & set(self.performers)):
            raise ValueError(f"performers: {min(both)} has a part in what stands in the way; expected somebody else")
        if len(self.list_people()) > CAST[1]:
            raise ValueError(
                f"{len(self.list_people())} people are needed; expected at most {CAST[1]}, with their knowing friends"
            )
        if twice := [will.who for will in self.wills if sum(each.who == will.who for each in self.wills) > 1]:
            raise ValueError(f"wills: {twice[0]} has two; expected one for each person")
        for will in self.wills:
            if not will.tells and not will.known_by:
                raise ValueError(f"wills: nobody tells the reason of {will.who}; set tells, or name somebody in known_by")
            if not will.wording and not will.third:
                raise ValueError(f"wills: nothing moves {will.who}; expected a wording or a third")
            if will.clash and self.type not in (TaskType.PUBLIC, TaskType.ONLINE):
                raise ValueError(f"wills: a clash of {will.who}, but the time of {self.type} is open; expected no clash")
        if self.rumour is not None and (
            self.type not in (TaskType.PUBLIC, TaskType.ONLINE) or bool(self.rumour.time) == bool(self.rumour.place)
        ):
            raise ValueError(
                f"rumour: expected a wrong time or place, one of them, and a task with a fixed time; this is {self.type}"
            )
        if self.rumour is not None:
            _check_part("rumour.time", self.rumour.time, parse_minute)
            _check_part("rumour.place", self.rumour.place, partial(check_place, info=info))
        for will in self.wills:
            _check_part(f"wills: the place of {will.who}", will.place, partial(check_place, info=info))
        if self.skill is not None and not self.skill.step <= len(self.subtasks):
            raise ValueError(f"skill: there is no step {self.skill.step}; expected 1 to {len(self.subtasks)}")
        return self


def _check_part(part: str, value: str, check: Callable[[str], object]) -> None:
    """Names the part in the complaint about it; empty is no complaint."""
    if value:
        try:
            check(value)
        except ValueError as error:
            raise ValueError(f"{part}: {error}") from None


def _check_people(names: Iterable[str], info: ValidationInfo) -> None:
    for name in names:
        _check_person(name, info)


class _Habit(Record):
    place: Place
    days: tuple[Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], ...]
    doing: Text
    alone: str = ""

    def make_habit(self, start: int, end: int, names: Mapping[str, str], *, work: bool) -> Habit:
        """``names``: everybody's full name by the short one."""
        company = tuple(full for short, full in names.items() if re.search(rf"\b{re.escape(short)}\b", self.doing))
        same = {name: getattr(self, name) for name in ("days", "doing", "alone", "place")}
        return Habit(**same, start=start, end=end, company=company, work=work)


class _Work(_Span, _Habit):
    pass


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
    home: dict[Literal["place"], Place] = Field(min_length=1)
    work: tuple[_Work, ...] = ()
    usual: tuple[_Usual, ...] = ()
    ties: tuple[_Tie, ...] = ()
    facts: tuple[Text, ...] = ()

    @property
    def id(self) -> str:
        return self.name

    def make_persona(self, names: Mapping[str, str]) -> Persona:
        """``names``: everybody's full name by the short one."""
        wakes, sleeps = parse_minute(self.wakes), parse_minute(self.sleeps)
        others = {short: full for short, full in names.items() if short != self.short}
        work = [each.make_habit(parse_minute(each.start), parse_minute(each.end), others, work=True) for each in self.work]
        starts = [parse_minute(each.at) for each in self.usual]
        usual = [
            each.make_habit(start, start + each.minutes, others, work=False)
            for start, each in zip(starts, self.usual, strict=True)
        ]
        return Persona(
            **self.model_dump(exclude={"wakes", "sleeps", "home", "work", "usual", "ties"}),
            home=self.home["place"],
            wakes=wakes,
            # Whoever goes to bed after midnight does so on the next day.
            sleeps=sleeps if sleeps > wakes else sleeps + MINUTES_PER_DAY,
            habits=(*work, *usual),
            ties={names[tie.to]: tie.note for tie in self.ties},
        )


def load_residents(path: Path | None, town: TownMap) -> tuple[Mapping[str, Persona], Loaded[ResidentRecord]]:
    """Everybody who can be cast. Raises DataError where a resident names a place or a person that is not there."""
    read: list[tuple[RawRecord, ResidentRecord]] = []

    def cut(raw: RawRecord) -> list[ResidentRecord]:
        read.append((raw, validate_record(ResidentRecord, raw.value, raw.place, town=town)))
        return [read[-1][1]]

    loaded = load_items(path, BUNDLED / "residents.json", cut, skip_invalid=False, expected="residents with name, home and facts")
    names: dict[str, str] = {}
    for raw, record in read:
        if (other := names.setdefault(record.short, record.name)) != record.name:
            raise DataError(raw.place, "short", f"'{record.short}' is what {other} is called already; ties name people by it")
    for raw, record in read:
        for number, tie in enumerate(record.ties):
            if tie.to not in names:
                problem = f"nobody is called '{tie.to}'; ties name people by their short names"
                raise DataError(raw.place, f"ties.{number}.to", problem)
    return {record.name: record.make_persona(names) for record in loaded.items}, loaded


def load_templates(path: Path | None, town: TownMap, people: Mapping[str, Persona]) -> Loaded[TaskTemplate]:
    """Task templates. Raises DataError with file, line and field where one names people or places that are not there."""

    def cut(raw: RawRecord) -> list[TaskTemplate]:
        return [validate_record(TaskTemplate, raw.value, raw.place, town=town, people=people)]

    return load_items(path, BUNDLED / "tasks.json", cut, skip_invalid=False, expected="task templates")


def load_level(level: int, path: Path | None, town: TownMap, people: Mapping[str, Persona]) -> Loaded[LevelTemplate]:
    """Templates of level 2 or 3, bundled or in a file like them. Raises DataError with file, line and field."""
    bases = {each["id"]: each for each in json.loads((BUNDLED / "tasks.json").read_text(encoding="utf-8"))}

    def cut(raw: RawRecord) -> list[LevelTemplate]:
        value = raw.value if isinstance(raw.value, dict) else {}
        base = value.get("base")
        if not isinstance(base, str):
            raise DataError(raw.place, "base", f"expected the name of a task of level 1, one of: {', '.join(bases)}")
        if base not in bases:
            raise DataError(raw.place, "base", f"there is no task '{base}' of level 1; there are: {', '.join(bases)}")
        return [validate_record(LevelTemplate, {**bases[base], **value}, raw.place, town=town, people=people)]

    bundled = BUNDLED / f"tasks_level{level}.json"
    return load_items(path, bundled, cut, skip_invalid=False, expected="task templates with base and wills")


def load_reasons(town: TownMap, people: Mapping[str, Persona]) -> Loaded[Reason]:
    """Reasons of residents, whatever they are invited to. Another town's people may have none of them."""

    def cut(raw: RawRecord) -> list[Reason]:
        return [validate_record(Reason, raw.value, raw.place, town=town, people=people)]

    return load_items(None, BUNDLED / "reasons.json", cut, skip_invalid=False, expected="reasons of residents")


# From a template to a task.

_DRAWS = 200
"""The number of draws after which a template is given up as one that cannot be solved."""


def draw_task(template: TaskTemplate, people: Mapping[str, Persona], town: TownMap, clock: Clock, seed: int) -> Task:
    """Draws performer, cast, place and time by the seed. Raises InputError when no draw could be solved."""
    if len(people) < 2:
        raise InputError(f"task {template.id}: nobody lives there beside {', '.join(people)}; a task needs others to ask.")
    world = World(town, clock, 6, seed, template.id)
    minds = {name: RoutineMind(persona, world) for name, persona in people.items()}
    for attempt in range(_DRAWS):
        task = _draw_once(template, people, clock, make_generator(seed, "task", template.id, attempt))
        if is_solvable(task, minds):
            return task
    raise InputError(f"task {template.id}: in {_DRAWS} draws nobody had time for it; give it other times, places or performers.")


def _draw_once(
    template: TaskTemplate, people: Mapping[str, Persona], clock: Clock, draw: random.Random, needed: Collection[str] = ()
) -> Task:
    """``needed``: those who must be in the cast."""
    performer = draw.choice(template.performers)
    others = sorted(set(people) - {performer})
    count = min(draw.randint(*CAST), len(others))
    targets = template.targets.get(performer, ())
    target = draw.choice(targets) if targets else ""
    fixed = {*needed, target} - {"", performer}
    rest = [name for name in others if name not in fixed]
    cast = sorted([*draw.sample(rest, max(count - len(fixed), 0)), *fixed])
    window = draw.choice(template.times)
    start, end = parse_minute(window.start, window.day), parse_minute(window.end, window.day)
    place = draw.choice(template.places) if template.type in (TaskType.PUBLIC, TaskType.COMPANIONS) else ""
    expected = template.type.count_expected(len(cast))
    words = {"performer": performer, "target": target, "place": place, "expected": str(expected)}
    words |= {"day": clock.render_day(start), "from": format_time_of_day(start), "to": format_time_of_day(end)}
    why = f" {template.why_help.format(**words)}" if template.why_help else ""
    same = {name: getattr(template, name) for name in ("id", "type", "activity", "description", "signs", "wordings")}
    return Task(
        **same,
        template=template.id,
        goal=template.goal.format(**words) + why,
        first_person=template.first_person.format(**words) + why,
        performer=performer,
        cast=tuple(cast),
        target=target,
        place=place,
        places=template.places if template.type is TaskType.APPOINTMENT else (),
        start=start,
        end=end,
        expected=expected,
        subtasks=tuple(Subtask.model_validate(step, from_attributes=True) for step in template.subtasks),
    )


def draw_level_task(
    template: LevelTemplate,
    reasons: Sequence[Reason],
    people: Mapping[str, Persona],
    town: TownMap,
    clock: Clock,
    seed: int,
    level: int,
) -> Task:
    """Draws a task of level 2 or 3, and searches for the best that can be done in it. Raises InputError where nothing can."""
    world = World(town, clock, 6, seed, template.id)
    minds = {name: RoutineMind(persona, world) for name, persona in people.items()}
    for attempt in range(_DRAWS):
        draw = make_generator(seed, "task", template.id, attempt)
        task = _draw_once(template, people, clock, draw, template.list_people())
        wills = tuple(_draw_wills(template, reasons, task, draw))
        if any(not will.tells and not will.known_by for will in wills) or not is_solvable(task, minds):
            continue
        same = {name: getattr(template, name) for name in ("secret", "rumour", "budget", "skill")}
        notice = parse_minute(template.notice) if template.notice else None
        obstacles = Obstacles(**same, level=level, wills=wills, notice=notice)
        words = {"performer": task.performer, "place": task.place, "budget": str(template.budget), "notice": template.notice}
        words |= {"day": clock.render_day(task.start), "target": task.target}
        more = "" if task.type in (TaskType.APPOINTMENT, TaskType.HELP) else " Everybody more who takes part counts."
        added = {
            "goal": f"{task.goal}{more} {template.adds.format(**words)}",
            "first_person": f"{task.first_person} {template.adds_first.format(**words)}",
        }
        task = task.model_copy(update={**added, "obstacles": obstacles})
        best = find_best(task, {name: minds[name] for name in task.residents}, world)
        if best.people >= task.expected:
            found = {"best": best.people, "best_moment": best.moment, "best_plan": best.plan}
            return task.model_copy(update={"obstacles": obstacles.model_copy(update=found)})
    raise InputError(
        f"task {template.id}: in {_DRAWS} draws the full score was out of reach; give it other times, people or a larger budget."
    )


def _draw_wills(template: LevelTemplate, reasons: Sequence[Reason], task: Task, draw: random.Random) -> Iterator[Will]:
    """The wills of a cast: those written with the task, and of others, but for a few, one of their own reasons."""
    written = {will.who: will for will in template.wills}
    for will in written.values():
        if will.who in ((task.target,) if task.target else task.cast):
            yield will.model_copy(update={"known_by": {name: hint for name, hint in will.known_by.items() if name in task.cast}})
    if task.target:
        return
    # Whoever it is kept from is not asked.
    unasked = {template.secret.keeps_from} if template.secret else set[str]()
    others = [name for name in task.cast if name not in written.keys() | unasked]
    draw.shuffle(others)
    for name in others[template.open :]:
        own = [
            each for each in reasons if each.who == name and template.type in each.fits and task.performer not in each.not_with
        ]
        wills = [will for each in own if (will := each.make_will(task.cast)).tells or will.known_by]
        # What the goal takes away by itself is no reason.
        wills = [will for will in wills if not will.is_moved_by([task.first_person, task.description])]
        if wills:
            yield draw.choice(wills)


def is_solvable(task: Task, minds: Mapping[str, RoutineMind]) -> bool:
    """Whether, by their habits, enough of the cast could do their part at a time at which the performer can do its own."""
    performer, cast = minds[task.performer], [minds[name] for name in task.cast]
    match task.type:
        case TaskType.PUBLIC | TaskType.ONLINE:
            # A little more than half, since somebody will not be found.
            able = sum(mind.is_free(LEAST_MINUTES, task.start, task.end) for mind in cast)
            return able >= task.expected + 1 and performer.is_free(task.end - task.start, task.start)
        case TaskType.COMPANIONS | TaskType.APPOINTMENT:
            wanted, needed = ([minds[task.target]], 1) if task.target else (cast, task.expected + 1)
            return any(
                performer.is_free(MEETING_MINUTES, moment)
                and sum(mind.is_free(MEETING_MINUTES, moment) for mind in wanted) >= needed
                for moment in range(-(-task.start // 30) * 30, task.end - MEETING_MINUTES, 30)
            )
        case TaskType.HELP:
            minutes = count_errand_minutes(task.subtasks)
            return sum(mind.is_free(minutes, task.start, task.end) for mind in cast) >= 2


# Everything together.


@dataclass(frozen=True)
class Inputs:
    """Everything that the files say."""

    town: TownMap
    people: Mapping[str, Persona]
    tasks: Mapping[str, Task]
    templates: Sequence[TaskTemplate]
    """Empty where the tasks came ready made."""
    digests: Mapping[str, str]
    notes: Sequence[str]
    remarks: Sequence[str]
    """All that importers noticed; ``notes`` has the first of them."""
    source: str


def load_inputs(dataset: Path | None, options: StssOptions, clock: Clock, *, seed: int, limit: int | None) -> Inputs:
    """Loads everything that the options and ``dataset`` name. Raises InputError and DataError with file, record and field."""
    if options.level > 1 and dataset is None and (options.town or options.residents):
        raise InputError(
            "level: the bundled tasks of levels 2 and 3 are about Tern Harbour's people; name your own with --dataset."
        )
    town = load_town(options.town)
    notes: list[str] = []
    remarks: list[str] = []

    def remark(noticed: Sequence[str], about: str) -> None:
        remarks.extend(noticed)
        notes.extend(noticed[:REMARKS_SHOWN])
        if more := noticed[REMARKS_SHOWN:]:
            notes.append(f"{len(more)} more remarks {about}: see `sociable audit stss` with the same files.")

    residents = Path(options.residents) if options.residents else None
    people: Mapping[str, Persona]
    if residents is not None and is_smallville_people(residents):
        people, noticed = load_smallville_people(residents, town)
        people_digest = _compute_digest(people.values())
        remark(noticed, "about the people")
    else:
        people, loaded_people = load_residents(residents, town)
        people_digest = loaded_people.digest
        notes += loaded_people.notes
    templates: Sequence[TaskTemplate] = ()
    if dataset is not None and is_authors_tasks(dataset):
        if options.level > 1:
            raise InputError(f"level: the authors' tasks in {dataset} have level 1 only; leave it out.")
        imported = load_authors_tasks(dataset, town, people, clock)
        tasks = {task.id: task for task in imported.tasks}
        source, digest, known = str(dataset), _compute_digest(tasks.values()), list(tasks)
        remark([str(each) for each in imported.remarks], f"about the tasks in {dataset.name}")
    elif options.level > 1:
        leveled = load_level(options.level, dataset, town, people)
        # Other people have none of their own beside those of their tasks.
        reasons = None if options.residents else load_reasons(town, people)
        own = reasons.items if reasons is not None else ()
        templates, source = leveled.items, leveled.source
        digest = f"{leveled.digest}, {reasons.digest if reasons is not None else '-'}"
        known = [template.id for template in templates]
        tasks = {
            template.id: draw_level_task(template, own, people, town, clock, seed, options.level)
            for template in leveled.items
            if not options.tasks or template.id in options.tasks
        }
    else:
        loaded = load_templates(dataset, town, people)
        templates, source, digest = loaded.items, loaded.source, loaded.digest
        known = [template.id for template in templates]
        wanted = [template for template in templates if not options.tasks or template.id in options.tasks]
        tasks = {template.id: draw_task(template, people, town, clock, seed) for template in wanted}
    if unknown := set(options.tasks) - set(known):
        raise InputError(f"tasks: there is no task '{min(unknown)}'; there are: {', '.join(known)}.")
    tasks = {name: tasks[name] for name in options.tasks or tasks}
    digests = {"dataset": digest, "residents": people_digest, "town": town.digest}
    ids, types = attrgetter("id"), attrgetter("type")
    chosen = select_clusters(list(tasks.values()), limit, seed, cluster=ids, group=types, by_name=False)
    return Inputs(town, people, {task.id: task for task in chosen}, templates, digests, notes, remarks, source)


@lru_cache(maxsize=4)
def load_town(path: str | None) -> TownMap:
    """The bundled town, or another. Raises InputError."""
    return load_map(Path(path) if path else BUNDLED / "town.json")


def _compute_digest(records: Iterable[Record]) -> str:
    return hashlib.sha256("\n".join(each.model_dump_json() for each in records).encode("utf-8", "replace")).hexdigest()
