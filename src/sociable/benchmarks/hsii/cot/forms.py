"""What a person sees and is asked in the assistant's place, who thinks first."""

from __future__ import annotations

from collections.abc import Sequence

from sociable.benchmarks.hsii.dataset import Case, write_reply
from sociable.core.form import Form, Question, make_prompt_form
from sociable.models.protocol import ChatMessage

NONE = "NONE"


def make_thought_form(case: Case, messages: Sequence[ChatMessage]) -> Form:
    """Thoughts, and the turn that they lead to."""
    questions = [
        Question("Your thoughts (may be left out)", is_long=True, may_be_empty=True),
        Question("Whom do you address now?", case.background.characters),
        Question("What do you say? (one line)"),
    ]

    def reply(answers: Sequence[str]) -> str:
        return f"{answers[0]}\n{write_reply(answers[1], answers[2])}".strip()

    return make_prompt_form("Think, and speak", messages, questions, reply)


def make_drawbacks_form(messages: Sequence[ChatMessage]) -> Form:
    """The drawbacks of the turn."""
    questions = [Question("The drawbacks, each on a line of its own (nothing: there are none)", is_long=True, may_be_empty=True)]

    def reply(answers: Sequence[str]) -> str:
        return "\n".join(f"- {line.strip()}" for line in answers[0].splitlines() if line.strip()) or NONE

    return make_prompt_form("Look at it again", messages, questions, reply)
