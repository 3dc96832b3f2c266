"""Reading a judge's answer to a question of yes or no. Nothing is guessed: a reply that gives not exactly one gives none."""

from __future__ import annotations

import json
import re

from sociable.dialogue.names import words
from sociable.judging.verdicts import MAX_REASON
from sociable.models.protocol import storable

YES_NO_SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "answer": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["reason", "answer"],
    "additionalProperties": False,
}

_ANSWERS: dict[object, bool] = {"yes": True, "no": False}
_CLOSING = re.compile(r"(?:\A|\n)\W*(?:(?:so|my|the|final)\s+)*answer\W*(?:\bis\b)?\W*\b(yes|no)\b\W*\Z", re.IGNORECASE)
_OPENING = re.compile(r"\W*(yes|no)\b\W*?(?:[.,:;!\n]|\Z)", re.IGNORECASE)
_AFTER_OBJECT = re.compile(r"[\s\])*`.]*")


def parse_yes_no(text: str) -> tuple[bool | None, str]:
    """(the answer or None, the reason given).

    The answer is what the reply ends with: a JSON object, "Answer: yes", or the lone word; or the word it begins with
    ("Yes, because …"), unless the other word stands alone at its end.
    """
    text = storable(text).strip()
    reason = text[:MAX_REASON]
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end and _AFTER_OBJECT.fullmatch(text, end + 1):
        try:
            pairs = json.loads(text[start : end + 1], strict=False, object_pairs_hook=list)
        except (ValueError, RecursionError):
            return None, reason
        answers = [value for key, value in pairs if key == "answer"]
        if len(answers) != 1:
            return None, reason
        answer = answers[0].strip().strip(".").lower() if isinstance(answers[0], str) else None
        found = answers[0] if isinstance(answers[0], bool) else _ANSWERS.get(answer)
        return found, storable(str(dict(pairs).get("reason", "")))[:MAX_REASON]
    if closing := _CLOSING.search(text[-200:]):
        return _ANSWERS[closing[1].lower()], reason
    opening = _OPENING.match(text)
    if opening is None:
        return None, reason
    first, last = _ANSWERS[opening[1].lower()], _ANSWERS.get(words(text)[-1])
    return (first if last in (None, first) else None), reason
