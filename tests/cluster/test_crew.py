"""A crew whose workers live in this process: all that has nothing to do with Ray. Messages are pickled on their way."""

from __future__ import annotations

import asyncio
import pickle
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.api import pooled_runs, runs, studies
from sociable.cluster import crew, worker
from sociable.cluster.crew import WorkerLost
from sociable.cluster.joining import Cluster
from sociable.cluster.messages import Bought, FromWorker, Noted, Over, RunSpecification, ToWorker
from sociable.core.errors import InputError, RunStopped
from sociable.core.records import EpisodeStatus
from sociable.engine.settings import RoleSettings


def send(message: Any) -> Any:
    return pickle.loads(pickle.dumps(message))


class Here:
    """A worker in this process. It can be lost, and say that it is something else than it is."""

    hired: list[Here]

    def __init__(self) -> None:
        self._worker = worker.Worker()
        self.is_lost = False
        self.packages: dict[str, str] = {}
        self.items = 0
        Here.hired.append(self)

    async def _unless_lost(self, answer: Any) -> Any:
        answer = await answer
        if self.is_lost:
            raise WorkerLost("The worker is gone.")
        return send(answer)

    async def describe(self) -> Any:
        node, packages = await self._worker.describe()
        return node, packages | self.packages

    async def open(self, specification: RunSpecification) -> str:
        return await self._unless_lost(self._worker.open(send(specification)))

    async def deliver(self, messages: Sequence[ToWorker]) -> None:
        self.items += sum(type(message).__name__ == "Item" for message in messages)
        await self._unless_lost(self._worker.deliver(send(messages)))

    async def collect(self) -> Sequence[FromWorker]:
        return await self._unless_lost(self._worker.collect())

    async def close(self) -> None:
        await self._worker.close()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has runs use workers in this process."""
    Here.hired = []
    monkeypatch.setattr(worker, "SECONDS_TO_WAIT", 0.1)

    def use(kind: Callable[[], Here] = Here, number: int = 2) -> None:
        @contextmanager
        def join(cluster: str | None, workers: int | None) -> Iterator[Cluster | None]:
            yield Cluster(kind, workers or number) if cluster else None

        for room in (runs, studies):
            monkeypatch.setattr(room, "join_cluster", join)

    return use


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def play(out: str, model: str = "reference/oracle", *, cluster: str | None = "here", **more: Any) -> Any:
    return sociable.run("hsii-cot", model, out=out, cluster=cluster, **({"limit": 1} | more))


def test_one_rate_of_an_endpoint_holds_for_all_workers(cluster: Any, start_chat_server: Callable[[float], Any]) -> None:
    cluster()
    server = start_chat_server(0.0)
    roles = {"subject": RoleSettings(requests_per_minute=1200)}
    play("run", f"openai-compatible/social@{server.url}", roles=roles, options={"cycle_cap": 2})
    assert all(each.items for each in Here.hired)
    arrivals = sorted(at for request in server.requests()["requests"] for at in request["arrivals"])
    assert len(arrivals) > 10
    # 1,200 a minute are one every 50 ms, for both workers together; each alone would send twice as many.
    assert arrivals[-1] - arrivals[0] >= 0.9 * 0.05 * (len(arrivals) - 1)


def test_a_worker_that_is_lost_costs_the_calls_under_way_and_nothing_else(
    cluster: Any, start_chat_server: Callable[[float], Any]
) -> None:
    class Mortal(Here):
        """The first one is lost when it has bought so many replies; the last ones do not arrive."""

        bought = 0

        async def _unless_lost(self, answer: Any) -> Any:
            told = await answer
            if self is Here.hired[0] and isinstance(told, list):
                self.bought += sum(isinstance(message, Bought) for message in told)
                self.is_lost = self.bought >= 20
            return await super()._unless_lost(_make_awaitable(told))

    cluster(Mortal)
    asked, records = {}, {}
    for out, where in (("alone", None), ("together", "here")):
        server = start_chat_server(5.0)
        model = f"openai-compatible/social@{server.url}"
        others = {"partner": model, "reference": model, "judges": (model,)}
        sociable.run("hsii", model, limit=1, max_connections=2, out=out, cluster=where, **others)
        asked[out] = Counter({request["digest"]: request["count"] for request in server.requests()["requests"]})
        records[out] = [(Path(out) / name).read_bytes() for name in ("episodes.jsonl", "judgments.jsonl", "scores.json")]
    assert records["together"] == records["alone"]
    assert len(Here.hired) == 3
    repeated = asked["together"] - asked["alone"]
    assert asked["together"] - repeated == asked["alone"]
    assert 1 <= sum(repeated.values()) <= 2


async def _make_awaitable(value: Any) -> Any:
    return value


def test_an_item_that_ends_every_worker_is_given_up_and_the_others_go_on(cluster: Any) -> None:
    scenarios = list(sociable.load_study("hsii-cot").scenarios)[:12]

    class Fragile(Here):
        async def deliver(self, messages: Sequence[ToWorker]) -> None:
            self.is_lost = self.is_lost or any(scenarios[5] in str(message) for message in messages)
            await super().deliver(messages)

    cluster(Fragile)
    result = play("run", scenarios=scenarios, limit=None)
    errored = [episode for episode in result.episodes() if episode.status is EpisodeStatus.ERRORED]
    assert [episode.scenario for episode in errored] == [scenarios[5]]
    assert "3 workers were lost with it" in errored[0].error


def test_nodes_with_another_version_or_other_data_are_told_before_anything_is_spent(cluster: Any, monkeypatch: Any) -> None:
    class Older(Here):
        def __init__(self) -> None:
            super().__init__()
            self.packages = {"sociable": "0.0.1"}

    cluster(Older)
    with pytest.raises(InputError, match="and this machine has"):
        play("older")

    class Edited(Here):
        async def open(self, specification: RunSpecification) -> str:
            changed = dict.fromkeys(specification.digests, "0")
            return await super().open(RunSpecification(**{**_fields(specification), "digests": changed}))

    cluster(Edited)
    with pytest.raises(InputError, match=r"On the node .*: hsii-cot has another dataset"):
        play("edited")
    assert not any(each.items for each in Here.hired)


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def test_where_no_worker_comes_that_is_told(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Absent(Here):
        async def describe(self) -> Any:
            await asyncio.sleep(60)

    monkeypatch.setattr(crew, "SECONDS_TO_BEGIN", 0.1)
    cluster(Absent)
    with pytest.raises(InputError, match="No worker could begin"):
        play("absent")


def test_where_every_worker_is_lost_at_once_that_is_told_without_waiting(cluster: Any) -> None:
    class Dying(Here):
        async def describe(self) -> Any:
            raise WorkerLost("The worker is gone.")

    cluster(Dying)
    with pytest.raises(InputError, match="3 were lost one after the other"):
        play("dying")


def test_a_worker_that_cannot_be_used_later_on_is_told_and_the_others_go_on(cluster: Any, caplog: Any) -> None:
    class Renewed(Here):
        """The first is lost; the one in its place is of another version."""

        def __init__(self) -> None:
            super().__init__()
            self.packages = {"sociable": "0.0.1"} if len(Here.hired) == 3 else {}

        async def collect(self) -> Sequence[FromWorker]:
            self.is_lost = self is Here.hired[0]
            return await super().collect()

    cluster(Renewed)
    result = play("run", limit=6)
    assert all(episode.status is EpisodeStatus.COMPLETED for episode in result.episodes())
    assert "A worker cannot be used, and no other takes its place: The node" in caplog.text


def test_a_bug_in_what_is_said_to_the_driver_ends_the_run_with_its_place(cluster: Any) -> None:
    class Garbled(Here):
        async def collect(self) -> Sequence[FromWorker]:
            return [Noted("no such run", 0, 0, None)] if self.items else await super().collect()

    cluster(Garbled)
    with pytest.raises(RunStopped, match=r"No worker is left \(bug: KeyError"):
        play("run")


def test_what_goes_wrong_on_a_worker_is_told_as_if_it_had_been_here(cluster: Any) -> None:
    cluster()
    Path("agent.py").write_text("def reply(messages):\n    raise KeyError('x')\n")
    errors = [
        {episode.error for episode in play(out, "python:agent.py:reply", cluster=which, options={"cycle_cap": 2}).episodes()}
        for out, which in (("here", None), ("there", "here"))
    ]
    assert errors[0] == errors[1] == {"python:agent.py:reply raised KeyError: 'x'"}


def test_a_function_that_needs_more_than_its_file_is_refused_before_anything_is_spent(cluster: Any) -> None:
    cluster()
    Path("agent.py").write_text("import no_such_module\ndef reply(messages):\n    return ''\n")
    with pytest.raises(InputError) as told:
        play("run", "python:agent.py:reply")
    assert re.search(
        "On the node .*: 'python:agent.py:reply': importing agent.py raised .*no_such_module'. A function", str(told.value)
    )
    with pytest.raises(InputError, match=r"'python:absent\.py' cannot be sent to the workers"):
        play("absent", "python:absent.py:reply")
    assert not Path("absent").exists()


def test_judges_and_raters_work_on_a_cluster_too(cluster: Any, chat_server: Any) -> None:
    cluster()
    model = f"openai-compatible/social@{chat_server.url}"
    found = {}
    for out, where in (("alone", None), ("together", "here")):
        sociable.run("hsii", "reference/heuristic", out=out, limit=1, options={"stages": [1, 2, 3]})
        sociable.judge(out, [model], cluster=where)
        sociable.judge(out, [model], rubric="sotopia", cluster=where)
        found[out] = [(Path(out) / name).read_text() for name in ("judgments.jsonl", "rubrics.jsonl", "scores.json")]
    assert found["together"] == found["alone"]
    assert sum(each.items for each in Here.hired) >= sum(text.count("\n") for text in found["together"][:2])


def test_data_and_functions_of_ones_own_are_sent_along_and_removed_when_the_run_is_over(cluster: Any, tmp_path: Path) -> None:
    sent: list[RunSpecification] = []

    class Watched(Here):
        async def open(self, specification: RunSpecification) -> str:
            sent.append(specification)
            return await super().open(specification)

    async def open_and_end() -> None:
        alone = worker.Worker()
        folder = Path(alone._folder.name)
        assert await alone.open(sent[0]) == ""
        assert len(list(folder.rglob("*.json*"))) == 1 == len(list(folder.rglob("agent.py")))
        await alone.deliver([Over(sent[0].run)])
        assert not list(folder.iterdir())
        await alone.close()

    cluster(Watched)
    bundled = Path(sociable.__file__).parent / "benchmarks" / "hsii" / "data" / "dialogues"
    first = min(bundled.iterdir())
    Path("mine").mkdir()
    (Path("mine") / first.name).write_bytes(first.read_bytes())
    Path("agent.py").write_text("def reply(messages):\n    return __file__\n")
    played = play("run", "python:agent.py:reply", dataset="mine", limit=None, options={"cycle_cap": 2})
    texts = [str(episode) for episode in played.episodes()]
    assert texts and all("sociable-worker-" in text and f"{tmp_path}/agent.py" not in text for text in texts)
    asyncio.run(open_and_end())


def test_what_servers_do_not_take_is_learnt_and_told(cluster: Any, chat_server: Any) -> None:
    cluster()
    found = {}
    for out, where in (("alone", None), ("together", "here")):
        model = f"openai-compatible/no-system@{chat_server.url}"
        found[out] = play(out, model, cluster=where, options={"cycle_cap": 2}).manifest["adaptations"]
    assert found["together"] == found["alone"] != {}


def test_a_server_that_has_answered_one_worker_is_not_given_up_by_another(
    cluster: Any, start_chat_server: Callable[[float], Any]
) -> None:
    cluster()
    errors = {}
    for out, where in (("alone", None), ("together", "here")):
        model = f"openai-compatible/first-only@{start_chat_server(0.0).url}"
        played = play(out, model, cluster=where, limit=2, roles={"subject": RoleSettings(attempts=1)}, max_connections=1)
        errors[out] = [episode.error.partition(" at ")[0] for episode in played.episodes()]
    assert all(each.items for each in Here.hired)
    assert errors["together"] == errors["alone"] and any(errors["alone"])


def test_people_are_no_part_of_a_cluster(cluster: Any) -> None:
    cluster()
    with pytest.raises(InputError, match="leave --cluster out"):
        play("run", "human")


def test_all_runs_of_a_study_share_the_workers_and_buy_each_call_once(
    cluster: Any, start_chat_server: Callable[[float], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster()
    monkeypatch.setattr(pooled_runs, "report", lambda _: None)
    asked = {}
    for out, where in (("alone", None), ("together", "here")):
        server = start_chat_server(0.0)
        Path(
            "study.toml"
        ).write_text(f"""models = ["reference/heuristic", "openai-compatible/social:a", "openai-compatible/social:b"]
