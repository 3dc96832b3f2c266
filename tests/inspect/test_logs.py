"""Runs as Inspect logs and back; logs that cannot be read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.cli.main import main
from sociable.core.errors import InputError
from sociable.engine.registry import find_benchmark

pytestmark = [
    pytest.mark.extra,
    # Inspect leaves streams of its own to be collected.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
pytest.importorskip("inspect_ai")

from sociable.inspect.samples import SCORER, list_values  # noqa: E402 - where Inspect is there

RECORDS = ("manifest.json", "references.jsonl", "episodes.jsonl", "judgments.jsonl", "measurements.jsonl", "scores.json")
SMALL: dict[str, dict[str, Any]] = {
    "hsii": {"limit": 2, "repeats": 2},
    "stss": {"options": {"tasks": ["portrait-sitting"]}},
    "stss-conversations": {"limit": 2},
    "anteval-ieg": {"options": {"real": "stand-in", "sessions": 12, "resamples": 0, "curve": False}},
    "anteval-hidden": {"limit": 2},
}


def run_offline(benchmark: str, out: Path, **settings: Any) -> sociable.RunResult:
    asked = {**find_benchmark(benchmark).demo, **SMALL[benchmark], **settings}
    return sociable.run(benchmark, "reference/oracle@0.3", out=out, **asked)


@pytest.mark.parametrize("benchmark", SMALL)
def test_a_run_comes_back_as_it_was(benchmark: str, tmp_path: Path) -> None:
    from sociable.inspect.logs import export_log, import_log

    run_offline(benchmark, tmp_path / "first")
    log = export_log(tmp_path / "first")
    import_log(log, tmp_path / "second")
    made = [name for name in RECORDS if (tmp_path / "first" / name).exists()]
    assert {"manifest.json", "episodes.jsonl", "scores.json"} <= set(made)
    for name in made:
        assert (tmp_path / "second" / name).read_bytes() == (tmp_path / "first" / name).read_bytes(), name


@pytest.fixture(scope="module")
def played(chat_server: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of models with partner, reference and judge, exported."""
    folder = tmp_path_factory.mktemp("played") / "run"
    model = f"openai-compatible/social:log@{chat_server.url}"
    judge, reference = f"openai-compatible/social:judge@{chat_server.url}", f"openai-compatible/social:other@{chat_server.url}"
    sociable.run("hsii", model, partner=model, judges=judge, reference=reference, out=folder, limit=1, repeats=2)
    call("export-log", str(folder))
    return folder


def call(*arguments: str) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["sociable", *arguments])
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
    return 0


def test_data_frames_read_it(played: Path) -> None:
    from inspect_ai.analysis import evals_df, messages_df, samples_df

    run, log = sociable.load_result(played), str(played / "run.eval")
    (evaluated,) = evals_df(log).to_dict("records")
    values = {name.removeprefix("score_sociable_"): value for name, value in evaluated.items() if "score_sociable_" in name}
    # A value that there is not is null in a frame.
    assert values == {name: None if value != value else value for name, value in list_values(run.estimates).items()}
    assert (evaluated["task_name"], evaluated["model"]) == ("hsii", "openai-compatible/social:log")
    assert evaluated["score_headline_metric"] == "hsii_cascade"
    samples = samples_df(log)
    assert {(row["id"], row["epoch"]) for _, row in samples.iterrows()} == {(e.scenario, e.repeat + 1) for e in run.episodes()}
    for _, row in samples.iterrows():
        own = [each for each in run.scores if (each.scenario, each.repeat + 1) == (row["id"], row["epoch"])]
        found = json.loads(row["score_sociable"])
        assert {name: value for name, value in found.items() if value == value} == {
            each.metric: each.value for each in own if each.value is not None
        }
        assert found.keys() == {each.metric for each in own}
    said = [turn.content for episode in run.episodes() for turn in episode.turns]
    assert said
    sent = " ".join(messages_df(log)["content"])
    assert all(json.dumps(content, ensure_ascii=False)[1:-1] in sent or content in sent for content in said)


def test_who_heard_what_and_why_it_was_judged_so_can_be_read(played: Path) -> None:
    from inspect_ai.log import read_eval_log

    run = sociable.load_result(played)
    log = read_eval_log(str(played / "run.eval"), resolve_attachments=True)
    samples = {(sample.id, sample.epoch): sample for sample in log.samples}
    for episode in run.episodes():
        sample = samples.pop((episode.scenario, episode.repeat + 1))
        assert [message.metadata["heard_by"] for message in sample.messages] == [
            ", ".join(turn.addressees) or "everybody present" for turn in episode.turns
        ]
        roles = {"assistant" if turn.speaker == "Intelligent Assistant" else "user" for turn in episode.turns}
        assert {message.role for message in sample.messages} == roles
        explanation = sample.scores[SCORER].explanation
        for judgment in run.find_judgments(episode):
            assert f"{judgment.criterion}, {judgment.judge}: {judgment.verdict}" in explanation
        assert sample.role_usage["subject"].input_tokens == episode.usage["subject"].input_tokens
        asked = [event for event in sample.events if event.event == "model" and event.role == "subject"]
        assert len(asked) == episode.usage["subject"].calls
    assert not samples
    assert log.stats.role_usage["judge"].output_tokens == run.manifest["usage"]["judge"]["output_tokens"]


