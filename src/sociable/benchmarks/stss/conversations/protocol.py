"""One scene to one episode (section 3.2, section 5.1, App. A.2).

1. Both get back what they remembered and had promised when the scene was frozen, and see each other; the performer has its task.
2. They talk, turn about, at most eight times each; whoever began in the simulation begins.
3. The other says what it takes away: that is the summary.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sociable.agents.architecture import Asker, Situation, TaskInWords, find_architecture
from sociable.agents.people.resident import PersonResident
from sociable.benchmarks.stss.briefs import list_private
from sociable.benchmarks.stss.conversations.conditions import CONDITIONS, LEVEL_2_CONDITIONS, Condition, ConditionRule
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, ConversationOptions, Scene, Side
from sociable.benchmarks.stss.persuaders import make_performer
from sociable.benchmarks.stss.protocol import make_memory, sum_usage
from sociable.benchmarks.stss.reference import Performer
from sociable.benchmarks.stss.reluctant import ReluctantResident
from sociable.benchmarks.stss.residents import ReferenceResident, RoutineMind, World
from sociable.benchmarks.stss.speech import say_moment
from sociable.benchmarks.stss.task import TaskType
from sociable.core.errors import InputError
from sociable.core.records import Turn, make_episode_id
from sociable.engine.seats import Seat, Seats
from sociable.town.clock import Clock, format_time_of_day
from sociable.town.events import Agreed, AnyEvent, Line, Noted, Remembered
from sociable.town.map import Address, TownMap
from sociable.town.minds import Activity, Mind, Restorable, Sighting, TakenAway, Talk, Utterance, View, receive_answer
from sociable.town.simulation import WORDS_PER_MINUTE


@dataclass(frozen=True)
class Setting:
    """Everything that all scenes of a study share."""

    town: TownMap
    clock: Clock
    options: ConversationOptions
    seed: int

    @property
    def prompts(self) -> Path | None:
        """A user's own prompts for the generative agent."""
        return Path(self.options.agent_prompts) if self.options.agent_prompts else None

    @property
    def places(self) -> list[str]:
        """The names of all places of the town."""
        return sorted({address.sector for address in self.town.places})


ALONE = (
    "No partner was named: the model under test played the other, and wrote the summaries, as well. (Around a reference agent, a "
    "reference resident did.)"
)
"""The note that tells a reader of the scores who sat in an empty seat of the partner."""


async def run_scene(scene: Scene, repeat: int, seats: Seats, setting: Setting) -> ConversationEpisode:
    """Plays one scene; the partner's seat is filled. Raises RunFailure and RunStopped."""
    assert seats.partner is not None, "the study has seated somebody for the other"
    played_by = {scene.performer.name: seats.subject, scene.target.name: seats.partner}
    play = _Play(scene, setting, make_episode_id(scene.id, repeat), played_by)
    # 1. Two minds.
    performer = await play.make_mind(scene.performer, scene.target)
    target = await play.make_mind(scene.target, scene.performer)
    # 2. The conversation.
    failure = await play.converse({scene.performer.name: performer, scene.target.name: target})
    # 3. The summary.
    summary, lost = ("", "") if failure else await play.summarise(target)
    return ConversationEpisode(
        id=play.item,
        scenario=scene.id,
        cluster=scene.template,
        repeat=repeat,
        turns=tuple(Turn(index=i, speaker=line.speaker, content=line.says, note=line.note) for i, line in enumerate(play.lines)),
        usage=sum_usage(play.askers),
        summary=summary,
        partner_failure=failure,
        summary_failure=lost,
        played_by={name: seat.name for name, seat in played_by.items()},
    )


