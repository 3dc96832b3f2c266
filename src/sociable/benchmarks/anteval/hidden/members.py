"""The members of a group: models, or reference agents who tell clues by themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, Protocol

from sociable.benchmarks.anteval.hidden.briefing import (
    ask_for_turn,
    ask_to_choose,
    brief_member,
    list_options,
)
from sociable.benchmarks.anteval.hidden.dataset import Clue
from sociable.benchmarks.anteval.hidden.forms import make_choice_form, make_turn_form
from sociable.benchmarks.anteval.hidden.reading import find_said, read_turn, shorten
from sociable.benchmarks.anteval.hidden.records import HiddenTurn
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.benchmarks.anteval.hidden.solver import choose, find_needed
from sociable.core.prompts import Prompts
from sociable.core.records import Usage
from sociable.core.seeding import make_generator
from sociable.engine.seats import Seat
from sociable.judging.answers import parse_choice


class Member(Protocol):
    name: str

    @property
    def usage(self) -> Usage: ...

    def hear_vote(self, vote: Mapping[str, str]) -> None:
        """Hears what each chose before the talk, by name."""

    async def speak(self, number: int, heard: Sequence[HiddenTurn]) -> HiddenTurn:
        """Its turn in a round; ``heard``: what it has said and heard so far."""

    async def choose(self, heard: Sequence[HiddenTurn], is_after: bool) -> str:
        """The option that it chooses before or after the talk; empty: none that could be read."""


class ModelMember:
    def __init__(self, name: str, scenario: Scenario, seat: Seat, item: str, prompts: Prompts) -> None:
        self.name = name
        self._scenario = scenario
        self._seat = seat
        self._prompts = prompts
        self._scope = seat.make_scope(item, name)
        self._briefing = brief_member(scenario, name, prompts)
        self._letters = [option.id for option in scenario.case.options]

    @property
    def usage(self) -> Usage:
        return self._scope.usage

    def hear_vote(self, vote: Mapping[str, str]) -> None:
        self._briefing = brief_member(self._scenario, self.name, self._prompts, vote)

    async def speak(self, number: int, heard: Sequence[HiddenTurn]) -> HiddenTurn:
        scenario, options = self._scenario, list_options(self._scenario)
        question = ask_for_turn(self._scenario, self.name, number, heard, self._prompts)
        form = partial(make_turn_form, self._scenario, self.name, self._briefing, number, heard)
        reply = await self._seat.ask([self._briefing, question], self._scope, form)
        names = [each for each in scenario.case.names if each != self.name] if scenario.asides else []
        said = read_turn(reply.text, options, scenario.budget.words, names)
        return make_turn(
            scenario,
            self.name,
            number,
            said.to if said.text and not reply.defect else "",
            content="" if reply.defect else said.text,
            thinking=reply.thinking,
            lean="" if said.lean is None else self._letters[said.lean],
            clues=() if reply.defect else find_said(said.text, scenario),
            note=reply.defect or said.problem or (f"{said.cut} words over the limit were cut off" if said.cut else ""),
        )

    async def choose(self, heard: Sequence[HiddenTurn], is_after: bool) -> str:
        question = ask_to_choose(self._scenario, self.name, heard, is_after, self._prompts)
        form = partial(make_choice_form, self._scenario, self.name, self._briefing, heard, is_after)
        reply = await self._seat.ask([self._briefing, question], self._scope, form)
        options = list_options(self._scenario)
        place = None if reply.defect else parse_choice(reply.text, len(options), options).value
        return "" if place is None else self._letters[place]


def make_turn(scenario: Scenario, name: str, number: int, to: str = "", **fields: Any) -> HiddenTurn:
    """A turn in a round, its index left open; an aside is heard by the one ``to`` whom it is, if it hears the speaker."""
    hearers = scenario.list_hearers(name)
    heard_by = tuple(each for each in hearers if each == to) if to else hearers
    return HiddenTurn(index=0, round=number, speaker=name, addressees=(to,) if to else (), heard_by=heard_by, **fields)


class ReferenceMember:
    """Tells clues in their own words, as many as fit into a turn, and chooses by what follows from those that it has heard."""

    usage = Usage()

    def __init__(self, agent: str, name: str, scenario: Scenario, seed: int, repeat: int) -> None:
        self.name = name
        kind, _, number = agent.partition("@")
        self._scenario = scenario
        lot = make_generator(seed, "reference", kind, scenario.id, repeat).random()
        self._kind = "silent" if kind == "oracle" and lot < float(number or 0.0) else kind
        self._generator: Random = make_generator(seed, "reference", kind, scenario.id, repeat, name)
        self._clues = {each.id: each for each in scenario.clues}
        self._own = [each.id for each in scenario.list_known(name)]
        self._wants = scenario.wanted if scenario.dissenter == name else ""
        self._vote: Mapping[str, str] = {}

    def hear_vote(self, vote: Mapping[str, str]) -> None:
        self._vote = vote

    async def speak(self, number: int, heard: Sequence[HiddenTurn]) -> HiddenTurn:
        tell = _tell_for_its_option if self._wants and self._kind not in ("silent", "random") else _AGENTS[self._kind]
        wanted, asks = tell(self, heard)
        told: list[str] = []
        words = ["What", "else", "do", "you", "know?"] if asks else []
        for clue in wanted:
            own = shorten(self._clues[clue], self._scenario)
            if len(words) + len(own) <= self._scenario.budget.words:
                told.append(clue)
                words += own
        return make_turn(
            self._scenario,
            self.name,
            number,
            self._choose_hearer() if words and self._kind == "oracle" else "",
            content=" ".join(words),
            lean=self._lean(heard),
            clues=tuple(told),
            asks=asks,
        )

    async def choose(self, heard: Sequence[HiddenTurn], is_after: bool) -> str:
        if self._kind == "random":
            return self._generator.choice(self._scenario.case.options).id
        return self._lean(heard)

    def _choose_hearer(self) -> str:
        """The only one but the member who wants another outcome who hears it, where there may be asides; else nobody."""
        hearers = set(self._scenario.list_hearers(self.name))
        others = hearers - {self.dissenter}
        return others.pop() if self._scenario.asides and not self._wants and others < hearers and len(others) == 1 else ""

    def _lean(self, heard: Sequence[HiddenTurn]) -> str:
        if self._wants:
            return self._wants
        leans = [chosen for name, chosen in self._vote.items() if name != self.name]
        leans += [turn.lean for turn in heard if turn.speaker != self.name and turn.lean]
        if self._kind == "conformist" and leans:
            latest = leans[-(len(self._scenario.case.names) - 1) :]
            return max(dict.fromkeys(latest), key=latest.count)
        return choose(self._scenario, [self._clues[each] for each in self._list_known(heard)])

    def _list_known(self, heard: Sequence[HiddenTurn]) -> list[str]:
        return list(dict.fromkeys([*self._own, *(clue for turn in heard for clue in turn.clues)]))

    def list_news(self, heard: Sequence[HiddenTurn], without: str = "") -> list[str]:
        """What it may bring up that somebody who hears it (but for one) does not know, as far as it has heard; its own first."""
        hearers = [name for name in self._scenario.list_hearers(self.name) if name != without]
        was_asked = any(turn.asks and turn.speaker != self.name for turn in heard)
        news = []
        for clue in map(self._clues.__getitem__, self._list_known(heard)):
            withheld = clue.unasked and clue.id in self._own and not was_asked
            if not withheld and any(not self._has(name, clue, heard) for name in hearers):
                news.append(clue.id)
        return news

    def has_asked(self, heard: Sequence[HiddenTurn]) -> bool:
        return any(turn.asks and turn.speaker == self.name for turn in heard)

    def _has(self, name: str, clue: Clue, heard: Sequence[HiddenTurn]) -> bool:
        told = any(clue.id in turn.clues and name in (turn.speaker, *turn.heard_by) for turn in heard)
        return told or not clue.to or name in clue.to

    @property
    def dissenter(self) -> str:
        return self._scenario.dissenter

    @property
    def needed(self) -> set[str]:
        return {each.id for each in find_needed(self._scenario)}


Telling = tuple[list[str], bool]
"""(the clues to tell, in order; whether it asks)."""


def _tell_needed(member: ReferenceMember, heard: Sequence[HiddenTurn]) -> Telling:
    """Knows which clues are needed, and who wants another outcome: asks once, tells and carries on nothing else.

    What was heard last goes first, since it has the longest way to go.
    """
    needed = member.needed
    news = [each for each in member.list_news(heard, member.dissenter) if each in needed]
    return news, not member.has_asked(heard)


def _pool(member: ReferenceMember, heard: Sequence[HiddenTurn]) -> Telling:
    """Tells what others do not know, and carries on what it has heard; asks nothing."""
    return member.list_news(heard), False


def _ask_and_pool(member: ReferenceMember, heard: Sequence[HiddenTurn]) -> Telling:
    return member.list_news(heard), not member.has_asked(heard)


def _share(member: ReferenceMember, heard: Sequence[HiddenTurn]) -> Telling:
    """Tells what all know already, and what others have said."""
    said = [clue for turn in heard for clue in turn.clues]
    shared = [each.id for each in member._scenario.clues if not each.to and each.id not in said]
    return [*shared, *dict.fromkeys(said)], False


def _lie(member: ReferenceMember, heard: Sequence[HiddenTurn]) -> Telling:
    """Keeps back what it alone knows, and talks for what all are for anyway."""
    return _share(member, heard)[0][:1], False


def _say_nothing(member: ReferenceMember, heard: Sequence[HiddenTurn]) -> Telling:
    return [], False


def _tell_for_its_option(member: ReferenceMember, heard: Sequence[HiddenTurn]) -> Telling:
    """Who wants another outcome tells what speaks for it."""
    return [each for each in member.list_news(heard) if member._clues[each].favours.get(member._wants, 0) > 0], False


_AGENTS: dict[str, Callable[[ReferenceMember, Sequence[HiddenTurn]], Telling]] = {
    "oracle": _tell_needed,
    "asker": _ask_and_pool,
    "pooler": _pool,
    "sharer": _share,
    "conformist": _pool,
    "liar": _lie,
    "random": _say_nothing,
    "silent": _say_nothing,
}