benchmarks = ["hsii"]
partner = "openai-compatible/social:p"
judges = ["openai-compatible/social:j"]
reference = "openai-compatible/social:r"
base_url = "{server.url}"
limit = 1
""")
        result = sociable.study("study.toml", out=out, cluster=where)
        assert not result.problems
        asked[out] = {request["digest"]: request["count"] for request in server.requests()["requests"]}
    assert asked["together"] == asked["alone"]
    for path in sorted(Path("alone").glob("*/scores.json")):
        for name in ("references.jsonl", "episodes.jsonl", "judgments.jsonl", "scores.json"):
            assert (Path("together") / path.parent.name / name).read_bytes() == (path.parent / name).read_bytes(), (path, name)
    assert len(list(Path("together").glob("*/scores.json"))) == 3
    assert all(each.items for each in Here.hired)


def test_an_endpoint_keeps_its_rate_when_the_run_that_had_it_first_is_over(
    cluster: Any, start_chat_server: Callable[[float], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster()
    monkeypatch.setattr(pooled_runs, "report", lambda _: None)
    server = start_chat_server(0.0)
    Path("study.toml").write_text(f"""models = ["openai-compatible/social"]
benchmarks = ["hsii-cot"]
base_url = "{server.url}"
max_connections = 3
[hsii-cot]
cycle_cap = 2
[roles.subject]
requests_per_minute = 30000
[[conditions]]
name = "few"
limit = 1
[[conditions]]
name = "many"
limit = 3
""")
    assert not sociable.study("study.toml", out="together", cluster="here").problems
    ends = {path.parent.name: path.stat().st_mtime for path in Path("together").glob("*/scores.json")}
    assert len(ends) == 2 and len(set(ends.values())) == 2


def test_how_far_towns_have_come_is_told_from_all_workers(cluster: Any, start_chat_server: Callable[[float], Any]) -> None:
    cluster()
    server = start_chat_server(5.0)
    told: list[Any] = []
    phases: list[Any] = []

    def look() -> None:
        while not phases or phases[-1].done < phases[-1].total:
            told.extend(counts.measure_under_way() for counts in phases[-1:] if counts.measure_under_way)
            time.sleep(0.05)

    looking = threading.Thread(target=look)
    looking.start()
    model = f"openai-compatible/resident@{server.url}"
    sociable.run(
        "stss",
        model,
        partner="reference/residents",
        limit=1,
        out="towns",
        cluster="here",
        watch=lambda counts, _: phases.append(counts) if counts.phase == "episodes" else None,
    )
    looking.join()
    assert max(each.done for each in told) > 0.1
    assert any(each.words for each in told)


def test_ray_is_imported_for_a_cluster_only() -> None:
    code = "import sys, sociable.api.runs, sociable.cluster.crew, sociable.cluster.worker; assert 'ray' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
