"""Was a secret told in the scene? By rule: the quiz is about inference, and what was said outright is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sociable.benchmarks.agentsense.rule import cut_copied_runs
from sociable.benchmarks.agentsense.scenario import QuizQuestion, Scenario
from sociable.core.names import find_words
from sociable.core.wording import find_telling_words

ENOUGH = 0.6
"""The share of an answer's own words that, in one turn, give it away."""
_LETTERS = 5
"""Letters of a word that are compared: endings differ."""


def find_disclosure(scenario: Scenario, question: QuizQuestion, turns: Sequence[tuple[str, str]]) -> int | None:
    """The place of the first turn in which the answer was told, whoever told it; None where it was not.

    A turn tells it that has most of the words of the answer that stand neither in what everybody knows nor in another
    option; or that repeats a run of words of the sentence in which the owner's private information has it. (The rest of that
    information tells how the owner behaves, and may well be seen; where no sentence has a word of the answer, all of it counts.)
    """
    answer, own = _find_words(scenario, question)
    owner = scenario.by_name.get(question.about)
    sentences = re.split(r"(?<=[.!?;])\s+", owner.private_info if owner else "")
    weights = [len(answer & _cut_words(find_telling_words(sentence))) for sentence in sentences]
    secret = sentences[weights.index(max(weights))] if max(weights) else " ".join(sentences)
    for place, (_, text) in enumerate(turns):
        said = _cut_words(find_telling_words(text))
        # One word is said by chance: then all of the answer's must be.
        if len(own & said) >= ENOUGH * len(own) if len(own) > 1 else answer and answer <= said:
            return place
        if secret and cut_copied_runs(secret) & cut_copied_runs(text):
            return place
    return None


def list_disclosed(scenario: Scenario, turns: Sequence[tuple[str, str]]) -> frozenset[str]:
    """The keys of the questions whose answer was told."""
    questions = {each.key: each for character in scenario.characters for each in character.info_reason_questions}
    return frozenset(key for key, question in questions.items() if find_disclosure(scenario, question, turns) is not None)


def _find_words(scenario: Scenario, question: QuizQuestion) -> tuple[set[str], set[str]]:
    """The beginnings of the answer's words, and of those that nothing else has."""
    names = {word for name in scenario.names for word in find_words(name)}
    answer = _cut_words(find_telling_words(question.answer) - names)
    others = (option for option in question.options if option != question.answer)
    known = _cut_words(find_telling_words(" ".join([scenario.background, scenario.description, question.question, *others])))
    return answer, answer - known


def _cut_words(words: Iterable[str]) -> set[str]:
    return {word[:_LETTERS] for word in words}
