"""A model for tests whose replies are drawn from a hash of everything it is shown.

They are valid and plausible for the purposes of a generative agent, but for a share that is malformed; any difference in any
prompt changes what follows, so that two simulations with the same log have seen the same prompts.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sociable.core.records import Usage
from sociable.models.protocol import FinishReason, Reply, Request

_PLACES = "The places of the town."
_NOW = re.compile(r"It is \w+ [^,\n]*, (\d\d):(\d\d)")
_PART = re.compile(r"^\| Part (\d+), .*?\((\d+) minutes\)", re.MULTILINE)
_IN_SIGHT = re.compile(r"^\| - ([^:\n]+): ", re.MULTILINE)
_RATED = re.compile(r"^\| \d+\. ", re.MULTILINE)

DOINGS = ("reading", "having a cup of tea", "serving customers", "sketching", "sweeping the floor", "practising the fiddle", "having lunch", "doing accounts")  # fmt: skip
TOPICS = ("the weather", "a concert", "the regatta", "the price of eggs", "a lost dog", "the new baker", "an old quarrel")


class HashedModel:
    """``latency_seconds``: replies come after up to so long, drawn from a generator of their own."""

    def __init__(self, malformed: float = 0.05, latency_seconds: float = 0.0, latency_seed: int = 0) -> None:
        self._malformed = malformed
        self._latency = latency_seconds
        self._latencies = random.Random(latency_seed)
        self.calls = 0

    @property
    def name(self) -> str:
        return "hashed"

    async def generate(self, request: Request) -> Reply:
        self.calls += 1
        if self._latency:
            await asyncio.sleep(self._latencies.random() * self._latency)
        digest = hashlib.blake2b(digest_size=8)
        for message in request.messages:
            digest.update(message["content"].encode())
        draw = random.Random(digest.digest())
        purpose = request.scope.participant.rpartition("|")[2]
        text = reply_to(purpose, request.messages[0]["content"], request.messages[-1]["content"], draw)
        if draw.random() < self._malformed:
            text = draw.choice(_FAULTS)(text)
        return Reply(text, Usage(calls=1, input_tokens=100, output_tokens=len(text) // 4), FinishReason.STOP)

    async def close(self) -> None:
        pass


_FAULTS: Sequence[Callable[[str], str]] = (
    lambda text: "",
    lambda text: "{}",
    lambda text: text[: len(text) // 2],
    lambda text: "I would rather not say.",
    lambda text: f"Sure! Here it is:\n```json\n{text}\n```\nLet me know.",
    lambda text: text.replace('"', "'"),
    lambda text: '{"plan": 3, "hours": "all day", "steps": {}, "says": null, "agreed": "yes", "ratings": "high"}',
)


def reply_to(purpose: str, resident: str, asked: str, draw: random.Random) -> str:
    """What it says for a purpose when nothing is malformed."""
    if (make := _REPLIES.get(purpose)) is not None:
        return json.dumps(make(resident, asked, draw))
    return f"{draw.choice(TOPICS).capitalize()}, {draw.getrandbits(32)}."


@lru_cache(maxsize=64)
def places_of(resident: str) -> tuple[str, ...]:
    """``Sector: arena`` of the town in a resident's first message."""
    found = []
    for line in resident.partition(_PLACES)[2].splitlines():
        if line.startswith("| "):
            sector, _, arenas = line[2:].partition(": ")
            found += [f"{sector.rpartition(' (')[0]}: {arena}" for arena in arenas.split("; ")]
    return tuple(found)


def _place(resident: str, draw: random.Random) -> str:
    """Half of the time one of few, so that people meet."""
    places = places_of(resident) or ("home",)
    return draw.choice(places[:: max(1, len(places) // 4)] if draw.random() < 0.5 else places)


def _hours(resident: str, asked: str, draw: random.Random) -> dict[str, Any]:
    now = _NOW.search(asked)
    minute = int(now[1]) * 60 + int(now[2]) if now else 420
    bed = max(minute + 1, draw.randrange(21 * 60, 23 * 60 + 30))
    hours = []
    while minute < bed:
        end = min(minute + draw.randrange(20, 180), bed)
        hours.append({"from": _time(minute), "to": _time(end), "doing": draw.choice(DOINGS), "place": _place(resident, draw)})
        minute = end + draw.choice((0, 0, 0, 10, -5))
    return {
        "plan": f"{draw.choice(TOPICS)} {draw.getrandbits(16)}",
        "hours": hours,
        "bed": _time(bed),
        "wake": _time(draw.randrange(330, 480)),
    }


def _time(minute: int) -> str:
    return f"{minute // 60 % 24:02d}:{minute % 60:02d}"


def _steps(resident: str, asked: str, draw: random.Random) -> dict[str, Any]:
    steps = []
    for part, minutes in _PART.findall(asked):
        left = int(minutes)
        while left > 0:
            length = draw.randrange(5, 61)
            step = {"part": int(part), "minutes": length, "doing": f"{draw.choice(DOINGS)} {draw.randrange(9)}"}
            if draw.random() < 0.3:
                step["place"] = _place(resident, draw)
            steps.append(step)
            left -= length
    return {"steps": steps}


def _choice(resident: str, asked: str, draw: random.Random) -> dict[str, Any]:
    names = _IN_SIGHT.findall(asked.partition("free to talk to:")[2].partition("\n\n")[0])
    return {"why": draw.choice(TOPICS), "talk_to": draw.choice(names) if names and draw.random() < 0.6 else ""}


def _words(resident: str, asked: str, draw: random.Random) -> dict[str, Any]:
    words = " ".join(draw.choice(TOPICS) for _ in range(draw.randrange(1, 12)))
    return {"says": f"What of {words}, {draw.getrandbits(16)}?", "ends": draw.random() < 0.2}


def _take_away(resident: str, asked: str, draw: random.Random) -> dict[str, Any]:
    agreed = []
    if draw.random() < 0.4:
        start = draw.randrange(6, 22)
        day = draw.choice(("today", "tomorrow", "Tuesday", "2023-02-14", "next year"))
        agreed.append(
            {
                "doing": draw.choice(DOINGS),
                "place": _place(resident, draw),
                "day": day,
                "from": f"{start}:00",
                "to": f"{start + 1}:00",
            }
        )
    facts = [f"{draw.choice(TOPICS)} {draw.randrange(99)}" for _ in range(draw.randrange(3))]
    summary = f"we spoke of {draw.choice(TOPICS)} {draw.getrandbits(16)}"
    return {
        "summary": summary,
        "importance": draw.randrange(1, 11),
        "agreed": agreed,
        "remember": facts,
        "today": draw.random() < 0.1,
    }


def _ratings(resident: str, asked: str, draw: random.Random) -> dict[str, Any]:
    return {"ratings": [draw.randrange(1, 11) for _ in _RATED.findall(asked)]}


def _thoughts(resident: str, asked: str, draw: random.Random) -> dict[str, Any]:
    return {
        "thoughts": [
            {"text": f"{draw.choice(TOPICS)} matters", "importance": draw.randrange(1, 11)} for _ in range(draw.randrange(1, 6))
        ]
    }


_REPLIES: dict[str, Callable[[str, str, random.Random], dict[str, Any]]] = {
    "plan_day": _hours,
    "replan": _hours,
    "decompose": _steps,
    "react": _choice,
    "speak": _words,
    "conclude": _take_away,
    "rate": _ratings,
    "reflect": _thoughts,
}
