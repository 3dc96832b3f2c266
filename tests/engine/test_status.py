"""The status of a run, and what it is told: one process, no server."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.api import watching
from sociable.api.series import write_series
from sociable.core.errors import CostLimitReached, EndpointUnusable, InputError, RunFolderError, RunStopped
from sociable.core.records import Estimate, Usage
from sociable.core.run_folder import CONTROL_FILE, STATUS_FILE, RunFolder, hold_lock, is_in_use
from sociable.engine import status as status_module
from sociable.engine import watching as engine_watching
from sociable.engine.opening import open_run, reopen_study
from sociable.engine.phases import Progress, UnderWay
from sociable.engine.status import State, StatusKeeper, read_status
from sociable.models.limits import Budget, Price
from sociable.models.protocol import Request, Sampling, Scope

HALF = Estimate(metric="r2", value=0.5, low=0.4, high=0.6, scored=3)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a second here."""
    for module in (status_module, engine_watching):
        monkeypatch.setattr(module, "SECONDS_BETWEEN_LOOKS", 0.01)


class Listener:
    """A run that does nothing, and what it is told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.budget = Budget({}, 1.0)
        self.progress = Progress("episodes", 10, earlier=5)
        self.limits: list[float] = []

    def change_limit(self, max_cost: float) -> None:
        if max_cost == 13:
            raise InputError("Thirteen is refused.")
        self.limits.append(max_cost)
        self.budget.change_limit(max_cost)

    def keep(self) -> StatusKeeper:
        return StatusKeeper(self.folder, self.budget, lambda: self.progress, self.change_limit)

    def find(self) -> Any:
        return read_status(self.folder)

    async def wait_until(self, met: Any) -> None:
        async with asyncio.timeout(10):
            while not met():
                await asyncio.sleep(0.005)


@pytest.fixture
def listener(tmp_path: Path) -> Listener:
    return Listener(tmp_path)


async def test_counts_are_those_of_the_whole_folder(listener: Listener) -> None:
    listener.progress.begun = 4
    listener.progress.measure_under_way = lambda: UnderWay(0.5, "Tue 14:30")
    listener.budget.book("m", "subject", Usage(calls=3, input_tokens=30, output_tokens=3))
    with listener.keep():
        listener.progress.count()
        listener.progress.count("no answer")
        await listener.wait_until(lambda: listener.find().errored == 1)
        found = listener.find()
    assert (found.state, found.phase, found.done, found.total, found.under_way) == (State.RUNNING, "episodes", 7, 15, 2)
    assert (found.usage.calls, found.limit, found.failures) == (3, 1.0, {"episodes: no answer": 1})
    assert (found.shares_done, found.place) == (0.5, "Tue 14:30")
    found = listener.find()
    assert (found.state, found.under_way, found.shares_done, found.place) == (State.FINISHED, 0, 0, "")


async def test_nothing_is_written_while_nothing_changes(listener: Listener) -> None:
    with listener.keep():
        await asyncio.sleep(0.1)
        before = (listener.folder / STATUS_FILE).stat().st_mtime_ns
        await asyncio.sleep(0.1)
        assert (listener.folder / STATUS_FILE).stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("error", "state", "reason"),
    [
        (CostLimitReached("The limit."), State.STOPPED, "The limit."),
        (EndpointUnusable("Wrong key."), State.FAILED, "Wrong key."),
        (ZeroDivisionError("by zero"), State.FAILED, "bug: ZeroDivisionError: by zero"),
        (KeyboardInterrupt(), State.STOPPED, "Interrupted at once; calls under way were given up."),
    ],
)
async def test_how_it_ended(listener: Listener, error: BaseException, state: State, reason: str) -> None:
    with pytest.raises(type(error)), listener.keep():
        if isinstance(error, RunStopped):
            listener.budget.stop(error)
        raise error
    assert (listener.find().state, listener.find().reason) == (state, reason)
    assert listener.find().is_at_limit == isinstance(error, CostLimitReached)


async def test_a_word_is_obeyed_once_and_removed(listener: Listener) -> None:
    control = listener.folder / CONTROL_FILE
    with listener.keep():
        control.write_text('{"max_cost": 7.5}')
        await listener.wait_until(lambda: listener.limits)
        assert not control.exists()
        await asyncio.sleep(0.05)
        assert listener.limits == [7.5]
        assert listener.budget.stopped is None
        control.write_text('{"stop": true}')
        await listener.wait_until(lambda: listener.find().state is State.STOPPING)
        assert listener.find().limit == 7.5


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("stop", "what was there is ignored"),
        ('{"stop": true', "what was there is ignored"),
        ('{"halt": true}', "what was there is ignored"),
        ('{"max_cost": -1}', "greater than 0"),
        ('{"max_cost": 1e999}', "what was there is ignored"),
        ('{"max_cost": 13}', "Thirteen is refused."),
        ("[" * 100_000, "what was there is ignored"),
    ],
)
async def test_nonsense_is_told_and_ignored(listener: Listener, said: str, told: str) -> None:
    control = listener.folder / CONTROL_FILE
    with listener.keep():
        control.write_text(said)
        await listener.wait_until(lambda: told in listener.find().remark)
        assert not control.exists()
        control.write_text('{"max_cost": 2}')
        await listener.wait_until(lambda: not listener.find().remark and listener.find().limit == 2)
    assert listener.limits == [2]
    assert listener.find().state is State.FINISHED


async def test_a_word_to_an_earlier_process_is_not_for_this_one(tmp_path: Path) -> None:
    (tmp_path / CONTROL_FILE).write_text('{"stop": true}')
    with hold_lock(tmp_path):
        assert not (tmp_path / CONTROL_FILE).exists()
    (tmp_path / CONTROL_FILE).mkdir()
    with hold_lock(tmp_path):
        pass


async def test_what_is_said_in_two_words_is_one(listener: Listener) -> None:
    (listener.folder / "manifest.json").write_text("{}")
    with hold_lock(listener.folder), listener.keep() as keeper:
        keeper._over.set()  # it looks no more
        watching.change_limit(listener.folder, 3)
        watching.stop(listener.folder)
        assert json.loads((listener.folder / CONTROL_FILE).read_text()) == {"max_cost": 3, "stop": True}
    assert not (listener.folder / CONTROL_FILE).exists()


async def test_several_runs_that_were_stopped_say_so(listener: Listener) -> None:
    with listener.keep() as keeper:
        keeper.missing = "2 of 2 runs could not go on."
    assert (listener.find().state, listener.find().reason) == (State.UNFINISHED, "2 of 2 runs could not go on.")
    with listener.keep() as keeper:
        listener.budget.interrupt()
        keeper.missing = "2 of 2 runs could not go on."
    assert (listener.find().state, listener.find().reason) == (State.STOPPED, "Interrupted.")


@pytest.mark.parametrize("before", ['{"halt": true}', "[" * 100_000, '{"stop": tr'])
async def test_nonsense_that_lies_there_hides_no_word(listener: Listener, before: str) -> None:
    (listener.folder / "manifest.json").write_text("{}")
    with hold_lock(listener.folder), listener.keep() as keeper:
        keeper._over.set()  # it looks no more
        (listener.folder / CONTROL_FILE).write_text(before)
        watching.stop(listener.folder)
        assert json.loads((listener.folder / CONTROL_FILE).read_text()) == {"stop": True}


async def test_estimates_of_an_earlier_process_are_kept(listener: Listener) -> None:
    with listener.keep() as keeper:
        keeper.note_estimates([HALF], 3)
        keeper.note_estimates([HALF], 3)
    with listener.keep() as keeper:
        keeper.note_estimates([HALF], 4)
    assert [(each.episodes, each.estimates) for each in listener.find().history] == [(3, (HALF,)), (4, (HALF,))]
    # What cannot be read is no history, and ends nothing.
    (listener.folder / STATUS_FILE).write_text('{"state": "finished", "histor')
    with listener.keep():
        assert listener.find().history == ()


async def test_a_call_that_waits_at_the_limit_goes_on_when_it_is_raised() -> None:
    budget = Budget({"m": Price(input=0, output=1_000_000)}, limit=10.0)
    request = Request([], scope=Scope("item", "subject", "p"), sampling=Sampling(0, 8))
    first = await budget.admit("m", request)
    second = asyncio.create_task(budget.admit("m", request))
    await asyncio.sleep(0.01)
    assert not second.done()
    budget.change_limit(20.0)
    await asyncio.wait_for(second, 5)
    assert budget.stopped is None
    budget.settle(first)


async def test_looking_does_not_keep_a_run_from_beginning(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            is_in_use(tmp_path)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(200):
            RunFolder.open(tmp_path).close()
    finally:
        over.set()
        looking.join()


WAITING = """
import asyncio
import json
from itertools import count
from pathlib import Path

