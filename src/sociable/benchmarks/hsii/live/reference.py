"""Reference assistants, a scale to read scores by: they ask by topic and tell by fact, and write plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from random import Random

from sociable.benchmarks.hsii.live.dataset import Arrangement, Topic
from sociable.benchmarks.hsii.live.outcome import find_majority
from sociable.benchmarks.hsii.live.reading import Move
from sociable.benchmarks.hsii.live.records import ASSISTANT, LiveTurn
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.benchmarks.hsii.live.solver import Solution, Solver, Step
from sociable.core.records import Usage
from sociable.core.seeding import make_generator

DEPTHS = range(4)
"""The depths to which ``depth@k`` tracks minds."""

POLITE = "Thank you for writing. I have read it with care and will keep you informed."


class ReferenceAssistant:
    """One of the reference agents. ``agent`` is its name, as in ``oracle@0.3``; the registry has checked it."""

    usage = Usage()

    def __init__(self, agent: str, scenario: Scenario, solve: Callable[[], Solution], seed: int, repeat: int) -> None:
        self.kind, _, number = agent.partition("@")
        self.scenario = scenario
        self.number = float(number or 0.0)
        self.generator: Random = make_generator(seed, "reference", self.kind, scenario.id, repeat)
        self.lot = self.generator.random()
        self.heard: list[LiveTurn] = []
        self.told: set[tuple[str, str]] = set()
        """(person, fact): what others have heard, as far as it can know."""
        self._solve = solve

    @cached_property
    def _solver(self) -> Solver:
        return Solver(self.scenario)

    @property
    def solution(self) -> Solution:
        return self._solve()

    @cached_property
    def seeming(self) -> tuple[Solver, Solution]:
        """The solver of the scenario as it seems at this depth, and what is best there."""
        return _see(self.scenario, int(self.number))

    async def act(self, number: int, incoming: Sequence[LiveTurn]) -> tuple[Move, Sequence[LiveTurn]]:
        self.heard += incoming
        self.told |= {(name, fact) for each in incoming for name in (each.speaker, *each.addressees) for fact in each.facts}
        steps, arrangement = _AGENTS[self.kind](self, number)
        sent = [self._write(step, number) for step in list(steps)[: self.scenario.budget.messages]]
        self.told |= {(name, fact) for each in sent for name in each.addressees for fact in each.facts}
        return Move(arrangement=arrangement), sent

    def recall(self, last: int | None = None) -> set[str]:
        """The facts in what was heard, or in the ``last`` messages of it."""
        heard = self.heard if last is None else self.heard[max(len(self.heard) - last, 0) :]
        return {fact for each in heard for fact in each.facts}

    def choose(self, known: set[str]) -> Arrangement:
        """The arrangement that is best on average by what is known."""
        return self._solver.find_best(known)

    def _write(self, step: Step, number: int) -> LiveTurn:
        """A message in plain sentences, with what it asks and tells beside it."""
        said = [self.scenario.facts[fact].text for fact in step.tells]
        if step.topic:
            said.append(f"May I ask about {self.scenario.topics[step.topic].about}?")
        return LiveTurn(
            index=0,
            round=number,
            speaker=ASSISTANT,
            addressees=step.to,
            content=" ".join(said) or POLITE,
            topic=step.topic,
            facts=step.tells,
        )


@lru_cache(maxsize=200)
def _see(scenario: Scenario, depth: int) -> tuple[Solver, Solution]:
    """The scenario as it seems at depth 1 or 2, solved."""
    seeming = believe_claims(scenario)
    solver = Solver(seeming if depth > 1 else ignore_needs(seeming))
    return solver, solver.solve()


Act = tuple[Iterator[Step] | Sequence[Step], Arrangement | None]


def _play_plan(assistant: ReferenceAssistant, number: int) -> Act:
    """The solver's plan. With an error rate p it only is polite in a share p of the scenarios, the same ones for a smaller p."""
    if assistant.lot < assistant.number:
        return _be_polite(assistant, number)
    solution, is_last = assistant.solution, number == assistant.scenario.budget.rounds
    return solution.plan[number - 1], solution.arrangement if is_last else assistant.choose(assistant.recall())


def _forget(assistant: ReferenceAssistant, number: int) -> Act:
    """The solver's plan by one who remembers no more than the last n messages."""
    known = assistant.recall(int(assistant.number))
    steps = [
        Step(each.to, each.topic, tuple(f for f in each.tells if f in known)) for each in assistant.solution.plan[number - 1]
    ]
    return steps, assistant.choose(known)


def _forward_all(assistant: ReferenceAssistant, number: int) -> Act:
    """Tells everybody everything, and asks whoever has something to say."""
    known = tuple(sorted(assistant.recall()))
    topics = [
        each for each in assistant.scenario.topics.values() if set(each.lead) <= set(known) and not set(each.gives) <= set(known)
    ]
    assistant.generator.shuffle(topics)
    everybody = tuple(assistant.scenario.people)
    steps = [Step(everybody, "", known), *(Step((each.person,), each.id) for each in topics)]
    return steps, find_majority(assistant.scenario, known)


