"""The default virtual dungeon master: small, local, trained on a processor in seconds.

It ranks the players of a window by what they last said and did, and then names the skill. All names are replaced by one word,
so that players whom it has never met can be predicted. Its base, which no training has touched, compares what a player says
with a few words written for each skill; training learns how far to trust that, what else tells, and who is likely to act.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import sklearn  # type: ignore[import-untyped]
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, vstack  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import HashingVectorizer  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from sociable.benchmarks.anteval.ieg.logs import compile_names
from sociable.benchmarks.anteval.ieg.masters.interface import Master, MasterKind, Predictions, read_made_of
from sociable.benchmarks.anteval.ieg.windows import Pair, Window
from sociable.benchmarks.anteval.rules import DATA, load_rules
from sociable.models.embeddings import load_encoder

Floats = NDArray[np.float64]

VERSION = "1"
"""Counts up with every change to what is seen of a window, or to how it is learned from."""
CERTAIN = 0.5
"""Probability from which a further player is taken to be meant."""
OWN_TURNS = 3
"""A player's last turns that are read; earlier ones say little of what it means now."""
KEPT = 20_000
"""Looks that are kept: windows are looked at again for every master that is trained on them."""
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i'll|i'd|can i|my|me)\b", re.IGNORECASE)
_WORDS = HashingVectorizer(n_features=2**11, ngram_range=(1, 1), alternate_sign=False, norm="l2")
"""Words, hashed: nothing has to be learned, or kept."""
_STEMS = HashingVectorizer(n_features=2**15, analyzer="char_wb", ngram_range=(4, 5), alternate_sign=False, norm="l2", binary=True)


@cache
def load_cues() -> dict[str, str]:
    """The cues by skill: what is said and done by a player who uses it."""
    raw: dict[str, str] = json.loads((DATA / "skill_cues.json").read_text(encoding="utf-8"))
    return {skill: raw[skill] for skill in load_rules().skills}


class Look:
    """A window as it is looked at, a row a player, with one word in place of all players' names.

    ``to_rank`` and ``to_name`` are what the two regressions read; ``likeness`` [players, skills] is what the base does.
    """

    def __init__(self, window: Window, embeddings: str | None) -> None:
        """Compares by words, or also by sentence ``embeddings`` of that model. Raises InputError where the model is missing."""
        self.window = window
        own = {player: [place for place, turn in enumerate(window.turns) if turn.speaker == player] for player in window.players}
        spelled = compile_names({name for player in window.players for name in (player, player.split()[0])})
        texts = [spelled.sub("someplayer", turn.text) for turn in window.turns]
        last = [texts[own[player][-1]] for player in window.players]
        said = [" ".join(texts[place] for place in own[player][-OWN_TURNS:]) for player in window.players]
        masters = [place for place, turn in enumerate(window.turns) if turn.speaker == window.master]
        numbers = np.array([self._measure(player, own[player], masters) for player in window.players])
        count = len(window.players)
        words = _WORDS.transform([*last, *said, *[texts[masters[-1]] if masters else ""] * count])
        if embeddings is None:
            meant = np.zeros((2 * count, 0))
            self.likeness = _compare_with_cues(said)
        else:
            meant = _embed(embeddings, [*last, *said])
            self.likeness = meant[count:] @ _embed_cues(embeddings).T
        likest = -np.sort(-self.likeness, axis=1)[:, :2]
        self.to_rank = hstack([csr_matrix(np.hstack([numbers, 3 * likest, meant[:count]])), words[:count]], format="csr")
        named = csr_matrix(np.hstack([5 * self.likeness, 2 * meant[count:]]))
        self.to_name = hstack([named, words[count : 2 * count], 0.5 * words[2 * count :]], format="csr")

    def _measure(self, player: str, own: Sequence[int], masters: Sequence[int]) -> list[float]:
        turns = self.window.turns
        since = len(turns) - 1 - own[-1]
        last = turns[own[-1]].text
        later = sum(turn.speaker in self.window.players for turn in turns[own[-1] + 1 :])
        addressed = bool(masters) and re.search(rf"\b{re.escape(player.split()[0])}\b", turns[masters[-1]].text, re.IGNORECASE)
        return [
            1 / (1 + since),
            float(later == 0),
            float(later == 1),
            len(own) / len(turns),
            min(len(last.split()), 40) / 40,
            float("?" in last),
            float(_FIRST_PERSON.search(last) is not None),
            float(bool(addressed)),
            float(bool(masters) and masters[-1] > own[-1]),
            1.0,
        ]


look_at = lru_cache(maxsize=KEPT)(Look)
"""(window with players in it, embeddings) → its look, which is kept."""


def _embed(model: str, texts: Sequence[str]) -> Floats:
    """[texts, dimensions]: sentence embeddings, of length 1."""
    rows = load_encoder(model)(texts)
    found: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return found


@cache
def _embed_cues(model: str) -> Floats:
    return _embed(model, list(load_cues().values()))


@cache
def _hash_cues() -> Any:
    return _STEMS.transform(list(load_cues().values()))


def _compare_with_cues(texts: Sequence[str]) -> Floats:
    """[texts, skills]: how like each text is to the cues of each skill."""
    return np.asarray((_STEMS.transform(texts) @ _hash_cues().T).toarray(), float)


