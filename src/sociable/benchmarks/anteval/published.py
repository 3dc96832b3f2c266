"""Figures the AntEval paper prints, in percent. Measured on data that were never published: to look at beside ours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row1:
    """A row of Table 1: IEP, then F-score and gap for characters and for tuples under the GPT-3.5 virtual DM."""

    model: str
    iep: float
    f_g_c: float
    gap_c: float
    f_g_o: float
    gap_o: float


TABLE_1 = (
    Row1("Alpaca-13b", 0.63, 4.96, 77.80, 0.08, 99.48),
    Row1("ChatGLM2-6b", 0.70, 5.16, 77.01, 0.02, 99.87),
    Row1("Vicuna-7b", 1.67, 12.41, 52.40, 0.49, 96.85),
    Row1("Vicuna-13b", 3.92, 15.59, 43.64, 1.52, 90.54),
    Row1("LLaMA-2-7b", 1.60, 13.51, 49.25, 0.90, 94.29),
    Row1("LLaMA-2-13b", 3.83, 17.74, 38.26, 3.59, 79.01),
    Row1("LLaMA-2-70b", 9.64, 22.10, 28.51, 4.12, 76.27),
    Row1("Mistral-7B", 3.09, 16.21, 42.04, 2.93, 82.52),
    Row1("Mixtral-8x7B", 8.68, 20.72, 31.45, 3.71, 78.38),
    Row1("GPT-3.5", 55.93, 29.28, 15.14, 10.12, 50.31),
    Row1("GPT-4", 60.40, 33.92, 12.94, 20.22, 24.44),
)
"""The table as printed. See ``GPT_4_NOTE`` for the last row."""

GPT_4_NOTE = (
    "GPT-4's IEG figures in the paper's Table 1 are not GPT-4's: 33.92, 12.94 and 24.44 are those of GPT-3.5's agents under the "
    "long-context DM (its Table 2), and 20.22 is a misprint of that row's 20.33. Under the GPT-3.5 DM that table gives GPT-4 "
    "f 32.65, G 9.78 for characters and f 14.89, G 34.55 for tuples."
)


@dataclass(frozen=True, slots=True)
class Row2:
    """A row of Table 2: for characters (c) and tuples (o) f_0, f_g, f_r and the gap."""

    agents: str
    master: str
    f_0_c: float
    f_g_c: float
    f_r_c: float
    gap_c: float
    f_0_o: float
    f_g_o: float
    f_r_o: float
    gap_o: float


TABLE_2 = (
    Row2("GPT-3.5", "GPT-3.5", 26.48, 29.28, 39.73, 15.14, 8.32, 10.12, 30.61, 50.31),
    Row2("GPT-3.5", "GPT-3.5-lc", 29.89, 33.92, 44.01, 12.94, 12.22, 20.33, 33.48, 24.44),
    Row2("GPT-3.5-lc", "GPT-3.5", 26.48, 29.97, 39.73, 14.00, 8.32, 12.16, 30.61, 43.14),
    Row2("GPT-3.5-lc", "GPT-3.5-lc", 29.89, 35.41, 44.01, 10.83, 12.22, 23.51, 33.48, 17.49),
    Row2("GPT-4", "GPT-3.5", 26.48, 32.65, 39.73, 9.78, 8.32, 14.89, 30.61, 34.55),
    Row2("GPT-4", "GPT-3.5-lc", 29.89, 37.27, 44.01, 8.29, 12.22, 27.09, 33.48, 10.55),
)
