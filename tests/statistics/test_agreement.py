"""Agreement against worked examples of the literature, and against statsmodels, krippendorff and scipy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from krippendorff import alpha
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa  # type: ignore[import-untyped]

from sociable.statistics.agreement import correlate_ranks, measure_alpha, measure_cohen, measure_fleiss, measure_observed
from sociable.statistics.intervals import Interval


def test_cohens_kappa_by_hand() -> None:
    # 20 yes-yes, 15 no-no, 5 and 10 apart: p_o = .7, p_e = .5
    first = ["y"] * 25 + ["n"] * 25
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert measure_observed(first, second) == pytest.approx(0.7)
    assert measure_cohen(first, second).value == pytest.approx(0.4)


def test_fleiss_kappa_of_his_own_example() -> None:
    # Fleiss 1971's table of 14 raters in the version that encyclopedias reprint: ten items, five categories, kappa .210
    rows = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    items = [[label for label, count in enumerate(row) for _ in range(count)] for row in rows]
    assert measure_fleiss(items).value == pytest.approx(0.210, abs=0.0005)


def test_krippendorffs_alpha_of_his_own_example() -> None:
    # Krippendorff 2011, section C: four observers, twelve units, missing values; nominal alpha .743
    text = """
    1 2 3 3 2 1 4 1 2 . . .
    1 2 3 3 2 2 4 1 2 5 . 3
    . 3 3 3 2 3 4 2 2 5 1 .
    1 2 3 3 2 4 4 1 2 5 1 .
    """
    raters = [[None if cell == "." else cell for cell in line.split()] for line in text.strip().splitlines()]
    assert measure_alpha(raters).value == pytest.approx(0.743, abs=0.0005)


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
    assert measure_alpha(raters).value is None
    assert measure_cohen(raters[0], raters[1]).value is None


def test_kappa_of_nothing() -> None:
    assert measure_observed([None], ["a"]) is None
    assert measure_fleiss([]).value is None
    assert measure_fleiss([["a"], ["b"]]).value is None
    assert measure_fleiss([["a", "a"], ["a", "a"]]).value is None
    with pytest.raises(ValueError, match="equally many"):
        measure_fleiss([["a", "b"], ["a", "b", "c"]])


labels = st.lists(st.tuples(st.sampled_from("wtl"), st.sampled_from("wtl")), min_size=1, max_size=40)


@given(labels)
def test_kappas_are_bounded_symmetric_and_one_for_perfect_agreement(pairs: list[tuple[str, str]]) -> None:
    first, second = zip(*pairs, strict=True)
    kappa = measure_cohen(first, second).value
    assert kappa == (None if kappa is None else pytest.approx(measure_cohen(second, first).value))
    assert kappa is None or -1 - 1e-9 <= kappa <= 1 + 1e-9
    for alone in (
        measure_cohen(first, first).value,
        measure_alpha([first, first]).value,
        measure_fleiss(list(zip(first, first, strict=True))).value,
    ):
        assert alone is None or alone == pytest.approx(1.0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30))
def test_rank_correlation_is_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = ([float(value) for value in side] for side in zip(*pairs, strict=True))
    found = correlate_ranks(first, second)
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
    assert correlate_ranks([1.0, 2.0], [1.0, 2.0]).spearman is None


def _simulated(seed: int, items: int, raters: int = 3) -> list[list[str]]:
    """[raters][items]: each says what is true of an item with 4 in 5, and else anything."""
    generator = np.random.default_rng(seed)
    true = generator.choice(list("kfd"), size=items, p=[0.6, 0.25, 0.15])
    return [list(np.where(generator.random(items) < 0.8, true, generator.choice(list("kfd"), size=items))) for _ in range(raters)]


def _cohen_of_statsmodels(first: Sequence[Any], second: Sequence[Any]) -> float:
    table = np.array(
        [[sum((a, b) == (one, other) for a, b in zip(first, second, strict=True)) for other in "kfd"] for one in "kfd"]
    )
    return float(cohens_kappa(table, return_results=False))


def _fleiss_of_statsmodels(*raters: Sequence[Any]) -> float:
    return float(fleiss_kappa(np.array([[item.count(label) for label in "kfd"] for item in zip(*raters, strict=True)])))


def _alpha_of_krippendorff(*raters: Sequence[Any]) -> float:
    numbers = [[np.nan if label is None else "kfd".index(label) for label in rater] for rater in raters]
    return float(alpha(reliability_data=numbers, level_of_measurement="nominal"))


def _with_gaps(raters: Sequence[Sequence[str]]) -> list[list[str | None]]:
    return [[None if (place + number) % 4 == 0 else label for place, label in enumerate(r)] for number, r in enumerate(raters)]


@given(st.lists(st.tuples(*[st.sampled_from("kfd")] * 3), min_size=5, max_size=40))
def test_values_are_those_of_the_libraries(items: list[tuple[str, ...]]) -> None:
    assume(all(len(set(rater[1:])) > 1 for rater in zip(*items, strict=True)))
    raters = [list(rater) for rater in zip(*items, strict=True)]
    assert measure_cohen(*raters[:2]).value == pytest.approx(_cohen_of_statsmodels(*raters[:2]), abs=1e-12)
    assert measure_fleiss(items).value == pytest.approx(_fleiss_of_statsmodels(*raters), abs=1e-12)
    gaps = _with_gaps(raters)
    found = measure_alpha(gaps).value
    assert found is None or found == pytest.approx(_alpha_of_krippendorff(*gaps), abs=1e-12)


def test_intervals_resample_what_the_libraries_compute() -> None:
    # Beside the libraries' own values on resampled items, one at a time.
    raters = _simulated(1, 60)
    drawn = [np.random.default_rng(seed).integers(60, size=60) for seed in range(600)]
    cases = [
        (measure_cohen(*raters[:2], seed=0), raters[:2], _cohen_of_statsmodels),
        (measure_fleiss(list(zip(*raters, strict=True)), seed=0), raters, _fleiss_of_statsmodels),
        (measure_alpha(_with_gaps(raters), seed=0), _with_gaps(raters), _alpha_of_krippendorff),
    ]
    for interval, answers, of_library in cases:
        assert interval.value == pytest.approx(of_library(*answers))
        resampled = [of_library(*([rater[place] for place in places] for rater in answers)) for places in drawn]
        assert [interval.low, interval.high] == pytest.approx(list(np.quantile(resampled, [0.025, 0.975])), abs=0.03)


def test_items_of_a_cluster_are_drawn_together() -> None:
    # Ten copies of each item say no more than one of it; as items of their own they would.
    raters = [[label for label in rater for _ in range(10)] for rater in _simulated(3, 40, raters=2)]
    clusters = [place // 10 for place in range(400)]
    single = measure_cohen(*_simulated(3, 40, raters=2), seed=0)
    assert measure_cohen(*raters, seed=0, clusters=clusters) == single
    apart = measure_cohen(*raters, seed=0)
    assert apart.low is not None
    assert single.low is not None
    assert apart.low > single.low + 0.1


def test_intervals_cover_what_they_are_to_cover() -> None:
    # The kappa of the process, from very many items; nominal 95%, and a hundred tries tell it from 85%.
    true = measure_cohen(*_simulated(0, 200_000, raters=2)).value
    assert true is not None
    found = [measure_cohen(*_simulated(seed, 80, raters=2), seed=seed) for seed in range(100, 200)]
    assert sum(each.low <= true <= each.high for each in found if each.low is not None and each.high is not None) >= 89


def test_where_nothing_varies_there_are_no_limits() -> None:
    alike, few = list("kfd" * 10), list("kfdk")
    assert measure_cohen(alike, alike, seed=0) == Interval(pytest.approx(1.0))
    assert measure_fleiss(list(zip(alike, alike, strict=True)), seed=0).low is None
    assert measure_alpha([alike, alike], seed=0).low is None
    assert measure_cohen(few, list("kfkk"), seed=0).low is None
    assert measure_cohen([], [], seed=0) == Interval(None)
    assert measure_fleiss([], seed=0).value is None
    assert measure_fleiss([["k"], ["f"]], seed=0).value is None
    assert measure_alpha([[None, "k"], ["k", None]], seed=0).value is None
