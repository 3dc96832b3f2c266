"""What may be said of several metrics, against worked cases, statsmodels and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

from sociable.statistics.conclusions import Contrasted, draw_conclusions
from sociable.statistics.power import Spread, find_smallest_difference

SPREAD = Spread(0.05, 30, 0.01, 30)
FEW = Spread(0.05, 5, 0.01, 5)
SAME = Spread(0.0, 30, 0.0, 0)


def test_p_values_are_corrected_as_holm_does() -> None:
    given = [0.001, 0.02, 0.012, 0.6, 0.04]
    found = draw_conclusions([Contrasted(each, SPREAD, None) for each in given])
    rejected, corrected, *_ = multipletests(given, 0.05, method="holm")
    assert [each.p_value for each in found if each] == pytest.approx(list(corrected))
    assert [each.is_told_apart for each in found if each] == list(rejected)


def test_the_three_conclusions() -> None:
    apart, would, could_not, too_few, none, same = draw_conclusions(
        [
            Contrasted(0.0001, SPREAD, 0.5),
            Contrasted(0.3, SPREAD, 0.5),
            Contrasted(0.3, SPREAD, 0.1),
            Contrasted(1 / 16, FEW, 0.5),
            Contrasted(None, None, 0.5),
            Contrasted(1.0, SAME, 0.5),
        ]
    )
    assert apart is not None and apart.is_told_apart
    # Three were tested, and one told apart: the others had to reach 0.05 / 2.
    assert would is not None and would.smallest == find_smallest_difference(SPREAD, 0.05 / 2)
    assert could_not is not None and (could_not.is_told_apart, could_not.smallest) == (False, None)
    assert too_few is not None and (too_few.is_told_apart, too_few.smallest) == (False, None)
    assert too_few.p_value is None  # no test could tell: what its p-value is does not matter
    assert none is None and same is None


def test_metrics_that_no_signs_could_tell_apart_cost_the_others_nothing() -> None:
    alone = draw_conclusions([Contrasted(0.03, SPREAD, None)])
    beside = draw_conclusions([Contrasted(0.03, SPREAD, None), *[Contrasted(1 / 16, FEW, None), Contrasted(1.0, SAME, None)] * 5])
    assert alone[0] == beside[0]


def test_what_would_have_been_told_apart_is_not_smaller_with_more_metrics() -> None:
    found = [draw_conclusions([Contrasted(0.5, SPREAD, None)] * count)[0] for count in (1, 3, 10)]
    smallest = [each.smallest for each in found if each and each.smallest]
    assert len(smallest) == 3 and smallest == sorted(smallest)


def test_nothing_that_does_not_differ_is_told_apart_more_often_than_it_may() -> None:
    generator = np.random.default_rng(1)
    wrong = [
        any(each.is_told_apart for each in draw_conclusions([Contrasted(p, SPREAD, None) for p in row]) if each)
        for row in generator.uniform(size=(1000, 8)).tolist()
    ]
    assert np.mean(wrong) == pytest.approx(0.05, abs=0.021)  # three standard errors
