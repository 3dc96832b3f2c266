"""A run folder survives kills and full disks, and is worked in by one process at a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies

from sociable.core.errors import RunFolderError, StorageFailure
from sociable.core.records import Record
from sociable.core.run_folder import FORMAT, RecordFile, RunFolder, write_atomically

if TYPE_CHECKING:
    from tests.conftest import ReadOnlyFolder


class Item(Record):
    id: str
    text: str = ""


def opened(path: Path) -> RecordFile[Item]:
    return RecordFile(path, Item)


def lines(path: Path) -> list[str]:
    return [Item.model_validate_json(line).id for line in path.read_bytes().splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "items.jsonl"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder that nobody is working in."""
    path = tmp_path / "run"
    with RunFolder.create(path) as folder:
        folder.write_manifest({"benchmark": "hsii"})
    return path


# The folder


def test_a_new_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "runs" / "first") as folder:
        folder.write_manifest({"benchmark": "hsii", "name": "Zoë"})
    with RunFolder.open(tmp_path / "runs" / "first") as folder:
        assert folder.read_manifest() == {"format": FORMAT, "benchmark": "hsii", "name": "Zoë"}


def test_a_folder_that_holds_a_run_is_not_written_over(run: Path) -> None:
    with pytest.raises(RunFolderError, match=r"holds a run already. Go on with: sociable resume"):
        RunFolder.create(run)
    # And it is not left locked.
    RunFolder.open(run).close()


def test_other_files_in_the_folder_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    RunFolder.create(tmp_path).close()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_file_in_place_of_the_folder(file: Path) -> None:
    file.write_text("not a folder")
    with pytest.raises(StorageFailure, match=r"Cannot make .*Choose another folder with --out"):
        RunFolder.create(file)
    with pytest.raises(RunFolderError, match="is not a run folder"):
        RunFolder.open(file)


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(RunFolderError, match=r"is not a run folder: it has no manifest\.json"):
            RunFolder.open(path)
    assert list(tmp_path.iterdir()) == []


