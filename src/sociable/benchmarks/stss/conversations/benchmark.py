"""STSS's language level, wired: conversations frozen out of simulations, played again and judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sociable.benchmarks.stss.benchmark import BENCHMARK as STSS
from sociable.benchmarks.stss.conversations import views
from sociable.benchmarks.stss.conversations.records import ConversationEpisode
from sociable.benchmarks.stss.conversations.study import ConversationStudy
from sociable.benchmarks.stss.reference import AGENTS, RESIDENTS
from sociable.core.records import Judgment, Record
from sociable.core.view import Block, Document, Section, Table
from sociable.engine.benchmark import Benchmark, RunResult, Study, StudyOptions
from sociable.engine.run import FinishedRun
from sociable.engine.seats import Role
from sociable.engine.settings import RoleSettings


class StssConversations(Benchmark):
    name = "stss-conversations"
    version = "1.0.0"
    title = "STSS: conversations out of the sandbox town"
    cluster_unit = "task"
    scenarios_called = "scenes"
    reference_agents = {Role.SUBJECT: AGENTS, Role.PARTNER: (RESIDENTS,), Role.REFERENCE: (), Role.JUDGE: ("rule",)}
    role_defaults = {role: RoleSettings(temperature=0.0, max_tokens=2048) for role in (Role.SUBJECT, Role.PARTNER)}
    people_play = ()
    demo = {"partner": f"reference/{RESIDENTS}", "judges": ("reference/rule",)}
    demo_agents = ("oracle", "oracle@0.3", "heuristic", "forgetful", "random", "silent")
    episode_type = ConversationEpisode
    judgment_type = Judgment
    reference_type = Record

    def open(self, options: StudyOptions) -> ConversationStudy:
        return ConversationStudy(options)

    def label_of(self, manifest: Mapping[str, Any]) -> str:
        """As a run of the simulation is called."""
        return STSS.label_of(manifest)

    def summary(self, results: Sequence[RunResult]) -> Table:
        return views.summary_table(results)

    def sections(self, runs: Sequence[FinishedRun]) -> list[Section]:
        return views.sections(runs)

    def episode_blocks(self, run: FinishedRun, episode: Any) -> Sequence[Block]:
        return [views.scene_view(run, episode)]

    def audit(self, study: Study) -> Document:
        from sociable.benchmarks.stss.conversations.audit import audit_document

        assert isinstance(study, ConversationStudy)
        return audit_document(list(study.scenarios.values()), study.setting.clock, study.source)


BENCHMARK = StssConversations()
"""The language level bound to its scenes, prompts and options."""
