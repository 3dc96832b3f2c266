"""The calls of a run's journal as events of an Inspect log: what each model was sent, and what it replied."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.model import ChatCompletionChoice as Choice
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)

from sociable.core.records import Usage
from sociable.models.journal import Call, Journal
from sociable.models.protocol import SAMPLING_FIELDS, FinishReason

_KINDS: Mapping[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
_REASONS: Mapping[FinishReason, Any] = {
    FinishReason.STOP: "stop",
    FinishReason.LENGTH: "max_tokens",
    FinishReason.REFUSAL: "content_filter",
    FinishReason.CONTENT_FILTER: "content_filter",
}


def open_journal(folder: Path) -> AbstractContextManager[Journal | None]:
    """The journal of a run, to be read; None where there is none, as in a run that was imported."""
    path = folder / "calls.sqlite"
    return Journal(path, replay_only=True) if path.exists() else contextlib.nullcontext()


def list_events(journal: Journal, episode: str, begun: datetime) -> Iterator[ModelEvent]:
    """The calls of one episode and its judges, in the order of their replies. The journal knows how long each took, not when."""
    for call in journal.list_calls(episode, 0, -1):
        yield _make_event(call, begun)


def _make_event(call: Call, begun: datetime) -> ModelEvent:
    request: Mapping[str, Any] = call.request
    messages: list[ChatMessage] = [_KINDS[each["role"]](content=each["content"]) for each in request["messages"]]
    said: list[Content] = [ContentText(text=call.reply.text)]
    if call.reply.thinking:
        said.insert(0, ContentReasoning(reasoning=call.reply.thinking))
    model = name_in_inspect(call.model)
    reply = Choice(message=ChatMessageAssistant(content=said, model=model), stop_reason=_REASONS[call.reply.finish])
    return ModelEvent(
        timestamp=begun,
        working_start=0.0,
        working_time=call.seconds,
        model=model,
        role=call.role,
        metadata={"participant": call.participant},
        input=messages,
        tools=[],
        tool_choice="none",
        config=GenerateConfig(**{name: request.get(name) for name in SAMPLING_FIELDS}),
        output=ModelOutput(model=model, choices=[reply], usage=convert_usage(call.reply.usage)),
    )


def convert_usage(usage: Usage) -> ModelUsage:
    """Our usage as Inspect's."""
    asked, answered = usage.input_tokens, usage.output_tokens
    return ModelUsage(input_tokens=asked, output_tokens=answered, total_tokens=asked + answered)


def name_in_inspect(model: str) -> str:
    """The name by which Inspect knows a model of ours, which carries no endpoint."""
    return model.removeprefix("inspect/")
