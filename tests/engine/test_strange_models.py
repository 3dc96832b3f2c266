"""Whatever a model answers is a result or a named failure, from the server's socket to the report; never a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sociable.api import reports, results, runs
from sociable.render.html import render_html

OFFLINE = {"partner": "reference/heuristic", "reference": "reference/oracle", "judges": ("reference/rule",)}


def run(server: Any, model: str, out: Path, **settings: Any) -> runs.RunResult:
    return runs.run("hsii", f"openai-compatible/{model}@{server.url}", out=out, limit=1, **{**OFFLINE, **settings})


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("empty", "empty reply"),
        ("null-content", "empty reply"),
        ("plain", "no addressee"),
        ("huge", "no addressee"),
        ("control", "no addressee"),
        ("bad-utf8", "no addressee"),
        ("cut-off", "cut off at its token limit"),
        ("refusal", "refused"),
        ("content-filter", "stopped by a content filter"),
        ("filtered-400", "stopped by a content filter"),
    ],
)
def test_what_the_model_under_test_does_badly_is_a_score_with_a_reason(
    model: str, reason: str, chat_server: Any, tmp_path: Path
) -> None:
    result = run(chat_server, f"{model}:strange", tmp_path / "run")
    r1 = [score for score in result.scores if score.metric == "r1"]
    assert r1
    assert all(score.value == 0.0 and reason in score.reason for score in r1), r1[0]
    estimate = result.estimate("r1")
    assert estimate is not None
    assert (estimate.value, estimate.unscored, estimate.errored) == (0.0, 0, 0)
    assert render_html(reports.make_report_document([tmp_path / "run"]))
    opened = results.load_result(tmp_path / "run")
    # 2 MB are kept whole in the journal only.
    assert all(len(episode.reply) <= 20_000 for episode in opened.records.episodes)  # type: ignore[attr-defined]


@pytest.mark.parametrize("model", ["empty", "plain", "huge", "control", "bad-utf8", "cut-off", "refusal", "content-filter"])
def test_what_a_judge_does_badly_is_unscored(model: str, chat_server: Any, tmp_path: Path) -> None:
    judge = f"openai-compatible/{model}:judge@{chat_server.url}"
    result = runs.run("hsii", "reference/oracle", out=tmp_path / "run", limit=1, **{**OFFLINE, "judges": (judge,)})
    for metric in ("r3", "r4"):
        scores = [score for score in result.scores if score.metric == metric]
        assert {score.outcome.value for score in scores} == {"unscored"}
        assert all(judge.partition("@")[0] in score.reason for score in scores)
        estimate = result.estimate(metric)
        assert estimate is not None
        assert (estimate.value, estimate.unscored) == (None, len(scores))


@pytest.mark.parametrize("model", ["empty", "cut-off", "refusal", "content-filter"])
def test_what_a_partner_does_badly_is_unscored(model: str, chat_server: Any, tmp_path: Path) -> None:
    partner = f"openai-compatible/{model}:partner@{chat_server.url}"
    result = runs.run("hsii", "reference/oracle", out=tmp_path / "run", limit=1, **{**OFFLINE, "partner": partner})
    assert {score.outcome.value for score in result.scores if score.metric == "r3"} == {"scored"}
    assert {score.outcome.value for score in result.scores if score.metric == "r4"} == {"unscored"}


def test_what_the_run_fails_at_is_errored_and_run_again(chat_server: Any, tmp_path: Path) -> None:
    """The prompt is too long for the model: an error of the run, not of the model."""
    result = run(chat_server, "context-400:errored", tmp_path / "run", options={"stages": (1, 2)})
    estimate = result.estimate("r1")
    assert estimate is not None
    assert estimate.errored > 0
    assert estimate.scored == 0
    assert any("errored" in note for note in result.notes)
    before = chat_server.requests("context-400:errored")["total"]
    runs.resume(tmp_path / "run")
    assert chat_server.requests("context-400:errored")["total"] == 2 * before


def test_a_bug_errors_one_episode_and_lets_its_siblings_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sociable.benchmarks.hsii import study

    real, broken = study.run_case, []

    async def sometimes(case: Any, *arguments: Any, **settings: Any) -> Any:
        broken[:] = broken or [case.id]
        if case.id in broken:
            raise ZeroDivisionError("a bug")
        return await real(case, *arguments, **settings)

    monkeypatch.setattr(study, "run_case", sometimes)
    result = runs.run("hsii", "reference/oracle", out=tmp_path / "run", limit=2, **OFFLINE)
    errored = [score for score in result.scores if score.outcome.value == "errored"]
    assert {score.scenario for score in errored} == set(broken)
    assert "bug: ZeroDivisionError: a bug" in errored[0].reason
    monkeypatch.undo()
    assert all(score.outcome.value != "errored" for score in runs.resume(tmp_path / "run").scores)


def test_a_judge_that_is_the_subject_is_warned_about(chat_server: Any, tmp_path: Path) -> None:
    model = f"openai-compatible/social:self@{chat_server.url}"
    result = runs.run("hsii", model, out=tmp_path / "run", limit=1, **{**OFFLINE, "judges": (model,)})
    assert any("judges its own replies" in note for note in result.notes)
