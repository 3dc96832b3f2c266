"""The index: filters find what they say, files are followed as they grow, and nothing that is damaged hides the rest."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociable.studio import index as index_module
from sociable.studio import indexing
from sociable.studio.index import Disagreement, Failure, Filters, Index, RunRow, choose_place
from sociable.studio.indexing import update_index

from .conftest import HOSTILE, make_episode, make_judgment, make_score, write_lines, write_run


@pytest.fixture(autouse=True)
def no_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark of these runs is not installed: nobody need be asked for topics."""
    monkeypatch.setattr(indexing, "_ask_for_topics", lambda path: {})
    monkeypatch.setattr(indexing, "SECONDS_BETWEEN_LOOKS", 0.1)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(choose_place(tmp_path))


def list_episodes(index: Index, **filters: object) -> list[str]:
    return [row.episode for row in index.find_episodes(Filters(**filters)).rows]  # type: ignore[arg-type]


def find_run(index: Index, name: str = "run") -> RunRow:
    found = index.find_run(name)
    assert found is not None
    return found


def write_filtered_run(folder: Path) -> Path:
    """Seven episodes, each of which something else is said of."""
    episodes = [
        make_episode(0),
        make_episode(1, turns=[{"index": 1, "speaker": "Ada", "content": "The rent is", "note": "cut off at its token limit"}]),
        make_episode(2, format_failure="no object"),
        make_episode(3, partner_failure="refused"),
        make_episode(4, status="errored", error="The server is away.", turns=[]),
        make_episode(5, task={"type": "appointment"}),
        make_episode(6, probes=[{"answer": "She hides 50% of it_all"}]),
    ]
    judgments = [
        make_judgment("case-0#0", "judge-1", "win", orders_disagree=False),
        make_judgment("case-0#0", "judge-2", "loss", orders_disagree=True),
        make_judgment("case-1#0", "judge-1", "win"),
        make_judgment("case-1#0", "judge-2", "win"),
        make_judgment("case-2#0", "judge-1", "win"),
        make_judgment("case-2#0", "an earlier judge", "loss", orders_disagree=True),
        make_judgment("case-3#0", "judge-1", "unscored"),
        make_judgment("case-3#0", "judge-2", "win"),
    ]
    scores = [
        *(make_score(number, "fair", number / 10) for number in (0, 1, 2, 3)),
        make_score(5, "fair", None, reason="judge-1 refused"),
        make_score(6, "fair", 0.6),
        # Ratings by a rubric come after all others.
        make_score(6, "believable", 9.0),
    ]
    return write_run(folder / "run", episodes, judgments, scores)


def test_filters_find_what_they_say(tmp_path: Path, index: Index) -> None:
    write_filtered_run(tmp_path)
    assert update_index(index, tmp_path)
    assert not update_index(index, tmp_path)
    all_of_them = [f"case-{number}#0" for number in range(7)]
    assert list_episodes(index) == list_episodes(index, run="run", benchmark="unknown") == all_of_them
    assert list_episodes(index, run="another") == list_episodes(index, benchmark="hsii") == []
    assert list_episodes(index, failure=Failure.AGENT) == ["case-1#0", "case-2#0"]
    assert list_episodes(index, failure=Failure.INSTRUMENT) == ["case-3#0", "case-5#0"]
    assert list_episodes(index, failure=Failure.RUN) == ["case-4#0"]
    assert list_episodes(index, failure=Failure.ANY) == [f"case-{number}#0" for number in (1, 2, 3, 4, 5)]
    assert list_episodes(index, judges=Disagreement.JUDGES) == ["case-0#0"]
    assert list_episodes(index, judges=Disagreement.ORDERS) == ["case-0#0"]
    assert list_episodes(index, metric="fair", low=0.1, high=0.2) == ["case-1#0", "case-2#0"]
    assert list_episodes(index, metric="fair") == ["case-0#0", "case-1#0", "case-2#0", "case-3#0", "case-6#0"]
    assert list_episodes(index, metric="believable", low=9) == ["case-6#0"]
    assert list_episodes(index, topic="appoint") == ["case-5#0"]
    assert list_episodes(index, topic="cluster-1") == ["case-1#0", "case-4#0"]
    assert list_episodes(index, text="deposit case 2") == ["case-2#0"]
    assert list_episodes(index, text="hides 50% it_all") == ["case-6#0"]
    assert list_episodes(index, text="server away") == ["case-4#0"]
    assert list_episodes(index, text="deposit", failure=Failure.AGENT, topic="cluster-2") == ["case-2#0"]


