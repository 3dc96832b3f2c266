"""Short answers, yes or no, and choices among lettered options. Nothing is guessed: a reply that gives two gives none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sociable.core.names import find_words
from sociable.core.records import Episode, Judgment, Verdict, make_storable
from sociable.judging.forms import make_yes_no_form
from sociable.judging.protocol import Answer, Judge, Leaning, Question, Reading, Unread, judge_question
from sociable.models.protocol import ChatMessage
from sociable.models.replies import (
    MAX_REASON,
    UNREADABLE,
    find_closing_object,
    find_field,
    find_last_value,
    find_reason,
    make_schema,
)

YES_NO_SCHEMA = make_schema(reason={"type": "string"}, answer={"type": "string", "enum": ["yes", "no"]})

_ANSWERS: dict[object, bool] = {"yes": True, "no": False}
_CLOSING = re.compile(r"(?:\A|\n)\W*(?:(?:so|my|the|final)\s+)*answer\W*(?:\bis\b)?\W*\b(yes|no)\b\W*\Z", re.IGNORECASE)
_OPENING = re.compile(r"\W*(yes|no)\b\W*?(?:[.,:;!\n]|\Z)", re.IGNORECASE)


_LEANING = Leaning((True,), lambda yes, _generator: not yes)


async def judge_yes_no(
    write: Callable[[], Sequence[ChatMessage]],
    apply_rule: Callable[[], Reading[bool]],
    judge: Judge,
    episode: Episode,
    criterion: str,
) -> Judgment:
    """One judge's answer: WIN for yes, LOSS for no, UNSCORED for neither. Raises RunFailure and RunStopped."""
    question = Question(write, parse_yes_no, YES_NO_SCHEMA, apply_rule, make_yes_no_form, _LEANING)
    return await judge_question(question, lambda yes: Verdict.WIN if yes else Verdict.LOSS, judge, episode, criterion)


def parse_yes_no(text: str) -> Reading[bool]:
    """The answer that a reply gives; a reply that gives not exactly one gives none.

    The answer is what the reply ends with: a JSON object, "Answer: yes", or the lone word; or the word it begins with
    ("Yes, because …"), unless the other word stands alone at its end.
    """
    text = make_storable(text).strip()
    reason = text[:MAX_REASON]
    fields = find_closing_object(text)
    answer: object = None
    if fields is UNREADABLE:
        answer = _ANSWERS.get(find_last_value(text, "answer").strip(".").lower())
    elif fields is not None:
        reason, answer = find_reason(fields), find_field(fields, "answer")
        if isinstance(answer, str):
            answer = _ANSWERS.get(answer.strip().strip(".").lower())
    elif closing := _CLOSING.search(text[-200:]):
        answer = _ANSWERS[closing[1].lower()]
    elif opening := _OPENING.match(text):
        first, last = _ANSWERS[opening[1].lower()], _ANSWERS.get(find_words(text)[-1])
        answer = first if last in (None, first) else None
    return Answer(answer, reason) if isinstance(answer, bool) else Unread("no answer in the reply", reason)


_NUMBERED = re.compile(r"[\W_]*(\d{1,2})\s*[.):]\W*?(\S.*)")
_ASIDE = re.compile(r"\([^()]*\)")


def parse_numbered_answers(text: str, count: int) -> Reading[list[bool | None]]:
    """The answers to ``count`` questions numbered from 1, a line each ("2. No"); None stands where there is not exactly one.

    A line may repeat its question. Lines without any number are taken in order, where as many as the questions answer.
    """
    text = make_storable(text).strip()
    lines = [line for line in text.splitlines() if line.strip()]
    numbered = [(int(found[1]), found[2]) for line in lines if (found := _NUMBERED.match(line))]
    if not numbered:
        numbered = list(enumerate((line for line in lines if _read_line(line) is not None), start=1))
        numbered = numbered if len(numbered) == count else []
    said = [{_read_line(line) for own, line in numbered if own == number} for number in range(1, count + 1)]
    answers = [each.pop() if len(each) == 1 else None for each in said]
    reason = text[:MAX_REASON]
    return Unread("no answers in the reply", reason) if set(answers) <= {None} else Answer(answers, reason)


def _read_line(line: str) -> bool | None:
    """The answer in a line, after the question that it may repeat."""
    return parse_yes_no(_ASIDE.sub("", line.rpartition("?")[2])).value


_LONE_LETTER = re.compile(r"[\W_]*([A-Za-z])[\W_]*")
_STATED_LETTER = re.compile(
    r"\b[Aa]nswer\b(?:\s+to\s+(?:the|this|that|your)\s+\w+)?(?:\s+is)?[\s:*_`\"'(\[=]*([A-Z])(?=[*_`\"']*(?:\s*[.:,;)\]!]|\s*\Z|\s*\n))"
)
"""``Answer: B.``, ``the answer is **B**``: a capital with a mark or the end behind it, so no article."""
_MARKED_LETTER = re.compile(
    r"(?<![\w'])([A-Z])(?=[*_`\"']*[:)\]])|(?:\A|\n)[\s*_`\"'(\[]*([A-Z])(?=[*_`\"']*\.\s)",
)
"""A letter with the mark of a list behind it; a full stop is one at the beginning of a line only."""
_LEADING_LETTER = re.compile(r"[\s*_`\"'(\[]*(?:[Oo]ption\s+)?([A-Za-z])(?:[*_`\"')\]]*\s*[.:)\-]\s|\Z)")


_CHOSEN_LETTER = re.compile(
    r"\b(?:(?:think|believe|say)\s+(?:that\s+)?(?:it\s+is|it['’]s|it\s+must\s+be)"
    r"|I(?:\s+would|['’]d)?\s+(?:choose|pick|take|go\s+with))"
    r"\s+(?:option\s+([A-Z])\b|([A-Z])(?=\s+(?:because|since|as)\b|\s*[.,:;)]|\s*\Z))"
)
"""``I think it is option C because …``."""


def parse_choice(text: str, count: int, options: Sequence[str] = ()) -> Reading[int]:
    """The place, from 0, of the option that a reply chooses among ``count`` lettered from A.

    A JSON object with the field ``answer``; a lone letter; "Answer: B"; the one option's letter that the reply marks
    ("B: because …") or says that it chooses; or the words of one of the ``options``, given in the order of the letters, and
    no more.
    """
    text = make_storable(text).strip()
    letters: list[str]
    said = text
    if (fields := find_closing_object(text)) is not None:
        answer = find_last_value(text, "answer") if fields is UNREADABLE else find_field(fields, "answer")
        if isinstance(answer, list) and len(answer) == 1:
            (answer,) = answer
        said = answer if isinstance(answer, str) else ""
        found = _LONE_LETTER.fullmatch(said) or _LEADING_LETTER.match(said)
        letters = [found[1]] if found else []
    elif lone := _LONE_LETTER.fullmatch(text):
        letters = [lone[1]]
    else:
        letters = (
            _STATED_LETTER.findall(text)
            or [first or second for first, second in _MARKED_LETTER.findall(text)]
            or [first or second for first, second in _CHOSEN_LETTER.findall(text)]
        )
    places = {place for letter in letters if 0 <= (place := ord(letter.upper()) - ord("A")) < count}
    if not letters and find_words(said):
        places = {place for place, option in enumerate(options[:count]) if find_words(option) == find_words(said)}
    return Answer(places.pop(), text[:MAX_REASON]) if len(places) == 1 else Unread("no choice in the reply", text[:MAX_REASON])
