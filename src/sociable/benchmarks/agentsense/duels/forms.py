"""What a person at the terminal sees and is asked as a side of a bargain, or as a third person."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sociable.benchmarks.agentsense.duels.records import DuelTurn
from sociable.core.form import Form, Question
from sociable.core.view import Block, Line, Paragraph, Transcript
from sociable.models.protocol import ChatMessage

NOTHING = "-"


def _show_said(turns: Sequence[DuelTurn]) -> Transcript:
    return Transcript("What has been said", [Line(turn.speaker, "", turn.content or "(says nothing)") for turn in turns])


def make_turn_form(title: str, briefing: ChatMessage, asked: ChatMessage, *, is_first: bool) -> Form:
    """A turn of a side. The first one tells all that a model is told; every one what was said and what is on the table."""
    blocks: list[Block] = [Paragraph(str(each["content"])) for each in ((briefing, asked) if is_first else (asked,))]
    questions = [
        Question(f"What do you say? (one line; {NOTHING} to say nothing)"),
        Question(f"What do you do? (OFFER: 1a 2b 3c, ACCEPT or LEAVE; {NOTHING} for nothing)"),
    ]
    return Form(title, blocks, questions, lambda answers: "\n".join(each for each in answers if each.strip() != NOTHING))


def make_choice_form(title: str, turns: Sequence[DuelTurn], question: str, options: Sequence[str]) -> Form:
    return Form(
        title, [_show_said(turns)], [Question(question, list(options))], lambda answers: json.dumps({"answer": answers[0]})
    )


def make_words_form(title: str, brief: str, turns: Sequence[DuelTurn]) -> Form:
    """A third person's turn."""
    return Form(title, [Paragraph(brief), _show_said(turns)], [Question("What do you say? (one line)")])
