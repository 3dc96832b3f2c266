"""Scores worked by hand, Table 2's arithmetic, PSI and the χ² rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sociable.benchmarks.agentsense.metrics import METRICS, Scene
from sociable.benchmarks.agentsense.published import TABLE_2
from sociable.benchmarks.agentsense.records import AgentSenseEpisode, AgentSenseOptions, ProbeAnswer, ProbeKind
from sociable.benchmarks.agentsense.scenario import Scenario
from sociable.benchmarks.agentsense.sensitivity import find_template_probabilities
from sociable.core.records import PANEL, EpisodeStatus, Outcome, Score, Turn, Verdict, Verdicts
from sociable.statistics.variation import find_deviation_bias, find_excess_probability, measure_deviation

ANN, BEN, CARA = "Ann Lee", "Ben Cole", "Cara Diaz"
END = 2


@pytest.mark.parametrize("row", TABLE_2.values(), ids=TABLE_2.keys())
def test_average_in_table_2_is_the_mean_of_the_three_judges(row: Any) -> None:
    # Printed to two decimals of a percent: the mean of three rounded figures is off by half of the last place at most.
    assert (row["gpt4o"] + row["qwen"] + row["llama"]) / 3 == pytest.approx(row["average"], abs=0.0001)


def goal(kind: ProbeKind, asked: str, about: str, item: int, answer: bool | None) -> ProbeAnswer:
    return ProbeAnswer(kind=kind, asked=asked, about=about, item=item, after=END, answer=answer)


def quiz(asked: str, item: int, answer: bool | None, about: str, kind: ProbeKind = ProbeKind.QUIZ) -> ProbeAnswer:
    return ProbeAnswer(kind=kind, asked=asked, about=about, item=item, after=END, answer=answer)


PROBES = (
    goal(ProbeKind.OWN_GOAL, ANN, ANN, 0, True),
    goal(ProbeKind.OWN_GOAL, BEN, BEN, 0, True),
    goal(ProbeKind.OWN_GOAL, BEN, BEN, 1, None),
    goal(ProbeKind.OTHERS_GOAL, BEN, ANN, 0, True),
    goal(ProbeKind.OTHERS_GOAL, CARA, ANN, 0, False),
    goal(ProbeKind.OTHERS_GOAL, ANN, BEN, 0, True),
    goal(ProbeKind.OTHERS_GOAL, CARA, BEN, 0, True),
    goal(ProbeKind.OTHERS_GOAL, ANN, BEN, 1, False),
    goal(ProbeKind.OTHERS_GOAL, CARA, BEN, 1, None),
    quiz(ANN, 0, True, BEN),
    quiz(ANN, 1, False, ""),
    quiz(BEN, 0, None, ANN),
    quiz(ANN, 0, False, BEN, ProbeKind.BLIND_QUIZ),
    quiz(ANN, 1, False, "", ProbeKind.BLIND_QUIZ),
    quiz(BEN, 0, True, ANN, ProbeKind.BLIND_QUIZ),
)
TURNS = (
    Turn(index=0, speaker=ANN, content="Hi there!"),
    Turn(index=1, speaker=BEN, content="", note="empty"),
    Turn(index=2, speaker=ANN, content="Well", note="cut off at its token limit"),
)


@pytest.fixture
def episode(scenario: Scenario) -> Callable[..., AgentSenseEpisode]:
    def make(**changes: Any) -> AgentSenseEpisode:
        values = {
            "id": f"{scenario.id}#0",
            "scenario": scenario.id,
            "cluster": scenario.template,
            "turns": TURNS,
            "probes": PROBES,
            "played_by": dict.fromkeys(scenario.names, "subject"),
        }
        return AgentSenseEpisode(**values | changes)

    return make


def verdicts(**by_judge: str) -> Verdicts:
    """One letter a goal (Ann's, Ben's two): y, n, or ? for none; ``panel`` is the panel's."""
    meaning = {"y": Verdict.WIN, "n": Verdict.LOSS, "?": Verdict.UNSCORED, "=": Verdict.TIE}
    criteria = (f"{ANN}|goal 1.1|2", f"{BEN}|goal 1.1|2", f"{BEN}|goal 2.1|2")
    return {
        (criterion, PANEL if judge == "panel" else judge): (meaning[letter], "because")
        for judge, letters in by_judge.items()
        for criterion, letter in zip(criteria, letters, strict=True)
    }


