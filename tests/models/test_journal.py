"""A reply is durable before anyone has it, bought once, and there again after any kind of death."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sociable.core.errors import EndpointUnusable, Interrupted, RunFailure, RunFolderError, StorageFailure
from sociable.core.records import Usage
from sociable.models.journal import Journal, JournalledModel, copy_calls
from sociable.models.limits import Budget, Price
from sociable.models.openai_compatible import OpenAICompatibleModel
from sociable.models.protocol import FinishReason, Model, Reply, Request, Scope, Timing
from sociable.models.scripted import ScriptedModel

if TYPE_CHECKING:
    from tests.conftest import ChatServer, ReadOnlyFolder

Endpoint = Callable[..., OpenAICompatibleModel]

HOSTILE = 'a\x00b "c" \\ \u2028 🙂 ; DROP TABLE calls; --'


def asking(text: str = "Hello", item: str = "episode", role: str = "subject") -> Request:
    return Request([{"role": "user", "content": text}], Scope(item, role, "Ada"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "calls.sqlite"


def journalled(model: Model, journal: Journal) -> JournalledModel:
    return JournalledModel(model, journal, Budget({}))


def stored(file: Path) -> list[str]:
    """The replies another process would see."""
    database = sqlite3.connect(file)
    try:
        return [reply for (reply,) in database.execute("SELECT reply FROM calls")]
    finally:
        database.close()


async def test_a_reply_is_durable_before_anyone_has_it(file: Path) -> None:
    with Journal(file) as journal:
        reply = await journalled(ScriptedModel(["Good morning."]), journal).generate(asking())
        assert stored(file) == [reply.text] == ["Good morning."]


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget
from sociable.models.protocol import Request, Scope
from sociable.models.scripted import ScriptedModel

async def main():
    model = JournalledModel(ScriptedModel(lambda request: f"answer to {request.messages[0]['content']}"), Journal(Path(sys.argv[1])), Budget({}))
    async def ask(number):
        reply = await model.generate(Request([{"role": "user", "content": str(number)}], Scope("e", "subject")))
        print(reply.text, flush=True)
        if number == 10:
            os.kill(os.getpid(), signal.SIGKILL)
    await asyncio.gather(*(ask(number) for number in range(20)))

asyncio.run(main())
"""


def test_a_reply_that_was_used_survives_kill_9(file: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(file)], capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    used = done.stdout.splitlines()
    assert "answer to 10" in used
    assert set(used) <= set(stored(file))


async def test_the_same_asked_twice_in_a_scope_is_two_calls(file: Path) -> None:
    with Journal(file) as journal:
        model = journalled(ScriptedModel(["first", "second"]), journal)
        request = asking()
        assert [(await model.generate(request)).text for _ in range(2)] == ["first", "second"]
        assert sorted(stored(file)) == ["first", "second"]
        assert request.scope.usage.calls == 2


async def test_who_begins_anew_in_the_same_process_finds_what_was_bought(file: Path) -> None:
    with Journal(file) as journal:
        model = journalled(ScriptedModel(["Good morning."]), journal)
        assert await model.generate(asking()) == await model.generate(asking())


async def test_what_was_bought_comes_back_in_the_order_it_was_asked(file: Path) -> None:
    with Journal(file) as journal:
        model, request = journalled(ScriptedModel(["first", "second"]), journal), asking()
        bought = [await model.generate(request), await model.generate(request)]
    with Journal(file) as journal:
        model, request = journalled(ScriptedModel(["third"]), journal), asking()
        assert [await model.generate(request), await model.generate(request)] == bought
        # A third was never asked before.
        assert (await model.generate(request)).text == "third"


@pytest.mark.parametrize(
    "other",
    [
        asking("Hello!"),
        asking(item="another episode"),
        asking(role="judge"),
        Request(asking().messages, Scope("episode", "subject", "Ben")),
        Request([{"role": "system", "content": "Hello"}], Scope("episode", "subject", "Ada")),
        Request(asking().messages, Scope("episode", "subject", "Ada"), schema={}),
    ],
)
async def test_another_call_is_not_mistaken_for_it(file: Path, other: Request) -> None:
    with Journal(file) as journal:
        await journalled(ScriptedModel(["first"]), journal).generate(asking())
    with Journal(file) as journal:
        assert (await journalled(ScriptedModel(["other"]), journal).generate(other)).text == "other"