LOCKING = """
import sys
from pathlib import Path
from sociable.core.run_folder import RunFolder
folder = RunFolder.open(Path(sys.argv[1]))
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked_by_another(run: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", LOCKING, str(run)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"locked\n"
            yield process
        finally:
            process.kill()


def test_one_process_at_a_time(run: Path) -> None:
    with locked_by_another(run):
        with pytest.raises(RunFolderError, match=r"in use by another process\. Wait until it is done"):
            RunFolder.open(run)
        # Who only reads may look.
        assert RunFolder.open(run, lock=False).read_manifest()["benchmark"] == "hsii"


def test_one_at_a_time_within_a_process(run: Path) -> None:
    with RunFolder.open(run), pytest.raises(RunFolderError, match="in use"):
        RunFolder.open(run)
    RunFolder.open(run).close()


def test_a_killed_process_leaves_no_lock(run: Path) -> None:
    with locked_by_another(run) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        RunFolder.open(run).close()


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        (
            {"format": FORMAT + 1, "packages": {"sociable": "9.1"}},
            rf"sociable 9\.1 \(folder format {FORMAT + 1}; .* reads format {FORMAT}\)",
        ),
        ({"format": 0}, "sociable of another version"),
        ({"format": "new", "packages": None}, "sociable of another version"),
        ({"format": None, "packages": ["sociable"]}, "sociable of another version"),
    ],
)
def test_a_folder_of_another_format_is_refused(run: Path, manifest: dict[str, object], problem: str) -> None:
    (run / "manifest.json").write_text(json.dumps(manifest))
    with RunFolder.open(run) as folder, pytest.raises(RunFolderError, match=f"was written by {problem}"):
        folder.read_manifest()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"5", b"null", b"{}", b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_manifest_is_named(run: Path, content: bytes) -> None:
    (run / "manifest.json").write_bytes(content)
    with RunFolder.open(run) as folder, pytest.raises(RunFolderError, match=r"manifest\.json cannot be read"):
        folder.read_manifest()


def test_a_file_is_replaced_at_once_or_not_at_all(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (run / "manifest.json").read_bytes()

    def fails(*_: object) -> None:
        # Where a kill would leave things: the new file is written, the old one still in its place.
        assert (run / "manifest.json").read_bytes() == before
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(StorageFailure, match=r"Cannot write .*manifest\.json: .*No space left on device"):
        write_atomically(run / "manifest.json", "new")
    assert (run / "manifest.json").read_bytes() == before
    assert sorted(path.name for path in run.iterdir()) == [".lock", "manifest.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_written_file_has_the_permissions_of_any_new_one(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "a.txt", "a")
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o666 & ~umask


def test_half_a_character_can_be_written(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.txt", "half a pair: \ud800")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "half a pair: ?"


# Its records


def test_records_are_found_by_id_and_come_in_the_order_of_the_file(file: Path) -> None:
    items = [Item(id="b", text="\x00\u2028 „x“\n🙂"), Item(id="a"), Item(id="c", text="y" * 100_000)]
    records = opened(file)
    for item in items:
        records.append(item)
    for seen in (records, opened(file)):
        assert list(seen) == items
        assert (len(seen), seen.list_ids(), "a" in seen, "d" in seen) == (3, ["b", "a", "c"], True, False)
        assert [seen.read(item.id) for item in items] == items
        with pytest.raises(KeyError):
            seen.read("d")
    records.close()


def test_a_file_that_is_not_there_is_empty_and_not_made(file: Path) -> None:
    records = opened(file)
    assert (list(records), len(records)) == ([], 0)
    records.arrange(["a"])
    assert not file.exists()


def test_a_record_is_with_the_system_as_soon_as_it_is_appended(file: Path) -> None:
    records = opened(file)
    records.append(Item(id="a"))
    # Nothing was closed or flushed.
    assert lines(file) == ["a"]
    records.close()


def test_a_record_of_the_same_id_replaces_the_earlier(file: Path) -> None:
    records = opened(file)
    for item in (Item(id="a", text="errored"), Item(id="b"), Item(id="a", text="done")):
        records.append(item)
    for seen in (records, opened(file)):
        assert len(seen) == 2
        assert seen.read("a").text == "done"
        assert [(item.id, item.text) for item in seen] == [("b", ""), ("a", "done")]
    records.close()


def test_records_may_be_appended_while_others_are_read(file: Path) -> None:
    records = opened(file)
    records.append(Item(id="a"))
    records.append(Item(id="b"))
    seen = []
    for item in records:
        records.append(Item(id=f"{item.id} judged"))
        seen.append(item.id)
    assert seen == ["a", "b"]
    assert lines(file) == ["a", "b", "a judged", "b judged"]
    records.close()


@pytest.mark.parametrize("torn", [b'{"id": "c", "te', b'{"id": "c"}', b"{", b"\x00\x00\x00"])
def test_a_torn_last_line_is_dropped_by_who_writes_and_left_by_who_reads(file: Path, torn: bytes) -> None:
    whole = b'{"id":"a"}\n{"id":"b"}\n'
    file.write_bytes(whole + torn)
    records = opened(file)
    assert records.list_ids() == ["a", "b"]
    assert [item.id for item in records] == ["a", "b"]
    assert file.read_bytes() == whole + torn
    records.append(Item(id="c", text="again"))
    assert lines(file) == ["a", "b", "c"]
    records.close()
    assert opened(file).read("c").text == "again"


def test_a_torn_line_is_not_arranged(file: Path) -> None:
    file.write_bytes(b'{"id":"b"}\n{"id":"a"}\n{"id": "c')
    opened(file).arrange(["a", "b"])
    assert lines(file) == ["a", "b"]


KILLED = """
import sys
from pathlib import Path
from sociable.core.records import Record
from sociable.core.run_folder import RecordFile

