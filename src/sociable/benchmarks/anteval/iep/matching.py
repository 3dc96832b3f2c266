"""Claims and key points, one to one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array  # type: ignore[import-untyped]
from scipy.sparse.csgraph import maximum_bipartite_matching  # type: ignore[import-untyped]


def matched(pairs: Iterable[tuple[int, int]], points: int, claims: int) -> dict[int, int]:
    """By key point its claim, as many as can be when each is used once at most."""
    fits = np.zeros((points, claims), bool)
    for point, claim in pairs:
        fits[point, claim] = True
    if not fits.any():
        return {}
    found = maximum_bipartite_matching(csr_array(fits), perm_type="column")
    return {point: int(claim) for point, claim in enumerate(found) if claim >= 0}
