"""Table 2 of the HSII paper. Measured on the authors' unreleased data: to look at beside ours, never to compare."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One row of Table 2."""

    model: str
    success_without_cot: float
    """Equal to r2 of Table 1."""
    steps_for_70: float
    """"COT steps needed for success rate 0.70", which no reading we found reproduces."""
    success_with_cot: float
    cot_complexity: float


TABLE_2 = (
    PublishedRow("llama2-7b", 0.510, 22.6, 0.552, 38.4),
    PublishedRow("baichuan2-7b", 0.624, 20.8, 0.650, 33.1),
    PublishedRow("qwen2.5-7b", 0.266, 18.4, 0.441, 35.8),
    PublishedRow("llama3-8b", 0.565, 14.9, 0.619, 29.5),
    PublishedRow("mistral-7b", 0.491, 17.9, 0.539, 34.4),
    PublishedRow("GPT-4", 0.732, 10.1, 0.787, 27.6),
)
