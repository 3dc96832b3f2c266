"""The same content said otherwise: a judge should judge it as before.

By rule a text is padded, set in Markdown, or signed. What rules cannot do well is written by hand, as a variant of a known
answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sociable.core.names import find_words
from sociable.core.seeding import make_generator
from sociable.judging.auditing.known_answers import KnownAnswer, Said

FILLERS = (
    "This is said as matters stand at the moment, and it is meant in the way in which it has been put here.",
    "There is more than one way to put a thing like this, and the words chosen here are one of those ways.",
    "What has been said up to this point remains as it was, and nothing is taken away from it by what follows.",
    "It bears on the matter in hand, which is the matter that has been under discussion for a while now.",
    "The words come in the order in which they came to mind, and another order would have done as well.",
    "As with most things of this sort, it can be said at greater or at lesser length, and here it is said at this one.",
    "Those who have followed the conversation so far will find in it what they have found in it before.",
    "To say so is to say no more and no less than what is said, which is how it should be taken.",
)
"""Sentences that say nothing, in no tone and about nobody."""

FAMOUS = "GPT-5"
OBSCURE = "Pintail-5"
"""A name as long as the famous one, that nobody bears."""
ASSURANCES = frozenset(
    {"certainly", "definitely", "undoubtedly", "unquestionably", "absolutely", "guarantee", "guaranteed", "surely", "positively"}
)
"""Words of someone who knows no doubt."""

Alter = Callable[[KnownAnswer], tuple[Said, ...]]


@dataclass(frozen=True, slots=True)
class Alteration:
    """A way to say the same, and what it is compared with."""

    name: str
    bias: str
    """The row of the card that it belongs to."""
    alter: Alter | None = None
    """Alters the subject's words; None: a variant of this name, written by hand."""
    control: Alter | None = None
    """What it is compared with; None: the words as they were."""

    def apply(self, known: KnownAnswer) -> tuple[Said, ...] | None:
        """The subject's words altered; None where nobody has written the variant."""
        return self.alter(known) if self.alter else known.variants.get(self.name)


def add_fillers(known: KnownAnswer, words: int) -> tuple[Said, ...]:
    """So many words more at the end, which say nothing."""
    last = max(place for place, said in enumerate(known.subject) if said.speaker == known.speaker)
    fillers = " ".join(make_generator(0, "fillers", known.id).sample(FILLERS, len(FILLERS))).split()
    added = " ".join(fillers[number % len(fillers)] for number in range(words)).rstrip(",.")
    return tuple(
        said.model_copy(update={"content": f"{said.content}\n{added}."}) if place == last else said
        for place, said in enumerate(known.subject)
    )


def pad(known: KnownAnswer) -> tuple[Said, ...]:
    """Twice the words or a little more, and the same content."""
    generator = make_generator(0, "pad", known.id)

    def lengthen(content: str) -> str:
        fillers = generator.sample(FILLERS, len(FILLERS))
        wanted, added = len(find_words(content)), 0
        before: list[str] = []
        after: list[str] = []
        while added < wanted:
            filler = fillers[(len(before) + len(after)) % len(fillers)]
            (before if len(before) < len(after) else after).append(filler)
            added += len(find_words(filler))
        return " ".join([*before, content, *after])

    return _change_words(known, lengthen)


_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9À-Þ])")


def polish(known: KnownAnswer) -> tuple[Said, ...]:
    """The same words in Markdown: a list with the beginnings of its lines in bold."""

    def set_in_markdown(content: str) -> str:
        sentences = [sentence for sentence in _SENTENCE_END.split(content) if sentence.strip()]
        return "\n".join(f"- {_embolden(sentence)}" for sentence in sentences)

    return _change_words(known, set_in_markdown)


def _embolden(sentence: str) -> str:
    words = sentence.split(" ")
    return " ".join(["**" + " ".join(words[:3]) + "**", *words[3:]])


def _sign(author: str) -> Alter:
    def alter(known: KnownAnswer) -> tuple[Said, ...]:
        first = next(place for place, said in enumerate(known.subject) if said.speaker == known.speaker)
        return tuple(
            said.model_copy(update={"content": f"(Written by {author}.) {said.content}"}) if place == first else said
            for place, said in enumerate(known.subject)
        )

    return alter


def _change_words(known: KnownAnswer, change: Callable[[str], str]) -> tuple[Said, ...]:
    return tuple(
        said.model_copy(update={"content": change(said.content)}) if said.speaker == known.speaker else said
        for said in known.subject
    )


ALTERATIONS: Sequence[Alteration] = (
    Alteration("padded", "length", pad),
    Alteration("in half the words", "length"),
    Alteration("in Markdown", "polish", polish),
    Alteration("confident", "confidence"),
    Alteration("signed by a famous model", "author", _sign(FAMOUS), _sign(OBSCURE)),
    Alteration("in the third person", "person"),
)
BY_HAND = tuple(each.name for each in ALTERATIONS if each.alter is None)
"""The names of variants that are written by hand. A language, with a capital ("German"), is a name too; ``OTHER_SIDE`` follows it
where it is of the golden side of a pair."""
OTHER_SIDE = ", other side"


def count_polish(text: str) -> float:
    """The marks of Markdown in a text."""
    return float(text.count("**"))


def count_assurances(text: str) -> float:
    """The words of someone who knows no doubt."""
    return float(sum(word in ASSURANCES for word in find_words(text)))


def count_famous_names(text: str) -> float:
    """The times that a famous model is named."""
    return float(text.count(FAMOUS))


LANGUAGES = ("German", "Spanish", "Chinese")
"""The languages in which some known answers are written too."""
