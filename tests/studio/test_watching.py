"""Runs watched, begun, stopped and gone on with from pages: real processes, a real server, a real browser."""

from __future__ import annotations

import json
import os
import re
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sociable.api import processes, watching
from sociable.api.runs import make_settings
from sociable.core.records import Estimate, Usage
from sociable.core.run_folder import CONTROL_FILE, STATUS_FILE, hold_lock, write_atomically
from sociable.engine.status import EstimatesSoFar, State, Status
from sociable.models.limits import Price
from sociable.studio.narrowing import draw_narrowing
from sociable.studio.rendering import make_link

from .conftest import HOSTILE, Asked, write_run

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE_SECONDS = 60
EVERYTHING = " ".join(HOSTILE).replace("\ud800", "")


@pytest.fixture
def server(start_chat_server: Callable[[float], Any]) -> Any:
    """Slow enough to be caught in the middle of something."""
    return start_chat_server(150.0)


@pytest.fixture
def watched(start_studio: Callable[[Path], Asked], tmp_path: Path) -> Iterator[Asked]:
    """A studio on an empty folder; whoever is still at work there in the end is killed."""
    yield start_studio(tmp_path)
    for _, status in watching.list_statuses([tmp_path]):
        if status.state.is_at_work and status.pid != os.getpid():
            os.kill(status.pid, signal.SIGKILL)


def wait_for(folder: Path, met: Callable[[Status], bool]) -> Status:
    until = time.monotonic() + PATIENCE_SECONDS
    while not met(status := watching.find_status(folder)):
        assert time.monotonic() < until, (status, processes.read_log(folder))
        time.sleep(0.02)
    return status


