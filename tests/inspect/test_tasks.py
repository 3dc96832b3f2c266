"""Benchmarks as tasks of Inspect's: the same replies give the same scores as in a run of ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.inspect.samples import list_values

pytestmark = [
    pytest.mark.extra,
    # Inspect leaves streams of its own to be collected.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
pytest.importorskip("inspect_ai")

Evaluate = Callable[..., Any]

CASES: dict[str, dict[str, Any]] = {
    # Partner, reference and two judges.
    "hsii": {
        "roles": {"partner": "social:partner", "reference": "social:reference", "judge": ["social:judge", "social:second"]},
        "scenarios": ["a-duck-in-period-three:6", "clause-two:6", "unit-seven:4", "wet-sand-and-a-drum-roll:5"],
        "repeats": 2,
    },
    "agentsense": {"roles": {"partner": "social:partner", "judge": "social:judge"}, "limit": 1, "options": {"turns": 4}},
    "anteval-iep": {"roles": {"partner": "social:partner", "judge": "social:judge"}, "limit": 4},
    # Concludes: its main estimates are of virtual dungeon masters trained on all sessions.
    "anteval-ieg": {"options": {"real": "stand-in", "sessions": 12, "resamples": 0, "curve": False}},
    "stss": {"model": "resident", "options": {"tasks": ["portrait-sitting"]}},
}


def name_there(model: str) -> str:
    return f"openai-api/chat/{model}"


def name_here(model: str) -> str:
    """The same provider, which sends the same bytes, as a model of ours: judges' names stand in reasons."""
    return f"inspect/{name_there(model)}"


def read_scores(folder: Path) -> str:
    return (folder / "scores.json").read_text()


@pytest.mark.parametrize("benchmark", CASES)
def test_the_same_replies_give_the_same_scores(benchmark: str, evaluate: Evaluate, tmp_path: Path) -> None:
    from sociable.inspect.logs import import_log

    case = CASES[benchmark]
    model, roles, options = case.get("model", "social"), case.get("roles", {}), case.get("options", {})
    selection = {name: case[name] for name in ("limit", "scenarios", "repeats") if name in case}
    several = {role: [models] if isinstance(models, str) else models for role, models in roles.items()}
    here = {role: [name_here(each) for each in models] for role, models in several.items()}
    seated = {"judges": here.pop("judge", []), **{role: models[0] for role, models in here.items()}}
    ours = sociable.run(benchmark, name_here(model), out=tmp_path / "ours", options=options, **selection, **seated)

    there = {role: [name_there(each) for each in models] for role, models in several.items()}
    log = evaluate(
        benchmark,
        name_there(model),
        task_args={**options, **there},
        sample_id=list(ours.study.scenarios),
        epochs=case.get("repeats", 1),
    )
    assert log.status == "success", log.error
    theirs = import_log(log.location, tmp_path / "theirs")
    assert read_scores(tmp_path / "theirs") == read_scores(tmp_path / "ours")
    (found,) = log.results.scores
    assert {name: metric.value for name, metric in found.metrics.items()} == list_values(ours.estimates)
    assert any(estimate.value is not None for estimate in theirs.estimates)
    assert len(log.samples) == theirs.manifest["episodes"] == ours.manifest["episodes"]
    assert json.loads(read_scores(tmp_path / "ours"))["scores"]
