"""A key goes into one header of one server, and nowhere else."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sociable.core.errors import InputError, SociableError
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget
from sociable.models.openai_compatible import EndpointSettings, OpenAICompatibleModel
from sociable.models.protocol import Request, Scope

if TYPE_CHECKING:
    from tests.conftest import ChatServer

Endpoint = Callable[..., OpenAICompatibleModel]

KEY = "sk-canary-0123456789abcdef"


def asking(text: str = "Hello") -> Request:
    return Request([{"role": "user", "content": text}], Scope("episode", "subject"))


def authorizations(server: ChatServer, model: OpenAICompatibleModel) -> list[str | None]:
    return [asked["authorization"] for asked in server.requests(model.name)["requests"]]


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and all it came from, also what a traceback does not show."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


async def test_the_key_is_sent_in_the_authorization_header_alone(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("plain", key=KEY)
    await model.generate(asking())
    assert authorizations(chat_server, model) == [f"Bearer {KEY}"]
    assert KEY not in json.dumps([asked["body"] for asked in chat_server.requests(model.name)["requests"]])


async def test_without_a_key_nothing_is_sent(
    endpoint: Endpoint, chat_server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Credentials that stand in ~/.netrc for other programs are none of this server's business.
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    model = endpoint("plain")
    await model.generate(asking())
    assert authorizations(chat_server, model) == [None]


async def test_the_key_is_not_replaced_by_what_stands_in_netrc(
    endpoint: Endpoint, chat_server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    model = endpoint("plain", key=KEY)
    await model.generate(asking())
    assert authorizations(chat_server, model) == [f"Bearer {KEY}"]


@pytest.mark.parametrize(
    "behaviour",
    [
        "plain",
        "down",
        "not-json",
        "error-in-choice",
        "echo-key",
        "unauthorized",
        "unknown-model",
        "no-quota",
        "redirect",
        "drop-once",
    ],
)
async def test_the_key_is_in_no_message_record_or_file(
    endpoint: Endpoint, behaviour: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    asyncio.get_running_loop().set_debug(True)
    settings = EndpointSettings("http://127.0.0.1:9", KEY)
    model = endpoint(behaviour, key=KEY, attempts=1)
    texts = [repr(settings), str(settings), repr(model)]
    with Journal(tmp_path / "calls.sqlite") as journal:
        try:
            texts.append(repr(await JournalledModel(model, journal, Budget({})).generate(asking())))
        except SociableError as error:
            texts += [*traceback.format_exception(error), *(f"{link!r} {link}" for link in chain(error))]
            logging.getLogger("sociable").error("failed", exc_info=error)
        files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert "calls.sqlite-wal" in files
    files |= {f"{file.name}, closed": file.read_bytes() for file in tmp_path.iterdir()}
    assert not [text for text in texts if KEY in text]
    assert KEY not in caplog.text
    assert not [name for name, content in files.items() if KEY.encode() in content]


async def test_a_redirect_is_not_followed(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("redirect", key=KEY)
    with pytest.raises(SociableError, match="redirects"):
        await model.generate(asking())
    assert [asked["path"] for asked in chat_server.requests(model.name)["requests"]] == ["/v1/chat/completions"]


@pytest.mark.parametrize("placeholder", ["x", "a", "1", "null", "none", "EMPTY", "plain"])
async def test_a_placeholder_for_a_key_garbles_nothing(endpoint: Endpoint, placeholder: str) -> None:
    reply = await endpoint("plain", key=placeholder).generate(asking())
    assert reply.text.startswith("plain answer ")
    with pytest.raises(SociableError, match=r"The model 'unknown-model:[^']*' does not exist"):
        await endpoint("unknown-model", key=placeholder).generate(asking())


async def test_a_line_break_at_the_end_of_a_key_does_not_matter(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("plain", key=f" {KEY}\r\n")
    await model.generate(asking())
    assert authorizations(chat_server, model) == [f"Bearer {KEY}"]


@pytest.mark.parametrize("key", ["sk-one\nX-Other: two", "sk-\x00", "sk-„quoted“"])
def test_a_key_that_cannot_be_one_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(InputError, match="The key for m holds") as caught:
        OpenAICompatibleModel("m", "m", EndpointSettings("http://127.0.0.1:9/v1", key))
    assert "sk-" not in str(caught.value)


PROXIED = """
import asyncio, sys
from sociable.models.openai_compatible import EndpointSettings, OpenAICompatibleModel
from sociable.models.protocol import Request, Scope

async def main(url):
    model = OpenAICompatibleModel("plain", "plain", EndpointSettings(url, attempts=1))
    reply = await model.generate(Request([{"role": "user", "content": "through a proxy"}], Scope("e", "subject")))
    await model.close()
    print(reply.text)

asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize(("no_proxy", "answered"), [("", True), ("host.invalid", False)])
def test_the_proxy_of_the_environment_is_used(chat_server: ChatServer, no_proxy: str, answered: bool) -> None:
    # The address does not exist: only the proxy, here the server itself, can answer.
    done: Any = subprocess.run(
        [sys.executable, "-c", PROXIED, "http://host.invalid/v1"],
        env={"PATH": "", "http_proxy": chat_server.address, "no_proxy": no_proxy},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode == 0) == answered, done.stderr
    assert done.stdout.startswith("plain answer ") == answered


async def test_a_proxys_password_is_in_no_message(chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    # The server knows no CONNECT and refuses it; aiohttp then names the proxy's whole address.
    proxy = chat_server.address.replace("://", "://user:PROXYSECRET%40p@")
    monkeypatch.setenv("https_proxy", proxy)
    monkeypatch.setenv("no_proxy", "")
    model = OpenAICompatibleModel("m", "m", EndpointSettings("https://host.invalid/v1", attempts=1))
    with pytest.raises(SociableError, match="ClientHttpProxyError") as caught:
        await model.generate(asking())
    await model.close()
    told = [*traceback.format_exception(caught.value), *(f"{link!r} {link}" for link in chain(caught.value))]
    assert not [text for text in told if "SECRET" in text or "user" in text]
    assert chat_server.address.removeprefix("http://") in str(caught.value)
