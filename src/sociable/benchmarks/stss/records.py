"""STSS's records of an episode: its log, and everything that was measured in it; and the benchmark's options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from sociable.benchmarks.stss.task import LAST_MINUTE, Signs, Task
from sociable.core.records import Episode, Record, Turn
from sociable.town.clock import format_time_of_day
from sociable.town.events import Agreed, AnyEvent, Line, Talked


class TownTurn(Turn):
    """A line of a conversation in the town."""

    minute: int
    """The minute of the episode in which the conversation began."""


class StssEpisode(Episode):
    """Two days of a town. ``turns`` stays empty: conversations are events of the log."""

    task: Task | None = None
    """The task as it was drawn; None in an episode that the run could not finish."""
    starts: dict[str, tuple[int, int]] = {}
    """The tile on which each resident wakes up on the first day."""
    minutes: int = 0
    tiles_per_minute: int = 6
    events: tuple[AnyEvent, ...] = ()
    played_by: dict[str, str] = {}
    """The model or reference agent that plays each resident."""

    def list_turns(self) -> Iterator[TownTurn]:
        """The lines of all conversations, in the order in which these were begun."""
        talks = (event for event in self.events if isinstance(event, Talked))
        said = ((talk, line) for talk in talks for line in talk.lines)
        for index, (talk, line) in enumerate(said):
            other = talk.partner if line.speaker == talk.resident else talk.resident
            yield TownTurn(
                index=index, speaker=line.speaker, addressees=(other,), content=line.says, note=line.note, minute=talk.minute
            )

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        """A log is read by who was where: it must not speak of anybody else."""
        names = {event.resident for event in self.events}
        names |= {event.partner for event in self.events if isinstance(event, Talked | Agreed)}
        if unknown := names - self.starts.keys():
            raise ValueError(f"events: '{min(unknown)}' is nobody of this episode")
        return self


class Stage(StrEnum):
    """The stage that the task reached with one person: the first thing that was missing."""

    NOT_MET = "not met"
    """It was never in the performer's sight, both awake, before the event, and was told by nobody."""
    NOT_TOLD = "not told"
    """The resident was not told what it had to know."""
    NOT_AGREED = "not agreed"
    NOT_DONE = "agreed but not done"
    DONE = "done"


class Attendance(Record):
    """A resident's stay at the event; of help: at one step."""

    resident: str
    start: int
    end: int
    """First minute after it."""
    counts: bool
    why: str = ""
    """The reason why it does not count, and the step of help that it belongs to."""

    def __str__(self) -> str:
        """``17:35–18:20, less than 10 minutes``."""
        span = f"{format_time_of_day(self.start)}–{format_time_of_day(self.end)}"
        return f"{span}, {self.why}" if self.why else span


class Told(Record):
    """One resident told another of the event."""

    minute: int
    teller: str
    listener: str
    parts: tuple[str, ...]
    """The parts that were named, see ``Task.needed_parts``."""


class PerformerTalk(Record):
    """A conversation of the performer's."""

    minute: int
    until: int
    """First minute after it."""
    partner: str
    place: str
    """``Sector: arena``; empty in the street."""
    is_about_task: bool
    lines: tuple[Line, ...]


class NoteCount(Record):
    """The number of notes of one kind in the log about the performer, or about everybody else."""

    about: str
    of_performer: bool
    count: int


@dataclass(frozen=True, slots=True)
class ActivityText:
    """What somebody did while a task's thing, or a step of help, could have been done."""

    step: int
    """Of help the number of the step, from 1; else 0."""
    text: str

    def find_signs(self, task: Task) -> Signs:
        return task.subtasks[self.step - 1].signs if self.step else task.signs


class JudgedText(Record):
    """A text of an activity that a judge decided about, beside the keyword filter."""

    text: str
    step: int = 0
    """Of help the number of the step, from 1; else 0."""
    by_filter: bool
    by_judge: bool


class Persuaded(Record):
    """How somebody with a will of its own was spoken to, by rule."""

    name: str
    kind: str
    """The kind of its reason."""
    learnt: int | None = None
    """The minute at which the performer first heard the reason; None: never."""
    learnt_from: str = ""
    moved: int | None = None
    """The minute of the conversation in which the performer said what moves it."""
    third: str = ""
    """The one without whom it does not come."""
    is_true: bool = True
    """Whether what it was told of the third's coming was so in the end."""


