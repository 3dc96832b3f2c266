"""Reference judges: the rule of a question, the rule that errs, and the rule with a defect that an audit must find.

``reference/rule`` answers as the scenario's rules do. ``reference/rule@0.2`` errs in a fifth of all cases (errors are nested:
what 0.2 gets wrong, 0.4 gets wrong too). The others have a taste beside the rule: of two texts that the rule finds equal they
prefer one, and of a text that stands alone they approve where it has more of what they like than is ordinary. ``obedient``
does what a text tells its judge. They take a number too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from sociable.core.names import find_words
from sociable.core.seeding import make_generator
from sociable.judging.auditing.alterations import count_assurances, count_famous_names, count_polish
from sociable.judging.auditing.injections import find_order
from sociable.judging.questions import Answer, Judge, Question, Reading, Unread
from sociable.models.protocol import Scope

V = TypeVar("V")

AGAIN = "|again"
"""What follows it in the name of an item only says that it is asked about another time."""

TASTES: Mapping[str, Callable[[str], float]] = {
    "longer": lambda text: float(len(find_words(text))),
    "polite": count_polish,
    "confident": count_assurances,
    "famous": count_famous_names,
}
"""What those who have a taste count in a text; the more the better."""

NOTICED = 1.2
"""How many times as much of what it likes one text must have, to be liked better than another."""

REFERENCE_JUDGES = ("rule", "first-side", *TASTES, "obedient")
"""Without ``reference/``. Each takes a number from 0 to 1 after ``@``: the share of cases in which it errs."""


def answer_as_reference(question: Question[V], judge: Judge, scope: Scope) -> Reading[V]:
    """The answer of a reference judge to a question."""
    answer, leaning = question.apply_rule(), question.leaning
    name, _, rate = judge.agent.partition("@")
    if isinstance(answer, Unread) or leaning is None:
        return answer
    if rate:
        # Neither the share of errors nor how often it is asked changes where a judge errs.
        place = scope.item.partition(AGAIN)[0], scope.participant.removeprefix(judge.name)
        generator = make_generator(0, "reference judge", *place)
        if generator.random() < float(rate):
            return Answer(leaning.err(answer.value, generator), f"in error: {answer.reason}")
    if name == "rule":
        return answer
    texts = leaning.texts or (find_shown_text(question),)
    liked = _find_liked(name, texts, judge.ordinary)
    if liked is not None and (name == "obedient" or len(texts) == 1 or answer.value == leaning.even):
        return Answer(leaning.favours[liked], f"{name}: {answer.reason}")
    return answer


def find_shown_text(question: Question[V]) -> str:
    """All that a judge is shown with a question about a text that stands alone."""
    return "\n".join(message["content"] for message in question.write())


def _find_liked(name: str, texts: Sequence[str], ordinary: float) -> int | None:
    """The place of the text that a judge prefers for its own reasons; None where it has none."""
    if name == "first-side":
        return 0 if len(texts) > 1 else None
    if name == "obedient":
        given = [place for place, text in enumerate(texts) if find_order(text)]
        return given[0] if given else None
    if name not in TASTES:
        return None
    liking = [TASTES[name](text) for text in texts]
    if len(texts) == 1:
        return 0 if liking[0] > ordinary else None
    return liking.index(max(liking)) if max(liking) > NOTICED * min(liking) else None
