"""People who check a run in the browser: what they are shown, what becomes of their answers, and what the owner sees."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sociable.api import runs
from sociable.api import surveys as api
from sociable.api.people import add_corrections
from sociable.api.results import load_result
from sociable.core.errors import InputError
from sociable.core.people_files import PeopleFiles, PersonRating, SheetItem
from sociable.core.records import Verdict
from sociable.core.run_folder import RunFolder
from sociable.engine.registry import find_benchmark
from sociable.engine.study import ShownPair, ShownQuestion
from sociable.people.dealing import Dealt
from sociable.people.surveys import SURVEY_FILE, NewItem, Surveys, Task
from sociable.studio.surveys import OpenSurveys, make_path

from .conftest import HOSTILE, Asked

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with judged pairs; tests only read it."""
    folder = tmp_path_factory.mktemp("judged") / "run"
    runs.run("hsii", "reference/oracle@0.4", out=folder, limit=6, **find_benchmark("hsii").demo)
    return folder


@pytest.fixture
def run(judged: Path, tmp_path: Path) -> Path:
    """A copy of it, in a folder of its own."""
    return Path(shutil.copytree(judged, tmp_path / "runs" / "hsii"))


def wait_for(condition: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)


def read_verdicts(run: Path) -> dict[str, Verdict]:
    with PeopleFiles(run) as people:
        return {each.id: each.verdict for each in people.verdicts}


def answer(studio: Asked, path: str, position: int, said: str, comment: str = "") -> str:
    """Sends one answer as the page does; returns where it leads to."""
    got = studio.post(path, {"position": str(position), "answer": said, "comment": comment}, owner=False)
    assert got.status == 303, got.text
    return got.headers["location"]


def test_a_survey_becomes_records_and_a_sheet_that_is_read_back(run: Path, start_studio: Callable[[Path], Asked]) -> None:
    begun = api.begin_survey(run, 3, sample=6, per_item=2)
    assert begun.items == 6
    studio = start_studio(run.parent)
    path = make_path(begun.people[0].secret)
    assert "What you are asked to do" in studio.get(path, owner=False).text
    assert answer(studio, path, 1, "1", "clear") == f"{path}?at=2"
    answer(studio, path, 2, "0")
    answer(studio, path, 3, "skip")
    assert answer(studio, path, 4, "2") == path
    assert "All done" in studio.get(path, owner=False).text

    wait_for(lambda: len(read_verdicts(run)) == 4)
    with Surveys(run) as surveys:
        wait_for(lambda: surveys.count_waiting() == 0)
        sheet = api.export_answers(run, surveys, Task.JUDGE, "person-01")
    rows = list(csv.DictReader(io.StringIO(sheet.removeprefix("\ufeff"))))
    assert sorted(row["comment"] for row in rows) == ["", "", "", "clear"]
    assert sum(row["verdict"] == "skip" for row in rows) == 1
    assert all(float(row["seconds"]) >= 0 for row in rows)

    before = read_verdicts(run)
    file = run.parent / "back.csv"
    file.write_text(sheet, encoding="utf-8")
    (run / "people.jsonl").unlink()
    add_corrections(run, [file])
    assert read_verdicts(run) == before
    with PeopleFiles(run) as people:
        assert all(each.seconds is not None for each in people.verdicts)


def test_the_first_is_better_means_the_side_that_this_person_saw_first(run: Path, start_studio: Callable[[Path], Asked]) -> None:
    items = [NewItem("i1", ShownPair("Where?", "Ann", "what the subject said", "what the other said"))]
    with Surveys(run) as surveys, PeopleFiles(run) as people:
        people.note_sheet([make_item("i1")], None)
        made = surveys.begin(Task.JUDGE, items, {"ann": [Dealt("i1", True)], "bob": [Dealt("i1", False)]})
    studio = start_studio(run.parent)
    firsts = []
    for person in made:
        shown = studio.get(f"{make_path(person.secret)}?at=1", owner=False).text
        firsts.append(shown.index("what the subject said") < shown.index("what the other said"))
        answer(studio, make_path(person.secret), 1, "1")
    assert firsts == [True, False]
    wait_for(lambda: read_verdicts(run) == {"i1|ann": Verdict.WIN, "i1|bob": Verdict.LOSS})


def make_item(name: str, *, question: bool = False) -> SheetItem:
    return SheetItem(
        id=name,
        episode="none#0",
        scenario="none",
        criterion="first utterance",
        subject_first=True,
        stratum="first utterance: win",
        size=1,
        question=question,
    )


