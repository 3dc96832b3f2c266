"""The replay of an episode: one HTML file that needs nothing else, in which the two days can be watched.

What happened is handed to the page as data, in a script element that no browser runs, and reaches the screen as text and
as nothing else: every string of it comes from models and data files and is foreign. The page's content security policy
lets run the script of ``replay.html`` and no other, and lets nothing be loaded or sent.

At a whole minute everybody stands where the minute has brought it, which is what counts as its place (town/events.py);
between one and the next it walks on, so that walks can be seen.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, binary_erosion, label  # type: ignore[import-untyped]

from sociable.benchmarks.stss.records import Measured, Stage, StssEpisode
from sociable.benchmarks.stss.task import Task
from sociable.town.clock import MINUTES_PER_DAY, Clock, parse_minute
from sociable.town.events import Agreed, AnyEvent, Planned, Talked, Walked
from sociable.town.map import Address, Tile, TownMap
from sociable.town.persona import Persona

STREET, WATER, WALL, FLOOR, DOOR, WILD = range(6)
"""The looks of a tile. Things that stand on it are told separately."""

_BLOCK = re.compile(r"\s*(\d{1,2}:\d\d)\s*[-–]\s*(\d{1,2}:\d\d)\s+(.*?)(?:\s+@\s*(.*))?\s*")
"""A line of a plan: ``08:30-12:00 serving customers @ The Lantern: public bar``."""

_LEAST_WILD = 12
"""Tiles of the smallest stretch of impassable ground that is drawn as such; a smaller one is a tree or a rock."""

_BESIDE = np.ones((3, 3), bool)
"""A tile and the eight around it."""

_Tiles = NDArray[np.bool_]
"""[height, width]: some of a map's tiles."""


@dataclass(frozen=True)
class Replay:
    """A finished episode with everything that its page shows."""

    title: str
    episode: StssEpisode
    measured: Measured
    town: TownMap
    people: Mapping[str, Persona]
    clock: Clock
    remarks: Sequence[str] = ()
    """Everything else that a reader should know about the episode, under its title."""


def render_replay(replay: Replay) -> str:
    """The replay as the text of one self-contained HTML file; the same replay gives the same text."""
    data = json.dumps(_collect_data(replay), separators=(",", ":"), allow_nan=False)
    # Only ASCII is left in it, and nothing with which a script element could end or a comment begin.
    harmless = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return _load_template().render(title=replay.title, data=Markup(harmless), policy=_write_policy)  # noqa: S704 - see above


