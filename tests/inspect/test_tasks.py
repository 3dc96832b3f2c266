"""Benchmarks as tasks of Inspect's: the same replies give the same scores as in a run of ours."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.engine.registry import list_benchmark_names

pytestmark = [
    pytest.mark.extra,
    # Inspect leaves streams of its own to be collected.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
pytest.importorskip("inspect_ai")

from sociable.inspect.samples import list_values  # noqa: E402 - where Inspect is there

Evaluate = Callable[..., Any]

CASES: dict[str, dict[str, Any]] = {
    # Partner, reference and two judges.
    "hsii": {
        "roles": {"partner": "social:partner", "reference": "social:reference", "judge": ["social:judge", "social:second"]},
        "scenarios": ["a-duck-in-period-three:6", "clause-two:6", "unit-seven:4", "wet-sand-and-a-drum-roll:5"],
        "repeats": 2,
    },
    "agentsense": {
        "roles": {"partner": "social:partner", "judge": "social:judge"},
        "scenarios": [f"april-in-the-biscuit-tin:{number}" for number in (1, 2, 3, 4)],
        "options": {"turns": 4},
    },
    "anteval-iep": {"roles": {"partner": "social:partner", "judge": "social:judge"}, "limit": 4},
    # Concludes: its main estimates are of virtual dungeon masters trained on all sessions.
    "anteval-ieg": {"options": {"real": "stand-in", "sessions": 12, "resamples": 0, "curve": False}},
    "agentsense-duels": {"roles": {"opponent": "social:opponent"}, "first": 2},
    "anteval-hidden": {"roles": {"partner": "social:partner"}, "first": 1},
    "anteval-informants": {"roles": {"partner": "social:partner", "judge": "social:judge"}, "first": 1},
    "hsii-cot": {"first": 3},
    "hsii-live": {"roles": {"partner": "reference/people", "judge": "social:judge"}, "first": 1, "options": {"draws": 1}},
    "hsii-memory": {
        "roles": {"judge": "social:judge"},
        "scenarios": ["fourteen-minutes-at-uttaradit:near", "cat-of-the-belle-aurore:near"],
    },
    "stss-conversations": {
        "model": "resident",
        "roles": {"partner": "reference/residents", "judge": "resident:judge"},
        "first": 2,
    },
    "stss": {
        "model": "resident",
        "roles": {"partner": "reference/residents"},
        "options": {"tasks": ["portrait-sitting"], "ends_early": True},
    },
}


def name_there(model: str) -> str:
    return model if model.startswith("reference/") else f"openai-api/chat/{model}"


def name_here(model: str) -> str:
    """The same provider, which sends the same bytes, as a model of ours: judges' names stand in reasons."""
    return model if model.startswith("reference/") else f"inspect/{name_there(model)}"


def same(values: dict[str, float]) -> Any:
    """Equal to the last digit; NaN is NaN."""
    return pytest.approx(values, rel=0, abs=0, nan_ok=True)


def read_scores(folder: Path) -> str:
    return (folder / "scores.json").read_text()


def read_judgments(folder: Path) -> set[str]:
    file = folder / "judgments.jsonl"
    return set(file.read_text().splitlines()) if file.exists() else set()


def test_every_benchmark_is_compared() -> None:
    assert CASES.keys() == set(list_benchmark_names())


@pytest.mark.parametrize("benchmark", CASES)
def test_the_same_replies_give_the_same_scores(benchmark: str, evaluate: Evaluate, tmp_path: Path) -> None:
    from sociable.inspect.logs import import_log

    case = CASES[benchmark]
    model, roles, options = case.get("model", "social"), case.get("roles", {}), case.get("options", {})
    selection = {name: case[name] for name in ("limit", "scenarios", "repeats") if name in case}
    if first := case.get("first"):
        selection["scenarios"] = list(sociable.load_study(benchmark).scenarios)[:first]
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
    # Of some benchmarks one case is scored alike whether judges were asked or not.
    assert read_judgments(tmp_path / "theirs") == read_judgments(tmp_path / "ours")
    # In hsii-live the tests' model says nothing that a judge is asked about.
    assert bool(read_judgments(tmp_path / "ours")) == ("judge" in roles and benchmark != "hsii-live")
    (found,) = log.results.scores
    assert {name: metric.value for name, metric in found.metrics.items()} == same(list_values(ours.estimates))
    assert any(estimate.value is not None for estimate in theirs.estimates)
    assert len(log.samples) == theirs.manifest["episodes"] == ours.manifest["episodes"]
    assert json.loads(read_scores(tmp_path / "ours"))["scores"]


