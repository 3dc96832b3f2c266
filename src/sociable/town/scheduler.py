"""The rule that says who may live the next minute: residents run ahead of one another with the log unchanged.

A resident may perceive what there is before minute t when nobody who has yet to live a minute before it can have come
within its sight by then, even on the shortest way and at full speed. Sleep and conversations cannot be interrupted, so a
sleeper's state is known until it wakes, and a talker's for as many minutes as its words have taken. For those it does see
it waits once more, until they have decided too; that is the simulation's own business, under any rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from sociable.town.bodies import Body, Physics
from sociable.town.map import TownMap

Scheduler = Callable[[TownMap, Physics, Body, Body, int], bool]
"""Tells whether a resident who lags behind, and may walk for so many minutes until then, can come into sight of another."""


def can_always_meet(town: TownMap, physics: Physics, lagging: Body, other: Body, minutes: int) -> bool:
    """Lockstep: nobody lives a minute before everybody has lived the one before."""
    return True


def can_walk_into_sight(town: TownMap, physics: Physics, lagging: Body, other: Body, minutes: int) -> bool:
    """Ahead: residents go on as soon as nothing pending can still affect them."""
    return count_steps_to_sight(town, physics.radius, lagging, other) <= minutes * physics.tiles_per_minute


def count_steps_to_sight(town: TownMap, radius: int, lagging: Body, other: Body) -> float:
    """The least steps that ``lagging`` must walk until the two can see each other; infinite where there is no way."""
    along, across = abs(lagging.tile.x - other.tile.x), abs(lagging.tile.y - other.tile.y)
    if along < across:
        along, across = across, along
    # Steps go along the axes: to the nearest point of a circle, which is on its diagonal unless that lies behind.
    diagonal = radius * math.sqrt(0.5)
    if across > diagonal:
        steps = along + across - 2 * diagonal
    else:
        steps = max(0.0, along - math.sqrt(radius**2 - across**2))
    if lagging.zone == other.zone:
        return steps
    # Nobody sees from one arena into another.
    into = int(town.steps_into(other.zone)[lagging.tile.y * town.width + lagging.tile.x])
    return math.inf if into < 0 else max(into, steps)
