"""STSS's simulation (section 3, App. A): one task to one episode.

1. The task stands in the performer's ``currently``; everybody else knows nothing of it.
2. Minds: the performer's architecture on the model under test, everybody else's on the background model.
3. Two days pass, minute by minute.
4. The event log is the episode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sociable.agents.architecture import Situation, TaskInWords, find_architecture
from sociable.agents.asking import Asker
from sociable.benchmarks.stss.dataset import DAYS
from sociable.benchmarks.stss.measure import background_failure
from sociable.benchmarks.stss.options import StssOptions
from sociable.benchmarks.stss.records import StssEpisode
from sociable.benchmarks.stss.reference import RESIDENTS, reference_performer
from sociable.benchmarks.stss.residents import ReferenceResident
from sociable.benchmarks.stss.routine import RoutineMind, World
from sociable.benchmarks.stss.task import Task
from sociable.core.errors import InputError
from sociable.core.records import Usage, episode_id
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Model, Reply, Request, Scope
from sociable.town.bodies import Injection, Physics
from sociable.town.clock import MINUTES_PER_DAY, Clock
from sociable.town.map import Address, TownMap
from sociable.town.memory import MemoryStream, load_sentence_embeddings
from sociable.town.minds import Mind
from sociable.town.persona import Persona, acquaintances_of
from sociable.town.places import PlaceFinder
from sociable.town.scheduler import Ahead, Lockstep
from sociable.town.simulation import Simulation


@dataclass(frozen=True)
class Setting:
    """What all tasks of a study share."""

    town: TownMap
    places: PlaceFinder
    people: Mapping[str, Persona]
    clock: Clock
    options: StssOptions
    seed: int
    prompts: Path | None = None
    """A user's own for the generative agent."""


NOON = 12 * 60


async def run_task(task: Task, repeat: int, seats: Seats, setting: Setting) -> StssEpisode:
    """Lets the days pass. Raises RunFailure and RunStopped."""
    town = Town(task, repeat, seats, setting)
    await town.simulation.run(until=NOON)
    # Everybody has planned by then. What nobody can read is not paid for to the end.
    if not background_failure(town.episode()):
        await town.simulation.run()
    return town.episode()


class Town:
    """One task's town, about to live, or as far as it has lived."""

    def __init__(self, task: Task, repeat: int, seats: Seats, setting: Setting) -> None:
        options = setting.options
        self.task = task
        self.repeat = repeat
        fork = options.fork
        self._item = episode_id(task.id, fork.repeat if fork else repeat)
        self._askers: list[Asker] = []
        self._seats = seats
        self._setting = setting
        self._world = World(
            setting.town, setting.clock, options.tiles_per_minute, DAYS * MINUTES_PER_DAY, setting.seed, self._item
        )

        # 1. The task.
        people = {name: setting.people[name] for name in task.residents}
        performer = people[task.performer]
        people[task.performer] = performer.model_copy(update={"currently": f"{performer.currently} {task.goal}"})
        self._people = people
        self._habits = {name: RoutineMind(people[name], self._world) for name in task.cast}

        # 2. Minds.
        self.minds = {name: self._mind(persona) for name, persona in people.items()}

        # 3. Two days.
        self.simulation = Simulation(
            setting.town,
            [(name, bed_of(persona, setting.town), self.minds[name]) for name, persona in people.items()],
            scheduler=Lockstep() if options.scheduler == "lockstep" else Ahead(),
            physics=Physics(tiles_per_minute=options.tiles_per_minute),
            places=setting.places,
            minutes=DAYS * MINUTES_PER_DAY,
            injections=[
                Injection(each.minute, name, each.text)
                for each in options.injected
                for name in ([each.resident] if each.resident else task.residents)
                if name in people
            ],
            seed=setting.seed,
            label=self._item,
        )
        self._starts = {body.name: (body.tile.x, body.tile.y) for body in self.simulation.bodies}

    def _mind(self, persona: Persona) -> Mind:
        task, seats = self.task, self._seats
        partner = seats.partner
        assert partner is not None, "the study has seated the background"
        acquaintances = acquaintances_of(persona, self._people)
        if persona.name == task.performer:
            if seats.subject.model is None:
                return reference_performer(seats.subject.agent, persona, self._world, task, self._habits)
            high = self._asker(seats.subject, persona.name)
            # A performer among reference residents has no background model; its own does the rest.
            low = self._asker(partner, persona.name) if partner.model is not None else high
            react = high if self._setting.options.react == "performer" else low
            return self._built(self._setting.options.agent, persona, acquaintances, high, low, react, own=True)
        if partner.model is None:
            if partner.agent != RESIDENTS:
                raise InputError(f"stss has no reference agent '{partner.agent}' for the background; it has: {RESIDENTS}.")
            return ReferenceResident(persona, self._world, task, tuple(acquaintances))
        asker = self._asker(partner, persona.name)
        return self._built(self._setting.options.background_agent, persona, acquaintances, asker, asker, asker, own=False)

    def _asker(self, seat: Seat, name: str) -> Asker:
        assert seat.model is not None
        fork, model = self._setting.options.fork, seat.model
        if fork is not None and fork.anew_from is not None:
            model = AskedAnew(model, partial(self._is_past, name, fork.anew_from))
        asker = Asker(model, seat.role.value, self._item, name, seat.sampling)
        self._askers.append(asker)
        return asker

    def _is_past(self, name: str, minute: int) -> bool:
        return self.simulation.by_name[name].moment >= minute

    def _built(
        self, agent: str, persona: Persona, acquaintances: Mapping[str, str], high: Asker, low: Asker, react: Asker, *, own: bool
    ) -> Mind:
        task, setting = self.task, self._setting
        situation = Situation(
            persona=persona,
            town=setting.town,
            clock=setting.clock,
            acquaintances=acquaintances,
            task=TaskInWords(task.goal, task.description) if own else None,
            high=high,
            low=low,
            react=react,
            tiles_per_minute=setting.options.tiles_per_minute,
            seed=setting.seed,
            new_memory=partial(remembering, setting.options.embeddings),
            prompts=setting.prompts,
            plain=setting.options.plain and own,
        )
        return find_architecture(agent)(situation)

    def episode(self) -> StssEpisode:
        """The log so far, as an episode."""
        seats = self._seats
        assert seats.partner is not None
        usage = {role: Usage() for role in (Role.SUBJECT.value, Role.PARTNER.value)}
        for asker in self._askers:
            usage[asker.role] += asker.usage
        return StssEpisode(
            id=episode_id(self.task.id, self.repeat),
            scenario=self.task.id,
            cluster=self.task.template,
            repeat=self.repeat,
            usage={role: used for role, used in usage.items() if used.calls},
            task=self.task,
            starts=self._starts,
            minutes=DAYS * MINUTES_PER_DAY,
            tiles_per_minute=self._setting.options.tiles_per_minute,
            events=tuple(self.simulation.events),
            played_by={
                name: seats.subject.name if name == self.task.performer else seats.partner.name for name in self.task.residents
            },
        )


def remembering(embeddings: str | None) -> MemoryStream:
    """A memory stream in which likeness is that of words, or of sentence embeddings by a model. Raises InputError."""
    return MemoryStream(load_sentence_embeddings(embeddings) if embeddings else None)


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


def bed_of(persona: Persona, town: TownMap) -> Address:
    """Its bed, where the map has one, or else its room."""
    home = Address.parse(persona.home)
    bed = Address(home.sector, home.arena, "bed")
    return bed if bed in town.places else home
