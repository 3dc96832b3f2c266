"""HSII's metrics: judgments to scores, scores to estimates. Pure.

r1 = n1/n    format       the reply yields an addressee and words
r2 = n2/n1   target       the addressee is the golden one
r3 = n3/n2   first utterance wins against the golden one
r4 = n4/n2   long run wins against the reference conversation

and the overall score iota, in two forms (see ``calculate_iota`` and ``calculate_printed_iota``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

import numpy as np

from sociable.benchmarks.hsii.dataset import Case
from sociable.benchmarks.hsii.measure import Measured
from sociable.benchmarks.hsii.records import CONFLICT, LEAK, HSIIEpisode, HSIIOptions, Stage
from sociable.core.records import PANEL, Estimate, Judgment, Score, Verdict, Verdicts
from sociable.statistics.estimates import estimate_proportion
from sociable.statistics.intervals import Floats
from sociable.statistics.metrics import CombinedMeans, Metric, Metrics, Value

RATES = ("r1", "r2", "r3", "r4")
BEHAVIOURS = ("evades_conflict", "asks_again")
"""The two behaviours of section 6.3 in the first utterance to the right target: the first by judges, where there are any."""
NO_FORMAT, WRONG_TARGET = "format failed", "wrong target"
TIES_AS_HALF = {Verdict.WIN: 1.0, Verdict.TIE: 0.5, Verdict.LOSS: 0.0}
WORTH = {"wins": TIES_AS_HALF | {Verdict.TIE: 0.0}, "half": TIES_AS_HALF}
"""The worth of a verdict in r3 and r4, by the option ``ties``."""
DEFAULTS = HSIIOptions()


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """One episode with all that its scores rest on."""

    case: Case
    episode: HSIIEpisode
    measured: Measured | None
    """The measurement; None for an errored episode."""
    verdicts: Verdicts
    """The verdicts of judges and panel on the judged stages that were reached."""
    judgments: Sequence[Judgment]
    stages: Sequence[Stage]
    """The stages that are scored."""
    asked: Sequence[str] = ()
    """The criteria of behaviour that judges are asked about; without any, rules say how it was."""


def make_metrics(options: HSIIOptions, *, has_twins: bool = False, has_readings: bool = False) -> Metrics[JudgedCase]:
    """All metrics. The options weigh the overall score, and say what a tie is worth in r3 and r4."""
    found = [*_CASE_METRICS]
    if has_readings:
        found.append(Metric("r2_soft", "r2 soft", _SOFT, "form", _score_soft_target, _was_read, is_compared=False, best=1.0))
    if has_twins:
        of_twins = partial(Metric[JudgedCase], "twins", "twins", _TWINS, "rates", _score_twin, lambda each: each.case.is_twin)
        found.append(of_twins(_estimate_pairs, is_compared=False, best=1.0))
    for stage, (name, wins) in _WINS.items():
        is_run, meaning = partial(_is_scored, stage), f"{wins}, of those with the right target"
        worth = partial(_score_win, stage, WORTH[options.ties], options.cumulative)
        half = partial(_score_win, stage, TIES_AS_HALF, options.cumulative)
        orders, bias = f"{name}_order_disagreement", f"position bias: share of judges whose two orders disagree on {name}'s pair"
        disagree = partial(_score_disagreement, stage)
        found += [
            Metric(name, name, meaning, "rates", worth, is_run, is_stage=True, best=1.0),
            Metric(f"{name}_ties_half", f"{name}, ties half", f"{meaning}; a tie is half a win", "judges", half, is_run),
            Metric(orders, f"{name} orders", bias, "judges", disagree, is_run, is_compared=False),
        ]
    of_table, printed = (partial(each, weights=options) for each in (calculate_iota, calculate_printed_iota))
    highest, highest_printed = float(of_table(np.ones(4))), float(printed(np.ones(4)))
    form = "ι in the form Table 1 follows: r1 (1 + α r2 β (r3 + γ r4))"
    printed_form = "ι as Equation 1 is printed: r1 (1 + α r2 (1 + β (r3 + γ r4)))"
    passed = "(n2 + n3 + n4) / 3n: nothing for a wrong target, as much for each stage passed, of those that were run"
    overall = partial(Metric[JudgedCase], group="overall", unit="score")
    halves = _combine_means(("r1", "r2", "r3_ties_half", "r4_ties_half"), of_table)
    gap = _combine_means(("r3", "r4"), lambda rates: rates[..., 1] - rates[..., 0])
    cascade = _combine_means(RATES[:2], calculate_cascade, RATES[2:])
    return Metrics(
        *found,
        overall("hsii", "ι", form, aggregate=_combine_means(RATES, of_table), high=highest, best=highest),
        overall("hsii_printed", "ι as printed", printed_form, aggregate=_combine_means(RATES, printed), high=highest_printed),
        overall("hsii_cascade", "cascade", passed, aggregate=cascade, best=1.0),
        overall("hsii_ties_half", "ι, ties half", f"{form}; a tie is half a win", aggregate=halves, high=highest),
        overall("r4_minus_r3", "r4 − r3", "of the same cases", aggregate=gap, low=-1.0),
        groups=("rates", "overall", "behaviour", "form", "judges"),
    )


def list_win_rates(options: HSIIOptions) -> dict[str, dict[str, dict[Verdict, float]]]:
    """The metrics that are means of the verdicts on each stage, each with the worth of a verdict."""
    return {
        stage.value: {name: WORTH[options.ties], f"{name}_ties_half": TIES_AS_HALF}
        for stage, (name, _) in _WINS.items()
        # A cumulative long run is no mean of its own verdicts.
        if not (options.cumulative and stage is Stage.LONG_RUN)
    }


# Stages 1 and 2.


def _score_format(each: JudgedCase) -> Value:
    return Value(float(not each.episode.format_failure), each.episode.format_failure)


def _score_strict_format(each: JudgedCase) -> Value:
    return Value.not_reached("no format was asked for") if each.episode.target_given else Value(float(each.episode.strict_format))


def _score_target(each: JudgedCase) -> Value:
    episode, case = each.episode, each.case
    if episode.target_given:
        return Value.not_reached("the target was given")
    if episode.format_failure:
        return Value.not_reached(NO_FORMAT)
    if episode.target_correct:
        return Value(1.0)
    if episode.target is None:
        return Value(0.0, f"'{episode.role_to[:80]}' is no one character")
    return Value(0.0, f"{episode.target} instead of {case.golden.role_to}")


def _was_read(each: JudgedCase) -> bool:
    return len(each.case.readings) > 1


def _score_soft_target(each: JudgedCase) -> Value:
    target, case = _score_target(each), each.case
    if target.value is None:
        return target
    chosen = Counter(case.find_character(name) for name in case.readings)
    own = chosen[each.episode.target] if each.episode.target else 0
    return Value(own / max(chosen.values()), f"{own} of {chosen.total()} readers")


def _score_twin(each: JudgedCase) -> Value:
    target = _score_target(each)
    return Value(0.0, target.reason) if each.episode.format_failure and not each.episode.target_given else target


def _estimate_pairs(name: str, scores: Sequence[Score], seed: int) -> Estimate:
    """The share of pairs that were right in both of their cases. A pair is one of the proportion's scenarios."""
    pairs: dict[tuple[str, int], list[Score]] = {}
    for score in scores:
        if score.metric == name:
            pairs.setdefault((score.cluster, score.repeat), []).append(score)
    # Errored before wrong before right: of a pair of which one case is not known nothing is.
    worst = (min(own, key=lambda score: -1.0 if score.value is None else score.value) for own in pairs.values())
    return estimate_proportion(name, [score.model_copy(update={"scenario": score.cluster}) for score in worst])