async def test_another_model_is_another_call(file: Path) -> None:
    with Journal(file) as journal:
        await journalled(ScriptedModel(["first"]), journal).generate(asking())
    with Journal(file) as journal:
        assert (await journalled(ScriptedModel(["other"], name="larger"), journal).generate(asking())).text == "other"


REPLAYED = """
import asyncio, json, sys
from pathlib import Path
from sociable.models.journal import Journal, JournalledModel, copy_calls
from sociable.models.limits import Budget
from sociable.models.openai_compatible import EndpointSettings, OpenAICompatibleModel
from sociable.models.protocol import Request, Scope

async def main(file, name, url):
    scope, replies = Scope("episode", "subject"), []
    with Journal(Path(file)) as journal:
        model = JournalledModel(OpenAICompatibleModel(name, name, EndpointSettings(url)), journal, Budget({}))
        for number in (1, 2, 2, 3):
            reply = await model.generate(Request([{"role": "user", "content": f"Hello {number}"}], scope))
            replies.append([reply.text, reply.thinking, reply.finish.value, reply.usage.model_dump()])
        await model.close()
    print(json.dumps([replies, scope.usage.model_dump()]))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("behaviour", ["plain", "thinking", "control", "cut-off", "no-usage"])
def test_a_replay_in_a_new_process_asks_nobody(chat_server: ChatServer, tmp_path: Path, behaviour: str) -> None:
    name = f"{behaviour}:{tmp_path.name}"

    def run() -> Any:
        command = [sys.executable, "-c", REPLAYED, str(tmp_path / "calls.sqlite"), name, chat_server.url]
        return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)

    first = run()
    # Four calls, one of them asked twice.
    assert chat_server.requests(name)["total"] == 4
    assert first[1]["calls"] == 4
    assert run() == first
    assert chat_server.requests(name)["total"] == 4


async def test_a_failed_call_leaves_nothing_behind(file: Path, endpoint: Endpoint) -> None:
    with Journal(file) as journal:
        with pytest.raises(EndpointUnusable):
            await journalled(endpoint("unauthorized"), journal).generate(asking())
        assert stored(file) == []


async def test_a_reply_comes_back_whole(file: Path) -> None:
    reply = Reply(HOSTILE, Usage(calls=1, input_tokens=5, output_tokens=7), FinishReason.LENGTH, thinking=HOSTILE[::-1])
    request = Request([{"role": "user", "content": HOSTILE}], Scope(HOSTILE, "subject", HOSTILE))
    with Journal(file) as journal:
        assert await journalled(ScriptedModel([reply]), journal).generate(request) == reply
    with Journal(file, replay_only=True) as journal:
        again = Request(request.messages, Scope(HOSTILE, "subject", HOSTILE))
        assert await journalled(ScriptedModel([]), journal).generate(again) == reply
        (call,) = journal.find_calls(HOSTILE)
        assert call.reply == reply
        assert (call.item, call.role, call.participant, call.model) == (HOSTILE, "subject", HOSTILE, "scripted")
        assert call.request["messages"] == [{"role": "user", "content": HOSTILE}]


async def test_half_a_character_in_a_request_does_not_end_the_run(file: Path) -> None:
    with Journal(file) as journal:
        assert (await journalled(ScriptedModel(["fine"]), journal).generate(asking("half a pair: \ud800"))).text == "fine"
        (call,) = journal.find_calls("episode")
        assert call.request["messages"] == [{"role": "user", "content": "half a pair: ?"}]


async def test_a_slow_disk_makes_no_more_calls_that_are_not_kept(
    endpoint: Endpoint, chat_server: ChatServer, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server_model = endpoint("plain", max_connections=3)
    with Journal(file) as journal:
        commit, not_kept = journal._commit, []

        def commit_slowly(rows: list[Any]) -> None:
            time.sleep(0.1)
            not_kept.append(chat_server.requests(server_model.name)["total"] - len(stored(file)))
            commit(rows)

        monkeypatch.setattr(journal, "_commit", commit_slowly)
        model = journalled(server_model, journal)
        await asyncio.gather(*(model.generate(asking(f"Hello {number}")) for number in range(12)))
    assert len(not_kept) >= 4
    assert max(not_kept) == 3


async def test_what_arrives_together_is_committed_together(file: Path) -> None:
    with Journal(file) as journal:
        statements: list[str] = []
        journal._database.set_trace_callback(statements.append)
        model = journalled(ScriptedModel(lambda request: request.messages[0]["content"]), journal)
        replies = await asyncio.gather(*(model.generate(asking(f"Hello {number}")) for number in range(200)))
        assert len({reply.text for reply in replies}) == 200
        # All 200 are there in the first round of the event loop; a second group is allowed for the first that came.
        assert 1 <= statements.count("COMMIT") <= 2
    assert len(stored(file)) == 200


async def test_it_adds_up_what_was_bought(file: Path) -> None:
    def reply(request: Request) -> Reply:
        return Reply("Hi", Usage(calls=1, input_tokens=10, output_tokens=3))

    with Journal(file) as journal:
        model = journalled(ScriptedModel(reply, name="small"), journal)
        for number in range(3):
            await model.generate(asking(f"Hello {number}"))
        await model.generate(asking(role="judge"))
        await journalled(ScriptedModel(reply, name="large"), journal).generate(asking())
    with Journal(file) as journal:
        assert sorted(
            (model, role, usage.calls, usage.input_tokens, usage.output_tokens) for model, role, usage in journal.sum_usage()
        ) == [
            ("large", "subject", 1, 10, 3),
            ("small", "judge", 1, 10, 3),
            ("small", "subject", 3, 30, 9),
        ]


async def test_calls_are_shown_by_item_the_shortest_history_first(file: Path) -> None:
    with Journal(file) as journal:
        model = journalled(ScriptedModel(["late", "early", "elsewhere"]), journal)
        await model.generate(asking("a long history " * 9))
        await model.generate(asking("short"))
        await model.generate(asking(item="another"))
        assert [call.reply.text for call in journal.find_calls("episode")] == ["early", "late"]


async def test_a_recording_buys_nothing(file: Path) -> None:
    with Journal(file) as journal:
        await journalled(ScriptedModel(["first"]), journal).generate(asking())
    model = ScriptedModel(["not in the recording"])
    with Journal(file, replay_only=True) as journal:
        assert (await journalled(model, journal).generate(asking())).text == "first"
        with pytest.raises(RunFailure, match="holds no reply to this call of episode/subject/Ada"):
            await journalled(model, journal).generate(asking("something else"))
    assert model.requests == []


def test_a_recording_that_does_not_exist_is_not_made(file: Path) -> None:
    with pytest.raises(RunFolderError, match="no such file"):
        Journal(file, replay_only=True)
    assert not file.exists()


async def test_a_reply_whose_asker_was_cancelled_is_kept(file: Path) -> None:
    async def slow_reply(journal: Journal, number: int) -> None:
        request = asking(f"Hello {number}")
        body = request.to_json("m")
        await journal.store(request.scope.make_key(body), request, body, "m", Reply(f"paid {number}", Usage(calls=1)), 0.1)

    with Journal(file) as journal:
        tasks = [asyncio.create_task(slow_reply(journal, number)) for number in range(3)]
        # All have handed in their reply, and no commit has begun.
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
    assert sorted(stored(file)) == ["paid 0", "paid 1", "paid 2"]
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_run_can_be_looked_into_while_it_goes_on(file: Path) -> None:
    with Journal(file) as writing, Journal(file, replay_only=True) as reading:
        await journalled(ScriptedModel(["first"]), writing).generate(asking())
        assert [call.reply.text for call in reading.find_calls("episode")] == ["first"]


@pytest.mark.parametrize(
    "content", [b"This is not a database, and longer than a hundred bytes. " * 20, b"SQLite format 3\x00" + b"\xff" * 5000]
)
@pytest.mark.parametrize("replay_only", [False, True])
def test_a_file_that_is_no_journal_is_refused_and_left_alone(file: Path, content: bytes, replay_only: bool) -> None:
    file.write_bytes(content)
    with pytest.raises(RunFolderError, match=r"calls.sqlite .*Restore it from a copy, or start a new run"):
        Journal(file, replay_only=replay_only)
    assert file.read_bytes() == content


async def test_a_journal_damaged_in_its_middle_says_so_and_buys_nothing(file: Path) -> None:
    with Journal(file) as journal:
        model = journalled(ScriptedModel(lambda request: "x" * 3000), journal)
        await asyncio.gather(*(model.generate(asking(f"Hello {number}")) for number in range(100)))
    content = bytearray(file.read_bytes())
    # The last tenth holds some of the calls.
    content[len(content) // 10 * 9 :] = b"\xa5" * (len(content) - len(content) // 10 * 9)
    file.write_bytes(content)
    model = ScriptedModel(["bought"])
    with Journal(file) as journal:
        with pytest.raises(RunFolderError, match="Restore it from a copy"):
            list(journal.sum_usage())
        with pytest.raises(RunFolderError, match="Restore it from a copy"):
            list(journal.find_calls("episode"))
        with pytest.raises(RunFolderError, match="Restore it from a copy"):
            await asyncio.gather(*(journalled(model, journal).generate(asking(f"Hello {number}")) for number in range(100)))
    assert len(model.requests) < 100


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(StorageFailure, match=r"Cannot write .*calls\.sqlite"):
        Journal(tmp_path / "nowhere" / "calls.sqlite")


FULL_DISK = """
import asyncio, json, resource, sys
from pathlib import Path
from sociable.core.errors import StorageFailure
from sociable.core.records import Usage
from sociable.models.journal import Journal, JournalledModel, copy_calls
from sociable.models.limits import Budget
from sociable.models.protocol import Reply, Request, Scope
from sociable.models.scripted import ScriptedModel

