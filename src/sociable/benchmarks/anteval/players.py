"""The people at a table, what everybody is told first, and a session turn by turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar, Generic, Protocol, TypeVar

from sociable.agents.prompted import PromptedParticipant
from sociable.benchmarks.anteval.characters import Scenario, describe_sheet
from sociable.benchmarks.anteval.session import Move, TableTurn, read_move
from sociable.core.form import Form, Question, make_prompt_form
from sociable.core.names import strip_own_name
from sociable.core.prompts import Prompts, put_on_one_line, quote
from sociable.core.records import CUT_OFF, Turn, Usage
from sociable.core.view import Block, Line, Paragraph, Transcript
from sociable.dialogue.conversation import MAX_CHARACTERS
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import ChatMessage, Reply, Request, Sampling


def brief(
    scenario: Scenario, name: str, prompts: Prompts, for_player: Mapping[str, str], for_npc: Mapping[str, str]
) -> list[ChatMessage]:
    """A participant's first messages. ``for_player`` and ``for_npc`` fill the placeholders that only one benchmark has."""
    there = [*((sheet.name, sheet.kind) for sheet in scenario.players), (scenario.npc.name, "played by the dungeon master")]
    others = ", ".join(f"{other} ({what})" for other, what in there if other != name)
    shared = {"name": name, "scene": quote(scenario.setting), "others": others}
    if name == scenario.npc.name:
        text = prompts["npc"].render(**shared, character=quote(scenario.npc.describe()), **for_npc)
    else:
        sheet = next(each for each in scenario.players if each.name == name)
        text = prompts["player"].render(**shared, sheet=quote(describe_sheet(sheet)), **for_player)
    # A conversation that began with the participant's own turn would be refused by some servers.
    return [{"role": "system", "content": text}, {"role": "user", "content": "The scene opens."}]


class Player(Protocol):
    """A player, which takes a participant's turns."""

    @property
    def name(self) -> str: ...

    @property
    def usage(self) -> Usage: ...

    async def take_turn(self, seen: Sequence[TableTurn]) -> Move: ...


S = TypeVar("S", bound=Scenario)
P = TypeVar("P", bound=Player)


