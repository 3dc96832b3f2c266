"""HSII, wired: the assistant among many users, in four stages.

How Social Is It? A Benchmark for LLMs' Capabilities in Multi-user Multi-turn Social Agent Tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sociable.core.view import Block, Document, Section, Table
from sociable.hsii import views
from sociable.hsii.audit import audit_document
from sociable.hsii.contrast import contrast_sections
from sociable.hsii.judge import RULE
from sociable.hsii.records import HSIIEpisode, ReferenceConversation
from sociable.hsii.reference import AGENTS, WRITTEN_PARTNER
from sociable.hsii.study import HSIIStudy
from sociable.judging.pairwise import PairJudgment
from sociable.runner.benchmark import Benchmark, RunResult, Study, StudyOptions
from sociable.runner.run import FinishedRun
from sociable.runner.seats import Role


class HSII(Benchmark):
    name = "hsii"
    version = "1.1.0"
    title = "HSII: an assistant among many users"
    cluster_unit = "dialogue"
    reference_agents = {
        Role.SUBJECT: AGENTS,
        Role.PARTNER: (WRITTEN_PARTNER,),
        Role.REFERENCE: ("oracle",),
        Role.JUDGE: (RULE,),
    }
    demo = {
        "partner": f"reference/{WRITTEN_PARTNER}",
        "reference": "reference/oracle",
        "judges": (f"reference/{RULE}",),
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
        from sociable.hsii.describe import describe_document

        assert isinstance(study, HSIIStudy)
        return describe_document(list(study.scenarios.values()), study.source, features)

    def audit(self, study: Study) -> Document:
        assert isinstance(study, HSIIStudy)
        return audit_document(list(study.scenarios.values()), study.source)


BENCHMARK = HSII()
