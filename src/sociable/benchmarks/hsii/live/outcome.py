"""What came of it, in points for each person, and how good that is for all. Pure.

Everybody begins with 1 point. If all say yes to an arrangement, what it is worth to a person above the least that it says yes to
is added: worths of its own, and bonds, for what others gain or do not. So is what the right decision is worth, and a confidence
that was broken costs its person. Welfare is the geometric mean of everybody's points (the product of gains, Nash 1950): it
depends on nobody's scale, and who is left behind weighs most.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import geometric_mean

from sociable.benchmarks.hsii.live.dataset import Arrangement, Person, Worth
from sociable.benchmarks.hsii.live.scenario import Scenario

LEAST = 0.5
"""The points that nobody falls below, so that one broken confidence does not outweigh everything else."""


def count_points(worths: Sequence[Worth], arrangement: Arrangement) -> float:
    """What an arrangement is worth by these worths."""
    return sum(worth.points for worth in worths if all(arrangement.get(m) == option for m, option in worth.when.items()))


def count_bonds(scenario: Scenario, person: Person, arrangement: Arrangement) -> float:
    """What it is worth to a person that others do well by an arrangement, or badly."""
    return sum(
        bond.points for bond in person.bonds if count_points(scenario.people[bond.other].worths, arrangement) >= bond.least
    )


def count_surplus(scenario: Scenario, person: Person, arrangement: Arrangement) -> float:
    """What an arrangement is worth to a person above the least that it says yes to; below 0 it says no."""
    return count_points(person.worths, arrangement) + count_bonds(scenario, person, arrangement) - scenario.budget.least


def is_accepted(scenario: Scenario, arrangement: Arrangement | None) -> bool:
    """Whether everybody says yes."""
    if arrangement is None:
        return False
    return all(count_surplus(scenario, person, arrangement) >= 0 for person in scenario.people.values())


def count_gains(
    scenario: Scenario, arrangement: Arrangement | None, right: Collection[str] = (), broken: Collection[str] = ()
) -> dict[str, float]:
    """Each person's points. ``right``: decisions that came out best; ``broken``: confidences (facts) that were told."""
    gains = dict.fromkeys(scenario.people, 1.0)
    if arrangement is not None and is_accepted(scenario, arrangement):
        gains = {name: 1.0 + count_surplus(scenario, person, arrangement) for name, person in scenario.people.items()}
    for decision in scenario.decisions.values():
        if decision.id in right:
            gains[decision.person] += decision.points
    for fact in broken:
        gains[scenario.facts[fact].of] -= scenario.facts[fact].cost
    return gains


def measure_welfare(gains: Mapping[str, float]) -> float:
    """The geometric mean of people's points."""
    return geometric_mean(max(points, LEAST) for points in gains.values())


def find_majority(scenario: Scenario, known: Collection[str]) -> Arrangement:
    """In each matter the option that most people seem to favour by what is ``known``; where as many favour two, the first."""
    shown = [fact for fact in map(scenario.facts.__getitem__, known) if fact.shows]
    votes: dict[tuple[str, str], int] = {}
    for fact in shown:
        for worth in fact.shows:
            for choice in worth.when.items():
                votes[choice] = votes.get(choice, 0) + (worth.points > 0) - (worth.points < 0)
    return {
        matter.id: max(matter.options, key=lambda option, own=matter.id: votes.get((own, option.id), 0)).id  # type: ignore[misc]
        for matter in scenario.dossier.matters
    }
