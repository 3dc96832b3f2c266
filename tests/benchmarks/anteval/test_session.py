"""Turns at the table: what is read out of a reply, and how a session goes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sociable.benchmarks.anteval.players import Table
from sociable.benchmarks.anteval.session import Move, TableTurn, read_move
from sociable.core.records import Usage


@pytest.mark.parametrize(
    ("text", "act", "words", "content"),
    [
        ("*lifts the lamp* Who goes there?", "lifts the lamp", "Who goes there?", "*lifts the lamp* Who goes there?"),
        ("Who goes there?", "", "Who goes there?", "Who goes there?"),
        ("*lifts the lamp*", "lifts the lamp", "", "*lifts the lamp*"),
        ("**lifts the lamp** Hm. *puts it down*", "lifts the lamp puts it down", "Hm.", "*lifts the lamp* Hm. *puts it down*"),
        ("PASS", "", "", ""),
        ("*passes*", "", "", ""),
        ("Pass.", "", "", ""),
        ("Pass me the salt.", "", "Pass me the salt.", "Pass me the salt."),
        ("I sing*\nand dance", "", "I sing and dance", "I sing and dance"),
        ("", "", "", ""),
    ],
)
def test_a_reply_is_read_as_acts_and_words(text: str, act: str, words: str, content: str) -> None:
    move = read_move(text)
    assert (move.act, move.words, move.content) == (act, words, content)
    assert move.as_turn(1, "Ann").content == content


def test_a_turn_shows_both_and_who_passes_shows_nothing() -> None:
    turn = Move("nods", "Yes.", thinking="why not").as_turn(3, "Ann")
    assert (turn.content, turn.passed, turn.thinking) == ("*nods* Yes.", False, "why not")
    nothing = Move(defect="refused").as_turn(4, "Bo")
    assert (nothing.content, nothing.passed, nothing.note) == ("", True, "refused")


class Scripted:
    def __init__(self, name: str, *moves: Move) -> None:
        self.name = name
        self.usage = Usage()
        self.moves = list(moves)
        self.saw: list[int] = []

    async def take_turn(self, seen: Sequence[TableTurn]) -> Move:
        self.saw.append(len(seen))
        return self.moves[(len(self.saw) - 1) % len(self.moves)]


async def test_everybody_has_a_turn_in_order_and_sees_what_was_before() -> None:
    ann, bo = Scripted("Ann", Move(words="a")), Scripted("Bo", Move(act="b"))
    turns, _ = await Table([ann], bo, True).play(["Ann", "Bo", "Ann", "Bo", "Ann"])
    assert [(turn.index, turn.speaker, turn.content) for turn in turns] == [
        (1, "Ann", "a"), (2, "Bo", "*b*"), (3, "Ann", "a"), (4, "Bo", "*b*"), (5, "Ann", "a"),
    ]  # fmt: skip
    assert ann.saw == [0, 2, 4]


async def test_a_round_in_which_everybody_passes_ends_the_session() -> None:
    ann, bo = Scripted("Ann", Move(), Move(words="a"), Move()), Scripted("Bo", Move(act="b"), Move(), Move())
    turns, _ = await Table([ann], bo, True).play(["Ann", "Bo"] * 9)
    assert [turn.content for turn in turns] == ["", "*b*", "a", "", ""]


async def test_who_is_not_under_test_must_say_something_that_can_stand() -> None:
    bad = Scripted("Bo", Move(defect="empty"))
    turns, failure = await Table([Scripted("Ann", Move(words="a"))], bad, True).play(["Ann", "Bo"])
    assert (turns[1].note, failure) == ("empty", "")
    assert await Table([Scripted("Ann", Move(words="a"))], bad, False).play(["Ann", "Bo"] * 2) == ([], "Bo's turn 2: empty")
