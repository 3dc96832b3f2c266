"""A town one can see through, and minds that do what they are told.

::

       0123456789012345678
    0  ######      #######     Hall: room (bed at 1,2; stool at 3,1), door at 5,2
    1  #..s.#......#....t#     Green: lawn, open, from 7,0 to 9,4
    2  #b......lll......c#     Den: room (chair at 17,2; table, that nobody can stand on, at 17,1), door at 12,2
    3  #....#......#.....#     the rest is street
    4  ######      #######
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from sociable.town.events import AnyEvent
from sociable.town.map import TownMap
from sociable.town.minds import Activity, Decision, TakenAway, Talk, Utterance, View
from sociable.town.town_file import read_town

SMALL: Mapping[str, Any] = {
    "name": "Small Town",
    "width": 19,
    "height": 5,
    "sectors": [
        {
            "name": "Hall",
            "rect": [0, 0, 6, 5],
            "doors": [[5, 2]],
            "arenas": [
                {
                    "name": "room",
                    "rect": [1, 1, 5, 3],
                    "objects": [
                        {"name": "bed", "at": [[1, 2]], "seat": True},
                        {"name": "stool", "at": [[3, 1]], "seat": True},
                    ],
                }
            ],
        },
        {"name": "Green", "open": True, "rect": [7, 0, 3, 5], "arenas": [{"name": "lawn", "rect": [7, 0, 3, 5]}]},
        {
            "name": "Den",
            "rect": [12, 0, 7, 5],
            "doors": [[12, 2]],
            "arenas": [
                {
                    "name": "room",
                    "rect": [12, 1, 6, 3],
                    "objects": [
                        {"name": "table", "at": [[17, 1]]},
                        {"name": "chair", "at": [[17, 2]], "seat": True},
                    ],
                }
            ],
        },
    ],
}


def small_town() -> TownMap:
    return read_town(SMALL, "the small town")


class Scripted:
    """Turns to its activities at their minutes, wishes to talk at others, and keeps what it was shown.

    ``wait``: seconds before each answer; below 0 it answers at once, without an event loop.
    """

    def __init__(
        self,
        activities: Mapping[int, Activity],
        *,
        talks: Mapping[int, str] | None = None,
        words: Sequence[int] = (3, 3),
        afterwards: Activity | None = None,
        looks_at: Sequence[int] = (),
        wait: float = -1.0,
    ) -> None:
        """``words``: how many each of its utterances in one conversation has; the last one ends it."""
        self.activities = activities
        self.talks = talks or {}
        self.words = words
        self.afterwards = afterwards
        self.views: dict[int, View] = {}
        self.heard: list[tuple[int, str]] = []
        """What was injected, and when it got it."""
        self._wait = wait
        self._moments = sorted({*activities, *self.talks, *looks_at})
        self.alarm: int | None = None

    def decide(self, view: View) -> Any:
        self.views[view.minute] = view
        self.alarm = next((moment for moment in self._moments if moment > view.minute), None)
        return self._given(Decision(self.activities.get(view.minute), self.talks.get(view.minute, "")))

    def speak(self, talk: Talk) -> Any:
        count = self.words[talk.place_in_turn]
        return self._given(Utterance(" ".join(["word"] * count), ends=talk.place_in_turn == len(self.words) - 1))

    def conclude(self, talk: Talk, until: int) -> Any:
        return self._given(TakenAway((), self.afterwards))

    def inject(self, minute: int, text: str) -> None:
        self.heard.append((minute, text))

    def _given(self, answer: Any) -> Any:
        if self._wait < 0:
            return answer

        async def later() -> Any:
            await asyncio.sleep(self._wait)
            return answer

        return later()


def idle(until: int = 10_000, place: str = "", *, asleep: bool = False) -> Mapping[int, Activity]:
    """Does one thing from the first minute on."""
    return {0: Activity("reading", until, place, asleep)}


def of_kind(events: Sequence[AnyEvent], kind: str) -> list[Any]:
    return [event for event in events if event.kind == kind]
