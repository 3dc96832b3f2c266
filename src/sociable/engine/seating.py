"""People among the models of a run: where they sit, and whose places they take."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from sociable.agents.people.person import People
from sociable.core.errors import InputError
from sociable.core.form import PERSON, PeopleAt
from sociable.engine.seats import Role, Seat, Seats
from sociable.engine.study import AnyStudy
from sociable.models.protocol import Model, Reply, Request


@contextlib.contextmanager
def seat_people(people_at: PeopleAt, folder: Path, study: AnyStudy, seats: Seats, names: frozenset[str]) -> Iterator[People]:
    """The people of a run, who sit in all places of ``human`` and in those of the participants of these ``names``."""
    if people_at is PeopleAt.TERMINAL:
        yield _build_person_at_terminal()
        return
    from sociable.agents.people.at_desk import PeopleAtDesk
    from sociable.agents.people.desk import Desk

    with Desk(folder, is_run=True) as desk:
        try:
            yield PeopleAtDesk(desk, count_people(study, seats, names))
        finally:
            desk.clear()


def _build_person_at_terminal() -> People:
    from rich.console import Console
    from rich.text import Text

    from sociable.agents.people.terminal import PersonAtTerminal
    from sociable.render.displayable import make_displayable
    from sociable.render.terminal import print_blocks

    console = Console()
    return PersonAtTerminal(
        lambda blocks: print_blocks(blocks, console), lambda text: console.print(Text(make_displayable(text)))
    )


def count_people(study: AnyStudy, seats: Seats, names: frozenset[str]) -> int:
    """The most people that one case needs; 1 where nobody has a name of their own."""
    roles = {seat.role for seat in list_players(seats) if seat.name == PERSON}

    def count_in(cast: Mapping[str, Role]) -> int:
        # In a role without names one person sits.
        return sum(name in names or role in roles for name, role in cast.items()) + len(roles - {*cast.values()})

    return max((count_in(study.find_cast(scenario)) for scenario in study.scenarios), default=1) or 1


def list_players(seats: Seats) -> list[Seat]:
    """The seats of those who take part in episodes."""
    return [seat for seat in (seats.subject, seats.partner, seats.opponent) if seat]


def check_people(names: tuple[str, ...], benchmark: str, study: AnyStudy, seats: Seats) -> None:
    """Raises InputError for a participant who takes part nowhere, or in whose place no model sits that a person could replace."""
    if not names:
        return
    casts = [study.find_cast(scenario) for scenario in study.scenarios]
    by_rule = {seat.role for seat in list_players(seats) if seat.model is None}
    for name in names:
        roles = {cast[name] for cast in casts if name in cast}
        if not roles:
            known = sorted({each for cast in casts for each in cast})
            if not known:
                remedy = f"leave --person out, and name {PERSON} as a model"
                raise InputError(f"In {benchmark} nobody has a name of their own: {remedy}.")
            there_are = f"; there are: {', '.join(known[:10])}."
            near = "".join(f"; did you mean '{each}'?" for each in difflib.get_close_matches(name, known, 1, 0.4))
            raise InputError(f"Nobody in these cases is called '{name}'{near or there_are}")
        if roles & by_rule:
            (role, *_) = roles & by_rule
            raise InputError(
                f"'{name}' is played by a reference agent, beside which nobody can sit: name a model as the {role.value}."
            )


class SharedSeat:
    """A role's model, in some of whose places people sit. Both are asked through the journal under their own names."""

    def __init__(self, model: Model, people: Model, names: frozenset[str]) -> None:
        self.name = model.name
        self._model = model
        self._people = people
        self._names = names

    async def generate(self, request: Request) -> Reply:
        name = request.scope.participant.partition("|")[0]
        asked = self._people if name in self._names else self._model
        return await asked.generate(request)

    async def close(self) -> None:
        """Nothing: both are closed by whoever made them."""


def share_seat(seat: Seat, people: Model, names: frozenset[str]) -> Seat:
    """The seat, with people in the places of these ``names``."""
    if seat.model is None or not names or seat.role in (Role.JUDGE, Role.REFERENCE):
        return seat
    return replace(seat, model=SharedSeat(seat.model, people, names), people=names)
