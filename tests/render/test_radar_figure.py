import math
import re
from xml.etree.ElementTree import fromstring

import pytest

from sociable.core.view import RadarPlot
from sociable.render.figures import radar_plot_svg


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in fromstring(svg).iter("text")]


def dots(svg: str) -> dict[str, tuple[float, float]]:
    """Where each value is drawn, by its title."""
    found = {}
    for group in fromstring(svg).iter("g"):
        for path in group.iter("path"):
            places = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path.attrib["d"])]
            xs, ys = [x for x, _ in places], [y for _, y in places]
            found[group.findtext("title") or ""] = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)
    return found


def is_filled(svg: str) -> bool:
    return any("opacity" in path.attrib for path in fromstring(svg).iter("path"))


def test_it_says_in_words_what_it_shows(radar_plot: RadarPlot) -> None:
    svg = radar_plot_svg(radar_plot)
    root = fromstring(svg)
    assert root.attrib["aria-label"] == "Mean score by ability"
    assert root.findtext("desc") == (
        "Situation recognition: 0.72; Emotional inference: 0.55; Behaviour selection: 0.81; "
        "Social memory: 0.3; Long-term planning: 0.95; axes end at 1"
    )
    assert {"Situation recognition", "0.72", "Long-term planning", "0.95"} <= set(texts(svg))
    assert "Social memory: 0.3" in dots(svg)


def test_the_first_axis_points_upwards_and_the_others_follow_clockwise() -> None:
    places = dots(radar_plot_svg(RadarPlot("", ["a", "b", "c", "d"], [1, 1, 1, 1], 1)))
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = (places[f"{name}: 1"] for name in "abcd")
    assert ax == pytest.approx(cx) and by == pytest.approx(dy)
    assert ay < by < cy and dx < ax < bx
    assert cy - ay == pytest.approx(bx - dx, abs=0.05)


def test_a_value_is_as_far_from_the_centre_as_its_share_of_the_maximum() -> None:
    places = dots(radar_plot_svg(RadarPlot("", ["a", "b", "c", "d"], [2, 4, 4, 3], 4)))
    centre = places["b: 4"][1]  # the second of four axes is level
    full = places["c: 4"][1] - centre
    assert centre - places["a: 2"][1] == pytest.approx(full / 2, abs=0.05)


@pytest.mark.parametrize(
    ("values", "maximum", "expected"),
    [
        ([0.2, 0.4, 0.6], 1, ["0.25", "0.50", "0.75", "1.00"]),
        ([3, 7, 5], None, ["2", "4", "6", "8"]),
        ([3, 7, 5], 4, ["2", "4", "6", "8"]),  # a value outside makes the axis longer
        ([0, 0, 0], None, ["0.25", "0.50", "0.75", "1.00"]),
        ([-1, -2, -3], -5, ["0.25", "0.50", "0.75", "1.00"]),
    ],
)
def test_rings_have_a_few_round_figures(values: list[float], maximum: float | None, expected: list[str]) -> None:
    shown = texts(radar_plot_svg(RadarPlot("", ["A", "B", "C"], values, maximum)))
    of_rings = [text for text in shown if text in expected and text not in [f"{value:g}" for value in values]]
    assert sorted(of_rings) == expected


def test_an_axis_without_a_value_interrupts_the_outline() -> None:
    full = radar_plot_svg(RadarPlot("", ["a", "b", "c", "d"], [1, 1, 1, 1], 1))
    broken = radar_plot_svg(RadarPlot("", ["a", "b", "c", "d"], [1, math.nan, 1, 1], 1))
    assert is_filled(full)
    assert not is_filled(broken)
    assert len(dots(broken)) == 3
    assert "–" in texts(broken)
    assert "b: no value" in (fromstring(broken).findtext("desc") or "")


def test_a_value_too_few_is_missing_and_an_axis_too_few_has_no_name() -> None:
    assert "c: no value" in (fromstring(radar_plot_svg(RadarPlot("", ["a", "b", "c"], [1, 2]))).findtext("desc") or "")
    assert len(dots(radar_plot_svg(RadarPlot("", ["a", "b"], [1, 2, 3])))) == 3


def test_where_labels_have_no_room_they_are_numbers_explained_below(radar_plot: RadarPlot) -> None:
    wide, narrow = texts(radar_plot_svg(radar_plot)), texts(radar_plot_svg(radar_plot, narrow=True))
    assert "Situation recognition" in wide and "1" not in wide
    assert {"1", "5", "Situation recognition: 0.72", "Long-term planning: 0.95"} <= set(narrow)
    assert narrow.count("1") == 2  # at its axis and in the list


def test_of_a_great_many_axes_only_some_have_their_number_but_all_are_listed() -> None:
    shown = texts(radar_plot_svg(RadarPlot("", [f"axis {n}" for n in range(200)], [1.0] * 200)))
    assert len([text for text in shown if text.startswith("axis ")]) == 200
    assert 10 < sum(shown.count(str(n)) for n in range(1, 201)) - 200 < 60