def _ask_anything(assistant: ReferenceAssistant, number: int) -> Act:
    """Asks at random, tells nobody anything, proposes anything."""
    topics = list(assistant.scenario.topics.values())
    steps = [Step((each.person,), each.id) for each in assistant.generator.sample(topics, len(topics))]
    return steps, assistant.generator.choice(assistant.scenario.arrangements)


def _answer_last(assistant: ReferenceAssistant, number: int) -> Act:
    """Writes to whoever wrote last, politely, and goes with the majority."""
    wrote = list(dict.fromkeys(each.speaker for each in reversed(assistant.heard) if each.speaker))
    return [Step((name,)) for name in wrote[:1]], find_majority(assistant.scenario, assistant.recall())


def _be_polite(assistant: ReferenceAssistant, number: int) -> Act:
    return [Step((name,)) for name in assistant.scenario.people], assistant.scenario.dossier.open


def _know(assistant: ReferenceAssistant, number: int) -> Act:
    """Knows every dossier by heart, and a share of what was drawn (nested), asks nobody, tells all what all may know."""
    facts = assistant.scenario.facts.values()
    lots = sorted(assistant.scenario.dossier.lots)
    Random(assistant.lot).shuffle(lots)
    known = lots[: round(assistant.number * len(lots))]
    open_ = tuple(sorted(fact for fact in assistant.recall() if not assistant.scenario.facts[fact].keep_from))
    return [Step(tuple(assistant.scenario.people), "", open_)], assistant.choose(
        {f.id for f in facts if f.side.partition("=")[0] in known}
    )


def _track(assistant: ReferenceAssistant, number: int) -> Act:
    """The best policy of one who tracks minds to depth k.

    0 goes by what is said openly, and asks nobody. 1 asks each about himself, why he wants what he wants. 2 also sees that
    somebody opens when he hears what another knows, and tells him. 3 also knows that what somebody says of himself may be meant
    to be believed, and asks who has seen what is true.
    """
    if assistant.number == 0:
        return [], find_majority(assistant.scenario, assistant.recall())
    if assistant.number > 2:
        return assistant.solution.plan[number - 1], assistant.solution.arrangement
    solver, solution = assistant.seeming
    steps, known = solution.plan[number - 1], assistant.recall() & solver.scenario.facts.keys()
    told = {(name, fact) for step in steps for name in step.to for fact in step.tells}
    return steps, solver.find_best(known, assistant.told | told)


def believe_claims(scenario: Scenario) -> Scenario:
    """The scenario as it would be if all that people claim of themselves were so, and nobody were asked about another."""
    said = {fact for topic in scenario.topics.values() for fact in (*topic.gives, *topic.instead_gives)}
    claims = [fact.claims.partition("=") for fact in scenario.facts.values() if fact.claims and fact.id in said]
    claimed = {lot: side for lot, _, side in claims}
    draw = frozenset(f"{lot}={claimed.get(lot, side)}" for lot, _, side in (each.partition("=") for each in scenario.draw))
    believed = replace(scenario, draw=draw)
    witnessed = {
        each.id
        for each in believed.topics.values()
        for fact in each.gives
        if believed.facts[fact].side.partition("=")[0] in claimed and believed.facts[fact].of != each.person
    }
    facts = [
        fact.model_copy(update={"side": fact.claims, "claims": ""}) if fact.claims else fact for fact in scenario.dossier.facts
    ]
    topics = [topic for topic in scenario.dossier.topics if topic.id not in witnessed]
    dossier = scenario.dossier.model_copy(update={"facts": tuple(facts), "topics": tuple(topics)})
    return replace(scenario, dossier=dossier, draw=draw)


def ignore_needs(scenario: Scenario) -> Scenario:
    """The scenario as it would be if nobody ever opened by being told something."""

    def is_guarded(topic: Topic) -> bool:
        return bool(topic.needs) and (scenario.dials.depth or scenario.level) in topic.guarded

    topics = [
        topic.model_copy(update={"gives": topic.instead_gives, "needs": ()}) if is_guarded(topic) else topic
        for topic in scenario.dossier.topics
    ]
    kept = [topic for topic in topics if topic.gives]
    return replace(scenario, dossier=scenario.dossier.model_copy(update={"topics": tuple(kept)}))


def _keep_silent(assistant: ReferenceAssistant, number: int) -> Act:
    return [], None


_AGENTS: Mapping[str, Callable[[ReferenceAssistant, int], Act]] = {
    "oracle": _play_plan,
    "memory": _forget,
    "forward-all": _forward_all,
    "last-speaker": _answer_last,
    "polite-only": _be_polite,
    "random": _ask_anything,
    "informed": _know,
    "depth": _track,
    "silent": _keep_silent,
}
