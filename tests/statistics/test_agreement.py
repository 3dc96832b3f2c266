"""Agreement against worked examples of the literature and against scipy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sociable.statistics.agreement import cohen, fleiss, krippendorff_alpha, observed_agreement, rank_correlation


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
