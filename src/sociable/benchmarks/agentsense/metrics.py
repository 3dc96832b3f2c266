"""AgentSense's metrics, each declared once: from an episode and its judgments to scores, from scores to estimates. Pure.

A goal's value is the mean over its questions; goals are averaged per character, characters per scene, scenes overall.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from statistics import fmean
from typing import Any

from sociable.benchmarks.agentsense.records import (
    AgentSenseEpisode,
    AgentSenseOptions,
    ProbeAnswer,
    ProbeKind,
    name_goal_criterion,
)
from sociable.benchmarks.agentsense.scenario import Character, Goal, Scenario
from sociable.benchmarks.agentsense.sensitivity import ABNORMAL, estimate_flagged, estimate_sensitivity
from sociable.core.records import CUT_OFF, PANEL, EpisodeStatus, Estimate, Outcome, Score, Turn, Verdict, Verdicts
from sociable.statistics.metrics import Metric, Metrics, Value, mean
from sociable.statistics.variation import find_deviation_bias

PARTNER = "partner_"
"""The prefix of a metric's name that is about the characters that the partner plays."""
JUDGE = "judge: "
"""The prefix of a judge's name in metrics: goal completion as that judge alone sees it."""


@dataclass(frozen=True)
class Scene:
    """One episode with all that its scores rest on, from one side: the characters ``own`` are scored."""

    scenario: Scenario
    episode: AgentSenseEpisode
    verdicts: Verdicts
    judges: Sequence[str]
    options: AgentSenseOptions
    own: frozenset[str]
    others: frozenset[str]
    """The characters of the other side; none where one model plays everybody."""
    after: int
    """The number of turns taken when goals are looked at."""
    told: frozenset[str] = frozenset()
    """The keys of the quiz questions whose answer was told in the scene."""
    counts: Callable[[Goal], bool] = lambda _: True
    """Whether a goal is looked at."""

    @property
    def characters(self) -> list[Character]:
        """The own ones, in the order of the data."""
        return [character for character in self.scenario.characters if character.name in self.own]

    @property
    def is_mixed(self) -> bool:
        return self.options.plays != "all"

    @property
    def was_played(self) -> bool:
        return self.episode.status is EpisodeStatus.COMPLETED and not self.episode.partner_failure

    def swap_sides(self) -> Scene:
        return replace(self, own=self.others, others=self.own)


ValueOf = Callable[[Scene], Value]
View = Callable[[Scene, Character, int], Value]
"""(scene, character, place) → how its goal of that place went in somebody's eyes, or its question was answered."""


# Goals.


def _average_goals(view: View, scene: Scene) -> Value:
    return _average_means(
        [view(scene, owner, item) for item, goal in enumerate(owner.goals) if scene.counts(goal)] for owner in scene.characters
    )


def _read_answers(kind: ProbeKind, scene: Scene, owner: Character, item: int) -> Value:
    """The share of participants who say that a goal was reached."""
    answers = scene.episode.answers.get((kind, owner.name, item), ())
    return _measure_true(scene, [each for each in answers if each.after == scene.after])


def _read_verdicts(judge: str, scene: Scene, owner: Character, item: int) -> Value:
    """The share of a judge's, or the panel's, verdicts that a goal was reached. A panel that is split has no verdict."""
    wordings = range(len(owner.goals[item].eval_questions.judge or ()))
    found = [scene.verdicts.get((name_goal_criterion(owner.name, item, wording, scene.after), judge)) for wording in wordings]
    verdicts = [each for each in found if each is not None]
    if len(verdicts) < len(found):
        return Value.errored("judging was not finished")
    given = [float(verdict is Verdict.WIN) for verdict, _ in verdicts if verdict in (Verdict.WIN, Verdict.LOSS)]
    lost = [reason or "the judges are split" for verdict, reason in verdicts if verdict in (Verdict.UNSCORED, Verdict.TIE)]
    if given:
        return Value(fmean(given), lost[0] if lost else "")
    return Value.unscored(lost[0]) if lost else Value.not_reached()


_OWN, _PANEL = partial(_read_answers, ProbeKind.OWN_GOAL), partial(_read_verdicts, PANEL)


