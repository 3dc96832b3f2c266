"""AgentSense's simulation (section 3.3, App. C.2) and its interviews (section 3.4): one scenario to one episode.

1. Seats: the model under test plays every character; in a mixed run a partner plays some.
2. Blind test: everybody answers the quiz before anybody has spoken (section 4.3).
3. Greeting: somebody, drawn at random, says "Hi there!".
4. Turns: a speaker is drawn, never the same twice in a row, until the turns are used up.
5. Interviews: everybody says whether its goals and the others' were reached, and answers the quiz, each on a copy of
   its own view, for the wording of a question gives goals away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sociable.benchmarks.agentsense.briefing import ask_for_script, names_script, scene_in_words
from sociable.benchmarks.agentsense.options import RANDOM, AgentSenseOptions
from sociable.benchmarks.agentsense.players import MAX_REPLY, GoalProbe, Player, PromptedPlayer
from sociable.benchmarks.agentsense.records import AgentSenseEpisode, ProbeAnswer, ProbeKind
from sociable.benchmarks.agentsense.reference import make_player
from sociable.benchmarks.agentsense.scenario import Character, CharacterRole, Scenario
from sociable.core.errors import InstrumentFailure
from sociable.core.names import find_person
from sociable.core.prompts import Prompts
from sociable.core.records import Turn, Usage, episode_id
from sociable.core.seeding import make_generator
from sociable.dialogue.conversation import Conversation
from sociable.dialogue.loop import run_conversation
from sociable.dialogue.turn_taking import AddressedNext, Bidding, RandomSpeaker, RoundRobin, TurnPolicy
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Request

GREETING = "Hi there!"
"""App. C.2."""


async def run_scene(
    scenario: Scenario, repeat: int, seats: Seats, prompts: Prompts, options: AgentSenseOptions, *, seed: int
) -> AgentSenseEpisode:
    """Plays one scene. Raises RunFailure and RunStopped."""
    identifier = episode_id(scenario.id, repeat)

    # 1. Seats.
    played_by = cast_roles(scenario, options, seed) if seats.partner else dict.fromkeys(scenario.names, Role.SUBJECT)
    by_role = {Role.SUBJECT: seats.subject, Role.PARTNER: seats.partner or seats.subject}
    scene = _Scene(scenario, repeat, prompts, options, seed, identifier, played_by)
    scene.players = {
        character.name: scene.player(character, by_role[played_by[character.name]]) for character in scenario.characters
    }
    conversation, policy, failure = Conversation(), scene.policy(), ""
    both_tested = bool(seats.partner) and options.plays == "senders"
    answers: list[ProbeAnswer] = []
    try:
        # 2. Blind test.
        if options.blind:
            answers += await scene.asked(scene.quiz(conversation, ProbeKind.BLIND_QUIZ))
        if options.script and repeat == 0:
            answers += await scene.predicted_script(seats.subject)

        # 3. Greeting.
        first = make_generator(seed, "greeting", scenario.id, repeat).choice(scenario.names)
        conversation.turns.append(Turn(index=0, speaker=first, content=GREETING))

        # 4. Turns.
        taken = 0
        for stop in options.judged_after:
            await run_conversation(
                conversation,
                scene.players,
                policy,
                turns=stop - taken,
                instruments=frozenset() if both_tested else scene.partners,
                ends_in_silence=False,
            )
            taken = stop
            if options.probe_rounds and stop < options.generated_turns:
                answers += await scene.asked(scene.goals(conversation))

        # 5. Interviews.
        answers += await scene.asked(scene.goals(conversation))
        answers += await scene.asked(scene.quiz(conversation, ProbeKind.QUIZ))
    except InstrumentFailure as error:
        failure = str(error)
    return AgentSenseEpisode(
        id=identifier,
        scenario=scenario.id,
        cluster=scenario.template,
        repeat=repeat,
        turns=tuple(conversation.turns),
        played_by={name: role.value for name, role in played_by.items()},
        # Bids come in the order in which they were answered.
        probes=(*answers, *sorted(scene.bids, key=lambda bid: (bid.after, bid.asked))),
        both_tested=both_tested,
        partner_failure=failure,
        usage=scene.usage(),
    )


def cast_roles(scenario: Scenario, options: AgentSenseOptions, seed: int) -> dict[str, Role]:
    """By character, who plays it in a mixed run. The one character is the same in every repeat."""
    if options.plays == "senders":
        return {
            character.name: Role.SUBJECT if character.role is CharacterRole.SENDER else Role.PARTNER
            for character in scenario.characters
        }
    if options.character == RANDOM:
        one = make_generator(seed, "seat", scenario.id).choice(scenario.names)
    else:
        called = character_called(options.character, scenario)
        assert called is not None, "the study has left out scenes without that character"
        one = called
    alone, others = (Role.PARTNER, Role.SUBJECT) if options.plays == "others" else (Role.SUBJECT, Role.PARTNER)
    return {name: alone if name == one else others for name in scenario.names}


def character_called(name: str, scenario: Scenario) -> str | None:
    """The character of that name, short name or first name."""
    return find_person(name, scenario.names, scenario.aliases)


@dataclass
class _Scene:
    """What the steps of one scene share."""

    scenario: Scenario
    repeat: int
    prompts: Prompts
    options: AgentSenseOptions
    seed: int
    identifier: str
    played_by: Mapping[str, Role]

    def __post_init__(self) -> None:
        self.players: dict[str, Player] = {}
        self.bids: list[ProbeAnswer] = []
        self.script_usage = Usage()

    @property
    def partners(self) -> frozenset[str]:
        return frozenset(name for name, role in self.played_by.items() if role is Role.PARTNER)

    def player(self, character: Character, seat: Seat) -> Player:
        if seat.model is None:
            turns = self.options.generated_turns
            return make_player(seat.agent, self.scenario, character, self.seed, self.repeat, turns)
        return PromptedPlayer(self.scenario, character, seat, self.identifier, self.prompts, first_lines=self.options.first_lines)

    def policy(self) -> TurnPolicy:
        generator = make_generator(self.seed, "turns", self.scenario.id, self.repeat)
        match self.options.policy:
            case "random":
                return RandomSpeaker(generator)
            case "round-robin":
                return RoundRobin()
            case "addressed-next":
                return AddressedNext(generator, self.scenario.aliases)
            case "bidding":
                return Bidding({name: _Bidder(self, player) for name, player in self.players.items()}, generator)

    async def asked(self, probes: Iterator[Awaitable[ProbeAnswer]]) -> list[ProbeAnswer]:
        return await asyncio.gather(*probes)

    def goals(self, conversation: Conversation) -> Iterator[Awaitable[ProbeAnswer]]:
        """Self and Other: each goal's questions, to whom the data say."""
        for owner in self.scenario.characters:
            for item, goal in enumerate(owner.goals):
                asked = goal.eval_questions
                for kind, questions in ((ProbeKind.OWN_GOAL, asked.own), (ProbeKind.OTHERS_GOAL, asked.others)):
                    for wording, question in enumerate(questions or ()):
                        probe = GoalProbe(owner, goal, item, question.question)
                        yield self._goal(conversation, self.players[question.obj], probe, kind, wording)

    async def _goal(
        self, conversation: Conversation, player: Player, probe: GoalProbe, kind: ProbeKind, wording: int
    ) -> ProbeAnswer:
        answer = await player.judge_goal(conversation.seen_by(player.name), probe)
        return ProbeAnswer(
            kind=kind,
            asked=player.name,
            about=probe.owner.name,
            item=probe.item,
            wording=wording,
            after=_taken(conversation.turns),
            answer=None if answer.value is None else bool(answer.value),
            reply=answer.reply,
            defect=answer.defect,
        )

    def quiz(self, conversation: Conversation, kind: ProbeKind) -> Iterator[Awaitable[ProbeAnswer]]:
        """Each character's questions, options in the same order before and after the scene."""
        for character in self.scenario.characters:
            for item in range(len(character.info_reason_questions)):
                yield self._quiz(conversation, character, item, kind)

    async def _quiz(self, conversation: Conversation, character: Character, item: int, kind: ProbeKind) -> ProbeAnswer:
        question = character.info_reason_questions[item]
        count = len(question.options)
        order = make_generator(self.seed, "options", self.scenario.id, character.name, item).sample(range(count), count)
        answer = await self.players[character.name].choose(conversation.seen_by(character.name), question, order)
        return ProbeAnswer(
            kind=kind,
            asked=character.name,
            about=question.about,
            item=item,
            after=_taken(conversation.turns),
            answer=None if answer.value is None else answer.value == question.answer_label,
            choice=None if answer.value is None else int(answer.value),
            order=tuple(order),
            reply=answer.reply,
            defect=answer.defect,
        )

    async def predicted_script(self, seat: Seat) -> list[ProbeAnswer]:
        """Whether the model names the script that the scene was made from; a reference agent recognises none."""
        if not self.scenario.source or seat.model is None:
            return []
        scope = seat.scope(self.identifier, "script")
        asked = ask_for_script(scene_in_words(self.scenario), self.prompts)
        reply = await seat.model.generate(Request(asked, scope, seat.sampling))
        self.script_usage = scope.usage
        right = names_script(reply.text, self.scenario.source)
        return [
            ProbeAnswer(
                kind=ProbeKind.SCRIPT, asked=seat.name, after=0, answer=right, reply=reply.text[:MAX_REPLY], defect=reply.defect
            )
        ]

    def usage(self) -> dict[str, Usage]:
        """By role, of those that are models."""
        used = {Role.SUBJECT: self.script_usage, Role.PARTNER: Usage()}
        for name, player in self.players.items():
            used[self.played_by[name]] += player.usage
        return {role.value: usage for role, usage in used.items() if usage.calls}


class _Bidder:
    """A player who bids to speak, its bids kept."""

    def __init__(self, scene: _Scene, player: Player) -> None:
        self._scene = scene
        self._player = player

    async def bid(self, seen: Sequence[Turn]) -> float | None:
        answer = await self._player.bid(seen)
        self._scene.bids.append(
            ProbeAnswer(
                kind=ProbeKind.BID,
                asked=self._player.name,
                after=_taken(seen),
                answer=None if answer.value is None else True,
                reply=answer.reply,
                defect=answer.defect,
            )
        )
        return answer.value


def _taken(turns: Sequence[Turn]) -> int:
    return sum(turn.index > 0 for turn in turns)
