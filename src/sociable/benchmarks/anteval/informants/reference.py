"""Reference players: they read what was told by its name, and know more or less of what gets it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from random import Random

from sociable.benchmarks.anteval.iep.records import Recall, When
from sociable.benchmarks.anteval.informants.dataset import Fact, SpokenGate, Statement, Way, ask_about
from sociable.benchmarks.anteval.informants.informants import AT_ONCE
from sociable.benchmarks.anteval.informants.records import InformantsOptions, InformantsTurn
from sociable.benchmarks.anteval.informants.scenario import Scenario, name_lie
from sociable.core.records import Usage
from sociable.core.seeding import make_generator
from sociable.core.wording import Wording, has_wording


class ReferencePlayer:
    """Says nothing and claims nothing, unless a kind of its own says more."""

    usage = Usage()

    def __init__(
        self, name: str, scenario: Scenario, options: InformantsOptions, draw: Callable[..., Random], rate: float
    ) -> None:
        self.name = name
        self.scenario = scenario
        self.words = options.words
        self.draw = draw
        self.rate = rate

    async def speak(self, heard: Sequence[InformantsTurn], left: int) -> InformantsTurn:
        to, said, aside = self.ask(heard)
        told = self.scenario.find_told(said)
        return InformantsTurn(
            index=0, speaker=self.name, content=said, to=to if said else "", addressees=(to,) if aside and said else (), told=told
        )

    async def claim(self, heard: Sequence[InformantsTurn], when: When, turn: int) -> Recall:
        texts = {name: each.point for name, each in self.scenario.statements}
        claims = [texts[name] for name in self.believe(heard)][: len(self.scenario.facts)]
        return Recall(player=self.name, when=when, turn=turn if when is When.DURING else 0, claims=tuple(claims))

    def ask(self, heard: Sequence[InformantsTurn]) -> tuple[str, str, bool]:
        """(whom it speaks to, what it says, whether aside)."""
        return "", "", False

    def believe(self, heard: Sequence[InformantsTurn]) -> list[str]:
        """The names of the statements that it takes for true: all that it was told."""
        return list(dict.fromkeys(name for turn in heard for name in turn.told))

    @cached_property
    def facts(self) -> dict[str, Fact]:
        return {each.id: each for each in self.scenario.facts}

    def list_heard_aside(self, heard: Sequence[InformantsTurn]) -> list[str]:
        """The facts that only it was told, in words."""
        public = {name for turn in heard if not turn.aside for name in turn.told}
        told = dict.fromkeys(name for turn in heard for name in turn.told)
        return [self.facts[name].point for name in told if name in self.facts and name not in public]

    def fit(self, parts: Iterable[str]) -> str:
        """As many of the parts, from the first, as fit into a turn whole; the first in any case."""
        said: list[str] = []
        for part in parts:
            if said and len(" ".join([*said, part]).split()) > self.words:
                break
            said.append(part)
        return " ".join(said)


class Lister(ReferencePlayer):
    """Understands nothing: puts the same question to one informant after the other."""

    def ask(self, heard: Sequence[InformantsTurn]) -> tuple[str, str, bool]:
        informants = self.scenario.informants
        own = sum(turn.speaker == self.name for turn in heard)
        return informants[own % len(informants)].name, f"Tell us all that you know about {self.scenario.title}, please.", False


class Echo(ReferencePlayer):
    """Understands nothing: promises all, and throws the words that it heard last, or the setting, at the next informant."""

    def ask(self, heard: Sequence[InformantsTurn]) -> tuple[str, str, bool]:
        informants, words = self.scenario.informants, self.scenario.card.setting.split()
        own = sum(turn.speaker == self.name for turn in heard)
        last = next((turn.content.split() for turn in reversed(heard) if turn.speaker in self._informants and turn.told), words)
        begin = ["We", "promise", "all", "you", "want;", "nobody", "shall", "know.", "What", "of"]
        room = self.words - len(begin)
        start = 0 if last is not words else (own * room) % max(len(words) - room, 1)
        return informants[own % len(informants)].name, " ".join([*begin, *last[start : start + room]]), own % 3 == 2

    @property
    def _informants(self) -> set[str]:
        return {each.name for each in self.scenario.informants}


class Asker(Lister):
    """Asks about whatever has come up, in front of all; gives nothing, doubts nothing, and believes whatever it is told."""

    def ask(self, heard: Sequence[InformantsTurn]) -> tuple[str, str, bool]:
        asked = self.list_open(heard)
        if not asked:
            return super().ask(heard)
        first = asked[0]
        return first.holder, self.fit(ask_about(each) for each in asked if each.holder == first.holder), False

    def list_open(self, heard: Sequence[InformantsTurn]) -> list[Statement]:
        """What it knows to ask about and has not been told, what was asked least often first; at most an answer's worth each."""
        texts = [self.scenario.card.public, *(turn.content for turn in heard if turn.speaker != self.name)]
        told = {name for turn in heard for name in turn.told}
        held = [*self.scenario.facts, *self.scenario.rumours]
        opened = [
            each
            for each in held
            if not told & {each.id, name_lie(each.id)} and any(has_wording(text, each.asked) for text in texts)
        ]
        times = {each.id: sum(self._asks(turn, each) for turn in heard) for each in opened}
        return sorted((each for each in opened if times[each.id] < 2), key=lambda each: times[each.id])

    def _asks(self, turn: InformantsTurn, statement: Statement) -> bool:
        return turn.to == statement.holder and has_wording(turn.content, statement.asked)


