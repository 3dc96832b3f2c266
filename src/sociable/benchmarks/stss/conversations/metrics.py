"""Success rate and goal condition success rate (section 3.2, Equations 1 and 2): verdicts to scores, scores to estimates. Pure.

SR of a conversation is 1 when all its conditions are met, else 0; GCSR is the share met. Micro averages over conversations,
macro over templates. Both on the conversation and on the listener's summary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

import numpy as np

from sociable.benchmarks.stss.conversations.conditions import CONDITIONS
from sociable.benchmarks.stss.conversations.records import ConversationEpisode
from sociable.benchmarks.stss.conversations.scene import Scene
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
    is_judged: bool
    """Whether there is a panel; without one only conduct is scored."""

    def find_met(self, text: str) -> dict[str, bool]:
        """Every condition, and whether the panel finds it met in ``text``. Raises NoValue."""
        self._check()
        episode = self.episode
        conditions = CONDITIONS[self.scene.type]
        if not episode.has_words_of(self.scene.performer.name):
            # A result: without the performer's words nothing can have been conveyed.
            return {condition.value: False for condition in conditions}
        if text == "summary" and episode.summary_failure:
            raise NoValue(Outcome.UNSCORED, episode.summary_failure)
        found = {}
        for condition in conditions:
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


ValueOf = Callable[[JudgedScene], Value]


def _value(find: Callable[[JudgedScene], tuple[float, str]]) -> ValueOf:
    """A value with its reason, or why there is none."""

    def value_of(each: JudgedScene) -> Value:
        try:
            return Value(*find(each))
        except NoValue as missing:
            return Value(None, missing.reason, missing.outcome)

    return value_of


def _success(text: str, kind: str, each: JudgedScene) -> tuple[float, str]:
    """SR or GCSR, and the conditions that are not met."""
    met = each.find_met(text)
    value = float(all(met.values())) if kind == "sr" else fmean(map(float, met.values()))
    return value, ", ".join(condition for condition, is_met in met.items() if not is_met)


def _by_type(text: str, kind: str, each: JudgedScene) -> Mapping[str, ValueOf]:
    return {f"{text}_{kind}/{each.scene.type}": _value(lambda scene: (_success(text, kind, scene)[0], ""))}


def _by_condition(text: str, each: JudgedScene) -> Mapping[str, ValueOf]:
    """One metric a condition; none where it is not known which are met."""
    try:
        met = each.find_met(text)
    except NoValue:
        return {}
    values = {condition: Value(float(is_met)) for condition, is_met in met.items()}
    return {f"{text}/{each.scene.type}/{condition}": partial(_give, value) for condition, value in values.items()}


def _give(value: Value, each: JudgedScene) -> Value:
    return value


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
    seed = derive_seed(seed, "bootstrap", name)
    found = bootstrap_jointly(totals, lambda sums: sums[..., 0] / sums[..., 1], seed=seed)
    varied = found.low is not None and found.high is not None and found.high - found.low > 1e-12
    low, high = (found.low, found.high) if varied else (None, None)
    return Estimate(metric=name, value=found.value, low=low, high=high, **count_episodes(own))


def _declare_averages(text: str, kind: str) -> list[Metric[JudgedScene]]:
    """The figures of a run (Table 3), made of the metric of a scene."""
    title, meaning = KINDS[kind]
    return [
        Metric(
            f"{text}_{kind}_{average}",
            f"{TEXTS[text]} {title} {average}",
            f"{meaning}, by the {text}; {over}",
            "table",
            aggregate=partial(average_over, average, f"{text}_{kind}"),
        )
        for average, over in AVERAGES.items()
    ]


def _declare_text(text: str) -> list[Metric[JudgedScene]]:
    found: list[Metric[JudgedScene]] = []
    for kind, (title, meaning) in KINDS.items():
        name, meaning = f"{text}_{kind}", f"{meaning}, by the {text}"
        of_scene, of_type = _value(partial(_success, text, kind)), partial(_by_type, text, kind)
        found += [
            Metric(name, f"{TEXTS[text]} {title}", f"{meaning}; of one scene", "scenes", of_scene, _judged),
            Metric(f"{name}/…", title, f"{meaning}; of one type of task", "types", None, _judged, members=of_type),
        ]
    conditions = partial(_by_condition, text)
    meaning = f"scenes of a type in which the {text} meets a condition"
    return [*found, Metric(f"{text}/…", text, meaning, "conditions", None, _judged, members=conditions)]


def _judged(each: JudgedScene) -> bool:
    return each.is_judged


METRICS: Metrics[JudgedScene] = Metrics(
    *(metric for text in TEXTS for metric in _declare_text(text)),
    Metric(
        TURNS,
        "turns",
        "how often the performer spoke in a scene",
        "conduct",
        _value(lambda each: (float(each.count_turns()[0]), "")),
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
        _value(_is_silent),
        is_compared=False,
    ),
    *(metric for text in TEXTS for kind in KINDS for metric in _declare_averages(text, kind)),
)


def estimate_scenes(scores: Sequence[Score], seed: int) -> list[Estimate]:
    """Table 3's eight, then shares by type and condition as they come, then turns. Without judges only conduct."""
    found = dict.fromkeys(score.metric for score in scores)
    per_scene = {metric.name for metric in METRICS.in_group("scenes")}
    table = [metric.name for metric in METRICS.in_group("table") if metric.name.rpartition("_")[0] in found]
    shares = [name for name in found if name not in per_scene and name != TURNS]
    names = [*table, *shares, *([TURNS] if TURNS in found else [])]
    return [METRICS.find(name).aggregate(name, scores, seed) for name in names]
