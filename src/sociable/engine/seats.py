"""Seats: the model, person or agent that fills each role in a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sociable.core.form import PERSON, Form
from sociable.models.protocol import ChatMessage, Model, Reply, Request, Sampling, Scope


class Role(StrEnum):
    SUBJECT = "subject"
    """The model under test."""
    PARTNER = "partner"
    """The model that plays everybody else in the scene."""
    OPPONENT = "opponent"
    """The model that the subject meets in a duel."""
    JUDGE = "judge"
    REFERENCE = "reference"
    """The model that makes what the subject is compared with."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A role and who sits in it: a model, or a reference agent (then ``model`` is None)."""

    role: Role
    name: str
    model: Model | None
    sampling: Sampling
    ordinary: float = math.inf
    """The most of what a reference judge likes that it takes for ordinary in a text that stands alone."""
    people: frozenset[str] = frozenset()
    """The participants of this role who are people though its model is not."""

    def is_person(self, participant: str) -> bool:
        """Whether a person sits in the place of this participant."""
        return self.name == PERSON or participant in self.people

    @property
    def agent(self) -> str:
        """The reference agent's name, without ``reference/``; empty for a model."""
        return self.name.removeprefix("reference/") if self.model is None else ""

    async def ask(self, messages: Sequence[ChatMessage], scope: Scope, form: Callable[[], Form] | None = None) -> Reply:
        """The model's reply; a person is shown the ``form``.

        Raises RunFailure and RunStopped, and ValueError for a reference agent, which has no model.
        """
        if self.model is None:
            raise ValueError(f"{self.name} has no model that could be asked")
        return await self.model.generate(Request(messages, scope, self.sampling, form=form))

    def make_scope(self, item: str, participant: str = "") -> Scope:
        return Scope(item, self.role.value, participant or self.name)


class AbsentModel:
    """Marks a seat as a model's where no model is needed: to read a run, to rehearse one."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def generate(self, request: Request) -> Reply:
        raise AssertionError(f"{self.name} was not built, and is asked all the same")

    async def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Seats:
    subject: Seat
    partner: Seat | None = None
    reference: Seat | None = None
    judges: tuple[Seat, ...] = ()
    raters: tuple[Seat, ...] = ()
    """Judges who rate by a rubric; the panel has nothing to do with it."""
    opponent: Seat | None = None

    def change_each(self, change: Callable[[Seat], Seat]) -> Seats:
        """The same roles, every seat changed."""
        return Seats(
            subject=change(self.subject),
            partner=change(self.partner) if self.partner else None,
            reference=change(self.reference) if self.reference else None,
            judges=tuple(change(seat) for seat in self.judges),
            raters=tuple(change(seat) for seat in self.raters),
            opponent=change(self.opponent) if self.opponent else None,
        )
