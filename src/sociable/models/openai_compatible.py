"""Any server that speaks OpenAI's chat completions: hosted services, vLLM, Ollama, llama.cpp.

Written on aiohttp rather than on the openai client: a call costs about a quarter of the processor time of that
client's fastest path (benchmarks/README.md), and a Retry-After of any length is honoured, for all connections to the
endpoint at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import itertools
import json
import math
import random
import re
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import aiohttp
import aiolimiter

from sociable.core.errors import ContextLengthExceeded, EndpointUnusable, InputError, RunFailure
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

MAX_REPLY_BYTES = 32 * 1024 * 1024
PUT_OFF_FACTOR = 20
"""A server that asks to wait (429) is asked so many times as often as one that fails: it is only busy."""

SHORTEST_SECRET = 8
"""Shorter keys (none, EMPTY, x) stand where a server wants any; to cut such words from texts would garble them."""

_CREDENTIALS = re.compile(r"//[^\s/]*@")
"""``//user:password@`` in an address."""
_CONTEXT = re.compile(
    r"context.{0,10}(length|window|size)|maximum context|too many tokens|(prompt|input) is too long|exceed.{0,40}context",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content.?(filter|policy|management)|responsible.?ai|safety system|input was flagged", re.IGNORECASE)
_FINISHES = {"length": FinishReason.LENGTH, "content_filter": FinishReason.CONTENT_FILTER}


@dataclass(frozen=True)
class EndpointSettings:
    """The address of a model and how it may be asked."""

    base_url: str
    key: str = field(repr=False, default="")
    timeout_seconds: float = 300.0
    """The limit for one attempt, from sending to the last byte."""
    attempts: int = 6
    max_connections: int = 100
    requests_per_minute: float | None = None
    context_window: int | None = None
    """Tokens. If it is given, a prompt that is plainly longer is not sent: some servers would silently cut it."""


Body = dict[str, Any]


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


def _drop(field: str, renamed: str = "") -> Callable[[Body], Body | None]:
    """Makes a change to the body without a field, or with another name for it."""

    def change(body: Body) -> Body | None:
        changed = {(renamed if name == field else name): value for name, value in body.items() if renamed or name != field}
        return changed if field in body else None

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
)


