"""Virtual dungeon masters, whose kinds are found by name."""

from __future__ import annotations

from sociable.benchmarks.anteval.ieg.masters.hosted import HostedKind
from sociable.benchmarks.anteval.ieg.masters.interface import MasterKind
from sociable.benchmarks.anteval.ieg.masters.local import LocalKind
from sociable.benchmarks.anteval.ieg.masters.lora import LoraKind
from sociable.core.errors import InputError


def find_master_kind(name: str, model: str | None, embeddings: str | None = None) -> MasterKind:
    """Raises InputError where an extra or a model is missing."""
    if name == "local":
        if model is not None:
            raise InputError("master_model is for master = lora and master = hosted; the local one has no other base.")
        return LocalKind(embeddings)
    if embeddings is not None:
        raise InputError(f"embeddings are for master = local; master = {name} reads words. Leave them out.")
    if model is None:
        raise InputError(f"master = {name} needs a base: --option master_model=MODEL.")
    return LoraKind(model) if name == "lora" else HostedKind(model)
