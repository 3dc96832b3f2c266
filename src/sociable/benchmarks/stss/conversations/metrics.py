"""Success rate and goal condition success rate (section 3.2, Equations 1 and 2): verdicts to scores, scores to estimates. Pure.

SR of a conversation is 1 when all its conditions are met, else 0; GCSR is the share met. Micro averages over conversations,
macro over templates. Both on the conversation and on the listener's summary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product, starmap
from operator import attrgetter
from statistics import fmean

import numpy as np

from sociable.benchmarks.stss.conversations.conditions import Condition
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, Scene
from sociable.core.records import EpisodeStatus, Estimate, NoValue, Outcome, Score, Verdict, Verdicts
from sociable.core.seeding import derive_seed
from sociable.statistics.estimates import count_episodes, sum_by_cluster
from sociable.statistics.intervals import bootstrap_jointly
from sociable.statistics.metrics import Metric, Metrics, Value

TEXTS = {"conversation": "Conv.", "summary": "Summ."}
KINDS = {"sr": ("SR", "scenes with all conditions met"), "gcsr": ("GCSR", "share of conditions met")}
AVERAGES = {"micro": "mean over scenes", "macro": "mean over templates"}
TURNS, SILENT = "performer_turns", "silent"


@dataclass(frozen=True, slots=True)
class JudgedScene:
    """One episode with all that its scores rest on."""

    scene: Scene
    episode: ConversationEpisode
    verdicts: Verdicts
    conditions: Sequence[Condition]
    """Those that judges are asked about."""
    conveys_nothing: bool
    """Whether too little was said to meet any of them."""
    is_judged: bool
    """Whether there is a panel; without one only conduct is scored."""

    def find_met(self, text: str) -> dict[str, bool]:
        """Every condition, and whether the panel finds it met in ``text``. Raises NoValue."""
        self._check()
        if self.conveys_nothing:
            # A result, and no missing value.
            return {condition.value: False for condition in self.conditions}
        if text == "summary" and self.episode.summary_failure:
            raise NoValue(Outcome.UNSCORED, self.episode.summary_failure)
        found = {}
        for condition in self.conditions:
            verdict = self.verdicts.get((f"{text}|{condition}", ""))
            if verdict is None:
                raise NoValue(Outcome.ERRORED, "judging was not finished")
            if verdict[0] not in (Verdict.WIN, Verdict.LOSS):
                raise NoValue(Outcome.UNSCORED, verdict[1] or "the judges are split")
            found[condition.value] = verdict[0] is Verdict.WIN
        return found

    def count_turns(self) -> tuple[int, int]:
        """(the performer's turns with words, all its turns). Raises NoValue."""
        self._check()
        turns = [turn for turn in self.episode.turns if turn.speaker == self.scene.performer.name]
        return sum(bool(turn.content.strip()) for turn in turns), len(turns)

    def _check(self) -> None:
        if self.episode.status is EpisodeStatus.ERRORED:
            raise NoValue(Outcome.ERRORED, self.episode.error)
        if self.episode.partner_failure:
            raise NoValue(Outcome.UNSCORED, self.episode.partner_failure)


Find = Callable[[JudgedScene], tuple[float, str]]
"""Finds a value and its reason. Raises NoValue."""


def _measure(find: Find, each: JudgedScene) -> Value:
    """A value with its reason, or why there is none."""
    try:
        return Value(*find(each))
    except NoValue as missing:
        return Value(None, missing.reason, missing.outcome)


def _find_success(text: str, kind: str, each: JudgedScene) -> tuple[float, str]:
    """SR or GCSR, and the conditions that are not met."""
    met = each.find_met(text)
    value = float(all(met.values())) if kind == "sr" else fmean(map(float, met.values()))
    return value, ", ".join(condition for condition, is_met in met.items() if not is_met)


def _find_by_type(text: str, kind: str, each: JudgedScene) -> Mapping[str, Callable[[JudgedScene], Value]]:
    return {f"{text}_{kind}/{each.scene.type}": partial(_measure, lambda scene: (_find_success(text, kind, scene)[0], ""))}


def _find_by_condition(text: str, each: JudgedScene) -> Mapping[str, Callable[[JudgedScene], Value]]:
    """One metric a condition; none where it is not known which are met."""
    try:
        met = each.find_met(text)
    except NoValue:
        return {}

    def give(condition: str, _: JudgedScene) -> Value:
        return Value(float(met[condition]))

    return {f"{text}/{each.scene.type}/{condition}": partial(give, condition) for condition in met}


def _is_silent(each: JudgedScene) -> tuple[float, str]:
    spoken, turns = each.count_turns()
    return float(not spoken or spoken < turns), ""


def average_over(average: str, metric: str, name: str, scores: Sequence[Score], seed: int) -> Estimate:
    """Equation 1 (micro: the mean over all scenes) or Equation 2 (macro: the mean over templates of each one's mean).

    ``name``: the estimate's. Intervals resample templates; there is none where all are alike.
    """
    own = [score for score in scores if score.metric == metric]
    totals = sum_by_cluster(own, [metric])
    if average == "macro":
        # One template is one thing, whatever it has of scenes; one without a value is none.
        weights = totals[:, 1:]
        totals = np.where(weights > 0, totals / np.where(weights > 0, weights, 1.0), 0.0)
    own_seed = derive_seed(seed, "bootstrap", name)
    found = bootstrap_jointly(totals, lambda sums: sums[..., 0] / sums[..., 1], seed=own_seed)
    varied = found.low is not None and found.high is not None and found.high - found.low > 1e-12
    low, high = (found.low, found.high) if varied else (None, None)
    return Estimate(metric=name, value=found.value, low=low, high=high, **count_episodes(own))


def _declare_text(text: str) -> Iterator[Metric[JudgedScene]]:
    """The metrics of a scene by one text: SR and GCSR, the same by type of task, and each condition."""
    judged = attrgetter("is_judged")
    for kind, (title, meaning) in KINDS.items():
        name, meaning = f"{text}_{kind}", f"{meaning}, by the {text}"
        of_scene, of_type = partial(_measure, partial(_find_success, text, kind)), partial(_find_by_type, text, kind)
        yield Metric(name, f"{TEXTS[text]} {title}", f"{meaning}; of one scene", "scenes", of_scene, judged, best=1.0)
        yield Metric(f"{name}/…", title, f"{meaning}; of one type of task", "types", None, judged, members=of_type)
    meaning = f"scenes of a type in which the {text} meets a condition"
    yield Metric(f"{text}/…", text, meaning, "conditions", None, judged, members=partial(_find_by_condition, text))


def _declare_average(text: str, kind: str, average: str) -> Metric[JudgedScene]:
    """A figure of a run (Table 3), made of the metric of a scene."""
    title, meaning = f"{TEXTS[text]} {KINDS[kind][0]} {average}", f"{KINDS[kind][1]}, by the {text}; {AVERAGES[average]}"
    name = f"{text}_{kind}"
    return Metric(f"{name}_{average}", title, meaning, "table", aggregate=partial(average_over, average, name))


class SceneMetrics(Metrics[JudgedScene]):
    def estimate(self, scores: Sequence[Score], seed: int) -> list[Estimate]:
        """Table 3's eight, then shares by type and condition as they come, then turns. Without judges only conduct."""
        found = dict.fromkeys(score.metric for score in scores)
        table = [metric.name for metric in self.select_groups("table") if metric.name.rpartition("_")[0] in found]
        shares = [name for name in found if self.find(name).group != "scenes" and name != TURNS]
        names = [*table, *shares, *([TURNS] if TURNS in found else [])]
        return [self.find(name).aggregate(name, scores, seed) for name in names]


METRICS = SceneMetrics(
    *(metric for text in TEXTS for metric in _declare_text(text)),
    Metric(
        TURNS,
        "turns",
        "how often the performer spoke in a scene",
        "conduct",
        partial(_measure, lambda each: (float(each.count_turns()[0]), "")),
        aggregate=partial(average_over, "micro", TURNS),
        unit="turns",
        high=None,
        is_compared=False,
        decimals=1,
    ),
    Metric(
        SILENT,
        "silent",
        "scenes in which the performer said nothing, or nothing more, at its turn",
        "conduct",
        partial(_measure, _is_silent),
        is_compared=False,
    ),
    *starmap(_declare_average, product(TEXTS, KINDS, AVERAGES)),
)
