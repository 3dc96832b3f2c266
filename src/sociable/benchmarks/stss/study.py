"""STSS bound to its town, people, tasks and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sociable.agents.architecture import find_architecture
from sociable.agents.generative.briefing import load_generative_prompts
from sociable.benchmarks.stss.dataset import load_inputs
from sociable.benchmarks.stss.measure import measure_episode
from sociable.benchmarks.stss.metrics import METRICS, estimate_all, score_episode
from sociable.benchmarks.stss.protocol import Setting, make_memory, run_task
from sociable.benchmarks.stss.records import Measured, StssEpisode, StssOptions
from sociable.benchmarks.stss.reference import RESIDENTS
from sociable.benchmarks.stss.rehearsal import rehearse_reply
from sociable.benchmarks.stss.task import Task
from sociable.core.errors import InputError
from sociable.core.records import Estimate, Judgment, Score
from sociable.engine.benchmark import Study, StudyOptions, checked_options
from sociable.engine.seats import Role, Seat, Seats
from sociable.town.clock import Clock
from sociable.town.places import PlaceFinder


class StssStudy(Study):
    episode_type = StssEpisode
    metrics = METRICS
    tested_options = frozenset({"agent", "tasks", "scheduler", "plain", "injected", "fork"})

    def __init__(self, options: StudyOptions) -> None:
        own = checked_options(StssOptions, options.values, "stss")
        if options.stages is not None:
            raise InputError("stss has no stages; leave --stages out.")
        self.options = own
        self.seed = options.seed
        for agent in {own.agent, own.background_agent}:
            find_architecture(agent)
        make_memory(own.embeddings)
        self._alone = Role.PARTNER not in options.filled
        clock = Clock()
        files = load_inputs(options.dataset, own, clock, seed=options.seed, limit=options.limit)
        if unknown := {each.resident for each in own.injected if each.resident} - set(files.people):
            raise InputError(f"injected: nobody is called '{min(unknown)}' in {files.town.name}.")
        self.setting = Setting(files.town, PlaceFinder(files.town), files.people, clock, own, options.seed, options.prompts)
        self.scenarios: Mapping[str, Task] = files.tasks
        self.templates = files.templates
        self.source = files.source
        self.remarks = files.remarks
        self.digests = {**files.digests, "prompts": load_generative_prompts(options.prompts).digest}
        # A run can be resumed and reported from anywhere.
        paths = {name: str(Path(path).resolve()) for name in ("town", "residents") if (path := getattr(own, name))}
        self.resolved = {"options": {**options.values, **paths}}
        self.notes = [*files.notes, *self._notes()]

    def _notes(self) -> Iterable[str]:
        if self._alone:
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
            when = f"{self.setting.clock.in_words(each.minute)}, {each.resident or 'everybody'}"
            yield f"An event was injected: {when} learned: {each.text}"
        if self.options.fork is not None and self.options.fork.anew_from is not None:
            yield f"A fork: from {self.setting.clock.in_words(self.options.fork.anew_from)} on every model was asked anew."

    def check_seats(self, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        if Role.REFERENCE in set(roles) or references:
            raise InputError("stss compares with no reference: leave --reference and --reference-file out.")
        if judges:
            raise InputError("stss is scored from its event log; nobody judges it. Leave --judge out.")

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> StssEpisode:
        return await run_task(self.scenarios[scenario], repeat, seated(seats), self.setting)

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].template

    def measured(self, episode: StssEpisode) -> Measured:
        return measure_episode(episode, self.setting.town, self.setting.clock, self.options)

    def score(self, episode: StssEpisode, judgments: Sequence[Judgment], panel: Sequence[str]) -> list[Score]:
        task = self.scenarios[episode.scenario]
        if episode.task is None:
            return score_episode(task, episode, None)
        measured = self.measured(episode)
        return score_episode(task, episode, None if measured.failure else measured, measured.failure)

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        return estimate_all(scores, {name: task.type for name, task in self.scenarios.items()}, seed=self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        name, _, purpose = participant.partition("|")
        return rehearse_reply(purpose, self.setting.people[name], self.setting.clock, call, asked)


def seated(seats: Seats) -> Seats:
    """With somebody for the background: reference residents around a reference performer, else the model under test itself."""
    if seats.partner is not None:
        return seats
    subject = seats.subject
    if subject.model is None:
        return replace(seats, partner=Seat(Role.PARTNER, f"reference/{RESIDENTS}", None, subject.sampling))
    return replace(seats, partner=replace(subject, role=Role.PARTNER))
