"""Golden: every gap of Tables 1 and 2 follows from its F-scores to 0.01, but for the row that is not GPT-4's."""

from __future__ import annotations

import pytest

from sociable.benchmarks.anteval.ieg.fscore import measure_gap, measure_signed_gap
from sociable.benchmarks.anteval.published import GPT_4_NOTE, TABLE_1, TABLE_2, Row1, Row2

F_R_C, F_R_O = 39.73, 30.61
"""Of the GPT-3.5 DM tuned on real sessions, which Table 1's gaps rest on."""


def of(f_r: float, f_g: float) -> float:
    found = measure_gap(f_r, f_g)
    assert found is not None
    return 100 * found


@pytest.mark.parametrize("row", TABLE_1[:-1], ids=lambda row: row.model)
def test_table_1(row: Row1) -> None:
    assert of(F_R_C, row.f_g_c) == pytest.approx(row.gap_c, abs=0.01)
    assert of(F_R_O, row.f_g_o) == pytest.approx(row.gap_o, abs=0.01)


@pytest.mark.parametrize("row", TABLE_2, ids=lambda row: f"{row.agents}-{row.master}")
def test_table_2(row: Row2) -> None:
    assert of(row.f_r_c, row.f_g_c) == pytest.approx(row.gap_c, abs=0.01)
    assert of(row.f_r_o, row.f_g_o) == pytest.approx(row.gap_o, abs=0.01)


def test_table_1s_row_for_gpt_4_is_another_ones() -> None:
    printed = TABLE_1[-1]
    assert printed.model == "GPT-4"
    assert of(F_R_C, printed.f_g_c) != pytest.approx(printed.gap_c, abs=0.5)
    # It is GPT-3.5's under the long-context DM, with a misprint.
    source = next(row for row in TABLE_2 if (row.agents, row.master) == ("GPT-3.5", "GPT-3.5-lc"))
    assert (printed.f_g_c, printed.gap_c, printed.gap_o) == (source.f_g_c, source.gap_c, source.gap_o)
    assert printed.f_g_o != source.f_g_o
    for f_r in (source.f_r_o, F_R_O):
        assert of(f_r, printed.f_g_o) != pytest.approx(printed.gap_o, abs=0.05)
    real = next(row for row in TABLE_2 if (row.agents, row.master) == ("GPT-4", "GPT-3.5"))
    for figure in (real.f_g_c, real.gap_c, real.f_g_o, real.gap_o, printed.f_g_c, source.f_g_o):
        assert f"{figure:.2f}" in GPT_4_NOTE


def test_a_generated_master_that_wins_does_not_look_like_one_that_loses() -> None:
    assert measure_gap(0.2, 0.4) == measure_gap(0.4, 0.2) == pytest.approx(1 / 3)
    assert measure_signed_gap(0.2, 0.4) == pytest.approx(-1 / 3)
    assert measure_gap(0.0, 0.0) is None
    assert measure_gap(None, 0.4) is None
    assert measure_gap(0.0, 0.4) == 1.0
