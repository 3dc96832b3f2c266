"""Figures the STSS paper prints, by model and agent. Measured in the authors' town, on scenes that were never published, with
models of 2023: to look at beside ours, never to compare."""

TABLE_3 = {
    "Llama2 GA": (0.212, 0.190, 0.382, 0.366, 0.167, 0.139, 0.324, 0.272),
    "Baichuan2 GA": (0.437, 0.407, 0.615, 0.636, 0.231, 0.226, 0.460, 0.438),
    "GPT-35 GA": (0.372, 0.335, 0.486, 0.455, 0.243, 0.192, 0.381, 0.323),
    "GPT-4 GA": (0.615, 0.557, 0.748, 0.715, 0.486, 0.402, 0.656, 0.569),
    "Llama2 GA + TDP": (0.502, 0.433, 0.656, 0.601, 0.305, 0.276, 0.539, 0.476),
    "Baichuan2 GA + TDP": (0.662, 0.700, 0.820, 0.841, 0.403, 0.313, 0.660, 0.566),
    "GPT-35 GA + TDP": (0.751, 0.762, 0.862, 0.864, 0.570, 0.511, 0.734, 0.692),
    "GPT-4 GA + TDP": (0.812, 0.748, 0.902, 0.880, 0.723, 0.608, 0.874, 0.787),
}
"""SR micro and macro, GCSR micro and macro, on the conversation; then the same four on the summary.

The success rates by conversation are counts over 325 scenes, but for two on the summary (0.167 and 0.570), which no count of
325 gives: some summaries there seem not to have been scored.
"""

TABLE_4 = {
    "GPT-35 GA": (0.338, 0.200, 0.100, 0.571, 0.400, 0.324, 0.891),
    "GPT-4 GA": (0.590, 0.000, 0.000, 0.614, 0.600, 0.399, 0.781),
    "GPT-35 GA + TDP": (0.608, 0.100, 0.200, 0.471, 0.600, 0.431, 0.866),
    "GPT-4 GA + TDP": (0.759, 0.400, 0.200, 0.686, 0.500, 0.550, 0.863),
}
"""Mean scores by type of task in the order of ``TaskType``, overall, and the conversation ratio (help left out of it)."""

ORIGINAL_REQUESTS = 13_705
ORIGINAL_TOKENS = 6_600_000
ORIGINAL_RESIDENTS = 25
ORIGINAL_HOURS = 10.2
"""The cost of the original generative agents, as public accounts of a run have it: 25 agents for 10.2 simulated hours."""


def divide_by_resident_days(quantity: float) -> float:
    """Requests or tokens for one agent and 24 hours."""
    return quantity / ORIGINAL_RESIDENTS / ORIGINAL_HOURS * 24
