"""STSS's simulation (section 3, App. A): one task to one episode.

1. The task stands in the performer's ``currently``; everybody else knows nothing of it.
2. Minds: the performer's architecture on the model under test, everybody else's on the background model.
3. Two days pass, minute by minute.
4. The event log is the episode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sociable.agents.architecture import Asker, Situation, TaskInWords, find_architecture
from sociable.agents.people.resident import PersonResident
from sociable.benchmarks.stss.briefs import brief_residents
from sociable.benchmarks.stss.measure import find_background_failure
from sociable.benchmarks.stss.persuaders import make_performer
from sociable.benchmarks.stss.records import StssEpisode, StssOptions
from sociable.benchmarks.stss.reference import RESIDENTS
from sociable.benchmarks.stss.reluctant import ReluctantResident
from sociable.benchmarks.stss.residents import ReferenceResident, RoutineMind, World, find_bed
from sociable.benchmarks.stss.task import LAST_MINUTE, Task
from sociable.core.form import PERSON
from sociable.core.records import Usage, make_episode_id
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.embeddings import load_encoder
from sociable.models.protocol import Model, Reply, Request, Scope
from sociable.town.bodies import Closure, Injection, Physics, ahead, lockstep
from sociable.town.clock import Clock
from sociable.town.map import Address, TownMap
from sociable.town.memory import Embedded, MemoryStream
from sociable.town.minds import Mind
from sociable.town.persona import Persona, adapt_to_company, find_acquaintances
from sociable.town.places import PlaceFinder
from sociable.town.simulation import Simulation


@dataclass(frozen=True)
class Setting:
    """Everything that all tasks of a study share."""

    town: TownMap
    places: PlaceFinder
    people: Mapping[str, Persona]
    clock: Clock
    options: StssOptions
    seed: int
    prompts: Path | None = None
    """A user's own prompts for the generative agent."""

    def list_changes(self) -> Iterator[str]:
        """Lists how a run differs from how the town would have lived by itself, a sentence each."""
        for each in self.options.injected:
            when = f"{self.clock.render_minute(each.minute)}, {each.resident or 'everybody'}"
            yield f"An event was injected: {when} learned: {each.text}"
        for closed in self.options.closed:
            yield f"A place was closed: from {self.clock.render_minute(closed.minute)} on nobody could go to {closed.place}."
        if self.options.fork is not None and self.options.fork.anew_from is not None:
            yield f"A fork: from {self.clock.render_minute(self.options.fork.anew_from)} on every model was asked anew."


NOON = 12 * 60

ALONE = (
    "No partner was named: the background residents were played by the model under test as well, or, around a reference agent or "
    "a person, by reference residents."
)
"""The note that tells a reader of the scores what ``fill_background`` did."""


def fill_background(seats: Seats) -> Seats:
    """Seats somebody for the background: the model under test, or, around a reference agent or a person, reference residents."""
    if seats.partner is not None:
        return seats
    if seats.subject.model is None or seats.subject.name == PERSON:
        residents = Seat(Role.PARTNER, f"reference/{RESIDENTS}", None, seats.subject.sampling)
        return replace(seats, partner=residents)
    return replace(seats, partner=replace(seats.subject, role=Role.PARTNER))


async def run_task(town: Town) -> StssEpisode:
    """Lets the days of a task pass. Raises RunFailure and RunStopped."""
    await town.simulation.run(until=min(NOON, town.minutes))
    # Everybody has planned by then. What nobody can read is not paid for to the end.
    if not find_background_failure(town.make_episode()):
        await town.simulation.run()
    return town.make_episode()


