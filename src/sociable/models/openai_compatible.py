"""Any server that speaks OpenAI's chat completions: hosted services, vLLM, Ollama, llama.cpp.

Written on aiohttp rather than on the openai client: a call costs about a quarter of the processor time of that
client's fastest path (benchmarks/README.md), and a Retry-After of any length is honoured, for all connections to the
endpoint at once.

Replies are asked for as streams, so that it shows when a server has begun. Until then a call may wait in the server's
line, as long as the server is heard: what waits is not sent a second time, for many servers would work on both.
"""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import json
import math
import random
import re
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import aiohttp
import aiolimiter

from sociable.core.errors import ContextLengthExceeded, EndpointUnusable, InputError, RunFailure
from sociable.core.records import Usage
from sociable.models.completions import (
    Adaptation,
    Body,
    TransientError,
    count_characters,
    estimate_usage,
    find_adaptation,
    make_body,
    parse_completion,
    parse_stream,
    raise_for_status,
    read_complaint,
)
from sociable.models.concurrency import MOST_AT_ONCE, AdaptiveLimit
from sociable.models.protocol import CHARACTERS_PER_TOKEN, FinishReason, Reply, Request, Timing

MAX_REPLY_BYTES = 32 * 1024 * 1024
PUT_OFF_FACTOR = 20
"""A server that asks to wait (429) is asked so many times as often as one that fails: it is only busy."""

LONG_WAIT = 0.25
"""The share of the time-out that a call may wait on a server before fewer are made at once."""

CONNECT_SECONDS = 30.0
"""The limit for reaching a server at all."""

SHORTEST_SECRET = 8
"""Shorter keys (none, EMPTY, x) stand where a server wants any; to cut such words from texts would garble them."""

_CREDENTIALS = re.compile(r"//[^\s/]*@")
"""``//user:password@`` in an address."""
_FIRST_WORDS = re.compile(rb'"(content|reasoning_content|reasoning|refusal)": ?"[^"]')
"""The first token in a stream: what comes before it (headers, the name of the role) may come while a call still waits."""


@dataclass(frozen=True)
class EndpointSettings:
    """The address of a model and how it may be asked."""

    base_url: str
    key: str = field(repr=False, default="")
    timeout_seconds: float = 300.0
    """The longest silence: of an answer that has begun; before that, of the server as a whole."""
    attempts: int = 6
    max_connections: int | None = None
    """Calls at once; None: found by trial."""
    connections_at_first: int = 1
    """Calls at once to begin with, where their number is found by trial."""
    requests_per_minute: float | None = None
    context_window: int | None = None
    """Tokens. If it is given, a prompt that is plainly longer is not sent: some servers would silently cut it."""


class Rate(Protocol):
    """Holds requests back, so that no more than so many a minute are sent."""

    async def acquire(self) -> None:
        """Returns when a request may be sent."""


@dataclass
class Exchange:
    """One request and its answer, on the clock of ``time.monotonic``."""

    sent: float
    last_heard: float = 0.0
    """When the last byte of the answer came."""
    first_token: float | None = None
    """When the first word of the reply came: until then it waits for its turn on the server."""


