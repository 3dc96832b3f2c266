"""AgentSense as users run it: options, files of the authors' layout, labels, people, pairs, the report."""

from __future__ import annotations

import copy
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sociable.api import cases, datasets, estimation, people, reports, results, runs, series
from sociable.api.datasets import label
from sociable.benchmarks.agentsense.dataset import load_scenarios
from sociable.benchmarks.agentsense.players import PersonsForms
from sociable.benchmarks.agentsense.published import TABLE_2
from sociable.benchmarks.agentsense.scenario import CharacterRole
from sociable.benchmarks.agentsense.series import WITH_PERSON, WITHOUT_PERSON
from sociable.cli.main import main
from sociable.core.errors import InputError, RunStopped
from sociable.core.records import Turn
from sociable.core.view import Case, Paragraph, Section, Table
from sociable.engine.registry import find_benchmark
from sociable.engine.settings import RunSettings, read_roles_and_prices
from sociable.render.html import render_html

RULE = {"judges": ("reference/rule",)}


@pytest.fixture
def file(native: dict[str, Any], tmp_path: Path) -> Path:
    """Two casts of one template in the authors' layout."""
    path = tmp_path / "final_data.jsonl"
    path.write_text("\n".join(json.dumps(native | {"sample_idx": number}) for number in (0, 1)))
    return path


def section(document: Any, title: str) -> Section:
    (found,) = [each for each in document.sections if each.title == title]
    return found  # type: ignore[no-any-return]


def plan(options: dict[str, Any], config: Path | None = None, /, **given: Any) -> tuple[dict[str, RunSettings], str]:
    return series.plan_series(find_benchmark("agentsense"), options, config, **given)


def test_a_file_of_the_authors_runs_as_it_is_against_a_server(file: Path, tmp_path: Path, chat_server: Any) -> None:
    result = runs.run(
        "agentsense",
        "openai-compatible/social:agentsense",
        dataset=str(file),
        judges=tuple(f"openai-compatible/social:judge-{name}" for name in "abc"),
        base_url=chat_server.url,
        out=tmp_path / "run",
    )
    values = {estimate.metric: estimate.value for estimate in result.estimates}
    assert all(values[metric] is not None for metric in ("self", "other", "majority", "average", "information", "psi_goal"))
    assert any("name nobody" in note for note in result.notes)
    sampling = result.manifest["sampling"]
    assert sampling["subject openai-compatible/social:agentsense"]["temperature"] == 1.0
    assert sampling["subject openai-compatible/social:agentsense"]["max_tokens"] == 128
    assert sampling["judge openai-compatible/social:judge-a"]["temperature"] == 0.0
    # 2 scenes of 15 turns, 3 blind and 3 quiz questions, 3 own and 6 others' goals; 3 goals for 3 judges.
    usage = result.manifest["usage"]
    assert (usage["subject"]["calls"], usage["judge"]["calls"]) == (2 * (15 + 3 + 3 + 3 + 6), 2 * 9)
    resumed = runs.resume(tmp_path / "run")
    assert resumed.manifest["usage"] == usage