@dataclass
class _Play:
    """One scene as it is played."""

    scene: Scene
    setting: Setting
    item: str
    seats: Mapping[str, Seat]
    """The seats of those who play the two, by name."""
    askers: list[Asker] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    # 1.

    async def make_mind(self, side: Side, other: Side) -> Mind:
        """One of the two, who remembers what it remembered and sees the other."""
        scene, setting, seat, options = self.scene, self.setting, self.seats[side.name], self.setting.options
        performs, task, persona = side is scene.performer, scene.task, side.persona
        if seat.model is None:
            world = World(setting.town, setting.clock, 6, setting.seed, self.item)
            if performs:
                return make_scene_performer(seat.agent, scene, world)
            kind = Listener if task.obstacles is None else ReluctantListener
            return kind(scene, world, setting.places)
        added = task.goal if performs else " ".join(list_private(task, side.name, setting.clock))
        if added:
            persona = persona.model_copy(update={"currently": f"{persona.currently} {added}".strip()})
        asker = Asker(seat.model, seat.role.value, self.item, side.name, seat.sampling)
        self.askers.append(asker)
        architecture = options.agent if performs else options.background_agent
        situation = Situation(
            persona=persona,
            town=setting.town,
            clock=setting.clock,
            acquaintances=side.acquaintances,
            task=TaskInWords(task.goal, task.description) if performs else None,
            high=asker,
            low=asker,
            react=asker,
            seed=setting.seed,
            new_memory=partial(make_memory, options.embeddings),
            prompts=setting.prompts,
            plain=options.plain and seat.model is self.seats[scene.performer.name].model,
        )
        mind = PersonResident(situation) if seat.is_person(side.name) else find_architecture(architecture)(situation)
        # It is shown what is to be seen before it is given its memory: the look itself is to leave no trace there.
        await receive_answer(mind.decide(self._show(side, other)))
        if not isinstance(mind, Restorable):
            remedy = "its minds have no method restore(events)."
            raise InputError(f"The architecture '{architecture}' cannot be given a memory: {remedy}")
        mind.restore(side.past)
        return mind

    def _show(self, side: Side, other: Side) -> View:
        """The minute in which they meet, as one of them sees it: nothing to decide, and nothing that is news."""
        scene, town = self.scene, self.setting.town
        tile = town.find_free_tiles(scene.where or Address.parse(side.persona.home))[0]
        activity = Activity(side.doing, scene.minute + 1, scene.address)
        sighting = Sighting(other.name, other.doing, talking_to=side.name, free=False)
        return View(scene.minute, tile, scene.where, activity, walking=False, sightings=[sighting], news=[])

    # 2.

    async def converse(self, minds: Mapping[str, Mind]) -> str:
        """Turn by turn until one ends it, as in the town. Returns why the other's part came to nothing, if it did."""
        scene = self.scene
        order = [scene.performer, scene.target] if scene.performer_begins else [scene.target, scene.performer]
        for turn in range(2 * self.setting.options.turns_each):
            speaker, listener = order[turn % 2], order[1 - turn % 2]
            said: Utterance = await receive_answer(minds[speaker.name].speak(self._make_talk(speaker, listener)))
            empty = not said.says.strip()
            if not empty or said.note:
                self.lines.append(Line(speaker=speaker.name, says=said.says, note=said.note))
            if speaker is scene.target and empty:
                return f"{speaker.name} said nothing{f': {said.note}' if said.note else ''}"
            if speaker is scene.target and said.defect:
                return f"{speaker.name}'s turn {turn}: {said.note}"
            if said.ends or empty:
                break
        return ""

    def _make_talk(self, speaker: Side, listener: Side) -> Talk:
        """The conversation so far, as one of them has it."""
        scene, lines = self.scene, tuple(self.lines)
        spoken = sum(line.speaker == speaker.name for line in lines)
        left = self.setting.options.turns_each - spoken
        began = (speaker is scene.performer) == scene.performer_begins
        return Talk(scene.minute, listener.name, scene.where, lines, began, place_in_turn=spoken, turns_left=left)

    # 3.

    async def summarise(self, mind: Mind) -> tuple[str, str]:
        """The other's summary, and why there is none. Where nobody said anything both are empty."""
        words = sum(len(line.says.split()) for line in self.lines)
        if not words:
            return "", ""
        until = self.scene.minute + max(1, math.ceil(words / WORDS_PER_MINUTE))
        taken = await receive_answer(mind.conclude(self._make_talk(self.scene.target, self.scene.performer), until))
        for note in taken.notes:
            if isinstance(note, Noted) and note.about.startswith("unreadable"):
                return "", f"{note.about}: {note.text}"
        summary = format_notes(taken.notes, self.setting.clock)
        return summary, "" if summary else "the summary was empty"


