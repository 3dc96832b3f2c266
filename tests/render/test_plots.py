import io
import math
import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sociable.core.plots import Curve, CurvePlot, Dot, IntervalPlot, Mark, Point, RadarPlot, ScatterPlot, thin_out
from sociable.core.view import Plot, Table
from sociable.render.terminal import print_blocks


def printed(plots: Sequence[Plot], width: int = 120) -> str:
    file = io.StringIO()
    print_blocks(plots, Console(file=file, width=width))
    return file.getvalue()


def cells(plot: Plot) -> list[list[str]]:
    return [list(row.cells) for row in plot.make_number_table().rows]


def titles(table: Table) -> list[str]:
    return [column.title for column in table.columns]


def test_a_curve_is_a_column_and_an_x_is_a_row(curve_plot: CurvePlot) -> None:
    table = curve_plot.make_number_table()
    assert titles(table) == ["cycle", *(curve.label for curve in curve_plot.curves)]
    assert [row.cells[0] for row in table.rows] == ["1", "2", "3", "5", "7", "10", "20", "30", "50", "70", "100"]
    assert table.rows[0].cells[1] == "0.100 [0.09, 0.11]"
    assert table.note == "The columns give share solved. Shown are 11 of 100 values of cycle."


def test_steps_hold_their_value_and_lines_do_not() -> None:
    curves = [Curve("a", [Point(1, 0.1), Point(3, 0.3)]), Curve("b", [Point(2, 0.2), Point(4, 0.4)])]
    assert cells(CurvePlot("", "x", "y", curves, steps=True)) == [
        ["1", "0.100", "—"],
        ["2", "0.100", "0.200"],
        ["3", "0.300", "0.200"],
        ["4", "—", "0.400"],  # what comes after a curve's last point is not known
    ]
    assert cells(CurvePlot("", "x", "y", curves))[1] == ["2", "—", "0.200"]


def test_a_single_curve_without_a_name_has_that_of_its_axis() -> None:
    table = CurvePlot("", "x", "score", [Curve("", [Point(1, 2)])]).make_number_table()
    assert (titles(table), table.note) == (["x", "score"], "")


def test_groups_are_counted_those_without_one_last(scatter_plot: ScatterPlot) -> None:
    assert cells(scatter_plot) == [*([f"Theme {n}", "12"] for n in range(1, 9)), ["no group", "20"]]
    table = ScatterPlot("", [Dot(0, 0, "g"), Dot(math.nan, 0, "g")]).make_number_table()
    assert table.rows[0].cells == ["g", "1"]
    assert "not counted: 1" in table.note


def test_axes_have_their_values() -> None:
    assert cells(RadarPlot("", ["a", "b", "c"], [0.5, math.nan])) == [["a", "0.500"], ["b", "—"], ["c", "—"]]


def test_values_that_are_no_numbers_are_dashes_or_left_out() -> None:
    assert cells(IntervalPlot("", "", [Mark("m", math.nan, 0, 1), Mark("n", 0.5, math.nan, 1)])) == [["m", "—"], ["n", "0.500"]]
    curve = Curve("a", [Point(math.nan, 1), Point(1, math.inf), Point(2, 0.5, math.nan, 1)])
    assert cells(CurvePlot("", "", "", [curve])) == [["2", "0.500"]]


@pytest.mark.parametrize("value", [1e308, -1e308, 5e-324, 123456789.0])
def test_extreme_numbers_stay_short(value: float) -> None:
    plots: list[Plot] = [
        IntervalPlot("", "", [Mark("m", value, -value, value)]),
        CurvePlot("", "", "", [Curve("a", [Point(value, value, -value, value)])]),
        RadarPlot("", ["a", "b", "c"], [value, value, value]),
    ]
    assert max(len(cell) for plot in plots for row in cells(plot) for cell in row) < 40
    assert all("e" in row[1] for plot in plots for row in cells(plot))


@pytest.mark.parametrize("width", [160, 80, 30])
def test_hostile_strings_reach_the_terminal_as_text(hostile_plots: Sequence[Plot], width: int) -> None:
    text = printed(hostile_plots, width)
    assert not [letter for letter in text if unicodedata.category(letter) in ("Cc", "Cs") and letter != "\n"]
    assert "\u202e" not in text


def test_all_kinds_are_printed(plots: Sequence[Plot]) -> None:
    text = printed(plots)
    for part in ("model-0", "Solved by each cycle", "0.100 [0.09, 0.11]", "Theme 8", "no group", "Social memory", "0.300"):
        assert part in text


def test_a_kind_that_cannot_be_printed_is_an_error() -> None:
    with pytest.raises(TypeError, match="Cannot print a Console: print_blocks has no rule for it"):
        print_blocks([Console()], Console(file=io.StringIO()))  # type: ignore[list-item]


def test_what_is_published_is_told_apart_and_the_reference_has_its_value(plot: IntervalPlot) -> None:
    table = plot.make_number_table()
    assert titles(table) == ["", "Share of episodes", "Source", "Ticks"]
    assert [row.cells[3] for row in table.rows if row.cells[3] != "—"] == ["0.00, 0.33, 1.00"]
    assert table.rows[0].cells == ["model-0", "0.300 [0.20, 0.45]", "measured here", "—"]
    assert ["paper", "0.700", "published", "—"] in cells(plot)
    assert table.note == "chance: 0.250."
    assert titles(IntervalPlot("", "share", [Mark("m", 1.0)]).make_number_table()) == ["", "share"]


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
def test_without_anything_to_draw_there_are_no_rows(plot: Plot, expected: bool) -> None:
    """A mark or an axis without a value says something; a curve without a point does not."""
    assert bool(plot.make_number_table().rows) is expected


@pytest.mark.parametrize(
    ("places", "logarithmic", "expected"),
    [
        ([], False, []),
        ([3, 1, 3, 2], False, [1, 2, 3]),
        (range(12), True, list(range(12))),
        (range(1, 101), True, [1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100]),
        (range(111), False, list(range(0, 111, 10))),
    ],
)
def test_few_of_many_places(places: range | list[float], logarithmic: bool, expected: list[float]) -> None:
    assert thin_out(places, 12, logarithmic) == expected


@given(st.lists(st.floats(1e-300, 1e300), min_size=1), st.integers(2, 20), st.booleans())
def test_the_first_and_the_last_stay_and_there_are_never_too_many(places: list[float], most: int, logarithmic: bool) -> None:
    chosen = thin_out(places, most, logarithmic)
    assert len(chosen) <= most
    assert (chosen[0], chosen[-1]) == (min(places), max(places))
    assert chosen == sorted(set(chosen))
    assert set(chosen) <= set(places)
