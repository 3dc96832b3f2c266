"""Replies that a model might give in an ordinary day, so that a run can be estimated without asking one."""

from __future__ import annotations

import json
import re

from sociable.town.clock import Clock, format_time_of_day
from sociable.town.persona import Persona, make_ordinary_day

_NAME = re.compile(r"^[|\s-]*([^:,(]+?)\s*(?=[:,(]| is )", re.MULTILINE)
"""The name of the first person in a list of people."""

SENTENCE = "I would like that very much, and I have thought about it since this morning, so let us see what can be done. "


def rehearse_reply(purpose: str, persona: Persona, clock: Clock, call: int, asked: str) -> str:
    """A reply of the generative agent (agents/generative), by the purpose of the call; prose for any other architecture.

    Whoever sees somebody talks to them every other time, which is more than most models do.
    """
    if purpose in ("plan_day", "replan"):
        hours = [
            {
                "from": format_time_of_day(block.start),
                "to": format_time_of_day(block.end),
                "doing": block.doing,
                "place": block.place,
            }
            for block in make_ordinary_day(persona, clock, call % 2)
        ]
        day = {
            "plan": SENTENCE * 4,
            "hours": hours,
            "bed": format_time_of_day(persona.sleeps),
            "wake": format_time_of_day(persona.wakes),
        }
        return json.dumps(day)
    people = asked.partition("free to talk to:")[2].partition("\n\n")[0]
    name = _NAME.search(people) if call % 2 == 0 else None
    step = {"minutes": 20, "doing": "going on with what there is to do, step by step", "place": ""}
    replies = {
        "decompose": {"steps": [step] * 9},
        "speak": {"says": SENTENCE * 2, "ends": call % 5 == 4},
        "conclude": {"summary": SENTENCE * 3, "importance": 4, "agreed": [], "remember": [SENTENCE], "today": False},
        "react": {"why": SENTENCE, "talk_to": name.group(1) if name else ""},
        "rate": {"ratings": [3] * 20},
        "reflect": {"thoughts": [{"text": SENTENCE, "importance": 5}] * 5},
    }
    return json.dumps(replies[purpose]) if purpose in replies else SENTENCE * 3
