"""What a figure's SVG element holds. Whether it is legible, only a browser tells: test_in_browser.py."""

import itertools
import math
import re
import subprocess
import sys
from collections.abc import Sequence
from xml.etree.ElementTree import Element, fromstring

import pytest
from matplotlib import rc_context, rcParams

from sociable.core.plots import Curve, CurvePlot, Dot, IntervalPlot, Mark, Point, RadarPlot, ScatterPlot
from sociable.core.view import Plot
from sociable.render.figures import render_figure

KINDS = [IntervalPlot, CurvePlot, ScatterPlot, RadarPlot]
COLOURS_OF_THE_PAGE = {
    "none",
    "currentColor",
    *(f"var(--{name}, currentColor)" for name in ("muted", "rule", "accent", *(f"voice-{n}" for n in range(1, 7)))),
    "var(--page, none)",
}


def texts(plot: Plot, narrow: bool = False) -> list[str]:
    return [element.text or "" for element in fromstring(render_figure(plot, narrow)).iter("text")]


def paths(plot: Plot) -> list[Element]:
    return list(fromstring(render_figure(plot)).iter("path"))


def titled(plot: Plot) -> dict[str, Element]:
    """The shapes that say something when they are pointed at, by what they say; of several, the last."""
    return {title: path for path in paths(plot) if (title := path.findtext("title"))}


def place(sign: Element) -> tuple[float, float]:
    found = re.fullmatch(r"translate\((\S+) (\S+)\)", sign.attrib["transform"])
    assert found
    return float(found[1]), float(found[2])


