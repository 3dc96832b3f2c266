"""Conversations, however they are kept, and whom each turn is for."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from sociable.benchmarks.hsii.dataset import Case, load_dataset
from sociable.core.errors import DataError, InputError
from sociable.datasets.transcripts import (
    ANSWERED,
    ASKED,
    BEFORE,
    GIVEN,
    NAMED,
    REPLIED,
    SaidTurn,
    Transcript,
    find_addressees,
    read_transcripts,
)

GUM = Path(__file__).resolve().parents[3] / "shared" / "data" / "gum" / "dialogues_interview_court.jsonl"


def transcript(*turns: tuple[str, str]) -> Transcript:
    return Transcript(id="t", turns=tuple(SaidTurn(speaker=who, text=text) for who, text in turns))


@pytest.mark.parametrize(
    ("text", "to", "how"),
    [
        ("Cy, the lid!", "Cy Dorn", NAMED),
        ("Yes, Mr. Dorn, I heard.", "Cy Dorn", NAMED),
        ("@bo: look", "Bo", NAMED),
        ("Is it done, Bo?", "Bo", NAMED),
        ("The lid of Cy is gone.", "Bo", BEFORE),
        ("Bo and Cy, come here.", "Bo", BEFORE),
        ("Who has the lid?", "Cy Dorn", ASKED),
    ],
)
def test_whom_a_turn_is_for(text: str, to: str, how: str) -> None:
    turns = find_addressees(transcript(("Cy Dorn", "Hm."), ("Bo", "Well."), ("Ann", text), ("Cy Dorn", "Mine."))).turns
    assert (turns[2].to, turns[2].how) == (to, how)


def test_an_answer_is_for_whoever_asked_and_a_first_word_for_nobody() -> None:
    turns = find_addressees(transcript(("Ann", "Fog."), ("Bo", "Where?"), ("Cy", "There."))).turns
    assert [(turn.to, turn.how) for turn in turns] == [(None, ""), ("Cy", ASKED), ("Bo", ANSWERED)]


def test_what_is_given_or_linked_is_taken_before_all_else(tmp_path: Path) -> None:
    turns = [
        {"speaker": "Ann", "text": "Fog.", "to": "Bo"},
        {"speaker": "Bo", "text": "Hm."},
        {"speaker": "Cy", "text": "Bo, no.", "reply_to": 1},
    ]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "turns": [{"text": "A pier."}, *turns]}))
    (found,) = read_transcripts(tmp_path / "a.jsonl")
    assert found.scene == "A pier."
    assert [(turn.to, turn.how) for turn in find_addressees(found).turns] == [("Bo", GIVEN), ("Ann", BEFORE), ("Ann", REPLIED)]


def test_a_chat_with_links_between_its_lines(tmp_path: Path) -> None:
    (tmp_path / "x.ascii.txt").write_text(
        "=== ann [~a@b] has joined #x\n[10:01] <ann> anybody here?\n[10:01] * bo waves\n[10:02] <cy> how do I mount it\n[10:03] <bo> ann: yes\n"
    )
    (tmp_path / "x.annotation.txt").write_text("1 4 -\n3 3 -\n0 1 -\n")
    (found,) = read_transcripts(tmp_path)
    assert [(turn.speaker, turn.reply_to) for turn in found.turns] == [("ann", None), ("bo", None), ("cy", None), ("bo", 0)]
    (tmp_path / "x.annotation.txt").write_text("one two\n")
    with pytest.raises(InputError, match="line 1: expected two line numbers"):
        read_transcripts(tmp_path)


def test_a_plain_transcript(tmp_path: Path) -> None:
    (tmp_path / "pier.txt").write_text("A pier at night.\n\nAnn Bell: Who is it?\nI cannot see.\nBo: Me.\n")
    (found,) = read_transcripts(tmp_path / "pier.txt")
    assert (found.scene, [(turn.speaker, turn.text) for turn in found.turns]) == (
        "A pier at night.",
        [("Ann Bell", "Who is it? I cannot see."), ("Bo", "Me.")],
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "a"}', "field 'turns': is missing"),
        ('{"turns": [1]}', "turns.0"),
        ('{"turns": [{"speaker": "Ann", "text": "x", "reply_to": 3}]}', "3 is no turn before it"),
        ('{"turns": [{"text": "x"}]}', "at least 1"),
        ("", "no conversation in it"),
    ],
)
def test_what_is_no_conversation_is_said_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(InputError) as error:
        read_transcripts(tmp_path / "a.jsonl")
    assert said in str(error.value)


@pytest.mark.skipif(not GUM.is_file(), reason="needs ../shared/data/gum")
def test_real_conversations_are_read_with_their_scene() -> None:
    found = {each.id: each for each in read_transcripts(GUM)}
    assert len(found) == 28
    assert "DavidShankbone" in found["GUM_interview_dungeon"].speakers
    assert found["GUM_interview_peres"].scene.startswith("The future of the peace process")


def test_how_often_addressees_that_are_inferred_are_right() -> None:
    """On dialogues whose addressees are known: calling somebody by name hardly ever misleads, all else often does."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    dialogues: dict[str, list[Case]] = defaultdict(list)
    for case in load_dataset().items:
        dialogues[case.dialogue].append(case)
    for name, cases in dialogues.items():
        said = [*cases[-1].messages, cases[-1].golden]
        turns = find_addressees(
            Transcript(id=name, turns=tuple(SaidTurn(speaker=each.role_from, text=each.content) for each in said))
        ).turns
        for each, turn in zip(said, turns, strict=True):
            total[turn.how] += 1
            right[turn.how] += turn.to == each.role_to
    assert total[NAMED] > 200
    assert right[NAMED] / total[NAMED] > 0.98
    assert right[ASKED] / total[ASKED] > 0.5


@pytest.mark.parametrize(
    ("given", "to", "how"),
    [
        ("cy dorn", "Cy Dorn", GIVEN),
        ("Dorn", "Cy Dorn", GIVEN),
        # Somebody who only listens.
        ("Eve", "Eve", GIVEN),
        ("everyone", "Bo", BEFORE),
        ("Bo and Cy", "Bo", BEFORE),
        ("Ann", "Bo", BEFORE),
    ],
)
def test_what_is_given_may_be_spelled_anyhow(given: str, to: str, how: str) -> None:
    said = transcript(("Cy Dorn", "Hm."), ("Bo", "Well."), ("Ann", "Fog."), ("Cy Dorn", "Mine."))
    turns = tuple(turn.model_copy(update={"to": given if turn.speaker == "Ann" else None}) for turn in said.turns)
    found = find_addressees(said.model_copy(update={"turns": turns})).turns[2]
    assert (found.to, found.how) == (to, how)


def test_whom_a_turn_is_for_is_one_name(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "turns": [{"speaker": "Ann", "text": "Fog.", "to": ["Bo", "Cy"]}]}))
    with pytest.raises(DataError, match=r"turns\.0\.to.*expected one name"):
        read_transcripts(tmp_path / "a.jsonl")


def test_a_name_that_is_a_word_must_be_marked() -> None:
    said = transcript(("ok", "Hm."), ("bo", "Well."), ("ann", "ok, thanks"), ("ann", "@ok: thanks"))
    assert [turn.how for turn in find_addressees(said).turns[2:]] == [BEFORE, NAMED]
