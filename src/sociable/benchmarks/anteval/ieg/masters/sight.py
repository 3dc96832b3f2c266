"""What the local virtual dungeon master sees of a window: numbers, hashed words, and likeness to what each skill looks like."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import HashingVectorizer  # type: ignore[import-untyped]

from sociable.benchmarks.anteval.ieg.logs import compile_names
from sociable.benchmarks.anteval.ieg.windows import Window
from sociable.benchmarks.anteval.rules import DATA, load_rules
from sociable.models.embeddings import load_encoder

Floats = NDArray[np.float64]

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
    """By skill what is said and done by who uses it."""
    raw: dict[str, str] = json.loads((DATA / "skill_cues.json").read_text(encoding="utf-8"))
    return {skill: raw[skill] for skill in load_rules().skills}


class Look:
    """A window as it is looked at, a row a player, with one word in place of all players' names.

    ``to_rank`` and ``to_name`` are what the two regressions read; ``likeness`` [players, skills] is what the base does.
    """

    def __init__(self, window: Window, meanings: Meanings | None) -> None:
        self.window = window
        own = {player: [place for place, turn in enumerate(window.turns) if turn.speaker == player] for player in window.players}
        texts = _replace_names(window)
        last = [texts[own[player][-1]] for player in window.players]
        said = [" ".join(texts[place] for place in own[player][-OWN_TURNS:]) for player in window.players]
        masters = [place for place, turn in enumerate(window.turns) if turn.speaker == window.master]
        numbers = np.array([self._measure(player, own[player], masters) for player in window.players])
        count = len(window.players)
        words = _WORDS.transform([*last, *said, *[texts[masters[-1]] if masters else ""] * count])
        if meanings is None:
            meant = np.zeros((2 * count, 0))
            self.likeness = _compare_with_cues(said)
        else:
            meant = meanings.embed([*last, *said])
            self.likeness = meant[count:] @ meanings.cues.T
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


class Meanings:
    """Sentence embeddings, of length 1, and those of the cues of each skill."""

    def __init__(self, model: str) -> None:
        self._encode = load_encoder(model)
        self.cues = self.embed(list(load_cues().values()))

    def embed(self, texts: Sequence[str]) -> Floats:
        rows = self._encode(texts)
        found: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        return found


@cache
def _load_meanings(embeddings: str | None) -> Meanings | None:
    return Meanings(embeddings) if embeddings else None


@lru_cache(maxsize=KEPT)
def look_at(window: Window, embeddings: str | None) -> Look:
    """A window with players in it, by words alone or by sentence ``embeddings`` of that model as well.

    Raises InputError where the model cannot be had.
    """
    return Look(window, _load_meanings(embeddings))


def _replace_names(window: Window) -> list[str]:
    """The texts of the turns with a word for all players in place of their names."""
    spelled = compile_names({name for player in window.players for name in (player, player.split()[0])})
    return [spelled.sub("someplayer", turn.text) for turn in window.turns]


@cache
def _embed_cues() -> Any:
    return _STEMS.transform(list(load_cues().values()))


def _compare_with_cues(texts: Sequence[str]) -> Floats:
    """[texts, skills]: how like each text is to the cues of each skill."""
    return np.asarray((_STEMS.transform(texts) @ _embed_cues().T).toarray(), float)
