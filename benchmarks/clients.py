"""Those who do the work: sociable through its rooms, and clients that only send the same requests.

Each is ``async (work, base_url, folder) -> None`` and keeps to ``work.connections`` calls at a time.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Never, TypeVar

import aiohttp
from workload import CAST, GOLDEN, MAX_TOKENS, Work, briefing, question, question_body, turn_body

from sociable.agents.prompted import PromptedParticipant
from sociable.core.records import Episode, Judgment
from sociable.core.run_folder import RecordFile
from sociable.dialogue.conversation import Conversation, RoundRobin, run_conversation
from sociable.engine.phases import Progress, run_phase
from sociable.engine.seats import Role, Seat
from sociable.judging.pairwise import VERDICT_SCHEMA, Comparison, Pair, make_pair_question
from sociable.judging.protocol import judge_question, make_judgment_id
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget, Price
from sociable.models.openai_compatible import EndpointSettings, OpenAICompatibleModel
from sociable.models.protocol import Model, Request, Sampling, Scope

Client = Callable[[Work, str, Path], Awaitable[None]]
Send = Callable[[dict[str, Any]], Awaitable[str]]
"""Sends one body; gives the text of the reply."""
T = TypeVar("T")

SAMPLING = Sampling(max_tokens=MAX_TOKENS)


async def run_sociable(work: Work, base_url: str, folder: Path) -> None:
    """Runs and judges as ``runner.run.Run`` does, journal and record files in ``folder``."""
    budget = Budget({"openai-compatible/m": Price(input=1, output=2)})
    endpoint = EndpointSettings(base_url, max_connections=work.connections)
    episodes, judgments = record_files(folder)
    with Journal(folder / "calls.sqlite") as journal:
        model = JournalledModel(OpenAICompatibleModel("openai-compatible/m", "m", endpoint), journal, budget)

        async def play(number: int) -> Episode:
            return await play_episode(f"{number}#0", work.turns, model)

        async def judge(task: tuple[str, int]) -> Judgment:
            return await judge_episode(episodes.read(task[0]), task[1], model)

        def tasks() -> Iterator[tuple[str, int]]:
            return ((episode.id, number) for episode in episodes for number in range(work.questions))

        await _phase("episodes", range(work.episodes), work.episodes, play, episodes, budget, work)
        episodes.arrange([f"{number}#0" for number in range(work.episodes)])
        await _phase("judgments", tasks(), work.episodes * work.questions, judge, judgments, budget, work)
        judgments.arrange([make_judgment_id(identifier, str(number), model.name) for identifier, number in tasks()])
        await model.close()


async def play_episode(identifier: str, turns: int, model: Model) -> Episode:
    """Three prompted participants, in turn."""
    people = {
        name: PromptedParticipant(name, model, briefing(name), scope=Scope(identifier, "subject", name), sampling=SAMPLING)
        for name in CAST
    }
    conversation = Conversation()
    await run_conversation(conversation, people, RoundRobin(), turns=turns)
    assert len(conversation.turns) == turns
    usage = {"subject": sum((person.scope.usage for person in list(people.values())[1:]), people[CAST[0]].scope.usage)}
    scenario = identifier.partition("#")[0]
    return Episode(id=identifier, scenario=scenario, cluster=scenario, turns=tuple(conversation.turns), usage=usage)


async def judge_episode(episode: Episode, number: int, model: Model) -> Judgment:
    """One question about an episode."""
    judge = Seat(Role.JUDGE, model.name, model, SAMPLING)
    pair = Pair(subject="\n".join(f"{turn.speaker}: {turn.content}" for turn in episode.turns), golden=GOLDEN)
    comparison = Comparison(question, lambda _text: (0.0, ""))
    one = make_pair_question(pair, comparison, subject_first=True)
    return await judge_question(one, lambda verdict: verdict, judge, episode, str(number))


def record_files(folder: Path) -> tuple[RecordFile[Episode], RecordFile[Judgment]]:
    return (
        RecordFile(folder / "episodes.jsonl", Episode),
        RecordFile(folder / "judgments.jsonl", Judgment),
    )


def table_bytes(folder: Path) -> int:
    """What the ids and offsets of all records occupy in memory."""
    tables = [file._offsets for file in record_files(folder)]
    entries = [each for table in tables for entry in table.items() for each in entry]
    return sum(map(sys.getsizeof, tables)) + sum(map(sys.getsizeof, entries))


async def _phase(
    name: str,
    items: Iterable[T],
    total: int,
    each: Callable[[T], Awaitable[Any]],
    file: RecordFile[Any],
    budget: Budget,
    work: Work,
) -> None:
    await run_phase(items, each, _failed, file, budget, Progress(name, total), at_once=work.connections)
    assert len(file) == total


def _failed(item: object, reason: str) -> Never:
    raise RuntimeError(f"{item}: {reason}")


async def run_model_alone(work: Work, base_url: str, _folder: Path) -> None:
    """sociable's client for such endpoints, without journal, budget, participants, judges and records."""
    model = OpenAICompatibleModel("openai-compatible/m", "m", EndpointSettings(base_url, max_connections=work.connections))
    scope = Scope("0#0", "subject")

    async def send(body: dict[str, Any]) -> str:
        schema = VERDICT_SCHEMA if "response_format" in body else None
        return (await model.generate(Request(body["messages"], scope, SAMPLING, schema))).text

    await _send_all(work, send)
    await model.close()


