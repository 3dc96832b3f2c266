"""The driver's side: a crew of workers, among whom the items of runs are dealt, and what their calls need.

Knows no Ray: a worker is reached through a ``Connection``.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Protocol, TypeVar

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
)
from sociable.core.errors import EndpointUnusable, InputError, RunFailure, RunStopped, SociableError
from sociable.core.records import Judgment
from sociable.engine.opening import describe_packages
from sociable.engine.phases import UnderWay, describe_failure
from sociable.engine.ratings import RatingTask
from sociable.engine.study import JudgingTask
from sociable.judging.rubric import RubricJudgment
from sociable.models.concurrency import AdaptiveLimit
from sociable.models.journal import JournalledModel, SharedCalls
from sociable.models.openai_compatible import OpenAICompatibleModel, Rate
from sociable.models.protocol import SAMPLING_FIELDS, Model, Reply, Request, Sampling, Scope

log = logging.getLogger("sociable")

SECONDS_TO_BEGIN = 120.0
"""The time within which a first worker must be there, and a worker again where all were lost."""
SECONDS_FOR_OTHERS = 10.0
"""The time for which a run waits, once a worker is there, for the others: whoever comes later joins in."""
MOST_LOST = 3
"""The workers that may be lost with an item, or one after the other in one place: then the item, or the place, is given up."""
ITEMS_AHEAD = 2
"""Items that each worker is given at once where nobody is asked anything: one in work, one that waits."""


class WorkerLost(RunFailure):
    """A worker's process or node is gone."""


class Connection(Protocol):
    """A worker as the driver reaches it. Its methods raise WorkerLost."""

    async def describe(self) -> tuple[str, Mapping[str, str]]: ...

    async def open(self, specification: RunSpecification) -> str: ...

    async def deliver(self, messages: Sequence[ToWorker]) -> None: ...

    async def collect(self) -> Sequence[FromWorker]: ...

    async def close(self) -> None:
        """Ends the worker. Raises nothing."""


@dataclass(frozen=True, slots=True)
class CallRequest(Request):
    """A request that a worker makes."""

    make: Callable[[int, int], Awaitable[Reply]] = field(kw_only=True)
    """Has the worker make it, in an era of the endpoint's limit and at its level; returns the reply."""


class RemoteModel:
    """Stands on the driver for a model that workers have built, and keeps what all of them have in common: its limits.

    ``model`` is that of the driver, which asks nobody.
    """

    def __init__(self, model: Model, max_connections: int | None) -> None:
        self.name = model.name
        self.adaptations: dict[str, None] = {}
        """The names of what servers turned out not to take, in the order in which workers learnt it."""
        self.has_answered = False
        self.limit: AdaptiveLimit | None = None
        self.rate: Rate | None = None
        if isinstance(model, OpenAICompatibleModel):
            self.limit, self.rate = model.limit, model.rate
        elif max_connections:
            self.limit = AdaptiveLimit(max_connections, max_connections)

    async def generate(self, request: Request) -> Reply:
        assert isinstance(request, CallRequest)
        era, level = (self.limit.era, self.limit.level) if self.limit else (0, 0)
        try:
            return await request.make(era, level)
        except EndpointUnusable as error:
            # Whoever waits would find out the same, one after the other.
            if self.limit:
                self.limit.turn_away(error)
            raise

    def note(self, noted: Noted) -> None:
        """Notes how an attempt of a worker went."""
        if self.limit is None:
            return
        if noted.tokens is None:
            self.limit.note_trouble(noted.era)
        else:
            self.limit.note_reply(noted.era, noted.tokens)

    async def close(self) -> None:
        """Nothing: the workers close theirs."""


@dataclass
class CrewRun:
    """A run that the crew works on."""

    specification: RunSpecification
    journalled: Sequence[JournalledModel]
    """The models of its seats that are asked, in the order of the seats."""
    remote: Sequence[RemoteModel]
    """The same without journal and budget."""
    under_way: dict[Member, UnderWay] = field(default_factory=dict)
    calls: SharedCalls = field(default_factory=SharedCalls)
    """Has one worker at a time ask for a call: what another made before it was lost may still be on its way to the disk."""


