"""People in windows of their own, in one scene: turns arrive by themselves, and a kill of either side loses nothing."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from sociable.agents.people.desk import Desk, Place
from sociable.api import watching
from sociable.core.form import Form, Question
from sociable.core.view import Callout, Line, Paragraph, Quotation, Transcript

from .conftest import HOSTILE, Asked, end_processes
from .test_sittings import HSII, PATIENCE_SECONDS, begin

if TYPE_CHECKING:
    from playwright.sync_api import Page

WORDS = "I am with you."
SCENE = {"benchmark": "agentsense", "scenario": "chandelier-from-ulm:1", "options": "turns=6"}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty folder; the runs that are begun there are ended."""
    yield tmp_path
    end_processes(tmp_path)


def play(pages: Sequence[Page], is_enough: Callable[[], bool]) -> None:
    """Answers in every window whatever is asked there, as people do, until it is enough."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not is_enough():
        assert time.monotonic() < until, [page.inner_text("main")[-400:] for page in pages]
        for page in pages:
            if page.title().startswith("Your turn"):
                answer(page, WORDS)
        time.sleep(0.1)


def finish(folder: Path) -> None:
    """Answers all that is still asked, without a browser, until the run is over."""
    until = time.monotonic() + PATIENCE_SECONDS
    with Desk(folder) as desk:
        while watching.find_status(folder).state.is_at_work:
            assert time.monotonic() < until, desk.list_waiting()
            for link in desk.list_links():
                if question := desk.find_open_question(link):
                    words = [each.choices[0] if each.choices else "So be it." for each in question.form.questions]
                    desk.answer(link, question.id, words)
            time.sleep(0.02)


def find_run(folder: Path) -> Path:
    (manifest,) = folder.glob("*/manifest.json")
    return manifest.parent


def answer(page: Page, words: str) -> None:
    for group in page.locator("form.seat fieldset").all():
        group.locator("input").first.check()
    for field in page.locator("form.seat textarea, form.seat input[type=text]").all():
        field.fill(words)
    with page.expect_navigation():
        page.get_by_role("button", name="Send").click()


def read_episodes(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (find_run(folder) / "episodes.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("people", [2, pytest.param(3, marks=pytest.mark.long)])
def test_people_play_one_scene_in_windows_of_their_own(
    start_studio: Callable[..., Asked], open_page: Callable[..., Page], folder: Path, people: int
) -> None:
    studio = start_studio(folder)
    # Two, and a reference agent as the partner; or three, who play everybody.
    partner = {"options": "turns=6\nplays=others", "partner": "reference/heuristic"} if people == 2 else {}
    names = "\n".join(("Ada", "Bo", "Cem")[:people])
    address, seats = begin(studio, {**SCENE, **partner, "model": "human", "people": names})
    pages = [open_page(studio, seat, owner=False, window=seat) for seat in seats]
    owner = open_page(studio, address)
    run = find_run(folder)
    with Desk(run) as desk:
        play(pages, lambda: {each.person for each in desk.list_answers() if WORDS in each.answers} == set(names.split()))
    finish(run)
    (episode,) = read_episodes(folder)
    said = {turn["speaker"] for turn in episode["turns"] if turn["content"] == WORDS}
    assert (episode["status"], len(said)) == ("completed", people)
    owner.wait_for_selector("text=The run is finished")
    for page in pages:
        page.reload()
        page.wait_for_selector("text=All cases are over")
    assert owner.inner_text("main").count("Here now") == people
    assert [page.said for page in pages] == [[]] * people  # type: ignore[attr-defined]


@contextmanager
def start_process(folder: Path, port: int) -> Iterator[tuple[subprocess.Popen[str], Asked]]:
    """A studio in a process of its own, as a user starts it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sociable", "studio", str(folder), "--port", str(port), "--no-browser"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout
        url, _, token = process.stdout.readline().removeprefix("Studio: ").strip().partition("/?token=")
        access = SimpleNamespace(cookie=f"sociable-studio-{port}", token=token)
        yield process, Asked(SimpleNamespace(url=url, port=port, access=access, owners_url=f"{url}/?token={token}"))  # type: ignore[arg-type]
    finally:
        process.kill()
        process.communicate()


