"""The command line: what goes in, what comes out, and how mistakes are answered."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import sociable

from sociable.cli import output
from sociable.cli.showing import show_run
from sociable.core.errors import InputError
from sociable.engine.registry import find_benchmark

README = Path(__file__).parents[2] / "README.md"
DEMO = ("--partner", "reference/heuristic", "--reference", "reference/oracle", "--judge", "reference/rule")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    assert sociable("run", "hsii", "--model", "reference/oracle@0.3", *DEMO, "--limit", "2", "--out", "done") == 0
    return tmp_path / "done"


def squeeze(text: str) -> str:
    """Lines with single spaces and without rules."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if "───" not in line)


def show_demo(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """The lines of `sociable demo`, and its tables."""
    monkeypatch.setattr(output.console, "width", 80, raising=False)
    assert sociable("demo") == 0
    shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    tables = [part.partition("\n95%")[0].rstrip() for part in re.split(r"\n(?=Model )", "\n".join(shown))[1:]]
    return shown, tables


def test_demo_ends_with_the_path_of_a_report_where_there_is_no_language_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise InputError("the weights cannot be fetched.")

    monkeypatch.setattr("sociable.api.demonstration.load_small_model", refuse)
    monkeypatch.setitem(find_benchmark("hsii").demo, "limit", 2)  # type: ignore[arg-type]
    shown, tables = show_demo(capsys, monkeypatch)
    assert shown[-1] == "No language model is shown beside them: the weights cannot be fetched."
    assert shown[-2].startswith("Report: runs/demo-hsii-")
    assert Path(shown[-2].removeprefix("Report: ")).stat().st_size > 10_000
    assert len(tables) == 2, "the agents, and the ablest of them once more, judged by a judge that errs"


def test_demo_shows_the_tables_of_the_readme(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # In the place of the language model, whose row is one machine's, stands an agent with a name of the same length.
    Path("a.py").write_text("def f(messages):\n    return 'I would rather not say.'\n")
    monkeypatch.setattr("sociable.api.demonstration.SMALL_MODEL", "python:a.py:f")
    shown, tables = show_demo(capsys, monkeypatch)
    assert [line for line in shown if line.startswith("python:a.py:f, a language model")] == [
        f"python:a.py:f, a language model in this process, on a few cases of {name}:" for name in ("hsii", "agentsense")
    ]
    page = README.read_text(encoding="utf-8")
    assert len(tables) == 4
    assert tables[0] in page
    shown_card = "\n".join(shown).partition("What judges are worth\n\n")[2].partition("\n\n95%")[0]
    assert shown_card.rstrip() in page
    judged = " ".join("\n".join(shown).rpartition("Judged by reference/rule@0.2 ")[2].split())
    assert judged.startswith("(first utterance: right in 0.76 [0.70, 0.81] of 200 known answers")
    readme = squeeze(page)
    for table in tables[2:]:
        reference_rows, own_row = re.split(r"\n(?=python:)", table)
        # The width of a column may be that of the model's figure.
        assert squeeze(reference_rows) in readme
        assert own_row
    assert shown[-1].startswith("Report: runs/demo-hsii-") and shown[-1].endswith("agentsense-small/report.html")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "hsii"), ["--model MODEL"]),
        (("run", "nosuch", "--model", "reference/oracle"), ["no benchmark 'nosuch'", "hsii"]),
        (("run", "hsii", "--model", "gpt-4o"), ["'gpt-4o' is no model name", "openai/"]),
        (("run", "hsii", "--model", "reference/genius"), ["reference/oracle", "cannot be the subject"]),
        (("run", "hsii", "--model", "openai/gpt-4o", "--stages", "1"), ["OPENAI_API_KEY", ".env"]),
        (("run", "hsii", "--model", "openai-compatible/x", "--stages", "1"), ["--base-url", "OPENAI_BASE_URL"]),
        (("run", "hsii", "--model", "python:nofile.py:f", "--stages", "1"), ["there is no file nofile.py"]),
        (("run", "hsii", "--model", "python:nofile.py", "--stages", "1"), ["python:file.py:function"]),
        (("run", "hsii", "--model", "reference/oracle@2", "--stages", "1,2"), ["between 0 and 1"]),
        (("run", "hsii", "--model", "reference/heuristic@0.5", "--stages", "1,2"), ["only the oracle"]),
        (("run", "hsii", "--model", "reference/oracle", "--judge", "reference/rule"), ["--partner", "--stages 1,2,3"]),
        (("run", "hsii", "--model", "reference/oracle", "--stages", "1,2,4"), ["--partner", "--stages 1,2,3"]),
        (("run", "hsii", "--model", "reference/oracle", "--partner", "reference/heuristic", "--judge", "reference/rule"), ["--reference"]),
        (("run", "hsii", "--model", "reference/oracle", "--stages", "2,3"), ["stages 1 and 2"]),
        (("run", "hsii", "--model", "reference/oracle", "--stages", "one"), ["'stages'", "as in 1,2"]),
        (("run", "hsii", "--model", "reference/oracle", "--stages", "1,2", "--dataset", "no.json"), ["no.json", "no such file"]),
        (("run", "hsii", "--model", "reference/oracle", "--stages", "1,2", "--prompts", "nowhere"), ["no such prompt", "assistant.txt"]),
        (("run", "hsii", "--model", "reference/oracle", "--stages", "1,2", "--config", "no.toml"), ["no.toml", "no such file"]),
        (("run", "hsii", "--model", "reference/oracle", "--stages", "1,2", "--limit", "0"), ["limit", "greater than or equal to 1"]),
        (("run", "hsii", "--model", "reference/oracle", *DEMO, "--judge", "reference/rule"), ["named twice"]),
        (
            ("run", "hsii", "--model", "openai-compatible/own@http://127.0.0.1:9/v1", "--stages", "1", "--max-cost", "1"),
            ["price of 'openai-compatible/own'", "[prices."],
        ),
        (
            ("run", "hsii", "--model", "reference/oracle", *DEMO, "--reference-file", "some.jsonl"),
            ["either --reference", "or --reference-file"],
        ),
        (("resume", "nowhere"), ["nowhere is not a run folder"]),
        (("report", "nowhere"), ["not a run folder"]),
        (("judge", "nowhere"), ["--judge"]),
        (("show", "hsii", "nosuch", "--prompt"), ["no case 'nosuch'"]),
        (("audit", "hsii", "--dataset", "no.json"), ["no such file"]),
    ],
    ids=lambda value: " ".join(map(str, value))[:60] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_mistakes_are_answered_in_a_sentence(
    arguments: tuple[str, ...], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = sociable(*arguments)
    complaint = capsys.readouterr().err
    assert code == 2
    assert complaint.startswith("sociable: ")
    assert all(word in complaint for word in words), complaint
    assert not Path("runs").exists(), "a run that cannot begin leaves nothing behind"


def test_a_setting_of_a_file_is_named_with_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.toml").write_text("[hsii]\nalfa = 2\n[roles.subject]\ntemprature = 1\n")
    assert sociable("run", "hsii", "--model", "reference/oracle", "--config", "own.toml") == 2
    assert "own.toml: setting 'roles.subject.temprature'" in capsys.readouterr().err
    Path("own.toml").write_text("[hsii]\nalfa = 2\n")
    assert sociable("run", "hsii", "--model", "reference/oracle", "--config", "own.toml") == 2
    assert "hsii has no option 'alfa'" in capsys.readouterr().err


def test_settings_come_from_the_file_and_the_command_line_wins(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.toml").write_text(
        'model = "reference/oracle"\npartner = "reference/heuristic"\nreference = "reference/oracle"\nseed = 7\nlimit = 5\n[hsii]\nties = "half"\n'
    )
    arguments = ("--config", "own.toml", "--limit", "2", "--judge", "reference/rule", "--out", "own")
    assert sociable("run", "hsii", *arguments) == 0
    settings = json.loads(Path("own/manifest.json").read_text())["settings"]
    assert (settings["seed"], settings["limit"], settings["options"]) == (7, 2, {"stages": [1, 2, 3, 4], "ties": "half"})
    estimates = {e["metric"]: e["value"] for e in json.loads(Path("own/scores.json").read_text())["estimates"]}
    # All ties, each half a win: 1 (1 + 1 x (.5 + .5)).
    assert estimates["hsii"] == 2.0


def test_a_run_is_not_overwritten(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("run", "hsii", "--model", "reference/oracle", *DEMO, "--out", finished) == 2
    assert "holds a run already" in capsys.readouterr().err


def test_report_compare_show_score_work_on_a_finished_run(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("run", "hsii", "--model", "reference/random", *DEMO, "--limit", "2", "--out", "other") == 0
    assert sociable("report", finished, "other", "--out", "both.html") == 0
    assert "reference/random" in Path("both.html").read_text()
    assert sociable("compare", finished, "other") == 0
    capsys.readouterr()
    assert sociable("show", finished) == 0
    episode = capsys.readouterr().out.split()[0]
    assert sociable("show", finished, episode) == 0
    assert "Golden" in capsys.readouterr().out
    assert sociable("show", finished, "nosuch") == 2
    assert sociable("score", finished) == 0


def test_show_prompt_shows_what_each_role_would_be_sent(capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("show", "hsii") == 0
    case = capsys.readouterr().out.splitlines()[0]
    assert sociable("show", "hsii", case, "--prompt") == 0
    shown = capsys.readouterr().out
    assert all(f"{role} ·" in shown for role in ("subject", "partner", "reference", "judge"))
    assert "You can speak to one character only" in shown


@pytest.mark.parametrize("benchmark", ["hsii", "anteval-hidden", "agentsense-duels"])
def test_show_of_a_case_shows_it_as_data(benchmark: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("show", benchmark) == 0
    case = capsys.readouterr().out.splitlines()[0]
    assert sociable("show", benchmark, case) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


def test_show_prompt_of_a_duel_shows_both_sides_and_third_persons(capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("show", "agentsense-duels", "six-weeks-of-summer#2", "--prompt") == 0
    shown = capsys.readouterr().out
    for heading in ("subject · Piotr", "opponent · Marta", "partner · Halina", "judge ·"):
        assert heading in shown


def test_show_prompt_of_a_town_is_in_the_order_of_time_and_each_purpose_once(capsys: pytest.CaptureFixture[str]) -> None:
    model = f"python:{Path(__file__).parents[1] / 'benchmarks' / 'stss' / 'town_model.py'}:reply"
    run = ("run", "stss", "--model", model, "--partner", "reference/residents", "--option", 'tasks=["soup-swap"]')
    assert sociable(*run, "--out", "town") == 0
    capsys.readouterr()
    assert sociable("show", "town") == 0
    assert re.fullmatch(r"soup-swap#0  public activity  score \d\.\d\d  .+\n", capsys.readouterr().out)
    assert sociable("show", "town", "soup-swap", "--prompt") == 0
    shown = capsys.readouterr().out.splitlines()
    headings = [line for line in shown if line.startswith("subject · ")]
    # Whole, however long the model's name; and of every purpose one.
    assert all(re.fullmatch(rf"subject · {re.escape(model)} · [\w ]+\|[a-z_]+", line) for line in headings)
    assert len(headings) == len(set(headings)) > 4
    assert headings[0].endswith("|plan_day")
    times = [line[:45] for line in shown if re.match(r"It is \w+day \d+ February 2023, \d\d:\d\d", line)]
    moments = [re.sub(r"\D+", " ", line).split() for line in times]
    assert moments == sorted(moments)
    assert "of each participant and purpose the first" in shown[-1]
    name = headings[0].partition(" · ")[2][-40:].split("|")[0].split()[-1]
    show_run(Path("town"), "soup-swap", True, of=f"{name}|decompose")
    every = [line for line in capsys.readouterr().out.splitlines() if line.startswith("subject · ")]
    assert len(every) > 1
    assert all(line.endswith("|decompose") for line in every)
    with pytest.raises(InputError, match=r"'nobody' names nobody who was asked. Asked were: .*; .*plan_day"):
        show_run(Path("town"), "soup-swap", True, of="nobody")


def test_a_judge_is_named_once_where_its_prompts_are_shown(
    finished: Path, chat_server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = f"openai-compatible/social:judging@{chat_server.url}"
    assert sociable("judge", finished, "--judge", judge) == 0
    with contextlib.closing(sqlite3.connect(finished / "calls.sqlite")) as journal:
        (item, participant) = journal.execute("SELECT item, participant FROM calls WHERE role = 'judge'").fetchone()
    assert participant.startswith("openai-compatible/social:judging")
    assert sociable("show", finished, item, "--prompt") == 0
    headings = [line for line in capsys.readouterr().out.splitlines() if line.startswith("judge · ")]
    assert headings
    assert all(line.count("social:judging") == 1 for line in headings)


def test_estimate_counts_calls_and_tokens_and_spends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    model = "openai-compatible/gpt-4o-mini@http://127.0.0.1:9/v1"
    roles = ("--partner", model, "--reference", model, "--judge", model, "--limit", "1")
    assert sociable("estimate", "hsii", "--model", model, *roles) == 0
    shown = capsys.readouterr().out
    calls = {role: int(count) for role, count in re.findall(r"^(\w+) .*?  +(\d+) ", shown, re.MULTILINE)}
    cases = calls["subject"] // 7
    assert cases in (3, 4)
    assert (calls["partner"], calls["reference"]) == (12 * cases, 6 * cases)
    # Two stages in two orders, and a question for each secret and for the clash.
    assert 5 * cases <= calls["judge"] <= 9 * cases
    assert sociable("estimate", "hsii", "--model", model, "--stages", "1,2", "--until", "r2 +- 0.1") == 0
    assert "the run ends earlier if its rule r2 ± 0.1 is met" in " ".join(capsys.readouterr().out.split())


def test_an_old_or_foreign_folder_says_so(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((finished / "manifest.json").read_text())
    (finished / "manifest.json").write_text(json.dumps({**manifest, "format": 0}))
    assert sociable("resume", finished) == 2
    assert "folder format 0" in capsys.readouterr().err
    (finished / "manifest.json").write_text(json.dumps({**manifest, "version": "0.0.1"}))
    assert sociable("resume", finished) == 2
    assert "hsii 0.0.1" in capsys.readouterr().err


def test_changed_data_are_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = {
        "topic": "talk",
        "background": {"scene": "A room.", "characters": ["Ada", "Bo"]},
        "messages": [
            {"role_from": "Ada", "role_to": "Intelligent Assistant", "content": "Where is Bo?"},
            {"role_from": "Intelligent Assistant", "role_to": "Ada", "content": "Here."},
        ],
    }
    Path("own.json").write_text(json.dumps(scene))
    run = ("run", "hsii", "--model", "reference/oracle", "--stages", "1,2", "--dataset", "own.json", "--out", "run")
    assert sociable(*run) == 0
    scene["topic"] = "walk"
    Path("own.json").write_text(json.dumps(scene))
    assert sociable("resume", "run") == 2
    assert "The dataset changed" in capsys.readouterr().err


def test_a_users_function_is_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    Path("agent.py").write_text(
        "import json, re\n"
        "async def reply(messages):\n"
        "    names = json.loads('[' + re.search(r'NAME is one of: (.*)\\. Any', messages[-1]['content']).group(1) + ']')\n"
        "    return json.dumps({'role_from': 'Intelligent Assistant', 'role_to': names[0], 'content': 'Yes.'})\n"
    )
    assert sociable("run", "hsii", "--model", "python:agent.py:reply", "--stages", "1,2", "--limit", "2", "--out", "own") == 0
    estimates = {e["metric"]: e["value"] for e in json.loads(Path("own/scores.json").read_text())["estimates"]}
    assert estimates["r1"] == 1.0
    assert estimates["hsii"] is None


def test_help_and_version_are_quick_to_load() -> None:
    """The command line must start at once: statistics and servers are loaded when they are needed."""
    code = "import sys; from sociable.cli import main; print(*(m for m in ('numpy', 'scipy', 'statsmodels', 'matplotlib', 'aiohttp', 'pydantic') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == ""


def test_a_model_alone_is_measured_on_what_needs_no_opinion(capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("run", "hsii", "--model", "reference/random", "--out", "alone") == 0
    estimates = {e["metric"]: e["value"] for e in json.loads(Path("alone/scores.json").read_text())["estimates"]}
    assert estimates["r1"] == 1.0
    assert estimates["r2"] is not None
    assert estimates["leak_rate"] is not None
    assert (estimates["r3"], estimates["r4"], estimates["hsii"]) == (None, None, None)


def test_keys_and_addresses_come_from_a_file_env(chat_server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    Path(".env").write_text(f"OPENAI_API_KEY=sk-from-file\nOPENAI_BASE_URL={chat_server.url}\n")
    try:
        assert sociable("run", "hsii", "--model", "openai/social:env", "--limit", "1", "--out", "run") == 0
    finally:
        # Read from the file into this process's environment.
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            os.environ.pop(name, None)
    sent = {request["authorization"] for request in chat_server.requests("social:env")["requests"]}
    assert sent == {"Bearer sk-from-file"}


def test_a_key_goes_to_no_address_it_is_not_meant_for(chat_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-somebody-else")
    model = f"openai-compatible/social:nokey@{chat_server.url}"
    assert sociable("run", "hsii", "--model", model, "--limit", "1", "--out", "run") == 0
    assert {request["authorization"] for request in chat_server.requests("social:nokey")["requests"]} == {None}


def test_settings_for_a_role_that_does_not_exist_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.toml").write_text("[roles.jugde]\ntemperature = 0.5\n")
    assert sociable("run", "hsii", "--model", "reference/oracle", "--config", "own.toml") == 2
    assert "own.toml" in (complaint := capsys.readouterr().err)
    assert "roles.jugde is neither a role" in complaint


def test_one_role_one_server_one_sampling(chat_server: Any) -> None:
    Path("own.toml").write_text(
        f'[roles.partner]\nbase_url = "{chat_server.url}"\ntemperature = 0.9\nmax_tokens = 77\n'
        f'[roles."openai-compatible/social:judge-two"]\ntop_p = 0.5\n'
    )
    model = f"openai-compatible/social:roles@{chat_server.url}"
    judges = (
        "--judge",
        f"openai-compatible/social:judge-one@{chat_server.url}",
        "--judge",
        f"openai-compatible/social:judge-two@{chat_server.url}",
    )
    roles = ("--partner", "openai-compatible/social:partner", "--reference", model, *judges, "--config", "own.toml")
    assert sociable("run", "hsii", "--model", model, *roles, "--limit", "8", "--out", "run") == 0

    def bodies(name: str) -> list[dict[str, Any]]:
        return [request["body"] for request in chat_server.requests(f"social:{name}")["requests"]]

    assert {(body["temperature"], body["max_tokens"]) for body in bodies("partner")} == {(0.9, 77)}
    assert {(body["temperature"], body["max_tokens"]) for body in bodies("roles")} == {(0.0, 1024)}
    assert all("top_p" not in body for body in bodies("judge-one"))
    assert {body["top_p"] for body in bodies("judge-two")} == {0.5}
    usage = json.loads(Path("run/manifest.json").read_text())["usage"]
    assert set(usage) == {"subject", "partner", "reference", "judge"}


def test_base_url_is_for_compatible_servers_only(
    chat_server: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A judge at OpenAI must not be asked at the address of the model under test, with OpenAI's key."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    Path("own.toml").write_text('[roles."openai/social:at-openai"]\nattempts = 1\n')
    roles = ("--partner", "reference/heuristic", "--reference", "reference/oracle", "--judge", "openai/social:at-openai")
    arguments = ("--model", "openai-compatible/social:based", "--base-url", chat_server.url, *roles, "--config", "own.toml")
    assert sociable("run", "hsii", *arguments, "--limit", "8", "--out", "run") == 3
    assert "127.0.0.1:9" in capsys.readouterr().err
    assert chat_server.requests("social:based")["total"] > 0
    assert chat_server.requests("social:at-openai")["total"] == 0


def test_judging_again_needs_only_the_judges_keys_and_takes_their_settings(
    chat_server: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBJECT_KEY", "sk-subject")
    Path("own.toml").write_text('[roles.subject]\nkey_variable = "SUBJECT_KEY"\n')
    model = f"openai-compatible/social:again@{chat_server.url}"
    assert sociable("run", "hsii", "--model", model, *DEMO[:4], "--limit", "8", "--config", "own.toml", "--out", "run") == 0
    asked = chat_server.requests("social:again")["total"]
    monkeypatch.delenv("SUBJECT_KEY")
    judge = f"openai-compatible/social:late@{chat_server.url}"
    before = Path("run/manifest.json").read_bytes()
    assert sociable("judge", "run", "--judge", "nonsense") == 2
    assert sociable("judge", "run", "--judge", judge, "--max-cost", "1") == 2
    assert "price of 'openai-compatible/social:late'" in capsys.readouterr().err
    assert Path("run/manifest.json").read_bytes() == before, "a judge that cannot be changes nothing"
    Path("late.toml").write_text(
        '[roles."openai-compatible/social:late"]\ntemperature = 0.3\n[prices."openai-compatible/social:late"]\ninput = 1\noutput = 1\n'
    )
    assert sociable("judge", "run", "--judge", judge, "--max-cost", "1", "--config", "late.toml") == 0
    assert {request["body"]["temperature"] for request in chat_server.requests("social:late")["requests"]} == {0.3}
    assert chat_server.requests("social:again")["total"] == asked
    assert sociable("score", "run") == 0


def test_records_left_out_are_counted_aloud(capsys: pytest.CaptureFixture[str]) -> None:
    good = {
        "topic": "talk",
        "background": {"scene": "A room.", "characters": ["Ada", "Bo"]},
        "messages": [
            {"role_from": "Ada", "role_to": "Intelligent Assistant", "content": "Where is Bo?"},
            {"role_from": "Intelligent Assistant", "role_to": "Ada", "content": "Here."},
        ],
    }
    Path("own.jsonl").write_text("\n".join(map(json.dumps, (good, {"topic": "no more"}, {**good, "id": "other"}))))
    run = ("run", "hsii", "--model", "reference/oracle", "--stages", "1,2", "--dataset", "own.jsonl")
    assert sociable(*run, "--out", "strict") == 2
    assert "own.jsonl, line 2: field 'background'" in capsys.readouterr().err
    assert sociable(*run, "--skip-invalid", "--out", "lenient") == 0
    assert "1 bad record" in " ".join(capsys.readouterr().out.split())


def test_two_runs_of_one_model_are_told_apart_and_a_mismatch_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in ("1", "2"):
        assert (
            sociable("run", "hsii", "--model", "reference/random", *DEMO, "--limit", "2", "--seed", seed, "--out", f"seed{seed}")
            == 0
        )
    capsys.readouterr()
    assert sociable("report", "seed1", "seed2", "--out", "both.html") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "reference/random (seed1)" in Path("both.html").read_text()
    assert "Not comparable with seed1: seed (1 and 2)" in shown


def test_what_a_run_failed_at_is_said_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Path("agent.py").write_text("def reply(messages):\n    raise ValueError('my own bug')\n")
    assert sociable("run", "hsii", "--model", "python:agent.py:reply", "--limit", "1", "--out", "run") == 3
    printed = capsys.readouterr()
    shown = " ".join(printed.out.split())
    assert "ValueError: my own bug" in shown
    assert "Resume the run to finish them" in shown
    assert "every episode failed" in printed.err
    assert "sociable resume run" in printed.err


def test_a_report_goes_only_where_it_can(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("report", finished, "--out", "missing/report.html") == 3
    assert "missing/report.html" in capsys.readouterr().err


def test_a_complaint_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("run", "evil\x1b[2Jname", "--model", "reference/oracle") == 2
    assert "\x1b" not in capsys.readouterr().err


def test_everything_is_one_call_away_from_python_and_from_a_running_loop(tmp_path: Path) -> None:
    import asyncio

    import sociable as package

    async def notebook() -> Any:
        return package.run("hsii", "reference/silent", out=tmp_path / "run", limit=1)

    result = asyncio.run(notebook())
    assert result.estimate("r1").value == 0.0
    assert len(repr(result)) < 1000
    assert {"run", "resume", "judge", "score", "report", "compare", "estimate", "audit", "demo"} <= set(dir(package))
    with pytest.raises(package.InputError, match="no benchmark"):
        package.run("nosuch", "reference/silent")


def test_a_benchmarks_own_options_can_be_given_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    ran = sociable(
        "run",
        "hsii",
        "--model",
        "reference/oracle",
        *DEMO,
        "--limit",
        "2",
        "--option",
        "ties=half",
        "--option",
        "alpha=0.5",
        "--out",
        "a",
    )
    assert ran == 0
    settings = json.loads(Path("a/manifest.json").read_text())["settings"]
    assert settings["options"] == {"stages": [1, 2, 3, 4], "ties": "half", "alpha": 0.5}
    assert sociable("run", "hsii-cot", "--model", "reference/random", "--limit", "2", "--cycle-cap", "3", "--out", "b") == 0
    assert json.loads(Path("b/manifest.json").read_text())["settings"]["options"] == {"cycle_cap": 3}
    assert "At most 3 cycles" in capsys.readouterr().out
    assert sociable("run", "hsii", "--model", "reference/oracle", "--cycle-cap", "3") == 2
    assert "No such option: --cycle-cap" in capsys.readouterr().err
    assert sociable("run", "hsii", "--model", "reference/oracle", "--option", "ties") == 2
    assert "--option takes NAME=VALUE" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["soup-swap,shanty-night", '["soup-swap", "shanty-night"]'])
def test_a_list_among_the_options_is_words_between_commas_too(given: str) -> None:
    assert sociable("run", "stss", "--model", "reference/silent", "--option", f"tasks={given}", "--out", "a") == 0
    assert json.loads(Path("a/manifest.json").read_text())["settings"]["options"]["tasks"] == ["soup-swap", "shanty-night"]


def test_an_option_that_is_a_record_is_given_by_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("run", "stss", "--help") == 0
    assert "--closed {NAME=VALUE,…}" in capsys.readouterr().out
    closed = '{minute = 900, place = "The Guildhall"}'
    assert sociable("run", "stss", "--model", "reference/silent", "--tasks", "soup-swap", "--closed", closed, "--out", "a") == 0
    kept = json.loads(Path("a/manifest.json").read_text())["settings"]["options"]["closed"]
    assert kept == [{"minute": 900, "place": "The Guildhall"}]


def test_a_given_option_goes_before_the_files(tmp_path: Path) -> None:
    Path("own.toml").write_text('[hsii]\nties = "half"\nbeta = 2\n')
    assert (
        sociable(
            "run",
            "hsii",
            "--model",
            "reference/oracle",
            "--config",
            "own.toml",
            "--option",
            "beta=3",
            "--limit",
            "1",
            "--out",
            "a",
        )
        == 0
    )
    assert json.loads(Path("a/manifest.json").read_text())["settings"]["options"] == {
        "stages": [1, 2, 3],
        "ties": "half",
        "beta": 3,
    }


def test_two_models_are_compared_on_the_same_cases_with_a_forced_target(capsys: pytest.CaptureFixture[str]) -> None:
    for name, agent in (("a", "oracle@0.6"), ("b", "heuristic")):
        assert (
            sociable("run", "hsii", "--model", f"reference/{agent}", *DEMO, "--limit", "5", "--forced-target", "--out", name) == 0
        )
    scores = [json.loads(Path(name, "scores.json").read_text())["scores"] for name in "ab"]
    reached = [{s["scenario"] for s in own if s["metric"] == "r3" and s["value"] is not None} for own in scores]
    formatted = [{s["scenario"] for s in own if s["metric"] == "r1" and s["value"]} for own in scores]
    assert reached == formatted
    assert len(reached[1]) > 15
    capsys.readouterr()
    assert sociable("compare", "a", "b", "--out", "compared.html") == 0
    shown = capsys.readouterr().out
    assert "Episodes in which one passes a stage and the other does not" in shown
    assert "Report: compared.html" in shown
    assert Path("compared.html").stat().st_size > 10_000


def test_describe_prints_tables_and_writes_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("describe", "hsii", "--out", "described.html") == 0
    assert "Topic" in capsys.readouterr().out
    assert "<svg" in Path("described.html").read_text()
    assert sociable("describe", "hsii", "--features", "bert") == 2
    assert "tfidf" in capsys.readouterr().err
    assert sociable("describe", "hsii-memory") == 2
    assert "show hsii-memory" in capsys.readouterr().err


def test_people_judge_by_sheets(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("judge", finished, "--sample", "6", "--export", "sheet.csv") == 0
    assert "6 items" in capsys.readouterr().out
    assert sociable("judge", finished, "--corrections", "sheet.csv") == 2
    assert "Fill in the column 'verdict'" in capsys.readouterr().err
    assert sociable("judge", finished, "--sample", "6") == 2
    assert "go together" in capsys.readouterr().err
    for wrong in (("--sample", "some", "--export", "x.csv"), ("--sample", "auto"), ("--sample", "3", "--precision", "0.1")):
        assert sociable("judge", finished, *wrong) == 2
        assert "--sample" in capsys.readouterr().err
    assert sociable("judge", finished, "--sample", "six") == 2
    assert "--sample six: a number of items, or auto, was expected." in capsys.readouterr().err
    assert sociable("judge", finished) == 2
    assert "--judge" in capsys.readouterr().err
    with Path("sheet.csv").open(encoding="utf-8-sig", newline="") as sheet:
        rows = list(csv.DictReader(sheet))
    Path("filled.csv").write_text("item,verdict\n" + "".join(f"{row['item']},1\n" for row in rows))
    assert sociable("judge", finished, "--corrections", "filled.csv") == 0
    shown = capsys.readouterr().out
    for caption in ("Judges and people", "People among themselves", "Scores as judges gave them"):
        assert caption in shown
    assert sociable("judge", finished, "--sample", "auto", "--precision", "0.1") == 2
    assert "Nothing need be added to the 6 items" in capsys.readouterr().err
    Path("filled.csv").write_text(Path("filled.csv").read_text().replace(",1", ",2"))
    assert sociable("judge", finished, "--corrections", "filled.csv") == 2
    assert "--replace" in capsys.readouterr().err
    assert sociable("judge", finished, "--corrections", "filled.csv", "--replace") == 0


def test_a_sheet_is_as_long_as_a_precision_needs(capsys: pytest.CaptureFixture[str]) -> None:
    run = ("--model", "reference/oracle@0.3", "--judge", "reference/rule", "--stages", "1,2,3", "--limit", "12", "--out", "run")
    assert sociable("run", "hsii", *run) == 0
    capsys.readouterr()
    assert sociable("judge", "run", "--sample", "auto", "--precision", "0.2") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(r"r3: for ±0.2 \d+ of \d+ pairs need a verdict\. .*items for people to judge: run/sheet.csv", shown)
    assert Path("run", "sheet.csv").exists()


def test_an_unreadable_judge_is_said_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Path("judge.py").write_text("def reply(messages):\n    return 'I think it went well.'\n")
    judge = ("--judge", "python:judge.py:reply")
    assert sociable("run", "hsii-memory", "--model", "reference/oracle", *judge, "--out", "run") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "26 episodes are unscored in part" in shown
    assert "no answer in the reply" in shown


def test_the_audit_prints_the_agreement_of_readers(capsys: pytest.CaptureFixture[str]) -> None:
    Path("some").mkdir()
    bundled = Path(str(resources.files("sociable.benchmarks.hsii").joinpath("data", "dialogues")))
    for file in sorted(bundled.iterdir())[:12]:
        Path("some", file.name).write_bytes(file.read_bytes())
    assert sociable("audit", "hsii", "--dataset", "some", "--out", "audit.html") == 0
    shown = capsys.readouterr().out
    assert "Fleiss' kappa among readers" in shown
    assert "random forest" in shown
    assert Path("audit.html").exists()


def test_a_series_that_was_stopped_says_how_to_go_on_and_what_is_in_it(
    chat_server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    model = f"openai-compatible/social:series@{chat_server.url}"
    prices = 'prices."openai-compatible/social:series" = {input = 100, output = 100}\n'
    Path("own.toml").write_text(prices)
    pair = ("--sender", model, "--receiver", model, "--receiver", "reference/heuristic")
    arguments = ("--limit", "1", "--config", "own.toml", "--max-cost", "0.5", "--out", "pairs")
    assert sociable("run", "agentsense", *pair, *arguments) == 3
    assert "Go on with: sociable resume pairs\n" in capsys.readouterr().err
    assert sociable("show", "pairs") == 2
    begun = sorted(each.parent for each in Path("pairs").glob("*/manifest.json"))
    assert f"pairs holds several runs; name one of them: {begun[0]}" in capsys.readouterr().err


def test_ties_as_half_are_half_in_a_comparison_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        sociable("run", "hsii", "--model", "reference/oracle", *DEMO, "--limit", "2", "--option", "ties=half", "--out", "a") == 0
    )
    assert "Ties count half." in " ".join(capsys.readouterr().out.split())
    assert sociable("compare", "a", "a") == 0
    shown = capsys.readouterr().out
    assert "0.500" in shown.partition("r3_ties_half")[0]


def test_a_second_run_with_the_same_settings_points_to_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    Path("agent.py").write_text("def reply(messages):\n    return 'I would rather not say.'\n")
    command = ("run", "hsii", "--model", "python:agent.py:reply", "--stages", "1,2", "--limit", "1")
    assert sociable(*command, "--out", "runs/first") == 0
    assert "same settings" not in capsys.readouterr().err
    assert sociable(*command) == 0
    # Nobody can be asked here, so it is said, and the run is made.
    assert "To do so: sociable resume runs/first" in " ".join(capsys.readouterr().err.split())
    assert len(list(Path("runs").iterdir())) == 2


def test_who_wants_to_go_on_with_a_run_is_asked(open_terminal: Any, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("def reply(messages):\n    return 'I would rather not say.'\n")
    command = ("run", "hsii", "--model", "python:agent.py:reply", "--stages", "1,2", "--limit", "1")
    assert sociable(*command, "--out", "runs/first") == 0
    window = open_terminal(*command)
    window.wait_for("Go on with it?")
    window.type("")
    window.wait_for("Report: runs/first/report.html")
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_without_a_terminal_a_line_tells_how_far_a_long_run_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sociable.cli.progress.SECONDS_BETWEEN_LINES", 0.2)
    Path("agent.py").write_text("import time\ndef reply(messages):\n    time.sleep(0.5)\n    return 'No.'\n")
    command = ("run", "hsii", "--model", "python:agent.py:reply", "--stages", "1,2", "--limit", "1", "--max-connections", "1")
    assert sociable(*command, "--out", "slow") == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("episodes: ")]
    # Four cases of half a second, a line every fifth of one.
    assert len(lines) >= 5
    assert re.fullmatch(r"episodes: [1-3] of 4, [1-4] calls, 0 min", lines[-1])


def test_what_takes_long_says_something(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(output, "SECONDS_BEFORE_A_WORD", 0.01)
    with output.tell_if_long("Counting"):
        time.sleep(0.2)
    assert capsys.readouterr().err == "Counting …\n"
    monkeypatch.setattr(output, "SECONDS_BEFORE_A_WORD", 30)
    with output.tell_if_long("Counting"):
        pass
    assert capsys.readouterr().err == ""


def test_the_list_of_episodes_says_how_each_ended_and_can_be_searched(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("show", finished) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(
        re.search(r"#0 +\S.* (wrong target: .* was meant|no format: |right target|r3 (won|tied|lost))", line) for line in lines
    )
    wrong = [line for line in lines if "wrong target" in line]
    if wrong:
        assert sociable("show", finished, "--find", "Wrong Target") == 0
        assert capsys.readouterr().out.splitlines() == wrong
    assert sociable("show", finished, "--find", "no such words") == 2
    assert "without --find all episodes are listed" in capsys.readouterr().err


def test_runs_are_listed_with_their_states(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        sociable("run", "hsii", "--model", "reference/heuristic", "--limit", "1", "--stages", "1,2", "--out", tmp_path / "a") == 0
    )
    (tmp_path / "a" / "status.json").write_text('{"state": "failed", "reason": "[red]Wrong\\u001b[2J key.[/red]"}')
    capsys.readouterr()
    assert sociable("status", tmp_path) == 0
    shown = "".join(capsys.readouterr().out.split())
    assert "failed" in shown
    assert "[red]Wrong" in shown
    assert "Goonwith:sociableresume" in shown
    assert "\x1b[2J" not in shown
    for arguments, told in (
        (("status", tmp_path / "nowhere"), "no such folder"),
        (("status", tmp_path / "a" / "inputs"), "no such folder"),
        (("stop", tmp_path / "a"), "Nobody is at work"),
        (("raise", tmp_path / "a", "--max-cost", "5"), "sociable resume"),
        (("raise", tmp_path / "a", "--max-cost", "-5"), "above 0"),
        (("stop", tmp_path), "is not a run folder"),
    ):
        assert sociable(*arguments) == 2, arguments
        assert told in capsys.readouterr().err


@pytest.mark.parametrize("option", [("--task", "rate"), ("--sample", "60"), ("--per-item", "2"), ("--attention-checks", "3")])
def test_options_for_people_without_people_are_refused(option: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("starlette")
    assert sociable("studio", ".", *option) == 2
    assert f"{option[0]} goes with --people N" in squeeze(capsys.readouterr().err)
