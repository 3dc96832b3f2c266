"""Intention expression (section 3.2): one scenario to one session.

1. Seats: the model under test plays everybody; with a partner named, the partner plays the NPC.
2. The session: players and NPC in order, turn by turn; each player knows its own intention, and nobody else's.
"""

from __future__ import annotations

from sociable.benchmarks.anteval.ieg.briefing import brief_npc, brief_player
from sociable.benchmarks.anteval.ieg.records import IegEpisode, IegOptions
from sociable.benchmarks.anteval.ieg.reference import reference_player
from sociable.benchmarks.anteval.ieg.scenario import IegScenario
from sociable.benchmarks.anteval.players import Player, PromptedPlayer, play, usage_by_role
from sociable.core.errors import InstrumentFailure
from sociable.core.prompts import Prompts
from sociable.core.records import episode_id
from sociable.engine.seats import Seat, Seats


async def run_session(
    scenario: IegScenario, repeat: int, seats: Seats, prompts: Prompts, options: IegOptions, *, seed: int, half: int | None = None
) -> IegEpisode:
    """``half``: which half of their lines reference agents keep to. Raises RunFailure and RunStopped."""
    identifier = episode_id(scenario.id, repeat)

    def seated(name: str, seat: Seat) -> Player:
        if seat.model is None:
            return reference_player(seat.agent, scenario, name, options.turns, seed, repeat, half=half)
        sheet = next((each for each in scenario.players if each.name == name), None)
        briefing = brief_player(scenario, sheet, prompts) if sheet else brief_npc(scenario, prompts)
        return PromptedPlayer(name, seat, identifier, briefing)

    # 1. Seats.
    players = [seated(sheet.name, seats.subject) for sheet in scenario.players]
    npc = seated(scenario.scene.npc.name, seats.partner or seats.subject)

    # 2. The session.
    turns, failure = [], ""
    try:
        turns = await play([*players, npc], options.turns, instruments=frozenset({npc.name}) if seats.partner else frozenset())
    except InstrumentFailure as error:
        failure = str(error)

    return IegEpisode(
        id=identifier,
        scenario=scenario.id,
        cluster=scenario.id,
        repeat=repeat,
        turns=tuple(turns),
        npc_failure=failure,
        usage=usage_by_role(players, npc, alone=seats.partner is None),
    )
