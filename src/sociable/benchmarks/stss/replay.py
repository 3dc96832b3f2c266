"""The replay of an episode: one HTML file that needs nothing else, in which the two days can be watched.

What happened is handed to the page as data, in a script element that no browser runs, and reaches the screen as text and
as nothing else: every string of it comes from models and data files and is foreign. The page's content security policy
lets run the script of ``replay.html`` and no other, and lets nothing be loaded or sent.

At a whole minute everybody stands where the minute has brought it, which is what counts as its place (town/timeline.py);
between one and the next it walks on, so that walks can be seen.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from sociable.benchmarks.stss.records import Stage
from sociable.core.errors import InputError
from sociable.core.run_folder import write_atomically
from sociable.town.clock import MINUTES_PER_DAY, Clock, minute_of
from sociable.town.events import Agreed, AnyEvent, Began, Noted, Planned, Remembered, Slept, Talked, Walked
from sociable.town.map import Address, Tile, TownMap

STREET, WATER, WALL, FLOOR, DOOR, WILD = range(6)
"""What a tile looks like. Things that stand on it are told separately."""

_BLOCK = re.compile(r"\s*(\d{1,2}:\d\d)\s*[-–]\s*(\d{1,2}:\d\d)\s+(.*?)(?:\s+@\s*(.*))?\s*")
"""A line of a plan: ``08:30-12:00 serving customers @ The Lantern: public bar``."""

_LEAST_WILD = 12
"""Tiles of the smallest stretch of impassable ground that is drawn as such; a smaller one is a tree or a rock."""


@dataclass(frozen=True, slots=True)
class ReplayResident:
    name: str
    """As in the event log."""
    label: str
    """Beside its dot: short."""
    colour: int
    """Counted from 0; after the last colour of the page it begins anew."""
    start: Tile
    """Where it stands at the first minute."""
    role: Literal["performer", "target", "cast"] = "cast"
    persona: Sequence[str] = ()
    stage: Stage | None = None
    """None: nothing was expected of it."""


@dataclass(frozen=True, slots=True)
class ReplayTask:
    goal: str
    kind: str
    """The task's type in words: public activity, appointment, …"""
    places: Sequence[str]
    """Addresses in words; empty where it needs no place. Several where its parts are done in several."""
    start: int
    """First minute of the window."""
    end: int
    """First minute after it."""


@dataclass(frozen=True, slots=True)
class Told:
    """Somebody has learned of the event."""

    minute: int
    teller: str
    listener: str
    what: str


@dataclass(frozen=True, slots=True)
class Attended:
    """A stretch of minutes that a resident spent at the event, or might seem to have spent there."""

    resident: str
    start: int
    end: int
    """First minute after it."""
    counted: bool
    why: str
    """Why it counts, or why it does not."""


@dataclass(frozen=True)
class Replay:
    title: str
    town: TownMap
    clock: Clock
    residents: Sequence[ReplayResident]
    log: Sequence[AnyEvent]
    """In order of minutes."""
    task: ReplayTask | None = None
    told: Sequence[Told] = ()
    attendance: Sequence[Attended] = ()
    score: float | None = None
    """None: not scored."""
    reasons: Sequence[str] = ()
    """Why the score is what it is, one line each."""
    minutes: int = 2 * MINUTES_PER_DAY
    tiles_per_minute: int = 6
    """Shown; how fast each walk went is told by its event."""
    remarks: Sequence[str] = field(default=())
    """What else a reader should know about the episode, under its title."""


def replay_page(replay: Replay) -> str:
    """The replay as the text of one self-contained HTML file; the same replay gives the same text.

    Raises InputError where the log, or what is told of the event, names somebody who is not among the residents.
    """
    _check_names(replay)
    data = json.dumps(_data(replay), separators=(",", ":"), allow_nan=False)
    # Only ASCII is left in it, and nothing with which a script element could end or a comment begin.
    harmless = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return _template().render(title=replay.title, data=Markup(harmless), policy=_policy)  # noqa: S704 - see above


def write_replay(replay: Replay, path: Path) -> None:
    """Writes the page so that at no moment there is half a file under its name. Raises InputError and StorageFailure."""
    write_atomically(path, replay_page(replay))


# ------------------------------------------------------------------------------------------------------------
# The template