class Member:
    """One worker at work: what it was given, what it asks."""

    def __init__(
        self, connection: Connection, node: str, runs: Mapping[str, CrewRun], endpoints: Mapping[tuple[str, int], RemoteModel]
    ) -> None:
        self.connection = connection
        self.node = node
        self.items: dict[int, asyncio.Future[Any]] = {}
        self.has_finished_any = False
        self._runs = runs
        self._endpoints = endpoints
        self._numbers = itertools.count()
        self._waiting: list[ToWorker] = []
        self._has_any = asyncio.Event()
        self._asked: dict[int, asyncio.Task[Any]] = {}
        """What the worker waits for, by its number of the call."""
        self._made: dict[int, asyncio.Future[Bought]] = {}
        """The calls among these that it was told to make."""

    def tell(self, message: ToWorker) -> None:
        self._waiting.append(message)
        self._has_any.set()

    async def work(self, run: str, work: str, arguments: tuple[Any, ...]) -> Any:
        """The record of one item. Raises what its work raised, and WorkerLost."""
        number = next(self._numbers)
        done = self.items[number] = asyncio.get_running_loop().create_future()
        self.tell(Item(number, run, work, arguments))
        try:
            record = await done
        finally:
            del self.items[number]
        self.has_finished_any = True
        if isinstance(record, Failure):
            raise record.make_error()
        return record

    async def serve(self) -> None:
        """Talks with the worker until it is lost. Raises WorkerLost."""
        both = [asyncio.create_task(self._deliver()), asyncio.create_task(self._collect())]
        try:
            await asyncio.gather(*both)
        finally:
            for task in both:
                task.cancel()
            self._give_up()

    def _give_up(self) -> None:
        """Whatever waits for the worker, or for something on its behalf, waits in vain."""
        for waiting in (*self.items.values(), *self._made.values()):
            if not waiting.done():
                waiting.set_exception(WorkerLost(f"The worker on {self.node} is gone."))
        for call, task in self._asked.items():
            if call not in self._made:
                task.cancel()
        for run in self._runs.values():
            run.under_way.pop(self, None)

    async def _deliver(self) -> None:
        while True:
            await self._has_any.wait()
            self._has_any.clear()
            told, self._waiting = self._waiting, []
            await self.connection.deliver(told)

    async def _collect(self) -> None:
        while True:
            for message in await self.connection.collect():
                self._take_in(message)

    def _take_in(self, message: FromWorker) -> None:
        match message:
            case Asked(call=call):
                self._begin(call, self._obtain(message), lambda known: Answered(call, known))
            case WaitsForRate(call=call, run=run, seat=seat):
                rate = self._endpoints[run, seat].rate
                assert rate is not None
                self._begin(call, rate.acquire(), lambda _: MaySend(call))
            case Bought(call=call):
                made = self._made.get(call)
                if made and not made.done():
                    made.set_result(message)
            case GivenUp(call=call, failure=failure):
                if made := self._made.get(call):
                    # What was bought is kept, though nobody waits for it.
                    if not made.done():
                        made.set_exception(failure.make_error())
                elif task := self._asked.get(call):
                    task.cancel()
            case Noted(run=run, seat=seat):
                self._endpoints[run, seat].note(message)
            case Done(item=item, record=record):
                if (waiting := self.items.get(item)) and not waiting.done():
                    waiting.set_result(record)
            case OnTheWay(run=run, under_way=under_way):
                if run in self._runs:
                    self._runs[run].under_way[self] = under_way

    def _begin(self, call: int, work: Coroutine[Any, Any, Any], answer: Callable[[Any], ToWorker]) -> None:
        """Begins what a worker waits for, and answers it when it is done."""
        task = self._asked[call] = asyncio.create_task(work)

        def end(_: object) -> None:
            del self._asked[call]
            self._made.pop(call, None)
            if not task.cancelled():
                error = task.exception()
                self.tell(Refused(call, Failure.describe(error)) if error else answer(task.result()))

        task.add_done_callback(end)

    async def _obtain(self, asked: Asked) -> Reply | None:
        """The reply to a call that is known; None once the worker has made it and it is on this disk."""
        run = self._runs.get(asked.run)
        if run is None:
            raise RunFailure("The run is over.")
        body, remote = json.loads(asked.body), run.remote[asked.seat]

        async def make(era: int, level: int) -> Reply:
            made = self._made[asked.call] = asyncio.get_running_loop().create_future()
            self.tell(GoAhead(asked.call, era, level, remote.has_answered))
            bought: Bought = await made
            remote.has_answered = True
            remote.adaptations |= dict.fromkeys(bought.adaptations)
            return bought.reply

        sampling = Sampling(**{name: body[name] for name in SAMPLING_FIELDS})
        request = CallRequest(body["messages"], Scope(*asked.scope), sampling, make=make)
        async with run.calls.hold(asked.key):
            reply = await run.journalled[asked.seat].obtain(request, asked.key, asked.body)
        return None if asked.call in self._made else reply


