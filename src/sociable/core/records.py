"""The records that pass through every benchmark: Episode, Judgment, Score, Estimate.

All are frozen. They are validated once, when they are read from a file or come from a user; what the program itself
makes is checked by its types.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


class Record(BaseModel):
    """A frozen record that knows all its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class CheckedRecord(Record):
    """A record whose parts must fit together; the first problem that it finds with itself is told as its error."""

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        for problem in self._find_problems():
            raise ValueError(problem)
        return self

    @abstractmethod
    def _find_problems(self) -> Iterator[str]:
        """What is wrong with it, each in words that follow a place in a file."""


def _split_numbers(value: Any) -> Any:
    """The numbers of ``"1,2"``, as they are written on the command line, of a list, or a lone number, as a list."""
    parts = value.split(",") if isinstance(value, str) else [value] if isinstance(value, int) else value
    if not isinstance(parts, list | tuple):
        return value
    try:
        return [int(each) if isinstance(each, str) else each for each in parts]
    except ValueError:
        raise ValueError("takes numbers separated by commas, as in 1,2") from None


Numbers = Annotated[tuple[int, ...], BeforeValidator(_split_numbers)]
"""Whole numbers as an option: a list, or separated by commas."""


def make_storable(text: str) -> str:
    """``text`` without lone surrogates, which no file and no database can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


class Usage(Record):
    """The calls and tokens consumed, as the server counted them. Calls replayed from the journal count: they were paid once."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


class Turn(Record):
    """One turn of a conversation. ``addressees`` empty means said to everyone present."""

    index: int
    speaker: str
    addressees: tuple[str, ...] = ()
    content: str
    thinking: str = ""
    """The speaker's thoughts before the turn; they are kept in the record, and nobody else sees them."""
    note: str = ""
    """A note on the turn: cut off, refused, shortened."""


CUT_OFF = "cut off at its token limit"
"""The note on a turn, or a reply, that was cut off."""


class EpisodeStatus(StrEnum):
    COMPLETED = "completed"
    ERRORED = "errored"


class Episode(Record):
    """The complete record of one scenario as it was played; benchmarks add fields in a subclass.

    ``id`` is unique in a run; ``cluster`` is the benchmark's cluster unit (what intervals resample).
    """

    id: str
    scenario: str
    cluster: str
    repeat: int = 0
    status: EpisodeStatus = EpisodeStatus.COMPLETED
    error: str = ""
    turns: tuple[Turn, ...] = ()
    usage: dict[str, Usage] = Field(default_factory=dict)
    """The usage of calls, by role."""

    def list_turns(self) -> Iterable[Turn]:
        """All that was said, in order, wherever a benchmark keeps it."""
        return self.turns

    def make_score(self, metric: str, value: float | None, outcome: Outcome, reason: str = "") -> Score:
        """One metric's value for this episode."""
        return Score(
            metric=metric,
            scenario=self.scenario,
            cluster=self.cluster,
            repeat=self.repeat,
            outcome=outcome,
            value=value,
            reason=reason,
        )


def make_episode_id(scenario: str, repeat: int) -> str:
    return f"{scenario}#{repeat}"


def parse_episode_id(identifier: str) -> tuple[str, int]:
    """(scenario, repeat) of an episode's id; one that is of another form is taken for its scenario's."""
    scenario, _, repeat = identifier.rpartition("#")
    return (scenario, int(repeat)) if repeat.isdecimal() else (identifier, 0)


class Verdict(StrEnum):
    """An opinion on the subject's side of a pair. ``UNSCORED`` is the instrument's failure, never a tie."""

    WIN = "win"
    TIE = "tie"
    LOSS = "loss"
    UNSCORED = "unscored"


class Opinion(Record):
    """One judge's opinion on one criterion of one episode."""

    id: str
    episode: str
    scenario: str
    criterion: str
    judge: str
    usage: Usage = Usage()


class Judgment(Opinion):
    """An opinion that is a verdict; benchmarks and judge kinds add fields in a subclass."""

    verdict: Verdict
    reason: str = ""


Verdicts = Mapping[tuple[str, str], tuple[Verdict, str]]
"""The verdict and its reason, by criterion and judge; the whole panel's stands under ``PANEL``."""

PANEL = ""
"""The key of the panel's opinion, in place of a judge's name."""


class Outcome(StrEnum):
    """The outcome of one metric in one scenario."""

    SCORED = "scored"
    NOT_REACHED = "not reached"
    """An earlier stage ended it, or there was nothing to measure; no part of the denominator, and no failure."""
    UNSCORED = "unscored"
    """The instrument failed; not in the denominator, counted and shown."""
    ERRORED = "errored"
    """The run failed; not in the denominator, counted, resumable."""


class Score(Record):
    """One metric's value for one episode. ``value`` is None unless the outcome is SCORED."""

    metric: str
    scenario: str
    cluster: str
    repeat: int = 0
    outcome: Outcome = Outcome.SCORED
    value: float | None = None
    reason: str = ""


Share = Annotated[float, Field(ge=0.0, le=1.0)]


class NoValue(Exception):
    """The reason why a metric has no value in an episode."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


class Estimate(Record):
    """An aggregate over the table of scores. Over nothing it is None, shown as a dash, never 0."""

    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    confidence: Share = 0.95
    scored: int = 0
    unscored: int = 0
    errored: int = 0
    not_reached: int = 0

    @property
    def episodes(self) -> int:
        """The number of scores that it was made from, those without a value among them."""
        return self.scored + self.unscored + self.errored + self.not_reached


class ScoreFile(Record):
    """``scores.json``."""

    benchmark: str
    version: str
    estimates: tuple[Estimate, ...]
    scores: tuple[Score, ...] = ()
