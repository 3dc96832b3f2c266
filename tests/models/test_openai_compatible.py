"""What servers answer, and what becomes of it. The server is real; its behaviours stand in ``tests/chat_server.py``."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from sociable.core.errors import ContextLengthExceeded, EndpointUnusable, RunFailure
from sociable.core.records import Usage
from sociable.models.completions import join_neighbours, parse_completion
from sociable.models.openai_compatible import EndpointSettings, OpenAICompatibleModel, read_retry_after
from sociable.models.protocol import ChatMessage, FinishReason, Reply, Request, Sampling, Scope

if TYPE_CHECKING:
    from tests.conftest import ChatServer

Endpoint = Callable[..., OpenAICompatibleModel]

SCHEMA = {"type": "object", "properties": {"verdict": {"type": "integer"}}}


def asking(text: str = "Hello", **request: Any) -> Request:
    return Request([{"role": "user", "content": text}], Scope("episode", "subject"), **request)


def with_system(*contents: str) -> list[ChatMessage]:
    """A system message, then user and assistant in turn."""
    roles = ["system", *("user", "assistant") * len(contents)]
    return [{"role": role, "content": content} for role, content in zip(roles, contents, strict=False)]


def bodies(server: ChatServer, model: OpenAICompatibleModel) -> list[dict[str, Any]]:
    return [asked["body"] for asked in server.requests(model.name)["requests"]]


def attempts(server: ChatServer, model: OpenAICompatibleModel) -> int:
    return int(server.requests(model.name)["total"])


async def test_a_reply_has_text_and_usage(endpoint: Endpoint) -> None:
    reply = await endpoint("plain").generate(asking("one two three"))
    # "plain answer 12345678" is three words; so is the question.
    assert reply.text.startswith("plain answer ")
    assert reply == Reply(reply.text, Usage(calls=1, input_tokens=3, output_tokens=3), FinishReason.STOP)
    assert reply.defect == ""


async def test_what_is_asked_arrives_and_nothing_else(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("plain")
    sampling = Sampling(temperature=0.5, max_tokens=7, top_p=0.9, seed=3)
    await model.generate(Request(with_system("Be kind.", "Hé, „you“ \x00\u2028"), Scope("e", "subject"), sampling, SCHEMA))
    assert bodies(chat_server, model) == [
        {
            "model": model.name,
            "messages": with_system("Be kind.", "Hé, „you“ \x00\u2028"),
            "temperature": 0.5,
            "max_tokens": 7,
            "top_p": 0.9,
            "seed": 3,
            "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}},
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]


async def test_what_is_left_to_the_server_is_not_sent(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("plain")
    await model.generate(asking(sampling=Sampling(temperature=None, max_tokens=None)))
    assert [set(body) for body in bodies(chat_server, model)] == [{"model", "messages", "stream", "stream_options"}]


async def test_a_slash_after_the_address_is_not_doubled(chat_server: ChatServer) -> None:
    model = OpenAICompatibleModel("plain", "plain", EndpointSettings(chat_server.url + "/"))
    assert (await model.generate(asking())).text
    await model.close()


@pytest.mark.parametrize(
    ("behaviour", "text", "finish", "thinking", "defect"),
    [
        ("empty", "", FinishReason.STOP, "", "empty"),
        ("null-content", "", FinishReason.STOP, "", "empty"),
        ("list-content", "one two", FinishReason.STOP, "", ""),
        ("thinking", "Good morning.", FinishReason.STOP, "I must not say this.", ""),
        ("reasoning-content", "Good morning.", FinishReason.STOP, "I must not say this.", ""),
        ("cut-off", "Good mor", FinishReason.LENGTH, "", "cut off at its token limit"),
        ("refusal", "I cannot help with that.", FinishReason.REFUSAL, "", "refused"),
        ("filtered-400", "", FinishReason.CONTENT_FILTER, "", "stopped by a content filter"),
        ("moderated-403", "", FinishReason.CONTENT_FILTER, "", "stopped by a content filter"),
        ("content-filter", "", FinishReason.CONTENT_FILTER, "", "stopped by a content filter"),
        # A lone surrogate has no place in a file: it becomes a question mark. All else is kept as it came.
        ("control", "a\x00b\x1b[31mc\x07?d", FinishReason.STOP, "", ""),
    ],
)
async def test_the_agents_failings_are_results(
    endpoint: Endpoint,
    chat_server: ChatServer,
    behaviour: str,
    text: str,
    finish: FinishReason,
    thinking: str,
    defect: str,
) -> None:
    model = endpoint(behaviour)
    reply = await model.generate(asking())
    assert (reply.text, reply.finish, reply.thinking, reply.defect) == (text, finish, thinking, defect)
    assert attempts(chat_server, model) == 1


async def test_a_long_reply_is_whole(endpoint: Endpoint) -> None:
    # 2 MB: 131072 times sixteen characters.
    assert (await endpoint("huge").generate(asking())).text == "0123456789abcdef" * 131_072


async def test_a_reply_beyond_all_measure_is_not_read(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sociable.models.openai_compatible.MAX_REPLY_BYTES", 1_000_000)
    with pytest.raises(RunFailure, match="sent more than 1000000 bytes in one reply"):
        await endpoint("huge").generate(asking())


async def test_bytes_that_are_no_text_are_replaced(endpoint: Endpoint) -> None:
    assert (await endpoint("bad-utf8").generate(asking())).text.startswith("plain \ufffd\ufffd answer ")


async def test_control_characters_that_json_forbids_do_not_lose_the_reply(endpoint: Endpoint) -> None:
    assert (await endpoint("raw-control").generate(asking())).text.startswith("plain\x01\nanswer ")


async def test_without_usage_tokens_are_estimated_so_that_a_cost_limit_holds(endpoint: Endpoint) -> None:
    reply = await endpoint("no-usage").generate(asking("x" * 400))
    # 400 characters asked are 100 tokens; "plain answer 12345678" has 21, so 6.
    assert reply.usage == Usage(calls=1, input_tokens=100, output_tokens=6)


async def test_usage_that_is_no_number_does_not_lose_the_reply(endpoint: Endpoint) -> None:
    # The input's count is infinite; the output's is the three words of "plain answer 12345678".
    assert (await endpoint("odd-usage").generate(asking())).usage == Usage(calls=1, output_tokens=3)


@pytest.mark.parametrize("counted", ['"many"', "-5", "null", "[]", "1e30", "NaN", "true", '{"a": 1}'])
@pytest.mark.parametrize("usage", ['{"prompt_tokens": %s}', "%s"])
def test_usage_is_a_count_or_nothing(usage: str, counted: str) -> None:
    reply = parse_completion(f'{{"choices": [{{"message": {{"content": "Hi"}}}}], "usage": {usage % counted}}}'.encode())
    assert (reply.text, reply.usage) == ("Hi", Usage(calls=1))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": 5}}]}',
        b'{"choices": [{"message": {"content": ["text"]}}]}',
        b"[" * 100_000,
    ],
)
async def test_what_is_no_completion_is_asked_again(body: bytes) -> None:
    with pytest.raises(Exception, match="not a chat completion") as caught:
        parse_completion(body)
    assert type(caught.value).__name__ == "TransientError"


@pytest.mark.parametrize("behaviour", ["500-twice", "drop-once", "cut-once", "429-zero"])
async def test_a_passing_fault_is_not_noticed(endpoint: Endpoint, chat_server: ChatServer, behaviour: str) -> None:
    model = endpoint(behaviour)
    assert (await model.generate(asking())).text.startswith("plain answer ")
    assert attempts(chat_server, model) == (3 if behaviour == "500-twice" else 2)


async def test_what_may_still_be_in_work_is_not_sent_again(endpoint: Endpoint, chat_server: ChatServer) -> None:
    # The server takes three seconds for its first answer.
    model = endpoint("stall-once", timeout_seconds=0.3)
    with pytest.raises(EndpointUnusable, match=r"has not begun to answer .* within 0.3 s\. It can be reached, but is slow"):
        await model.generate(asking())
    assert attempts(chat_server, model) == 1
    # When the run is resumed, it is asked for again.
    assert (await model.generate(asking())).text.startswith("plain answer ")


async def test_a_call_may_wait_while_the_server_answers_others(endpoint: Endpoint, chat_server: ChatServer) -> None:
    # Ten calls of 0.2 s on a server that takes one at a time: the last waits for two seconds, twice the time-out.
    model = endpoint("one-slot", timeout_seconds=1.0, max_connections=10)
    replies = await asyncio.gather(*(model.generate(asking(f"Hello {number}")) for number in range(10)))
    assert len({reply.text for reply in replies}) == 10
    assert attempts(chat_server, model) == 10
    assert max(reply.timing.whole for reply in replies if reply.timing) > 1.5


async def test_a_stream_is_put_together(endpoint: Endpoint) -> None:
    plain, streamed = [await endpoint(name).generate(asking("one two three")) for name in ("plain", "stream")]
    assert streamed == plain
    assert plain.timing is not None and plain.timing.first_token is None
    assert streamed.timing is not None and streamed.timing.first_token is not None
    # The first word comes after 50 ms and the others after as long again.
    assert 0.05 <= streamed.timing.first_token <= streamed.timing.whole - 0.04


async def test_a_streams_odd_parts_are_read(endpoint: Endpoint) -> None:
    reply = await endpoint("stream-odd").generate(asking())
    assert (reply.text, reply.thinking, reply.finish) == ("a\u2028b", "hm, hm", FinishReason.LENGTH)
    assert reply.usage == Usage(calls=1, input_tokens=7, output_tokens=2)


@pytest.mark.parametrize("behaviour", ["stream-cut-once", "stream-error-once", "stream-stall-once"])
async def test_a_stream_that_breaks_off_is_asked_for_again(endpoint: Endpoint, chat_server: ChatServer, behaviour: str) -> None:
    model = endpoint(behaviour, timeout_seconds=0.5)
    assert (await model.generate(asking())).text.startswith("plain answer ")
    assert attempts(chat_server, model) == 2


async def test_a_stream_may_take_longer_than_the_time_out(endpoint: Endpoint, chat_server: ChatServer) -> None:
    # Eight pieces, 0.2 s apart: no silence is as long as a second.
    model = endpoint("stream-slow", timeout_seconds=1.0)
    reply = await model.generate(asking())
    assert reply.timing is not None and reply.timing.whole > 1.2
    assert attempts(chat_server, model) == 1


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        ("down", "HTTP 503: Overloaded"),
        ("not-json", "not a chat completion: 'I am not JSON.'"),
        ("html-error", "HTTP 502: <html><h1>502 Bad Gateway</h1></html>"),
        ("error-in-body", "not a chat completion.*upstream failed"),
        ("error-in-choice", "upstream failed"),
    ],
)
async def test_an_endpoint_that_never_answered_stops_the_run(
    endpoint: Endpoint, chat_server: ChatServer, behaviour: str, problem: str
) -> None:
    model = endpoint(behaviour, attempts=2)
    with pytest.raises(EndpointUnusable, match=rf"{problem}.*\(after 2 attempts\).*No call to it has succeeded"):
        await model.generate(asking())
    assert attempts(chat_server, model) == 2


async def test_an_endpoint_that_answered_before_fails_one_episode(endpoint: Endpoint) -> None:
    model = endpoint("first-only", attempts=2)
    await model.generate(asking("first"))
    with pytest.raises(RunFailure, match=r"HTTP 503: Overloaded \(after 2 attempts\)$"):
        await model.generate(asking("second"))
    assert (await model.generate(asking("first"))).text


async def test_nobody_at_the_address() -> None:
    with socket.socket() as nobody:
        # Bound and not listening: the port stays ours, and connections to it are refused.
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        model = OpenAICompatibleModel("m", "m", EndpointSettings(url, attempts=2))
        with pytest.raises(EndpointUnusable, match=r"check the address and that the server is running") as caught:
            await model.generate(asking())
        assert url in str(caught.value)
        await model.close()


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8000/v1",
        "localhost",
        "",
        "ftp://127.0.0.1/v1",
        "http://",
        "http://[::1/v1",
        "http://a:99999999/v1",
        "http://a:b/v1",
    ],
)
async def test_an_address_that_is_none(url: str) -> None:
    model = OpenAICompatibleModel("m", "m", EndpointSettings(url, attempts=1))
    with pytest.raises(EndpointUnusable, match=r"is not an address\. Give --base-url as http://host:port/v1"):
        await model.generate(asking())
    await model.close()


async def test_a_host_whose_name_cannot_be() -> None:
    # Labels of a host name have at most 63 characters.
    model = OpenAICompatibleModel("m", "m", EndpointSettings(f"http://{'a' * 64}.invalid/v1", attempts=1))
    with pytest.raises(EndpointUnusable):
        await model.generate(asking())
    await model.close()


@pytest.mark.parametrize(
    ("behaviour", "advice"),
    [
        ("unauthorized", "refuses the key .* Set OPENAI_API_KEY"),
        ("unknown-model", "does not exist. Check the model's name and the address"),
        ("no-quota", "no credit left: .* Top it up, then resume"),
        ("no-credit-402", "no credit left: .*Insufficient credits. Top it up, then resume"),
        ("redirect", r"redirects \(HTTP 307\). Give --base-url the final address"),
    ],
)
async def test_no_call_can_succeed(endpoint: Endpoint, chat_server: ChatServer, behaviour: str, advice: str) -> None:
    model = endpoint(behaviour, key="sk-0123456789")
    with pytest.raises(EndpointUnusable, match=advice):
        await model.generate(asking())
    assert attempts(chat_server, model) == 1


async def test_a_prompt_longer_than_the_context_fails_one_episode(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("context-400")
    with pytest.raises(ContextLengthExceeded, match="maximum context length is 1000 tokens"):
        await model.generate(asking("x" * 4001))
    assert (await model.generate(asking("x" * 4000))).text
    assert attempts(chat_server, model) == 2


async def test_a_stated_context_window_keeps_the_call_at_home(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("plain", context_window=110)
    # 400 characters are about 100 tokens, and 110 - 10 are free.
    assert (await model.generate(asking("x" * 400, sampling=Sampling(max_tokens=10)))).text
    with pytest.raises(ContextLengthExceeded, match=r"about 101 tokens; .* room for 100 .*110 less 10"):
        await model.generate(asking("x" * 404, sampling=Sampling(max_tokens=10)))
    assert attempts(chat_server, model) == 1


@pytest.mark.parametrize(
    ("behaviour", "learnt"),
    [
        ("no-schema", ["no structured output"]),
        ("no-schema-422", ["no structured output"]),
        ("no-max-tokens", ["max_completion_tokens"]),
        ("no-seed", ["no seed"]),
        ("no-stream", ["no streaming"]),
        ("no-system", ["no system role"]),
        ("no-system-500", ["no system role"]),
        ("must-alternate", ["no system role"]),
        ("nothing-extra", ["no structured output", "max_completion_tokens", "no system role"]),
    ],
)
async def test_what_a_server_cannot_take_is_learnt_once(
    endpoint: Endpoint, chat_server: ChatServer, behaviour: str, learnt: list[str]
) -> None:
    model = endpoint(behaviour)
    request = Request(with_system("Be kind.", "Hello"), Scope("e", "subject"), Sampling(seed=1), SCHEMA)
    first = await model.generate(request)
    assert first.text.startswith("plain answer ")
    assert model.adaptations == learnt
    # One request for each lesson and one that is answered; the second time none is refused.
    assert attempts(chat_server, model) == len(learnt) + 1
    assert await model.generate(request) == first
    assert attempts(chat_server, model) == len(learnt) + 2


@pytest.mark.parametrize("behaviour", ["no-schema", "no-max-tokens", "no-seed", "no-system", "must-alternate", "nothing-extra"])
async def test_calls_under_way_learn_together(endpoint: Endpoint, behaviour: str) -> None:
    model = endpoint(behaviour)
    requests = [
        Request(with_system("Be kind.", f"Hello {number}"), Scope("e", "subject"), Sampling(seed=1), SCHEMA)
        for number in range(8)
    ]
    replies = await asyncio.gather(*(model.generate(request) for request in requests))
    assert len({reply.text for reply in replies}) == 8
    assert len(model.adaptations) == len(set(model.adaptations))


async def test_an_adaptation_changes_only_what_was_refused(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("no-max-tokens")
    await model.generate(asking(sampling=Sampling(max_tokens=7, seed=1)))
    refused, answered = bodies(chat_server, model)
    assert refused.pop("max_tokens") == answered.pop("max_completion_tokens") == 7
    assert refused == answered


async def test_a_system_message_goes_to_the_head_of_the_users_first(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("no-system")
    await model.generate(Request(with_system("Be kind.", "Hello", "Hi", "Well?"), Scope("e", "subject")))
    assert bodies(chat_server, model)[-1]["messages"] == [
        {"role": "user", "content": "Be kind.\n\nHello"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "Well?"},
    ]


async def test_a_system_message_alone_becomes_the_users(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("no-system")
    await model.generate(Request(with_system("Be kind."), Scope("e", "subject")))
    assert bodies(chat_server, model)[-1]["messages"] == [{"role": "user", "content": "Be kind."}]


async def test_a_system_message_in_the_middle_is_refused_and_not_asked_forever(endpoint: Endpoint) -> None:
    model = endpoint("no-system", attempts=2)
    messages: list[ChatMessage] = [{"role": "user", "content": "Hello"}, {"role": "system", "content": "Be kind."}]
    with pytest.raises(RunFailure, match="System role not supported"):
        await model.generate(Request(messages, Scope("e", "subject")))


def test_neighbours_of_one_role_are_joined() -> None:
    messages: list[ChatMessage] = [
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "assistant", "content": "c"},
        {"role": "user", "content": "d"},
    ]
    assert [(message["role"], message["content"]) for message in join_neighbours(messages)] == [
        ("user", "a\n\nb"),
        ("assistant", "c"),
        ("user", "d"),
    ]
    assert len(messages) == 4
    assert join_neighbours(messages[1:]) == messages[1:]


async def test_what_no_adaptation_mends_fails_one_episode(endpoint: Endpoint, chat_server: ChatServer) -> None:
    # The server refuses a schema, and none was asked for: nothing can be left out.
    model = endpoint("nothing-extra")
    assert (await model.generate(asking(sampling=Sampling(max_tokens=None)))).text
    assert model.adaptations == []
    assert attempts(chat_server, model) == 1


def test_a_model_may_be_made_before_the_event_loop(chat_server: ChatServer) -> None:
    model = OpenAICompatibleModel("plain", "plain", EndpointSettings(chat_server.url, requests_per_minute=6000))

    async def use() -> str:
        reply = await model.generate(asking())
        await model.close()
        return reply.text

    assert asyncio.run(use()).startswith("plain answer ")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "1e999"}, None),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers) == seconds
