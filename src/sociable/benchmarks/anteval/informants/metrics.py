"""Metrics of information exchange with informants: verdicts to scores. Pure.

Of the k facts that the informants of a level hold, a player states s afterwards, and w of the things that are not so:
net = (s - w) / k. An episode's value is the mean over its players.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import fmean

import numpy as np

from sociable.benchmarks.anteval.iep.metrics import name_player_criterion
from sociable.benchmarks.anteval.iep.records import When
from sociable.benchmarks.anteval.informants.dataset import Way
from sociable.benchmarks.anteval.informants.records import InformantsEpisode
from sociable.benchmarks.anteval.informants.scenario import Scenario
from sociable.core.records import PANEL, Verdict, Verdicts
from sociable.statistics.metrics import Metric, Metrics, Value, mean

NET, FOUND, MISLED = "net", "found", "misled"


@dataclass(frozen=True)
class Played:
    """An episode with all that its scores rest on."""

    scenario: Scenario
    episode: InformantsEpisode
    verdicts: Verdicts
    is_judged: bool
    """Whether there is a panel."""

    @cached_property
    def facts(self) -> frozenset[str]:
        return frozenset(each.id for each in self.scenario.facts)

    @cached_property
    def ways(self) -> Mapping[Way, frozenset[str]]:
        """The facts by what gets them at this level."""
        found = {way: frozenset(each.id for each in self.scenario.facts if self.scenario.find_way(each) is way) for way in Way}
        return {way: ids for way, ids in found.items() if ids}

    @property
    def players(self) -> list[str]:
        return [each.name for each in self.scenario.players]

    @cached_property
    def marks(self) -> list[int]:
        return sorted({recall.turn for recall in self.episode.recalls if recall.when is When.DURING})

    def list_stated(self, moment: str) -> Sequence[Mapping[str, bool]] | Value:
        """By player: whether it states each statement that judges could decide about; or why that cannot be said."""
        claims = {recall.player: recall.claims for recall in self.episode.recalls if recall.moment == moment}
        found = []
        for player in self.players:
            # Who claims nothing knows nothing: a result, for which no judge is asked.
            if not claims[player]:
                found.append({name: False for name, _ in self.scenario.statements})
                continue
            stated = {}
            for place, (name, _) in enumerate(self.scenario.statements):
                verdict = self.verdicts.get((name_player_criterion(moment, player, place), PANEL))
                if verdict is None:
                    return Value.errored("judging was not finished")
                if verdict[0] in (Verdict.WIN, Verdict.LOSS):
                    stated[name] = verdict[0] is Verdict.WIN
            if not self.facts & stated.keys():
                return Value.unscored("the judges decided about none of the facts")
            found.append(stated)
        return found


def _score(find: Callable[[Played, Mapping[str, bool]], float | None], each: Played, moment: str = When.AFTER.value) -> Value:
    """The mean over players of what ``find`` makes of the statements that a player states."""
    if each.episode.partner_failure:
        return Value.unscored(each.episode.partner_failure)
    stated = each.list_stated(moment)
    if isinstance(stated, Value):
        return stated
    values = [value for player in stated if (value := find(each, player)) is not None]
    return Value(fmean(values)) if values else Value.not_reached("there was nothing of the kind")


def _count(stated: Mapping[str, bool], names: frozenset[str]) -> float | None:
    """The share of these statements that are stated, of those decided."""
    decided = [stated[name] for name in names if name in stated]
    return fmean(decided) if decided else None


def _find_found(each: Played, stated: Mapping[str, bool]) -> float | None:
    return _count(stated, each.facts)


def _find_misled(each: Played, stated: Mapping[str, bool]) -> float | None:
    return _count(stated, frozenset(stated) - each.facts)


def _find_net(each: Played, stated: Mapping[str, bool]) -> float:
    wrong = sum(value for name, value in stated.items() if name not in each.facts)
    return (_count(stated, each.facts) or 0.0) - wrong / len(each.facts)


def _find_by_way(way: Way, each: Played, stated: Mapping[str, bool]) -> float | None:
    return _count(stated, each.ways[way])


def _find_area(each: Played) -> Value:
    """The mean of the curve over the session's turns, by straight lines from nothing known at its beginning."""
    moments = {turn: str(turn) for turn in each.marks}
    moments[max(len(each.episode.turns), *moments, 1)] = When.AFTER.value
    found = {turn: _score(_find_net, each, moment) for turn, moment in moments.items()}
    if missing := next((value for value in found.values() if value.value is None), None):
        return missing
    turns = [0, *sorted(found)]
    heights = [0.0, *(found[turn].value or 0.0 for turn in turns[1:])]
    return Value(float(np.trapezoid(heights, turns)) / turns[-1])


