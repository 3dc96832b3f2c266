"""STSS, wired: social tasks in a sandbox town, scored by what agents do.

Towards Objectively Benchmarking Social Intelligence for Language Agents at Action Level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sociable.benchmarks.stss import views
from sociable.benchmarks.stss.metrics import NOTHING
from sociable.benchmarks.stss.records import StssEpisode
from sociable.benchmarks.stss.reference import AGENTS, RESIDENTS
from sociable.benchmarks.stss.study import StssStudy
from sociable.core.records import Estimate, Judgment, Record
from sociable.core.view import Block, Document, Section, Table
from sociable.engine.benchmark import Benchmark, RunResult, Study, StudyOptions
from sociable.engine.run import FinishedRun
from sociable.engine.seats import Role
from sociable.engine.settings import RoleSettings

MUCH = 0.2
"""Of the performer's plans and words that came to nothing: readers are warned."""


class Stss(Benchmark):
    name = "stss"
    version = "1.0.0"
    title = "STSS: social tasks in a sandbox town"
    cluster_unit = "task"
    scenarios_called = "tasks"
    reference_agents = {Role.SUBJECT: AGENTS, Role.PARTNER: (RESIDENTS,), Role.REFERENCE: (), Role.JUDGE: ()}
    role_defaults = {role: RoleSettings(temperature=0.0, max_tokens=2048) for role in (Role.SUBJECT, Role.PARTNER)}
    people_play = ()
    rehearsed = "as if residents kept to their habits and talked to every other person they meet"
    demo = {"partner": f"reference/{RESIDENTS}"}
    demo_agents = ("oracle", "oracle@0.3", "heuristic", "forgetful", "random", "silent")
    episode_type = StssEpisode
    judgment_type = Judgment
    reference_type = Record

    def open(self, options: StudyOptions) -> StssStudy:
        return StssStudy(options)

    def label_of(self, manifest: Mapping[str, Any]) -> str:
        """The model, its architecture where that is not the plain one, and the background where it is another's."""
        subject, partner = manifest["models"]["subject"], manifest["models"]["partner"]
        agent = manifest["settings"]["options"].get("agent", "generative")
        label = subject if subject.startswith("reference/") or agent == "generative" else f"{subject} {agent}"
        if manifest["settings"]["options"].get("fork"):
            label = f"{label} (fork)"
        plain = partner is None or (subject.startswith("reference/") and partner == f"reference/{RESIDENTS}")
        return label if plain else f"{label} among {partner}"

    def remarks(self, estimates: Sequence[Estimate]) -> Sequence[str]:
        nothing = next((each.value for each in estimates if each.metric == NOTHING), None)
        if nothing is None or nothing <= MUCH:
            return ()
        said = (
            f"{nothing:.0%} of the performer's plans and words could not be read or were empty: its scores say little of its "
            "social intelligence. Look at what it writes with `sociable show DIR EPISODE --prompt`; a model that thinks needs "
            "more max_tokens, one too weak for JSON --option plain=true."
        )
        return (said,)

    def summary(self, results: Sequence[RunResult]) -> Table:
        return views.summary_table(results)

    def sections(self, runs: Sequence[FinishedRun]) -> list[Section]:
        return views.sections(runs)

    def episode_blocks(self, run: FinishedRun, episode: Any) -> Sequence[Block]:
        return [views.episode_view(run, episode)]

    def audit(self, study: Study) -> Document:
        from sociable.benchmarks.stss.audit import audit_document

        assert isinstance(study, StssStudy)
        return audit_document(study)


BENCHMARK = Stss()