@cache
def _template() -> Template:
    source = resources.files("sociable.benchmarks.stss").joinpath("replay.html").read_text(encoding="utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True).from_string(source)


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded or sent; of style sheets and scripts, ours alone count."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


# ------------------------------------------------------------------------------------------------------------
# What the page is given


def _check_names(replay: Replay) -> None:
    names = [resident.name for resident in replay.residents]
    if len(set(names)) < len(names):
        raise InputError(f"{replay.title}: two residents of one name; the replay tells them apart by their names.")
    for where, name in _names_in(replay):
        if name not in names:
            raise InputError(f"{replay.title}: {where} names '{name}', who is not among the residents given to the replay.")


def _names_in(replay: Replay) -> Iterator[tuple[str, str]]:
    for number, event in enumerate(replay.log, start=1):
        yield f"event {number} of the log ({event.kind})", event.resident
        if isinstance(event, (Talked, Agreed)):
            yield f"event {number} of the log ({event.kind})", event.partner
    for told in replay.told:
        yield "who was told", told.teller
        yield "who was told", told.listener
    for attended in replay.attendance:
        yield "the attendance", attended.resident


def _data(replay: Replay) -> dict[str, Any]:
    index = {resident.name: number for number, resident in enumerate(replay.residents)}
    days = -(-replay.minutes // MINUTES_PER_DAY)
    task = replay.task
    return {
        "title": replay.title,
        "remarks": list(replay.remarks),
        "minutes": replay.minutes,
        "tilesPerMinute": replay.tiles_per_minute,
        "days": [replay.clock.day_in_words(day * MINUTES_PER_DAY) for day in range(days)],
        "town": _town(replay.town, task.places if task else ()),
        "residents": [
            {
                "name": resident.name,
                "label": resident.label,
                "colour": resident.colour,
                "start": [resident.start.x, resident.start.y],
                "role": resident.role,
                "persona": list(resident.persona),
                "stage": resident.stage,
            }
            for resident in replay.residents
        ],
        "log": [_event(event, index) for event in sorted(replay.log, key=lambda event: event.minute)],
        "task": task
        and {"goal": task.goal, "kind": task.kind, "places": list(task.places), "start": task.start, "end": task.end},
        "stages": list(Stage),
        "told": [[each.minute, index[each.teller], index[each.listener], each.what] for each in replay.told],
        "attendance": [[index[each.resident], each.start, each.end, each.counted, each.why] for each in replay.attendance],
        "score": replay.score,
        "reasons": list(replay.reasons),
    }


def _event(event: AnyEvent, index: Mapping[str, int]) -> list[Any]:
    """An event as a row that begins with its kind, minute and resident."""
    row: list[Any] = [event.kind, event.minute, index[event.resident]]
    match event:
        case Planned():
            return [*row, _blocks(event)]
        case Began():
            return [*row, event.doing, event.planned_place, event.address, event.until, event.asleep]
        case Walked():
            return [*row, *event.start, event.way, event.tiles_per_minute]
        case Slept():
            return [*row, event.until]
        case Talked():
            lines = [[index.get(line.speaker), line.says, line.note, line.speaker] for line in event.lines]
            return [*row, index[event.partner], event.until, lines]
        case Agreed():
            return [*row, index[event.partner], event.doing, event.place, event.start, event.end]
        case Noted():
            return [*row, event.about, event.text]
        case Remembered():
            return [*row, event.memory, event.text, event.importance]


def _blocks(event: Planned) -> list[list[Any]]:
    """Lines of a plan as [first minute, first minute after it, doing, place]; as [line] what is not in that form."""
    day = event.minute // MINUTES_PER_DAY + 1
    blocks: list[list[Any]] = []
    for line in event.plan.splitlines():
        try:
            found = _BLOCK.fullmatch(line)
            if not found:
                raise ValueError(line)
            start, end = minute_of(found[1], day), minute_of(found[2], day)
        except ValueError:
            blocks += [[line]] if line.strip() else []
        else:
            blocks.append([start, end if end > start else end + MINUTES_PER_DAY, found[3], found[4] or ""])
    return blocks


# ------------------------------------------------------------------------------------------------------------
# How the town looks: a TownMap says what can be stood on and what is called how; what its file did not say is inferred


def _town(town: TownMap, places: Sequence[str]) -> dict[str, Any]:
    sectors = sorted({address.sector for address in town.places})
    arenas = sorted(address for address in town.places if address.arena and not address.thing)
    footprints = {sector: _footprint(town, sector) for sector in sectors}
    closed = {sector for sector in sectors if _is_walled(town, footprints[sector])}
    addresses = ["", *map(str, sorted(town.places))]
    number = {address: position for position, address in enumerate(addresses)}
    address_of = [number[str(_address(town, Tile(x, y)) or "")] for y in range(town.height) for x in range(town.width)]
    return {
        "name": town.name,
        "width": town.width,
        "height": town.height,
        "terrain": "".join(map(str, _terrain(town, footprints, closed))),
        "addresses": addresses,
        "addressOf": address_of,
        "sectors": [
            {
                "name": sector,
                "kind": town.kinds.get(sector, ""),
                "walled": sector in closed,
                "box": _box(footprints[sector]),
                "tiles": sorted(tile.y * town.width + tile.x for tile in footprints[sector]),
            }
            for sector in sectors
        ],
        "arenas": [[address.sector, address.arena, *_box(town.places[address])] for address in arenas],
        "things": [
            [address.thing, [[*tile, int(town.is_free(tile))] for tile in sorted(tiles)]]
            for address, tiles in sorted(town.places.items())
            if address.thing
        ],
        "eventPlaces": [[[*tile] for tile in sorted(_tiles(town, Address.parse(place)))] for place in places],
    }


def _address(town: TownMap, tile: Tile) -> Address | None:
    return town.address_of(tile) if town.is_free(tile) else None


def _tiles(town: TownMap, address: Address) -> Sequence[Tile]:
    """Of a place; of its arena where a thing is meant that nobody can stand on."""
    if any(town.is_free(tile) for tile in town.places.get(address, ())):
        return town.places[address]
    return town.places.get(Address(address.sector, address.arena), town.places.get(Address(address.sector), ()))


def _box(tiles: Sequence[Tile] | set[Tile]) -> list[int]:
    """x, y, width, height."""
    left, top = min(tile.x for tile in tiles), min(tile.y for tile in tiles)
    return [left, top, max(tile.x for tile in tiles) - left + 1, max(tile.y for tile in tiles) - top + 1]


def _around(tile: Tile) -> list[Tile]:
    return [Tile(tile.x + x, tile.y + y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]


def _footprint(town: TownMap, sector: str) -> set[Tile]:
    """The tiles of a sector and of the walls around it, which not every map counts among them."""
    own = set(town.places[Address(sector)])
    things = {tile for address, tiles in town.places.items() if address.sector == sector and address.thing for tile in tiles}
    if any(town.blocked[tile.y, tile.x] for tile in own - things):
        return own
    rim = {near for tile in own for near in _around(tile) if near not in own}
    inside = {tile for tile in rim if 0 <= tile.x < town.width and 0 <= tile.y < town.height}
    walls = {tile for tile in inside if town.blocked[tile.y, tile.x]}
    return own | walls if 2 * len(walls) > len(rim) else own


def _is_walled(town: TownMap, footprint: set[Tile]) -> bool:
    edge = [tile for tile in footprint if any(near not in footprint for near in _around(tile))]
    return 2 * sum(bool(town.blocked[tile.y, tile.x]) for tile in edge) > len(edge)


def _terrain(town: TownMap, footprints: Mapping[str, set[Tile]], closed: set[str]) -> list[int]:
    things = {tile for address, tiles in town.places.items() if address.thing for tile in tiles}
    kinds: dict[Tile, int] = {}
    for sector, footprint in footprints.items():
        for tile in footprint:
            if town.blocked[tile.y, tile.x] and tile not in things:
                kinds[tile] = WALL
            elif tile in town.doors or (sector in closed and any(near not in footprint for near in _around(tile))):
                kinds[tile] = DOOR
            else:
                kinds[tile] = FLOOR
    for tile in _doorways(town, kinds):
        kinds[tile] = DOOR
    wild = {
        Tile(x, y)
        for y in range(town.height)
        for x in range(town.width)
        if town.blocked[y, x] and (x, y) not in kinds and (x, y) not in things and (x, y) not in town.water
    }
    kinds |= dict.fromkeys(town.water, WATER)
    while wild:
        stretch = _connected(wild)
        wild -= stretch
        kinds |= dict.fromkeys(stretch, WILD if len(stretch) >= _LEAST_WILD else WALL)
    return [kinds.get(Tile(x, y), STREET) for y in range(town.height) for x in range(town.width)]


def _doorways(town: TownMap, kinds: Mapping[Tile, int]) -> list[Tile]:
    """Gaps one tile wide in an inner wall."""

    def has(tile: Tile, kind: int) -> bool:
        return kinds.get(tile) == kind

    return [
        Tile(x, y)
        for (x, y), kind in kinds.items()
        if kind == FLOOR
        and town.is_free(Tile(x, y))
        and (
            (has(Tile(x - 1, y), WALL) and has(Tile(x + 1, y), WALL)) != (has(Tile(x, y - 1), WALL) and has(Tile(x, y + 1), WALL))
        )
    ]


def _connected(tiles: set[Tile]) -> set[Tile]:
    """The stretch of ``tiles`` around one of them."""
    found = {min(tiles)}
    edge = list(found)
    while edge:
        near = {each for each in _around(edge.pop()) if each in tiles} - found
        found |= near
        edge += near
    return found