class Item(Record):
    id: str
    text: str = ""

records = RecordFile(Path(sys.argv[1]), Item)
for number in range(10**9):
    records.append(Item(id=str(number), text="x" * 10_000))
    print(number, flush=True)
"""


def test_a_kill_loses_nothing_that_was_appended(file: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, str(file)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(50)]
        process.send_signal(signal.SIGKILL)
        told += process.stdout.readlines()
    last = max(int(line) for line in told if line.endswith(b"\n"))
    records = opened(file)
    # What was told is there, and at most the one that was being told as well.
    assert records.list_ids() == [str(number) for number in range(len(records))]
    assert last + 1 <= len(records) <= last + 2
    records.append(Item(id="next"))
    records.close()
    assert lines(file)[-1] == "next"


@pytest.mark.parametrize("line", [b"not JSON", b"{}", b'{"id": 5}', b'{"id": "b", "mood": "glad"}', b"", b'{"id": "\xff"}'])
def test_a_damaged_line_is_named_with_what_to_do(file: Path, line: bytes) -> None:
    file.write_bytes(b'{"id":"a"}\n' + line + b'\n{"id":"c"}\n')
    with pytest.raises(RunFolderError, match=r"items\.jsonl, line 2: not a record .*Remove that line and resume"):
        opened(file)


def test_arranged_files_are_equal_however_they_came_about(tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    for path, ids in ((one, "cab"), (other, "bxca")):
        records = opened(path)
        for identifier in ids:
            records.append(Item(id=identifier.replace("x", "a"), text="errored" if identifier == "x" else ""))
        records.arrange(["a", "missing", "b", "c"])
        assert [item.id for item in records] == ["a", "b", "c"]
        assert [records.read(identifier).id for identifier in "abc"] == ["a", "b", "c"]
    assert one.read_bytes() == other.read_bytes() == b'{"id":"a","text":""}\n{"id":"b","text":""}\n{"id":"c","text":""}\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.jsonl", "other.jsonl"]


def test_what_has_no_place_in_the_order_comes_last_by_name(file: Path) -> None:
    records = opened(file)
    for identifier in ("z", "b", "y", "a"):
        records.append(Item(id=identifier))
    records.arrange(["b", "a"])
    assert lines(file) == ["b", "a", "y", "z"]


@given(strategies.lists(strategies.sampled_from(["append", "close", "arrange", "reopen", "tear"]), max_size=12))
def test_nothing_is_lost_whatever_is_done(tmp_path_factory: pytest.TempPathFactory, steps: list[str]) -> None:
    file = tmp_path_factory.mktemp("records") / "items.jsonl"
    records, expected = opened(file), []
    for number, step in enumerate(steps):
        if step == "append":
            records.append(Item(id=f"{number:02d}"))
            expected.append(f"{number:02d}")
        elif step == "arrange":
            records.arrange(expected)
        else:
            records.close()
            if step == "tear":
                with file.open("ab") as stream:
                    stream.write(b'{"id": "torn')
            if step != "close":
                records = opened(file)
        assert [item.id for item in records] == expected
    records.append(Item(id="last"))
    records.close()
    assert [item.id for item in opened(file)] == lines(file) == [*expected, "last"]


FULL_DISK = """
import json, resource, sys
from pathlib import Path
from sociable.core.errors import StorageFailure
from sociable.core.records import Record
from sociable.core.run_folder import RecordFile, write_atomically

class Item(Record):
    id: str
    text: str = ""

file, told = Path(sys.argv[1]), {}
records = RecordFile(file, Item)
for identifier in ("b", "a"):
    records.append(Item(id=identifier))
# No file may grow beyond 25 kB: two records of 10 kB fit, half of the third as well.
resource.setrlimit(resource.RLIMIT_FSIZE, (25_000, resource.RLIM_INFINITY))
for identifier in ("d", "c", "big"):
    try:
        records.append(Item(id=identifier, text="x" * 10_000))
    except StorageFailure as error:
        told["append"] = str(error)
        told["refused"] = identifier
