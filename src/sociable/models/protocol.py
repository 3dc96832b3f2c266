"""A model is one async method: ``generate(request) -> reply``. Everything else (journal, limits, cost) wraps it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypedDict

from sociable.core.form import Form
from sociable.core.records import CUT_OFF, Usage

CHARACTERS_PER_TOKEN = 4.0
"""English prose in common tokenizers, for estimates; other scripts need more tokens."""


class ChatMessage(TypedDict):
    """``role`` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """The parameters by which a reply is drawn. ``None`` leaves the choice to the server."""

    temperature: float | None = 0.0
    max_tokens: int | None = 1024
    top_p: float | None = None
    seed: int | None = None


SAMPLING_FIELDS = ("temperature", "max_tokens", "top_p", "seed")


@dataclass(slots=True)
class Scope:
    """The one who asks, and the part of the run: with the request it names a call in the journal.

    One participant in one episode has one scope; it counts how often the same request was made.
    """

    item: str
    """The episode, judgment or reference the call belongs to."""
    role: str
    """subject, partner, opponent, judge or reference."""
    participant: str = ""
    usage: Usage = field(default_factory=Usage)
    _asked: dict[bytes, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.item}/{self.role}/{self.participant}"

    def make_key(self, request: bytes) -> bytes:
        """The journal's key for asking this now; asking the same again gives another."""
        digest = hashlib.blake2b(request, digest_size=20).digest()
        occurrence = self._asked.get(digest, 0)
        self._asked[digest] = occurrence + 1
        return hashlib.blake2b(f"{self.name}\x00{occurrence}\x00".encode("utf-8", "replace") + digest, digest_size=20).digest()


@dataclass(frozen=True, slots=True)
class Request:
    messages: Sequence[ChatMessage]
    scope: Scope
    sampling: Sampling = Sampling()
    schema: Mapping[str, Any] | None = None
    """JSON schema of the wanted reply: asked for where the server supports it, never relied on."""
    form: Callable[[], Form] | None = None
    """The form that a person is shown in place of the messages; no part of the request's digest."""
    key: str = ""
    """The call's name in the journal, in hexadecimal digits: the same whenever the run is played again; no part of the digest."""

    def to_json(self, model: str) -> bytes:
        """The request as JSON, without its scope: its digest is of this text, and the journal shows it."""
        sampling = {name: getattr(self.sampling, name) for name in SAMPLING_FIELDS}
        content = {"model": model, "messages": self.messages, **sampling, "schema": self.schema}
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class FinishReason(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    """Cut off at the token limit."""
    REFUSAL = "refusal"
    CONTENT_FILTER = "content filter"


_DEFECTS = {
    FinishReason.LENGTH: CUT_OFF,
    FinishReason.REFUSAL: "refused",
    FinishReason.CONTENT_FILTER: "stopped by a content filter",
}


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds that a model took, from being asked; waiting for its turn on this side is no part of it."""

    whole: float
    first_token: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    usage: Usage
    finish: FinishReason = FinishReason.STOP
    thinking: str = ""
    timing: Timing | None = field(default=None, compare=False)
    """None where the model does not measure it."""

    @property
    def defect(self) -> str:
        """The reason why the reply cannot stand as it is, or the empty string."""
        return _DEFECTS.get(self.finish) or ("" if self.text.strip() else "empty")


class Model(Protocol):
    """A language model, or whatever stands in its place."""

    @property
    def name(self) -> str:
        """The name as the user wrote it, without its endpoint."""

    async def generate(self, request: Request) -> Reply:
        """Raises RunFailure when this call cannot be made, RunStopped when none can."""

    async def close(self) -> None: ...


_THOUGHT = re.compile(r"\s*<(think|thinking|reasoning)>(.*?)(?:</\1>|\Z)", re.DOTALL)


def split_thinking(text: str) -> tuple[str, str]:
    """The text that others may see, and the thoughts: those in tags at its beginning are cut from it.

    Thought that never ends (the token limit came first) leaves no text; a closing tag without an opening one, as
    templates that prefill the opening tag produce, counts from the start.
    """
    thoughts, end = [], 0
    while thought := _THOUGHT.match(text, end):
        thoughts.append(thought[2].strip())
        end = thought.end()
    if end:
        return text[end:].strip(), "\n\n".join(filter(None, thoughts))
    for tag in ("think", "thinking", "reasoning"):
        before, closing, after = text.partition(f"</{tag}>")
        if closing and f"<{tag}>" not in text:
            return after.strip(), before.strip()
    return text, ""