def _list_judges(scene: Scene) -> dict[str, ValueOf]:
    return {JUDGE + judge: partial(_average_goals, partial(_read_verdicts, judge)) for judge in scene.judges}


def _average_judges(scene: Scene) -> Value:
    values = [value_of(scene) for value_of in _list_judges(scene).values()]
    lacking = next((each for each in values if each.value is None), None)
    return lacking or Value(fmean(each.value for each in values if each.value is not None))


def _read_overconfidence(scene: Scene, owner: Character, item: int) -> Value:
    """The owner's view of a goal less the judges'."""
    return _subtract(_OWN(scene, owner, item), _PANEL(scene, owner, item))


# Secrets.


def _average_quiz(view: View, scene: Scene) -> Value:
    return _average_means(
        [view(scene, asked, item) for item in range(len(asked.info_reason_questions))] for asked in scene.characters
    )


def _read_quiz(kind: ProbeKind, scene: Scene, asked: Character, item: int, *, on_others: bool = False) -> Value:
    """The answer to a question; with ``on_others`` only if that is about a secret of the other side."""
    answers = scene.episode.answers.get((kind, asked.name, item), ())
    return _measure_true(scene, [each for each in answers if not on_others or each.about in scene.others])


def _read_untold(kind: ProbeKind, scene: Scene, asked: Character, item: int) -> Value:
    """The answer to a question that nobody told in the scene."""
    told = asked.info_reason_questions[item].key in scene.told
    return Value.not_reached("it was told in the scene") if told else _read_quiz(kind, scene, asked, item)


def _read_untold_gain(scene: Scene, asked: Character, item: int) -> Value:
    after, before = (_read_untold(kind, scene, asked, item) for kind in (ProbeKind.QUIZ, ProbeKind.BLIND_QUIZ))
    return _subtract(after, before)


def _measure_leaks(scene: Scene) -> Value:
    """The share of the questions about the own characters' secrets whose answer was told."""
    questions = (question for asked in scene.scenario.characters for question in asked.info_reason_questions)
    about = {question.key for question in questions if question.about in scene.own}
    return _measure_share(key in scene.told for key in sorted(about))


def _measure_best_share(scene: Scene) -> Value:
    """Goals reached, as a share of those that these characters can reach together."""
    reached = _average_goals(_PANEL, scene)
    if reached.value is None:
        return reached
    return Value(min(1.0, reached.value / scene.scenario.find_ceiling(scene.own)), reached.reason)


def _read_gain(scene: Scene, asked: Character, item: int) -> Value:
    """The answer after the scene less that before."""
    after, before = (_read_quiz(kind, scene, asked, item) for kind in (ProbeKind.QUIZ, ProbeKind.BLIND_QUIZ))
    return _subtract(after, before)


def _measure_attack(kind: ProbeKind, scene: Scene) -> Value:
    return _average_quiz(partial(_read_quiz, kind, on_others=True), scene)


def _measure_defence(kind: ProbeKind, scene: Scene) -> Value:
    return _subtract(Value(1.0), _measure_attack(kind, scene.swap_sides()))


def _measure_true(scene: Scene, answers: Sequence[ProbeAnswer]) -> Value:
    """The share of yes, or of right. No answer by a model under test is neither; an instrument's is left out."""
    counted = [each for each in answers if each.answer is not None or each.asked in scene.episode.tested]
    if not counted and answers:
        return Value.unscored(f"{answers[0].asked}: {answers[0].defect or 'no answer in the reply'}")
    return _measure_share(bool(each.answer) for each in counted)


# Conduct.


def _measure_unanswered(scene: Scene) -> Value:
    return _measure_share(probe.answer is None for probe in scene.episode.probes if probe.asked in scene.own)


def _measure_turns(is_one: Callable[[Turn], bool], scene: Scene) -> Value:
    return _measure_share(is_one(turn) for turn in scene.episode.turns if turn.index > 0 and turn.speaker in scene.own)


def _measure_open_end(scene: Scene) -> Value:
    """Whether the last words are a question: the limit on turns ended the scene before its answer."""
    said = [turn.content.rstrip(' *"”') for turn in scene.episode.turns if turn.index > 0 and turn.content.strip()]
    return Value(float(bool(said) and said[-1].endswith("?")))