def test_shares_of_disagreement_are_of_the_present_judges(tmp_path: Path, index: Index) -> None:
    write_filtered_run(tmp_path)
    update_index(index, tmp_path)
    rows = {row.episode: row for row in index.find_episodes(Filters()).rows}
    # case 0: both judges decided the only criterion, otherwise; of two pairs one had orders that differ.
    assert (rows["case-0#0"].judges_differ, rows["case-0#0"].orders_differ) == (1.0, 0.5)
    assert (rows["case-1#0"].judges_differ, rows["case-1#0"].orders_differ) == (0.0, None)
    # case 2: one of the two is no judge of the run any more. Case 3: one could not be read.
    assert (rows["case-2#0"].judges_differ, rows["case-3#0"].judges_differ) == (None, None)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    manifest["models"]["judges"].append("an earlier judge")
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest))
    update_index(index, tmp_path)
    assert set(list_episodes(index, judges=Disagreement.JUDGES)) == {"case-0#0", "case-2#0"}


def test_the_list_of_runs_says_how_each_is(tmp_path: Path, index: Index) -> None:
    write_filtered_run(tmp_path)
    write_run(tmp_path / "series" / "deep", [make_episode(0)], created="2026-02-01", episodes=4)
    write_run(tmp_path / ".hidden" / "run", [make_episode(0)])
    update_index(index, tmp_path)
    deep, run = index.list_runs()
    assert (deep.name, deep.done, deep.planned, deep.estimates) == ("series/deep", 1, 4, [])
    assert (run.name, run.model, run.done, run.errored, run.problems) == ("run", "a-model", 7, 1, [])
    assert (run.estimates[0], run.metrics) == (("fair", 0.5, 0.4, 0.6), ["fair", "believable"])
    cells = {row.episode: row.scores for row in index.find_episodes(Filters()).rows}
    assert [(each.metric, each.value) for each in cells["case-6#0"]] == [("fair", 0.6), ("believable", 9.0)]
    assert index.find_neighbours("run", "case-3#0") == ("case-2#0", "case-4#0")
    assert index.find_neighbours("run", "case-0#0") == ("", "case-1#0")
    assert index.list_other_runs("run", "case-0#0") == [("series/deep", "a-model")]


def test_the_metric_by_which_models_are_ranked_comes_first(tmp_path: Path, index: Index) -> None:
    scores = [make_score(0, "target_accuracy", 1.0), make_score(0, "hsii_cascade", 0.5)]
    write_run(tmp_path / "hsii", [make_episode(0)], scores=scores, benchmark="hsii")
    write_run(tmp_path / "other", [make_episode(0)], scores=scores)
    update_index(index, tmp_path)
    found = {run.name: [name for name, *_ in run.estimates] for run in index.list_runs()}
    assert found == {"hsii": ["hsii_cascade", "target_accuracy"], "other": ["target_accuracy", "hsii_cascade"]}


def test_a_file_that_grows_is_read_from_where_it_ended(tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "LINES_AT_ONCE", 2)
    file = write_run(tmp_path / "run", [make_episode(number) for number in range(5)]) / "episodes.jsonl"
    update_index(index, tmp_path)
    stored: list[bytes] = []
    store = indexing._store_episode
    monkeypatch.setattr(indexing, "_store_episode", lambda database, run, line: stored.append(line) or store(database, run, line))
    write_lines(file, [make_episode(5), make_episode(1, status="errored", error="away")], "a")
    update_index(index, tmp_path)
    assert len(stored) == 2
    assert find_run(index).done == 6
    # An episode that was played again takes the place of the first try.
    assert list_episodes(index, failure=Failure.RUN) == ["case-1#0"]


