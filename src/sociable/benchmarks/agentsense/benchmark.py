"""AgentSense, wired: scenes with private goals and secrets, judged from three sides.

AgentSense: Benchmarking Social Intelligence of Language Agents through Interactive Scenarios.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sociable.benchmarks.agentsense import views
from sociable.benchmarks.agentsense.label import filled_in, label_scenarios, native_record
from sociable.benchmarks.agentsense.records import AgentSenseEpisode
from sociable.benchmarks.agentsense.reference import AGENTS, RULE
from sociable.benchmarks.agentsense.scene_views import scene_view
from sociable.benchmarks.agentsense.study import AgentSenseStudy
from sociable.core.records import Judgment, Record
from sociable.core.view import Block, Document, Section, Table
from sociable.engine.benchmark import Benchmark, RunResult, Study, StudyOptions
from sociable.engine.run import FinishedRun
from sociable.engine.seats import Role, Seat
from sociable.engine.settings import RoleSettings


class AgentSense(Benchmark):
    name = "agentsense"
    version = "1.0.0"
    title = "AgentSense: scenes with private goals and secrets"
    cluster_unit = "template"
    scenarios_called = "scenarios"
    reference_agents = {Role.SUBJECT: AGENTS, Role.PARTNER: AGENTS, Role.REFERENCE: (), Role.JUDGE: (RULE,)}
    role_defaults = {role: RoleSettings(temperature=1.0, max_tokens=128) for role in (Role.SUBJECT, Role.PARTNER)}
    people_play = (Role.PARTNER,)
    demo = {"judges": (f"reference/{RULE}",)}
    demo_agents = ("oracle", "oracle@0.3", "heuristic", "blurt", "random", "silent")
    episode_type = AgentSenseEpisode
    judgment_type = Judgment
    reference_type = Record

    def open(self, options: StudyOptions) -> AgentSenseStudy:
        return AgentSenseStudy(options)

    def label_of(self, manifest: Mapping[str, Any]) -> str:
        """A run with a partner names both: who sends to whom, or who plays with whom."""
        subject, partner = manifest["models"]["subject"], manifest["models"]["partner"]
        sends = manifest["settings"]["options"].get("plays") == "senders"
        return f"{subject} {'→' if sends else '+'} {partner}" if partner else subject

    def summary(self, results: Sequence[RunResult]) -> Table:
        return views.summary_table(results)

    def sections(self, runs: Sequence[FinishedRun]) -> list[Section]:
        return views.sections(runs)

    def episode_blocks(self, run: FinishedRun, episode: Any) -> Sequence[Block]:
        return [scene_view(run, episode)]

    def describe(self, study: Study, features: str) -> Document:
        from sociable.benchmarks.agentsense.describe import describe_document

        assert isinstance(study, AgentSenseStudy)
        return describe_document(list(study.scenarios.values()), study.source)

    async def label(self, study: Study, seat: Seat) -> tuple[list[dict[str, Any]], str]:
        assert isinstance(study, AgentSenseStudy) and seat.model is not None
        before = list(study.scenarios.values())
        labelled, unread = await label_scenarios(before, seat.model, study.prompts, seat.sampling)
        return [native_record(scenario) for scenario in labelled], filled_in(before, labelled, unread)

    def beside_sources(self, study: Study, sources: Mapping[str, str], run: FinishedRun | None) -> list[Section]:
        from sociable.benchmarks.agentsense.similarity import source_sections

        assert isinstance(study, AgentSenseStudy)
        episodes: Iterable[AgentSenseEpisode] = run.records.episodes if run else ()  # type: ignore[assignment]
        return source_sections(list(study.scenarios.values()), sources, list(episodes))

    def audit(self, study: Study) -> Document:
        # Imported when asked for: scikit-learn takes a second.
        from sociable.benchmarks.agentsense.audit import audit_document

        assert isinstance(study, AgentSenseStudy)
        return audit_document(list(study.scenarios.values()), study.source)


BENCHMARK = AgentSense()