def corners(line: Element) -> list[list[tuple[float, float]]]:
    """Those of each stretch."""
    stretches = line.attrib["d"].split("M")[1:]
    return [[(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", stretch)] for stretch in stretches]


def of_kind(plots: Sequence[Plot], kind: type[Plot]) -> Plot:
    return next(plot for plot in plots if isinstance(plot, kind))


# ------------------------------------------------------------------------------------------------------------
# All kinds


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_plot_gives_the_same_figure_and_no_settings_stay_behind(plots: Sequence[Plot], kind: type[Plot]) -> None:
    plot = of_kind(plots, kind)
    before = dict(rcParams)
    first = render_figure(plot)
    with rc_context({"font.size": 40, "lines.linewidth": 9, "svg.fonttype": "path", "patch.linewidth": 9}):
        assert render_figure(plot) == first
    assert dict(rcParams) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("narrow", [False, True])
def test_nothing_of_the_figure_reaches_beyond_it(plots: Sequence[Plot], kind: type[Plot], narrow: bool) -> None:
    svg = render_figure(of_kind(plots, kind), narrow)
    assert not re.search(r"style|<defs|\bid=|href|url\(|xmlns|#0|font-family|<\?|<!", svg)
    assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg)) <= COLOURS_OF_THE_PAGE
    assert f'width="{288 if narrow else 624}"' in svg
    assert set(re.findall(r'font-size="([^"]*)"', svg)) == {"12px"}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("narrow", [False, True])
def test_hostile_strings_are_only_text(hostile_plots: Sequence[Plot], kind: type[Plot], narrow: bool) -> None:
    svg = render_figure(of_kind(hostile_plots, kind), narrow)
    root = fromstring(svg)
    assert {element.tag for element in root.iter()} <= {"svg", "path", "text", "title"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
    assert any("$\\frac{1}{0}$ and $x_{" in (text.text or "") for text in root.iter("text"))
    assert not re.search("[\x00-\x08\x1b\u202e]", svg)


EXTREMES = [0.0, 1e308, -1e308, 1.7e308, 5e-324, -1e-320, 1e-300, 1e16, 1e16 + 2, math.nan, math.inf, -math.inf]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("numbers", [EXTREMES, [0.0], [5e-324], [1e308] * 2, [-1e308, 1e308], [1e16, 1e16 + 2], [math.nan]])
def test_any_numbers_can_be_drawn(numbers: list[float]) -> None:
    points = [Point(x, y, -y, 2.0) for x, y in zip(numbers, reversed(numbers), strict=True)]
    plots: list[Plot] = [
        IntervalPlot("c", "a", [Mark("m", n, 0.0, n) for n in numbers], numbers[0], numbers[-1], numbers[0]),
        CurvePlot("c", "x", "y", [Curve("curve", points)], minimum=numbers[0], maximum=numbers[-1]),
        CurvePlot("c", "x", "y", [Curve("curve", points)], steps=True, logarithmic=True),
        ScatterPlot("c", [Dot(point.x, point.y, "g") for point in points]),
        RadarPlot("c", ["axis"] * len(numbers), numbers, numbers[0]),
    ]
    for plot in plots:
        if plot.make_number_table().rows:
            assert not re.search(r'="[^"]*(nan|inf)', render_figure(plot))


@pytest.mark.parametrize("label", ["$x^2$", "$\\frac{1}{$", "costs $5 or $6"])
def test_dollar_signs_start_no_formula(label: str) -> None:
    assert label in texts(IntervalPlot("", "", [Mark(label, 1.0)]))


def test_letters_of_unknown_width_keep_the_room_they_were_given() -> None:
    root = fromstring(render_figure(IntervalPlot("", "", [Mark("é Ω Ж – …", 1.0), Mark("文" * 9, 1.0)])))
    room = {text.text: text.get("textLength") for text in root.iter("text")}
    assert room["é Ω Ж – …"] is None
    assert float(room["文" * 9] or 0) > 0


def test_each_kind_of_plot_is_among_those_that_are_drawn_here(plots: Sequence[Plot]) -> None:
    assert {type(plot).__name__ for plot in plots} == {kind.__name__ for kind in Plot.__subclasses__()}


def test_importing_the_reports_does_not_import_matplotlib() -> None:
    program = "import sys, sociable.render; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# ------------------------------------------------------------------------------------------------------------
# Intervals


def test_marks_have_labels_values_and_a_reference(plot: IntervalPlot) -> None:
    assert {"model-0", "silent", "paper", "no value", "chance", "Share of episodes", "0.0", "1.0"} <= set(texts(plot))
    assert {"model-0: 0.300 [0.20, 0.45]", "paper: 0.700, published"} <= set(titled(plot))
    assert {"measured here", "published"} <= set(texts(plot))
    assert "measured here" not in texts(IntervalPlot("", "", [Mark("one", 1.0)]))


def test_published_marks_are_hollow() -> None:
    def filling(mark: Mark) -> str:
        (dot,) = titled(IntervalPlot("", "", [mark])).values()
        return dot.attrib["fill"]

    assert filling(Mark("", 1.0)) == "var(--accent, currentColor)"
    assert filling(Mark("", 1.0, published=True)) == "var(--page, none)"


def test_the_height_grows_with_the_marks() -> None:
    def height(count: int) -> float:
        return float(fromstring(render_figure(IntervalPlot("", "", [Mark("m", 1.0)] * count))).attrib["height"])

    assert height(2) - height(1) == height(3) - height(2) == 25
    assert height(60) == height(1) + 59 * 25


@pytest.mark.parametrize(
    ("mark", "maximum", "in_order"),
    [
        (Mark("wide", 0.5, 0.4, 1.5), 1, ["dot", "interval = one"]),  # the interval ends where the axis ends
        (Mark("wide", 0.5, 0.4, 1.5), None, ["dot", "one", "interval"]),  # without an end that was asked for, it does not
        (Mark("high", 1.4, 1.3, 1.5), 1, ["one", "dot", "interval"]),  # a value is always inside
    ],
)
def test_the_axis_holds_all_values_and_cuts_intervals(mark: Mark, maximum: float | None, in_order: list[str]) -> None:
    interval, *_, dot, one = (path for path in paths(IntervalPlot("", "", [mark, Mark("1", 1.0)], 0, maximum)) if len(path))
    ends = {"dot": place(dot)[0], "interval": corners(interval)[0][1][0], "one": place(one)[0]}
    found = [" = ".join(names) for _, names in itertools.groupby(sorted(ends, key=lambda n: (ends[n], n)), key=lambda n: ends[n])]
    assert found == in_order


# ------------------------------------------------------------------------------------------------------------
# Curves


def plot_of(*points: Point, steps: bool = False, logarithmic: bool = False) -> CurvePlot:
    return CurvePlot("c", "x", "y", [Curve("one", points)], steps, logarithmic)


def x_ticks(plot: CurvePlot, narrow: bool = False) -> list[str]:
    """What is centred: the figures of the x axis, and after them its name."""
    root = fromstring(render_figure(plot, narrow))
    return [text.text or "" for text in root.iter("text") if text.get("text-anchor") == "middle"][:-1]


def bands(plot: CurvePlot) -> list[Element]:
    return [path for path in paths(plot) if "fill-opacity" in path.attrib or "opacity" in path.attrib]


def test_curves_are_named_and_their_points_say_what_they_show(curve_plot: CurvePlot) -> None:
    assert {"share solved", "cycle", "gpt-5-mini-2025-08-07"} <= set(texts(curve_plot))
    assert "gpt-5-mini-2025-08-07, cycle 1: 0.100 [0.09, 0.11]" in titled(curve_plot)


@pytest.mark.parametrize("narrow", [False, True])
def test_a_logarithmic_axis_has_plain_round_figures(curve_plot: CurvePlot, narrow: bool) -> None:
    assert x_ticks(curve_plot, narrow) == ["1", "2", "5", "10", "20", "50", "100"]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (0.01, 2, ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"]),
        (1, 1e9, ["1", "100", "10000", "1e+06", "1e+08"]),
        (310, 330, [str(n) for n in range(310, 331, 2)]),  # not one round number among them
        (7, 7, ["4", "6", "8", "10", "12", "14"]),
    ],
)
def test_ticks_suit_the_range(first: float, last: float, expected: list[str]) -> None:
    assert x_ticks(plot_of(Point(first, 0.5), Point(last, 0.5), logarithmic=True)) == expected


def test_counts_have_no_ticks_between_them() -> None:
    assert x_ticks(plot_of(Point(0, 0), Point(3, 30))) == ["0", "1", "2", "3"]
    assert x_ticks(plot_of(Point(0, 0), Point(0.5, 30)))[:3] == ["0.00", "0.05", "0.10"]


def test_steps_hold_a_value_until_the_next_point() -> None:
    points = [Point(0, 0), Point(1, 10), Point(2, 5)]
    (line,) = corners(titled(plot_of(*points))["one"])
    assert len(line) == 3
    (line,) = corners(titled(plot_of(*points, steps=True))["one"])
    # Right at the old height, then up or down: (0,0) (1,0) (1,10) (2,10) (2,5).
    assert [line[0][1] == line[1][1], line[2][1] == line[3][1]] == [True, True]
    assert [line[1][0] == line[2][0], line[3][0] == line[4][0]] == [True, True]
    assert len(line) == 5


def test_a_point_without_a_value_interrupts_the_line() -> None:
    points = [Point(0, 0), Point(1, 1), Point(2, math.nan), Point(3, 1), Point(4, 0), Point(math.inf, 9)]
    before, after = corners(titled(plot_of(*points))["one"])
    assert (len(before), len(after)) == (2, 2)
    # The value of a step holds until the place where the next one is missing.
    before, after = corners(titled(plot_of(*points, steps=True))["one"])
    assert before[-1][0] - before[0][0] == pytest.approx((after[-1][0] - before[0][0]) / 2, abs=0.05)


def test_the_order_of_the_points_does_not_matter() -> None:
    points = [Point(x, x * x, x, x * x + 1) for x in range(1, 9)]
    assert render_figure(plot_of(*reversed(points))) == render_figure(plot_of(*points))


def test_intervals_are_bands_where_there_are_some() -> None:
    inside, outside = [Point(x, 1, 0.5, 2) for x in range(3)], [Point(x, 1) for x in range(3, 6)]
    assert len(bands(plot_of(*inside, *outside))) == 1
    assert not bands(plot_of(*outside))
    # One that stands alone has no width: it is a line, and higher than that of the curve.
    alone = plot_of(Point(0, 1), Point(1, 1, 0, 2), Point(2, 1))
    assert not bands(alone)
    upright = [line for path in paths(alone) if path.get("fill") == "none" for line in corners(path)]
    assert any(one[0] == other[0] and abs(one[1] - other[1]) > 100 for one, other in (line[:2] for line in upright))


def test_a_band_ends_where_the_axis_ends() -> None:
    points = [Point(x, 0.5, -1, 2) for x in range(3)]
    plot = CurvePlot("", "x", "y", [Curve("", points)], minimum=0, maximum=1)
    (band,) = bands(plot)
    heights = {round(float(y) + place(band)[1], 1) for y in re.findall(r"[ML] \S+ (\S+)", band.attrib["d"])}
    grid = [corners(path)[0][0][1] for path in paths(plot) if path.get("stroke") == "var(--rule, currentColor)"]
    assert sorted(heights) == pytest.approx([min(grid), max(grid)], abs=0.1)


def test_values_below_zero_on_a_logarithmic_axis_are_left_out() -> None:
    shown = titled(plot_of(Point(-1, 5), Point(0, 5), Point(1, 5), Point(10, 5), logarithmic=True))
    assert sorted(shown) == ["one", "one, x 10: 5.000", "one, x 1: 5.000"]


def test_curves_differ_without_colour() -> None:
    """In dashes or in sign, up to 35 of them; neighbours in both."""
    shown = titled(CurvePlot("", "", "", [Curve(f"c{n}", [Point(0, n), Point(1, n)]) for n in range(35)]))
    looks = [(shown[f"c{n}"].get("stroke-dasharray"), shown[f"c{n}, x 0: {n}.000"].attrib["d"]) for n in range(35)]
    assert len(set(looks)) == 35
    assert all(one[0] != other[0] and one[1] != other[1] for one, other in itertools.pairwise(looks))


def test_dense_points_have_signs_that_stay_apart(curve_plot: CurvePlot) -> None:
    shown = {title: place(path)[0] for title, path in titled(curve_plot).items() if title.startswith("gpt-5-mini-2025-08-07, ")}
    assert 5 < len(shown) < 25
    assert all(other - one > 10 for one, other in itertools.pairwise(shown.values()))
    assert {title.split(":")[0] for title in shown} >= {"gpt-5-mini-2025-08-07, cycle 1", "gpt-5-mini-2025-08-07, cycle 100"}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(["only"], ["only"]), ([""], []), (["", "b"], ["curve 1", "b"])],
)
def test_the_legend_names_the_curves(labels: Sequence[str], expected: Sequence[str]) -> None:
    shown = texts(CurvePlot("", "", "", [Curve(label, [Point(0, 1), Point(1, 2)]) for label in labels]))
    assert [text for text in shown if not re.fullmatch(r"[\d.]+", text)] == expected