def test_a_file_that_is_put_in_order_is_read_anew(tmp_path: Path, index: Index) -> None:
    run = write_filtered_run(tmp_path)
    update_index(index, tmp_path)
    write_lines(run / "ordered", [make_episode(number) for number in (2, 0)])
    (run / "ordered").replace(run / "episodes.jsonl")
    update_index(index, tmp_path)
    assert list_episodes(index) == ["case-2#0", "case-0#0"]
    assert list_episodes(index, metric="fair") == ["case-0#0", "case-2#0"]
    assert list_episodes(index, judges=Disagreement.JUDGES) == ["case-0#0"]


def test_what_is_damaged_is_told_and_hides_nothing_else(tmp_path: Path, index: Index) -> None:
    run = write_run(
        tmp_path / "run",
        [make_episode(0), "no record", ["nor", "this"], make_episode(1)],
        [make_judgment("case-0#0", "judge-1", "win"), 7],
    )
    with (run / "episodes.jsonl").open("a") as stream:
        stream.write('\x00\xff garbage\n{"id": "case-2#0", "scen')
    (run / "scores.json").write_text('{"estimates": [], "scores": [{"metric"')
    broken = write_run(tmp_path / "broken", [make_episode(0)])
    (broken / "manifest.json").write_text("{")
    update_index(index, tmp_path)
    assert list_episodes(index, run="run") == ["case-0#0", "case-1#0"]
    told = "\n".join(find_run(index).problems)
    for place in (
        "episodes.jsonl, line 2",
        "episodes.jsonl, line 3",
        "episodes.jsonl, line 5",
        "line 6: cut off",
        "judgments.jsonl, line 2",
    ):
        assert place in told
    assert "sociable score" in told  # it has its estimates, and not its scores
    assert "manifest.json cannot be read" in find_run(index, "broken").problems[0]
    # The run goes on: the torn line is dropped, and its episode comes whole.
    whole = (run / "episodes.jsonl").read_bytes().rpartition(b"\n")[0] + b"\n"
    (run / "episodes.jsonl").write_bytes(whole)
    write_lines(run / "episodes.jsonl", [make_episode(2)], "a")
    (run / "scores.json").write_text("nonsense")
    update_index(index, tmp_path)
    told = "\n".join(find_run(index).problems)
    assert "cut off" not in told and told.count("sociable score") == 1 and find_run(index).done == 3


ODD = (None, 7, 10**400, -1.5, float("nan"), "x", [], [[]], {"a": 1}, True, "\ud800")
"""Values of any kind that JSON has."""


def list_places(record: object) -> Iterator[tuple[str | int, ...]]:
    """The ways to all values in a record."""
    items = record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    for key, value in items:
        yield (key,)
        yield from ((key, *rest) for rest in list_places(value))


def change(record: Any, place: Sequence[Any], value: object) -> str:
    copied = json.loads(json.dumps(record))
    inner = copied
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return json.dumps(copied)


@pytest.mark.long
def test_values_of_any_kind_hide_no_other_run(tmp_path: Path) -> None:
    odd = write_run(
        tmp_path / "odd",
        [make_episode(0)],
        [make_judgment("case-0#0", "judge-1", "win", orders_disagree=True)],
        [make_score(0, "fair", 0.5)],
    )
    write_run(tmp_path / "other", [make_episode(0)], [], [make_score(0, "fair", 0.5)], created="2020")
    index = Index(choose_place(tmp_path))
    whole = {name: (odd / name).read_text() for name in ("manifest.json", "episodes.jsonl", "judgments.jsonl", "scores.json")}
    deep = "[" * 100_000
    broken = {name: [deep, f'{{"estimates": [], "scores": [{deep}'] for name in whole}
    for name, text in whole.items():
        broken[name] += [
            f"{change(json.loads(text), place, value)}\n" for place in list_places(json.loads(text)) for value in ODD
        ]
    for name, texts in broken.items():
        for text in texts:
            (odd / name).write_text(text)
            index.throw_away()
            update_index(index, tmp_path)
            assert not update_index(index, tmp_path), text[:200]
            assert [row.run for row in index.find_episodes(Filters(metric="fair", run="other")).rows] == ["other"], text[:200]
            rows = index.find_episodes(Filters()).rows
            assert {type(cell.value) for row in rows for cell in row.scores} <= {float, type(None)}
            assert {type(end) for run in index.list_runs() for each in run.estimates for end in each[1:]} <= {float, type(None)}
        (odd / name).write_text(whole[name])


