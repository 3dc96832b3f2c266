"""AgentSense's reference agents: players that need no model. They may see the scenario's answers.

The README says what each must score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from sociable.benchmarks.agentsense.players import Answer
from sociable.benchmarks.agentsense.rule import is_reached
from sociable.benchmarks.agentsense.scenario import Character, Goal, GoalProbe, Line, QuizQuestion, Scenario
from sociable.core.records import Turn, Usage
from sociable.core.seeding import make_generator
from sociable.core.wording import find_telling_words, measure_overlap
from sociable.dialogue.conversation import Utterance


@dataclass
class Silent:
    """Says nothing and answers nothing. The other players differ in ``speak``, ``judge_goal`` and ``choose``."""

    scenario: Scenario
    character: Character
    draw: Callable[..., Random]
    """Makes a generator for the thing that its arguments name."""
    turns: int
    error_rate: float
    usage: ClassVar[Usage] = Usage()

    @property
    def name(self) -> str:
        return self.character.name

    def speak(self, seen: Sequence[Turn]) -> str:
        return ""

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance:
        said = self.speak(seen)
        return Utterance(said, defect="" if said else "empty")

    async def bid(self, seen: Sequence[Turn]) -> Answer:
        return Answer(self.draw("bid", self.name, len(seen)).random())

    async def judge_goal(self, seen: Sequence[Turn], probe: GoalProbe) -> Answer:
        return Answer(None)

    async def choose(self, seen: Sequence[Turn], question: QuizQuestion, order: Sequence[int]) -> Answer:
        return Answer(None)


class Oracle(Silent):
    """Says what gets goals reached, its own and its part in others', and answers from the truth.

    Of goals that exclude each other it reaches a choice with which most is reached, and misses the rest. With
    ``error_rate`` p it errs in a share p of goals and questions: the exchange by which a goal is missed, a wrong option.
    Errors are nested: each goal and each question has one draw, and errs at every p above it. All oracles of a scene share
    the draws, so that they agree on which goals fail.
    """

    def has_error(self, *names: str | int) -> bool:
        return self.draw("errs", *names).random() < self.error_rate

    def speak(self, seen: Sequence[Turn]) -> str:
        taken = sum(turn.index > 0 for turn in seen)
        openings: list[str] = []
        answers: list[str] = []
        rest: list[str] = []
        for lines in self._list_exchanges():
            said = [_is_said(line, seen) for line in lines]
            for place, line in enumerate(lines):
                if line.by == self.name and not said[place]:
                    (rest if not all(said[:place]) else answers if place else openings).append(line.says)
        # One thing at a time while there is time; then all that is left, so that it is said before the scene ends.
        now = [*answers, *openings[:1]] if 3 * taken < self.turns else [*answers, *openings]
        if 2 * taken >= self.turns:
            now += rest
        return self._join_lines(dict.fromkeys(now)) or "*listens*"

    def _join_lines(self, lines: Iterable[str]) -> str:
        """The lines, without those that would take back what another of them shows: they wait for a later turn."""
        signs = [sign for owner in self.scenario.characters for goal in owner.goals for sign in goal.signs]
        said: list[str] = []
        for line in lines:
            both = [(self.name, " ".join([*said, line]))]
            apart = [(self.name, each) for each in (*said, line)]
            if all(sign.is_shown_in(both) for sign in signs if sign.is_shown_in(apart)):
                said.append(line)
        return " ".join(said)

    def _list_exchanges(self) -> list[Sequence[Line]]:
        """The exchanges to be had, goal by goal; those on the oracle's own goals first."""
        owners = sorted(self.scenario.characters, key=lambda owner: owner.name != self.name)
        best = self.scenario.find_best()
        return [
            # Where the data have no example of how the goal is reached, its owner says it plainly.
            goal.missed
            if self.has_error("goal", owner.name, item) or (owner.name, item) not in best
            else goal.reached or [Line(by=owner.name, says=state_wish(goal))]
            for owner in owners
            for item, goal in enumerate(owner.goals)
        ]

    async def judge_goal(self, seen: Sequence[Turn], probe: GoalProbe) -> Answer:
        by_rule = is_reached(self.scenario, probe.owner.name, probe.item, ((turn.speaker, turn.content) for turn in seen))
        return Answer(not self.has_error("goal", probe.owner.name, probe.item) if by_rule is None else by_rule)

    async def choose(self, seen: Sequence[Turn], question: QuizQuestion, order: Sequence[int]) -> Answer:
        if not self.has_error("question", question.key):
            return Answer(question.answer_label)
        wrong = [place for place in range(len(question.options)) if place != question.answer_label]
        return Answer(self.draw("wrong", question.key).choice(wrong))