def test_a_curve_without_a_value_is_named_with_a_word() -> None:
    curves = [Curve("full", [Point(0, 1)]), Curve("empty", [Point(1, math.nan)])]
    assert "empty (no values)" in texts(CurvePlot("", "", "", curves))


# ------------------------------------------------------------------------------------------------------------
# Dots


@pytest.mark.parametrize("narrow", [False, True])
def test_the_legend_counts_the_dots_of_each_group(scatter_plot: ScatterPlot, narrow: bool) -> None:
    expected = [*(f"Theme {n} (12)" for n in range(1, 9)), "no group (20)"]
    assert sorted(texts(scatter_plot, narrow)) == sorted(expected)  # and no figures of an axis


def test_each_dot_says_what_it_is(scatter_plot: ScatterPlot) -> None:
    titles = titled(scatter_plot)
    assert len(titles) == 8 * 12 + 20
    assert {"Item 3 (Theme 2)", "Stray 7 (no group)"} <= set(titles)
    assert set(titled(ScatterPlot("", [Dot(0, 0, "g"), Dot(1, 1, "")]))) == {"g", "no group"}


def test_groups_differ_in_colour_and_in_sign_and_strays_are_small_and_muted() -> None:
    shown = titled(ScatterPlot("", [Dot(n, 0, f"g{n}") for n in range(42)] + [Dot(0, 1, "")]))
    looks = [(shown[f"g{n}"].attrib["fill"], shown[f"g{n}"].attrib["d"]) for n in range(42)]
    assert len({colour for colour, _ in looks}) == 6
    assert len(set(looks)) == 42
    assert shown["no group"].attrib["fill"] == "var(--muted, currentColor)"

    def width(sign: Element) -> float:
        across = [float(x) for x in re.findall(r"(-?[\d.]+) -?[\d.]+", sign.attrib["d"])]
        return max(across) - min(across)

    assert width(shown["no group"]) < 0.6 * width(shown["g0"])


