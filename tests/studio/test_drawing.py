"""The studio's pages in a browser: nothing foreign runs, all is legible and reached by keyboard, at any width, light and dark."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from starlette.routing import Route

from sociable.api.leaderboard import write_leaderboard
from sociable.core.plots import IntervalPlot, Mark
from sociable.core.view import (
    Callout,
    Case,
    Column,
    Document,
    Line,
    Paragraph,
    Quotation,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
)
from sociable.studio import application
from sociable.studio.rendering import make_link, show_page

from .conftest import HOSTILE, Asked

if TYPE_CHECKING:
    from playwright.sync_api import Page

EPISODE = "run=hsii-oracle&episode=eighteen-souls-to-caucal:7%230"
PATHS = [
    "/",
    "/episodes",
    "/run?run=hsii-oracle",
    f"/episode?{EPISODE}",
    f"/beside?{EPISODE}&other=hsii-random",
    f"/calls?{EPISODE}",
    "/nowhere",
]
"""The pages that are looked at, on the runs of the fixture ``runs_folder``."""

EVERYTHING = " ".join(HOSTILE)


def make_hostile_document() -> Document:
    """Every kind of block, every string of it hostile."""
    columns = [Column(EVERYTHING, explanation=EVERYTHING), Column(HOSTILE[0], True, HOSTILE[1])]
    table = Table(EVERYTHING, columns, [Row([text, text]) for text in HOSTILE], EVERYTHING)
    blocks: list[Paragraph | Callout | Table | Transcript | Quotation] = [
        Paragraph(EVERYTHING),
        Callout(EVERYTHING, Tone.BAD),
        table,
        Transcript(EVERYTHING, [Line(text, text, text, Tone.GOOD) for text in HOSTILE]),
        Quotation(EVERYTHING, EVERYTHING),
    ]
    plot = IntervalPlot(EVERYTHING, EVERYTHING, [Mark(text, n / 10) for n, text in enumerate(HOSTILE)])
    case = Case(EVERYTHING, [Tag(text) for text in HOSTILE], blocks)
    return Document(EVERYTHING, EVERYTHING, table, [Section(EVERYTHING, [*blocks, plot, case])])


@pytest.fixture(scope="module")
def hostile(start_studio: Callable[[Path], Asked], tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """A studio with a page of hostile strings at /hostile."""
    document = make_hostile_document()
    route = Route("/hostile", lambda request: show_page(request, "document.html.jinja", document=document))
    before = application.PAGES
    application.PAGES = (*before, SimpleNamespace(ROUTES=(route,)))  # type: ignore[assignment]
    try:
        return start_studio(tmp_path_factory.mktemp("hostile"))
    finally:
        application.PAGES = before


def test_nothing_foreign_runs(hostile: Asked, open_page: Callable[..., Page]) -> None:
    page = open_page(hostile, "/hostile")
    assert page.said == []  # type: ignore[attr-defined]  # the browser says whatever the policy had to stop
    assert page.evaluate("[window.broken, document.scripts.length, document.images.length]") == [None, 1, 0]


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1280, False)])
@pytest.mark.parametrize("path", PATHS)
def test_pages_are_for_everyone(
    studio: Asked, open_page: Callable[..., Page], assert_accessible: Callable[[Page], None], path: str, width: int, dark: bool
) -> None:
    page = open_page(studio, path, width=width, dark=dark)
    assert_accessible(page)
    assert [each for each in page.said if "404" not in each] == []  # type: ignore[attr-defined]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


@pytest.fixture(scope="module")
def ranked(start_studio: Callable[[Path], Asked], runs_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """A studio with a study of models with hostile names, and its leaderboard."""
    folder = tmp_path_factory.mktemp("ranked")
    runs, conditions = {}, {}
    for place, name in enumerate(filter(None, HOSTILE)):
        run = folder / "study" / f"run-{place}"
        shutil.copytree(runs_folder / ("hsii-oracle" if place % 2 else "hsii-random"), run)
        manifest = json.loads((run / "manifest.json").read_text())
        manifest["models"]["subject"] = manifest["settings"]["model"] = name
        (run / "manifest.json").write_text(json.dumps(manifest))
        runs[run.name], conditions[run.name] = manifest["settings"], HOSTILE[place - 1]
    noted = {"name": EVERYTHING, "conditions": conditions, "remarks": [EVERYTHING]}
    (folder / "study" / "series.json").write_text(json.dumps({"study": noted, "runs": runs}))
    (folder / "study" / "study.toml").write_text("")
    write_leaderboard([folder / "study"], folder / "study")
    return start_studio(folder)


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1280, False)])
@pytest.mark.parametrize("path", ["/leaderboard?run=study", "/watch/run?run=study", "/studies"])
def test_a_study_of_hostile_models_is_for_everyone(
    ranked: Asked, open_page: Callable[..., Page], assert_accessible: Callable[[Page], None], path: str, width: int, dark: bool
) -> None:
    page = open_page(ranked, path, width=width, dark=dark)
    assert page.said == []  # type: ignore[attr-defined]
    assert page.evaluate("[window.broken, document.images.length]") == [None, 0]
    text = page.locator("body").inner_text()
    assert "\x1b" not in text and "\u202e" not in text
    if path != "/studies":
        assert "<script>window.broken = 1</script>" in text and "‹ESC›" in text
    if path.startswith("/leaderboard"):
        # Served, it is in a sandbox, where the rules cannot be run.
        page.goto((ranked.server.studio.folder / "study" / "leaderboard.html").as_uri())
    assert_accessible(page)


def test_links_keep_whatever_is_in_a_name() -> None:
    assert make_link("/run", run="a/b&c=\"'<\ud800#", page=None, text="") == "/run?run=a%2Fb%26c%3D%22%27%3C%3F%23"