def _measure_script(scene: Scene) -> Value:
    return _measure_share(bool(probe.answer) for probe in scene.episode.probes if probe.kind is ProbeKind.SCRIPT)


# Arithmetic.


def _measure_share(flags: Iterable[bool]) -> Value:
    counted = list(map(float, flags))
    return Value(fmean(counted)) if counted else Value.not_reached()


def _subtract(first: Value, second: Value) -> Value:
    if first.value is None or second.value is None:
        return first if first.value is None else second
    return Value(first.value - second.value)


def _average_means(found: Iterable[Sequence[Value]]) -> Value:
    """The mean over characters of the mean over what each has; what the instrument failed at is left out.

    What the run did not finish is no value at all.
    """
    means: list[float] = []
    missing: list[Value] = []
    for values in found:
        if given := [each.value for each in values if each.value is not None]:
            means.append(fmean(given))
        missing += [each for each in values if each.value is None and each.outcome is not Outcome.NOT_REACHED]
    if errored := next((each for each in missing if each.outcome is Outcome.ERRORED), None):
        return errored
    if means:
        return Value(fmean(means), missing[0].reason if missing else "")
    return missing[0] if missing else Value.not_reached()


# Metrics that derive from others.


def _change_scene(change: Callable[[Scene], Scene], value_of: ValueOf) -> ValueOf:
    """The same value of a changed scene."""
    return lambda scene: value_of(change(scene))


def _add_partner(*metrics: Metric[Scene]) -> Iterator[Metric[Scene]]:
    """The metrics, and after them those that mixed runs have of the partner's characters too, as ``partner_NAME``."""
    yield from metrics
    yield from (_declare_of_partner(metric) for metric in metrics if metric.group in ("goals", "secrets", "attack"))


def _declare_of_partner(metric: Metric[Scene]) -> Metric[Scene]:
    return replace(
        metric,
        name=PARTNER + metric.name,
        title=f"{metric.title} (partner)",
        meaning=f"{metric.meaning}; of the partner's characters",
        group="partner",
        best=None,
        value=None,
        members=lambda scene: {
            PARTNER + name: _change_scene(Scene.swap_sides, value_of)
            for name, value_of in metric.find_value_functions(scene).items()
        },
        applies=lambda scene: scene.is_mixed,
    )


def _declare_by_kind(metric: Metric[Scene]) -> Metric[Scene]:
    """Declares the metric by kind of goal and of scene, as ``NAME/KIND`` (Figures 6, 9 and 11)."""
    return Metric(
        f"{metric.name}/…",
        f"{metric.title}: …",
        f"{metric.title} by kind of goal, need (ERG), domain and number of participants",
        "kinds",
        members=lambda scene: {
            f"{name}/{kind}": _change_scene(partial(replace, counts=counts), value_of)
            for name, value_of in metric.find_value_functions(scene).items()
            for kind, counts in _list_kinds(scene.scenario).items()
        },
        applies=lambda scene: scene.was_played,
    )


def _list_kinds(scenario: Scenario) -> Mapping[str, Callable[[Goal], bool]]:
    """Kinds of a scene and of its goals, each with the goals that count as such."""
    types = sorted({goal.type for character in scenario.characters for goal in character.goals if goal.type})
    found: dict[str, Callable[[Goal], bool]] = {kind.value: partial(lambda kind, goal: goal.type is kind, kind) for kind in types}
    for need in sorted({kind.need for kind in types}):
        found[need.value] = partial(lambda need, goal: bool(goal.type and goal.type.need is need), need)
    whole = [*([scenario.domain.value] if scenario.domain else []), f"{len(scenario.characters)} participants"]
    return found | dict.fromkeys(whole, lambda _: True)


def _declare_by_round(*metrics: Metric[Scene]) -> Metric[Scene]:
    """Declares the metrics as they stood after fewer turns, as ``NAME/after N`` (Figure 10)."""

    def list_members(scene: Scene) -> dict[str, ValueOf]:
        found = {}
        for after in scene.options.judged_after:
            for metric in metrics:
                for name, value_of in metric.find_value_functions(scene).items():
                    then = _change_scene(partial(replace, after=after), value_of)
                    # Judges look after all these turns; participants may not have been asked.
                    if metric is _MAJORITY or then(scene).outcome is not Outcome.NOT_REACHED:
                        found[f"{name}/after {after}"] = then
        return found

    return Metric(
        "…/after …",
        "… after …",
        f"{', '.join(metric.title for metric in metrics)}, as they stood after so many turns",
        "rounds",
        members=list_members,
        applies=lambda scene: scene.was_played and len(scene.options.judged_after) > 1,
    )


