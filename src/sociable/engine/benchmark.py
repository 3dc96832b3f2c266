"""What a benchmark must provide to be run, resumed, judged again, scored and reported.

A benchmark is a recipe; ``open`` binds it to a dataset, prompts and options and gives a Study, which knows its
scenarios and what to do with each. The runner and everything above it know benchmarks through these two only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from sociable.core.errors import InputError
from sociable.core.records import Episode, EpisodeStatus, Estimate, Judgment, Score, Verdict, episode_id
from sociable.core.view import Block, Document, Section, Table
from sociable.engine.phases import Progress
from sociable.engine.seats import Role, Seat, Seats
from sociable.engine.settings import RoleSettings
from sociable.judging.rubric import RatedParticipant

if TYPE_CHECKING:
    from sociable.engine.run import FinishedRun


Begin = Callable[[str, int], Progress]
"""The name of a phase and its number of steps → its live counts."""


@dataclass(frozen=True)
class StudyOptions:
    """What a study is bound to. ``values`` are the benchmark's own options, checked by it."""

    dataset: Path | None = None
    skip_invalid: bool = False
    prompts: Path | None = None
    limit: int | None = None
    """Clusters to take, or None for all."""
    seed: int = 0
    stages: tuple[int, ...] | None = None
    """None: those that the filled roles allow."""
    filled: frozenset[Role] = frozenset(Role)
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class JudgingTask:
    """One judge's work on one criterion of one episode."""

    id: str
    episode: str
    scenario: str
    criterion: str
    seat: Seat
    needs_reference: bool = False
    """Whether it must wait until the scenario's reference has been made."""


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A judged pair as a person reads it, neither side marked."""

    situation: str
    addressee: str
    subject: str
    golden: str


@dataclass(frozen=True)
class RunResult:
    """A run as reports see it."""

    label: str
    """What it is called in tables: the model under test, with its folder where two have the same."""
    folder: str
    manifest: Mapping[str, Any]
    estimates: Sequence[Estimate]
    scores: Sequence[Score]
    notes: Sequence[str] = ()
    """What a reader of the scores must know: judge equal to subject, records left out, errored episodes."""

    def __repr__(self) -> str:
        values = ", ".join(f"{each.metric} {each.value:.3f}" for each in self.estimates if each.value is not None)
        return f"<RunResult of {self.label} in {self.folder}: {values}>"

    def estimate(self, metric: str) -> Estimate | None:
        return next((estimate for estimate in self.estimates if estimate.metric == metric), None)


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question of yes or no that judges answered, as a person reads it."""

    situation: str
    about: str
    conversation: str
    question: str


OptionsRecord = TypeVar("OptionsRecord", bound=BaseModel)


