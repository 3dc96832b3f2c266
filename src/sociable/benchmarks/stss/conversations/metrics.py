"""Success rate and goal condition success rate (section 3.2, Equations 1 and 2): verdicts to scores, scores to estimates. Pure.

SR of a conversation is 1 when all its conditions are met, else 0; GCSR is the share met. Micro averages over conversations,
macro over templates. Both on the conversation and on the listener's summary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean

import numpy as np

from sociable.benchmarks.stss.conversations.conditions import CONDITIONS
from sociable.benchmarks.stss.conversations.records import ConversationEpisode
from sociable.benchmarks.stss.conversations.scene import Scene
from sociable.core.records import EpisodeStatus, Estimate, NoValue, Outcome, Score, Verdict, Verdicts
from sociable.core.seeding import derive_seed
from sociable.statistics.estimates import count_episodes, estimate_proportion, sum_by_cluster
from sociable.statistics.intervals import bootstrap_jointly

TEXTS = ("conversation", "summary")
METRICS = tuple(f"{text}_{kind}" for text in TEXTS for kind in ("sr", "gcsr"))
"""Of one scene."""
AVERAGES = ("micro", "macro")
TABLE_3 = tuple(f"{metric}_{average}" for metric in METRICS for average in AVERAGES)
"""Of a run, in the order of Table 3."""
CONDUCT = ("performer_turns", "silent")
"""How often the performer spoke; whether it came to say nothing at its turn, or ended so."""


def condition_metric(text: str, kind: str, condition: str) -> str:
    """What the share of scenes of a type in which a condition is met is called."""
    return f"{text}/{kind}/{condition}"


def type_metric(metric: str, kind: str) -> str:
    return f"{metric}/{kind}"


def score_scene(scene: Scene, episode: ConversationEpisode, verdicts: Verdicts, *, judged: bool) -> list[Score]:
    """All scores of one episode. ``judged``: whether there is a panel; without one only conduct is scored."""
    return [episode.score(*each) for each in _values(scene, episode, verdicts, judged=judged)]


def _values(
    scene: Scene, episode: ConversationEpisode, verdicts: Verdicts, *, judged: bool
) -> Iterator[tuple[str, float | None, Outcome, str]]:
    for text in TEXTS if judged else ():
        metrics = [f"{text}_sr", f"{text}_gcsr"]
        try:
            met = _met(scene, episode, verdicts, text)
        except NoValue as missing:
            for metric in metrics:
                yield metric, None, missing.outcome, missing.reason
                yield type_metric(metric, scene.type), None, missing.outcome, missing.reason
            continue
        lacking = ", ".join(condition for condition, is_met in met.items() if not is_met)
        for metric, value in zip(metrics, (float(all(met.values())), fmean(map(float, met.values()))), strict=True):
            yield metric, value, Outcome.SCORED, lacking
            yield type_metric(metric, scene.type), value, Outcome.SCORED, ""
        for condition, is_met in met.items():
            yield condition_metric(text, scene.type, condition), float(is_met), Outcome.SCORED, ""
    try:
        _check(episode)
    except NoValue as missing:
        for metric in CONDUCT:
            yield metric, None, missing.outcome, missing.reason
        return
    turns = [turn for turn in episode.turns if turn.speaker == scene.performer.name]
    spoken = [turn for turn in turns if turn.content.strip()]
    yield "performer_turns", float(len(spoken)), Outcome.SCORED, ""
    yield "silent", float(not spoken or len(spoken) < len(turns)), Outcome.SCORED, ""


def _check(episode: ConversationEpisode) -> None:
    if episode.status is EpisodeStatus.ERRORED:
        raise NoValue(Outcome.ERRORED, episode.error)
    if episode.partner_failure:
        raise NoValue(Outcome.UNSCORED, episode.partner_failure)


def _met(scene: Scene, episode: ConversationEpisode, verdicts: Verdicts, text: str) -> dict[str, bool]:
    """Every condition, and whether the panel finds it met."""
    _check(episode)
    conditions = CONDITIONS[scene.type]
    if not any(turn.content.strip() and turn.speaker == scene.performer.name for turn in episode.turns):
        # A result: without the performer's words nothing can have been conveyed.
        return {condition.value: False for condition in conditions}
    if text == "summary" and episode.summary_failure:
        raise NoValue(Outcome.UNSCORED, episode.summary_failure)
    found = {}
    for condition in conditions:
        verdict = verdicts.get((f"{text}|{condition}", ""))
        if verdict is None:
            raise NoValue(Outcome.ERRORED, "judging was not finished")
        if verdict[0] not in (Verdict.WIN, Verdict.LOSS):
            raise NoValue(Outcome.UNSCORED, verdict[1] or "the judges are split")
        found[condition.value] = verdict[0] is Verdict.WIN
    return found


def estimate_all(scores: Sequence[Score], *, seed: int, confidence: float = 0.95) -> list[Estimate]:
    """Table 3's eight, then by type and condition, then conduct. Intervals resample templates."""
    by_metric: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        by_metric[score.metric].append(score)
    table = [
        average_over(average, metric, by_metric[metric], seed=seed, confidence=confidence)
        for metric in METRICS
        for average in AVERAGES
        if metric in by_metric
    ]
    shares = [
        estimate_proportion(metric, own, confidence)
        for metric, own in by_metric.items()
        if metric not in (*METRICS, "performer_turns")
    ]
    turns = [
        average_over("micro", metric, by_metric[metric], seed=seed, confidence=confidence, name=metric)
        for metric in ("performer_turns",)
        if metric in by_metric
    ]
    return [*table, *shares, *turns]


def average_over(
    average: str, metric: str, scores: Sequence[Score], *, seed: int, confidence: float = 0.95, name: str = ""
) -> Estimate:
    """Equation 1 (micro: the mean over all scenes) or Equation 2 (macro: the mean over templates of each one's mean)."""
    name = name or f"{metric}_{average}"
    totals = sum_by_cluster(scores, [metric])
    if average == "macro":
        # One template is one thing, whatever it has of scenes; one without a value is none.
        weights = totals[:, 1:]
        totals = np.where(weights > 0, totals / np.where(weights > 0, weights, 1.0), 0.0)
    found = bootstrap_jointly(
        totals, lambda sums: sums[..., 0] / sums[..., 1], confidence, seed=derive_seed(seed, "bootstrap", name)
    )
    varied = found.low is not None and found.high is not None and found.high - found.low > 1e-12
    return Estimate(
        metric=name,
        value=found.value,
        low=found.low if varied else None,
        high=found.high if varied else None,
        confidence=confidence,
        **count_episodes(scores),
    )