# What rules measure.


def _measure(find: Callable[[Played], float | None], each: Played) -> Value:
    if each.episode.partner_failure:
        return Value.unscored(each.episode.partner_failure)
    value = find(each)
    return Value.not_reached("there was nothing of the kind") if value is None else Value(value)


def _find_told(each: Played) -> float:
    informants = {informant.name for informant in each.scenario.informants}
    told = {name for turn in each.episode.turns if turn.speaker in informants for name in turn.told}
    return len(told & each.facts) / len(each.facts)


def _find_aside(each: Played) -> float | None:
    said = [turn.aside for turn in each.episode.turns if turn.speaker in each.players and turn.content]
    return fmean(said) if said else None


def _find_passed(each: Played) -> float:
    return fmean(not turn.content for turn in each.episode.turns if turn.speaker in each.players)


def _find_unreadable(each: Played) -> float:
    return fmean(recall.unreadable for recall in each.episode.recalls)


# Which metrics there are.


def _is_judged(each: Played) -> bool:
    return each.is_judged


def _list_levels(each: Played) -> Mapping[str, Callable[[Played], Value]]:
    return {f"{NET}/{each.scenario.level}": partial(_score, _find_net)}


def _list_ways(each: Played) -> Mapping[str, Callable[[Played], Value]]:
    return {f"{FOUND}/{way}": partial(_score, partial(_find_by_way, way)) for way in each.ways}


def _list_turns(each: Played) -> Mapping[str, Callable[[Played], Value]]:
    return {f"{NET}@{turn}": partial(_score, _find_net, moment=str(turn)) for turn in each.marks}


def _declare_judged(
    name: str, title: str, meaning: str, find: Callable[[Played], Value], best: float | None, low: float | None = 0.0
) -> Metric[Played]:
    return Metric(name, title, meaning, "main", find, _is_judged, mean, best=best, low=low, is_compared=best is not None)


def _declare_conduct(name: str, title: str, meaning: str, find: Callable[[Played], float | None]) -> Metric[Played]:
    return Metric(name, title, meaning, "conduct", partial(_measure, find), aggregate=mean, is_compared=False)


_NET = "facts that players state afterwards less what they state that is not so, over all facts"

METRICS: Metrics[Played] = Metrics(
    _declare_judged(NET, "net", _NET, partial(_score, _find_net), 1.0, -1.0),
    _declare_judged(FOUND, "found", "facts that players state afterwards", partial(_score, _find_found), 1.0),
    _declare_judged(
        MISLED,
        "misled",
        "lies and rumours that players state afterwards, where there are some",
        partial(_score, _find_misled),
        0.0,
    ),
    Metric(
        f"{NET}/…", NET, f"{_NET}: at one level", "levels", applies=_is_judged, aggregate=mean, members=_list_levels, low=-1.0
    ),
    Metric(
        f"{FOUND}/…",
        FOUND,
        "facts that players state afterwards, by what gets them",
        "ways",
        applies=_is_judged,
        aggregate=mean,
        members=_list_ways,
        is_compared=False,
    ),
    Metric(
        f"{NET}@…",
        NET,
        f"{_NET}: asked after a turn that `marks` names",
        "turns",
        applies=_is_judged,
        aggregate=mean,
        members=_list_turns,
        low=-1.0,
        is_compared=False,
    ),
    Metric(
        "area",
        "area",
        "mean of the curve of net over the turns, where `marks` names some: how early it was learnt",
        "turns",
        _find_area,
        lambda each: each.is_judged and bool(each.marks),
        mean,
        low=-1.0,
        is_compared=False,
    ),
    _declare_conduct("told", "told", "facts that informants say", _find_told),
    _declare_conduct("aside", "aside", "players' turns that are said aside", _find_aside),
    _declare_conduct("passed", "passed", "players' turns that are let pass", _find_passed),
    _declare_conduct("unreadable", "unreadable", "lists of what players know that could not be read", _find_unreadable),
)
