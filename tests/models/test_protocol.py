from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies

from sociable.core.records import Usage, make_storable
from sociable.models.protocol import FinishReason, Reply, Request, Sampling, Scope, split_thinking

ANYTHING = strategies.text(strategies.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("reply", "text", "thinking"),
    [
        ("Good morning.", "Good morning.", ""),
        ("  as it came \n", "  as it came \n", ""),
        ("<think>hm</think>Good morning.", "Good morning.", "hm"),
        ("\n <think>\nhm\n</think>\n\nGood morning.\n", "Good morning.", "hm"),
        ("<thinking>hm</thinking>Good morning.", "Good morning.", "hm"),
        ("<reasoning>hm</reasoning>Good morning.", "Good morning.", "hm"),
        ("<think></think>Good morning.", "Good morning.", ""),
        ("<think>a</think>\n<think>b</think> Good morning.", "Good morning.", "a\n\nb"),
        ("<think>a</think><reasoning>b</reasoning>Good morning.", "Good morning.", "a\n\nb"),
        # The token limit came before the end of the thought.
        ("<think>and then", "", "and then"),
        ("<think>a</think><think>and then", "", "a\n\nand then"),
        # The chat template has already written the opening tag.
        ("hm</think>Good morning.", "Good morning.", "hm"),
        # Who speaks of tags is not thinking.
        ("Write <think>hm</think> first.", "Write <think>hm</think> first.", ""),
        ("<think>a</think>Say </think> now.", "Say </think> now.", "a"),
        ("<thinker>hm</thinker>", "<thinker>hm</thinker>", ""),
    ],
)
def test_thoughts_are_kept_apart(reply: str, text: str, thinking: str) -> None:
    assert split_thinking(reply) == (text, thinking)


@given(ANYTHING, ANYTHING)
def test_a_leading_thought_is_never_seen(thought: str, text: str) -> None:
    seen, _ = split_thinking(f"<think>canary{thought}</think>{text}")
    assert "canary" not in seen or "canary" in text


def test_a_reply_of_thoughts_alone_is_taken_apart_at_once() -> None:
    assert split_thinking("<think></think>" * 150_000) == ("", "")


@given(ANYTHING)
def test_what_is_stored_can_be_written(text: str) -> None:
    assert make_storable(text) == make_storable(make_storable(text))
    make_storable(text).encode("utf-8")


@pytest.mark.parametrize(
    ("reply", "defect"),
    [
        (Reply("Hi", Usage()), ""),
        (Reply(" \n", Usage()), "empty"),
        (Reply("Hi", Usage(), FinishReason.LENGTH), "cut off at its token limit"),
        (Reply("", Usage(), FinishReason.LENGTH), "cut off at its token limit"),
        (Reply("No.", Usage(), FinishReason.REFUSAL), "refused"),
        (Reply("", Usage(), FinishReason.CONTENT_FILTER), "stopped by a content filter"),
    ],
)
def test_why_a_reply_cannot_stand(reply: Reply, defect: str) -> None:
    assert reply.defect == defect


def test_a_scope_counts_what_it_asks() -> None:
    def keys() -> list[bytes]:
        scope = Scope("episode", "subject", "Ada")
        return [scope.make_key(b"one"), scope.make_key(b"two"), scope.make_key(b"one")]

    # All three differ, and another scope of the same name finds them again.
    assert len(set(keys())) == 3
    assert keys() == keys()
    assert not {*keys()} & {Scope("episode", "judge", "Ada").make_key(b"one"), Scope("episode", "subject").make_key(b"one")}


def test_everything_that_is_asked_is_in_the_canonical_request() -> None:
    messages = [{"role": "user", "content": "Hé\u2028"}]
    request = Request(messages, Scope("e", "subject"), Sampling(0.5, 7, 0.9, 3), {"type": "object"})  # type: ignore[arg-type]
    assert json.loads(request.to_json("m")) == {
        "model": "m",
        "messages": messages,
        "temperature": 0.5,
        "max_tokens": 7,
        "top_p": 0.9,
        "seed": 3,
        "schema": {"type": "object"},
    }


def test_the_scope_is_no_part_of_the_canonical_request() -> None:
    one, other = (Request([], Scope(item, "subject")) for item in ("one", "other"))
    assert one.to_json("m") == other.to_json("m")
