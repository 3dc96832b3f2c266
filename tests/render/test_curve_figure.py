import itertools
import math
import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, fromstring

import pytest

from sociable.core.view import Curve, CurvePlot, Point
from sociable.render.figures import curve_plot_svg


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in fromstring(svg).iter("text")]


def x_ticks(svg: str) -> list[str]:
    """What is centred: the figures of the x axis, and after them its name."""
    centred = [text for text in fromstring(svg).iter("text") if text.attrib.get("text-anchor") == "middle"]
    return [text.text or "" for text in centred][:-1]


def groups(svg: str, name: str) -> list[Element]:
    return [group for group in fromstring(svg).iter("g") if re.fullmatch(name, group.attrib["class"])]


def lines(svg: str, curve: int = 0) -> list[list[tuple[float, float]]]:
    """The corners of each stretch of a curve."""
    paths = [path.attrib["d"] for group in groups(svg, f"mark-{curve}") for path in group.iter("path")]
    return [[(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)] for path in paths]


def bands(svg: str) -> list[dict[str, str]]:
    return [path.attrib for path in fromstring(svg).iter("path") if "opacity" in path.attrib]


def plot_of(*points: Point, steps: bool = False, logarithmic: bool = False) -> CurvePlot:
    return CurvePlot("c", "x", "y", [Curve("one", points)], steps, logarithmic)


def test_it_says_in_words_what_it_shows(curve_plot: CurvePlot) -> None:
    root = fromstring(curve_plot_svg(curve_plot))
    assert root.attrib["aria-label"] == "Solved by each cycle. share solved by cycle"
    description = root.findtext("desc") or ""
    assert "gpt-5-mini-2025-08-07: cycle 1: 0.1 [0.09, 0.11], cycle 2: 0.19 [0.171, 0.209], cycle 3" in description
    assert "cycle 4:" not in description  # of 100 points a dozen
    titles = [group.findtext("title") for group in root.iter("g")]
    assert "gpt-5-mini-2025-08-07, cycle 1: 0.1 [0.09, 0.11]" in titles
    assert {"share solved", "cycle", "gpt-5-mini-2025-08-07"} <= set(texts(curve_plot_svg(curve_plot)))


@pytest.mark.parametrize("narrow", [False, True])
def test_a_logarithmic_axis_has_plain_round_figures(curve_plot: CurvePlot, narrow: bool) -> None:
    assert x_ticks(curve_plot_svg(curve_plot, narrow)) == ["1", "2", "5", "10", "20", "50", "100"]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (0.01, 2, ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"]),
        (1, 1e9, ["1", "10", "100", "1000", "10000", "100000", "1e+06", "1e+07", "1e+08", "1e+09"]),
        (310, 330, [str(n) for n in range(310, 331, 2)]),  # not one round number among them
        (7, 7, ["5", "10"]),
    ],
)
def test_ticks_suit_the_range(first: float, last: float, expected: list[str]) -> None:
    svg = curve_plot_svg(plot_of(Point(first, 0.5), Point(last, 0.5), logarithmic=True))
    assert x_ticks(svg) == expected


def test_counts_have_no_ticks_between_them() -> None:
    assert x_ticks(curve_plot_svg(plot_of(Point(0, 0), Point(3, 30)))) == ["0", "1", "2", "3"]
    assert x_ticks(curve_plot_svg(plot_of(Point(0, 0), Point(0.5, 30))))[:3] == ["0.00", "0.05", "0.10"]


def test_steps_hold_a_value_until_the_next_point() -> None:
    points = [Point(0, 0), Point(1, 10), Point(2, 5)]
    assert len(lines(curve_plot_svg(plot_of(*points)))[0]) == 3
    (corners,) = lines(curve_plot_svg(plot_of(*points, steps=True)))
    # Right at the old height, then up or down: (0,0) (1,0) (1,10) (2,10) (2,5).
    assert [corners[0][1] == corners[1][1], corners[2][1] == corners[3][1]] == [True, True]
    assert [corners[1][0] == corners[2][0], corners[3][0] == corners[4][0]] == [True, True]
    assert len(corners) == 5


