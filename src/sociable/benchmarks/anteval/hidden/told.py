"""What judges are asked of turns, and which clues each tells: by them, or without judges as the episode has it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sociable.benchmarks.anteval.hidden.hearing import list_heard
from sociable.benchmarks.anteval.hidden.records import REPEATS, TOLD, UNSUPPORTED, HiddenEpisode, HiddenJudgment
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.core.records import Judgment, Verdict

UNFINISHED = "judging was not finished"


@dataclass(frozen=True)
class Told:
    """The clues that the turns of an episode tell."""

    by_turn: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """The clues by the turn's index."""
    is_judged: bool = False
    """Whether judges were named: then no rule stands in for them."""
    problem: str = ""
    """The reason why the judges leave it open."""
    is_finished: bool = True
    """Whether all judges were asked about all turns."""


def list_criteria(scenario: Scenario, episode: HiddenEpisode) -> list[str]:
    """Three questions for each turn in which something is said; whoever has heard nobody else repeats nobody."""
    if episode.partner_failure:
        return []
    said = [turn for turn in episode.turns if turn.content]
    found = [f"{kind}|{turn.index}" for turn in said for kind in (TOLD, UNSUPPORTED)]
    for turn in said:
        heard = list_heard(scenario, episode.turns[: turn.index - 1], turn.speaker)
        if any(each.content and each.speaker != turn.speaker for each in heard):
            found.append(f"{REPEATS}|{turn.index}")
    return found


def find_told(episode: HiddenEpisode, judgments: Sequence[Judgment], panel: Sequence[str]) -> Told:
    """A clue is told if more than half of the judges who could be read say so; too few of them leave the episode open."""
    if not panel:
        return Told({turn.index: turn.clues for turn in episode.turns})
    given: dict[int, dict[str, HiddenJudgment]] = {}
    for each in judgments:
        kind, _, index = each.criterion.partition("|")
        if isinstance(each, HiddenJudgment) and kind == TOLD and each.judge in panel:
            given.setdefault(int(index), {})[each.judge] = each
    found, problem = dict[int, Sequence[str]](), ""
    for turn in episode.turns:
        if not turn.content:
            continue
        if not given.get(turn.index, {}).keys() >= {*panel}:
            return Told(is_judged=True, problem=UNFINISHED, is_finished=False)
        read = [each for each in given[turn.index].values() if each.verdict is not Verdict.UNSCORED]
        if 2 * len(read) <= len(panel):
            problem = problem or f"the judges do not say which clues turn {turn.index} tells"
        counts = Counter(clue for each in read for clue in each.clues)
        found[turn.index] = [clue for clue, count in counts.items() if 2 * count > len(read)]
    return Told(found, is_judged=True, problem=problem)
