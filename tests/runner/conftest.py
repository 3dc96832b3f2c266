"""Servers of a test's own, for counting what one run asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def start_chat_server(chat_server: Any) -> Iterator[Callable[[float], Any]]:
    """Starts further servers like ``chat_server``, with a latency in milliseconds."""
    servers: list[Any] = []

    def start(latency_ms: float) -> Any:
        servers.append(type(chat_server)(latency_ms))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()
