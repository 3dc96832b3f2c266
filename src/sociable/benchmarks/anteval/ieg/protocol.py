"""Intention expression (section 3.2): one scenario to one session.

1. Seats: the model under test plays everybody; with a partner named, the partner plays the NPC.
2. The session: players and NPC in order, turn by turn; each player knows its own intention, and nobody else's.
"""

from __future__ import annotations

from pathlib import Path

from sociable.benchmarks.anteval.ieg.records import IegEpisode, IegOptions
from sociable.benchmarks.anteval.ieg.reference import make_reference_player
from sociable.benchmarks.anteval.ieg.scenario import IegScenario
from sociable.benchmarks.anteval.players import Player, PromptedPlayer, brief, seat_players
from sociable.core.prompts import Prompts, load_package_prompts, quote
from sociable.core.records import make_episode_id
from sociable.engine.seats import Seat, Seats

PLACEHOLDERS = {
    "player": frozenset({"name", "sheet", "scene", "others", "intention"}),
    "npc": frozenset({"name", "character", "scene", "others"}),
    "intention": frozenset({"skill"}),
    "no_intention": frozenset[str](),
}


def load_ieg_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.anteval.ieg", PLACEHOLDERS, override)


async def run_session(
    scenario: IegScenario, repeat: int, seats: Seats, prompts: Prompts, options: IegOptions, *, seed: int, half: int | None = None
) -> IegEpisode:
    """The episode. ``half``: which half of their lines reference agents keep to. Raises RunFailure and RunStopped."""
    identifier = make_episode_id(scenario.id, repeat)

    def make_player(name: str, seat: Seat) -> Player:
        if seat.model is None:
            return make_reference_player(seat.agent, scenario, name, options.turns, seed, repeat, half)
        skill = scenario.intentions.get(name)
        intention = prompts["intention"].render(skill=skill) if skill else prompts["no_intention"].render()
        return PromptedPlayer(name, seat, identifier, brief(scenario, name, prompts, {"intention": quote(intention)}, {}))

    # 1. Seats.
    table = seat_players(scenario, seats, make_player)

    # 2. The session.
    turns, failure = await table.play(options.turns)

    return IegEpisode(
        id=identifier,
        scenario=scenario.id,
        cluster=scenario.id,
        repeat=repeat,
        turns=tuple(turns),
        npc_failure=failure,
        usage=table.sum_usage(),
    )
