"""HSII's chain of thought, wired: how many cycles of thought and reflection until the right target is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sociable.benchmarks.hsii.audit import audit_document
from sociable.benchmarks.hsii.cot import views
from sociable.benchmarks.hsii.cot.records import CoTEpisode
from sociable.benchmarks.hsii.cot.reference import AGENTS
from sociable.benchmarks.hsii.cot.study import CoTStudy
from sociable.core.records import Judgment, Record
from sociable.core.view import Block, Document, Section, Table
from sociable.engine.benchmark import Benchmark, RunResult, Study, StudyOptions
from sociable.engine.run import FinishedRun
from sociable.engine.seats import Role


class HSIICoT(Benchmark):
    name = "hsii-cot"
    version = "1.0.0"
    title = "HSII: chain of thought and reflection"
    cluster_unit = "dialogue"
    scenarios_called = "pairs of case and design"
    reference_agents = {Role.SUBJECT: AGENTS, Role.PARTNER: (), Role.REFERENCE: (), Role.JUDGE: ()}
    demo = {"options": {"cycle_cap": 16}}
    demo_agents = ("oracle", "oracle@0.3", "heuristic", "random", "silent")
    episode_type = CoTEpisode
    judgment_type = Judgment
    reference_type = Record

    def open(self, options: StudyOptions) -> CoTStudy:
        return CoTStudy(options)

    def summary(self, results: Sequence[RunResult]) -> Table:
        return views.summary_table(results)

    def sections(self, runs: Sequence[FinishedRun]) -> list[Section]:
        return views.sections(runs)

    def episode_blocks(self, run: FinishedRun, episode: Any) -> Sequence[Block]:
        return [views.case_view(run, episode)]

    def audit(self, study: Study) -> Document:
        assert isinstance(study, CoTStudy)
        return audit_document(list({pair.case.id: pair.case for pair in study.scenarios.values()}.values()), study.source)


BENCHMARK = HSIICoT()
