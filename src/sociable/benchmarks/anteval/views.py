"""The views that both of AntEval's benchmarks show: Table 1's layout, and a session turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

from sociable.benchmarks.anteval.characters import Scenario, describe_sheet
from sociable.benchmarks.anteval.published import GPT_4_NOTE, TABLE_1
from sociable.core.records import Episode
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Case,
    Column,
    Line,
    Paragraph,
    Quotation,
    Row,
    Table,
    Tag,
    Tone,
    Transcript,
)
from sociable.engine.result import RunResult
from sociable.reports.views import Views

TABLE_1_METRICS = {
    "iep": Column("IEP", True, "Information Exchange Precision: share of key points that players state afterwards"),
    "f_g/character": Column("f_g character", True, "F-score of the virtual DM tuned on these sessions, for who acts"),
    "g/character": Column("G character", True, "the gap to the DM tuned on real sessions; the smaller the better"),
    "f_g/tuple": Column("f_g overall", True, "the same for who acts and with which skill"),
    "g/tuple": Column("G overall", True, "the same for who acts and with which skill"),
}
ANOTHER_DATA_SET = (
    "In percent. Published rows (paper) are of other cards, scenes and real sessions, none of which were published, and of "
    "models of 2023: to look at, not to compare with."
)


class TableViews(Views):
    episodes_called = "Sessions"
    sessions_shown = 8

    def make_label(self, manifest: Mapping[str, Any]) -> str:
        """The subject; a run with a partner names who played the NPC."""
        subject, partner = manifest["models"]["subject"], manifest["models"]["partner"]
        return f"{subject} + {partner}" if partner else str(subject)

    def make_case(
        self,
        title: str,
        tags: Sequence[Tag],
        scenario: Scenario,
        episode: Episode,
        problem: str,
        scene: str,
        secret: str,
        intentions: Mapping[str, str] | None = None,
        remarks: Mapping[int, str] | None = None,
        more: Sequence[Paragraph | Callout | Transcript | Quotation | Table] = (),
    ) -> list[Block]:
        """A session, readable in full: the scene, everybody in it, every turn, and what one benchmark has to show ``more``.

        ``secret`` is what the NPC alone knows or wants, ``intentions`` says what each player means to do, and ``remarks`` says by
        index what is to be known of a turn.
        """
        npc, remarks = scenario.npc, remarks or {}
        lines = []
        for turn in episode.turns:
            notes = "; ".join(filter(None, (remarks.get(turn.index), turn.note)))
            text = f"{turn.content or '(passes)'}{f' [{notes}]' if notes else ''}"
            lines.append(Line(turn.speaker, "", text, Tone.GOOD if turn.index in remarks else None))
        players = []
        for sheet in scenario.players:
            intends = "" if intentions is None else f"; intends: {intentions.get(sheet.name, 'nothing in particular')}"
            players.append(Quotation(f"{sheet.name}, a player{intends}", describe_sheet(sheet)))
        blocks = [
            *([Callout(problem, Tone.WARNING)] if problem else []),
            Paragraph(scene),
            Quotation(f"{npc.name} ({npc.pronouns}), the NPC", f"{npc.who}\n{npc.manner}\n{secret}"),
            *players,
            Transcript("The session", lines),
            *more,
        ]
        return [Case(f"{title} ({episode.id})", tags, blocks)]


def make_counts_table(caption: str, what: str, called: str, counts: Mapping[str, int], note: str = "") -> Table:
    """A row for everything that was counted."""
    return Table(caption, [Column(what), Column(called, True)], [Row([each, str(count)]) for each, count in counts.items()], note)


def make_table_1(results: Sequence[RunResult]) -> Table:
    """Table 1's layout: our runs first, each with what its benchmark measures, then the published rows."""
    rows = []
    for result in results:
        found = [result.estimate(metric) for metric in TABLE_1_METRICS]
        rows.append(
            Row([result.label, *(format_percent(e.value, e.low, e.high) if e else MISSING for e in found)], emphasis=True)
        )
    for row in TABLE_1:
        model, *figures = astuple(row)
        rows.append(Row([f"{model} (paper)", *(f"{each:.2f}" for each in figures)]))
    return Table(
        "IEP and IEG in percent, in the layout of the paper's Table 1",
        [Column("Model"), *TABLE_1_METRICS.values()],
        rows,
        f"{ANOTHER_DATA_SET} {GPT_4_NOTE}",
    )


def format_percent(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A share as the paper prints it, with its interval: ``55.93 [41, 70]``."""
    if value is None:
        return MISSING
    interval = "" if low is None or high is None else f" [{100 * low:.0f}, {100 * high:.0f}]"
    return f"{100 * value:.2f}{interval}"
