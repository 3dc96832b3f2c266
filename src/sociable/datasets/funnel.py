"""What became of all that came in: the funnel of a build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone
from sociable.datasets.build import Counted

REASONS_SHOWN = 5


def funnel_document(title: str, subtitle: str, found: Sequence[Counted], waiting: str = "") -> Document:
    """``waiting``: what the build cannot go on without, if it could not."""
    notes = [Callout(waiting, Tone.WARNING)] if waiting else []
    return Document(
        title=title, subtitle=subtitle, summary=_funnel(found), sections=[Section("Funnel", [*notes, *_reasons(found)])]
    )


def _funnel(found: Sequence[Counted]) -> Table:
    rows = [
        Row([each.stage, each.meaning, f"{each.came:,}", f"{sum(each.rejected.values()):,}", f"{each.made:,}"]) for each in found
    ]
    columns = [
        Column("Stage"),
        Column("Keeps or makes"),
        Column("Came in", True),
        Column("Rejected", True),
        Column("Handed on", True),
    ]
    note = "Of one item several may be made. Every rejected item stands in its stage's file with its reason."
    return Table("What came in and what is left", columns, rows, note)


def _reasons(found: Sequence[Counted]) -> Iterator[Table]:
    rejected = [(each.stage, each.rejected) for each in found]
    left_out = [(each.stage, each.left_out) for each in found]
    for title, counted, of in (
        ("Why items were rejected", rejected, "Items"),
        ("What was left out of items that stayed, or were rejected for want of it", left_out, "Parts"),
    ):
        rows = [Row([stage, reason, f"{count:,}"]) for stage, by in counted for reason, count in list(by.items())[:REASONS_SHOWN]]
        if rows:
            yield Table(title, [Column("Stage"), Column("Reason"), Column(of, True)], rows)
