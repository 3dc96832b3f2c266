"""Having a model fill in what a data set leaves open: roles, kinds of goals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import dotenv

from sociable.api.runs import settings_for
from sociable.core.errors import InputError
from sociable.core.run_folder import write_atomically
from sociable.engine.event_loop import waited
from sociable.engine.opening import build_seats, prices_of, study_options
from sociable.engine.registry import find_benchmark
from sociable.engine.seats import Role, Seat
from sociable.engine.study import Labelled
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget

LABEL_TOKENS = 1024


def label(benchmark: str, model: str, out: str | Path, *, config: str | Path | None = None, **settings: Any) -> str:
    """Writes the dataset with labels to ``out`` (JSON Lines). Returns what was filled in, in words.

    Replies are kept in a journal beside it, so that nothing is paid for twice: run it again to go on after a failure.
    Raises InputError, and RunFailure when the model cannot be reached.
    """
    path = Path(out)
    if path.suffix != ".jsonl":
        raise InputError(f"{path}: labelled data are JSON Lines; name a .jsonl file.")
    if path.exists():
        raise InputError(f"{path} is there already. Name another file, or move it away.")
    if model.startswith("reference/"):
        raise InputError("Labels need a model that can read: reference agents cannot.")
    dotenv.load_dotenv(dotenv.find_dotenv(usecwd=True))
    asked = settings_for(benchmark, config, model=model, **settings)
    found = find_benchmark(benchmark)
    study = found.open(**study_options(asked))
    if not isinstance(study, Labelled):
        raise InputError(f"{benchmark} has no labels that a model could fill in.")
    seats = build_seats(asked, found, build=(Role.SUBJECT,))
    budget = Budget(prices_of(asked, seats, (Role.SUBJECT,)), asked.max_cost)
    path.parent.mkdir(parents=True, exist_ok=True)
    with Journal(path.with_suffix(".calls.sqlite")) as journal:
        assert seats.subject.model is not None
        for bought in journal.sum_usage():
            budget.book(*bought)
        journalled = JournalledModel(seats.subject.model, journal, budget)
        # A label is no turn of a scene: it is asked for as a judge would be, with room to think.
        own = seats.subject.sampling
        tokens = None if own.max_tokens is None else max(own.max_tokens, LABEL_TOKENS)
        cool = None if own.temperature is None else 0.0
        seat = replace(seats.subject, model=journalled, sampling=replace(own, temperature=cool, max_tokens=tokens))
        records, said = waited(_label(study, seat, journalled))
    write_atomically(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return said


async def _label(study: Labelled, seat: Seat, model: JournalledModel) -> tuple[list[dict[str, Any]], str]:
    try:
        return await study.label(seat)
    finally:
        await model.close()
