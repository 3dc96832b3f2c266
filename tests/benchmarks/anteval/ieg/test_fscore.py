"""F-scores on sets worked by hand, and beside scikit-learn."""

from __future__ import annotations

import random

import pytest
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

from sociable.benchmarks.anteval.ieg.fscore import measure_f_scores, measure_macro, measure_micro


def sets(*texts: str) -> list[frozenset[tuple[str, str]]]:
    """``"Ann Stealth, Bo Arcana"`` as a set of pairs."""
    return [frozenset((pair.split()[0], pair.split()[1]) for pair in text.split(", ") if pair) for text in texts]


def test_by_hand() -> None:
    labels = sets("Ann Stealth", "Ann Stealth, Bo Arcana", "Bo Arcana")
    found = measure_f_scores(sets("Ann Stealth", "Ann Arcana", "Ann Stealth, Bo Arcana"), labels)
    # Characters: {A}{A}{A,B} against {A}{A,B}{B}: 3 of 4 named are right, of 4 meant 3 were named.
    assert found.character == pytest.approx(2 * 3 / (4 + 4))
    # Pairs: A-Stealth right, A-Arcana wrong, A-Stealth wrong, B-Arcana right.
    assert found.tuple == pytest.approx(2 * 2 / (4 + 4))
    assert found.character_macro == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert found.tuple_macro == pytest.approx((1 + 0 + 2 / 3) / 3)


def test_windows_without_a_call() -> None:
    # Silence where there is nothing to be said is right; a name there is wrong.
    quiet = measure_f_scores(sets("", "Ann Stealth"), sets("", ""))
    assert (quiet.character, quiet.character_macro) == (0.0, 0.5)
    nothing = measure_f_scores(sets("", ""), sets("", ""))
    assert (nothing.character, nothing.character_macro) == (None, 1.0)
    assert measure_f_scores([], []).character_macro is None


@pytest.mark.parametrize("seed", range(5))
def test_micro_and_macro_are_scikit_learns(seed: int) -> None:
    draw = random.Random(seed)
    labels, found = ([{draw.choice("abcd") for _ in range(draw.randint(0, 3))} for _ in range(30)] for _ in range(2))
    binary = MultiLabelBinarizer(classes=list("abcd"))
    truth, said = binary.fit_transform(labels), binary.fit_transform(found)
    assert measure_micro(found, labels) == pytest.approx(f1_score(truth, said, average="micro"))
    assert measure_macro(found, labels) == pytest.approx(f1_score(truth, said, average="samples", zero_division=1.0))
