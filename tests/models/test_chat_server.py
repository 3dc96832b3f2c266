"""The tests' own server: what other tests rely on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sociable.benchmarks.hsii.briefing import ask_for_choice, ask_to_compare, ask_to_play, ask_to_speak, load_hsii_prompts
from sociable.benchmarks.hsii.dataset import load_dataset
from sociable.benchmarks.hsii.parsing import AddressedReply, parse_reply
from sociable.judging.pairwise import parse_preference
from sociable.models.openai_compatible import OpenAICompatibleModel
from sociable.models.protocol import ChatMessage, Request, Scope

if TYPE_CHECKING:
    from tests.conftest import ChatServer

Endpoint = Callable[..., OpenAICompatibleModel]

SERVER = Path(__file__).parents[1] / "chat_server.py"


async def said(model: OpenAICompatibleModel, messages: list[ChatMessage]) -> str:
    return (await model.generate(Request(messages, Scope("episode", "subject")))).text


def test_it_stops_when_its_input_closes() -> None:
    with subprocess.Popen([sys.executable, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        assert int(process.stdout.readline()) > 0
        process.stdin.close()
        assert process.wait(timeout=10) == 0


async def test_it_counts_every_request(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("plain", key="sk-mine")
    for text in ("one", "two", "one"):
        await said(model, [{"role": "user", "content": text}])
    seen = chat_server.requests(model.name)
    assert seen["total"] == 3
    assert seen["models"][model.name]["peak"] == 1
    assert [asked["count"] for asked in seen["requests"]] == [2, 1]
    assert {(asked["model"], asked["authorization"]) for asked in seen["requests"]} == {(model.name, "Bearer sk-mine")}
    assert len({asked["digest"] for asked in seen["requests"]}) == 2
    assert chat_server.requests()["total"] >= 3


async def test_social_answers_each_of_hsiis_prompts_by_what_it_asks(endpoint: Endpoint) -> None:
    model, prompts, cases = endpoint("social"), load_hsii_prompts(), load_dataset().items
    chosen, verdicts = set(), set()
    for case in cases[:12]:
        reply = parse_reply(await said(model, ask_for_choice(case, prompts)), strict=True)
        assert isinstance(reply, AddressedReply)
        chosen.add(case.characters.index(reply.role_to))
        verdict = parse_preference(await said(model, ask_to_compare(case, "Yes.", "No.", prompts, long_run=False)))
        verdicts.add(verdict.value)
        assert verdict.reason
    # Not always the first name, and every verdict now and then.
    assert len(chosen) > 1
    assert verdicts == {0, 1, 2}
    character = cases[0].characters[0]
    for messages in (ask_to_speak(cases[0], character, prompts, long_run=True), ask_to_play(cases[0], character, prompts)):
        words = await said(model, messages)
        assert 0 < len(words) < 200
        assert "{" not in words
        assert await said(model, messages) == words