class OpenAICompatibleModel:
    """One model behind one endpoint. Adaptations and waiting times are shared by all who use the object."""

    def __init__(self, name: str, model: str, settings: EndpointSettings) -> None:
        self.name = name
        self._model = model
        self._settings = settings
        self._url = settings.base_url.rstrip("/") + "/chat/completions"
        self._headers = {"Content-Type": "application/json", "User-Agent": "sociable"}
        # Files and shells like to leave a line break at the end.
        self._key = settings.key.strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise InputError(f"The key for {name} holds a line break or another character that no key has. Set it again.")
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key}"
        self._connections = asyncio.Semaphore(settings.max_connections)
        rate = settings.requests_per_minute
        self._rate = aiolimiter.AsyncLimiter(1, 60.0 / rate) if rate else None
        self._adapted: list[Adaptation] = []
        self._not_before = 0.0
        self._answered = False
        self._session: aiohttp.ClientSession | None = None
        self._proxy: str | None = None

    @property
    def adaptations(self) -> list[str]:
        """The names of what the server turned out not to take."""
        return [adaptation.name for adaptation in self._adapted]

    async def generate(self, request: Request) -> Reply:
        """Raises ContextLengthExceeded, RunFailure (after the last attempt) or EndpointUnusable."""
        self._check_length(request)
        failures = put_off = 0
        async with self._connections:
            while True:
                try:
                    return await self._attempt(request)
                except TransientError as error:
                    last = error
                put_off += last.rate_limited
                failures += not last.rate_limited
                if failures >= self._settings.attempts or put_off >= self._settings.attempts * PUT_OFF_FACTOR:
                    break
                if not last.retry_after:
                    await asyncio.sleep(min(60.0, 0.25 * 2 ** (failures + put_off)) * random.uniform(0.5, 1.0))
        problem = f"{self.name} at {self._url}: {self._remove_key(str(last))} (after {failures + put_off} attempts)"
        if not self._answered:
            raise EndpointUnusable(
                f"{problem}. No call to it has succeeded: check the address and that the server is running, then resume."
            )
        raise RunFailure(problem)

    async def _attempt(self, request: Request) -> Reply:
        await self._wait_for_turn()
        adapted = tuple(self._adapted)
        body = self._make_body(request, adapted)
        status, headers, content = await self._post(body)
        if status == 200:
            reply = _estimate_usage(parse_completion(content), request)
            self._answered = True
            return reply
        complaint = self._remove_key(read_complaint(content))
        # llama.cpp answers 500 when a chat template refuses the messages.
        if status in (400, 413, 422, 500):
            for adaptation in ADAPTATIONS:
                if adaptation not in adapted and re.search(adaptation.complaint, complaint, re.I) and adaptation.change(body):
                    # Another connection may have learnt it while this request was on its way.
                    if adaptation not in self._adapted:
                        self._adapted.append(adaptation)
                    return await self._attempt(request)
        if status == 402 or (status == 429 and re.search(r"insufficient_quota|exceeded your current quota", complaint)):
            raise EndpointUnusable(f"{self.name}: the account has no credit left: {complaint}. Top it up, then resume.")
        if status in (408, 409, 425, 429) or status >= 500:
            pause = read_retry_after(headers)
            # All connections to the server keep still for as long.
            self._not_before = max(self._not_before, time.monotonic() + (pause or 0.0))
            raise TransientError(f"HTTP {status}: {complaint}", pause, rate_limited=status == 429)
        raise_for_status(self.name, self._url, status, complaint)
        return Reply("", Usage(calls=1), FinishReason.CONTENT_FILTER)

    async def _wait_for_turn(self) -> None:
        """Returns when neither a Retry-After nor the rate holds a request back."""
        while True:
            while (pause := self._not_before - time.monotonic()) > 0:
                # A little apart, or all connections would come back in the same moment and be sent away again.
                await asyncio.sleep(pause * random.uniform(1.0, 1.1))
            if self._rate:
                await self._rate.acquire()
            if self._not_before <= time.monotonic():
                return

    async def _post(self, body: Body) -> tuple[int, Any, bytes]:
        try:
            data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
            # Redirects are not followed: they would carry the key to another host.
            session = self._session or self._open()
            async with session.post(self._url, data=data, allow_redirects=False, proxy=self._proxy) as response:
                content = bytearray()
                async for chunk in response.content.iter_any():
                    content += chunk
                    if len(content) > MAX_REPLY_BYTES:
                        raise RunFailure(f"{self.name} sent more than {MAX_REPLY_BYTES} bytes in one reply.")
                return response.status, response.headers, bytes(content)
        except TimeoutError:
            raise TransientError(f"no answer within {self._settings.timeout_seconds:g} s") from None
        except (aiohttp.NonHttpUrlClientError, ValueError):
            raise EndpointUnusable(f"{self._url} is not an address. Give --base-url as http://host:port/v1.") from None
        except aiohttp.ClientError as error:
            # With the address of a proxy, its password may stand in the text.
            raise TransientError(_CREDENTIALS.sub("//", f"{type(error).__name__}: {error}")) from None

    def _open(self) -> aiohttp.ClientSession:
        # aiohttp could look up the proxy itself (trust_env), but would then look into ~/.netrc as well, at every call, and
        # send what it finds there in place of our key.
        self._proxy = _find_proxy(self._url)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._settings.max_connections, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(total=self._settings.timeout_seconds),
            headers=self._headers,
        )
        return self._session

    def _remove_key(self, complaint: str) -> str:
        """The complaint without the key, which a server may repeat and which could then reach a log or a record."""
        return complaint.replace(self._key, "[key]") if len(self._key) >= SHORTEST_SECRET else complaint

    def _make_body(self, request: Request, adapted: Sequence[Adaptation]) -> Body:
        body: Body = {"model": self._model, "messages": join_neighbours(list(request.messages))}
        for name in SAMPLING_FIELDS:
            if (value := getattr(request.sampling, name)) is not None:
                body[name] = value
        if request.schema is not None:
            schema = {"name": "reply", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        for adaptation in adapted:
            body = adaptation.change(body) or body
        return body

    def _check_length(self, request: Request) -> None:
        window, reply = self._settings.context_window, request.sampling.max_tokens or 0
        tokens = int(_count_characters(request) / CHARACTERS_PER_TOKEN)
        if window is not None and tokens > window - reply:
            raise ContextLengthExceeded(
                f"The prompt has about {tokens} tokens; {self.name} has room for {window - reply} "
                f"(context window {window} less {reply} for the reply)."
            )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def _find_proxy(url: str) -> str | None:
    """The proxy that the environment names for this address."""
    address = urllib.parse.urlsplit(url)
    if not address.hostname or urllib.request.proxy_bypass(address.hostname):
        return None
    return urllib.request.getproxies().get(address.scheme)


def _count_characters(request: Request) -> int:
    return sum(len(message["content"]) for message in request.messages)


def _estimate_usage(reply: Reply, request: Request) -> Reply:
    """The reply with its tokens estimated from characters, where the server counted none: a cost limit must hold there too."""
    if reply.usage.input_tokens or reply.usage.output_tokens:
        return reply
    asked, answered = _count_characters(request), len(reply.text) + len(reply.thinking)
    tokens = [math.ceil(characters / CHARACTERS_PER_TOKEN) for characters in (asked, answered)]
    return replace(reply, usage=Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1]))


# Answers.


class TransientError(Exception):
    """A failure worth another attempt: a dropped connection, a timeout, 408, 409, 425, 429, 5xx, or no completion."""

    def __init__(self, problem: str, retry_after: float | None = None, *, rate_limited: bool = False) -> None:
        super().__init__(problem)
        self.retry_after = retry_after
        self.rate_limited = rate_limited


def parse_completion(content: bytes) -> Reply:
    """The reply in the body of a successful completion. Raises TransientError when the body is not one."""
    try:
        # Not strict: a raw control character inside a string is no reason to lose a reply that was paid for.
        data = json.loads(content.decode("utf-8", "replace"), strict=False)
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
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise TransientError(f"not a chat completion: {content[:200].decode('utf-8', 'replace')!r}") from None
    if ended == "error":
        # OpenRouter passes on in this way what befell a provider after it had begun to answer.
        raise TransientError(f"the answer ended in an error: {read_complaint(json.dumps(choice).encode())}")
    usage = Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1])
    finish = _FINISHES.get(str(ended), FinishReason.REFUSAL if refusal else FinishReason.STOP)
    return Reply(text or refusal, usage, finish, thinking)


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


def read_retry_after(headers: Any) -> float | None:
    """The seconds that Retry-After (seconds or a date) or retry-after-ms asks for; None when it asks nothing readable."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with contextlib.suppress(ValueError):
            seconds = float(headers.get(name, "")) * unit
            if math.isfinite(seconds):
                return max(0.0, seconds)
    with contextlib.suppress(TypeError, ValueError):
        return max(0.0, email.utils.parsedate_to_datetime(headers.get("retry-after")).timestamp() - time.time())
    return None


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
