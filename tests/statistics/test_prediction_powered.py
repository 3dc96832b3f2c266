"""Corrected means against another implementation, by hand, and over every sample that could have been drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from statistics import fmean

import numpy as np
import pytest

from sociable.statistics.intervals import Interval, estimate_mean
from sociable.statistics.prediction_powered import WITHIN_REACH, JudgedUnit, correct_difference, correct_mean, plan_verdicts


def width(interval: Interval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return interval.high - interval.low


def make_units(predicted: list[float], given: list[float | None], stratum: str = "all") -> list[JudgedUnit]:
    return [
        JudgedUnit(f"{stratum}{place}", f"{stratum}{place}", stratum, said, truth)
        for place, (said, truth) in enumerate(zip(predicted, given, strict=True))
    ]


@pytest.mark.parametrize(
    ("tuning", "value", "half"),
    [(0.0, 0.6336633663366337, 0.093963), (0.5, 0.6217821782178219, 0.085383), (1.0, 0.60990099009901, 0.096607)],
)
def test_with_one_stratum_and_one_case_a_cluster_it_is_what_ppi_python_says(tuning: float, value: float, half: float) -> None:
    """ppi-python 0.2.3, ``ppi_mean_pointestimate`` and ``ppi_mean_ci``, on these 101 verdicts and 399 predictions.

    It takes the predictions on what people judged and on the rest apart: its ``lam`` is λ times the share of the rest.
    """
    units = []
    for place in range(500):
        said = float(place * 0.6180339887 % 1 < 0.6)
        truth = 1 - said if place * 0.4142135624 % 1 < 0.25 else said
        units.append(JudgedUnit(str(place), str(place), "all", said, truth if place * 0.7320508076 % 1 < 0.2 else None))
    found = correct_mean(units, tuning=tuning)
    assert found.value == pytest.approx(value, abs=1e-12)
    # Its limits are symmetric, by the normal distribution; ours are Wilson's, by Student's.
    assert width(found) / 2 == pytest.approx(half, rel=0.03)


def test_by_hand() -> None:
    """Two strata of 4 and 2. In the first the judge is right on one of the two that people saw, in the second on its one.

    Whatever λ is, predictions are the same within a stratum: 4/6 · 1/2 + 2/6 · 0.
    """
    units = [*make_units([1, 1, 1, 1], [1.0, 0.0, None, None], "win"), *make_units([0, 0], [0.0, None], "loss")]
    for tuning in (None, 0.0, 0.7, 1.0):
        assert correct_mean(units, tuning=tuning).value == pytest.approx(1 / 3)


def test_inclusion_probabilities_weigh() -> None:
    """Verdicts 1 and 0, asked about with probabilities 1/4 and 3/4: (1 · 4 + 0 · 4/3) / (4 + 4/3) = 3/4."""
    units = make_units([0, 0, 0, 0], [1.0, 0.0, None, None])
    weighed = [replace(unit, inclusion=each) for unit, each in zip(units, (0.25, 0.75, 1, 1), strict=True)]
    assert correct_mean(weighed).value == pytest.approx(0.75)


def test_over_every_sample_that_could_be_drawn_there_is_no_bias() -> None:
    predicted, truth = [0.9, 0.5, 0.6, 0.1, 0.3, 0.2, 0.8], [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    strata = [0, 0, 0, 0, 1, 1, 1]
    values = []
    for asked in ({*a, *b} for a, b in product(combinations(range(4), 2), combinations(range(4, 7), 2))):
        units = [JudgedUnit(str(i), str(i), str(strata[i]), predicted[i], truth[i] if i in asked else None) for i in range(7)]
        value = correct_mean(units, tuning=0.6).value
        assert value is not None
        values.append(value)
    assert fmean(values) == pytest.approx(4 / 7)


def test_verdicts_on_everything_are_the_scores_of_people() -> None:
    generator = np.random.default_rng(1)
    truth = [float(each) for each in generator.random(120) < 0.7]
    clusters = [str(place // 4) for place in range(120)]
    units = [JudgedUnit(str(i), clusters[i], str(i % 3), 1.0, truth[i]) for i in range(120)]
    found, whole = correct_mean(units), estimate_mean(truth, clusters)
    assert (found.value, found.low, found.high) == pytest.approx((whole.value, whole.low, whole.high), abs=1e-6)


def test_a_judge_whom_nobody_contradicted_is_not_known_to_be_right() -> None:
    units = make_units([1, 0] * 100, [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, *[None] * 194])
    judge = estimate_mean([unit.predicted for unit in units], [unit.cluster for unit in units])
    assert correct_mean(units).value == judge.value
    assert width(correct_mean(units)) > 1.5 * width(judge)
    more = make_units([1, 0] * 100, [1.0, 0.0] * 60 + [None] * 80)
    assert width(correct_mean(more)) < 1.1 * width(judge)


def test_a_judge_who_guesses_makes_the_interval_wider_unless_it_counts_less() -> None:
    generator = np.random.default_rng(4)
    units = make_units((generator.random(400) < 0.5).astype(float).tolist(), [1.0, 0.0] * 30 + [None] * 340)
    alone, counted = correct_mean(units, tuning=0.0), correct_mean(units, tuning=1.0)
    # Twice the variance of 60 verdicts: y and f vary by 1/4 each. Wilson's limits make a little less of it.
    assert width(counted) / width(alone) == pytest.approx(2**0.5, abs=0.12)
    assert width(correct_mean(units)) < 1.05 * width(alone)
    # Nineteen cases that people saw all lose; Wilson's limit for 0 of 19 is 0.168.
    few = make_units([1, 0] * 50, [0.0] * 19 + [None] * 81)
    assert (correct_mean(few).low, correct_mean(few).high) == (0.0, pytest.approx(0.175, abs=0.03))


def test_strata_of_one_judge_and_opinions_of_another_hold_with_few_verdicts() -> None:
    """Drawn evenly by what a harsh judge said, corrected with a generous one's opinions, as where another panel judges later."""
    holding = 0
    for seed in range(400):
        generator = np.random.default_rng([7, seed])
        shares = np.repeat(1 / (1 + np.exp(-0.8 * generator.standard_normal(40))), 5)
        truth = generator.random(200) < shares
        drawn_by, said = (
            np.where(generator.random(200) < np.where(truth, strict, kind), ~truth, truth)
            for strict, kind in ((0.3, 0.02), (0.02, 0.3))
        )
        doubt = generator.random(200) < np.where(drawn_by == truth, 0.1, 0.5)
        strata = [f"{win}{unsure}" for win, unsure in zip(drawn_by.tolist(), doubt.tolist(), strict=True)]
        asked: set[int] = set()
        for _ in range(30):
            names = sorted({strata[i] for i in range(200) if i not in asked})
            name = min(names, key=lambda each: (sum(strata[i] == each for i in asked), each))
            asked.add(generator.choice([i for i in range(200) if strata[i] == name and i not in asked]).item())
        own = zip(strata, said.tolist(), truth.tolist(), strict=True)
        found = correct_mean(
            [JudgedUnit(str(i), str(i // 5), s, p, float(y) if i in asked else None) for i, (s, p, y) in enumerate(own)]
        )
        assert found.low is not None
        assert found.high is not None
        holding += found.low <= 0.5 <= found.high
    assert holding >= 372  # 0.93 of them


def test_a_score_of_0_has_room_above() -> None:
    found = correct_mean(make_units([0] * 100, [0.0] * 20 + [None] * 80))
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(0.16, abs=0.02)  # Wilson's for 0 of 20 is 0.161
    # Two clusters that are alike, everything looked at: what other clusters are like is as unknown as for scores.
    units = [replace(unit, cluster=str(i % 2)) for i, unit in enumerate(make_units([0] * 10, [0.0] * 10))]
    whole = estimate_mean([0.0] * 10, [unit.cluster for unit in units])
    assert (correct_mean(units).low, correct_mean(units).high) == (whole.low, whole.high)
    assert correct_difference(units, units) == Interval(0.0)


def test_what_cannot_be_estimated_is_none() -> None:
    units = [*make_units([1, 1], [1.0, 0.0], "a"), *make_units([0, 0], [None, None], "b")]
    assert correct_mean(units) == Interval(None)
    assert correct_difference(units, units) == Interval(None)
    assert correct_mean([]) == Interval(None)
    alone = [replace(unit, cluster="one") for unit in make_units([1, 0], [1.0, None])]
    assert (correct_mean(alone, tuning=1.0).value, correct_mean(alone).low) == (0.5, None)
    for wrong in (replace(units[0], given=2.0), replace(units[0], inclusion=0.0)):
        with pytest.raises(ValueError, match="opinions must be in"):
            correct_mean([wrong, *units[1:2]])


def test_differences_are_of_common_cases_and_turn_their_sign() -> None:
    generator = np.random.default_rng(2)
    sides = [
        [
            JudgedUnit(str(i), str(i // 3), str(said), said, float(generator.random() < share) if i % 2 else None)
            for i, said in enumerate((generator.random(120) < 0.5).astype(float).tolist())
        ]
        for share in (0.3, 0.8)
    ]
    found, back = correct_difference(sides[0], sides[1]), correct_difference(sides[1], sides[0])
    assert found.low is not None
    assert found.low > 0.2
    assert (back.value, back.high) == pytest.approx((-(found.value or 0), -found.low))
    # What only one side has changes no case, and the strata's corrections only as far as it was judged.
    others = [JudgedUnit(f"x{i}", "x", unit.stratum, unit.predicted) for i, unit in enumerate(sides[1][:1])]
    assert correct_difference(sides[0], [*sides[1], *others]).value == pytest.approx(found.value, abs=0.01)
    assert correct_difference(sides[0], [replace(unit, case=f"y{unit.case}") for unit in sides[1]]) == Interval(None)


def test_a_judge_biased_for_one_run_only_does_not_move_the_corrected_difference() -> None:
    holding, bias = 0, []
    for seed in range(150):
        generator = np.random.default_rng(seed)
        sides = []
        for kind in (0.0, 0.4):
            truth = generator.random(200) < 0.5
            said = truth | (generator.random(200) < kind)
            asked = np.zeros(200, dtype=bool)
            for group in (said, ~said):
                asked[generator.choice(np.flatnonzero(group), 30, replace=False)] = True
            own = zip(said.tolist(), truth.tolist(), asked.tolist(), strict=True)
            sides.append([JudgedUnit(str(i), str(i // 4), str(s), s, float(t) if a else None) for i, (s, t, a) in enumerate(own)])
        found = correct_difference(*sides)
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        holding += found.low <= 0 <= found.high
        bias.append(found.value)
    assert holding >= 136  # 95% of 150 less three standard errors is 134.5
    assert abs(fmean(bias)) < 0.03  # the judge's is 0.2


def test_order_does_not_matter() -> None:
    generator = np.random.default_rng(3)
    units = [
        JudgedUnit(str(i), str(i // 5), str(i % 3), float(p), float(p > 0.4) if i % 4 == 0 else None)
        for i, p in enumerate(generator.random(90))
    ]
    one, other = correct_mean(units), correct_mean(units[::-1])
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_a_plan_takes_most_where_people_are_expected_to_contradict() -> None:
    units = [*make_units([1] * 100, [None] * 100, "sure"), *make_units([0.5] * 100, [None] * 100, "disputed")]
    guesses = {"sure": 0.04, "disputed": 0.25}
    plan = plan_verdicts(units, 0.08, guesses, {})
    assert plan.half_width <= 0.08
    # Neyman: in proportion to the standard deviations, 0.5 to 0.2.
    assert plan.verdicts["disputed"] / plan.verdicts["sure"] == pytest.approx(2.5, rel=0.1)
    assert sum(plan_verdicts(units, 0.06, guesses, {}).verdicts.values()) > sum(plan.verdicts.values())
    assert plan_verdicts(units, 0.08, guesses, {"sure": 60}).verdicts["sure"] == 60
    assert min(plan_verdicts(units, 0.45, guesses, {}).verdicts.values()) >= 2


def test_a_precision_that_all_verdicts_do_not_give_is_out_of_reach() -> None:
    units = [replace(unit, cluster=str(i % 5)) for i, unit in enumerate(make_units([1, 0] * 50, [None] * 100))]
    plan = plan_verdicts(units, 0.001, {"all": 0.16}, {})
    assert plan.least_half_width > 0.001
    assert plan.half_width <= plan.least_half_width * WITHIN_REACH
    with pytest.raises(ValueError, match="fewer than two clusters"):
        plan_verdicts([replace(unit, cluster="one") for unit in units], 0.1, {"all": 0.16}, {})


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_a_plan_agrees_with_the_interval_found_and_asks_for_no_more_where_less_precision_is_wanted(noise: float) -> None:
    """With ``noise`` the judge's opinion varies within strata."""
    generator = np.random.default_rng(5)
    truth = np.repeat(generator.random(40) < 0.5, 5) ^ (generator.random(200) < 0.3)
    said = truth ^ (generator.random(200) < 0.2)
    units = [
        JudgedUnit(str(i), str(i // 5), str(s), s + noise * generator.random(), float(y) if i % 4 == 0 else None)
        for i, (s, y) in enumerate(zip(said.tolist(), truth.tolist(), strict=True))
    ]
    there = {name: sum(unit.given is not None for unit in units if unit.stratum == name) for name in ("True", "False")}
    half = width(correct_mean(units)) / 2
    assert plan_verdicts(units, 0.4, {}, there).half_width == pytest.approx(half)
    assert sum(plan_verdicts(units, half - 0.002, {}, there).verdicts.values()) > 50
    counts = [sum(plan_verdicts(units, precision, {}, there).verdicts.values()) for precision in np.linspace(0.01, 0.3, 60)]
    assert counts == sorted(counts, reverse=True)
    assert (counts[-1], counts[0] > 80) == (50, True)


def test_verdicts_that_are_there_tell_how_many_more_are_needed() -> None:
    right = make_units([1, 0] * 100, [1.0, 0.0] * 20 + [None] * 160)
    wrong = make_units([1, 0] * 100, [1.0, 1.0, 0.0, 0.0] * 10 + [None] * 160)
    plans = [plan_verdicts(units, 0.09, {"all": 0.16}, {"all": 40}) for units in (right, wrong)]
    assert plans[0].verdicts["all"] < plans[1].verdicts["all"]