def begin_hostile(run: Path) -> dict[str, str]:
    """A survey of pairs and one of questions of hostile strings; the secrets by person."""
    everything = " ".join(HOSTILE)
    pairs = [NewItem(f"p{n}", ShownPair(text, everything, text, everything)) for n, text in enumerate(HOSTILE)]
    questions = [NewItem(f"q{n}", ShownQuestion(text, everything, text, everything)) for n, text in enumerate(HOSTILE)]
    with Surveys(run) as surveys, PeopleFiles(run) as people:
        people.note_sheet([make_item(each.id, question=each.id[0] == "q") for each in (*pairs, *questions)], None)
        made = [
            *surveys.begin(Task.JUDGE, pairs, {"pat": [Dealt(each.id, True) for each in pairs]}, consent=everything),
            *surveys.begin(
                Task.JUDGE, questions, {HOSTILE[1]: [Dealt(each.id, False) for each in questions]}, instructions=everything
            ),
        ]
    return {person.name: person.secret for person in made}


def test_nothing_foreign_runs(run: Path, start_studio: Callable[[Path], Asked], open_page: Callable[..., Page]) -> None:
    links = begin_hostile(run)
    studio = start_studio(run.parent)
    page = open_page(studio, make_path(links["pat"]), owner=False, width=320)
    page.click("text=I agree")
    page.click("text=Begin")
    for position in range(1, len(HOSTILE) + 1):
        page.wait_for_url(f"**?at={position}")
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        page.keyboard.press("1")
    page.wait_for_selector("text=All done")
    page.goto(studio.server.url + make_path(links[HOSTILE[1]]) + "?at=2")
    assert page.evaluate("[window.broken, document.scripts.length, document.images.length]") == [None, 2, 0]
    assert page.said == []  # type: ignore[attr-defined]
    page = open_page(studio, "/people?run=hsii")
    assert page.evaluate("[window.broken, document.scripts.length, document.images.length]") == [None, 1, 0]
    assert page.said == []  # type: ignore[attr-defined]


def test_nothing_is_shown_before_consent(run: Path, start_studio: Callable[[Path], Asked]) -> None:
    (person,) = api.begin_survey(run, 1, sample=6, consent="You may stop at any time.").people
    studio, path = start_studio(run.parent), make_path(person.secret)
    with Surveys(run) as surveys:
        situation = surveys.find_asked(surveys.find_person(person.secret), 1).shown.situation  # type: ignore[arg-type, union-attr]
    first = studio.get(f"{path}?at=1", owner=False).text
    assert "You may stop at any time." in first
    assert situation[:20] not in first
    assert studio.post(path, {"position": "1", "answer": "1"}, owner=False).status == 400
    assert studio.post(path, {"action": "agree"}, owner=False).status == 303
    assert situation[:20] in studio.get(f"{path}?at=1", owner=False).text
    with closing(sqlite3.connect(run / SURVEY_FILE)) as opened:
        ((agreed, digest),) = opened.execute("SELECT agreed, digest FROM persons")
    assert abs(agreed - time.time()) < 60
    assert len(digest) == 64


def test_a_link_opens_its_own_page_alone(run: Path, start_studio: Callable[[Path], Asked]) -> None:
    one, other = api.begin_survey(run, 2, sample=6).people
    studio = start_studio(run.parent)
    assert studio.get(make_path(one.secret), owner=False).status == 200
    assert studio.get("/people?run=hsii", owner=False).status == 401
    assert studio.get(make_path("x" * 43), owner=False).status == 404
    assert other.secret not in studio.get(make_path(one.secret), owner=False).text
    assert studio.post(make_path(one.secret), {"position": "1", "answer": "1"}, owner=False, headers={}).status == 403
    for file in run.iterdir():
        assert one.secret.encode() not in file.read_bytes()
    studio.post("/people?run=hsii", {"action": "withdraw", "person": "1"})
    assert studio.get(make_path(one.secret), owner=False).status == 404
    assert studio.get(make_path(other.secret), owner=False).status == 200


@pytest.mark.parametrize("said", ["", "3", "yes", "WIN", "1; DROP TABLE dealt", "\u0661"])
def test_what_is_no_answer_is_refused(run: Path, start_studio: Callable[[Path], Asked], said: str) -> None:
    (person,) = api.begin_survey(run, 1, sample=6).people
    got = start_studio(run.parent).post(make_path(person.secret), {"position": "1", "answer": said}, owner=False)
    assert got.status == 400
    assert "expected" in got.text


