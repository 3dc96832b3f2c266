"""Guesses of a quiz's answer without having been in the scene: by rules, and by classifiers that see options only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sociable.benchmarks.agentsense.scenario import QuizQuestion
from sociable.core.names import words
from sociable.core.wording import find_telling_words, measure_overlap
from sociable.statistics.guessing import cross_validate


@dataclass(frozen=True, slots=True)
class QuizItem:
    """A distinct question with the background that everybody knows."""

    template: str
    question: QuizQuestion
    background: str


def _like_background(item: QuizItem, option: str) -> float:
    return measure_overlap(find_telling_words(option), find_telling_words(item.background))


def _like_others(item: QuizItem, option: str) -> float:
    own = find_telling_words(option)
    others = [find_telling_words(other) for other in item.question.options if other != option]
    return sum(measure_overlap(own | other, own & other) for other in others)


RANKINGS: dict[str, Callable[[QuizItem, str], float]] = {
    "the longest": lambda _, option: len(option),
    "the shortest": lambda _, option: -len(option),
    "the most words": lambda _, option: len(words(option)),
    "the first": lambda item, option: -item.question.options.index(option),
    "the last": lambda item, option: item.question.options.index(option),
    "the one most like the background": _like_background,
    "the one least like the background": lambda item, option: -_like_background(item, option),
    "the one most like the question": lambda item, option: measure_overlap(
        find_telling_words(option), find_telling_words(item.question.question)
    ),
    "the one most like the others": _like_others,
    "the one unlike the others": lambda item, option: -_like_others(item, option),
    "the one with a figure": lambda _, option: any(character.isdigit() for character in option),
    "the most capitals": lambda _, option: sum(character.isupper() for character in option),
}
"""Rules, each of which takes the option it ranks highest."""


def pick_highest(item: QuizItem, ranking: Callable[[QuizItem, str], float]) -> list[int]:
    """The places of the options that the rule ranks highest."""
    ranks = [ranking(item, option) for option in item.question.options]
    return [place for place, rank in enumerate(ranks) if rank == max(ranks)]


def classify_options(items: Sequence[QuizItem]) -> dict[str, list[float]]:
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
    words_of_options = np.array([item.question.options[place] for item, place in options], dtype=object)
    shapes = np.array([_compare_option(item, place) for item, place in options])
    classifiers = {
        "words (logistic regression)": (
            make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression()),
            words_of_options,
        ),
        "shape (random forest)": (RandomForestClassifier(100, min_samples_leaf=4, random_state=0), shapes),
    }
    right = [[place == item.question.answer_label for place in range(len(item.question.options))] for item in items]
    return cross_validate(classifiers, right, [item.template for item in items], folds=10)


def _compare_option(item: QuizItem, place: int) -> list[float]:
    """Numbers that compare an option with the others of its question; its place is none of them."""
    options = item.question.options
    lengths = [len(option) for option in options]
    counts = [len(words(option)) for option in options]
    own = options[place]
    return [
        lengths[place] - sum(lengths) / len(lengths),
        float(sorted(lengths).index(lengths[place])),
        counts[place] - sum(counts) / len(counts),
        _like_others(item, own),
        float(any(character.isdigit() for character in own)),
        float(sum(character.isupper() for character in own)),
        float(own.count(",")),
        float(own.count("'") + own.count("’")),
        float(words(own)[0] in ("the", "a", "an", "to", "that", "he", "she", "they")) if words(own) else 0.0,
        float(bool({"not", "never", "no", "nobody"} & set(words(own)))),
    ]