def test_a_file_that_nobody_may_read_hides_no_other_run(tmp_path: Path, index: Index) -> None:
    run = write_run(tmp_path / "closed", [make_episode(0)], created="2027")
    write_run(tmp_path / "run", [make_episode(0)])
    (run / "episodes.jsonl").unlink()
    (run / "episodes.jsonl").mkdir()  # the superuser may read every file
    update_index(index, tmp_path)
    assert list_episodes(index) == ["case-0#0"]
    assert "episodes.jsonl cannot be read" in find_run(index, "closed").problems[0]


def test_judges_who_are_no_judges_any_more_do_not_disagree(tmp_path: Path, index: Index) -> None:
    run = write_filtered_run(tmp_path)
    update_index(index, tmp_path)
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["models"]["judges"] = ["a new judge"]
    (run / "manifest.json").write_text(json.dumps(manifest))
    update_index(index, tmp_path)
    assert list_episodes(index, judges=Disagreement.JUDGES) == list_episodes(index, judges=Disagreement.ORDERS) == []


def test_a_judgment_takes_the_place_of_the_one_before(tmp_path: Path, index: Index) -> None:
    judged = [make_judgment("case-0#0", judge, verdict) for judge, verdict in (("judge-1", "loss"), ("judge-2", "win"))]
    run = write_run(tmp_path / "run", [make_episode(0)], [*judged, make_judgment("case-0#0", "judge-1", "win")])
    update_index(index, tmp_path)
    assert list_episodes(index) == ["case-0#0"]
    assert list_episodes(index, judges=Disagreement.JUDGES) == []
    write_lines(run / "judgments.jsonl", judged)
    update_index(index, tmp_path)
    assert list_episodes(index, judges=Disagreement.JUDGES) == ["case-0#0"]
    (run / "judgments.jsonl").unlink()
    update_index(index, tmp_path)
    assert list_episodes(index, judges=Disagreement.JUDGES) == []


def test_judgments_that_come_before_their_episode_are_not_lost(tmp_path: Path, index: Index) -> None:
    judged = [make_judgment("case-1#0", judge, verdict) for judge, verdict in (("judge-1", "loss"), ("judge-2", "win"))]
    run = write_run(tmp_path / "run", [make_episode(0)], judged)
    update_index(index, tmp_path)
    write_lines(run / "episodes.jsonl", [make_episode(1)], "a")
    update_index(index, tmp_path)
    assert list_episodes(index, judges=Disagreement.JUDGES) == ["case-1#0"]


def test_a_file_that_is_changed_by_hand_is_read_anew(tmp_path: Path, index: Index) -> None:
    run = write_run(tmp_path / "run", ["no record", make_episode(0)])
    update_index(index, tmp_path)
    assert find_run(index).problems
    # In place, and longer than before: the inode stays, and the size tells nothing.
    write_lines(run / "episodes.jsonl", [make_episode(1, note="longer than what was here before"), make_episode(0)])
    update_index(index, tmp_path)
    assert (list_episodes(index), find_run(index).problems) == (["case-1#0", "case-0#0"], [])
    # As it was in length and time.
    before = (run / "episodes.jsonl").stat()
    write_lines(run / "episodes.jsonl", [make_episode(1, note="longer than what was here before"), make_episode(9)])
    os.utime(run / "episodes.jsonl", ns=(before.st_atime_ns, before.st_mtime_ns))
    update_index(index, tmp_path)
    assert list_episodes(index) == ["case-1#0", "case-9#0"]
    (run / "episodes.jsonl").unlink()
    update_index(index, tmp_path)
    assert list_episodes(index) == []


