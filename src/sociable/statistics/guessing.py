"""Hits of rules and classifiers that pick one of several options without understanding anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

FEWEST_CLUSTERS = 10
"""Clusters of cases without which a classifier could learn nothing."""


def measure_hit(picked: Collection[object], right: object) -> float:
    """The chance that a random one of those picked is right; 0 where nothing is."""
    return (right in picked) / len(picked) if picked else 0.0


def cross_validate(
    classifiers: Mapping[str, tuple[Any, Any]], right: Sequence[Sequence[bool]], clusters: Sequence[str], folds: int | None = None
) -> dict[str, list[float]]:
    """The hits of each classifier: 1 for a case whose right option is the one it finds likeliest, else 0; of equals, a share.

    Each classifier is given with its rows, one for each option of the cases in turn; ``right`` says which are right. It is
    trained on all other clusters of cases, or on those outside of its fold. Empty for fewer than ``FEWEST_CLUSTERS``.
    """
    from sklearn.model_selection import GroupKFold, cross_val_predict  # type: ignore[import-untyped]
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

    count = len(set(clusters))
    if count < FEWEST_CLUSTERS:
        return {}
    sizes = [len(options) for options in right]
    found = {}
    for name, (classifier, rows) in classifiers.items():
        # On so few rows several threads wait for each other longer than they work.
        with threadpool_limits(limits=1):
            chances = cross_val_predict(
                classifier,
                rows,
                np.concatenate([np.asarray(options) for options in right]),
                groups=np.repeat(clusters, sizes),
                cv=GroupKFold(folds or count),
                method="predict_proba",
            )[:, 1]
        by_case = zip(np.split(chances, np.cumsum(sizes)[:-1]), right, strict=True)
        found[name] = [float(np.asarray(options)[own == own.max()].mean()) for own, options in by_case]
    return found
