"""The layouts that can be imported, and who in a conversation is tested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from sociable.benchmarks.imported.interop import concordia, social_reasoning, sotopia, tau2
from sociable.benchmarks.imported.records import Conversation, Refused, Reported
from sociable.core.data_files import make_data_error
from sociable.core.errors import InputError

Read = Callable[[Path], Iterator[Conversation | Refused]]


@dataclass(frozen=True, slots=True)
class Format:
    """A layout of others."""

    meaning: str
    read: Read
    reported: Mapping[str, Reported]
    """The scores that it has of its own."""


FORMATS: Mapping[str, Format] = {
    "sotopia": Format("episodes of SOTOPIA, as JSON Lines or JSON", sotopia.read_episodes, sotopia.REPORTED),
    "concordia": Format("logs of Concordia's simulations, structured or raw, as JSON", concordia.read_logs, {}),
    "tau2": Format("results of tau2-bench, one file or a folder with simulations", tau2.read_simulations, tau2.REPORTED),
    "social-reasoning-bench": Format(
        "results.json of SocialReasoningBench, one or a folder of them", social_reasoning.read_results, social_reasoning.REPORTED
    ),
}


def find_format(name: str) -> Format:
    """The format of this name. Raises InputError naming those there are."""
    if name not in FORMATS:
        raise InputError(f"There is no format '{name}'; there are: {', '.join(FORMATS)}.")
    return FORMATS[name]


def read_conversations(layout: str, path: Path) -> list[Conversation | Refused]:
    """All that a file or folder of this layout holds. Raises InputError and DataError."""
    try:
        return list(find_format(layout).read(path))
    except ValidationError as error:
        raise make_data_error(error, str(path)) from None


@dataclass(frozen=True)
class Chosen:
    """The conversations that are judged, who plays in them, and why others are left out."""

    conversations: Sequence[Conversation]
    model: str
    """The model under test."""
    partner: str | None
    """The only model beside it; None: there is none, or several."""
    refused: Mapping[str, int]
    """Recordings left out, by reason."""
    first_refused: Mapping[str, str]
    """The place of the first, by reason."""


def choose(found: Sequence[Conversation | Refused], model: str | None, participants: Collection[str]) -> Chosen:
    """Says who is tested: whom the format says, the ``participants`` named, or all that the ``model`` plays.

    Raises InputError where the file does not tell which model that is, or nothing is left.
    """
    conversations = [each for each in found if isinstance(each, Conversation)]
    refused = [each for each in found if isinstance(each, Refused)]
    model = model or (_find_model(conversations, participants) if conversations else "")
    taken = []
    for each in conversations:
        seated = _seat(each, model, participants)
        if not seated.tested:
            who = f"none of {', '.join(sorted(participants))} takes part" if participants else f"{model} does not take part"
            refused.append(Refused(each.id, who))
        elif not any(person.goal for person in seated.tested):
            refused.append(Refused(each.id, "the source tells no goal of whoever is tested, so no rubric can rate it"))
        else:
            taken.append(seated)
    reasons = Counter(each.reason for each in refused)
    if not taken:
        reason, count = reasons.most_common(1)[0] if reasons else ("nothing in it", 0)
        raise InputError(f"Nothing can be judged. Of {count} recordings: {reason}.")
    if twice := [name for name, count in Counter(each.id for each in taken).items() if count > 1]:
        taken = _number(taken, set(twice))
    others = {person.model for each in taken for person in each.people if not person.is_tested and person.model}
    places = {each.reason: each.place for each in reversed(refused)}
    return Chosen(taken, model, others.pop() if len(others) == 1 else None, dict(reasons.most_common()), places)


def _find_model(conversations: Sequence[Conversation], participants: Collection[str]) -> str:
    """The only model that is, or can be, tested. Raises InputError where there is none, or several."""
    people = [person for each in conversations for person in each.people]
    tested = [person for person in people if person.is_tested or person.name in participants] or people
    models = Counter(person.model for person in tested if person.model)
    if len(models) == 1:
        return next(iter(models))
    if not models:
        raise InputError("The file does not say which model spoke. Name it with --model NAME.")
    told = ", ".join(f"{name} ({count})" for name, count in models.most_common(20))
    raise InputError(f"Several models spoke. Name one with --model: {told}.")


def _seat(conversation: Conversation, model: str, participants: Collection[str]) -> Conversation:
    """The conversation with those marked who are tested. Where the source names no models all are taken to be ``model``."""

    def is_tested(name: str, played_by: str, is_meant: bool) -> bool:
        return (name in participants if participants else is_meant) and played_by in (model, "")

    meant = any(person.is_tested for person in conversation.people)
    people = [
        person.model_copy(update={"is_tested": is_tested(person.name, person.model, person.is_tested or not meant)})
        for person in conversation.people
    ]
    return conversation.model_copy(update={"people": tuple(people)})


def _number(conversations: Sequence[Conversation], twice: set[str]) -> list[Conversation]:
    """The same with ids that differ: the first, second … of one task is numbered."""
    seen: Counter[str] = Counter()
    numbered = []
    for each in conversations:
        seen[each.id] += 1
        changed = {"id": f"{each.id}:{seen[each.id]}"} if each.id in twice else {}
        numbered.append(each.model_copy(update=changed))
    return numbered
