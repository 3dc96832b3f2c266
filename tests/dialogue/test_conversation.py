"""Who may see what of a conversation, and how it goes on and ends."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sociable.core.errors import InstrumentFailure
from sociable.core.records import Turn
from sociable.dialogue.conversation import MAX_CHARACTERS, Conversation, RoundRobin, Utterance, run_conversation


class Speaker:
    """Says its lines, then leaves; keeps what it has seen."""

    def __init__(self, name: str, *lines: str | Utterance) -> None:
        self.name = name
        self.lines = list(lines)
        self.seen: list[Sequence[Turn]] = []

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance | None:
        self.seen.append(seen)
        if not self.lines:
            return None
        line = self.lines.pop(0)
        return Utterance(line) if isinstance(line, str) else line


async def talk(*speakers: Speaker, turns: int = 10, private: bool = False, instruments: Sequence[str] = ()) -> Conversation:
    conversation = Conversation()
    await run_conversation(
        conversation,
        {speaker.name: speaker for speaker in speakers},
        RoundRobin(),
        turns=turns,
        private=private,
        instruments=frozenset(instruments),
    )
    return conversation


def contents(turns: Sequence[Turn]) -> list[str]:
    return [turn.content for turn in turns]


def test_one_sees_what_one_said_was_told_or_all_heard() -> None:
    conversation = Conversation()
    conversation.say("Ann", ("Ben",), Utterance("for Ben"))
    conversation.say("Ben", ("Carl",), Utterance("for Carl"))
    conversation.say("Carl", (), Utterance("for all"))
    assert contents(conversation.list_seen_by("Ann")) == ["for Ben", "for all"]
    assert contents(conversation.list_seen_by("Ben")) == ["for Ben", "for Carl", "for all"]
    assert contents(conversation.list_seen_by("Carl")) == ["for Carl", "for all"]
    assert contents(conversation.list_seen_by("Dora")) == ["for all"]


def test_nobody_sees_thinking_not_even_ones_own() -> None:
    conversation = Conversation()
    conversation.say("Ann", (), Utterance("words", thinking="CANARY"))
    for name in ("Ann", "Ben"):
        assert "CANARY" not in repr(conversation.list_seen_by(name))
    assert conversation.turns[0].thinking == "CANARY"


def test_an_enormous_turn_is_shortened_with_a_note() -> None:
    turn = Conversation().say("Ann", (), Utterance("x" * (MAX_CHARACTERS + 1), defect="cut off"))
    assert len(turn.content) == MAX_CHARACTERS
    assert turn.note == f"cut off; shortened from {MAX_CHARACTERS + 1} characters"


async def test_two_alternate_for_as_many_turns_as_asked() -> None:
    conversation = await talk(Speaker("Ann", "a", "c", "e"), Speaker("Ben", "b", "d"), turns=3)
    assert [(turn.index, turn.speaker, turn.content) for turn in conversation.turns] == [
        (1, "Ann", "a"),
        (2, "Ben", "b"),
        (3, "Ann", "c"),
    ]


async def test_three_speak_in_turn_after_whoever_spoke_last() -> None:
    conversation = await talk(Speaker("Ann", "a", "d"), Speaker("Ben", "b"), Speaker("Carl", "c"), turns=4)
    assert contents(conversation.turns) == ["a", "b", "c", "d"]


async def test_turns_are_for_all_who_are_present() -> None:
    conversation = await talk(Speaker("Ann", "a"), Speaker("Ben", "b"), Speaker("Carl", "c"), turns=3)
    assert [turn.addressees for turn in conversation.turns] == [(), (), ()]


async def test_private_turns_are_addressed_by_name() -> None:
    conversation = await talk(Speaker("Ann", "a"), Speaker("Ben", "b"), Speaker("Carl"), private=True)
    assert [turn.addressees for turn in conversation.turns] == [("Ben", "Carl"), ("Ann", "Carl")]


async def test_leaving_ends_it_without_a_turn() -> None:
    conversation = await talk(Speaker("Ann", "a"), Speaker("Ben"))
    assert contents(conversation.turns) == ["a"]


async def test_saying_nothing_ends_it_with_an_empty_turn() -> None:
    conversation = await talk(Speaker("Ann", Utterance("  ", defect="empty")), Speaker("Ben", "b"))
    assert [(turn.content, turn.note) for turn in conversation.turns] == [("  ", "empty")]


async def test_a_defect_of_who_is_under_test_is_noted_and_the_talk_goes_on() -> None:
    conversation = await talk(Speaker("Ann", Utterance("half a", defect="cut off")), Speaker("Ben", "b"), instruments=["Ben"])
    assert [(turn.content, turn.note) for turn in conversation.turns] == [("half a", "cut off"), ("b", "")]


@pytest.mark.parametrize("content", ["", "half a"])
async def test_a_defect_of_an_instrument_is_its_failure(content: str) -> None:
    with pytest.raises(InstrumentFailure, match="Ben's turn 2: refused"):
        await talk(Speaker("Ann", "a"), Speaker("Ben", Utterance(content, defect="refused")), instruments=["Ben"])


async def test_each_speaker_sees_only_its_own_view() -> None:
    ann, ben = Speaker("Ann", Utterance("a", thinking="CANARY"), "c"), Speaker("Ben", "b")
    await talk(ann, ben, turns=3)
    assert [contents(seen) for seen in ann.seen] == [[], ["a", "b"]]
    assert [contents(seen) for seen in ben.seen] == [["a"]]
    assert "CANARY" not in repr((ann.seen, ben.seen))
