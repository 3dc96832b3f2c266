"""The default virtual dungeon master: small, local, trained on a processor in seconds.

It ranks the players of a window by what they last said and did, and then names the skill. Names are replaced by slots, so that
players whom it has never met can be predicted. Its base, which no training has touched, compares what a player says with a few
words written for each skill; training learns how far to trust that, what else tells, and who is likely to act.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, vstack  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import HashingVectorizer  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from sociable.anteval.ieg.masters.interface import MADE_OF, Master, MasterKind, Predictions, read_made_of
from sociable.anteval.ieg.windows import Pair, Window
from sociable.anteval.rules import DATA, rules

Floats = NDArray[np.float64]

OWN_TURNS = 3
"""Of a player's last turns that are read; earlier ones say little of what it means now."""
CERTAIN = 0.5
"""Probability from which a further player is taken to be meant."""
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i'll|i'd|can i|my|me)\b", re.IGNORECASE)


@cache
def _words() -> HashingVectorizer:
    """Words and pairs of words, hashed: nothing has to be learned, or kept."""
    return HashingVectorizer(n_features=2**11, ngram_range=(1, 1), alternate_sign=False, norm="l2")


@cache
def _stems() -> HashingVectorizer:
    return HashingVectorizer(
        n_features=2**15, analyzer="char_wb", ngram_range=(4, 5), alternate_sign=False, norm="l2", binary=True
    )


@cache
def _cues() -> tuple[tuple[str, ...], Any]:
    """The skills, and what is said and done by who uses them, as vectors."""
    raw: dict[str, str] = json.loads((DATA / "skill_cues.json").read_text(encoding="utf-8"))
    skills = tuple(rules().skills)
    return skills, _stems().transform([raw[skill] for skill in skills])


class _Seen:
    """A window as it is looked at: of every player its last words, with slots for names, and where it stands.

    ``to_rank`` and ``to_name`` are what the two regressions read, a row a player; ``likeness`` what the base does.
    """

    def __init__(self, window: Window) -> None:
        self.window = window
        own = {player: [place for place, turn in enumerate(window.turns) if turn.speaker == player] for player in window.players}
        slots = _slots(window)
        texts = [slots(turn.text) for turn in window.turns]
        last = [texts[own[player][-1]] for player in window.players]
        said = [" ".join(texts[place] for place in own[player][-OWN_TURNS:]) for player in window.players]
        masters = [place for place, turn in enumerate(window.turns) if turn.speaker == window.master]
        numbers = np.array([self._numbers(player, own[player], masters) for player in window.players])
        self.likeness = _likeness(said)
        likest = -np.sort(-self.likeness, axis=1)[:, :2]
        count = len(window.players)
        words = _words().transform([*last, *said, *[texts[masters[-1]] if masters else ""] * count])
        self.to_rank = hstack([csr_matrix(np.hstack([numbers, 3 * likest])), words[:count]], format="csr")
        self.to_name = hstack([csr_matrix(5 * self.likeness), words[count : 2 * count], 0.5 * words[2 * count :]], format="csr")

    def _numbers(self, player: str, own: Sequence[int], masters: Sequence[int]) -> list[float]:
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


@lru_cache(maxsize=20_000)
def _seen(window: Window) -> _Seen:
    """Windows are looked at again for every master that is trained on them."""
    return _Seen(window)


def _slots(window: Window) -> Any:
    """Replaces the names of players and master by what they are."""
    names = {name for player in window.players for name in (player, player.split()[0])}
    spelled = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})\b") if names else None

    def replaced(text: str) -> str:
        return spelled.sub("someplayer", text) if spelled else text

    return replaced