def checked_options(kind: type[OptionsRecord], values: Mapping[str, Any], benchmark: str) -> OptionsRecord:
    """A benchmark's own options. Raises InputError naming the one that is wrong and those there are."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        known = ", ".join(kind.model_fields)
        if first["type"] == "extra_forbidden":
            has = f"it has: {known}" if known else "it has none"
            raise InputError(f"{benchmark} has no option '{name}'; {has}.") from None
        message = first["msg"].removeprefix("Value error, ").replace("a valid tuple", 'a list, as in ["a", "b"]')
        raise InputError(f"option '{name}' of {benchmark}: {message}." if name else f"{benchmark}: {message}.") from None


class Study(ABC):
    """A benchmark bound to its data. ``scenarios`` maps ids to the benchmark's own scenario records.

    What judges and references have to do with it has a default: nothing.
    """

    scenarios: Mapping[str, Any]
    digests: Mapping[str, str]
    """Of dataset and prompts, for the manifest."""
    notes: Sequence[str] = ()
    """What the user should know about the data: records left out."""
    data: str = ""
    """What the data are, in a few words, where "bundled" or "the user's own" does not say it."""
    resolved: Mapping[str, Any] = {}
    """Settings that were left open and have been decided, for the manifest."""
    metrics: Sequence[str]
    """Those whose values per scenario can be compared between runs."""
    win_rates: Mapping[str, Mapping[str, Mapping[Verdict, float]]] = {}
    """By stage, the metrics that are means of the judges' verdicts on it, and what a verdict is worth in each."""
    has_goals: bool = False
    """Whether participants have goals, so that a rubric can rate them."""
    tested_options: frozenset[str] = frozenset()
    """Options in which runs that are compared may differ: they say what is under test, or which cases are looked at."""

    @property
    def low_metric(self) -> str:
        """The metric of an episode that went badly where it is low; empty where there is none."""
        return self.metrics[0]

    passes: Sequence[str] = ()
    """Metrics of 0 and 1 whose sum says how far an episode came."""

    @abstractmethod
    def check_seats(self, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        """Raises InputError when a role that the options make necessary is not filled, or one that nothing is asked of is."""

    @property
    def needs_references(self) -> bool:
        """Whether something must be made by the reference before episodes can be judged."""
        return False

    async def make_reference(self, scenario: str, seats: Seats) -> BaseModel:
        """What the reference makes for one scenario; its record has an ``id``, the scenario's."""
        raise NotImplementedError(f"{type(self).__name__} needs no references")

    def check_reference(self, scenario: str, reference: Any, seats: Seats) -> str:
        """Why a reference made elsewhere does not fit this study, or the empty string."""
        raise NotImplementedError(f"{type(self).__name__} needs no references")

    @abstractmethod
    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> Episode: ...

    episode_type: type[Episode]

    @abstractmethod
    def cluster_of(self, scenario: str) -> str:
        """What intervals resample: the scenario's dialogue, template, task, session."""

    def errored_episode(self, scenario: str, repeat: int, reason: str) -> Episode:
        """The record of an episode that the run could not finish."""
        return self.episode_type(
            id=episode_id(scenario, repeat),
            scenario=scenario,
            cluster=self.cluster_of(scenario),
            repeat=repeat,
            status=EpisodeStatus.ERRORED,
            error=reason,
        )

    def judging_tasks(self, episode: Any, judges: Sequence[Seat]) -> list[JudgingTask]:
        """What the judges have to say about a completed episode."""
        return []

    async def judge(self, task: JudgingTask, episode: Any, reference: Any | None) -> Judgment:
        raise NotImplementedError(f"{type(self).__name__} has nothing to judge")

    def shown(self, episode: Any, criterion: str, reference: Any | None) -> ShownPair | ShownQuestion | None:
        """What judges judged, as a person reads it, to check them; None where there is nothing to be shown."""
        return None

    def stage_of(self, criterion: str) -> str:
        """What kind of thing a criterion asks: people's verdicts are drawn and counted by it."""
        return criterion

    def rated_participants(self, episode: Any) -> Mapping[Role, RatedParticipant]:
        """Who can be rated by a rubric: those that have a goal, by the role they fill."""
        return {}

    @abstractmethod
    def score(self, episode: Any, judgments: Sequence[Any], panel: Sequence[str]) -> list[Score]:
        """All scores of one episode from the judgments of the judges named in ``panel``. Pure."""

    @abstractmethod
    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        """All estimates over the table of scores. Pure."""

    def conclude(self, episodes: Iterable[Any], folder: Path, begin: Begin) -> list[Estimate]:
        """Estimates that need all episodes at once, as of a model trained on them. What they rest on is kept in ``folder``.

        What takes long shows how far it is: ``begin`` gives the counts of a phase of so many steps.
        """
        return []

    @abstractmethod
    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        """What a model in that role might say in its ``call``-th call, for estimates of cost: the longest way through.

        ``call`` counts from 0 within one episode; ``asked`` is the last message of the request.
        """


class Benchmark(ABC):
    """One benchmark of the registry."""

    name: str
    version: str
    title: str
    cluster_unit: str
    """In the singular, lower case: dialogue, template, task, session."""
    scenarios_called: str = "cases"
    """In the plural, lower case: what a reader would call the scenarios."""
    reference_agents: Mapping[Role, Sequence[str]]
    """Without ``reference/``, by the role they can fill."""
    role_defaults: Mapping[Role, RoleSettings] = {}
    """How a role's model is sampled unless the user says otherwise, where that is not as everywhere."""
    people_play: Sequence[Role] = (Role.SUBJECT,)
    """The roles in which a person can take a model's place at the terminal."""
    rehearsed: str = "at the most: as if each went its longest way"
    """What an estimate's counts of calls are, in words."""
    demo: Mapping[str, Any]
    """Settings, apart from ``model``, of the run that `sociable demo` makes with every agent in ``demo_agents``."""
    demo_agents: Sequence[str]
    episode_type: type[Episode]
    judgment_type: type[Judgment]
    reference_type: type[BaseModel]

    @abstractmethod
    def open(self, options: StudyOptions) -> Study:
        """Loads and checks dataset, prompts and options. Raises InputError."""

    def label_of(self, manifest: Mapping[str, Any]) -> str:
        """What a run is called in tables and figures."""
        return str(manifest["models"]["subject"])

    def remarks(self, estimates: Sequence[Estimate]) -> Sequence[str]:
        """What nobody who reads the estimates should miss: that the model was hardly understood, say."""
        return ()

    @abstractmethod
    def summary(self, results: Sequence[RunResult]) -> Table:
        """The table of the main metrics, one row a run."""

    @abstractmethod
    def sections(self, runs: Sequence[FinishedRun]) -> list[Section]:
        """The body of a report on one or several runs."""

    @abstractmethod
    def episode_blocks(self, run: FinishedRun, episode: Any) -> Sequence[Block]:
        """One episode, readable in full."""

    def contrast(self, first: FinishedRun, second: FinishedRun) -> list[Section]:
        """What a difference between two runs is made of: the cases that one wins and the other loses."""
        return []

    def describe(self, study: Study, features: str) -> Document:
        """Figures about the dataset itself. ``features`` names what texts are compared by. Raises InputError."""
        raise InputError(f"{self.name} has no description of its data; `sociable audit {self.name}` says what there is.")

    def beside_sources(self, study: Study, sources: Mapping[str, str], run: FinishedRun | None) -> list[Section]:
        """How like scenes, and what was said in ``run``, are to texts they were made from. Raises InputError."""
        raise InputError(f"{self.name} has nothing that is compared with sources; leave --source out.")

    async def label(self, study: Study, seat: Seat) -> tuple[list[dict[str, Any]], str]:
        """(the data as records of a file, with a model's word for what was missing; what was filled in). Raises InputError."""
        raise InputError(f"{self.name} has no labels that a model could fill in.")

    @abstractmethod
    def audit(self, study: Study) -> Document:
        """Whether the dataset can be solved by a shortcut."""
