"""The memory test bound to its data and prompts."""

from __future__ import annotations

from collections.abc import Sequence

from sociable.benchmarks.hsii.briefing import load_hsii_prompts
from sociable.benchmarks.hsii.memory.audit import make_audit
from sociable.benchmarks.hsii.memory.dataset import MemoryCase, MemoryEpisode, load_memory, select_scenarios
from sociable.benchmarks.hsii.memory.metrics import METRICS, Decision
from sociable.benchmarks.hsii.memory.protocol import CRITERION, REHEARSED_REPLY, judge_reply, load_memory_prompts, run_case
from sociable.core.records import PANEL, Judgment, Record, Score
from sociable.core.view import Document
from sociable.engine.seats import Role, Seats
from sociable.engine.study import Audited, Judged, JudgingTask, Study, StudyOptions
from sociable.judging.panel import add_panel


class MemoryStudy(Study[MemoryCase, MemoryEpisode], Judged[MemoryEpisode, Record], Audited):
    episode_type = MemoryEpisode
    metrics = METRICS
    cluster_field = "scenario"
    main_metrics = ("balance",)
    unasked = dict.fromkeys((Role.PARTNER, Role.REFERENCE), "{benchmark} asks the model under test and judges only")

    def __init__(self, options: StudyOptions) -> None:
        super().__init__(options)
        self.prompts = load_memory_prompts(options.prompts)
        dataset = load_memory(options.dataset, skip_invalid=options.skip_invalid)
        cases = select_scenarios(dataset.items, options.limit, options.seed)
        self.take_data(dataset, cases, {"prompts": self.prompts, "plain prompts": load_hsii_prompts()})

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> MemoryEpisode:
        return await run_case(self.scenarios[scenario], repeat, seats, self.prompts, seed=self.seed)

    def list_criteria(self, episode: MemoryEpisode) -> Sequence[str]:
        return [CRITERION] if self.scenarios[episode.scenario].check.question and episode.reply.strip() else []

    async def judge(self, task: JudgingTask, episode: MemoryEpisode, reference: object) -> Judgment:
        return await judge_reply(self.scenarios[task.scenario], episode, task.seat, self.prompts)

    def score(self, episode: MemoryEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: object) -> list[Score]:
        verdict = add_panel(judgments, panel).get((CRITERION, PANEL)) if panel else None
        return METRICS.score(episode, Decision(self.scenarios[episode.scenario], episode, verdict, bool(panel)))

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        return REHEARSED_REPLY if role is Role.JUDGE else self.scenarios[scenario].right

    def audit(self) -> Document:
        return make_audit(list(self.scenarios.values()), self.source)
