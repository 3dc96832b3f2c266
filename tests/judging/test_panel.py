"""Several judges, one verdict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociable.core.records import Judgment, Verdict
from sociable.judging.panel import decide_panel

WIN, TIE, LOSS, NONE = Verdict.WIN, Verdict.TIE, Verdict.LOSS, Verdict.UNSCORED
MIRROR = {WIN: LOSS, LOSS: WIN, TIE: TIE, NONE: NONE}


def panel(*verdicts: Verdict) -> list[Judgment]:
    return [
        Judgment(id=str(place), episode="e", scenario="s", criterion="c", judge=str(place), verdict=verdict, reason=f"r{place}")
        for place, verdict in enumerate(verdicts)
    ]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([WIN], WIN),
        ([WIN, WIN, LOSS], WIN),  # 2 of 3
        ([LOSS, LOSS, WIN, TIE, LOSS], LOSS),  # 3 of 5
        ([WIN, LOSS], TIE),  # a contradiction
        ([WIN, TIE], TIE),  # 1 of 2 is no majority
        ([WIN, TIE, LOSS], TIE),
        ([WIN, WIN, LOSS, LOSS], TIE),
        ([WIN, WIN, TIE, LOSS], TIE),  # 2 of 4 is no majority
        ([WIN, WIN, NONE], WIN),  # 2 of the 2 given
        ([WIN, LOSS, NONE], TIE),
        ([WIN, NONE], NONE),  # half of the panel is missing
        ([WIN, NONE, NONE], NONE),
        ([WIN, WIN, NONE, NONE], NONE),
        ([NONE], NONE),
        ([], NONE),
    ],
)
def test_a_panel_decides_by_majority_of_the_verdicts_given(verdicts: list[Verdict], expected: Verdict) -> None:
    assert decide_panel(panel(*verdicts))[0] is expected


def test_the_missing_panelists_reasons_are_kept() -> None:
    assert decide_panel(panel(NONE, WIN, NONE)) == (NONE, "r0; r2")
    assert decide_panel(panel(NONE, WIN, WIN)) == (WIN, "1 of 3 judges gave no verdict")
    assert decide_panel([]) == (NONE, "no judge")


@given(st.lists(st.sampled_from(list(Verdict)), max_size=7), st.randoms())
def test_order_of_judges_does_not_matter(verdicts: list[Verdict], random: object) -> None:
    judgments = panel(*verdicts)
    shuffled = list(judgments)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert decide_panel(shuffled) == decide_panel(judgments)


@given(st.lists(st.sampled_from(list(Verdict)), max_size=7))
def test_swapped_verdicts_give_the_swapped_verdict(verdicts: list[Verdict]) -> None:
    swapped = decide_panel(panel(*(MIRROR[verdict] for verdict in verdicts)))[0]
    assert swapped is MIRROR[decide_panel(panel(*verdicts))[0]]
