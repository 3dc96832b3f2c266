"""What a person in the assistant's place is shown and asked."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sociable.benchmarks.hsii.briefing import Situation
from sociable.benchmarks.hsii.dataset import ASSISTANT
from sociable.core.form import Form, Question
from sociable.core.records import Turn
from sociable.core.view import Line, Paragraph, Transcript


def situation_blocks(case: Situation) -> list[Paragraph | Transcript]:
    """Scene, people and conversation, as the model sees them."""
    background = case.background
    parts = (background.scene, " ".join(background.relationships), background.conflicts)
    lines = [Line(message.role_from, message.role_to, message.content) for message in case.messages]
    return [*(Paragraph(part) for part in parts if part), Transcript("The conversation so far", lines)]


def address_form(case: Situation) -> Form:
    """Stages 1 to 3: whom to address, and what to say. The reply has the form that models are asked for."""

    def reply(answers: Sequence[str]) -> str:
        role_to, content = answers
        if not content:
            return ""
        return json.dumps({"role_from": ASSISTANT, "role_to": role_to, "content": content}, ensure_ascii=False)

    questions = [
        Question("You are the Intelligent Assistant. Whom do you address now?", case.background.characters),
        Question("What do you say? (one line)"),
    ]
    return Form("A new case", situation_blocks(case), questions, reply)


def words_form(case: Situation, target: str) -> Form:
    """What to say to somebody who is given."""
    question = Question(f"You are the Intelligent Assistant. What do you say to {target}? (one line)")
    return Form("A new case", situation_blocks(case), [question])


def next_turn_form(target: str, seen: Sequence[Turn]) -> Form:
    """A later turn with the same person: what was said since one's own last turn."""
    places = [place for place, turn in enumerate(seen) if turn.speaker == ASSISTANT]
    heard = seen[places[-1] + 1 if places else 0 :]
    lines = [Line(turn.speaker, ", ".join(turn.addressees), turn.content) for turn in heard]
    return Form("It goes on", [Transcript("", lines)], [Question(f"What do you say to {target}? (one line)")])
