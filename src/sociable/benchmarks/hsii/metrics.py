"""HSII's metrics: judgments to scores, scores to estimates. Pure.

r1 = n1/n    format       the reply yields an addressee and words
r2 = n2/n1   target       the addressee is the golden one
r3 = n3/n2   first utterance wins against the golden one
r4 = n4/n2   long run wins against the reference conversation

and the overall score iota, in two forms (see ``iota_of_table`` and ``iota_as_printed``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sociable.benchmarks.hsii.dataset import Case
from sociable.benchmarks.hsii.measure import asks_again, evades_conflict, measure_leaks
from sociable.benchmarks.hsii.records import JUDGED, HSIIEpisode, Stage
from sociable.core.records import EpisodeStatus, Estimate, Judgment, Outcome, Record, Score, Verdict
from sociable.core.seeding import derive_seed
from sociable.statistics.estimates import estimate_jointly, estimate_proportion
from sociable.statistics.intervals import Floats

RATES = ("r1", "r2", "r3", "r4")
BEHAVIOURS = ("evades_conflict", "asks_again")
"""Of section 6.3, by rule, in the first utterance to the right target."""
NO_FORMAT, WRONG_TARGET = "format failed", "wrong target"
OF_STAGE = {Stage.FIRST_UTTERANCE: "r3", Stage.LONG_RUN: "r4"}
TIES_AS_HALF = {Verdict.WIN: 1.0, Verdict.TIE: 0.5, Verdict.LOSS: 0.0}
WINS_ONLY = {Verdict.WIN: 1.0, Verdict.TIE: 0.0, Verdict.LOSS: 0.0}
WORTH = {"wins": WINS_ONLY, "half": TIES_AS_HALF}
"""By the option ``ties``."""


class Weights(Record):
    """Equation 1's hyper-parameters; the paper takes 1 for each."""

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0


EQUAL_WEIGHTS = Weights()


def score_episode(
    case: Case,
    episode: HSIIEpisode,
    verdicts: Mapping[Stage, tuple[Verdict, str]],
    judgments: Sequence[Judgment],
    stages: Sequence[Stage],
    *,
    cumulative: bool = False,
    ties: str = "wins",
) -> list[Score]:
    """All scores of one episode. ``verdicts`` holds the panel's verdict on each judged stage that was reached.

    ``ties`` ("wins" or "half") says what a tie is worth in r3 and r4.
    ``cumulative`` lets the long run be no better than the first utterance (rebuttal: "it must pass/win in all the above
    stages"); Table 1 has r4 >= r3 in every row, so it is off by default. A stage that should have a verdict and has none
    was cut off by the run: errored.
    """
    found = {**_format_and_target(case, episode), **_behaviour(case, episode)}
    for stage in stages:
        if stage in JUDGED:
            found |= _judged(stage, episode, verdicts, judgments, cumulative=cumulative, worth=WORTH[ties])
    if episode.status is EpisodeStatus.ERRORED:
        found = dict.fromkeys(found, _Found(None, episode.error, Outcome.ERRORED))
    return [
        Score(
            metric=metric,
            scenario=case.id,
            cluster=case.dialogue,
            repeat=episode.repeat,
            outcome=each.outcome,
            value=each.value,
            reason=each.reason,
        )
        for metric, each in found.items()
    ]


@dataclass(frozen=True, slots=True)
class _Found:
    """A score without its place."""

    value: float | None
    reason: str = ""
    outcome: Outcome = Outcome.SCORED


def _not_reached(reason: str) -> _Found:
    return _Found(None, reason, Outcome.NOT_REACHED)


def _format_and_target(case: Case, episode: HSIIEpisode) -> dict[str, _Found]:
    """Stages 1 and 2."""
    formatted = not episode.format_failure
    if episode.target_given:
        target, strict = _not_reached("the target was given"), _not_reached("no format was asked for")
    else:
        strict = _Found(float(episode.strict_format))
        target = _Found(float(episode.target_correct), _target_reason(case, episode)) if formatted else _not_reached(NO_FORMAT)
    return {"r1": _Found(float(formatted), episode.format_failure), "r1_strict": strict, "r2": target}