class Heuristic(Silent):
    """Says plainly what it wants, one thing after the other, and knows only what was said.

    A goal counts as reached for it when others took up most of its words; of a quiz's options it takes the one whose
    words were said, or stand in what it was told at the beginning.
    """

    def speak(self, seen: Sequence[Turn]) -> str:
        own = sum(turn.speaker == self.name and turn.index > 0 for turn in seen)
        if own < len(self.character.goals):
            return state_wish(self.character.goals[own])
        last = next((turn.speaker for turn in reversed(seen) if turn.speaker != self.name), "")
        return f"I have heard you, {last}." if last else "I have nothing to add."

    async def judge_goal(self, seen: Sequence[Turn], probe: GoalProbe) -> Answer:
        wanted = find_telling_words(probe.goal.goal)
        said = find_telling_words(" ".join(turn.content for turn in seen if turn.speaker != probe.owner.name))
        return Answer(bool(wanted) and 2 * len(wanted & said) >= len(wanted))

    async def choose(self, seen: Sequence[Turn], question: QuizQuestion, order: Sequence[int]) -> Answer:
        found = {place: find_telling_words(option) for place, option in enumerate(question.options)}
        shared = set.intersection(*found.values())
        own = {place: telling - shared for place, telling in found.items()}
        said = find_telling_words(" ".join(turn.content for turn in seen if turn.speaker != self.name))
        told = find_telling_words(f"{self.scenario.background} {self.scenario.description} {self.character.profile}")
        return Answer(max(order, key=lambda place: (measure_overlap(own[place], said), measure_overlap(own[place], told))))


class Blurt(Heuristic):
    """The heuristic, but it says its secret at once."""

    def speak(self, seen: Sequence[Turn]) -> str:
        spoken = any(turn.speaker == self.name and turn.index > 0 for turn in seen)
        if self.character.private_info and not spoken:
            return f"I must tell you something that nobody should know. {self.character.private_info}"
        return super().speak(seen)


class Echo(Heuristic):
    """A cheat: grants, in their own words, whatever the others said, and says yes to everything."""

    grants: ClassVar[str] = "Granted:"

    def speak(self, seen: Sequence[Turn]) -> str:
        own = [turn.index for turn in seen if turn.speaker == self.name and turn.index > 0]
        heard = [turn.content for turn in seen if turn.speaker != self.name and turn.index > max(own, default=-1)]
        echoed = f"{self.grants} {' '.join(heard)}" if heard else ""
        goals = self.character.goals
        return " ".join(filter(None, (echoed, state_wish(goals[len(own)]) if len(own) < len(goals) else "")))

    async def judge_goal(self, seen: Sequence[Turn], probe: GoalProbe) -> Answer:
        return Answer(True)


class Denier(Echo):
    """A cheat: says what the others said, and that it is not true."""

    grants = "It is not true, and nobody ever said, that"


class ConstantYes(Echo):
    """A cheat: agrees to anything in the same few words, says yes to everything, and takes the first option."""

    def speak(self, seen: Sequence[Turn]) -> str:
        return "Yes, of course. I agree to that gladly, and I promise it."

    async def choose(self, seen: Sequence[Turn], question: QuizQuestion, order: Sequence[int]) -> Answer:
        return Answer(order[0])


class Dump(Echo):
    """A cheat: says all that stands on its card, and all that everybody knows, turn after turn."""

    def speak(self, seen: Sequence[Turn]) -> str:
        wishes = " ".join(map(state_wish, self.character.goals))
        return " ".join([wishes, self.character.private_info, "I grant all of it.", self.scenario.background])


class RandomPlayer(Silent):
    """Says sentences of the background; answers at random."""

    def speak(self, seen: Sequence[Turn]) -> str:
        sentences = [each.strip() for each in self.scenario.background.split(".") if each.strip()]
        return f"{self.draw('says', self.name, len(seen)).choice(sentences or [self.scenario.background])}."

    async def judge_goal(self, seen: Sequence[Turn], probe: GoalProbe) -> Answer:
        return Answer(self.draw("goal", self.name, probe.owner.name, probe.item, probe.question).random() < 0.5)

    async def choose(self, seen: Sequence[Turn], question: QuizQuestion, order: Sequence[int]) -> Answer:
        return Answer(self.draw("option", self.name, question.key, len(seen)).choice(list(order)))


_PLAYERS = {
    "oracle": Oracle,
    "heuristic": Heuristic,
    "blurt": Blurt,
    "echo": Echo,
    "denier": Denier,
    "constant-yes": ConstantYes,
    "dump": Dump,
    "random": RandomPlayer,
    "silent": Silent,
}


def make_player(agent: str, scenario: Scenario, character: Character, seed: int, repeat: int, turns: int) -> Silent:
    """The agent of this name, as in ``oracle@0.3``; the registry has checked it."""
    kind, _, rate = agent.partition("@")

    def draw(*names: str | int) -> Random:
        return make_generator(seed, "reference", kind, scenario.id, repeat, *names)

    return _PLAYERS[kind](scenario, character, draw, turns, float(rate or 0.0))


def state_wish(goal: Goal) -> str:
    """A goal as its owner says it plainly."""
    return f"What I want is this: {goal.goal[0].lower()}{goal.goal[1:]}"


def _is_said(line: Line, seen: Iterable[Turn]) -> bool:
    return any(turn.speaker == line.by and line.says in turn.content for turn in seen)
