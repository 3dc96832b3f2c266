"""What both of AntEval's benchmarks show: Table 1's layout, and a session turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sociable.benchmarks.anteval.published import GPT_4_NOTE, TABLE_1
from sociable.benchmarks.anteval.session import TableTurn
from sociable.core.view import MISSING, Column, Line, Row, Table, Tone, Transcript
from sociable.engine.result import RunResult

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


def table_1(results: Sequence[RunResult]) -> Table:
    """Table 1's layout: our runs first, each with what its benchmark measures, then the published rows."""
    rows = []
    for result in results:
        found = [result.estimate(metric) for metric in TABLE_1_METRICS]
        rows.append(Row([result.label, *(percent(e.value, e.low, e.high) if e else MISSING for e in found)], emphasis=True))
    for row in TABLE_1:
        figures = (row.iep, row.f_g_c, row.gap_c, row.f_g_o, row.gap_o)
        rows.append(Row([f"{row.model} (paper)", *(f"{each:.2f}" for each in figures)]))
    return Table(
        "IEP and IEG in percent, in the layout of the paper's Table 1",
        [Column("Model"), *TABLE_1_METRICS.values()],
        rows,
        f"{ANOTHER_DATA_SET} {GPT_4_NOTE}",
    )


def percent(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A share as the paper prints it, with its interval: ``55.93 [41, 70]``."""
    if value is None:
        return MISSING
    if low is None or high is None:
        return f"{100 * value:.2f}"
    return f"{100 * value:.2f} [{100 * low:.0f}, {100 * high:.0f}]"


def session_lines(turns: Sequence[TableTurn], remarks: Mapping[int, str], told: Mapping[int, Tone] | None = None) -> Transcript:
    """Every turn; ``remarks`` says by index what is to be known of a turn, ``told`` how it is marked."""
    lines = []
    for turn in turns:
        notes = "; ".join(filter(None, (remarks.get(turn.index), turn.note)))
        text = f"{turn.content or '(passes)'}{f' [{notes}]' if notes else ''}"
        lines.append(Line(turn.speaker, "", text, (told or {}).get(turn.index)))
    return Transcript("The session", lines)


def run_label(manifest: Mapping[str, Any]) -> str:
    """A run with a partner names who played the NPC."""
    subject, partner = manifest["models"]["subject"], manifest["models"]["partner"]
    return f"{subject} + {partner}" if partner else str(subject)