async def main(file):
    asked = ScriptedModel(lambda request: Reply("x" * 5000, Usage(calls=1)))
    budget, kept = Budget({}), 0
    with Journal(Path(file)) as journal:
        model = JournalledModel(asked, journal, budget)
        # No file may grow beyond 100 kB, which holds fewer than twenty replies of 5 kB.
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        problem = ""
        while not problem:
            try:
                await model.generate(Request([{"role": "user", "content": str(len(asked.requests))}], Scope("e", "subject")))
                kept += 1
            except StorageFailure as error:
                problem = str(error)
        bought = len(asked.requests)
        refused = []
        for number in range(5):
            try:
                await model.generate(Request([{"role": "user", "content": f"later {number}"}], Scope("e", "subject")))
            except StorageFailure as error:
                refused.append(str(error))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(json.dumps({"kept": kept, "bought": bought, "after": len(asked.requests), "problem": problem, "refused": refused,
                      "stopped": type(budget.stopped).__name__}))

asyncio.run(main(sys.argv[1]))
"""


def test_a_full_disk_stops_the_buying_and_loses_nothing_that_was_kept(file: Path) -> None:
    pytest.importorskip("resource")
    file.with_name("manifest.json").touch()
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(file)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert 0 < told["kept"] < 20
    # The one reply that could not be kept is the last one bought.
    assert told["bought"] == told["after"] == told["kept"] + 1
    assert told["problem"].startswith(f"Cannot write {file}: ")
    assert f"sociable resume {file.parent}" in told["problem"]
    assert told["refused"] == [told["problem"]] * 5
    assert told["stopped"] == "StorageFailure"
    assert len(stored(file)) == told["kept"]


async def test_a_failed_commit_of_any_kind_does_not_block_the_next(file: Path) -> None:
    # SQLite's integers have 64 bits.
    with Journal(file) as journal:
        model = journalled(ScriptedModel([Reply("too much", Usage(calls=1, input_tokens=2**80))]), journal)
        with pytest.raises(StorageFailure):
            await model.generate(asking())
        assert (await journalled(ScriptedModel(["next"]), journal).generate(asking("Hello again"))).text == "next"
    assert stored(file) == ["next"]


async def test_a_reply_that_cannot_be_kept_is_still_counted(file: Path) -> None:
    budget = Budget({"scripted": Price(input=1_000_000, output=0)})
    with Journal(file) as journal:
        model = JournalledModel(ScriptedModel([Reply("Hi", Usage(calls=1, input_tokens=2))]), journal, budget)
        journal._database.execute("CREATE TRIGGER full BEFORE INSERT ON calls BEGIN SELECT RAISE(FAIL, 'full'); END")
        with pytest.raises(StorageFailure):
            await model.generate(asking())
    # Two tokens at a million dollars the million.
    assert budget.spent == 2.0
    assert isinstance(budget.stopped, StorageFailure)


READ = """
import asyncio
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget
from sociable.models.protocol import Request, Scope
from sociable.models.scripted import ScriptedModel