HSII = {"partner": "reference/heuristic", "reference": "reference/oracle", "judge": "reference/rule"}
CASE = "clause-two:6"


def test_every_benchmark_is_a_task_that_reference_agents_can_take(evaluate: Evaluate) -> None:
    from sociable.inspect.registry import TASKS

    assert set(TASKS) == set(list_benchmark_names())
    log = evaluate("hsii", "reference/oracle", task_args=HSII, sample_id=CASE)
    (sample,) = log.samples
    assert (log.eval.task, log.eval.model, log.status) == ("sociable/hsii", "reference/oracle", "success")
    assert sample.scores["sociable"].value["r2"] == 1.0
    assert log.results.headline.metric == "hsii_cascade"


def test_a_reference_is_made_once_for_all_epochs(evaluate: Evaluate, chat_server: Any) -> None:
    roles = {"partner": "openai-api/chat/social", "reference": "openai-api/chat/social:once", "judge": "reference/rule"}
    log = evaluate("hsii", "reference/oracle", task_args=roles, sample_id=CASE, epochs=3)
    references = [sample.store["reference"] for sample in log.samples]
    assert len(references) == 3
    assert references == references[:1] * 3
    asked = chat_server.requests("social:once")["requests"]
    assert asked
    assert all(request["count"] == 1 for request in asked)


@pytest.mark.parametrize(
    ("settings", "subject", "partner"),
    [
        ({}, (0.0, 1024), (0.0, 1024)),
        # What stands on the command line is for the model under test alone, as everywhere in Inspect.
        ({"temperature": 0.7}, (0.7, 1024), (0.0, 1024)),
        ({"max_tokens": 99}, (0.0, 99), (0.0, 1024)),
    ],
)
def test_what_the_user_gave_inspect_goes_before_what_a_role_asks_for(
    settings: dict[str, Any], subject: Any, partner: Any, evaluate: Evaluate, chat_server: Any, tmp_path: Path
) -> None:
    from sociable.inspect.logs import import_log

    tag = "-".join(map(str, settings.values())) or "none"
    roles = HSII | {"partner": f"openai-api/chat/social:p{tag}"}
    log = evaluate("hsii", f"openai-api/chat/social:s{tag}", task_args=roles, sample_id="unit-seven:4", **settings)
    for name, expected in ((f"social:s{tag}", subject), (f"social:p{tag}", partner)):
        sent = [request["body"] for request in chat_server.requests(name)["requests"]]
        assert {(body["temperature"], body["max_tokens"]) for body in sent} in ({expected}, set())
    assert chat_server.requests(f"social:s{tag}")["total"]
    manifest = import_log(log.location, tmp_path / "run").manifest
    sampling = manifest["sampling"][f"subject inspect/openai-api/chat/social:s{tag}"]
    assert (sampling["temperature"], sampling["max_tokens"]) == subject


def test_a_role_has_the_settings_that_were_given_with_it(evaluate: Evaluate, chat_server: Any) -> None:
    from inspect_ai.model import GenerateConfig, get_model

    roles = {"judge": get_model("openai-api/chat/social:own", config=GenerateConfig(temperature=0.4))}
    evaluate("hsii", "reference/oracle", task_args={"stages": [1, 2, 3]}, model_roles=roles, sample_id=CASE)
    sent = [request["body"] for request in chat_server.requests("social:own")["requests"]]
    assert {(body["temperature"], body["max_tokens"]) for body in sent} == {(0.4, 1024)}


@pytest.mark.parametrize("limit", [{"token_limit": 50}, {"message_limit": 1}])
def test_a_limit_ends_the_episode_and_the_rest_is_scored(limit: dict[str, int], evaluate: Evaluate, tmp_path: Path) -> None:
    from sociable.inspect.logs import import_log

    log = evaluate("hsii", "openai-api/chat/social", task_args=HSII, sample_id=CASE, **limit)
    assert log.status == "success"
    (sample,) = log.samples
    assert sample.limit is not None
    assert {score["outcome"] for score in sample.scores["sociable"].metadata["scores"]} == {"errored"}
    (episode,) = import_log(log.location, tmp_path / "run").episodes()
    assert episode.error == f"the sample ended at its {sample.limit.type} limit"


def test_a_conversation_longer_than_the_limit_is_scored_and_shown_as_far_as_it(evaluate: Evaluate) -> None:
    (sample,) = evaluate("hsii", "reference/oracle", task_args=HSII, sample_id=CASE, message_limit=2).samples
    assert (sample.limit, len(sample.messages), len(sample.store["episode"]["turns"])) == (None, 2, 5)
    assert sample.store["reference"]
    assert sample.scores["sociable"].value["r3"] is not None


