"""The default virtual dungeon master: small, local, trained on a processor in seconds.

It ranks the players of a window by what they last said and did, and then names the skill. Names are replaced by slots, so that
players whom it has never met can be predicted. Its base, which no training has touched, compares what a player says with a few
words written for each skill; training learns how far to trust that, what else tells, and who is likely to act.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import sklearn  # type: ignore[import-untyped]
from scipy.sparse import vstack  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from sociable.benchmarks.anteval.ieg.masters.interface import (
    MADE_OF,
    Master,
    MasterKind,
    Predictions,
    read_made_of,
    write_made_of,
)
from sociable.benchmarks.anteval.ieg.masters.sight import Floats, Seen, cues, seen
from sociable.benchmarks.anteval.ieg.windows import Pair, Window
from sociable.models.embeddings import load_encoder

VERSION = "1"
"""Counts up with every change to what is seen of a window, or to how it is learned from."""
CERTAIN = 0.5
"""Probability from which a further player is taken to be meant."""


@dataclass(frozen=True)
class _Linear:
    """A logistic regression as it is kept: no code is loaded with it."""

    classes: tuple[str, ...]
    weights: Floats
    """[classes, features]; of two classes the second's alone. Without features, there is but one class."""
    offsets: Floats

    @classmethod
    def fitted(cls, features: Any, labels: Sequence[str], strength: float) -> _Linear:
        if len(set(labels)) == 1:
            return cls((labels[0],), np.zeros((1, features.shape[1])), np.zeros(1))
        with warnings.catch_warnings():
            # A few windows may have nearly as many skills; that is no regression.
            warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
            made = LogisticRegression(C=strength, max_iter=500).fit(features, np.array(labels))
        return cls(tuple(map(str, made.classes_)), made.coef_, made.intercept_)

    def scores(self, features: Any) -> Floats:
        return np.asarray(features @ self.weights.T) + self.offsets

    def likelihood(self, features: Any) -> Floats:
        """Of the second of two classes."""
        found: Floats = 1 / (1 + np.exp(-self.scores(features)[:, 0]))
        return found

    def likeliest(self, features: Any) -> list[str]:
        if len(self.classes) == 1:
            return [self.classes[0]] * features.shape[0]
        scores = self.scores(features)
        places = (scores[:, 0] > 0).astype(int) if len(self.classes) == 2 else scores.argmax(axis=1)
        return [self.classes[place] for place in places]


class LocalMaster(Master):
    """``ranker`` and ``namer`` are None in the base, and where training had nothing to show."""

    def __init__(
        self, ranker: _Linear | None, namer: _Linear | None, made_of: dict[str, Any], embeddings: str | None = None
    ) -> None:
        self._ranker = ranker
        self._namer = namer
        self._embeddings = embeddings
        self.made_of = made_of

    def predict(self, windows: Sequence[Window]) -> Predictions:
        looks = [seen(window, self._embeddings) for window in windows if window.players]
        if not looks:
            return [frozenset() for _ in windows]
        likelihoods = self._who(looks)
        chosen = [_meant(each) for each in np.split(likelihoods, np.cumsum([len(each.window.players) for each in looks])[:-1])]
        rows = [(each, player) for each, players in zip(looks, chosen, strict=True) for player in players]
        found: dict[Window, set[Pair]] = {}
        for (each, player), skill in zip(rows, self._with_what(rows), strict=True):
            found.setdefault(each.window, set()).add((each.window.players[player], skill))
        return [frozenset(found.get(window, ())) for window in windows]

    def _who(self, looks: Sequence[Seen]) -> Floats:
        """Of every player of every window, one after another, how likely it is meant."""
        if self._ranker is None:
            return np.concatenate([each.likeness.max(axis=1) for each in looks])
        return self._ranker.likelihood(vstack([each.to_rank for each in looks], format="csr"))

    def _with_what(self, rows: Sequence[tuple[Seen, int]]) -> list[str]:
        if self._namer is None:
            skills = list(cues())
            return [skills[each.likeness[player].argmax()] for each, player in rows]
        return self._namer.likeliest(_rows_to_name(rows))

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MADE_OF).unlink(missing_ok=True)
        parts = {name: part for name, part in (("ranker", self._ranker), ("namer", self._namer)) if part is not None}
        for name, part in parts.items():
            np.savez(folder / f"{name}.npz", classes=np.array(part.classes), weights=part.weights, offsets=part.offsets)
        write_made_of(folder, self.made_of | {"parts": list(parts)})

    @classmethod
    def load(cls, folder: Path) -> LocalMaster:
        """Raises InputError where there is none."""

        made_of = read_made_of(folder)
        parts = made_of.pop("parts", [])

        def part(name: str) -> _Linear | None:
            if name not in parts:
                return None
            with np.load(BytesIO((folder / f"{name}.npz").read_bytes()), allow_pickle=False) as kept:
                return _Linear(tuple(map(str, kept["classes"])), kept["weights"], kept["offsets"])

        return cls(part("ranker"), part("namer"), made_of, made_of.get("embeddings"))


def _meant(likelihoods: Floats) -> list[int]:
    """The likeliest player, and whoever else is more likely meant than not."""
    first = int(likelihoods.argmax())
    return [first, *(place for place, each in enumerate(likelihoods) if place != first and each > CERTAIN)]


def _rows_to_name(rows: Sequence[tuple[Seen, int]]) -> Any:
    return vstack([each.to_name[player] for each, player in rows], format="csr")


class LocalKind(MasterKind):
    name = "local"
    quick = True

    def __init__(self, embeddings: str | None = None) -> None:
        """With sentence ``embeddings`` of that model, or by words alone."""
        self.embeddings = embeddings
        self.base = f"cues of the skills, by {embeddings}" if embeddings else "cues of the skills"

    @property
    def recipe(self) -> str:
        return "\n".join((super().recipe, VERSION, sklearn.__version__, json.dumps(cues(), sort_keys=True)))

    def check(self) -> None:
        if self.embeddings:
            load_encoder(self.embeddings)

    def untrained(self, folder: Path | None = None) -> LocalMaster:
        return self._made(None, None, {"windows": 0})

    def train(self, windows: Sequence[Window], seed: int, purpose: str, folder: Path | None = None) -> LocalMaster:
        """Windows without players teach nothing; where all labels are alike there is nothing to learn of them."""
        looks = [seen(window, self.embeddings) for window in windows if window.players]
        made_of = {"purpose": purpose, "seed": seed, "windows": len(windows)}
        if not looks:
            return self._made(None, None, made_of)
        meant = [
            "yes" if any(who == player for who, _ in each.window.checks) else "no"
            for each in looks
            for player in each.window.players
        ]
        ranker = (
            _Linear.fitted(vstack([each.to_rank for each in looks], format="csr"), meant, 1.0) if len(set(meant)) > 1 else None
        )
        examples = [
            (each, place, skill)
            for each in looks
            for place, player in enumerate(each.window.players)
            for who, skill in sorted(each.window.checks)
            if who == player
        ]
        if not examples:
            return self._made(ranker, None, made_of)
        features = _rows_to_name([(each, place) for each, place, _ in examples])
        namer = _Linear.fitted(features, [skill for *_, skill in examples], 3.0)
        return self._made(ranker, namer, made_of)

    def load(self, folder: Path) -> LocalMaster:
        return LocalMaster.load(folder)

    def _made(self, ranker: _Linear | None, namer: _Linear | None, made_of: dict[str, Any]) -> LocalMaster:
        own = {"kind": self.name, "base": self.base, "embeddings": self.embeddings}
        return LocalMaster(ranker, namer, own | made_of, self.embeddings)
