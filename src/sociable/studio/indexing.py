"""Makes the index from the record files, and keeps up with them while runs append to them.

Files are read as JSON, without a study: a run of a benchmark that is not installed is listed as well. What was appended is read
from where the last reading ended; a file that was put in order anew is read anew. A line that cannot be read is told and
passed over.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby, islice
from pathlib import Path
from typing import Any
from zlib import crc32

from sociable.core.errors import InputError
from sociable.core.records import EpisodeStatus, Outcome, Verdict, make_episode_id, make_storable
from sociable.engine.registry import find_benchmark
from sociable.studio.folders import find_run_folders, name_run, stamp_file
from sociable.studio.index import Index

METRICS_INDEXED = 8
"""The metrics of a run by which its episodes can be filtered: the first that have a value per episode. Those with a slash in
their names are left out: they are others' values for one kind of episodes, which the topic tells."""

ESTIMATES_SHOWN = 3
"""The first estimates that the list of runs shows."""

LINES_AT_ONCE = 1000
"""Lines that are read before others may write, and look."""

LONGEST_TEXT = 50_000
"""Characters of an episode that are searched."""

SECONDS_BETWEEN_LOOKS = 2.0
SECONDS_FOR_TOPICS = 120

State = dict[str, Any]
"""What was read of a run's files, by name: a stamp of each, and of the episodes how far."""

_UNREADABLE = (
    OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError,
    sqlite3.IntegrityError, sqlite3.ProgrammingError,
)  # fmt: skip
"""What comes of a file that holds anything but what it should: JSON of other kinds, numbers of any size, no right to read it."""


def update_index(index: Index, folder: Path, is_stopped: Callable[[], bool] = lambda: False) -> bool:
    """Brings the index up to what is in the record files. Returns whether anything had changed."""
    changed = False
    with index.connect() as database:
        paths = {make_storable(name_run(folder, path)): path for path in find_run_folders(folder)}
        known = {name for (name,) in database.execute("SELECT name FROM runs")}
        for name in known - paths.keys():
            database.execute("DELETE FROM runs WHERE name = ?", (name,))
            changed = True
        database.executemany("INSERT OR IGNORE INTO runs (name) VALUES (?)", [(name,) for name in paths.keys() - known])
        # What the list of runs shows comes first, for all of them.
        for read in (_read_manifest, _read_estimates, _read_episodes, _read_judgments, _read_scores):
            for name, path in paths.items():
                while not is_stopped() and _update_run(database, name, path, read):
                    changed = True
        for name, path in paths.items():
            if not is_stopped():
                _update_topics(database, name, path)
    return changed


Read = Callable[[sqlite3.Connection, int, Path, State], "list[str] | None"]
"""Reads one file of a run into the index. Returns what could not be read, or None where nothing has changed."""


def _update_run(database: sqlite3.Connection, name: str, path: Path, read: Read) -> bool:
    """Reads one file of a run, or a part of it, in one transaction. Returns whether anything had changed."""
    row = database.execute("SELECT id, state FROM runs WHERE name = ?", (name,)).fetchone()
    if row is None or not _needs_reading(path, read, json.loads(row[1])):
        return False
    with _begin(database):
        # Another studio may have been faster.
        row = database.execute("SELECT id, state, problems FROM runs WHERE name = ?", (name,)).fetchone()
        if row is None:
            return False
        run, state, problems = row[0], json.loads(row[1]), json.loads(row[2])
        file, key = _FILES[read]
        stamp = stamp_file(path / file)
        database.execute("SAVEPOINT reading")
        try:
            found = read(database, run, path, state)
        except _UNREADABLE as error:
            database.execute("ROLLBACK TO reading")
            # It is read again once it is another file.
            state, found = {**json.loads(row[1]), key: stamp}, [f"{file} cannot be read: {error!r}. Restore it from a copy."]
        if found is None:
            return False
        told = {key: value for key, value in {**problems, read.__name__: found}.items() if value}
        values = (json.dumps(state), json.dumps(told), run)
        database.execute("UPDATE runs SET state = ?, problems = ? WHERE id = ?", values)
        return True