def _declare_sensitivity(name: str, of: Metric[Scene]) -> Iterator[Metric[Scene]]:
    """Declares the profile sensitivity of a metric, ``psi_NAME``, its noise, its excess, and the χ² test (App. D.7)."""
    widest = sqrt(0.5)  # two casts, one with 0 and one with 1
    noisiest = widest / find_deviation_bias(2)
    for part, suffix, meaning, low, high in (
        ("PSI", "", f"profile sensitivity: deviation of {of.title} over a template's casts, mean over templates", 0.0, widest),
        ("noise", "_noise", f"deviation of {of.title} over repeats of one cast: what chance alone gives", 0.0, noisiest),
        ("excess", "_excess", "PSI less noise: what is left for the profiles to explain", -noisiest, widest),
    ):
        yield Metric(
            f"psi_{name}{suffix}",
            f"PSI {name}{suffix}".replace("_", " "),
            meaning,
            "sensitivity",
            aggregate=partial(estimate_sensitivity, part, of.name),
            unit="standard deviation",
            low=low,
            high=high,
        )
    flagged = f"templates whose casts differ in {of.title} abnormally (χ², p < {ABNORMAL:g}); by chance {ABNORMAL:g}"
    share_flagged = partial(estimate_flagged, of.name)
    yield Metric(f"psi_{name}_flagged", f"PSI {name} flagged", flagged, "sensitivity", aggregate=share_flagged)


class SceneMetrics(Metrics[Scene]):
    def estimate(self, scores: Sequence[Score], seed: int) -> list[Estimate]:
        """An estimate of every metric that any scene has, in the order of the scores; then the sensitivities that are defined."""
        by_name: dict[str, list[Score]] = defaultdict(list)
        for score in scores:
            by_name[score.metric].append(score)
        found = [self.find(name).aggregate(name, own, seed) for name, own in by_name.items()]
        sensitivities = [metric.aggregate(metric.name, scores, seed) for metric in self.select_groups("sensitivity")]
        return [*found, *(each for each in sensitivities if each.episodes)]


# Declarations.

_goal = partial(Metric[Scene], group="goals")
_judged = partial(Metric[Scene], group="goals", applies=lambda scene: bool(scene.judges))
_quiz = partial(Metric[Scene], group="secrets")
_blind = partial(Metric[Scene], group="secrets", applies=lambda scene: scene.options.blind)
_conduct = partial(Metric[Scene], group="conduct", applies=lambda scene: scene.was_played, is_compared=False)
_mixed = partial(Metric[Scene], group="attack", applies=lambda scene: scene.is_mixed, is_compared=False)
_mixed_blind = partial(_mixed, applies=lambda scene: scene.is_mixed and scene.options.blind)
_DIFFERENCE: dict[str, Any] = {"aggregate": mean, "unit": "difference of shares", "low": -1.0}

_OTHERS_VIEW = partial(_average_goals, partial(_read_answers, ProbeKind.OTHERS_GOAL))
_CLAIM, _GAIN = partial(_average_goals, _read_overconfidence), partial(_average_quiz, _read_gain)
_AFTER, _BEFORE = (partial(_average_quiz, partial(_read_quiz, kind)) for kind in (ProbeKind.QUIZ, ProbeKind.BLIND_QUIZ))
_ATTACK, _BLIND_ATTACK = (partial(_measure_attack, kind) for kind in (ProbeKind.QUIZ, ProbeKind.BLIND_QUIZ))
_DEFENCE, _BLIND_DEFENCE = (partial(_measure_defence, kind) for kind in (ProbeKind.QUIZ, ProbeKind.BLIND_QUIZ))
_INFERRED, _INFERRED_BLIND = (partial(_average_quiz, partial(_read_untold, k)) for k in (ProbeKind.QUIZ, ProbeKind.BLIND_QUIZ))
_INFERRED_GAIN = partial(_average_quiz, _read_untold_gain)
_SILENT = partial(_measure_turns, lambda turn: not turn.content.strip())
_CUT_OFF = partial(_measure_turns, lambda turn: CUT_OFF in turn.note)

