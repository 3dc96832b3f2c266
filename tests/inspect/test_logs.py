"""Runs as Inspect logs and back; logs that cannot be read."""

from __future__ import annotations

import json
import shutil
import zipfile
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


@pytest.mark.parametrize(("benchmark", "settings"), [("hsii", {"limit": 1}), ("stss", SMALL["stss"])])
def test_errored_episodes_of_an_exported_run_are_scored_as_such(benchmark: str, settings: Any, tmp_path: Path) -> None:
    import inspect_ai
    from inspect_ai.log import read_eval_log

    from sociable.inspect.logs import export_log
    from sociable.inspect.scorer import sociable as scorer

    (tmp_path / "agent.py").write_text("def reply(messages):\n    raise ValueError('down')\n")
    demo: Any = find_benchmark(benchmark).demo
    sociable.run(benchmark, f"python:{tmp_path / 'agent.py'}:reply", out=tmp_path / "run", **{**demo, **settings})
    log = inspect_ai.score(read_eval_log(str(export_log(tmp_path / "run"))), scorer(), model="none", display="none")
    values = {name: metric.value for name, metric in log.results.scores[-1].metrics.items()}
    assert values == pytest.approx(list_values(sociable.load_result(tmp_path / "run").estimates), nan_ok=True)
    assert max(value for name, value in values.items() if name.endswith("_errored")) == len(log.samples)


def test_samples_of_two_runs_are_not_mistaken_for_each_other(exported: Path, tmp_path: Path) -> None:
    from inspect_ai.analysis import samples_df

    from sociable.inspect.logs import export_log

    # Begun in the same second, over the same cases.
    shutil.copytree(exported.parent, tmp_path / "other")
    manifest = json.loads((tmp_path / "other" / "manifest.json").read_text())
    manifest["settings"]["model"] = manifest["models"]["subject"] = "reference/oracle"
    (tmp_path / "other" / "manifest.json").write_text(json.dumps(manifest))
    logs = [str(exported), str(export_log(tmp_path / "other"))]
    assert len(samples_df(logs)) == 2 * len(samples_df(logs[0]))


def test_what_was_said_without_a_model_can_be_read(exported: Path) -> None:
    """As the guide says: ``messages_df`` and ``events_df`` read calls, and there are none."""
    from inspect_ai.analysis import SampleMessages, SampleSummary, samples_df

    said = samples_df(str(exported), columns=[*SampleSummary, *SampleMessages])["messages"]
    assert any("Intelligent Assistant to " in each for each in said)


def test_a_log_is_written_in_parts_and_put_in_place_at_the_end(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai.log import EvalSample, condense_sample, read_eval_log

    from sociable.inspect import logs

    whole = [sample.model_dump(exclude={"events", "events_data", "output"}) for sample in read_eval_log(str(exported)).samples]
    out, written = tmp_path / "out" / "run.eval", []

    def condense(sample: EvalSample) -> EvalSample:
        assert not out.exists()
        written.append([len(read_eval_log(str(part)).samples or ()) for part in out.parent.iterdir()])
        return condense_sample(sample)

    monkeypatch.setattr(logs, "condense_sample", condense)
    monkeypatch.setattr(logs, "SAMPLES_AT_ONCE", 1)
    logs.export_log(exported.parent, out)
    again = [sample.model_dump(exclude={"events", "events_data", "output"}) for sample in read_eval_log(str(out)).samples]
    assert json.dumps(again, default=str) == json.dumps(whole, default=str)
    assert written == [[], *([number] for number in range(1, len(whole)))]
    assert [*out.parent.iterdir()] == [out]


def test_a_log_that_cannot_be_written_leaves_the_old_one(exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sociable.core.errors import StorageFailure
    from sociable.inspect import logs

    def fail(_: Any) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "run.eval").write_text("the old one")
    monkeypatch.setattr(logs, "condense_sample", fail)
    with pytest.raises(StorageFailure, match="No space left on device"):
        logs.export_log(exported.parent, tmp_path / "run.eval")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"run.eval": "the old one"}


def test_data_prompts_and_references_of_the_users_own_may_lie_elsewhere(tmp_path: Path, capsys: Any) -> None:
    from importlib import resources

    from sociable.inspect.logs import export_log, import_log

    source = sociable.load_study("hsii").origin
    assert source is not None
    shutil.copytree(source, tmp_path / "data")
    shutil.copytree(str(resources.files("sociable.benchmarks.hsii") / "prompts"), tmp_path / "prompts")
    own: Any = {"dataset": tmp_path / "data", "prompts": tmp_path / "prompts", "limit": 1}
    demo: Any = find_benchmark("hsii").demo
    sociable.run("hsii", "reference/oracle", out=tmp_path / "made", **own, **demo)
    demo = {**demo, "reference": None, "reference_file": tmp_path / "made" / "references.jsonl"}
    sociable.run("hsii", "reference/oracle", out=tmp_path / "first", **own, **demo)
    log = export_log(tmp_path / "first", tmp_path / "log.eval")
    shutil.rmtree(tmp_path / "made")
    for name, moved in (("data", "data-now"), ("prompts", "prompts-now")):
        (tmp_path / name).rename(tmp_path / moved)
    options = ["import-log", str(log), "--out", str(tmp_path / "second")]
    for name, place in (("dataset", "data-now"), ("prompts", "prompts-now")):
        assert call(*options) == 2
        assert f"is not there. Name the place where it is now: --{name} PATH." in " ".join(capsys.readouterr().err.split())
        options += [f"--{name}", str(tmp_path / place)]
    assert not (tmp_path / "second").exists()
    assert call(*options) == 0
    assert (tmp_path / "second" / "scores.json").read_bytes() == (tmp_path / "first" / "scores.json").read_bytes()
    (tmp_path / "third").mkdir()
    next((tmp_path / "data-now").glob("*.json*")).write_text("[]")
    with pytest.raises(InputError):
        import_log(log, tmp_path / "third", dataset=tmp_path / "data-now", prompts=tmp_path / "prompts-now")


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
    samples = [each for each in zipfile.ZipFile(exported).infolist() if each.filename.startswith("samples/")]
    places = [each.header_offset + each.compress_size * part // 5 + 100 for each in samples[:2] for part in (0, 2, 4)]
    for part in (
        b"",
        whole[: len(whole) // 2],
        b"x" * 500,
        *(whole[:place] + b"\0" * 40 + whole[place + 40 :] for place in places),
    ):
        torn.write_bytes(part)
        assert call("import-log", str(torn), "--out", str(tmp_path / "run")) == 2, "refused"
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