class Town:
    """One task's town, about to live, or as far as it has lived."""

    def __init__(self, task: Task, repeat: int, seats: Seats, setting: Setting) -> None:
        assert seats.partner is not None, "the study has seated the background"
        options, town = setting.options, setting.town
        self.task = task
        # What people do when the event is over changes no score.
        self.minutes = task.end if options.ends_early else LAST_MINUTE
        self.repeat = repeat
        self._item = make_episode_id(task.id, options.fork.repeat if options.fork else repeat)
        self._askers: list[Asker] = []
        self._subject, self._partner = seats.subject, seats.partner
        self._setting = setting

        # 1. The task.
        people = {name: adapt_to_company(setting.people[name], task.residents) for name in task.residents}
        people = brief_residents(task, people, setting.clock)

        # 2. Minds.
        self.minds = {name: self._make_mind(persona, people) for name, persona in people.items()}

        # 3. Two days.
        self.simulation = Simulation(
            town,
            [(name, find_bed(persona, town), self.minds[name]) for name, persona in people.items()],
            scheduler=lockstep if options.scheduler == "lockstep" else ahead,
            physics=Physics(tiles_per_minute=options.tiles_per_minute),
            places=setting.places,
            minutes=self.minutes,
            injections=[
                Injection(each.minute, name, each.text)
                for each in options.injected
                for name in people
                if each.resident in (name, "")
            ],
            closures=[Closure(each.minute, Address.parse(each.place)) for each in options.closed],
            seed=setting.seed,
            label=self._item,
        )
        self._starts = {body.name: (body.tile.x, body.tile.y) for body in self.simulation.bodies}

    def _make_mind(self, persona: Persona, people: Mapping[str, Persona]) -> Mind:
        task, setting, options = self.task, self._setting, self._setting.options
        own, seat = persona.name == task.performer, self._find_seat(persona.name)
        acquaintances = find_acquaintances(persona, people)
        if seat.model is None:
            # The authors look at when an activity begins.
            begins_there = options.attendance == "authors"
            world = World(setting.town, setting.clock, options.tiles_per_minute, setting.seed, self._item, begins_there)
            if not own:
                kind = ReferenceResident if task.obstacles is None else ReluctantResident
                return kind(persona, world, task, acquaintances)
            others = {name: RoutineMind(people[name], world) for name in task.cast}
            return make_performer(seat.agent, persona, world, task, others)
        high = low = self._make_asker(seat, persona.name)
        # A performer among reference residents has no background model; its own does the rest.
        if own and self._partner.model is not None:
            low = self._make_asker(self._partner, persona.name)
        situation = Situation(
            persona=persona,
            town=setting.town,
            clock=setting.clock,
            acquaintances=acquaintances,
            task=TaskInWords(task.goal, task.description) if own else None,
            high=high,
            low=low,
            react=high if options.react == "performer" else low,
            tiles_per_minute=options.tiles_per_minute,
            seed=setting.seed,
            new_memory=partial(make_memory, options.embeddings),
            prompts=setting.prompts,
            # Without a partner the model under test plays everybody.
            plain=options.plain and seat.model is self._subject.model,
        )
        if seat.is_person(persona.name):
            return PersonResident(situation)
        return find_architecture(options.agent if own else options.background_agent)(situation)

    def _find_seat(self, name: str) -> Seat:
        return self._subject if name == self.task.performer else self._partner

    def _find_player(self, name: str) -> str:
        seat = self._find_seat(name)
        return PERSON if seat.is_person(name) else seat.name

    def _make_asker(self, seat: Seat, name: str) -> Asker:
        assert seat.model is not None
        fork, model = self._setting.options.fork, seat.model
        if fork is not None and (minute := fork.anew_from) is not None:
            model = AskedAnew(model, lambda: self.simulation.by_name[name].last_acted >= minute)
        asker = Asker(model, seat.role.value, self._item, name, seat.sampling)
        self._askers.append(asker)
        return asker

    @property
    def minute(self) -> int:
        """The minute to which all of it has been lived; nights, which are known from the evening on, count as lived."""
        return min(min(body.minute for body in self.simulation.bodies), self.minutes)

    def make_episode(self) -> StssEpisode:
        """The log so far, as an episode."""
        return StssEpisode(
            id=make_episode_id(self.task.id, self.repeat),
            scenario=self.task.id,
            cluster=self.task.template,
            repeat=self.repeat,
            usage=sum_usage(self._askers),
            task=self.task,
            starts=self._starts,
            minutes=self.minutes,
            tiles_per_minute=self._setting.options.tiles_per_minute,
            events=tuple(self.simulation.events),
            played_by={name: self._find_player(name) for name in self.task.residents},
        )


def sum_usage(askers: Iterable[Asker]) -> dict[str, Usage]:
    """The usage of performer and background, by role; a role that made no call is left out."""
    used = {role.value: [each.usage for each in askers if each.role == role] for role in (Role.SUBJECT, Role.PARTNER)}
    usage = {role: sum(each, Usage()) for role, each in used.items()}
    return {role: each for role, each in usage.items() if each.calls}


def check_minds(*architectures: str, embeddings: str | None) -> None:
    """Raises InputError where an architecture or a model of embeddings is not there."""
    for name in architectures:
        find_architecture(name)
    make_memory(embeddings)


def make_memory(embeddings: str | None) -> MemoryStream:
    """A memory stream in which likeness is that of words, or of sentence embeddings by a model. Raises InputError."""
    return MemoryStream(Embedded(load_encoder(embeddings)) if embeddings else None)


class AskedAnew:
    """A model whose calls are other calls than the journal's, once a condition holds: the same question, asked once more."""

    def __init__(self, model: Model, condition: Callable[[], bool]) -> None:
        self.name = model.name
        self._model = model
        self._condition = condition
        self._scopes: dict[str, Scope] = {}

    async def generate(self, request: Request) -> Reply:
        if not self._condition():
            return await self._model.generate(request)
        scope = request.scope
        anew = self._scopes.setdefault(scope.participant, Scope(f"{scope.item}@fork", scope.role, scope.participant))
        reply = await self._model.generate(replace(request, scope=anew))
        scope.usage += reply.usage
        return reply

    async def close(self) -> None:
        await self._model.close()
