"""IEP by hand: shares of key points, over players, over sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from sociable.benchmarks.anteval.iep.cards import KnowledgeCard
from sociable.benchmarks.anteval.iep.metrics import (
    BEFORE,
    GAIN,
    IEP,
    METRICS,
    JudgedSession,
    measure_session,
    name_player_criterion,
)
from sociable.benchmarks.anteval.iep.records import IepEpisode, Recall, When
from sociable.benchmarks.anteval.session import Move
from sociable.core.records import PANEL, EpisodeStatus, Outcome, Score, Verdict

COUNTED = {"Ann": (0, 1, 2), "Bo": (0, 2)}


def episode(**changes: Any) -> IepEpisode:
    turns = (
        Move(words="What is it with the water?").as_turn(1, "Ann"),
        Move(words="Salt, since Tuesday.").as_turn(2, "Old Hanna"),
        Move().as_turn(3, "Bo"),
        Move(act="feeds her hens").as_turn(4, "Old Hanna"),
    )
    recalls = tuple(
        Recall(player=player, when=when, claims=("one", "two") if when is When.AFTER or player == "Ann" else ())
        for when in (When.BEFORE, When.AFTER)
        for player in COUNTED
    )
    return IepEpisode(**{"id": "w#0", "scenario": "w", "cluster": "w", "turns": turns, "recalls": recalls, **changes})


def verdicts(**given: str) -> dict[tuple[str, str], tuple[Verdict, str]]:
    """``ann_after="110"`` for yes, yes, no on the points that count for her."""
    found = {}
    for name, answers in given.items():
        player, when = name.split("_")
        places = COUNTED[player.title()]
        for place, answer in zip(places, answers, strict=True):
            verdict = {"1": Verdict.WIN, "0": Verdict.LOSS, "-": Verdict.UNSCORED, "=": Verdict.TIE}[answer]
            found[name_player_criterion(when, player.title(), place), PANEL] = (verdict, "")
    return found


def score_session(
    card: KnowledgeCard, counted: Mapping[str, Sequence[int]], episode: IepEpisode, found: Any, *, judged: bool
) -> list[Score]:
    session = JudgedSession(card, counted, episode, found, measure_session(card, episode), judged)
    return METRICS.score(episode, session, failure=episode.npc_failure)


def scores(card: KnowledgeCard, found: Any, judged: bool = True, **changes: Any) -> dict[str, Score]:
    return {each.metric: each for each in score_session(card, COUNTED, episode(**changes), found, judged=judged)}


def test_p_is_s_over_k_and_iep_its_mean_over_players(card: KnowledgeCard) -> None:
    found = scores(card, verdicts(ann_after="110", bo_after="01", ann_before="100"))
    assert found[IEP].value == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found["iep/place"].value == found[IEP].value
    # Bo claimed nothing before: a result, and no judge was asked.
    assert found[BEFORE].value == pytest.approx((1 / 3 + 0) / 2)
    assert found[IEP].reason == "Ann 0.67; Bo 0.50"


def test_what_the_npc_said_and_who_passed(card: KnowledgeCard) -> None:
    found = scores(card, {}, judged=False)
    assert measure_session(card, episode()).told == {0: 2}
    assert found["told"].value == pytest.approx(1 / 3)
    assert found["passed"].value == pytest.approx(1 / 2)
    assert IEP not in found


def test_a_player_who_says_a_key_point_has_not_given_it_away(card: KnowledgeCard) -> None:
    guess = Move(words="So it is salt since Tuesday?").as_turn(1, "Ann")
    assert measure_session(card, episode(turns=(guess,))).told == {}


@pytest.mark.parametrize(
    ("changes", "given", "outcome", "reason"),
    [
        ({"status": EpisodeStatus.ERRORED, "error": "network"}, {"ann_after": "111"}, Outcome.ERRORED, "network"),
        ({"npc_failure": "Old Hanna's turn 4: empty"}, {"ann_after": "111"}, Outcome.UNSCORED, "Old Hanna's turn 4"),
        ({}, {"ann_after": "---", "bo_after": "11"}, Outcome.UNSCORED, "split"),
        ({}, {"ann_after": "==-", "bo_after": "11"}, Outcome.UNSCORED, "split"),
        ({}, {"ann_after": "111"}, Outcome.ERRORED, "judging was not finished"),
    ],
)
def test_failures_are_told_apart(
    card: KnowledgeCard, changes: dict[str, Any], given: dict[str, str], outcome: Outcome, reason: str
) -> None:
    found = scores(card, verdicts(**given), **changes)[IEP]
    assert (found.outcome, found.value) == (outcome, None)
    assert reason in found.reason


def test_what_judges_could_not_decide_is_no_part_of_k(card: KnowledgeCard) -> None:
    found = scores(card, verdicts(ann_after="1=0", bo_after="11"))[IEP]
    assert found.value == pytest.approx((1 / 2 + 1) / 2)
    assert found.reason == "Ann 0.50 (1 of 3 undecided); Bo 1.00"


def test_only_the_players_turns_are_theirs_to_let_pass(card: KnowledgeCard) -> None:
    turns = (Move(words="Well?").as_turn(1, "Ann"), Move().as_turn(2, "Bo"), Move().as_turn(3, card.npc.name))
    assert scores(card, {}, judged=False, turns=turns)["passed"].value == pytest.approx(1 / 2)


def test_a_card_without_key_points_has_no_iep(card: KnowledgeCard) -> None:
    empty = card.model_copy(update={"key_points": ()})
    found = {each.metric: each for each in score_session(empty, {"Ann": (), "Bo": ()}, episode(), {}, judged=True)}
    assert found[IEP].outcome is Outcome.NOT_REACHED
    assert found["told"].outcome is Outcome.NOT_REACHED
    (iep,) = [each for each in METRICS.estimate(list(found.values()), 0) if each.metric == IEP]
    assert (iep.value, iep.not_reached) == (None, 1)


def test_a_player_for_whom_nothing_counts_is_left_out(card: KnowledgeCard) -> None:
    found = score_session(card, {"Ann": (0, 1, 2), "Bo": ()}, episode(), verdicts(ann_after="100"), judged=True)
    assert found[0].value == pytest.approx(1 / 3)


def test_a_runs_iep_is_the_mean_over_sessions_and_the_gain_its_distance_from_before() -> None:
    rows = [
        Score(metric=metric, scenario=f"s{number}", cluster=f"s{number}", value=value)
        for metric, values in ((IEP, (0.2, 0.4, 0.9)), (BEFORE, (0.0, 0.1, 0.2)))
        for number, value in enumerate(values)
    ]
    found = {each.metric: each for each in METRICS.estimate(rows, 1)}
    assert found[IEP].value == pytest.approx(0.5)
    assert found[GAIN].value == pytest.approx(0.4)
    assert found[GAIN].low is not None and found[GAIN].low < 0.4 < (found[GAIN].high or 0)
