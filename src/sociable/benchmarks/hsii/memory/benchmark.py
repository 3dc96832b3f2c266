"""HSII's memory test, wired: are instructions kept for the right person, over other business?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sociable.benchmarks.hsii.memory import views
from sociable.benchmarks.hsii.memory.audit import audit_document
from sociable.benchmarks.hsii.memory.records import MemoryEpisode
from sociable.benchmarks.hsii.memory.reference import AGENTS
from sociable.benchmarks.hsii.memory.study import MemoryStudy
from sociable.core.records import Judgment, Record
from sociable.core.view import Block, Document, Section, Table
from sociable.engine.benchmark import Benchmark, RunResult, Study, StudyOptions
from sociable.engine.run import FinishedRun
from sociable.engine.seats import Role


class HSIIMemory(Benchmark):
    name = "hsii-memory"
    version = "1.0.0"
    title = "HSII: memory retention"
    cluster_unit = "scenario"
    reference_agents = {Role.SUBJECT: AGENTS, Role.PARTNER: (), Role.REFERENCE: (), Role.JUDGE: ("rule",)}
    demo = {"judges": ("reference/rule",)}
    demo_agents = ("oracle", "oracle@0.3", "heuristic", "obedient", "random", "silent")
    episode_type = MemoryEpisode
    judgment_type = Judgment
    reference_type = Record

    def open(self, options: StudyOptions) -> MemoryStudy:
        return MemoryStudy(options)

    def summary(self, results: Sequence[RunResult]) -> Table:
        return views.summary_table(results)

    def sections(self, runs: Sequence[FinishedRun]) -> list[Section]:
        return views.sections(runs)

    def episode_blocks(self, run: FinishedRun, episode: Any) -> Sequence[Block]:
        return [views.case_view(run, episode)]

    def audit(self, study: Study) -> Document:
        assert isinstance(study, MemoryStudy)
        return audit_document(list(study.scenarios.values()), study.source)


BENCHMARK = HSIIMemory()
