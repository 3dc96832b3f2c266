"""Reading by rule: what the assistant's reply proposes and sends, what a message asks and tells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sociable.benchmarks.hsii.live.dataset import Dossier
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.core.names import find_people
from sociable.core.prompts import defuse
from sociable.core.wording import has_wording, pad_words
from sociable.models.replies import mend_object

MAX_MESSAGE = 2000
"""Characters of a message that others see."""
MAX_REPLY = 30_000


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of the assistant's."""

    to: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Move:
    """What the assistant does in a round."""

    messages: tuple[Sent, ...] = ()
    arrangement: Mapping[str, str] | None = None
    problem: str = ""
    """Why (part of) the reply could not be read."""


def read_move(text: str, dossier: Dossier, limit: int) -> Move:
    """The messages and the proposal in a reply. What cannot be read is left out and told; messages beyond the ``limit`` too."""
    found = mend_object(text, MAX_REPLY)
    if not isinstance(found, dict):
        return Move(problem="no JSON object in the reply")
    sent: list[Sent] = []
    problems: list[str] = []
    listed = found.get("messages")
    for each in listed if isinstance(listed, list) else []:
        message = _read_message(each, dossier)
        if message is None:
            problems.append("a message without a name or without words")
        elif len(sent) == limit:
            problems.append(f"more than {limit} messages")
            break
        else:
            sent.append(message)
    arrangement = _read_arrangement(found.get("arrangement"), dossier)
    if found.get("arrangement") and arrangement is None:
        problems.append("the arrangement names no option, or two, for some matter")
    return Move(tuple(sent), arrangement, "; ".join(problems))


def _read_message(value: Any, dossier: Dossier) -> Sent | None:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str) or not value["text"].strip():
        return None
    to = value.get("to")
    names = [person.name for person in dossier.people]
    said = [str(each) for each in to] if isinstance(to, list) else [str(to)]
    if any(pad_words(each).strip() in ("all", "everybody", "everyone") for each in said):
        found = set(names)
    else:
        aliases = {name: (name.split()[0], name.split()[-1]) for name in names}
        found = set().union(*(find_people(each, names, aliases) for each in said))
    text = defuse(value["text"]).strip()[:MAX_MESSAGE]
    return Sent(tuple(name for name in names if name in found), text) if found else None


def _read_arrangement(value: Any, dossier: Dossier) -> dict[str, str] | None:
    """One option for every matter, by id or by its words."""
    if not isinstance(value, dict):
        return None
    given = {pad_words(str(key)).strip(): each for key, each in value.items()}
    chosen = {}
    for matter in dossier.matters:
        said = given.get(pad_words(matter.id).strip(), given.get(pad_words(matter.question).strip()))
        said = pad_words(str(said)).strip()
        options = [each.id for each in matter.options if said in (pad_words(each.id).strip(), pad_words(each.text).strip())]
        if len(options) != 1:
            return None
        chosen[matter.id] = options[0]
    return chosen


def read_answer(text: str, lines: int) -> tuple[str, tuple[int, ...] | None]:
    """(the words of a person's answer, the numbers of the lines of its sheet that it says they tell).

    None: it has not said so, in a form that can be read. A reply without an object is taken for the words themselves.
    """
    found = mend_object(text, MAX_REPLY) if '"text"' in text else None
    if not isinstance(found, dict) or not isinstance(found.get("text"), str):
        return text, None
    listed = found.get("lines")
    numbers = [int(each) for each in listed if str(each).isdecimal()] if isinstance(listed, list) else None
    if numbers is None or any(not 1 <= each <= lines for each in numbers):
        return found["text"], None
    return found["text"], tuple(dict.fromkeys(numbers))


def find_told(text: str, scenario: Scenario, among: Iterable[str] | None = None) -> tuple[str, ...]:
    """The facts that a text tells, of those ``among``, or of all."""
    wanted = scenario.facts if among is None else set(among)
    return tuple(fact.id for fact in scenario.facts.values() if fact.id in wanted and has_wording(text, fact.wording))


def find_asked(text: str, scenario: Scenario, person: str, spent: Collection[str] = ()) -> str:
    """The topic of a person that a message asks about, without those ``spent``; empty: none.

    The one with the most of its wordings in the text; of several, the one that is asked about first.
    """
    padded = pad_words(text)
    found = []
    for topic in scenario.topics.values():
        if topic.person == person and topic.id not in spent:
            places = [place for alternative in topic.wording if (place := _find_place(alternative, padded)) >= 0]
            found += [(-len(places), min(places), topic.id)] if places else []
    return min(found)[2] if found else ""


def _find_place(alternative: Sequence[str], padded: str) -> int:
    """The place of the first phrase of an alternative whose phrases all occur; -1 where one does not."""
    places = [padded.find(f" {pad_words(phrase).strip()}" + ("" if phrase.endswith("*") else " ")) for phrase in alternative]
    return -1 if -1 in places else min(places)
