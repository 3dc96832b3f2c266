"""Table 3 of the STSS paper. Measured on the authors' 325 scenes, which were never published: to look at, never to compare.

The success rates by conversation are counts over 325 scenes, but for two on the summary (0.167 and 0.570), which no count of
325 gives: some summaries there seem not to have been scored.
"""

from __future__ import annotations

from dataclasses import dataclass

SCENES = 325


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """One row of Table 3: success rate and goal condition success rate, micro and macro, on conversation and on summary."""

    model: str
    agent: str
    conversation_sr_micro: float
    conversation_sr_macro: float
    conversation_gcsr_micro: float
    conversation_gcsr_macro: float
    summary_sr_micro: float
    summary_sr_macro: float
    summary_gcsr_micro: float
    summary_gcsr_macro: float


TABLE_3 = (
    ConversationRow("Llama2", "GA", 0.212, 0.190, 0.382, 0.366, 0.167, 0.139, 0.324, 0.272),
    ConversationRow("Baichuan2", "GA", 0.437, 0.407, 0.615, 0.636, 0.231, 0.226, 0.460, 0.438),
    ConversationRow("GPT-35", "GA", 0.372, 0.335, 0.486, 0.455, 0.243, 0.192, 0.381, 0.323),
    ConversationRow("GPT-4", "GA", 0.615, 0.557, 0.748, 0.715, 0.486, 0.402, 0.656, 0.569),
    ConversationRow("Llama2", "GA + TDP", 0.502, 0.433, 0.656, 0.601, 0.305, 0.276, 0.539, 0.476),
    ConversationRow("Baichuan2", "GA + TDP", 0.662, 0.700, 0.820, 0.841, 0.403, 0.313, 0.660, 0.566),
    ConversationRow("GPT-35", "GA + TDP", 0.751, 0.762, 0.862, 0.864, 0.570, 0.511, 0.734, 0.692),
    ConversationRow("GPT-4", "GA + TDP", 0.812, 0.748, 0.902, 0.880, 0.723, 0.608, 0.874, 0.787),
)