class OpenAICompatibleModel:
    """One model behind one endpoint. Adaptations, waiting times and the limit are shared by all who use the object.

    The object does not keep to ``limit`` itself: whoever buys of it takes a place there (``JournalledModel``).
    """

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
        most = settings.max_connections
        self.limit = AdaptiveLimit(most or settings.connections_at_first, most or MOST_AT_ONCE)
        rate = settings.requests_per_minute
        self.rate: Rate | None = aiolimiter.AsyncLimiter(1, 60.0 / rate) if rate else None
        self._adapted: list[Adaptation] = []
        self._not_before = 0.0
        self._last_heard = 0.0
        """When any call heard anything of the server."""
        self.has_answered = False
        """Whether any call has succeeded: one that fails after that says nothing of the others."""
        self._session: aiohttp.ClientSession | None = None
        self._proxy: str | None = None

    @property
    def adaptations(self) -> list[str]:
        """The names of what the server turned out not to take."""
        return [adaptation.name for adaptation in self._adapted]

    async def generate(self, request: Request) -> Reply:
        """Raises ContextLengthExceeded, RunFailure (after the last attempt) or EndpointUnusable."""
        self._check_length(request)
        try:
            return await self._ask(request, self.limit.era)
        except EndpointUnusable as error:
            # Whoever waits would find out the same, one after the other.
            self.limit.turn_away(error)
            raise

    async def _ask(self, request: Request, era: int) -> Reply:
        """The reply, after as many attempts as it takes and may take."""
        failures = put_off = 0
        while True:
            try:
                reply = await self._attempt(request)
                waited = reply.timing and (reply.timing.first_token or reply.timing.whole)
                if waited and waited > LONG_WAIT * self._settings.timeout_seconds:
                    self.limit.note_trouble(era)
                else:
                    self.limit.note_reply(era, reply.usage.input_tokens + reply.usage.output_tokens)
                return reply
            except ServerSilent as error:
                self.limit.note_trouble(era)
                raise self._make_silence_error(error) from None
            except TransientError as error:
                last = error
            if last.overloaded:
                self.limit.note_trouble(era)
            put_off += last.rate_limited
            failures += not last.rate_limited
            if failures >= self._settings.attempts or put_off >= self._settings.attempts * PUT_OFF_FACTOR:
                break
            if not last.retry_after:
                await asyncio.sleep(min(60.0, 0.25 * 2 ** (failures + put_off)) * random.uniform(0.5, 1.0))
        problem = f"{self.name} at {self._url}: {self._remove_key(str(last))} (after {failures + put_off} attempts)"
        if not self.has_answered:
            raise EndpointUnusable(
                f"{problem}. No call to it has succeeded: check the address and that the server is running, then resume."
            )
        raise RunFailure(problem)

    def _make_silence_error(self, silence: ServerSilent) -> RunFailure | EndpointUnusable:
        """The failure of a call that was not sent again, because the server may still be working on it."""
        fewer = f", or fewer calls at once (--max-connections {self.limit.level})" if self.has_answered else ""
        problem = (
            f"{self.name} at {self._url} {silence}. It can be reached, but is slow or stuck; the call was not sent again, "
            "because it may still be in work there. Give it more time (timeout_seconds of the role in a --config file)"
            f"{fewer}, then resume."
        )
        return RunFailure(problem) if self.has_answered else EndpointUnusable(problem)

    async def _attempt(self, request: Request) -> Reply:
        await self._wait_for_turn()
        adapted = tuple(self._adapted)
        body = make_body(self._model, request, adapted, stream=True, stream_options={"include_usage": True})
        exchange = Exchange(sent=time.monotonic())
        status, headers, content = await self._post(body, exchange)
        if status == 200:
            is_stream = headers.get("Content-Type", "").startswith("text/event-stream")
            reply = estimate_usage((parse_stream if is_stream else parse_completion)(content), request)
            self.has_answered = True
            first = exchange.first_token - exchange.sent if is_stream and exchange.first_token else None
            return replace(reply, timing=Timing(time.monotonic() - exchange.sent, first))
        complaint = self._remove_key(read_complaint(content))
        # llama.cpp answers 500 when a chat template refuses the messages.
        if status in (400, 413, 422, 500) and (adaptation := find_adaptation(complaint, body, adapted)):
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
            overloaded = status in (408, 503, 504, 529)
            raise TransientError(f"HTTP {status}: {complaint}", pause, rate_limited=status == 429, overloaded=overloaded)
        raise_for_status(self.name, self._url, status, complaint)
        return Reply("", Usage(calls=1), FinishReason.CONTENT_FILTER)

    async def _wait_for_turn(self) -> None:
        """Returns when neither a Retry-After nor the rate holds a request back."""
        while True:
            while (pause := self._not_before - time.monotonic()) > 0:
                # A little apart, or all connections would come back in the same moment and be sent away again.
                await asyncio.sleep(pause * random.uniform(1.0, 1.1))
            if self.rate:
                await self.rate.acquire()
            if self._not_before <= time.monotonic():
                return

    async def _post(self, body: Body, exchange: Exchange) -> tuple[int, Any, bytes]:
        """(status, headers, whole content). Raises ServerSilent, TransientError and EndpointUnusable."""
        answer = asyncio.ensure_future(self._exchange(body, exchange))
        limit = self._settings.timeout_seconds
        try:
            # asyncio.timeout would have to be set anew at every byte that any call hears.
            while not answer.done():
                has_begun = exchange.first_token is not None
                heard = exchange.last_heard if has_begun else max(exchange.sent, self._last_heard)
                left = heard + limit - time.monotonic()
                if left <= 0 and has_begun:
                    raise TransientError(f"the answer stopped in the middle: nothing came for {limit:g} s")
                if left <= 0:
                    raise ServerSilent(f"took the call and has not begun to answer it, or any other, within {limit:g} s")
                await asyncio.wait((answer,), timeout=left)
            return answer.result()
        finally:
            answer.cancel()

    async def _exchange(self, body: Body, exchange: Exchange) -> tuple[int, Any, bytes]:
        try:
            data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
            # Redirects are not followed: they would carry the key to another host.
            session = self._session or self._open()
            async with session.post(self._url, data=data, allow_redirects=False, proxy=self._proxy) as response:
                content = bytearray()
                async for chunk in response.content.iter_any():
                    exchange.last_heard = self._last_heard = time.monotonic()
                    if exchange.first_token is None and _FIRST_WORDS.search(chunk):
                        exchange.first_token = exchange.last_heard
                    content += chunk
                    if len(content) > MAX_REPLY_BYTES:
                        raise RunFailure(f"{self.name} sent more than {MAX_REPLY_BYTES} bytes in one reply.")
                return response.status, response.headers, bytes(content)
        except TimeoutError:
            raise TransientError(f"cannot be reached within {CONNECT_SECONDS:g} s") from None
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
            connector=aiohttp.TCPConnector(limit=self.limit.ceiling, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            headers=self._headers,
        )
        return self._session

    def _remove_key(self, complaint: str) -> str:
        """The complaint without the key, which a server may repeat and which could then reach a log or a record."""
        return complaint.replace(self._key, "[key]") if len(self._key) >= SHORTEST_SECRET else complaint

    def _check_length(self, request: Request) -> None:
        window, reply = self._settings.context_window, request.sampling.max_tokens or 0
        tokens = int(count_characters(request) / CHARACTERS_PER_TOKEN)
        if window is not None and tokens > window - reply:
            raise ContextLengthExceeded(
                f"The prompt has about {tokens} tokens; {self.name} has room for {window - reply} "
                f"(context window {window} less {reply} for the reply)."
            )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


class ServerSilent(Exception):
    """A server took a call, and let a whole time-out pass without a word to anybody."""


def _find_proxy(url: str) -> str | None:
    """The proxy that the environment names for this address."""
    address = urllib.parse.urlsplit(url)
    if not address.hostname or urllib.request.proxy_bypass(address.hostname):
        return None
    return urllib.request.getproxies().get(address.scheme)


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
