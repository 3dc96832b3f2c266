"""Rules over wording: whole words, any alternative, all of its phrases."""

from __future__ import annotations

import pytest

from sociable.core.wording import has_wording

WORDING = [["half past six"], ["6:30"], ["bank", "ranch"]]


@pytest.mark.parametrize(
    "text",
    ["At HALF PAST SIX, then.", "half-past-six", "be there 6.30", "The ranch? The bank has it.", "…half\npast six…"],
)
def test_any_alternative_will_do(text: str) -> None:
    assert has_wording(text, WORDING)


@pytest.mark.parametrize("text", ["", "half past sixteen", "16:30", "6:300", "the bank", "six past half", "banks and ranch"])
def test_only_whole_words_and_whole_alternatives_count(text: str) -> None:
    assert not has_wording(text, WORDING)


def test_without_an_alternative_nothing_is_expressed() -> None:
    assert not has_wording("anything", [])
