"""The experiment itself: what is held out, unseen or found again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sociable.anteval.ieg.experiment import run_experiment
from sociable.anteval.ieg.logs import Call, Check, Log, Spoken
from sociable.anteval.ieg.masters.local import LocalKind


def log(name: str, skill: str, calls: int = 3) -> Log:
    turns = [Spoken(speaker=("Ann", "GM", "Bo")[number % 3], text=f"{name} {number}") for number in range(6 * calls)]
    checks = (Check(character="Ann", skill=skill),)
    return Log(
        id=name,
        players=("Ann", "Bo"),
        master="GM",
        turns=tuple(turns),
        calls=tuple(Call(before=6 * (place + 1), checks=checks) for place in range(calls)),
    )


GENERATED = [log(f"g{number}", "Stealth") for number in range(4)]
TRAINING = [log(f"t{number}", "Arcana") for number in range(3)]
HELD_OUT = [log(f"h{number}", "Perception") for number in range(2)]


def run(kind: Any = None, **changes: Any) -> Any:
    asked: dict[str, Any] = {"width": 6, "quiet": 0.0, "resamples": 0, "curve": False, "seed": 0, **changes}
    return run_experiment(GENERATED, TRAINING, HELD_OUT, kind or LocalKind(), **asked)


def test_skills_that_training_never_saw_are_named_and_cannot_be_found() -> None:
    results = run()
    assert results.unseen == ("f_g: Perception", "f_r: Perception")
    assert results.figures["f_r"].tuple.value == 0.0
    assert results.gaps["tuple"].value is None
    assert results.confusion[1].skills in ({"Perception": {"Arcana": 6}}, {})


def test_both_masters_are_tuned_on_equally_many_windows() -> None:
    results = run()
    assert (results.trained_on, results.tested_on) == (9, 6)
    assert (results.real_sessions, results.generated_sessions) == ((3, 2), 4)


def test_windows_without_a_call_are_as_many_as_asked_for() -> None:
    long = [log(f"l{number}", "Arcana", 1).model_copy(update={"turns": log("x", "Arcana", 9).turns}) for number in range(3)]
    twice = [each.model_copy(update={"calls": (*each.calls, each.calls[0].model_copy(update={"before": 54}))}) for each in long]
    asked: dict[str, Any] = {"width": 6, "resamples": 0, "curve": False, "seed": 0}
    without = run_experiment(GENERATED, TRAINING, twice, LocalKind(), quiet=0.0, **asked)
    quiet = run_experiment(GENERATED, TRAINING, twice, LocalKind(), quiet=1.0, **asked)
    assert without is not None and quiet is not None
    assert (without.tested_on, quiet.tested_on) == (6, 12)


def test_nothing_to_learn_from_is_no_experiment() -> None:
    asked: dict[str, Any] = {"width": 6, "quiet": 0.0, "resamples": 0, "curve": False, "seed": 0}
    assert run_experiment([], TRAINING, HELD_OUT, LocalKind(), **asked) is None
    assert run_experiment(GENERATED, TRAINING, [log("h", "Arcana", 0)], LocalKind(), **asked) is None


def test_a_master_tuned_on_the_same_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(keep=tmp_path / "a")
    trained: list[str] = []
    train = LocalKind.train

    def counted(self: LocalKind, windows: Any, seed: int, purpose: str, folder: Path | None = None) -> Any:
        trained.append(purpose)
        return train(self, windows, seed, purpose, folder)

    monkeypatch.setattr(LocalKind, "train", counted)
    # In the same run, and by another run that asks for it; not where the windows differ.
    assert run(keep=tmp_path / "a") == first
    assert run(keep=tmp_path / "b", take=tmp_path / "a") == first
    assert trained == []
    assert (tmp_path / "b" / "f_r" / "made_of.json").is_file()
    others = [log(f"o{number}", "Insight") for number in range(4)]
    asked: dict[str, Any] = {"width": 6, "quiet": 0.0, "resamples": 0, "curve": False, "seed": 0}
    run_experiment(others, TRAINING, HELD_OUT, LocalKind(), keep=tmp_path / "c", take=tmp_path / "a", **asked)
    assert trained == ["f_g", "shuffled", "f_g masked", "shuffled masked"]
