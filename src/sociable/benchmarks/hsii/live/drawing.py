"""Which dossiers are played, and what is drawn behind their hints."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from sociable.benchmarks.hsii.live.dataset import Dossier, Level
from sociable.benchmarks.hsii.live.records import LiveOptions
from sociable.benchmarks.hsii.live.scenario import Dials, Scenario
from sociable.benchmarks.hsii.live.solver import Solver
from sociable.core.errors import InputError
from sociable.core.seeding import make_generator, select_clusters

ROOM = 0.15
"""The part of the best welfare that must lie above what takes no asking: where asking changes nothing, nothing is measured."""
TRIES = 1000
AS_THE_LEVEL = Dials()


@lru_cache(maxsize=1000)
def draw_scenario(dossier: Dossier, level: Level, seed: int, number: int = 1, dials: Dials = AS_THE_LEVEL) -> Scenario:
    """A dossier at one level, its lots drawn; at each level apart. Raises InputError where no draw leaves room to ask."""
    generator = make_generator(seed, "lots", dossier.id, level, number)
    for _ in range(TRIES):
        draw = frozenset(f"{lot}={generator.choice(sides)}" for lot, sides in dossier.lots.items())
        scenario = Scenario(dossier, level, draw, number, dials)
        solver = Solver(scenario)
        if solver.bound - solver.baseline >= ROOM * solver.bound:
            return scenario
    problem = f"in {TRIES} draws asking never gained {ROOM:.0%} of the best welfare"
    raise InputError(f"{dossier.id}: {problem}; give it lots whose sides lead to different arrangements.")


def select_scenarios(dossiers: Iterable[Dossier], options: LiveOptions, limit: int | None, seed: int) -> list[Scenario]:
    """The levels asked for of ``limit`` dossiers, as far as they have them, each drawn so often.

    Raises InputError where nobody is called as the character that is to be played.
    """
    there = tuple(each for each in dossiers if len(each.people) <= options.most_people)
    if not there:
        raise InputError(f"most_people: every dossier has more than {options.most_people} people.")
    if options.character:
        names = [person.name for each in there for person in each.people]
        there = tuple(each for each in there if any(person.name == options.character for person in each.people))
        if not there:
            raise InputError(f"character: nobody is called '{options.character}'; there are {', '.join(names)}.")
    taken = select_clusters(there, limit, seed, cluster=lambda each: each.id, group=lambda each: "")
    return [
        draw_scenario(dossier, level, seed, number, options.make_dials())
        for dossier in taken
        for level in options.levels
        if level in dossier.budgets
        for number in range(1, options.draws + 1)
    ]