def test_what_is_told_before_it_is_spent(file: Path) -> None:
    document = estimation.estimate("agentsense", "openai-compatible/m", dataset=str(file), judges=("openai-compatible/j",))
    cells = [row.cells for row in document.summary.rows]
    assert any("60" in row for row in cells)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"options": {"plays": "one"}}, "name --partner MODEL"),
        ({"partner": "reference/blurt", "options": {"plays": "all"}}, "Without a partner"),
        ({"reference": "reference/oracle"}, "cannot be the reference"),
        ({"options": {"stages": (1,)}}, "agentsense has no option 'stages'"),
        ({"options": {"policy": "loudest"}}, "'policy' of agentsense"),
        ({"options": {"rounds": [0]}}, "counted from 1"),
        ({"options": {"rounds": [3, 20]}}, "20 is beyond the 15 turns"),
        ({"partner": "reference/blurt", "options": {"plays": "senders"}}, "All 2 scenarios lack a sender or a receiver"),
        ({"partner": "reference/blurt", "options": {"character": "Zoe"}}, "All 2 scenarios lack a character 'Zoe'"),
    ],
)
def test_settings_that_cannot_be(file: Path, tmp_path: Path, settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        runs.run("agentsense", "reference/oracle", dataset=str(file), out=tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


def test_other_sampling_is_taken_where_it_is_asked_for(file: Path, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text('[roles.subject]\nmax_tokens = 900\nbase_url = "http://127.0.0.1:1/v1"\n')
    asked = runs.make_settings("agentsense", config, model="openai-compatible/m")
    assert (asked.roles["subject"].temperature, asked.roles["subject"].max_tokens) == (1.0, 900)
    assert runs.make_settings("hsii", config, model="openai-compatible/m").roles["subject"].temperature == 0.0
    # What changes later starts from what was, for a model; for a role from what stood under the role.
    judged = runs.make_settings("agentsense", config, model="openai-compatible/m", judges=("openai-compatible/j",))
    later = tmp_path / "later.toml"
    later.write_text('[roles."openai-compatible/m"]\nkey_variable = "KEY"\n[roles.judge]\nmax_tokens = 900\n')
    changed = read_roles_and_prices(judged, later)["roles"]
    assert (changed["openai-compatible/m"]["temperature"], changed["openai-compatible/m"]["max_tokens"]) == (1.0, 900)
    assert changed["openai-compatible/m"]["base_url"] == "http://127.0.0.1:1/v1"
    assert (changed["judge"]["max_tokens"], changed["judge"]["base_url"]) == (900, None)


def test_labels_are_filled_in_by_a_model_once_and_never_bought_twice(file: Path, tmp_path: Path, chat_server: Any) -> None:
    out, model = tmp_path / "labelled.jsonl", "openai-compatible/social:labels"
    said = label("agentsense", model, out, dataset=str(file), base_url=chat_server.url)
    scenarios = load_scenarios(out).items
    assert [scenario.domain for scenario in scenarios] == ["small society"] * 2
    assert [[c.role for c in scenario.characters] for scenario in scenarios] == [
        [CharacterRole.SENDER, CharacterRole.RECEIVER, CharacterRole.SENDER]
    ] * 2
    # The goals had their kinds; three roles and a domain were asked about once for both casts.
    assert said == "Filled in: 6 roles, 0 kinds of goals, 2 domains."
    assert chat_server.requests("social:labels")["total"] == 2
    out.unlink()
    label("agentsense", model, out, dataset=str(file), base_url=chat_server.url)
    assert chat_server.requests("social:labels")["total"] == 2
    with pytest.raises(InputError, match="is there already"):
        label("agentsense", model, out, dataset=str(file), base_url=chat_server.url)
    with pytest.raises(InputError, match="no labels"):
        label("hsii", model, tmp_path / "x.jsonl", base_url=chat_server.url)


def test_labels_that_cannot_be_read_stay_empty_and_are_counted(native: dict[str, Any], tmp_path: Path, chat_server: Any) -> None:
    scenes = []
    for number in range(8):
        scene = copy.deepcopy(native) | {"template_idx": number}
        for character in scene["characters"]:
            for goal in character["goals"]:
                goal["goal"] += f" ({number})"
                del goal["type"]
        scenes.append(scene)
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, scenes)))
    said = label(
        "agentsense", "openai-compatible/social:kinds", tmp_path / "out.jsonl", dataset=str(path), base_url=chat_server.url
    )
    kinds = [goal.type for s in load_scenarios(tmp_path / "out.jsonl").items for c in s.characters for goal in c.goals]
    # The server answers with one of two kinds, or with one that is none.
    assert set(kinds) == {None, "cooperation", "competition"}
    unread = kinds.count(None)
    assert f"Filled in: 24 roles, {24 - unread} kinds of goals, 8 domains. {unread} questions had no readable answer" in said