class Listener(Asker):
    """Asks about what came up; gives what was hinted at, goes aside, confronts liars, and passes on what it heard aside."""

    def ask(self, heard: Sequence[InformantsTurn]) -> tuple[str, str, bool]:
        to, said, aside = self._follow_up(heard) or super().ask(heard)
        return to, said if aside else self.fit([said, *self.list_heard_aside(heard)]), aside

    def _follow_up(self, heard: Sequence[InformantsTurn]) -> tuple[str, str, bool] | None:
        """What to do about a lie that can be shown to be one, or about something that an informant waits for."""
        told = set(super().believe(heard))
        for fact in self.facts.values():
            if name_lie(fact.id) in told and fact.shown_by in told:
                shown = self.facts[fact.shown_by]
                if not any(turn.to == fact.holder and has_wording(turn.content, shown.wording) for turn in heard):
                    return fact.holder, f"But {shown.point}", False
        for informant in self.scenario.informants:
            waits = {way for turn in heard if turn.speaker == informant.name for way in turn.waits}
            spoken = [turn for turn in heard if turn.to == informant.name]
            asked = [ask_about(each) for each in self._list_waited(informant.name, heard)]
            for way in sorted(waits):
                gate = informant.find_gate(way)
                if isinstance(gate, SpokenGate) and not any(has_wording(turn.content, gate.wording) for turn in spoken):
                    return informant.name, self.fit([say_wording(gate.wording), *asked]), False
                if way is Way.APART and asked and not any(turn.aside for turn in spoken):
                    return informant.name, self.fit(asked), True
        return None

    def _list_waited(self, name: str, heard: Sequence[InformantsTurn]) -> list[Statement]:
        """What an informant was asked about and has not told."""
        told = {each for turn in heard for each in turn.told}
        own = [each for each in self.scenario.list_held(name) if each.id not in told]
        return [each for each in own if any(self._asks(turn, each) for turn in heard)]

    def believe(self, heard: Sequence[InformantsTurn]) -> list[str]:
        told = super().believe(heard)
        shown = {each.id: each.corrected_by for each in self.scenario.rumours}
        shown |= {name_lie(each.id): each.shown_by for each in self.facts.values() if each.shown_by}
        return [name for name in told if shown.get(name) not in told]


class Oracle(ReferencePlayer):
    """Knows what there is, who has it and what gets it; says that, and passes on what it heard aside.

    With ``error_rate`` p it does not ask for a share p of the facts. Errors are nested: a fact has one draw.
    """

    def ask(self, heard: Sequence[InformantsTurn]) -> tuple[str, str, bool]:
        told = {name for turn in heard for name in turn.told}
        passed_on = self.list_heard_aside(heard)
        wanted = [each for each in self.facts.values() if each.id not in told and self._draws(each)]
        if mine := [each for each in wanted if self._is_mine(each)]:
            return mine[0].holder, ask_about(mine[0]), True
        wanted = [each for each in wanted if self.scenario.find_way(each) is not Way.APART]
        if not wanted:
            return self.scenario.informants[0].name, self.fit(passed_on), False
        # What a lie is shown by can be told first.
        wanted.sort(key=lambda each: self.scenario.find_way(each) is Way.LIE)
        own = [each for each in wanted if each.holder == wanted[0].holder][:AT_ONCE]
        parts = [part for each in own for part in (*self._get(each), ask_about(each))]
        return wanted[0].holder, self.fit([*dict.fromkeys(parts), *passed_on]), False

    def _is_mine(self, fact: Fact) -> bool:
        """Whether a fact is told aside, and it is this player's to ask for it: one asks, and passes it on."""
        apart = [each.id for each in self.facts.values() if self.scenario.find_way(each) is Way.APART]
        names = [each.name for each in self.scenario.players]
        return fact.id in apart and names[apart.index(fact.id) % len(names)] == self.name

    def _get(self, fact: Fact) -> list[str]:
        """What must be said beside the question."""
        way = self.scenario.find_way(fact)
        informant = next(each for each in self.scenario.informants if each.name == fact.holder)
        gate = informant.find_gate(way)
        if way is Way.LIE and fact.shown_by in self.facts:
            return [self.facts[fact.shown_by].point]
        return [say_wording(gate.wording)] if isinstance(gate, SpokenGate) else []

    def _draws(self, fact: Fact) -> bool:
        return self.draw("keeps", fact.id).random() >= self.rate

    def believe(self, heard: Sequence[InformantsTurn]) -> list[str]:
        return [name for name in super().believe(heard) if name in self.facts]


class RandomPlayer(ReferencePlayer):
    """Asks anybody about anything, whether or not it came up; believes half of what it is told."""

    def ask(self, heard: Sequence[InformantsTurn]) -> tuple[str, str, bool]:
        draw = self.draw("asks", self.name, len(heard))
        return draw.choice(self.scenario.informants).name, ask_about(draw.choice(self.scenario.facts)), draw.random() < 0.2

    def believe(self, heard: Sequence[InformantsTurn]) -> list[str]:
        return [name for name in super().believe(heard) if self.draw("believes", self.name, name).random() < 0.5]


def say_wording(wording: Wording) -> str:
    """A sentence that the wording takes, for whoever plays by rule."""
    return f"You have it: {', '.join(phrase.rstrip('*') for phrase in wording[0])}."


_KINDS: dict[str, type[ReferencePlayer]] = {
    "oracle": Oracle,
    "listener": Listener,
    "asker": Asker,
    "lister": Lister,
    "echo": Echo,
    "random": RandomPlayer,
    "silent": ReferencePlayer,
}


def make_reference_player(
    agent: str, name: str, scenario: Scenario, options: InformantsOptions, seed: int, repeat: int
) -> ReferencePlayer:
    kind, _, rate = agent.partition("@")
    draw = partial(make_generator, seed, "reference", scenario.id, repeat)
    return _KINDS[kind](name, scenario, options, draw, float(rate or 0.0))
