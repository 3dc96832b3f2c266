"""What can be known of a quiz's answer without having been in the scene: rules, and classifiers that see options only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sociable.benchmarks.agentsense.scenario import QuizQuestion, Scenario
from sociable.core.names import words
from sociable.core.wording import overlap, telling_words


@dataclass(frozen=True, slots=True)
class QuizItem:
    """A distinct question with the background that everybody knows."""

    template: str
    question: QuizQuestion
    background: str

    @classmethod
    def of(cls, scenario: Scenario, question: QuizQuestion) -> QuizItem:
        return cls(scenario.template, question, f"{scenario.background} {scenario.description}")


def _like_background(item: QuizItem, option: str) -> float:
    return overlap(telling_words(option), telling_words(item.background))


def _like_question(item: QuizItem, option: str) -> float:
    return overlap(telling_words(option), telling_words(item.question.question))


def _like_others(item: QuizItem, option: str) -> float:
    own = telling_words(option)
    similarities = []
    for other in item.question.options:
        if other != option:
            either = own | telling_words(other)
            similarities.append(len(own & telling_words(other)) / len(either) if either else 0.0)
    return sum(similarities)


RANKINGS: dict[str, Callable[[QuizItem, str], float]] = {
    "the longest": lambda _, option: len(option),
    "the shortest": lambda _, option: -len(option),
    "the most words": lambda _, option: len(words(option)),
    "the first": lambda item, option: -item.question.options.index(option),
    "the last": lambda item, option: item.question.options.index(option),
    "the one most like the background": _like_background,
    "the one least like the background": lambda item, option: -_like_background(item, option),
    "the one most like the question": _like_question,
    "the one most like the others": _like_others,
    "the one unlike the others": lambda item, option: -_like_others(item, option),
    "the one with a figure": lambda _, option: any(character.isdigit() for character in option),
    "the most capitals": lambda _, option: sum(character.isupper() for character in option),
}
"""Each takes the option it ranks highest."""


def hit(item: QuizItem, ranking: Callable[[QuizItem, str], float]) -> float:
    """The chance that the rule takes the right option; among equals it draws."""
    ranks = [ranking(item, option) for option in item.question.options]
    best = [place for place, rank in enumerate(ranks) if rank == max(ranks)]
    return (item.question.answer_label in best) / len(best)


FEWEST_TEMPLATES = 10
"""From which a classifier could learn anything."""


def classifier_hits(items: Sequence[QuizItem]) -> dict[str, list[float]]:
    """Whether each answer is the option a classifier finds likeliest, trained on the options of all other templates.

    By name of the classifier. Empty for fewer than ``FEWEST_TEMPLATES``, and where questions differ in their number of options.
    """
    from sklearn.ensemble import RandomForestClassifier  # type: ignore[import-untyped]
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.model_selection import GroupKFold, cross_val_predict  # type: ignore[import-untyped]
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]

    count = len(items[0].question.options) if items else 0
    if len({item.template for item in items}) < FEWEST_TEMPLATES or any(len(item.question.options) != count for item in items):
        return {}
    options = [option for item in items for option in item.question.options]
    right = np.array([place == item.question.answer_label for item in items for place in range(count)])
    groups = np.array([item.template for item in items for _ in range(count)])
    shape = np.array([_compared(item, place) for item in items for place in range(count)])
    classifiers = {
        "words (logistic regression)": (
            make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression()),
            np.array(options, dtype=object),
        ),
        "shape (random forest)": (
            RandomForestClassifier(100, min_samples_leaf=4, random_state=0),
            shape,
        ),
    }
    found = {}
    for name, (classifier, rows) in classifiers.items():
        chances = cross_val_predict(classifier, rows, right, groups=groups, cv=GroupKFold(10), method="predict_proba")[:, 1]
        picked = chances.reshape(len(items), count).argmax(axis=1)
        found[name] = [float(place == item.question.answer_label) for item, place in zip(items, picked, strict=True)]
    return found


def _compared(item: QuizItem, place: int) -> list[float]:
    """What an option looks like beside the others of its question; its place is not among it."""
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
