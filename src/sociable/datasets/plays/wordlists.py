"""Closed sets of words that the readers of plays know; ``words.toml`` lists them and says what each is for."""

from __future__ import annotations

import tomllib
from importlib import resources

_TEXTS: dict[str, str] = tomllib.loads(resources.files("sociable.datasets.plays").joinpath("words.toml").read_text("utf-8"))
_SETS = {name: frozenset(text.split()) for name, text in _TEXTS.items()}

TITLES, ABBREVIATED_TITLES, ARTICLES, SMALL = (_SETS[name] for name in ("titles", "abbreviated_titles", "articles", "small"))
NO_NAMES, SOUNDS, INTERJECTIONS = _SETS["no_names"], _SETS["sounds"], _SETS["interjections"]
PEERS, PEERESSES, LADIES = _SETS["peers"], _SETS["peeresses"], _SETS["peeresses"] | _SETS["ladies"]

_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
ORDINALS = {
    **{str(number): word for number, word in enumerate(_ORDINALS, 1)},
    **dict(zip(["i", "ii", "iii", "iv", "v", "vi"], _ORDINALS, strict=False)),
}
"""The words that number several people of one name, by the figures that stand for them."""
