"""Conversations that other tools recorded, as runs: ``sociable import``, as a function. No model is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sociable.api.runs import run_settings
from sociable.benchmarks.imported.formats import Chosen, choose, read_conversations
from sociable.core.errors import InputError
from sociable.core.run_folder import make_folder, write_atomically
from sociable.engine.registry import RECORDED
from sociable.engine.result import RunResult
from sociable.engine.settings import RunSettings


@dataclass(frozen=True)
class Imported:
    """A run of others' conversations, and what could not be taken."""

    result: RunResult
    chosen: Chosen


def import_conversations(
    format: str,  # noqa: A002
    file: str | Path,
    out: str | Path,
    *,
    model: str | None = None,
    participants: Sequence[str] = (),
) -> Imported:
    """Makes a run folder of what another tool recorded: sotopia, concordia, tau2 or social-reasoning-bench.

    ``sociable judge DIR --judge MODEL --rubric sotopia`` has it rated. ``model`` names the model under test where several spoke,
    or the source does not say; ``participants`` are those under test, by name, where the source does not say or others are
    meant. Raises InputError and DataError before anything is written.
    """
    path, source = Path(out), Path(file)
    if (path / "manifest.json").exists():
        raise InputError(f"{path} holds a run already. Choose another --out.")
    chosen = choose(read_conversations(format, source), model, participants)
    data = path / "inputs" / "dataset.jsonl"
    make_folder(data.parent)
    write_atomically(data, "".join(each.model_dump_json() + "\n" for each in chosen.conversations))
    settings = RunSettings(
        benchmark="imported",
        model=f"{RECORDED}{chosen.model}",
        partner=f"{RECORDED}{chosen.partner}" if chosen.partner else None,
        dataset=str(data),
        options={"format": format, "file": source.name},
    )
    return Imported(run_settings(settings, path), chosen)
