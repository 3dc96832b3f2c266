"""HSII bound to its data, prompts and options: what the engine is given to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sociable.benchmarks.hsii.audit import audit_document
from sociable.benchmarks.hsii.briefing import hsii_prompts, setting_in_words
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, load_dataset, select_dialogues
from sociable.benchmarks.hsii.judge import criteria_reached, judge_criterion, pair_to_show
from sociable.benchmarks.hsii.measure import Measured, measure_episode
from sociable.benchmarks.hsii.metrics import TIES_AS_HALF, WORTH, JudgedCase, hsii_metrics
from sociable.benchmarks.hsii.protocol import make_reference, run_case
from sociable.benchmarks.hsii.records import JUDGED, STAGES, HSIIEpisode, HSIIOptions, ReferenceConversation, Stage
from sociable.core.errors import InputError
from sociable.core.records import Judgment, Score
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
from sociable.judging.panel import decide_panel
from sociable.judging.rubric import RatedParticipant

ASSISTANT_GOAL = "To say what serves most of the people involved, better still all of them, to the one whom it chose to address."
"""What the prompts ask of the assistant."""


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
        own = self.options = options.own
        # With nobody to talk with and nobody to judge, what can be measured is: format, target, leaks.
        default = (1, 2, 3, 4) if options.filled & {Role.PARTNER, Role.JUDGE} else (1, 2, 3)
        self.stages = tuple(STAGES[number - 1] for number in own.stages or default)
        self.resolved = options.resolve(stages=own.stages or default)
        self.metrics = hsii_metrics(own)
        self.win_rates = {
            stage.value: {metric: WORTH[own.ties], f"{metric}_ties_half": TIES_AS_HALF}
            for stage, metric in zip(JUDGED, ("r3", "r4"), strict=True)
            # A cumulative long run is no mean of its own verdicts.
            if not (own.cumulative and stage is Stage.LONG_RUN)
        }
        super().__init__(options)
        self.prompts = hsii_prompts(options.prompts)
        dataset = load_dataset(options.dataset, skip_invalid=options.skip_invalid)
        self.source = dataset.source
        self.scenarios: Mapping[str, Case] = {
            case.id: case for case in select_dialogues(dataset.items, options.limit, options.seed)
        }
        self.digests = {"dataset": dataset.digest, "prompts": self.prompts.digest}
        given = "The addressee was given to the model: r1 counts replies with words in them, and r2 and ι are not defined."
        self.notes = [*dataset.notes, *([given] if own.forced_target else [])]

    @property
    def needs_references(self) -> bool:
        return Stage.LONG_RUN in self.stages

    def check_seats(self, benchmark: str, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        roles = set(roles)
        if not self.needs_references:
            return
        remedy = "or leave stage 4 out with --stages 1,2,3"
        if Role.PARTNER not in roles:
            raise InputError(f"Stage 4 needs somebody to talk with: add --partner MODEL, {remedy}.")
        if judges and not references and Role.REFERENCE not in roles:
            raise InputError(
                "Stage 4 is judged against a reference conversation: add --reference MODEL to make it, "
                f"--reference-file FILE to use one that was made before, {remedy}."
            )

    async def make_reference(self, scenario: str, seats: Seats) -> ReferenceConversation:
        return await make_reference(self.scenarios[scenario], seats, self.prompts, long_run_turns=self.options.long_run_turns)

    def check_reference(self, scenario: str, reference: ReferenceConversation, seats: Seats) -> str:
        partner = seats.partner.name if seats.partner else None
        made_with = {
            "this case": (reference.case_digest, self.scenarios[scenario].digest),
            "these prompts": (reference.prompts_digest, self.prompts.digest),
            f"{self.options.long_run_turns} turns": (reference.long_run_turns, self.options.long_run_turns),
            f"the partner {partner}": (reference.partner, partner),
        }
        return next((f"it was not made for {what}" for what, (made, wanted) in made_with.items() if made != wanted), "")

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> HSIIEpisode:
        return await run_case(
            self.scenarios[scenario],
            repeat,
            seats,
            self.prompts,
            seed=self.seed,
            strict=self.options.format == "strict",
            long_run_turns=self.options.long_run_turns if self.needs_references else 0,
            forced_target=self.options.forced_target,
        )

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].dialogue

    def measure(self, episode: HSIIEpisode) -> Measured:
        return measure_episode(self.scenarios[episode.scenario], episode)

    def criteria(self, episode: HSIIEpisode) -> Sequence[str]:
        return [stage.value for stage in criteria_reached(episode, self.stages)]

    def needs_reference(self, criterion: str) -> bool:
        return criterion == Stage.LONG_RUN

    async def judge(self, task: JudgingTask, episode: HSIIEpisode, reference: ReferenceConversation | None) -> Judgment:
        case = self.scenarios[task.scenario]
        return await judge_criterion(case, episode, Stage(task.criterion), task.seat, reference, self.prompts)

    def show(self, episode: HSIIEpisode, criterion: str, reference: ReferenceConversation | None) -> ShownPair | None:
        case = self.scenarios[episode.scenario]
        sides = pair_to_show(case, episode, Stage(criterion), reference)
        return ShownPair(setting_in_words(case), case.golden.role_to, sides.subject, sides.golden) if sides else None

    def rated_participants(self, episode: HSIIEpisode) -> Mapping[str, RatedParticipant]:
        """The assistant, whose goal is what it was told; and the addressee of a long run, if the data give it a goal."""
        case = self.scenarios[episode.scenario]
        if not episode.turns or episode.target is None:
            return {}
        situation = setting_in_words(case)
        said = tuple((turn.speaker, turn.content) for turn in episode.turns)
        hidden = "\n".join(fact.fact for fact in case.hidden_from(episode.target))
        goals = {ASSISTANT: ASSISTANT_GOAL, **case.background.goals}
        found: dict[str, RatedParticipant] = {
            Role.SUBJECT: RatedParticipant(ASSISTANT, situation, goals[ASSISTANT], hidden, said)
        }
        if episode.target in goals and len(episode.turns) > 1:
            own = "\n".join(fact.fact for fact in case.private_facts if fact.owner == episode.target)
            found[Role.PARTNER] = RatedParticipant(episode.target, situation, goals[episode.target], own, said)
        return found

    def score(
        self, episode: HSIIEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: Measured | None
    ) -> list[Score]:
        verdicts = {}
        for stage in criteria_reached(episode, self.stages):
            given = {judgment.judge: judgment for judgment in judgments if judgment.criterion == stage.value}
            if panel and all(judge in given for judge in panel):
                verdicts[stage] = decide_panel([given[judge] for judge in panel])
        own = [judgment for judgment in judgments if judgment.judge in panel]
        # Without judges only what needs no opinion is scored.
        stages = [stage for stage in self.stages if panel or stage not in JUDGED]
        case = self.scenarios[episode.scenario]
        return self.metrics.score(episode, JudgedCase(case, episode, measured, verdicts, own, stages))

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        case = self.scenarios[scenario]
        if role is Role.JUDGE:
            return '{"reason": "' + "Both take up what was asked, but the first says what happens next. " * 2 + '", "verdict": 1}'
        if role is Role.SUBJECT and call == 0:
            return case.golden.content if self.options.forced_target else case.golden.model_dump_json(exclude={"index"})
        speaker = case.golden.role_to if role is Role.PARTNER else ASSISTANT
        written = [message.content for message in case.continuation if message.role_from == speaker]
        place = call - 1 if role is Role.SUBJECT else call
        if place < len(written):
            return written[place]
        said = [message.content for message in case.messages if message.role_from == speaker] or [case.golden.content]
        return sorted(said, key=len)[len(said) // 2]

    def audit(self) -> Document:
        return audit_document(list(self.scenarios.values()), self.source)

    def describe(self, features: str) -> Document:
        # Imported when asked for: scikit-learn takes a second.
        from sociable.benchmarks.hsii.describe import describe_document

        return describe_document(list(self.scenarios.values()), self.source, features)
