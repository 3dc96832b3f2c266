"""Documents for the tests of the reports: one as a benchmark would write it, one as an attacker would."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sociable.core.view import (
    Callout,
    Case,
    Column,
    Document,
    IntervalPlot,
    Line,
    Mark,
    Paragraph,
    Quotation,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
)

HOSTILE = (
    "<script>window.broken = 1</script>",
    '"><img src=x onerror="window.broken = 2">',
    "</style><script>window.broken = 3</script>",
    "</title></desc></svg><svg onload='window.broken = 4'>",
    "javascript:window.broken=5",
    "{{ 7 * 7 }}{% raw %}",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J",
    "user\u202egnp.exe\u2066 \u200b\ufeff\U000e0041",
    "[red]markup[/red] [link=http://evil.example]x[/link] [/]",
    "half a pair: \ud800, \udfff; no characters: \ufffe \uffff \x00",
    "$\\frac{1}{0}$ and $x_{",
    "W" * 400,
    "文" * 90,
    "🙂👩\u200d👩\u200d👧" * 40,
    "a" + "\u0301" * 500,
    "مرحبا بالعالم",
    "line\nline\r\nline\ttab",
    "",
    " ",
)
"""Strings as a model or a data file might hold them."""

TRANSCRIPT = Transcript(
    "Conversation",
    [
        Line("Ada", "Ben", "Give me the deposit.", None),
        Line("Ben", "Ada", "I have spent it.", Tone.BAD),
        Line("Ada", "Ben", "Then by Friday.", Tone.GOOD),
        Line("Ben", "", "(sighs)", Tone.WARNING),
        Line("Cleo", "Ada", "Well.\n\nWell.", Tone.NEUTRAL),
    ],
)


@pytest.fixture(scope="session")
def hostile_strings() -> Sequence[str]:
    return HOSTILE


@pytest.fixture(scope="session")
def scores() -> Table:
    columns = [
        Column("Model"),
        Column("Source"),
        Column("Goal", numeric=True, explanation="Share of episodes with the goal reached."),
        Column("Secret kept", numeric=True),
        Column("Episodes", numeric=True),
    ]
    rows = [
        Row(["a-model-2025-08-07", "measured here", "0.732 [0.61, 0.83]", "−0.1 [−0.2, 0.0]", "1,240"], True),
        Row(["another-model-70b", "Zhou et al. 2024", "0.700", "–", "90"]),
    ]
    return Table("Scores", columns, rows, "Intervals cover 95 %.")


@pytest.fixture(scope="session")
def plot() -> IntervalPlot:
    marks = [Mark(f"model-{n}", 0.3 + n / 20, 0.2 + n / 20, 0.45 + n / 20) for n in range(9)]
    others = [
        Mark("silent", None),
        Mark("paper", 0.7, published=True),
        Mark("a paper with a name that no figure can hold " * 3, 0.6, 0.5, 0.7, published=True),
    ]
    return IntervalPlot("Goals reached", "Share of episodes", [*marks, *others], 0, 1, 0.25, "chance")


@pytest.fixture(scope="session")
def honest(scores: Table, plot: IntervalPlot) -> Document:
    case = Case(
        "The deposit",
        [Tag(f"tag {tone}", tone) for tone in Tone],
        [
            Paragraph("Ada wants her deposit back."),
            TRANSCRIPT,
            Transcript("Folded", TRANSCRIPT.lines, folded=True),
            *(Quotation(f"Judge, {tone}", '{\n    "goal": 8\n}', tone) for tone in Tone),
            Callout("Only in this case.", Tone.WARNING),
            scores,
        ],
    )
    wide = Table("Wide", [Column(f"Column {n}", True) for n in range(14)], [Row(["0.12 [0.10, 0.14]"] * 14)])
    callouts = [Callout(f"A callout, {tone}.", tone) for tone in Tone]
    sections = [
        Section("Judges", [*callouts, Paragraph("Text."), wide]),
        Section("Goals", [plot, TRANSCRIPT]),
        Section("Cases", [case, case]),
    ]
    details = [("Version", "0.1.0"), ("Digest", "sha256:" + "0f" * 32)]
    return Document("Social goals", "Two models.", scores, sections, details)


@pytest.fixture(scope="session")
def hostile() -> Document:
    """Every string of every record is hostile, and rows are too short and too long."""
    everything = " ".join(HOSTILE)
    rows = [Row([text, text, text], emphasis=index % 2 == 0) for index, text in enumerate(HOSTILE)]
    columns = [Column(everything, explanation=everything), Column(HOSTILE[0], True, HOSTILE[1])]
    table = Table(everything, columns, [*rows, Row([])], everything)
    blocks: list[Paragraph | Callout | Table | Transcript | Quotation] = [
        Paragraph(everything),
        Callout(everything, Tone.BAD),
        table,
        Transcript(everything, [Line(text, text, text, Tone.GOOD) for text in HOSTILE]),
        Transcript(everything, [], folded=True),
        Quotation(everything, everything),
    ]
    marks = [Mark(text, index / 10, published=index % 2 == 0) for index, text in enumerate(HOSTILE)]
    figures = [
        IntervalPlot(everything, everything, marks, reference=1.9, reference_label=everything),
        IntervalPlot(everything, everything, []),
    ]
    case = Case(everything, [Tag(text, Tone.WARNING) for text in HOSTILE], blocks)
    sections = [Section(text, []) for text in HOSTILE]
    return Document(
        everything,
        everything,
        table,
        [*sections, Section(everything, [*blocks, *figures, case])],
        [(text, text) for text in HOSTILE],
    )
