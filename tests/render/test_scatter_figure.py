import math
import re
from xml.etree.ElementTree import fromstring

import pytest

from sociable.core.view import Dot, ScatterPlot
from sociable.render.figures import scatter_plot_svg


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in fromstring(svg).iter("text")]


def dots(svg: str) -> dict[str, dict[str, str]]:
    """Each dot's attributes by its title."""
    return {group.findtext("title") or "": group[1].attrib for group in fromstring(svg).iter("g")}


def middle(path: str) -> tuple[float, float]:
    places = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]
    xs, ys = [x for x, _ in places], [y for _, y in places]
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


def width(path: str) -> float:
    xs = [float(x) for x in re.findall(r"(-?[\d.]+) -?[\d.]+", path)]
    return max(xs) - min(xs)


@pytest.mark.parametrize("narrow", [False, True])
def test_the_legend_counts_the_dots_of_each_group(scatter_plot: ScatterPlot, narrow: bool) -> None:
    expected = [*(f"Theme {n} (12)" for n in range(1, 9)), "no group (20)"]
    svg = scatter_plot_svg(scatter_plot, narrow)
    assert texts(svg) == expected  # and no figures of an axis
    assert (fromstring(svg).findtext("desc") or "").startswith("Theme 1: 12; Theme 2: 12;")


def test_each_dot_says_what_it_is(scatter_plot: ScatterPlot) -> None:
    titles = dots(scatter_plot_svg(scatter_plot))
    assert len(titles) == 8 * 12 + 20
    assert {"Item 3 (Theme 2)", "Stray 7 (no group)"} <= set(titles)
    assert set(dots(scatter_plot_svg(ScatterPlot("", [Dot(0, 0, "g"), Dot(1, 1, "")])))) == {"g", "no group"}


def test_groups_differ_in_colour_and_in_sign_and_strays_are_small_and_muted() -> None:
    plot = ScatterPlot("", [Dot(n, 0, f"g{n}") for n in range(42)] + [Dot(0, 1, "")])
    drawn = dots(scatter_plot_svg(plot))

    def look(title: str) -> tuple[str, str]:
        path = drawn[title]["d"]
        first, second = re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)[:2]
        step = f"{float(second[0]) - float(first[0]):.1f} {float(second[1]) - float(first[1]):.1f}"
        return drawn[title]["fill"], re.sub(r"[-\d. ]", "", path) + step

    looks = [look(f"g{n}") for n in range(42)]
    assert len({colour for colour, _ in looks}) == 6
    assert len(set(looks)) == 42
    assert drawn["no group"]["fill"] == "var(--muted, currentColor)"
    assert width(drawn["no group"]["d"]) < 0.6 * width(drawn["g0"]["d"])


def test_dots_without_a_group_lie_below_the_others() -> None:
    plot = ScatterPlot("", [Dot(0, 0, "g", "above"), Dot(0, 0, "", "below")])
    assert list(dots(scatter_plot_svg(plot))) == ["below (no group)", "above (g)"]


def test_distances_are_the_same_in_both_directions() -> None:
    """A square of side 1 and a dot far to its right, which leaves room above: 1 up is drawn as 1 to the right."""
    plot = ScatterPlot("", [Dot(0, 0, "g", "a"), Dot(1, 0, "g", "b"), Dot(0, 1, "g", "c"), Dot(9, 0, "g", "d")])
    places = {title[0]: middle(attributes["d"]) for title, attributes in dots(scatter_plot_svg(plot)).items()}
    assert places["b"][0] - places["a"][0] == pytest.approx(places["a"][1] - places["c"][1], abs=0.05)
    assert places["b"][0] > places["a"][0]


def test_dots_without_a_place_are_not_drawn_and_not_counted() -> None:
    plot = ScatterPlot("", [Dot(0, math.nan, "g"), Dot(math.inf, 0, "g"), Dot(1, 1, "g")])
    svg = scatter_plot_svg(plot)
    assert len(list(fromstring(svg).iter("g"))) == 1
    assert texts(svg) == ["g (1)"]
