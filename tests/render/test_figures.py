"""What all figures have in common, and the plot of intervals."""

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from xml.etree.ElementTree import fromstring

import pytest
from matplotlib import rc_context, rcParams

from sociable.core.view import Curve, CurvePlot, Dot, IntervalPlot, Mark, Plot, Point, RadarPlot, ScatterPlot
from sociable.render.figures import has_something_to_draw, interval_plot_svg, plot_svg
from sociable.render.figures.axis import short

KINDS = [IntervalPlot, CurvePlot, ScatterPlot, RadarPlot]
COLOURS_OF_THE_PAGE = {
    "none",
    "currentColor",
    *(f"var(--{name}, currentColor)" for name in ("muted", "rule", "accent", *(f"voice-{n}" for n in range(1, 7)))),
    "var(--page, none)",
}


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in fromstring(svg).iter("text")]


def height(svg: str) -> float:
    return float(fromstring(svg).attrib["height"])


def of_kind(plots: Sequence[Plot], kind: type[Plot]) -> Plot:
    return next(plot for plot in plots if isinstance(plot, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_plot_gives_the_same_figure_and_no_settings_stay_behind(plots: Sequence[Plot], kind: type[Plot]) -> None:
    plot = of_kind(plots, kind)
    before = dict(rcParams)
    first = plot_svg(plot)
    with rc_context({"font.size": 40, "lines.linewidth": 9, "svg.fonttype": "path", "patch.linewidth": 9}):
        assert plot_svg(plot) == first
    assert dict(rcParams) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("narrow", [False, True])
def test_nothing_of_the_figure_reaches_beyond_it(plots: Sequence[Plot], kind: type[Plot], narrow: bool) -> None:
    svg = plot_svg(of_kind(plots, kind), narrow)
    assert not re.search(r"style|<defs|\bid=|href|url\(|xmlns|#0|font-family|<\?|<!", svg)
    assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg)) <= COLOURS_OF_THE_PAGE


@pytest.mark.parametrize("kind", KINDS)
def test_for_those_who_cannot_see_it_it_has_a_name_and_a_description(plots: Sequence[Plot], kind: type[Plot]) -> None:
    plot = of_kind(plots, kind)
    root = fromstring(plot_svg(plot))
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"].startswith(plot.caption)
    assert root[0].tag == "desc"
    assert len(root[0].text or "") > 60
    assert all(group[0].tag == "title" and group[0].text for group in root.iter("g"))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("narrow", [False, True])
def test_hostile_strings_are_only_text(hostile_plots: Sequence[Plot], kind: type[Plot], narrow: bool) -> None:
    svg = plot_svg(of_kind(hostile_plots, kind), narrow)
    root = fromstring(svg)
    assert {element.tag for element in root.iter()} == {"svg", "g", "path", "text", "title", "desc"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
    assert any("$\\frac{1}{0}$ and $x_{" in text for text in texts(svg))
    assert not re.search("[\x00-\x08\x1b\u202e]", svg)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (None, "–"),
        (0.12345, "0.123"),
        (-3.0, "−3"),
        (999.4, "999"),
        (999.7, "1000"),
        (1240.4, "1240"),
        (-30_000, "−30000"),
        (999_999.7, "1e+06"),
        (1e-7, "1e−07"),
    ],
)
def test_values_are_short_and_thousands_are_written_in_full(number: float | None, expected: str) -> None:
    assert short(number) == expected


EXTREMES = [0.0, 1e308, -1e308, 1.7e308, 5e-324, -1e-320, 1e-300, 1e16, 1e16 + 2, math.nan, math.inf, -math.inf]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("numbers", [EXTREMES, *([one, other] for one in EXTREMES for other in (0.0, one))])
@pytest.mark.parametrize("kind", [*KINDS, "logarithmic"])
def test_extreme_numbers_are_drawn_inside_the_figure(kind: type[Plot] | str, numbers: list[float]) -> None:
    points = [Point(x, y, -y, 2.0) for x, y in zip(numbers, reversed(numbers), strict=True)]
    plots: dict[type[Plot] | str, Plot] = {
        IntervalPlot: IntervalPlot("c", "a", [Mark("m", n, 0.0, n) for n in numbers], numbers[0], numbers[-1]),
        CurvePlot: CurvePlot("c", "x", "y", [Curve("curve", points)], minimum=numbers[0], maximum=numbers[-1]),
        "logarithmic": CurvePlot("c", "x", "y", [Curve("curve", points)], steps=True, logarithmic=True),
        ScatterPlot: ScatterPlot("c", [Dot(point.x, point.y, "g") for point in points]),
        RadarPlot: RadarPlot("c", ["axis"] * len(numbers), numbers, numbers[0]),
    }
    svg = plot_svg(plots[kind])
    frame = fromstring(svg).attrib
    assert not re.search(r'="[^"]*(nan|inf)', svg)
    for path in re.findall(r' d="([^"]*)"', svg):
        places = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]
        assert all(0 <= x <= float(frame["width"]) for x, _ in places)
        assert all(0 <= y <= float(frame["height"]) for _, y in places)


