"""Hidden profiles bound to their cases, prompts and options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sociable.benchmarks.anteval.hidden.audit import make_audit
from sociable.benchmarks.anteval.hidden.briefing import load_hidden_prompts
from sociable.benchmarks.anteval.hidden.dataset import load_cases
from sociable.benchmarks.anteval.hidden.judge import judge_turn, show_question
from sociable.benchmarks.anteval.hidden.metrics import METRICS, Played
from sociable.benchmarks.anteval.hidden.protocol import INFORMED, run_scenario
from sociable.benchmarks.anteval.hidden.records import HiddenEpisode, HiddenJudgment, HiddenOptions
from sociable.benchmarks.anteval.hidden.scenario import Scenario, draw_scenario
from sociable.benchmarks.anteval.hidden.told import find_told, list_criteria
from sociable.core.records import Judgment, Record, Score
from sociable.core.seeding import select_clusters
from sociable.core.view import Document
from sociable.engine.seats import Role, Seats
from sociable.engine.study import Audited, Judged, JudgingTask, ShownQuestion, Study, StudyOptions
from sociable.judging.panel import add_panel

_WORD = "ferryman "


class HiddenStudy(Study[Scenario, HiddenEpisode], Judged[HiddenEpisode, Record], Audited):
    episode_type = HiddenEpisode
    judgment_type = HiddenJudgment
    metrics = METRICS
    cluster_field = "case.id"

    def __init__(self, options: StudyOptions[HiddenOptions]) -> None:
        super().__init__(options)
        self.prompts = load_hidden_prompts(options.prompts)
        own = options.own
        loaded = load_cases(options.dataset, skip_invalid=options.skip_invalid)
        taken = select_clusters(loaded.items, options.limit, options.seed, cluster=lambda each: each.id, group=lambda each: "")
        switches = own.model_dump(include={"rounds", "words", "vote", "asides"})
        scenarios = [
            replace(draw_scenario(case, level, options.seed, number), **switches)
            for case in taken
            for level in own.levels
            for number in range(1, own.draws + 1)
        ]
        self.take_data(loaded, scenarios, {"prompts": self.prompts}, [])

    def find_cast(self, scenario: str) -> Mapping[str, Role]:
        own = self.scenarios[scenario]
        dissents = Role.PARTNER if Role.PARTNER in self.filled else Role.SUBJECT
        members = {name: dissents if name == own.dissenter else Role.SUBJECT for name in own.case.names}
        return members | {INFORMED: Role.SUBJECT}

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> HiddenEpisode:
        return await run_scenario(self.scenarios[scenario], repeat, seats, self.prompts, seed=self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        if '"say"' in asked:
            return json.dumps({"say": _WORD * self.scenarios[scenario].budget.words, "lean": "A"})
        if role is Role.JUDGE:
            return json.dumps({"reason": _WORD * 40, **({"told": [1, 2]} if '"told"' in asked else {"answer": "no"})})
        return json.dumps({"reason": _WORD * 40, "answer": "A"})

    def list_criteria(self, episode: HiddenEpisode) -> Sequence[str]:
        return list_criteria(self.scenarios[episode.scenario], episode)

    async def judge(self, task: JudgingTask, episode: HiddenEpisode, reference: Record | None) -> Judgment:
        return await judge_turn(self.scenarios[task.scenario], episode, task.criterion, task.seat, self.prompts)

    def show(self, episode: HiddenEpisode, criterion: str, reference: Record | None) -> ShownQuestion:
        return show_question(self.scenarios[episode.scenario], episode, criterion)

    def make_played(self, episode: HiddenEpisode, judgments: Sequence[Judgment] = (), panel: Sequence[str] = ()) -> Played:
        """An episode with all that its scores rest on."""
        told = find_told(episode, judgments, panel)
        return Played(self.scenarios[episode.scenario], episode, told, add_panel(judgments, panel))

    def score(self, episode: HiddenEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: object) -> list[Score]:
        return METRICS.score(episode, self.make_played(episode, judgments, panel))

    def audit(self) -> Document:
        return make_audit(list(self.scenarios.values()), self.source)
