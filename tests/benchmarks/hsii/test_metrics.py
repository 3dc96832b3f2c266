"""Judgments to scores to estimates, on cases small enough to work by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sociable.benchmarks.hsii.dataset import Case
from sociable.benchmarks.hsii.measure import measure_episode
from sociable.benchmarks.hsii.metrics import JudgedCase, make_metrics
from sociable.benchmarks.hsii.records import STAGES, HSIIEpisode, HSIIOptions, Stage
from sociable.core.records import PANEL, EpisodeStatus, Estimate, Judgment, Outcome, Score, Verdict
from sociable.judging.pairwise import PairJudgment

WIN, TIE, LOSS, NONE = Verdict.WIN, Verdict.TIE, Verdict.LOSS, Verdict.UNSCORED
FIRST, LONG = Stage.FIRST_UTTERANCE, Stage.LONG_RUN

FORMAT, TARGET, ERRORED, UNJUDGED = "no format", "wrong target", "errored", "not judged"
Row = str | tuple[Verdict, Verdict]
"""What became of an episode: where it ended, or its verdicts on the first utterance and the long run."""
Table = Callable[..., list[Score]]


METRICS = make_metrics(HSIIOptions())


def score_episode(
    case: Case,
    episode: HSIIEpisode,
    verdicts: Mapping[Stage, tuple[Verdict, str]],
    judgments: Sequence[Judgment],
    stages: Sequence[Stage],
    **options: Any,
) -> list[Score]:
    measured = None if episode.status is EpisodeStatus.ERRORED else measure_episode(case, episode)
    by_panel = {(stage.value, PANEL): verdict for stage, verdict in verdicts.items()}
    judged = JudgedCase(case, episode, measured, by_panel, judgments, stages)
    return make_metrics(HSIIOptions(**options)).score(
        episode.model_copy(update={"scenario": case.id, "cluster": case.dialogue}), judged
    )


@pytest.fixture
def table(case: Case, episode: Callable[..., HSIIEpisode]) -> Table:
    """The scores of one episode a row, each of a dialogue of its own."""
    right, wrong = episode("Ben is hurt, in the loft."), episode("x", target="Ben Cole")

    def make(
        *rows: Row, stages: Sequence[Stage] = STAGES, cumulative: bool = False, ties: str = "wins", repeat: int = 0
    ) -> list[Score]:
        scores: list[Score] = []
        for number, row in enumerate(rows):
            own = case.model_copy(update={"id": f"case {number}", "dialogue": f"dialogue {number}"})
            played, verdicts = (wrong if row == TARGET else right), {}
            if row == FORMAT:
                played = HSIIEpisode(id="x", scenario="x", cluster="x", format_failure="not JSON")
            if row == ERRORED:
                played = right.model_copy(update={"status": EpisodeStatus.ERRORED, "error": "network"})
            if isinstance(row, tuple):
                verdicts = {FIRST: (row[0], "reason 3"), LONG: (row[1], "reason 4")}
            played = played.model_copy(update={"repeat": repeat})
            scores += score_episode(own, played, verdicts, [], stages, cumulative=cumulative, ties=ties)
        return scores

    return make


def by_metric(scores: Sequence[Score]) -> dict[str, Score]:
    assert len({score.metric for score in scores}) == len(scores), "a metric is scored once an episode"
    return {score.metric: score for score in scores}


def estimates(scores: Sequence[Score]) -> dict[str, Estimate]:
    return {estimate.metric: estimate for estimate in METRICS.estimate(scores, 0)}


def values(scores: Sequence[Score]) -> dict[str, float | None]:
    return {metric: estimate.value for metric, estimate in estimates(scores).items()}


# One episode


def test_a_failed_format_reaches_nothing_further(table: Table) -> None:
    scores = by_metric(table(FORMAT))
    assert (scores["r1"].value, scores["r1"].reason, scores["r1_strict"].value) == (0.0, "not JSON", 0.0)
    for metric in ("r2", "r3", "r4", "leak_rate", "r3_ties_half", "r4_order_disagreement"):
        assert (scores[metric].outcome, scores[metric].value) == (Outcome.NOT_REACHED, None)


def test_a_wrong_target_ends_the_case(table: Table) -> None:
    scores = by_metric(table(TARGET))
    assert (scores["r1"].value, scores["r2"].value) == (1.0, 0.0)
    assert scores["r2"].reason == "Ben Cole instead of Cara Diaz"
    assert scores["r3"].outcome is scores["r4"].outcome is Outcome.NOT_REACHED


def test_a_target_nobody_can_tell_is_wrong_for_that_reason(case: Case, episode: Callable[..., HSIIEpisode]) -> None:
    scores = by_metric(score_episode(case, episode("x", target=None, role_to="them"), {}, [], STAGES))
    assert (scores["r2"].value, scores["r2"].reason) == (0.0, "'them' is no one character")


@pytest.mark.parametrize(("verdict", "wins", "half"), [(WIN, 1.0, 1.0), (TIE, 0.0, 0.5), (LOSS, 0.0, 0.0)])
def test_a_tie_is_no_win_and_half_a_win(table: Table, verdict: Verdict, wins: float, half: float) -> None:
    scores = by_metric(table((verdict, verdict)))
    assert [scores[metric].value for metric in ("r3", "r4", "r3_ties_half", "r4_ties_half")] == [wins, wins, half, half]


def test_what_the_instrument_failed_at_is_unscored_with_the_reason(table: Table) -> None:
    scores = by_metric(table((NONE, WIN)))
    for metric in ("r3", "r3_ties_half"):
        assert (scores[metric].outcome, scores[metric].value, scores[metric].reason) == (Outcome.UNSCORED, None, "reason 3")
    assert scores["r4"].value == 1.0


def test_what_the_run_failed_at_is_errored(table: Table) -> None:
    assert {(score.outcome, score.value, score.reason) for score in table(ERRORED)} == {(Outcome.ERRORED, None, "network")}
    unjudged = by_metric(table(UNJUDGED))
    assert (unjudged["r2"].value, unjudged["r3"].outcome) == (1.0, Outcome.ERRORED)
    assert unjudged["r3"].reason == "judging was not finished"


def test_every_episode_is_scored_on_the_same_metrics(table: Table) -> None:
    rows: list[Row] = [FORMAT, TARGET, ERRORED, UNJUDGED, (WIN, LOSS), (NONE, TIE)]
    assert len({frozenset(by_metric(table(row))) for row in rows}) == 1
    some = (Stage.FORMAT, Stage.TARGET, FIRST)
    assert len({frozenset(by_metric(table(row, stages=some))) for row in rows}) == 1


@pytest.mark.parametrize(
    ("first", "long", "counted"),
    [
        (WIN, WIN, WIN),
        (TIE, WIN, TIE),
        (LOSS, WIN, LOSS),
        (NONE, WIN, NONE),  # whether it may count is not known
        (WIN, TIE, TIE),
        (LOSS, TIE, LOSS),
        (NONE, TIE, NONE),
        (NONE, LOSS, LOSS),  # a loss is one in any case
        (WIN, NONE, NONE),
        (LOSS, NONE, NONE),
    ],
)
def test_cumulative_the_long_run_is_no_better_than_the_first_utterance(
    table: Table, first: Verdict, long: Verdict, counted: Verdict
) -> None:
    scores = by_metric(table((first, long), cumulative=True))
    expected = {WIN: (1.0, 1.0), TIE: (0.0, 0.5), LOSS: (0.0, 0.0), NONE: (None, None)}
    assert (scores["r4"].value, scores["r4_ties_half"].value) == expected[counted]
    assert (scores["r4"].outcome is Outcome.UNSCORED) == (counted is NONE)
    plain = by_metric(table((first, long)))
    assert plain["r4"].value == expected[long][0]


def test_cumulative_without_the_first_utterance_is_unscored(case: Case, episode: Callable[..., HSIIEpisode]) -> None:
    stages = (Stage.FORMAT, Stage.TARGET, LONG)
    scores = by_metric(score_episode(case, episode("x"), {LONG: (WIN, "")}, [], stages, cumulative=True))
    assert scores["r4"].outcome is Outcome.UNSCORED
    assert "first utterance" in scores["r4"].reason


def test_position_bias_is_the_share_of_judges_whose_orders_disagree(case: Case, episode: Callable[..., HSIIEpisode]) -> None:
    judgments = [
        PairJudgment(
            id=f"{judge}{stage}",
            episode="e",
            scenario="s",
            criterion=stage.value,
            judge=judge,
            verdict=TIE,
            orders_disagree=disagree,
        )
        for stage, opinions in ((FIRST, (True, False, None)), (LONG, (None, None, None)))
        for judge, disagree in zip("abc", opinions, strict=True)
    ]
    verdicts = {FIRST: (TIE, ""), LONG: (NONE, "no judge")}
    scores = by_metric(score_episode(case, episode("x"), verdicts, judgments, STAGES))
    assert scores["r3_order_disagreement"].value == 0.5  # of the two that could be read
    assert scores["r4_order_disagreement"].outcome is Outcome.UNSCORED


def test_a_leak_is_scored_with_who_was_told_what(case: Case, episode: Callable[..., HSIIEpisode]) -> None:
    told = by_metric(score_episode(case, episode("Ben is injured.", target="Ann Lee"), {}, [], STAGES))["leak_rate"]
    assert (told.value, told.reason) == (1.0, "Ann Lee was told: Ben has hurt his hand.")
    kept = by_metric(score_episode(case, episode("Go home.", target="Ann Lee"), {}, [], STAGES))["leak_rate"]
    assert (kept.value, kept.reason) == (0.0, "")
    nothing = by_metric(score_episode(case, episode("Ben is injured."), {FIRST: (WIN, ""), LONG: (WIN, "")}, [], STAGES))
    assert nothing["leak_rate"].outcome is Outcome.NOT_REACHED


# All episodes

EIGHT: tuple[Row, ...] = (FORMAT, FORMAT, TARGET, TARGET, (WIN, WIN), (TIE, WIN), (LOSS, LOSS), (NONE, TIE))


def test_each_rate_is_over_those_who_passed_the_stage_before(table: Table) -> None:
    # n = 8, n1 = 6, n2 = 4. r3: 1 win of the 3 that have a verdict. r4: 2 wins of 4.
    found = values(table(*EIGHT))
    assert [found[rate] for rate in ("r1", "r2", "r3", "r4")] == pytest.approx([6 / 8, 4 / 6, 1 / 3, 2 / 4])
    # Ties as half: r3 (1 + 1/2) / 3, r4 (2 + 1/2) / 4.
    assert [found[rate] for rate in ("r3_ties_half", "r4_ties_half")] == pytest.approx([1 / 2, 5 / 8])


def test_the_scores_made_of_the_rates(table: Table) -> None:
    # iota 3/4 (1 + 2/3 (1/3 + 1/2)) = 3/4 × 14/9 = 7/6; as printed 3/4 (1 + 2/3 × 11/6) = 3/4 × 20/9 = 5/3;
    # cascade 3/4 × 2/3 × 11/6 / 3 = 11/36; ties as half 3/4 (1 + 2/3 (1/2 + 5/8)) = 3/4 × 7/4 = 21/16.
    found = values(table(*EIGHT))
    assert found["hsii"] == pytest.approx(7 / 6)
    assert found["hsii_printed"] == pytest.approx(5 / 3)
    assert found["hsii_cascade"] == pytest.approx(11 / 36)
    assert found["hsii_ties_half"] == pytest.approx(21 / 16)
    assert found["r4_minus_r3"] == pytest.approx(1 / 6)


def test_ties_as_half_changes_all_that_is_made_of_r3_and_r4(table: Table) -> None:
    found = values(table(*EIGHT, ties="half"))
    assert [found[rate] for rate in ("r1", "r2", "r3", "r4")] == pytest.approx([6 / 8, 4 / 6, 1 / 2, 5 / 8])
    assert found["hsii"] == found["hsii_ties_half"] == pytest.approx(21 / 16)
    # As printed 3/4 (1 + 2/3 × 17/8) = 3/4 × 29/12; cascade 1/2 × 17/8 / 3.
    assert found["hsii_printed"] == pytest.approx(29 / 16)
    assert found["hsii_cascade"] == pytest.approx(17 / 48)


def test_every_episode_is_counted_once_in_every_rate(table: Table) -> None:
    found = estimates(table(*EIGHT, ERRORED))
    counts = {
        metric: (found[metric].scored, found[metric].unscored, found[metric].errored, found[metric].not_reached)
        for metric in ("r1", "r2", "r3", "r4", "hsii")
    }
    assert counts == {
        "r1": (8, 0, 1, 0),
        "r2": (6, 0, 1, 2),
        "r3": (3, 1, 1, 4),
        "r4": (4, 0, 1, 4),
        "hsii": (7, 1, 1, 0),  # an episode that ended early is scored; one without a verdict is not
    }
    assert found["r1"].value == 6 / 8


def test_a_stage_nobody_reached_is_undefined_and_contributes_nothing(table: Table) -> None:
    found = values(table(FORMAT, TARGET, TARGET, TARGET))
    assert [found[rate] for rate in ("r1", "r2", "r3", "r4")] == [3 / 4, 0.0, None, None]
    assert (found["hsii"], found["hsii_printed"], found["hsii_cascade"]) == (3 / 4, 3 / 4, 0.0)
    found = values(table(FORMAT, FORMAT))
    assert [found[rate] for rate in ("r1", "r2", "r3", "r4")] == [0.0, None, None, None]
    assert (found["hsii"], found["hsii_cascade"], found["r4_minus_r3"]) == (0.0, 0.0, None)


def test_a_stage_whose_verdicts_are_all_missing_leaves_no_score(table: Table) -> None:
    # Somebody reached it, so that it is not nothing; how it went nobody knows.
    for row in ((NONE, WIN), (WIN, NONE), UNJUDGED):
        found = values(table(FORMAT, TARGET, row))
        assert [found[name] for name in ("hsii", "hsii_printed", "hsii_cascade", "hsii_ties_half")] == [None] * 4
        assert (found["r1"], found["r2"]) == (2 / 3, 1 / 2)


def test_over_nothing_every_estimate_is_none(table: Table) -> None:
    assert set(values([]).values()) == {None}
    assert set(values(table(ERRORED)).values()) == {None}


def test_stages_left_out_leave_no_score(table: Table) -> None:
    scores = table(FORMAT, TARGET, (WIN, WIN), stages=(Stage.FORMAT, Stage.TARGET))
    assert {score.metric for score in scores} == {"r1", "r2", "r1_strict", "leak_rate", "evades_conflict", "asks_again"}
    found = estimates(scores)
    assert (found["r1"].value, found["r2"].value) == (2 / 3, 1 / 2)
    # Of the cascade remains what was run: the right targets, of all.
    assert found["hsii_cascade"].value == 1 / 3
    for metric in ("r3", "r4", "hsii", "hsii_printed", "hsii_ties_half"):
        assert (found[metric].value, found[metric].scored, found[metric].not_reached) == (None, 0, 0)


def test_three_stages_give_r3_but_no_score(table: Table) -> None:
    found = values(table(TARGET, (WIN, WIN), stages=(Stage.FORMAT, Stage.TARGET, FIRST)))
    assert (found["r3"], found["r4"], found["hsii"]) == (1.0, None, None)
    # Of two cases one had the right target and won: (n2 + n3) / 2n.
    assert found["hsii_cascade"] == 1 / 2


def test_repeats_are_no_new_cases(table: Table) -> None:
    once = estimates(table(*EIGHT))
    twice = estimates(table(*EIGHT) + table(*EIGHT, repeat=1))
    for metric, estimate in once.items():
        assert (twice[metric].value, twice[metric].low, twice[metric].high) == (estimate.value, estimate.low, estimate.high)
        assert twice[metric].scored == 2 * estimate.scored


def test_the_repeats_of_a_case_are_averaged(table: Table) -> None:
    # Case 0 won once and failed once, case 1 won and lost: r1 (1/2 + 1) / 2; r3 2 of the 3 repeats that reached it.
    found = values(table((WIN, WIN), (WIN, WIN)) + table(FORMAT, (LOSS, WIN), repeat=1))
    assert (found["r1"], found["r2"], found["r3"], found["r4"]) == (3 / 4, 1.0, 2 / 3, 1.0)


def test_a_case_weighs_by_the_repeats_that_reached_the_stage(table: Table) -> None:
    # A: 1 of 4 repeats formatted, and that one right and winning; B: 4 of 4 formatted, all with the wrong target.
    # n = 8, n1 = 5, n2 = n3 = n4 = 1: iota 5/8 (1 + 1/5 × 2) = 7/8, as printed 5/8 (1 + 1/5 × 3) = 1, cascade 3/24.
    scores = table((WIN, WIN), TARGET)
    for repeat in (1, 2, 3):
        scores += table(FORMAT, TARGET, repeat=repeat)
    found = values(scores)
    assert [found[rate] for rate in ("r1", "r2", "r3", "r4")] == pytest.approx([5 / 8, 1 / 5, 1.0, 1.0])
    assert [found[name] for name in ("hsii", "hsii_printed", "hsii_cascade")] == pytest.approx([7 / 8, 1.0, 1 / 8])


ROWS = st.lists(
    st.one_of(
        st.sampled_from([FORMAT, TARGET, ERRORED]),
        st.tuples(st.sampled_from([WIN, TIE, LOSS, NONE]), st.sampled_from([WIN, TIE, LOSS, NONE])),
    ),
    min_size=1,
    max_size=8,
)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FEW
@given(ROWS, st.randoms())
def test_the_order_of_cases_does_not_matter(table: Table, rows: list[Row], random: object) -> None:
    scores = table(*rows)
    shuffled = list(scores)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert estimates(shuffled) == estimates(scores)


@FEW
@given(ROWS, st.data())
def test_one_more_win_never_lowers_a_score(table: Table, rows: list[Row], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(rows)))
    stage = data.draw(st.sampled_from([0, 1]))
    before, after = [LOSS, TIE, WIN], [TIE, WIN, WIN]
    worse: list[Verdict] = [data.draw(st.sampled_from(before)), data.draw(st.sampled_from(before))]
    better = list(worse)
    better[stage] = after[before.index(worse[stage])]
    less, more = (values(table(*rows[:place], tuple(verdicts), *rows[place:])) for verdicts in (worse, better))
    for metric in ("r3", "r4", "r3_ties_half", "r4_ties_half", "hsii", "hsii_printed", "hsii_cascade", "hsii_ties_half"):
        assert (less[metric] is None) == (more[metric] is None)
        assert less[metric] is None or more[metric] >= less[metric] - 1e-12  # type: ignore[operator]


def test_dialogues_that_are_alike_leave_no_limits(table: Table) -> None:
    # Each formatted in 3 of 7 repeats, right in 2 of them and winning in 1: nothing varies but by rounding.
    rows: tuple[Row, ...] = (FORMAT, TARGET, (WIN, LOSS), FORMAT, (LOSS, WIN), FORMAT, FORMAT)
    found = estimates([score for repeat, row in enumerate(rows) for score in table(*[row] * 7, repeat=repeat)])
    assert found["hsii"].value == pytest.approx(3 / 7 * (1 + 2 / 3))
    for metric in ("hsii", "hsii_printed", "hsii_cascade", "hsii_ties_half", "r4_minus_r3"):
        assert (found[metric].low, found[metric].high) == (None, None)


PLAYED = st.one_of(st.sampled_from([FORMAT, TARGET]), st.tuples(st.sampled_from([WIN, LOSS]), st.sampled_from([WIN, LOSS])))


@FEW
@given(st.lists(st.tuples(PLAYED, PLAYED, PLAYED), min_size=1, max_size=6))
def test_with_repeats_the_cascade_counts_the_stages_passed(table: Table, cases: list[tuple[Row, Row, Row]]) -> None:
    scores = [score for repeat in range(3) for score in table(*(case[repeat] for case in cases), repeat=repeat)]
    passed = [0 if isinstance(row, str) else 1 + row.count(WIN) for case in cases for row in case]
    assert values(scores)["hsii_cascade"] == pytest.approx(sum(passed) / len(passed) / 3)


@FEW
@given(ROWS)
def test_cumulative_r4_never_exceeds_r3_where_both_are_judged(table: Table, rows: list[Row]) -> None:
    judged = [row for row in rows if NONE not in row]
    found = values(table(*judged, (WIN, WIN), cumulative=True))
    assert found["r4"] <= found["r3"]  # type: ignore[operator]
    assert found["r4_ties_half"] <= found["r3_ties_half"]  # type: ignore[operator]


def test_the_seed_decides_the_intervals_and_nothing_else(table: Table) -> None:
    scores = table(*EIGHT)
    draws = [METRICS.estimate(scores, seed) for seed in (1, 1, 2, 3, 4, 5)]
    assert draws[0] == draws[1]
    assert len({tuple((estimate.low, estimate.high) for estimate in draw) for draw in draws}) > 1
    assert len({tuple(estimate.value for estimate in draw) for draw in draws}) == 1


def test_a_given_target_leaves_r2_and_iota_undefined(case: Case, episode: Callable[..., HSIIEpisode]) -> None:
    played = episode("Come.").model_copy(update={"target_given": True})
    scores = score_episode(case, played, {FIRST: (WIN, ""), LONG: (WIN, "")}, [], STAGES)
    found = by_metric(scores)
    assert found["r2"].outcome is Outcome.NOT_REACHED
    assert (found["r1"].value, found["r3"].value, found["r4"].value) == (1.0, 1.0, 1.0)
    estimates = {e.metric: e.value for e in METRICS.estimate(scores, 0)}
    assert (estimates["r2"], estimates["hsii"], estimates["hsii_cascade"]) == (None, None, None)
    assert estimates["r3"] == 1.0


@pytest.mark.parametrize(("target", "value"), [("Cara Diaz", 1.0), ("Ben Cole", 0.5), ("Ann Lee", 0.0)])
def test_a_soft_target_is_as_right_as_readers_found_it(
    case: Case, episode: Callable[..., HSIIEpisode], target: str, value: float
) -> None:
    read = case.model_copy(update={"readings": ("Cara Diaz", "the nurse", "Ben")})
    judged = JudgedCase(read, episode("x", target=target), None, {}, [], STAGES)
    (score,) = [
        each for each in make_metrics(HSIIOptions(), has_readings=True).score(judged.episode, judged) if each.metric == "r2_soft"
    ]
    assert score.value == value
    assert score.reason.endswith("of 3 readers")