def test_pairs_give_the_papers_matrices_and_can_be_gone_on_with(template: dict[str, Any], tmp_path: Path) -> None:
    template["characters"][1]["goals"] = [
        {
            "goal": "To get {pilot} to promise to stay for supper.",
            "type": "cooperation",
            "signs": [{"by": "pilot", "says": [["stay", "supper"]]}],
            "reached": [{"by": "pilot", "says": "Then I will stay for supper."}],
            "missed": [{"by": "pilot", "says": "My aunt waits for me."}],
        }
    ]
    path = tmp_path / "quay.json"
    path.write_text(json.dumps(template))

    agents = ["reference/oracle", "reference/silent"]
    pairs, name = plan({"sender": agents, "receiver": agents}, dataset=str(path), **RULE)
    assert name == "pairs"
    series.write_new_series(tmp_path / "pairs", pairs)
    folders = [Path(run.folder) for run in series.resume_series(tmp_path / "pairs")]
    assert [folder.name for folder in folders][:2] == ["reference-oracle--reference-oracle", "reference-oracle--reference-silent"]
    before = {folder: (folder / "scores.json").read_bytes() for folder in folders}
    assert [Path(run.folder) for run in series.resume_series(tmp_path / "pairs")] == folders
    assert {folder: (folder / "scores.json").read_bytes() for folder in folders} == before
    blocks = section(reports.make_report_document(folders), "Senders and receivers").blocks
    assert all(isinstance(block, Table) for block in blocks)
    senders, receivers, both, by_partner, attack = blocks
    # The pilot, who sends, gets the boat from an oracle only; a silent pilot is given it unasked. So with the supper.
    for table, rows in (
        (senders, [[1, 0, 0.5]] * 2),
        (receivers, [[1, 1, 1], [0, 0, 0]]),
        (both, [[1, 0.5, 0.75], [0.5, 0, 0.25]]),
    ):
        assert [list(map(float, row.cells[1:])) for row in table.rows[:2]] == rows
        assert [row.cells[0] for row in table.rows] == ["reference/oracle", "reference/silent", "mean"]
    assert "Figure 5 a" in both.caption
    assert [list(row.cells)[:3] for row in by_partner.rows][:4] == [
        ["reference/oracle", "sender", "reference/oracle"],
        ["reference/oracle", "sender", "reference/silent"],
        ["reference/silent", "sender", "reference/oracle"],
        ["reference/silent", "sender", "reference/silent"],
    ]
    # Not of a model with itself: the fisher, asked about the pilot's secret, knows it as an oracle and not in silence.
    assert [list(row.cells) for row in attack.rows] == [
        ["reference/oracle", "1", "1.00", "1.00", "1.00", "1.00"],
        ["reference/silent", "1", "0.00", "0.00", "0.00", "0.00"],
    ]
    assert next(row.shades for row in senders.rows) == [None, 1.0, 0.0, 0.5]
    assert "shade-8" in render_html(reports.make_report_document(folders))
    with pytest.raises(InputError, match="holds a series of runs already"):
        series.write_new_series(tmp_path / "pairs", {})


