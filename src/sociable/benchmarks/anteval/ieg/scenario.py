"""A scene, who sits at the table, and who means to do what."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from sociable.benchmarks.anteval.characters import Sheet
from sociable.benchmarks.anteval.ieg.intentions import Marginals, drawn_intentions
from sociable.benchmarks.anteval.ieg.logs import Call, Check, Log, Spoken
from sociable.benchmarks.anteval.ieg.records import IegEpisode
from sociable.benchmarks.anteval.rules import DATA
from sociable.core.data_files import Text
from sociable.core.names import Name, normalise_name
from sociable.core.records import Record
from sociable.core.seeding import make_generator


class SceneNpc(Record):
    name: Name
    pronouns: Name
    who: Text
    manner: Text
    wants: Text


class Scene(Record):
    """A place and a moment in which every skill has something to be used on."""

    id: Text
    title: Text
    scene: Text
    npc: SceneNpc
    things: tuple[Text, ...]


@dataclass(frozen=True)
class IegScenario:
    id: str
    scene: Scene
    players: Sequence[Sheet]
    intentions: Mapping[str, str]
    """By player the skill it means to use; some have none."""


@cache
def scenes() -> tuple[Scene, ...]:
    raw = json.loads((DATA / "scenes.json").read_text(encoding="utf-8"))
    return tuple(TypeAdapter(list[Scene]).validate_python(raw))


def drawn_scenarios(
    sheets: Sequence[Sheet], count: int, players: int, marginals: Marginals, quiet: float, seed: int
) -> list[IegScenario]:
    """``count`` sessions: scenes in turn, each time with players and intentions of their own.

    In ``quiet`` sessions for each other one nobody means to do anything.
    """
    found = []
    for number in range(count):
        generator = make_generator(seed, "session", number)
        scene = scenes()[number % len(scenes())]
        others = [sheet for sheet in sheets if normalise_name(sheet.name) != normalise_name(scene.npc.name)]
        cast = generator.sample(others, players)
        intentions = drawn_intentions({sheet.name: sheet.skills for sheet in cast}, marginals, generator)
        if generator.random() < quiet / (1 + quiet):
            intentions = {}
        found.append(IegScenario(f"{scene.id}-{number + 1}", scene, cast, intentions))
    return found


def log_of(scenario: IegScenario, episode: IegEpisode) -> Log:
    """A session as a game master looks back on it: at its end the checks for what players meant to do."""
    return Log(
        id=episode.id,
        players=tuple(sheet.name for sheet in scenario.players),
        master=scenario.scene.npc.name,
        turns=tuple(Spoken(speaker=turn.speaker, text=turn.content) for turn in episode.turns if not turn.passed),
        calls=(
            Call(
                before=sum(not turn.passed for turn in episode.turns),
                checks=tuple(Check(character=player, skill=skill) for player, skill in scenario.intentions.items()),
            ),
        ),
    )