def test_an_index_that_is_damaged_inside_is_made_anew(tmp_path: Path, index: Index) -> None:
    write_run(tmp_path / "run", [make_episode(number) for number in range(300)])
    update_index(index, tmp_path)
    with index.connect() as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = index.path.stat().st_size
    with index.path.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * (size - 4096))
    write_run(tmp_path / "another", [make_episode(0)])
    indexer = indexing.Indexer(index, tmp_path)
    indexer.start()
    try:
        until = time.monotonic() + 20
        while indexer.problem or not index.path.exists() or index.path.stat().st_size < 8192 or find_all(index) != 301:
            assert time.monotonic() < until, indexer.problem
            time.sleep(0.05)
    finally:
        indexer.stop()


def find_all(index: Index) -> int:
    try:
        return index.find_episodes(Filters()).total
    except sqlite3.Error:
        return 0


def test_a_run_that_is_gone_is_forgotten(tmp_path: Path, index: Index) -> None:
    run = write_filtered_run(tmp_path)
    update_index(index, tmp_path)
    run.rename(tmp_path.parent / f"{tmp_path.name}-away")
    update_index(index, tmp_path)
    assert (index.list_runs(), index.find_episodes(Filters()).total) == ([], 0)
    with index.connect() as database:
        assert database.execute("SELECT COUNT(*) FROM measured").fetchone() == (0,)
        assert database.execute("SELECT COUNT(*) FROM texts").fetchone() == (0,)


@pytest.mark.parametrize("content", [b"this is no database " * 100, None])
def test_an_index_that_is_damaged_or_of_another_version_is_made_anew(tmp_path: Path, index: Index, content: bytes | None) -> None:
    write_filtered_run(tmp_path)
    update_index(index, tmp_path)
    if content:
        index.path.write_bytes(content)
    else:
        with sqlite3.connect(index.path) as database:
            database.execute(f"PRAGMA user_version = {index_module.VERSION + 1}")
            database.execute("ALTER TABLE runs DROP COLUMN planned")
        database.close()
    update_index(index, tmp_path)
    assert len(list_episodes(index)) == 7


def test_several_studios_make_one_index(tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "LINES_AT_ONCE", 20)
    for number in range(4):
        write_run(
            tmp_path / f"run-{number}",
            [make_episode(each) for each in range(100)],
            [],
            [make_score(each, "fair", 1.0) for each in range(100)],
        )
    failed: list[Exception] = []

    def update() -> None:
        try:
            update_index(Index(index.path), tmp_path)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=update) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    update_index(index, tmp_path)
    assert index.find_episodes(Filters(metric="fair")).total == index.find_episodes(Filters(text="deposit")).total == 400


def test_where_nothing_can_be_written_the_index_is_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "user_cache_path", lambda name: tmp_path / "cache" / name)
    (tmp_path / ".studio").write_text("a file where the folder should be")
    assert choose_place(tmp_path).is_relative_to(tmp_path / "cache" / "sociable")


@pytest.fixture(scope="module")
def small_index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "_ask_for_topics", lambda path: {})
        write_run(folder / "run", [make_episode(number, words=text, cluster=text) for number, text in enumerate(HOSTILE)])
        index = Index(choose_place(folder))
        update_index(index, folder)
    return index


@given(st.text() | st.sampled_from(HOSTILE) | st.sampled_from(['"', "* NOT", 'NEAR("a" b)', "text: x", "(", "%", "_", "\\", "-"]))
def test_no_sign_of_a_question_means_anything(small_index: Index, text: str) -> None:
    small_index.find_episodes(Filters(text=text, topic=text, run=text))
    small_index.find_episodes(Filters(metric=text, low=0.0))


def test_hostile_strings_are_kept_apart(small_index: Index) -> None:
    assert small_index.find_episodes(Filters()).total == len(HOSTILE)
    assert small_index.find_episodes(Filters(topic="x" * 60_000)).total == 0
