"""A studio that serves runs of reference agents, asked over a real socket and looked at in a real browser."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from sociable.api import runs
from sociable.core.view import Column, Document, Row, Table
from sociable.engine.registry import find_benchmark
from sociable.render.html import write_html
from sociable.studio.index import Index, choose_place
from sociable.studio.indexing import update_index
from sociable.studio.server import StudioServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"]


HOSTILE = (
    "<script>window.broken = 1</script>",
    '"><img src=x onerror="window.broken = 2">',
    "</title></textarea></style><script>window.broken = 3</script>",
    "javascript:window.broken=5",
    "{{ 7 * 7 }}{% raw %}",
    "\x1b[31mred\x1b[0m \x9b2J",
    "user\u202egnp.exe\u2066 \u200b\ufeff\U000e0041",
    "half a pair: \ud800, no characters: \ufffe \x00",
    "W" * 400,
    "a" + "\u0301" * 500,
    "line\nline\r\nline\ttab",
    "data: x\n\nevent: reload",
    "",
)
"""Strings as a model, a data file or a person might give them."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""
    text: str


def _list_headers(response: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)


class Asked:
    """A running studio, asked as its owner unless told otherwise; redirections are answers."""

    def __init__(self, server: StudioServer) -> None:
        self.server = server

    def get(self, path: str, *, owner: bool = True, headers: Mapping[str, str] | None = None) -> Answer:
        return self.ask("GET", path, owner=owner, headers=headers)

    def post(self, path: str, form: Mapping[str, str], *, owner: bool = True, headers: Mapping[str, str] | None = None) -> Answer:
        """As one of the studio's own pages sends it."""
        given = {"Origin": self.server.url} if headers is None else headers
        return self.ask("POST", path, urllib.parse.urlencode(form).encode(), owner=owner, headers=given)

    def ask(
        self, method: str, path: str, body: bytes | None = None, *, owner: bool = True, headers: Mapping[str, str] | None = None
    ) -> Answer:
        access = self.server.access
        cookie = {"Cookie": f"{access.cookie}={access.token}"} if owner else {}
        request = urllib.request.Request(self.server.url + path, body, {**cookie, **(headers or {})}, method=method)
        try:
            with _OPENER.open(request, timeout=20) as response:
                return Answer(response.status, _list_headers(response), response.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, _list_headers(error), error.read().decode())


def make_episode(number: int, **fields: Any) -> dict[str, Any]:
    """The record of an episode as a benchmark might keep it."""
    turn = {"index": 0, "speaker": "Ada", "addressees": ["Ben"], "content": f"The deposit of case {number}, please."}
    return {"id": f"case-{number}#0", "scenario": f"case-{number}", "cluster": f"cluster-{number % 3}", "turns": [turn]} | fields


def make_judgment(episode: str, judge: str, verdict: str, **fields: Any) -> dict[str, Any]:
    ids = {"id": f"{episode}|fair|{judge}", "episode": episode, "scenario": episode.partition("#")[0]}
    return ids | {"criterion": "fair", "judge": judge, "verdict": verdict, "reason": ""} | fields


def make_score(number: int, metric: str, value: float | None, **fields: Any) -> dict[str, Any]:
    outcome = "scored" if value is not None else "unscored"
    ids = {"metric": metric, "scenario": f"case-{number}", "cluster": f"cluster-{number % 3}", "repeat": 0}
    return ids | {"outcome": outcome, "value": value, "reason": ""} | fields


def write_lines(path: Path, records: Sequence[Any], mode: str = "w") -> None:
    with path.open(mode, encoding="utf-8") as stream:
        stream.writelines(json.dumps(record) + "\n" for record in records)


def write_run(
    path: Path,
    records: Sequence[Any],
    judgments: Sequence[Any] = (),
    scores: Sequence[Any] = (),
    **manifest: Any,
) -> Path:
    """A run folder of a benchmark that is not installed, with these records."""
    path.mkdir(parents=True)
    models = {"subject": "a-model", "judges": ["judge-1", "judge-2"]}
    plain = {"format": 1, "benchmark": "unknown", "version": "1", "created": "2026-01-02T03:04:05", "digests": {}, "settings": {}}
    (path / "manifest.json").write_text(json.dumps({**plain, "episodes": len(records), "models": models, **manifest}))
    write_lines(path / "episodes.jsonl", records)
    if judgments:
        write_lines(path / "judgments.jsonl", judgments)
    if scores:
        estimates = [
            {"metric": name, "value": 0.5, "low": 0.4, "high": 0.6} for name in dict.fromkeys(s["metric"] for s in scores)
        ]
        file = {"benchmark": "unknown", "version": "1", "estimates": estimates, "scores": scores}
        (path / "scores.json").write_text(json.dumps(file, indent=1))
    return path


