"""What became of all that came in: the funnel of a build."""

from __future__ import annotations

from collections.abc import Sequence

from sociable.construction.build import Counted
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone

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


def _reasons(found: Sequence[Counted]) -> list[Table]:
    rows = [
        Row([each.stage, reason, f"{count:,}"]) for each in found for reason, count in list(each.rejected.items())[:REASONS_SHOWN]
    ]
    return [Table("Why items were rejected", [Column("Stage"), Column("Reason"), Column("Items", True)], rows)] if rows else []
