"""An episode in the layout of Smallville's own viewer (github.com/joonspk-research/generative_agents, frontend_server).

``folder`` takes the place of the viewer's ``frontend_server``; a simulation's name is made of letters, digits, _ and -:

* ``storage/NAME/``, which ``/replay/NAME/0/`` plays: ``movement/STEP.json`` says where everybody is at the end of a step,
  ``environment/STEP.json`` where at its beginning, ``reverie/meta.json`` what it is, ``personas/`` who is in it.
* ``compressed_storage/NAME/``, which ``/demo/NAME/0/3/`` plays: ``master_movement.json`` with what changes in each step.
* ``sociable.json`` in both, which no viewer reads: the task, everybody's persona, who played whom, and what to beware of.

A step is a minute, so that whoever walks six tiles a minute is seen to jump. The viewer draws Smallville's map whatever the
town, and has pictures for its own people only. It puts texts into the page as they are, so markup in them is made harmless.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from sociable.benchmarks.stss.records import StssEpisode
from sociable.core.errors import InputError, StorageFailure
from sociable.town.clock import Clock
from sociable.town.events import Remembered, read_timelines
from sociable.town.map import Address, Tile, TownMap
from sociable.town.persona import Persona

SECONDS_PER_STEP = 60

VIEWERS_MAP = (140, 100)
"""Tiles of the map that the viewer draws."""

_MAZE = "the_ville"
_ASLEEP, _TALKING, _WALKING, _DOING = "💤", "💬", "🚶", "🙂"
_NAME = re.compile(r"[^\W_][\w .'’-]*")
_THOUGHTS = ("plan", "thought", "conversation")
"""Our kinds of memory that are thoughts in the original; every other kind is an event there."""

Json = dict[str, Any]


def export_smallville(
    episode: StssEpisode,
    people: Mapping[str, Persona],
    town: TownMap,
    clock: Clock,
    folder: Path,
    *,
    score: str = "",
    warnings: Sequence[str] = (),
) -> list[str]:
    """Writes both forms of a finished episode into a new folder. Returns what its reader should know.

    That is what the viewer will not show as it was, and the ``warnings`` of the run. With ``score``, the figure and its reason,
    and everything about the task and the people it stands in ``sociable.json`` beside both forms. Raises InputError where
    somebody's name cannot be that of a folder, and StorageFailure.
    """
    for resident in episode.starts:
        if not _NAME.fullmatch(resident):
            raise InputError(f"{episode.id}: the viewer needs folders named like its people, and '{resident}' cannot be one.")
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", episode.id).strip("-") or "episode"
    storage, compressed = folder / "storage" / name, folder / "compressed_storage" / name
    film = _Film(episode, town, clock)
    steps = [{who: film.show_person(who, step) for who in episode.starts} for step in range(episode.minutes)]
    files: dict[Path, Json] = dict.fromkeys((storage / "reverie" / "meta.json", compressed / "meta.json"), film.make_meta())
    for step, shown in enumerate(steps):
        files[storage / "movement" / f"{step}.json"] = {"persona": shown, "meta": {"curr_time": film.format_time(step)}}
    for step in range(episode.minutes + 1):
        tiles = {who: film.find_tile(who, step) for who in episode.starts}
        places = {who: {"maze": _MAZE, "x": tile.x, "y": tile.y} for who, tile in tiles.items()}
        files[storage / "environment" / f"{step}.json"] = places
    # By step those who are shown otherwise than the step before; in the first all.
    files[compressed / "master_movement.json"] = {
        str(step): {_name_for_demo(who): each for who, each in now.items() if each != before.get(who)}
        for step, (before, now) in enumerate(pairwise([{}, *steps]))
    }
    warnings = [*_list_losses(town), *warnings]
    about = {
        "episode": episode.id,
        "task": episode.task.model_dump(mode="json") if episode.task else None,
        "score": score,
        "played_by": dict(episode.played_by),
        "people": [people[name].model_dump(mode="json") for name in episode.starts],
        "warnings": warnings,
    }
    files |= dict.fromkeys((storage / "sociable.json", compressed / "sociable.json"), about)
    for resident in episode.starts:
        for part, value in film.make_memory(people[resident]).items():
            for place in (storage, compressed):
                files[place / "personas" / resident / "bootstrap_memory" / part] = value
    try:
        for parent in {path.parent for path in files}:
            parent.mkdir(parents=True, exist_ok=True)
        for path, value in files.items():
            path.write_text(json.dumps(value), encoding="utf-8")
    except OSError as error:
        raise StorageFailure.at(folder, error) from error
    return warnings


def _name_for_demo(name: str) -> str:
    """A name as the demo page looks for it: it puts an underscore for every space, and takes only the first back."""
    first, _, rest = name.partition(" ")
    return " ".join(filter(None, (first, rest.replace(" ", "_"))))


def _list_losses(town: TownMap) -> Iterator[str]:
    if (town.width, town.height) != VIEWERS_MAP:
        width, height = VIEWERS_MAP
        yield (
            f"The viewer draws Smallville's map of {width} by {height} tiles whatever the town; {town.name} has {town.width} by "
            f"{town.height}, so people will be seen to walk through its walls."
        )


class _Film:
    """The episode, step by step."""

    def __init__(self, episode: StssEpisode, town: TownMap, clock: Clock) -> None:
        self._episode = episode
        self._town = town
        self._clock = clock
        self._starts = {name: Tile(*tile) for name, tile in episode.starts.items()}
        self._timelines = read_timelines(episode.events, self._starts, episode.minutes)
        self._chats: dict[tuple[str, int], list[list[str]]] = {}
        """The conversation that is going on, by name and minute; all of it from its beginning, as the original has it."""
        for name, timeline in self._timelines.items():
            for talk in timeline.talks:
                lines = [[_escape(line.speaker), _escape(line.says)] for line in talk.lines]
                self._chats |= {(name, minute): lines for minute in range(talk.minute, talk.until)}

    def make_meta(self) -> Json:
        return {
            "fork_sim_code": self._episode.scenario,
            "start_date": self.format_time(0).rpartition(",")[0],
            "curr_time": self.format_time(self._episode.minutes),
            "sec_per_step": SECONDS_PER_STEP,
            "maze_name": _MAZE,
            "persona_names": list(self._starts),
            "step": self._episode.minutes,
        }

    def format_time(self, step: int) -> str:
        """February 13, 2023, 00:00:00."""
        return self._clock.to_datetime(step).strftime("%B %d, %Y, %H:%M:%S")

    def find_tile(self, name: str, step: int) -> Tile:
        """The tile on which somebody stands at the beginning of a step."""
        return self._timelines[name].tiles[step - 1] if step else self._starts[name]

    def show_person(self, name: str, step: int) -> Json:
        """Somebody, as the viewer shows a step."""
        timeline = self._timelines[name]
        tile, activity, chat = timeline.tiles[step], timeline.activities[step], self._chats.get((name, step))
        sign = _DOING if self.find_tile(name, step) == tile else _WALKING
        if timeline.asleep[step] or chat is not None:
            sign = _ASLEEP if timeline.asleep[step] else _TALKING
        doing = activity.doing if activity is not None else "waking up"
        address = Address.parse(activity.address) if activity is not None and activity.address else self._town.find_address(tile)
        where = [part for part in (address.sector, address.arena, address.thing) if part] if address else []
        return {
            "movement": [tile.x, tile.y],
            "pronunciatio": sign,
            # The viewer parts what somebody does from where at the first @.
            "description": f"{_escape(doing).replace('@', ' at ')} @ {':'.join(map(_escape, [self._town.name, *where]))}",
            "chat": chat,
        }

    def make_memory(self, persona: Persona) -> Json:
        """The files of one resident's memory, by their names."""
        first, *_, last = persona.name.split() if " " in persona.name else (persona.name, persona.name)
        scratch = persona.model_dump(include={"name", "age", "innate", "learned", "currently", "lifestyle"})
        home = ":".join([self._town.name, *persona.home.split(": ")])
        places: dict[str, dict[str, list[str]]] = {}
        for place in self._town.places:
            arena = places.setdefault(place.sector, {}).setdefault(place.arena, []) if place.arena else []
            if place.thing:
                arena.append(place.thing)
        return {
            "scratch.json": {**scratch, "first_name": first, "last_name": last, "living_area": home},
            "spatial_memory.json": {self._town.name: places},
            "associative_memory/nodes.json": self._make_nodes(persona.name),
        }

    def _make_nodes(self, name: str) -> Json:
        """Memories and conversations as nodes, numbered from 1."""
        found: list[tuple[int, str, str, list[list[str]]]] = []
        for event in self._episode.events:
            if isinstance(event, Remembered) and event.resident == name:
                kind = "thought" if event.memory in _THOUGHTS else "event"
                found.append((event.minute, kind, event.text, []))
        for talk in self._timelines[name].talks:
            partner = talk.partner if talk.resident == name else talk.resident
            lines = [[line.speaker, line.says] for line in talk.lines]
            found.append((talk.minute, "chat", f"conversing with {partner}", lines))
        counts: Counter[str] = Counter()
        nodes = {}
        for number, (minute, kind, text, lines) in enumerate(sorted(found, key=lambda each: each[0]), start=1):
            counts[kind] += 1
            nodes[f"node_{number}"] = {
                "node_count": number,
                "type_count": counts[kind],
                "type": kind,
                "depth": int(kind == "thought"),
                "created": f"{self._clock.to_datetime(minute):%Y-%m-%d %H:%M:%S}",
                "expiration": None,
                "description": text,
                "filling": lines,
            }
        return nodes


def _escape(text: str) -> str:
    return html.escape(text, quote=False)
