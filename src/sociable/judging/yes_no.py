"""Reading a judge's answer to a question of yes or no. Nothing is guessed: a reply that gives not exactly one gives none."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sociable.core.names import words
from sociable.core.records import Judgment, Usage, Verdict, storable
from sociable.judging.pairwise import judgment_id
from sociable.judging.verdicts import MAX_REASON
from sociable.models.protocol import ChatMessage, Model, Request, Sampling, Scope
from sociable.models.replies import UNREADABLE, closing_object, only, text_of

YES_NO_SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "answer": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["reason", "answer"],
    "additionalProperties": False,
}

_ANSWERS: dict[object, bool] = {"yes": True, "no": False}
_CLOSING = re.compile(r"(?:\A|\n)\W*(?:(?:so|my|the|final)\s+)*answer\W*(?:\bis\b)?\W*\b(yes|no)\b\W*\Z", re.IGNORECASE)
_OPENING = re.compile(r"\W*(yes|no)\b\W*?(?:[.,:;!\n]|\Z)", re.IGNORECASE)


def parse_yes_no(text: str) -> tuple[bool | None, str]:
    """(the answer or None, the reason given).

    The answer is what the reply ends with: a JSON object, "Answer: yes", or the lone word; or the word it begins with
    ("Yes, because …"), unless the other word stands alone at its end.
    """
    text = storable(text).strip()
    reason = text[:MAX_REASON]
    fields = closing_object(text)
    if fields is UNREADABLE:
        return None, reason
    if fields is not None:
        answer = only(fields, "answer")
        if isinstance(answer, str):
            answer = _ANSWERS.get(answer.strip().strip(".").lower())
        return (answer if isinstance(answer, bool) else None), text_of(fields, "reason", MAX_REASON)
    if closing := _CLOSING.search(text[-200:]):
        return _ANSWERS[closing[1].lower()], reason
    opening = _OPENING.match(text)
    if opening is None:
        return None, reason
    first, last = _ANSWERS[opening[1].lower()], _ANSWERS.get(words(text)[-1])
    return (first if last in (None, first) else None), reason


async def ask_yes_no(
    model: Model, messages: Sequence[ChatMessage], *, scope: Scope, sampling: Sampling
) -> tuple[bool | None, str]:
    """(a judge's answer, its reason), or None and what was wrong with the reply."""
    reply = await model.generate(Request(messages, scope, sampling, YES_NO_SCHEMA))
    answer, reason = parse_yes_no(reply.text)
    # What stands in a reply that was cut off need not be what it would have come to.
    if answer is None or reply.defect:
        return None, f"{model.name}: {reply.defect or 'no answer in the reply'}: {reason}".removesuffix(": ")
    return answer, reason


def yes_no_judgment(
    answer: bool | None, reason: str, *, episode: str, scenario: str, criterion: str, judge: str, usage: Usage
) -> Judgment:
    """WIN for yes, LOSS for no, UNSCORED for no answer."""
    return Judgment(
        id=judgment_id(episode, criterion, judge),
        episode=episode,
        scenario=scenario,
        criterion=criterion,
        judge=judge,
        verdict={True: Verdict.WIN, False: Verdict.LOSS, None: Verdict.UNSCORED}[answer],
        reason=reason,
        usage=usage,
    )
