"""Goals of which it is known whether they were reached: short scenes made of the data's own exchanges, and scenes by hand.

A scene of the first kind is what the oracle says about three goals, with one of the exchanges damaged. It is asked about twice:
about the goal of the damaged exchange, where the answer is no, and about a goal whose exchange is whole, where it is yes. So
neither the length of a scene nor any word in it tells the answer. Only scenes are kept in which the signs of the two goals say
the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

from sociable.benchmarks.agentsense.judge import judge_goal, show_question
from sociable.benchmarks.agentsense.records import AgentSenseEpisode
from sociable.benchmarks.agentsense.rule import shows_signs
from sociable.benchmarks.agentsense.scenario import GoalProbe, Line, Scenario, list_goal_probes
from sociable.core.names import find_people, find_words
from sociable.core.prompts import Prompts
from sociable.core.records import Judgment, Turn, Verdict
from sociable.core.seeding import make_generator
from sociable.engine.seats import Seat
from sociable.engine.study import JudgingKind, ShownQuestion
from sociable.judging.auditing.known_answers import INTACT, KnownAnswer, Said, find_text, load_known_answers

_DATA = Path(__file__).parent / "data" / "judge_audit"
_BY_HAND = _DATA / "goals.jsonl"
_LEFT_OUT = frozenset(json.loads((_DATA / "goals_left_out.json").read_text(encoding="utf-8")))
"""Goals, by scenario and name, whose bundled exchange a strict reader might not find enough."""


class GoalKind(JudgingKind):
    """The question to judges whether a goal was reached. ``KnownAnswer.about`` reads ``OWNER: goal 1``.

    The size of a damage is the share of an exchange's lines that are missing, or of its telling lines that somebody else says;
    where something is taken back or a promise broken, the share of the scene that follows.
    """

    name = "goal"
    metrics = (
        "majority",
        "average",
        "judge: …",
        "majority_of_best",
        "overconfidence",
        "partner_majority",
        "partner_average",
        "partner_judge: …",
        "partner_majority_of_best",
        "majority/…",
        "…/after …",
        "psi_goal",
        "psi_goal_noise",
        "psi_goal_excess",
        "psi_goal_flagged",
    )

    def __init__(self, scenarios: Mapping[str, Scenario], prompts: Prompts, *, first_lines: bool) -> None:
        self._scenarios = scenarios
        self._prompts = prompts
        self._first_lines = first_lines

    def list_known(self) -> Iterator[KnownAnswer]:
        """Scenes from the first cast of each template, and those written by hand of the scenarios there are."""
        firsts = {scenario.template: scenario for scenario in reversed(list(self._scenarios.values()))}
        for template in sorted(firsts):
            yield from make_known_goals(firsts[template])
        yield from self.list_by_hand()

    def list_by_hand(self) -> Iterator[KnownAnswer]:
        for known in load_known_answers(_BY_HAND):
            scenario = self._scenarios.get(known.scenario)
            # A user's own data may call other scenes by the same names.
            if (
                scenario
                and known.about in _list_asked(scenario)
                and {each.speaker for each in known.subject} <= {*scenario.names}
            ):
                yield known

    def show(self, known: KnownAnswer) -> ShownQuestion:
        scenario = self._scenarios[known.scenario]
        return show_question(scenario, *self._make_asked(known, known.id), first_lines=self._first_lines)

    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> Judgment:
        scenario, (episode, probe) = self._scenarios[known.scenario], self._make_asked(known, name)
        return await judge_goal(scenario, episode, probe, seat, self._prompts, first_lines=self._first_lines)

    def _make_asked(self, known: KnownAnswer, name: str) -> tuple[AgentSenseEpisode, GoalProbe]:
        scenario = self._scenarios[known.scenario]
        turns = tuple(Turn(index=index, **said.model_dump()) for index, said in enumerate(known.subject))
        episode = AgentSenseEpisode(id=name, scenario=scenario.id, cluster=scenario.template, turns=turns)
        return episode, _list_asked(scenario, len(turns))[known.about]


def _list_asked(scenario: Scenario, after: int = 0) -> Mapping[str, GoalProbe]:
    """The first question to judges about each goal, by what ``KnownAnswer.about`` calls it."""
    return {_name(probe): probe for probe in list_goal_probes(scenario, after, "judge") if probe.wording == 0}


def _name(probe: GoalProbe) -> str:
    return f"{probe.owner.name}: goal {probe.item + 1}"


# Scenes by rule.

Exchange = Sequence[Line]

MISSING, TRIED, WRONG_PERSON = "the telling line is missing", "only tried", "said by the wrong person"
CONDITION, TAKEN_BACK, BROKEN = "on an open condition", "taken back", "promised, then broken"
ANOTHERS = "another's goal is reached"
_SIZED = (MISSING, WRONG_PERSON)
"""Damages whose size depends on the exchange: the longer ones come first."""

_OTHERS = 2
"""The whole exchanges in a scene, beside the damaged one."""
_DRAWS = 3
"""The choices of other exchanges that are tried with one damaged exchange."""


@dataclass(frozen=True, slots=True)
class _Damaged:
    """What is said in place of the exchange that reaches a goal."""

    lines: Exchange
    size: float | None = None
    later: Line | None = None
    """A line that is said some time afterwards."""


def make_known_goals(scenario: Scenario) -> Iterator[KnownAnswer]:
    """Two known answers for each kind of damage that fits the scenario; none of data without signs and exchanges."""
    asked = _list_asked(scenario)
    probes = [probe for name, probe in asked.items() if f"{scenario.id}|{name}" not in _LEFT_OUT and _is_usable(probe)]
    for damage, make in _DAMAGES.items():
        generator = make_generator(0, "known goals", scenario.id, damage)
        mixed = generator.sample(probes, len(probes))
        if damage in _SIZED:
            mixed.sort(key=lambda probe: len(probe.goal.reached), reverse=True)
        scenes = (
            pair
            for probe in mixed
            for damaged in make(scenario, probe, generator)
            for pair in _make_pairs(scenario, probe, damage, damaged, mixed, generator)
        )
        yield from next(scenes, ())


def _is_usable(probe: GoalProbe) -> bool:
    """Whether the data say how the goal is reached, on no condition, and how it shows, and the two go together."""
    lines = [(line.by, line.says) for line in probe.goal.reached]
    is_open = any(_OPEN.search(line.says) for line in probe.goal.reached if line.by != probe.owner.name)
    return bool(lines) and not is_open and bool(probe.goal.signs) and shows_signs(probe.goal, probe.owner.name, lines)


_OPEN = re.compile(r"\b(?:if|unless|provided|as long as|so long as|on condition)\b", re.IGNORECASE)
"""Words of a line that may make it conditional."""


def _make_pairs(
    scenario: Scenario, probe: GoalProbe, damage: str, damaged: _Damaged, probes: Sequence[GoalProbe], generator: Random
) -> Iterator[tuple[KnownAnswer, KnownAnswer]]:
    """Scenes with this damage: each asked about the goal that is missed, and about another that is reached."""
    free = [each for each in probes if each is not probe and not _exclude_each_other(scenario, [probe, each])]
    for _ in range(_DRAWS if len(free) >= _OTHERS else 0):
        others = generator.sample(free, _OTHERS)
        # Of an exchange that is gone altogether the owner is heard in the others.
        is_own = any(each.owner is probe.owner for each in others)
        if _exclude_each_other(scenario, others) or (not damaged.lines and is_own == (damage == ANOTHERS)):
            continue
        said, size = _join(scenario, damaged, [each.goal.reached for each in others], generator)
        turns = [(each.speaker, each.content) for each in said]
        # How much is said by the one who is asked about should not tell the answer.
        words = {name: len(find_words(find_text(said, name))) for name in scenario.names}
        whole = min(others, key=lambda each: abs(words[each.owner.name] - words[probe.owner.name]))
        if (
            words[probe.owner.name]
            and words[whole.owner.name]
            and not shows_signs(probe.goal, probe.owner.name, turns)
            and all(shows_signs(each.goal, each.owner.name, turns) for each in others)
        ):
            common = {"kind": GoalKind.name, "scenario": scenario.id, "cluster": scenario.template, "subject": said}
            name = f"goal|{scenario.id}|{damage}"
            yield (
                _ask(probe, id=f"{name}|missed", truth=Verdict.LOSS, damage=damage, size=size, **common),
                _ask(whole, id=f"{name}|reached", truth=Verdict.WIN, damage=INTACT, **common),
            )


def _exclude_each_other(scenario: Scenario, probes: Iterable[GoalProbe]) -> bool:
    keys = {(probe.owner.name, probe.item) for probe in probes}
    return any(len(keys.intersection(each.key for each in group)) > 1 for group in scenario.exclusive)


def _ask(probe: GoalProbe, **fields: Any) -> KnownAnswer:
    return KnownAnswer(about=_name(probe), speaker=probe.owner.name, **fields)


def _join(
    scenario: Scenario, damaged: _Damaged, others: Sequence[Exchange], generator: Random
) -> tuple[tuple[Said, ...], float | None]:
    """(a scene, the size of the damage: where something is taken back later, the share of the turns that follow it)."""
    exchanges = [*others]
    if damaged.later:
        exchanges.insert(generator.randrange(len(others) + 1), [damaged.later])
        exchanges.insert(0, damaged.lines)
    else:
        exchanges.insert(generator.randrange(len(others) + 1), damaged.lines)
    lines = [*([scenario.opening] if scenario.opening else []), *(line for exchange in exchanges for line in exchange)]
    size = 1 - (lines.index(damaged.later) + 1) / len(lines) if damaged.later else damaged.size
    return tuple(Said(speaker=line.by, content=line.says) for line in lines), size


# Damages: from a goal to the ways in which its exchange can be damaged.


def _cut_short(scenario: Scenario, probe: GoalProbe, generator: Random) -> Iterator[_Damaged]:
    """The exchange up to a line before the telling one; what comes after that would show that it was said."""
    lines = probe.goal.reached
    # Either as little as can be is missing, or all.
    for kept in sorted(range(len(lines)), reverse=generator.random() < 0.6):
        yield _Damaged(lines[:kept], 1 - kept / len(lines))


def _miss(scenario: Scenario, probe: GoalProbe, generator: Random) -> Iterator[_Damaged]:
    if probe.goal.missed:
        yield _Damaged(probe.goal.missed)


def _drop(scenario: Scenario, probe: GoalProbe, generator: Random) -> Iterator[_Damaged]:
    yield _Damaged(())


_BY_ANOTHER = (
    "If I were {giver}, {owner}, I would answer you: “{line}”",
    "You know what I would say in {giver}'s place, {owner}? “{line}”",
    "In {giver}'s shoes, {owner}, I would not think twice. “{line}” That is what I would say.",
)
_BY_OWNER = (
    "What I hope to hear from you one day, {giver}, is this: “{line}”",
    "I had it all worked out, {giver}, and in my head you answered: “{line}”",
    "Somebody else in your place, {giver}, would have said to me: “{line}”",
)


def _put_in_another_mouth(scenario: Scenario, probe: GoalProbe, generator: Random) -> Iterator[_Damaged]:
    """The telling lines, all or the last, as what somebody else would say; the one who must say them says nothing."""
    lines, places = probe.goal.reached, _find_telling(probe)
    givers = {giver for sign in probe.goal.signs for giver in sign.by}
    if probe.owner.name in givers or any(mark in line.says for line in lines for mark in '“”"'):
        return
    if not {lines[place].by for place in places} <= find_people(probe.goal.goal, scenario.names, scenario.aliases):
        return
    thirds = [name for name in scenario.names if name not in givers and name != probe.owner.name]
    speaker = generator.choice(thirds) if thirds else probe.owner.name
    frames = generator.sample(_BY_ANOTHER if thirds else _BY_OWNER, len(_BY_ANOTHER))
    for moved in generator.sample([places, places[-1:]], 2):
        changed = list(lines)
        for frame, place in zip(cycle(frames), moved, strict=False):
            names = {"giver": _call(scenario, lines[place].by), "owner": _call(scenario, probe.owner.name)}
            changed[place] = Line(by=speaker, says=frame.format(line=lines[place].says, **names))
        yield _Damaged(changed, len(moved) / len(places))


_CONDITIONS = (
    "But that holds only if I still see it so tomorrow, and until then I have agreed to nothing.",
    "Unless I think better of it tonight, that is. Ask me in the morning; until then it is not a yes.",
    "But that depends on somebody I have not asked yet, and until I have asked you have no yes from me.",
    "On one condition, though, which I shall only be able to name tomorrow: until it is met it is not a yes.",
    "If nothing better comes up by tomorrow, that is. Until then I'll think about it, and you have no yes from me.",
    "That is how it would be if others, whom I have yet to ask, agreed. We'll see what they say; until then it is not a yes.",
)


def _make_conditional(scenario: Scenario, probe: GoalProbe, generator: Random) -> Iterator[_Damaged]:
    """The last telling line with a condition that nobody says is met."""
    if _is_granted(probe):
        place = _find_telling(probe)[-1]
        for condition in generator.sample(_CONDITIONS, len(_CONDITIONS)):
            line = probe.goal.reached[place]
            changed = line.model_copy(update={"says": f"{line.says} {condition}"})
            yield _Damaged([*probe.goal.reached[:place], changed, *probe.goal.reached[place + 1 :]])


_WITHDRAWALS = (
    "{owner}, about what you asked me: I wish I had never said ‘{clause}’. I take it back, and my answer is no.",
    "I want it to be as if I had never said ‘{clause}’. What you asked of me, {owner}, I do not agree to after all.",
    "Had I never said ‘{clause}’, {owner}, I would be glad. I have thought again, and what you asked of me I refuse.",
)
_CLAUSE_END = re.compile(r"[^\w\s’'-]+\s*(?:(?:and|but|so|then)\s+)?", re.IGNORECASE)
_SHORT = range(3, 8)
"""Words of a clause that is said again: fewer might mean anything, more would be a copy for the rules."""


def _take_back(scenario: Scenario, probe: GoalProbe, generator: Random) -> Iterator[_Damaged]:
    """The whole exchange, and some time later one who granted the goal takes a clause of it back."""
    if not _is_granted(probe):
        return
    for place in reversed(_find_telling(probe)):
        line = probe.goal.reached[place]
        for clause in _CLAUSE_END.split(line.says):
            telling = any(sign.is_shown_in([(line.by, clause)]) for sign in probe.goal.signs)
            if telling and len(find_words(clause)) in _SHORT:
                words = generator.choice(_WITHDRAWALS).format(owner=_call(scenario, probe.owner.name), clause=clause)
                yield _Damaged(probe.goal.reached, later=Line(by=line.by, says=words))


_PROMISES = (
    "You shall have your wish, {owner}. Give me a minute, and I will come back to it; you have my promise.",
    "Leave it with me, {owner}. Before we part I will do as you ask, and you can rely on that.",
    "Let the others speak first, {owner}. After that you will get from me what you want, I promise you.",
)
_BREACHES = (
    "I promised you something, {owner}, and I am not going to keep it. {line}",
    "{owner}, you are waiting for what I promised. You will not get it from me. {line}",
    "What I promised you a while ago, {owner}, I will not do. {line}",
)


def _promise_and_break(scenario: Scenario, probe: GoalProbe, generator: Random) -> Iterator[_Damaged]:
    """The request, the promise to fulfil it in a while, and then the answer by which the goal is missed."""
    if len(probe.goal.missed) == 2 and probe.goal.missed[0].by == probe.owner.name != probe.goal.missed[1].by:
        request, answer = probe.goal.missed
        owner = _call(scenario, probe.owner.name)
        promise = Line(by=answer.by, says=generator.choice(_PROMISES).format(owner=owner))
        breach = generator.choice(_BREACHES).format(owner=owner, line=answer.says)
        yield _Damaged([request, promise], later=Line(by=answer.by, says=breach))


_GRANTED = re.compile(r"\b(?:agree|promise|permission|permit|allow|consent|accept|leave|let|lend)s?\b", re.IGNORECASE)


def _is_granted(probe: GoalProbe) -> bool:
    """Whether the goal is another's word, which can be given on a condition and taken back."""
    by_owner = any(probe.owner.name in sign.by for sign in probe.goal.signs[-1:])
    return bool(_GRANTED.search(probe.goal.goal)) and not by_owner


def _find_telling(probe: GoalProbe) -> list[int]:
    """The places of the lines, not of the owner, that show a sign by themselves."""
    return [
        place
        for place, line in enumerate(probe.goal.reached)
        if line.by != probe.owner.name and any(sign.is_shown_in([(line.by, line.says)]) for sign in probe.goal.signs)
    ]


def _call(scenario: Scenario, name: str) -> str:
    return scenario.by_name[name].short or name


_DAMAGES: Mapping[str, Callable[[Scenario, GoalProbe, Random], Iterable[_Damaged]]] = {
    MISSING: _cut_short,
    TRIED: _miss,
    WRONG_PERSON: _put_in_another_mouth,
    CONDITION: _make_conditional,
    TAKEN_BACK: _take_back,
    BROKEN: _promise_and_break,
    ANOTHERS: _drop,
}
