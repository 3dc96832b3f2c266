"""Two small agents for HSII, each a Python function: one answers whoever spoke to it last, one always the same person."""

import json
import re


def answer_last(messages: list[dict[str, str]]) -> str:
    """Thanks whoever wrote to the assistant last."""
    asked = messages[-1]["content"]
    senders = re.findall(r'"role_from": "([^"]+)", "role_to": "Intelligent Assistant", "content"', asked)
    return reply(asked, senders[-1] if senders else "")


def answer_first(messages: list[dict[str, str]]) -> str:
    """Thanks whoever stands first in the list of characters."""
    return reply(messages[-1]["content"], "")


def reply(asked: str, name: str) -> str:
    """One line of JSON, in the form that HSII asks for."""
    names = json.loads(f"[{re.findall(r'NAME is one of: (.*)[.] Any', asked)[-1]}]")
    whom = name if name in names else names[0]
    said = f"Thank you, {whom}. What do you need most right now?"
    return json.dumps({"role_from": "Intelligent Assistant", "role_to": whom, "content": said})
