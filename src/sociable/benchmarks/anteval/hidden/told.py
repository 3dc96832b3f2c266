"""Which clues each turn tells: by the judges where some were named, else as the episode has it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sociable.benchmarks.anteval.hidden.records import TOLD, HiddenEpisode, HiddenJudgment
from sociable.core.records import Judgment, Verdict


@dataclass(frozen=True)
class Told:
    """The clues that the turns of an episode tell."""

    by_turn: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """The clues by the turn's index."""
    is_judged: bool = False
    problem: str = ""
    """The reason why the judges leave it open."""


def find_told(episode: HiddenEpisode, judgments: Sequence[Judgment], panel: Sequence[str]) -> Told:
    """A clue is told if more than half of the judges who could be read say so; too few of them leave the episode open."""
    given: dict[int, list[HiddenJudgment]] = {}
    for each in judgments:
        kind, _, index = each.criterion.partition("|")
        if isinstance(each, HiddenJudgment) and kind == TOLD and each.judge in panel:
            given.setdefault(int(index), []).append(each)
    if not given:
        return Told({turn.index: turn.clues for turn in episode.turns})
    found, problem = dict[int, Sequence[str]](), ""
    for turn in episode.turns:
        if not turn.content:
            continue
        read = [each for each in given.get(turn.index, []) if each.verdict is not Verdict.UNSCORED]
        if 2 * len(read) <= len(panel):
            problem = problem or f"the judges do not say which clues turn {turn.index} tells"
        counts = Counter(clue for each in read for clue in each.clues)
        found[turn.index] = [clue for clue, count in counts.items() if 2 * count > len(read)]
    return Told(found, is_judged=True, problem=problem)
