"""A Study: all that a benchmark must provide to be run, resumed, judged again, scored and reported.

A Study is a benchmark bound to its data, prompts and options. The class ``Study`` has what every benchmark needs; what
only some have (judges, references, measurements, a description of the data, …) stands in classes of their own, which a
benchmark's study inherits from as well. The engine asks with ``isinstance`` which of them there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Generic

from pydantic import BaseModel
from typing_extensions import TypeVar

from sociable.core.data_files import Loaded
from sociable.core.errors import InputError
from sociable.core.prompts import Prompts, digest_judge_prompts
from sociable.core.records import Episode, EpisodeStatus, Estimate, Judgment, Record, Score, Turn, Verdict, make_episode_id
from sociable.core.spreading import Spread, work_here
from sociable.core.view import Document, Section
from sociable.engine.phases import Progress, UnderWay
from sociable.engine.seats import Role, Seat, Seats
from sociable.judging.auditing.known_answers import KnownAnswer
from sociable.judging.rubric import RatedParticipant
from sociable.statistics.metrics import Metric, Metrics
from sociable.statistics.ratings import Bout

S = TypeVar("S")
"""A benchmark's scenario."""
E = TypeVar("E", bound=Episode)
R = TypeVar("R", bound=BaseModel, default=Record)
"""The record that the reference makes for one scenario; its ``id`` is the scenario's."""
M = TypeVar("M", bound=BaseModel, default=Record)
"""The measurement that rules make in one episode; its ``id`` is the episode's."""

Begin = Callable[[str, int], Progress]
"""(name of a phase, number of its steps) → its live counts."""


Own = TypeVar("Own", bound=BaseModel, default=Record)
"""A benchmark's own options."""


@dataclass(frozen=True)
class StudyOptions(Generic[Own]):
    """The options, data and prompts that a study is bound to. ``own`` are the benchmark's own options."""

    own: Own
    dataset: Path | None = None
    skip_invalid: bool = False
    prompts: Path | None = None
    limit: int | None = None
    """Clusters to take; None: all."""
    seed: int = 0
    filled: frozenset[Role] = frozenset(Role)
    """The roles that somebody sits in."""
    by_rule: frozenset[Role] = frozenset()
    """The roles in which a reference agent sits."""

    def make_absolute_paths(self, *names: str) -> dict[str, str]:
        """The own options of these names that were given, as absolute paths: a run can be resumed from anywhere."""
        return {name: str(Path(path).resolve()) for name in names if (path := getattr(self.own, name))}

    def resolve(self, **decided: Any) -> dict[str, Any]:
        """The own options that were given, with those that were left open and have been decided, for ``Study.resolved``."""
        return {"options": self.own.model_copy(update=decided).model_dump(mode="json", exclude_unset=True)}


