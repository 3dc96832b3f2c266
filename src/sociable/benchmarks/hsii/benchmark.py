"""HSII, wired: the assistant among many users, in four stages.

How Social Is It? A Benchmark for LLMs' Capabilities in Multi-user Multi-turn Social Agent Tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sociable.benchmarks.hsii import views
from sociable.benchmarks.hsii.audit import audit_document
from sociable.benchmarks.hsii.contrast import contrast_sections
from sociable.benchmarks.hsii.records import HSIIEpisode, ReferenceConversation
from sociable.benchmarks.hsii.reference import AGENTS, WRITTEN_PARTNER
from sociable.benchmarks.hsii.study import HSIIStudy
from sociable.core.view import Block, Document, Section, Table
from sociable.engine.benchmark import Benchmark, RunResult, Study, StudyOptions
from sociable.engine.run import FinishedRun
from sociable.engine.seats import Role
from sociable.judging.pairwise import PairJudgment


class HSII(Benchmark):
    name = "hsii"
    version = "1.1.0"
    title = "HSII: an assistant among many users"
    cluster_unit = "dialogue"
    reference_agents = {
        Role.SUBJECT: AGENTS,
        Role.PARTNER: (WRITTEN_PARTNER,),
        Role.REFERENCE: ("oracle",),
        Role.JUDGE: ("rule",),
    }
    demo = {
        "partner": f"reference/{WRITTEN_PARTNER}",
        "reference": "reference/oracle",
        "judges": ("reference/rule",),
    }
    demo_agents = ("oracle", "oracle@0.3", "heuristic", "random", "silent")
    episode_type = HSIIEpisode
    judgment_type = PairJudgment
    reference_type = ReferenceConversation

    def open(self, options: StudyOptions) -> HSIIStudy:
        return HSIIStudy(options)

    def summary(self, results: Sequence[RunResult]) -> Table:
        return views.summary_table(results)

    def sections(self, runs: Sequence[FinishedRun]) -> list[Section]:
        return views.sections(runs)

    def episode_blocks(self, run: FinishedRun, episode: Any) -> Sequence[Block]:
        return [views.case_view(run, episode)]

    def contrast(self, first: FinishedRun, second: FinishedRun) -> list[Section]:
        return contrast_sections(first, second)

    def describe(self, study: Study, features: str) -> Document:
        # Imported when asked for: scikit-learn takes a second.
        from sociable.benchmarks.hsii.describe import describe_document

        assert isinstance(study, HSIIStudy)
        return describe_document(list(study.scenarios.values()), study.source, features)

    def audit(self, study: Study) -> Document:
        assert isinstance(study, HSIIStudy)
        return audit_document(list(study.scenarios.values()), study.source)


BENCHMARK = HSII()
