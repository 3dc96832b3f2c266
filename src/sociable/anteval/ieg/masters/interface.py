"""What a virtual dungeon master is, whatever it is made of."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sociable.anteval.ieg.windows import Pair, Window
from sociable.core.errors import InputError

Predictions = list[frozenset[Pair]]


class Master(ABC):
    """Reads windows. ``made_of`` says what made it, for whoever finds it on disk."""

    made_of: dict[str, Any]

    @abstractmethod
    def predict(self, windows: Sequence[Window]) -> Predictions:
        """Of every window who is to make which checks."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Everything needed to use it again, with ``made_of``."""


class MasterKind(ABC):
    """A way to make masters: all from the same base."""

    name: str
    quick: bool
    """Whether it can be trained again many times, for intervals."""

    @abstractmethod
    def untrained(self, folder: Path | None = None) -> Master:
        """The base, which gives f_0."""

    @abstractmethod
    def train(self, windows: Sequence[Window], seed: int, purpose: str, folder: Path | None = None) -> Master:
        """``purpose`` names the master among those of a run; what must outlive a crash is written to ``folder`` at once."""

    @abstractmethod
    def load(self, folder: Path) -> Master: ...


def read_made_of(folder: Path) -> dict[str, Any]:
    """What a saved master was made of. Raises InputError where there is none."""
    try:
        found: dict[str, Any] = json.loads((folder / "made_of.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: no virtual dungeon master in it ({error}).") from None
    return found
