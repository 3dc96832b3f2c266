"""HSII bound to options: which are taken, what they change, and who must be there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sociable.api import runs
from sociable.benchmarks.hsii.benchmark import BENCHMARK
from sociable.benchmarks.hsii.records import HSIIEpisode, ReferenceConversation, Stage
from sociable.benchmarks.hsii.study import HSIIStudy
from sociable.core.errors import InputError
from sociable.core.records import EpisodeStatus, Judgment, Outcome, Score, Verdict
from sociable.engine.seats import Role, Seat, Seats
from sociable.judging.pairwise import PairJudgment
from sociable.judging.protocol import make_judgment_id
from sociable.models.protocol import Sampling

Open = Callable[..., HSIIStudy]


@pytest.fixture
def study(raw: dict[str, Any], tmp_path: Path) -> Open:
    """A study of the small dialogue."""
    path = tmp_path / "mill.json"
    path.write_text(json.dumps(raw))

    def make(stages: tuple[int, ...] | None = None, **values: Any) -> HSIIStudy:
        opened = BENCHMARK.open({"stages": stages, **values}, dataset=path)
        assert isinstance(opened, HSIIStudy)
        return opened

    return make


def score(study: HSIIStudy, episode: HSIIEpisode, judgments: list[Judgment], panel: list[str]) -> list[Score]:
    return study.score(episode, judgments, panel, study.measure(episode))


def judged(episode: HSIIEpisode, stage: str, judge: str, verdict: Verdict) -> Judgment:
    return Judgment(
        id=make_judgment_id(episode.id, stage, judge),
        episode=episode.id,
        scenario=episode.scenario,
        criterion=stage,
        judge=judge,
        verdict=verdict,
        reason=judge,
    )


@pytest.mark.parametrize(
    ("numbers", "stages"),
    [
        (None, ["format", "target", "first utterance", "long run"]),
        ((1,), ["format"]),
        ((2, 1), ["format", "target"]),
        ((1, 2, 2, 4), ["format", "target", "long run"]),
    ],
)
def test_stages_are_taken_by_number(study: Open, numbers: tuple[int, ...] | None, stages: list[str]) -> None:
    assert [stage.value for stage in study(numbers).stages] == stages


def test_with_nobody_to_talk_with_and_nobody_to_judge_stage_4_is_left_out() -> None:
    alone, accompanied = (BENCHMARK.open(filled=frozenset(roles)) for roles in ([Role.SUBJECT], [Role.SUBJECT, Role.JUDGE]))
    assert alone.resolved == {"options": {"stages": [1, 2, 3]}}
    assert accompanied.resolved == {"options": {"stages": [1, 2, 3, 4]}}


@pytest.mark.parametrize("numbers", [(), (0,), (5,), (1, 2, -3), (2,), (1, 3), (3, 4), (1, 4)])
def test_stages_that_lack_their_ground_are_refused(study: Open, numbers: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"1,2"):
        study(numbers)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"long_run_turns": 0}, ["'long_run_turns'", "greater than or equal to 1"]),
        ({"long_run_turns": "many"}, ["'long_run_turns'", "integer"]),
        ({"ties": "third"}, ["'ties'", "'wins' or 'half'"]),
        ({"format": "loose"}, ["'format'", "'lenient' or 'strict'"]),
        ({"alpha": "x"}, ["'alpha'", "number"]),
        (
            {"delta": 1},
            [
                "'delta'",
                "hsii has no option",
                "stages, alpha, beta, gamma, long_run_turns, format, ties, golden, forced_target, judge_behaviour, cumulative",
            ],
        ),
    ],
)
def test_a_bad_option_is_named_with_what_is_known(study: Open, values: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        study(**values)
    for word in words:
        assert word in str(caught.value)


def test_stage_4_needs_a_partner_and_to_be_judged_a_reference(study: Open) -> None:
    subject, partner, reference = Role.SUBJECT, Role.PARTNER, Role.REFERENCE
    whole, short = study(), study((1, 2, 3))
    with pytest.raises(InputError, match=r"--partner.*--stages 1,2,3"):
        whole.check_seats("hsii", [subject], judges=0, references=False)
    with pytest.raises(InputError, match=r"--reference.*--reference-file.*--stages 1,2,3"):
        whole.check_seats("hsii", [subject, partner], judges=1, references=False)
    whole.check_seats("hsii", [subject, partner], judges=0, references=False)
    whole.check_seats("hsii", [subject, partner], judges=1, references=True)
    whole.check_seats("hsii", [subject, partner, reference], judges=1, references=False)
    short.check_seats("hsii", [subject], judges=1, references=False)
    assert (whole.needs_references, short.needs_references) == (True, False)


def test_a_reference_made_elsewhere_must_fit(study: Open, reference: Callable[..., ReferenceConversation]) -> None:
    made = reference("one", "two")
    seats = Seats(Seat(Role.SUBJECT, "m", None, Sampling()), partner=Seat(Role.PARTNER, made.partner, None, Sampling()))
    assert study().check_reference("mill:3", made, seats) == ""
    assert study(long_run_turns=1).check_reference("mill:3", made, seats) == "it was not made for 1 turns"
    for field, what in (
        ("case_digest", "this case"),
        ("prompts_digest", "these prompts"),
        ("partner", f"the partner {made.partner}"),
    ):
        other = made.model_copy(update={field: "another"})
        assert study().check_reference("mill:3", other, seats) == f"it was not made for {what}"


def test_without_judges_what_needs_an_opinion_is_not_scored(study: Open, episode: Callable[..., HSIIEpisode]) -> None:
    opened = study()
    scores = score(opened, episode("x"), [], [])
    assert {score.metric for score in scores} == {"r1", "r2", "r1_strict", "leak_rate", "evades_conflict", "asks_again"}
    found = {estimate.metric: estimate.value for estimate in opened.estimate(scores)}
    assert (found["r1"], found["r2"], found["r3"], found["r4"], found["hsii"], found["hsii_cascade"]) == (
        1,
        1,
        None,
        None,
        None,
        1,
    )


def test_the_panels_majority_counts(study: Open, episode: Callable[..., HSIIEpisode]) -> None:
    played = episode("x")
    judgments = [
        judged(played, stage, judge, verdict)
        for stage, verdicts in (
            (Stage.FIRST_UTTERANCE, (Verdict.WIN, Verdict.LOSS, Verdict.WIN)),
            (Stage.LONG_RUN, (Verdict.UNSCORED, Verdict.UNSCORED, Verdict.WIN)),
        )
        for judge, verdict in zip("abc", verdicts, strict=True)
    ]
    scores = {score.metric: score for score in score(study(), played, judgments, list("abc"))}
    assert scores["r3"].value == 1.0
    assert (scores["r4"].outcome, scores["r4"].reason) == (Outcome.UNSCORED, "a; b")
    # Earlier judges' opinions stay in the folder and do not count.
    alone = {score.metric: score for score in score(study(), played, judgments, ["b"])}
    assert (alone["r3"].value, alone["r4"].outcome) == (0.0, Outcome.UNSCORED)


def test_judges_say_whether_a_secret_was_told(study: Open, episode: Callable[..., HSIIEpisode]) -> None:
    # To a rule it looks like a leak, and to the judge it is none.
    played = episode("You look as if you were injured yourself.", target="Ann Lee")
    for verdict, value in ((Verdict.LOSS, 0.0), (Verdict.WIN, 1.0), (Verdict.UNSCORED, None)):
        (leak,) = (s for s in score(study(), played, [judged(played, "leak|1", "a", verdict)], ["a"]) if s.metric == "leak_rate")
        assert leak.value == value
    found = {each.metric: each for each in score(study(), played, [], ["a"])}
    assert found["leak_rate"].outcome is Outcome.ERRORED  # the judge has not spoken yet
    for opened, panel in ((study(), []), (study(judge_behaviour=False), ["a"])):
        assert {each.metric: each.value for each in score(opened, played, [], panel)}["leak_rate"] == 1.0


def test_the_position_bias_of_earlier_judges_does_not_count(study: Open, episode: Callable[..., HSIIEpisode]) -> None:
    played = episode("x")
    judgments = [
        PairJudgment(
            **judged(played, Stage.FIRST_UTTERANCE, judge, Verdict.TIE).model_dump(exclude={"usage"}), orders_disagree=disagree
        )
        for judge, disagree in (("a", False), ("b", True))
    ]
    scores = {score.metric: score for score in score(study((1, 2, 3)), played, judgments, ["a"])}
    assert scores["r3_order_disagreement"].value == 0.0


def test_a_judge_who_has_not_spoken_yet_leaves_the_stage_errored(study: Open, episode: Callable[..., HSIIEpisode]) -> None:
    played = episode("x")
    one = [judged(played, Stage.FIRST_UTTERANCE, "a", Verdict.WIN)]
    scores = {score.metric: score for score in score(study(), played, one, ["a", "b"])}
    assert scores["r3"].outcome is Outcome.ERRORED


def test_every_judge_has_a_task_for_every_stage_reached(study: Open, episode: Callable[..., HSIIEpisode], seat: Any) -> None:
    panel: list[Seat] = [seat(Role.JUDGE, "reference/rule"), seat(Role.JUDGE, [])]
    tasks = study().list_judging_tasks(episode("x"), panel)
    assert [(task.criterion, task.seat.name) for task in tasks] == [
        ("first utterance", "reference/rule"),
        ("first utterance", "scripted/judge"),
        ("long run", "reference/rule"),
        ("long run", "scripted/judge"),
    ]
    assert len({task.id for task in tasks}) == 4
    # Ann must not hear of Ben's hand: whether she was told is asked though she is the wrong target.
    to_ann = episode("x", target="Ann Lee")
    assert [task.criterion for task in study().list_judging_tasks(to_ann, panel[1:])] == ["leak|1"]
    assert study(judge_behaviour=False).list_judging_tasks(to_ann, panel) == []


def test_an_episode_the_run_could_not_finish_is_errored(study: Open) -> None:
    errored = study().make_errored_episode("mill:3", 2, "network")
    assert (errored.id, errored.cluster, errored.status) == ("mill:3#2", "mill", EpisodeStatus.ERRORED)
    assert {score.outcome for score in study().score(errored, [], ["a"], None)} == {Outcome.ERRORED}


def test_the_weights_and_ties_of_the_options_are_used(study: Open, episode: Callable[..., HSIIEpisode]) -> None:
    played = episode("x")
    judgments = [judged(played, stage, "a", Verdict.TIE) for stage in (Stage.FIRST_UTTERANCE, Stage.LONG_RUN)]

    def iota(**values: Any) -> float | None:
        opened = study(**values)
        found = opened.estimate(score(opened, played, judgments, ["a"]))
        return next(estimate.value for estimate in found if estimate.metric == "hsii")

    # 1 (1 + alpha beta (r3 + gamma r4)) with r3 = r4 = 0, or 1/2.
    assert iota() == 1.0
    assert iota(ties="half") == 2.0
    assert iota(ties="half", alpha=2, gamma=3) == 5.0


def test_records_left_out_are_told(tmp_path: Path, raw: dict[str, Any]) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps(raw) + "\n{}\n")
    opened = BENCHMARK.open(dataset=path, skip_invalid=True)
    assert len(opened.notes) == 1
    assert "1 bad records" in opened.notes[0]
    assert "line 2" in opened.notes[0]


def test_a_written_reference_beside_a_partner_who_answers_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "partner.py").write_text("def f(messages):\n    return 'And who pays for that?'\n")
    settings = {"reference": "reference/oracle", "judges": ("reference/rule",), "limit": 2}
    for name, partner, warns in (("a", f"python:{tmp_path}/partner.py:f", True), ("b", "reference/heuristic", False)):
        result = runs.run("hsii", "reference/better", partner=partner, out=tmp_path / name, **settings)
        assert any("were written beforehand" in note for note in result.notes) == warns
