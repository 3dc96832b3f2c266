"""What is near by chance, and where a curve bends."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from sociable.statistics.density import deal_words, find_knee, number_by_size


def test_words_dealt_anew_keep_their_number_of_texts_and_their_weights() -> None:
    generator = np.random.default_rng(1)
    before = generator.random((12, 40)) * (generator.random((12, 40)) < 0.3)
    before[3] = 0.0
    after = deal_words(csr_matrix(before), np.random.default_rng(2)).toarray()
    assert (np.sort(after, axis=0) == np.sort(before, axis=0)).all()
    assert not (after == before).all()
    assert not after[3].any()  # who has no word gets none
    again = deal_words(csr_matrix(before), np.random.default_rng(2)).toarray()
    assert (again == after).all()


def test_words_are_dealt_in_proportion_to_how_many_a_text_has() -> None:
    # 300 words in both of two texts, 100 more in the first only: of those it should get 4 in 7.
    before = np.zeros((2, 700))
    before[0, :400] = before[1, 400:] = 1.0
    after = deal_words(csr_matrix(before), np.random.default_rng(0)).toarray()
    # 700 draws with p = 4/7: mean 400, deviation 13.
    assert abs(after[0].sum() - 400) < 4 * 13.1


def test_the_knee_is_farthest_below_the_line() -> None:
    # Sorted 0 1 2 3 10; the line is 0 2.5 5 7.5 10; the differences are 0 1.5 3 4.5 0.
    assert find_knee(np.array([3.0, 0.0, 10.0, 1.0, 2.0])) == 3.0
    assert find_knee(np.array([2.0, 2.0, 2.0])) == 2.0


def test_clusters_are_numbered_by_falling_counts_and_among_equals_by_who_begins() -> None:
    assert number_by_size([4, 2, 2, -1, 4, 7], [1, 1, 1, 9, 1, 2]) == (0, 1, 1, -1, 0, 2)
    assert number_by_size([0, 1], [1, 5]) == (1, 0)
