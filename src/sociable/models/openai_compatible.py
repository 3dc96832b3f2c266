"""Any server that speaks OpenAI's chat completions: hosted services, vLLM, Ollama, llama.cpp.

Written on aiohttp rather than on the openai client: a call costs about a quarter of the processor time of that
client's fastest path (benchmarks/README.md), and a Retry-After of any length is honoured, for all connections to the
endpoint at once.
"""

from __future__ import annotations

import asyncio
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
from sociable.core.records import Usage
from sociable.models.completions import (
    TransientError,
    parse_completion,
    raise_for_status,
    raise_no_credit,
    read_complaint,
    read_retry_after,
)
from sociable.models.protocol import CHARACTERS_PER_TOKEN, SAMPLING_FIELDS, ChatMessage, FinishReason, Reply, Request

MAX_REPLY_BYTES = 32 * 1024 * 1024
PUT_OFF_FACTOR = 20
"""A server that asks to wait (429) is asked so many times as often as one that fails: it is only busy."""

SHORTEST_SECRET = 8
"""Shorter keys (none, EMPTY, x) stand where a server wants any; to cut such words from texts would garble them."""

_CREDENTIALS = re.compile(r"//[^\s/]*@")
"""``//user:password@`` in an address."""


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
    complaint: re.Pattern[str]
    change: Callable[[Body], Body | None]


def _drop(body: Body, field: str, renamed: str = "") -> Body | None:
    """The body without a field, or with another name for it."""
    changed = {(renamed if name == field else name): value for name, value in body.items() if renamed or name != field}
    return changed if field in body else None


def _drop_system_role(body: Body) -> Body | None:
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
    Adaptation(
        "no structured output",
        re.compile(r"response_format|json_schema|structured output|guided|grammar", re.IGNORECASE),
        lambda body: _drop(body, "response_format"),
    ),
    Adaptation(
        "max_completion_tokens",
        re.compile(r"max_completion_tokens", re.IGNORECASE),
        lambda body: _drop(body, "max_tokens", renamed="max_completion_tokens"),
    ),
    Adaptation("no seed", re.compile(r"\bseed\b", re.IGNORECASE), lambda body: _drop(body, "seed")),
    Adaptation(
        "no system role",
        re.compile(r"system (role|message|prompt)|role.{0,20}system|must alternate|alternate user", re.IGNORECASE),
        _drop_system_role,
    ),
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
        problem = f"{self.name} at {self._url}: {self._without_key(str(last))} (after {failures + put_off} attempts)"
        if not self._answered:
            raise EndpointUnusable(
                f"{problem}. No call to it has succeeded: check the address and that the server is running, then resume."
            )
        raise RunFailure(problem)

    async def _attempt(self, request: Request) -> Reply:
        await self._wait_for_turn()
        adapted = tuple(self._adapted)
        body = self._body(request, adapted)
        status, headers, content = await self._post(body)
        if status == 200:
            reply = _with_usage(parse_completion(content), request)
            self._answered = True
            return reply
        complaint = self._without_key(read_complaint(content))
        # llama.cpp answers 500 when a chat template refuses the messages.
        if status in (400, 413, 422, 500):
            for adaptation in ADAPTATIONS:
                if adaptation not in adapted and adaptation.complaint.search(complaint) and adaptation.change(body):
                    # Another connection may have learnt it while this request was on its way.
                    if adaptation not in self._adapted:
                        self._adapted.append(adaptation)
                    return await self._attempt(request)
        if status in (408, 409, 425, 429) or status >= 500:
            if status == 429 and re.search(r"insufficient_quota|exceeded your current quota", complaint):
                raise_no_credit(self.name, complaint)
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
        self._proxy = _proxy(self._url)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._settings.max_connections, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(total=self._settings.timeout_seconds),
            headers=self._headers,
        )
        return self._session

    def _without_key(self, complaint: str) -> str:
        """Servers may repeat the key when they complain; from here on it could reach a log or a record."""
        return complaint.replace(self._key, "[key]") if len(self._key) >= SHORTEST_SECRET else complaint

    def _body(self, request: Request, adapted: Sequence[Adaptation]) -> Body:
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


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for this address."""
    address = urllib.parse.urlsplit(url)
    if not address.hostname or urllib.request.proxy_bypass(address.hostname):
        return None
    return urllib.request.getproxies().get(address.scheme)


def _count_characters(request: Request) -> int:
    return sum(len(message["content"]) for message in request.messages)


def _with_usage(reply: Reply, request: Request) -> Reply:
    """The reply with its tokens estimated from characters, where the server counted none: a cost limit must hold there too."""
    if reply.usage.input_tokens or reply.usage.output_tokens:
        return reply
    asked, answered = _count_characters(request), len(reply.text) + len(reply.thinking)
    tokens = [math.ceil(characters / CHARACTERS_PER_TOKEN) for characters in (asked, answered)]
    return replace(reply, usage=Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1]))