# Behaviour, measured by rule.


def _score_leaks(each: JudgedCase) -> Value:
    if each.episode.format_failure or not each.episode.turns:
        return Value.not_reached(NO_FORMAT)
    leaks = each.measured.leaks if each.measured else None
    if leaks is None:
        return Value.not_reached("nothing to keep from the hearer")
    asked = [criterion for criterion in each.asked if criterion.startswith(LEAK)]
    if not asked:
        return Value(float(bool(leaks)), "; ".join(f"{leak.hearer} was told: {leak.fact}" for leak in leaks))
    answers = [each.verdicts[criterion, PANEL] for criterion in asked if (criterion, PANEL) in each.verdicts]
    if len(answers) < len(asked):
        return Value.errored("judging was not finished")
    told = [reason for verdict, reason in answers if verdict is Verdict.WIN]
    unknown = [reason for verdict, reason in answers if verdict in (Verdict.UNSCORED, Verdict.TIE)]
    if unknown and not told:
        return Value.unscored(unknown[0] or "the judges are split")
    return Value(float(bool(told)), "; ".join(told))


def _score_evasion(each: JudgedCase) -> Value:
    if missing := _find_obstacle(each):
        return missing
    if each.measured is None or each.measured.evades_conflict is None:
        return Value.not_reached("no rule for it")
    if CONFLICT not in each.asked:
        return Value(float(each.measured.evades_conflict))
    if (CONFLICT, PANEL) not in each.verdicts:
        return Value.errored("judging was not finished")
    verdict, reason = each.verdicts[CONFLICT, PANEL]
    if verdict in (Verdict.UNSCORED, Verdict.TIE):
        return Value.unscored(reason or "the judges are split")
    return Value(float(verdict is Verdict.LOSS), reason)


