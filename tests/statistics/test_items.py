"""Difficulty and discrimination of cases, by hand and by planted cases."""

from random import Random

import pytest

from sociable.statistics.items import measure_items


def test_worked_example() -> None:
    good, middling, poor = {"a": 1.0, "b": 1.0, "c": 0.0}, {"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1.0, "b": 0.0, "c": 0.0}
    a, b, c = measure_items([good, middling, poor])
    assert (a.difficulty, b.difficulty) == (0.0, pytest.approx(1 / 3))
    assert c.difficulty == pytest.approx(2 / 3)
    # a: the others order all three runs, and nobody differs on it.
    assert a.discrimination == 0.0
    # b: without it (a, c) middling is above both others, who are equal: good loses nothing, poor loses 1.
    assert b.discrimination == pytest.approx((0.0 + 1.0) / 2)
    # c: without it (a, b) good and middling are equal, both above poor: 0 and 1.
    assert c.discrimination == pytest.approx((0.0 + 1.0) / 2)


def test_a_case_that_worse_runs_get_right_is_found_among_sound_ones() -> None:
    generator = Random(0)
    runs = []
    for ability in (0.2, 0.35, 0.5, 0.65, 0.8, 0.95):
        run = {str(case): float(generator.random() < ability) for case in range(60)}
        runs.append(run | {"reversed": float(generator.random() > ability)})
    found = {each.case: each.discrimination or 0.0 for each in measure_items(runs)}
    assert min(found, key=lambda case: found[case]) == "reversed"
    assert sum(found.values()) / len(found) > 0.2


def test_what_one_run_alone_reached_is_no_item_and_equal_runs_tell_nothing() -> None:
    assert [each.case for each in measure_items([{"a": 1.0, "b": 0.0}, {"a": 1.0}])] == ["a"]
    assert measure_items([{"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 0.0}])[0].discrimination is None
    assert measure_items([]) == []
