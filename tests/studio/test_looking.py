"""The pages on which runs are looked at: everything that is kept is shown, whatever it is, and damage hides nothing else."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sociable.api import runs
from sociable.core.records import Usage
from sociable.engine.registry import find_benchmark
from sociable.models.journal import Journal
from sociable.models.protocol import ChatMessage, FinishReason, Reply, Request, Sampling, Scope
from sociable.studio.index import Index, choose_place
from sociable.studio.indexing import update_index
from sociable.studio.pages import episode as episode_pages
from sociable.studio.rendering import make_link
from sociable.studio.security import hide_credentials

from .conftest import HOSTILE, Asked, make_episode, make_judgment, make_score, write_lines, write_run

if TYPE_CHECKING:
    from playwright.sync_api import Page

CASE = "eighteen-souls-to-caucal:7#0"
WORDS = "Ruben, stop the loading."
"""Its first turn begins like this."""


def make_index(folder: Path) -> None:
    update_index(Index(choose_place(folder.resolve())), folder.resolve())


async def keep_call(journal: Journal, role: str, participant: str, text: str, reply: str, **fields: Any) -> None:
    messages: list[ChatMessage] = [{"role": "system", "content": "You take part."}, {"role": "user", "content": text}]
    request = Request(messages=messages, sampling=Sampling(temperature=0.25), scope=Scope(CASE, role, participant))
    body = request.to_json("a-model")
    answer = Reply(reply, Usage(calls=1, input_tokens=11, output_tokens=7), FinishReason.STOP, fields.get("thinking", ""))
    await journal.store(request.scope.make_key(body), request, body, "a-model", answer, 1.5)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, runs_folder: Path) -> Path:
    """A folder with copies of a run: whole, of another version, and one whose episodes are damaged."""
    folder = tmp_path_factory.mktemp("kept")
    for name in ("whole", "older", "damaged"):
        shutil.copytree(runs_folder / "hsii-oracle", folder / name)
    # In a thread of its own: the browser's tests have a loop in this one.
    thread = threading.Thread(target=asyncio.run, args=(keep_calls(folder / "whole"),))
    thread.start()
    thread.join()
    manifest = json.loads((folder / "older" / "manifest.json").read_text())
    manifest["version"] = "0.0.1"
    (folder / "older" / "manifest.json").write_text(json.dumps(manifest))
    episodes = (folder / "damaged" / "episodes.jsonl").read_text().splitlines(keepends=True)
    damaged = [
        episodes[0],
        episodes[1].replace('"turns":[', '"turns":['),
        "{nonsense\n",
        '{"id":"odd#0","scenario":5}\n',
        episodes[2][:40],
    ]
    (folder / "damaged" / "episodes.jsonl").write_text("".join(damaged))
    return folder


@pytest.fixture(scope="module")
def looked_at(kept: Path, start_studio: Callable[[Path], Asked]) -> Asked:
    make_index(kept)
    return start_studio(kept)


def ask_episode(studio: Asked, run: str, episode: str = CASE, *, page: str = "/episode", **more: str) -> str:
    answer = studio.get(make_link(page, run=run, episode=episode, **more))
    assert answer.status == 200
    return answer.text


def test_runs_and_their_estimates_are_listed(studio: Asked) -> None:
    text = studio.get("/").text
    for words in ("hsii-oracle", "hsii-random", "reference/random", "hsii_cascade", "scored"):
        assert words in text
    text = studio.get("/run?run=hsii-oracle").text
    for words in ("r2_soft", "Estimate", "/report?run=hsii-oracle", "/episodes?run=hsii-oracle", "reference/oracle", "Digests"):
        assert words in text
    assert "sociable report" in studio.get("/run?run=hsii-random").text
    assert studio.get("/report?run=hsii-random").status == 404


def test_episodes_are_filtered_by_the_address(studio: Asked) -> None:
    assert "8 episodes" in studio.get("/episodes?run=hsii-oracle").text
    text = studio.get("/episodes?benchmark=hsii&metric=r2&high=0.5").text
    assert "hsii-random" in text and 'href="/run?run=hsii-oracle"' not in text
    assert "0 episodes" in studio.get("/episodes?text=xylophone").text
    # What a scenario is about stands in the data, not in the records.
    text = studio.get("/episodes?run=hsii-oracle").text
    topic = re.findall(r'<option value="(\w+)"></option>', text)[0]
    assert topic in ("business", "community", "education", "environment", "health", "politics")
    assert "4 episodes" in studio.get(f"/episodes?run=hsii-oracle&topic={topic}").text
    for query, expected in (
        ("metric=r2&low=much", "expected a number"),
        ("failure=nobody", "expected one of any, agent, instrument, run"),
        ("low=1", "choose the metric"),
        ("page=x", "expected a number"),
    ):
        answer = studio.get(f"/episodes?{query}")
        assert (answer.status, expected in answer.text) == (400, True)


def test_long_lists_have_pages(tmp_path: Path, start_studio: Callable[[Path], Asked]) -> None:
    write_run(tmp_path / "run", [make_episode(number) for number in range(120)])
    make_index(tmp_path)
    studio = start_studio(tmp_path)
    pages = [studio.get(f"/episodes?page={page}").text for page in (1, 2, 3, 4)]
    found = [re.findall(r"case-(\d+)%230", page) for page in pages]
    assert [len(each) for each in found] == [50, 50, 20, 0]
    assert [*itertools.chain(*found)] == [str(number) for number in range(120)]
    assert "Page 2 of 3" in pages[1] and 'rel="next"' not in pages[2] and 'rel="prev"' not in pages[0]


def test_an_episode_is_shown_in_full(studio: Asked) -> None:
    text = ask_episode(studio, "hsii-oracle")
    for words in (
        WORDS,  # turns, in the benchmark's view and turn by turn
        "(heard by ",  # who heard what, before the model speaks
        "Turn by turn",
        " points",  # a verdict's reason
        "Shown second",  # both orders of a pair
        "r3_ties_half",
        "The record as it is kept",
        "&#34;role_to&#34;",
        "No model was asked",
    ):
        assert words in text
    assert "hsii-random (reference/random)" in text  # to be shown beside
    both = ask_episode(studio, "hsii-oracle", page="/beside", other="hsii-random")
    assert "reference/oracle" in both and "reference/random" in both and "wrong target" in both
    assert studio.get("/episode?run=hsii-oracle&episode=nothing").status == 404


async def keep_calls(run: Path) -> None:
    said = json.loads((run / "episodes.jsonl").read_text().partition("\n")[0])["turns"][1]["content"]
    with Journal(run / "calls.sqlite") as journal:
        await keep_call(journal, "subject", "a-model", f"They say: {said}", f"first {HOSTILE[0]}", thinking=HOSTILE[1])
        await keep_call(journal, "judge", "judge|fair", f"{said} Is that fair? {HOSTILE[2]}", "2nd reply")
        for number in range(episode_pages.CALLS_ON_PAGE):
            await keep_call(journal, "partner", "Neil", f"question {number}", "yes")


def test_every_call_is_shown_as_it_was_sent(looked_at: Asked) -> None:
    text = ask_episode(looked_at, "whole")
    assert "Every call as sent (22)" in text
    # The words of a person were sent to the model; whom a judge read is no hearer.
    assert "Sent word for word to a-model." in text and "word for word to judge" not in text
    first = ask_episode(looked_at, "whole", page="/calls")
    assert first.count("<details") == episode_pages.CALLS_ON_PAGE
    for words in (
        "1. subject · a-model",
        "You take part.",
        "11 tokens in, 7 out, 1.5 s, stop",
        "&#34;temperature&#34;: 0.25",
        "2nd reply",
    ):
        assert words in first
    assert "<script>window" not in first and "&lt;script&gt;window.broken = 1" in first
    last = looked_at.get(make_link("/calls", run="whole", episode=CASE, page=2)).text
    assert last.count("<details") == 2 and "22. partner · Neil" in last


def test_an_episode_of_another_version_is_shown_as_it_is_kept(looked_at: Asked) -> None:
    text = ask_episode(looked_at, "older")
    assert "without the benchmark&#39;s own view" in text and "0.0.1" in text
    assert WORDS in text and "Shown second" in text


def test_a_damaged_file_is_shown_as_far_as_it_is_whole(looked_at: Asked) -> None:
    assert WORDS in ask_episode(looked_at, "damaged")
    for page in ("/run?run=damaged", "/episodes?run=damaged"):
        text = looked_at.get(page).text
        assert "episodes.jsonl, line 3: no record of an episode" in text and "line 5: cut off" in text
    assert "damaged" in looked_at.get("/").text
    odd = looked_at.get(make_link("/episode", run="damaged", episode="odd#0"))
    assert (odd.status, "not a record this version understands" in odd.text) == (200, True)


@pytest.mark.parametrize(
    "field", ["benchmark", "models", "created", "episodes", "settings", "digests", "usage", "cost", "failures"]
)
def test_a_manifest_of_another_kind_is_told_with_its_place(looked_at: Asked, kept: Path, field: str) -> None:
    folder = kept / f"odd-{field}"
    write_run(folder, [make_episode(0)], **{field: ["what", {"is": "this"}]})
    for page in ("/run", "/episode", "/calls", "/beside"):
        answer = looked_at.get(make_link(page, run=folder.name, other="whole", episode="case-0#0"))
        assert (answer.status, f"manifest.json, &#39;{field}" in answer.text) == (400, True)


@pytest.mark.parametrize("odd", [7, {"a": 1}, [7, [8]], "text"])
def test_records_of_another_kind_are_shown_as_they_are(looked_at: Asked, kept: Path, odd: Any) -> None:
    folder = kept / f"records-{type(odd).__name__}"
    turn = {"speaker": odd, "addressees": odd, "heard_by": odd, "content": odd, "thinking": odd, "note": odd}
    judged = [make_judgment("case-0#0", "judge-1", "win", orders=odd, reason=odd)]
    score = [{"metric": "fair", "value": odd, "low": odd, "high": odd, "scenario": odd, "repeat": odd}]
    write_run(folder, [make_episode(0, turns=[turn]), make_episode(1, turns=odd)], judged, score)
    for episode in ("case-0#0", "case-1#0"):
        assert "The record as it is kept" in ask_episode(looked_at, folder.name, episode)
    assert looked_at.get(make_link("/run", run=folder.name)).status == 200
    assert looked_at.get(make_link("/calls", run=folder.name, episode="case-0#0", page="9" * 5000)).status == 200


def test_a_report_knows_nothing_of_the_studio(studio: Asked, open_page: Callable[..., Page]) -> None:
    answer = studio.get("/report?run=hsii-oracle")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'; style-src 'sha256-") and "script" not in policy
    page = open_page(studio, "/report?run=hsii-oracle")
    assert page.said == []  # type: ignore[attr-defined]
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "auto"


def test_a_false_report_runs_nothing(kept: Path, looked_at: Asked, open_page: Callable[..., Page]) -> None:
    (kept / "whole" / "report.html").write_text(
        "<title>x</title><script>document.title = 'broken'</script><img src='/run?run=whole'>"
    )
    page = open_page(looked_at, "/report?run=whole")
    assert page.title() == "x"


def test_hostile_records_are_only_shown(
    tmp_path: Path, start_studio: Callable[[Path], Asked], open_page: Callable[..., Page]
) -> None:
    everything = " ".join(HOSTILE)
    turns = [
        {"speaker": text, "addressees": [text], "heard_by": [text], "content": text, "thinking": text, "note": text}
        for text in HOSTILE
    ]
    record = make_episode(
        0,
        id=everything,
        scenario="s",
        cluster=everything,
        turns=turns,
        error=everything,
        status="errored",
        partner_failure=everything,
    )
    judged = make_judgment(everything, HOSTILE[0], everything, criterion=everything, reason=everything)
    score = make_score(0, everything, 0.5, scenario="s", reason=everything)
    models = {"subject": everything, "judges": [HOSTILE[0]]}
    name = "<script>window.broken = 6<"  # with a line break, and no slash
    run = write_run(
        tmp_path / f"{name}\n", [record], [judged], [score], models=models, benchmark=everything, failures={everything: 3}
    )
    write_lines(run / "episodes.jsonl", [make_episode(1)], "a")
    make_index(tmp_path)
    studio = start_studio(tmp_path)
    ids = {"run": run.name, "episode": json.loads(json.dumps(everything))}
    for path in ("/", "/episodes", make_link("/run", run=run.name), make_link("/episode", run=run.name, episode="case-1#0")):
        page = open_page(studio, path)
        assert page.said == []  # type: ignore[attr-defined]
        assert page.evaluate("[window.broken, document.scripts.length, document.images.length]") == [None, 1, 0]
    assert studio.get(make_link("/episode", **ids)).status in (200, 404)  # half a character cannot stand in an address
    listed = studio.get("/episodes").text
    assert "\x1b" not in listed and "\u202e" not in listed and "‹ESC›" in listed


def test_the_list_of_runs_follows_what_happens(
    tmp_path: Path, start_studio: Callable[[Path], Asked], open_page: Callable[..., Page]
) -> None:
    write_run(tmp_path / "first", [make_episode(0)])
    studio = start_studio(tmp_path)
    page = open_page(studio, "/")
    page.wait_for_selector("text=first")
    page.get_by_role("link", name="Episodes", exact=True).focus()
    write_run(tmp_path / "second", [make_episode(0), make_episode(1)])
    page.wait_for_selector("text=second", timeout=15_000)
    assert page.evaluate("document.activeElement.textContent") == "Episodes"
    assert page.said == []  # type: ignore[attr-defined]


def test_a_town_can_be_watched(tmp_path: Path, start_studio: Callable[[Path], Asked], open_page: Callable[..., Page]) -> None:
    demo = {**find_benchmark("stss").demo, "limit": 1}
    run = runs.run("stss", "reference/oracle", out=tmp_path / "town", **demo)
    episode = next(iter(run.episodes())).id
    studio = start_studio(tmp_path)
    assert "Watch the town" in studio.get(make_link("/episode", run="town", episode=episode)).text
    page = open_page(studio, make_link("/replay", run="town", episode=episode))
    assert page.said == []  # type: ignore[attr-defined]
    assert episode in page.locator("h1").inner_text()
    assert studio.get("/replay?run=town&episode=nothing").status == 400
    assert not list(tmp_path.glob("town/replay*"))


def test_addresses_lose_their_passwords() -> None:
    assert hide_credentials("at https://me:secret@host/v1, http://b@c") == "at https://…@host/v1, http://…@c"
