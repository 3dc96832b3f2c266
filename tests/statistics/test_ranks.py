"""Ranges of ranks: worked by hand, beside what others compute, and over models whose true order is known."""

from __future__ import annotations

from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from sociable.statistics.conclusions import Contrasted, draw_conclusions
from sociable.statistics.paired import PairedComparison, compare_paired
from sociable.statistics.ranks import Pair, RankRange, find_better, rank

Scores = dict[str, dict[str, float]]


def compare(scores: Scores) -> dict[Pair, PairedComparison]:
    """Every two, in order of their means, each case being a cluster."""
    names = sorted(scores, key=lambda name: -sum(scores[name].values()))
    cases = {case: case for own in scores.values() for case in own}
    return {pair: compare_paired(scores[pair[0]], scores[pair[1]], cases, replicates=1) for pair in combinations(names, 2)}


def rank_scores(scores: Scores) -> dict[str, RankRange]:
    pairs = compare(scores)
    drawn = draw_conclusions([Contrasted(each.p_value, each.spread, 0.5) for each in pairs.values()])
    better = find_better(zip(pairs, (each.difference for each in pairs.values()), drawn, strict=True))
    return dict(rank(sorted(scores, key=lambda name: -sum(scores[name].values())), better))


def play(**wins: int) -> Scores:
    """Each wins the first so many of 14 cases."""
    return {name: {str(case): float(case < won) for case in range(14)} for name, won in wins.items()}


def test_two_are_told_apart_by_six_cases_and_not_by_five() -> None:
    # All of six clusters in favour of one side have p = 2 / 2^6 = 0.031, all of five 2 / 2^5 = 0.063.
    assert rank_scores(play(better=6, worse=0)) == {"better": RankRange(1, 1, "a"), "worse": RankRange(2, 2, "b")}
    assert rank_scores(play(better=5, worse=0)) == {"better": RankRange(1, 2, "a"), "worse": RankRange(1, 2, "a")}


def test_the_one_in_the_middle_is_like_both_ends() -> None:
    # a – c: 14 of 14 clusters, p < 0.001. a – b and b – c: 7 each, p = 2 / 2^7 = 0.0156, times 2 = 0.031.
    assert {name: (own.best, own.worst) for name, own in rank_scores(play(a=14, b=7, c=0)).items()} == {
        "a": (1, 1),
        "b": (2, 2),
        "c": (3, 3),
    }
    # 5 and 9 clusters: no pattern of five signs can reject, so that a – b is not tested at all.
    assert rank_scores(play(a=14, b=9, c=0)) == {
        "a": RankRange(1, 2, "a"),
        "b": RankRange(1, 2, "a"),
        "c": RankRange(3, 3, "b"),
    }
    # In five of ten clusters each: only the ends are told apart, and the middle one shares a letter with both.
    assert rank_scores(play(a=10, b=5, c=0)) == {
        "a": RankRange(1, 2, "a"),
        "b": RankRange(1, 3, "ab"),
        "c": RankRange(2, 3, "b"),
    }


def test_letters_are_shared_exactly_by_those_who_are_not_told_apart() -> None:
    generator = np.random.default_rng(0)
    for _ in range(200):
        names = [str(place) for place in range(int(generator.integers(1, 8)))]
        # Any pattern, also ones that no order explains: pairs rest on different cases.
        better = {pair for pair in permutations(names, 2) if pair[0] < pair[1] and generator.random() < 0.4}
        found = rank(names, better)
        for one, other in combinations(names, 2):
            is_alike = bool(set(found[one].group) & set(found[other].group))
            assert is_alike == ((one, other) not in better)
        assert all(own.group for own in found.values())


def test_more_groups_than_letters_have_names_of_their_own() -> None:
    names = [f"{place:02}" for place in range(30)]
    found = rank(names, set(combinations(names, 2)))
    assert len({own.group for own in found.values()}) == 30
    assert found["29"] == RankRange(30, 30, "d2")


def test_who_was_compared_with_nobody_can_have_any_rank() -> None:
    assert rank(["a", "b", "c"], {("a", "b")})["c"] == RankRange(1, 3, "ab")


def test_p_values_are_corrected_as_statsmodels_does() -> None:
    generator = np.random.default_rng(1)
    names = "abcde"
    scores = {
        name: {str(case): float(generator.random() < 0.3 + 0.1 * place) for case in range(60)} for place, name in enumerate(names)
    }
    pairs = compare(scores)
    drawn = draw_conclusions([Contrasted(each.p_value, each.spread, 0.5) for each in pairs.values()])
    rejected, corrected, *_ = multipletests([each.p_value for each in pairs.values()], method="holm")
    assert [each.p_value for each in drawn if each] == pytest.approx(corrected)
    better = find_better(zip(pairs, (each.difference for each in pairs.values()), drawn, strict=True))
    assert {frozenset(pair) for pair in better} == {frozenset(pair) for pair, told in zip(pairs, rejected, strict=True) if told}
    assert 0 < len(better) < len(pairs)


ANSWERS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=12)


@settings(max_examples=30, deadline=None)
@given(ANSWERS, st.data())
def test_one_more_win_never_makes_a_range_worse(answers: list[tuple[bool, bool]], data: st.DataObject) -> None:
    scores = {name: {str(case): float(pair[place]) for case, pair in enumerate(answers)} for place, name in enumerate("ab")}
    lost = [case for case, value in scores["a"].items() if not value]
    if lost:
        won = {**scores, "a": {**scores["a"], data.draw(st.sampled_from(lost)): 1.0}}
        before, after = rank_scores(scores)["a"], rank_scores(won)["a"]
        assert after.best <= before.best
        assert after.worst <= before.worst


@pytest.mark.long
def test_ranges_hold_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import ranks  # type: ignore[import-not-found]

    design = ranks.Design((0.0, 0.0, 0.0, 1.2), clusters=40)
    found = [ranks.play(design, seed) for seed in range(80)]
    # 76 of 80 are expected to hold; fewer than 70 do in one of 400 such tests, if 95% hold.
    assert sum(ranks.are_right(each, design.abilities) for each in found) >= 70
    # And they say something: the one who is ahead is mostly told apart from all others.
    assert sum(each["3"].worst == 1 for each in found) > 40
