"""Hits of rules by hand, and of classifiers on what can be learnt and what cannot."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from sociable.statistics.guessing import cross_validate, measure_hit


def test_a_rule_is_right_by_the_chance_of_a_draw_among_what_it_picks() -> None:
    assert measure_hit([2], 2) == 1.0
    assert measure_hit([0, 1, 2, 3], 2) == 0.25
    assert measure_hit([0, 1], 2) == 0.0
    assert measure_hit([], 2) == 0.0


def _cases(clusters: int) -> tuple[list[list[bool]], list[str]]:
    """Two cases a cluster, of three options and of two; the right one is the last."""
    right = [[False, False, True], [False, True]] * clusters
    return right, [f"c{number // 2}" for number in range(2 * clusters)]


def test_what_other_clusters_teach_is_found() -> None:
    right, clusters = _cases(12)
    rows = np.array([[float(option)] for options in right for option in options])
    for folds in (None, 4):
        found = cross_validate(
            {"tells": (LogisticRegression(), rows), "says nothing": (LogisticRegression(), rows * 0)}, right, clusters, folds
        )
        assert found["tells"] == [1.0] * 24
        # Among equals it picks at random.
        assert found["says nothing"] == [1 / 3, 1 / 2] * 12


def test_a_cluster_teaches_nothing_about_itself() -> None:
    right, clusters = _cases(12)
    rows = np.array([[float(option)] for options in right for option in options])
    rows[:5] = 1 - rows[:5]  # the first cluster goes against the others
    assert cross_validate({"tells": (LogisticRegression(), rows)}, right, clusters)["tells"][:3] == [0.0, 0.0, 1.0]


def test_few_clusters_train_nothing() -> None:
    right, clusters = _cases(9)
    assert cross_validate({"tells": (LogisticRegression(), np.zeros((45, 1)))}, right, clusters) == {}
