"""Language models on llama.cpp in this process: ``local/smollm2``, ``local/FILE.gguf``, ``local/hf:OWNER/REPO/FILE``.

Needs the extra ``sociable[local]``, and no server, key or network once the weights are here. The chat template, the words
that end a reply and the context window are those of the file.
"""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from sociable.core.errors import InputError, RunFailure
from sociable.core.extras import import_extra
from sociable.core.records import Usage
from sociable.models.completions import (
    Adaptation,
    TransientError,
    find_adaptation,
    make_body,
    raise_for_status,
    read_complaint,
    read_completion,
)
from sociable.models.concurrency import AdaptiveLimit
from sociable.models.protocol import FinishReason, Reply, Request, Timing

AT_ONCE = 1
"""Calls that are worked on at once. More would share the same threads, and push each other's prompts out of the cache."""


class LlamaServer:
    """llama.cpp with one file of weights. All models of the process that have this file share it."""

    def __init__(self, file: Path, context_window: int | None) -> None:
        library = import_extra("xllamacpp", "local", "A local model")
        settings = library.CommonParams()
        settings.model.path = str(file)
        settings.n_ctx = context_window or 0  # 0: as the file says
        settings.n_parallel = AT_ONCE
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = count_free_cores()
        # Threads that wait for one another must not do so in a busy loop: on a core that is not theirs alone, the rate
        # would fall to a hundredth.
        settings.cpuparams.poll = settings.cpuparams_batch.poll = 0
        settings.verbosity = -1
        try:
            self._server: Any = library.Server(settings)
        except Exception as error:  # whatever the library raises for a file it cannot read
            raise InputError(f"{file} cannot be loaded as a language model: {error}") from None
        self.limit = AdaptiveLimit(AT_ONCE, AT_ONCE)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="llama")

    async def complete(self, body: dict[str, Any]) -> Any:
        """The answer in OpenAI's layout, a completion or an error."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._server.handle_chat_completions, body)


load_server = cache(LlamaServer)


def count_free_cores() -> int:
    """The cores that this process may use and that nothing else is using now; at least one."""
    import joblib  # type: ignore[import-untyped]  # comes with scikit-learn; knows the limits of containers

    busy: float = import_extra("psutil", "local", "A local model").cpu_percent(interval=0.2) / 100
    cores: int = joblib.cpu_count()
    return max(1, round(cores * (1 - busy)))


class LocalModel:
    """One file of weights. Raises ContextLengthExceeded for a prompt that does not fit."""

    def __init__(self, name: str, file: Path, context_window: int | None = None) -> None:
        self.name = name
        self._server = load_server(file, context_window)
        self._adapted: list[Adaptation] = []

    @property
    def limit(self) -> AdaptiveLimit:
        """The limit of all models on these weights."""
        return self._server.limit

    @property
    def adaptations(self) -> list[str]:
        """The names of what the model's chat template turned out not to take."""
        return [adaptation.name for adaptation in self._adapted]

    async def generate(self, request: Request) -> Reply:
        body = make_body(self.name, request, self._adapted)
        answer = await self._server.complete(body)
        if error := answer.get("error"):
            complaint = read_complaint(json.dumps(answer).encode())
            if adaptation := find_adaptation(complaint, body, self._adapted):
                self._adapted.append(adaptation)
                return await self.generate(request)
            raise_for_status(self.name, "llama.cpp", int(error.get("code") or 500), complaint)
            return Reply("", Usage(calls=1), FinishReason.CONTENT_FILTER)
        try:
            reply = read_completion(answer)
        except TransientError as problem:
            raise RunFailure(f"{self.name}: {problem}") from None
        took = answer["timings"]
        return replace(reply, timing=Timing((took["prompt_ms"] + took["predicted_ms"]) / 1000, took["prompt_ms"] / 1000))

    async def close(self) -> None:
        """The weights stay where they are: the next run of this process may use them."""
