"""Agreement against worked examples of the literature and against scipy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sociable.statistics.agreement import (
    alpha_interval,
    cohen,
    cohen_interval,
    fleiss,
    fleiss_interval,
    krippendorff_alpha,
    observed_agreement,
    rank_correlation,
)
from sociable.statistics.intervals import Interval


def test_cohens_kappa_by_hand() -> None:
    # 20 yes-yes, 15 no-no, 5 and 10 apart: p_o = .7, p_e = .5
    first = ["y"] * 25 + ["n"] * 25
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert observed_agreement(first, second) == pytest.approx(0.7)
    assert cohen(first, second) == pytest.approx(0.4)


def test_fleiss_kappa_of_his_own_example() -> None:
    # Fleiss 1971's table of 14 raters in the version that encyclopedias reprint: ten items, five categories, kappa .210
    rows = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    items = [[label for label, count in enumerate(row) for _ in range(count)] for row in rows]
    assert fleiss(items) == pytest.approx(0.210, abs=0.0005)


def test_krippendorffs_alpha_of_his_own_example() -> None:
    # Krippendorff 2011, section C: four observers, twelve units, missing values; nominal alpha .743
    text = """
    1 2 3 3 2 1 4 1 2 . . .
    1 2 3 3 2 2 4 1 2 5 . 3
    . 3 3 3 2 3 4 2 2 5 1 .
    1 2 3 3 2 4 4 1 2 5 1 .
    """
    raters = [[None if cell == "." else cell for cell in line.split()] for line in text.strip().splitlines()]
    assert krippendorff_alpha(raters) == pytest.approx(0.743, abs=0.0005)


@pytest.mark.parametrize(
    ("raters"),
    [
        [["a", "a"], ["a", "a"]],  # one label only
        [["a", None], [None, "b"]],  # no item answered twice
        [[None, None], [None, None]],
        [["a", "a", "b"], ["a", "a", None]],  # what varies was answered once
    ],
)
def test_nothing_is_made_of_nothing(raters: list[list[str | None]]) -> None:
    assert krippendorff_alpha(raters) is None
    assert cohen(raters[0], raters[1]) is None


def test_kappa_of_nothing() -> None:
    assert observed_agreement([None], ["a"]) is None
    assert fleiss([]) is None
    assert fleiss([["a"], ["b"]]) is None
    assert fleiss([["a", "a"], ["a", "a"]]) is None
    with pytest.raises(ValueError, match="equally many"):
        fleiss([["a", "b"], ["a", "b", "c"]])


labels = st.lists(st.tuples(st.sampled_from("wtl"), st.sampled_from("wtl")), min_size=1, max_size=40)


@given(labels)
def test_kappas_are_bounded_symmetric_and_one_for_perfect_agreement(pairs: list[tuple[str, str]]) -> None:
    first, second = zip(*pairs, strict=True)
    kappa = cohen(first, second)
    assert kappa == (None if kappa is None else pytest.approx(cohen(second, first)))
    assert kappa is None or -1 - 1e-9 <= kappa <= 1 + 1e-9
    for alone in (cohen(first, first), krippendorff_alpha([first, first]), fleiss(list(zip(first, first, strict=True)))):
        assert alone is None or alone == pytest.approx(1.0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30))
def test_rank_correlation_is_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = ([float(value) for value in side] for side in zip(*pairs, strict=True))
    found = rank_correlation(first, second)
    if len(set(first)) < 2 or len(set(second)) < 2:
        assert found.spearman is None
        assert found.kendall is None
    else:
        ranks = [stats.rankdata(side) for side in (first, second)]
        assert found.spearman == pytest.approx(stats.pearsonr(*ranks).statistic)
        assert found.kendall is not None
        assert math.copysign(1, found.kendall) == math.copysign(1, stats.kendalltau(first, second).statistic)
    assert found.items == len(pairs)


def test_two_items_have_no_correlation() -> None:
    assert rank_correlation([1.0, 2.0], [1.0, 2.0]).spearman is None


def _simulated(seed: int, items: int, raters: int = 3) -> list[list[str]]:
    """[raters][items]: each says what is true of an item with 4 in 5, and else anything."""
    generator = np.random.default_rng(seed)
    true = generator.choice(list("kfd"), size=items, p=[0.6, 0.25, 0.15])
    return [list(np.where(generator.random(items) < 0.8, true, generator.choice(list("kfd"), size=items))) for _ in range(raters)]


def test_intervals_resample_what_the_libraries_compute() -> None:
    # Beside the libraries' own values on resampled items, one at a time.
    raters = _simulated(1, 60)
    holes = [[None if (place + number) % 4 == 0 else label for place, label in enumerate(r)] for number, r in enumerate(raters)]
    generator = np.random.default_rng(2)
    drawn = [generator.integers(60, size=60) for _ in range(600)]

    def limits(value: Callable[[Any], float | None]) -> list[float]:
        return [float(each) for each in np.quantile([value(places) for places in drawn], [0.025, 0.975])]

    def taken(lists: Sequence[Sequence[Any]], places: Any) -> list[list[Any]]:
        return [[each[place] for place in places] for each in lists]

    cases: list[tuple[Interval, float | None, Callable[[Any], float | None]]] = [
        (cohen_interval(*raters[:2], seed=0), cohen(*raters[:2]), lambda p: cohen(*taken(raters[:2], p))),
        (
            fleiss_interval(list(zip(*raters, strict=True)), seed=0),
            fleiss(list(zip(*raters, strict=True))),
            lambda p: fleiss(list(zip(*taken(raters, p), strict=True))),
        ),
        (alpha_interval(holes, seed=0), krippendorff_alpha(holes), lambda p: krippendorff_alpha(taken(holes, p))),
    ]
    for interval, value, resampled in cases:
        assert interval.value == value
        assert [interval.low, interval.high] == pytest.approx(limits(resampled), abs=0.03)


def test_intervals_cover_what_they_are_to_cover() -> None:
    # The kappa of the process, from very many items; nominal 95%, and a hundred tries tell it from 85%.
    true = cohen(*_simulated(0, 200_000, raters=2))
    assert true is not None
    found = [cohen_interval(*_simulated(seed, 80, raters=2), seed=seed) for seed in range(100, 200)]
    assert sum(each.low <= true <= each.high for each in found if each.low is not None and each.high is not None) >= 89


def test_where_nothing_varies_there_are_no_limits() -> None:
    alike, few = list("kfd" * 10), list("kfdk")
    assert cohen_interval(alike, alike, seed=0) == Interval(pytest.approx(1.0), None, None, 0.95)
    assert fleiss_interval(list(zip(alike, alike, strict=True)), seed=0).low is None
    assert alpha_interval([alike, alike], seed=0).low is None
    assert cohen_interval(few, list("kfkk"), seed=0).low is None
    assert cohen_interval([], [], seed=0) == Interval(None, None, None, 0.95)
    assert fleiss_interval([], seed=0).value is None
    assert fleiss_interval([["k"], ["f"]], seed=0).value is None
    assert alpha_interval([[None, "k"], ["k", None]], seed=0).value is None
