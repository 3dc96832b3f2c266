"""Duels bound to their bargains, prompts and options."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sociable.benchmarks.agentsense.duels.audit import make_audit
from sociable.benchmarks.agentsense.duels.bouts import list_bouts
from sociable.benchmarks.agentsense.duels.briefing import load_duel_prompts
from sociable.benchmarks.agentsense.duels.dataset import load_bargains
from sociable.benchmarks.agentsense.duels.judge import RULED, TalkJudge, list_criteria, show_question
from sociable.benchmarks.agentsense.duels.metrics import METRICS, Played
from sociable.benchmarks.agentsense.duels.protocol import run_bargain
from sociable.benchmarks.agentsense.duels.records import DuelEpisode, DuelOptions
from sociable.benchmarks.agentsense.duels.scenario import Scenario
from sociable.core.records import Judgment, Record, Score
from sociable.core.seeding import select_clusters
from sociable.core.view import Document
from sociable.engine.seats import Role, Seat, Seats
from sociable.engine.study import Audited, Contested, Judged, JudgingTask, ShownQuestion, Study, StudyOptions
from sociable.judging.panel import add_panel
from sociable.statistics.ratings import Bout

WRITTEN = "reference/written"
"""Whoever says the lines written for third persons."""


class DuelStudy(Study[Scenario, DuelEpisode], Judged[DuelEpisode, Record], Audited, Contested):
    episode_type = DuelEpisode
    metrics = METRICS
    cluster_field = "cluster"
    is_duel = True
    shown_in_tournaments = ("share", "joint", "kept", "false_statements", "secret_told")

    def __init__(self, options: StudyOptions[DuelOptions]) -> None:
        super().__init__(options)
        self.prompts = load_duel_prompts(options.prompts)
        own = options.own
        loaded = load_bargains(options.dataset, skip_invalid=options.skip_invalid)
        taken = select_clusters(loaded.items, options.limit, options.seed, cluster=lambda each: each.id, group=lambda each: "")
        scenarios = [Scenario(bargain, seat, own.turns, own.words) for bargain in taken for seat in (0, 1)]
        if Role.PARTNER not in options.filled:
            self.resolved = {"partner": WRITTEN}
        self.take_data(loaded, scenarios, {"prompts": self.prompts}, [])
        self._judge = TalkJudge(self.prompts)

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> DuelEpisode:
        return await run_bargain(self.scenarios[scenario], repeat, seats, self.prompts, seed=self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        found = self.scenarios[scenario]
        if role is Role.JUDGE:
            answer = {"turns": []} if '"turns"' in asked else {"answer": "yes"}
            return json.dumps({"reason": "They say so in so many words. " * 3, **answer})
        if '"answer"' in asked:
            return '{"answer": "A"}'
        offer = " ".join(f"{number}a" for number, _ in enumerate(found.bargain.issues, start=1))
        return "ferryman " * found.words + ("" if role is Role.PARTNER else f"\nOFFER: {offer}")

    def list_criteria(self, episode: DuelEpisode) -> Sequence[str]:
        return list_criteria(self.scenarios[episode.scenario], episode)

    def list_judging_tasks(self, episode: DuelEpisode, judges: Sequence[Seat]) -> list[JudgingTask]:
        """A rule is not asked what it cannot tell."""
        tasks = super().list_judging_tasks(episode, judges)
        return [task for task in tasks if task.seat.model or self.find_stage(task.criterion) in RULED]

    async def judge(self, task: JudgingTask, episode: DuelEpisode, reference: Record | None) -> Judgment:
        return await self._judge.judge(self.scenarios[task.scenario], episode, task.criterion, task.seat)

    def show(self, episode: DuelEpisode, criterion: str, reference: Record | None) -> ShownQuestion:
        return show_question(self.scenarios[episode.scenario], episode, criterion)

    def make_played(self, episode: DuelEpisode, judgments: Sequence[Judgment] = (), panel: Sequence[str] = ()) -> Played:
        """An episode with all that its scores rest on."""
        models = [name for name in panel if not name.startswith("reference/")]
        ruled = [each for each in judgments if self.find_stage(each.criterion) in RULED]
        others = [each for each in judgments if self.find_stage(each.criterion) not in RULED]
        verdicts = {**add_panel(ruled, panel), **(add_panel(others, models) if models else {})}
        return Played(self.scenarios[episode.scenario], episode, verdicts)

    def score(self, episode: DuelEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: object) -> list[Score]:
        return METRICS.score(episode, self.make_played(episode, judgments, panel))

    def list_bouts(self, scores: Iterable[Score], subject: str, opponent: str) -> list[Bout]:
        return list_bouts(scores, subject, opponent)

    def audit(self) -> Document:
        return make_audit(list(self.scenarios.values()), self.source)
