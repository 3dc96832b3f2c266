"""A scenario on its way from a passage of a script to a template with casts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from sociable.agentsense.scenario import Relationship
from sociable.agentsense.templates import AgeGap, Member, Slot
from sociable.construction.stages import Item
from sociable.core.data_files import Text
from sociable.core.prompts import quoted
from sociable.core.records import Record


class Passage(Item):
    """A stretch of a script in which people talk."""

    script: str
    title: str
    scene: str
    """Where in the script it stands, in words."""
    before: str = ""
    """What was said before it, its end."""
    names: tuple[str, ...]
    """Who speaks in it, one by one."""
    said: tuple[tuple[str, str], ...]
    """Who says what, in order: one, or several together as the script has them."""

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


class Draft(Item):
    passage: Passage
    background: str = ""
    description: str = ""
    people: tuple[Person, ...] = ()
    """From the stage ``slots`` on they are called by their slots, in braces."""
    slots: dict[str, Slot] = {}
    relations: tuple[Relationship, ...] = ()
    age_gaps: tuple[AgeGap, ...] = ()
    casts: tuple[dict[str, Member], ...] = ()

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
        if name and (spelling == name or not _is_word(spelling, said)):
            by |= dict.fromkeys((spelling, spelling.upper()), f"{{{slots[name]}}}")
    spelled = "|".join(map(re.escape, sorted(by, key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)(?:(?:{_TITLE})\.?\s+)?(?P<name>{spelled})(?!\w)")
    return lambda text: pattern.sub(lambda match: by[match["name"]], text)


def names_left(text: str, names: Sequence[str], said: str) -> list[str]:
    """Spellings of ``names`` that stand in ``text`` as names. What several share is a name too, though nobody's."""
    return [
        spelling
        for spelling in spellings(names)
        if not _is_word(spelling, said)
        and re.search(rf"(?<!\w)(?:{re.escape(spelling)}|{re.escape(spelling.upper())})(?!\w)", text)
    ]


def _is_word(spelling: str, said: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(spelling.lower())}(?!\w)", said))


_TITLE = "Mr|Mrs|Miss|Ms|Sir|Lady|Lord|Dr|Doctor|Madame|Monsieur|Captain|Count|Countess"
_TITLES = frozenset(
    {"mr", "mrs", "miss", "ms", "sir", "lady", "lord", "dr", "doctor", "prince", "duke", "king", "queen", "count", "captain"}
    | {"the", "of", "de", "a", "an", "and", "old", "young", "first", "second", "third", "father", "mother", "friar", "nurse"}
)


def spellings(names: Sequence[str]) -> dict[str, str]:
    """By every way in which a character may be called, whole or by a word of it, the name; of what several share, nothing."""
    found = {name: name for name in names}
    for name in names:
        for word in re.findall(r"[^\W\d_][\w'’-]+", name):
            if word.lower() not in _TITLES and word not in names:
                found[word] = name if found.get(word, name) == name else ""
    return found
