"""AntEval's intention expression, wired: whether a game master who learned from these sessions understands real players.

AntEval: Evaluation of Social Interaction Competencies in LLM-Driven Agents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sociable.benchmarks.anteval.ieg import views
from sociable.benchmarks.anteval.ieg.contrast import contrast_sections
from sociable.benchmarks.anteval.ieg.metrics import doubts
from sociable.benchmarks.anteval.ieg.records import STAND_IN, IegEpisode
from sociable.benchmarks.anteval.ieg.reference import AGENTS
from sociable.benchmarks.anteval.ieg.study import IegStudy
from sociable.benchmarks.anteval.views import run_label
from sociable.core.records import Estimate, Judgment, Record
from sociable.core.view import Block, Document, Section, Table
from sociable.engine.benchmark import Benchmark, RunResult, Study, StudyOptions
from sociable.engine.run import FinishedRun
from sociable.engine.seats import Role
from sociable.engine.settings import RoleSettings


class AntEvalIeg(Benchmark):
    name = "anteval-ieg"
    version = "1.0.0"
    title = "AntEval: intention expression at the game table"
    cluster_unit = "session"
    scenarios_called = "sessions"
    reference_agents = {Role.SUBJECT: AGENTS, Role.PARTNER: AGENTS, Role.REFERENCE: (), Role.JUDGE: ()}
    role_defaults = {role: RoleSettings(temperature=0.7, max_tokens=512) for role in (Role.SUBJECT, Role.PARTNER)}
    people_play = (Role.PARTNER,)
    demo = {"options": {"real": STAND_IN, "resamples": 20}}
    demo_agents = ("expressive", "blunt", "small-talk", "random", "silent")
    episode_type = IegEpisode
    judgment_type = Judgment
    reference_type = Record

    def open(self, options: StudyOptions) -> IegStudy:
        return IegStudy(options)

    def label_of(self, manifest: Mapping[str, Any]) -> str:
        return run_label(manifest)

    def remarks(self, estimates: Sequence[Estimate]) -> Sequence[str]:
        return doubts(estimates)

    def summary(self, results: Sequence[RunResult]) -> Table:
        return views.summary_table(results)

    def sections(self, runs: Sequence[FinishedRun]) -> list[Section]:
        return views.sections(runs)

    def episode_blocks(self, run: FinishedRun, episode: Any) -> Sequence[Block]:
        return [views.session_view(run, episode)]

    def contrast(self, first: FinishedRun, second: FinishedRun) -> list[Section]:
        return contrast_sections(first, second)

    def audit(self, study: Study) -> Document:
        from sociable.benchmarks.anteval.ieg.audit import audit_document

        assert isinstance(study, IegStudy)
        return audit_document(study)


BENCHMARK = AntEvalIeg()
