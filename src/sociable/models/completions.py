"""OpenAI's chat completions as texts: the body of a request, what servers refuse of it, the reply in what they answer.

Nothing here opens a connection: ``openai_compatible`` sends the bodies to servers, ``local`` to a model in this process.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from sociable.core.errors import ContextLengthExceeded, EndpointUnusable, RunFailure
from sociable.core.records import Usage, make_storable
from sociable.models.protocol import (
    CHARACTERS_PER_TOKEN,
    SAMPLING_FIELDS,
    ChatMessage,
    FinishReason,
    Reply,
    Request,
    split_thinking,
)

_CONTEXT = re.compile(
    r"context.{0,10}(length|window|size)|maximum context|too many tokens|(prompt|input) is too long|exceed.{0,40}context",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content.?(filter|policy|management)|responsible.?ai|safety system|input was flagged", re.IGNORECASE)
_FINISHES = {"length": FinishReason.LENGTH, "content_filter": FinishReason.CONTENT_FILTER}

Body = dict[str, Any]


# The request.


@dataclass(frozen=True)
class Adaptation:
    """Something a server cannot take, how its complaint is recognised, and how the body is changed for it.

    Learnt once per endpoint and model. None changes what is asked, only how. ``change`` gives None for a body in which
    there is nothing to change.
    """

    name: str
    complaint: str
    """A pattern, whatever the case."""
    change: Callable[[Body], Body | None]


def _drop(*fields: str, renamed: str = "") -> Callable[[Body], Body | None]:
    """Makes a change to the body without some fields, or with another name for one."""

    def change(body: Body) -> Body | None:
        changed = {(renamed if name in fields else name): value for name, value in body.items() if renamed or name not in fields}
        return changed if fields[0] in body else None

    return change


def _join_system(body: Body) -> Body | None:
    """The body with the system message at the head of the first message of the user."""
    system, *rest = body["messages"]
    messages = join_neighbours([{"role": "user", "content": system["content"]}, *rest])
    return {**body, "messages": messages} if system["role"] == "system" else None


def join_neighbours(messages: list[ChatMessage]) -> list[ChatMessage]:
    """Joins neighbours of one role: many chat templates refuse two in a row, and none reads one message as worse."""
    if all(first["role"] != second["role"] for first, second in itertools.pairwise(messages)):
        return messages
    groups = itertools.groupby(messages, key=itemgetter("role"))
    return [{"role": role, "content": "\n\n".join(message["content"] for message in group)} for role, group in groups]


ADAPTATIONS = (
    Adaptation("no structured output", "response_format|json_schema|structured output|guided|grammar", _drop("response_format")),
    Adaptation("max_completion_tokens", "max_completion_tokens", _drop("max_tokens", renamed="max_completion_tokens")),
    Adaptation("no seed", r"\bseed\b", _drop("seed")),
    Adaptation("no system role", "system (role|message|prompt)|role.{0,20}system|must alternate|alternate user", _join_system),
    Adaptation("no streaming", r"\bstream", _drop("stream", "stream_options")),
)


def find_adaptation(complaint: str, body: Body, adapted: Sequence[Adaptation]) -> Adaptation | None:
    """The adaptation that answers a server's complaint about a body, if one does that was not made yet."""
    for adaptation in ADAPTATIONS:
        if adaptation not in adapted and re.search(adaptation.complaint, complaint, re.I) and adaptation.change(body):
            return adaptation
    return None


def make_body(model: str, request: Request, adapted: Sequence[Adaptation], **further: Any) -> Body:
    """The body of a request, changed as the server has taught; ``further`` fields may be refused as well."""
    body: Body = {"model": model, "messages": join_neighbours(list(request.messages)), **further}
    for name in SAMPLING_FIELDS:
        if (value := getattr(request.sampling, name)) is not None:
            body[name] = value
    if request.schema is not None:
        schema = {"name": "reply", "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    for adaptation in adapted:
        body = adaptation.change(body) or body
    return body


# The answer.


class TransientError(Exception):
    """A failure worth another attempt: a dropped connection, an answer that broke off, 408, 409, 425, 429, 5xx, no completion."""

    def __init__(
        self, problem: str, retry_after: float | None = None, *, rate_limited: bool = False, overloaded: bool = False
    ) -> None:
        super().__init__(problem)
        self.retry_after = retry_after
        self.rate_limited = rate_limited
        self.overloaded = overloaded


def parse_completion(content: bytes) -> Reply:
    """The reply in the body of a successful completion. Raises TransientError when the body is not one."""
    try:
        # Not strict: a raw control character inside a string is no reason to lose a reply that was paid for.
        data = json.loads(content.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        raise _make_unreadable_error(content) from None
    return read_completion(data)


def read_completion(data: Any) -> Reply:
    """The same of a body that has been read as JSON."""
    try:
        choice = data["choices"][0]
        message = choice["message"]
        said = message.get("content") or ""
        if isinstance(said, list):
            said = "".join(part.get("text") or "" for part in said)
        text, thinking = split_thinking(make_storable(said))
        thinking = thinking or make_storable(message.get("reasoning_content") or message.get("reasoning") or "")
        refusal = make_storable(message.get("refusal") or "")
        counted = data.get("usage") if isinstance(data.get("usage"), dict) else {}
        tokens = [_read_count(counted.get(name)) for name in ("prompt_tokens", "completion_tokens")]
        ended = choice.get("finish_reason")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise _make_unreadable_error(json.dumps(data).encode()) from None
    if ended == "error":
        # OpenRouter passes on in this way what befell a provider after it had begun to answer.
        raise TransientError(f"the answer ended in an error: {read_complaint(json.dumps(choice).encode())}")
    usage = Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1])
    finish = _FINISHES.get(str(ended), FinishReason.REFUSAL if refusal else FinishReason.STOP)
    return Reply(text or refusal, usage, finish, thinking)