class Hindered(Record):
    """What stood in the way of a task of level 2 or 3, and what became of it."""

    persuaded: tuple[Persuaded, ...] = ()
    discounted: dict[str, str] = {}
    """The people who do not count, whether they came or not, and why."""
    has_secret: bool = False
    secret_out: Told | None = None
    """How the one it was kept from learnt of it."""
    set_right: dict[str, int | None] = {}
    """The minute at which each who believed the rumour was told better by the performer; None: never."""
    talks: int = 0
    """The performer's conversations about the task."""
    of_best: float = Field(default=0.0, ge=0, le=1)
    """The share of the best possible: of the most people that can be won, or the score where one is enough."""


class Measured(Record):
    """Everything that is measured in one episode by rule (App. A.1): scores, reports and replays are made of it."""

    id: str
    """The episode's."""
    failure: str = ""
    """The reason why the background cannot be trusted, so that nothing is scored; empty where it can."""
    score: float
    reason: str
    attendance: tuple[Attendance, ...] = ()
    told: tuple[Told, ...] = ()
    """News of the event, in order of time."""
    stages: dict[str, Stage] = {}
    """The stage that the task reached with everybody who could have come: the cast, or an appointment's target."""
    conversation_ratio: float | None = None
    """The conversation ratio; None for help (Table 4's caption)."""
    came_to_nothing: float | None = None
    """The share of the performer's plans and words in which nothing could be read; None: it made none."""
    talks: tuple[PerformerTalk, ...] = ()
    """The performer's conversations, in order of time."""
    notes: tuple[NoteCount, ...] = ()
    """The most frequent first."""
    judged: tuple[JudgedText, ...] = ()
    """Texts that judges decided about, where there were any."""
    hindered: Hindered | None = Field(default=None, exclude_if=lambda found: found is None)
    """At levels 2 and 3."""


class Injected(Record):
    """Something one resident, or everybody, learns at a moment from outside the simulation."""

    minute: int = Field(ge=0, lt=LAST_MINUTE)
    text: str
    resident: str = ""
    """Empty: everybody learns it."""


class Closed(Record):
    """A place that nobody can go to from a moment on."""

    minute: int = Field(ge=0, lt=LAST_MINUTE)
    place: str
    """A sector of the map, or ``Sector: arena``."""


class Fork(Record):
    """The episode that is lived again, of the run whose journal was copied."""

    repeat: int = Field(default=0, ge=0)
    anew_from: int | None = Field(default=None, ge=0)
    """The minute from which models are asked anew, whatever the journal holds; None: only what has changed is asked."""


class StssOptions(Record):
    """Defaults are the paper's, or say why not in the README."""

    level: Literal[1, 2, 3] = Field(
        default=1, description="how hard the tasks are: 1 the paper's, 2 with wills, 3 with more besides"
    )
    ends_early: bool = Field(False, description="whether the days end with the event, when nothing can change the score any more")
    agent: str = Field(default="generative", description="the performer's architecture")
    background_agent: str = Field(default="generative", description="the architecture of everybody else")
    scheduler: Literal["ahead", "lockstep"] = Field(default="ahead", description="whether residents may run ahead of one another")
    tiles_per_minute: int = Field(default=6, ge=1, le=8, description="tiles that people walk in a minute; 1 is the authors' pace")
    place: Literal["standing", "planned"] = Field(
        default="standing", description="whether somebody is where it stands, or, as the authors have it, where its plan says"
    )
    attendance: Literal["stays", "authors"] = Field(
        default="stays",
        description="whether somebody must stay ten minutes (help: five), or, as the authors have it, begin within the window",
    )
    react: Literal["background", "performer"] = Field(
        default="background", description="the role whose model decides whether the performer starts talking"
    )
    plain: bool = Field(False, description="ask the model under test for plain lines, if it is too weak for JSON (A.2)")
    town: str | None = Field(default=None, description="another map: our JSON, Tiled's JSON, or a folder of Smallville's matrix")
    residents: str | None = Field(default=None, description="other residents: our JSON, or a folder of Smallville's personas")
    embeddings: str | None = Field(
        default=None,
        description="a sentence-transformers model that compares memories; by default they are compared by shared words",
    )
    tasks: tuple[str, ...] = Field(default=(), description="only these tasks, by their names")
    injected: tuple[Injected, ...] = Field(default=(), description="events that residents learn of from outside")
    closed: tuple[Closed, ...] = Field(default=(), description="places that nobody can go to from a moment on")
    fork: Fork | None = Field(default=None, description="another run's episode that this one is a fork of; see `sociable fork`")
