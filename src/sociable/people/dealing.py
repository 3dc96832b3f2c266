"""Which person judges which item, in which order, which side first: balanced, and drawn by seed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sociable.core.errors import InputError
from sociable.core.seeding import make_generator


@dataclass(frozen=True, slots=True)
class Dealt:
    """One item in the order of one person."""

    item: str
    subject_first: bool
    """Which side of a pair comes first; it says nothing of a question."""


def deal_items(items: Sequence[str], people: int, per_item: int | None, checks: Sequence[str], seed: int) -> list[list[Dealt]]:
    """The items of each person, in order.

    Each item goes to ``per_item`` people (None: to all), each person gets as many as any other, or one more or less. Orders
    are rows of a Latin square, so that an item stands early for some and late for others, and follows others by turns: each
    other one once where as many people as items get all of an even number. Each side of a pair comes first for half of those
    who get it. Every person gets all ``checks``, at places drawn by lot.
    Raises InputError where there are fewer people than ``per_item``.
    """
    each = people if per_item is None else per_item
    if people < 1 or not 1 <= each <= people:
        raise InputError(f"--per-item {each}: a number from 1 to {people}, which is how many people there are, was expected.")
    own = _choose_people(len(items), people, each, seed)
    first = _choose_sides(own, people, seed)
    row = _list_row(len(items))
    dealt = []
    for person in range(people):
        start = person * max(len(items), 1) // people
        order = [(place + start) % len(items) for place in row]
        mine = [Dealt(items[item], first[item][person]) for item in order if person in first[item]]
        dealt.append(_mix_in(mine, checks, seed, person))
    return dealt


def _choose_people(items: int, people: int, each: int, seed: int) -> list[list[int]]:
    """The people of each item: dealt round by round, each round in another order, so that not always the same are together."""
    generator = make_generator(seed, "deal people")
    chosen: list[list[int]] = []
    waiting: list[int] = []
    for _ in range(items):
        own = waiting[:each]
        waiting = waiting[each:]
        if len(own) < each:
            # The next round begins with people who do not have this item yet.
            others = [person for person in range(people) if person not in own]
            begun = generator.sample(others, each - len(own))
            waiting = [person for person in range(people) if person not in begun]
            generator.shuffle(waiting)
            own = own + begun
        chosen.append(own)
    return chosen


def _choose_sides(own: Sequence[Sequence[int]], people: int, seed: int) -> list[dict[int, bool]]:
    """For each item, the people who get it, and whether each sees the subject first: half of them, those who did so least."""
    generator = make_generator(seed, "deal sides")
    leaning = [0] * people
    sides = []
    for those in own:
        order = sorted(generator.sample(list(those), len(those)), key=lambda person: leaning[person])
        # Of an odd number one is left over: it goes to the side that these people had first less often.
        total = sum(leaning[person] for person in order)
        extra = generator.randrange(2) if total == 0 else int(total < 0)
        half = (len(order) + extra) // 2
        sides.append({person: place < half for place, person in enumerate(order)})
        for person, is_first in sides[-1].items():
            leaning[person] += 1 if is_first else -1
    return sides


def _list_row(count: int) -> list[int]:
    """The first row of a Williams square: 0, 1, n - 1, 2, n - 2, … The others are this one, moved on.

    Source: Williams, E. J. (1949), Experimental designs balanced for the estimation of residual effects of treatments.
    """
    return [place // 2 + 1 if place % 2 else (count - place // 2) % count for place in range(count)]


def _mix_in(mine: Sequence[Dealt], checks: Sequence[str], seed: int, person: int) -> list[Dealt]:
    """The items of a person with the attention checks among them."""
    generator = make_generator(seed, "deal checks", person)
    count = len(mine) + len(checks)
    places = dict(zip(generator.sample(range(count), len(checks)), generator.sample(list(checks), len(checks)), strict=True))
    rest = iter(mine)
    return [Dealt(places[place], generator.random() < 0.5) if place in places else next(rest) for place in range(count)]
