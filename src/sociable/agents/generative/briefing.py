"""The prompts of a generative agent, and the words for what stands in them.

The first message says who the resident is and what the town is like. It never changes, so that a server's prefix cache
serves every call of a resident.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from statistics import median

from sociable.agents.architecture import Situation, TaskInWords
from sociable.agents.generative.planning import Part
from sociable.core.prompts import Prompts, load_package_prompts, put_on_one_line, quote
from sociable.models.protocol import ChatMessage
from sociable.town.clock import Clock, format_time_of_day
from sociable.town.events import Line
from sociable.town.map import Address, Tile, TownMap, find_neighbours
from sociable.town.memory import Memory
from sociable.town.minds import IDLE, Sighting
from sociable.town.persona import Persona, make_ordinary_day

PLACEHOLDERS = {
    name: frozenset(placeholders.split())
    for name, placeholders in {
        "resident": "name town persona acquaintances places walks",
        "plan_day": "now weekday habits task agenda memories form",
        "replan": "now place why plan task agenda memories form",
        "replan_heard": "",
        "replan_learnt": "news",
        "decompose": "now parts form",
        "react": "now place doing plan agenda people memories form",
        "speak": "now place partner beginning acquaintance doing agenda memories task conversation subject turns form",
        "conclude": "now partner place conversation plan agenda form",
        "rate": "memories form",
        "reflect": "now memories form",
        "plan_day_form": "start next",
        "replan_form": "start next",
        "decompose_form": "",
        "react_form": "",
        "speak_form": "",
        "conclude_form": "",
        "rate_form": "example",
        "reflect_form": "",
        "plan_day_form_plain": "start next",
        "replan_form_plain": "start next",
        "decompose_form_plain": "",
        "react_form_plain": "",
        "speak_form_plain": "",
        "conclude_form_plain": "",
        "rate_form_plain": "",
        "reflect_form_plain": "",
        "interview": "now doing plan agenda memories question name",
        "again": "problem reply",
        "tdp_general_plan": "task",
        "tdp_plan_reminder": "task general_plan day agenda memories",
        "tdp_conversation_reminder": "task general_plan",
        "tdp_for_planning": "task reminder",
        "tdp_for_talking": "task general_plan reminder",
    }.items()
}


def load_generative_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.agents.generative", PLACEHOLDERS, override)


_GAPS = re.compile(r"\n{3,}")


def build_messages(resident: ChatMessage, text: str) -> list[ChatMessage]:
    """A question to a resident. What was left out leaves one empty line; quote lines are never empty."""
    return [resident, {"role": "user", "content": _GAPS.sub("\n\n", text).strip()}]


def render_resident(situation: Situation, prompts: Prompts) -> ChatMessage:
    """The first message: who the resident is and what the town is like."""
    persona = situation.persona
    known = "\n".join(f"{put_on_one_line(name)}: {put_on_one_line(line)}" for name, line in situation.acquaintances.items())
    text = prompts["resident"].render(
        name=put_on_one_line(persona.name),
        town=put_on_one_line(situation.town.name),
        persona=quote(render_persona(persona)),
        acquaintances=quote(known or "(nobody in particular)"),
        places=quote(render_places(situation.town, Address.parse(persona.home), situation.tiles_per_minute)),
        walks=render_walks(situation.town, situation.tiles_per_minute),
    )
    return {"role": "system", "content": text}


def render_persona(persona: Persona) -> str:
    """The lines that tell a resident who it is."""
    called = f", called {persona.short}" if persona.short and persona.short != persona.name else ""
    pronouns = f" ({persona.pronouns})" if persona.pronouns else ""
    lines = [
        f"Name: {put_on_one_line(persona.name)}{put_on_one_line(called)}{pronouns}",
        f"Age: {persona.age}",
        f"Traits: {put_on_one_line(persona.innate)}",
        f"Home: {put_on_one_line(persona.home)}",
        f"About you: {put_on_one_line(persona.learned)}",
        *([f"At present: {put_on_one_line(persona.currently)}"] if persona.currently else []),
        *([f"Habits of life: {put_on_one_line(persona.lifestyle)}"] if persona.lifestyle else []),
    ]
    return "\n".join(lines)


def render_task(task: TaskInWords) -> str:
    return quote(f"Goal: {put_on_one_line(task.goal)}\nCriteria: {put_on_one_line(task.criteria)}")


# The town.


def render_places(town: TownMap, home: Address, tiles_per_minute: int) -> str:
    """One line a sector: its kind, how far it is from home, its arenas."""
    entrances = _find_entrances(town)
    start = entrances.get(home.sector)
    lines = []
    for sector, arenas in _list_arenas(town).items():
        about = [town.kinds[sector]] if town.kinds.get(sector) else []
        if sector == home.sector:
            about.append("you live here")
        elif start and (goal := entrances.get(sector)) and (distance := town.measure_distance(start, goal)) is not None:
            about.append(f"{_count_minutes(distance, tiles_per_minute)} min from home")
        lines.append(f"{sector} ({', '.join(about) or 'a place'}): {'; '.join(arenas) or '-'}")
    return "\n".join(lines)


@lru_cache(maxsize=16)
def render_walks(town: TownMap, tiles_per_minute: int) -> str:
    """The time that walks between two sectors take, as far as there is a way; empty in a town of one."""
    ways = (town.measure_distance(start, goal) for goal, start in combinations(_find_entrances(town).values(), 2))
    distances = [distance for distance in ways if distance is not None]
    if not distances:
        return ""
    usual, longest = (_count_minutes(tiles, tiles_per_minute) for tiles in (median(distances), max(distances)))
    return f"A walk between two places takes about {usual} minute{'s' * (usual > 1)}, the longest {longest}."


def _count_minutes(tiles: float, tiles_per_minute: int) -> int:
    return max(1, math.ceil(tiles / tiles_per_minute))


@lru_cache(maxsize=16)
def _list_arenas(town: TownMap) -> Mapping[str, Sequence[str]]:
    """The names of the arenas by sector, both in alphabetical order."""
    found: dict[str, list[str]] = {}
    for address in sorted(town.places):
        found.setdefault(address.sector, []).extend([address.arena] if address.is_arena else [])
    return found


@lru_cache(maxsize=16)
def _find_entrances(town: TownMap) -> Mapping[str, Tile]:
    """A tile of every sector that can be stepped on from outside; any other of it where there is none."""
    found = {}
    for sector in _list_arenas(town):
        tiles = sorted(town.find_free_tiles(Address(sector)))
        own = set(tiles)
        doors = (tile for tile in tiles if any(near not in own and town.is_free(near) for near in find_neighbours(tile)))
        if tiles:
            found[sector] = next(doors, tiles[0])
    return found


# What happens.


def render_place(address: Address | None) -> str:
    return f"at {address}" if address is not None else "in the street"


def render_memories(memories: Iterable[Memory], clock: Clock) -> str:
    """One line each, in order of time; of those that say the same the last."""
    lines = []
    for memory in sorted({memory.text: memory for memory in sorted(memories, key=_number)}.values(), key=_number):
        minute, kind = memory.minute, _KINDS.get(memory.kind)
        source = f"{clock.to_datetime(minute):%a} {format_time_of_day(minute)}, {kind}: " if kind else ""
        lines.append(f"- {source}{put_on_one_line(memory.text)}")
    return quote("\n".join(lines) or "(nothing)")


def _number(memory: Memory) -> int:
    return memory.number


_KINDS = {"seen": "seen", "conversation": "a conversation", "plan": "your plan", "thought": "your thought", "told": "heard"}
"""The name of each kind of memory; a fact known from the beginning has none."""


def render_parts(parts: Sequence[Part], *, numbered: bool = False) -> str:
    lines = []
    for number, part in enumerate(parts, start=1):
        place = f", at {part.place}" if part.place else ""
        hours = f"{format_time_of_day(part.start)} to {format_time_of_day(part.end)}"
        if numbered:
            hours = f"Part {number}, {hours} ({part.end - part.start} minutes)"
        lines.append(f"{hours}: {put_on_one_line(part.doing)}{put_on_one_line(place)}")
    return quote("\n".join(lines) or "(nothing)")


def render_habits(persona: Persona, clock: Clock, day: int) -> str:
    blocks = make_ordinary_day(persona, clock, day)
    lines = [
        f"{format_time_of_day(block.start)} to {format_time_of_day(block.end)}: {block.doing}, at {block.place}"
        for block in blocks
    ]
    return quote("\n".join(put_on_one_line(line) for line in lines) or "(nothing in particular)")


def render_sighting(sighting: Sighting) -> str:
    talking = f" (talking to {sighting.talking_to})" if sighting.talking_to else ""
    return put_on_one_line(f"{sighting.name}: {render_doing(sighting.doing, sighting.walking)}{talking}")


def render_doing(doing: str, walking: bool) -> str:
    """What somebody does; whoever is still walking there does not do it yet."""
    return put_on_one_line(f"{'on the way to: ' * (walking and bool(doing))}{doing or IDLE}")


def render_transcript(lines: Sequence[Line]) -> str:
    """One line a turn; who said nothing is not in it."""
    said = "\n".join(f"{put_on_one_line(line.speaker)}: {put_on_one_line(line.says)}" for line in lines if line.says.strip())
    return quote(said or "(nothing yet)")


def render_turns(turns: int) -> str:
    return "this once, and then the conversation ends" if turns <= 1 else f"{turns} more times, this time included"