def _behaviour(case: Case, episode: HSIIEpisode) -> dict[str, _Found]:
    """What is measured by rule: leaks in all that was said, section 6.3's two behaviours in the first utterance."""
    if episode.format_failure or not episode.turns:
        return dict.fromkeys(("leak_rate", *BEHAVIOURS), _not_reached(NO_FORMAT))
    leaks = measure_leaks(case, episode)
    if leaks is None:
        leaked = _not_reached("nothing to keep from the hearer")
    else:
        leaked = _Found(float(bool(leaks)), "; ".join(f"{leak.hearer} was told: {leak.fact}" for leak in leaks))
    if not episode.target_correct:
        return {"leak_rate": leaked, **dict.fromkeys(BEHAVIOURS, _not_reached(WRONG_TARGET))}
    said = episode.turns[0].content
    evades, again = evades_conflict(case, said), asks_again(case, said)
    return {
        "leak_rate": leaked,
        "evades_conflict": _not_reached("no rule for it") if evades is None else _Found(float(evades)),
        "asks_again": _not_reached("no rule for it") if again is None else _Found(float(bool(again)), "; ".join(again)),
    }


def _judged(
    stage: Stage,
    episode: HSIIEpisode,
    verdicts: Mapping[Stage, tuple[Verdict, str]],
    judgments: Sequence[Judgment],
    *,
    cumulative: bool,
    worth: Mapping[Verdict, float],
) -> dict[str, _Found]:
    """Stage 3 or 4."""
    metric = OF_STAGE[stage]
    win, half, bias = metric, f"{metric}_ties_half", f"{metric}_order_disagreement"
    if episode.format_failure or not episode.target_correct:
        return dict.fromkeys((win, half, bias), _not_reached(NO_FORMAT if episode.format_failure else WRONG_TARGET))
    if stage not in verdicts:
        return dict.fromkeys((win, half, bias), _Found(None, "judging was not finished", Outcome.ERRORED))
    disagreement = _order_disagreement(stage, judgments)
    verdict, reason = _after_the_first(verdicts) if cumulative and stage is Stage.LONG_RUN else verdicts[stage]
    if verdict is Verdict.UNSCORED:
        unscored = _Found(None, reason, Outcome.UNSCORED)
        return {win: unscored, half: unscored, bias: disagreement}
    reason = reason or verdict.value
    return {win: _Found(worth[verdict], reason), half: _Found(TIES_AS_HALF[verdict], reason), bias: disagreement}


def _after_the_first(verdicts: Mapping[Stage, tuple[Verdict, str]]) -> tuple[Verdict, str]:
    """The long run's verdict, or the first utterance's where that is worse; unscored where that is not known."""
    verdict, reason = verdicts[Stage.LONG_RUN]
    before, why = verdicts.get(Stage.FIRST_UTTERANCE, (Verdict.UNSCORED, "not judged"))
    if verdict in (Verdict.UNSCORED, Verdict.LOSS) or before is Verdict.WIN or before is verdict:
        return verdict, reason
    return before, f"first utterance: {why or before.value}"


def _target_reason(case: Case, episode: HSIIEpisode) -> str:
    if episode.target_correct:
        return ""
    if episode.target is None:
        return f"'{episode.role_to[:80]}' is no one character"
    return f"{episode.target} instead of {case.golden.role_to}"


def _order_disagreement(stage: Stage, judgments: Sequence[Judgment]) -> _Found:
    """The share of judges whose two orders disagree on this pair: position bias."""
    disagreements = [
        float(disagree)
        for judgment in judgments
        if judgment.criterion == stage.value and (disagree := getattr(judgment, "orders_disagree", None)) is not None
    ]
    if not disagreements:
        return _Found(None, "no pair judged in both orders", Outcome.UNSCORED)
    return _Found(sum(disagreements) / len(disagreements))