@pytest.mark.parametrize(
    ("options", "given", "complaint"),
    [
        ({"sender": ["reference/oracle"]}, {}, "there is no receiver"),
        ({"receiver": ["reference/oracle"]}, {}, "there is no sender"),
        ({"sender": ["reference/oracle"] * 2, "receiver": ["reference/oracle"]}, {}, "A sender is named twice"),
        ({"sender": ["reference/oracle"], "human": "Ben"}, {}, "--sender and --receiver say who plays whom"),
        ({"sender": ["reference/oracle"], "receiver": ["reference/oracle"]}, {"model": "reference/oracle"}, "leave --model and"),
        (
            {"sender": ["reference/oracle"], "receiver": ["reference/oracle"]},
            {"partner": "reference/oracle"},
            "and --partner out",
        ),
        ({"human": "Ben"}, {"model": "reference/oracle", "partner": "reference/oracle"}, "the person is the partner"),
        ({"human": "Ben"}, {}, "No model to test"),
    ],
)
def test_series_that_cannot_be(options: dict[str, Any], given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        plan(options, **given)


def test_a_series_is_made_only_where_it_is_asked_for() -> None:
    kind = find_benchmark("agentsense").load_series_type()
    assert kind is not None
    assert {name: bool(field.description) for name, field in kind.model_fields.items()} == dict.fromkeys(
        ("sender", "receiver", "human"), True
    )
    assert find_benchmark("hsii").load_series_type() is None
    with pytest.raises(InputError, match="hsii makes no series of runs"):
        series.plan_series(find_benchmark("hsii"), {"sender": ["reference/oracle"]})


def test_a_series_is_judged_and_scored_run_by_run(
    template: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quay.json").write_text(json.dumps(template))
    monkeypatch.chdir(tmp_path)
    agents = ("--sender", "reference/oracle", "--receiver", "reference/oracle", "--receiver", "reference/heuristic")

    def sociable(*arguments: str) -> int:
        with pytest.raises(SystemExit) as ended:
            monkeypatch.setattr("sys.argv", ["sociable", *arguments])
            main()
        return int(ended.value.code or 0)

    assert sociable("run", "agentsense", *agents, "--dataset", "quay.json", "--out", "pairs") == 0
    assert all(results.load_result(folder).estimate("majority") is None for folder in series.list_folders(tmp_path / "pairs"))
    assert sociable("judge", "pairs", "--judge", "reference/rule") == 0
    values = [results.load_result(folder).estimate("majority") for folder in series.list_folders(tmp_path / "pairs")]
    assert [each.value if each else None for each in values] == [1.0, 0.0]
    assert sociable("score", "pairs") == 0
    assert (tmp_path / "pairs" / "report.html").exists()


def test_a_series_is_checked_whole_before_it_takes_its_folder(template: dict[str, Any], tmp_path: Path, chat_server: Any) -> None:
    (tmp_path / "quay.json").write_text(json.dumps(template))
    config = tmp_path / "pairs.toml"
    config.write_text(f'[roles."openai-compatible/social:b"]\nbase_url = "{chat_server.url}"\nmax_tokens = 64\n')

    models = ["openai-compatible/social:b", "openai-compatible/social-b"]

    def pairs(senders: list[str], dataset: Path) -> dict[str, Any]:
        options = {"sender": senders, "receiver": models}
        return plan(options, config, dataset=str(dataset), base_url=chat_server.url)[0]

    with pytest.raises(InputError, match="no such file"):
        series.write_new_series(tmp_path / "pairs", pairs(models[:1], tmp_path / "missing.json"))
    assert not (tmp_path / "pairs").exists()
    both = pairs(models[1:], tmp_path / "quay.json")
    # Names that differ in punctuation only are two runs all the same, and settings of the one are no fault in the other's run.
    assert len(both) == 2
    roles = [settings.roles.get("openai-compatible/social:b") for settings in both.values()]
    assert [role.max_tokens if role else None for role in roles] == [64, None]
    assert roles[0] is not None and roles[0].temperature == 1.0
    series.write_new_series(tmp_path / "pairs", both)
    with pytest.raises(InputError, match="holds several runs"):
        results.load_result(tmp_path / "pairs")


def test_labels_keep_to_the_cost_limit_over_several_calls(
    file: Path, tmp_path: Path, chat_server: Any, native: dict[str, Any]
) -> None:
    model = "openai-compatible/social:dear"
    config = tmp_path / "prices.toml"
    config.write_text(f'[prices."{model}"]\ninput = 1.0\noutput = 1.0\n[roles.subject]\nmax_tokens = 2000\n')
    path = tmp_path / "many.jsonl"
    scenes = [native | {"template_idx": number, "background": f"Quay {number}."} for number in range(30)]
    path.write_text("\n".join(map(json.dumps, scenes)))
    bought = []
    for _ in range(3):
        with pytest.raises(RunStopped):
            label(
                "agentsense",
                model,
                tmp_path / "out.jsonl",
                config=config,
                dataset=str(path),
                base_url=chat_server.url,
                max_cost=0.006,
            )
        bought.append(chat_server.requests("social:dear")["total"])
    # What was spent before counts: there is hardly room for another call, let alone for as many again.
    assert 0 < bought[0] <= bought[2] <= bought[0] + 2
    requests = chat_server.requests("social:dear")["requests"]
    assert {request["body"]["max_tokens"] for request in requests} == {2000}


def test_a_person_plays_one_character_beside_the_same_scenes_without(
    file: Path, tmp_path: Path, open_terminal: Callable[..., Any]
) -> None:
    terminal = open_terminal(
        "run", "agentsense", "--model", "reference/heuristic", "--human", "Ben", "--dataset", str(file), "--judge", "reference/rule",
        "--option", "turns=4", "--out", "mine",
    )  # fmt: skip
    said, screens = 0, []
    while True:
        came = terminal.wait_for_either("What do you say?", "  1  yes", "  1  ", "Report:")
        screens.append(terminal.before)
        if came == "Report:":
            break
        said += came == "What do you say?"
        terminal.type("Take my boat." if came == "What do you say?" else "1")
    assert terminal.end() == 0
    assert said > 2
    # The scene comes before the first question, whatever that is, and once in each scene; and what others say is shown.
    assert "A ferry is late. canary-background" in screens[0]
    shown = "".join(screens)
    assert shown.count("canary-background") == shown.count("canary-ben-secret") == 2
    assert "What I want is this" in shown
    assert "canary-ann-secret" not in shown
    assert "canary-ann-profile" not in shown
    folders = series.list_folders(tmp_path / "mine")
    assert [folder.name for folder in folders] == [WITH_PERSON, WITHOUT_PERSON]
    document = reports.make_report_document(folders)
    same, others = section(document, "A person in the scene").blocks
    assert isinstance(same, Table) and isinstance(others, Table)
    assert [row.cells[0] for row in same.rows] == ["reference/heuristic"]
    # Ann's goal is reached where the person lends the boat. A run that was made otherwise is no company for it.
    other = runs.run("agentsense", "reference/heuristic", dataset=str(file), out=tmp_path / "other", options={"turns": 3}, **RULE)
    (alone,) = section(reports.make_report_document([folders[0], other.folder]), "A person in the scene").blocks
    assert isinstance(alone, Paragraph)
    with_person, without = others.rows[0].cells[1:3]
    assert float(with_person.split()[0]) >= 0.5 and with_person.endswith("(n = 2)") and "[" in with_person
    assert without.startswith("0.000")


def test_with_and_without_the_person_the_scenes_are_the_same(native: dict[str, Any], tmp_path: Path) -> None:
    scenes = [copy.deepcopy(native) | {"template_idx": number} for number in range(8)]
    for scene in scenes[:5]:
        text = json.dumps(scene).replace("Ben Cole", "Dan Cole")
        scene.update(json.loads(text))
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, scenes)))
    both, name = plan({"human": "Ben"}, model="reference/heuristic", dataset=str(path), limit=2, options={"turns": 4})
    assert {settings.options["turns"] for settings in both.values()} == {4}
    assert name == "reference/heuristic-human"
    studies = [
        cases.load_study("agentsense", **settings.model_dump(exclude={"benchmark", "model", "roles"}))
        for settings in both.values()
    ]
    assert [*studies[0].scenarios] == [*studies[1].scenarios]
    assert len(studies[0].scenarios) == 2


