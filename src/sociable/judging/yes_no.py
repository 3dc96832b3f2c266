"""Judges who answer yes or no."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sociable.core.names import words
from sociable.core.records import Episode, Judgment, Verdict, storable
from sociable.judging.protocol import Answer, Judge, Question, Reading, Unread, judge_question
from sociable.models.protocol import ChatMessage
from sociable.models.replies import MAX_REASON, UNREADABLE, find_closing_object, find_field, find_reason, object_schema

YES_NO_SCHEMA = object_schema(reason={"type": "string"}, answer={"type": "string", "enum": ["yes", "no"]})

_ANSWERS: dict[object, bool] = {"yes": True, "no": False}
_CLOSING = re.compile(r"(?:\A|\n)\W*(?:(?:so|my|the|final)\s+)*answer\W*(?:\bis\b)?\W*\b(yes|no)\b\W*\Z", re.IGNORECASE)
_OPENING = re.compile(r"\W*(yes|no)\b\W*?(?:[.,:;!\n]|\Z)", re.IGNORECASE)


async def judge_yes_no(
    write: Callable[[], Sequence[ChatMessage]],
    apply_rule: Callable[[], Reading[bool]],
    judge: Judge,
    episode: Episode,
    criterion: str,
) -> Judgment:
    """One judge's answer: WIN for yes, LOSS for no, UNSCORED for neither. Raises RunFailure and RunStopped."""
    question = Question(write, parse_yes_no, YES_NO_SCHEMA, apply_rule)
    return await judge_question(question, lambda yes: Verdict.WIN if yes else Verdict.LOSS, judge, episode, criterion)


def parse_yes_no(text: str) -> Reading[bool]:
    """The answer that a reply gives; a reply that gives not exactly one gives none.

    The answer is what the reply ends with: a JSON object, "Answer: yes", or the lone word; or the word it begins with
    ("Yes, because …"), unless the other word stands alone at its end.
    """
    text = storable(text).strip()
    reason = text[:MAX_REASON]
    fields = find_closing_object(text)
    answer: object = None
    if fields is UNREADABLE:
        pass
    elif fields is not None:
        reason, answer = find_reason(fields), find_field(fields, "answer")
        if isinstance(answer, str):
            answer = _ANSWERS.get(answer.strip().strip(".").lower())
    elif closing := _CLOSING.search(text[-200:]):
        answer = _ANSWERS[closing[1].lower()]
    elif opening := _OPENING.match(text):
        first, last = _ANSWERS[opening[1].lower()], _ANSWERS.get(words(text)[-1])
        answer = first if last in (None, first) else None
    return Answer(answer, reason) if isinstance(answer, bool) else Unread("no answer in the reply", reason)