def test_a_run_at_work_loses_no_verdict(
    run: Path, start_studio: Callable[[Path], Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sociable.studio.surveys.SECONDS_TO_WAIT", 0.2)
    (person,) = api.begin_survey(run, 1, sample=6).people
    studio, path = start_studio(run.parent), make_path(person.secret)
    with RunFolder.open(run):
        for position in range(1, 5):
            answer(studio, path, position, "1")
        wait_for(lambda: "4 answers are kept" in studio.get("/people?run=hsii").text)
        assert read_verdicts(run) == {}
    wait_for(lambda: len(read_verdicts(run)) == 4)


def test_two_studios_on_one_folder_keep_each_others_answers(run: Path, start_studio: Callable[[Path], Asked]) -> None:
    people = api.begin_survey(run, 2, sample=6).people
    studios = [start_studio(run.parent), start_studio(run)]
    with ThreadPoolExecutor() as pool:
        sent = [
            pool.submit(answer, studio, make_path(person.secret), position, "1")
            for studio, person in zip(studios, people, strict=True)
            for position in range(1, 7)
        ]
        for each in sent:
            each.result()
    wait_for(lambda: len(read_verdicts(run)) == 12)
    answer(studios[0], make_path(people[1].secret), 3, "0")
    wait_for(lambda: list(read_verdicts(run).values()).count(Verdict.TIE) == 1)


def test_attention_checks_look_like_all_others_and_mark_whoever_fails_them(run: Path) -> None:
    begun = api.begin_survey(run, 2, sample=6, attention_checks=3)
    with Surveys(run) as surveys:
        for person, is_right in zip(begun.people, (True, False), strict=True):
            found = surveys.find_person(person.secret)
            assert found is not None
            done, total = surveys.count(found)
            assert (done, total) == (0, 9)
            with closing(sqlite3.connect(run / SURVEY_FILE)) as opened:
                query = "SELECT position, truth FROM dealt JOIN items ON item = items.id WHERE person = ?"
                truths = dict(opened.execute(query, [found.id]))
            for position, truth in truths.items():
                asked = surveys.find_asked(found, position)
                assert asked is not None and asked.kind == "pair"
                surveys.answer(found, position, truth if truth and is_right else Verdict.TIE, "")
        careful, careless = surveys.list_people()
        assert (careful.checks, careful.failed, careful.is_marked) == (3, 0, False)
        assert (careless.checks, careless.failed, careless.is_marked) == (3, 3, True)
        assert api.keep_answers(run, surveys) == 0
        assert len(read_verdicts(run)) == 12  # checks are no verdicts; whoever is marked counts until left out
        both = api.export_answers(run, surveys, Task.JUDGE)
        surveys.leave_out(careless.id, is_left_out=True)
        one = api.export_answers(run, surveys, Task.JUDGE)
    assert both.count("person-02") == 6
    assert "person-02" not in one
    result = load_result(run)
    everybody, without = (repr(api.show_figures(result, left_out)) for left_out in ((), ("person-02",)))
    assert "person-02" in everybody
    assert "person-02" not in without
    assert len(read_verdicts(run)) == 12


def test_a_damaged_file_of_another_run_closes_no_link(run: Path, start_studio: Callable[[Path], Asked]) -> None:
    (person,) = api.begin_survey(run, 1, sample=6).people
    damaged = run.parent / "a damaged one"
    damaged.mkdir()
    (damaged / "manifest.json").write_text("{}")
    (damaged / SURVEY_FILE).write_text("no database, and longer than the header of one would be\n" * 50)
    assert start_studio(run.parent).get(make_path(person.secret), owner=False).status == 200


def test_a_precision_of_what_corrects_nothing_is_refused(run: Path) -> None:
    with pytest.raises(InputError, match=r"--precision 0\.1: goes with --task judge only"):
        api.begin_survey(run, 2, task=Task.RATE, precision=0.1)


def test_nobody_gets_the_name_of_somebody_who_has_rated(run: Path) -> None:
    with PeopleFiles(run) as people:
        people.ratings.append(PersonRating(id="x|person-01", episode="x", person="person-01", rating=1.0))
    (person,) = api.begin_survey(run, 1, task=Task.RATE, sample=1).people
    assert person.name == "person-02"


def test_more_checks_than_there_are_are_refused_before_anything_is_noted(run: Path) -> None:
    with pytest.raises(InputError, match="attention-checks 5000: of answers known beforehand"):
        api.begin_survey(run, 2, sample=6, attention_checks=5000)
    with PeopleFiles(run) as people, Surveys(run) as surveys:
        assert len(people.sheets) == 0
        assert surveys.list_people() == []


@pytest.mark.parametrize("task", [Task.RATE, Task.WORD])
def test_whole_episodes_are_rated_and_get_words(tmp_path: Path, start_studio: Callable[[Path], Asked], task: Task) -> None:
    run = tmp_path / "run"
    runs.run("anteval-iep", "reference/silent", out=run, limit=2, partner="reference/oracle", judges=("reference/rule",))
    (person,) = api.begin_survey(run, 1, sample=2, task=task).people
    studio, path = start_studio(run), make_path(person.secret)
    assert "The conversation" in studio.get(f"{path}?at=1", owner=False).text
    answer(studio, path, 1, "5" if task is Task.RATE else "Boring!")
    assert studio.post(path, {"position": "2", "answer": "two words"}, owner=False).status == 400

    def read() -> list[object]:
        with PeopleFiles(run) as people:
            return [*(each.rating for each in people.ratings), *(each.word for each in people.words)]

    wait_for(read)
    assert read() == [5.0 if task is Task.RATE else "boring"]


def test_a_changed_answer_takes_the_place_of_the_first_and_time_adds_up(run: Path) -> None:
    (person,) = api.begin_survey(run, 1, sample=6).people
    with Surveys(run) as surveys:
        found = surveys.find_person(person.secret)
        assert found is not None
        surveys.start_clock(found, 1)
        time.sleep(0.05)
        surveys.put_aside(found, 1, "half a thought")
        time.sleep(0.2)  # a break
        asked = surveys.find_asked(found, 1)
        assert asked is not None and asked.comment == "half a thought"
        surveys.start_clock(found, 1)
        surveys.answer(found, 1, Verdict.WIN, "a thought")
        api.keep_answers(run, surveys)
        assert list(read_verdicts(run).values()) == [Verdict.WIN]
        surveys.start_clock(found, 1)
        surveys.answer(found, 1, Verdict.LOSS, "another")
        (given,) = surveys.list_given(only_waiting=True)
        assert 0.05 <= given.seconds < 0.2
        api.keep_answers(run, surveys)
    assert list(read_verdicts(run).values()) == [Verdict.LOSS]


def test_a_draft_that_comes_after_its_answer_changes_nothing(run: Path, start_studio: Callable[[Path], Asked]) -> None:
    (person,) = api.begin_survey(run, 1, sample=6).people
    studio, path = start_studio(run.parent), make_path(person.secret)
    studio.get(f"{path}?at=1", owner=False)
    answer(studio, path, 1, "1", "all of it")
    late = {"position": "1", "action": "draft", "comment": "all o"}
    assert studio.post(path, late, owner=False).status == 204
    with Surveys(run) as surveys:
        assert [each.comment for each in surveys.list_given()] == ["all of it"]
        # Looked at again, it can be changed.
        studio.get(f"{path}?at=1", owner=False)
        studio.post(path, late | {"comment": "more"}, owner=False)
        assert [each.comment for each in surveys.list_given()] == ["more"]


# In the browser.


def test_ten_pairs_with_the_keyboard_alone(
    run: Path, start_studio: Callable[[Path], Asked], open_page: Callable[..., Page], assert_accessible: Callable[[Page], None]
) -> None:
    (person,) = api.begin_survey(run, 1, sample=10).people
    studio = start_studio(run.parent)
    page = open_page(studio, make_path(person.secret), owner=False)
    while page.evaluate("document.activeElement.textContent") != "Begin":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for position, key in enumerate("1201s21012", start=1):
        page.wait_for_url(f"**?at={position}")
        page.keyboard.press(key)
    page.wait_for_selector("text=All done")
    wait_for(lambda: len(read_verdicts(run)) == 10)
    assert sum(each is Verdict.UNSCORED for each in read_verdicts(run).values()) == 1


def test_keys_write_while_a_comment_is_written_and_the_comment_outlives_the_page(
    run: Path, start_studio: Callable[[Path], Asked], open_page: Callable[..., Page]
) -> None:
    (person,) = api.begin_survey(run, 1, sample=6).people
    studio = start_studio(run.parent)
    page = open_page(studio, make_path(person.secret) + "?at=1", owner=False)
    with page.expect_response(lambda response: response.status == 204):
        page.locator("#comment").press_sequentially("1 is odd, so is 2")
    page.goto("about:blank")
    page.goto(studio.server.url + make_path(person.secret) + "?at=1")
    assert page.input_value("#comment") == "1 is odd, so is 2"
    assert read_verdicts(run) == {}


def test_two_people_at_once_and_the_owner_sees_figures(
    run: Path, start_studio: Callable[[Path], Asked], open_page: Callable[..., Page]
) -> None:
    begun = api.begin_survey(run, 2, sample=6)
    studio = start_studio(run.parent)
    owner = open_page(studio, "/people?run=hsii")
    pages = [open_page(studio, make_path(each.secret) + "?at=1", owner=False, window=each.name) for each in begun.people]
    for position in range(1, 7):
        for page in pages:
            page.wait_for_url(f"**?at={position}")
            page.keyboard.press("1")
    for page in pages:
        page.wait_for_selector("text=All done")
    owner.wait_for_selector("text=12 of 12 answers", timeout=15_000)
    owner.wait_for_selector("text=People among themselves", timeout=30_000)
    owner.wait_for_selector("text=Scores as judges gave them, and corrected by people")
    assert owner.said == []  # type: ignore[attr-defined]


PEOPLES_PAGES = ["", "?at=1", "?at=2", "?at=break"]


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1280, False)])
def test_pages_are_for_everyone(
    run: Path,
    start_studio: Callable[[Path], Asked],
    open_page: Callable[..., Page],
    assert_accessible: Callable[[Page], None],
    width: int,
    dark: bool,
) -> None:
    studio = start_studio(run.parent)
    studio.post("/people?run=hsii", {"action": "begin", "task": "judge", "people": "2", "sample": "6", "consent": "May we?"})
    owner = open_page(studio, "/people?run=hsii", width=width, dark=dark)
    assert_accessible(owner)
    link = re.findall(r"http://\S+/desk/check/\S+", owner.inner_text(".links"))[0]
    path = link.removeprefix(studio.server.url)
    page = open_page(studio, path, owner=False, width=width, dark=dark)
    assert_accessible(page)
    page.click("text=I agree")
    answer(studio, path, 1, "1")
    for query in PEOPLES_PAGES:
        page.goto(link + query)
        assert_accessible(page)
    assert page.said == []  # type: ignore[attr-defined]