@pytest.mark.parametrize(
    ("plot", "expected"),
    [
        (IntervalPlot("", "", []), False),
        (IntervalPlot("", "", [Mark("silent", None)]), True),
        (CurvePlot("", "", "", []), False),
        (CurvePlot("", "", "", [Curve("a", [Point(math.nan, 1), Point(1, math.inf)])]), False),
        (CurvePlot("", "", "", [Curve("a", [Point(0, 1)])]), True),
        (CurvePlot("", "", "", [Curve("a", [Point(0, 1)])], logarithmic=True), False),
        (ScatterPlot("", [Dot(1, math.nan, "")]), False),
        (ScatterPlot("", [Dot(1, 1, "")]), True),
        (RadarPlot("", [], []), False),
        (RadarPlot("", ["a", "b", "c"], []), True),
    ],
)
def test_without_anything_to_draw_there_is_an_empty_figure(plot: Plot, expected: bool) -> None:
    assert has_something_to_draw(plot) is expected
    for narrow in (False, True):
        assert fromstring(plot_svg(plot, narrow)).attrib["role"] == "img"


def test_it_says_in_words_what_it_shows(plot: IntervalPlot) -> None:
    svg = interval_plot_svg(plot)
    root = fromstring(svg)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == "Goals reached. Share of episodes"
    description = root.findtext("desc") or ""
    assert "model-0: 0.3 [0.2, 0.45]" in description
    assert "silent: no value" in description
    assert "paper: 0.7, published" in description
    assert "chance: 0.25" in description
    assert {"model-0", "silent", "paper", "–", "chance", "Share of episodes", "0.0", "1.0"} <= set(texts(svg))


def test_published_marks_are_hollow() -> None:
    def filling(mark: Mark) -> str:
        svg = interval_plot_svg(IntervalPlot("", "", [mark]))
        return fromstring(svg).findall("g/path")[-1].attrib["fill"]

    assert filling(Mark("", 1.0)) == "var(--accent, currentColor)"
    assert filling(Mark("", 1.0, published=True)) == "var(--page, none)"


def test_the_height_grows_with_the_marks() -> None:
    plots = [IntervalPlot("", "", [Mark("m", 1.0)] * count) for count in (1, 2, 3, 60)]
    heights = [height(interval_plot_svg(plot)) for plot in plots]
    assert heights[1] - heights[0] == heights[2] - heights[1] > 20
    assert heights[3] == heights[0] + 59 * (heights[1] - heights[0])


@pytest.mark.parametrize("label", ["$x^2$", "$\\frac{1}{$", "costs $5 or $6"])
def test_dollar_signs_start_no_formula(label: str) -> None:
    assert label in texts(interval_plot_svg(IntervalPlot("", "", [Mark(label, 1.0)])))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("marks", "minimum", "maximum", "reference"),
    [
        ([], None, None, None),
        ([Mark("none", None)], None, None, None),
        ([Mark("zero", 0.0)], 0, 0, 0),
        ([Mark("nan", math.nan, math.inf, -math.inf)], math.nan, math.inf, math.nan),
        ([Mark("outside", 12.0, -3.0, 14.0)], 0, 1, 30),
        ([Mark("turned round", 0.5, 0.7, 0.2)], 1, 0, None),
        ([Mark("one side", 0.5, low=0.2), Mark("no value", None, 0.1, 0.2)], None, None, None),
        ([Mark("large", 3e12), Mark("small", 1e12)], None, None, None),
        ([Mark("close", 1.000001), Mark("by", 1.000002)], None, None, None),
        ([Mark("tiny", 1e-9), Mark("negative", -2e-9)], None, None, -1e-9),
    ],
)
def test_any_numbers_can_be_drawn(
    marks: list[Mark], minimum: float | None, maximum: float | None, reference: float | None
) -> None:
    for narrow in (False, True):
        svg = interval_plot_svg(IntervalPlot("c", "a", marks, minimum, maximum, reference), narrow)
        width = float(fromstring(svg).attrib["width"])
        paths = re.findall(r' d="([^"]*)"', svg)
        across = [float(x) for path in paths for x in re.findall(r"(-?[\d.]+) -?[\d.]+", path)]
        assert min(across) >= 0
        assert max(across) <= width


def test_importing_the_reports_does_not_import_matplotlib() -> None:
    program = "import sys, sociable.render; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
