"""Any model Inspect AI can reach, as ``inspect/<provider>/<model>``. Needs the extra ``sociable[inspect]``.

Inspect brings its own keys, retries and connection limits; in runs of ours the journal, the budget and everything else are ours.
"""

from __future__ import annotations

import importlib
from typing import Any

from sociable.core.errors import ContextLengthExceeded, InputError, RunFailure
from sociable.core.records import Usage, make_storable
from sociable.models.protocol import SAMPLING_FIELDS, FinishReason, Reply, Request, split_thinking


def make_inspect_model(name: str, base_url: str | None = None) -> Any:
    """Inspect's own model, for a name with or without ``inspect/``. Raises InputError."""
    try:
        inspect_model: Any = importlib.import_module("inspect_ai.model")
    except ImportError:
        raise InputError(
            f"'{name}' needs Inspect AI, which is not installed: pip install 'sociable[inspect]' and the provider's package."
        ) from None
    try:
        return inspect_model.get_model(name.removeprefix("inspect/"), base_url=base_url, memoize=False)
    except Exception as error:  # Inspect raises errors of many kinds for a provider that is missing or has no key.
        raise InputError(f"'{name}': Inspect AI cannot make this model: {error}") from error


class InspectModel:
    """A model of Inspect's, made by its name, or ready-made where Inspect is at work already.

    What the user gave Inspect for a ready-made ``model`` goes before what a request asks for; Inspect limits its connections.
    """

    def __init__(self, name: str, max_connections: int | None = None, base_url: str | None = None, *, model: Any = None) -> None:
        self.name = name
        self._max_connections = max_connections
        self._is_ready_made = model is not None
        self._model = make_inspect_model(name, base_url) if model is None else model
        self._inspect: Any = importlib.import_module("inspect_ai.model")

    async def generate(self, request: Request) -> Reply:
        inspect = self._inspect
        kinds = {"system": inspect.ChatMessageSystem, "user": inspect.ChatMessageUser, "assistant": inspect.ChatMessageAssistant}
        messages = [kinds[message["role"]](content=message["content"]) for message in request.messages]
        given = self._find_given() if self._is_ready_made else {}
        sampling = {name: getattr(request.sampling, name) for name in SAMPLING_FIELDS if given.get(name) is None}
        config = inspect.GenerateConfig(**sampling, max_connections=self._max_connections)
        try:
            output = await self._model.generate(messages, config=config)
        except importlib.import_module("inspect_ai.util").LimitExceededError:
            # The sample's limit: Inspect ends the sample, and scores it.
            raise
        except Exception as error:  # Each provider raises errors of its own; none of them is a result.
            raise RunFailure(f"{self.name}: {type(error).__name__}: {error}") from error
        reason = output.stop_reason if output.choices else "none"
        if reason == "model_length":
            raise ContextLengthExceeded(f"{self.name}: the prompt is longer than the model's context.")
        # With a content filter the error says what was filtered: that is the model's reply, not the run's failure.
        if reason == "none" or (output.error and reason != "content_filter"):
            raise RunFailure(f"{self.name}: {output.error or 'no answer'}")
        text, thinking = split_thinking(make_storable(output.completion))
        finish = {"max_tokens": FinishReason.LENGTH, "content_filter": FinishReason.CONTENT_FILTER}.get(reason, FinishReason.STOP)
        thinking = thinking or make_storable(_read_reasoning(output.message.content))
        return Reply(text, _read_usage(output.usage), finish, thinking)

    def _find_given(self) -> dict[str, Any]:
        """The sampling that the user asked Inspect for: for this model, or on the command line, which means the active one."""
        is_active = self._inspect.get_model() == self._model
        internals = importlib.import_module("sociable.models.inspect_internals")
        config = self._model.config.merge(internals.active_generate_config()) if is_active else self._model.config
        return dict(config.model_dump(include=set(SAMPLING_FIELDS)))

    async def close(self) -> None:
        pass


def _read_usage(counted: Any) -> Usage:
    if counted is None:
        return Usage(calls=1)
    # Inspect counts what the provider had in its cache apart.
    cached = (counted.input_tokens_cache_read or 0) + (counted.input_tokens_cache_write or 0)
    return Usage(calls=1, input_tokens=counted.input_tokens + cached, output_tokens=counted.output_tokens)


def _read_reasoning(content: Any) -> str:
    """The model's thoughts, where the provider hands them over as a part of their own."""
    return "" if isinstance(content, str) else "\n\n".join(part.reasoning for part in content if part.type == "reasoning")