def test_a_run_that_failed_errs_and_is_tried_again(evaluate: Evaluate, tmp_path: Path) -> None:
    import inspect_ai
    from inspect_ai.model import ModelAPI, ModelOutput, modelapi

    from sociable.inspect.logs import import_log

    asked: list[str] = []

    @modelapi(name="flaky")
    class Flaky(ModelAPI):
        """Fails at first."""

        async def generate(self, input: Any, *_: Any, **__: Any) -> ModelOutput:  # noqa: A002 - Inspect's name for it
            asked.append(input[-1].text)
            if len(asked) == 1:
                raise ValueError("the line is down")
            return ModelOutput.from_content("flaky", "Good morning.")

    log = evaluate("hsii", "flaky/model", task_args={"stages": [1, 2]}, sample_id=CASE)
    assert log.status == "error"
    (episode,) = import_log(log.location, tmp_path / "first").episodes()
    assert (episode.status, episode.error) == ("errored", "inspect/flaky/model: ValueError: the line is down")
    (log,) = inspect_ai.eval_retry(log, log_dir=str(tmp_path / "again"), display="none")
    assert log.status == "success"
    (sample,) = log.samples
    assert sample.scores["sociable"].value["r1"] == 0.0, "the answer is not in the form"


def test_what_is_left_out_of_an_estimate_is_counted(evaluate: Evaluate) -> None:
    settings: dict[str, Any] = {"sample_id": [CASE, "unit-seven:4"], "fail_on_error": False, "score_on_error": True}
    log = evaluate("hsii", "openai-api/chat/unauthorized", task_args={"stages": [1, 2]}, max_retries=0, **settings)
    values = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    assert (values["r1_errored"], math.isnan(values["r1"]), log.results.completed_samples) == (2, True, 0)
    # The judge says nothing that can be read as a verdict.
    roles = HSII | {"judge": "openai-api/chat/plain", "stages": [1, 2, 3]}
    log = evaluate("hsii", "reference/oracle", task_args=roles, sample_id=[CASE, "unit-seven:4"])
    values = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    assert (values["r3_unscored"], math.isnan(values["r3"]), values["r1"]) == (2, True, 1.0)
    assert "r1_unscored" not in values
    assert "r1_errored" not in values


def test_an_episode_outlives_a_crash_of_inspect(evaluate: Evaluate, tmp_path: Path) -> None:
    """Inspect restores samples that it had not written yet from their events, without their store."""
    import inspect_ai
    from inspect_ai.log import read_eval_log, write_eval_log

    from sociable.inspect.logs import import_log
    from sociable.inspect.scorer import sociable as scorer

    log = read_eval_log(evaluate("hsii", "reference/oracle", task_args=HSII, sample_id=CASE).location)
    whole = import_log(log.location, tmp_path / "whole")
    (sample,) = log.samples
    assert sample.store["episode"]
    sample.store = {}
    write_eval_log(log, str(tmp_path / "restored.eval"))
    restored = import_log(tmp_path / "restored.eval", tmp_path / "restored")
    assert read_scores(tmp_path / "restored") == read_scores(tmp_path / "whole")
    assert [*restored.episodes()] == [*whole.episodes()]
    again = inspect_ai.score(log, scorer(), action="overwrite", display="none")
    assert {name: each.value for name, each in again.results.scores[0].metrics.items()} == same(list_values(whole.estimates))


def test_every_judge_keeps_its_own_sampling(evaluate: Evaluate, tmp_path: Path) -> None:
    from inspect_ai.model import GenerateConfig, get_model

    from sociable.inspect.logs import import_log

    names = {"openai-api/chat/social:warm": 0.4, "openai-api/chat/social:cool": 0.1}
    judges = [get_model(name, config=GenerateConfig(temperature=value)) for name, value in names.items()]
    stages = {"stages": [1, 2]}
    log = evaluate("hsii", "reference/oracle", task_args=stages, model_roles={"judge": judges}, sample_id=CASE)
    sampling = import_log(log.location, tmp_path / "run").manifest["sampling"]
    assert {name: sampling[f"judge inspect/{name}"]["temperature"] for name in names} == names


