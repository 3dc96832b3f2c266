"""HSII bound to its data, prompts and options: what the engine is given to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sociable.benchmarks.hsii.audit import make_audit
from sociable.benchmarks.hsii.briefing import load_hsii_prompts, render_setting_in_words
from sociable.benchmarks.hsii.dataset import Case, load_dataset, select_dialogues
from sociable.benchmarks.hsii.judge import (
    find_golden_words,
    judge_behaviour,
    judge_stage,
    list_judged_behaviour,
    list_judged_stages,
    list_rated_participants,
    make_pair,
)
from sociable.benchmarks.hsii.known_first_utterances import FirstUtterances
from sociable.benchmarks.hsii.known_long_run import KnownLongRuns
from sociable.benchmarks.hsii.measure import Measured, measure_episode
from sociable.benchmarks.hsii.metrics import JudgedCase, list_win_rates, make_metrics
from sociable.benchmarks.hsii.protocol import find_mismatch, make_reference, run_case
from sociable.benchmarks.hsii.records import JUDGED, STAGES, HSIIEpisode, HSIIOptions, ReferenceConversation, Stage
from sociable.benchmarks.hsii.reference import rehearse_case
from sociable.core.errors import InputError
from sociable.core.records import Judgment, Score
from sociable.core.view import Document
from sociable.engine.seats import Role, Seats
from sociable.engine.study import (
    Audited,
    Described,
    JudgeAudited,
    Judged,
    JudgingKind,
    JudgingTask,
    MeasuredByRule,
    Rated,
    Referenced,
    ShownPair,
    Study,
    StudyOptions,
)
from sociable.judging.pairwise import PairJudgment
from sociable.judging.panel import add_panel
from sociable.judging.rubric import RatedParticipant


class HSIIStudy(
    Study[Case, HSIIEpisode, ReferenceConversation, Measured],
    Judged[HSIIEpisode, ReferenceConversation],
    JudgeAudited,
    Referenced[ReferenceConversation],
    MeasuredByRule[HSIIEpisode, Measured],
    Rated[HSIIEpisode],
    Audited,
    Described,
):
    episode_type = HSIIEpisode
    judgment_type = PairJudgment
    reference_type = ReferenceConversation
    measurement_type = Measured
    cluster_field = "dialogue"
    main_metrics = ("hsii_cascade",)
    unasked = {}

    def __init__(self, options: StudyOptions[HSIIOptions]) -> None:
        super().__init__(options)
        own = self.options = options.own
        # With nobody to talk with and nobody to judge, what can be measured is: format, target, leaks.
        default = (1, 2, 3, 4) if options.filled & {Role.PARTNER, Role.JUDGE} else (1, 2, 3)
        self.stages = tuple(STAGES[number - 1] for number in own.stages or default)
        self.resolved = options.resolve(stages=own.stages or default)
        self.win_rates = list_win_rates(own)
        self.prompts = load_hsii_prompts(options.prompts)
        dataset = load_dataset(options.dataset, split=own.split, skip_invalid=options.skip_invalid)
        cases = select_dialogues(dataset.items, options.limit, options.seed)
        has_readings = any(len(case.readings) > 1 for case in cases)
        self.metrics = make_metrics(own, has_twins=any(case.is_twin for case in cases), has_readings=has_readings)
        given = "The addressee was given to the model: r1 counts replies with words in them, and r2 and ι are not defined."
        self.take_data(dataset, cases, {"prompts": self.prompts}, [given] if own.forced_target else [])

    @property
    def needs_references(self) -> bool:
        return Stage.LONG_RUN in self.stages

    def check_seats(self, benchmark: str, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        roles = set(roles)
        remedy = "or leave stage 4 out with --stages 1,2,3"
        if self.needs_references and Role.PARTNER not in roles:
            raise InputError(f"Stage 4 needs somebody to talk with: add --partner MODEL, {remedy}.")
        if self.needs_references and judges and not references and Role.REFERENCE not in roles:
            raise InputError(
                "Stage 4 is judged against a reference conversation: add --reference MODEL to make it, "
                f"--reference-file FILE to use one that was made before, {remedy}."
            )

    async def make_reference(self, scenario: str, seats: Seats) -> ReferenceConversation:
        return await make_reference(self.scenarios[scenario], seats, self.prompts, long_run_turns=self.options.long_run_turns)

    def check_reference(self, scenario: str, reference: ReferenceConversation, seats: Seats) -> str:
        turns = self.options.long_run_turns
        return find_mismatch(reference, self.scenarios[scenario], seats, self.prompts, long_run_turns=turns)

    def find_cast(self, scenario: str) -> Mapping[str, Role]:
        has_partner = Role.PARTNER in self.filled and self.needs_references
        return {self.scenarios[scenario].golden.role_to: Role.PARTNER} if has_partner else {}

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> HSIIEpisode:
        case, has_long_run = self.scenarios[scenario], self.needs_references
        return await run_case(case, repeat, seats, self.prompts, self.options, seed=self.seed, has_long_run=has_long_run)

    def measure(self, episode: HSIIEpisode, judgments: Sequence[Judgment] = (), panel: Sequence[str] = ()) -> Measured:
        return measure_episode(self.scenarios[episode.scenario], episode)

    def list_criteria(self, episode: HSIIEpisode) -> Sequence[str]:
        return [*(stage.value for stage in list_judged_stages(episode, self.stages)), *self._list_behaviour(episode)]

    def _list_behaviour(self, episode: HSIIEpisode) -> Sequence[str]:
        return list_judged_behaviour(self.scenarios[episode.scenario], episode) if self.options.judge_behaviour else ()

    def needs_reference(self, criterion: str) -> bool:
        return criterion == Stage.LONG_RUN

    async def judge(self, task: JudgingTask, episode: HSIIEpisode, reference: ReferenceConversation | None) -> Judgment:
        case = self.scenarios[task.scenario]
        if task.criterion not in JUDGED:
            return await judge_behaviour(case, episode, task.criterion, task.seat, self.prompts)
        golden = find_golden_words(case, self.options.golden, self.seed)
        return await judge_stage(case, episode, Stage(task.criterion), task.seat, reference, self.prompts, golden)

    def list_judging_kinds(self) -> Sequence[JudgingKind]:
        return [FirstUtterances(self.scenarios, self.prompts), KnownLongRuns(self.scenarios, self.prompts)]

    def is_shown(self, criterion: str) -> bool:
        return criterion in JUDGED

    def show(self, episode: HSIIEpisode, criterion: str, reference: ReferenceConversation | None) -> ShownPair | None:
        case = self.scenarios[episode.scenario]
        golden = find_golden_words(case, self.options.golden, self.seed)
        sides = make_pair(case, episode, Stage(criterion), reference, golden)
        if isinstance(sides, str):
            return None
        return ShownPair(render_setting_in_words(case), case.golden.role_to, sides.subject, sides.golden)

    def list_rated_participants(self, episode: HSIIEpisode) -> Mapping[str, RatedParticipant]:
        return list_rated_participants(self.scenarios[episode.scenario], episode)

    def score(
        self, episode: HSIIEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: Measured | None
    ) -> list[Score]:
        own = [judgment for judgment in judgments if judgment.judge in panel]
        # Without judges only what needs no opinion is scored.
        stages = [stage for stage in self.stages if panel or stage not in JUDGED]
        case, verdicts = self.scenarios[episode.scenario], add_panel(judgments, panel)
        asked = self._list_behaviour(episode) if panel else ()
        return self.metrics.score(episode, JudgedCase(case, episode, measured, verdicts, own, stages, asked))

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        return rehearse_case(self.scenarios[scenario], role, call, forced_target=self.options.forced_target)

    def audit(self) -> Document:
        return make_audit(list(self.scenarios.values()), self.source)

    def describe(self, features: str) -> Document:
        # Imported when asked for: scikit-learn takes a second.
        from sociable.benchmarks.hsii.describe import make_description

        return make_description(list(self.scenarios.values()), self.source, features)
