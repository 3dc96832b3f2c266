"""One bargain to one episode; or one contest, by AgentSense's own protocol.

1. Opening: the scene's own first words.
2. The talk: the sides speak in turns, until a paper is signed, one walks away, or the turns are used up. Where there are third
   persons one of them speaks after every second exchange, in rotation, as often as lines are written for it.
3. Afterwards: where something is agreed, who has a choice makes it alone.
4. A last question: each says which issue matters most to the other.
"""

from __future__ import annotations

import asyncio

from sociable.benchmarks.agentsense.duels.records import DuelEpisode, DuelTurn, Move, find_offer
from sociable.benchmarks.agentsense.duels.reference import ReferenceSide
from sociable.benchmarks.agentsense.duels.scenario import Contest, Scenario
from sociable.benchmarks.agentsense.duels.sides import ModelOther, ModelSide, Side
from sociable.benchmarks.agentsense.protocol import run_scene
from sociable.benchmarks.agentsense.records import AgentSenseOptions
from sociable.core.prompts import Prompts
from sociable.core.records import Usage, make_episode_id
from sociable.engine.seats import Role, Seat, Seats

EXCHANGES = 2
"""A third person speaks after so many exchanges, a turn of each side being one."""


async def run_bargain(scenario: Scenario, repeat: int, seats: Seats, prompts: Prompts, *, seed: int) -> DuelEpisode:
    """Plays one bargain. Raises RunFailure and RunStopped."""
    assert seats.opponent is not None
    item, bargain = make_episode_id(scenario.id, repeat), scenario.bargain

    def seat_side(side: int) -> Side:
        seat = seats.subject if side == scenario.seat else seats.opponent
        assert seat is not None
        if seat.model is None:
            return ReferenceSide(seat.agent, scenario, side, seed, repeat)
        return ModelSide(scenario, side, seat, item, prompts, seed)

    sides = [seat_side(0), seat_side(1)]
    others = _Others(scenario, seats.partner, item, prompts)
    opening = bargain.opening
    side = bargain.names.index(opening.by) if opening.by in bargain.names else None
    turns = [DuelTurn(index=0, speaker=opening.by, side=side, content=opening.says)]
    for number in range(1, scenario.turns + 1):
        turn = await sides[scenario.find_speaker(number)].speak(number, turns)
        turns.append(turn.model_copy(update={"index": len(turns)}))
        if turn.move in (Move.ACCEPT, Move.LEAVE):
            break
        if number % (2 * EXCHANGES) == 0 and number < scenario.turns and (said := await others.speak(turns)):
            turns.append(said.model_copy(update={"index": len(turns)}))
            if said.note:
                break
    last = turns[-1]
    agreement = find_offer(turns, 1 - last.side) if last.move is Move.ACCEPT and last.side is not None else ()
    failure = f"{last.speaker}: {last.note}" if last.side is None and last.note else ""
    deeds: dict[str, str] = {}
    read: dict[str, int | None] = {}
    if not failure:
        choosing = [each for each, own in zip(sides, bargain.sides, strict=True) if agreement and own.afterwards]
        chosen = await asyncio.gather(*(each.choose_deed(turns, agreement) for each in choosing))
        deeds = {each.name: deed for each, deed in zip(choosing, chosen, strict=True)}
        read = dict(zip(bargain.names, await asyncio.gather(*(each.read_other(turns) for each in sides)), strict=True))
    roles = [Role.SUBJECT, Role.OPPONENT] if scenario.seat == 0 else [Role.OPPONENT, Role.SUBJECT]
    used = {**{role.value: each.usage for role, each in zip(roles, sides, strict=True)}, Role.PARTNER.value: others.usage}
    return DuelEpisode(
        id=item,
        scenario=scenario.id,
        cluster=scenario.cluster,
        repeat=repeat,
        turns=tuple(turns),
        agreement=agreement,
        left=last.speaker if last.move is Move.LEAVE else "",
        deeds=deeds,
        read=read,
        partner_failure=failure,
        usage={role: usage for role, usage in used.items() if usage.calls},
    )


async def run_contest(contest: Contest, repeat: int, seats: Seats, prompts: Prompts, *, seed: int) -> DuelEpisode:
    """Plays one scene of AgentSense: the two models play those whose goals exclude each other, the partner everybody else.

    Raises RunFailure and RunStopped.
    """
    roles = (Role.SUBJECT, Role.OPPONENT) if contest.seat == 0 else (Role.OPPONENT, Role.SUBJECT)
    cast = dict.fromkeys(contest.scene.names, Role.PARTNER) | dict(zip(contest.names, roles, strict=True))
    options = AgentSenseOptions(turns=contest.turns, policy="addressed-next", blind=False)
    played = await run_scene(contest.scene, repeat, seats, prompts, options, seed=seed, cast=cast, interviews=False)
    places = {name: side for side, name in enumerate(contest.names)}
    return DuelEpisode(
        id=played.id,
        scenario=contest.id,
        cluster=contest.cluster,
        repeat=repeat,
        turns=tuple(DuelTurn(**turn.model_dump(), side=places.get(turn.speaker)) for turn in played.turns),
        partner_failure=played.partner_failure,
        usage=played.usage,
    )


class _Others:
    """The third persons: played by the partner's model, or saying the lines written for them."""

    def __init__(self, scenario: Scenario, seat: Seat | None, item: str, prompts: Prompts) -> None:
        people = scenario.bargain.others
        most = max((len(each.lines) for each in people), default=0)
        self._due = [(each, place) for place in range(most) for each in people if place < len(each.lines)]
        """Who speaks next, and for the how manieth time, from 0."""
        is_model = seat is not None and seat.model is not None
        self._models = {each.name: ModelOther(scenario, each, seat, item, prompts) for each in people if seat and is_model}

    @property
    def usage(self) -> Usage:
        return sum((each.usage for each in self._models.values()), Usage())

    async def speak(self, turns: list[DuelTurn]) -> DuelTurn | None:
        """The next one's turn; None when all have said what they have to say."""
        if not self._due:
            return None
        other, place = self._due.pop(0)
        if model := self._models.get(other.name):
            return await model.speak(turns)
        return DuelTurn(index=0, speaker=other.name, content=other.lines[place])
