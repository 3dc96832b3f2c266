"""Figures the HSII paper prints. Measured on the authors' unreleased data: to look at beside ours, never to compare."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One row of Table 1."""

    model: str
    r1: float
    r2: float
    r3: float
    r4: float
    hsii: float


TABLE_1 = (
    PublishedRow("llama2-7b", 0.472, 0.510, 0.26, 0.27, 0.600),
    PublishedRow("baichuan2-7b", 0.343, 0.624, 0.40, 0.44, 0.522),
    PublishedRow("qwen2.5-7b", 0.677, 0.266, 0.47, 0.52, 0.855),
    PublishedRow("llama3-8b", 0.554, 0.565, 0.55, 0.55, 0.898),
    PublishedRow("mistral-7b", 0.496, 0.491, 0.41, 0.44, 0.703),
    PublishedRow("GPT4", 0.701, 0.732, 0.67, 0.69, 1.399),
    PublishedRow("human", 0.996, 0.804, 0.72, 0.72, 2.149),
)
