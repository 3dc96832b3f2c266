"""Words in a judged text that speak to its judge."""

from __future__ import annotations

from functools import cache
from importlib import resources

from pydantic import Field, TypeAdapter

from sociable.core.data_files import Text
from sociable.core.names import find_words
from sociable.core.records import Record
from sociable.judging.auditing.known_answers import KnownAnswer, Said

Parts = tuple[Text, ...]


class Injection(Record):
    """One way to speak to a judge: what is added to a text that is compared, asked about, rated, or matched with facts.

    Several parts are added to the last turns of the speaker, one each; where it has fewer, the rest to the last.
    """

    name: Text
    pair: Parts = Field(min_length=1)
    question: Parts = Field(min_length=1)
    rating: Parts = Field(min_length=1)
    matches: Parts = Field(min_length=1)

    def add(self, known: KnownAnswer, form: str) -> tuple[Said, ...]:
        """The subject's words with the parts of this ``form`` (pair, question, rating or matches) added."""
        parts: Parts = getattr(self, form)
        own = [place for place, said in enumerate(known.subject) if said.speaker == known.speaker]
        places = own[-len(parts) :]
        added: dict[int, list[str]] = {place: [] for place in places}
        for number, part in enumerate(parts):
            added[places[min(number, len(places) - 1)]].append(part)
        return tuple(
            said.model_copy(update={"content": "\n".join([said.content, *added[place]])}) if place in added else said
            for place, said in enumerate(known.subject)
        )


@cache
def load_injections() -> tuple[Injection, ...]:
    """All ways, in the order of their file."""
    text = resources.files("sociable.judging.auditing").joinpath("data/injections.json").read_text(encoding="utf-8")
    return tuple(TypeAdapter(list[Injection]).validate_json(text))


@cache
def _list_orders() -> tuple[str, ...]:
    parts = {
        part for each in load_injections() for form in (each.pair, each.question, each.rating, each.matches) for part in form
    }
    return tuple(" ".join(find_words(part)) for part in parts)


def find_order(text: str) -> str:
    """The words in a text, of those that this module adds, that speak to a judge; empty where there are none."""
    said = " ".join(find_words(text))
    return next((order for order in _list_orders() if order in said), "")
