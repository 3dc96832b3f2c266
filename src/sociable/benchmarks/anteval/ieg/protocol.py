"""Intention expression (section 3.2): one scenario to one session.

1. Seats: the model under test plays everybody; with a partner named, the partner plays the NPC.
2. The session: players and NPC, turn by turn; each player knows its own intention, and nobody else's. It is told of it
   at the turn in which it comes up, or, in the paper's sessions, from the beginning.
"""

from __future__ import annotations

from pathlib import Path

from sociable.benchmarks.anteval.ieg.records import IegEpisode
from sociable.benchmarks.anteval.ieg.reference import make_reference_player
from sociable.benchmarks.anteval.ieg.scenario import IegScenario
from sociable.benchmarks.anteval.players import Player, PromptedPlayer, brief, seat_players
from sociable.core.prompts import Prompts, load_package_prompts, quote
from sociable.core.records import make_episode_id
from sociable.engine.seats import Seat, Seats

PLACEHOLDERS = {
    "player": frozenset({"name", "talk", "sheet", "scene", "others", "intention"}),
    "npc": frozenset({"name", "talk", "character", "scene", "others"}),
    "in_character": frozenset({"name"}),
    "table_talk": frozenset({"name"}),
    "intention": frozenset({"skill"}),
    "intention_now": frozenset({"skill"}),
    "no_intention": frozenset[str](),
}


def load_ieg_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.anteval.ieg", PLACEHOLDERS, override)


async def run_session(
    scenario: IegScenario,
    repeat: int,
    seats: Seats,
    prompts: Prompts,
    *,
    seed: int,
    half: int | None = None,
    table_talk: bool = False,
) -> IegEpisode:
    """The episode. ``half``: which half of their lines reference agents keep to. ``table_talk``: whether models may talk as
    players do as well. Raises RunFailure and RunStopped.
    """
    identifier = make_episode_id(scenario.id, repeat)

    def make_player(name: str, seat: Seat) -> Player:
        if seat.model is None:
            return make_reference_player(seat.agent, scenario, name, seed, repeat, half)
        skill, at = scenario.intentions.get(name, ""), scenario.acts_at.get(name)
        always = prompts["intention"].render(skill=skill) if skill and at is None else prompts["no_intention"].render()
        now = prompts["intention_now"].render(skill=skill)
        talk = {"talk": prompts["table_talk" if table_talk else "in_character"].render(name=name)}
        briefing = brief(scenario, name, prompts, {"intention": quote(always), **talk}, talk)
        return PromptedPlayer(name, seat, identifier, briefing, told=lambda seen: now if len(seen) == at else "")

    # 1. Seats.
    table = seat_players(scenario, seats, make_player)

    # 2. The session.
    turns, failure = await table.play(scenario.speakers)

    return IegEpisode(
        id=identifier,
        scenario=scenario.id,
        cluster=scenario.id,
        repeat=repeat,
        turns=tuple(turns),
        npc_failure=failure,
        usage=table.sum_usage(),
    )
