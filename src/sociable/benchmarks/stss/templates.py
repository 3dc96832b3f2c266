"""Templates of tasks as files say them: the 30, those of levels 2 and 3, and residents' own reasons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from string import Formatter
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from sociable.benchmarks.stss.obstacles import Rumour, Secret, Skill, Will
from sociable.benchmarks.stss.task import DAYS, Keyword, KeywordGroup, Place, Signs, Span, TaskType, Time, check_place
from sociable.core.data_files import Text
from sociable.core.records import Record
from sociable.town.clock import parse_minute

CAST = (10, 12)
"""The fewest and the most background characters (section 3.1: "10-12")."""

_PLACEHOLDERS = frozenset({"performer", "place", "day", "from", "to", "target", "expected"})
_ADDED_PLACEHOLDERS = frozenset({"performer", "place", "day", "target"})


def _check_person(name: str, info: ValidationInfo) -> str:
    if info.context and name not in info.context["people"]:
        raise ValueError(f"nobody is called '{name}' in {info.context['town'].name}")
    return name


Person = Annotated[Text, AfterValidator(_check_person)]


class _Day(Record):
    day: int = Field(ge=1, le=DAYS)


class _Window(Span, _Day):
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
