"""Questions of a mind to a model: one scope for every purpose, so that each call of a long simulation is found and replayed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sociable.core.records import Usage
from sociable.models.protocol import ChatMessage, Model, Reply, Request, Sampling, Scope


class Asker:
    """A model in one role, asked by the mind called ``name``.

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

    async def ask(self, purpose: str, messages: Sequence[ChatMessage], temperature: float | None = None) -> Reply:
        """The model's reply; ``temperature`` takes the place of the role's own. Raises RunFailure and RunStopped.

        One question at a time: the journal tells equal questions apart by their order, and a replay must find the same.
        """
        assert not self._asked, f"{self._name} is asked for '{purpose}' while it has not answered yet"
        scope = self._scopes.setdefault(purpose, Scope(self._item, self.role, f"{self._name}|{purpose}"))
        sampling = self._sampling if temperature is None else replace(self._sampling, temperature=temperature)
        self._asked = True
        try:
            return await self._model.generate(Request(messages, scope, sampling))
        finally:
            self._asked = False