def test_a_server_and_a_run_that_are_killed_in_the_middle_of_a_turn_lose_nothing(
    open_page: Callable[..., Page], folder: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with start_process(folder, port) as (process, studio):
        address, (seat,) = begin(studio, HSII)
        page = open_page(studio, seat, owner=False)
        page.wait_for_selector("form.seat", timeout=PATIENCE_SECONDS * 1000)
        page.locator("form.seat input[type=radio]").nth(1).check()
        page.fill("form.seat input[type=text]", "Half a th")
        page.wait_for_selector("text=Kept.")
        process.kill()
        process.wait()
        page.locator("form.seat input[type=text]").press_sequentially("ought")
        page.wait_for_selector("text=The studio does not answer")
        with start_process(folder, port) as (_, studio):
            page.wait_for_selector("text=Kept.")  # what was typed meanwhile
            page.reload()
            assert page.input_value("form.seat input[type=text]") == "Half a thought"
            assert page.locator("form.seat input[type=radio]").nth(1).is_checked()

            run = find_run(folder)
            os.kill(watching.find_status(run).pid, signal.SIGKILL)
            page.wait_for_selector("text=The run is not at work", timeout=PATIENCE_SECONDS * 1000)
            page.keyboard.press("Control+Enter")  # the focus is nowhere: nothing is sent
            page.fill("form.seat input[type=text]", "A whole thought.")
            page.keyboard.press("Control+Enter")
            page.wait_for_selector("text=It is not your turn")
            owner = open_page(studio, address)
            assert "cannot be shown again" in owner.inner_text("main")
            owner.get_by_role("button", name="Go on", exact=True).click()
            with Desk(run) as desk:
                play([page], lambda: len(desk.list_answers()) > 1)
            finish(run)
    (first, *_) = read_episodes(folder)
    assert "A whole thought." in json.dumps(first)


def test_the_keyboard_alone_is_enough_and_a_second_window_is_safe(
    start_studio: Callable[..., Asked], open_page: Callable[..., Page], folder: Path
) -> None:
    studio = start_studio(folder)
    desk, seat = make_desk(folder)
    desk.put(
        "one",
        PLACE,
        Form("At the pier", [TALK], [Question("Whom do you ask?", ["Tom", "Ada"]), Question("What do you say?", is_long=True)]),
    )
    page, second = (open_page(studio, seat, owner=False, window=each) for each in ("first", "second"))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skips to the content
    while page.evaluate("document.activeElement.type") != "radio":
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("Where is the key?")
    page.keyboard.press("Enter")
    page.keyboard.type("I lost it.")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=It is not your turn")
    (given,) = desk.list_answers()
    assert given.answers == ("Ada", "Where is the key?\nI lost it.")
    second.wait_for_selector("text=This is not asked of you any more")
    answer(second, "Something else.")
    assert "answered already" in second.inner_text("main")
    # The next turn arrives by itself; what is new is marked, and has the focus.
    more = Transcript(TALK.title, [*TALK.lines, Line("Ada", "Tom", "You had it last.")])
    desk.put("two", PLACE, Form("At the pier", [more], [Question("What do you say?", is_long=True)]))
    page.wait_for_selector("form.seat")
    assert page.inner_text("#new").split("\n")[0] == "New since your last answer"
    page.wait_for_selector("#new:focus")
    assert "You had it last." in page.inner_text("#new") and "Nice weather." not in page.inner_text("#new")
    desk.close()


TALK = Transcript("What has been said", [Line("Ada", "Tom", "Nice weather."), Line("Tom", "Ada", "Wet.")])
PLACE = Place("pier#0", "subject", "Tom")


def make_desk(folder: Path) -> tuple[Desk, str]:
    """The desk of a run that is at work, as far as the desk knows, and a person's path."""
    run = folder / "run"
    run.mkdir()
    desk = Desk(run)
    desk.begin_case(PLACE.item)
    desk.beat("episodes", 0, 1)
    return desk, f"/desk/{desk.make_link('Ada').secret}"


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1280, False)])
def test_seats_are_for_everyone_and_nothing_foreign_runs(
    start_studio: Callable[..., Asked],
    open_page: Callable[..., Page],
    assert_accessible: Callable[[Page], None],
    folder: Path,
    width: int,
    dark: bool,
) -> None:
    studio = start_studio(folder)
    desk, seat = make_desk(folder)
    evil = " ".join(HOSTILE)
    lines = [Line(text, text, text) for text in HOSTILE]
    blocks = [Paragraph(evil), Callout(evil), Quotation(evil, evil), Transcript("Talk", lines)]
    choices = [text for text in HOSTILE if text.strip()]
    questions = [Question(evil, choices), Question(evil, is_long=True), Question(evil, may_be_empty=True)]
    desk.put("one", PLACE, Form(evil, blocks, questions))
    page = open_page(studio, seat, owner=False, width=width, dark=dark)
    assert_accessible(page)
    for number in range(len(choices)):
        page.locator("form.seat input[type=radio]").nth(number).check()
    page.fill("textarea", evil.replace("\0", ""))
    page.get_by_role("button", name="Keep it for later").click()
    page.wait_for_load_state()
    assert_accessible(page)
    page.get_by_role("button", name="Send").click()
    page.wait_for_selector("text=It is not your turn")
    assert desk.list_answers()[0].answers[0] == desk.list_earlier(desk_question(desk))[0].answers[0]
    assert_accessible(page)
    desk.put("two", PLACE, Form(evil, [*blocks[:-1], Transcript("Talk", [*lines, *lines])], questions))
    page.wait_for_selector("form.seat")
    page.locator("details.earlier > summary").click()
    assert_accessible(page)
    assert page.said == []  # type: ignore[attr-defined]
    assert page.evaluate("[window.broken, document.scripts.length, document.images.length]") == [None, 2, 0]
    desk.close()


def desk_question(desk: Desk) -> Any:
    return SimpleNamespace(place=PLACE)
