"""One scene to one episode (section 3.2, section 5.1, App. A.2).

1. Both get back what they remembered and had promised when the scene was frozen, and see each other; the performer has its task.
2. They talk, turn about, at most eight times each; whoever began in the simulation begins.
3. The other says what it takes away: that is the summary.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import TypeVar

from sociable.agents.architecture import Asker, Situation, TaskInWords, find_architecture
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, ConversationOptions
from sociable.benchmarks.stss.conversations.reference import Listener, make_scene_performer
from sociable.benchmarks.stss.conversations.scene import Scene, Side
from sociable.benchmarks.stss.protocol import make_memory
from sociable.benchmarks.stss.routine import World
from sociable.core.errors import InputError
from sociable.core.records import Turn, Usage, episode_id
from sociable.engine.seats import Seats
from sociable.town.clock import Clock, time_of_day
from sociable.town.events import Agreed, AnyEvent, Line, Noted, Remembered
from sociable.town.map import Address, TownMap
from sociable.town.minds import Activity, Mind, Sighting, Talk, Utterance, View
from sociable.town.simulation import WORDS_PER_MINUTE

T = TypeVar("T")


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


async def run_scene(scene: Scene, repeat: int, seats: Seats, setting: Setting) -> ConversationEpisode:
    """Plays one scene; the partner's seat is filled. Raises RunFailure and RunStopped."""
    return await _Play(scene, repeat, seats, setting).play()


class _Play:
    """One scene as it is played."""

    def __init__(self, scene: Scene, repeat: int, seats: Seats, setting: Setting) -> None:
        assert seats.partner is not None, "the study has seated somebody for the other"
        self._scene = scene
        self._setting = setting
        self._repeat = repeat
        self._item = episode_id(scene.id, repeat)
        self._seats = {scene.performer.name: seats.subject, scene.target.name: seats.partner}
        self._askers: list[Asker] = []
        self._lines: list[Line] = []

    async def play(self) -> ConversationEpisode:
        scene = self._scene
        # 1. Two minds.
        performer = await self._make_mind(scene.performer, scene.target)
        target = await self._make_mind(scene.target, scene.performer)
        # 2. The conversation.
        failure = await self._converse({scene.performer.name: performer, scene.target.name: target})
        # 3. The summary.
        summary, lost = ("", "") if failure else await self._summarise(target)
        usage: dict[str, Usage] = {}
        for asker in self._askers:
            usage[asker.role] = usage.get(asker.role, Usage()) + asker.usage
        return ConversationEpisode(
            id=self._item,
            scenario=scene.id,
            cluster=scene.template,
            repeat=self._repeat,
            turns=tuple(
                Turn(index=place, speaker=line.speaker, content=line.says, note=line.note)
                for place, line in enumerate(self._lines)
            ),
            usage={role: used for role, used in usage.items() if used.calls},
            summary=summary,
            partner_failure=failure,
            summary_failure=lost,
            played_by={name: seat.name for name, seat in self._seats.items()},
        )

    # 1.

    async def _make_mind(self, side: Side, other: Side) -> Mind:
        """One of the two, who remembers what it remembered and sees the other."""
        scene, setting, seat, options = self._scene, self._setting, self._seats[side.name], self._setting.options
        performs, task, persona = side is scene.performer, scene.task, side.persona
        if seat.model is None:
            world = World(setting.town, setting.clock, 6, setting.seed, self._item)
            return make_scene_performer(seat.agent, scene, world) if performs else Listener(scene, world, setting.places)
        if performs:
            persona = persona.model_copy(update={"currently": f"{persona.currently} {task.goal}".strip()})
        asker = Asker(seat.model, seat.role.value, self._item, side.name, seat.sampling)
        self._askers.append(asker)
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
            plain=options.plain and performs,
        )
        mind = find_architecture(architecture)(situation)
        # It is shown what is to be seen before it is given its memory: the look itself is to leave no trace there.
        await _wait_for(mind.decide(self._show(side, other)))
        restore = getattr(mind, "restore", None)
        if restore is None:
            raise InputError(
                f"The architecture '{architecture}' cannot be given a memory: its minds have no method restore(events)."
            )
        restore(side.past)
        return mind

    def _show(self, side: Side, other: Side) -> View:
        """The minute in which they meet, as one of them sees it: nothing to decide, and nothing that is news."""
        scene, town = self._scene, self._setting.town
        tile = town.find_free_tiles(scene.where or Address.parse(side.persona.home))[0]
        activity = Activity(side.doing, scene.minute + 1, scene.address)
        sighting = Sighting(other.name, other.doing, talking_to=side.name, free=False)
        return View(scene.minute, tile, scene.where, activity, walking=False, sightings=[sighting], news=[])

    # 2.

    async def _converse(self, minds: Mapping[str, Mind]) -> str:
        """Turn by turn until one ends it, as in the town. Returns why the other's part came to nothing, if it did."""
        scene = self._scene
        order = [scene.performer, scene.target] if scene.performer_begins else [scene.target, scene.performer]
        for turn in range(2 * self._setting.options.turns_each):
            speaker, listener = order[turn % 2], order[1 - turn % 2]
            said: Utterance = await _wait_for(minds[speaker.name].speak(self._make_talk(speaker, listener)))
            empty = not said.says.strip()
            if not empty or said.note:
                self._lines.append(Line(speaker=speaker.name, says=said.says, note=said.note))
            if empty and speaker is scene.target:
                return f"{speaker.name} said nothing{f': {said.note}' if said.note else ''}"
            if said.defect and speaker is scene.target:
                return f"{speaker.name}'s turn {turn}: {said.note}"
            if said.ends or empty:
                break
        return ""

    def _make_talk(self, speaker: Side, listener: Side) -> Talk:
        """The conversation so far, as one of them has it."""
        scene = self._scene
        spoken = sum(line.speaker == speaker.name for line in self._lines)
        return Talk(
            scene.minute,
            listener.name,
            scene.where,
            tuple(self._lines),
            began=(speaker is scene.performer) == scene.performer_begins,
            place_in_turn=spoken,
            turns_left=self._setting.options.turns_each - spoken,
        )

    # 3.

    async def _summarise(self, mind: Mind) -> tuple[str, str]:
        """The other's summary, and why there is none. Where nobody said anything both are empty."""
        scene = self._scene
        words = sum(len(line.says.split()) for line in self._lines)
        if not words:
            return "", ""
        until = scene.minute + max(1, math.ceil(words / WORDS_PER_MINUTE))
        taken = await _wait_for(mind.conclude(self._make_talk(scene.target, scene.performer), until))
        for note in taken.notes:
            if isinstance(note, Noted) and note.about.startswith("unreadable"):
                return "", f"{note.about}: {note.text}"
        summary = word_notes(taken.notes, self._setting.clock)
        return summary, "" if summary else "the summary was empty"


def word_notes(notes: Sequence[AnyEvent], clock: Clock) -> str:
    """The things that somebody takes away from a conversation, line by line: its memories, and what it means to do."""
    lines = [note.text.strip() for note in notes if isinstance(note, Remembered)]
    for note in notes:
        if isinstance(note, Agreed):
            day = f", {clock.render_day(note.start)}, {time_of_day(note.start)}" if note.start is not None else ""
            until = f" to {time_of_day(note.end)}" if note.start is not None and note.end is not None else ""
            lines.append(f"Agreed: {note.doing}{day}{until}{f', at {note.place}' if note.place else ''}.")
    return "\n".join(filter(None, lines))


async def _wait_for(answer: T | Awaitable[T]) -> T:
    return await answer if isawaitable(answer) else answer
