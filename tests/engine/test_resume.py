"""A run that dies at any moment goes on where it was: real processes, a real server, SIGKILL."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sociable.cli.main import main

RECORDS = ("references.jsonl", "episodes.jsonl", "judgments.jsonl", "scores.json")
CONNECTIONS = 6
COMMAND = (sys.executable, "-c", "from sociable.cli.main import main; main()")


@pytest.fixture
def server(start_chat_server: Callable[[float], Any]) -> Any:
    """Slow enough to be caught in the middle of something."""
    return start_chat_server(15.0)


@pytest.fixture
def quick_server(start_chat_server: Callable[[float], Any]) -> Any:
    return start_chat_server(0.0)


def run_arguments(server: Any, out: Path, *more: str, limit: int = 2) -> list[str]:
    model = f"openai-compatible/social@{server.url}"
    roles = ("--model", model, "--partner", model, "--reference", model, "--judge", model)
    return ["run", "hsii", *roles, "--limit", str(limit), "--max-connections", str(CONNECTIONS), "--out", str(out), *more]


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False)


Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """As ``finish``, without a process of its own, for what is never killed: starting Python takes longer than these runs."""

    def call_main(*arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["sociable", *arguments])
        capsys.readouterr()
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, out, err)

    return call_main


def asked(server: Any) -> Counter[str]:
    return Counter({request["digest"]: request["count"] for request in server.requests()["requests"]})


def wait_until(server: Any, total: int, process: subprocess.Popen[bytes]) -> None:
    while server.requests()["total"] < total:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def test_kill_and_resume_gives_the_same_scores_and_buys_nothing_twice(
    server: Any, start_chat_server: Callable[[float], Any], tmp_path: Path
) -> None:
    whole = start_chat_server(0.0)
    done = finish(*run_arguments(whole, tmp_path / "whole"))
    assert done.returncode == 0, done.stderr
    expected = asked(whole)
    total = sum(expected.values())
    folder = tmp_path / "killed"

    # Among references, among episodes, among judgments: the moments are shares of all requests.
    kills = (0.1, 0.5, 0.93)
    process = start(*run_arguments(server, folder))
    for share in kills:
        wait_until(server, int(share * total), process)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert not (folder / "scores.json").exists()
        process = start("resume", str(folder))
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors

    for name in RECORDS:
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    repeated = asked(server) - expected
    assert asked(server) - repeated == expected
    # Those in flight at a kill were never answered to anybody: at most one for each connection.
    assert sum(repeated.values()) <= len(kills) * CONNECTIONS


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [("hsii-cot", "--limit", "1", "--cycle-cap", "4"), ("hsii-memory", "--limit", "4", "--judge", "")],
    ids=["cot", "memory"],
)
def test_the_papers_other_benchmarks_survive_a_kill_too(
    server: Any, start_chat_server: Callable[[float], Any], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    def run(which: Any, out: Path) -> list[str]:
        model = f"openai-compatible/social@{which.url}"
        given = [argument or model for argument in arguments]
        return ["run", *given, "--model", model, "--max-connections", str(CONNECTIONS), "--out", str(out)]

    whole = start_chat_server(0.0)
    done = finish(*run(whole, tmp_path / "whole"))
    assert done.returncode == 0, done.stderr
    expected = asked(whole)
    process = start(*run(server, tmp_path / "killed"))
    wait_until(server, sum(expected.values()) // 2, process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    process = start("resume", str(tmp_path / "killed"))
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    for name in ("episodes.jsonl", "judgments.jsonl", "scores.json"):
        if (tmp_path / "whole" / name).exists():
            assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    repeated = asked(server) - expected
    assert asked(server) - repeated == expected
    assert sum(repeated.values()) <= CONNECTIONS


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_lets_calls_under_way_end(sign: signal.Signals, server: Any, tmp_path: Path) -> None:
    process = start(*run_arguments(server, tmp_path / "run"))
    wait_until(server, 40, process)
    process.send_signal(sign)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert f"sociable resume {tmp_path / 'run'}" in errors.decode().replace("\n", "")
    done = finish("resume", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    # Nothing at all is asked twice: every reply under way was kept.
    assert server.requests()["total"] == len(server.requests()["requests"])


def test_cost_limit_stops_cleanly_is_never_exceeded_and_can_be_raised(quick_server: Any, tmp_path: Path, call: Call) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[prices."openai-compatible/social"]\ninput = 100\noutput = 100\n')
    # Short replies, so that the most a call can cost is near what it does cost.
    prices.write_text(
        prices.read_text()
        + "".join(f"[roles.{role}]\nmax_tokens = 60\n" for role in ("subject", "partner", "reference", "judge"))
    )
    stopped = call(*run_arguments(quick_server, tmp_path / "run", "--max-cost", "5", "--config", str(prices)))
    assert stopped.returncode == 3, stopped.stderr
    assert "--max-cost" in stopped.stderr
    cost = sum(json.loads((tmp_path / "run" / "manifest.json").read_text())["cost"].values())
    assert 2.5 < cost <= 5
    again = call("resume", str(tmp_path / "run"))
    assert again.returncode == 3
    done = call("resume", str(tmp_path / "run"), "--max-cost", "1000")
    assert done.returncode == 0, done.stderr
    assert quick_server.requests()["total"] == len(quick_server.requests()["requests"])


def test_a_folder_in_use_is_locked(start_chat_server: Callable[[float], Any], tmp_path: Path) -> None:
    server = start_chat_server(250.0)
    process = start(*run_arguments(server, tmp_path / "run"))
    wait_until(server, 10, process)
    second = finish("resume", str(tmp_path / "run"))
    assert second.returncode == 2
    assert "in use by another process" in second.stderr
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def test_references_are_made_once_and_used_for_another_model(quick_server: Any, tmp_path: Path, call: Call) -> None:
    assert call(*run_arguments(quick_server, tmp_path / "first", limit=1)).returncode == 0
    made = quick_server.requests()["total"]
    second = run_arguments(quick_server, tmp_path / "second", limit=1)
    second[second.index("--model") + 1] = f"openai-compatible/social:other@{quick_server.url}"
    place = second.index("--reference")
    second[place : place + 2] = ["--reference-file", str(tmp_path / "first" / "references.jsonl")]
    done = call(*second)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "second" / "references.jsonl").read_bytes() == (tmp_path / "first" / "references.jsonl").read_bytes()
    assert quick_server.requests()["total"] < 2 * made
    compared = call("compare", str(tmp_path / "first"), str(tmp_path / "second"))
    assert compared.returncode == 0, compared.stderr
    # The run has its own copy: the file may go.
    (tmp_path / "first" / "references.jsonl").unlink()
    assert call("resume", str(tmp_path / "second")).returncode == 0
    rule = call("judge", str(tmp_path / "second"), "--judge", "reference/rule")
    assert rule.returncode == 0, rule.stderr


def test_a_dead_server_is_a_sentence_and_the_run_goes_on_when_it_lives(tmp_path: Path, call: Call) -> None:
    arguments = (
        "run",
        "hsii",
        "--model",
        "openai-compatible/social@http://127.0.0.1:9/v1",
        "--limit",
        "1",
        "--out",
        str(tmp_path / "run"),
    )
    config = tmp_path / "patient.toml"
    config.write_text("[roles.subject]\nattempts = 2\n")
    done = call(*arguments, "--config", str(config))
    assert done.returncode == 3
    assert "127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


def test_keys_are_in_no_file_of_the_run_and_in_no_message(
    quick_server: Any, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBJECT_KEY", "sk-canary-7f3a")
    config = tmp_path / "keys.toml"
    config.write_text('[roles.subject]\nkey_variable = "SUBJECT_KEY"\n')
    run = ["run", "hsii", "--limit", "1", "--config", str(config)]
    good = call(*run, "--model", f"openai-compatible/social@{quick_server.url}", "--out", str(tmp_path / "good"))
    bad = call(*run, "--model", f"openai-compatible/unauthorized@{quick_server.url}", "--out", str(tmp_path / "bad"))
    assert good.returncode == 0, good.stderr
    assert bad.returncode == 3
    sent = [request["authorization"] for request in quick_server.requests("social")["requests"]]
    assert set(sent) == {"Bearer sk-canary-7f3a"}
    for text in (good.stdout, good.stderr, bad.stdout, bad.stderr):
        assert "sk-canary-7f3a" not in text
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert b"sk-canary-7f3a" not in file.read_bytes(), file


def test_a_recording_is_played_offline_without_key_or_server(
    start_chat_server: Callable[[float], Any], tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start_chat_server(0.0)
    monkeypatch.setenv("SUBJECT_KEY", "sk-subject")
    config = tmp_path / "key.toml"
    config.write_text('[roles.subject]\nkey_variable = "SUBJECT_KEY"\n')
    done = call(*run_arguments(server, tmp_path / "run", "--config", str(config)))
    assert done.returncode == 0, done.stderr
    server.stop()
    monkeypatch.delenv("SUBJECT_KEY")
    replayed = tmp_path / "replayed"
    replayed.mkdir()
    for name in ("manifest.json", "calls.sqlite"):
        (replayed / name).write_bytes((tmp_path / "run" / name).read_bytes())
    played = call("resume", str(replayed), "--offline")
    assert played.returncode == 0, played.stderr
    for name in RECORDS:
        assert (replayed / name).read_bytes() == (tmp_path / "run" / name).read_bytes(), name
