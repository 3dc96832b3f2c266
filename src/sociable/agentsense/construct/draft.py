"""A scenario on its way from a passage of a script to a template with casts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from sociable.construction.stages import Item
from sociable.core.data_files import Text
from sociable.core.prompts import quoted
from sociable.core.records import Record

Relation = Literal["family", "friend", "romantic", "acquaintance", "stranger"]
Replaceable = Literal["almost", "maybe", "no"]


class Passage(Item):
    """A stretch of a script in which people talk."""

    script: str
    title: str
    scene: str
    """Where in the script it stands, in words."""
    before: str = ""
    """What was said before it, its end."""
    said: tuple[tuple[str, str], ...]
    """Who says what, in order."""

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(speaker for speaker, _ in self.said))

    @property
    def text(self) -> str:
        return "\n".join(f"{speaker}: {words}" for speaker, words in self.said)


class Secret(Record):
    question: Text
    answer: Text
    fact: Text
    wrong: tuple[Text, ...] = ()


class Person(Record):
    name: str
    goals: tuple[Text, ...] = ()
    secrets: tuple[Secret, ...] = ()


class Part(Record):
    """What whoever takes a character's place must be."""

    slot: str
    age: tuple[int, int]
    gender: str = ""
    occupation: str = ""


class AgeGap(Record):
    older: str
    younger: str
    years: int = Field(ge=0, le=90)


class Tie(Record):
    of: tuple[str, ...] = Field(min_length=2)
    kind: Relation


class Member(Record):
    name: Text
    age: int = Field(ge=5, le=110)
    gender: Text
    occupation: Text
    big_five: dict[str, str] = Field(default_factory=dict)
    moral_values: tuple[str, ...] = ()
    decision_style: str = ""
    profile: Text


class Draft(Item):
    passage: Passage
    background: str = ""
    description: str = ""
    people: tuple[Person, ...] = ()
    """From the stage ``slots`` on they are called by their slots, in braces."""
    parts: tuple[Part, ...] = ()
    gaps: tuple[AgeGap, ...] = ()
    ties: tuple[Tie, ...] = ()
    casts: tuple[Mapping[str, Member], ...] = ()

    @property
    def scene(self) -> str:
        """As it is shown to the model that writes, fenced."""
        return quoted(f"Background: {self.background}\nDescription: {self.description}")

    def texts(self) -> str:
        """All that it says."""
        parts = [self.background, self.description]
        for person in self.people:
            parts += person.goals
            for secret in person.secrets:
                parts += (secret.question, secret.answer, secret.fact, *secret.wrong)
        return "\n".join(parts)

    def changed(self, change: Callable[[str], str]) -> Draft:
        """With every text changed in one way; names of people stay."""
        people = [
            person.model_copy(
                update={
                    "goals": tuple(map(change, person.goals)),
                    "secrets": tuple(
                        Secret(
                            question=change(each.question),
                            answer=change(each.answer),
                            fact=change(each.fact),
                            wrong=tuple(map(change, each.wrong)),
                        )
                        for each in person.secrets
                    ),
                }
            )
            for person in self.people
        ]
        return self.model_copy(
            update={
                "background": change(self.background),
                "description": change(self.description),
                "people": tuple(people),
            }
        )


def replaced(pairs: Mapping[str, str]) -> Callable[[str], str]:
    """Replaces whole words, whatever their case, the longest first."""
    if not pairs:
        return lambda text: text
    by = {" ".join(old.split()).casefold(): new for old, new in pairs.items()}
    spelled = "|".join(r"\s+".join(map(re.escape, old.split())) for old in sorted(by, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{spelled})(?!\w)", re.IGNORECASE)

    def new(match: re.Match[str]) -> str:
        # Of letters that change their number with their case nothing is known.
        found = by.get(" ".join(match.group().split()).casefold(), match.group())
        # What begins with a capital goes on doing so.
        return found[:1].upper() + found[1:] if match.group()[0].isupper() else found

    return lambda text: pattern.sub(new, text)


def called_by_slots(slots: Mapping[str, str], said: str) -> Callable[[str], str]:
    """Puts ``slots`` in the place of names, by name. Names are written as names: the nurse who is no Nurse stays.

    A title before a name goes with it. ``said`` is what the words of a name must never be in small letters in.
    """
    by: dict[str, str] = {}
    for spelling, name in spellings(list(slots)).items():
        if spelling == name or not re.search(rf"\b{re.escape(spelling.lower())}\b", said):
            by |= dict.fromkeys((spelling, spelling.upper()), f"{{{slots[name]}}}")
    spelled = "|".join(map(re.escape, sorted(by, key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)(?:(?:{_TITLE})\.?\s+)?(?P<name>{spelled})(?!\w)")
    return lambda text: pattern.sub(lambda match: by[match["name"]], text)


_TITLE = "Mr|Mrs|Miss|Ms|Sir|Lady|Lord|Dr|Doctor|Madame|Monsieur|Captain|Count|Countess"
_TITLES = frozenset(
    {"mr", "mrs", "miss", "ms", "sir", "lady", "lord", "dr", "doctor", "prince", "duke", "king", "queen", "count", "captain"}
    | {"the", "of", "de", "a", "an", "and", "old", "young", "first", "second", "third", "father", "mother", "friar", "nurse"}
)


def spellings(names: Sequence[str]) -> dict[str, str]:
    """By every way in which a character may be called, the name: whole, and each word of it that is nobody else's."""
    found = {name: name for name in names}
    words = {name: [word for word in re.findall(r"[^\W\d_][\w'’-]+", name) if word.lower() not in _TITLES] for name in names}
    for name, own in words.items():
        for word in own:
            if sum(word.lower() in map(str.lower, each) for each in words.values()) == 1:
                found.setdefault(word, name)
    return found
