"""What a virtual dungeon master is, whatever it is made of."""

from __future__ import annotations

import hashlib
import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sociable.anteval.ieg.windows import Pair, Window
from sociable.core.errors import InputError

Predictions = list[frozenset[Pair]]

MADE_OF = "made_of.json"
"""The file beside a saved master that says what made it."""


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
    base: str
    """What it starts from, in words or as a model's name."""
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
        found: dict[str, Any] = json.loads((folder / MADE_OF).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: no virtual dungeon master in it ({error}).") from None
    return found


def tuned_on(kind: MasterKind, windows: Sequence[Window], seed: int) -> str:
    """A digest of all that a master is made of: masters of one digest are one."""
    digest = hashlib.sha256(f"{kind.name}\n{kind.base}\n{seed}".encode())
    for window in windows:
        said = [(turn.speaker, turn.text) for turn in window.turns]
        digest.update(json.dumps([said, window.players, window.master, sorted(window.checks)]).encode())
    return digest.hexdigest()


def found_again(kind: MasterKind, of: str, folders: Sequence[Path | None], keep: Path | None) -> Master | None:
    """The master with that digest, if one of the folders holds it; taken over into ``keep``."""
    for folder in folders:
        if folder is None or not (folder / MADE_OF).is_file() or read_made_of(folder).get("of") != of:
            continue
        if keep is not None and folder != keep:
            shutil.copytree(folder, keep, dirs_exist_ok=True)
        return kind.load(keep or folder)
    return None
