import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociable.render.thinning import thinned


@pytest.mark.parametrize(
    ("places", "logarithmic", "expected"),
    [
        ([], False, []),
        ([3, 1, 3, 2], False, [1, 2, 3]),
        (range(12), True, list(range(12))),
        (range(1, 101), True, [1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100]),
        (range(111), False, list(range(0, 111, 10))),
    ],
)
def test_few_of_many_places(places: range | list[float], logarithmic: bool, expected: list[float]) -> None:
    assert thinned(places, 12, logarithmic) == expected


@given(st.lists(st.floats(1e-300, 1e300), min_size=1), st.integers(2, 20), st.booleans())
def test_the_first_and_the_last_stay_and_there_are_never_too_many(places: list[float], most: int, logarithmic: bool) -> None:
    chosen = thinned(places, most, logarithmic)
    assert len(chosen) <= most
    assert (chosen[0], chosen[-1]) == (min(places), max(places))
    assert chosen == sorted(set(chosen))
    assert set(chosen) <= set(places)
