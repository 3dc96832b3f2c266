"""Models behind the chat server's behaviours."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sociable.models.openai_compatible import EndpointSettings, OpenAICompatibleModel

if TYPE_CHECKING:
    from tests.conftest import ChatServer

# The virtual clock of the town's tests.
sys.path.insert(0, str(Path(__file__).parents[1] / "town"))

Endpoint = Callable[..., OpenAICompatibleModel]

_number = itertools.count()


@pytest.fixture
async def endpoint(chat_server: ChatServer) -> AsyncIterator[Endpoint]:
    """``endpoint("429-once", attempts=2)`` is a model of that behaviour, by a name no other test has."""
    models = []

    def make(behaviour: str, **settings: Any) -> OpenAICompatibleModel:
        name = f"{behaviour}:{os.getpid()}-{next(_number)}"
        model = OpenAICompatibleModel(name, name, EndpointSettings(chat_server.url, **{"timeout_seconds": 10.0, **settings}))
        models.append(model)
        return model

    yield make
    for model in models:
        await model.close()
