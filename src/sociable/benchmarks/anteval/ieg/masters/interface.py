"""The interface of a virtual dungeon master, whatever it is made of, and how one is kept and found again."""

from __future__ import annotations

import hashlib
import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from sociable.benchmarks.anteval.ieg.windows import Pair, Window
from sociable.core.errors import InputError
from sociable.core.run_folder import write_atomically

Predictions = list[frozenset[Pair]]
"""The checks by window: who is to make which."""

MADE_OF = "made_of.json"
"""The file beside a saved master that says what made it."""


class Master(ABC):
    """Reads windows. ``made_of`` says what made it, for whoever finds it on disk."""

    def __init__(self, made_of: dict[str, Any]) -> None:
        self.made_of = made_of

    @abstractmethod
    def predict(self, windows: Sequence[Window]) -> Predictions: ...

    def save(self, folder: Path) -> None:
        """Writes all that is needed to use it again, and ``made_of`` last: without that nothing is there."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MADE_OF).unlink(missing_ok=True)
        made_of = self.made_of | self.save_parts(folder)
        write_atomically(folder / MADE_OF, json.dumps(made_of, indent=1, ensure_ascii=False) + "\n")

    def save_parts(self, folder: Path) -> dict[str, Any]:
        """Writes all but ``made_of``, where there is more. Returns what ``made_of`` must say of it to whoever loads it."""
        return {}


class MasterKind(ABC):
    """A way to make masters: all from the same base."""

    name: str
    base: str
    """The base that it starts from, in words or as a model's name."""
    quick: bool
    """Whether it can be trained again many times, for intervals."""
    fewest: int = 1
    """Windows below which none can be made."""
    at_home: bool = False
    """Whether its masters are to be made where the run is, since what they cost is kept there."""
    on_gpu: bool = False
    """Whether a graphics processor helps."""

    @property
    def recipe(self) -> str:
        """All that a master depends on beside its windows and its seed."""
        return f"{self.name}\n{self.base}"

    def check(self) -> None:  # noqa: B027  (most need nothing)
        """Raises InputError where an extra, a key or a model is missing."""

    @abstractmethod
    def make_untrained(self, folder: Path | None = None) -> Master:
        """The base, which gives f_0."""

    @abstractmethod
    def train(self, windows: Sequence[Window], seed: int, purpose: str, folder: Path | None = None) -> Master:
        """``purpose`` names the master among those of a run; what must outlive a crash is written to ``folder`` at once."""

    @abstractmethod
    def load(self, folder: Path) -> Master:
        """A saved master. Raises InputError where there is none."""

    def describe(self, **facts: Any) -> dict[str, Any]:
        """``made_of`` of a master of this kind."""
        return {"kind": self.name, "base": self.base, **facts}


def read_made_of(folder: Path) -> dict[str, Any]:
    """The record of what a saved master was made of. Raises InputError where there is none."""
    try:
        found: dict[str, Any] = dict(json.loads((folder / MADE_OF).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder}: no virtual dungeon master in it ({error}).") from None
    return found


def digest_training(kind: MasterKind, windows: Sequence[Window], seed: int) -> str:
    """A digest of all that a master is made of: masters of one digest are one."""
    digest = hashlib.sha256(f"{kind.recipe}\n{seed}".encode())
    for window in windows:
        said = [(turn.speaker, turn.text) for turn in window.turns]
        digest.update(json.dumps([said, window.players, window.master, sorted(window.checks)]).encode())
    return digest.hexdigest()


def find_master(kind: MasterKind, of: str, folder: Path | None, keep: Path | None) -> Master | None:
    """The master with that digest, if the folder holds it, whole; copied to ``keep``."""
    if folder is None:
        return None
    try:
        if read_made_of(folder).get("of") != of:
            return None
        master = kind.load(folder)
    except (InputError, OSError, ValueError, KeyError, BadZipFile):
        # Whatever became of it, another can be trained.
        return None
    if keep is None or keep == folder:
        return master
    shutil.rmtree(keep, ignore_errors=True)
    shutil.copytree(folder, keep, ignore=shutil.ignore_patterns(MADE_OF))
    shutil.copy2(folder / MADE_OF, keep / MADE_OF)
    return kind.load(keep)
