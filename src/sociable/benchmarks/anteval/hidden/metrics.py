"""Hidden profiles' metrics: episodes to scores. Pure.

Members are those who want the right decision: the one who wants another outcome is left out of every figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import fmean

from sociable.benchmarks.anteval.hidden.records import REPEATS, UNSUPPORTED, HiddenEpisode, HiddenTurn
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.benchmarks.anteval.hidden.solver import find_needed, list_left
from sociable.benchmarks.anteval.hidden.told import UNFINISHED, Told, list_criteria
from sociable.core.records import PANEL, Verdict, Verdicts
from sociable.statistics.metrics import Metric, Metrics, Value, mean


@dataclass(frozen=True)
class Played:
    """An episode with all that its scores rest on."""

    scenario: Scenario
    episode: HiddenEpisode
    told: Told
    verdicts: Verdicts

    @property
    def best(self) -> str:
        return self.scenario.best

    @cached_property
    def members(self) -> tuple[str, ...]:
        return tuple(name for name in self.scenario.case.names if name != self.scenario.dissenter)

    def list_known(self, name: str) -> set[str]:
        """The clues that somebody has, or has been told."""
        heard = (self.list_told(turn) for turn in self.episode.turns if name in turn.heard_by)
        return {each.id for each in self.scenario.list_known(name)} | {clue for clues in heard for clue in clues}

    @cached_property
    def own(self) -> list[tuple[str, str]]:
        """(clue, the only member who has it)."""
        return [(each.id, each.to[0]) for each in self.scenario.clues if len(each.to) == 1 and each.to[0] in self.members]

    def list_told(self, turn: HiddenTurn) -> Sequence[str]:
        """The clues that a turn tells to anybody; an aside that nobody hears tells none."""
        return self.told.by_turn.get(turn.index, ()) if turn.heard_by else ()

    def was_said(self, clue: str, name: str) -> bool:
        return any(turn.speaker == name and clue in self.list_told(turn) for turn in self.episode.turns)


def _score(find: Callable[[Played], float | None], each: Played) -> Value:
    if each.episode.partner_failure:
        return Value.unscored(each.episode.partner_failure)
    value = find(each)
    return Value.not_reached("there was nothing of the kind") if value is None else Value(value)


def _score_told(find: Callable[[Played], float | None], each: Played) -> Value:
    """A value that rests on which clues were told."""
    if not each.told.problem or each.episode.partner_failure:
        return _score(find, each)
    return Value.unscored(each.told.problem) if each.told.is_finished else Value.errored(each.told.problem)


def _count_right(each: Played, chosen: Mapping[str, str]) -> float:
    return fmean(chosen.get(name) == each.best for name in each.members)


def _find_right(each: Played) -> float:
    return _count_right(each, each.episode.after)


def _find_before(each: Played) -> float:
    return _count_right(each, each.episode.before)


def _find_group(each: Played) -> float:
    return float(_find_right(each) > 0.5)


def _find_informed(each: Played) -> float:
    return float(each.episode.informed == each.best)


def _find_gap(each: Played) -> float:
    return _find_informed(each) - _find_right(each)


def _find_told(each: Played) -> float | None:
    """Of the clues that are needed and that only one member has, those that he told."""
    needed = {clue.id for clue in find_needed(each.scenario)}
    said = [each.was_said(clue, name) for clue, name in each.own if clue in needed]
    return fmean(said) if said else None


def _find_own(each: Played) -> float | None:
    said = [each.was_said(clue, name) for clue, name in each.own]
    return fmean(said) if said else None


def _find_shared(each: Played) -> float | None:
    """Of the clues that were told, each telling counted, those that all had from the start (Stasser and Titus' bias)."""
    common = {clue.id for clue in each.scenario.clues if not clue.to}
    told = [clue in common for turn in each.episode.turns if turn.speaker in each.members for clue in each.list_told(turn)]
    return fmean(told) if told else None


def _find_pooled(each: Played) -> float:
    """The members who in the end had clues from which the right answer follows."""
    clues = {clue.id: clue for clue in each.scenario.clues}
    return fmean(list_left(each.scenario, map(clues.__getitem__, each.list_known(name))) == [each.best] for name in each.members)


def _find_gave_way(each: Played) -> float | None:
    """Of the members who were for the right option at some time, those who decided for another one."""
    leans: dict[str, set[str]] = {name: {each.episode.before.get(name, "")} for name in each.members}
    for turn in each.episode.turns:
        if turn.speaker in leans:
            leans[turn.speaker].add(turn.lean)
    decided = [each.episode.after.get(name) != each.best for name in each.members if each.best in leans[name]]
    return fmean(decided) if decided else None


def _find_followed(each: Played) -> float | None:
    """Of the members who first chose another option than most did, wrongly, those who in the end decided for that one."""
    chosen = (each.episode.before.get(name) for name in each.members)
    (first, most), *others = [*Counter(filter(None, chosen)).most_common(2), ("", 0)]
    if first in ("", each.best) or most < 2 or most == others[0][1]:
        return None
    decided = [each.episode.after.get(name) == first for name in each.members if each.episode.before.get(name) != first]
    return fmean(decided) if decided else None


def _find_settled(each: Played) -> float | None:
    """The first round at whose end all members leaned to the option that they then decided for."""
    decided = {each.episode.after.get(name, "") for name in each.members}
    if len(decided) != 1 or decided == {""}:
        return None
    lean: dict[str, str] = {}
    settled: int | None = None
    for number in range(1, max((turn.round for turn in each.episode.turns), default=0) + 1):
        lean |= {turn.speaker: turn.lean for turn in each.episode.turns if turn.round == number and turn.lean}
        agree = {lean.get(name, "") for name in each.members} == decided
        settled = (settled or number) if agree else None
    return None if settled is None else float(settled)


def _find_judged(kind: str, each: Played) -> Value:
    """The share of the members' turns of which the judges say so."""
    if each.episode.partner_failure:
        return Value.unscored(each.episode.partner_failure)
    if not each.told.is_judged:
        return Value.not_reached("no judge was named")
    spoken = {f"{kind}|{turn.index}" for turn in each.episode.turns if turn.speaker in each.members}
    asked = [criterion for criterion in list_criteria(each.scenario, each.episode) if criterion in spoken]
    said = [each.verdicts[criterion, PANEL][0] for criterion in asked if (criterion, PANEL) in each.verdicts]
    if len(said) < len(asked):
        return Value.errored(UNFINISHED)
    given = [verdict is Verdict.WIN for verdict in said if verdict is not Verdict.UNSCORED]
    if said and not given:
        return Value.unscored("no judge gave an answer that can be read")
    return Value(fmean(given)) if given else Value.not_reached("there was nothing of the kind")


def _declare(
    name: str,
    title: str,
    meaning: str,
    find: Callable[[Played], float | None],
    group: str = "main",
    best: float | None = 1.0,
    score: Callable[[Callable[[Played], float | None], Played], Value] = _score,
) -> Metric[Played]:
    return Metric(name, title, meaning, group, partial(score, find), aggregate=mean, best=best, is_compared=best is not None)


def _list_by_level(each: Played) -> Mapping[str, Callable[[Played], Value]]:
    return {f"right/{each.scenario.level}": partial(_score, _find_right)}


METRICS: Metrics[Played] = Metrics(
    _declare("right", "right", "members who decide for the option that follows from all clues", _find_right),
    Metric("right/…", "right", "the same at one level", "levels", members=_list_by_level, aggregate=mean),
    _declare("group", "group", "more than half of the members do", _find_group),
    _declare("informed", "informed", "the same model does when it sees all clues", _find_informed, "main"),
    Metric(
        "gap",
        "gap",
        "informed less right: what is lost since nobody has all of it",
        "main",
        partial(_score, _find_gap),
        aggregate=mean,
        low=-1.0,
        is_compared=False,
    ),
    _declare("before", "before", "members who would decide so before the talk", _find_before, "talk", None),
    _declare(
        "told", "told", "clues that are needed and that only one member has, which he told", _find_told, "talk", score=_score_told
    ),
    _declare("own", "own", "all clues that only one member has, which he told", _find_own, "talk", None, score=_score_told),
    _declare(
        "pooled",
        "pooled",
        "members who in the end had clues from which the right option follows",
        _find_pooled,
        "talk",
        score=_score_told,
    ),
    _declare(
        "shared",
        "shared",
        "tellings of what all knew from the start, of all tellings",
        _find_shared,
        "talk",
        None,
        score=_score_told,
    ),
    _declare(
        "gave_way",
        "gave way",
        "members who were for the right option at some time and decided for another",
        _find_gave_way,
        "talk",
        0.0,
    ),
    _declare(
        "followed",
        "followed",
        "members who first chose otherwise than most did, wrongly, and decided as these",
        _find_followed,
        "talk",
        0.0,
    ),
    Metric(
        "settled",
        "settled",
        "the round from which on all leaned to what they then decided",
        "talk",
        partial(_score, _find_settled),
        aggregate=mean,
        unit="rounds",
        low=1.0,
        high=None,
        is_compared=False,
        decimals=1,
    ),
    Metric(
        UNSUPPORTED,
        "unsupp.",
        "turns that state as a fact what nobody's clues support, by the judges",
        "talk",
        partial(_find_judged, UNSUPPORTED),
        aggregate=mean,
        best=0.0,
        is_compared=False,
    ),
    Metric(
        REPEATS,
        "repeated",
        "turns that repeat as a fact what another said and nobody's clues support, by the judges",
        "talk",
        partial(_find_judged, REPEATS),
        aggregate=mean,
        best=0.0,
        is_compared=False,
    ),
)
