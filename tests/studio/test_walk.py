"""The walk of docs/tutorial/studio.md, from the study's file to the corrected leaderboard, in a real browser; the page's pictures are made here.

The small language model is left out of the study: it takes minutes, where all the rest takes less than one. ``pytest tests/studio/test_walk.py
--renew`` makes the pictures anew; without it they are made to be checked, and thrown away.
"""

from __future__ import annotations

import io
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from .conftest import Asked, end_processes
from .test_seats_in_browser import answer, finish, start_process

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "first_study" / "study.toml"
TUTORIAL = ROOT / "docs" / "tutorial" / "studio.md"
PICTURES = ROOT / "docs" / "tutorial" / "pictures"
MODEL = ', "local/smollm2"'
JUDGED = "study/hsii-reference-heuristic"
"""The run of which ten pairs are judged."""
LARGEST_BYTES = 120_000
COLOURS = 64
PATIENCE_SECONDS = 300
WRITTEN = "form.seat input[type=text], form.seat textarea"
WORDS = ("My ticket says berth eleven.", "So does mine. May I see yours?", "Let us ask the conductor together.")

HIDE = """([folder, origin]) => {
  const clean = (text) => text.replaceAll(origin, "http://127.0.0.1:8008").replaceAll(folder, "runs")
    .replace(/\\/desk\\/[\\w\\/-]{30,}/g, "/desk/…").replace(/process \\d+ on .*/, "process 4711 on your-machine");
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = clean(walker.currentNode.data);
    if (text !== walker.currentNode.data) walker.currentNode.data = text;
  }
  for (const field of document.querySelectorAll("input.address")) field.value = clean(field.value);
}"""
"""Takes out of an open page what belongs to this machine and this test: paths, ports, processes, links."""


class Photographer:
    """Takes pictures of pages that are as they should be."""

    def __init__(self, folder: Path, runs: Path, assert_accessible: Callable[[Page], None]) -> None:
        self.folder = folder
        self.runs = runs
        self.assert_accessible = assert_accessible
        self.taken: list[str] = []

    def take(self, page: Page, name: str, height: int = 800, top: str = "") -> None:
        """A picture of a page, from the element ``top`` on; colours are reduced."""
        self.assert_accessible(page)
        assert page.said == []  # type: ignore[attr-defined]
        origin = "/".join(page.url.split("/")[:3])
        page.evaluate(HIDE, [str(self.runs), origin])
        width = page.viewport_size["width"]  # type: ignore[index]
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("document.activeElement?.blur(); scrollTo(0, 0)")
        if top:
            page.locator(top).first.evaluate("element => scrollTo(0, element.getBoundingClientRect().top + scrollY - 24)")
        picture = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
        assert picture.size == (width, height)
        path = self.folder / f"{name}.png"
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
        assert path.stat().st_size < LARGEST_BYTES
        self.taken.append(path.name)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the study's file; the runs that are begun there are ended."""
    shutil.copy(FILE, tmp_path / "study.toml")
    yield tmp_path
    end_processes(tmp_path)


