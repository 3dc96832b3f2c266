"""Figures the HSII paper prints. Measured on the authors' unreleased data: to look at beside ours, never to compare."""

from __future__ import annotations

from typing import NamedTuple


class TableOneRow(NamedTuple):
    model: str
    r1: float
    r2: float
    r3: float
    r4: float
    hsii: float


TABLE_1 = (
    TableOneRow("llama2-7b", 0.472, 0.510, 0.26, 0.27, 0.600),
    TableOneRow("baichuan2-7b", 0.343, 0.624, 0.40, 0.44, 0.522),
    TableOneRow("qwen2.5-7b", 0.677, 0.266, 0.47, 0.52, 0.855),
    TableOneRow("llama3-8b", 0.554, 0.565, 0.55, 0.55, 0.898),
    TableOneRow("mistral-7b", 0.496, 0.491, 0.41, 0.44, 0.703),
    TableOneRow("GPT4", 0.701, 0.732, 0.67, 0.69, 1.399),
    TableOneRow("human", 0.996, 0.804, 0.72, 0.72, 2.149),
)


class TableTwoRow(NamedTuple):
    model: str
    success_without_cot: float
    """Equal to r2 of Table 1."""
    steps_for_70: float
    """"COT steps needed for success rate 0.70", which no reading we found reproduces."""
    success_with_cot: float
    cot_complexity: float


TABLE_2 = (
    TableTwoRow("llama2-7b", 0.510, 22.6, 0.552, 38.4),
    TableTwoRow("baichuan2-7b", 0.624, 20.8, 0.650, 33.1),
    TableTwoRow("qwen2.5-7b", 0.266, 18.4, 0.441, 35.8),
    TableTwoRow("llama3-8b", 0.565, 14.9, 0.619, 29.5),
    TableTwoRow("mistral-7b", 0.491, 17.9, 0.539, 34.4),
    TableTwoRow("GPT-4", 0.732, 10.1, 0.787, 27.6),
)


class MultiPartySet(NamedTuple):
    name: str
    dialogues: int
    turns: int
    words: float | None
    """Words a turn; None where the paper does not say."""
    source: str
    marked: str


MULTI_PARTY_SETS = (
    MultiPartySet("MELD (Poria et al. 2019)", 1433, 13708, 8.0, "scenes of a television series", "speakers, emotions"),
    MultiPartySet("Molweni (Li et al. 2020)", 10000, 88303, None, "Ubuntu chat", "speakers, discourse relations"),
    MultiPartySet("CRD3 (Rameshkumar and Bailey 2020)", 159, 398682, None, "a game of roles, broadcast", "speakers, summaries"),
)
"""Other sets of conversations among several people, as their papers count them."""
