"""Ratings against statsmodels, Agresti's baseball table, hand-worked numbers and what must hold of any tournament."""

from dataclasses import replace
from itertools import combinations
from math import exp, log
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.miscmodels.ordinal_model import OrderedModel  # type: ignore[import-untyped]

from sociable.core.errors import InputError
from sociable.statistics.intervals import Interval
from sociable.statistics.ratings import POINTS_PER_LOGIT, Bout, Ratings, find_groups, rate

ABILITIES = {"ann": 0.9, "ben": 0.2, "cleo": -0.3, "dov": -0.8}

TRACE = 1e-7
"""A prior that is next to none: what other programs compute has none."""

BASEBALL = """
Milwaukee: Detroit 4 3, Toronto 4 2, New York 4 3, Boston 6 1, Cleveland 4 2, Baltimore 6 0
Detroit: Milwaukee 3 3, Toronto 4 2, New York 4 3, Boston 6 0, Cleveland 6 1, Baltimore 4 3
Toronto: Milwaukee 2 5, Detroit 4 3, New York 2 4, Boston 4 3, Cleveland 4 2, Baltimore 6 0
New York: Milwaukee 3 3, Detroit 5 1, Toronto 2 5, Boston 4 3, Cleveland 4 2, Baltimore 6 1
Boston: Milwaukee 5 1, Detroit 2 5, Toronto 3 3, New York 4 2, Cleveland 5 2, Baltimore 6 0
Cleveland: Milwaukee 2 5, Detroit 3 3, Toronto 3 4, New York 4 3, Boston 4 2, Baltimore 2 4
Baltimore: Milwaukee 2 5, Detroit 1 5, Toronto 1 6, New York 2 4, Boston 1 6, Cleveland 3 4
"""
"""Agresti 2002, "Categorical Data Analysis", table 10.10: games of 1987, won at home and away, by the team at home."""


def play(seed: int, scenes: int = 24, seat: float = 0.3, width: float = 0.5) -> list[Bout]:
    """A tournament of ``ABILITIES`` by the model itself."""
    random = Random(seed)
    bouts = []
    for scene, (one, other) in ((scene, pair) for scene in range(scenes) for pair in combinations(ABILITIES, 2)):
        for first, second in ((one, other), (other, one)):
            chance = random.random()
            ahead = ABILITIES[first] - ABILITIES[second] + seat + log(chance / (1 - chance))
            bouts.append(Bout(f"scene {scene}", first, second, 0.5 if abs(ahead) < width else float(ahead > 0)))
    return bouts


def values(ratings: Ratings) -> dict[str, float]:
    return {rating.model: known(rating.logits) for rating in ratings.models}


def known(interval: Interval) -> float:
    assert interval.value is not None
    return interval.value


