"""A chat completions server over a real socket, for tests: ``python tests/chat_server.py --latency-ms 0``.

Prints its port, and stops when its standard input closes, or after half an hour.

The model's name chooses the behaviour, see ``BEHAVIOURS``. What follows a colon in the name is free
(``429-once:a``): state is kept by the whole name and the request's body, so that tests do not disturb each other.
``GET /requests`` tells what was asked.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import hashlib
import importlib.util
import json
import random
import re
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Any

from aiohttp import web

LONGEST_LIFE_SECONDS = 1800
CONTEXT_CHARACTERS = 4000
"""What ``context-400`` takes."""
SENTENCES = (
    "I hear you, and I would rather we sorted it out today.",
    "Give me until this evening; I will speak to the others first.",
    "That is not how I remember it.",
    "Could you tell me what you need most?",
    "I would keep that between us for now.",
    "Let us ask them together, then nobody is left out.",
    "I am sorry it came to this.",
    "Fine, but then the key stays with me.",
    "You were promised a seat, and you shall have one.",
    "I have checked the list twice: your name is on it.",
    "Nobody blames you for the delay.",
    "What if each of you gave up a little?",
)


@dataclass
class Asked:
    """One body as one model was asked it."""

    digest: str
    model: str
    authorization: str | None
    path: str
    body: dict[str, Any]
    count: int = 0
    arrivals: list[float] = field(default_factory=list)
    """Seconds on this server's monotonic clock."""


@dataclass
class Traffic:
    """What one model saw at once."""

    requests: int = 0
    now: int = 0
    peak: int = 0
    connections: set[int] = field(default_factory=set)


class State:
    def __init__(self, latency_seconds: float) -> None:
        self.latency_seconds = latency_seconds
        self.asked: dict[tuple[str, str, str], Asked] = {}
        self.traffic: dict[str, Traffic] = {}
        self.first_digest: dict[str, str] = {}
        """Of each model."""


@dataclass(frozen=True)
class Call:
    """One request as a behaviour sees it. ``attempt`` counts from 1 for each body."""

    request: web.Request
    body: dict[str, Any]
    digest: str
    attempt: int
    authorization: str | None
    is_first: bool
    """Whether this body is the first its model was asked."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def roles(self) -> list[str]:
        return [message["role"] for message in self.messages]


Behaviour = Callable[[Call], web.StreamResponse | Awaitable[web.StreamResponse]]


def number(call: Call) -> int:
    """A large number that depends on the messages alone."""
    return int.from_bytes(hashlib.sha256(json.dumps(call.messages, sort_keys=True).encode()).digest()[:8], "big")


def completion(call: Call, message: dict[str, Any], finish: str = "stop", *, usage: bool = True, **choice: Any) -> dict[str, Any]:
    """The body of a completion. Usage counts words."""
    words = sum(len(str(each["content"]).split()) for each in call.messages)
    said = len(str(message.get("content")).split())
    return {
        "id": f"chatcmpl-{call.digest[:8]}",
        "object": "chat.completion",
        "model": call.body["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, **choice}],
    } | ({"usage": {"prompt_tokens": words, "completion_tokens": said, "total_tokens": words + said}} if usage else {})


def says(call: Call, content: Any, finish: str = "stop", **message: Any) -> web.Response:
    return web.json_response(completion(call, {"content": content, **message}, finish))


def plain(call: Call) -> web.Response:
    return says(call, plain_text(call))


def plain_text(call: Call) -> str:
    return f"plain answer {number(call) % 10**8:08d}"


async def resident(call: Call) -> web.Response:
    """Lives in a town: answers STSS's prompts by what they ask."""
    return says(call, await _town_model().reply(call.messages))