def main(folder):
    with Journal(folder / "calls.sqlite", replay_only=True) as journal:
        model = JournalledModel(ScriptedModel([]), journal, Budget({}))
        request = Request([{"role": "user", "content": "Hello"}], Scope("episode", "subject", "Ada"))
        print(asyncio.run(model.generate(request)).text)
        print(sum(usage.calls for _, _, usage in journal.sum_usage()), len(list(journal.find_calls("episode"))))
"""


@pytest.mark.parametrize("killed", [False, True])
async def test_a_recording_plays_from_a_read_only_folder(read_only_folder: ReadOnlyFolder, killed: bool) -> None:
    file = read_only_folder.path / "calls.sqlite"
    if killed:
        # The replies of a killed process are in the write-ahead log, not yet in the database.
        code = KILLED.replace('Scope("e", "subject")', 'Scope("episode", "subject", "Ada")').replace("str(number)", '"Hello"')
        subprocess.run([sys.executable, "-c", code.replace("number == 10", "True"), str(file)], capture_output=True, timeout=60)
        assert file.with_name("calls.sqlite-wal").stat().st_size > 0
    else:
        with Journal(file) as journal:
            await journalled(ScriptedModel(["answer to Hello"]), journal).generate(asking())
    first, counts = read_only_folder.use(READ).splitlines()
    assert first == "answer to Hello"
    # The one call there is, or as many of the twenty as were committed when the process was killed.
    assert counts.split()[0] == counts.split()[1] != "0"


async def test_calls_that_wait_for_their_turn_are_not_made_after_an_interrupt(
    endpoint: Endpoint, chat_server: ChatServer, file: Path
) -> None:
    server = endpoint("slow", max_connections=1)
    budget = Budget({})
    with Journal(file) as journal:
        model = JournalledModel(server, journal, budget)
        calls = [asyncio.create_task(model.generate(asking(f"Hello {number}"))) for number in range(10)]
        while chat_server.requests(server.name)["total"] == 0:
            await asyncio.sleep(0.005)
        budget.interrupt()
        found = await asyncio.gather(*calls, return_exceptions=True)
    # The one under way is kept; one more may have been sent while this test looked.
    assert sum(isinstance(each, Interrupted) for each in found) >= 8
    assert chat_server.requests(server.name)["total"] == len(stored(file)) <= 2


OLDER = """
CREATE TABLE calls (
    key BLOB PRIMARY KEY, item TEXT NOT NULL, role TEXT NOT NULL, participant TEXT NOT NULL, model TEXT NOT NULL,
    request TEXT NOT NULL, reply TEXT NOT NULL, thinking TEXT NOT NULL, finish TEXT NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, seconds REAL NOT NULL
)
"""


@pytest.fixture
def older(file: Path) -> Path:
    """A journal of version 0.1, which knew no time to the first token; it holds one reply to "Hello"."""
    request = asking()
    key = Scope("episode", "subject", "Ada").make_key(request.to_json("scripted"))
    database = sqlite3.connect(file)
    database.execute(OLDER)
    values = (key, "episode", "subject", "Ada", "scripted", request.to_json("scripted").decode(), "Good morning.", "", "stop")
    database.execute("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*values, 5, 2, 1.5))
    database.commit()
    database.close()
    return file


@pytest.mark.parametrize("replay_only", [False, True])
async def test_an_older_journal_is_read_and_gone_on_with(older: Path, replay_only: bool) -> None:
    with Journal(older, replay_only=replay_only) as journal:
        model = journalled(ScriptedModel(["I am new."]), journal)
        assert (await model.generate(asking())).text == "Good morning."
        assert journal.measure_seconds() == {"subject": {"median": 1.5, "longest": 1.5}}
        if not replay_only:
            assert (await model.generate(asking("And now?"))).text == "I am new."
        assert len(list(journal.find_calls("episode"))) == 2 - replay_only


def test_calls_of_an_older_journal_are_copied_into_a_new_one(older: Path, tmp_path: Path) -> None:
    copy_calls(older, tmp_path / "new.sqlite", "episode")
    with Journal(tmp_path / "new.sqlite") as journal:
        assert [call.reply.text for call in journal.find_calls("episode")] == ["Good morning."]


async def test_times_are_kept_by_role(file: Path) -> None:
    def reply(whole: float, first: float | None, tokens: int) -> Reply:
        return Reply("Hi", Usage(calls=1, output_tokens=tokens), timing=Timing(whole, first))

    with Journal(file) as journal:
        model = journalled(ScriptedModel([reply(2.0, 0.5, 30), reply(4.0, 1.0, 60), reply(9.0, None, 60)]), journal)
        for number in range(3):
            await model.generate(asking(str(number)))
        # The reply that did not come as a stream tells nothing of first tokens: 90 tokens in 1.5 + 3 s.
        expected = {"median": 4.0, "longest": 9.0, "first token": 0.75, "tokens a second": 20.0}
        assert journal.measure_seconds() == {"subject": expected}
        assert list(journal.sum_seconds()) == [("scripted", "subject", 15.0)]
