"""HSII bound to its data, prompts and options: what the runner is given to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from sociable.benchmarks.hsii.briefing import hsii_prompts, setting_in_words
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, load_dataset, select_dialogues
from sociable.benchmarks.hsii.judge import criteria_reached, judge_criterion, pair_to_show
from sociable.benchmarks.hsii.metrics import (
    BEHAVIOURS,
    OF_STAGE,
    RATES,
    TIES_AS_HALF,
    WORTH,
    Weights,
    estimate_all,
    score_episode,
)
from sociable.benchmarks.hsii.protocol import make_reference, run_case
from sociable.benchmarks.hsii.records import JUDGED, STAGES, HSIIEpisode, ReferenceConversation, Stage
from sociable.core.errors import InputError
from sociable.core.records import Estimate, Judgment, Record, Score
from sociable.engine.benchmark import JudgingTask, ShownPair, Study, StudyOptions, checked_options
from sociable.engine.seats import Role, Seat, Seats
from sociable.judging.pairwise import judgment_id
from sociable.judging.panel import panel_verdict
from sociable.judging.rubric import RatedParticipant


class HSIIOptions(Record):
    """The switches of PAPER_DECISIONS; the defaults reproduce Table 1's form of the score."""

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0
    long_run_turns: int = Field(
        default=7, ge=1, description="turns of the assistant in the long run (epsilon), the first utterance included"
    )
    format: Literal["lenient", "strict"] = "lenient"
    ties: Literal["wins", "half"] = "wins"
    forced_target: bool = Field(default=False, description="name the golden addressee to the model and ask for words only")
    cumulative: bool = Field(default=False, description="a win in the long run counts only after a win in the first utterance")


ASSISTANT_GOAL = "To say what serves most of the people involved, better still all of them, to the one whom it chose to address."
"""What the prompts ask of it."""