@pytest.mark.long
def test_the_whole_walk(
    folder: Path, open_page: Callable[..., Page], assert_accessible: Callable[[Page], None], request: pytest.FixtureRequest
) -> None:
    renews = request.config.getoption("--renew")
    runs = folder / "runs"
    photographer = Photographer(PICTURES if renews else folder, runs, assert_accessible)
    run_study(folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with start_process(runs, port) as (_, studio):
        look(studio, open_page, photographer)
        play_a_scene(studio, runs, open_page, photographer)
        judge_ten_pairs(studio, open_page, photographer)
        look_at_the_leaderboard(studio, runs, open_page, photographer)
    pictures = [name for _, name in list_pictures()]
    assert sorted(pictures) == sorted(photographer.taken), "the tutorial shows other pictures than these; run with --renew"
    for each in pictures:
        with Image.open(PICTURES / each) as kept, Image.open(photographer.folder / each) as made:
            assert kept.size == made.size, f"{each} is of another size; run with --renew"


def list_pictures() -> list[tuple[str, str]]:
    """(words, file) of each picture of the tutorial's page."""
    return re.findall(r"!\[([^\]]*)\]\(pictures/([^)]+)\)", TUTORIAL.read_text(encoding="utf-8"))


def run_study(folder: Path) -> None:
    """What the reader types first, without the model."""
    file = folder / "study.toml"
    text = file.read_text(encoding="utf-8")
    assert MODEL in text
    file.write_text(text.replace(MODEL, ""), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "sociable", "study", "study.toml"],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "12 of 12 runs finished" in done.stdout


def look(studio: Asked, open_page: Callable[..., Page], photographer: Photographer) -> None:
    page = open_page(studio, "/studies")
    page.get_by_role("link", name="study", exact=True).click()
    page.wait_for_selector("text=Its runs")
    photographer.take(page, "grid", 620)
    page = open_page(studio, f"/episodes?run={JUDGED}&metric=r2&high=0")
    photographer.take(page, "episodes", 720)
    page.locator("tbody th a").first.click()
    page.wait_for_selector("text=Turn by turn")
    photographer.take(page, "episode", 900)


def play_a_scene(studio: Asked, runs: Path, open_page: Callable[..., Page], photographer: Photographer) -> None:
    page = open_page(studio, "/sittings")
    page.get_by_label("Begin a sitting of").select_option("agentsense")
    page.get_by_role("button", name="Choose who sits where").click()
    page.get_by_label("Scenario").fill("one-berth-two-tickets:1")
    page.get_by_role("button", name="Show who takes part in it").click()
    page.get_by_label("Jobin Tharakan is played by").fill("Ada")
    page.get_by_label("Meher Laskar is played by").fill("Bo")
    page.get_by_label("The benchmark's own options").fill("turns=6")
    photographer.take(page, "sitting-form", 1000)
    page.get_by_role("button", name="Begin", exact=True).click()
    page.wait_for_selector("text=The run is running", timeout=PATIENCE_SECONDS * 1000)
    addresses = [page.get_by_label(f"The link of {name}").input_value() for name in ("Ada", "Bo")]
    seats = [
        open_page(studio, "/desk/" + address.rpartition("/")[2], owner=False, window=name, width=width, dark=name == "Bo")
        for address, name, width in zip(addresses, ("Ada", "Bo"), (1280, 320), strict=True)
    ]
    for words in WORDS:
        speaker = wait_for_words(seats)
        if words == WORDS[1]:
            # The one speaks while the other waits: both windows, and the owner's.
            photographer.take(speaker, "turn", 1000, top="h1")
            waiting = next(each for each in seats if each is not speaker)
            photographer.take(waiting, "waiting", 420)
            page.reload()
            page.wait_for_selector("text=at turn since")
            photographer.take(page, "sitting", 900)
            # Closed in the middle of a sentence: nothing is lost.
            seat = speaker.url.partition("#")[0]
            speaker.locator(WRITTEN).last.fill(words)
            speaker.wait_for_selector("text=Kept.")
            speaker.goto("about:blank")
            speaker.goto(seat)
            assert speaker.locator(WRITTEN).last.input_value() == words
        answer(speaker, words)
    (run,) = (each.parent for each in runs.glob("*/desk.sqlite"))
    # The rest of the scene, and the questions after it.
    finish(run)
    seats[0].reload()
    seats[0].wait_for_selector("text=All cases are over")
    page = open_page(studio, f"/episode?run={run.name}&episode=one-berth-two-tickets:1%230")
    assert WORDS[0] in page.inner_text("main")


def wait_for_words(seats: Sequence[Page]) -> Page:
    """The seat whose turn it is to speak; questions with answers to choose from, which both are asked before, are answered."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        for each in [seat for seat in seats if seat.title().startswith("Your turn")]:
            if each.locator(WRITTEN).count():
                return each
            answer(each, "")
        seats[0].wait_for_timeout(50)
    raise AssertionError([each.inner_text("main")[-300:] for each in seats])


def judge_ten_pairs(studio: Asked, open_page: Callable[..., Page], photographer: Photographer) -> None:
    owner = open_page(studio, f"/people?run={JUDGED}")
    owner.get_by_label("People", exact=True).fill("1")
    owner.get_by_label("Items", exact=True).fill("10")
    owner.get_by_role("button", name="Make the links").click()
    address = owner.locator("ul.links code").inner_text()
    page = open_page(studio, address.removeprefix(studio.server.url), owner=False, window="reader")
    page.get_by_role("link", name="Begin").click()
    for number in range(1, 11):
        page.wait_for_selector(f"text=Item {number} of 10")
        page.wait_for_load_state()
        if number == 4:
            photographer.take(page, "pair", 900, top="h2:has(+ .sides)")
            page.reload()
            page.wait_for_load_state()
        first = page.locator(".sides .reading").first.inner_text()
        golden = "2" if first.startswith("I have heard you") else "1"
        # Most are clear. Once neither is better, and once the words under test are.
        page.keyboard.press({3: "0", 7: "2" if golden == "1" else "1"}.get(number, golden))
    page.wait_for_selector("text=All done")
    owner.wait_for_selector("text=first utterance (5), long run (5)", timeout=PATIENCE_SECONDS * 1000)
    owner.wait_for_selector("text=answers are kept", state="detached")
    photographer.take(owner, "people", 1000)


def look_at_the_leaderboard(studio: Asked, runs: Path, open_page: Callable[..., Page], photographer: Photographer) -> None:
    page = open_page(studio, "/studies")
    page.get_by_role("button", name="Write it anew: study").click(no_wait_after=True)
    page.wait_for_url("**/leaderboard?run=study", wait_until="commit", timeout=PATIENCE_SECONDS * 1000)
    shown = studio.get("/leaderboard?run=study").text
    assert "†" in shown and "corrected by 5 human verdicts" in shown
    # Where the studio serves it no script may run, and so nothing can be looked at: the file is the same.
    for name, height, window in (("leaderboard", 1000, {}), ("leaderboard-phone", 900, {"dark": True, "width": 320})):
        page = open_page(studio, "/studies", **window)
        page.goto((runs / "study" / "leaderboard.html").as_uri())
        photographer.take(page, name, height)


def test_the_readme_and_the_tutorial_show_the_study_file() -> None:
    text = FILE.read_text(encoding="utf-8")
    for page in (ROOT / "README.md", TUTORIAL):
        blocks = re.findall(r"^```toml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        assert text in blocks, f"{page.name} shows another file than {FILE.relative_to(ROOT)}"


def test_the_tutorials_pictures_are_there_and_described() -> None:
    shown = list_pictures()
    assert {name for _, name in shown} == {each.name for each in PICTURES.iterdir()}
    for words, name in shown:
        assert len(words) > 20, name
        assert (PICTURES / name).stat().st_size < LARGEST_BYTES