def follow(studio: Asked, path: str) -> Iterator[str]:
    """The drawings that a stream of events sends."""
    access = studio.server.access
    request = urllib.request.Request(studio.server.url + path, headers={"Cookie": f"{access.cookie}={access.token}"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=PATIENCE_SECONDS) as stream:
        drawn: list[str] = []
        for line in stream:
            text = line.decode().rstrip("\n")
            if text.startswith("data: "):
                drawn.append(text.removeprefix("data: "))
            elif not text and drawn:
                yield "\n".join(drawn)
                drawn = []


def test_a_run_is_begun_followed_stopped_and_gone_on_with(
    server: Any, watched: Asked, start_studio: Callable[[Path], Asked], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = "a-key-that-nobody-may-find"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    form = {"benchmark": "hsii", "model": "openai-compatible/social", "base_url": server.url, "limit": "24", "seed": "0"}
    form |= {"options": "stages = [1, 2]", "max_connections": "3"}
    told = watched.post("/begin", form)
    assert told.status == 200
    assert "What it will take" in told.text
    assert not list(tmp_path.glob("hsii*")), "it has only been estimated"
    begun = watched.post("/begin", {**form, "do": "begin"})
    assert begun.status == 303
    (folder,) = tmp_path.glob("hsii*")
    address = make_link("/watch/run", run=folder.name)
    assert begun.headers["location"] == f"{address}&said=begun"
    assert "starting" in watched.get(address).text

    counts = []
    for drawn in follow(watched, f"/events{address}"):
        counts += [int(done) for done in re.findall(r"(\d+) of \d+ episodes", drawn)]
        if counts and counts[-1] > 10:
            break
    assert counts == sorted(counts)
    assert folder.name in watched.get("/watch").text
    assert watched.post(make_link("/watch/go-on", run=folder.name), {}).status == 400

    assert watched.post(make_link("/watch/stop", run=folder.name), {}).headers["location"] == f"{address}&said=stop"
    status = wait_for(folder, lambda status: not status.state.is_at_work)
    assert (status.state, status.seconds_left) == (State.STOPPED, None)
    assert status.done < status.total
    assert server.requests()["total"] == status.usage.calls
    assert watched.post(make_link("/watch/stop", run=folder.name), {}).status == 400

    # Another studio on the same folder sees the same, and does the same.
    other = start_studio(tmp_path)
    wait_for(folder, lambda _: "Everything so far is kept" in processes.read_log(folder))
    assert "Everything so far is kept" in other.get(address).text
    assert other.post(make_link("/watch/go-on", run=folder.name), {}).headers["location"] == f"{address}&said=on"
    again = watched.post(make_link("/watch/go-on", run=folder.name), {})
    assert (again.status, "in use" in again.text) == (400, True)
    status = wait_for(folder, lambda status: status.state is State.FINISHED)
    assert status.done == status.total
    assert server.requests()["total"] == status.usage.calls, "nothing was bought twice"
    pages = [watched.get(path).text for path in ("/watch", address, make_link("/run", run=folder.name))]
    assert not any(key in page for page in pages)


def test_the_limit_is_raised_from_the_page(server: Any, watched: Asked, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    prices = {"openai-compatible/social": Price(input=1.0, output=0.0)}
    model = f"openai-compatible/social@{server.url}"
    options: Any = {"limit": 24, "max_connections": 3, "options": {"stages": "1,2"}, "max_cost": 0.01, "prices": prices}
    processes.begin(make_settings("hsii", None, model=model, **options), folder)
    status = wait_for(folder, lambda status: status.state is State.STOPPED)
    page = watched.get("/watch/run?run=run").text
    assert status.reason.splitlines()[0][:40] in page
    assert "0.01 of 0.01" in page
    confirm = watched.get("/watch/go-on?run=run")
    assert 'value="0.01"' in confirm.text

    for amount in ("-1", "nan", "much", "inf"):
        refused = watched.post("/watch/go-on?run=run", {"max_cost": amount})
        assert (refused.status, f"&#39;{amount}&#39; is no limit" in refused.text) == (400, True)
    enough = 1.4 * 0.01 * status.total / status.done
    assert watched.post("/watch/go-on?run=run", {"max_cost": str(enough)}).headers["location"].endswith("said=on")
    wait_for(folder, lambda status: status.state is State.RUNNING and status.under_way > 0)
    assert watched.post("/watch/go-on?run=run", {"max_cost": ""}).status == 400
    assert watched.post("/watch/go-on?run=run", {"max_cost": "50"}).headers["location"].endswith("said=limit")
    status = wait_for(folder, lambda status: not status.state.is_at_work)
    assert (status.state, status.limit) == (State.FINISHED, 50.0)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"benchmark": "nothing"}, "There is no benchmark"),
        ({"model": ""}, "Name the model"),
        ({"model": "reference/nobody"}, "nobody"),
        ({"limit": "many"}, "no whole number"),
        ({"limit": "0"}, "limit"),
        ({"options": "stages ="}, "one a line"),
        ({"options": "nothing = 1"}, "nothing"),
        ({"options": f"a = {'[' * 10_000}"}, "cannot be read"),
        ({"options": f"a = {'9' * 5000}"}, "cannot be read"),
        ({"max_cost": "0"}, "no limit"),
        ({"seed": HOSTILE[0]}, "no whole number"),
    ],
)
def test_mistakes_come_back_to_the_form(studio: Asked, changed: dict[str, str], expected: str) -> None:
    form = {"benchmark": "hsii", "model": "reference/oracle", "limit": "2", "options": "stages = [1]", "judges": "a, b"} | changed
    answer = studio.post("/begin", {**form, "do": "begin"})
    assert answer.status == 400
    assert 'role="alert"' in answer.text
    assert expected in answer.text
    assert 'value="a, b"' in answer.text, "what was typed is still there"
    assert "<script>window" not in answer.text


def write_status(folder: Path, **fields: Any) -> Path:
    """The status of a run as its process would write it."""
    plain: dict[str, Any] = {"state": State.RUNNING, "phase": "episodes", "done": 3, "total": 8, "pid": os.getpid()}
    plain |= {"host": os.uname().nodename, "updated": datetime.now(UTC), "begun": datetime.now(UTC)}
    write_atomically(folder / STATUS_FILE, Status(**plain | fields).model_dump_json())
    return folder


def make_history(metric: str) -> tuple[EstimatesSoFar, ...]:
    return tuple(
        EstimatesSoFar(
            at=datetime.now(UTC),
            phase="episodes",
            done=episodes,
            total=8,
            episodes=episodes,
            estimates=(Estimate(metric=metric, value=0.5, low=0.5 - 1 / episodes, high=0.5 + 1 / episodes, scored=episodes),),
        )
        for episodes in (2, 4, 8)
    )


