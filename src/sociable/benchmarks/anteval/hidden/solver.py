"""What follows from clues. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

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
    while newly := [each for each in clues if each not in holding and given.issuperset(each.needs)]:
        holding += newly
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


def find_needed(scenario: Scenario, clues: Collection[Clue]) -> list[Clue]:
    """The clues without which more than the best option would be left, or another one."""
    return [
        each for each in clues if list_left(scenario, [other for other in clues if other is not each]) != [scenario.case.best]
    ]


def list_problems(scenario: Scenario) -> list[str]:
    """What is wrong with a case at a level, in words; empty: it is sound."""
    case, clues = scenario.case, scenario.clues
    problems = []
    if (left := list_left(scenario, clues)) != [case.best]:
        problems.append(f"all clues leave {', '.join(left) or 'nothing'} and not '{case.best}' alone")
    shared = [each for each in clues if not each.to]
    if choose(scenario, shared) == case.best:
        problems.append("what everybody knows speaks for the right answer already")
    alone = [name for name in case.names if choose(scenario, scenario.list_known(name)) == case.best]
    problems += [f"{name} finds the right answer alone" for name in alone]
    if scenario.will and list_left(scenario, [each for each in clues if each.to != (scenario.will.person,)]) != [case.best]:
        problems.append(f"without what {scenario.will.person} alone knows, who need not tell it, it does not follow")
    return problems
