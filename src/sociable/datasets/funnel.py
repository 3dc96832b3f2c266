"""The fate of all that came in: the funnel of a build, for the terminal and the data card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone
from sociable.datasets.build import DATASET, StageCounts
from sociable.datasets.recipe import Plan

REASONS_SHOWN = 5
"""Reasons of each stage that the terminal shows."""


def make_build_document(plan: Plan, found: Sequence[StageCounts], path: Path) -> Document:
    """The document of how far a build in the folder ``path`` has come, and what it cannot go on without."""
    done = len(found) == len(plan.stages)
    problem = "" if not done or found[-1].made else "Nothing came through, so the data set is empty. Below stands why."
    if not done:
        stage, items = plan.stages[len(found)], found[-1].made if found else len(plan.items)
        problem = (
            f"Up to {items:,} items wait for a model at the stage '{stage.name}'. Name one with --model, and the same --out."
        )
        if (path / DATASET).exists():
            problem += f" Until then {DATASET} is of before."
    notes = [Callout(problem, Tone.WARNING)] if problem else []
    return Document(
        title=f"{plan.recipe.benchmark}, built from {plan.recipe.material}",
        subtitle=f"{path / DATASET}" if done else f"{path}, not finished",
        summary=make_funnel_table(found),
        sections=[Section("Funnel", [*notes, *make_reason_tables(found, REASONS_SHOWN)])],
    )


def make_funnel_table(found: Sequence[StageCounts]) -> Table:
    """The table of how many items came into each stage, and how many are left."""
    rows = [
        Row([each.name, each.meaning, f"{each.came:,}", f"{sum(each.rejected.values()):,}", f"{each.made:,}"]) for each in found
    ]
    numbers = [Column(title, True) for title in ("Came in", "Rejected", "Handed on")]
    note = "Of one item several may be made. Every rejected item stands in its stage's file with its reason."
    return Table("What came in and what is left", [Column("Stage"), Column("Keeps or makes"), *numbers], rows, note)


def make_reason_tables(found: Sequence[StageCounts], most: int | None = None) -> Iterator[Table]:
    """Tables of why items, and parts of items, did not go on: the ``most`` frequent reasons of each stage, all by default."""
    rejected = [(each.name, each.rejected) for each in found]
    left_out = [(each.name, each.left_out) for each in found]
    for title, counts, of in (
        ("Why items were rejected", rejected, "Items"),
        ("What was left out of items that stayed, or were rejected for want of it", left_out, "Parts"),
    ):
        rows = [Row([stage, reason, f"{count:,}"]) for stage, by in counts for reason, count in list(by.items())[:most]]
        if rows:
            yield Table(title, [Column("Stage"), Column("Reason"), Column(of, True)], rows)