def test_dots_without_a_group_lie_below_the_others() -> None:
    plot = ScatterPlot("", [Dot(0, 0, "g", "above"), Dot(0, 0, "", "below")])
    assert list(titled(plot)) == ["below (no group)", "above (g)"]


def test_distances_are_the_same_in_both_directions() -> None:
    """A square of side 1 and a dot far to its right, which leaves room above: 1 up is drawn as 1 to the right."""
    plot = ScatterPlot("", [Dot(0, 0, "g", "a"), Dot(1, 0, "g", "b"), Dot(0, 1, "g", "c"), Dot(9, 0, "g", "d")])
    places = {title[0]: place(dot) for title, dot in titled(plot).items()}
    assert places["b"][0] - places["a"][0] == pytest.approx(places["a"][1] - places["c"][1], abs=0.05)
    assert places["b"][0] > places["a"][0]


def test_dots_without_a_place_are_not_drawn_and_not_counted() -> None:
    plot = ScatterPlot("", [Dot(0, math.nan, "g"), Dot(math.inf, 0, "g"), Dot(1, 1, "g")])
    assert len(titled(plot)) == 1
    assert texts(plot) == ["g (1)"]


# ------------------------------------------------------------------------------------------------------------
# Radars


def outline(plot: RadarPlot) -> Element:
    return next(path for path in paths(plot) if path.get("stroke") == "var(--accent, currentColor)")


