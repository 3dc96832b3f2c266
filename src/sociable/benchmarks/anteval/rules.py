"""The rules for characters: facts of the fifth-edition System Reference Document, and backgrounds of our own."""

from __future__ import annotations

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
    """The bonuses by ability."""
    skills: Sequence[str] = ()
    free_bonuses: int = 0
    """The number of further abilities, of the character's own choice, that are raised by one."""
    free_skills: int = 0
    """The number of further skills, of the character's own choice."""


class CharacterClass(Record):
    abilities: Sequence[str]
    """The abilities in which its characters have the highest scores."""
    choose: int
    """The number of ``skills`` that a character has."""
    skills: Sequence[str]


class Rules(Record):
    notice: str
    """The licence requires it wherever these facts are."""
    scores: Sequence[int]
    """The scores to be given out among the abilities, before the race's bonuses."""
    abilities: Sequence[str]
    skills: Mapping[str, str]
    """The ability that each skill rests on."""
    alignments: Sequence[str]
    races: Mapping[str, Race]
    classes: Mapping[str, CharacterClass]


class Ideal(Record):
    text: Text
    alignment: Literal["lawful", "chaotic", "good", "evil", "neutral", "any"]


class Background(Record):
    """A former life, and the traits, ideals, bonds and flaws that may come of it."""

    name: Text
    was: Text
    skills: tuple[str, str]
    traits: tuple[Text, ...]
    ideals: tuple[Ideal, ...]
    bonds: tuple[Text, ...]
    flaws: tuple[Text, ...]


@cache
def load_rules() -> Rules:
    return Rules.model_validate_json((DATA / "rules.json").read_bytes())


@cache
def load_backgrounds() -> Mapping[str, Background]:
    """The backgrounds by name."""
    return {each.name: each for each in TypeAdapter(list[Background]).validate_json((DATA / "backgrounds.json").read_bytes())}