def test_data_that_changed_are_read_anew_by_the_next_task(evaluate: Evaluate, tmp_path: Path) -> None:
    source = sociable.load_study("hsii").origin
    assert source is not None
    shutil.copytree(source, tmp_path / "data")
    settings = {"dataset": str(tmp_path / "data"), "stages": [1]}
    before = evaluate("hsii", "reference/oracle", task_args=settings, limit=1)
    file = next((tmp_path / "data").glob("*.json*"))
    file.write_text(file.read_text().replace("the ", "thee ", 1))
    after = evaluate("hsii", "reference/oracle", task_args=settings, limit=1)
    read = [log.eval.metadata["sociable"]["digests"]["dataset"] for log in (before, after)]
    assert read[0] != read[1]


def test_an_episode_that_was_played_is_kept_where_its_judge_failed(evaluate: Evaluate, tmp_path: Path) -> None:
    from sociable.inspect.logs import import_log

    roles = HSII | {"judge": "openai-api/chat/no-such-model"}
    log = evaluate("hsii", "reference/oracle", task_args=roles, sample_id=CASE, max_retries=0)
    assert log.status == "error"
    (episode,) = import_log(log.location, tmp_path / "run").episodes()
    assert (episode.status, len(episode.turns) > 1) == ("completed", True)
    value = sociable.judge(tmp_path / "run", ["reference/rule"]).estimate("r3_ties_half")
    assert value is not None
    assert value.value == 0.5, "the oracle against itself"


def test_inspect_scores_a_log_of_its_own_again(evaluate: Evaluate, tmp_path: Path) -> None:
    import inspect_ai

    from sociable.inspect.scorer import sociable as scorer

    stages = {"stages": [1, 2, 3]}
    log = evaluate("hsii", "reference/oracle@0.5", task_args=stages, sample_id=["clause-two:6", "unit-seven:4"], score=False)
    assert not log.results.scores
    judged = inspect_ai.score(log, scorer(), model_roles={"judge": "reference/rule"}, display="none")
    cases = ("clause-two:6", "unit-seven:4")
    run = sociable.run(
        "hsii", "reference/oracle@0.5", judges="reference/rule", scenarios=cases, options=stages, out=tmp_path / "run"
    )
    (found,) = judged.results.scores
    assert {name: metric.value for name, metric in found.metrics.items()} == same(list_values(run.estimates))


@pytest.mark.parametrize(
    ("benchmark", "model", "task_args", "problem"),
    [
        ("hsii", "reference/oracle", {"stagez": 1}, "hsii has no option 'stagez'; it has: "),
        ("hsii", "reference/oracle", {"stages": 9}, "option 'stages' of hsii: takes numbers from 1 to 4"),
        ("hsii", "reference/oracle", {"repeats": 3}, "-T repeats: use --epochs N"),
        ("hsii", "reference/oracle", {"until": "r2 ± 0.1"}, "-T until: `sociable run` takes it"),
        ("hsii", "none", {}, "No model to test: add --model"),
        ("hsii", "reference/nobody", {}, "'reference/nobody' cannot be the subject"),
        ("hsii", "reference/oracle", {"judge": "nowhere/x"}, "'nowhere/x': Inspect AI cannot make this model"),
        ("hsii", "reference/oracle", {"partner": ["reference/heuristic"] * 2}, "The partner is one model; several were named"),
        ("hsii", "reference/oracle", {"judge": ["reference/rule"] * 2, "stages": 1}, "A judge is named twice"),
        ("stss", "reference/oracle", {"dataset": "nowhere.jsonl"}, "nowhere.jsonl|dataset"),
        ("agentsense-duels", "reference/oracle", {}, "In agentsense-duels two models meet"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence_before_anything_is_spent(
    benchmark: str, model: str, task_args: dict[str, Any], problem: str, evaluate: Evaluate
) -> None:
    from inspect_ai._util.error import PrerequisiteError

    with pytest.raises(PrerequisiteError, match=problem):
        evaluate(benchmark, model, task_args=task_args)


def test_a_role_that_is_none_of_ours_is_told(evaluate: Evaluate) -> None:
    from inspect_ai._util.error import PrerequisiteError

    with pytest.raises(PrerequisiteError, match="There is no role 'grader' here; model roles are: partner, opponent"):
        evaluate("hsii", "reference/oracle", task_args={}, model_roles={"grader": "reference/rule"})


def test_another_event_loop_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from sociable.core.errors import InputError
    from sociable.inspect.tasks import make_task

    monkeypatch.setenv("INSPECT_ASYNC_BACKEND", "Trio")
    with pytest.raises(InputError, match="unset INSPECT_ASYNC_BACKEND"):
        make_task("hsii", {})


def test_the_entry_point_names_the_registry() -> None:
    import tomllib

    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["entry-points"]
    assert declared["inspect_ai"] == {"sociable": "sociable.inspect.registry"}