def test_a_point_without_a_value_interrupts_the_line() -> None:
    points = [Point(0, 0), Point(1, 1), Point(2, math.nan), Point(3, 1), Point(4, 0), Point(math.inf, 9)]
    (before, after) = lines(curve_plot_svg(plot_of(*points)))
    assert (len(before), len(after)) == (2, 2)
    # The value of a step holds until the place where the next one is missing.
    (before, after) = lines(curve_plot_svg(plot_of(*points, steps=True)))
    width = after[-1][0] - before[0][0]
    assert before[-1][0] - before[0][0] == pytest.approx(width / 2, abs=0.05)


def test_the_order_of_the_points_does_not_matter() -> None:
    points = [Point(x, x * x, x, x * x + 1) for x in range(1, 9)]
    assert curve_plot_svg(plot_of(*reversed(points))) == curve_plot_svg(plot_of(*points))


def test_intervals_are_bands_where_there_are_some() -> None:
    inside, outside = [Point(x, 1, 0.5, 2) for x in range(3)], [Point(x, 1) for x in range(3, 6)]
    assert len(bands(curve_plot_svg(plot_of(*inside, *outside)))) == 1
    assert not bands(curve_plot_svg(plot_of(*outside)))
    # One that stands alone has no width: it is a line.
    alone = curve_plot_svg(plot_of(Point(0, 1), Point(1, 1, 0, 2), Point(2, 1)))
    assert not bands(alone)


def test_values_below_zero_on_a_logarithmic_axis_are_left_out() -> None:
    svg = curve_plot_svg(plot_of(Point(-1, 5), Point(0, 5), Point(1, 5), Point(10, 5), logarithmic=True))
    assert len(groups(svg, r"mark-0-\d+")) == 2


def test_curves_differ_without_colour() -> None:
    """In dashes or in sign, up to 35 of them; neighbours in both."""
    curves = [Curve(f"c{n}", [Point(0, n), Point(1, n)]) for n in range(35)]
    svg = curve_plot_svg(CurvePlot("", "", "", curves))

    def look(number: int) -> tuple[str | None, str]:
        (line,) = groups(svg, f"mark-{number}")
        sign = groups(svg, f"mark-{number}-0")[0][1].attrib["d"]
        return line[1].attrib.get("stroke-dasharray"), re.sub(r"[-\d. ]", "", sign) + str(_size(sign))

    looks = [look(number) for number in range(35)]
    assert len(set(looks)) == 35
    assert all(one[0] != other[0] and one[1] != other[1] for one, other in itertools.pairwise(looks))


def _size(path: str) -> tuple[float, float]:
    """Of a sign relative to its first corner, to the tenth: tells a triangle from one that hangs."""
    places = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]
    return round(places[1][0] - places[0][0], 1), round(places[1][1] - places[0][1], 1)


def test_dense_points_have_signs_that_stay_apart(curve_plot: CurvePlot) -> None:
    svg = curve_plot_svg(curve_plot)
    assert 5 < len(groups(svg, r"mark-0-\d+")) < 25
    assert [group.attrib["class"] for group in groups(svg, r"mark-0-(0|99)")] == ["mark-0-0", "mark-0-99"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(["only"], ["only"]), ([""], []), (["", "b"], ["curve 1", "b"])],
)
def test_the_legend_names_the_curves(labels: Sequence[str], expected: Sequence[str]) -> None:
    curves = [Curve(label, [Point(0, 1), Point(1, 2)]) for label in labels]
    shown = texts(curve_plot_svg(CurvePlot("", "", "", curves)))
    assert [text for text in shown if not re.fullmatch(r"[\d.]+", text)] == expected


def test_a_curve_without_a_value_is_named_with_a_word() -> None:
    curves = [Curve("full", [Point(0, 1)]), Curve("empty", [Point(1, math.nan)])]
    svg = curve_plot_svg(CurvePlot("", "", "", curves))
    assert "empty (no values)" in texts(svg)
    assert "empty: no values" in (fromstring(svg).findtext("desc") or "")