class HSIIStudy(Study):
    episode_type = HSIIEpisode
    passes = RATES
    has_goals = True
    metrics = (*RATES, "r3_ties_half", "r4_ties_half", "leak_rate", *BEHAVIOURS)

    def __init__(self, options: StudyOptions) -> None:
        self.options = checked_options(HSIIOptions, options.values, "hsii")
        self.win_rates = {
            stage.value: {metric: WORTH[self.options.ties], f"{metric}_ties_half": TIES_AS_HALF}
            for stage, metric in OF_STAGE.items()
            # A cumulative long run is no mean of its own verdicts.
            if not (self.options.cumulative and stage is Stage.LONG_RUN)
        }
        self.stages = _checked_stages(options.stages, options.filled)
        if self.options.cumulative and Stage.LONG_RUN in self.stages and Stage.FIRST_UTTERANCE not in self.stages:
            raise InputError("cumulative needs stage 3: a win in the long run counts only after one in the first utterance.")
        self.resolved = {"stages": tuple(STAGES.index(stage) + 1 for stage in self.stages)}
        self.seed = options.seed
        self.prompts = hsii_prompts(options.prompts)
        dataset = load_dataset(options.dataset, skip_invalid=options.skip_invalid)
        self.source = dataset.source
        self.scenarios: Mapping[str, Case] = {
            case.id: case for case in select_dialogues(dataset.items, options.limit, options.seed)
        }
        self.digests = {"dataset": dataset.digest, "prompts": self.prompts.digest}
        self.notes = dataset.notes
        if self.options.forced_target:
            given = "The addressee was given to the model: r1 counts replies with words in them, and r2 and ι are not defined."
            self.notes = [*self.notes, given]

    @property
    def long_run_turns(self) -> int:
        return self.options.long_run_turns if Stage.LONG_RUN in self.stages else 0

    @property
    def needs_references(self) -> bool:
        return Stage.LONG_RUN in self.stages

    def check_seats(self, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        roles = set(roles)
        if Stage.LONG_RUN not in self.stages:
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
            long_run_turns=self.long_run_turns,
            forced_target=self.options.forced_target,
        )

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].dialogue

    def judging_tasks(self, episode: HSIIEpisode, judges: Sequence[Seat]) -> list[JudgingTask]:
        return [
            JudgingTask(
                judgment_id(episode.id, stage.value, seat.name),
                episode.id,
                episode.scenario,
                stage.value,
                seat,
                needs_reference=stage is Stage.LONG_RUN,
            )
            for stage in criteria_reached(episode, self.stages)
            for seat in judges
        ]

    async def judge(self, task: JudgingTask, episode: HSIIEpisode, reference: ReferenceConversation | None) -> Judgment:
        case = self.scenarios[task.scenario]
        return await judge_criterion(case, episode, Stage(task.criterion), task.seat, reference, self.prompts)

    def shown(self, episode: HSIIEpisode, criterion: str, reference: ReferenceConversation | None) -> ShownPair | None:
        case = self.scenarios[episode.scenario]
        sides = pair_to_show(case, episode, Stage(criterion), reference)
        if sides is None:
            return None
        return ShownPair(setting_in_words(case), case.golden.role_to, sides.subject, sides.golden)

    def rated_participants(self, episode: HSIIEpisode) -> Mapping[Role, RatedParticipant]:
        """The assistant, whose goal is what it was told; and the addressee of a long run, if the data give it a goal."""
        case = self.scenarios[episode.scenario]
        if not episode.turns or episode.target is None:
            return {}
        situation = setting_in_words(case)
        said = tuple((turn.speaker, turn.content) for turn in episode.turns)
        hidden = "\n".join(fact.fact for fact in case.hidden_from(episode.target))
        goals = {ASSISTANT: ASSISTANT_GOAL, **case.background.goals}
        found = {Role.SUBJECT: RatedParticipant(ASSISTANT, situation, goals[ASSISTANT], hidden, said)}
        if episode.target in goals and len(episode.turns) > 1:
            own = "\n".join(fact.fact for fact in case.private_facts if fact.owner == episode.target)
            found[Role.PARTNER] = RatedParticipant(episode.target, situation, goals[episode.target], own, said)
        return found

    def score(self, episode: HSIIEpisode, judgments: Sequence[Judgment], panel: Sequence[str]) -> list[Score]:
        verdicts = {}
        for stage in criteria_reached(episode, self.stages):
            given = {judgment.judge: judgment for judgment in judgments if judgment.criterion == stage.value}
            if panel and all(judge in given for judge in panel):
                verdicts[stage] = panel_verdict([given[judge] for judge in panel])
        return score_episode(
            self.scenarios[episode.scenario],
            episode,
            verdicts,
            [judgment for judgment in judgments if judgment.judge in panel],
            self.scored_stages(panel),
            cumulative=self.options.cumulative,
            ties=self.options.ties,
        )

    def scored_stages(self, panel: Sequence[str]) -> list[Stage]:
        """Without judges only what needs no opinion is scored."""
        return [stage for stage in self.stages if panel or stage not in JUDGED]

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        options = self.options
        weights = Weights(alpha=options.alpha, beta=options.beta, gamma=options.gamma)
        return estimate_all(scores, weights, seed=self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        case = self.scenarios[scenario]
        if role is Role.JUDGE:
            return '{"reason": "' + "Both take up what was asked, but the first says what happens next. " * 2 + '", "verdict": 1}'
        if role is Role.SUBJECT and call == 0:
            if self.options.forced_target:
                return case.golden.content
            return case.golden.model_dump_json(exclude={"index"})
        speaker = case.golden.role_to if role is Role.PARTNER else ASSISTANT
        written = [message.content for message in case.continuation if message.role_from == speaker]
        place = call - 1 if role is Role.SUBJECT else call
        if place < len(written):
            return written[place]
        return _typical([message.content for message in case.messages if message.role_from == speaker] or [case.golden.content])


def _typical(texts: Sequence[str]) -> str:
    """The text of median length."""
    return sorted(texts, key=len)[len(texts) // 2]


def _checked_stages(numbers: tuple[int, ...] | None, filled: frozenset[Role]) -> tuple[Stage, ...]:
    if numbers is None:
        # With nobody to talk with and nobody to judge, what can be measured is: format, target, leaks.
        return STAGES if filled & {Role.PARTNER, Role.JUDGE} else STAGES[:3]
    if not numbers or any(number not in (1, 2, 3, 4) for number in numbers):
        raise InputError("--stages takes numbers from 1 to 4, as in --stages 1,2.")
    if 1 not in numbers or (max(numbers) > 1 and 2 not in numbers):
        raise InputError("Stages 3 and 4 stand on stages 1 and 2: choose 1, 1,2, 1,2,3, 1,2,4 or 1,2,3,4.")
    return tuple(STAGES[number - 1] for number in sorted(set(numbers)))
