"""One claim a point, and one point a claim."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociable.benchmarks.anteval.iep.cards import KeyPoint
from sociable.benchmarks.anteval.iep.claims import LONGEST_CLAIM, find_pairs, match_claims, read_claims
from sociable.benchmarks.anteval.iep.judge import parse_matches


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], 0),
        ([(0, 0)], 1),
        # Two points on one claim count once; giving the first claim away must not cost the second point.
        ([(0, 0), (1, 0)], 1),
        ([(0, 0), (0, 1), (1, 0)], 2),
        ([(0, 0), (1, 1), (2, 0), (2, 1)], 2),
    ],
)
def test_as_many_as_can_be(pairs: list[tuple[int, int]], expected: int) -> None:
    found = match_claims(pairs, 3, 3)
    assert len(found) == expected
    assert all((point, claim) in pairs for point, claim in found.items())


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_no_better_matching_exists(pairs: set[tuple[int, int]]) -> None:
    found = match_claims(pairs, 4, 4)
    assert len(set(found.values())) == len(found)
    best = max(sum((point, claim) in pairs for point, claim in enumerate(order)) for order in itertools.permutations(range(4)))
    assert len(found) == best


@pytest.mark.parametrize(
    ("text", "claims", "noticed"),
    [
        ('{"claims": ["The water is salt.", " A key. "]}', ["The water is salt.", "A key."], ""),
        ('Well: {"claims": []}', [], ""),
        (
            "- The water is salt.\n2. A key lies there.\n(3) And more.",
            ["The water is salt.", "A key lies there.", "And more."],
            "list",
        ),
        ("I know nothing of it.", [], "nothing could be read"),
        ('{"claims": "all"}', [], "nothing could be read"),
        ('{"claims": ["a", "b", "c", "d"]}', ["a", "b", "c"], "4 claims; the first 3 count"),
        ('{"claims": ["a", ""]}', ["a"], ""),
        ('{"claims": ["a", "b"]}\nHope this helps! {smile}', ["a", "b"], ""),
        ('{"claims": ["a", 3, ["b"]]}', ["a"], "2 entries were no text"),
        ('{"claims": ["a \\"x\\"", "b", "c that was c', ['a "x"', "b"], "cut off"),
        ('{"claims": ["a"]} or {"claims": ["b"]}', [], "nothing could be read"),
        ("{" * 5000 + '{"claims": ["a"]}', ["a"], ""),
        ('{"claims": ' + "[" * 100_000, [], "nothing could be read"),
    ],
)
def test_claims_are_read_out_of_a_reply(text: str, claims: list[str], noticed: str) -> None:
    found, note = read_claims(text, 3)
    assert found == claims
    assert noticed in note


def test_a_whole_retelling_is_cut_to_the_length_of_a_claim() -> None:
    (claim,), _ = read_claims('{"claims": ["' + "word " * 500 + '"]}', 3)
    assert len(claim) == LONGEST_CLAIM


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ('{"reason": "x", "matches": [[1, "A"], [3, "b"]]}', [(0, 0), (2, 1)]),
        ('{"matches": []}', []),
        ('{"matches": [[4, "A"]]}', None),
        ('{"matches": [[1, "C"]]}', None),
        ('{"matches": [[true, "A"]]}', None),
        ('{"matches": [["1", "A"]]}', None),
        ('{"matches": [[1, "AB"]]}', None),
        ('{"matches": [[1, "A", 2]]}', None),
        ('{"matches": "none"}', None),
        ("No claim matches.", None),
        ('{"matches": [[1, "A"]], "matches": []}', None),
    ],
)
def test_a_judges_matches_are_read_or_refused_whole(text: str, pairs: list[tuple[int, int]] | None) -> None:
    assert parse_matches(text, points=3, claims=2).value == pairs


def test_what_is_denied_is_no_claim() -> None:
    points = [KeyPoint(point="The well is salt.", wording=(("well", "salt"),))]
    said = "the well in the yard is salt."
    assert find_pairs(points, [f"They say that {said}"]) == [(0, 0)]
    assert find_pairs(points, [f"It is not true, and nobody ever said, that {said}"]) == []