def score_scene(
    scenario: Scenario,
    episode: AgentSenseEpisode,
    verdicts: Verdicts,
    judges: Sequence[str],
    judged_after: Sequence[int],
    **own: Any,
) -> list[Score]:
    """The scores of an episode, judged after these turns, under the benchmark's ``own`` options."""
    *rounds, end = judged_after
    options = AgentSenseOptions(**{"turns": end, "rounds": rounds, "plays": "all"} | own)
    sides = episode.list_characters("subject"), episode.list_characters("partner")
    return METRICS.score(
        episode, Scene(scenario, episode, verdicts, judges, options, *sides, after=end), failure=episode.partner_failure
    )


def values(scores: Sequence[Score]) -> dict[str, float | None]:
    return {score.metric: score.value for score in scores}


def test_goals_are_averaged_per_character_and_characters_per_scene(scenario: Scenario, episode: Any) -> None:
    found = values(score_scene(scenario, episode(), verdicts(a="yyn", b="ynn", c="nny", panel="yyn"), ["a", "b", "c"], [END]))
    # Self: Ann 1; Ben (yes + no answer, which is not yes) / 2 = 1/2. Mean 3/4.
    assert found["self"] == pytest.approx(3 / 4)
    # Other: Ann 1/2; Ben (1 + (0 + 0) / 2) / 2 = 1/2. Mean 1/2.
    assert found["other"] == pytest.approx(1 / 2)
    # Judges: a: Ann 1, Ben 1/2 -> 3/4; b: Ann 1, Ben 0 -> 1/2; c: Ann 0, Ben 1/2 -> 1/4.
    assert [found[f"judge: {judge}"] for judge in "abc"] == [pytest.approx(3 / 4), pytest.approx(1 / 2), pytest.approx(1 / 4)]
    assert found["average"] == pytest.approx(1 / 2)
    assert found["majority"] == pytest.approx(3 / 4)
    # Self - majority by goal: Ann 0; Ben 0 and 0.
    assert found["overconfidence"] == pytest.approx(0)
    # Cooperation is Ann's goal, identity recognition Ben's first, information acquisition his second.
    assert (found["majority/cooperation"], found["majority/information acquisition"]) == (1.0, 0.0)
    assert found["majority/existence"] == 0.0
    assert found["majority/3 participants"] == pytest.approx(3 / 4)


def test_overconfidence_is_self_less_the_majority_goal_by_goal(scenario: Scenario, episode: Any) -> None:
    found = values(score_scene(scenario, episode(), verdicts(a="nny", panel="nny"), ["a"], [END]))
    # Ann 1 - 0; Ben (1 - 0) and (0 - 1): mean 0. Scene: 1/2.
    assert found["overconfidence"] == pytest.approx(1 / 2)


def test_information_is_averaged_per_character_and_gain_is_paired(scenario: Scenario, episode: Any) -> None:
    found = values(score_scene(scenario, episode(), {}, [], [END]))
    # Ann 1/2, Ben 0 (no answer is not right): 1/4. Blind: Ann 0, Ben 1: 1/2. Gain: Ann +1/2, Ben -1: -1/4. Cara has no questions.
    assert found["information"] == pytest.approx(1 / 4)
    assert found["information_blind"] == pytest.approx(1 / 2)
    assert found["information_gain"] == pytest.approx(-1 / 4)


