"""The experiment itself: what is held out, unseen or found again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.anteval.ieg.experiment import _bound, _draw_half, run_experiment
from sociable.benchmarks.anteval.ieg.logs import Call, Check, Log, Spoken
from sociable.benchmarks.anteval.ieg.masters.local import LocalKind
from sociable.benchmarks.anteval.ieg.real import RealSessions, SplitSessions
from sociable.benchmarks.anteval.ieg.records import IegOptions
from sociable.core.seeding import make_generator


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


def run_on(generated: Any, training: Any, held_out: Any, kind: Any, **asked: Any) -> Any:
    keep = asked.pop("keep", None)
    options = IegOptions(**{"window": 6, "resamples": 0, "curve": False, **asked})
    sessions = SplitSessions(RealSessions((), "logs", {}, ""), training, held_out, options)
    return run_experiment(generated, sessions, kind, 0, keep)


def run(**asked: Any) -> Any:
    return run_on([[each] for each in GENERATED], TRAINING, HELD_OUT, LocalKind(), **asked)


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
    for held_out, called in ((twice, 6), (long, 3)):
        for quiet, tested_on in ((0.0, called), (0.34, called + round(0.34 * called)), (1.0, 2 * called)):
            found = run_on([GENERATED], TRAINING, held_out, LocalKind(), quiet=quiet)
            assert found is not None and found.tested_on == tested_on


def test_repeats_are_drawn_with_their_scenario() -> None:
    drawn: list[int] = []

    class Watched(LocalKind):
        def train(self, windows: Any, seed: int, purpose: str, folder: Path | None = None) -> Any:
            if purpose == "f_g" and seed:
                drawn.append(len({each.session for each in windows}))
            return super().train(windows, seed, purpose, folder)

    scenarios = [GENERATED[:2], GENERATED[2:], [log("g4", "Stealth"), log("g5", "Stealth")]]
    results = run_on(scenarios, [*TRAINING, *TRAINING], HELD_OUT, Watched(), resamples=12)
    assert results is not None and results.generated_sessions == 6
    # Half of three scenarios is one or two of them: two sessions or four, and never three.
    assert set(drawn) == {2, 4}


def test_intervals_lie_about_the_value_however_much_worse_halves_are() -> None:
    # Masters trained on halves find 0.2 less; their deviations count, and not that they are worse.
    draws = [0.5 + 0.01 * number for number in range(-10, 11)]
    found = _bound(0.7, draws)
    assert found.low == pytest.approx(0.605) and found.high == pytest.approx(0.795)
    # Nothing is below 0 or above 1, and what is alike in every draw has no interval.
    assert _bound(0.05, draws).low == 0.0
    assert _bound(0.7, [0.5] * 20).low is None


def test_halves_are_drawn_without_replacement() -> None:
    drawn = [_draw_half("abcde", draw, make_generator(0, draw)) for draw in range(40)]
    assert {len(each) for each in drawn} == {2, 3}
    assert all(len(set(each)) == len(each) for each in drawn)
    assert _draw_half("a", 0, make_generator(0)) == ["a"]


def test_nothing_to_learn_from_is_no_experiment() -> None:
    assert run_on([], TRAINING, HELD_OUT, LocalKind()) is None
    assert run_on([GENERATED], TRAINING, [log("h", "Arcana", 0)], LocalKind()) is None


def test_a_master_tuned_on_the_same_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(keep=tmp_path / "a" / "masters")
    trained: list[str] = []
    train = LocalKind.train

    def counted(self: LocalKind, windows: Any, seed: int, purpose: str, folder: Path | None = None) -> Any:
        trained.append(purpose)
        return train(self, windows, seed, purpose, folder)

    monkeypatch.setattr(LocalKind, "train", counted)
    # In the same run, and by another run that asks for it; not where the windows differ.
    assert run(keep=tmp_path / "a" / "masters") == first
    other = run(keep=tmp_path / "b", masters=str(tmp_path / "a"))
    assert other.taken_over == ("f_g", "f_r", "shuffled", "f_g masked", "f_r masked", "shuffled masked")
    assert other.model_copy(update={"taken_over": ()}) == first
    assert trained == []
    assert (tmp_path / "b" / "f_r" / "made_of.json").is_file()
    others = [log(f"o{number}", "Insight") for number in range(4)]
    run_on([others], TRAINING, HELD_OUT, LocalKind(), keep=tmp_path / "c", masters=str(tmp_path / "a"))
    assert trained == ["f_g", "shuffled", "f_g masked", "shuffled masked"]


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: (folder / "namer.npz").unlink(),
        lambda folder: (folder / "namer.npz").write_bytes(b"PK\x03\x04 torn"),
        lambda folder: (folder / "made_of.json").write_text("[]"),
        lambda folder: (folder / "made_of.json").write_text('{"of'),
    ],
)
def test_a_master_that_is_not_whole_is_trained_anew(harm: Any, tmp_path: Path) -> None:
    first = run(keep=tmp_path)
    harm(tmp_path / "f_r")
    assert run(keep=tmp_path) == first
    assert (tmp_path / "f_r" / "namer.npz").stat().st_size > 100


def test_masters_of_another_recipe_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(keep=tmp_path)
    before = (tmp_path / "f_r" / "made_of.json").read_text()
    monkeypatch.setattr("sociable.benchmarks.anteval.ieg.masters.local.VERSION", "another")
    run(keep=tmp_path)
    assert (tmp_path / "f_r" / "made_of.json").read_text() != before