def test_estimates_are_drawn_as_they_narrow() -> None:
    (drawn,) = draw_narrowing(make_history("r2"))
    assert (drawn.last, drawn.scored) == ("0.500 [0.38, 0.62]", 8)
    # Over 2, 4, 8 episodes: at 0, a third and all of 192 pixels between the edges of 4.
    assert drawn.line == "4,28 68,28 196,28"
    # Intervals of 0.5 ± 0.5, 0.25, 0.125: half, a quarter, an eighth of 48 pixels away from the middle.
    assert drawn.band == "4,4 68,16 196,22 196,34 68,40 4,52"
    assert drawn.description == "after 2 to 8 episodes, between 0.00 and 1.00"


HOSTILE_NAME = "<img src=x onerror=window.broken=1>&'\"#?"


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Path]:
    """Runs whose every text is hostile: one at work, one that failed, and three of a study."""
    failures = {f"episodes: {EVERYTHING}"[:300]: 2}
    texts: dict[str, Any] = {"reason": EVERYTHING, "remark": EVERYTHING, "place": EVERYTHING, "failures": failures}
    with ExitStack() as stack:
        at_work = write_run(tmp_path / HOSTILE_NAME, [])
        stack.enter_context(hold_lock(at_work))
        usage = Usage(calls=12, input_tokens=900, output_tokens=60)
        write_status(at_work, history=make_history(EVERYTHING), usage=usage, seconds_left=75.0, errored=2, under_way=2, **texts)
        failed = write_status(write_run(tmp_path / "failed", []), state=State.FAILED, **texts)
        (failed / processes.LOG_FILE).write_text(f"{EVERYTHING}\nhttp://somebody:password@host/v1 refused", errors="replace")
        study = tmp_path / "study"
        study.mkdir()
        plain = {"benchmark": "hsii", "seed": 0}
        runs = {"one": {**plain, "model": HOSTILE_NAME}, "two": {**plain, "model": "reference/random"}}
        runs["three"] = {"benchmark": "stss", "model": HOSTILE_NAME, "seed": 0}
        told = {"study": {"conditions": {"two": HOSTILE[0]}}, "runs": runs}
        (study / "series.json").write_text(json.dumps(told))
        write_status(write_run(study / "one", []), state=State.FINISHED, done=8)
        write_status(write_run(study / "two", []), state=State.STOPPED)
        yield tmp_path


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1280, False)])
def test_pages_that_watch_are_for_everyone(
    hostile: Path,
    watched: Asked,
    open_page: Callable[..., Page],
    assert_accessible: Callable[[Page], None],
    width: int,
    dark: bool,
) -> None:
    one = [make_link(path, run=HOSTILE_NAME) for path in ("/watch/run", "/watch/go-on")]
    rest = ["/watch/run?run=failed", "/watch/go-on?run=failed", "/watch/run?run=study", "/begin"]
    for path in ["/watch", *one, *rest]:
        page = open_page(watched, path, width=width, dark=dark)
        assert_accessible(page)
        assert page.said == []  # type: ignore[attr-defined]
        assert page.evaluate("[window.broken, document.images.length]") == [None, 0]
        assert "password" not in page.content()
    assert watched.get("/watch").text.count("<noscript><meta") == 1


def test_a_study_is_a_grid(hostile: Path, watched: Asked, open_page: Callable[..., Page]) -> None:
    page = open_page(watched, "/watch/run?run=study")
    rows = page.locator("table:has(#parts) tbody tr")
    assert rows.count() == 2
    assert [cell.split() for cell in rows.nth(0).locator("td").all_inner_texts()] == [
        ["finished", "8", "of", "8", "episodes"],
        ["not", "begun"],
    ]
    assert rows.nth(1).locator("td").all_inner_texts()[1] == "—"
    assert "1 of 3" in page.locator(".state").inner_text()
    assert page.locator("#go-on").count() == 1


def test_a_page_follows_and_is_used_by_keyboard(hostile: Path, watched: Asked, open_page: Callable[..., Page]) -> None:
    folder = hostile / HOSTILE_NAME
    page = open_page(watched, make_link("/watch/run", run=HOSTILE_NAME))
    page.locator("#stop").focus()
    write_status(folder, done=5, history=make_history("r2"))
    page.get_by_text("5 of 8 episodes").wait_for()
    assert page.evaluate("document.activeElement.id") == "stop", "the focus stays where it was"
    page.keyboard.press("Enter")
    page.get_by_text("It was told to stop").wait_for()
    assert json.loads((folder / CONTROL_FILE).read_text()) == {"stop": True}

    write_status(folder, done=5)
    page.locator("#raise").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Limit in US dollars").focus()
    page.keyboard.type("2.5")
    page.keyboard.press("Enter")
    page.get_by_text("It was told the new limit").wait_for()
    assert json.loads((folder / CONTROL_FILE).read_text())["max_cost"] == 2.5


