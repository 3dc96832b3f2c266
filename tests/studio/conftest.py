"""A studio that serves runs of reference agents, asked over a real socket and looked at in a real browser."""

from __future__ import annotations

import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sociable.api import reports, runs
from sociable.engine.registry import find_benchmark
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
    """Runs of two agents on HSII and on AgentSense; tests only read it."""
    folder = tmp_path_factory.mktemp("runs")
    for benchmark in ("hsii", "agentsense"):
        for agent in ("oracle", "random"):
            demo = find_benchmark(benchmark).demo
            runs.run(benchmark, f"reference/{agent}", out=folder / f"{benchmark}-{agent}", limit=6, **demo)
    reports.report(folder / "hsii-oracle")
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


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page of a studio in a window (a context) of its own, as its owner unless told otherwise."""
    contexts = []

    def open_(studio: Asked, path: str, *, owner: bool = True, width: int = 1280, dark: bool = False) -> Page:
        scheme = "dark" if dark else "light"
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.said = said  # type: ignore[attr-defined]
        if owner:
            page.goto(studio.server.owners_url)
        page.goto(studio.server.url + path)
        return page

    yield open_
    for context in contexts:
        context.close()


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
