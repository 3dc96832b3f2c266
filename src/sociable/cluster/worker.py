"""A worker: opens the studies of runs on its node, and plays, judges and rates what the driver hands it.

Its models ask their servers themselves. Whether a call may be made, and what became of it, is settled with the driver, which
alone has journal, budget and limits: a reply is on the driver's disk before anyone here uses it. The worker keeps nothing, so
that nothing is lost with it but the calls under way.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sociable.cluster.messages import (
    Answered,
    Asked,
    Bought,
    Done,
    Failure,
    FromWorker,
    GivenUp,
    GoAhead,
    Item,
    MaySend,
    Noted,
    OnTheWay,
    Over,
    Refused,
    RunSpecification,
    ToWorker,
    WaitsForRate,
    list_seated,
    split_function,
)
from sociable.core.errors import InputError, SociableError
from sociable.engine.executor import LocalExecutor
from sociable.engine.opening import bind_study, describe_packages, make_model_key, use_kept_inputs
from sociable.engine.pool import ModelKey
from sociable.engine.ratings import find_rubric
from sociable.engine.registry import USUAL_AT_ONCE
from sociable.engine.seats import Seat, Seats
from sociable.engine.settings import RunSettings
from sociable.engine.study import TakesLong
from sociable.models.concurrency import AdaptiveLimit
from sociable.models.openai_compatible import OpenAICompatibleModel
from sociable.models.protocol import Model, Reply, Request
from sociable.models.python_function import FunctionModel, load_function

SECONDS_TO_WAIT = 5.0
"""The time after which a worker that has nothing to tell says so, and how far long episodes have come."""
SECONDS_TO_GATHER = 0.005
"""The time for which messages are gathered: to send one costs as much as to send a hundred."""


class Link:
    """The worker's end of its conversation with the driver."""

    def __init__(self) -> None:
        self._waiting: list[FromWorker] = []
        self._has_any = asyncio.Event()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count()

    def tell(self, message: FromWorker) -> None:
        self._waiting.append(message)
        self._has_any.set()

    async def take_all(self) -> list[FromWorker]:
        """What is to be told by now; nothing where that takes too long."""
        try:
            await asyncio.wait_for(self._has_any.wait(), SECONDS_TO_WAIT)
        except TimeoutError:
            return []
        await asyncio.sleep(SECONDS_TO_GATHER)
        taken, self._waiting = self._waiting, []
        self._has_any.clear()
        return taken

    def begin_call(self) -> int:
        """The number of a call that is new."""
        return next(self._numbers)

    async def ask(self, message: Asked | Bought | WaitsForRate) -> Any:
        """What the driver says to it. Raises what it refuses it with."""
        answer = self._answers[message.call] = asyncio.get_running_loop().create_future()
        self.tell(message)
        try:
            return await answer
        finally:
            del self._answers[message.call]

    def receive(self, message: GoAhead | Answered | Refused | MaySend) -> None:
        answer = self._answers.get(message.call)
        if answer is None or answer.done():
            return  # whoever asked was cancelled
        if isinstance(message, Refused):
            answer.set_exception(message.failure.make_error())
        else:
            answer.set_result(message)


@dataclass
class ToldLimit(AdaptiveLimit):
    """Stands in for the limit of an endpoint that the driver keeps, and tells the driver how attempts went."""

    link: Link = field(kw_only=True)
    run: str = field(kw_only=True)
    seat: int = field(kw_only=True)

    def note_reply(self, era: int, tokens: int) -> None:
        self.link.tell(Noted(self.run, self.seat, era, tokens))

    def note_trouble(self, era: int) -> None:
        self.link.tell(Noted(self.run, self.seat, era, None))


@dataclass(frozen=True)
class SharedRate:
    """The rate of an endpoint, which the driver keeps for all workers."""

    link: Link
    run: str
    seat: int

    async def acquire(self) -> None:
        await self.link.ask(WaitsForRate(self.link.begin_call(), self.run, self.seat))


class LinkedModel:
    """A model of this node that is asked when the driver agrees. Raises what the model raises, and what the driver does."""

    def __init__(self, model: Model, link: Link, run: str, seat: int) -> None:
        self.name = model.name
        self._model = model
        self._link = link
        self._run = run
        self._seat = seat
        if isinstance(model, OpenAICompatibleModel) and not isinstance(model.limit, ToldLimit):
            model.limit = ToldLimit(model.limit.level, model.limit.ceiling, link=link, run=run, seat=seat)
            model.rate = SharedRate(link, run, seat) if model.rate else None
        self._limit: AdaptiveLimit | None = getattr(model, "limit", None)

    async def generate(self, request: Request) -> Reply:
        scope, body = request.scope, request.to_json(self.name)
        key, call = scope.make_key(body), self._link.begin_call()
        who = (scope.item, scope.role, scope.participant)
        failure = Failure("RunFailure", "Nobody waits for the reply any more.")
        is_over = False
        try:
            answer = await self._link.ask(Asked(call, self._run, self._seat, who, key, body))
            if isinstance(answer, GoAhead):
                reply = await self._make(replace(request, key=key.hex()), answer)
                # Answered once it is on the driver's disk.
                await self._link.ask(Bought(call, reply, tuple(getattr(self._model, "adaptations", ()))))
            else:
                reply = answer.reply
            is_over = True
        except SociableError as error:
            failure = Failure.describe(error)
            raise
        finally:
            if not is_over:
                self._link.tell(GivenUp(call, failure))
        scope.usage += reply.usage
        return reply

    async def _make(self, request: Request, permit: GoAhead) -> Reply:
        if isinstance(self._model, OpenAICompatibleModel):
            # The model looks at these before it does anything else.
            self._model.limit.era, self._model.limit.level = permit.era, permit.level
            self._model.has_answered |= permit.has_answered
        elif self._limit:
            # A model of this node, such as weights in this process, has limits of its own.
            async with self._limit.take_place(request.scope.item, self._run):
                return await self._model.generate(request)
        return await self._model.generate(request)

    async def close(self) -> None:
        """Nothing: other runs may use the same model."""