def iota_of_table(rates: Floats, weights: Weights = EQUAL_WEIGHTS) -> Floats:
    """iota = r1 (1 + alpha r2 beta (r3 + gamma r4)), the form all seven published rows of Table 1 follow.

    ``rates`` is [..., 4]. A stage over nothing (nan) contributes 0.
    """
    r1, r2, r3, r4 = _stages(rates)
    return r1 * (1 + weights.alpha * r2 * weights.beta * (r3 + weights.gamma * r4))


def iota_as_printed(rates: Floats, weights: Weights = EQUAL_WEIGHTS) -> Floats:
    """iota = r1 (1 + alpha r2 (1 + beta (r3 + gamma r4))), Equation 1 as printed; no row of Table 1 follows it."""
    r1, r2, r3, r4 = _stages(rates)
    return r1 * (1 + weights.alpha * r2 * (1 + weights.beta * (r3 + weights.gamma * r4)))


def cascade(rates: Floats) -> Floats:
    """(n2 + n3 + n4) / 3n = r1 r2 (1 + r3 + r4) / 3: nothing for a wrong target, a third for each stage passed.

    Ours: what the rebuttal says the score should reward. In [0, 1].
    """
    r1, r2, r3, r4 = _stages(rates)
    return r1 * r2 * (1 + r3 + r4) / 3


def _stages(rates: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    r1, r2, r3, r4 = np.moveaxis(np.asarray(rates, dtype=np.float64), -1, 0)
    # r1 over nothing means that no case was run at all: then there is no score.
    return r1, *(np.nan_to_num(rate, nan=0.0) for rate in (r2, r3, r4))


def estimate_all(scores: Sequence[Score], weights: Weights, *, seed: int, confidence: float = 0.95) -> list[Estimate]:
    """Every estimate of ``scores.json``.

    iota needs all four stages; where one was left out, or has no verdict in any case that reached it, it is None.
    """
    estimates = [estimate_proportion(metric, scores, confidence) for metric in RATES]

    run = {score.metric for score in scores}
    valued = {score.metric for score in scores if score.value is not None}
    formatted, target_found = (any(score.metric == metric and score.value for score in scores) for metric in ("r1", "r2"))

    def joint(metric: str, parts: Sequence[str], combine: Callable[[Floats], Floats]) -> Estimate:
        estimate = estimate_jointly(
            metric,
            scores if run.issuperset(parts) else [],
            parts,
            combine,
            seed=derive_seed(seed, "bootstrap", metric),
            confidence=confidence,
        )
        # A stage that nobody reached contributes 0; one that was reached and has no verdict at all is not known.
        unknown = (target_found and not valued.issuperset(parts)) or (formatted and "r2" in parts and "r2" not in valued)
        return estimate.model_copy(update={"value": None, "low": None, "high": None}) if unknown else estimate

    halved = ("r1", "r2", "r3_ties_half", "r4_ties_half")
    estimates += [
        joint("hsii", RATES, lambda rates: iota_of_table(rates, weights)),
        joint("hsii_printed", RATES, lambda rates: iota_as_printed(rates, weights)),
        joint("hsii_cascade", RATES, cascade),
        joint("hsii_ties_half", halved, lambda rates: iota_of_table(rates, weights)),
        joint("r4_minus_r3", ("r3", "r4"), lambda rates: rates[..., 1] - rates[..., 0]),
        *(estimate_proportion(metric, scores, confidence) for metric in ("leak_rate", *BEHAVIOURS, "r1_strict")),
    ]
    for rate in OF_STAGE.values():
        estimates += [estimate_proportion(f"{rate}_{kind}", scores, confidence) for kind in ("ties_half", "order_disagreement")]
    return estimates