def _likeness(texts: Sequence[str]) -> Floats:
    """[texts, skills]: how like each text is to the cues of each skill."""
    _, cues = _cues()
    found = _stems().transform(texts) @ cues.T
    return np.asarray(found.toarray(), float)


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

    def __init__(self, ranker: _Linear | None, namer: _Linear | None, made_of: dict[str, Any]) -> None:
        self._ranker = ranker
        self._namer = namer
        self.made_of = made_of

    def predict(self, windows: Sequence[Window]) -> Predictions:
        seen = [_seen(window) for window in windows if window.players]
        if not seen:
            return [frozenset() for _ in windows]
        likelihoods = self._who(seen)
        chosen = [_meant(each) for each in np.split(likelihoods, np.cumsum([len(each.window.players) for each in seen])[:-1])]
        rows = [(each, player) for each, players in zip(seen, chosen, strict=True) for player in players]
        found: dict[Window, set[Pair]] = {}
        for (each, player), skill in zip(rows, self._with_what(rows), strict=True):
            found.setdefault(each.window, set()).add((each.window.players[player], skill))
        return [frozenset(found.get(window, ())) for window in windows]

    def _who(self, seen: Sequence[_Seen]) -> Floats:
        """Of every player of every window, one after another, how likely it is meant."""
        if self._ranker is None:
            return np.concatenate([each.likeness.max(axis=1) for each in seen])
        return self._ranker.likelihood(vstack([each.to_rank for each in seen], format="csr"))

    def _with_what(self, rows: Sequence[tuple[_Seen, int]]) -> list[str]:
        if self._namer is None:
            skills, _ = _cues()
            return [skills[each.likeness[player].argmax()] for each, player in rows]
        return self._namer.likeliest(_rows_to_name(rows))

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for part, name in ((self._ranker, "ranker"), (self._namer, "namer")):
            if part is not None:
                np.savez(folder / f"{name}.npz", classes=np.array(part.classes), weights=part.weights, offsets=part.offsets)
        (folder / MADE_OF).write_text(json.dumps(self.made_of, indent=1, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> LocalMaster:
        """Raises InputError where there is none."""

        def part(name: str) -> _Linear | None:
            if not (folder / f"{name}.npz").is_file():
                return None
            with np.load(folder / f"{name}.npz", allow_pickle=False) as kept:
                return _Linear(tuple(map(str, kept["classes"])), kept["weights"], kept["offsets"])

        return cls(part("ranker"), part("namer"), read_made_of(folder))


def _meant(likelihoods: Floats) -> list[int]:
    """The likeliest player, and whoever else is more likely meant than not."""
    first = int(likelihoods.argmax())
    return [first, *(place for place, each in enumerate(likelihoods) if place != first and each > CERTAIN)]


def _rows_to_name(rows: Sequence[tuple[_Seen, int]]) -> Any:
    return vstack([each.to_name[player] for each, player in rows], format="csr")


class LocalKind(MasterKind):
    name = "local"
    base = "cues of the skills"
    quick = True

    def untrained(self, folder: Path | None = None) -> LocalMaster:
        return LocalMaster(None, None, {"kind": self.name, "base": self.base, "windows": 0})

    def train(self, windows: Sequence[Window], seed: int, purpose: str, folder: Path | None = None) -> LocalMaster:
        """Windows without players teach nothing; where all labels are alike there is nothing to learn of them."""
        seen = [_seen(window) for window in windows if window.players]
        made_of = {"kind": self.name, "base": self.base, "purpose": purpose, "seed": seed, "windows": len(windows)}
        if not seen:
            return LocalMaster(None, None, made_of)
        meant = [
            "yes" if any(who == player for who, _ in each.window.checks) else "no"
            for each in seen
            for player in each.window.players
        ]
        ranker = (
            _Linear.fitted(vstack([each.to_rank for each in seen], format="csr"), meant, 1.0) if len(set(meant)) > 1 else None
        )
        examples = [
            (each, place, skill)
            for each in seen
            for place, player in enumerate(each.window.players)
            for who, skill in sorted(each.window.checks)
            if who == player
        ]
        if not examples:
            return LocalMaster(ranker, None, made_of)
        features = _rows_to_name([(each, place) for each, place, _ in examples])
        namer = _Linear.fitted(features, [skill for *_, skill in examples], 3.0)
        return LocalMaster(ranker, namer, made_of)

    def load(self, folder: Path) -> LocalMaster:
        return LocalMaster.load(folder)
