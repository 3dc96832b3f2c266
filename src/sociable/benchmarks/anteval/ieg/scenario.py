"""A scene, who sits at the table, and who means to do what.

Intentions are drawn from the real training windows' marginals, so that G does not measure how common skills are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import TypeVar

from pydantic import TypeAdapter

from sociable.benchmarks.anteval.characters import Npc, Scenario, Sheet, draw_players
from sociable.benchmarks.anteval.ieg.logs import Call, Check, Log, Spoken
from sociable.benchmarks.anteval.ieg.records import IegEpisode, IegOptions
from sociable.benchmarks.anteval.ieg.windows import Window, count_skills
from sociable.benchmarks.anteval.rules import DATA
from sociable.core.data_files import Text
from sociable.core.records import EpisodeStatus, Record
from sociable.core.seeding import make_generator

T = TypeVar("T", str, int)


class WantingNpc(Npc):
    wants: Text

    @property
    def motive(self) -> str:
        return f"Wants: {self.wants}"


class Scene(Record):
    """A place and a moment in which every skill has something to be used on."""

    id: Text
    title: Text
    scene: Text
    npc: WantingNpc
    things: tuple[Text, ...]


@dataclass(frozen=True)
class IegScenario(Scenario):
    scene: Scene
    intentions: Mapping[str, str]
    """The skill that each player means to use; some players have none."""
    speakers: Sequence[str]
    """Whose turn it is, turn by turn."""
    acts_at: Mapping[str, int]
    """The number of turns before the one in which each intention comes up and is acted on; empty where players have theirs from
    the beginning, to be acted on whenever they like."""


@dataclass(frozen=True)
class Marginals:
    """The frequencies of skills in calls, and of the numbers of players that a call is for."""

    skills: Mapping[str, int]
    sizes: Mapping[int, int]


@cache
def load_scenes() -> tuple[Scene, ...]:
    return TypeAdapter(tuple[Scene, ...]).validate_json((DATA / "scenes.json").read_bytes())


def count_marginals(windows: Sequence[Window]) -> Marginals:
    return Marginals(
        count_skills(windows),
        Counter(len({who for who, _ in window.checks}) for window in windows if window.checks),
    )


def draw_scenarios(
    sheets: Sequence[Sheet], count: int, marginals: Marginals, options: IegOptions, seed: int
) -> list[IegScenario]:
    """``count`` sessions: scenes in turn, each time with players and intentions of their own.

    There are ``options.quiet`` sessions in which nobody means to do anything for each other one. Where windows are aligned
    with real ones, speakers are in no fixed order, and a session ends with the turn in which its intention is acted on: a real
    call for a check follows the turn that brings it about. In the paper's sessions the players have their intentions all along.
    """
    found, quiet = [], options.quiet
    for number in range(count):
        generator = make_generator(seed, "session", number)
        scene = load_scenes()[number % len(load_scenes())]
        party = draw_players(sheets, [scene.npc.name], options.players, generator)
        intentions = draw_intentions({sheet.name: sheet.skills for sheet in party}, marginals, generator)
        if generator.random() < quiet / (1 + quiet):
            intentions = {}
        setting = f"{scene.scene}\n{scene.npc.name}: {scene.npc.who}\nThere are: {'; '.join(scene.things)}."
        drawn = IegScenario(f"{scene.id}-{number + 1}", party, scene.npc, setting, scene, intentions, (), {})
        if options.windows == "aligned":
            speakers = _draw_speakers(drawn, options.turns, generator)
            before = len(speakers) - len(intentions)
            acts_at = {player: before + place for place, player in enumerate(speakers[before:])}
            found.append(replace(drawn, speakers=speakers, acts_at=acts_at))
        else:
            found.append(replace(drawn, speakers=drawn.list_in_turn(options.turns)))
    return found


def _draw_speakers(scenario: IegScenario, turns: int, generator: Random) -> list[str]:
    """Whose turn it is, up to a turn drawn from the second half of a session; those with an intention come last.

    Nobody has two turns in a row.
    """
    names = [*(sheet.name for sheet in scenario.players), scenario.npc.name]
    speakers = generator.sample(list(scenario.intentions), len(scenario.intentions))
    length = generator.randint((turns + 1) // 2, turns)
    while len(speakers) < length:
        speakers.insert(0, generator.choice([name for name in names if name not in speakers[:1]]))
    return speakers


def draw_intentions(skilled: Mapping[str, Sequence[str]], marginals: Marginals, generator: Random) -> dict[str, str]:
    """The skills by player; players without an intention are left out. All have one where a call is for more than there are.

    ``skilled``: by player the skills on its sheet. A skill goes to somebody who has it, where anybody does.
    """
    free = list(skilled)
    intentions = {}
    for _ in range(min(_draw(marginals.sizes, generator), len(free))):
        skill = _draw(marginals.skills, generator)
        player = generator.choice([each for each in free if skill in skilled[each]] or free)
        free.remove(player)
        intentions[player] = skill
    return {player: intentions[player] for player in skilled if player in intentions}


def _draw(counts: Mapping[T, int], generator: Random) -> T:
    kinds = sorted(counts, key=str)
    return generator.choices(kinds, [counts[kind] for kind in kinds])[0]


def make_log(scenario: IegScenario, episode: IegEpisode) -> Log:
    """A session as a game master looks back on it: at its end the checks for what players meant to do."""
    turns = tuple(Spoken(speaker=turn.speaker, text=turn.content) for turn in episode.turns if not turn.passed)
    checks = tuple(Check(character=player, skill=skill) for player, skill in scenario.intentions.items())
    return Log(
        id=episode.id,
        players=tuple(sheet.name for sheet in scenario.players),
        master=scenario.npc.name,
        turns=turns,
        calls=(Call(before=len(turns), checks=checks),),
    )


def make_logs(scenarios: Mapping[str, IegScenario], episodes: Iterable[IegEpisode]) -> list[list[Log]]:
    """The sessions of each scenario from which something can be learned."""
    logs: dict[str, list[Log]] = defaultdict(list)
    for episode in episodes:
        if episode.status is EpisodeStatus.COMPLETED and not episode.npc_failure:
            logs[episode.scenario].append(make_log(scenarios[episode.scenario], episode))
    return list(logs.values())
