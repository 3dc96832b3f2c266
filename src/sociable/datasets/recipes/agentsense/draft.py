"""A scenario on its way from a passage of a script to a template with casts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from sociable.benchmarks.agentsense.scenario import Relationship
from sociable.benchmarks.agentsense.templates import AgeGap, Member, Slot
from sociable.core.data_files import Text
from sociable.core.names import find_words
from sociable.core.prompts import quote
from sociable.core.records import Record
from sociable.datasets.stages import Item


class Passage(Item):
    """A stretch of a script in which people talk."""

    script: str
    title: str
    scene: str
    """Its place in the script, in words."""
    before: str = ""
    """The end of what was said before it."""
    names: tuple[str, ...]
    """Everybody who speaks in it, one by one."""
    said: tuple[tuple[str, str], ...]
    """Speakers and their words, in order: one speaker, or several together as the script has them."""

    @property
    def text(self) -> str:
        return "\n".join(f"{speaker}: {said}" for speaker, said in self.said)


class Secret(Record):
    question: Text
    answer: Text
    fact: Text
    wrong: tuple[Text, ...] = ()

    def list_texts(self) -> tuple[str, ...]:
        return (self.question, self.answer, self.fact, *self.wrong)

    def change_texts(self, change: Callable[[str], str]) -> Secret:
        question, answer, fact, *wrong = map(change, self.list_texts())
        return Secret(question=question, answer=answer, fact=fact, wrong=tuple(wrong))


class Person(Record):
    name: str
    goals: tuple[Text, ...] = ()
    secrets: tuple[Secret, ...] = ()


class Draft(Item):
    passage: Passage
    background: str = ""
    description: str = ""
    people: tuple[Person, ...] = ()
    """The people. After the stage ``slots`` their names are those of their slots, in braces."""
    slots: dict[str, Slot] = {}
    relations: tuple[Relationship, ...] = ()
    age_gaps: tuple[AgeGap, ...] = ()
    casts: tuple[dict[str, Member], ...] = ()

    @property
    def scene(self) -> str:
        """The scene as it is shown to the model that writes, fenced."""
        return quote(f"Background: {self.background}\nDescription: {self.description}")

    @property
    def text(self) -> str:
        """All that the draft says."""
        told = [(*person.goals, *(text for secret in person.secrets for text in secret.list_texts())) for person in self.people]
        return "\n".join((self.background, self.description, *chain(*told)))

    def change_texts(self, change: Callable[[str], str]) -> Draft:
        """The draft with every text changed in one way; names of people stay."""
        people = tuple(
            Person(
                name=person.name,
                goals=tuple(map(change, person.goals)),
                secrets=tuple(each.change_texts(change) for each in person.secrets),
            )
            for person in self.people
        )
        changed = {"background": change(self.background), "description": change(self.description), "people": people}
        return self.model_copy(update=changed)


def make_replacer(pairs: Mapping[str, str]) -> Callable[[str], str]:
    """A function that replaces whole words in a text, whatever their case, the longest first."""
    if not pairs:
        return lambda text: text
    by = {" ".join(old.split()).casefold(): new for old, new in pairs.items()}
    spelled = "|".join(r"\s+".join(map(re.escape, old.split())) for old in sorted(by, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{spelled})(?!\w)", re.IGNORECASE)

    def replace(match: re.Match[str]) -> str:
        # Of letters that change their number with their case nothing is known.
        found = by.get(" ".join(match.group().split()).casefold(), match.group())
        # What begins with a capital goes on doing so.
        return found[:1].upper() + found[1:] if match.group()[0].isupper() else found

    return lambda text: pattern.sub(replace, text)


def make_slot_replacer(slots: Mapping[str, str], names: Sequence[str], said: str) -> Callable[[str], str]:
    """A function that puts ``slots``, by name, in the place of names. A nurse who is not called Nurse stays.

    A title or an article before a name goes with it. ``names`` are all of the script, so that what two share means neither;
    ``said`` is what the words of a name must never be in small letters in.
    """
    found = [
        (spelling, slots[name])
        for spelling, name in find_spellings(names).items()
        if name in slots and (spelling == name or not _is_word(spelling, said))
    ]
    # The longest first: who is called Sir Robert Chiltern is not called Sir Robert, and then something else.
    longest = sorted(found, key=lambda pair: len(pair[0]), reverse=True)
    if not longest:
        return lambda text: text
    spelled = (_make_marked_pattern(each) if _is_word(each, said) else _make_name_pattern(each) for each, _ in longest)
    pattern = re.compile("|".join(f"(?P<n{place}>{each})" for place, each in enumerate(spelled)))
    return lambda text: pattern.sub(lambda match: f"{{{longest[int(str(match.lastgroup)[1:])][1]}}}", text)


def find_names(text: str, names: Sequence[str], said: str) -> list[str]:
    """Spellings of ``names`` that stand in ``text`` as names. What several share is a name too, though nobody's."""
    found = [each for each in find_spellings(names) if not _is_word(each, said)]
    return [each for each in found if re.search(_make_name_pattern(each, "(?:e?s)?"), text)]


