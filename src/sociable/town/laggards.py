"""Residents who are behind, found by where they are and since when: only those who could have come near are looked at.

Nobody who is behind moves. Those in one room are looked at together: the one who can have come farthest out of it by now tells
how far any of them can be. In the street each is looked at by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from sociable.town.bodies import Body, Physics
from sociable.town.map import TownMap

_SIDE = 64
"""The side of a square, in tiles."""

_Square = tuple[int, int]


@dataclass(slots=True, eq=False)
class _Group:
    """Those who are behind in one room, or in one square of the street."""

    zone: int
    members: dict[Body, int] = field(default_factory=dict)
    """For each the steps that all can make before it is out of the room, counted from the beginning: the fewer, the farther."""
    first: int | None = None
    """The least of these, None where it must be found out again."""

    def find_first(self) -> int:
        if self.first is None:
            self.first = min(self.members.values())
        return self.first


@dataclass(slots=True, eq=False)
class _Cell:
    """The groups in a square of the map."""

    groups: dict[_Group, None] = field(default_factory=dict)
    first: int | None = None
    """The least of theirs, None where it must be found out again."""

    def find_first(self) -> int:
        if self.first is None:
            self.first = min(group.find_first() for group in self.groups)
        return self.first


class Laggards:
    """Everybody who is asked, talks or waits, in a fixed order."""

    def __init__(self, town: TownMap, physics: Physics) -> None:
        self._town = town
        self._pace, self._radius = physics.tiles_per_minute, physics.radius
        self._minutes: dict[Body, int] = {}
        """By resident, the minute under which it is kept."""
        self._at: defaultdict[int, dict[Body, None]] = defaultdict(dict)
        self._groups: dict[tuple[int, _Square | None], _Group] = {}
        self._cells: dict[_Square, _Cell] = {}
        """By square of the map; a room may lie in several."""

    def __bool__(self) -> bool:
        return bool(self._minutes)

    def __contains__(self, body: Body) -> bool:
        return body in self._minutes

    def add(self, body: Body) -> None:
        self.discard(body)
        self._minutes[body] = body.minute
        self._at[body.minute][body] = None
        key = self._find_key(body)
        if (group := self._groups.get(key)) is None:
            group = self._groups[key] = _Group(body.zone)
            for square in self._list_squares(*key):
                self._cells.setdefault(square, _Cell()).groups[group] = None
        steps = body.minute * self._pace + (self._town.count_steps_out(body.tile) if body.zone else 0)
        group.members[body] = steps
        known: list[_Group | _Cell] = [group, *(self._cells[square] for square in self._list_squares(*key))]
        for each in known:
            if each.first is not None:
                each.first = min(each.first, steps)

    def discard(self, body: Body) -> None:
        if (minute := self._minutes.pop(body, None)) is None:
            return
        del self._at[minute][body]
        if not self._at[minute]:
            del self._at[minute]
        key = self._find_key(body)
        group, squares = self._groups[key], self._list_squares(*key)
        steps = group.members.pop(body)
        known: list[_Group | _Cell] = [group, *(self._cells[square] for square in squares)]
        for each in known:
            if each.first == steps:
                each.first = None
        if not group.members:
            del self._groups[key]
            for square in squares:
                del self._cells[square].groups[group]
                if not self._cells[square].groups:
                    del self._cells[square]

    def _find_key(self, body: Body) -> tuple[int, _Square | None]:
        return body.zone, None if body.zone else (body.tile.x // _SIDE, body.tile.y // _SIDE)

    def _list_squares(self, zone: int, square: _Square | None) -> list[_Square]:
        if square is not None:
            return [square]
        box = self._town.find_box(zone)
        columns = range(box.x // _SIDE, (box.x + box.width - 1) // _SIDE + 1)
        return [(column, row) for column in columns for row in range(box.y // _SIDE, (box.y + box.height - 1) // _SIDE + 1)]

    def note_minute(self, body: Body) -> None:
        """Takes note of the minute of somebody who has got on, if it is behind."""
        if body in self._minutes:
            self.add(body)

    def find_at(self, minute: int) -> Collection[Body]:
        """Everybody whose next minute is this one."""
        return self._at.get(minute, {})

    def find_before(self, minute: int) -> Body | None:
        """Somebody whose next minute comes before this one."""
        return next((body for each, found in self._at.items() if each < minute for body in found), None)

    def find_near(self, body: Body, minute: int) -> Iterator[Body]:
        """Those behind a minute who could have come into somebody's sight by then, and some who could not."""
        oldest = min(self._at)
        if oldest >= minute:
            return
        (x, y), now, town = body.tile, minute * self._pace, self._town
        # Who can see somebody is a little nearer than who is there.
        sight = 2 * self._radius
        reach = sight + (minute - oldest) * self._pace
        columns = range((x - reach) // _SIDE, (x + reach) // _SIDE + 1)
        rows = range((y - reach) // _SIDE, (y + reach) // _SIDE + 1)
        if len(columns) * len(rows) < len(self._cells):
            cells = [(square, found) for column in columns for row in rows if (found := self._cells.get(square := (column, row)))]
        else:
            cells = [(square, cell) for square, cell in self._cells.items() if square[0] in columns and square[1] in rows]
        into, own = town.count_steps_between(body.zone), body.zone
        for (column, row), cell in cells:
            left, top = column * _SIDE, row * _SIDE
            far = max(left - x, 0, x - left - _SIDE + 1) + max(top - y, 0, y - top - _SIDE + 1)
            if far - sight > now - cell.find_first():
                continue
            for group in cell.groups:
                zone = group.zone
                if zone and zone != own:
                    # Out of their room, and from there into this one.
                    walked = now - (group.first if group.first is not None else group.find_first())
                    between = into.get(zone)
                    if (town.REACH if between is None else between) > walked:
                        continue
                    # Rooms that are far off, and the street, which is entered at every door.
                    if (between is None or not own) and town.find_box(zone).measure_distance(body.tile) - sight > walked:
                        continue
                yield from (other for other in group.members if other.minute < minute)
