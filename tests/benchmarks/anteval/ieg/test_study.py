"""Intention expression as users run it: sessions, two virtual DMs, and the gap between them."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sociable.api import cases, reports, results, runs
from sociable.api.results import load_result
from sociable.benchmarks.anteval.characters import load_sheets
from sociable.benchmarks.anteval.ieg.experiment import shuffle_labels
from sociable.benchmarks.anteval.ieg.metrics import METRICS, PlayedSession, find_doubts
from sociable.benchmarks.anteval.ieg.real import split_sessions
from sociable.benchmarks.anteval.ieg.records import IegEpisode, IegOptions
from sociable.benchmarks.anteval.ieg.results import read_results
from sociable.benchmarks.anteval.ieg.scenario import Marginals, draw_intentions, draw_scenarios, load_scenes
from sociable.benchmarks.anteval.ieg.windows import cut_windows, has_skill_name
from sociable.benchmarks.anteval.rules import load_rules
from sociable.benchmarks.anteval.session import Move
from sociable.core.errors import InputError, Interrupted, RunStopped
from sociable.core.records import Estimate, Outcome
from sociable.core.seeding import make_generator
from sociable.render.html import render_html

SMALL = {"real": "stand-in", "sessions": 12, "resamples": 0, "curve": False}
CRD3 = Path(__file__).resolve().parents[5] / "shared" / "data" / "trpg_crd3" / "cleaned"


def run(tmp_path: Path, model: str = "reference/expressive", name: str = "run", **options: Any) -> runs.RunResult:
    return runs.run("anteval-ieg", model, out=tmp_path / name, options={**SMALL, **options})


def values(result: runs.RunResult) -> dict[str, float | None]:
    return {each.metric: each.value for each in result.estimates}


@dataclass(frozen=True)
class Finished:
    """A run with all that can come out, in ``folder``, and how far each phase was said to be: (done, total)."""

    folder: Path
    result: runs.RunResult
    steps: dict[str, list[tuple[int, int]]]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("finished") / "run"
    seen: dict[str, list[tuple[int, int]]] = {}

    def watch(counts: Any, _: Any) -> None:
        seen.setdefault(counts.phase, []).append((counts.done, counts.total))

    options = {**SMALL, "resamples": 12, "curve": True}
    return Finished(folder, runs.run("anteval-ieg", "reference/expressive", out=folder, options=options, watch=watch), seen)


def test_everything_comes_out_and_is_kept(finished: Finished, tmp_path: Path) -> None:
    result = finished.result
    shutil.copytree(finished.folder, tmp_path / "run")
    found = values(result)
    for kind in ("character", "tuple"):
        f_r, f_g = found[f"f_r/{kind}"], found[f"f_g/{kind}"]
        assert f_r is not None and f_g is not None
        assert found[f"g/{kind}"] == pytest.approx(abs(f_r - f_g) / (f_r + f_g))
        assert found[f"signed_g/{kind}"] == pytest.approx((f_r - f_g) / (f_r + f_g))
    gap = result.estimate("g/character")
    assert gap is not None and gap.low is not None and gap.high is not None
    assert gap.low <= (gap.value or 0) <= gap.high
    # What is masked is resampled as well.
    for metric in ("f_g/tuple masked", "g/character masked", "f_r/character macro masked"):
        estimate = result.estimate(metric)
        assert estimate is not None and estimate.low is not None and estimate.high is not None, metric
        assert estimate.low <= (estimate.value or 0) <= estimate.high
    kept = read_results(tmp_path / "run")
    assert kept is not None and kept[1] is not None
    assert kept[1].resamples == 12 and kept[1].retrained
    assert [each.windows for each in kept[1].curve if each.master == "f_g"] == [2, 3, 6, 12]
    assert {each.name for each in (tmp_path / "run" / "masters").iterdir()} == {
        "f_g", "f_r", "shuffled", "f_g-masked", "f_r-masked", "shuffled-masked", "results.json",
    }  # fmt: skip
    page = render_html(reports.make_report_document([tmp_path / "run"]))
    assert "stand-ins" in page and "labels shuffled" in page and "misprint" in page
    # Scoring again trains nothing: what came out is read.
    before = (tmp_path / "run" / "masters" / "f_g" / "ranker.npz").stat().st_mtime_ns
    assert runs.score(tmp_path / "run").estimates == result.estimates
    assert (tmp_path / "run" / "masters" / "f_g" / "ranker.npz").stat().st_mtime_ns == before
    # What cannot be read is found again.
    (tmp_path / "run" / "masters" / "results.json").write_text("{")
    assert runs.score(tmp_path / "run").estimates == result.estimates


@pytest.mark.long
def test_two_runs_are_compared_on_the_same_resamples(finished: Finished, tmp_path: Path) -> None:
    run(tmp_path, "reference/expressive", "again", resamples=12, curve=True)
    run(tmp_path, "reference/blunt", "blunt", resamples=12, curve=True)
    _, same = reports.compare(finished.folder, tmp_path / "again").sections
    table, *doubts = same.blocks
    # In some halves neither DM finds any skill, and G overall is undefined: too few are left for an interval.
    assert [row.cells[3] for row in table.rows[:3]] == ["0.000 [0.00, 0.00]"] * 3
    assert table.rows[3].cells[3].startswith("0.000")
    # What each run says of its own G is said here too.
    assert [each.text for each in doubts] == [
        f"{name}: {each}" for name in "AB" for each in find_doubts(load_result(finished.folder).estimates)
    ]
    _, other = reports.compare(finished.folder, tmp_path / "blunt").sections
    table, *_ = other.blocks
    difference, low, high = map(float, re.findall(r"-?[\d.]+", table.rows[0].cells[3]))
    assert low < high and low <= difference <= high
    # Where nothing was said there is nothing to compare.
    run(tmp_path, "reference/silent", "silent", resamples=12, curve=True)
    _, none = reports.compare(tmp_path / "silent", tmp_path / "blunt").sections
    assert {row.cells[3] for row in none.blocks[0].rows} == {"—"}


def margin(name: str, value: float, low: float | None, high: float | None) -> list[Estimate]:
    return [Estimate(metric="f_g/tuple", value=0.5), Estimate(metric=name, value=value, low=low, high=high)]


@pytest.mark.parametrize(
    ("value", "low", "high", "is_doubted"),
    [(0.03, -0.01, 0.07, True), (0.03, 0.01, 0.05, False), (-0.05, -0.08, -0.03, True), (0.03, None, None, False)],
)
def test_a_master_must_beat_its_controls_by_the_whole_interval(
    value: float, low: float | None, high: float | None, is_doubted: bool
) -> None:
    doubts = find_doubts(margin("f_g over last speaker/tuple", value, low, high))
    assert bool(doubts) is is_doubted
    assert all("f_g overall is 0.500, better than last speaker by " in doubt for doubt in doubts)


@pytest.mark.long
def test_the_floor_and_the_way_to_shuffled_labels_come_out(tmp_path: Path) -> None:
    result = run(tmp_path, sessions=60, resamples=12)
    found = {each.metric: each for each in result.estimates}
    for kind in ("character", "tuple"):
        f_g, f_r, shuffled = (found[f"{name}/{kind}"].value or 0.0 for name in ("f_g", "f_r", "shuffled"))
        assert found[f"f_g over shuffled/{kind}"].value == pytest.approx(f_g - shuffled)
        floor, share = found[f"floor_g/{kind}"].value, found[f"share_g/{kind}"].value
        assert floor is not None and 0 <= floor <= 1
        own, control = (abs(f_r - each) / (f_r + each) for each in (f_g, shuffled))
        expected = min(max((own - floor) / (control - floor), 0.0), 1.0) if control > floor else None
        assert share == (None if expected is None else pytest.approx(expected))
    assert found["share_g/tuple"].value is not None


def test_sessions_in_which_everybody_passes_teach_nothing(tmp_path: Path) -> None:
    found = values(run(tmp_path, "reference/silent"))
    assert found["passed"] == 1.0
    assert found["f_g/character"] is None and found["g/tuple"] is None
    assert "nothing can be learned" in render_html(reports.make_report_document([tmp_path / "run"]))


def test_who_names_skills_is_seen(tmp_path: Path) -> None:
    assert values(run(tmp_path, "reference/blunt", "blunt", sessions=4))["named"] == 1.0
    assert values(run(tmp_path, "reference/expressive", "expressive", sessions=4))["named"] == 0.0


def ask_watched(tmp_path: Path, **options: Any) -> tuple[Any, list[list[dict[str, str]]]]:
    """(the study, every prompt that a model was given in it)."""
    (tmp_path / "agent.py").write_text(
        "import json, pathlib\n"
        f"seen = pathlib.Path({str(tmp_path / 'seen.jsonl')!r})\n"
        "def reply(messages):\n"
        "    with seen.open('a') as file: file.write(json.dumps(messages) + '\\n')\n"
        "    return '*listens* Hm.'\n"
    )
    run(tmp_path, f"python:{tmp_path / 'agent.py'}:reply", sessions=4, turns=8, **options)
    study = cases.load_study("anteval-ieg", options={**SMALL, "sessions": 4, "turns": 8, **options})
    return study, [json.loads(line) for line in (tmp_path / "seen.jsonl").read_text().splitlines()]


def test_a_model_is_told_its_intention_at_its_turn_and_no_other(tmp_path: Path) -> None:
    study, prompts = ask_watched(tmp_path)
    told = [(prompt[0]["content"], prompt[-1]["content"]) for prompt in prompts if "mean to use" in json.dumps(prompt)]
    assert all("mean to use" not in briefing and "Only you are told this" in last for briefing, last in told)
    for scenario in study.scenarios.values():
        own = [(briefing, last) for briefing, last in told if scenario.scene.scene in briefing]
        assert len(own) == len(scenario.intentions)
        for player, skill in scenario.intentions.items():
            assert any(f"play {player}." in briefing and f"mean to use {skill} on" in last for briefing, last in own)
    # Once for each turn that was taken, and nobody is asked after the last intention.
    assert len(prompts) == sum(len(scenario.speakers) for scenario in study.scenarios.values())


def test_speakers_come_in_no_fixed_order_and_those_who_mean_something_last() -> None:
    marginals = Marginals({"Stealth": 1, "Arcana": 1}, {1: 2, 2: 1, 3: 1})
    drawn = draw_scenarios(load_sheets(None).items, 200, marginals, IegOptions(), 0)
    for scenario in drawn:
        speakers, count = scenario.speakers, len(scenario.intentions)
        assert 15 <= len(speakers) <= 30
        assert all(one != other for one, other in itertools.pairwise(speakers))
        assert set(speakers[-count:]) == scenario.intentions.keys() == scenario.acts_at.keys()
        assert all(speakers[at] == player for player, at in scenario.acts_at.items())
    assert len({len(scenario.speakers) for scenario in drawn}) == 16
    places = Counter(scenario.list_in_turn(4).index(scenario.speakers[0]) for scenario in drawn)
    assert len(places) == 4 and min(places.values()) > 25
    fixed = draw_scenarios(load_sheets(None).items, 3, marginals, IegOptions(windows="paper"), 0)
    assert all(each.speakers == each.list_in_turn(30) and not each.acts_at for each in fixed)


def test_models_may_be_let_talk_as_players_do(tmp_path: Path) -> None:
    _, prompts = ask_watched(tmp_path, table_talk=True)
    assert all("friends around a table" in prompt[0]["content"] for prompt in prompts)
    assert not any("throughout" in prompt[0]["content"] for prompt in prompts)


def test_in_the_papers_sessions_a_model_is_told_its_intention_from_the_beginning(tmp_path: Path) -> None:
    study, prompts = ask_watched(tmp_path, windows="paper")
    assert len(prompts) == 4 * 8
    briefings = {prompt[0]["content"] for prompt in prompts}
    for scenario in study.scenarios.values():
        for sheet in scenario.players:
            (own,) = [text for text in briefings if f"play {sheet.name}." in text and scenario.scene.scene in text]
            skill = scenario.intentions.get(sheet.name)
            assert ("Nothing in particular" in own) is (skill is None)
            assert [name for name in load_rules().skills if f"mean to use {name} on" in own] == ([skill] if skill else [])
        (npc,) = [text for text in briefings if f"play {scenario.scene.npc.name}," in text and scenario.scene.scene in text]
        assert "mean to use" not in npc


@pytest.mark.skipif(not CRD3.is_dir(), reason="needs CRD3 in ../shared/data/trpg_crd3")
def test_it_runs_on_real_sessions_and_says_how_few_they_are(tmp_path: Path) -> None:
    result = run(tmp_path, real=str(CRD3), sessions=24)
    found = values(result)
    assert found["f_r/character"] is not None and found["f_r/character"] > (found["f_0/character"] or 0)
    assert found["last speaker/character"] is not None
    notes = " ".join(result.notes)
    assert (
        "5 of CRD3" in notes
        and "Calls dropped" in notes
        and "not comparable" in notes
        and "3 to learn from and 2 held out" in notes
    )
    # Intentions are drawn from the training sessions' marginals.
    study = cases.load_study("anteval-ieg", options={**SMALL, "real": str(CRD3), "sessions": 300})
    drawn = [skill for each in study.scenarios.values() for skill in each.intentions.values()]
    real = [skill for window in cut_windows(study.sessions.training, 30) for _, skill in window.checks]
    assert set(drawn) <= set(real)
    assert abs(drawn.count("Perception") / len(drawn) - real.count("Perception") / len(real)) < 0.1


def test_held_out_sessions_are_none_of_the_training_ones() -> None:
    study = cases.load_study("anteval-ieg", options=SMALL)
    training, held_out = ({log.id for log in logs} for logs in (study.sessions.training, study.sessions.held_out))
    assert training and held_out and not training & held_out
    assert len(held_out) == round(0.3 * 90)
    two = replace(study.sessions.real, logs=tuple(study.sessions.training[:2]))
    few = split_sessions(two, study.options.model_copy(update={"held_out": 0.9}), 0)
    assert (len(few.training), len(few.held_out)) == (1, 1)


def own_logs(tmp_path: Path, *sessions: dict[str, Any]) -> str:
    said = [{"speaker": name, "text": "I creep on."} for name in ("Ann", "Bo", "Ann")]
    lines = [{"players": ["Ann", "Bo"], "turns": said, **session} for session in sessions]
    (tmp_path / "logs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(tmp_path / "logs.jsonl")


CALL = {"before": 3, "checks": [{"character": "Ann", "skill": "Stealth"}]}


def test_sessions_without_a_call_are_neither_trained_on_nor_tested_on(tmp_path: Path) -> None:
    path = own_logs(tmp_path, {"calls": [CALL]}, {}, {"calls": [CALL | {"before": 0}]}, {}, {"calls": [CALL]})
    for seed in range(4):
        study = cases.load_study("anteval-ieg", options={**SMALL, "real": path}, seed=seed)
        assert (len(study.sessions.training), len(study.sessions.held_out)) == (1, 1)
    assert "3 without a call are left out" in " ".join(study.notes)
    with pytest.raises(InputError, match=r"is in 1 of its 3 sessions. At least two are needed"):
        cases.load_study("anteval-ieg", options={**SMALL, "real": own_logs(tmp_path, {"calls": [CALL]}, {}, {})})


def test_labels_that_nobody_could_know_are_counted(tmp_path: Path) -> None:
    unheard = {"before": 3, "checks": [{"character": "Cy", "skill": "Stealth"}]}
    path = own_logs(tmp_path, {"calls": [CALL]}, {"players": ["Ann", "Bo", "Cy"], "calls": [unheard]})
    notes = " ".join(cases.load_study("anteval-ieg", options={**SMALL, "real": path}).notes)
    assert "1 are for somebody who says nothing in the 30 turns before" in notes


def test_characters_of_one_name_are_refused(tmp_path: Path) -> None:
    lines = [
        json.dumps(json.loads(sheet.model_dump_json(by_alias=True)) | {"name": "Ann"}) for sheet in load_sheets(None).items[:5]
    ]
    (tmp_path / "sheets.jsonl").write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"sheets.jsonl, line 2: field 'name': 'Ann' is used already"):
        load_sheets(tmp_path / "sheets.jsonl")


def test_what_is_known_is_kept_when_the_rest_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr("sociable.models.openai_compatible.random.uniform", lambda *_: 0.0)
    with pytest.raises(RunStopped, match=r"openai/small at http://127.0.0.1:9/v1.*No call to it has succeeded.*then resume"):
        run(tmp_path, master="hosted", master_model="small")
    assert {each.metric: each.value for each in results.load_result(tmp_path / "run").estimates} == {"passed": 0.0, "named": 0.0}
    # To report what is there needs no key.
    monkeypatch.delenv("OPENAI_API_KEY")
    assert "reference/expressive" in render_html(reports.make_report_document([tmp_path / "run"]))


def test_intentions_follow_the_marginals() -> None:
    marginals = Marginals({"Stealth": 3, "Arcana": 1}, {1: 3, 5: 1})
    drawn = [
        draw_intentions({"a": ["Stealth"], "b": [], "c": []}, marginals, make_generator(1, number)) for number in range(2000)
    ]
    skills = [skill for each in drawn for skill in each.values()]
    assert skills.count("Stealth") / len(skills) == pytest.approx(0.75, abs=0.03)
    # Whoever has a skill is the one to use it; whoever has not may try.
    alone = [each for each in drawn if len(each) == 1]
    assert all((skill == "Stealth") is (player == "a") or skill == "Arcana" for each in alone for player, skill in each.items())
    # A call for more players than there are is one for all.
    assert [sum(len(each) == size for each in drawn) / 2000 for size in (1, 3)] == pytest.approx([0.75, 0.25], abs=0.03)


def test_quiet_sessions_have_no_intention_and_labels_can_be_shuffled() -> None:
    sheets = load_sheets(None).items
    drawn = draw_scenarios(sheets, 400, Marginals({"Stealth": 1}, {1: 1}), IegOptions(quiet=1.0), 0)
    assert sum(not each.intentions for each in drawn) / 400 == pytest.approx(0.5, abs=0.07)
    study = cases.load_study("anteval-ieg", options=SMALL)
    windows = cut_windows(study.sessions.training, 30)
    shuffled = shuffle_labels(windows, make_generator(0, "x"))
    assert [len(each.checks) for each in shuffled] == [len(each.checks) for each in windows]
    assert sorted(skill for each in shuffled for _, skill in each.checks) == sorted(s for each in windows for _, s in each.checks)
    assert sum(one.checks == other.checks for one, other in zip(shuffled, windows, strict=True)) < len(windows) / 5


def test_scenes_name_no_skill() -> None:
    assert len(load_scenes()) >= 24
    for scene in load_scenes():
        text = f"{scene.scene} {'; '.join(scene.things)}"
        assert not [skill for skill in load_rules().skills if has_skill_name(text, skill)], scene.id


def test_conduct_of_a_session() -> None:
    turns = (
        Move(act="rolls a Stealth check").as_turn(1, "Ann"),
        Move().as_turn(2, "Bo"),
        Move(words="No history here.").as_turn(3, "Cy"),
        Move().as_turn(4, "GM"),
    )
    episode = IegEpisode(id="a#0", scenario="a", cluster="a", turns=turns)
    found = {
        each.metric: each for each in METRICS.score(episode, PlayedSession("GM", {"Ann": "Stealth", "Cy": "Arcana"}, episode))
    }
    # The game master's turns are not the players'; a skill that a player does not mean to use is a word like any other.
    assert (found["passed"].value, found["named"].value) == (pytest.approx(1 / 3), 0.5)
    assert METRICS.score(episode, PlayedSession("GM", {}, episode))[1].outcome is Outcome.NOT_REACHED
    failed = METRICS.score(episode, PlayedSession("GM", {}, episode), failure="GM's turn 3: empty")
    assert {each.outcome for each in failed} == {Outcome.UNSCORED}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"options": {}}, "needs sessions of real players"),
        ({"options": {**SMALL, "master": "oracle"}}, "master"),
        ({"options": {**SMALL, "held_out": 1.0}}, "held_out"),
        ({"options": SMALL, "judges": ("reference/rule",)}, "nothing to judge|cannot be the judge"),
        ({"options": SMALL, "dataset": "x.json"}, "has no --dataset"),
        ({"options": {**SMALL, "real": "nowhere.jsonl"}}, "no such file"),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_is_spent(settings: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        runs.run("anteval-ieg", "reference/oracle", out=tmp_path / "run", **settings)


def test_how_far_the_training_is_can_be_seen(finished: Finished) -> None:
    assert finished.steps["virtual DMs"] == [(done, 2 + 2 * 12 + 1 + 8) for done in range(36)]


def test_who_stops_it_while_it_trains_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sociable.benchmarks.anteval.ieg.masters.local.LocalKind.train", interrupt)
        with pytest.raises(Interrupted, match="All that was said and judged is kept"):
            run(tmp_path)
    assert runs.resume(tmp_path / "run").estimate("g/tuple") is not None
