"""People sit down in the browser: begun by the owner, answered by people with links of their own, and nothing is lost by a kill."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sociable.agents.people.desk import DESK_FILE, Desk, Place
from sociable.core.form import Form, Question
from sociable.core.records import make_storable
from sociable.engine.registry import list_benchmark_names

from .conftest import HOSTILE, Asked, end_processes

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE_SECONDS = 90
SCENE = "four-lines-for-a-ginger:1"
HSII = {"benchmark": "hsii", "model": "human", "people": "Ada", "limit": "1", "options": "stages=[1]"}


def wait_until(look: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> Any:
    until = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < until, "it does not happen"
        time.sleep(0.1)
    return found


@pytest.fixture
def sitting(start_studio: Callable[..., Asked], tmp_path: Path) -> Iterator[Asked]:
    """A studio on an empty folder; the runs that were begun there are ended."""
    yield start_studio(tmp_path)
    end_processes(tmp_path)


def begin(studio: Asked, form: dict[str, str]) -> tuple[str, list[str]]:
    """(the address of the sitting's page, the paths of people's links)."""
    answer = studio.post("/sittings/new", form)
    assert answer.status == 303, answer.text
    page = studio.get(answer.headers["location"])
    return answer.headers["location"], re.findall(r'value="http://[^"/]*(/desk/[^"]+)"', page.text)


def test_a_case_is_played_without_script_from_the_form_to_the_records(sitting: Asked, tmp_path: Path) -> None:
    address, (seat,) = begin(sitting, HSII)
    page = wait_until(lambda: found if "Send" in (found := sitting.get(seat, owner=False).text) else "")
    while "Your turn" in page:
        form = {
            "question": re.findall(r'name="question" value="([^"]+)"', page)[0],
            "answer-0": "0",
            "answer-1": "I am with you.",
        }
        assert sitting.post(seat, form, owner=False).status == 303
        page = wait_until(
            lambda: found if "Send" in (found := sitting.get(seat, owner=False).text) or "are over" in found else ""
        )
    assert "You took part in 1 of them" in page or "All cases are over" in page
    (folder,) = (each.parent for each in tmp_path.glob("*/manifest.json"))
    assert json.loads((folder / "episodes.jsonl").read_text().splitlines()[0])["status"] == "completed"
    assert "finished" in sitting.get(address).text


def test_every_mistake_comes_back_to_the_form_with_what_was_typed(sitting: Asked, tmp_path: Path) -> None:
    scene = {"benchmark": "agentsense", "scenario": "chandelier-from-ulm:1", "model": "human"}
    mistakes = {
        "Nobody is invited": {**HSII, "people": " \n"},
        "Ada is named twice": {**HSII, "people": "Ada\nada"},
        "reference agents for that role": {**HSII, "model": "reference/oracel", "partner": "human"},
        "Nobody in this run is a person": {**HSII, "model": "reference/oracle"},
        "&#39;some&#39; is no number for limit": {**HSII, "limit": "some"},
        "An option is written NAME=VALUE": {**HSII, "options": "stages"},
        "There is no scenario &#39;nowhere&#39;": {**scene, "scenario": "nowhere", "people": "Ada"},
        "Nobody in these cases is called": {**scene, "player:Nobody": "Ada"},
        "played by a reference agent": {**scene, "model": "reference/oracle", "player:Vaska Ristevska": "Ada"},
        "1 to 80": {**HSII, "people": "A" * 81},
    }
    for words, form in mistakes.items():
        answer = sitting.post("/sittings/new", form)
        assert (answer.status, words in answer.text) == (422, True), (
            words,
            re.findall(r'class="words"[^>]*>([^<]*)', answer.text),
        )
        assert f'value="{form["model"]}"' in answer.text
    assert list(tmp_path.glob("*/manifest.json")) == []
    assert sitting.post("/sittings/new", {"benchmark": "nothing"}).status == 400
    assert sitting.get("/sittings/new", owner=False).status == 401


def test_a_link_opens_its_own_seat_alone_and_can_be_withdrawn(sitting: Asked, tmp_path: Path) -> None:
    address, (seat, other) = begin(sitting, {**HSII, "people": "Ada\nBo"})
    assert sitting.get(seat, owner=False).status == 200
    for path in ("/sittings", address, "/events" + address):
        assert sitting.get(path, owner=False).status == 401
    assert sitting.get("/desk/" + "x" * 43, owner=False).status == 404
    assert (
        sitting.post(seat, {"question": "any", "answer-0": "0"}, owner=False, headers={"Origin": "http://elsewhere"}).status
        == 403
    )
    assert "not put to you" in sitting.post(seat, {"question": "any", "answer-0": "0"}, owner=False).text
    assert sitting.post(address, {"do": "close", "link": "1"}).status == 303
    assert sitting.get(seat, owner=False).status == 404
    assert sitting.get(other, owner=False).status == 200
    assert "Withdrawn: Ada" in sitting.get(address).text
    assert "has a link already" in sitting.post(address, {"do": "add", "person": "bo"}).text
    assert "withdrawn already" in sitting.post(address, {"do": "close", "link": "1"}).text
    assert sitting.post(address, {"do": "renew", "link": "2"}).status == 303
    assert sitting.get(other, owner=False).status == 404


def test_a_damaged_desk_closes_no_other(start_studio: Callable[..., Asked], tmp_path: Path) -> None:
    for name in ("damaged", "whole"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
    (tmp_path / "damaged" / DESK_FILE).write_text("no database, and longer than the header of one would be\n" * 50)
    with Desk(tmp_path / "whole") as desk:
        secret = desk.make_link("Ada").secret
    studio = start_studio(tmp_path)
    assert studio.get(f"/desk/{secret}", owner=False).status == 200
    assert studio.get("/desk/" + "x" * 43, owner=False).status == 404
    page = studio.get("/sittings")
    assert page.status == 200 and "cannot be read" in page.text and "with Ada" in page.text
    # Whose own desk it is hears of it, and is not told that the link is nobody's.
    (tmp_path / "whole" / DESK_FILE).write_text("no database, and longer than the header of one would be\n" * 50)
    assert "cannot be read" in studio.get(f"/desk/{secret}", owner=False).text


def test_a_choice_that_is_none_is_refused(start_studio: Callable[..., Asked], tmp_path: Path) -> None:
    with make_desk(tmp_path / "run") as desk:
        made = desk.make_link("Ada")
        desk.put("one", Place("case#0", "subject", ""), Form("One", [], [Question("Which?", ("a", "b"))]))
        assert desk.find_open_question(made.link)
        studio = start_studio(tmp_path)
        for given in ("9" * 5000, "2", "-1", "\u00b2", "a"):
            answer = studio.post(f"/desk/{made.secret}", {"question": "one", "answer-0": given}, owner=False)
            assert (answer.status, "Choose one of: a, b" in answer.text) == (422, True)
        assert desk.list_answers() == []


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1280, False)])
def test_the_owners_pages_are_for_everyone(
    sitting: Asked,
    open_page: Callable[..., Page],
    assert_accessible: Callable[[Page], None],
    tmp_path: Path,
    width: int,
    dark: bool,
) -> None:
    evil = make_storable(" ".join(HOSTILE))
    for name in ("run", "other"):
        with make_desk(tmp_path / name) as desk:
            (tmp_path / name / "manifest.json").write_text("{}")
            for person in (HOSTILE[0], "W" * 80):
                link = desk.make_link(person, role="subject", participant=evil).link
            desk.put("one", Place(HOSTILE[1], "subject", evil), Form("One", [], [Question("Say it:")]))
            desk.put("two", Place(HOSTILE[2], "partner", HOSTILE[3]), Form("Two", [], [Question("Say it:")]))
            question = desk.find_open_question(link)
            assert question
            desk.answer(link, question.id, ["It is said."])
    for path in ("/sittings", "/sitting?run=run", "/sittings/new?benchmark=agentsense&scenario=chandelier-from-ulm:1"):
        page = open_page(sitting, path, width=width, dark=dark)
        assert_accessible(page)
        assert page.said == [] and page.evaluate("window.broken") is None  # type: ignore[attr-defined]
    page = open_page(sitting, "/sitting?run=run", width=width, dark=dark)
    page.get_by_label("Name").fill("Cem")
    page.keyboard.press("Enter")
    page.wait_for_selector("input.address")
    assert "/desk/" in page.locator("input.address").input_value()


def make_desk(folder: Path) -> Desk:
    folder.mkdir()
    return Desk(folder)


@pytest.mark.parametrize("benchmark", list_benchmark_names())
def test_the_form_of_every_benchmark_opens(studio: Asked, benchmark: str) -> None:
    page = studio.get(f"/sittings/new?benchmark={benchmark}")
    assert (page.status, "The model under test" in page.text) == (200, True)