def test_a_status_that_makes_no_sense_hides_no_other(watched: Asked, tmp_path: Path) -> None:
    with hold_lock(write_run(tmp_path / "run", [])):
        write_status(tmp_path / "run")
        for seconds in ("NaN", "Infinity"):
            text = (tmp_path / "run" / STATUS_FILE).read_text()
            (tmp_path / "run" / STATUS_FILE).write_text(text.replace('"seconds_left":null', f'"seconds_left":{seconds}'))
            assert [watched.get(path).status for path in ("/watch", "/watch/run?run=run")] == [200, 200]


def test_nothing_outside_the_folder_is_watched(studio: Asked, tmp_path: Path) -> None:
    outside = write_status(write_run(tmp_path / "outside", []))
    for name in (str(outside), "..", "../outside", "nowhere", "\0"):
        for path in ("/watch/run", "/watch/go-on", "/events/watch/run"):
            assert studio.get(make_link(path, run=name)).status == 404
        for path in ("/watch/stop", "/watch/go-on"):
            assert studio.post(make_link(path, run=name), {}).status == 404
    assert not (outside / CONTROL_FILE).exists()
    for path in ("/watch", "/begin", "/events/watch"):
        assert studio.get(path, owner=False).status == 401


STUDY = """
models = ["reference/oracle", "reference/random"]
benchmarks = ["hsii"]
limit = 2

[hsii]
stages = [1]
"""


def test_a_study_is_begun_from_a_file_and_ranked(watched: Asked, open_page: Callable[..., Page], tmp_path: Path) -> None:
    (tmp_path / "agents.toml").write_text(STUDY)
    (tmp_path / "other.toml").write_text('model = "reference/oracle"')
    assert re.findall(r"file=([^\"]*)", watched.get("/studies").text) == ["agents.toml"]
    told = watched.get("/studies/begin?file=agents.toml")
    assert "2 runs, 16 episodes" in told.text
    assert not (tmp_path / "agents").exists(), "it has only been estimated"

    begun = watched.post("/studies/begin?file=agents.toml", {"max_cost": ""})
    assert begun.headers["location"] == "/watch/run?run=agents&said=begun"
    assert "starting" in watched.get("/watch/run?run=agents").text
    again = watched.post("/studies/begin?file=agents.toml", {"max_cost": ""})
    assert (again.status, "at work already" in again.text) == (400, True)
    status = wait_for(tmp_path / "agents", lambda status: status.state is State.FINISHED)
    assert (status.phase, status.done) == ("runs", 2)

    for name, title in (("agents", "agents"), ("", "all runs")):
        page = open_page(watched, "/studies")
        page.get_by_role("button", name=re.compile(f"(Write it anew|Write the leaderboard): {title}")).click()
        page.wait_for_url("**/leaderboard**")
        assert "reference/oracle" in page.locator("body").inner_text()
        assert watched.get(make_link("/leaderboard", run=name)).headers["content-security-policy"].startswith("sandbox;")
    assert "2 of 2" in watched.get("/studies").text


def test_a_wrong_study_is_refused_with_its_line(
    watched: Asked, open_page: Callable[..., Page], assert_accessible: Callable[[Page], None], tmp_path: Path
) -> None:
    inside, outside = tmp_path / "<b>.toml", tmp_path.parent / "outside.toml"
    inside.write_text(STUDY.replace("reference/random", HOSTILE[1].replace('"', "'")))
    outside.write_text(STUDY)
    (tmp_path / "link.toml").symlink_to(outside)
    for path in ("/studies", make_link("/studies/begin", file=inside.name)):
        for width, dark in ((320, True), (1280, False)):
            page = open_page(watched, path, width=width, dark=dark)
            assert_accessible(page)
            assert page.evaluate("[window.broken, document.images.length]") == [None, 0]
    refused = watched.get(make_link("/studies/begin", file=inside.name))
    assert (refused.status, "line 2" in refused.text) == (400, True)
    for name in ("link.toml", "../outside.toml", str(outside), "nothing.toml", ""):
        assert watched.get(make_link("/studies/begin", file=name)).status == 404
        assert watched.post(make_link("/studies/begin", file=name), {}).status == 404