class Crew(AbstractAsyncContextManager["Crew"]):
    """Workers that are there while it is entered; where one is lost, another takes its place as soon as there is room for it."""

    def __init__(self, hire: Callable[[], Connection], size: int) -> None:
        """``hire`` begins a worker; there are to be ``size`` of them."""
        self.size = size
        self._hire = hire
        self._members: list[Member] = []
        self._runs: dict[str, CrewRun] = {}
        self._endpoints: dict[tuple[str, int], RemoteModel] = {}
        """The models by run and seat, also of runs that are over: others may have the same."""
        self._places: set[asyncio.Task[None]] = set()
        self._problem: SociableError | None = None
        self._has_begun = False
        self._changed = asyncio.Event()
        self._suspects = asyncio.Lock()

    async def __aenter__(self) -> Crew:
        """Returns when workers are there. Raises InputError where one cannot be used, or none comes."""
        self._places = {asyncio.create_task(self._keep_place()) for _ in range(self.size)}
        for place in self._places:
            place.add_done_callback(lambda _: self._changed.set())
        patience = SECONDS_TO_BEGIN
        try:
            while len(self._members) < self.size:
                change = await self._wait_for_change(patience)
                if problem := self._find_problem():
                    raise problem
                if not change or all(place.done() for place in self._places):
                    break
                patience = SECONDS_FOR_OTHERS if self._members else patience
            if not self._members and all(place.done() for place in self._places):
                raise InputError(
                    f"No worker could begin: {MOST_LOST} were lost one after the other. Look in the nodes' logs of Ray for "
                    "what ended them, such as a lack of memory."
                )
            if not self._members:
                raise InputError(
                    f"No worker could begin within {SECONDS_TO_BEGIN:.0f} seconds: each takes one processor of the cluster, and "
                    "none is free. `ray status` shows what holds them; add nodes, or wait until others are done."
                )
        except BaseException:
            await self._dismiss()
            raise
        self._has_begun = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._dismiss()

    def _find_problem(self) -> SociableError | None:
        """The reason, perhaps a bug, why a place stays empty; None where each has a worker, or one is coming."""
        bugs = (place.exception() for place in self._places if place.done() and not place.cancelled())
        return self._problem or next((RunStopped(describe_failure(bug)) for bug in bugs if bug), None)

    async def _dismiss(self) -> None:
        for place in self._places:
            place.cancel()
        for ended in await asyncio.gather(*self._places, return_exceptions=True):
            if isinstance(ended, Exception):
                log.error("unexpected failure", exc_info=ended)

    async def _wait_for_change(self, seconds: float) -> bool:
        """Whether a worker came or went within that time."""
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return False
        self._changed.clear()
        return True

    async def _keep_place(self) -> None:
        """Has one worker at work, and after it another one. Ends where they cannot be used, or are lost one after the other."""
        lost = 0
        while lost < MOST_LOST:
            connection, member = self._hire(), None
            try:
                member = await self._admit(connection)
                await member.serve()
            except WorkerLost as problem:
                lost = 1 if member and member.has_finished_any else lost + 1
                log.warning("%s", problem)
            except SociableError as problem:
                if self._has_begun and str(problem) != str(self._problem):
                    log.warning("A worker cannot be used, and no other takes its place: %s", problem)
                self._problem = problem
                return
            finally:
                if member:
                    self._members.remove(member)
                self._changed.set()
                await connection.close()

    async def _admit(self, connection: Connection) -> Member:
        """The worker as one of the crew. Raises InputError where it is of another version, or cannot open a run."""
        (node, there), here = await connection.describe(), describe_packages()
        if different := [name for name, version in here.items() if there.get(name) != version]:
            name = different[0]
            raise InputError(
                f"The node {node} has {name} {there.get(name, 'not at all')}, and this machine has {here[name]}: install the "
                "same version on every node."
            )
        member, opened = Member(connection, node, self._runs, self._endpoints), set[str]()
        # Others may be begun, or end, while it opens one.
        while missing := self._runs.keys() - opened:
            name = missing.pop()
            await self._open_on(member, self._runs[name])
            opened.add(name)
        self._members.append(member)
        self._changed.set()
        return member

    async def _open_on(self, member: Member, run: CrewRun) -> None:
        if problem := await member.connection.open(run.specification):
            raise InputError(f"On the node {member.node}: {problem}")

    async def take_on(self, run: CrewRun) -> CrewExecutor:
        """Has every worker open a run. Raises InputError where one cannot."""
        name = run.specification.run
        self._runs[name] = run
        self._endpoints |= {(name, seat): model for seat, model in enumerate(run.remote)}
        problems = await asyncio.gather(*(self._open_on(each, run) for each in self._members), return_exceptions=True)
        for problem in problems:
            if problem is not None and not isinstance(problem, WorkerLost):
                self.end(name)
                raise problem
        return CrewExecutor(self, run)

    def end(self, run: str) -> None:
        """Has every worker forget a run."""
        for member in self._members:
            member.tell(Over(run))
        del self._runs[run]

    async def work(self, run: str, work: str, *arguments: Any) -> Any:
        """The record of an item; that of a worker that is lost is given to another one. Raises what its work raises."""
        for lost in range(MOST_LOST):
            # The last time one of such items is in work at once: one that ends its worker must not be the end of the others.
            async with self._suspects if lost == MOST_LOST - 1 else nullcontext():
                member = await self._find_free()
                with suppress(WorkerLost):
                    return await member.work(run, work, arguments)
        raise RunFailure(
            f"{MOST_LOST} workers were lost with it, the last on {member.node}: look there for what ended them, such as a lack "
            "of memory; then resume."
        )

    async def _find_free(self) -> Member:
        """The worker with the fewest items. Raises RunStopped where none is left."""
        while not self._members:
            are_coming = any(not place.done() for place in self._places)
            if not are_coming or not await self._wait_for_change(SECONDS_TO_BEGIN):
                why = f" ({str(problem).rstrip('.')})" if (problem := self._find_problem()) else ""
                raise RunStopped(f"No worker is left{why}: see with `ray status` what is left of the cluster, then resume.")
        return min(self._members, key=lambda member: len(member.items))


