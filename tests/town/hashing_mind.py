"""A mind all of whose doings are a pure function of everything it has ever seen and heard: one difference changes the rest."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Callable, Sequence

from sociable.town.events import Noted
from sociable.town.minds import Activity, Decision, TakenAway, Talk, Utterance, View


class HashingMind:
    def __init__(self, name: str, places: Sequence[str], *, sociability: float = 0.3) -> None:
        self.name = name
        self.alarm: int | None = None
        self._places = places
        self._sociability = sociability
        self._past = hashlib.blake2b(name.encode(), digest_size=8)
        self.asked = 0

    def _generator(self, *seen: object) -> random.Random:
        self._past.update(repr(seen).encode())
        self.asked += 1
        return random.Random(self._past.digest())

    def decide(self, view: View) -> Decision:
        draw = self._generator(view)
        over = view.activity is None or view.minute >= view.activity.until
        self.alarm = view.minute + draw.randint(1, 120) if draw.random() < 0.2 else None
        activity = None
        if over or draw.random() < 0.1:
            asleep = draw.random() < 0.15
            minutes = draw.randint(120, 480) if asleep else draw.randint(3, 120)
            activity = Activity(f"doing {draw.randrange(100)}", view.minute + minutes, draw.choice(self._places), asleep)
        free = [sighting.name for sighting in view.sightings if sighting.free]
        talk_to = draw.choice(free) if free and draw.random() < self._sociability else ""
        # So that the log differs in the very minute in which two of them have seen different things.
        seen = Noted(minute=view.minute, resident=self.name, about="everything so far", text=self._past.hexdigest())
        return Decision(activity, talk_to, [seen])

    def speak(self, talk: Talk) -> Utterance:
        draw = self._generator(talk)
        return Utterance(" ".join(f"w{draw.randrange(50)}" for _ in range(draw.randint(1, 120))), draw.random() < 0.25)

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        draw = self._generator(talk, until)
        if draw.random() < 0.4:
            return TakenAway((), Activity(f"doing {draw.randrange(100)}", until + draw.randint(3, 60), draw.choice(self._places)))
        return TakenAway()


class SlowMind:
    """The same, answering after a while each time."""

    def __init__(self, mind: HashingMind, seconds: Callable[[], float]) -> None:
        self._mind = mind
        self._seconds = seconds

    @property
    def alarm(self) -> int | None:
        return self._mind.alarm

    async def decide(self, view: View) -> Decision:
        await asyncio.sleep(self._seconds())
        return self._mind.decide(view)

    async def speak(self, talk: Talk) -> Utterance:
        await asyncio.sleep(self._seconds())
        return self._mind.speak(talk)

    async def conclude(self, talk: Talk, until: int) -> TakenAway:
        await asyncio.sleep(self._seconds())
        return self._mind.conclude(talk, until)
