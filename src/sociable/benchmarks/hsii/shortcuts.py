"""Guesses of the golden addressee without understanding a word: by rules, and by classifiers on the same features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.core.wording import pad_words
from sociable.statistics.guessing import cross_validate
from sociable.statistics.intervals import Floats

Shortcut = Callable[[Case], str | None]
"""The character that a rule picks, or nobody (which is wrong)."""


def _people(case: Case) -> list[str]:
    return [message.role_from for message in case.messages if message.role_from != ASSISTANT]


def _asked(case: Case) -> list[str]:
    return [message.role_from for message in case.messages if message.role_to == ASSISTANT]


def _answered(case: Case) -> list[str]:
    return [message.role_to for message in case.messages if message.role_from == ASSISTANT]


def _last(names: Sequence[str]) -> str | None:
    return names[-1] if names else None


def _most(case: Case, names: Sequence[str]) -> str | None:
    """The most frequent; among equals the one listed first."""
    counts = Counter(names)
    return max(case.characters, key=lambda name: counts[name]) if names else None


def _mentions(case: Case, name: str) -> int:
    text = pad_words(" ".join(message.content for message in case.messages))
    return max(text.count(pad_words(spelling)) for spelling in (name, *case.aliases.get(name, ())))


SHORTCUTS: dict[str, Shortcut] = {
    "last speaker": lambda case: _last(_people(case)),
    "last to address the assistant": lambda case: _last(_asked(case)),
    "last person addressed by anybody": lambda case: _last([m.role_to for m in case.messages if m.role_to != ASSISTANT]),
    "first speaker": lambda case: next(iter(_people(case)), None),
    "first character listed": lambda case: case.characters[0],
    "last character listed": lambda case: case.characters[-1],
    "speaks most": lambda case: _most(case, _people(case)),
    "speaks least": lambda case: min(case.characters, key=lambda name: _people(case).count(name)),
    "most mentioned": lambda case: max(case.characters, key=lambda name: _mentions(case, name)),
    "addresses the assistant most": lambda case: _most(case, _asked(case)),
    "most frequent addressee of the assistant": lambda case: _most(case, _answered(case)),
    "addressed by the assistant last": lambda case: _last(_answered(case)),
    "waiting longest for an answer": lambda case: next(iter(case.waiting), None),
    "last to ask and still waiting": lambda case: _last(list(case.waiting)) or _last(_people(case)),
}
AVOIDANCES: dict[str, Shortcut] = {
    "never the last speaker": SHORTCUTS["last speaker"],
    "never the last to address the assistant": SHORTCUTS["last to address the assistant"],
    "never whom the assistant addressed last": SHORTCUTS["addressed by the assistant last"],
}
"""Each picks at random among all but one."""


def classify_addressees(cases: Sequence[Case]) -> dict[str, list[float]]:
    """The hits of each classifier (see ``cross_validate``): whether it finds the golden addressee likeliest."""
    from sklearn.ensemble import RandomForestClassifier  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

    rows = np.concatenate([_compare_characters(case) for case in cases])
    classifiers = {
        "logistic regression": (make_pipeline(StandardScaler(), LogisticRegression()), rows),
        "random forest": (RandomForestClassifier(n_estimators=60, min_samples_leaf=4, random_state=0), rows),
    }
    golden = [[name == case.golden.role_to for name in case.characters] for case in cases]
    return cross_validate(classifiers, golden, [case.dialogue for case in cases])


def _compare_characters(case: Case) -> Floats:
    """[characters, features]: numbers that compare each character with the others in all that the shortcuts look at."""
    said = (_people(case), _asked(case), _answered(case), [m.role_to for m in case.messages if m.role_to != ASSISTANT])
    waiting = list(case.waiting)
    mentions = {name: _mentions(case, name) for name in case.characters}
    rows = []
    for place, name in enumerate(case.characters):
        spoke_at = [number for number, message in enumerate(case.messages) if message.role_from == name]
        rows.append(
            [
                place == 0,
                place == len(case.characters) - 1,
                *(_last(names) == name for names in said),
                *(names.count(name) / max(1, len(names)) for names in said),
                mentions[name] / max(1, sum(mentions.values())),
                name in waiting,
                waiting[:1] == [name],
                waiting[-1:] == [name],
                not spoke_at,
                len(case.messages) - spoke_at[-1] if spoke_at else len(case.messages) + 1,
                said[0][:1] == [name],
                len(case.characters),
            ]
        )
    return np.array(rows, dtype=np.float64)
