"""Residents who are behind, found by where they are and since when: only those who could have come near are looked at.

Nobody who is behind moves, so that each stands in one square of the map. Minutes are taken in spans: of everybody in one it is
known how far they can have walked at the most.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from sociable.town.bodies import Body, Physics

_SIDE = 64
"""The side of a square, in tiles."""

_SPAN = 8
"""Minutes."""

_Square = tuple[int, int]


class Laggards:
    """Everybody who is asked, talks or waits, in a fixed order."""

    def __init__(self, physics: Physics) -> None:
        self._physics = physics
        self._entries: dict[Body, tuple[int, _Square]] = {}
        """By resident, the minute under which it is kept, and its square."""
        self._at: defaultdict[int, dict[Body, None]] = defaultdict(dict)
        self._spans: dict[int, dict[_Square, dict[Body, None]]] = {}

    def __bool__(self) -> bool:
        return bool(self._entries)

    def __contains__(self, body: Body) -> bool:
        return body in self._entries

    def add(self, body: Body) -> None:
        self.discard(body)
        square = body.tile.x // _SIDE, body.tile.y // _SIDE
        self._entries[body] = body.minute, square
        self._at[body.minute][body] = None
        self._spans.setdefault(body.minute // _SPAN, {}).setdefault(square, {})[body] = None

    def discard(self, body: Body) -> None:
        if (entry := self._entries.pop(body, None)) is None:
            return
        minute, square = entry
        del self._at[minute][body]
        if not self._at[minute]:
            del self._at[minute]
        squares = self._spans[minute // _SPAN]
        del squares[square][body]
        if not squares[square]:
            del squares[square]
            if not squares:
                del self._spans[minute // _SPAN]

    def note_minute(self, body: Body) -> None:
        """Takes note of the minute of somebody who has got on, if it is behind."""
        if body in self._entries:
            self.add(body)

    def find_at(self, minute: int) -> Collection[Body]:
        """Everybody whose next minute is this one."""
        return self._at.get(minute, {})

    def find_before(self, minute: int) -> Body | None:
        """Somebody whose next minute comes before this one."""
        return next((body for each, found in self._at.items() if each < minute for body in found), None)

    def find_near(self, body: Body, minute: int) -> Iterator[Body]:
        """Those behind a minute who could, on open ground, have come into somebody's sight by then; and some who could not."""
        x, y = body.tile
        for span, squares in self._spans.items():
            if (begin := span * _SPAN) >= minute:
                continue
            reach = self._physics.radius + (minute - begin) * self._physics.tiles_per_minute
            columns = range((x - reach) // _SIDE, (x + reach) // _SIDE + 1)
            rows = range((y - reach) // _SIDE, (y + reach) // _SIDE + 1)
            if len(columns) * len(rows) < len(squares):
                found = (squares[square] for column in columns for row in rows if (square := (column, row)) in squares)
            else:
                found = (there for (column, row), there in squares.items() if column in columns and row in rows)
            yield from (other for there in found for other in there if other.minute < minute)
