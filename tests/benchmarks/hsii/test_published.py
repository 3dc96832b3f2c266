"""The paper's Table 1, its arithmetic recomputed."""

from __future__ import annotations

import numpy as np
import pytest

from sociable.benchmarks.hsii.metrics import calculate_cascade, calculate_iota, calculate_printed_iota
from sociable.benchmarks.hsii.published import TABLE_1, TableOneRow
from sociable.benchmarks.hsii.records import HSIIOptions


def rates(row: TableOneRow) -> np.ndarray:
    return np.array([row.r1, row.r2, row.r3, row.r4])


ROWS = {row.model: row for row in TABLE_1}


@pytest.mark.parametrize("row", TABLE_1, ids=ROWS)
def test_every_row_of_table_1_follows_the_default_form(row: TableOneRow) -> None:
    assert float(calculate_iota(rates(row))) == pytest.approx(row.hsii, abs=0.001)


@pytest.mark.parametrize("row", TABLE_1, ids=ROWS)
def test_no_row_of_table_1_follows_the_printed_form(row: TableOneRow) -> None:
    assert abs(float(calculate_printed_iota(rates(row))) - row.hsii) > 0.15


def test_table_1_is_transcribed_as_printed() -> None:
    assert [(row.model, row.r1, row.r2, row.r3, row.r4, row.hsii) for row in TABLE_1] == [
        ("llama2-7b", 0.472, 0.510, 0.26, 0.27, 0.600),
        ("baichuan2-7b", 0.343, 0.624, 0.40, 0.44, 0.522),
        ("qwen2.5-7b", 0.677, 0.266, 0.47, 0.52, 0.855),
        ("llama3-8b", 0.554, 0.565, 0.55, 0.55, 0.898),
        ("mistral-7b", 0.496, 0.491, 0.41, 0.44, 0.703),
        ("GPT4", 0.701, 0.732, 0.67, 0.69, 1.399),
        ("human", 0.996, 0.804, 0.72, 0.72, 2.149),
    ]


def test_gpt4_by_hand() -> None:
    # .701 (1 + .732 (.67 + .69)) = .701 × 1.99552 = 1.39886
    # .701 (1 + .732 (1 + 1.36))  = .701 × 2.72752 = 1.91199
    # .701 × .732 (1 + 1.36) / 3  = .513132 × 2.36 / 3 = .40366
    gpt4 = rates(ROWS["GPT4"])
    assert float(calculate_iota(gpt4)) == pytest.approx(1.39886, abs=5e-6)
    assert float(calculate_printed_iota(gpt4)) == pytest.approx(1.912, abs=5e-4)
    assert float(calculate_cascade(gpt4)) == pytest.approx(0.40366, abs=5e-6)


def test_perfect_format_with_every_target_wrong_scores_1_in_the_default_form() -> None:
    # More than the five open models (docs/project/paper_decisions.md, HSII 2); the cascade gives it nothing.
    all_wrong = np.array([1.0, 0.0, np.nan, np.nan])
    assert (float(calculate_iota(all_wrong)), float(calculate_printed_iota(all_wrong)), float(calculate_cascade(all_wrong))) == (
        1.0,
        1.0,
        0.0,
    )


def test_the_weights_stand_where_equation_1_has_them() -> None:
    # r = 1/2 each, alpha 2, beta 3, gamma 4: r3 + gamma r4 = 5/2.
    # Table: 1/2 (1 + 2 × 1/2 × 3 × 5/2) = 17/4. Printed: 1/2 (1 + 2 × 1/2 (1 + 3 × 5/2)) = 19/4.
    weights = HSIIOptions(alpha=2, beta=3, gamma=4)
    assert float(calculate_iota(np.full(4, 0.5), weights)) == 17 / 4
    assert float(calculate_printed_iota(np.full(4, 0.5), weights)) == 19 / 4


def test_the_ceilings() -> None:
    perfect = np.ones(4)
    assert (float(calculate_iota(perfect)), float(calculate_printed_iota(perfect)), float(calculate_cascade(perfect))) == (
        3.0,
        4.0,
        1.0,
    )


def test_a_table_of_rates_gives_a_row_of_scores() -> None:
    table = np.array([rates(row) for row in TABLE_1])
    assert calculate_iota(table).tolist() == [float(calculate_iota(row)) for row in table]
