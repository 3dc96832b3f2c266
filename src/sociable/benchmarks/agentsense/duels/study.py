"""Duels bound to their bargains, prompts and options."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sociable.benchmarks.agentsense.briefing import load_agentsense_prompts
from sociable.benchmarks.agentsense.dataset import load_scenarios, select_casts
from sociable.benchmarks.agentsense.duels.audit import make_audit
from sociable.benchmarks.agentsense.duels.bouts import list_bouts
from sociable.benchmarks.agentsense.duels.briefing import LAST_TURN, NO_PAPER, load_duel_prompts
from sociable.benchmarks.agentsense.duels.dataset import load_bargains
from sociable.benchmarks.agentsense.duels.judge import RULED, DuelJudge, list_criteria, show_question
from sociable.benchmarks.agentsense.duels.metrics import METRICS, Played
from sociable.benchmarks.agentsense.duels.protocol import run_bargain, run_contest
from sociable.benchmarks.agentsense.duels.records import DuelEpisode, DuelOptions, SceneKind
from sociable.benchmarks.agentsense.duels.scenario import AnyScenario, Contest, Scenario, find_contests
from sociable.benchmarks.agentsense.scenario import Scenario as AgentSenseScenario
from sociable.core.data_files import Loaded
from sociable.core.errors import InputError
from sociable.core.prompts import Prompts
from sociable.core.records import Judgment, Record, Score
from sociable.core.seeding import select_clusters
from sociable.core.view import Document
from sociable.engine.seats import Role, Seat, Seats
from sociable.engine.study import Audited, Contested, Judged, JudgingTask, ShownQuestion, Study, StudyOptions
from sociable.judging.panel import add_panel
from sociable.statistics.ratings import Bout

WRITTEN = "reference/written"
"""Whoever says the lines written for third persons."""


class DuelStudy(Study[AnyScenario, DuelEpisode], Judged[DuelEpisode, Record], Audited, Contested):
    episode_type = DuelEpisode
    metrics = METRICS
    cluster_field = "cluster"
    main_metrics = ("share",)
    shown_in_tournaments = ("share", "agreed", "joint", "kept", "false_statements", "secret_told")
    tournament_remark = (
        "Where nothing is agreed nobody wins, and no rating counts it: how often something was agreed says the rest."
    )

    def __init__(self, options: StudyOptions[DuelOptions]) -> None:
        super().__init__(options)
        self.prompts, self._scene_prompts = load_duel_prompts(options.prompts), load_agentsense_prompts()
        self._judge = DuelJudge(self.prompts, self._scene_prompts)
        own = options.own
        loaded = load_bargains(options.dataset, skip_invalid=options.skip_invalid)
        found: list[AnyScenario] = []
        others: dict[str, Prompts | Loaded[Any]] = {"prompts": self.prompts}
        remarks: list[str] = []
        if SceneKind.BARGAINS in own.scenes:
            found += [Scenario(bargain, seat, own.turns, own.words) for bargain in loaded.items for seat in (0, 1)]
        elif options.dataset:
            raise InputError(f"{options.dataset}: contests are AgentSense's own scenes. Leave --dataset out, or play bargains.")
        if SceneKind.CONTESTS in own.scenes:
            scenes = load_scenarios()
            contests, remarks = _select_contests(scenes.items, options)
            found += contests
            others |= {"contests": scenes, "contest_prompts": self._scene_prompts}
        if not found:
            raise InputError(" ".join(remarks))
        taken = select_clusters(
            found, options.limit, options.seed, cluster=lambda each: each.cluster, group=lambda each: type(each).__name__
        )
        has_others = any(isinstance(each, Scenario) and each.bargain.others for each in taken)
        if has_others and Role.PARTNER not in options.filled:
            self.resolved: Mapping[str, Any] = {"partner": WRITTEN}
        self.take_data(loaded, taken, others, remarks)

    def find_cast(self, scenario: str) -> Mapping[str, Role]:
        found = self.scenarios[scenario]
        roles = (Role.SUBJECT, Role.OPPONENT) if found.seat == 0 else (Role.OPPONENT, Role.SUBJECT)
        others = found.scene.names if isinstance(found, Contest) else [each.name for each in found.bargain.others]
        played = others if Role.PARTNER in self.filled else ()
        return dict.fromkeys(played, Role.PARTNER) | dict(zip(found.names, roles, strict=True))

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> DuelEpisode:
        found = self.scenarios[scenario]
        if isinstance(found, Contest):
            return await run_contest(found, repeat, seats, self._scene_prompts, seed=self.seed)
        return await run_bargain(found, repeat, seats, self.prompts, seed=self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        found = self.scenarios[scenario]
        if role is Role.JUDGE:
            answer: dict[str, Any] = {"turns": []} if '"turns"' in asked else {"answer": "yes"}
            return json.dumps({"reason": "They say so in so many words. " * 3, **answer})
        if isinstance(found, Contest):
            return super().rehearse(scenario, role, participant, call, asked) * 3
        if '"answer"' in asked:
            return '{"answer": "A"}'
        move = ""
        if LAST_TURN in asked:  # before that nobody gives way
            offer = " ".join(f"{number}a" for number, _ in enumerate(found.bargain.issues, start=1))
            move = f"\nOFFER: {offer}" if f"'s: {NO_PAPER}" in asked else "\nACCEPT"
        return "ferryman " * found.words + move

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
        scenario = self.scenarios[episode.scenario]
        able = {True: bool(panel), False: bool(models)}
        asked = frozenset(each for each in list_criteria(scenario, episode) if able[self.find_stage(each) in RULED])
        return Played(scenario, episode, verdicts, asked)

    def score(self, episode: DuelEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: object) -> list[Score]:
        return METRICS.score(episode, self.make_played(episode, judgments, panel))

    def list_bouts(self, scores: Iterable[Score], subject: str, opponent: str) -> list[Bout]:
        return list_bouts(scores, subject, opponent)

    def audit(self) -> Document:
        bargains = [each.bargain for each in self.scenarios.values() if isinstance(each, Scenario)]
        return make_audit(list(dict.fromkeys(bargains)), self.source)


def _select_contests(scenes: Sequence[AgentSenseScenario], options: StudyOptions[DuelOptions]) -> tuple[list[Contest], list[str]]:
    """(the contests of the first cast of each template, notes on those left out)."""
    if options.by_rule & {Role.SUBJECT, Role.OPPONENT}:
        return [], ["Reference agents play bargains only; contests were left out."]
    contests = list(find_contests(select_casts(scenes, 1), options.own.turns))
    if Role.PARTNER in options.filled - options.by_rule:
        return contests, []
    alone = [each for each in contests if len(each.scene.characters) == 2]
    note = f"{(len(contests) - len(alone)) // 2} contests have third persons and were left out: name a model with --partner."
    return alone, [note]
