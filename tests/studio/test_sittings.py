"""People sit down in the browser: begun by the owner, answered by people with links of their own, and nothing is lost by a kill."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sociable.agents.people.desk import Desk, Link
from sociable.api import watching

from .conftest import Asked

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE_SECONDS = 40
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
    for folder, status in watching.list_statuses([tmp_path]):
        if status.state.is_at_work:
            watching.stop(folder)
            wait_until(lambda folder=folder: not watching.find_status(folder).state.is_at_work)


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
        form = {"question": re.findall(r'name="question" value="([^"]+)"', page)[0], "answer-0": "0", "answer-1": "I am with you."}
        assert sitting.post(seat, form, owner=False).status == 303
        page = wait_until(lambda: found if "Send" in (found := sitting.get(seat, owner=False).text) or "are over" in found else "")
    assert "You took part in 1 of them" in page or "All cases are over" in page
    (folder,) = tmp_path.iterdir()
    assert json.loads((folder / "episodes.jsonl").read_text().splitlines()[0])["status"] == "completed"
    assert "finished" in sitting.get(address).text
