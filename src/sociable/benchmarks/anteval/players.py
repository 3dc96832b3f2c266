"""Who sits at the table: prompted models here, reference agents in the benchmarks' own rooms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sociable.agents.prompted import PromptedParticipant
from sociable.benchmarks.anteval.characters import Sheet, in_brief
from sociable.benchmarks.anteval.session import Move, TableTurn, read_move
from sociable.core.errors import InstrumentFailure
from sociable.core.form import Form, Question
from sociable.core.names import strip_own_name
from sociable.core.prompts import put_on_one_line
from sociable.core.records import CUT_OFF, Turn, Usage
from sociable.core.view import Block, Line, Paragraph, Transcript
from sociable.dialogue.conversation import MAX_CHARACTERS
from sociable.engine.seats import Role, Seat
from sociable.models.protocol import ChatMessage, Reply, Request, Sampling


class Player(Protocol):
    """Whoever takes a participant's turns."""

    @property
    def name(self) -> str: ...

    @property
    def usage(self) -> Usage: ...

    async def take_turn(self, seen: Sequence[TableTurn]) -> Move: ...


class PromptedPlayer:
    """A model in a participant's place."""

    def __init__(self, name: str, seat: Seat, item: str, briefing: Sequence[ChatMessage]) -> None:
        assert seat.model is not None
        self.name = name
        self._model = seat.model
        self._participant = PromptedParticipant(
            name,
            seat.model,
            briefing,
            scope=seat.scope(item, name),
            sampling=seat.sampling,
            heard=lambda turn: f"{turn.speaker}: {put_on_one_line(turn.content)}",
            form=self._form,
        )
        self._briefing = briefing
        self._shown: int | None = None
        """Index of the last turn that a person in its place was shown; None before the briefing was."""

    @property
    def usage(self) -> Usage:
        return self._participant.scope.usage

    async def take_turn(self, seen: Sequence[TableTurn]) -> Move:
        utterance = await self._participant.take_turn(seen)
        text = strip_own_name(utterance.content, [self.name])
        act, words = read_move(text[:MAX_CHARACTERS])
        # The limit is part of the protocol: what was said before it stands.
        if utterance.defect and not (utterance.defect == CUT_OFF and (act or words)):
            return Move(thinking=utterance.thinking, defect=utterance.defect)
        shortened = f"shortened from {len(text)} characters" if len(text) > MAX_CHARACTERS else ""
        return Move(act, words, utterance.thinking, note="; ".join(filter(None, (utterance.defect, shortened))))

    def _form(self, seen: Sequence[Turn]) -> Form:
        """What a person is shown: the briefing once, then what has happened since."""
        blocks: list[Block] = [] if self._shown is not None else [Paragraph(self._briefing[0]["content"])]
        lines = [Line(turn.speaker, "", turn.content or "(passes)") for turn in seen if turn.index > (self._shown or 0)]
        if lines:
            blocks.append(Transcript("", lines))
        title = "A new scene" if self._shown is None else "It goes on"
        self._shown = seen[-1].index if seen else 0
        return Form(title, blocks, [Question(f"You are {self.name}. What do you do and say? (one line, or PASS)")])

    async def ask(self, seen: Sequence[Turn], question: ChatMessage, sampling: Sampling) -> Reply:
        """A question away from the table, on a copy of its view."""
        return await self._model.generate(
            Request([*self._participant.make_messages(seen), question], self._participant.scope, sampling)
        )


async def play(players: Sequence[Player], turns: int, *, instruments: frozenset[str] = frozenset()) -> list[TableTurn]:
    """A session (section 5.1): in order, each acts, speaks, does both or passes; one participant's action is a turn.

    Raises InstrumentFailure when one of ``instruments``, who are not under test, gives a reply that cannot stand.
    """
    seen: list[TableTurn] = []
    for index in range(1, turns + 1):
        player = players[(index - 1) % len(players)]
        move = await player.take_turn(seen)
        if move.defect and player.name in instruments:
            raise InstrumentFailure(f"{player.name}'s turn {index}: {move.defect}")
        seen.append(move.as_turn(index, player.name))
    return seen


def usage_by_role(players: Sequence[Player], npc: Player, *, alone: bool) -> dict[str, Usage]:
    """What a session cost; ``alone``, the model under test plays the NPC as well."""
    used = {Role.SUBJECT: sum((player.usage for player in players), Usage()), Role.PARTNER: Usage()}
    used[Role.SUBJECT if alone else Role.PARTNER] += npc.usage
    return {role.value: usage for role, usage in used.items() if usage.calls}


def opening(briefing: str) -> list[ChatMessage]:
    """A participant's messages before anybody has taken a turn."""
    # A conversation that began with the participant's own turn would be refused by some servers.
    return [{"role": "system", "content": briefing}, {"role": "user", "content": "The scene opens."}]


def present(players: Sequence[Sheet], npc: str, *, without: str) -> str:
    """Who else sits at the table, and what can be seen of them."""
    there = [*((sheet.name, in_brief(sheet)) for sheet in players), (npc, "played by the dungeon master")]
    return ", ".join(f"{name} ({what})" for name, what in there if name != without)
