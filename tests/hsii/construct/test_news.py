"""News to dialogues: real articles, a model's replies over a real socket, good and bad ones, and a build that dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sociable import api, building
from sociable.construction.stages import Rejected
from sociable.core.errors import InputError, RunFolderError
from sociable.hsii.construct.checks import check_characters, check_dialogue, check_identities, identities_in
from sociable.hsii.dataset import ASSISTANT, load_dataset

NEWS = Path(__file__).resolve().parents[4] / "shared" / "data" / "news_wikinews" / "wikinews_2020.csv"
COMMAND = (sys.executable, "-c", "from sociable.cli.main import main; main()")
needs_news = pytest.mark.skipif(not NEWS.is_file(), reason="needs ../shared/data/news_wikinews")


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    lines = [
        {
            "id": f"a{number}",
            "title": f"Report {number}",
            "text": f"Item {number}. " + f"It rained at {number} o'clock on {number} roofs. " * 12,
        }
        for number in range(24)
    ]
    lines.append({"id": "short", "text": "Rain."})
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / "news.jsonl"


def writer(server: Any, name: str = "writer") -> str:
    return f"openai-compatible/{name}@{server.url}"


def cells(document: Any) -> dict[str, list[str]]:
    return {row.cells[0]: row.cells[2:] for row in document.summary.rows}


@needs_news
def test_real_articles_become_a_data_set_that_runs(chat_server: Any, tmp_path: Path) -> None:
    document = building.construct_hsii(NEWS, tmp_path / "build", model=writer(chat_server), most=20)
    funnel = cells(document)
    assert funnel["articles"] == ["124", "15", "109"]
    assert funnel["scenes"][0] == "109" and int(funnel["scenes"][1]) > 10
    assert funnel["chosen"][2] == funnel["dialogues"][0] == "20"
    assert int(funnel["dialogues"][2]) >= 10
    # Every rejected item keeps its reason, and what was wrong with it.
    lines = [json.loads(line) for line in (tmp_path / "build" / "4-scenes.jsonl").read_text().splitlines()]
    assert len(lines) == 109
    assert {line["rejected"] for line in lines} >= {"", "no JSON in the reply", "not 2 to 5 characters", "a conflict with nobody"}
    assert all(line["detail"] for line in lines if line["rejected"])
    dataset = load_dataset(tmp_path / "build" / "dataset.jsonl")
    assert len(dataset.dialogues) == int(funnel["dialogues"][2])
    result = api.run("hsii", "reference/oracle", dataset=str(tmp_path / "build" / "dataset.jsonl"), out=tmp_path / "run", limit=3)
    assert result.estimate("r1").value == 1.0  # type: ignore[union-attr]


def test_without_a_model_it_goes_as_far_as_it_can_and_on_later(articles: Path, chat_server: Any, tmp_path: Path) -> None:
    waiting = building.construct_hsii(articles, tmp_path / "build")
    assert cells(waiting) == {"articles": ["25", "1", "24"], "distinct": ["24", "0", "24"], "harmless": ["24", "0", "24"]}
    assert "24 items wait for a model at the stage 'scenes'" in waiting.sections[0].blocks[0].text  # type: ignore[union-attr]
    model = writer(chat_server, "writer:on")
    done = building.construct_hsii(articles, tmp_path / "build", model=model)
    assert len(cells(done)) == 6
    calls = chat_server.requests("writer:on")["total"]
    assert calls == 24 + int(cells(done)["dialogues"][0])
    # Done is done.
    assert building.construct_hsii(articles, tmp_path / "build", model=model) == done
    assert chat_server.requests("writer:on")["total"] == calls
    manifest = json.loads((tmp_path / "build" / "manifest.json").read_text())
    assert manifest["usage"]["writer"]["calls"] == calls
    assert [stage["name"] for stage in manifest["stages"]] == [
        "articles",
        "distinct",
        "harmless",
        "scenes",
        "chosen",
        "dialogues",
    ]


@needs_news
def test_what_is_worked_on_can_be_searched_for_and_drawn(tmp_path: Path) -> None:
    searches = (("court",), ("police", "protest"))
    document = building.construct_hsii(NEWS, tmp_path / "build", searches=searches, spread=9)
    funnel = cells(document)
    found = int(funnel["retrieved"][2])
    assert 9 < found < 60
    assert funnel["spread"] == [str(found), str(found - 9), "9"]
    for searches, said in (([("?",)], "no letter or digit"), ([("court", "police", "vote")], "one or two keywords")):
        with pytest.raises(InputError, match=said):
            building.construct_hsii(NEWS, tmp_path / "other", searches=searches)
    with pytest.raises(InputError, match="needs an extra|cannot be loaded"):
        building.construct_hsii(NEWS, tmp_path / "other", toxicity="no/such")
    assert not (tmp_path / "other").exists()


def test_what_somebody_edits_is_worked_on_anew_and_nothing_else(articles: Path, chat_server: Any, tmp_path: Path) -> None:
    model = writer(chat_server, "writer:edit")
    before = cells(building.construct_hsii(articles, tmp_path / "build", model=model))
    calls = chat_server.requests("writer:edit")["total"]
    stage = tmp_path / "build" / "4-scenes.jsonl"
    lines = stage.read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if not json.loads(line)["rejected"])
    edited = json.loads(lines[place])
    edited["made"][0]["domain"] = "weather"
    stage.write_text("".join(f"{line}\n" for line in [*lines[:place], json.dumps(edited), *lines[place + 1 :]]))
    building.construct_hsii(articles, tmp_path / "build", model=model)
    assert chat_server.requests("writer:edit")["total"] == calls + 1
    stage.write_text("\n".join(lines[:place]) + "\nnonsense\n")
    with pytest.raises(RunFolderError, match=rf"4-scenes\.jsonl, line {place + 1}: .*Remove that line"):
        building.construct_hsii(articles, tmp_path / "build", model=model)
    # A scene that is taken away takes along what was made of it.
    edited["made"], edited["rejected"] = [], "dull"
    stage.write_text("".join(f"{line}\n" for line in [*lines[:place], json.dumps(edited), *lines[place + 1 :]]))
    after = cells(building.construct_hsii(articles, tmp_path / "build", model=model))
    assert chat_server.requests("writer:edit")["total"] == calls + 1
    assert int(after["dialogues"][0]) == int(before["dialogues"][0]) - 1
    assert f'"id":"{edited["id"]}"' not in (tmp_path / "build" / "6-dialogues.jsonl").read_text()


def test_what_is_said_twice_is_worked_on_once(articles: Path, tmp_path: Path) -> None:
    first = json.loads(articles.read_text().splitlines()[0])
    with articles.open("a") as stream:
        stream.write(json.dumps(first | {"id": "again", "title": first["title"] + "!"}) + "\n")
    funnel = cells(building.construct_hsii(articles, tmp_path / "build"))
    assert funnel["distinct"] == ["25", "1", "24"]
    rejected = [json.loads(line) for line in (tmp_path / "build" / "2-distinct.jsonl").read_text().splitlines()]
    assert [each["detail"][:3] for each in rejected if each["rejected"]] == ["a0,"]


def test_a_build_that_is_killed_goes_on_and_buys_nothing_twice(
    articles: Path, start_chat_server: Callable[[float], Any], tmp_path: Path
) -> None:
    quick, slow = start_chat_server(0.0), start_chat_server(20.0)
    building.construct_hsii(articles, tmp_path / "whole", model=writer(quick))
    total = quick.requests("writer")["total"]
    arguments = [
        "construct",
        "hsii",
        str(articles),
        "--out",
        str(tmp_path / "killed"),
        "--model",
        writer(slow),
        "--max-connections",
        "3",
    ]
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while slow.requests("writer")["total"] < total // 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    ended = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    names = sorted(path.name for path in (tmp_path / "whole").glob("*.jsonl"))
    assert len(names) == 7
    for name in names:
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert slow.requests("writer")["total"] <= total + 3


def test_a_build_is_not_gone_on_with_in_another_way(articles: Path, chat_server: Any, tmp_path: Path) -> None:
    building.construct_hsii(articles, tmp_path / "build", model=writer(chat_server), most=2)
    with pytest.raises(RunFolderError, match=r"another way: most \(2 and 3\)"):
        building.construct_hsii(articles, tmp_path / "build", model=writer(chat_server), most=3)
    with pytest.raises(RunFolderError, match="was written by openai-compatible/writer"):
        building.construct_hsii(articles, tmp_path / "build", model=f"openai-compatible/writer:b@{chat_server.url}", most=2)
    articles.write_text(articles.read_text().replace("rained", "snowed"))
    with pytest.raises(RunFolderError, match="other articles"):
        building.construct_hsii(articles, tmp_path / "build", model=writer(chat_server), most=2)
    with pytest.raises(InputError, match="reference agents cannot"):
        building.construct_hsii(articles, tmp_path / "other", model="reference/oracle")


def test_what_fails_for_want_of_a_reply_is_tried_again(articles: Path, chat_server: Any, tmp_path: Path) -> None:
    with pytest.raises((RunFolderError, api.RunStopped), match=r"tried again|Resume|503|Overloaded"):
        building.construct_hsii(articles, tmp_path / "build", model=f"openai-compatible/down@{chat_server.url}", config=None)
    assert not (tmp_path / "build" / "dataset.jsonl").exists()
    assert (tmp_path / "build" / "1-articles.jsonl").exists()
    # Nothing was written: another model may.
    building.construct_hsii(articles, tmp_path / "build", model=writer(chat_server))
    assert (tmp_path / "build" / "dataset.jsonl").exists()


def dialogue(*turns: tuple[str, str, str], characters: tuple[str, ...] = ("CLERK", "BAKER")) -> dict[str, Any]:
    return {
        "id": "d",
        "topic": "work",
        "background": {
            "scene": "A counter, a window and a door.",
            "characters": list(characters),
            "relationships": ["CLERK knows BAKER."],
        },
        "messages": [{"role_from": who, "role_to": whom, "content": text} for who, whom, text in turns],
    }


GOOD = (
    ("CLERK", ASSISTANT, "I need the form for the ovens by noon, and nobody may see the fee that I wrote in it."),
    (ASSISTANT, "CLERK", "It is on your desk."),
    ("BAKER", ASSISTANT, "What is the clerk waiting for?"),
    (ASSISTANT, "BAKER", "A paper that is on its way."),
    ("CLERK", "BAKER", "Your ovens close at noon."),
    ("BAKER", "CLERK", "They do not."),
    (ASSISTANT, "CLERK", "Shall we meet at eleven?"),
)


def test_a_good_dialogue_gives_a_case_for_every_turn_of_the_assistant() -> None:
    assert [case.golden.role_to for case in check_dialogue(dialogue(*GOOD), "d")] == ["CLERK", "BAKER", "CLERK"]


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        (GOOD[:4], "fewer than 3 times"),
        ((*GOOD[:3], (ASSISTANT, "CLERK", "Yes."), *GOOD[4:]), "to one character only"),
        ((*GOOD[:6], (ASSISTANT, "PRIEST", "Well?")), "not in the data's layout"),
        (
            (*GOOD[:3], (ASSISTANT, "BAKER", "Nobody may see the fee that I wrote in it, says the clerk."), *GOOD[4:]),
            "private words passed on",
        ),
        (
            (*GOOD[:4], ("BAKER", "CLERK", "Shall we meet at eleven?"), *GOOD[4:]),
            "a golden response is given away",
        ),
        ((*GOOD[:3], (ASSISTANT, "BAKER", "A counter, a window and a door."), *GOOD[4:]), "a golden response is given away"),
        (
            (
                *GOOD[:2],
                ("CLERK", ASSISTANT, "My son took the money."),
                *GOOD[2:6],
                (ASSISTANT, "BAKER", "Well, my son took the money, it says."),
            ),
            "private words passed on",
        ),
        ((GOOD[0], GOOD[1], (ASSISTANT, "BAKER", "Come in."), (ASSISTANT, "CLERK", "Done.")), "most characters speak once"),
    ],
)
def test_bad_dialogues_are_rejected_with_a_reason(turns: tuple[tuple[str, str, str], ...], reason: str) -> None:
    with pytest.raises(Rejected, match=reason):
        check_dialogue(dialogue(*turns), "d")


@pytest.mark.parametrize(
    ("characters", "reason"),
    [
        (["CLERK"], "not 2 to 5"),
        (["A", "B", "C", "D", "E", "F"], "not 2 to 5"),
        (["CLERK", "the CLERK"], "two characters of one name"),
        (["CLERK", "ASSISTANT"], "an assistant among"),
        (["CLERK", "Ann"], "role in capitals"),
    ],
)
def test_characters_are_roles(characters: list[str], reason: str) -> None:
    with pytest.raises(Rejected, match=reason):
        check_characters(characters)


def test_no_name_out_of_the_report_is_kept() -> None:
    report = "On Monday the mayor, Ann de la Cruz, met Prime Minister Élodie Roux's aides at Harbour Works Ltd. Nobody else came."
    names = identities_in(report)
    assert names == ["Ann de la Cruz", "Harbour Works Ltd", "Élodie Roux"]
    for said in ("THE MAYOR, once Ann de la Cruz, waits.", "ÉLODIE ROUX waits.", "HARBOUR WORKS LTD"):
        with pytest.raises(Rejected, match="a name out of the report"):
            check_identities(names, said)
    check_identities(names, "THE PRIME MINISTER waits on Monday.")