class Study(ABC, Generic[S, E, R, M]):
    """A benchmark bound to its data: what is played in each scenario, and what it scores."""

    episode_type: type[E]
    metrics: Metrics[Any]
    scenarios: Mapping[str, S]
    """The scenarios by id."""
    digests: Mapping[str, str]
    """The digests of dataset and prompts, for the manifest."""
    seed: int
    source: str = "bundled data"
    """The origin of the data, in a few words."""
    notes: Sequence[str] = ()
    """Notes on the data that the user should know: records left out, say."""
    origin: Path | None = None
    """The file or folder of records that the data set was read from; None: it is no such file."""
    data: str = ""
    """A name for the data, in a few words, where "bundled" or "the user's own" does not say it."""
    input_options: ClassVar[tuple[str, ...]] = ()
    """The own options that name files which the scenarios are made of: a run keeps a copy."""
    judge_prompts: str = ""
    """The digest of what judges read; empty where nobody judges. All other prompts are under test in a study's conditions."""
    filled: frozenset[Role] = frozenset(Role)
    """The roles that somebody sits in."""
    resolved: Mapping[str, Any] = {}
    """Settings that were left open and have been decided, for the manifest."""
    cluster_field: ClassVar[str] = ""
    """The field of a scenario that names its cluster, as in ``case.dialogue``; empty where every scenario is one."""
    tested_options: ClassVar[frozenset[str]] = frozenset()
    """Options in which runs that are compared may differ: they say what is under test, or which cases are looked at."""
    main_metrics: ClassVar[Sequence[str]] = ()
    """The metrics of which a leaderboard shows the first that was measured; empty: the first compared one with a best value."""
    unasked: ClassVar[Mapping[Role, str]] = {Role.REFERENCE: "{benchmark} compares with no reference"}
    """Roles that nothing is asked of, and why."""

    def __init__(self, options: StudyOptions[Any]) -> None:
        """Binds the benchmark: a study of one's own loads its data here. Raises InputError and DataError."""
        self.seed, self.filled = options.seed, options.filled

    def take_data(
        self,
        loaded: Loaded[Any],
        scenarios: Iterable[Any],
        others: Mapping[str, Prompts | Loaded[Any]],
        remarks: Iterable[str] = (),
    ) -> None:
        """Binds the study to the ``scenarios`` chosen from a loaded data set.

        ``others`` are what else the scores depend on, by the name under which the manifest keeps the digest; ``remarks`` are
        further notes on the data.
        """
        self.scenarios = {scenario.id: scenario for scenario in scenarios}
        self.source, self.notes, self.origin = loaded.source, [*loaded.notes, *remarks], loaded.origin
        self.digests = {"dataset": loaded.digest, **{name: other.digest for name, other in others.items()}}
        self.judge_prompts = digest_judge_prompts(other for other in others.values() if isinstance(other, Prompts))

    @classmethod
    def list_unasked(cls) -> dict[Role, str]:
        """All roles that nothing is asked of, and why."""
        nothing_judged = {} if issubclass(cls, Judged) else {Role.JUDGE: "{benchmark} has nothing that is judged"}
        return nothing_judged | dict(cls.unasked)

    def check_seats(self, benchmark: str, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        """Raises InputError when a role that the options make necessary is empty, or one that nothing is asked of is not."""
        asked = {*roles, *([Role.JUDGE] if judges else []), *([Role.REFERENCE] if references else [])}
        if isinstance(self, Contested) and Role.OPPONENT not in asked:
            raise InputError(f"In {benchmark} two models meet: name the other one with --opponent MODEL.")
        for role, why in self.list_unasked().items():
            if role in asked:
                options = {Role.REFERENCE: "--reference and --reference-file"}.get(role, f"--{role}")
                raise InputError(f"{why.format(benchmark=benchmark)}: leave {options} out.")

    def list_main_metrics(self) -> Sequence[Metric[Any]]:
        """The metrics by which models are ranked, in order of preference: the first that was measured counts."""
        named, compared = [self.metrics[name] for name in self.main_metrics if name in self.metrics], self.metrics.list_compared()
        return named or [each for each in compared if each.best is not None] or compared

    @property
    def low_metric(self) -> str:
        """The metric that is low in an episode that went badly; empty where there is none."""
        return next((metric.name for metric in self.metrics.list_compared()), "")

    @abstractmethod
    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> E:
        """Plays one scenario. Raises RunFailure where the run fails; what the agent does badly is part of the episode."""

    def find_cluster(self, scenario: str) -> str:
        """The scenario's cluster, which intervals resample: a dialogue, template, task or session; by default the scenario."""
        return str(attrgetter(self.cluster_field)(self.scenarios[scenario])) if self.cluster_field else scenario

    def find_cast(self, scenario: str) -> Mapping[str, Role]:
        """The role that plays each participant who has a name of its own and can be a model, as scopes of calls name it."""
        return {}

    def list_turns(self, episode: E) -> Sequence[Turn]:
        """Everything that was said in an episode, in order, for those who read it as one conversation."""
        return episode.turns

    def make_episode(self, scenario: str, repeat: int, **fields: Any) -> E:
        """The record of an episode, with what the benchmark keeps of it."""
        identifier, cluster = make_episode_id(scenario, repeat), self.find_cluster(scenario)
        return self.episode_type(id=identifier, scenario=scenario, cluster=cluster, repeat=repeat, **fields)

    def make_errored_episode(self, scenario: str, repeat: int, reason: str) -> E:
        """The record of an episode that the run could not finish."""
        return self.make_episode(scenario, repeat, status=EpisodeStatus.ERRORED, error=reason)

    def score(self, episode: E, judgments: Sequence[Any], panel: Sequence[str], measured: M | None) -> list[Score]:
        """All scores of one episode, from what the judges named in ``panel`` said and what was ``measured``. Pure.

        By default each metric's value is worked out from the episode alone.
        """
        return self.metrics.score(episode, episode)

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        """All estimates over the table of scores. Pure."""
        return self.metrics.estimate(scores, self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        """A reply that a model in that role might give in its ``call``-th call, counted from 0 within one episode.

        Estimates of cost rest on it: it should take the longest way through. ``asked`` is the last message of the request.
        """
        return "I see what you mean, and I would like to come back to what I asked before."


AnyStudy = Study[Any, Any, Any, Any]
"""A study of whatever benchmark."""


@dataclass(frozen=True)
class JudgingTask:
    """One judge's work on one criterion of one episode."""

    episode: str
    scenario: str
    criterion: str
    seat: Seat
    needs_reference: bool = False
    """Whether it must wait until the scenario's reference has been made."""

    @property
    def id(self) -> str:
        return f"{self.episode}|{self.criterion}|{self.seat.name}"


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A judged pair as a person reads it, neither side marked."""

    situation: str
    addressee: str
    subject: str
    golden: str


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question of yes or no that judges answered, as a person reads it."""

    situation: str
    about: str
    conversation: str
    question: str


class Judged(ABC, Generic[E, R]):
    """A study whose episodes get judges' opinions, which people can check."""

    judgment_type: ClassVar[type[Judgment]] = Judgment
    win_rates: Mapping[str, Mapping[str, Mapping[Verdict, float]]] = {}
    """The metrics that are means of the judges' verdicts on each stage, and the worth of a verdict in each."""
    instructions: ClassVar[str] = ""
    """The instructions to people who judge the same: the paper's own criteria, point by point; empty: the question says all."""

    @abstractmethod
    def list_criteria(self, episode: E) -> Sequence[str]:
        """The criteria that judges have to decide about a completed episode."""

    def needs_reference(self, criterion: str) -> bool:
        """Whether judging must wait until the scenario's reference has been made."""
        return False

    def list_judging_tasks(self, episode: E, judges: Sequence[Seat]) -> list[JudgingTask]:
        """The tasks of each judge for a completed episode."""
        return [
            JudgingTask(episode.id, episode.scenario, criterion, seat, self.needs_reference(criterion))
            for criterion in self.list_criteria(episode)
            for seat in judges
        ]

    @abstractmethod
    async def judge(self, task: JudgingTask, episode: E, reference: R | None) -> Judgment:
        """One judge's opinion; a judge that cannot be read is UNSCORED."""

    def find_stage(self, criterion: str) -> str:
        """The kind of thing that a criterion asks: people's verdicts are drawn and counted by it.

        By default it is the only stage of ``win_rates``, or the criterion up to a bar.
        """
        return next(iter(self.win_rates)) if len(self.win_rates) == 1 else criterion.partition("|")[0]

    def is_shown(self, criterion: str) -> bool:
        """Whether people are given what judges decide by this criterion."""
        return True

    def show(self, episode: E, criterion: str, reference: R | None) -> ShownPair | ShownQuestion | None:
        """The pair or question that judges judged, as a person reads it; None where there is nothing to show."""
        return None


class JudgingKind(ABC):
    """One kind of judging of a benchmark, as an audit of judges asks for it: the same prompts, the same parsing."""

    name: ClassVar[str]
    """Its name in reports: ``first utterance``, ``goal``."""
    metrics: ClassVar[tuple[str, ...]]
    """The metrics that rest on it: beside them stands what the audit found."""
    is_pair: ClassVar[bool] = False
    """Whether two texts are compared, not one asked about."""
    has_sides: ClassVar[bool] = False
    """Whether the two are shown together, one first."""
    asks_for: ClassVar[str] = "question"
    """How words that give a judge orders must be put: for a pair, a question, a rating, or matches."""

    @abstractmethod
    def list_known(self) -> Iterable[KnownAnswer]:
        """All texts whose right verdict is known, those made by rules and those written by hand, of the scenarios there are."""

    def list_by_hand(self) -> Iterable[KnownAnswer]:
        """Those of them that were written by hand."""
        return [known for known in self.list_known() if known.by_hand]

    def show(self, known: KnownAnswer) -> ShownPair | ShownQuestion | None:
        """Such a text as a person reads it, in the form of ``Judged.show``; None where people are not asked this."""
        return None

    @abstractmethod
    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> Judgment:
        """One judge's verdict on such a text, asked for as in a run.

        ``name`` stands for the episode: calls and judgments are kept under it. Raises RunFailure and RunStopped.
        """


class JudgeAudited(ABC):
    """A study whose judges can be audited."""

    @abstractmethod
    def list_judging_kinds(self) -> Sequence[JudgingKind]:
        """The kinds of judging that there are."""


class Referenced(ABC, Generic[R]):
    """A study in which a reference model makes something before episodes can be judged."""

    reference_type: type[R]

    @property
    @abstractmethod
    def needs_references(self) -> bool:
        """Whether the options ask for references at all."""

    @abstractmethod
    async def make_reference(self, scenario: str, seats: Seats) -> R:
        """The reference for one scenario, made by the reference model."""

    @abstractmethod
    def check_reference(self, scenario: str, reference: R, seats: Seats) -> str:
        """The reason why a reference made elsewhere does not fit this study, or the empty string."""


class MeasuredByRule(ABC, Generic[E, M]):
    """A study in which rules measure every completed episode. Measurements are written once, and metrics and views read them."""

    measurement_type: type[M]

    @abstractmethod
    def measure(self, episode: E, judgments: Sequence[Any] = (), panel: Sequence[str] = ()) -> M:
        """The measurement of one episode by rules, and by what judges said of it where a rule rests on that. Pure."""


class TakesLong(ABC):
    """A study whose episodes take so long that a run should tell how far they have come."""

    @abstractmethod
    def measure_under_way(self) -> UnderWay:
        """How far the episodes that are being played have come."""


class Rated(ABC, Generic[E]):
    """A study whose participants have goals, so that a rubric can rate them."""

    @abstractmethod
    def list_rated_participants(self, episode: E) -> Mapping[str, RatedParticipant]:
        """The participants who can be rated, by the role they fill (or role and name, where several of a role have goals)."""


class Contested(ABC):
    """A study in which the subject meets an opponent, both under test: many runs of it make a tournament.

    What a metric says of the subject, another called ``opponent_…`` says of the opponent; without one it is about both.
    """

    shown_in_tournaments: ClassVar[Sequence[str]] = ()
    """The metrics that a tournament shows of every participant, beside how often it won."""
    tournament_remark: ClassVar[str] = ""
    """A remark that no reader of the ratings should miss."""

    @abstractmethod
    def list_bouts(self, scores: Iterable[Score], subject: str, opponent: str) -> list[Bout]:
        """The bouts of one run, from its scores and the names of the two. What has no result is left out."""


class Concluded(ABC, Generic[E]):
    """A study some of whose estimates need all episodes at once, such as those of a model trained on them."""

    @abstractmethod
    def conclude(self, episodes: Iterable[E], folder: Path, begin: Begin, spread: Spread = work_here) -> list[Estimate]:
        """The estimates that need all episodes. Their basis is kept in ``folder``; long phases count their steps on ``begin``.

        Work on parts that need nothing of each other can be given to ``spread``.
        """


class Audited(ABC):
    @abstractmethod
    def audit(self) -> Document:
        """The document on whether the dataset can be solved by a shortcut."""


class Described(ABC):
    @abstractmethod
    def describe(self, features: str) -> Document:
        """The document with figures about the dataset; ``features`` names what texts are compared by. Raises InputError."""


class Labelled(ABC):
    @abstractmethod
    async def label(self, seat: Seat) -> tuple[list[dict[str, Any]], str]:
        """(the data as records of a file, with a model's word for what was missing; what was filled in). Raises InputError."""


class FromSources(Audited):
    @abstractmethod
    def compare_with_sources(self, sources: Mapping[str, str], episodes: Sequence[Any]) -> list[Section]:
        """The likeness of scenes, and of what was said in ``episodes``, to texts they were made from. Raises InputError."""
