"""A real language model in this process: SmolLM2 with 135 M parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sociable.core.errors import ContextLengthExceeded, InputError
from sociable.engine.registry import build_model
from sociable.engine.settings import RoleSettings
from sociable.models.protocol import FinishReason, Model, Request, Sampling, Scope

pytestmark = pytest.mark.extra


@pytest.fixture(scope="module")
def model() -> Model:
    pytest.importorskip("xllamacpp", reason="needs the extra sociable[local]")
    try:
        return build_model("local/smollm2", RoleSettings())
    except InputError as problem:
        pytest.skip(str(problem))


def asking(text: str, schema: dict[str, Any] | None = None, **sampling: Any) -> Request:
    messages: Any = [{"role": "system", "content": "You answer in a few words."}, {"role": "user", "content": text}]
    return Request(messages, Scope("episode", "subject"), Sampling(**{"max_tokens": 12, **sampling}), schema)


async def test_it_answers_and_its_tokens_and_its_time_are_counted(model: Model) -> None:
    reply = await model.generate(asking("What is the capital of France?"))
    assert "Paris" in reply.text
    assert reply.usage.calls == 1 and reply.usage.input_tokens > 10 and 0 < reply.usage.output_tokens <= 12
    assert reply.timing is not None and reply.timing.first_token is not None
    assert 0 < reply.timing.first_token <= reply.timing.whole


async def test_the_token_limit_cuts_off(model: Model) -> None:
    assert (await model.generate(asking("Count from one to a hundred.", max_tokens=3))).finish is FinishReason.LENGTH


async def test_a_seed_gives_the_same_words_again(model: Model) -> None:
    first, again, other = [
        (await model.generate(asking("Invent a strange name for a ship.", temperature=2.0, seed=seed))).text for seed in (1, 1, 2)
    ]
    assert first == again != other


async def test_a_schema_is_kept_to(model: Model) -> None:
    schema = {"type": "object", "properties": {"answer": {"enum": ["yes", "no"]}}, "required": ["answer"]}
    reply = await model.generate(asking("Is water wet?", schema, max_tokens=40))
    assert json.loads(reply.text)["answer"] in ("yes", "no")


async def test_a_prompt_that_does_not_fit_fails_one_episode(model: Model) -> None:
    with pytest.raises(ContextLengthExceeded, match="exceeds the available context size"):
        await model.generate(asking("word " * 9000))
    assert (await model.generate(asking("What is the capital of France?"))).text


async def test_the_beginning_of_a_prompt_is_kept_from_call_to_call(model: Model) -> None:
    story = "The ferry leaves at noon and the baker has the key. " * 60
    first, second = [
        await model.generate(asking(f"{story} {question}")) for question in ("Who has the key?", "When does it leave?")
    ]
    assert first.timing is not None and second.timing is not None
    assert first.timing.first_token is not None and second.timing.first_token is not None
    # About 780 tokens against a few: tenfold on an idle machine.
    assert second.timing.first_token < first.timing.first_token / 2


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="needs the extra sociable[local]")
    (tmp_path / "broken.gguf").write_bytes(b"GGUF, but nothing in it")
    with pytest.raises(InputError, match=r"broken\.gguf cannot be loaded as a language model"):
        build_model(f"local/{tmp_path / 'broken.gguf'}", RoleSettings())
