"""What is asked: episodes of three people talking by turns, then questions to a judge about each episode.

A request is about 2.6 KB on the average. Every client sends the same ones; the bare clients take them ready-made from here.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from sociable.judging.pairwise import VERDICT_SCHEMA
from sociable.models.protocol import ChatMessage

CAST = ("Amara", "Bruno", "Chiyo")
REPLY = "I see what you mean, but before we settle on a day I would like to hear what the others think of it, and who will pay."
VERDICT = '{"reason": "The first keeps to what was agreed and says what happens next; the second only repeats it.", "verdict": 1}'
GOLDEN = f"Let us ask the landlord on Thursday, all three of us, and share the cost. {REPLY}"
MAX_TOKENS = 256

_RULES = (
    "You play one person in a scene with others. Keep to what that person knows and wants, answer what was said last, "
    "and say no more than two sentences at a time. Never speak for anybody else, and never describe what you do. "
)
_SCENE = (
    "The three share a flat above a bakery. The oven below has been repaired and now runs from three in the morning, "
    "and the warm air comes up through the floor. One works nights, one studies for an examination, one wants to move out. "
    "None has said so yet. "
)
_QUESTION = (
    "Compare two endings of one scene. Which one better serves what the first speaker wants without harm to the others? "
    "Answer with JSON: a reason of one sentence, and the verdict 1, 2, or 0 when they are equal. "
)


@dataclass(frozen=True)
class Work:
    """How much is asked. ``connections`` is how many calls are under way at once, and so how many episodes."""

    episodes: int
    connections: int
    turns: int = 15
    questions: int = 12

    @property
    def calls(self) -> int:
        return self.episodes * (self.turns + self.questions)

    @property
    def rounds(self) -> int:
        """Calls that must follow one another, however fast the client is."""
        dialogues = math.ceil(self.episodes / self.connections) * self.turns
        return dialogues + math.ceil(self.episodes * self.questions / self.connections)


def briefing(name: str) -> list[ChatMessage]:
    """What a participant is told before the first turn."""
    return [
        {"role": "system", "content": f"You are {name}. {_RULES * 2}"},
        {"role": "user", "content": f"{_SCENE * 4}The scene begins."},
    ]


def question(first: str, second: str) -> list[ChatMessage]:
    """What a judge is asked about two texts."""
    return [
        {"role": "system", "content": _QUESTION},
        {"role": "user", "content": f"First:\n{first}\n\nSecond:\n{second}"},
    ]


def turn_body(index: int) -> dict[str, Any]:
    """The body of the request for one turn, as it goes over the wire: others' turns between two own ones are one message."""
    messages = briefing(CAST[index % len(CAST)])
    for earlier in range(index):
        if (index - earlier) % len(CAST) == 0:
            messages.append({"role": "assistant", "content": REPLY})
        elif messages[-1]["role"] == "user":
            messages[-1] = {"role": "user", "content": f"{messages[-1]['content']}\n\n{REPLY}"}
        else:
            messages.append({"role": "user", "content": REPLY})
    return _body(messages)


def question_body(turns: int) -> dict[str, Any]:
    """The body of the request for one question about an episode."""
    transcript = "\n".join(f"{CAST[index % len(CAST)]}: {REPLY}" for index in range(turns))
    schema = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": VERDICT_SCHEMA}}
    return {**_body(question(transcript, GOLDEN)), "response_format": schema}


def request_kilobytes(work: Work) -> float:
    """Of the average request."""
    sizes = [len(json.dumps(turn_body(index))) for index in range(work.turns)]
    sizes += [len(json.dumps(question_body(work.turns)))] * work.questions
    return sum(sizes) / len(sizes) / 1000


def _body(messages: list[ChatMessage]) -> dict[str, Any]:
    return {"model": "m", "messages": messages, "temperature": 0.0, "max_tokens": MAX_TOKENS}
