"""Models through Inspect AI, with its own mock provider. Run where ``sociable[inspect]`` is installed."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from sociable.core.errors import ContextLengthExceeded, InputError, RunFailure
from sociable.core.records import Usage
from sociable.engine.registry import build_model
from sociable.engine.settings import RoleSettings
from sociable.models.inspect_bridge import InspectModel
from sociable.models.protocol import ChatMessage, FinishReason, Reply, Request, Sampling, Scope

INSTALLED = importlib.util.find_spec("inspect_ai") is not None
inspect_needed = [
    pytest.mark.extra,
    pytest.mark.skipif(not INSTALLED, reason="inspect_ai is not installed: pip install 'sociable[inspect]'"),
]

MESSAGES: list[ChatMessage] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi"},
    {"role": "user", "content": "Well?"},
]


def asking(**request: Any) -> Request:
    return Request(MESSAGES, Scope("episode", "subject"), **request)


def answering(output: Any) -> InspectModel:
    """A model whose provider gives ``output``, or does what it says if it is a function."""
    from inspect_ai.model import get_model

    model = InspectModel("inspect/mockllm/model", 5)
    outputs = output if callable(output) else [output]
    model._model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    return model


def output(content: Any, *, usage: tuple[int, int, int] = (4, 0, 1), **more: Any) -> Any:
    """``usage``: input tokens at full rate, input tokens from the provider's cache, output tokens.

    Without usage the mock provider would count tokens, for which it fetches a tokenizer from the network.
    """
    from inspect_ai.model import ModelOutput, ModelUsage

    made = ModelOutput.from_content("mockllm", content, **more)
    made.usage = ModelUsage(input_tokens=usage[0], input_tokens_cache_read=usage[1], output_tokens=usage[2])
    return made


class TestWithInspect:
    pytestmark = inspect_needed

    async def test_any_provider_answers(self) -> None:
        model = answering(output("Good morning."))
        assert model.name == "inspect/mockllm/model"
        assert await model.generate(asking()) == Reply("Good morning.", Usage(calls=1, input_tokens=4, output_tokens=1))
        await model.close()

    async def test_what_is_asked_arrives(self) -> None:
        seen: list[Any] = []

        def provider(messages: Any, tools: Any, tool_choice: Any, config: Any) -> Any:
            seen.append(([(message.role, message.text) for message in messages], config))
            return output("Hi")

        await answering(provider).generate(asking(sampling=Sampling(0.5, 7, 0.9, 3)))
        ((messages, config),) = seen
        assert messages == [(message["role"], message["content"]) for message in MESSAGES]
        assert (config.temperature, config.max_tokens, config.top_p, config.seed) == (0.5, 7, 0.9, 3)

    async def test_tokens_from_the_providers_cache_count(self) -> None:
        reply = await answering(output("Hi", usage=(10, 90, 3))).generate(asking())
        assert reply == Reply("Hi", Usage(calls=1, input_tokens=100, output_tokens=3))

    @pytest.mark.parametrize(
        ("reason", "error", "finish"),
        [
            ("stop", None, FinishReason.STOP),
            ("max_tokens", None, FinishReason.LENGTH),
            ("content_filter", None, FinishReason.CONTENT_FILTER),
            # How Inspect tells that a provider refused the prompt.
            ("content_filter", "Output blocked by content filtering policy", FinishReason.CONTENT_FILTER),
        ],
    )
    async def test_the_agents_failings_are_results(self, reason: str, error: str | None, finish: FinishReason) -> None:
        reply = await answering(output("Good mor", stop_reason=reason, error=error)).generate(asking())
        assert (reply.text, reply.finish) == ("Good mor", finish)

    async def test_thoughts_are_kept_apart(self) -> None:
        from inspect_ai.model import ContentReasoning, ContentText

        parts = [ContentReasoning(reasoning="hm"), ContentText(text="Good morning.")]
        for content in (parts, "<think>hm</think>Good morning."):
            reply = await answering(output(content)).generate(asking())
            assert (reply.text, reply.thinking) == ("Good morning.", "hm")

    async def test_a_prompt_longer_than_the_context_fails_one_episode(self) -> None:
        with pytest.raises(ContextLengthExceeded, match="longer than the model's context"):
            await answering(output("too long", stop_reason="model_length", error="413")).generate(asking())

    async def test_a_provider_that_fails_fails_one_episode(self) -> None:
        def raises(*_: Any) -> Any:
            raise ValueError("provider down")

        # Inspect tries again what its provider calls worth trying; a ValueError is not.
        with pytest.raises(RunFailure, match=r"inspect/mockllm/model: .*provider down"):
            await answering(raises).generate(asking())
        with pytest.raises(RunFailure, match="upstream failed"):
            await answering(output("", stop_reason="unknown", error="upstream failed")).generate(asking())
        with pytest.raises(RunFailure, match="no answer"):
            silent = output("")
            silent.choices = []
            await answering(silent).generate(asking())

    @pytest.mark.parametrize("own", [{"key_variable": "MY_KEY"}, {"requests_per_minute": 60}, {"context_window": 4096}])
    def test_what_its_provider_cannot_be_given_is_refused(self, own: dict[str, Any]) -> None:
        (field,) = own
        with pytest.raises(InputError, match=f"'inspect/mockllm/model': Inspect's provider cannot be given {field}"):
            build_model("inspect/mockllm/model", RoleSettings(**own))
        assert build_model("inspect/mockllm/model", RoleSettings(temperature=0.3)).name == "inspect/mockllm/model"

    @pytest.mark.parametrize("name", ["inspect/no-such-provider/model", "inspect/mockllm", "inspect/"])
    def test_a_model_inspect_does_not_know(self, name: str) -> None:
        with pytest.raises(InputError, match=f"'{name}': Inspect AI cannot make this model"):
            InspectModel(name, 5)


@pytest.mark.skipif(INSTALLED, reason="inspect_ai is installed")
def test_without_inspect_it_says_what_to_install() -> None:
    with pytest.raises(InputError, match=r"needs Inspect AI, .* pip install 'sociable\[inspect\]'"):
        InspectModel("inspect/mockllm/model", 5)