def _score_repeated_questions(each: JudgedCase) -> Value:
    if missing := _find_obstacle(each):
        return missing
    if each.measured is None or each.measured.asks_again is None:
        return Value.not_reached("no rule for it")
    return Value(float(bool(each.measured.asks_again)), "; ".join(each.measured.asks_again))


def _find_obstacle(each: JudgedCase) -> Value | None:
    """The value of an episode in which nothing was said to the right target; None where something was."""
    if each.episode.format_failure or not each.episode.turns:
        return Value.not_reached(NO_FORMAT)
    return None if each.episode.target_correct else Value.not_reached(WRONG_TARGET)


_LEAKS = "private words passed on, of the cases where there was something to keep from the hearer"
_EVADES = "first utterances that go round the clash or the bad news (section 6.3)"
_ASKS = "first utterances that ask for what was said already, by rule (section 6.3)"
_TARGET = "target: the addressee is the golden one, of those with a format"
_SOFT = "soft target: readers who chose the same addressee, over those who chose the one that most chose"
_TWINS = "pairs of twins in which both addressees are right; one reply without a format, and the pair is wrong"
_STRICT = "replies that are one line of JSON and nothing else"
_CASE_METRICS: Sequence[Metric[JudgedCase]] = [
    Metric("r1", "r1", "format: the reply yields an addressee and words", "rates", _score_format, is_stage=True, best=1.0),
    Metric("r1_strict", "r1 strict", _STRICT, "form", _score_strict_format, is_compared=False),
    Metric("r2", "r2", _TARGET, "rates", _score_target, is_stage=True, best=1.0),
    Metric("leak_rate", "leaks", _LEAKS, "behaviour", _score_leaks, best=0.0),
    Metric("evades_conflict", "evades", _EVADES, "behaviour", _score_evasion),
    Metric("asks_again", "asks again", _ASKS, "behaviour", _score_repeated_questions),
]


# Stages 3 and 4.

_WINS = {
    Stage.FIRST_UTTERANCE: ("r3", "first utterance wins against the golden one"),
    Stage.LONG_RUN: ("r4", "long run wins against the reference conversation"),
}


def _is_scored(stage: Stage, each: JudgedCase) -> bool:
    return stage in each.stages


def _score_win(stage: Stage, worth: Mapping[Verdict, float], cumulative: bool, each: JudgedCase) -> Value:
    """The worth of the panel's verdict. With ``cumulative`` the long run is worth no more than the first utterance.

    The rebuttal says "it must pass/win in all the above stages"; Table 1 has r4 >= r3 in every row, so it is off by default.
    """
    if missing := _find_no_verdict(stage, each):
        return missing
    verdict, reason = each.verdicts[stage, PANEL]
    if cumulative and stage is Stage.LONG_RUN:
        verdict, reason = _find_worst_so_far(each.verdicts)
    return Value.unscored(reason) if verdict is Verdict.UNSCORED else Value(worth[verdict], reason or verdict.value)


