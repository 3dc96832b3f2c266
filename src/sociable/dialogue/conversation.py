"""A conversation: who may see what of it, who speaks next, how it ends. It knows no model, no prompt and no benchmark."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from sociable.core.errors import InstrumentFailure
from sociable.core.names import find_people
from sociable.core.records import Turn

MAX_CHARACTERS = 20_000
"""The most of a turn that others see. A longer one is shortened, with a note; the journal keeps it whole."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A participant's words in its turn."""

    content: str
    thinking: str = ""
    defect: str = ""
    """The reason why it cannot stand as it is (empty, refused, cut off), or the empty string."""
    note: str = ""
    """Something that was noticed about it though it stands."""


@dataclass
class Conversation:
    """The turns so far. Only the loop appends."""

    turns: list[Turn] = field(default_factory=list)

    def say(self, speaker: str, addressees: tuple[str, ...], utterance: Utterance) -> Turn:
        content, note = utterance.content, utterance.defect or utterance.note
        if len(content) > MAX_CHARACTERS:
            note = "; ".join(filter(None, (note, f"shortened from {len(content)} characters")))
            content = content[:MAX_CHARACTERS]
        turn = Turn(
            index=self.turns[-1].index + 1 if self.turns else 1,
            speaker=speaker,
            addressees=addressees,
            content=content,
            thinking=utterance.thinking,
            note=note,
        )
        self.turns.append(turn)
        return turn

    def list_seen_by(self, name: str) -> Sequence[Turn]:
        """The turns ``name`` said, was told, or that were said to all, without anybody's thinking."""
        return [
            turn.model_copy(update={"thinking": ""}) if turn.thinking else turn
            for turn in self.turns
            if not turn.addressees or turn.speaker == name or name in turn.addressees
        ]


class Participant(Protocol):
    """A participant, which takes turns: a prompted model, a person, a reference agent."""

    @property
    def name(self) -> str:
        """The name by which the others know it."""

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance | None:
        """Returns its words after it has seen ``seen``; None when it has left the conversation."""


class TurnPolicy(Protocol):
    """A rule that says who speaks next: an object, so that a protocol names its rule instead of setting a flag."""

    async def choose_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str | None:
        """One of ``names``, all participants in their fixed order; None: it is over. ``turns`` are all turns so far."""


class RoundRobin:
    """All participants in the order of the list, beginning after whoever spoke last. Two participants alternate."""

    async def choose_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        if not turns or turns[-1].speaker not in names:
            return names[0]
        return names[(names.index(turns[-1].speaker) + 1) % len(names)]


@dataclass(frozen=True)
class RandomSpeaker:
    """Anybody but the last speaker, each as likely. Two participants alternate."""

    generator: Random

    async def choose_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        return self.generator.choice(_list_others(names, turns))


SPREAD = 2
"""The most turns that one participant may have had more than another."""


@dataclass(frozen=True)
class AddressedNext:
    """The person whom the last turn names, if it names one other person only; else anybody but the last speaker.

    Nobody comes to have more than ``SPREAD`` turns more than anybody else, as far as that leaves somebody to speak.
    """

    generator: Random
    aliases: Mapping[str, Sequence[str]]

    async def choose_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        others = _list_others(names, turns)
        taken = Counter(turn.speaker for turn in turns if turn.index > 0)
        fewest = min(taken[name] for name in names)
        free = [name for name in others if taken[name] < fewest + SPREAD] or others
        named = find_people(turns[-1].content, names, self.aliases) & set(free) if turns else set()
        return named.pop() if len(named) == 1 else self.generator.choice(free)


@dataclass(frozen=True)
class Bidding:
    """The highest bidder but the last speaker; ties are drawn. A participant without a bid bids less than anybody."""

    bid: Callable[[str, Sequence[Turn]], Awaitable[float | None]]
    """(participant, turns) → its wish to be the next to speak, on any scale that all share; None when it does not say."""
    generator: Random

    async def choose_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        others = _list_others(names, turns)
        said = await asyncio.gather(*(self.bid(name, turns) for name in others))
        bids = [-math.inf if bid is None else bid for bid in said]
        return self.generator.choice([name for name, bid in zip(others, bids, strict=True) if bid == max(bids)])


def _list_others(names: Sequence[str], turns: Sequence[Turn]) -> list[str]:
    """All but the last speaker."""
    return [name for name in names if not turns or name != turns[-1].speaker]


async def run_conversation(
    conversation: Conversation,
    participants: Mapping[str, Participant],
    policy: TurnPolicy,
    *,
    turns: int,
    private: bool = False,
    instruments: frozenset[str] = frozenset(),
    ends_in_silence: bool = True,
) -> None:
    """Lets the participants talk until ``turns`` further turns were taken.

    It ends earlier when the ``policy`` says so, when one leaves (``None``), or when one says nothing at all (recorded as an
    empty turn with its note), unless ``ends_in_silence`` is False: then the others go on.
    ``private`` addresses every turn to the other participants by name, otherwise all who are present hear it. Raises
    InstrumentFailure when one of ``instruments``, who are not under test, says nothing that can stand.
    """
    names = list(participants)
    for _ in range(turns):
        speaker = await policy.choose_speaker(names, conversation.turns)
        if speaker is None:
            return
        utterance = await participants[speaker].take_turn(conversation.list_seen_by(speaker))
        if utterance is None:
            return
        addressees = tuple(name for name in names if name != speaker) if private else ()
        conversation.say(speaker, addressees, utterance)
        if utterance.defect and speaker in instruments:
            raise InstrumentFailure(f"{speaker}'s turn {conversation.turns[-1].index}: {utterance.defect}")
        if ends_in_silence and not utterance.content.strip():
            return
