"""Forms for people who judge: what a model would be sent, and fields that make a reply which the judge's parser reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from sociable.core.form import Form, Question, make_prompt_form
from sociable.models.protocol import ChatMessage

MakeForm = Callable[[Sequence[ChatMessage]], Form]
"""Makes the form for a question that is asked in these messages."""

NONE = "none"
_REASON = Question("Why? (may be left out)", is_long=True, may_be_empty=True)
_YES_NO = ("yes", "no")
_SIDES = ("the first is better", "the second is better", "neither is better")


def _make_form(messages: Sequence[ChatMessage], questions: Sequence[Question], reply: Callable[[Sequence[str]], str]) -> Form:
    return make_prompt_form("You are a judge", messages, questions, reply)


def _write(reason: str, **fields: object) -> str:
    return json.dumps({"reason": reason, **fields}, ensure_ascii=False)


def make_preference_form(messages: Sequence[ChatMessage]) -> Form:
    """A form for a comparison of two texts; ``parse_preference`` reads its reply."""

    def reply(answers: Sequence[str]) -> str:
        return _write(answers[1], verdict=(_SIDES.index(answers[0]) + 1) % len(_SIDES))

    return _make_form(messages, [Question("Which of the two is better?", _SIDES), _REASON], reply)


def make_yes_no_form(messages: Sequence[ChatMessage]) -> Form:
    """A form for a question of yes or no; ``parse_yes_no`` reads its reply."""
    asked = [Question("What is the answer to the question?", _YES_NO), _REASON]
    return _make_form(messages, asked, lambda answers: _write(answers[1], answer=answers[0]))


def make_numbered_form(count: int) -> MakeForm:
    """A form for so many numbered questions of yes or no; ``parse_numbered_answers`` reads its reply."""
    asked = [Question(f"Question {number}", _YES_NO) for number in range(1, count + 1)]

    def reply(answers: Sequence[str]) -> str:
        return "\n".join(f"{number}. {answer}" for number, answer in enumerate(answers, start=1))

    return lambda messages: _make_form(messages, asked, reply)


def make_listing_form(field: str, questions: Mapping[int, str]) -> MakeForm:
    """A form that asks of each number whether it belongs in a list; its reply has the list in ``field``."""
    asked = [*(Question(question, _YES_NO) for question in questions.values()), _REASON]

    def reply(answers: Sequence[str]) -> str:
        return _write(answers[-1], **{field: [each for each, said in zip(questions, answers, strict=False) if said == "yes"]})

    return lambda messages: _make_form(messages, asked, reply)


def make_matching_form(points: int, letters: str) -> MakeForm:
    """A form that asks for each numbered fact which of the lettered claims states it; its reply has the list ``matches``."""
    asked = [Question(f"Which claim states fact {number}?", (*letters, NONE)) for number in range(1, points + 1)]

    def reply(answers: Sequence[str]) -> str:
        pairs = [[number, each] for number, each in enumerate(answers[:points], start=1) if each != NONE]
        return _write(answers[-1], matches=pairs)

    return lambda messages: _make_form(messages, [*asked, _REASON], reply)


def make_ratings_form(ranges: Mapping[str, tuple[str, int, int]]) -> MakeForm:
    """A form for ratings; ``ranges``: (meaning, lowest, highest) of each dimension. ``parse_ratings`` reads its reply."""
    asked = [
        Question(f"{name.replace('_', ' ')}: {meaning}", tuple(map(str, range(low, high + 1))))
        for name, (meaning, low, high) in ranges.items()
    ]

    def reply(answers: Sequence[str]) -> str:
        rated = zip(ranges, answers, strict=False)
        return json.dumps({name: {"reason": answers[-1], "rating": int(rating)} for name, rating in rated}, ensure_ascii=False)

    return lambda messages: _make_form(messages, [*asked, _REASON], reply)
