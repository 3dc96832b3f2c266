"""Both kinds of log in Inspect's own viewer, in a browser. ``--renew`` takes the pictures of the guide anew."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sociable
from sociable.engine.registry import find_benchmark

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.extra,
    # Inspect leaves streams of its own to be collected.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
pytest.importorskip("inspect_ai")

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"]
PICTURES = Path(__file__).parents[2] / "docs" / "_static"
LARGEST_PICTURE_BYTES = 120_000
PATIENCE_SECONDS = 30
CASE = "a-bicycle-in-the-shed:11"
HOSTILE = (
    "<script>window.broken = 1</script>",
    '"><img src=x onerror="window.broken = 2">',
    "[press here](javascript:window.broken=3) ![x](http://127.0.0.1:9/seen.png)",
    "<style>body { display: none }</style></div></template>",
)
"""What a model might say to harm whoever reads it."""
AGENT = f"""
import itertools
said = itertools.cycle({HOSTILE!r})
def reply(messages):
    return next(said)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two runs, one of a hostile model; in ``logs`` both exported, and the log of a task."""
    import inspect_ai

    from sociable.inspect.logs import export_log
    from sociable.inspect.registry import TASKS

    folder = tmp_path_factory.mktemp("viewed")
    logs = folder / "logs"
    demo: Any = find_benchmark("hsii").demo
    sociable.run("hsii", "reference/oracle", out=folder / "run", scenarios=[CASE], **demo)
    export_log(folder / "run", logs / "exported.eval")
    (folder / "agent.py").write_text(AGENT)
    first = next(iter(sociable.load_study("agentsense").scenarios))
    (folder / "failing.py").write_text(f"def reply(messages):\n    raise ValueError({' '.join(HOSTILE)!r})\n")
    sociable.run("agentsense", f"python:{folder / 'failing.py'}:reply", out=folder / "errored", scenarios=[first])
    export_log(folder / "errored", logs / "errored.eval")
    model = f"python:{folder / 'agent.py'}:reply"
    sociable.run("agentsense", model, judges=model, out=folder / "hostile", scenarios=[first], options={"turns": 4})
    export_log(folder / "hostile", logs / "hostile.eval")
    roles = {"partner": "reference/heuristic", "reference": "reference/oracle", "judge": "reference/rule"}
    (log,) = inspect_ai.eval(
        TASKS["hsii"], model="reference/oracle", task_args=roles, sample_id=CASE, log_dir=str(folder / "eval"), display="none"
    )
    Path(urllib.parse.urlparse(log.location).path).rename(logs / "task.eval")
    return folder


@pytest.fixture(scope="module")
def viewer(folder: Path) -> Iterator[str]:
    """The address of the viewer over these logs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", "inspect_ai", "view", "start", "--log-dir", str(folder / "logs")]
    command += ["--host", "127.0.0.1", "--port", port]
    # A home of its own: it must not end another viewer.
    environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder / "share")}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    address, until = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE_SECONDS
    try:
        while time.monotonic() < until:
            with contextlib.suppress(urllib.error.URLError, ConnectionError), urllib.request.urlopen(address, timeout=1):
                break
            time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait()


Open = Callable[[str, str, str], "Page"]


@pytest.fixture(scope="module")
def open_sample(viewer: str) -> Iterator[Open]:
    """Opens one part (messages, scoring) of a sample of a log."""
    interface = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}")
    with interface.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1100, "height": 720})

        def open_(log: str, sample: str, part: str) -> Page:
            page.goto("about:blank")
            page.goto(f"{viewer}/#/tasks/{log}/samples/sample/{urllib.parse.quote(sample, safe='')}/1/{part}")
            page.get_by_role("tab", name=part.capitalize()).first.wait_for(timeout=PATIENCE_SECONDS * 1000)
            return page

        yield open_
        browser.close()


def wait_for(page: Page, words: str) -> None:
    page.get_by_text(words, exact=False).first.wait_for(timeout=PATIENCE_SECONDS * 1000)


@pytest.mark.parametrize("log", ["exported.eval", "task.eval"])
def test_both_kinds_of_log_show_conversation_and_verdicts(
    log: str, folder: Path, open_sample: Open, request: pytest.FixtureRequest
) -> None:
    run = sociable.load_result(folder / "run")
    (episode,) = run.episodes()
    page = open_sample(log, CASE, "messages")
    for turn in episode.turns[:2]:
        wait_for(page, f"{turn.speaker} to {turn.addressees[0]}: {turn.content[:60]}")
    renew(page, "inspect_conversation.png", log, request)
    page = open_sample(log, CASE, "scoring")
    wait_for(page, "long run, reference/rule: tie. subject: conveys 4 of 4 points")
    renew(page, "inspect_verdicts.png", log, request)


def renew(page: Page, name: str, log: str, request: pytest.FixtureRequest) -> None:
    """Takes the guide's picture anew if that is asked for; in any case there is one, of the size that pages can bear."""
    if request.config.getoption("--renew") and log == "exported.eval":
        # Without the bar on top, which tells where the logs lie.
        page.screenshot(path=PICTURES / name, clip={"x": 0, "y": 28, "width": 1100, "height": 692})
    assert (PICTURES / name).stat().st_size < LARGEST_PICTURE_BYTES


@pytest.mark.parametrize(
    ("log", "part"), [("hostile", "messages"), ("hostile", "scoring"), ("hostile", "transcript"), ("errored", "error")]
)
def test_what_a_hostile_model_said_is_shown_as_text(log: str, part: str, folder: Path, open_sample: Open) -> None:
    run = sociable.load_result(folder / log)
    episode = next(run.episodes())
    page = open_sample(f"{log}.eval", episode.scenario, part)
    wait_for(page, "<script>window.broken = 1</script>")
    assert page.evaluate("window.broken") is None
    assert page.locator("img[src='x'], img[src*='seen.png'], a[href^='javascript']").count() == 0
    assert page.locator("body").is_visible()