def _make_unreadable_error(content: bytes) -> TransientError:
    return TransientError(f"not a chat completion: {content[:200].decode('utf-8', 'replace')!r}")


def parse_stream(content: bytes) -> Reply:
    """The reply in the events of a whole stream. Raises TransientError when it ends before the reply does.

    The pieces of the message are put together, and read as a completion that came at once.
    """
    message: dict[str, str] = {}
    whole: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    # Not splitlines: JSON may hold line separators of other kinds inside its strings.
    for line in content.decode("utf-8", "replace").split("\n"):
        event = line.removeprefix("data:").strip()
        if not line.startswith("data:") or event in ("", "[DONE]"):
            continue
        try:
            data = json.loads(event, strict=False)
            if data.get("error"):
                raise TransientError(f"the answer ended in an error: {read_complaint(event.encode())}")
            whole |= {name: data[name] for name in ("usage",) if data.get(name)}
            for piece in data.get("choices") or ():
                choice |= {name: value for name, value in piece.items() if value is not None and name not in ("delta", "message")}
                for name, said in (piece.get("delta") or piece.get("message") or {}).items():
                    if isinstance(said, str) and name != "role":
                        message[name] = message.get(name, "") + said
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise _make_unreadable_error(event.encode()) from None
    if not choice.get("finish_reason"):
        raise TransientError("the stream ended before the reply did")
    return read_completion({**whole, "choices": [{**choice, "message": message}]})


def count_characters(request: Request) -> int:
    return sum(len(message["content"]) for message in request.messages)


def estimate_usage(reply: Reply, request: Request) -> Reply:
    """The reply with its tokens estimated from characters, where the server counted none: a cost limit must hold there too."""
    if reply.usage.input_tokens or reply.usage.output_tokens:
        return reply
    asked, answered = count_characters(request), len(reply.text) + len(reply.thinking)
    tokens = [math.ceil(characters / CHARACTERS_PER_TOKEN) for characters in (asked, answered)]
    return replace(reply, usage=Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1]))


def _read_count(tokens: object) -> int:
    """The number of tokens, as the server counted them; 0 for anything else, which must not lose a reply that was paid for."""
    if isinstance(tokens, bool) or not isinstance(tokens, int | float) or not 0 <= tokens < 2**53:
        return 0
    return int(tokens)


def raise_for_status(name: str, url: str, status: int, complaint: str) -> None:
    """Raises the error that an unsuccessful status means; returns only where the provider's content filter stopped the reply."""
    if status in (400, 413, 422) and _CONTEXT.search(complaint):
        raise ContextLengthExceeded(f"{name}: {complaint}")
    if status in (400, 403) and _FILTERED.search(complaint):
        return
    if status in (401, 403):
        raise EndpointUnusable(
            f"{name} at {url} refuses the key (HTTP {status}: {complaint}). "
            "Set OPENAI_API_KEY in the environment or in .env, or name another variable as `key_variable` in the configuration. "
            "An address in a model's name gets a key only in this latter way."
        )
    if status == 404:
        raise EndpointUnusable(
            f"{name} at {url}: HTTP 404: {complaint}. Check the model's name and the address (most end in /v1)."
        )
    if 300 <= status < 400:
        raise EndpointUnusable(f"{url} redirects (HTTP {status}). Give --base-url the final address.")
    raise RunFailure(f"{name} at {url}: HTTP {status}: {complaint}")


def read_complaint(content: bytes) -> str:
    """The server's words on what is wrong, in a line."""
    text = content[:4000].decode("utf-8", "replace")
    with contextlib.suppress(ValueError, RecursionError):
        error = json.loads(content)
        error = error.get("error", error) if isinstance(error, dict) else error
        if isinstance(error, dict):
            text = " ".join(str(error[key]) for key in ("code", "message") if error.get(key)) or text
        else:
            text = str(error)
    return " ".join(text.split())[:500] or "no explanation"
