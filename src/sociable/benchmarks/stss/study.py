"""STSS bound to its town, people, tasks and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sociable.agents.architecture import find_architecture
from sociable.agents.generative.briefing import load_generative_prompts
from sociable.benchmarks.stss.audit import audit_document
from sociable.benchmarks.stss.dataset import load_inputs
from sociable.benchmarks.stss.measure import measure_episode
from sociable.benchmarks.stss.metrics import MeasuredTask, estimate_tasks, stss_metrics
from sociable.benchmarks.stss.protocol import Setting, fill_background, make_memory, run_task
from sociable.benchmarks.stss.records import Measured, StssEpisode, StssOptions
from sociable.benchmarks.stss.rehearsal import rehearse_reply
from sociable.benchmarks.stss.task import Task
from sociable.core.errors import InputError
from sociable.core.records import Estimate, Judgment, Record, Score
from sociable.core.view import Document
from sociable.engine.seats import Role, Seats
from sociable.engine.study import Audited, MeasuredByRule, Study, StudyOptions
from sociable.town.clock import Clock
from sociable.town.places import PlaceFinder


class StssStudy(Study[Task, StssEpisode, Record, Measured], MeasuredByRule[StssEpisode, Measured], Audited):
    episode_type = StssEpisode
    measurement_type = Measured
    tested_options = frozenset({"agent", "tasks", "scheduler", "plain", "injected", "fork"})
    unasked = {**Study.unasked, Role.JUDGE: "{benchmark} is scored from its event log, which nobody judges"}

    def __init__(self, options: StudyOptions[StssOptions]) -> None:
        super().__init__(options)
        own = self.options = options.own
        self.resolved = options.resolve(**options.absolute_paths("town", "residents"))
        for agent in {own.agent, own.background_agent}:
            find_architecture(agent)
        make_memory(own.embeddings)
        clock = Clock()
        self.inputs = load_inputs(options.dataset, own, clock, seed=options.seed, limit=options.limit)
        town, people = self.inputs.town, self.inputs.people
        if unknown := {each.resident for each in own.injected if each.resident} - set(people):
            raise InputError(f"injected: nobody is called '{min(unknown)}' in {town.name}.")
        self.setting = Setting(town, PlaceFinder(town), people, clock, own, options.seed, options.prompts)
        self.scenarios: Mapping[str, Task] = self.inputs.tasks
        self.types = {name: task.type for name, task in self.scenarios.items()}
        self.metrics = stss_metrics(self.types)
        self.source = self.inputs.source
        self.digests = {**self.inputs.digests, "prompts": load_generative_prompts(options.prompts).digest}
        self.notes = [*self.inputs.notes, *self._list_notes(alone=Role.PARTNER not in options.filled)]

    def _list_notes(self, *, alone: bool) -> Iterable[str]:
        if alone:
            yield (
                "No partner was named: the background residents were played by the model under test as well, or, around a "
                "reference agent, by reference residents."
            )
        yield from self.fork_notes()
        if self.options.place == "planned" or self.options.attendance == "authors":
            yield "Scored as the authors score (options place or attendance), which sociable by default does not."

    def fork_notes(self) -> Iterable[str]:
        """In what a run differs from how the town would have lived by itself."""
        for each in self.options.injected:
            when = f"{self.setting.clock.render_minute(each.minute)}, {each.resident or 'everybody'}"
            yield f"An event was injected: {when} learned: {each.text}"
        if self.options.fork is not None and self.options.fork.anew_from is not None:
            yield f"A fork: from {self.setting.clock.render_minute(self.options.fork.anew_from)} on every model was asked anew."

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> StssEpisode:
        return await run_task(self.scenarios[scenario], repeat, fill_background(seats), self.setting)

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].template

    def measure(self, episode: StssEpisode) -> Measured:
        return measure_episode(episode, self.setting.town, self.setting.clock, self.options)

    def score(
        self, episode: StssEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: Measured | None
    ) -> list[Score]:
        context = MeasuredTask(self.scenarios[episode.scenario], measured)
        return self.metrics.score(episode, context, failure=measured.failure if measured else "")

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        return estimate_tasks(scores, self.types, self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        name, _, purpose = participant.partition("|")
        return rehearse_reply(purpose, self.setting.people[name], self.setting.clock, call, asked)

    def audit(self) -> Document:
        return audit_document(self.inputs)