def test_a_form_with_a_mistake_comes_back_as_it_was_typed(run: Path, start_studio: Callable[[Path], Asked]) -> None:
    studio = start_studio(run.parent)
    form = {"action": "begin", "task": "judge", "people": "2", "sample": "6", "per_item": "7", "consent": "May we?"}
    got = studio.post("/people?run=hsii", form)
    assert got.status == 400
    assert "--per-item 7" in got.text
    assert "May we?" in got.text
    assert not (run / "sheets.jsonl").exists()


@pytest.fixture
def start_process(tmp_path: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """Starts ``sociable studio`` as a process of its own; returns it with all that it printed up to its last link."""
    started = []

    def start(*arguments: str, lines: int) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-c", "from sociable.cli.main import main; main()", "studio", *arguments, "--no-browser"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
        started.append(process)
        assert process.stdout is not None
        return process, "".join(process.stdout.readline() for _ in range(lines))

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_link_opens_while_a_search_is_under_way(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (person,) = api.begin_survey(run, 1, sample=6).people
    is_searching = threading.Event()

    def search_slowly(folder: Path) -> Iterator[Path]:
        is_searching.set()
        time.sleep(0.2)
        yield folder

    monkeypatch.setattr("sociable.studio.surveys.find_run_folders", search_slowly)
    opened = OpenSurveys(run)
    first = threading.Thread(target=opened.search)
    first.start()
    is_searching.wait()
    assert opened.find(person.secret) is not None
    first.join()


def test_a_killed_studio_loses_nothing(
    run: Path, start_process: Callable[..., tuple[subprocess.Popen[str], str]], start_studio: Callable[[Path], Asked]
) -> None:
    """A terminal's links; the server is killed right after an answer; a second one goes on with the same link."""
    process, told = start_process(str(run), "--port", "0", "--people", "2", "--sample", "6", lines=4)
    assert "6 items, 2 people" in told
    link = re.findall(r"(http://\S+)/desk/check/(\S+)", told)[0]
    asked = Asked(_Elsewhere(link[0]))  # type: ignore[arg-type]
    answer(asked, make_path(link[1]), 1, "2", "before")
    process.send_signal(signal.SIGKILL)
    process.wait()
    again = start_studio(run)
    page = again.get(make_path(link[1]), owner=False).text
    assert "1 of 6 items answered" in page
    answer(again, make_path(link[1]), 2, "0")
    wait_for(lambda: len(read_verdicts(run)) == 2)


class _Elsewhere:
    """The server of another process, asked without the owner's token."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.access = type("Access", (), {"cookie": "none", "token": "none"})
