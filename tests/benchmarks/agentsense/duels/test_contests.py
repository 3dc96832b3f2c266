"""Contests: AgentSense's scenes in which two goals exclude each other, with two models in the two seats."""

from __future__ import annotations

from pathlib import Path

import pytest

from sociable.api import reports, runs
from sociable.benchmarks.agentsense.dataset import load_scenarios, select_casts
from sociable.benchmarks.agentsense.duels.scenario import find_contests
from sociable.core.errors import InputError
from sociable.core.records import Outcome


def run(tmp_path: Path, code: str, **settings: object) -> runs.RunResult:
    (tmp_path / "model.py").write_text(code)
    model = f"python:{tmp_path}/model.py:reply"
    asked = {"opponent": model, "options": {"scenes": ["contests"], "turns": 4}, "out": tmp_path / "run", **settings}
    return runs.run("agentsense-duels", model, **asked)  # type: ignore[arg-type]


def test_each_scene_gives_both_seats() -> None:
    contests = list(find_contests(select_casts(load_scenarios().items, 1), 4))
    assert len({each.cluster for each in contests}) * 2 == len(contests) >= 60
    for one, other in zip(contests[::2], contests[1::2], strict=True):
        assert (one.names, one.seat, other.seat) == (other.names, 0, 1)
        assert one.id == other.id.replace("#2", "#1")
        assert one.list_probes(0)
        assert other.list_probes(1)


def test_without_a_partner_scenes_for_two_are_played(tmp_path: Path) -> None:
    result = run(tmp_path, "def reply(messages):\n    return 'No.'\n", judges=("reference/rule",), limit=2)
    assert any("have third persons and were left out" in note for note in result.manifest["notes"])
    values = {(each.metric, each.scenario[-1]): each.value for each in result.scores}
    assert values["won", "1"] == values["won", "2"] == 0.5
    assert values["neither", "1"] == 1
    assert {metric for metric, _ in values} == {"won", "both", "neither"}, "the rest is of bargains"
    (episode, *_) = result.episodes()
    assert set(episode.usage) == {"subject", "opponent"}
    assert len(episode.turns) == 5


def test_who_reaches_its_goal_alone_has_won(tmp_path: Path) -> None:
    """The one in the first seat gets what it wants, by the words that the data have for that, whoever plays it."""
    contest = next(each for each in find_contests(load_scenarios().items, 12) if each.id.startswith("boat-at-four:1"))
    owner = contest.goals[0]
    goal = contest.scene.by_name[owner.of].goals[owner.goal - 1]
    code = (
        f"LINES = {[(line.by, line.says) for line in goal.reached]!r}\n"
        "def reply(messages):\n"
        "    scene = ' '.join(m['content'] for m in messages[:1])\n"
        f"    me = next(name for name in {contest.names!r} if scene.find('You are ' + name) >= 0 or scene.find('play ' + name) >= 0)\n"
        "    said = ' '.join(m['content'] for m in messages[1:])\n"
        "    mine = [says for by, says in LINES if by == me and says[:40] not in said]\n"
        "    return mine[0] if mine else 'Very well.'\n"
    )
    result = run(
        tmp_path,
        code,
        judges=("reference/rule",),
        scenarios=("boat-at-four:1#1", "boat-at-four:1#2"),
        options={"scenes": ["contests"], "turns": 12},
    )
    won = {each.scenario[-1]: each.value for each in result.scores if each.metric == "won"}
    assert won == {"1": 1, "2": 0}
    page = str(reports.make_report_document([tmp_path / "run"]))
    assert "Contests" in page
    assert "(reached)" in page


def test_without_a_judge_nobody_has_won(tmp_path: Path) -> None:
    result = run(tmp_path, "def reply(messages):\n    return 'No.'\n", limit=1)
    assert {each.outcome for each in result.scores} == {Outcome.NOT_REACHED}


def test_a_partner_plays_everybody_else(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("def reply(messages):\n    return 'I am only here.'\n")
    result = run(
        tmp_path,
        "def reply(messages):\n    return 'No.'\n",
        partner=f"python:{tmp_path}/other.py:reply",
        scenarios=("the-tenor-pan:1#1",),
    )
    (episode,) = result.episodes()
    assert not episode.partner_failure
    sides = {turn.content: turn.side for turn in episode.turns if turn.index}
    assert sides["I am only here."] is None
    assert set(episode.usage) == {"subject", "opponent", "partner"}


def test_reference_agents_play_bargains_only(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Reference agents play bargains only"):
        run(tmp_path, "def reply(messages):\n    return 'LEAVE'\n", opponent="reference/concede")
    both = {"scenes": ["bargains", "contests"]}
    result = run(tmp_path, "def reply(messages):\n    return 'LEAVE'\n", opponent="reference/concede", options=both)
    assert any("contests were left out" in note for note in result.manifest["notes"])
    assert result.estimate("agreed") is not None
