"""What follows from clues. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from sociable.benchmarks.anteval.hidden.dataset import Clue
from sociable.benchmarks.anteval.hidden.scenario import Scenario


def find_holding(clues: Iterable[Clue]) -> list[Clue]:
    """Those of these clues that hold: not voided by another one of them that holds, with all they need given.

    A clue that voids others holds unless it is voided itself by one that needs no more than it has.
    """
    known = list(clues)
    voided: set[str] = set()
    while True:
        holding = _find_fed([each for each in known if each.id not in voided])
        newly = {other for each in holding for other in each.voids} | voided
        if newly == voided:
            return holding
        voided = newly


def _find_fed(clues: list[Clue]) -> list[Clue]:
    """Those whose needs are given by others of them, directly or by steps."""
    given: set[str] = set()
    holding: list[Clue] = []
    waiting = clues
    while newly := [each for each in waiting if given.issuperset(each.needs)]:
        holding += newly
        waiting = [each for each in waiting if not given.issuperset(each.needs)]
        given |= {name for each in newly for name in each.gives}
    return holding


def list_left(scenario: Scenario, clues: Iterable[Clue]) -> list[str]:
    """The options that these clues do not rule out."""
    out = {option for each in find_holding(clues) for option in each.rules_out}
    return [each.id for each in scenario.case.options if each.id not in out]


def choose(scenario: Scenario, clues: Iterable[Clue]) -> str:
    """The option that these clues speak for: of those that are left, the one with the most points; of several the first."""
    known = list(clues)
    left = list_left(scenario, known) or [each.id for each in scenario.case.options]
    holding = find_holding(known)
    return max(left, key=lambda option: sum(each.favours.get(option, 0) for each in holding))


@lru_cache(maxsize=1000)
def find_needed(scenario: Scenario) -> tuple[Clue, ...]:
    """The clues without which more than the right option would be left, or another one."""
    clues = scenario.clues
    return tuple(
        each for each in clues if list_left(scenario, [other for other in clues if other is not each]) != [scenario.best]
    )


def find_favourite(scenario: Scenario) -> str:
    """The option that what everybody knows speaks for."""
    return choose(scenario, [each for each in scenario.clues if not each.to])


def _find_apart(scenario: Scenario) -> list[str]:
    """The members whom nothing reaches from the first one when nothing is passed on by the one who wants another outcome."""
    others = [name for name in scenario.case.names if name != scenario.dissenter]
    reached: list[str] = []
    waiting = others[:1]
    while waiting:
        reached += waiting
        hearers = {each for name in waiting for each in scenario.list_hearers(name)}
        waiting = [name for name in others if name in hearers and name not in reached]
    return [name for name in others if name not in reached]


def list_problems(scenario: Scenario) -> list[str]:
    """What is wrong with a case at a level and in a draw, in words; empty: it is sound."""
    case, clues = scenario.case, scenario.clues
    problems = []
    if (left := list_left(scenario, clues)) != [scenario.best]:
        problems.append(f"all clues leave {', '.join(left) or 'nothing'} and not '{scenario.best}' alone")
    alone = [name for name in case.names if list_left(scenario, scenario.list_known(name)) == [scenario.best]]
    problems += [f"{name} knows the right answer alone" for name in alone]
    if scenario.dissenter and list_left(scenario, [each for each in clues if each.to != (scenario.dissenter,)]) != [
        scenario.best
    ]:
        problems.append(f"without what {scenario.dissenter} alone knows, who need not tell it, it does not follow")
    if apart := _find_apart(scenario):
        problems.append(f"{', '.join(apart)} would hear of the others by {scenario.dissenter} only, who need pass nothing on")
    return problems
