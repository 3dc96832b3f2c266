"""Information exchange bound to its cards, characters, prompts and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sociable.benchmarks.anteval.characters import load_party
from sociable.benchmarks.anteval.iep.audit import make_audit
from sociable.benchmarks.anteval.iep.cards import IepScenario, draw_scenario, load_cards
from sociable.benchmarks.anteval.iep.judge import ClaimJudge, PointQuestion, find_question, list_questions
from sociable.benchmarks.anteval.iep.known_points import PointKind
from sociable.benchmarks.anteval.iep.metrics import METRICS, JudgedSession, Measured, measure_session
from sociable.benchmarks.anteval.iep.protocol import load_iep_prompts, rehearse_reply, run_session
from sociable.benchmarks.anteval.iep.records import IepEpisode, IepOptions
from sociable.benchmarks.anteval.players import cast_table
from sociable.core.records import Judgment, Record, Score, Verdict
from sociable.core.seeding import select_clusters
from sociable.core.view import Document
from sociable.engine.seats import Role, Seat, Seats
from sociable.engine.study import (
    Audited,
    JudgeAudited,
    Judged,
    JudgingTask,
    MeasuredByRule,
    ShownQuestion,
    Study,
    StudyOptions,
)
from sociable.judging.panel import add_panel


class IepStudy(
    Study[IepScenario, IepEpisode, Record, Measured],
    Judged[IepEpisode],
    JudgeAudited,
    MeasuredByRule[IepEpisode, Measured],
    Audited,
):
    episode_type = IepEpisode
    measurement_type = Measured
    metrics = METRICS
    input_options = ("sheets",)
    instructions = (
        "You are shown what somebody claims to know after a talk, and one fact. Say whether one of the claims states the fact.\n"
        "- In whatever words, but with what is particular about it: a claim that only touches the subject is not enough.\n"
        "- A claim that contradicts the fact does not state it."
    )
    win_rates = {"key point": {"key points stated, each decision once": {Verdict.WIN: 1.0, Verdict.LOSS: 0.0}}}

    def __init__(self, options: StudyOptions[IepOptions]) -> None:
        super().__init__(options)
        own = self.options = options.own
        self.prompts = load_iep_prompts(options.prompts)
        self._judge = ClaimJudge(self.prompts)
        cards = load_cards(options.dataset, skip_invalid=options.skip_invalid)
        sheets = load_party(own.sheets, own.players)
        taken = select_clusters(
            cards.items, options.limit, options.seed, cluster=lambda card: card.id, group=lambda card: card.kind, by_name=False
        )
        scenarios = [draw_scenario(card, sheets.items, own.players, options.seed) for card in taken]
        empty = [card.id for card in taken if not card.key_points]
        remarks = [f"{len(empty)} cards have no key points ({empty[0]}, …): their sessions have no IEP."] if empty else []
        self.take_data(cards, scenarios, {"characters": sheets, "prompts": self.prompts}, remarks)
        self.resolved = options.resolve(**options.make_absolute_paths("sheets"))

    def find_cast(self, scenario: str) -> Mapping[str, Role]:
        return cast_table(self.scenarios[scenario], self.filled)

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> IepEpisode:
        return await run_session(self.scenarios[scenario], repeat, seats, self.prompts, self.options, seed=self.seed)

    def measure(self, episode: IepEpisode, judgments: Sequence[Judgment] = (), panel: Sequence[str] = ()) -> Measured:
        return measure_session(self.scenarios[episode.scenario].card, episode)

    def list_criteria(self, episode: IepEpisode) -> Sequence[str]:
        return list(self._list_questions(episode))

    def _list_questions(self, episode: IepEpisode) -> dict[str, PointQuestion]:
        return {} if episode.npc_failure else list_questions(self.scenarios[episode.scenario], episode.recalls)

    def list_judging_tasks(self, episode: IepEpisode, judges: Sequence[Seat]) -> list[JudgingTask]:
        # Judge by judge, so that the points of one recall are asked about together.
        return [task for seat in judges for task in super(IepStudy, self).list_judging_tasks(episode, [seat])]

    async def judge(self, task: JudgingTask, episode: IepEpisode, reference: Record | None) -> Judgment:
        asked = find_question(episode.recalls, task.criterion)
        return await self._judge.judge(self.scenarios[task.scenario], episode, asked, task.seat)

    def list_judging_kinds(self) -> Sequence[PointKind]:
        return [PointKind(self.scenarios, self.prompts)]

    def show(self, episode: IepEpisode, criterion: str, reference: Record | None) -> ShownQuestion | None:
        asked = self._list_questions(episode).get(criterion)
        return asked.show(self.scenarios[episode.scenario]) if asked else None

    def score(
        self, episode: IepEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: Measured | None
    ) -> list[Score]:
        scenario, verdicts = self.scenarios[episode.scenario], add_panel(judgments, panel)
        session = JudgedSession(scenario.card, scenario.counted, episode, verdicts, measured, bool(panel))
        return METRICS.score(episode, session, failure=episode.npc_failure)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        return rehearse_reply(self.scenarios[scenario].card, role, asked)

    def audit(self) -> Document:
        return make_audit(list(self.scenarios.values()), self.source)
