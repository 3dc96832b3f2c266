"""HSII bound to its data, prompts and options: what the engine is given to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sociable.benchmarks.hsii.audit import make_audit
from sociable.benchmarks.hsii.briefing import load_hsii_prompts, render_setting_in_words
from sociable.benchmarks.hsii.dataset import Case, load_dataset, select_dialogues
from sociable.benchmarks.hsii.judge import judge_stage, list_judged_stages, list_rated_participants, make_pair
from sociable.benchmarks.hsii.measure import Measured, measure_episode
from sociable.benchmarks.hsii.metrics import TIES_AS_HALF, WORTH, JudgedCase, make_metrics
from sociable.benchmarks.hsii.protocol import make_reference, run_case
from sociable.benchmarks.hsii.records import JUDGED, STAGES, HSIIEpisode, HSIIOptions, ReferenceConversation, Stage
from sociable.benchmarks.hsii.reference import rehearse_case
from sociable.core.errors import InputError
from sociable.core.records import PANEL, Judgment, Score
from sociable.core.view import Document
from sociable.engine.seats import Role, Seats
from sociable.engine.study import (
    Audited,
    Described,
    Judged,
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
    unasked = {}

    def __init__(self, options: StudyOptions[HSIIOptions]) -> None:
        super().__init__(options)
        own = self.options = options.own
        # With nobody to talk with and nobody to judge, what can be measured is: format, target, leaks.
        default = (1, 2, 3, 4) if options.filled & {Role.PARTNER, Role.JUDGE} else (1, 2, 3)
        self.stages = tuple(STAGES[number - 1] for number in own.stages or default)
        self.resolved = options.resolve(stages=own.stages or default)
        self.metrics = make_metrics(own)
        self.win_rates = {
            stage.value: {metric: WORTH[own.ties], f"{metric}_ties_half": TIES_AS_HALF}
            for stage, metric in zip(JUDGED, ("r3", "r4"), strict=True)
            # A cumulative long run is no mean of its own verdicts.
            if not (own.cumulative and stage is Stage.LONG_RUN)
        }
        self.prompts = load_hsii_prompts(options.prompts)
        dataset = load_dataset(options.dataset, skip_invalid=options.skip_invalid)
        self.source = dataset.source
        cases = select_dialogues(dataset.items, options.limit, options.seed)
        self.scenarios: Mapping[str, Case] = {case.id: case for case in cases}
        self.digests = {"dataset": dataset.digest, "prompts": self.prompts.digest}
        given = "The addressee was given to the model: r1 counts replies with words in them, and r2 and ι are not defined."
        self.notes = [*dataset.notes, *([given] if own.forced_target else [])]

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
        partner, turns = seats.partner.name if seats.partner else None, self.options.long_run_turns
        made_with = (
            ("this case", reference.case_digest, self.scenarios[scenario].digest),
            ("these prompts", reference.prompts_digest, self.prompts.digest),
            (f"{turns} turns", reference.long_run_turns, turns),
            (f"the partner {partner}", reference.partner, partner),
        )
        return next((f"it was not made for {what}" for what, made, wanted in made_with if made != wanted), "")

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> HSIIEpisode:
        case, has_long_run = self.scenarios[scenario], Stage.LONG_RUN in self.stages
        return await run_case(case, repeat, seats, self.prompts, self.options, seed=self.seed, has_long_run=has_long_run)

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].dialogue

    def measure(self, episode: HSIIEpisode) -> Measured:
        return measure_episode(self.scenarios[episode.scenario], episode)

    def criteria(self, episode: HSIIEpisode) -> Sequence[str]:
        return [stage.value for stage in list_judged_stages(episode, self.stages)]

    def needs_reference(self, criterion: str) -> bool:
        return criterion == Stage.LONG_RUN

    async def judge(self, task: JudgingTask, episode: HSIIEpisode, reference: ReferenceConversation | None) -> Judgment:
        case = self.scenarios[task.scenario]
        return await judge_stage(case, episode, Stage(task.criterion), task.seat, reference, self.prompts)

    def show(self, episode: HSIIEpisode, criterion: str, reference: ReferenceConversation | None) -> ShownPair | None:
        case = self.scenarios[episode.scenario]
        sides = make_pair(case, episode, Stage(criterion), reference)
        if isinstance(sides, str):
            return None
        return ShownPair(render_setting_in_words(case), case.golden.role_to, sides.subject, sides.golden)

    def rated_participants(self, episode: HSIIEpisode) -> Mapping[str, RatedParticipant]:
        return list_rated_participants(self.scenarios[episode.scenario], episode)

    def score(
        self, episode: HSIIEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: Measured | None
    ) -> list[Score]:
        given = add_panel(judgments, panel)
        reached = list_judged_stages(episode, self.stages)
        verdicts = {stage: given[stage.value, PANEL] for stage in reached if (stage.value, PANEL) in given}
        own = [judgment for judgment in judgments if judgment.judge in panel]
        # Without judges only what needs no opinion is scored.
        stages = [stage for stage in self.stages if panel or stage not in JUDGED]
        case = self.scenarios[episode.scenario]
        return self.metrics.score(episode, JudgedCase(case, episode, measured, verdicts, own, stages))

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        return rehearse_case(self.scenarios[scenario], role, call, forced_target=self.options.forced_target)

    def audit(self) -> Document:
        return make_audit(list(self.scenarios.values()), self.source)

    def describe(self, features: str) -> Document:
        # Imported when asked for: scikit-learn takes a second.
        from sociable.benchmarks.hsii.describe import make_description

        return make_description(list(self.scenarios.values()), self.source, features)