def end_processes(folder: Path) -> None:
    """Kills the runs that a studio, or a test, began below a folder: one that waits for people would wait for ever."""
    for process in psutil.process_iter(["cmdline"]):
        if any(part.startswith(str(folder)) for part in process.info["cmdline"] or ()):
            process.kill()


@pytest.fixture(scope="session")
def start_studio() -> Iterator[Callable[[Path], Asked]]:
    """Starts a studio on a folder, in a thread; all are stopped at the end."""
    started: list[tuple[StudioServer, threading.Thread]] = []

    def start(folder: Path, **options: Any) -> Asked:
        server = StudioServer(folder, **options)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        started.append((server, thread))
        return Asked(server)

    yield start
    for server, _ in started:
        server.stop()
    for _, thread in started:
        thread.join(timeout=10)


@pytest.fixture(scope="session")
def runs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two agents on HSII, one of them with a report; tests only read it."""
    folder = tmp_path_factory.mktemp("runs")
    for agent in ("oracle", "random"):
        runs.run("hsii", f"reference/{agent}", out=folder / f"hsii-{agent}", **{**find_benchmark("hsii").demo, "limit": 2})
    summary = Table("Scores", [Column("Model"), Column("Score", numeric=True)], [Row(["oracle", "1.000"])])
    write_html(Document("A report", "", summary, []), folder / "hsii-oracle" / "report.html")
    update_index(Index(choose_place(folder.resolve())), folder.resolve())
    return folder


@pytest.fixture(scope="session")
def studio(start_studio: Callable[[Path], Asked], runs_folder: Path) -> Asked:
    """A studio on ``runs_folder``."""
    return start_studio(runs_folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for one module (two at once cannot be driven); each test opens contexts of its own in it. Tests that need it are skipped where there is none."""
    interface = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}")
    with interface.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page of a studio, as its owner unless told otherwise, in a window (a context) that the module's tests share.

    ``window`` is the window's name: people in windows of different names know nothing of each other. ``page.said`` is what
    the page's console said since it was opened.
    """
    windows: dict[object, Page] = {}

    def open_(
        studio: Asked, path: str, *, owner: bool = True, width: int = 1280, dark: bool = False, window: str = "first"
    ) -> Page:
        key = (studio.server.port, owner, width, dark, window)
        if key not in windows:
            scheme: Any = "dark" if dark else "light"
            page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
            page.said = []  # type: ignore[attr-defined]
            page.on("console", lambda message: page.said.append(message.text))  # type: ignore[attr-defined]
            page.on("pageerror", lambda error: page.said.append(str(error)))  # type: ignore[attr-defined]
            if owner:
                page.goto(studio.server.owners_url)
            windows[key] = page
        page = windows[key]
        page.said.clear()  # type: ignore[attr-defined]
        page.goto(studio.server.url + path)
        return page

    yield open_
    for page in windows.values():
        page.context.close()


@pytest.fixture(scope="session")
def assert_accessible() -> Callable[..., None]:
    """Asserts that a page breaks none of axe's rules, holds in its width, and has no text under 12 pixels."""
    sync_axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

    def check(page: Page) -> None:
        found = sync_axe.Axe().run(page).response["violations"]
        told = [
            f"{each['id']}: {node['html'][:160]} {node.get('failureSummary', '')}" for each in found for node in each["nodes"]
        ]
        assert told == []
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), (
            "the page scrolls sideways"
        )
        assert page.evaluate(_SMALLEST_TEXT) >= 12

    return check


_SMALLEST_TEXT = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let smallest = Infinity;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() && element.getClientRects().length)
      smallest = Math.min(smallest, parseFloat(getComputedStyle(element).fontSize));
  }
  return smallest;
}"""
