"""Documents for the tests of the reports: one as a benchmark would write it, one as an attacker would."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from sociable.core.plots import Curve, CurvePlot, Dot, IntervalPlot, Mark, Point, RadarPlot, ScatterPlot
from sociable.core.view import (
    Callout,
    Case,
    Column,
    Document,
    Line,
    Paragraph,
    Plot,
    Quotation,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
)
from sociable.render.html import render_html

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
    others.append(Mark("beside a scale", 0.5, 0.4, 0.6, scale=[0.0, 0.33, 1.0]))
    return IntervalPlot("Goals reached", "Share of episodes", [*marks, *others], 0, 1, 0.25, "chance")


@pytest.fixture(scope="session")
def curve_plot() -> CurvePlot:
    """Three curves of 100 steps, of which the second lacks a value and the third ends early."""

    def share(cycle: int, rate: float) -> float:
        return 1 - (1 - rate) ** cycle

    def points(rate: float, last: int = 100) -> list[Point]:
        shares = [(cycle, share(cycle, rate)) for cycle in range(1, last + 1)]
        return [Point(cycle, value, value * 0.9, min(1.0, value * 1.1)) for cycle, value in shares]

    broken = [Point(point.x, math.nan) if point.x == 20 else point for point in points(0.04)]
    curves = [
        Curve("gpt-5-mini-2025-08-07", points(0.1)),
        Curve("claude-sonnet-4-20250514", broken),
        Curve("meta-llama/Llama-3.3-70B-Instruct", points(0.02, last=60)),
    ]
    return CurvePlot("Solved by each cycle", "cycle", "share solved", curves, True, True, 0, 1)


@pytest.fixture(scope="session")
def scatter_plot() -> ScatterPlot:
    """Eight groups of 12 around a circle, and 20 dots without a group between them."""
    dots = [
        Dot(9 * math.cos(group) + math.cos(n * group), 5 * math.sin(group) + math.sin(n), f"Theme {group}", f"Item {n}")
        for group in range(1, 9)
        for n in range(12)
    ]
    strays = [Dot(8 * math.sin(n * n), 4 * math.cos(n * n), "", f"Stray {n}") for n in range(20)]
    return ScatterPlot("Situations by likeness", [*strays, *dots])


@pytest.fixture(scope="session")
def radar_plot() -> RadarPlot:
    axes = ["Situation recognition", "Emotional inference", "Behaviour selection", "Social memory", "Long-term planning"]
    return RadarPlot("Mean score by ability", axes, [0.72, 0.55, 0.81, 0.3, 0.95], 1)


@pytest.fixture(scope="session")
def plots(plot: IntervalPlot, curve_plot: CurvePlot, scatter_plot: ScatterPlot, radar_plot: RadarPlot) -> Sequence[Plot]:
    """One of each kind."""
    return [plot, curve_plot, scatter_plot, radar_plot]


@pytest.fixture(scope="session")
def hostile_plots() -> Sequence[Plot]:
    """One of each kind, every string of it hostile."""
    everything = " ".join(HOSTILE)
    marks = [Mark(text, index / 10, published=index % 2 == 0) for index, text in enumerate(HOSTILE)]
    curves = [Curve(text, [Point(x, index + x, index, index + 9) for x in (1, 2, 7)]) for index, text in enumerate(HOSTILE)]
    dots = [Dot(index, index % 5, text, text) for index, text in enumerate(HOSTILE)]
    return [
        IntervalPlot(everything, everything, marks, reference=1.9, reference_label=everything),
        CurvePlot(everything, everything, everything, curves),
        ScatterPlot(everything, dots),
        RadarPlot(everything, HOSTILE, [index / 7 for index in range(len(HOSTILE))]),
    ]


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
def drawn(scores: Table, curve_plot: CurvePlot, scatter_plot: ScatterPlot, radar_plot: RadarPlot) -> Document:
    """Plots with few and many series, and with figures that are hard to set."""
    fifty = [Mark(f"vendor-{n}/model-{n}-with-a-name-of-some-length", n / 60, n / 70, n / 45, n % 3 == 0) for n in range(50)]
    negative = [Mark("loss", -12_345.6, -20_000, -8_000), Mark("gain", 30_000), Mark("silent", None)]
    intervals: list[Plot] = [
        IntervalPlot("Fifty", "share of episodes in which the goal was reached", fifty, 0, 1, 0.97, "the best there can be"),
        IntervalPlot("Negative", "", negative, reference=-20_000, reference_label="what was to be expected of them all"),
        IntervalPlot("Tiny", "a long name of an axis " * 9, [Mark("文" * 40, 1e-9, 0, 2e-9), Mark("🙂" * 40, 1.00001e-9)]),
        IntervalPlot("Huge", "points", [Mark("a", 1e308, -1e308, math.inf), Mark("b", 5e-324), Mark("c", 1e16)]),
        IntervalPlot("None", "points", [Mark("nobody has a value", None)], 0, 1),
    ]
    seven = [Curve(f"model-{n}", [Point(x, math.sin(x / 5 + n / 3)) for x in range(40)]) for n in range(7)]
    large = [Point(x, y * 1e12, y * 0.9e12, y * 1.1e12) for x, y in ((0.001, -3), (0.5, 2), (4e6, 7))]
    curves: list[Plot] = [
        curve_plot,
        CurvePlot("Seven", "turn", "score", seven),
        CurvePlot("Large", "tokens", "a long name of an axis that needs two lines at least " * 2, [Curve("", large)]),
        CurvePlot("Large and logarithmic", "tokens", "y", [Curve("a name " * 30, large)], logarithmic=True),
        CurvePlot("Within a decade", "x", "y", [Curve("a", [Point(x, x) for x in (310, 320, 330)])], logarithmic=True),
    ]
    many_groups = [Dot(n, math.sin(n), f"a group with a rather long name, number {n}", f"item {n}") for n in range(30)]
    scatters: list[Plot] = [scatter_plot, ScatterPlot("Thirty groups", many_groups)]
    values = [(n * 7919) % 31 / 31 for n in range(60)]
    names = [f"Axis with a name, number {n}" for n in range(60)]
    radars: list[Plot] = [
        radar_plot,
        *(RadarPlot(f"{n} axes", names[:n], values[:n]) for n in (3, 4, 7, 12, 40)),
        RadarPlot("Short names", ["Goal", "Secret", "Rules"], [30_000, 1_234_567, math.nan]),
        RadarPlot("Long names", ["no figure can hold this name " * 9] * 3, [1, 2, 3]),
    ]
    sections = [*map(Section, ("Intervals", "Curves", "Dots", "Radars"), (intervals, curves, scatters, radars))]
    return Document("Figures", "", scores, sections)


@pytest.fixture(scope="session")
def hostile(hostile_plots: Sequence[Plot]) -> Document:
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
    figures = [
        *hostile_plots,
        IntervalPlot(everything, everything, []),
        CurvePlot(everything, everything, everything, []),
        ScatterPlot(everything, []),
        RadarPlot(everything, [], []),
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


@pytest.fixture(scope="session")
def hostile_page(hostile: Document) -> str:
    return render_html(hostile)
