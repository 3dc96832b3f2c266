"""The local virtual DM: it learns what there is to learn, meets strangers, and survives odd training sets."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from sociable.benchmarks.anteval.ieg.fscore import measure_f_scores
from sociable.benchmarks.anteval.ieg.logs import Spoken
from sociable.benchmarks.anteval.ieg.masters import find_master_kind
from sociable.benchmarks.anteval.ieg.masters.local import LocalKind
from sociable.benchmarks.anteval.ieg.windows import Window
from sociable.core.errors import InputError

ACTS = {
    "Stealth": ("I creep along the wall", "we tiptoe past the guard", "I hide behind the crates", "quietly, in the shadows"),
    "Perception": ("I look around", "do I hear anything", "I listen at the door", "what do I see over there"),
    "Athletics": ("I climb up the rope", "I shove the door open", "I jump across", "I lift the gate"),
}
TALK = ("what a day", "my feet hurt", "is there soup", "you owe me a copper", "ha, good one")


def window(number: int, names: tuple[str, ...], draw: random.Random) -> Window:
    who, skill = draw.choice(names), draw.choice(sorted(ACTS))
    turns = [Spoken(speaker=name, text=draw.choice(TALK)) for _ in range(3) for name in draw.sample(names, len(names))]
    place = max(index for index, turn in enumerate(turns) if turn.speaker == who)
    turns[place] = Spoken(speaker=who, text=draw.choice(ACTS[skill]))
    turns.insert(4, Spoken(speaker="GM", text="The wind turns."))
    return Window(f"s{number}", tuple(turns), names, "GM", frozenset({(who, skill)}))


def windows(count: int, names: tuple[str, ...], seed: int) -> list[Window]:
    draw = random.Random(seed)
    return [window(number, names, draw) for number in range(count)]


def test_it_learns_and_predicts_people_it_has_never_met() -> None:
    trained = LocalKind().train(windows(150, ("Ann", "Bo", "Cy"), 1), 0, "r")
    test = windows(60, ("Dora", "Emil", "Fay", "Gus"), 2)
    found = measure_f_scores(trained.predict(test), [each.checks for each in test])
    untrained = measure_f_scores(LocalKind().make_untrained().predict(test), [each.checks for each in test])
    assert found.character is not None and untrained.character is not None
    assert found.character > 0.9 > untrained.character > 0.4
    assert (found.tuple or 0) > 0.85


def test_labels_that_mean_nothing_teach_nothing() -> None:
    draw = random.Random(3)
    training = [
        Window(
            each.session,
            each.turns,
            each.players,
            each.master,
            frozenset({(draw.choice(each.players), draw.choice(sorted(ACTS)))}),
        )
        for each in windows(150, ("Ann", "Bo", "Cy"), 1)
    ]
    test = windows(60, ("Dora", "Emil", "Fay", "Gus"), 2)
    found = measure_f_scores(LocalKind().train(training, 0, "r").predict(test), [each.checks for each in test])
    assert found.character is not None and found.character < 0.6


def test_it_is_the_same_each_time_and_after_being_saved(tmp_path: Path) -> None:
    training, test = windows(40, ("Ann", "Bo", "Cy"), 1), windows(20, ("Ann", "Bo", "Cy"), 2)
    one, other = (LocalKind().train(training, 0, "r") for _ in range(2))
    assert one.predict(test) == other.predict(test)
    one.save(tmp_path / "dm")
    again = LocalKind().load(tmp_path / "dm")
    assert again.predict(test) == one.predict(test)
    made_of = {"kind": "local", "base": "cues of the skills", "embeddings": None, "purpose": "r", "seed": 0, "windows": 40}
    assert again.made_of == made_of
    LocalKind().make_untrained().save(tmp_path / "base")
    assert LocalKind().load(tmp_path / "base").predict(test) == LocalKind().make_untrained().predict(test)
    with pytest.raises(InputError, match="no virtual dungeon master"):
        LocalKind().load(tmp_path)


def test_what_is_loaded_can_run_no_code(tmp_path: Path) -> None:
    LocalKind().train(windows(20, ("Ann", "Bo"), 1), 0, "r").save(tmp_path)
    np.savez(tmp_path / "ranker.npz", classes=np.array([object()]), weights=np.zeros(1), offsets=np.zeros(1))
    with pytest.raises(ValueError, match="allow_pickle"):
        LocalKind().load(tmp_path)


def test_one_skill_in_training_is_the_skill_of_all() -> None:
    training = [
        Window(each.session, each.turns, each.players, each.master, frozenset((who, "Stealth") for who, _ in each.checks))
        for each in windows(30, ("Ann", "Bo", "Cy"), 1)
    ]
    found = LocalKind().train(training, 0, "r").predict(windows(10, ("Ann", "Bo", "Cy"), 2))
    assert {skill for each in found for _, skill in each} == {"Stealth"}


@pytest.mark.parametrize("count", [0, 1, 2, 10])
def test_few_windows_and_none(count: int) -> None:
    test = windows(10, ("Ann", "Bo", "Cy"), 2)
    found = LocalKind().train(windows(count, ("Ann", "Bo", "Cy"), 1), 0, "r").predict(test)
    assert all(len(each) >= 1 for each in found)


def test_windows_in_which_nobody_or_everybody_is_meant() -> None:
    base = windows(12, ("Ann", "Bo"), 1)
    nobody = [Window(each.session, each.turns, each.players, each.master, frozenset()) for each in base]
    assert LocalKind().train(nobody, 0, "r").predict(base[:3])
    everybody = [
        Window(each.session, each.turns, each.players, each.master, frozenset((who, "Stealth") for who in each.players))
        for each in base
    ]
    assert LocalKind().train(everybody, 0, "r").predict(base[:3])


def test_a_window_in_which_no_player_speaks_names_nobody() -> None:
    empty = Window("s", (Spoken(speaker="GM", text="Nobody is there."),), (), "GM", frozenset({("Ann", "Stealth")}))
    master = LocalKind().train([*windows(10, ("Ann", "Bo"), 1), empty], 0, "r")
    assert master.predict([empty, *windows(1, ("Ann", "Bo"), 3)])[0] == frozenset()


def test_kinds_are_found_by_name() -> None:
    assert find_master_kind("local", None).name == "local"
    with pytest.raises(InputError, match="no other base"):
        find_master_kind("local", "some/model")
