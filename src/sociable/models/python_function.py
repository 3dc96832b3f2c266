"""A user's own agent: ``python:file.py:function``.

The function takes the list of chat messages (dicts of ``role`` and ``content``) and returns the text of the reply; it
may be ``async``. A function that is not runs in a thread, so that a slow one does not hold up the others.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sociable.core.errors import InputError, RunFailure
from sociable.core.records import Usage, make_storable
from sociable.models.protocol import Reply, Request, split_thinking


class FunctionModel:
    """Calls the user's function. Its exceptions are the run's failures, with the place where they arose."""

    def __init__(self, name: str, function: Callable[..., Any], max_connections: int) -> None:
        self.name = name
        self._function = function
        self._slots = asyncio.Semaphore(max_connections)
        # Threads of its own, because the event loop has few.
        self._threads = ThreadPoolExecutor(max_connections, thread_name_prefix="python-function")

    async def generate(self, request: Request) -> Reply:
        messages = [dict(message) for message in request.messages]
        async with self._slots:
            if inspect.iscoroutinefunction(self._function):
                answer = self._call(messages)
            else:
                answer = await asyncio.get_running_loop().run_in_executor(self._threads, self._call, messages)
            if inspect.isawaitable(answer):
                try:
                    answer = await answer
                except (Exception, SystemExit) as error:
                    raise self._make_failure(error) from error
        if not isinstance(answer, str):
            raise RunFailure(f"{self.name} returned {type(answer).__name__}; it must return the reply as a string.")
        text, thinking = split_thinking(make_storable(answer))
        return Reply(text, Usage(calls=1), thinking=thinking)

    def _call(self, messages: list[dict[str, Any]]) -> Any:
        """The function's return value, to be awaited if it is async.

        Its exceptions become failures here, in the thread: a StopIteration would not get across to the event loop, where
        the call would be waited for forever.
        """
        try:
            return self._function(messages)
        except (Exception, SystemExit) as error:
            raise self._make_failure(error) from error

    def _make_failure(self, error: BaseException) -> RunFailure:
        """The user's code may raise anything, and call sys.exit: it ends this episode, not the run."""
        return RunFailure(f"{self.name} raised {type(error).__name__}: {error}".removesuffix(": "))

    async def close(self) -> None:
        self._threads.shutdown(wait=False)


def load_function(name: str) -> Callable[..., Any]:
    """The function named by ``python:file.py:function``. Raises InputError."""
    _, _, place = name.partition(":")
    file, separator, attribute = place.rpartition(":")
    if not separator:
        raise InputError(f"'{name}' names no function: write python:file.py:function.")
    path = Path(file)
    if not path.is_file():
        raise InputError(f"'{name}': there is no file {path}.")
    specification = importlib.util.spec_from_file_location(f"sociable_user_{path.stem}", path)
    if specification is None or specification.loader is None:
        raise InputError(f"'{name}': {path} is not a Python file (its name must end in .py).")
    module = importlib.util.module_from_spec(specification)
    # Dataclasses and pickle find a module by its name.
    sys.modules[specification.name] = module
    try:
        specification.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # The user's module may do anything while it is imported.
        raise InputError(f"'{name}': importing {path} raised {type(error).__name__}: {error}") from error
    function = getattr(module, attribute, None)
    if not callable(function):
        raise InputError(f"'{name}': {path} has no function '{attribute}'.")
    return function  # type: ignore[no-any-return]
