"""Forms for a person, who is shown and asked there what a model would get as a prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sociable.core.view import Block, Callout, Quotation

PERSON = "human"
"""The name of a person who sits in a model's place."""


class PeopleAt(StrEnum):
    """Where people answer. It is told by the command that runs, and is no part of what a run depends on."""

    TERMINAL = "terminal"
    """One person, where the run was started."""
    DESK = "desk"
    """Several people, through the file ``desk.sqlite`` in the run's folder."""


@dataclass(frozen=True, slots=True)
class Question:
    """One answer to be given: one of ``choices``, or free words where there are none."""

    text: str
    choices: Sequence[str] = ()
    is_long: bool = False
    """Whether free words may have several lines."""
    may_be_empty: bool = False
    """Whether free words may be left out; the answer is then the empty string."""

    def find_problem(self, answer: str) -> str:
        """The reason why ``answer`` is none to this question, in words for whoever gave it; empty where it is one."""
        if self.choices:
            return "" if answer in self.choices else f"Choose one of: {', '.join(self.choices)}."
        if not answer.strip():
            return "" if self.may_be_empty else "Write something."
        return "" if self.is_long or "\n" not in answer.strip() else "Write it on one line."


@dataclass(frozen=True, slots=True)
class Form:
    """``blocks`` are shown, then the questions asked in turn; ``reply`` turns the answers into a model's reply."""

    title: str
    blocks: Sequence[Block]
    questions: Sequence[Question]
    reply: Callable[[Sequence[str]], str] = field(default=lambda answers: "\n".join(answers))


_LABELS = {"system": "Instructions", "user": "What is told and asked", "assistant": "What you said"}
_HINT = "This is what a model is sent. What it says of a reply's form (JSON, say) is not for you: answer in the fields."


def make_prompt_form(
    title: str, messages: Sequence[Mapping[str, Any]], questions: Sequence[Question], reply: Callable[[Sequence[str]], str]
) -> Form:
    """A form that shows the messages that a model would be sent, above fields of its own for the answer."""
    shown = [Quotation(_LABELS.get(each["role"], each["role"]), each["content"]) for each in messages]
    return Form(title, [*shown, Callout(_HINT)], questions, reply)
