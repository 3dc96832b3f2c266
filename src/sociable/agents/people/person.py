"""People in a model's place: what a run expects of them, wherever they sit.

To the rest of the program they are a model, so that their answers are kept in the journal like any reply, with the time each
took, and a session can be broken off and resumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Protocol

from sociable.core.form import Form, Question
from sociable.core.view import Line, Quotation
from sociable.models.protocol import Model, Request


class People(Model, Protocol):
    """Whoever sits in the places of one run."""

    abandonable: bool
    """A stop need not wait for an answer that has not been given."""

    def note_progress(self, phase: str, done: int, total: int) -> None:
        """Takes note of how many items of a phase are over, of how many."""

    async def begin_case(self, item: str) -> None:
        """Returns when there is somebody for one more case."""

    def end_case(self, item: str) -> None:
        """Takes note that a case is over, or broken off."""


def make_plain_form(request: Request) -> Form:
    """A form that shows the prompt itself, where nobody wrote another."""
    blocks = [Quotation(message["role"], message["content"]) for message in request.messages]
    return Form("What a model would be sent", blocks, [Question("Your reply, as it is asked for:", is_long=True)])


def count_known(lines: Sequence[Line], before: Sequence[Line]) -> int:
    """The number of lines at the beginning that a person saw ``before``; 0 where nothing is new, or everything."""
    known = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(before, lines, strict=False))))
    return known if known < len(lines) else 0