def test_conduct(scenario: Scenario, episode: Any) -> None:
    found = values(score_scene(scenario, episode(), {}, [], [END]))
    assert found["no_answer"] == pytest.approx(3 / 15)
    thought = Turn(index=3, speaker=CARA, content="", note="cut off at its token limit")
    refused = Turn(index=4, speaker=CARA, content="I cannot.", note="refused")
    longer = values(score_scene(scenario, episode(turns=(*TURNS, thought, refused)), {}, [], [END]))
    assert (longer["silent_turns"], longer["cut_off_turns"]) == (2 / 4, 2 / 4)
    assert (found["silent_turns"], found["cut_off_turns"]) == (1 / 2, 1 / 2)


def test_without_judges_nothing_is_said_in_their_name(scenario: Scenario, episode: Any) -> None:
    assert not {"majority", "average", "overconfidence"} & values(score_scene(scenario, episode(), {}, [], [END])).keys()


def test_a_judge_without_an_answer_is_left_out_and_never_counts_as_no(scenario: Scenario, episode: Any) -> None:
    scores = score_scene(scenario, episode(), verdicts(a="?y?", panel="?y?"), ["a"], [END])
    found = values(scores)
    assert found["majority"] == pytest.approx(1.0)  # Ann has no value, Ben one goal.
    lost = {score.metric: score for score in score_scene(scenario, episode(), verdicts(a="???", panel="???"), ["a"], [END])}
    assert (lost["majority"].outcome, lost["majority"].value, lost["majority"].reason) == (Outcome.UNSCORED, None, "because")
    assert lost["self"].outcome is Outcome.SCORED


def test_a_split_panel_has_no_verdict(scenario: Scenario, episode: Any) -> None:
    scores = {s.metric: s for s in score_scene(scenario, episode(), verdicts(a="yyy", b="nnn", panel="==="), ["a", "b"], [END])}
    assert scores["majority"].outcome is Outcome.UNSCORED
    assert scores["average"].value == pytest.approx(1 / 2)


def test_judging_that_was_not_finished_is_the_runs_failure(scenario: Scenario, episode: Any) -> None:
    some = {key: value for key, value in verdicts(a="yyy", panel="yyy").items() if "goal 2" not in key[0]}
    scores = {score.metric: score for score in score_scene(scenario, episode(), some, ["a"], [END])}
    assert scores["majority"].outcome is Outcome.ERRORED
    assert scores["self"].outcome is Outcome.SCORED


def test_an_errored_episode_and_a_failed_partner_have_no_scores(scenario: Scenario, episode: Any) -> None:
    errored = episode(status=EpisodeStatus.ERRORED, error="no network", turns=(), probes=(), played_by={})
    assert {score.outcome for score in score_scene(scenario, errored, {}, ["a"], [END])} == {Outcome.ERRORED}
    failed = episode(partner_failure="Ben: empty", probes=())
    scores = score_scene(scenario, failed, {}, ["a"], [END])
    assert {score.outcome for score in scores} == {Outcome.UNSCORED}
    assert "majority" in values(scores)
    assert "attack" not in values(scores)
    # What a mixed run should have had is missed in every metric; without a blind test there is none to miss.
    mixed = values(score_scene(scenario, failed, {}, ["a"], [END], plays="one", blind=False))
    assert {"attack", "defence", "partner_majority", "partner_attack"} <= mixed.keys()
    assert not [name for name in mixed if "blind" in name or "gain" in name]
    # In the order in which they stand where the scene was played.
    played = values(score_scene(scenario, episode(), {}, ["a"], [END], plays="one", blind=False))
    assert list(mixed) == [name for name in played if name in mixed]