@dataclass(frozen=True)
class _Linear:
    """A logistic regression as it is kept: no code is loaded with it."""

    classes: tuple[str, ...]
    weights: Floats
    """[classes, features]; of two classes the second's alone. Without features, there is but one class."""
    offsets: Floats

    @classmethod
    def fit(cls, features: Any, labels: Sequence[str], strength: float) -> _Linear:
        if len(set(labels)) == 1:
            return cls((labels[0],), np.zeros((1, features.shape[1])), np.zeros(1))
        with warnings.catch_warnings():
            # A few windows may have nearly as many skills; that is no regression.
            warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
            made = LogisticRegression(C=strength, max_iter=500).fit(features, np.array(labels))
        return cls(tuple(map(str, made.classes_)), made.coef_, made.intercept_)

    def score(self, features: Any) -> Floats:
        return np.asarray(features @ self.weights.T) + self.offsets

    def find_likelihoods(self, features: Any) -> Floats:
        """The likelihood, by row, of the second of two classes."""
        found: Floats = 1 / (1 + np.exp(-self.score(features)[:, 0]))
        return found

    def find_likeliest(self, features: Any) -> list[str]:
        """The likeliest class of each row."""
        scores = self.score(features)
        places = (scores[:, 0] > 0).astype(int) if len(self.classes) == 2 else scores.argmax(axis=1)
        return [self.classes[place] for place in places]


class LocalMaster(Master):
    """``ranker`` and ``namer`` are None in the base, and where training had nothing to show."""

    def __init__(self, ranker: _Linear | None, namer: _Linear | None, made_of: dict[str, Any]) -> None:
        super().__init__(made_of)
        self._ranker = ranker
        self._namer = namer

    def predict(self, windows: Sequence[Window]) -> Predictions:
        looks = [look_at(window, self.made_of.get("embeddings")) for window in windows if window.players]
        if not looks:
            return [frozenset() for _ in windows]
        likelihoods = np.split(self._rank(looks), np.cumsum([len(each.window.players) for each in looks])[:-1])
        rows = [(each, player) for each, found in zip(looks, likelihoods, strict=True) for player in _pick(found)]
        pairs: dict[Window, set[Pair]] = {}
        for (each, player), skill in zip(rows, self._name(rows), strict=True):
            pairs.setdefault(each.window, set()).add((each.window.players[player], skill))
        return [frozenset(pairs.get(window, ())) for window in windows]

    def _rank(self, looks: Sequence[Look]) -> Floats:
        """The likelihood with which each player of each window is meant, one after another."""
        if self._ranker is None:
            return np.concatenate([each.likeness.max(axis=1) for each in looks])
        return self._ranker.find_likelihoods(vstack([each.to_rank for each in looks], format="csr"))

    def _name(self, rows: Sequence[tuple[Look, int]]) -> list[str]:
        """The skill that each of these players means to use."""
        if self._namer is None:
            skills = list(load_cues())
            return [skills[each.likeness[player].argmax()] for each, player in rows]
        return self._namer.find_likeliest(_stack_rows(rows))

    def save_parts(self, folder: Path) -> dict[str, Any]:
        parts = {name: part for name, part in (("ranker", self._ranker), ("namer", self._namer)) if part is not None}
        for name, part in parts.items():
            np.savez(folder / f"{name}.npz", classes=np.array(part.classes), weights=part.weights, offsets=part.offsets)
        return {"parts": list(parts)}


def _pick(likelihoods: Floats) -> list[int]:
    """The likeliest player, and whoever else is more likely meant than not."""
    first = int(likelihoods.argmax())
    return [first, *(place for place, each in enumerate(likelihoods) if place != first and each > CERTAIN)]


def _stack_rows(rows: Sequence[tuple[Look, int]]) -> Any:
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
        return "\n".join((super().recipe, VERSION, sklearn.__version__, json.dumps(load_cues(), sort_keys=True)))

    def check(self) -> None:
        if self.embeddings:
            load_encoder(self.embeddings)

    def make_untrained(self, folder: Path | None = None) -> LocalMaster:
        return LocalMaster(None, None, self.describe(embeddings=self.embeddings, windows=0))

    def train(self, windows: Sequence[Window], seed: int, purpose: str, folder: Path | None = None) -> LocalMaster:
        """Trains a master. Windows without players teach nothing, and neither do labels that are all alike."""
        looks = [look_at(window, self.embeddings) for window in windows if window.players]
        players = [(each, place, player) for each in looks for place, player in enumerate(each.window.players)]
        meant = ["yes" if any(who == player for who, _ in each.window.checks) else "no" for each, _, player in players]
        named = [
            (each, place, skill) for each, place, player in players for who, skill in sorted(each.window.checks) if who == player
        ]
        ranker = namer = None
        if len(set(meant)) > 1:
            ranker = _Linear.fit(vstack([each.to_rank for each in looks], format="csr"), meant, 1.0)
        if named:
            namer = _Linear.fit(_stack_rows([(each, place) for each, place, _ in named]), [skill for *_, skill in named], 3.0)
        made_of = self.describe(embeddings=self.embeddings, purpose=purpose, seed=seed, windows=len(windows))
        return LocalMaster(ranker, namer, made_of)

    def load(self, folder: Path) -> LocalMaster:
        made_of = read_made_of(folder)
        parts = {}
        for name in made_of.pop("parts", []):
            with np.load(BytesIO((folder / f"{name}.npz").read_bytes()), allow_pickle=False) as kept:
                parts[name] = _Linear(tuple(map(str, kept["classes"])), kept["weights"], kept["offsets"])
        return LocalMaster(parts.get("ranker"), parts.get("namer"), made_of)