def _make_marked_pattern(spelling: str) -> str:
    """A pattern for a name that is a word, too: in capitals, after an article, or with a capital inside of a sentence."""
    word, shouted = re.escape(spelling), re.escape(spelling.upper())
    return rf"(?<!\w)(?:[Tt]he\s+(?:{word}|{shouted})|{shouted}|(?<=[\w,;]\s){word})(?!\w)"


def _make_name_pattern(spelling: str, ending: str = "") -> str:
    """A pattern for a name as it is spelled or in capitals, small words in any way, with an article and a title before it.

    ``ending``: for families, who are called the Hales.
    """
    said = (
        f"(?i:{re.escape(word)})" if word.lower() in _SMALL else f"(?:{re.escape(word)}|{re.escape(word.upper())})"
        for word in spelling.split()
    )
    return rf"(?<!\w)(?:(?:[Tt]he|[Aa]n?)\s+)?(?:(?:{_TITLE})\.?\s+)?" + r"\s+".join(said) + rf"{ending}(?!\w)"


def is_telling(word: str, said: str) -> bool:
    """Whether a word is a name by itself: no title, and never in small letters."""
    return word[:1].isupper() and word.lower().rstrip(".") not in _TITLES and not _is_word(word, said)


def _is_word(spelling: str, said: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(spelling.lower())}(?!\w)", said))


_TITLE = "Mr|Mrs|Miss|Ms|Sir|Lady|Lord|Dr|Doctor|Madame|Monsieur|Captain|Count|Countess|Vicomte|Viscount|Baron|Duke|Duchess"
LONGEST_RUN = 5
"""Words of a name by which somebody is called."""
_SMALL = frozenset({"de", "of", "the", "von", "van", "la", "le", "du", "and"})
_TITLES = _SMALL | {
    *("mr", "mrs", "miss", "ms", "sir", "lady", "lord", "dr", "doctor", "prince", "duke", "king", "queen", "count", "captain"),
    *("a", "an", "old", "young", "first", "second", "third", "father", "mother", "friar", "nurse", "vicomte", "viscount"),
    *("baron", "duchess", "countess", "madame", "monsieur"),
}


def find_spellings(names: Sequence[str]) -> dict[str, str]:
    """The name, by every way in which somebody may be called: whole or by words in a row. What several share is nobody's."""
    found: dict[str, str] = {}
    for name in names:
        parts = re.findall(r"[^\W\d_][\w'’-]+", name)
        for first in range(len(parts)):
            for last in range(first + 1, min(len(parts), first + LONGEST_RUN) + 1):
                run = parts[first:last]
                if {run[0].lower(), run[-1].lower()} & _TITLES == set():
                    spelling = " ".join(run)
                    found[spelling] = name if found.get(spelling, name) == name else ""
    return found | {name: name for name in names}


def is_said_in(text: str, answer: str) -> bool:
    """Whether the answer stands in the text word for word."""
    said, wanted = find_words(text), find_words(answer)
    return bool(wanted) and any(said[place : place + len(wanted)] == wanted for place in range(len(said) - len(wanted) + 1))
