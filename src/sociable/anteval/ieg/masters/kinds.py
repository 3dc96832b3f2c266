"""Which kinds of virtual dungeon master there are, by name."""

from __future__ import annotations

from sociable.anteval.ieg.masters.interface import MasterKind
from sociable.anteval.ieg.masters.local import LocalKind
from sociable.core.errors import InputError


def master_kind(name: str, model: str | None) -> MasterKind:
    """Raises InputError where an extra or a model is missing."""
    if name == "local":
        if model is not None:
            raise InputError("master_model is for master = lora and master = hosted; the local one has no other base.")
        return LocalKind()
    raise InputError(f"There is no virtual DM '{name}'.")
