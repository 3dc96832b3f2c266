"""A local virtual DM with sentence embeddings understands what is said in words it has never read."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sociable.benchmarks.anteval.ieg.fscore import measure_f_scores
from sociable.benchmarks.anteval.ieg.logs import Spoken
from sociable.benchmarks.anteval.ieg.masters import find_master_kind
from sociable.benchmarks.anteval.ieg.masters.local import LocalKind
from sociable.benchmarks.anteval.ieg.windows import Window
from sociable.core.errors import InputError
from sociable.models.embeddings import load_encoder

MEANINGS = (("vole", "grub", "moth"), ("brine", "kelp", "foam"), ("anvil", "rivet", "slag"), ("soup", "crumb", "broth"))
"""Words of one meaning each; no cue of a skill has any of them."""
SKILLS = ("Stealth", "Athletics", "Arcana")
DIMENSION = {word: dimension for dimension, words in enumerate(MEANINGS) for word in words}


class StandIn:
    """Means what the library's own model below means."""

    def __init__(self, model: str) -> None:
        if model == "absent":
            raise OSError("no such model")

    def encode(self, texts: Sequence[str], show_progress_bar: bool) -> Any:
        rows = np.zeros((len(texts), len(MEANINGS)))
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                if word in DIMENSION:
                    row[DIMENSION[word]] += 1
        return rows


@pytest.fixture(params=["stand-in", pytest.param("the library's own", marks=pytest.mark.extra)])
def embeddings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    load_encoder.cache_clear()
    if request.param == "stand-in":
        monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=StandIn))
        yield "stand-in"
    else:
        library = pytest.importorskip("sentence_transformers", reason="needs the extra sociable[embeddings]")
        modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
        import tokenizers

        known = {"<unk>": 0, **{word: place for place, word in enumerate(DIMENSION, start=1)}}
        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="<unk>"))
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        weights = np.vstack([np.zeros(len(MEANINGS)), *(np.eye(len(MEANINGS))[each] for each in DIMENSION.values())])
        library.SentenceTransformer(modules=[modules.StaticEmbedding(tokenizer, embedding_weights=weights)], device="cpu").save(
            str(tmp_path / "tiny")
        )
        yield str(tmp_path / "tiny")
    load_encoder.cache_clear()


def windows(count: int, word: int, seed: int) -> list[Window]:
    """One of three players says the ``word`` of a skill; the others talk of food."""
    draw = random.Random(seed)
    found = []
    for number in range(count):
        who, skill = draw.choice(("Ann", "Bo", "Cy")), draw.choice(SKILLS)
        said = dict.fromkeys(("Ann", "Bo", "Cy"), MEANINGS[3][word]) | {who: MEANINGS[SKILLS.index(skill)][word]}
        turns = tuple(Spoken(speaker=name, text=said[name]) for name in draw.sample(sorted(said), 3))
        found.append(Window(f"s{number}", turns, ("Ann", "Bo", "Cy"), "GM", frozenset({(who, skill)})))
    return found


def test_words_never_read_are_understood_by_their_meaning(embeddings: str, tmp_path: Path) -> None:
    training, test = [*windows(60, 0, 1), *windows(60, 1, 2)], windows(40, 2, 3)
    labels = [window.checks for window in test]
    kind = find_master_kind("local", None, embeddings)
    master = kind.train(training, 0, "r")
    assert measure_f_scores(master.predict(test), labels).tuple == 1.0
    assert (measure_f_scores(LocalKind().train(training, 0, "r").predict(test), labels).tuple or 0) < 0.5
    master.save(tmp_path / "dm")
    again = kind.load(tmp_path / "dm")
    assert again.made_of["embeddings"] == embeddings
    assert again.predict(test) == master.predict(test)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    load_encoder.cache_clear()
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=StandIn))
    with pytest.raises(InputError, match=r"'absent' cannot be loaded: no such model"):
        find_master_kind("local", None, "absent").check()
    with pytest.raises(InputError, match=r"embeddings are for master = local"):
        find_master_kind("lora", "some-model", "some-embeddings")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"pip install 'sociable\[embeddings\]'"):
        find_master_kind("local", None, "any").check()
