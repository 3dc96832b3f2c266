"""Information exchange (sections 3.2 and 4.1): one scenario to one session and what its players then know.

1. Seats: the model under test plays everybody; with a partner named, the partner plays the NPC.
2. Before: every player is asked what it knows of the subject, the baseline.
3. The session: players and NPC in order, turn by turn, until the turns are used up.
4. After: every player is asked the same again, each on a copy of its own view.
"""

from __future__ import annotations

import asyncio

from sociable.benchmarks.anteval.iep.briefing import brief_npc, brief_player
from sociable.benchmarks.anteval.iep.players import IepPlayer, PromptedIepPlayer
from sociable.benchmarks.anteval.iep.records import IepEpisode, IepOptions, When
from sociable.benchmarks.anteval.iep.reference import reference_player
from sociable.benchmarks.anteval.iep.scenario import IepScenario
from sociable.benchmarks.anteval.players import play, usage_by_role
from sociable.core.errors import InstrumentFailure
from sociable.core.prompts import Prompts
from sociable.core.records import episode_id
from sociable.engine.seats import Seat, Seats


async def run_session(
    scenario: IepScenario, repeat: int, seats: Seats, prompts: Prompts, options: IepOptions, *, seed: int
) -> IepEpisode:
    """Raises RunFailure and RunStopped."""
    identifier = episode_id(scenario.id, repeat)

    def seated(name: str, seat: Seat) -> IepPlayer:
        if seat.model is None:
            return reference_player(seat.agent, scenario, name, options.turns, seed, repeat)
        sheet = next((each for each in scenario.players if each.name == name), None)
        briefing = brief_player(scenario, sheet, prompts) if sheet else brief_npc(scenario, prompts)
        return PromptedIepPlayer(name, seat, identifier, briefing, scenario, prompts)

    # 1. Seats.
    players = [seated(sheet.name, seats.subject) for sheet in scenario.players]
    npc = seated(scenario.card.npc.name, seats.partner or seats.subject)

    # 2. Before.
    recalls = await asyncio.gather(*(player.recall((), When.BEFORE) for player in players))

    # 3. The session.
    turns, failure = [], ""
    try:
        turns = await play([*players, npc], options.turns, instruments=frozenset({npc.name}) if seats.partner else frozenset())
        # 4. After.
        recalls += await asyncio.gather(*(player.recall(turns, When.AFTER) for player in players))
    except InstrumentFailure as error:
        failure = str(error)

    return IepEpisode(
        id=identifier,
        scenario=scenario.id,
        cluster=scenario.id,
        repeat=repeat,
        turns=tuple(turns),
        recalls=tuple(recalls),
        npc_failure=failure,
        usage=usage_by_role(players, npc, alone=seats.partner is None),
    )