def test_a_person_who_opens_a_scene_is_told_so(scenario: Any) -> None:
    forms = PersonsForms(scenario, scenario.by_name["Ann Lee"], first_lines=True)
    question = scenario.by_name["Ann Lee"].info_reason_questions[0]
    assert len(forms.ask_quiz((), question, range(4)).blocks) > 4  # the scene
    greeting = Turn(index=0, speaker="Ann Lee", content="Hi there!")
    other = Turn(index=1, speaker="Ben Cole", content="Good day.\nSecond line.")
    (heard,) = forms.ask_for_turn([greeting, other]).blocks
    assert [(line.speaker, line.text) for line in heard.lines] == [("Ann Lee", "Hi there!"), ("Ben Cole", "Good day.")]
    assert forms.ask_yes_no([greeting, other], "Well?").blocks == []


def test_people_check_the_judges_on_goal_questions(native: dict[str, Any], tmp_path: Path) -> None:
    native["characters"][1]["goals"] = []  # they have no signs, so no rule could judge them
    file = tmp_path / "data.jsonl"
    file.write_text("\n".join(json.dumps(native | {"sample_idx": number}) for number in (0, 1)))
    runs.run("agentsense", "reference/oracle@0.5", dataset=str(file), out=tmp_path / "run", repeats=4, **RULE)
    count = people.export_sheet(tmp_path / "run", 6, tmp_path / "sheet.csv")
    with (tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert count == len(rows)
    assert {row["about"] for row in rows} == {"Ann Lee"}
    assert all("Did Ben lend Ann the boat?" in row["question"] for row in rows)
    for row in rows:
        row["verdict"] = "yes" if "Take the boat" in row["conversation"] else "No"
    with (tmp_path / "eve.csv").open("w", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    document = people.add_corrections(tmp_path / "run", [tmp_path / "eve.csv"])
    agreement = document.summary
    assert list(agreement.rows[0].cells)[:6] == ["goal", "reference/rule", "eve", str(len(rows)), "1.00", "1.00"]
    (corrected,) = [
        block for block in document.sections[0].blocks if isinstance(block, Table) and "corrected by people" in block.caption
    ]
    judged, by_people = (float(cell.split()[0]) for cell in corrected.rows[0].cells[1:3])
    assert judged == pytest.approx(by_people, abs=0.0005)
    (tmp_path / "bad.csv").write_text(f"item,verdict\n{rows[0]['item']},2\n")
    with pytest.raises(InputError, match="expected yes, no or skip, found '2'"):
        people.add_corrections(tmp_path / "run", [tmp_path / "bad.csv"])


def test_the_report_shows_table_2_and_any_scene_with_each_private_view_in_its_own_column(file: Path, tmp_path: Path) -> None:
    runs.run("agentsense", "reference/blurt", dataset=str(file), out=tmp_path / "run", options={"rounds": [3, 6]}, **RULE)
    document = reports.make_report_document([tmp_path / "run"])
    table = next(block for block in section(document, "Scores").blocks if isinstance(block, Table))
    assert [row.cells[0] for row in table.rows] == ["reference/blurt", *(f"{model} (paper)" for model in TABLE_2)]
    assert section(document, "Rounds")
    (case, *_) = [block for block in section(document, "Scenes").blocks if isinstance(block, Case)]
    scene = next(block for block in case.blocks if isinstance(block, Table))
    assert [column.title for column in scene.columns] == ["Turn", "Ann Lee", "Ben Cole", "Cara Diaz"]
    hidden = next(row for row in scene.rows if row.cells[0] == "hides")
    assert list(hidden.cells[1:]) == [
        "Ann has sold the ferry. canary-ann-secret",
        "Ben owes money. canary-ben-secret",
        "(no secret)",
    ]
    turns = [row for row in scene.rows if row.cells[0].isdecimal()]
    assert len(turns) == 16
    assert all(sum(bool(cell) for cell in row.cells[1:]) == 1 for row in turns)
    page = render_html(document)
    assert "canary-ann-secret" in page


def test_scripts_are_predicted_where_the_data_name_one(native: dict[str, Any], tmp_path: Path) -> None:
    path, code = tmp_path / "data.jsonl", tmp_path / "agent.py"
    scenes = [native | {"sample_idx": 0, "source": "The Tempest"}, native | {"sample_idx": 1, "source": "Pygmalion"}]
    path.write_text("\n".join(map(json.dumps, scenes)))
    code.write_text('def reply(messages):\n    return \'{"script": "Shakespeare, The Tempest (act 1)", "answer": "A"}\'\n')
    result = runs.run("agentsense", f"python:{code}:reply", dataset=str(path), out=tmp_path / "run", options={"script": True})
    script = result.estimate("script")
    assert script is not None
    assert (script.value, script.scored) == (0.5, 2)


def test_audit_description_and_sources(file: Path, tmp_path: Path) -> None:
    source = tmp_path / "play.txt"
    source.write_text(
        "ACT ONE. " + "Nobody is here and nothing happens at all. " * 30 + "A ferry is late. They wait on the quay."
    )
    runs.run("agentsense", "reference/heuristic", dataset=str(file), out=tmp_path / "run")
    document = datasets.audit("agentsense", file, sources=[source], dialogues=tmp_path / "run")
    scenes, dialogues = section(document, "Beside the sources").blocks
    assert isinstance(scenes, Table) and isinstance(dialogues, Table)
    # The scene is found in the play, but for its canaries.
    assert float(scenes.rows[2].cells[3]) > 0.7
    # A scene is like no whole play.
    assert float(scenes.rows[1].cells[3]) < float(scenes.rows[0].cells[3])
    assert float(dialogues.rows[0].cells[3].split()[0]) < 0.3
    with pytest.raises(InputError, match="needs at least one --source"):
        datasets.audit("agentsense", file, dialogues=tmp_path / "run")
    with pytest.raises(InputError, match="nothing that is compared with sources"):
        datasets.audit("hsii", sources=[source])
    described = datasets.describe("agentsense", file)
    cells = {row.cells[0]: row.cells[1] for row in described.summary.rows}
    assert (cells["templates"], cells["scenarios"], cells["distinct quiz questions"]) == ("1", "2", "3")
    assert any(
        isinstance(block, Paragraph) and "attributes" in block.text for each in described.sections for block in each.blocks
    )
