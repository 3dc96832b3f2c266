"""Architectures of agents for the town, found by name.

An architecture is a function that is given a resident's ``Situation`` and returns its ``Mind`` (``town/minds.py``). A package
adds its own under the entry point group ``sociable.architectures``::

    [project.entry-points."sociable.architectures"]
    sociable-person = "my_package.my_module:sociable_person"

``docs/reference/architecture.md`` has a small one, ``examples/own_architecture`` a larger one.

A mind may have three methods more: ``inject`` (``Injectable``) is told what is injected into the town, ``interview``
(``Interviewable``) answers ``sociable interview``, and ``restore`` (``Restorable``) is needed in ``stss-conversations``.
A run resumes from its journal, so a mind does the same again when it sees and hears the same: whatever is random in it
comes from ``Situation.seed``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from sociable.core.errors import InputError
from sociable.core.form import Form
from sociable.core.records import Usage
from sociable.models.protocol import ChatMessage, Model, Reply, Request, Sampling, Scope
from sociable.town.clock import Clock
from sociable.town.map import TownMap
from sociable.town.memory import MemoryStream
from sociable.town.minds import Mind
from sociable.town.persona import Persona

GROUP = "sociable.architectures"


class Asker:
    """A model in one role, asked by the mind called ``name``: with one scope for every purpose, so that each call is replayed.

    Two askers of one name, role and item must not be asked for the same purpose: their calls would share a scope's name.
    """

    def __init__(self, model: Model, role: str, item: str, name: str, sampling: Sampling | None = None) -> None:
        self._model = model
        self._item = item
        self._name = name
        self._sampling = sampling or Sampling()
        self._scopes: dict[str, Scope] = {}
        self._asked = False
        self.role = role

    @property
    def usage(self) -> Usage:
        """The usage of all its calls, as far as a journal counted them."""
        return sum((scope.usage for scope in self._scopes.values()), Usage())

    async def ask(
        self,
        purpose: str,
        messages: Sequence[ChatMessage],
        temperature: float | None = None,
        form: Callable[[], Form] | None = None,
    ) -> Reply:
        """The model's reply; ``temperature`` takes the place of the role's own. Raises RunFailure and RunStopped.

        A person is shown the ``form``.

        One question at a time: the journal tells equal questions apart by their order, and a replay must find the same.
        """
        assert not self._asked, f"{self._name} is asked for '{purpose}' while it has not answered yet"
        scope = self._scopes.setdefault(purpose, Scope(self._item, self.role, f"{self._name}|{purpose}"))
        sampling = self._sampling if temperature is None else replace(self._sampling, temperature=temperature)
        self._asked = True
        try:
            return await self._model.generate(Request(messages, scope, sampling, form=form))
        finally:
            self._asked = False


@dataclass(frozen=True, slots=True)
class TaskInWords:
    """The task in words: the performer is to bring it about, and nobody else knows of it."""

    goal: str
    criteria: str


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a mind begins with."""

    persona: Persona
    """The resident's persona. The performer's ``currently`` says its task (App. A): a plain generative agent has no more."""
    town: TownMap
    clock: Clock
    acquaintances: Mapping[str, str]
    """The people whom the resident knows, by name: one line each."""
    task: TaskInWords | None
    """The performer's; None for everybody else."""
    high: Asker
    """The model that makes target-driven plans, day plans and words: for the performer the one under test."""
    low: Asker
    """The model for everything else."""
    react: Asker
    """The model that decides whether to start talking."""
    tiles_per_minute: int = 6
    """The speed at which everybody walks."""
    seed: int = 0
    """The run's, the same for every resident."""
    new_memory: Callable[[], MemoryStream] = MemoryStream
    """Makes what the mind remembers with: by default memories are alike that share words."""
    prompts: Path | None = None
    """A folder of the user's own prompts; None: the architecture's."""
    plain: bool = False
    """Whether the models are too weak for structured replies: of a conversation they are asked for the words only (App. A.2)."""


Architecture = Callable[[Situation], Mind]


def find_architecture(name: str) -> Architecture:
    """The architecture of a name. Raises InputError naming those there are."""
    points = metadata.entry_points(group=GROUP, name=name)
    if not points:
        known = ", ".join(sorted({point.name for point in metadata.entry_points(group=GROUP)})) or "none"
        raise InputError(f"There is no architecture '{name}'; there are: {known}. Packages add theirs under '{GROUP}'.")
    found = next(iter(points)).load()
    if not callable(found):
        raise InputError(f"The architecture '{name}' is no function of a Situation; ask its authors.")
    return found  # type: ignore[no-any-return]
