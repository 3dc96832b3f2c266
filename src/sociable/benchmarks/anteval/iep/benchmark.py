"""AntEval's information exchange, wired: what one participant alone knows, and how much of it the others come to learn.

AntEval: Evaluation of Social Interaction Competencies in LLM-Driven Agents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sociable.benchmarks.anteval.iep import views
from sociable.benchmarks.anteval.iep.records import IepEpisode
from sociable.benchmarks.anteval.iep.reference import AGENTS, RULE
from sociable.benchmarks.anteval.iep.study import IepStudy
from sociable.benchmarks.anteval.views import run_label
from sociable.core.records import Estimate, Judgment, Record
from sociable.core.view import Block, Document, Section, Table
from sociable.engine.benchmark import Benchmark, RunResult, Study, StudyOptions
from sociable.engine.run import FinishedRun
from sociable.engine.seats import Role
from sociable.engine.settings import RoleSettings

OFTEN = 0.1
"""Share of unreadable answers from which on nobody should miss them."""


class AntEvalIep(Benchmark):
    name = "anteval-iep"
    version = "1.0.0"
    title = "AntEval: information exchange at the game table"
    cluster_unit = "session"
    scenarios_called = "cards"
    reference_agents = {Role.SUBJECT: AGENTS, Role.PARTNER: AGENTS, Role.REFERENCE: (), Role.JUDGE: (RULE,)}
    role_defaults = {role: RoleSettings(temperature=0.7, max_tokens=512) for role in (Role.SUBJECT, Role.PARTNER)}
    people_play = (Role.PARTNER,)
    demo = {"judges": (f"reference/{RULE}",)}
    demo_agents = ("oracle", "oracle@0.3", "oracle@0.6", "heuristic", "random", "silent")
    episode_type = IepEpisode
    judgment_type = Judgment
    reference_type = Record

    def open(self, options: StudyOptions) -> IepStudy:
        return IepStudy(options)

    def label_of(self, manifest: Mapping[str, Any]) -> str:
        return run_label(manifest)

    def remarks(self, estimates: Sequence[Estimate]) -> Sequence[str]:
        share = next((each.value for each in estimates if each.metric == "unreadable"), None) or 0.0
        low = "IEP is low for want of form, whatever players had learned."
        return [f"{share:.0%} of the answers to what players know could not be read: {low}"] if share > OFTEN else []

    def summary(self, results: Sequence[RunResult]) -> Table:
        return views.summary_table(results)

    def sections(self, runs: Sequence[FinishedRun]) -> list[Section]:
        return views.sections(runs)

    def episode_blocks(self, run: FinishedRun, episode: Any) -> Sequence[Block]:
        return [views.session_view(run, episode)]

    def audit(self, study: Study) -> Document:
        from sociable.benchmarks.anteval.iep.audit import audit_document

        assert isinstance(study, IepStudy)
        return audit_document(list(study.scenarios.values()), study.source)


BENCHMARK = AntEvalIep()
