"""What a person at the terminal sees and is asked as an informant."""

from __future__ import annotations

from collections.abc import Sequence

from sociable.benchmarks.anteval.informants.records import InformantsTurn
from sociable.core.form import Form, Question
from sociable.core.view import Block, Line, Paragraph, Transcript
from sociable.models.protocol import ChatMessage


def make_answer_form(name: str, briefing: ChatMessage, heard: Sequence[InformantsTurn]) -> Form:
    """An answer; the first one tells all that a model is told."""
    is_first = not any(turn.speaker == name for turn in heard)
    blocks: list[Block] = [Paragraph(str(briefing["content"]))] if is_first else []
    lines = [Line(turn.speaker, turn.to, _show(turn, name)) for turn in heard]
    question = Question(f"You are {name}. What do you answer to {heard[-1].speaker}? (one line)")
    return Form(f"{heard[-1].speaker} speaks to {name}", [*blocks, Transcript("What you have heard", lines)], [question])


def _show(turn: InformantsTurn, name: str) -> str:
    if name not in (turn.speaker, *turn.heard_by):
        return "(something aside)"
    return f"(aside) {turn.content}" if turn.aside else turn.content or "(passes)"