def test_mixed_runs_part_subject_and_partner(scenario: Scenario, episode: Any) -> None:
    mixed = episode(played_by={ANN: "subject", BEN: "partner", CARA: "partner"})
    found = values(score_scene(scenario, mixed, verdicts(a="ynn", panel="ynn"), ["a"], [END], plays="one"))
    assert (found["majority"], found["partner_majority"]) == (1.0, 0.0)
    # A partner's missing answer is left out: of Ben's own goals only the first has one.
    assert found["partner_self"] == 1.0
    # Ann's one question about a secret of the partner's is right; what names nobody counts in neither.
    assert (found["attack"], found["attack_blind"]) == (1.0, 0.0)
    # Ben, asked about Ann's secret, gave no answer after the scene, and the right one before.
    assert (found["defence"], found["defence_blind"]) == (None, 0.0)
    assert (found["partner_attack_blind"], found["partner_defence"]) == (1.0, 0.0)


def test_with_sides_swapped_every_metric_of_the_subject_is_the_partners(scenario: Scenario, episode: Any) -> None:
    roles = {ANN: "subject", BEN: "partner", CARA: "partner"}
    swapped = {ANN: "partner", BEN: "subject", CARA: "subject"}
    judged = verdicts(a="ynn", panel="ynn")
    one, other = (
        values(score_scene(scenario, episode(played_by=each, both_tested=True), judged, ["a"], [END], plays="one"))
        for each in (roles, swapped)
    )
    shared = [name.removeprefix("partner_") for name in one if name.startswith("partner_")]
    assert {"self", "majority", "judge: a", "information_gain", "attack", "defence_blind"} <= set(shared)
    for name in shared:
        assert (one[name], one[f"partner_{name}"]) == (other[f"partner_{name}"], other[name]), name


def test_rounds_are_scored_where_somebody_looked(scenario: Scenario, episode: Any) -> None:
    early = {(key[0].replace("|2", "|1"), key[1]): value for key, value in verdicts(a="nnn", panel="nnn").items()}
    both = {**early, **verdicts(a="yyy", panel="yyy")}
    found = values(score_scene(scenario, episode(), both, ["a"], [1, END]))
    assert (found["majority/after 1"], found["majority/after 2"]) == (0.0, 1.0)
    # Nobody was asked during the run.
    assert "self/after 1" not in found
    assert found["self/after 2"] == pytest.approx(3 / 4)


def table(metric: str, by_template: dict[str, list[list[float]]]) -> list[Score]:
    """By template, its casts, and by cast the values of its repeats."""
    return [
        Score(metric=metric, scenario=f"{template}:{cast}", cluster=template, repeat=repeat, value=value)
        for template, casts in by_template.items()
        for cast, repeats in enumerate(casts)
        for repeat, value in enumerate(repeats)
    ]


def test_psi_is_the_mean_over_templates_of_the_sample_deviation_over_casts() -> None:
    # Template a: 0, 1 -> s = sqrt(1/2). Template b: 0.2, 0.4, 0.6 -> s = 0.2. c has one cast: no deviation.
    scores = table("majority", {"a": [[0.0], [1.0]], "b": [[0.2], [0.4], [0.6]], "c": [[1.0]]})
    estimates = METRICS.estimate(scores, seed=0)
    # Without repeats there is neither noise nor excess.
    assert [estimate.metric for estimate in estimates] == ["majority", "psi_goal", "psi_goal_flagged"]
    assert estimates[1].value == pytest.approx((sqrt(0.5) + 0.2) / 2)


def test_psi_over_nothing_is_none() -> None:
    _, psi, *_ = METRICS.estimate(table("majority", {"a": [[0.5]]}), seed=0)
    assert (psi.metric, psi.value, psi.low, psi.scored) == ("psi_goal", None, None, 1)


def sensitivity(by_template: dict[str, list[list[float]]] | list[Score]) -> list[float | None]:
    """PSI, noise and excess."""
    scores = by_template if isinstance(by_template, list) else table("majority", by_template)
    majority, *found = METRICS.estimate(scores, seed=0)
    assert majority.metric == "majority"
    return [estimate.value for estimate in found if not estimate.metric.endswith("_flagged")]


