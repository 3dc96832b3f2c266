"""What a person sees and is asked as a player or as an informant."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sociable.benchmarks.anteval.informants.records import InformantsTurn
from sociable.core.form import Form, Question
from sociable.core.view import Block, Line, Paragraph, Transcript
from sociable.models.protocol import ChatMessage

NOBODY, EVERYBODY, ASIDE = "nobody in particular", "everybody", "that one alone"


def make_turn_form(
    name: str, others: Sequence[str], briefing: ChatMessage, heard: Sequence[InformantsTurn], left: int, words: int
) -> Form:
    """A player's turn; the first one tells all that a model is told."""
    is_first = not any(turn.speaker == name for turn in heard)
    blocks: list[Block] = [Paragraph(str(briefing["content"]))] if is_first else []
    questions = [
        Question("Whom do you speak to?", (*others, NOBODY)),
        Question("Who hears it?", (EVERYBODY, ASIDE)),
        Question(f"What do you say? (one line, at most {words} words; nothing: you pass)", may_be_empty=True),
    ]

    def write(answers: Sequence[str]) -> str:
        to, hears, said = answers
        fields = {"to": "" if to == NOBODY else to, "aside": hears == ASIDE, "say": said}
        return json.dumps(fields, ensure_ascii=False)

    return Form(f"You are {name}; turns left: {left}", [*blocks, _show_heard(name, heard)], questions, write)


def _show_heard(name: str, heard: Sequence[InformantsTurn]) -> Transcript:
    return Transcript("What you have heard", [Line(turn.speaker, turn.to, _show(turn, name)) for turn in heard])


def make_answer_form(name: str, briefing: ChatMessage, heard: Sequence[InformantsTurn]) -> Form:
    """An answer; the first one tells all that a model is told."""
    is_first = not any(turn.speaker == name for turn in heard)
    blocks: list[Block] = [Paragraph(str(briefing["content"]))] if is_first else []
    question = Question(f"You are {name}. What do you answer to {heard[-1].speaker}? (one line)")
    return Form(f"{heard[-1].speaker} speaks to {name}", [*blocks, _show_heard(name, heard)], [question])


def _show(turn: InformantsTurn, name: str) -> str:
    if name not in (turn.speaker, *turn.heard_by):
        return "(something aside)"
    return f"(aside) {turn.content}" if turn.aside else turn.content or "(passes)"
