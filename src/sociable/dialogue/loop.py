"""The conversation loop: it knows no model, no prompt and no benchmark."""

from __future__ import annotations

from collections.abc import Mapping

from sociable.core.errors import InstrumentFailure
from sociable.dialogue.conversation import Conversation, Participant
from sociable.dialogue.turn_taking import TurnPolicy


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

    It ends earlier when one leaves (``None``) or says nothing at all (recorded as an empty turn with its note), unless
    ``ends_in_silence`` is False: then the others go on.
    ``private`` addresses every turn to the other participants by name, otherwise all who are present hear it. Raises
    InstrumentFailure when one of ``instruments``, who are not under test, says nothing that can stand.
    """
    names = list(participants)
    for _ in range(turns):
        speaker = await policy.next_speaker(names, conversation.turns)
        utterance = await participants[speaker].take_turn(conversation.seen_by(speaker))
        if utterance is None:
            return
        addressees = tuple(name for name in names if name != speaker) if private else ()
        conversation.say(speaker, addressees, utterance)
        if utterance.defect and speaker in instruments:
            raise InstrumentFailure(f"{speaker}'s turn {conversation.turns[-1].index}: {utterance.defect}")
        if ends_in_silence and not utterance.content.strip():
            return