class TestFit:
    def test_is_the_proportional_odds_model_of_statsmodels(self) -> None:
        bouts = play(1)
        ours = rate(bouts, imaginary=TRACE)
        # P(outcome <= k) = F(threshold_k - x b) with x = e_first - e_second, dov left out: the thresholds are -s - t and -s + t.
        names = sorted(ABILITIES)[:-1]
        columns = [[(bout.first == name) - (bout.second == name) for name in names] for bout in bouts]
        model = OrderedModel([bout.outcome for bout in bouts], np.array(columns, dtype=float), distr="logit")
        theirs = model.fit(method="bfgs", disp=False, gtol=1e-9)
        low, high = model.transform_threshold_params(theirs.params)[1:3]
        assert [values(ours)[name] - values(ours)["dov"] for name in names] == pytest.approx(theirs.params[:3], abs=1e-5)
        assert known(ours.seat) / POINTS_PER_LOGIT == pytest.approx(-(low + high) / 2, abs=1e-5)
        # Between equals P(tie) = F(t) - F(-t), t being half of what lies between the thresholds.
        half = (high - low) / 2
        assert known(ours.tie) == pytest.approx(1 / (1 + exp(-half)) - 1 / (1 + exp(half)), abs=1e-6)

    def test_agresti_baseball(self) -> None:
        bouts = []
        for line in BASEBALL.strip().splitlines():
            home, _, others = line.partition(": ")
            for other in others.split(", "):
                away, won, lost = other.rsplit(" ", 2)
                bouts += [Bout(f"{home}-{away}", home, away, 1.0)] * int(won) + [Bout(f"{home}-{away}", home, away, 0.0)] * int(
                    lost
                )
        found = rate(bouts, imaginary=TRACE)
        shares = {team: exp(logits) for team, logits in values(found).items()}
        total = sum(shares.values())
        # Table 10.11, with the advantage of the home team; its 0.302 stands on page 438.
        expected = {
            "Milwaukee": 0.220,
            "Detroit": 0.190,
            "Toronto": 0.164,
            "New York": 0.157,
            "Boston": 0.137,
            "Cleveland": 0.088,
        }
        assert {team: round(share / total, 3) for team, share in shares.items()} == expected | {"Baltimore": 0.044}
        assert round(known(found.seat) / POINTS_PER_LOGIT, 3) == 0.302

    def test_worked_example_without_prior(self) -> None:
        # In each seat ann wins 3, ties 2, loses 1 of 6: s = 0 by symmetry, and three shares have two parameters, so the fit is
        # exact: F(d - t) = 1/2, so d = t; F(-d - t) = 1/6, so 2d = log 5.
        results = [1.0] * 3 + [0.5] * 2 + [0.0]
        bouts = [Bout(f"{number}", "ann", "ben", result) for number, result in enumerate(results)]
        bouts += [Bout(f"{number}", "ben", "ann", 1 - result) for number, result in enumerate(results)]
        found = rate(bouts, imaginary=TRACE)
        assert values(found) == pytest.approx({"ann": log(5) / 4, "ben": -log(5) / 4})
        assert known(found.models[0].points) == pytest.approx(1000 + 100 * log(5, 10))
        assert known(found.seat) == pytest.approx(0, abs=1e-6)
        (difference,) = found.differences
        assert (difference.better, difference.win, difference.tie) == ("ann", pytest.approx(1 / 2), pytest.approx(1 / 3))

    def test_anchor_has_1000_points_and_no_interval(self) -> None:
        found = rate(play(2), anchor="cleo")
        anchor = next(rating for rating in found.models if rating.model == "cleo")
        assert anchor.points == Interval(1000.0, 1000.0, 1000.0)
        free = values(rate(play(2)))
        assert values(found) == pytest.approx({name: value - free["cleo"] for name, value in free.items()})


class TestLimits:
    def test_enclose_the_estimate_and_bring_ranks(self) -> None:
        found = rate(play(3, scenes=48))
        assert [rating.model for rating in found.models] == ["ann", "ben", "cleo", "dov"]
        for rating in found.models:
            assert rating.points.low is not None and rating.points.high is not None
            assert rating.points.low < known(rating.points) < rating.points.high
        assert (found.models[0].best_rank, found.models[0].worst_rank) == (1, 1)
        sure = {(each.better, each.worse) for each in found.differences if each.is_sure}
        for rating in found.models:
            assert rating.best_rank == 1 + sum(worse == rating.model for _, worse in sure)
            assert rating.worst_rank == 4 - sum(better == rating.model for better, _ in sure)

    def test_too_few_scenes_give_none(self) -> None:
        found = rate(play(4, scenes=7))
        assert not found.has_limits
        assert {(rating.points.low, rating.best_rank) for rating in found.models} == {(None, None)}
        assert not any(each.is_sure for each in found.differences)

    def test_scenes_are_drawn_whole(self) -> None:
        """Two pairs of bouts that always end alike say no more than one: copies must not make limits narrower."""
        bouts = play(5)
        once, twice = rate(bouts), rate(bouts * 2)
        width, copied = (
            known(Interval(r.high and r.low and r.high - r.low)) for r in (once.models[0].points, twice.models[0].points)
        )
        assert copied == pytest.approx(width, rel=0.1)

    def test_who_wins_every_time_is_surely_better_but_not_by_a_known_amount(self) -> None:
        bouts = [
            Bout(str(scene), *seats, float(seats[0] == "ann"))
            for scene in range(24)
            for seats in (("ann", "ben"), ("ben", "ann"))
        ]
        (difference,) = rate(bouts).differences
        assert difference.is_sure
        assert difference.points.low is not None and difference.points.high is not None
        assert 300 < difference.points.low < 700 < 1500 < difference.points.high

    def test_equals_are_told_apart_by_nothing(self) -> None:
        bouts = [Bout(str(scene), *seats, 0.5) for scene in range(24) for seats in (("ann", "ben"), ("ben", "ann"))]
        found = rate(bouts)
        assert [(rating.best_rank, rating.worst_rank) for rating in found.models] == [(1, 2), (1, 2)]
        assert known(found.tie) > 0.8


