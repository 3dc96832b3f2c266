"""Reviewers decide in the browser as they do in the terminal: the same records, several people, nothing lost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sociable.agents.people.desk import Desk
from sociable.datasets.review.records import Choice
from sociable.datasets.review.reviewing import Review

from .conftest import HOSTILE, Asked

if TYPE_CHECKING:
    from playwright.sync_api import Page

RECORDS = [{"id": f"case {n}", "setting": text, "goal": "to agree"} for n, text in enumerate(HOSTILE[:3])]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A studio's folder with a data set in it."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "dataset.jsonl").write_text("".join(json.dumps(each) + "\n" for each in RECORDS))
    return folder


def invite(studio: Asked, *names: str) -> list[str]:
    """The paths of reviewers' links."""
    for name in names:
        assert studio.post("/review?data=mine", {"do": "add", "person": name, "group": "1"}).status == 303
    return [f"{path}/review" for path in re.findall(r'value="http://[^"/]*(/desk/[^"]+)"', studio.get("/review?data=mine").text)]


def test_decisions_are_those_of_the_terminal(start_studio: Callable[..., Asked], data: Path) -> None:
    studio = start_studio(data.parent)
    first, second = invite(studio, "Ada", "Bo")
    assert "mine" in studio.get("/sittings").text

    def send(**form: str) -> str:
        page = studio.get(first, owner=False).text
        question = re.findall(r'name="question" value="([^"]+)"', page)
        answer = studio.post(first, {"question": question[0] if question else "", **form}, owner=False)
        return answer.text if answer.status != 303 else "taken"

    assert studio.get(first.removesuffix("/review"), owner=False).headers["location"] == first
    review = Review.open(data)
    (item, *_) = review.find_open_items("Ada", 1)
    assert "Say what is to be done" in send(choice="")
    assert "not JSON" in send(choice="fix", record="{")
    assert "chose to keep" in send(choice="keep", record=json.dumps({**item.record, "goal": "to part"}))
    assert (
        send(choice="fix", record=json.dumps({**item.record, "goal": "to part"}), note=" It is better so.\r\nIs it not?")
        == "taken"
    )
    assert send(choice="drop") == "taken"
    assert "You have decided on that item already" in studio.post(first, {"question": "gone", "choice": "keep"}, owner=False).text
    fixed, dropped = review.read_decisions()
    assert (fixed.item, fixed.decision, fixed.note) == (item.id, Choice.FIX, "It is better so.\nIs it not?")
    assert fixed.fixed is not None and fixed.fixed["goal"] == "to part" and fixed.seconds is not None
    assert send(do="back") == "taken"
    assert [each.item for each in review.read_decisions()] == [item.id]
    assert send(choice="keep") == send(choice="keep") == "taken"
    assert "Nothing is left to decide" in studio.get(first, owner=False).text
    assert review.read_decisions()[1].item == dropped.item  # asked again
    assert "case" in studio.get(second, owner=False).text and len(review.find_open_items("Bo", 1)) == 3
    assert "ada has a link already" in studio.post("/review?data=mine", {"do": "add", "person": "ada", "group": "1"}).text
    assert "Ada has decided in group 1" in invite_anew(studio, "Ada", "2")
    assert studio.get("/review?data=..").status == 404
    assert studio.get("/review?data=mine", owner=False).status == 401


def test_a_link_of_one_kind_does_nothing_at_the_pages_of_the_other(start_studio: Callable[..., Asked], data: Path) -> None:
    studio = start_studio(data.parent)
    (review,) = invite(studio, "Ada")
    shown = studio.get(review, owner=False).text
    question = re.findall(r'name="question" value="([^"]+)"', shown)[0]
    seat = review.removesuffix("/review")
    sent = {"question": question, **{f"answer-{number}": "x" for number in range(4)}}
    for path, form in ((seat, sent), (seat, sent | {"do": "keep"}), (f"{seat}/draft", sent)):
        assert studio.post(path, form, owner=False).status == 404
    assert studio.get(review, owner=False).text == shown

    run = data.parent / "run"
    run.mkdir()
    (run / "dataset.jsonl").write_bytes((data / "dataset.jsonl").read_bytes())
    with Desk(run) as desk:
        seat = f"/desk/{desk.make_link('Bo').secret}"
    for path in (f"{seat}/review", f"{seat}/review/draft"):
        assert studio.post(path, {"question": "", "choice": "keep", "do": "back"}, owner=False).status == 404
    assert not (run / "review").exists()


def invite_anew(studio: Asked, name: str, group: str) -> str:
    """What is said when somebody whose link was withdrawn is invited into a group."""
    (number,) = re.findall(rf'id="link-(\d+)-name"[^>]*>{name},', studio.get("/review?data=mine").text)
    assert studio.post("/review?data=mine", {"do": "close", "link": number}).status == 303
    return studio.post("/review?data=mine", {"do": "add", "person": name, "group": group}).text


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1280, False)])
def test_review_is_for_everyone(
    start_studio: Callable[..., Asked],
    open_page: Callable[..., Page],
    assert_accessible: Callable[[Page], None],
    data: Path,
    width: int,
    dark: bool,
) -> None:
    studio = start_studio(data.parent)
    (seat,) = invite(studio, "Ada")
    page = open_page(studio, seat, owner=False, width=width, dark=dark)
    page.get_by_text("Fix the record").click()
    assert_accessible(page)
    page.get_by_label("Drop:").check()
    page.locator("input[name=tag]").first.check()
    page.fill("#note", "Half a no")
    page.wait_for_selector("text=Kept.")
    page.reload()
    assert (page.input_value("#note"), page.get_by_label("Drop:").is_checked()) == ("Half a no", True)
    assert page.locator("input[name=tag]").first.is_checked()
    page.focus("#note")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=1 decided, 2 left")
    (made,) = Review.open(data).read_decisions()
    assert (made.decision, made.note, len(made.tags)) == (Choice.DROP, "Half a no", 1)
    owner = open_page(studio, "/review?data=mine", width=width, dark=dark)
    assert_accessible(owner)
    assert page.said == owner.said == []  # type: ignore[attr-defined]
    assert page.evaluate("window.broken") is None