_SECRETS, _PARTNERS = "right answers on the others' secrets", "right answers on the other side's secrets"
_KEPT = "1 less the other side's right answers on one's own secrets"
_CLAIMS = "Self less Majority, over the goals that have both"
_SELF = _goal("self", "Self", "goals reached, as their owners say", value=partial(_average_goals, _OWN), best=1.0)
_OTHER = _goal("other", "Other", "goals reached, as the other participants say", value=_OTHERS_VIEW, best=1.0)
_MAJORITY = _judged("majority", "Majority", "goals reached, as most judges say", value=partial(_average_goals, _PANEL), best=1.0)
_UNTOLD = "right answers on secrets that nobody told in the scene"
_BEST = "Majority, as a share of what can be reached together where goals exclude each other"
_INFORMATION = _quiz("information", "Info", f"{_SECRETS} after the scene", value=_AFTER, best=1.0)

METRICS = SceneMetrics(
    *_add_partner(
        _SELF,
        _OTHER,
        _judged("judge: …", "…", "goals reached, as this judge says", members=_list_judges),
        _judged("average", "Average", "goals reached, mean over the judges", value=_average_judges),
        _MAJORITY,
        _judged("majority_of_best", "of best", _BEST, value=_measure_best_share, best=1.0),
        _quiz("inferred", "Inferred", f"{_UNTOLD}, after it", value=_INFERRED, best=1.0),
        _blind("inferred_blind", "Blind", f"{_UNTOLD}, before it", value=_INFERRED_BLIND),
        _blind("inferred_gain", "Gain", "Inferred less its blind test, paired by question", value=_INFERRED_GAIN, **_DIFFERENCE),
        _quiz("leak_rate", "leaks", "secrets of one's own that were told in the scene, by rule", value=_measure_leaks, best=0.0),
        _INFORMATION,
        _blind("information_blind", "Info blind", f"{_SECRETS} before anybody has spoken", value=_BEFORE),
        _blind("information_gain", "Info gain", "Info less Blind, paired by question", value=_GAIN, **_DIFFERENCE),
        _judged("overconfidence", "Over-confidence", _CLAIMS, group="confidence", value=_CLAIM, **_DIFFERENCE),
        _conduct("no_answer", "no answer", "probes to which the model gave no readable answer", value=_measure_unanswered),
        _conduct("silent_turns", "silent turns", "turns in which the model said nothing", value=_SILENT),
        _conduct("cut_off_turns", "cut off", "turns that ended at the token limit; what came before stands", value=_CUT_OFF),
        _conduct("ends_in_question", "open end", "scenes that the limit on turns ends with a question", value=_measure_open_end),
    ),
    *_add_partner(
        _mixed("attack", "Attack", f"{_PARTNERS} after the scene", value=_ATTACK),
        _mixed("defence", "Defence", f"{_KEPT} after the scene", value=_DEFENCE),
    ),
    *_add_partner(
        _mixed_blind("attack_blind", "Attack blind", f"{_PARTNERS} before the scene", value=_BLIND_ATTACK),
        _mixed_blind("defence_blind", "Defence blind", f"{_KEPT} before the scene", value=_BLIND_DEFENCE),
    ),
    _declare_by_kind(_SELF),
    _declare_by_kind(_MAJORITY),
    _declare_by_round(_MAJORITY, _SELF, _OTHER),
    Metric(
        "script",
        "Script",
        "scenes whose script the model names, of those whose data name it",
        "script",
        _measure_script,
        applies=lambda scene: scene.was_played and any(probe.kind is ProbeKind.SCRIPT for probe in scene.episode.probes),
        is_compared=False,
    ),
    *_declare_sensitivity("goal", _MAJORITY),
    *_declare_sensitivity("self", _SELF),
    *_declare_sensitivity("information", _INFORMATION),
    groups=("goals", "confidence", "secrets"),
)