def test_an_imported_run_is_judged_again_and_compared(played: Path, chat_server: Any, tmp_path: Path) -> None:
    folder = tmp_path / "imported"
    assert call("import-log", str(played / "run.eval"), "--out", str(folder)) == 0
    assert call("compare", str(played), str(folder)) == 0
    assert call("judge", str(folder), "--judge", f"openai-compatible/social:second@{chat_server.url}") == 0
    assert sociable.load_result(folder).manifest["models"]["judges"] == ["openai-compatible/social:second"]


def test_inspect_judges_an_exported_run_again(played: Path, chat_server: Any, tmp_path: Path, monkeypatch: Any) -> None:
    import inspect_ai
    from inspect_ai.log import read_eval_log, write_eval_log

    from sociable.inspect.logs import import_log
    from sociable.inspect.scorer import sociable as scorer

    monkeypatch.setenv("CHAT_BASE_URL", chat_server.url)
    monkeypatch.setenv("CHAT_API_KEY", "none")
    roles = {"judge": "openai-api/chat/social:third"}
    log = inspect_ai.score(
        read_eval_log(str(played / "run.eval")), scorer(), model="none", model_roles=roles, action="append", display="none"
    )
    write_eval_log(log, str(tmp_path / "again.eval"))
    result = import_log(tmp_path / "again.eval", tmp_path / "again")
    assert result.manifest["models"]["judges"] == ["inspect/openai-api/chat/social:third"]
    judges = {judgment.judge for judgment in result.judgments()}
    assert judges == {"inspect/openai-api/chat/social:third", "openai-compatible/social:judge"}
    values = pytest.approx(list_values(result.estimates), rel=0, abs=0, nan_ok=True)
    assert {name: metric.value for name, metric in log.results.scores[-1].metrics.items()} == values


def test_errored_episodes_stay_errored_with_their_reason(tmp_path: Path, chat_server: Any) -> None:
    from sociable.inspect.logs import export_log, import_log

    model = f"openai-compatible/context-400:log@{chat_server.url}"
    sociable.run("hsii", model, out=tmp_path / "first", limit=1, options={"stages": [1, 2]})
    import_log(export_log(tmp_path / "first"), tmp_path / "second")
    episodes = (tmp_path / "first" / "episodes.jsonl").read_text()
    assert '"errored"' in episodes
    assert (tmp_path / "second" / "episodes.jsonl").read_text() == episodes


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from sociable.inspect.logs import export_log

    folder = tmp_path_factory.mktemp("exported") / "run"
    run_offline("hsii", folder)
    return export_log(folder)


def rewrite(log: Path, to: Path, change: Callable[[Any], None]) -> Path:
    from inspect_ai.log import read_eval_log, write_eval_log

    read = read_eval_log(str(log))
    change(read)
    write_eval_log(read, str(to))
    return to


def _tear(log: Any) -> None:
    log.samples[0].store["episode"]["turns"] = "torn"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda log: log.eval.metadata.clear(), "is a log of the task 'sociable/hsii', not of one of sociable's"),
        (
            lambda log: log.eval.metadata["sociable"].update(version="0.0.1"),
            r"was run with hsii 0\.0\.1; this is .*not comparable",
        ),
        (
            lambda log: log.eval.metadata["sociable"]["digests"].update(dataset="0"),
            "The dataset changed since .*bad.eval was begun",
        ),
        (lambda log: log.eval.metadata["sociable"].update(packages={}), "is a log of the task 'sociable/hsii', not of one of"),
        (lambda log: log.eval.metadata["sociable"].update(digests=[1]), "is a log of the task 'sociable/hsii', not of one of"),
        (lambda log: log.eval.metadata["sociable"].update(benchmark="chess"), "There is no benchmark 'chess'"),
        (lambda log: log.eval.metadata["sociable"]["settings"].update(model=5), "settings this version does not understand"),
        (_tear, "bad.eval: 'turns' is no record this version understands"),
        (
            lambda log: log.samples[0].store["episode"].update(id="another#0"),
            r"the sample .*, epoch \d, holds the episode another#0",
        ),
    ],
)
def test_a_log_that_is_none_of_ours_is_refused_in_one_sentence(
    exported: Path, change: Callable[[Any], None], problem: str, tmp_path: Path
) -> None:
    from sociable.inspect.logs import import_log

    bad = rewrite(exported, tmp_path / "bad.eval", change)
    with pytest.raises(InputError, match=problem):
        import_log(bad, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_torn_file_is_refused(exported: Path, tmp_path: Path, capsys: Any) -> None:
    torn = tmp_path / "torn.eval"
    whole = exported.read_bytes()
    for part in (
        b"",
        whole[: len(whole) // 2],
        b"x" * 500,
        whole[: len(whole) // 3] + b"\0" * 40 + whole[len(whole) // 3 + 40 :],
    ):
        torn.write_bytes(part)
        assert call("import-log", str(torn), "--out", str(tmp_path / "run")) == 2
        complaint = capsys.readouterr().err
        assert "torn.eval cannot be read as an Inspect log" in complaint.replace("\n", " ")
        assert "Traceback" not in complaint
    assert call("import-log", str(tmp_path / "absent.eval"), "--out", str(tmp_path / "run")) == 2
    assert not (tmp_path / "run").exists()


def test_a_folder_without_scores_is_not_exported(exported: Path, tmp_path: Path, capsys: Any) -> None:
    shutil.copytree(exported.parent, tmp_path / "run")
    (tmp_path / "run" / "scores.json").unlink()
    assert call("export-log", str(tmp_path / "run")) == 2
    assert "has no scores yet" in capsys.readouterr().err
    assert call("export-log", str(exported.parent), "--out", str(tmp_path / "run.txt")) == 2
    assert "ends in .eval or .json" in capsys.readouterr().err
