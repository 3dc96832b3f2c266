"""What characters are made of: facts of the fifth-edition System Reference Document, and backgrounds of our own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from sociable.core.data_files import Text
from sociable.core.records import Record

DATA = Path(str(resources.files("sociable.benchmarks.anteval").joinpath("data")))


class Race(Record):
    size: Literal["small", "medium"]
    bonuses: Mapping[str, int]
    """By ability."""
    skills: Sequence[str] = ()
    free_bonuses: int = 0
    """Further abilities, of its own choice, that it has one more of."""
    free_skills: int = 0
    """Skills of its own choice."""


class CharacterClass(Record):
    abilities: Sequence[str]
    """Those that a character of it has most of."""
    choose: int
    skills: Sequence[str]


class Rules(Record):
    notice: str
    """Which the licence requires wherever these facts are."""
    scores: Sequence[int]
    """To be given out among the abilities, before the race's bonuses."""
    abilities: Sequence[str]
    skills: Mapping[str, str]
    """By skill the ability it rests on."""
    alignments: Sequence[str]
    races: Mapping[str, Race]
    classes: Mapping[str, CharacterClass]


class Ideal(Record):
    text: Text
    alignment: Literal["lawful", "chaotic", "good", "evil", "neutral", "any"]


class Background(Record):
    """What somebody was before, with what it may have left behind."""

    name: Text
    was: Text
    skills: tuple[str, str]
    traits: tuple[Text, ...]
    ideals: tuple[Ideal, ...]
    bonds: tuple[Text, ...]
    flaws: tuple[Text, ...]


@cache
def rules() -> Rules:
    return Rules.model_validate_json((DATA / "rules.json").read_text(encoding="utf-8"))


@cache
def backgrounds() -> Mapping[str, Background]:
    raw = json.loads((DATA / "backgrounds.json").read_text(encoding="utf-8"))
    return {each.name: each for each in TypeAdapter(list[Background]).validate_python(raw)}
