"""Calls for checks in transcripts: patterns by hand, and real transcripts beside labels made by reading."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.anteval.ieg.calls import Attributed, Heard, attribute_calls, find_calls, is_roll_report
from sociable.benchmarks.anteval.ieg.interop.crd3 import EVERYBODY, find_crd3, find_people, read_crd3
from sociable.benchmarks.anteval.ieg.interop.fireball import read_fireball
from sociable.benchmarks.anteval.ieg.logs import MASTER
from sociable.benchmarks.anteval.ieg.real import read_real_sessions
from sociable.core.errors import DataError, InputError

DATA = Path(__file__).resolve().parents[5] / "shared" / "data"
CRD3, FIREBALL = DATA / "trpg_crd3" / "cleaned", DATA / "trpg_fireball" / "raw.jsonl"
needs_crd3 = pytest.mark.skipif(not CRD3.is_dir(), reason="needs CRD3 in ../shared/data/trpg_crd3")
needs_fireball = pytest.mark.skipif(not FIREBALL.is_file(), reason="needs FIREBALL in ../shared/data/trpg_fireball")


@pytest.mark.parametrize(
    ("text", "skills"),
    [
        ("Go ahead and make a perception check.", [("Perception",)]),
        ("Roll stealth, all of you.", [("Stealth",)]),
        ("Perception check. Forty coppers.", [("Perception",)]),
        ("That would be more of an insight.", [("Insight",)]),
        ("Make a sleight-of-hand check to hide it.", [("Sleight of Hand",)]),
        ("Make a persuasion roll with advantage.", [("Persuasion",)]),
        ("I'd like Grog to make an athletics check.", [("Athletics",)]),
        ("You can choose either acrobatics or athletics for this check.", [("Acrobatics", "Athletics")]),
        ("Make a nature check. No, this would be arcana.", [("Arcana",)]),
        ("Make an investigation check, and then roll history.", [("Investigation",)]),
        # No calls.
        ("What did you roll for stealth, by the way?", []),
        ("He makes a perception check to see you.", []),
        ("I'm going to roll insight for him.", []),
        ("You failed the medicine check earlier.", []),
        ("There is something in the nature of the gods.", []),
        ("That was quite a performance.", []),
        ("Make a strength check.", []),
        ("Dexterity saving throw, please.", []),
    ],
)
def test_a_call_is_told_from_talk_about_skills(text: str, skills: list[tuple[str, ...]]) -> None:
    assert [each.skills for each in find_calls(text)] == skills


@pytest.mark.parametrize(
    ("text", "is_report"),
    [
        ("Seventeen.", True),
        ("Natural 20!", True),
        ("Ooh, that's a 12.", True),
        ("One.", True),
        ("That's a one.", True),
        ("This one?", False),
        ("It is 20 feet away.", False),
        ("I have two gold.", False),
        ("Can I look around?", False),
        ("I go up to the twelve of them and say what I have wanted to say all day, namely that I am sorry", False),
    ],
)
def test_a_roll_is_told_from_other_numbers(text: str, is_report: bool) -> None:
    assert is_roll_report(text) is is_report


def attributed(*turns: tuple[str, str]) -> list[Attributed]:
    heard = [Heard((speaker,), text) for speaker, text in turns]
    return list(attribute_calls(heard, "GM", {"ANN": ["Ash", "Ann"], "BO": ["Birch", "Bo"], "CY": ["Cedar", "Cy"]}))


def test_whoever_is_named_is_meant() -> None:
    (call,) = attributed(("BO", "I look."), ("GM", "Ash, make a perception check."), ("BO", "12."))
    assert (call.who, call.how) == (("ANN",), "named")


def test_whoever_reports_the_roll_is_meant_and_not_whoever_spoke_before() -> None:
    (call,) = attributed(("BO", "I look."), ("GM", "Make a perception check."), ("CY", "Go on!"), ("ANN", "Fifteen."))
    assert (call.who, call.how) == (("ANN",), "reported")


def test_of_a_group_those_who_report() -> None:
    (call,) = attributed(("GM", "Everyone make a stealth check."), ("ANN", "9."), ("CY", "Natural 20."))
    assert (call.who, call.how) == (("ANN", "CY"), "group")


@pytest.mark.parametrize(
    ("answers", "how"),
    [
        ([("BO", "Hm.")], "nobody named, and no roll reported"),
        ([("ANN", "9."), ("BO", "14.")], "nobody named, and several rolls reported"),
        ([("GM", "And you, roll history."), ("ANN", "9.")], "nobody named, and no roll reported"),
    ],
)
def test_what_cannot_be_attributed_is_dropped_and_says_why(answers: list[tuple[str, str]], how: str) -> None:
    assert (attributed(("GM", "Make a perception check."), *answers)[0].who) == ()
    assert attributed(("GM", "Make a perception check."), *answers)[0].how == how


def test_asking_again_is_the_same_call() -> None:
    found = attributed(("GM", "Ash, roll stealth."), ("ANN", "What?"), ("GM", "Ash, roll stealth."), ("ANN", "4."))
    assert [call.how for call in found] == ["named", "repeated"]
    assert found[1].who == ()


def test_a_word_is_no_name_and_endless_sentences_end() -> None:
    heard = [Heard(("GM",), "If you will, make an investigation check."), Heard(("BO",), "14.")]
    (call,) = attribute_calls(heard, "GM", {"WILL": ["Kash", "Will"], "BO": ["Birch"]})
    assert call.who == ("BO",)
    assert find_calls("- " * 20_000 + "stealth") == []


@needs_crd3
def test_calls_in_real_transcripts_are_attributed_to_whom_readers_say() -> None:
    """Rules were adjusted on these same turns: of other episodes expect a little less."""
    labels = json.loads(Path(__file__).with_name("crd3_calls.json").read_text())
    found = {
        (file.stem, call.index): call
        for file in sorted(CRD3.glob("*.json"))
        for call in attribute_calls(heard(file), "MATT", spelled(file.stem))
    }
    called = [(episode, index, calls) for episode, index, calls in labels["mentions"] if calls]
    assert len(called) >= 100
    right = wrong = 0
    for episode, index, calls in labels["mentions"]:
        call = found.get((episode, index))
        if call is not None and call.who:
            agreed = any(set(call.skills) & set(skills) and set(call.who) == set(who) for skills, who in calls)
            right, wrong = right + agreed, wrong + (not agreed)
    assert right + wrong >= 80
    assert right / (right + wrong) >= 0.9
    # Of the calls among turns drawn at random, and of those among turns that name a skill, nearly all are seen.
    for part in ("random", "mentions"):
        real = [(episode, index) for episode, index, calls in labels[part] if calls]
        assert sum(place in found for place in real) / len(real) >= 0.85, part
    falsely = [place for *place, calls in labels["random"] if not calls and tuple(place) in found]
    assert len(falsely) <= 2


def heard(file: Path) -> list[Heard]:
    return [Heard(tuple(turn["NAMES"]), " ".join(turn["UTTERANCES"])) for turn in json.loads(file.read_text())["TURNS"]]


def spelled(episode: str) -> Mapping[str, list[str]]:
    return {actor: [*names, actor.title()] for actor, names in find_people(episode).items()}


@needs_crd3
def test_crd3_is_read_as_sessions_of_characters() -> None:
    real = read_real_sessions(CRD3)
    assert real.source == "CRD3"
    assert [log.id for log in real.logs] == ["C1E001", "C1E010", "C2E001", "C2E010", "C2E045"]
    assert sum(real.counts.values()) > real.counts["attributed"] > 90
    by_id = {log.id: log for log in real.logs}
    # Actors are called by their characters, which change from episode to episode.
    assert "Mollymauk" in by_id["C2E001"].players and "Caduceus" in by_id["C2E045"].players
    assert "Twiggy" in by_id["C2E045"].players
    assert not any("MATT" in player.upper() for log in real.logs for player in log.players)
    # The crew is heard, and does not play.
    speakers, players = {turn.speaker for turn in by_id["C1E001"].turns}, {*by_id["C1E001"].players}
    assert "Zac" in speakers - players and speakers <= {*players, MASTER, EVERYBODY.title(), "Zac"}
    first = by_id["C2E001"].calls[0]
    assert (first.before, [(each.character, each.skill) for each in first.checks]) == (
        249,
        [("Jester", "Perception"), ("Beau", "Perception")],
    )


@needs_fireball
def test_fireball_is_read_by_its_commands() -> None:
    found = read_fireball(FIREBALL)
    (log,) = found.logs
    assert [(each.character, each.skill) for call in log.calls for each in call.checks] == [
        ("Mozzie Urahaka", "Acrobatics"), ("Keya", "History"),
    ]  # fmt: skip
    assert not any(turn.text.startswith("!") for turn in log.turns)
    # The monster's contest is the master's own.
    assert MASTER in {turn.speaker for turn in log.turns}


def fireball_events(*said: tuple[str, str], check: str = "!c stealth") -> str:
    caster = {"type": "player", "name": "Zed\nthe Bold"}
    events: list[dict[str, Any]] = [
        {"event_type": "command", "author_id": 1, "author_name": "gm", "command_name": "begin", "message_id": 0},
        *({"event_type": "message", "author_id": who, "author_name": who, "content": text} for who, text in said),
        {
            "event_type": "command", "author_id": 2, "author_name": "\U0001f525", "command_name": "check",
            "message_id": 1, "content": check, "caster": caster,
        },
    ]  # fmt: skip
    return "".join(json.dumps({"combat_id": "x", **event}) + "\n" for event in events)


@pytest.mark.parametrize(
    ("said", "before"),
    [
        ((("2", "I creep on."), ("1", "Zed, give me a Stealth check."), ("2", "Sure.")), 1),
        ((("2", "I creep on."), ("1", "You can try (DC20)."), ("3", "Ooh.")), 1),
        ((("2", "I creep on, with stealth."), ("1", "Fine.")), 2),
    ],
)
def test_a_window_of_fireball_ends_before_the_check_is_called_for(
    said: tuple[tuple[str, str], ...], before: int, tmp_path: Path
) -> None:
    (tmp_path / "events.jsonl").write_text(fireball_events(*said))
    (log,) = read_fireball(tmp_path / "events.jsonl").logs
    assert [(call.before, call.checks[0].character) for call in log.calls] == [(before, "Zed the Bold")]


def test_whatever_people_are_called_logs_are_read(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(fireball_events(("2", "Hm \ud83d."), ("3", "zed the bold here.")))
    (log,) = read_real_sessions(tmp_path / "events.jsonl").logs
    assert log.players == ("Zed the Bold", "3")
    folder = tmp_path / "crd3"
    folder.mkdir()
    turns = [
        {"NAMES": names, "UTTERANCES": [text]}
        for names, text in (([""], "Hm."), (["???"], "\ud83d"), (["BO\nX"], "I look."), (["MATT"], "Bo X, roll perception."))
    ]
    # Nobody knows who plays in a ninth campaign.
    (folder / "C9E001.json").write_text(json.dumps({"TURNS": turns}))
    (log,) = read_real_sessions(folder).logs
    assert [call.checks[0].character for call in log.calls] == ["Bo X"]


def write_episode(folder: Path, name: str, *said: tuple[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    turns = [{"NAMES": [who], "UTTERANCES": [text]} for who, text in said]
    (folder / f"{name}.json").write_text(json.dumps({"TURNS": turns}))


SAID = (
    ("CHRIS PERKINS", "I look around."),
    ("ZAC", "Sound is on."),
    ("MATT", "Shale, make a perception check."),
    ("CHRIS PERKINS", "Fifteen."),
    ("MATT", "Make an insight check."),
    ("ZAC", "Twelve."),
)


def test_guests_are_who_they_play_and_the_crew_does_not_play(tmp_path: Path) -> None:
    # As in a clone of the data set's repository, which may be named by its root or by any folder on the way.
    folder = tmp_path / "CRD3" / "data" / "cleaned data"
    write_episode(folder, "C1E055", *SAID)
    for named in (tmp_path / "CRD3", tmp_path / "CRD3" / "data", folder):
        real = read_real_sessions(named)
        (log,) = real.logs
        assert log.players == ("Shale",)
        assert [turn.speaker for turn in log.turns][:2] == ["Shale", "Zac"]
        assert [check.character for call in log.calls for check in call.checks] == ["Shale"]
        assert real.counts == {"attributed": 1, "dropped: nobody named, and no roll reported": 1}


def test_sessions_are_read_once_and_anew_where_they_changed(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_episode(tmp_path / "a", "C1E055", *SAID)
    first = read_real_sessions(tmp_path / "a")
    assert len(list(cache.rglob("*.json"))) == 1

    def fail(folder: Path) -> Any:
        raise AssertionError("read again")

    with monkeypatch.context() as watched:
        watched.setattr("sociable.benchmarks.anteval.ieg.real.read_crd3", fail)
        assert read_real_sessions(tmp_path / "a") == first
        write_episode(tmp_path / "a", "C1E055", *SAID, ("MATT", "Hm."))
        with pytest.raises(AssertionError, match="read again"):
            read_real_sessions(tmp_path / "a")
    # What is kept may be torn, or there may be no place to keep it in.
    for kept in cache.rglob("*.json"):
        kept.write_text("{")
    write_episode(tmp_path / "a", "C1E055", *SAID)
    assert read_real_sessions(tmp_path / "a") == first
    shutil.rmtree(cache)
    cache.write_text("a file where the cache should be")
    assert read_real_sessions(tmp_path / "a") == first


def test_a_folder_or_file_without_calls_says_what_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "logs.jsonl"
    path.write_text(json.dumps({"id": "a", "players": ["Ann"], "turns": [{"speaker": "Ann", "text": "Hm."}]}))
    with pytest.raises(InputError, match="no call for a skill check"):
        read_real_sessions(path)
    (tmp_path / "C1E001.json").write_text('{"TURNS": [{"NAMES": "x"}]}')
    assert find_crd3(tmp_path) == tmp_path
    with pytest.raises(DataError, match="C1E001"):
        read_crd3(tmp_path)


def log_record(**changes: Any) -> dict[str, Any]:
    return {
        "id": "a",
        "players": ["Ann"],
        "turns": [{"speaker": "Ann", "text": "I look."}, {"speaker": "GM", "text": "Roll."}],
        "calls": [{"before": 1, "checks": [{"character": "Ann", "skill": "Perception"}]}],
        **changes,
    }


def test_a_users_own_logs_are_read(tmp_path: Path) -> None:
    path = tmp_path / "logs.jsonl"
    path.write_text(json.dumps(log_record()))
    real = read_real_sessions(path)
    assert real.logs[0].calls[0].checks[0].skill == "Perception"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"calls": [{"before": 5, "checks": []}]}, "before turn 6, and there are 2 turns"),
        ({"calls": [{"before": 1, "checks": [{"character": "Bo", "skill": "Stealth"}]}]}, "'Bo', who is to make a check"),
        ({"calls": [{"before": 1, "checks": [{"character": "Ann", "skill": "Luck"}]}]}, "'Luck' is no skill"),
        ({"master": "Ann"}, "both master and player"),
        ({"turns": [{"speaker": "Ann"}]}, "turns.0.text"),
        ({"players": ["Ann", "ann"]}, "'ann' is also 'Ann'"),
        ({"players": ["Ann", "Ann"]}, "'Ann' is also 'Ann'"),
        ({"turns": [{"speaker": "ann", "text": "I look."}]}, "the speaker 'ann' is spelled 'Ann' among players"),
    ],
)
def test_logs_that_contradict_themselves_are_refused(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "logs.jsonl"
    path.write_text(json.dumps(log_record(id="first")) + "\n" + json.dumps(log_record(**changes)))
    with pytest.raises(DataError) as error:
        read_real_sessions(path)
    assert said in str(error.value)
    assert "line 2" in str(error.value)
