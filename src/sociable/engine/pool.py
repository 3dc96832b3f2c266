"""What several runs share that are played in one event loop: budget, models, places, calls.

A run that is slow holds up no other: each endpoint has places of its own for the episodes whose subject it is, and the runs
that are planned first get them first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field

from sociable.engine.seats import Role
from sociable.engine.settings import RoleSettings, RunSettings, strip_endpoint
from sociable.models.concurrency import AdaptiveLimit
from sociable.models.journal import SharedCalls
from sociable.models.limits import Budget
from sociable.models.protocol import Model

ModelKey = tuple[str, RoleSettings, str | None, int | None]
"""A model's name with its endpoint, its settings without sampling, the run's address and calls at once: where all are the same,
it is one model."""

EPISODES = "episodes"
"""The name of the phase in which scenarios are played."""

_ASKED = {"references": Role.REFERENCE, EPISODES: Role.SUBJECT}
"""By phase the role whose model is asked most; else it is the judges."""


TakePlace = Callable[[str], AbstractAsyncContextManager[None]]
"""Gives a place for one item of the phase of this name."""


def take_any_place(phase: str) -> AbstractAsyncContextManager[None]:
    """The place of a run that is alone: it need not wait."""
    return nullcontext()


@dataclass
class Pool:
    """One budget, and each model built once, for all runs of a study."""

    budget: Budget
    models: dict[ModelKey, Model] = field(default_factory=dict)
    stand_in: Callable[[RunSettings], dict[ModelKey, Model]] | None = None
    """Tells the models of a run in place of ``models``, where they are not asked in this process."""
    fewest_places: int = 1
    """The places that there are in any case: as many as workers."""
    _calls: dict[tuple[str, int], SharedCalls] = field(default_factory=lambda: defaultdict(SharedCalls))
    _places: dict[tuple[str, ...], AdaptiveLimit] = field(default_factory=dict)

    def find_models(self, settings: RunSettings) -> dict[ModelKey, Model]:
        """The models that are there already when a run is opened."""
        return self.stand_in(settings) if self.stand_in else self.models

    def share_calls(self, settings: RunSettings) -> SharedCalls:
        """The calls that a run may have in common with others: of one benchmark and seed, for another seed is to draw anew."""
        return self._calls[settings.benchmark, settings.seed]

    def share_places(self, settings: RunSettings, run: str) -> TakePlace:
        """A function that gives a run its places.

        All runs whose phase asks the same models share as many places as one run has, so that what is under way stays
        bounded, however many runs there are.
        """

        def take_place(phase: str) -> AbstractAsyncContextManager[None]:
            role = _ASKED.get(phase, Role.JUDGE)
            asked = sorted({strip_endpoint(name) for each, name in settings.list_models() if each is role} or {settings.model})
            key = (phase, *asked)
            if key not in self._places:
                places = max(settings.at_once, self.fewest_places)
                self._places[key] = AdaptiveLimit(places, places)
                self.budget.when_stopped.append(self._places[key].turn_away)
            return self._places[key].take_place(run, run)

        return take_place

    async def close(self) -> None:
        for model in self.models.values():
            await model.close()
