"""Phases of runs that share their places: what is under way when all are stopped ends, and is kept, before the phase does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sociable.core.errors import Interrupted
from sociable.core.records import Record
from sociable.core.run_folder import RecordFile
from sociable.engine.phases import Progress, run_phase
from sociable.models.concurrency import AdaptiveLimit
from sociable.models.limits import Budget


class Numbered(Record):
    id: str


async def test_a_phase_that_is_stopped_while_some_wait_for_a_place_ends_after_those_that_have_one(tmp_path: Path) -> None:
    budget, places = Budget({}), AdaptiveLimit(1, 1)
    budget.when_stopped.append(places.turn_away)
    file = RecordFile(tmp_path / "records.jsonl", Numbered)

    async def work(number: int) -> Numbered:
        await asyncio.sleep(0.01)  # until the others wait
        budget.interrupt()
        await asyncio.sleep(0.01)
        return Numbered(id=str(number))

    with pytest.raises(Interrupted):
        await run_phase(
            range(3),
            work,
            lambda number, reason: None,
            file,
            budget,
            Progress("numbers", 3),
            at_once=3,
            take_place=lambda: places.take_place("run", "run"),
        )
    assert file.list_ids() == ["0"]
    file.close()
