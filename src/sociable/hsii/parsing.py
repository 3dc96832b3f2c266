"""From the model's reply to addressee and words: HSII's first stage.

Lenient by design (App. B.5 asks for "coverage of equivalent expressions"): words around it, code fences, single-quoted
dicts, ``role-to`` for ``role_to`` and line breaks pass, as long as addressee and content can be had without guessing.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sociable.dialogue.names import normalised_name
from sociable.hsii.dataset import ASSISTANT

MAX_CHARACTERS = 100_000
"""Of a reply that are searched: a longer one was not asked for."""
_MAX_OBJECTS = 50
_LABELLED = re.compile(
    r"\A\W*(?:role[_ -]?from\W+[^\n]+\n\W*)?role[_ -]?to\W+(?P<to>[^\n]+?)\W*\n+\W*content\W*[:=]\W*(?P<content>\S.*)\Z",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class AddressedReply:
    """What was understood: to whom, as the model wrote it, and which words."""

    role_to: str
    content: str


@dataclass(frozen=True, slots=True)
class FormatFailure:
    reason: str


def parse_reply(text: str, *, strict: bool = False) -> AddressedReply | FormatFailure:
    """The reply's addressee and words. ``strict`` counts only JSON on one line, with nothing around it."""
    if not text.strip():
        return FormatFailure("empty reply")
    if strict:
        return _strictly(text)
    searched = text[:MAX_CHARACTERS]
    found = {reply for data in _objects(searched) if (reply := _addressed(data)) is not None}
    if not found and (labelled := _LABELLED.match(searched)):
        found = {AddressedReply(labelled["to"].strip("\"'*` "), labelled["content"].strip())}
    if len(found) > 1:
        return FormatFailure("more than one reply; which one is meant would be a guess")
    if not found:
        return FormatFailure("no addressee and content to be found in it")
    return found.pop()


def _strictly(text: str) -> AddressedReply | FormatFailure:
    if "\n" in text.strip():
        return FormatFailure("more than one line")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return FormatFailure("not JSON")
    if not isinstance(data, dict) or set(data) != {"role_from", "role_to", "content"}:
        return FormatFailure("not an object of role_from, role_to and content")
    found = _addressed(data)
    return found if found is not None else FormatFailure("no addressee and content")


def _objects(text: str) -> Iterator[dict[object, object]]:
    """The outermost objects in the text, JSON or Python, in order."""
    decoder = json.JSONDecoder(strict=False)
    place, tried = text.find("{"), 0
    while place != -1 and tried < _MAX_OBJECTS:
        tried += 1
        end = place + 1
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            value, end = _python_dict(text, place)
        if isinstance(value, dict):
            yield value
        place = text.find("{", end)


def _python_dict(text: str, place: int) -> tuple[object, int]:
    """A dict in Python's spelling that begins at ``place``; literals only, nothing is evaluated."""
    end = text.find("}", place)
    for _ in range(5):
        if end == -1:
            break
        candidate = text[place : end + 1]
        # Python allows no line break inside quotes; in a dict a line break means no more than a space.
        for spelling in (candidate, re.sub(r"\s*\n\s*", " ", candidate)):
            try:
                return ast.literal_eval(spelling), end + 1
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
        end = text.find("}", end + 1)
    return None, place + 1


def _addressed(data: dict[object, object]) -> AddressedReply | FormatFailure | None:
    """The reply an object holds, a failure if it speaks for somebody else, or None if it is something else."""
    fields = {re.sub(r"[\s-]+", "_", str(key).strip().lower()): value for key, value in data.items()}
    role_to, content = fields.get("role_to"), fields.get("content")
    if isinstance(role_to, list) and role_to and all(isinstance(name, str) for name in role_to):
        role_to = " and ".join(role_to)
    if not isinstance(role_to, str) or not isinstance(content, str) or not role_to.strip() or not content.strip():
        return None
    role_from = fields.get("role_from")
    if isinstance(role_from, str) and role_from.strip() and normalised_name(role_from) != normalised_name(ASSISTANT):
        return FormatFailure("speaks as somebody else")
    return AddressedReply(role_to.strip(), content.strip())


def words_only(text: str) -> str:
    """What is said in a later turn: the text, or the content if the model still wraps it as it had to in its first turn."""
    reply = parse_reply(text) if text.lstrip().startswith(("{", "```")) else None
    return reply.content if isinstance(reply, AddressedReply) else text.strip()