class Worker:
    """Does the work of one process. The driver calls its methods; all run in one event loop."""

    def __init__(self) -> None:
        self._link = Link()
        self._runs: dict[str, LocalExecutor] = {}
        self._inputs: dict[str, Path] = {}
        """By run, the folder with what was sent along."""
        self._models: dict[ModelKey, Model] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._turn = asyncio.Lock()
        self._told = time.monotonic()
        """When it was last told how far long episodes have come."""
        self._folder = tempfile.TemporaryDirectory(prefix="sociable-worker-")

    async def describe(self) -> tuple[str, dict[str, str]]:
        """(the name of the node, the versions on which numbers depend)."""
        return socket.gethostname(), describe_packages()

    async def open(self, specification: RunSpecification) -> str:
        """Opens the study of a run; returns what is wrong with it here, or the empty string."""
        try:
            self._runs[specification.run] = self._open(specification)
        except InputError as problem:
            return str(problem)
        return ""

    def _open(self, asked: RunSpecification) -> LocalExecutor:
        for name, value in asked.environment.items():
            os.environ.setdefault(name, value)
        folder = self._inputs[asked.run] = Path(tempfile.mkdtemp(dir=self._folder.name))
        for place, content in asked.files.items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_bytes(content)
        settings = use_kept_inputs(RunSettings.model_validate(asked.settings), {"inputs": asked.inputs}, folder)
        self._load_functions(asked, settings, folder)
        opened = bind_study(settings, asked.build, self._models)
        here = {"version": opened.benchmark.version, **opened.study.digests}
        there = {"version": asked.version, **asked.digests}
        if different := [name for name in there if there[name] != here.get(name)]:
            raise InputError(
                f"{settings.benchmark} has another {' and '.join(different)} here than where the run was begun. Install the same "
                "sociable on every node, and give data of more than 64 MiB the same path on all of them."
            )
        numbers = itertools.count()

        def link(seat: Seat) -> Seat:
            if seat.model is None or seat.role not in asked.build:
                return seat
            return replace(seat, model=LinkedModel(seat.model, self._link, asked.run, next(numbers)))

        rubric = find_rubric(settings.rubric) if settings.rubric else None
        return LocalExecutor(opened.study, opened.seats.change_each(link), rubric)

    def _load_functions(self, asked: RunSpecification, settings: RunSettings, folder: Path) -> None:
        """Loads the user's functions from the source that was shipped, under the names by which the run knows them."""
        for role, name in list_seated(settings):
            path, function = split_function(name)
            key = make_model_key(settings, role, name)
            if path not in asked.functions or key in self._models:
                continue
            file = folder / "functions" / Path(path).name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(asked.functions[path])
            try:
                loaded = load_function(f"python:{file}:{function}")
            except InputError as problem:
                said = str(problem).replace(str(file), path).rstrip(".")
                raise InputError(
                    f"{said}. A function is sent as its one file: install what else it needs on every node."
                ) from None
            self._models[key] = FunctionModel(name, loaded, settings.max_connections or USUAL_AT_ONCE)

    async def deliver(self, messages: Sequence[ToWorker]) -> None:
        """Takes in what the driver says."""
        for message in messages:
            if isinstance(message, Item):
                task = asyncio.create_task(self._work(message))
                self._tasks.add(task)
                task.add_done_callback(partial(self._report, message.item))
            elif isinstance(message, Over):
                self._runs.pop(message.run, None)
                if folder := self._inputs.pop(message.run, None):
                    shutil.rmtree(folder, ignore_errors=True)
            else:
                self._link.receive(message)

    async def _work(self, item: Item) -> Any:
        executor = self._runs[item.run]
        # One item after the other is begun: where agents ask nobody, what was done before is told in between.
        async with self._turn:
            await asyncio.sleep(0)
        arguments = [_seat_again(each, executor.seats) for each in item.arguments]
        return await getattr(executor, item.work)(*arguments)

    def _report(self, item: int, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            error = task.exception()
            self._link.tell(Done(item, Failure.describe(error) if error else task.result()))

    async def collect(self) -> list[FromWorker]:
        """What the driver must know by now; waits until there is something, but not for long."""
        told = await self._link.take_all()
        if (now := time.monotonic()) - self._told >= SECONDS_TO_WAIT:
            self._told = now
            long = {run: each for run, each in self._runs.items() if isinstance(each.study, TakesLong)}
            told += [OnTheWay(run, executor.measure_under_way()) for run, executor in long.items()]
        return told

    async def close(self) -> None:
        for model in self._models.values():
            await model.close()
        self._folder.cleanup()


def _seat_again(argument: Any, seats: Seats) -> Any:
    """A task of a judge with the seat of this process in place of that of the driver."""
    if not isinstance(seat := getattr(argument, "seat", None), Seat):
        return argument
    own = next(each for each in (*seats.judges, *seats.raters) if (each.role, each.name) == (seat.role, seat.name))
    return replace(argument, seat=own)
