"""Shortcuts: guesses of a quiz's answer by somebody who was not in the scene."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sociable.benchmarks.agentsense.scenario import QuizQuestion, Scenario, list_distinct_questions
from sociable.core.names import find_words
from sociable.core.wording import find_telling_words, measure_overlap
from sociable.reports.audits import (
    ShortcutResult,
    compare_with_chance,
)
from sociable.statistics.guessing import cross_validate, measure_hit


@dataclass(frozen=True, slots=True)
class QuizItem:
    """A distinct question with the background that everybody knows."""

    template: str
    question: QuizQuestion
    background: str


def measure_shortcuts(scenarios: Sequence[Scenario]) -> list[ShortcutResult]:
    """The share of distinct questions in which each shortcut finds the answer; farthest from chance first."""
    found = list_distinct_questions(scenarios)
    items = [QuizItem(each.template, question, f"{each.background} {each.description}") for each, _, question in found]
    if not items:
        return []
    hits = {
        name: [measure_hit(_pick_highest(item, rank), item.question.answer_label) for item in items]
        for name, rank in RANKINGS.items()
    }
    hits |= {f"{name}, other templates": own for name, own in _classify_options(items).items()}
    chances = [1 / len(item.question.options) for item in items]
    return compare_with_chance(hits, [item.template for item in items], chances)


def _compare_with_text(option: str, text: str) -> float:
    return measure_overlap(find_telling_words(option), find_telling_words(text))


def _compare_with_others(item: QuizItem, option: str) -> float:
    own = find_telling_words(option)
    others = [find_telling_words(other) for other in item.question.options if other != option]
    return sum(measure_overlap(own | other, own & other) for other in others)


RANKINGS: dict[str, Callable[[QuizItem, str], float]] = {
    "the longest": lambda _, option: len(option),
    "the shortest": lambda _, option: -len(option),
    "the most words": lambda _, option: len(find_words(option)),
    "the first": lambda item, option: -item.question.options.index(option),
    "the last": lambda item, option: item.question.options.index(option),
    "the one most like the background": lambda item, option: _compare_with_text(option, item.background),
    "the one least like the background": lambda item, option: -_compare_with_text(option, item.background),
    "the one most like the question": lambda item, option: _compare_with_text(option, item.question.question),
    "the one most like the others": _compare_with_others,
    "the one unlike the others": lambda item, option: -_compare_with_others(item, option),
    "the one with a figure": lambda _, option: any(character.isdigit() for character in option),
    "the most capitals": lambda _, option: sum(character.isupper() for character in option),
}
"""Rules, each of which takes the option it ranks highest."""


def _pick_highest(item: QuizItem, rank: Callable[[QuizItem, str], float]) -> list[int]:
    """The places of the options that the rule ranks highest."""
    ranks = [rank(item, option) for option in item.question.options]
    return [place for place, own in enumerate(ranks) if own == max(ranks)]


def _classify_options(items: Sequence[QuizItem]) -> dict[str, list[float]]:
    """The hits of each classifier (see ``cross_validate``), trained on the options of other templates.

    Empty where questions differ in their number of options.
    """
    from sklearn.ensemble import RandomForestClassifier  # type: ignore[import-untyped]
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]

    if len({len(item.question.options) for item in items}) != 1:
        return {}
    options = [(item, place) for item in items for place in range(len(item.question.options))]
    texts = np.array([item.question.options[place] for item, place in options], dtype=object)
    shapes = np.array([_compare_option(item, place) for item, place in options])
    by_words = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression())
    by_shape = RandomForestClassifier(100, min_samples_leaf=4, random_state=0)
    classifiers = {"words (logistic regression)": (by_words, texts), "shape (random forest)": (by_shape, shapes)}
    right = [[place == item.question.answer_label for place in range(len(item.question.options))] for item in items]
    return cross_validate(classifiers, right, [item.template for item in items], folds=10)


def _compare_option(item: QuizItem, place: int) -> list[float]:
    """Numbers that compare an option with the others of its question; its place is none of them."""
    options = item.question.options
    lengths = [len(option) for option in options]
    counts = [len(find_words(option)) for option in options]
    own, said = options[place], find_words(options[place])
    return [
        lengths[place] - sum(lengths) / len(lengths),
        float(sorted(lengths).index(lengths[place])),
        counts[place] - sum(counts) / len(counts),
        _compare_with_others(item, own),
        float(any(character.isdigit() for character in own)),
        float(sum(character.isupper() for character in own)),
        float(own.count(",")),
        float(own.count("'") + own.count("’")),
        float(bool(said) and said[0] in ("the", "a", "an", "to", "that", "he", "she", "they")),
        float(not {"not", "never", "no", "nobody"}.isdisjoint(said)),
    ]