asked = count()


async def answer(messages, **_):
    number = next(asked)
    while len(json.loads(Path({file!r}).read_text())["history"]) < number // 20:
        await asyncio.sleep(0.01)
    return "I am not sure."
"""
"""A model that waits after every twenty calls, until there are new estimates."""


def test_estimates_narrow_as_a_run_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(engine_watching, "SHARE_OF_TIME", 1.0)
    folder, model = tmp_path / "run", tmp_path / "waiting.py"
    model.write_text(WAITING.format(file=str(folder / STATUS_FILE)))
    run = sociable.run("hsii", f"python:{model}:answer", limit=16, max_connections=2, options={"stages": "1,2"}, out=folder)
    status = watching.find_status(folder)
    assert status.state is State.FINISHED
    assert status.done == status.total == len(run.records.episodes)
    points = [each.episodes for each in status.history]
    assert points == sorted(points)
    assert 3 <= len(points) <= status_module.POINTS
    assert points[-1] == len(run.records.episodes)
    # The last is what the run itself found.
    assert status.history[-1].estimates
    assert all(each == run.estimate(each.metric) for each in status.history[-1].estimates)
    first, last = (
        next(each for each in point.estimates if each.metric == "r1") for point in (status.history[0], status.history[-1])
    )
    assert first.scored < last.scored
    assert first.high - first.low > last.high - last.low


JUDGED = {"partner": "reference/heuristic", "judges": "reference/rule"}
WHOLE = {"hsii": {**JUDGED, "reference": "reference/oracle"}, "anteval-iep": JUDGED, "stss": {}}


@pytest.mark.parametrize("benchmark", WHOLE)
async def test_a_glance_scores_as_the_run_does(benchmark: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    given: Any = {**WHOLE[benchmark], "limit": 1, "out": folder}
    result = await asyncio.to_thread(sociable.run, benchmark, "reference/heuristic", **given)
    with RunFolder.open(folder) as locked, open_run(locked, reopen_study(locked), build=()) as (run, _):
        look = engine_watching._Look(run)
        scores = await look.list_scores()
        assert scores == list(result.scores)
        if not run.seats.judges:
            return
        # A judgment that comes later is seen: one that had not been there.
        name, known = next((name, each) for name, each in look._known.items() if each.tasks)
        first = run.records.judgments.read(known.tasks[0])
        del run.records.judgments._offsets[known.tasks[0]]
        assert await look.list_scores() != scores
        run.records.judgments.append(first)
        assert await look.list_scores() == scores
        assert look._known[name].judged == known.judged


def test_folders_that_say_nothing_of_themselves(tmp_path: Path) -> None:
    assert watching.find_status(tmp_path / "nowhere").state is State.NO_RUN
    assert watching.find_status(tmp_path).state is State.NO_RUN
    folder = tmp_path / "old"
    sociable.run("hsii", "reference/heuristic", limit=2, options={"stages": "1,2"}, out=folder)
    episodes = json.loads((folder / "manifest.json").read_text())["episodes"]
    for text in (None, "{", "[]", '{"state": "asleep"}'):
        (folder / STATUS_FILE).unlink() if text is None else (folder / STATUS_FILE).write_text(text)
        found = watching.find_status(folder)
        assert (found.state, found.done, found.total) == (State.FINISHED, episodes, episodes)
    (folder / "scores.json").unlink()
    assert watching.find_status(folder).state is State.UNFINISHED
    with hold_lock(folder):
        assert watching.find_status(folder).state is State.RUNNING
    (folder / "manifest.json").write_text("torn")
    assert watching.find_status(folder).state is State.UNFINISHED


def test_nobody_who_is_not_there_is_told_anything(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="is not a run folder"):
        watching.stop(tmp_path)
    sociable.run("hsii", "reference/heuristic", limit=1, options={"stages": "1,2"}, out=tmp_path / "run")
    with pytest.raises(RunFolderError, match=r"Nobody is at work in .*: it is finished\. Go on with: sociable resume"):
        watching.change_limit(tmp_path / "run", 5)
    with pytest.raises(InputError, match="above 0"):
        watching.change_limit(tmp_path / "run", float("nan"))
    assert not (tmp_path / "run" / CONTROL_FILE).exists()


def test_a_run_of_another_host_is_believed_while_it_gives_signs(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    sociable.run("hsii", "reference/heuristic", limit=1, options={"stages": "1,2"}, out=folder)
    written = json.loads((folder / STATUS_FILE).read_text()) | {"state": "running", "host": "elsewhere"}
    for updated, state in ((time.time(), State.RUNNING), (time.time() - 3600, State.KILLED)):
        (folder / STATUS_FILE).write_text(json.dumps(written | {"updated": updated}))
        assert watching.find_status(folder).state is state


def test_the_runs_of_a_series_are_summed_up(tmp_path: Path) -> None:
    series = tmp_path / "several"
    for name in ("a", "b"):
        sociable.run("hsii", "reference/heuristic", limit=1, options={"stages": "1,2"}, out=series / name)
    settings = {name: json.loads((series / name / "manifest.json").read_text())["settings"] for name in ("a", "b")}
    write_series(series, settings)
    assert (watching.find_status(series).state, watching.find_status(series).done) == (State.FINISHED, 2)
    write_series(series, settings | {"c": settings["a"]})
    found = watching.find_status(series)
    assert (found.state, found.phase, found.done, found.total) == (State.UNFINISHED, "runs", 2, 3)
    assert [path for path, _ in watching.list_statuses([tmp_path])] == [series, series / "a", series / "b"]


def test_a_run_some_of_whose_episodes_are_missing_is_not_finished(tmp_path: Path) -> None:
    folder = tmp_path / "probe"
    sociable.estimate("hsii", "reference/heuristic", probe=2, limit=8, options={"stages": "1,2"}, out=folder)
    found = watching.find_status(folder)
    assert found.state is State.UNFINISHED
    assert "have not been played" in found.reason


def test_an_audit_of_judges_says_how_far_it_is_too(tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    sociable.audit_judges("hsii", ["reference/rule"], kinds=["first utterance"], known=4, out=folder)
    found = watching.find_status(folder)
    assert (found.state, found.phase, found.done) == (State.FINISHED, "first utterance", found.total)
    assert found.total > 0
    (folder / STATUS_FILE).unlink()
    assert watching.find_status(folder).state is State.FINISHED