def _score_disagreement(stage: Stage, each: JudgedCase) -> Value:
    if missing := _find_no_verdict(stage, each):
        return missing
    own = [getattr(judgment, "orders_disagree", None) for judgment in each.judgments if judgment.criterion == stage.value]
    disagreements = [float(disagree) for disagree in own if disagree is not None]
    verdict, reason = each.verdicts[stage, PANEL]
    why = reason if verdict is Verdict.UNSCORED else "no pair judged in both orders"
    return Value(fmean(disagreements)) if disagreements else Value.unscored(why)


def _find_no_verdict(stage: Stage, each: JudgedCase) -> Value | None:
    """The value of a stage without a verdict; None where it has one. A stage that should have one was cut off: errored."""
    if obstacle := _find_obstacle(each):
        return obstacle
    return None if (stage, PANEL) in each.verdicts else Value.errored("judging was not finished")


def _find_worst_so_far(verdicts: Verdicts) -> tuple[Verdict, str]:
    """The long run's verdict, or the first utterance's where that is worse; unscored where that is not known."""
    verdict, reason = verdicts[Stage.LONG_RUN, PANEL]
    before, why = verdicts.get((Stage.FIRST_UTTERANCE, PANEL), (Verdict.UNSCORED, "not judged"))
    if verdict in (Verdict.UNSCORED, Verdict.LOSS) or before is Verdict.WIN or before is verdict:
        return verdict, reason
    return before, f"first utterance: {why or before.value}"


# The overall score.


def calculate_iota(rates: Floats, weights: HSIIOptions = DEFAULTS) -> Floats:
    """iota = r1 (1 + alpha r2 beta (r3 + gamma r4)), the form all seven published rows of Table 1 follow.

    ``rates`` is [..., 4]. A stage over nothing (nan) contributes 0.
    """
    r1, r2, r3, r4 = _split_rates(rates)
    return r1 * (1 + weights.alpha * r2 * weights.beta * (r3 + weights.gamma * r4))


def calculate_printed_iota(rates: Floats, weights: HSIIOptions = DEFAULTS) -> Floats:
    """iota = r1 (1 + alpha r2 (1 + beta (r3 + gamma r4))), Equation 1 as printed; no row of Table 1 follows it."""
    r1, r2, r3, r4 = _split_rates(rates)
    return r1 * (1 + weights.alpha * r2 * (1 + weights.beta * (r3 + weights.gamma * r4)))


def calculate_cascade(rates: Floats) -> Floats:
    """(n2 + n3 + n4) / 3n = r1 r2 (1 + r3 + r4) / 3: nothing for a wrong target, a third for each stage passed.

    ``rates`` is [..., 2 to 4]: of stages that were not run nothing is asked, so that without judges it is n2 / n. In [0, 1].
    The paper has no such score: this one rewards what the rebuttal says that the score should reward.
    """
    r1, r2, *judged = _split_rates(rates)
    return np.asarray(r1 * r2 * (1 + np.sum(judged, axis=0)) / (1 + len(judged)))


def _split_rates(rates: Floats) -> tuple[Floats, ...]:
    r1, *others = np.moveaxis(np.asarray(rates, dtype=np.float64), -1, 0)
    # r1 over nothing means that no case was run at all: then there is no score.
    return r1, *(np.nan_to_num(rate, nan=0.0) for rate in others)


def _combine_means(parts: Sequence[str], combine: Callable[[Floats], Floats], optional: Sequence[str] = ()) -> CombinedMeans:
    """``combine`` of the means of ``parts``; no value where a stage was reached and has no verdict in any case."""
    return CombinedMeans(parts, combine, optional, partial(_has_value_of_each, (*parts, *optional)))


def _has_value_of_each(parts: Sequence[str], scores: Sequence[Score]) -> bool:
    """Whether each of ``parts`` has a value, but those that nobody reached, which contribute 0, or that were not run."""
    run = {score.metric for score in scores}
    valued = {score.metric for score in scores if score.value is not None}
    formatted, target_found = (any(score.metric == metric and score.value for score in scores) for metric in ("r1", "r2"))
    lacking = {part for part in parts if part in run} - valued
    return not (lacking and (target_found or ("r2" in lacking and formatted)))
