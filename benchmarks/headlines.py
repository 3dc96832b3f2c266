"""Synthetic headlines of planted topics, with planted near-duplicates; a pure function of seed and number."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

SEED = 7
TOPICS = 100
TOPIC_WORDS = 60
GENERAL_WORDS = 30_000
COPIED = 0.1
"""Share of headlines that are an earlier one, edited."""
MOST_EDITS = 3


@dataclass(frozen=True, slots=True)
class Headline:
    text: str
    topic: int
    origin: int
    """The number of the headline it was made from, which was itself made from none; its own where it was made afresh."""


class Headlines:
    """Six to fourteen words: two in five of the headline's topic, the others general, both with few frequent and many rare."""

    def __init__(self, seed: int = SEED) -> None:
        self._seed = seed
        generator = random.Random(f"{seed} words")
        made = _made_up_words(generator)
        self._general = _Vocabulary([next(made) for _ in range(GENERAL_WORDS)])
        self._topics = [_Vocabulary([next(made) for _ in range(TOPIC_WORDS)]) for _ in range(TOPICS)]

    def __call__(self, number: int) -> Headline:
        generator = random.Random(f"{self._seed} {number}")
        if number and generator.random() < COPIED:
            # Of an origin that was made afresh, so that what is a copy of what is known without following a chain.
            origin = generator.randrange(number)
            if (first := self(origin)).origin == origin:
                return Headline(self._edited(first.text, generator), first.topic, origin)
        topic = generator.randrange(TOPICS)
        words = [
            (self._topics[topic] if generator.random() < 0.4 else self._general).drawn(generator)
            for _ in range(generator.randint(6, 14))
        ]
        return Headline(" ".join(words).capitalize(), topic, number)

    def _edited(self, text: str, generator: random.Random) -> str:
        words = text.split()
        for _ in range(generator.randint(0, MOST_EDITS)):
            place = generator.randrange(len(words))
            match generator.choice(["replace", "insert", "drop", "case"]):
                case "replace":
                    words[place] = self._general.drawn(generator)
                case "insert":
                    words.insert(place, self._general.drawn(generator))
                case "drop" if len(words) > 3:
                    del words[place]
                case _:
                    words[place] = f"{words[place].upper()}:"
        return " ".join(words)


class _Vocabulary:
    """Words drawn in proportion to 1 / rank."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self._cumulated = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))

    def drawn(self, generator: random.Random) -> str:
        return generator.choices(self.words, cum_weights=self._cumulated)[0]


def _made_up_words(generator: random.Random) -> Iterator[str]:
    """No word twice."""
    seen: set[str] = set()
    while True:
        word = "".join(generator.choice("bdfgklmnprstvz") + generator.choice("aeiou") for _ in range(generator.randint(2, 4)))
        if word not in seen:
            seen.add(word)
            yield word


def write_headlines(path: Path, count: int) -> None:
    """Tab-separated, one a line: number, topic, origin, text."""
    headlines = Headlines()
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            made = headlines(number)
            file.write(f"{number}\t{made.topic}\t{made.origin}\t{made.text}\n")


def read_headlines(path: Path, count: int) -> Iterator[Headline]:
    """The first ``count``."""
    with path.open(encoding="utf-8") as file:
        for _, line in zip(range(count), file, strict=False):
            _, topic, origin, text = line.rstrip("\n").split("\t")
            yield Headline(text, int(topic), int(origin))