def test_templates_whose_casts_differ_more_than_all_scenes_do_are_flagged() -> None:
    calm = {str(number): [[0.5], [0.6], [0.5], [0.6], [0.5]] for number in range(19)}
    estimates = {
        each.metric: each for each in METRICS.estimate(table("majority", calm | {"wild": [[0.0], [1.0]] * 2 + [[1.0]]}), seed=0)
    }
    assert estimates["psi_goal_flagged"].value == pytest.approx(1 / 20)


def test_noise_is_what_repeats_of_one_cast_vary_by() -> None:
    # Two casts, two repeats: across casts 0 and 1 in both repeats, within a cast no difference.
    assert sensitivity({"a": [[0.0, 0.0], [1.0, 1.0]]}) == [pytest.approx(sqrt(0.5)), 0.0, pytest.approx(sqrt(0.5))]
    # The other way round. Two casts and two repeats: nothing to bring to another number of values.
    assert sensitivity({"a": [[0.0, 1.0], [0.0, 1.0]]}) == [0.0, pytest.approx(sqrt(0.5)), pytest.approx(-sqrt(0.5))]


def test_a_missing_value_does_not_move_the_others_into_another_repeat() -> None:
    # In both repeats the casts are alike; one value of the first is missing.
    scores = table("majority", {"a": [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]})
    lost = [score for score in scores if (score.scenario, score.repeat) != ("a:1", 0)]
    assert sensitivity(lost)[0] == 0.0


def test_without_any_effect_of_the_profile_the_excess_is_nothing() -> None:
    generator = np.random.default_rng(1)
    drawn = {str(number): generator.normal(0.5, 0.1, (5, 2)).tolist() for number in range(400)}
    psi, noise, excess = sensitivity(drawn)
    assert psi == pytest.approx(0.1 * find_deviation_bias(5), rel=0.03)
    assert noise == pytest.approx(psi, rel=0.06)
    assert excess == pytest.approx(0, abs=0.006)


def test_deviation_bias_is_c4() -> None:
    # Montgomery, Introduction to Statistical Quality Control, appendix VI.
    assert [round(find_deviation_bias(n), 4) for n in (2, 3, 4, 5, 10)] == [0.7979, 0.8862, 0.9213, 0.9400, 0.9727]
    with pytest.raises(ValueError, match="two values"):
        find_deviation_bias(1)
    assert measure_deviation([1.0]) is None


def test_the_variance_test_by_hand_and_by_scipy() -> None:
    # s² of 0, 0, 1, 1, 1 is 0.3; with σ₀² = 0.1 the statistic is 4 * 0.3 / 0.1 = 12, and P(χ²₄ > 12) = 7 e^-6 = 0.01735.
    probability = find_excess_probability([0.0, 0.0, 1.0, 1.0, 1.0], 0.1)
    assert probability == pytest.approx(7 * np.exp(-6.0))
    assert probability == pytest.approx(stats.chi2.sf(12, 4))
    assert find_excess_probability([0.5], 0.1) is None
    assert find_excess_probability([0.5, 0.5], 0.0) is None


def test_five_percent_of_templates_are_flagged_when_nothing_differs() -> None:
    generator = np.random.default_rng(7)
    drawn = {str(number): generator.normal(0.5, 0.1, (5, 1)).tolist() for number in range(4000)}
    tested = find_template_probabilities(table("majority", drawn))
    assert len(tested) == 4000
    # 4000 draws of probability .05 have a standard deviation of .0034.
    assert np.mean([p < 0.05 for p in tested.values()]) == pytest.approx(0.05, abs=0.012)


def test_a_template_that_depends_on_who_is_played_is_flagged() -> None:
    calm = {str(number): [[0.5], [0.55], [0.45], [0.5], [0.5]] for number in range(20)}
    tested = find_template_probabilities(table("majority", {**calm, "wild": [[0.0], [1.0], [0.0], [1.0], [0.5]]}))
    assert [template for template, p in tested.items() if p < 0.05] == ["wild"]