@dataclass
class CrewExecutor:
    """Hands the items of one run to the crew."""

    crew: Crew
    run: CrewRun

    async def make_reference(self, scenario: str) -> Any:
        return await self._work("make_reference", scenario)

    async def run_episode(self, scenario: str, repeat: int) -> Any:
        return await self._work("run_episode", scenario, repeat)

    async def judge(self, task: JudgingTask, episode: Any, reference: Any) -> Judgment:
        return await self._work("judge", _without_model(task), episode, reference)  # type: ignore[no-any-return]

    async def rate(self, task: RatingTask) -> RubricJudgment:
        return await self._work("rate", _without_model(task))  # type: ignore[no-any-return]

    async def _work(self, work: str, *arguments: Any) -> Any:
        return await self.crew.work(self.run.specification.run, work, *arguments)

    def measure_under_way(self) -> UnderWay:
        parts = list(self.run.under_way.values())
        behind = min((part for part in parts if part.words), key=lambda part: part.done, default=UnderWay(0.0, ""))
        return UnderWay(sum(part.done for part in parts), behind.words)


Task = TypeVar("Task", JudgingTask, RatingTask)


def _without_model(task: Task) -> Task:
    """The task as it can be sent: a worker puts its own seat in its place."""
    return replace(task, seat=replace(task.seat, model=None))