async def run_bare(work: Work, base_url: str, _folder: Path) -> None:
    """aiohttp, and nothing else."""
    connector = aiohttp.TCPConnector(limit=work.connections)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def send(body: dict[str, Any]) -> str:
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                return _text(json.loads(await response.read()))

        await _send_all(work, send)


async def run_openai_post(work: Work, base_url: str, _folder: Path) -> None:
    """The openai client's fastest path: its ``post``, on aiohttp, the answer left as it came."""
    openai: Any = importlib.import_module("openai")
    async with openai.AsyncOpenAI(base_url=base_url, api_key="none", http_client=openai.DefaultAioHttpClient()) as client:

        async def send(body: dict[str, Any]) -> str:
            return _text(json.loads(await client.post("/chat/completions", cast_to=str, body=body)))

        await _send_all(work, send)


async def run_openai_create(work: Work, base_url: str, _folder: Path) -> None:
    """The openai client as its documentation has it, on aiohttp."""
    openai: Any = importlib.import_module("openai")
    async with openai.AsyncOpenAI(base_url=base_url, api_key="none", http_client=openai.DefaultAioHttpClient()) as client:

        async def send(body: dict[str, Any]) -> str:
            completion = await client.chat.completions.create(**body)
            return str(completion.choices[0].message.content)

        await _send_all(work, send)


CLIENTS: dict[str, Client] = {
    "sociable": run_sociable,
    "its model alone": run_model_alone,
    "bare aiohttp": run_bare,
    "openai post": run_openai_post,
    "openai create": run_openai_create,
}


async def _send_all(work: Work, send: Send) -> None:
    """All dialogues at once up to the connections, then the questions."""
    turns = [turn_body(index) for index in range(work.turns)]
    asked = question_body(work.turns)

    async def play(_episode: int) -> None:
        for body in turns:
            assert await send(body)

    async def judge(_question: int) -> None:
        assert await send(asked)

    await _at_once(range(work.episodes), play, work.connections)
    await _at_once(range(work.episodes * work.questions), judge, work.connections)


async def _at_once(items: Iterable[int], each: Callable[[int], Awaitable[None]], at_once: int) -> None:
    pending = iter(items)

    async def worker() -> None:
        for item in pending:
            await each(item)

    await asyncio.gather(*(worker() for _ in range(at_once)))


def _text(completion: Any) -> str:
    return str(completion["choices"][0]["message"]["content"])
