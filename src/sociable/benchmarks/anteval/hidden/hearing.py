"""Who hears what of a talk. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sociable.benchmarks.anteval.hidden.dataset import Clue
from sociable.benchmarks.anteval.hidden.records import HiddenTurn
from sociable.benchmarks.anteval.hidden.scenario import Scenario


def list_heard(scenario: Scenario, turns: Iterable[HiddenTurn], name: str) -> list[HiddenTurn]:
    """The turns that somebody has said or heard; of an aside to another, made within its hearing, that it was made."""
    found = []
    for turn in turns:
        if name in (turn.speaker, *turn.heard_by):
            found.append(turn)
        elif turn.addressees and name in scenario.list_hearers(turn.speaker):
            shown = {"index", "round", "speaker", "addressees", "heard_by"}
            found.append(HiddenTurn(**turn.model_dump(include=shown), content=""))
    return found


def list_within_reach(scenario: Scenario, turns: Sequence[HiddenTurn], index: int) -> list[Clue]:
    """The clues that the speaker of the turn with this index can know of: its own, and those that could have come round to it."""
    known = {name: {each.id for each in scenario.list_known(name)} for name in scenario.case.names}
    for turn in turns[: index - 1]:
        for name in turn.heard_by:
            known[name] |= known[turn.speaker]
    return [each for each in scenario.clues if each.id in known[turns[index - 1].speaker]]
