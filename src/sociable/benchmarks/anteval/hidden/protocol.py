"""One case at one level to one episode.

1. Before: each member chooses, by what it knows alone. With a vote, all are told what each chose.
2. The talk: in each round everybody speaks once; what it says is heard by those who sit in a circle with it. A round in which
   all pass ends it. With asides, a turn may be for one of these alone; the others notice that it was made.
3. After: each member chooses, by what it knows now.
4. Informed: the model under test chooses once more, with all clues in view (HiddenBench's full-profile control).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from sociable.benchmarks.anteval.hidden.briefing import ask_informed, list_options
from sociable.benchmarks.anteval.hidden.forms import make_informed_form
from sociable.benchmarks.anteval.hidden.hearing import list_heard
from sociable.benchmarks.anteval.hidden.members import Member, ModelMember, ReferenceMember
from sociable.benchmarks.anteval.hidden.records import HiddenEpisode, HiddenTurn
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.benchmarks.anteval.hidden.solver import choose
from sociable.core.prompts import Prompts
from sociable.core.records import Usage, make_episode_id
from sociable.engine.seats import Role, Seat, Seats
from sociable.judging.answers import parse_choice

INFORMED = "informed"
"""The participant who chooses with everything in view, after the talk."""


async def run_scenario(scenario: Scenario, repeat: int, seats: Seats, prompts: Prompts, *, seed: int) -> HiddenEpisode:
    """The episode; where a partner is named it plays the member who wants another outcome. Raises RunFailure and RunStopped."""
    item = make_episode_id(scenario.id, repeat)

    def seat_member(name: str) -> Member:
        seat = seats.partner if _is_partners(scenario, name, seats) and seats.partner else seats.subject
        if seat.model is None:
            return ReferenceMember(seat.agent, name, scenario, seed, repeat)
        return ModelMember(name, scenario, seat, item, prompts)

    members = {name: seat_member(name) for name in scenario.case.names}
    before = await _choose(scenario, members, [], is_after=False)
    if scenario.vote:
        for member in members.values():
            member.hear_vote(before)
    turns: list[HiddenTurn] = []
    failure = ""
    for number in range(1, scenario.budget.rounds + 1):
        for name, member in members.items():
            turn = await member.speak(number, list_heard(scenario, turns, name))
            turns.append(turn.model_copy(update={"index": len(turns) + 1}))
            if turn.note and not turn.content and _is_partners(scenario, name, seats):
                failure = failure or f"{name}, round {number}: {turn.note}"
        if not any(turn.content for turn in turns[-len(members) :]):
            break
    after = await _choose(scenario, members, turns, is_after=True)
    informed, spent = await _choose_informed(scenario, seats.subject, item, prompts)
    used = {Role.SUBJECT: spent, Role.PARTNER: Usage()}
    for name, member in members.items():
        used[Role.PARTNER if _is_partners(scenario, name, seats) else Role.SUBJECT] += member.usage
    return HiddenEpisode(
        id=item,
        scenario=scenario.id,
        cluster=scenario.case.id,
        repeat=repeat,
        turns=tuple(turns),
        before=before,
        after=after,
        informed=informed,
        partner_failure=failure,
        usage={role.value: usage for role, usage in used.items() if usage.calls},
    )


def _is_partners(scenario: Scenario, name: str, seats: Seats) -> bool:
    return seats.partner is not None and scenario.dissenter == name


async def _choose(
    scenario: Scenario, members: Mapping[str, Member], turns: Sequence[HiddenTurn], *, is_after: bool
) -> dict[str, str]:
    heard = {name: list_heard(scenario, turns, name) for name in members}
    chosen = await asyncio.gather(*(member.choose(heard[name], is_after) for name, member in members.items()))
    return dict(zip(members, chosen, strict=True))


async def _choose_informed(scenario: Scenario, seat: Seat, item: str, prompts: Prompts) -> tuple[str, Usage]:
    """(the option that the model under test chooses with everything in view, what that took)."""
    if seat.model is None:
        return choose(scenario, scenario.clues), Usage()
    scope = seat.make_scope(item, INFORMED)
    messages, options = ask_informed(scenario, prompts), list_options(scenario)
    reply = await seat.ask(messages, scope, lambda: make_informed_form(messages, options))
    place = None if reply.defect else parse_choice(reply.text, len(options), options).value
    return "" if place is None else scenario.case.options[place].id, scope.usage
