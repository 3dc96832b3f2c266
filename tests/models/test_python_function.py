"""A user's own agent: whatever it does, the run knows whose failure it was."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sociable.core.errors import InputError, RunFailure
from sociable.core.records import Usage
from sociable.models.protocol import Reply, Request, Scope
from sociable.models.python_function import FunctionModel, load_function


def asking(*contents: str) -> Request:
    return Request([{"role": "user", "content": content} for content in contents or ("Hello",)], Scope("episode", "subject"))


async def answer(function: Callable[..., Any], request: Request | None = None) -> Reply:
    model = FunctionModel("python:mine.py:reply", function, 4)
    try:
        return await model.generate(request or asking())
    finally:
        await model.close()


def written(folder: Path, code: str, function: str = "reply", file: str = "mine.py") -> str:
    """The model's name for a function in a file with this code."""
    (folder / file).write_text(code, encoding="utf-8")
    return f"python:{folder / file}:{function}"


async def test_it_is_given_the_messages_and_gives_the_reply(tmp_path: Path) -> None:
    name = written(tmp_path, "def reply(messages):\n    return ' | '.join(f\"{m['role']}: {m['content']}\" for m in messages)")
    assert await answer(load_function(name), asking("a", "b")) == Reply("user: a | user: b", Usage(calls=1))


async def test_it_may_be_async(tmp_path: Path) -> None:
    name = written(tmp_path, "import asyncio\nasync def reply(messages):\n    await asyncio.sleep(0)\n    return 'Hi'")
    assert (await answer(load_function(name))).text == "Hi"


async def later(prefix: str, messages: list[Any]) -> str:
    return prefix + str(messages[0]["content"])


class Agent:
    async def __call__(self, messages: list[Any]) -> str:
        return await later("Agent: ", messages)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (functools.partial(later, "Part: "), "Part: Hello"),
        (Agent(), "Agent: Hello"),
        (lambda messages: later("Lambda: ", messages), "Lambda: Hello"),
    ],
)
async def test_whatever_has_to_be_awaited_is_awaited(function: Callable[..., Any], text: str) -> None:
    assert (await answer(function)).text == text


async def test_its_thoughts_are_kept_apart() -> None:
    reply = await answer(lambda _: "<think>hm</think>Hi \ud800")
    assert (reply.text, reply.thinking) == ("Hi ?", "hm")


async def test_it_cannot_change_the_conversation() -> None:
    def meddle(messages: list[Any]) -> str:
        messages[0]["content"] = "changed"
        messages.clear()
        return "Hi"

    request = asking()
    await answer(meddle, request)
    assert request.messages == [{"role": "user", "content": "Hello"}]


def stop(_: object) -> str:
    return next(iter(()))


def leave(_: object) -> str:
    raise SystemExit("no key")


async def leave_async(_: object) -> str:
    raise SystemExit("no key")


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda _: {}["missing"], "KeyError: 'missing'"),
        (later, "TypeError: .*missing 1 required positional argument"),
        (leave, "SystemExit: no key"),
        (leave_async, "SystemExit: no key"),
        (stop, "StopIteration"),
    ],
)
async def test_what_it_raises_fails_one_episode(function: Callable[..., Any], problem: str) -> None:
    with pytest.raises(RunFailure, match=f"python:mine.py:reply raised .*{problem}"):
        await asyncio.wait_for(answer(function), 5)


@pytest.mark.parametrize(("returned", "kind"), [(None, "NoneType"), (b"Hi", "bytes"), ({"content": "Hi"}, "dict"), (5, "int")])
async def test_what_is_no_string_fails_one_episode(returned: object, kind: str) -> None:
    with pytest.raises(RunFailure, match=f"python:mine.py:reply returned {kind}; it must return the reply as a string"):
        await answer(lambda _: returned)


async def test_as_many_at_once_as_connections_are_allowed() -> None:
    # Nobody passes before all twenty are there.
    gathering = threading.Barrier(20, timeout=10)
    now, most = 0, 0
    lock = threading.Lock()

    def meet(_: object) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        gathering.wait()
        with lock:
            now -= 1
        return "Hi"

    model = FunctionModel("python:mine.py:meet", meet, 20)
    replies = await asyncio.gather(*(model.generate(asking(f"{number}")) for number in range(40)))
    await model.close()
    assert [reply.text for reply in replies] == ["Hi"] * 40
    assert most == 20


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("python:mine.py", "names no function: write python:file.py:function"),
        ("python:", "names no function"),
        ("python::reply", "there is no file"),
        ("python:missing.py:reply", "there is no file missing.py"),
    ],
)
def test_a_name_that_names_nothing(name: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        load_function(name)


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("x = 1", "has no function 'reply'"),
        ("reply = 'Hi'", "has no function 'reply'"),
        ("def reply(:", "importing .*mine.py raised SyntaxError"),
        ("import no_such_package", "importing .*mine.py raised ModuleNotFoundError: No module named 'no_such_package'"),
        ("1 / 0", "importing .*mine.py raised ZeroDivisionError"),
        ("raise SystemExit('usage: mine.py')", "importing .*mine.py raised SystemExit: usage: mine.py"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, code: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        load_function(written(tmp_path, code))


def test_a_file_that_is_not_python(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a Python file"):
        load_function(written(tmp_path, "def reply(messages): ...", file="mine.txt"))


async def test_its_file_may_define_dataclasses(tmp_path: Path) -> None:
    # Dataclasses look their module up by name.
    code = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n\n"
        "@dataclass\nclass Mood:\n    word: str\n\n"
        "def reply(messages):\n    return Mood('glad').word"
    )
    assert (await answer(load_function(written(tmp_path, code)))).text == "glad"


async def test_a_file_named_like_a_module_does_not_take_its_place(tmp_path: Path) -> None:
    name = written(tmp_path, "import json\n\ndef reply(messages):\n    return json.dumps('Hi')", file="json.py")
    assert (await answer(load_function(name))).text == '"Hi"'
    import json

    assert json.loads('"Hi"') == "Hi"