@functools.cache
def _town_model() -> Any:
    path = Path(__file__).parent / "benchmarks" / "stss" / "town_model.py"
    spec = importlib.util.spec_from_file_location("town_model", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _of_a_script(asked: str, chosen: int) -> dict[str, Any] | None:
    """What AgentSense's construction asks, step by step."""
    wanted = asked.rpartition("Reply with JSON only:")[2]
    if '"description": "' in wanted and '"pronouns"' in wanted:
        return {"name": f"Moss {chosen % 12}", "pronouns": "they/them", "description": "Mends nets and talks to them. " * 5}
    if '"characters": [{"name": "…", "goals"' in wanted:
        goals = re.findall(r"^\| (.+?): (To .*)$", asked.partition("What everybody wants:")[2], re.MULTILINE)
        people = [
            {"name": name, "goals": [goal for who, goal in goals if who == name]} for name in dict.fromkeys(w for w, _ in goals)
        ]
        return {
            "background": f"An old quarrel, number {chosen % 89}, is open.",
            "description": "A room at night.",
            "characters": people,
        }
    if '{"background"' in wanted:
        return {"background": "They have known each other for years.", "description": "A room, late."}
    if '{"goals"' in wanted:
        return {"goals": [f"To learn what the others know, {chosen % 97}."] * (chosen % 5 > 0)}
    if '{"examination"' in wanted:
        goal = re.findall(r"^\| (To .*)$", asked, re.MULTILINE)[-1]
        return {"examination": "Fine.", "update": goal if chosen % 7 else ""}
    if '{"private"' in wanted:
        who = re.findall(r"^\| (.+?): To ", asked, re.MULTILINE)[0]
        question = {
            "role": who,
            "question": f"What has {who} lost?",
            "answer": "A ring",
            "statement": f"{who} has lost a ring.",
        }
        return {"private": bool(chosen % 3), "questions": [question]}
    if '{"options"' in wanted:
        return {"options": ["A dog", "A debt", "A letter"] if chosen % 11 else ["A dog", "a dog", "A ring"]}
    if '{"replacements"' in wanted:
        return {"replacements": [{"original": "a room", "replacement": "a cellar"}]}
    if '"replaceable"' in wanted:
        kinds = {"age": "almost", "gender": "maybe", "occupation": "no"}
        people = re.findall(r"^\| (.*)$", asked.partition("The characters:")[2], re.MULTILINE)
        described = [
            {"name": name, "age": 30 + 10 * place, "gender": "male", "occupation": "clerk", "replaceable": kinds}
            for place, name in enumerate(people)
        ]
        return {
            "characters": described,
            "older": [{"older": people[-1], "younger": people[0], "years": 5}],
            "relations": [{"of": people, "kind": "friend"}],
        }
    if '{"casts"' in wanted:
        parts = list(dict.fromkeys(re.findall(r"^\| \{(part\d+)\}: ", asked, re.MULTILINE)))
        traits = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
        kept = {
            "pronouns": "she",
            "gender": "female",
            "occupation": "clerk",
            "big_five": dict.fromkeys(traits, "low"),
            "moral_values": ["care"],
            "values": ["security"],
            "decision_style": "rational",
            "profile": "Quiet, and sure.",
        }
        casts = [
            {
                part: {"name": f"An{first} Be{last}", "short": f"Be{last}", "age": 25 + 10 * place, **kept}
                for place, (part, last) in enumerate(zip(parts, "acdefgh", strict=False))
            }
            for first in "abcdefghij"
            if f"| An{first} " not in asked
        ]
        return {"casts": casts[:5] if chosen // 13 % 9 else casts[:3]}
    if '{"script"' in wanted:
        return {"script": "" if chosen // 17 % 5 else "Importance of Being Earnest"}
    return None


FIVE = ("WARDEN", "TENANT A", "TENANT B", "CARETAKER", "REPORTER")


def writer(call: Call) -> web.Response:
    """Writes scenes and dialogues for data sets; some of them not as they should be."""
    asked, chosen = call.messages[-1]["content"], number(call)
    if (written := _of_a_script(asked, chosen)) is not None:
        # One reply in fifty is none.
        return says(call, "I would rather not." if chosen // 13 % 50 == 0 else json.dumps(written, ensure_ascii=False))
    if '"relationships"' in asked:
        scene = {
            "domain": "housing",
            "scene": f"A hallway on a wet evening, {_invent_words(chosen, 0)}. The Intelligent Assistant keeps the list of keys.",
            "characters": list(FIVE[: 2 + chosen % 4]),
            "relationships": [f"{one} rents from {other}." for one, other in zip(FIVE[1:], FIVE, strict=False)],
            "conflicts": [{"between": list(FIVE[:2]), "over": f"the key, {place}"} for place in range(1 + chosen % 3)],
        }
        said = (
            "I would rather not.",
            json.dumps(scene | {"characters": [*FIVE, "CLERK"]}),
            json.dumps(scene | {"characters": ["Ann Miller", "WARDEN"]}),
            json.dumps(scene | {"conflicts": [{"between": ["WARDEN", "BISHOP"], "over": "the key"}]}),
        )
        return says(call, said[chosen // 7 % 16] if chosen // 7 % 16 < len(said) else json.dumps(scene))
    people = re.findall(r"^\| ([A-Z][A-Z ]+)$", asked, re.MULTILINE)
    turns = []
    for place in range(12):
        who, sentence = people[place % len(people)], SENTENCES[(chosen + place) % len(SENTENCES)]
        turns += [
            {"role_from": who, "role_to": "Intelligent Assistant", "content": f"{sentence} {_invent_words(chosen, place)}"},
            {"role_from": "Intelligent Assistant", "role_to": who, "content": _invent_words(chosen, 100 + place)},
        ]
    turns = turns[:16]
    match chosen // 11 % 12:
        case 0:
            turns[3] = turns[3] | {"role_to": "NOBODY AT ALL"}
        case 1:
            turns[3] = turns[3] | {"content": turns[0]["content"]}
        case 2:
            turns = turns[:2]
    return says(call, json.dumps({"topic": "housing", "messages": turns}))


def _invent_words(chosen: int, place: int) -> str:
    """Fourteen words that nobody says elsewhere, so that no two dialogues are alike."""
    generator = random.Random(f"{chosen} {place}")
    return " ".join(
        generator.choice("bdfgklmnprstvz")
        + generator.choice("aeiou")
        + generator.choice("lmnrst")
        + generator.choice(("", "o", "en", "ig"))
        for _ in range(14)
    )


def social(call: Call) -> web.Response:
    """Answers HSII's, AgentSense's and AntEval's prompts by what they ask."""
    chosen = number(call)
    if (answer := _interviewed(call.messages[-1]["content"], chosen)) is not None:
        return says(call, json.dumps(answer))
    text = "\n".join(message["content"] for message in call.messages)
    if text.startswith("You compare two responses"):
        return says(call, json.dumps({"reason": SENTENCES[chosen % len(SENTENCES)], "verdict": chosen % 3}))
    asked = call.messages[-1]["content"]
    form = re.findall(r'\{"role_from": "([^"]*)", "role_to": "NAME"', asked)
    names = re.findall(r'NAME is one of: ("[^\n]*")\.', asked)
    if form and names:
        characters = json.loads(f"[{names[-1]}]")
        answer = {
            "role_from": form[-1],
            "role_to": characters[chosen % len(characters)],
            "content": SENTENCES[chosen // 7 % len(SENTENCES)],
        }
        return says(call, json.dumps(answer, ensure_ascii=False))
    first, second = SENTENCES[chosen % len(SENTENCES)], SENTENCES[chosen // 7 % len(SENTENCES)]
    return says(call, first if chosen % 2 or first == second else f"{first} {second}")


def _interviewed(asked: str, chosen: int) -> dict[str, Any] | None:
    """What AgentSense and AntEval ask outside a scene, and of judges and labellers."""
    if '{"claims"' in asked:
        return {"claims": [SENTENCES[(chosen + place) % len(SENTENCES)] for place in range(chosen % 4)]}
    if '"matches"' in asked:
        return {"reason": SENTENCES[chosen % len(SENTENCES)], "matches": [[1, "A"]] * (chosen % 2)}
    if '"answer": "A"' in asked:
        return {"answer": "ABCD"[chosen % 4]}
    if '"answer": "yes"' in asked:
        return {"reason": SENTENCES[chosen % len(SENTENCES)], "answer": ("yes", "no")[chosen % 2]}
    if '{"NAME": "sender"' in asked:
        people = re.findall(r"^\| ([^:\n]+): ", asked.partition("goals:")[2], re.MULTILINE)
        return {name: ("sender", "receiver")[place % 2] for place, name in enumerate(people)}
    if '"type": "one of the eight"' in asked:
        return {"type": ("cooperation", "Competition", "no such type")[chosen % 3]}
    if '"domain": "one of the three"' in asked:
        return {"domain": "small society"}
    return None


def refuses(status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None) -> web.Response:
    """An error in OpenAI's form."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return web.json_response({"error": {"message": message, "type": kind, "code": code}}, status=status, headers=headers)


def fails(times: int, answer: Callable[[Call], web.Response]) -> Behaviour:
    """Gives ``answer`` the first ``times`` a body is asked, then answers plainly."""
    return lambda call: answer(call) if call.attempt <= times else plain(call)


def held(headers: Callable[[], dict[str, str]]) -> Callable[[Call], web.Response]:
    return lambda _: refuses(429, "Rate limit reached", "rate_limit_exceeded", headers())


def demands(accepted: Callable[[Call], bool], message: str, status: int = 400) -> Behaviour:
    """Answers plainly what is ``accepted`` and refuses the rest."""
    return lambda call: plain(call) if accepted(call) else refuses(status, message)


def plain_bytes(change: Callable[[bytes], bytes]) -> Behaviour:
    """A plain answer with its bytes changed."""
    return lambda call: web.Response(
        body=change(json.dumps(completion(call, {"content": plain_text(call)})).encode()), content_type="application/json"
    )


async def drop_once(call: Call) -> web.StreamResponse:
    if call.attempt > 1:
        return plain(call)
    assert call.request.transport is not None
    call.request.transport.abort()
    return web.Response()


async def cut_once(call: Call) -> web.StreamResponse:
    """Announces a long answer and closes the connection after a few bytes of it."""
    if call.attempt > 1:
        return plain(call)
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(call.request)
    await response.write(b'{"choices": [')
    assert call.request.transport is not None
    call.request.transport.abort()
    return response


async def stall_once(call: Call) -> web.StreamResponse:
    if call.attempt == 1:
        await asyncio.sleep(3)
    return plain(call)


_slot = asyncio.Lock()


async def one_slot(call: Call) -> web.StreamResponse:
    """Works on one call at a time, and lets the others wait."""
    async with _slot:
        await asyncio.sleep(0.2)
    return plain(call)


def streams(pieces: Callable[[Call], list[str]], pause_seconds: float = 0.0, end: str = "") -> Behaviour:
    """Sends the events one by one. At the ``end`` the connection may be cut ("cut"), or nothing more be sent ("stall")."""

    async def behave(call: Call) -> web.StreamResponse:
        if end and call.attempt > 1:
            return plain(call)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(call.request)
        for piece in pieces(call):
            await asyncio.sleep(pause_seconds)
            await response.write((piece if piece.startswith(":") else f"data: {piece}").encode() + b"\n\n")
        if end == "cut":
            assert call.request.transport is not None
            call.request.transport.abort()
        if end == "stall":
            await asyncio.sleep(3)
        return response

    return behave


def chunk(finish: str | None = None, **delta: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}, ensure_ascii=False)


def plain_pieces(call: Call) -> list[str]:
    """The plain answer word by word, as llama.cpp, vLLM and OpenAI send it."""
    usage = completion(call, {"content": plain_text(call)})["usage"]
    words = [chunk(content=word) for word in re.findall(r"\S+ ?", plain_text(call))]
    return [
        chunk(role="assistant", content=None),
        *words,
        chunk("stop"),
        json.dumps({"choices": [], "usage": usage}),
        "[DONE]",
    ]


def odd_pieces(_: Call) -> list[str]:
    return [
        ": a comment, as some gateways send them while one waits",
        chunk(role="assistant", reasoning_content="hm, "),
        chunk(reasoning_content="hm"),
        chunk(content="a\u2028"),
        chunk("length", content="b"),
        json.dumps({"usage": {"prompt_tokens": 7, "completion_tokens": 2}}),
    ]


async def slow(call: Call) -> web.StreamResponse:
    await asyncio.sleep(0.05)
    return plain(call)


def redirect(call: Call) -> web.StreamResponse:
    return web.Response(status=307, headers={"Location": f"/elsewhere{call.request.path}"})


def alternates(call: Call) -> bool:
    return all(role == ("user", "assistant")[place % 2] for place, role in enumerate(call.roles))


BEHAVIOURS: dict[str, Behaviour] = {
    "plain": plain,
    "social": social,
    "writer": writer,
    "resident": resident,
    "slow": slow,
    # Wait and try again.
    "429-once": fails(1, held(lambda: {"Retry-After": "1"})),
    # A date has whole seconds: two seconds ahead is between one and two.
    "429-date": fails(1, held(lambda: {"Retry-After": formatdate(time.time() + 2, usegmt=True)})),
    "429-ms": fails(1, held(lambda: {"retry-after-ms": "400"})),
    "429-always": held(lambda: {"retry-after-ms": "1"}),
    "429-zero": fails(1, held(lambda: {"Retry-After": "0"})),
    "500-once": fails(1, lambda _: refuses(500, "Internal error")),
    "500-twice": fails(2, lambda _: refuses(500, "Internal error")),
    "down": lambda _: refuses(503, "Overloaded"),
    "first-only": lambda call: plain(call) if call.is_first else refuses(503, "Overloaded"),
    "drop-once": drop_once,
    "cut-once": cut_once,
    "stall-once": stall_once,
    "one-slot": one_slot,
    # Streams.
    "stream": streams(plain_pieces, 0.05),
    "stream-slow": streams(plain_pieces, 0.2),
    "stream-odd": streams(odd_pieces),
    "stream-cut-once": streams(lambda call: plain_pieces(call)[:2], end="cut"),
    "stream-stall-once": streams(lambda call: plain_pieces(call)[:2], end="stall"),
    "stream-error-once": streams(lambda _: [chunk(content="plain"), '{"error": {"code": 502, "message": "died"}}'], end="over"),
    # Answers that are none.
    "not-json": lambda _: web.Response(text="I am not JSON.", content_type="application/json"),
    "html-error": lambda _: web.Response(text="<html><h1>502 Bad Gateway</h1></html>", content_type="text/html", status=502),
    "error-in-body": lambda _: web.json_response({"error": {"code": 502, "message": "upstream failed"}}),
    "error-in-choice": lambda call: web.json_response(
        completion(call, {"content": ""}, "error", error={"code": 502, "message": "upstream failed"})
    ),
    # Answers in unusual form.
    "empty": lambda call: says(call, ""),
    "null-content": lambda call: says(call, None),
    "huge": lambda call: says(call, "0123456789abcdef" * (2 * 1024 * 1024 // 16)),
    "control": lambda call: says(call, "a\x00b\x1b[31mc\x07\ud800d"),
    "raw-control": plain_bytes(lambda body: body.replace(b"plain answer", b"plain\x01\nanswer")),
    "bad-utf8": plain_bytes(lambda body: body.replace(b"plain answer", b"plain \xff\xfe answer")),
    "no-usage": lambda call: web.json_response(completion(call, {"content": plain_text(call)}, usage=False)),
    "odd-usage": plain_bytes(lambda body: re.sub(rb'"prompt_tokens": \d+', b'"prompt_tokens": 1e999', body)),
    "list-content": lambda call: says(call, [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]),
    "thinking": lambda call: says(call, "<think>I must not say this.</think>\n\nGood morning."),
    "reasoning-content": lambda call: says(call, "Good morning.", reasoning_content="I must not say this."),
    "cut-off": lambda call: says(call, "Good mor", "length"),
    "refusal": lambda call: says(call, None, refusal="I cannot help with that."),
    "filtered-400": lambda _: refuses(400, "The prompt triggered our content management policy.", "content_filter"),
    "moderated-403": lambda _: refuses(403, "This model requires moderation and your input was flagged for violence."),
    "content-filter": lambda call: says(call, "", "content_filter"),
    # What a server cannot take.
    "context-400": demands(
        lambda call: sum(len(message["content"]) for message in call.messages) <= CONTEXT_CHARACTERS,
        "This model's maximum context length is 1000 tokens. Please reduce the length of the messages.",
    ),
    "no-schema": demands(lambda call: "response_format" not in call.body, "response_format is not supported by this model"),
    "no-schema-422": lambda call: (
        plain(call)
        if "response_format" not in call.body
        else web.json_response(
            {"detail": [{"loc": ["body", "response_format"], "msg": "extra fields not permitted"}]}, status=422
        )
    ),
    "no-system": demands(lambda call: "system" not in call.roles, "Template error: System role not supported"),
    "no-system-500": demands(lambda call: "system" not in call.roles, "Jinja Exception: System role not supported", 500),
    "must-alternate": demands(alternates, "Conversation roles must alternate user/assistant/user/assistant/..."),
    "no-max-tokens": demands(
        lambda call: "max_tokens" not in call.body,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    "no-seed": demands(lambda call: "seed" not in call.body, "Unknown parameter: 'seed'."),
    "no-stream": demands(lambda call: "stream" not in call.body, "Your organization must be verified to stream this model."),
    "nothing-extra": lambda call: (
        refuses(400, "response_format is not supported")
        if "response_format" in call.body
        else refuses(400, "Use 'max_completion_tokens' instead of 'max_tokens'.")
        if "max_tokens" in call.body
        else refuses(400, "System role not supported")
        if "system" in call.roles
        else plain(call)
    ),
    # No call can succeed. The key is told back, as some gateways do.
    "unauthorized": lambda call: refuses(401, f"Incorrect API key provided: {call.authorization}.", "invalid_api_key"),
    "unknown-model": lambda call: refuses(404, f"The model '{call.body['model']}' does not exist", "model_not_found"),
    "no-quota": lambda _: refuses(429, "You exceeded your current quota, please check your plan.", "insufficient_quota"),
    "no-credit-402": lambda _: refuses(402, "Insufficient credits"),
    "redirect": redirect,
    "echo-key": lambda call: web.Response(text=f"not JSON, and your key is {call.authorization}"),
}


async def complete(request: web.Request) -> web.StreamResponse:
    """POST …/chat/completions."""
    arrived = time.monotonic()
    state = request.app[STATE]
    body = await request.json()
    digest = hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    model, authorization = body["model"], request.headers.get("Authorization")
    asked = state.asked.setdefault((model, digest, request.path), Asked(digest, model, authorization, request.path, body))
    asked.count += 1
    asked.arrivals.append(arrived)
    first = state.first_digest.setdefault(model, digest) == digest
    traffic = state.traffic.setdefault(model, Traffic())
    traffic.requests += 1
    traffic.now += 1
    traffic.peak = max(traffic.peak, traffic.now)
    traffic.connections.add(id(request.protocol))
    try:
        if state.latency_seconds:
            await asyncio.sleep(state.latency_seconds)
        behaviour = BEHAVIOURS.get(model.partition(":")[0])
        if behaviour is None:
            return refuses(404, f"The model '{model}' does not exist", "model_not_found")
        answer = behaviour(Call(request, body, digest, asked.count, authorization, first))
        return answer if isinstance(answer, web.StreamResponse) else await answer
    finally:
        traffic.now -= 1


async def requests(request: web.Request) -> web.StreamResponse:
    """GET /requests, or /requests?model=NAME."""
    state = request.app[STATE]
    wanted = request.query.get("model")
    return web.json_response(
        {
            "total": sum(traffic.requests for model, traffic in state.traffic.items() if wanted in (None, model)),
            "models": {
                model: {"requests": traffic.requests, "peak": traffic.peak, "connections": len(traffic.connections)}
                for model, traffic in state.traffic.items()
                if wanted in (None, model)
            },
            "requests": [vars(asked) for asked in state.asked.values() if wanted in (None, asked.model)],
        }
    )


STATE = web.AppKey("state", State)


async def serve(latency_seconds: float) -> None:
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app[STATE] = State(latency_seconds)
    app.add_routes(
        [
            web.post("/v1/chat/completions", complete),
            # Where ``redirect`` points to.
            web.post("/elsewhere/v1/chat/completions", complete),
            web.get("/requests", requests),
        ]
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)

    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def wait_for_end_of_input() -> None:
        while sys.stdin.buffer.read(4096):
            pass
        loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=wait_for_end_of_input, daemon=True).start()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), LONGEST_LIFE_SECONDS)
    await runner.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency-ms", type=float, default=0.0, help="before every answer")
    asyncio.run(serve(parser.parse_args().latency_ms / 1000))


if __name__ == "__main__":
    main()
