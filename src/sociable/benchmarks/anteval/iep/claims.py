"""Claims to knowledge: reading a list of claims, and giving each key point a claim of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_array  # type: ignore[import-untyped]
from scipy.sparse.csgraph import maximum_bipartite_matching  # type: ignore[import-untyped]

from sociable.benchmarks.anteval.iep.cards import KeyPoint
from sociable.core.form import Question
from sociable.core.records import make_storable
from sociable.core.wording import has_claim

LONGEST_CLAIM = 400
"""Characters of a claim that count; a whole retelling is no claim."""

_LIST = re.compile(r'"claims"\s*:\s*\[')
_STRING = re.compile(r'"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+")

UNREADABLE = "nothing could be read"

Pairs = list[tuple[int, int]]
"""A key point and a claim that states it, each by its place among those asked about, from 0."""


def read_claims(text: str, most: int) -> tuple[list[str], str]:
    """(claims, what was noticed; ``UNREADABLE`` where nothing could be read).

    The claims are those of the object asked for, whole or cut off; or else one claim a line of a list.
    """
    found, note = _read_json(text)
    if found is None:
        found = [_BULLET.sub("", line) for line in text.splitlines() if _BULLET.match(line)]
        note = "no JSON; read as a list" if found else UNREADABLE
    claims = [tidy_claim(each) for each in found if each.strip()]
    if len(claims) > most:
        note = "; ".join(filter(None, (note, f"{len(claims)} claims; the first {most} count")))
    return claims[:most], note


CLAIMS = Question("The facts, each on a line of its own", is_long=True, may_be_empty=True)
"""The field in which a person lists what it knows."""


def write_claims(answers: Sequence[str]) -> str:
    """What a model would reply, of a person's answer to ``CLAIMS``."""
    return json.dumps({"claims": list(filter(None, map(str.strip, answers[0].splitlines())))}, ensure_ascii=False)


def tidy_claim(claim: str) -> str:
    """The claim on one line, as far as it counts."""
    return make_storable(" ".join(claim.split()))[:LONGEST_CLAIM]


def _read_json(text: str) -> tuple[list[str] | None, str]:
    """The texts in the list of claims, wherever in the reply it stands. A reply with two lists has none."""
    begun = list(_LIST.finditer(text))
    if len(begun) != 1:
        return None, ""
    start = begun[0].end() - 1
    try:
        listed, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
    except RecursionError:
        return None, ""
    except ValueError:
        # Cut off: what was written out is whole.
        return [json.loads(each, strict=False) for each in _STRING.findall(text, start)], "the list was cut off"
    texts = [each for each in listed if isinstance(each, str)]
    return texts, "" if len(texts) == len(listed) else f"{len(listed) - len(texts)} entries were no text"


def find_pairs(points: Sequence[KeyPoint], claims: Sequence[str]) -> Pairs:
    """The pairs by the points' wordings; a point without a wording is in none."""
    return [
        (place, column)
        for place, point in enumerate(points)
        for column, claim in enumerate(claims)
        if has_claim(claim, point.wording or (), reach=0)
    ]


def match_claims(pairs: Iterable[tuple[int, int]], points: int, claims: int) -> Mapping[int, int]:
    """The claim of each key point, as many as can be when each claim is used once at most."""
    return _match_claims(frozenset(pairs), points, claims)


# Every point of a recall asks for the same matching.
@lru_cache(maxsize=64)
def _match_claims(pairs: frozenset[tuple[int, int]], points: int, claims: int) -> Mapping[int, int]:
    fits = np.zeros((points, claims), bool)
    for pair in pairs:
        fits[pair] = True
    if not fits.any():
        return {}
    found = maximum_bipartite_matching(csr_array(fits), perm_type="column")
    return {point: int(claim) for point, claim in enumerate(found) if claim >= 0}