def format_notes(notes: Sequence[AnyEvent], clock: Clock) -> str:
    """The things that somebody takes away from a conversation, line by line: its memories, and what it means to do."""
    lines = [note.text.strip() for note in notes if isinstance(note, Remembered)]
    for note in notes:
        if isinstance(note, Agreed):
            day = f", {clock.render_day(note.start)}, {format_time_of_day(note.start)}" if note.start is not None else ""
            until = f" to {format_time_of_day(note.end)}" if note.start is not None and note.end is not None else ""
            lines.append(f"Agreed: {note.doing}{day}{until}{f', at {note.place}' if note.place else ''}.")
    return "\n".join(filter(None, lines))


# People without a model.


def make_scene_performer(agent: str, scene: Scene, world: World) -> Performer:
    """The performer called ``agent``, to whom the other is the whole cast: nobody else is there to be invited."""
    task = scene.task.model_copy(update={"cast": (scene.target.name,)})
    others = {scene.target.name: RoutineMind(scene.target.persona, world)}
    return make_performer(agent, scene.performer.persona, world, task, others)


class Listener(ReferenceResident):
    """A reference resident that says what it took away from a conversation."""

    def __init__(self, scene: Scene, world: World, places: Sequence[str]) -> None:
        # What is measured is the performer's words; a partner that wants nothing would measure itself.
        super().__init__(scene.target.persona, world, scene.task, scene.target.acquaintances, leaning=1.0)
        self._places = places

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        text = summarise(ConditionRule(self.task, talk.minute, self.world.clock, self._places), talk.lines)
        return TakenAway([Remembered(minute=until, resident=self.persona.name, memory="conversation", text=text)])


class ReluctantListener(Listener, ReluctantResident):
    """The same with a reason against it."""


def summarise(rule: ConditionRule, lines: Sequence[Line]) -> str:
    """Sums up a conversation: every condition that the rule finds met, in words by which it finds it again."""
    task = rule.task
    known = CONDITIONS if task.obstacles is None else LEVEL_2_CONDITIONS
    met = {each for each in known[task.type] if rule.is_met_in_conversation(each, lines)}
    if not met:
        return f"{task.performer} and I passed the time of day."
    if task.type is TaskType.HELP:
        conditions = [Condition.FIRST_STEP, *[Condition.FURTHER_STEPS] * (len(task.subtasks) - 1)]
        told = zip(task.subtasks, conditions, strict=True)
        steps = [f"{step.doing} ({step.place})" for step, condition in told if condition in met]
        between = "; then " if Condition.ORDER in met else "; "
        found = [f"{task.performer} asked me for this: {between.join(steps) or 'something'}"]
    else:
        what = f"the {task.activity}" if met & {Condition.INVITED, Condition.PURPOSE} else "something"
        found = [f"{task.performer} talked to me about {what}"]
    moment = task.start if Condition.TIME in met else rule.find_agreed_moment(lines)
    if met & {Condition.TIME, Condition.TIME_AGREED} and moment is not None:
        found.append(f"on {say_moment(moment, rule.clock)}")
    if Condition.PLACE in met:
        found.append(f"at {task.place.replace(':', ',')}")
    elif Condition.PLACE_AGREED in met:
        found.append(f"at {rule.find_agreed_place(lines)}")
    if Condition.AGREED in met:
        found.append("and I promised it")
    return f"{', '.join(found)}."