@contextlib.contextmanager
def _begin(database: sqlite3.Connection) -> Iterator[None]:
    """A transaction that writes: all of it counts, or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _make_storable(*values: Any) -> list[Any]:
    """The values as a database takes them: JSON can hold halves of characters, and numbers of any size."""
    return [make_storable(each) if isinstance(each, str) else each for each in values]


def _needs_reading(path: Path, read: Read, state: State) -> bool:
    file, key = _FILES[read]
    return stamp_file(path / file) != state.get(key)


def _read_manifest(database: sqlite3.Connection, run: int, path: Path, state: State) -> list[str] | None:
    if (stamp := stamp_file(path / "manifest.json")) == state.get("manifest"):
        return None
    state["manifest"] = stamp
    try:
        manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
        models = manifest["models"]
        values = (str(manifest["benchmark"]), str(models["subject"]), str(manifest["created"]), int(manifest["episodes"]))
        panel = [str(judge) for judge in models["judges"]]
        if state.get("panel") != panel:
            state.pop("judgments", None)
        state["panel"] = panel
        state["data"] = json.dumps([manifest["benchmark"], manifest["version"], manifest["digests"]], sort_keys=True)
    except _UNREADABLE as error:
        return [f"manifest.json cannot be read: {error!r}. Restore it from a copy."]
    database.execute(
        "UPDATE runs SET benchmark = ?, model = ?, created = ?, planned = ? WHERE id = ?", _make_storable(*values, run)
    )
    return []


def _read_episodes(database: sqlite3.Connection, run: int, path: Path, state: State) -> list[str] | None:
    """Reads up to ``LINES_AT_ONCE`` lines that were not read before."""
    file, stamp = path / "episodes.jsonl", stamp_file(path / "episodes.jsonl")
    if stamp == state.get("episodes"):
        return None
    read = state.get("read")
    if read is None or stamp is None or read["inode"] != stamp[0] or not _is_continued(file, read):
        # A new file, put in order, or one that was changed by hand.
        database.execute("DELETE FROM episodes WHERE run = ?", (run,))
        state.pop("scores", None)
        read = {"inode": stamp and stamp[0], "end": 0, "lines": 0, "last": [0, 0], "problems": []}
    # Judgments may have been read before their episodes came.
    state.pop("judgments", None)
    cut_off: list[str] = []
    if stamp is None:
        state |= {"read": read, "episodes": None}
        return cut_off
    with file.open("rb") as stream:
        stream.seek(read["end"])
        lines = list(islice(stream, LINES_AT_ONCE))
        for line in lines:
            if not line.endswith(b"\n"):
                cut_off = [f"episodes.jsonl, line {read['lines'] + 1}: cut off. A run that goes on plays that episode again."]
                break
            read["last"] = [read["end"], crc32(line)]
            read["lines"] += 1
            read["end"] += len(line)
            if not _store_episode(database, run, line):
                read["problems"].append(f"episodes.jsonl, line {read['lines']}: no record of an episode; it is passed over.")
    state["read"] = read
    if len(lines) < LINES_AT_ONCE:
        state["episodes"] = stamp
    return [*read["problems"], *cut_off]


def _is_continued(file: Path, read: Mapping[str, Any]) -> bool:
    """Whether the last line that was read of a file is there still: what comes after it was appended."""
    begin, digest = read["last"]
    with file.open("rb") as stream:
        stream.seek(begin)
        return bool(crc32(stream.read(read["end"] - begin)) == digest)


def _store_episode(database: sqlite3.Connection, run: int, line: bytes) -> bool:
    """Puts one record into the index, in place of an earlier one of the same id. Returns whether it is one."""
    try:
        record = json.loads(line)
        identifier, scenario, cluster = (make_storable(str(record[name])) for name in ("id", "scenario", "cluster"))
        turns = [turn for turn in record.get("turns") or [] if isinstance(turn, dict)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
    errored = record.get("status") == EpisodeStatus.ERRORED
    row = (
        run, identifier, scenario, cluster, _find_topic(record), len(turns), _find_agent_failure(record, turns),
        str(record.get("partner_failure") or ""), str(record.get("error") or "errored") if errored else "",
    )  # fmt: skip
    database.execute("DELETE FROM episodes WHERE run = ? AND episode = ?", (run, identifier))
    stored = database.execute(
        "INSERT INTO episodes (run, episode, scenario, cluster, topic, turns, agent_failure, instrument_failure, run_failure) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        _make_storable(*row),
    )
    database.execute("INSERT INTO texts (rowid, text) VALUES (?, ?)", (stored.lastrowid, make_storable(_collect_prose(record))))
    return True


def _find_topic(record: Mapping[str, Any]) -> str:
    """The topic where the record of the episode says it; others come from the scenarios."""
    task = record.get("task")
    return str(task.get("type", "")) if isinstance(task, dict) else ""


def _find_agent_failure(record: Mapping[str, Any], turns: list[dict[str, Any]]) -> str:
    """The first thing that the agent under test did badly, as far as the record marks it."""
    if format_failure := record.get("format_failure"):
        return f"no format: {format_failure}"
    for turn in turns:
        if note := turn.get("note") or ("unreadable" if turn.get("unreadable") else ""):
            return f"turn {turn.get('index', '?')}, {turn.get('speaker', '?')}: {note}"
    return ""


def _collect_prose(record: object) -> str:
    """Everything in a record that reads like words: every string with a space in it, once."""
    found: dict[str, None] = {}
    left, waiting = LONGEST_TEXT, [record]
    while waiting and left > 0:
        each = waiting.pop()
        if isinstance(each, str):
            if " " in each and each not in found:
                found[each[:left]] = None
                left -= len(each)
        elif isinstance(each, dict | list):
            waiting.extend(reversed(list(each.values()) if isinstance(each, dict) else each))
    return "\n".join(found)


def _read_judgments(database: sqlite3.Connection, run: int, path: Path, state: State) -> list[str] | None:
    """How far the present judges agree, and both orders of each pair."""
    stamp = stamp_file(path / "judgments.jsonl")
    if stamp == state.get("judgments"):
        return None
    state["judgments"] = stamp
    database.execute("UPDATE episodes SET judges_differ = NULL, orders_differ = NULL WHERE run = ?", (run,))
    if stamp is None:
        return []
    panel = set(state.get("panel", ()))
    found: dict[str, tuple[str, str, str, str, bool | None]] = {}
    problems = []
    with (path / "judgments.jsonl").open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                record = json.loads(line)
                names = ("id", "episode", "criterion", "judge", "verdict")
                identifier, episode, criterion, judge, verdict = (str(record[name]) for name in names)
                disagree = record.get("orders_disagree")
            except _UNREADABLE:
                problems.append(f"judgments.jsonl, line {number}: no record of a judgment; it is passed over.")
                continue
            # One of the same id takes the place of the one before.
            found.pop(identifier, None)
            if judge in panel:
                found[identifier] = episode, criterion, judge, verdict, None if disagree is None else bool(disagree)
    verdicts: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    judges: dict[str, set[str]] = defaultdict(set)
    orders: dict[str, list[bool]] = defaultdict(list)
    for episode, criterion, judge, verdict, disagree in found.values():
        if verdict != Verdict.UNSCORED:
            verdicts[episode][criterion].add(verdict)
            judges[episode].add(judge)
        if disagree is not None:
            orders[episode].append(disagree)
    differ = {
        episode: sum(len(each) > 1 for each in criteria.values()) / len(criteria) if len(judges[episode]) > 1 else None
        for episode, criteria in verdicts.items()
    }
    rows = [
        (differ.get(episode), sum(own) / len(own) if (own := orders.get(episode)) else None, run, make_storable(episode))
        for episode in verdicts.keys() | orders.keys()
    ]
    database.executemany("UPDATE episodes SET judges_differ = ?, orders_differ = ? WHERE run = ? AND episode = ?", rows)
    return problems


_SCORES = re.compile(r'"scores":\s*\[')


def _read_score_file(path: Path) -> tuple[list[dict[str, Any]], Iterator[dict[str, Any]]]:
    """(the estimates, the scores one at a time: a large run has too many to be held at once). Raises ValueError and KeyError."""
    text = (path / "scores.json").read_text(encoding="utf-8")
    # Within a string a quotation mark has a backslash before it, so this is the field.
    if (begin := _SCORES.search(text)) is None:
        raise ValueError("it has no scores")
    head = json.loads(text[: begin.end()] + "]}")

    def read_scores() -> Iterator[dict[str, Any]]:
        decoder, at = json.JSONDecoder(), begin.end()
        while (at := _skip(text, at)) < len(text) and text[at] != "]":
            score, at = decoder.raw_decode(text, at)
            yield score

    return [_check_estimate(each) for each in head["estimates"]], read_scores()


def _check_estimate(each: Mapping[str, Any]) -> dict[str, Any]:
    """An estimate as pages print it. Raises TypeError and ValueError for one whose values are no numbers."""
    numbers = {name: _read_number(each[name]) for name in ("value", "low", "high")}
    return {**each, **numbers, "metric": str(each["metric"])}


def _read_number(value: Any) -> float | None:
    """A number as it is kept; None for none, and for what is no amount."""
    return None if value is None or not math.isfinite(value) else float(value)


_BETWEEN = re.compile(r"[\s,]*")


def _skip(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def read_estimates(path: Path) -> list[dict[str, Any]]:
    """All estimates of a run, as they are kept; none where it is not scored, or the file is damaged."""
    try:
        return _read_score_file(path)[0]
    except _UNREADABLE:
        return []


def _read_estimates(database: sqlite3.Connection, run: int, path: Path, state: State) -> list[str] | None:
    if (stamp := stamp_file(path / "scores.json")) == state.get("estimates"):
        return None
    state["estimates"] = stamp
    shown: list[list[Any]] = []
    problems = []
    if stamp is not None:
        try:
            estimates, _ = _read_score_file(path)
            (benchmark,) = database.execute("SELECT benchmark FROM runs WHERE id = ?", (run,)).fetchone()
            shown = [[each["metric"], each["value"], each["low"], each["high"]] for each in _put_main_first(estimates, benchmark)]
            del shown[ESTIMATES_SHOWN:]
        except _UNREADABLE as error:
            problems = [_tell_damaged_scores(path, error)]
    database.execute("UPDATE runs SET estimates = ? WHERE id = ?", (json.dumps(shown), run))
    return problems


def _put_main_first(estimates: list[dict[str, Any]], benchmark: str) -> list[dict[str, Any]]:
    """The estimates, that by which models are ranked first, if it was measured."""
    try:
        preferred = list(find_benchmark(benchmark).load_study_type().main_metrics)
    except InputError:
        return estimates  # The benchmark is not installed here.
    measured = {each["metric"] for each in estimates if each["value"] is not None}
    main = next(filter(measured.__contains__, preferred), "")
    return sorted(estimates, key=lambda each: bool(each["metric"] != main))


def _tell_damaged_scores(path: Path, error: Exception) -> str:
    return f"scores.json is damaged ({error}). Make it anew with: sociable score {path}"


def _read_scores(database: sqlite3.Connection, run: int, path: Path, state: State) -> list[str] | None:
    if (stamp := stamp_file(path / "scores.json")) == state.get("scores"):
        return None
    state["scores"] = stamp
    database.execute("DELETE FROM measured WHERE episode IN (SELECT id FROM episodes WHERE run = ?)", (run,))
    database.execute("UPDATE episodes SET scores = '[]', unscored = '' WHERE run = ?", (run,))
    if stamp is None:
        return []
    ids = dict(database.execute("SELECT episode, id FROM episodes WHERE run = ?", (run,)))
    metrics: list[str] = []
    try:
        estimates, scores = _read_score_file(path)
        order = {str(each["metric"]): place for place, each in enumerate(estimates)}
        for episode, own in groupby(scores, lambda score: make_episode_id(score["scenario"], score["repeat"])):
            if (identifier := ids.get(make_storable(episode))) is not None:
                _store_scores(database, identifier, [_read_cell(score) for score in own], metrics)
    except _UNREADABLE as error:
        return [_tell_damaged_scores(path, error)]
    found = sorted(metrics, key=lambda metric: order.get(metric, -1))
    database.execute("UPDATE runs SET metrics = ? WHERE id = ?", (json.dumps(found), run))
    return []


def _read_cell(score: Mapping[str, Any]) -> tuple[str, float | None, str, str]:
    """(metric, value, outcome, reason) of a score."""
    metric, outcome, reason = (str(score[name]) for name in ("metric", "outcome", "reason"))
    return metric, _read_number(score["value"]), outcome, reason


def _store_scores(
    database: sqlite3.Connection, episode: int, scores: list[tuple[str, float | None, str, str]], metrics: list[str]
) -> None:
    """Puts an episode's scores into the index. ``metrics`` are those indexed so far; there are ``METRICS_INDEXED`` at the most.

    Ratings by a rubric come after all others, so that one episode can be met twice.
    """
    before = json.loads(database.execute("SELECT scores FROM episodes WHERE id = ?", (episode,)).fetchone()[0])
    unscored = next((f"{metric}: {reason}" for metric, _, outcome, reason in scores if outcome == Outcome.UNSCORED), "")
    database.execute(
        "UPDATE episodes SET scores = ?, unscored = CASE WHEN unscored = '' THEN ? ELSE unscored END WHERE id = ?",
        (json.dumps([*before, *scores]), make_storable(unscored), episode),
    )
    for metric, *_ in scores:
        if len(metrics) < METRICS_INDEXED and "/" not in metric and metric not in metrics:
            metrics.append(metric)
    values = [_make_storable(metric, episode, value) for metric, value, *_ in scores if value is not None and metric in metrics]
    database.executemany("INSERT OR REPLACE INTO measured VALUES (?, ?, ?)", values)


_FILES: Mapping[Read, tuple[str, str]] = {
    _read_manifest: ("manifest.json", "manifest"),
    _read_estimates: ("scores.json", "estimates"),
    _read_episodes: ("episodes.jsonl", "episodes"),
    _read_judgments: ("judgments.jsonl", "judgments"),
    _read_scores: ("scores.json", "scores"),
}
"""The file of each reading, and the name under which its stamp is kept."""


def _update_topics(database: sqlite3.Connection, name: str, path: Path) -> None:
    """Gives the episodes of a run the topics of their scenarios, which stand in the data, not in the records."""
    row = database.execute("SELECT id, state FROM runs WHERE name = ?", (name,)).fetchone()
    state = json.loads(row[1]) if row else {}
    if "data" not in state or state.get("topics") == state.get("episodes"):
        return
    run, data = row[0], state["data"]
    unknown = "SELECT scenario FROM episodes WHERE run = ? AND scenario NOT IN (SELECT scenario FROM topics WHERE data = ?)"
    missing = database.execute(unknown, (run, data)).fetchall()
    # Scenarios for which there is no topic are noted as well, so that nobody asks again.
    topics = {**{scenario: "" for (scenario,) in missing}, **_ask_for_topics(path)} if missing else {}
    topic = "(SELECT topic FROM topics t WHERE t.data = ? AND t.scenario = episodes.scenario)"
    with _begin(database):
        database.executemany("INSERT OR REPLACE INTO topics VALUES (?, ?, ?)", [(data, *each) for each in topics.items()])
        database.execute(f"UPDATE episodes SET topic = {topic} WHERE run = ? AND {topic} != ''", (data, run, data))  # noqa: S608
        noted = "UPDATE runs SET state = json_set(state, '$.topics', json(?)) WHERE id = ?"
        database.execute(noted, (json.dumps(state.get("episodes")), run))


def _ask_for_topics(path: Path) -> dict[str, str]:
    """The topics of a run's scenarios; none where its benchmark or data are others by now.

    A process of its own asks the study: what benchmarks import would stay in the server's memory for good.
    """
    command = [sys.executable, "-m", "sociable.studio.topics", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS_FOR_TOPICS, check=True)  # noqa: S603 - our own module
        return dict(json.loads(done.stdout))
    except (subprocess.SubprocessError, ValueError, OSError):
        return {}


class Indexer:
    """Keeps the index up to date in a thread of its own."""

    def __init__(self, index: Index, folder: Path) -> None:
        self._index = index
        self._folder = folder
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="index", daemon=True)
        self.problem = ""
        """The reason why the index is not up to date, for the pages; empty: it is."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        pause = 0.0
        while not self._stopped.wait(pause):
            started = time.thread_time()
            try:
                update_index(self._index, self._folder, self._stopped.is_set)
                self.problem = ""
            except (OSError, sqlite3.Error) as error:
                if type(error) is sqlite3.DatabaseError:
                    # Damaged somewhere inside, which is met only when that place is read.
                    self._index.throw_away()
                self.problem = f"The list may be out of date: {self._index.path} cannot be written ({error})."
            # However large the folder, the index takes a small part of one core.
            pause = max(SECONDS_BETWEEN_LOOKS, 5 * (time.thread_time() - started))