@cache
def _load_template() -> Template:
    source = resources.files("sociable.benchmarks.stss").joinpath("replay.html").read_text(encoding="utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True).from_string(source)


def _write_policy(style: str, script: str) -> str:
    """The policy by which nothing may be loaded or sent, and no style sheet or script counts but ours."""
    ours = ["sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return f"default-src 'none'; style-src '{ours[0]}'; script-src '{ours[1]}'; base-uri 'none'; form-action 'none'"


# The data of the page.


def _collect_data(replay: Replay) -> dict[str, Any]:
    episode, measured, task = replay.episode, replay.measured, replay.episode.task
    assert task is not None, "only episodes that were finished are shown"
    names = sorted(task.residents)
    index = {name: number for number, name in enumerate(names)}
    places = [step.place for step in task.subtasks] or ([task.place] if task.place else [])
    return {
        "title": replay.title,
        "remarks": list(replay.remarks),
        "minutes": episode.minutes,
        "tilesPerMinute": episode.tiles_per_minute,
        "days": [replay.clock.render_day(minute) for minute in range(0, episode.minutes, MINUTES_PER_DAY)],
        "town": _draw_town(replay.town, places),
        "residents": [_describe_resident(replay, task, name) for name in names],
        "log": [_make_row(event, index) for event in episode.events],
        "task": {"goal": task.goal, "kind": str(task.type), "places": places, "start": task.start, "end": task.end},
        "stages": list(Stage),
        "told": [[each.minute, index[each.teller], index[each.listener], ", ".join(each.parts)] for each in measured.told],
        "attendance": [[index[each.resident], each.start, each.end, each.counts, each.why] for each in measured.attendance],
        "score": None if measured.failure else measured.score,
        "reason": f"not scored: {measured.failure}" if measured.failure else measured.reason,
    }


def _describe_resident(replay: Replay, task: Task, name: str) -> dict[str, Any]:
    persona = replay.people[name]
    age = f"{persona.age}, {persona.pronouns}" if persona.pronouns else str(persona.age)
    played_by = f"played by {replay.episode.played_by[name]}"
    return {
        "name": name,
        "label": persona.short,
        "start": replay.episode.starts[name],
        "role": "performer" if name == task.performer else "target" if name == task.target else "cast",
        "persona": [age, persona.innate, persona.learned, persona.currently, persona.lifestyle, played_by],
        "stage": replay.measured.stages.get(name),
    }


def _make_row(event: AnyEvent, index: Mapping[str, int]) -> list[Any]:
    """An event as a row: kind, minute, resident, and the other fields in their order. People are numbers."""
    fields = event.model_dump(exclude={"kind", "minute", "resident"})
    if isinstance(event, Agreed | Talked):
        fields["partner"] = index[event.partner]
    if isinstance(event, Talked):
        fields["lines"] = [[index.get(line.speaker), line.says, line.note, line.speaker] for line in event.lines]
    elif isinstance(event, Planned):
        fields["plan"] = _read_plan(event)
    elif isinstance(event, Walked):
        x, y = fields.pop("start")
        fields = {"x": x, "y": y, **fields}
    return [event.kind, event.minute, index[event.resident], *fields.values()]


def _read_plan(event: Planned) -> list[list[Any]]:
    """The lines of a plan as [first minute, first minute after it, doing, place]; those of another form as [line]."""
    day = event.minute // MINUTES_PER_DAY + 1
    blocks: list[list[Any]] = []
    for line in filter(str.strip, event.plan.splitlines()):
        begin, until, doing, place = found.groups() if (found := _BLOCK.fullmatch(line)) else ("", "", line, "")
        try:
            start, end = parse_minute(begin, day), parse_minute(until, day)
        except ValueError:
            blocks.append([line])
        else:
            blocks.append([start, end if end > start else end + MINUTES_PER_DAY, doing, place or ""])
    return blocks


# How the town looks: a TownMap says what can be stood on and what is called how; what its file did not say is inferred.


def _draw_town(town: TownMap, places: Sequence[str]) -> dict[str, Any]:
    arenas = sorted(address for address in town.places if address.is_arena)
    footprints = {sector: _find_footprint(town, sector) for sector in sorted({address.sector for address in town.places})}
    edges = {sector: tiles & ~binary_erosion(tiles, _BESIDE) for sector, tiles in footprints.items()}
    walled = {sector for sector, edge in edges.items() if 2 * np.count_nonzero(edge & town.blocked) > np.count_nonzero(edge)}
    addresses = ["", *map(str, sorted(town.places))]
    number = {address: position for position, address in enumerate(addresses)}
    tiles = [Tile(x, y) for y in range(town.height) for x in range(town.width)]
    return {
        "name": town.name,
        "width": town.width,
        "height": town.height,
        "terrain": "".join(map(str, _infer_terrain(town, footprints, {sector: edges[sector] for sector in walled}).ravel())),
        "addresses": addresses,
        "addressOf": [number[str(town.find_address(tile) or "") if town.is_free(tile) else ""] for tile in tiles],
        "sectors": [
            {
                "name": sector,
                "kind": town.kinds.get(sector, ""),
                "walled": sector in walled,
                "box": _find_box(tiles),
                "tiles": np.flatnonzero(tiles).tolist(),
            }
            for sector, tiles in footprints.items()
        ],
        "arenas": [[address.sector, address.arena, *_find_box(_mark(town, town.places[address]))] for address in arenas],
        "things": [
            [address.thing, [[*tile, int(town.is_free(tile))] for tile in sorted(tiles)]]
            for address, tiles in sorted(town.places.items())
            if address.thing
        ],
        "eventPlaces": [sorted(_find_tiles(town, Address.parse(place))) for place in places],
    }


def _find_tiles(town: TownMap, address: Address) -> Sequence[Tile]:
    """The tiles of a place; of its arena where a thing is meant that nobody can stand on."""
    if any(town.is_free(tile) for tile in town.places.get(address, ())):
        return town.places[address]
    return town.places.get(Address(address.sector, address.arena), town.places.get(Address(address.sector), ()))


def _mark(town: TownMap, tiles: Sequence[Tile] | frozenset[Tile]) -> _Tiles:
    found = np.zeros_like(town.blocked)
    for x, y in tiles:
        found[y, x] = True
    return found


def _find_box(tiles: _Tiles) -> list[int]:
    """The smallest box around some tiles: x, y, width, height."""
    (top, bottom), (left, right) = ((int(each.min()), int(each.max())) for each in np.nonzero(tiles))
    return [left, top, right - left + 1, bottom - top + 1]


def _find_things(town: TownMap, sector: str | None = None) -> _Tiles:
    """The tiles of all things, or of one sector's."""
    places = (tiles for address, tiles in town.places.items() if address.thing and sector in (None, address.sector))
    return _mark(town, [tile for tiles in places for tile in tiles])


def _find_footprint(town: TownMap, sector: str) -> _Tiles:
    """The tiles of a sector and of the walls around it, which not every map counts among them."""
    own = _mark(town, town.places[Address(sector)])
    if (own & town.blocked & ~_find_things(town, sector)).any():
        return own
    # With a margin: at the edge of the map there is no wall.
    wide = np.pad(own, 1)
    rim = binary_dilation(wide, _BESIDE) & ~wide
    walls = rim & np.pad(town.blocked, 1)
    return own | walls[1:-1, 1:-1] if 2 * np.count_nonzero(walls) > np.count_nonzero(rim) else own


def _infer_terrain(town: TownMap, footprints: Mapping[str, _Tiles], walled: Mapping[str, _Tiles]) -> NDArray[np.int8]:
    """The looks of every tile. ``walled``: the outermost tiles of the sectors that have walls; gaps in these are doors."""
    things, doors, water = _find_things(town), _mark(town, town.doors), _mark(town, town.water)
    kinds = np.full(town.blocked.shape, STREET, np.int8)
    for sector, footprint in footprints.items():
        kinds[footprint] = FLOOR
        kinds[footprint & (doors | walled.get(sector, False))] = DOOR
        kinds[footprint & town.blocked & ~things] = WALL
    # Gaps one tile wide in an inner wall are doors, too.
    wall = np.pad(kinds == WALL, 1)
    between = (wall[1:-1, :-2] & wall[1:-1, 2:]) != (wall[:-2, 1:-1] & wall[2:, 1:-1])
    kinds[(kinds == FLOOR) & ~town.blocked & between] = DOOR
    wild = town.blocked & ~things & ~water & (kinds == STREET)
    stretches, _ = label(wild, _BESIDE)
    kinds[wild] = np.where(np.bincount(stretches.ravel())[stretches] >= _LEAST_WILD, WILD, WALL)[wild]
    kinds[water] = WATER
    return kinds