def test_axes_have_labels_and_values(radar_plot: RadarPlot) -> None:
    assert {"Situation recognition", "0.720", "Long-term planning", "0.950"} <= set(texts(radar_plot))
    assert "Social memory: 0.300" in titled(radar_plot)


def test_the_first_axis_points_upwards_and_the_others_follow_clockwise() -> None:
    plot = RadarPlot("", ["a", "b", "c", "d"], [1, 1, 1, 1], 1)
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = (place(titled(plot)[f"{name}: 1.000"]) for name in "abcd")
    assert ax == pytest.approx(cx, abs=0.05) and by == pytest.approx(dy, abs=0.05)
    assert ay < by < cy and dx < ax < bx
    assert cy - ay == pytest.approx(bx - dx, abs=0.05)


def test_a_value_is_as_far_from_the_centre_as_its_share_of_the_maximum() -> None:
    shown = titled(RadarPlot("", ["a", "b", "c", "d"], [2, 4, 4, 3], 4))
    centre = place(shown["b: 4.000"])[1]  # the second of four axes is level
    full = place(shown["c: 4.000"])[1] - centre
    assert centre - place(shown["a: 2.000"])[1] == pytest.approx(full / 2, abs=0.05)


@pytest.mark.parametrize(
    ("values", "maximum", "expected"),
    [
        ([0.1, 0.1, 0.1], 1, ["0.25", "0.5", "0.75", "1"]),
        ([3, 7, 5], None, ["2", "4", "6", "8"]),
        ([3, 7, 5], 4, ["2", "4", "6", "8"]),  # a value outside makes the axis longer
        ([0, 0, 0], None, ["0.25", "0.5", "0.75", "1"]),
        ([-1, -2, -3], -5, ["0.25", "0.5", "0.75", "1"]),
    ],
)
def test_rings_have_a_few_round_figures(values: list[float], maximum: float | None, expected: list[str]) -> None:
    shown = texts(RadarPlot("", ["A", "B", "C"], values, maximum))
    assert [text for text in shown if not text.isalpha() and not re.search(r"\.\d{3}", text)] == expected


def test_an_axis_without_a_value_interrupts_the_outline() -> None:
    full, broken = (RadarPlot("", ["a", "b", "c", "d"], [1, value, 1, 1], 1) for value in (1, math.nan))
    assert len(corners(outline(full))) == 1
    assert len(corners(outline(broken))) == 2
    assert len(titled(broken)) == 3
    assert "—" in texts(broken)

    def is_filled(plot: RadarPlot) -> bool:
        return any("opacity" in path.attrib for path in paths(plot))

    assert is_filled(full)
    assert not is_filled(broken)


def test_a_value_too_few_is_missing_and_an_axis_too_few_has_no_name() -> None:
    assert "—" in texts(RadarPlot("", ["a", "b", "c"], [1, 2]))
    assert set(titled(RadarPlot("", ["a", "b"], [1, 2, 3]))) == {"a: 1.000", "b: 2.000", "3.000"}


def test_where_labels_have_no_room_they_are_numbers_explained_below(radar_plot: RadarPlot) -> None:
    assert not {"2", "3"} & set(texts(radar_plot))
    assert {"2", "3", "1 Situation recognition: 0.720", "5 Long-term planning: 0.950"} <= set(texts(radar_plot, narrow=True))


def test_of_a_great_many_axes_only_some_have_their_number_but_all_are_listed() -> None:
    shown = texts(RadarPlot("", [f"axis {n}" for n in range(100)], [0.9] * 100))
    assert len([text for text in shown if "axis " in text]) == 100
    assert 10 < sum(text.isdigit() for text in shown) < 60