@dataclass
class ReferencePlayer(Generic[S]):
    """A player that needs no model."""

    usage: ClassVar[Usage] = Usage()

    scenario: S
    name: str
    turns: int
    """The turns of the whole session."""
    draw: Callable[..., Random]
    """Makes the generator for the thing named; all players of a session share their draws."""
    error_rate: float

    @property
    def own_turns(self) -> int:
        """The number of turns that everybody has at least; 1 where there are too few."""
        return max(self.turns // (len(self.scenario.players) + 1), 1)


class PromptedPlayer:
    """A model in a participant's place."""

    def __init__(
        self,
        name: str,
        seat: Seat,
        item: str,
        briefing: Sequence[ChatMessage],
        told: Callable[[Sequence[Turn]], str] = lambda seen: "",
    ) -> None:
        assert seat.model is not None
        self.name = name
        self._model = seat.model
        self._participant = PromptedParticipant(
            name,
            seat.model,
            briefing,
            scope=seat.make_scope(item, name),
            sampling=seat.sampling,
            heard=lambda turn: f"{turn.speaker}: {put_on_one_line(turn.content)}",
            form=self._make_form,
            told=told,
        )
        self._briefing = briefing
        self._told = told
        self._shown: int | None = None
        """Index of the last turn that a person in its place was shown; None before the briefing was."""

    @property
    def usage(self) -> Usage:
        return self._participant.scope.usage

    async def take_turn(self, seen: Sequence[TableTurn]) -> Move:
        utterance = await self._participant.take_turn(seen)
        text = strip_own_name(utterance.content, [self.name])
        move = read_move(text[:MAX_CHARACTERS])
        # The limit is part of the protocol: what was said before it stands.
        if utterance.defect and not (utterance.defect == CUT_OFF and move.content):
            return Move(thinking=utterance.thinking, defect=utterance.defect)
        shortened = f"shortened from {len(text)} characters" if len(text) > MAX_CHARACTERS else ""
        return replace(move, thinking=utterance.thinking, note="; ".join(filter(None, (utterance.defect, shortened))))

    def _make_form(self, seen: Sequence[Turn]) -> Form:
        """The form that a person is shown: the briefing once, then what has happened since."""
        title = "A new scene" if self._shown is None else "It goes on"
        told = [Paragraph(said)] if (said := self._told(seen)) else []
        question = Question(f"You are {self.name}. What do you do and say? (one line, or PASS)")
        return Form(title, [*self._show_news(seen), *told], [question])

    def _show_news(self, seen: Sequence[Turn]) -> list[Block]:
        blocks: list[Block] = [] if self._shown is not None else [Paragraph(self._briefing[0]["content"])]
        lines = [Line(turn.speaker, "", turn.content or "(passes)") for turn in seen if turn.index > (self._shown or 0)]
        if lines:
            blocks.append(Transcript("", lines))
        self._shown = seen[-1].index if seen else 0
        return blocks

    async def ask(
        self,
        seen: Sequence[Turn],
        question: ChatMessage,
        sampling: Sampling,
        fields: Sequence[Question],
        reply: Callable[[Sequence[str]], str],
    ) -> Reply:
        """The answer to a question away from the table, asked on a copy of the player's view.

        A person answers it in ``fields``, and ``reply`` makes of them what a model would reply.
        """

        def make_form() -> Form:
            asked = make_prompt_form(f"{self.name}, a question on the side", [question], fields, reply)
            return replace(asked, blocks=[*self._show_news(seen), *asked.blocks])

        messages = [*self._participant.make_messages(seen), question]
        return await self._model.generate(Request(messages, self._participant.scope, sampling, form=make_form))


@dataclass(frozen=True)
class Table(Generic[P]):
    """The players in their order, and the NPC, who comes last."""

    players: Sequence[P]
    npc: P
    is_npc_tested: bool
    """Whether the model under test plays the NPC as well."""

    async def play(
        self, speakers: Iterable[str], pause: Callable[[Sequence[TableTurn]], Awaitable[None]] | None = None
    ) -> tuple[list[TableTurn], str]:
        """(the turns of a session, section 5.1, what the NPC failed at). A session that failed has no turns.

        ``speakers``: whose turn it is, turn by turn. Each acts, speaks, does both or passes; one participant's action is a
        turn; ``pause`` is waited for after each. A round in which everybody passes ends the session. An NPC that is not under
        test fails where its reply cannot stand.
        """
        seated = {player.name: player for player in (*self.players, self.npc)}
        seen: list[TableTurn] = []
        for index, name in enumerate(speakers, start=1):
            player = seated[name]
            move = await player.take_turn(seen)
            if move.defect and player is self.npc and not self.is_npc_tested:
                return [], f"{player.name}'s turn {index}: {move.defect}"
            seen.append(move.as_turn(index, player.name))
            if pause:
                await pause(seen)
            if len(seen) >= len(seated) and all(turn.passed for turn in seen[-len(seated) :]):
                break
        return seen, ""

    def sum_usage(self) -> dict[str, Usage]:
        """The models' usage in the session, by role."""
        used = {Role.SUBJECT: sum((player.usage for player in self.players), Usage()), Role.PARTNER: Usage()}
        used[Role.SUBJECT if self.is_npc_tested else Role.PARTNER] += self.npc.usage
        return {role.value: usage for role, usage in used.items() if usage.calls}


def seat_players(scenario: Scenario, seats: Seats, make_player: Callable[[str, Seat], P]) -> Table[P]:
    """The model under test plays everybody; where a partner is named, the partner plays the NPC."""
    players = [make_player(sheet.name, seats.subject) for sheet in scenario.players]
    return Table(players, make_player(scenario.npc.name, seats.partner or seats.subject), seats.partner is None)


def cast_table(scenario: Scenario, filled: Collection[Role]) -> dict[str, Role]:
    """The role that plays each participant, where the roles ``filled`` are."""
    npc = Role.PARTNER if Role.PARTNER in filled else Role.SUBJECT
    return {**{sheet.name: Role.SUBJECT for sheet in scenario.players}, scenario.npc.name: npc}