told["small"] = "fits" if not records.append(Item(id="small")) else ""
resource.setrlimit(resource.RLIMIT_FSIZE, (15_000, resource.RLIM_INFINITY))
for name, work in (("arrange", lambda: records.arrange(["a", "b", "c", "d"])),
                   ("write", lambda: write_atomically(file.with_name("scores.json"), "y" * 20_000))):
    try:
        work()
    except StorageFailure as error:
        told[name] = str(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
told["ids"] = [item.id for item in records]
print(json.dumps(told))
"""


def test_a_full_disk_leaves_whole_records(file: Path) -> None:
    pytest.importorskip("resource")
    file.with_name("scores.json").write_text("old")
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(file)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["refused"] == "big"
    assert told["small"] == "fits"
    for name, place in (("append", file), ("arrange", file), ("write", file.with_name("scores.json"))):
        assert told[name].startswith(f"Cannot write {place}: ")
    assert told["ids"] == lines(file) == ["b", "a", "d", "c", "small"]
    assert file.with_name("scores.json").read_text() == "old"
    # No half-written file is left beside them.
    assert sorted(path.name for path in file.parent.iterdir()) == ["items.jsonl", "scores.json"]


READ_ONLY = """
from sociable.core.errors import StorageFailure
from sociable.core.records import Record
from sociable.core.run_folder import RecordFile, RunFolder

class Item(Record):
    id: str

def main(folder):
    opened = RunFolder.open(folder, lock=False)
    print(opened.read_manifest()["benchmark"])
    records = RecordFile(folder / "items.jsonl", Item)
    print([item.id for item in records])
    for work in (lambda: RunFolder.open(folder), lambda: RunFolder.create(folder / "new"), lambda: opened.write("scores.json", "{}"),
                 lambda: records.append(Item(id="c")), lambda: records.arrange(["b", "a"])):
        try:
            work()
        except StorageFailure as error:
            print(f"StorageFailure: {error}")
    print([item.id for item in records])
"""


def test_a_read_only_folder_can_be_read(read_only_folder: ReadOnlyFolder) -> None:
    path = read_only_folder.path
    with RunFolder.create(path) as folder:
        folder.write_manifest({"benchmark": "hsii"})
    # The last line is torn, and stays so.
    (path / "items.jsonl").write_bytes(b'{"id":"a"}\n{"id":"b"}\n{"id":"c')
    benchmark, before, *refused, after = read_only_folder.use(READ_ONLY).splitlines()
    assert benchmark == "hsii"
    assert before == after == "['a', 'b']"
    assert [text.split(":")[1].replace(str(path), "").strip() for text in refused] == [
        "Cannot lock",
        "Cannot make /new",
        "Cannot write /scores.json",
        "Cannot write /items.jsonl",
        "Cannot write /items.jsonl",
    ]
    assert (path / "items.jsonl").read_bytes().endswith(b'{"id":"c')


UNREADABLE = """
from sociable.core.errors import RunFolderError
from sociable.core.records import Record
from sociable.core.run_folder import RecordFile, RunFolder

class Item(Record):
    id: str

def main(folder):
    for work in (lambda: RunFolder.open(folder / "secret"), lambda: RunFolder.open(folder, lock=False).read_manifest(),
                 lambda: RecordFile(folder / "items.jsonl", Item)):
        try:
            work()
        except RunFolderError as error:
            print(error)
"""


def test_what_one_may_not_read_is_named(read_only_folder: ReadOnlyFolder) -> None:
    path = read_only_folder.path
    (path / "secret").mkdir()
    for name in ("secret/manifest.json", "manifest.json", "items.jsonl"):
        (path / name).write_text("{}")
    told = read_only_folder.use(UNREADABLE, hidden=("secret", "manifest.json", "items.jsonl")).splitlines()
    assert len(told) == 3
    assert all("Permission denied" in text for text in told)
