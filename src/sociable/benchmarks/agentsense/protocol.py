"""AgentSense's simulation (section 3.3, App. C.2) and its interviews (section 3.4): one scenario to one episode.

1. Seats: the model under test plays every character; in a mixed run a partner plays some.
2. Blind test: everybody answers the quiz before anybody has spoken (section 4.3).
3. Opening: the scene's own first words; where it has none, somebody drawn at random says "Hi there!".
4. Turns: whoever is addressed speaks next, never the same twice in a row, until the turns are used up.
5. Interviews: everybody says whether its goals and the others' were reached, and answers the quiz, each on a copy of
   its own view, for the wording of a question gives goals away.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sociable.benchmarks.agentsense.briefing import describe_scene, is_script_named, write_script_question
from sociable.benchmarks.agentsense.players import MAX_REPLY, Answer, PromptedPlayer
from sociable.benchmarks.agentsense.records import RANDOM, AgentSenseEpisode, AgentSenseOptions, ProbeAnswer, ProbeKind
from sociable.benchmarks.agentsense.reference import Silent, make_player
from sociable.benchmarks.agentsense.scenario import Character, CharacterRole, GoalProbe, QuizQuestion, Scenario, list_goal_probes
from sociable.core.errors import InputError, InstrumentFailure
from sociable.core.prompts import Prompts
from sociable.core.records import Turn, Usage, make_episode_id
from sociable.core.seeding import make_generator
from sociable.dialogue.conversation import (
    AddressedNext,
    Bidding,
    Conversation,
    RandomSpeaker,
    RoundRobin,
    TurnPolicy,
    run_conversation,
)
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Request

GREETING = "Hi there!"
"""The first words of a scene that has none of its own (App. C.2)."""


async def run_scene(
    scenario: Scenario,
    repeat: int,
    seats: Seats,
    prompts: Prompts,
    options: AgentSenseOptions,
    *,
    seed: int,
    cast: Mapping[str, Role] | None = None,
    interviews: bool = True,
) -> AgentSenseEpisode:
    """Plays one scene. ``cast``: the role that plays each character; by default as ``options`` say. ``interviews``: step 5.

    Raises RunFailure and RunStopped.
    """
    # 1. Seats.
    scene = _Scene(scenario, repeat, seats, prompts, options, seed, cast)
    conversation, policy, failure = scene.conversation, scene.make_policy(), ""
    both_tested = bool(seats.partner) and options.plays == "senders"
    answers: list[ProbeAnswer] = []
    try:
        # 2. Blind test.
        if options.blind:
            answers += await scene.ask_quiz(ProbeKind.BLIND_QUIZ)
        if options.script and repeat == 0:
            answers += await scene.predict_script()

        # 3. Opening.
        first, words = make_generator(seed, "greeting", scenario.id, repeat).choice(scenario.names), GREETING
        if scenario.opening and options.opening:
            first, words = scenario.opening.by, scenario.opening.says
        conversation.turns.append(Turn(index=0, speaker=first, content=words))

        # 4. Turns.
        for stop in options.judged_after:
            await run_conversation(
                conversation,
                scene.players,
                policy,
                turns=stop - scene.turns_taken,
                instruments=frozenset() if both_tested else scene.partners,
                ends_in_silence=False,
            )
            if options.probe_rounds and stop < options.generated_turns:
                answers += await scene.ask_goals()

        # 5. Interviews.
        if interviews:
            answers += await scene.ask_goals()
            answers += await scene.ask_quiz(ProbeKind.QUIZ)
    except InstrumentFailure as error:
        failure = str(error)
    return AgentSenseEpisode(
        id=scene.identifier,
        scenario=scenario.id,
        cluster=scenario.template,
        repeat=repeat,
        turns=tuple(conversation.turns),
        played_by={name: role.value for name, role in scene.played_by.items()},
        # Bids come in the order in which they were answered.
        probes=(*answers, *sorted(scene.bids, key=lambda bid: (bid.after, bid.asked))),
        both_tested=both_tested,
        partner_failure=failure,
        usage=scene.sum_usage(),
    )


def cast_roles(scenario: Scenario, options: AgentSenseOptions, seed: int) -> dict[str, Role]:
    """The roles that play the characters of a mixed run, by name. The one character is the same in every repeat."""
    drawn = make_generator(seed, "seat", scenario.id).choice(scenario.names)
    chosen = {drawn if options.character == RANDOM else scenario.find_character(options.character)}
    if options.plays == "senders":
        chosen = {character.name for character in scenario.characters if character.role is CharacterRole.SENDER}
    own, rest = (Role.PARTNER, Role.SUBJECT) if options.plays == "others" else (Role.SUBJECT, Role.PARTNER)
    return {name: own if name in chosen else rest for name in scenario.names}


def select_playable(scenarios: Sequence[Scenario], options: AgentSenseOptions) -> tuple[Sequence[Scenario], list[str]]:
    """(the scenarios with everybody whom ``options`` need, a note on those left out). Raises InputError if there are none."""
    if options.plays == "senders":
        both = set(CharacterRole)
        playable = [scenario for scenario in scenarios if both <= {character.role for character in scenario.characters}]
        lacking, remedy = "a sender or a receiver", "Have roles put into the data with: sociable label"
    elif options.character != RANDOM:
        playable = [scenario for scenario in scenarios if scenario.find_character(options.character)]
        lacking, remedy = f"a character '{options.character}'", "Names are as in the data"
    else:
        return scenarios, []
    left = len(scenarios) - len(playable)
    if not playable:
        raise InputError(f"All {left} scenarios lack {lacking}. {remedy}.")
    return playable, [f"{left} of {len(scenarios)} scenarios lack {lacking} and were left out."] if left else []


@dataclass
class _Scene:
    """One scene as it is played: the steps share it."""

    scenario: Scenario
    repeat: int
    seats: Seats
    prompts: Prompts
    options: AgentSenseOptions
    seed: int
    cast: Mapping[str, Role] | None

    def __post_init__(self) -> None:
        scenario, seats = self.scenario, self.seats
        self.identifier = make_episode_id(scenario.id, self.repeat)
        self.conversation = Conversation()
        alone = dict.fromkeys(scenario.names, Role.SUBJECT)
        self.played_by = self.cast or (cast_roles(scenario, self.options, self.seed) if seats.partner else alone)
        self.partners = frozenset(name for name, role in self.played_by.items() if role is Role.PARTNER)
        by_role = {Role.SUBJECT: seats.subject, Role.PARTNER: seats.partner, Role.OPPONENT: seats.opponent}
        self.players = {
            each.name: self._make_player(each, by_role[self.played_by[each.name]] or seats.subject)
            for each in scenario.characters
        }
        self.bids: list[ProbeAnswer] = []
        self.script_usage = Usage()

    @property
    def turns_taken(self) -> int:
        """The number of turns so far, without the greeting."""
        return sum(turn.index > 0 for turn in self.conversation.turns)

    def _make_player(self, character: Character, seat: Seat) -> PromptedPlayer | Silent:
        if seat.model is None:
            turns = self.options.generated_turns
            return make_player(seat.agent, self.scenario, character, self.seed, self.repeat, turns)
        return PromptedPlayer(self.scenario, character, seat, self.identifier, self.prompts, self.options)

    def make_policy(self) -> TurnPolicy:
        generator = make_generator(self.seed, "turns", self.scenario.id, self.repeat)
        policies: dict[str, TurnPolicy] = {
            "random": RandomSpeaker(generator),
            "round-robin": RoundRobin(),
            "addressed-next": AddressedNext(generator, self.scenario.aliases),
            "bidding": Bidding(self._bid, generator),
        }
        return policies[self.options.policy]

    async def _bid(self, name: str, seen: Sequence[Turn]) -> float | None:
        """A player's bid to speak, which is kept."""
        answer = await self.players[name].bid(seen)
        self.bids.append(self._record(ProbeKind.BID, name, answer, lambda _: True))
        return answer.value

    def _record(
        self, kind: ProbeKind, asked: str, answer: Answer, is_right: Callable[[float], bool] = bool, **about: Any
    ) -> ProbeAnswer:
        """An answer as it is kept; ``is_right`` judges its value."""
        right = None if answer.value is None else is_right(answer.value)
        reply, defect = answer.reply, answer.defect
        return ProbeAnswer(kind=kind, asked=asked, after=self.turns_taken, answer=right, reply=reply, defect=defect, **about)

    async def ask_goals(self) -> list[ProbeAnswer]:
        """Self and Other: the answers to each goal's questions, from the characters that the data name."""
        return await asyncio.gather(*map(self._ask_goal, list_goal_probes(self.scenario, self.turns_taken, "own", "others")))

    async def _ask_goal(self, probe: GoalProbe) -> ProbeAnswer:
        kind = ProbeKind.OWN_GOAL if probe.part == "own" else ProbeKind.OTHERS_GOAL
        answer = await self.players[probe.asked].judge_goal(self.conversation.list_seen_by(probe.asked), probe)
        return self._record(kind, probe.asked, answer, about=probe.owner.name, item=probe.item, wording=probe.wording)

    async def ask_quiz(self, kind: ProbeKind) -> list[ProbeAnswer]:
        """The answers to each character's questions, options in the same order before and after the scene."""
        return await asyncio.gather(
            *(
                self._ask_question(character.name, item, question, kind)
                for character in self.scenario.characters
                for item, question in enumerate(character.info_reason_questions)
            )
        )

    async def _ask_question(self, asked: str, item: int, question: QuizQuestion, kind: ProbeKind) -> ProbeAnswer:
        count = len(question.options)
        order = make_generator(self.seed, "options", self.scenario.id, asked, item).sample(range(count), count)
        answer = await self.players[asked].choose(self.conversation.list_seen_by(asked), question, order)
        choice = None if answer.value is None else int(answer.value)
        shown = {"about": question.about, "item": item, "choice": choice, "order": tuple(order)}
        return self._record(kind, asked, answer, lambda value: value == question.answer_label, **shown)

    async def predict_script(self) -> list[ProbeAnswer]:
        """Whether the model names the script that the scene was made from; a reference agent recognises none."""
        seat = self.seats.subject
        if not self.scenario.source or seat.model is None:
            return []
        scope = seat.make_scope(self.identifier, "script")
        asked = write_script_question(describe_scene(self.scenario), self.prompts)
        reply = await seat.model.generate(Request(asked, scope, seat.sampling))
        self.script_usage = scope.usage
        answer = Answer(is_script_named(reply.text, self.scenario.source), reply.text[:MAX_REPLY], reply.defect)
        return [self._record(ProbeKind.SCRIPT, seat.name, answer)]

    def sum_usage(self) -> dict[str, Usage]:
        """The models' usage, by role."""
        used = defaultdict(Usage, {Role.SUBJECT: self.script_usage})
        for name, player in self.players.items():
            used[self.played_by[name]] += player.usage
        return {role.value: usage for role, usage in used.items() if usage.calls}