class TestProperties:
    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 10_000))
    def test_swapping_seats_and_outcomes_mirrors_the_seat_alone(self, seed: int) -> None:
        bouts = play(seed, scenes=3)
        there = rate(bouts)
        back = rate(Bout(bout.scene, bout.second, bout.first, 1 - bout.outcome) for bout in bouts)
        assert values(back) == pytest.approx(values(there), abs=1e-6)
        assert known(back.seat) == pytest.approx(-known(there.seat), abs=1e-4)
        assert known(back.tie) == pytest.approx(known(there.tie), abs=1e-6)

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 10_000), st.data())
    def test_one_more_win_never_lowers(self, seed: int, data: st.DataObject) -> None:
        bouts = play(seed, scenes=3)
        number = data.draw(st.sampled_from([number for number, bout in enumerate(bouts) if bout.outcome < 1]))
        won = bouts[number]
        better = [*bouts[:number], replace(won, outcome=won.outcome + 0.5), *bouts[number + 1 :]]
        before, after = values(rate(bouts)), values(rate(better))
        assert after[won.first] >= before[won.first] - 1e-9
        assert after[won.second] <= before[won.second] + 1e-9

    def test_order_does_not_matter(self) -> None:
        bouts = play(6, scenes=10)
        shuffled = bouts[:]
        Random(0).shuffle(shuffled)
        assert rate(shuffled) == rate(bouts)

    @settings(max_examples=20, deadline=None)
    @given(
        st.lists(
            st.tuples(st.sampled_from("ab"), st.sampled_from("cd"), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=9
        )
    )
    def test_whatever_happened_is_finite(self, played: list[tuple[str, str, float]]) -> None:
        bouts = [Bout(str(number), *bout) for number, bout in enumerate(played)]
        if len(find_groups(bouts)) == 1:
            assert all(abs(value) < 10 for value in values(rate(bouts)).values())
            assert all(abs(value) < 100 for value in values(rate(bouts, imaginary=TRACE)).values())


class TestRefusals:
    def test_groups_that_never_met(self) -> None:
        bouts = [Bout("1", "b", "a", 1.0), Bout("1", "c", "d", 0.0), Bout("2", "d", "e", 0.5)]
        assert find_groups(bouts) == [["c", "d", "e"], ["a", "b"]]
        with pytest.raises(InputError, match=r"never met.*c, d, e; a, b"):
            rate(bouts)

    @pytest.mark.parametrize(
        ("bouts", "message"),
        [
            ([], "no bout"),
            ([Bout("1", "a", "b", 0.7)], "0.7 is not 1"),
            ([Bout("1", "a", "a", 1.0)], "meets itself"),
        ],
    )
    def test_bad_bouts(self, bouts: list[Bout], message: str) -> None:
        with pytest.raises(InputError, match=message):
            rate(bouts)

    def test_unknown_anchor(self) -> None:
        with pytest.raises(InputError, match=r"anchor zoe.*ann, ben"):
            rate(play(1), anchor="zoe")
