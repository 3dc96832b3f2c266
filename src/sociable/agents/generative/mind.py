"""The generative agent (Park et al. 2023): perceives, remembers, plans, reacts, talks and reflects.

The steps and what they mean are the original's; they take fewer and larger calls. Who is asked: ``high`` for day plans,
words and interviews, ``react`` for whether to start talking, ``low`` for everything else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from sociable.agents.architecture import Situation
from sociable.agents.asking import Asker
from sociable.agents.generative.briefing import (
    day_of,
    generative_prompts,
    habits_in_words,
    memories_in_words,
    messages,
    parts_in_words,
    place_in_words,
    resident_message,
    sighting_in_words,
    transcript,
    turns_in_words,
)
from sociable.agents.generative.conversing import (
    Agenda,
    Agreement,
    TakeAway,
    choice_in,
    remains_of,
    take_away_in,
    utterance_in,
)
from sociable.agents.generative.planning import DayPlan, Frame, Part, Unreadable, day_plan_in, steps_in
from sociable.agents.generative.reflecting import (
    EVERYDAY,
    RATED_AT_ONCE,
    REFLECTION_THRESHOLD,
    looked_back_on,
    ratings_in,
    thoughts_in,
)
from sociable.agents.generative.target_driven import TargetDrivenPlanning
from sociable.core.prompts import Prompts, put_on_one_line, quote
from sociable.core.records import storable
from sociable.town.clock import MINUTES_PER_DAY, time_of_day
from sociable.town.events import Agreed, AnyEvent, Noted, Planned, Remembered
from sociable.town.memory import Memory, MemoryKind, MemoryStream
from sociable.town.minds import Activity, Decision, Sighting, TakenAway, Talk, Utterance, View

TALK_COOLDOWN = 120
"""Minutes before a resident considers talking to the same person again: long enough for something new to have happened,
short enough to meet twice in a day."""
REACTION_PAUSE = 15
"""Minutes between two considerations whether to talk, unless somebody new has come: in a full room somebody is always
free again, and each consideration is a call."""
STRETCH = 180
"""Minutes of a plan that are broken into steps at once; what comes later may still change."""
IDLE = "nothing in particular"
IDLE_MINUTES = 60
"""Of a resident whose plan cannot be read, before it plans again."""

FACT_IMPORTANCE = 5.0
"""Of what a resident knows from the beginning: rated by nobody, it stands in the middle."""
PLAN_IMPORTANCE = 5.0
INJECTED_IMPORTANCE = 8.0
"""Of what is injected: whoever does it means it to be noticed."""
COUNTED: frozenset[MemoryKind] = frozenset({"seen", "conversation", "told"})
"""Kinds whose importance brings a reflection nearer: what happens, not what was thought about it."""
OF_PEOPLE: frozenset[MemoryKind] = frozenset({"fact", "conversation", "told", "thought"})
"""Kinds that come to mind about a person: what they were seen doing is short, holds their name, and would crowd out the rest."""

REMEMBERED_FOR_PLANS = 12
REMEMBERED_OF_PARTNER = 8
REMEMBERED_OF_SUBJECT = 5
REMEMBERED_OF_ONE_IN_SIGHT = 3
"""Memories in a prompt. Together they stay within some hundred words, so that a window of 4096 tokens is enough."""
EXCERPT = 300
"""Characters of an unreadable reply that are shown and logged."""

T = TypeVar("T")


class GenerativeMind:
    """One resident's mind. With ``target_driven`` it plans for its task (GA+TDP)."""

    def __init__(
        self,
        situation: Situation,
        *,
        target_driven: bool = False,
        prompts: Prompts | None = None,
        new_memory: Callable[[], MemoryStream] | None = None,
    ) -> None:
        """Without a task ``target_driven`` changes nothing."""
        self.alarm: int | None = None
        self._new_memory = new_memory or situation.new_memory
        self.memory = self._new_memory()
        self.agenda = Agenda()
        self._situation = situation
        self._persona = situation.persona
        self._clock = situation.clock
        self._prompts = prompts or generative_prompts(situation.prompts)
        self._resident = resident_message(situation, self._prompts)
        self._target_driven = (
            TargetDrivenPlanning(situation.task, situation.high, self._resident, self._clock, self._prompts)
            if target_driven and situation.task is not None
            else None
        )
        self._notes: list[AnyEvent] = []
        self._gathered = 0.0
        self._plan: DayPlan | None = None
        self._midnight = 0
        """Before the last time it got up."""
        self._steps: deque[Part] = deque()
        self._activity: Activity | None = None
        self._talked: dict[str, int] = {}
        self._considered: dict[str, int] = {}
        """By name, when it last decided that it had nothing to say to them."""
        self._reacted = -REACTION_PAUSE
        self._in_sight: set[str] = set()
        self._doings: dict[str, str] = {}
        """By name, what they were last seen doing."""
        self._known: tuple[tuple[int, str], Sequence[Memory]] | None = None
        """Of the conversation it is in: what it remembers of the partner. It stays as it is until the end."""
        for fact in self._persona.facts:
            self._remember(0, "fact", fact, FACT_IMPORTANCE)

    # What the town asks.

    def decide(self, view: View) -> Decision | Awaitable[Decision]:
        self._perceive(view)
        over = view.activity is None or view.minute >= view.activity.until
        people = self._worth_considering(view)
        if view.activity is None and view.minute < self._persona.wakes:
            return self._decided(view, Activity("sleeping", self._persona.wakes, self._persona.home, asleep=True))
        due = len(self.memory.unrated) >= RATED_AT_ONCE or self._gathered >= REFLECTION_THRESHOLD
        step = self._step_at(view.minute) if over else None
        if people or due or (over and step is None):
            return self._think(view, over, people)
        return self._decided(view, step)

    async def _think(self, view: View, over: bool, people: Sequence[Sighting]) -> Decision:
        """A decision that needs a model."""
        if len(self.memory.unrated) >= RATED_AT_ONCE:
            await self._rate(view.minute, RATED_AT_ONCE)
        if self._gathered >= REFLECTION_THRESHOLD:
            await self._reflect(view.minute)
        activity = await self._next_activity(view) if over else None
        talk_to = await self._react(view, activity, people) if people and not (activity and activity.asleep) else ""
        return self._decided(view, activity, talk_to)

    def _decided(self, view: View, activity: Activity | None, talk_to: str = "") -> Decision:
        self._activity = activity or view.activity
        self._in_sight = {sighting.name for sighting in view.sightings}
        self.alarm = self._next_look(view)
        return Decision(activity, talk_to, self._taken_notes())

    async def speak(self, talk: Talk) -> Utterance:
        situation, partner = self._situation, talk.partner
        task = ""
        if self._target_driven is not None:
            await self._target_driven.begin_to_talk()
            task = f"\n{self._target_driven.for_talking()}\n"
        known = self._memories_of(talk)
        # The first words are about what occupies the resident, the later ones about what was said.
        subject = talk.lines[-1].says if talk.lines else self._persona.currently
        shown = {memory.number for memory in known}
        more = [
            memory for memory in self.memory.retrieve(subject, talk.minute, REMEMBERED_OF_SUBJECT) if memory.number not in shown
        ]
        mine = self._activity.doing if self._activity else IDLE
        text = self._prompts["speak"].render(
            now=self._clock.in_words(talk.minute),
            place=place_in_words(talk.address),
            partner=partner,
            beginning="You have gone up to them." if talk.began else "They have come up to you.",
            acquaintance=quote(put_on_one_line(situation.acquaintances.get(partner, "(only what you remember)"))),
            doing=quote(
                f"{self._persona.name}: {put_on_one_line(mine)}\n{partner}: {put_on_one_line(self._doings.get(partner, IDLE))}"
            ),
            agenda=self.agenda.in_words(talk.minute, self._clock),
            memories=memories_in_words(known, self._clock),
            task=task,
            conversation=transcript(talk.lines),
            subject=memories_in_words(more, self._clock),
            turns=turns_in_words(talk.turns_left),
            form=self._prompts["speak_form_plain" if situation.plain else "speak_form"].render(),
        )
        # Section A.2: temperature 0.
        reply = await situation.high.ask("speak", messages(self._resident, text), temperature=0.0)
        return utterance_in(reply, self._persona.name, plain=situation.plain)

    async def conclude(self, talk: Talk, until: int) -> TakenAway:
        self._talked[talk.partner] = until
        self._known = None
        if not any(line.says.strip() for line in talk.lines):
            return TakenAway(self._taken_notes())
        taken = await self._take_away(talk, until)
        self._remember(until, "conversation", f"{talk.partner}: {taken.summary}", taken.importance)
        for fact in taken.facts:
            self._remember(until, "told", f"{talk.partner} told me: {fact}")
        anew = taken.plan_anew
        for agreement in taken.agreed:
            self._note_agreed(until, talk.partner, agreement)
            # What was on the agenda has been planned for already; what comes before the next rising cannot wait until then.
            if self.agenda.add(agreement) and self._plan is not None and agreement.start is not None:
                anew = anew or (not agreement.is_over(until) and agreement.start < self._plan.wake + IDLE_MINUTES)
        activity = await self._replan(talk, until) if anew and self._plan is not None else None
        return TakenAway(self._taken_notes(), activity)

    # What others may ask.

    async def interview(self, question: str, minute: int) -> str:
        """What it answers to somebody outside the town; neither question nor answer is remembered."""
        found = self.memory.retrieve(question, minute, REMEMBERED_FOR_PLANS, noting_use=False)
        text = self._prompts["interview"].render(
            now=self._clock.in_words(minute),
            doing=quote(put_on_one_line(self._activity.doing if self._activity else IDLE)),
            plan=self._plan_in_words(minute),
            agenda=self.agenda.in_words(minute, self._clock),
            memories=memories_in_words(found, self._clock),
            question=quote(question),
            name=self._persona.name,
        )
        reply = await self._situation.high.ask("interview", messages(self._resident, text))
        return storable(reply.text).strip()

    def inject(self, minute: int, text: str) -> None:
        """Something it learns from outside the simulation."""
        self._gathered += INJECTED_IMPORTANCE
        self._remember(minute, "told", text, INJECTED_IMPORTANCE)

    def restore(self, events: Iterable[AnyEvent]) -> None:
        """Remembers what its own part of a log says, in place of what it knew: for a scene taken out of a simulation."""
        self.memory = self._new_memory()
        self.agenda = Agenda()
        self._notes.clear()
        for event in events:
            if isinstance(event, Remembered):
                self.memory.add(event.minute, event.memory, event.text, event.importance)
            elif isinstance(event, Agreed):
                agreement = Agreement((event.partner,), event.doing, event.place, event.start, event.end)
                self.agenda.add(agreement)

    # Perceiving and remembering.

    def _perceive(self, view: View) -> None:
        self._activity = view.activity
        for sighting in view.sightings:
            self._doings[sighting.name] = sighting.doing
        for sighting in view.news:
            # Whom it has talked with it remembers from the conversation.
            if sighting.doing and sighting.talking_to != self._persona.name:
                self._remember(view.minute, "seen", sighting_in_words(sighting))

    def _remember(self, minute: int, kind: MemoryKind, text: str, importance: float = 0.0) -> None:
        self.memory.add(minute, kind, text, importance)
        if importance and kind == "conversation":
            self._gathered += importance
        self._note(Remembered(minute=minute, resident=self._persona.name, memory=kind, text=text, importance=importance))

    def _note(self, event: AnyEvent) -> None:
        self._notes.append(event)

    def _taken_notes(self) -> Sequence[AnyEvent]:
        notes, self._notes = tuple(self._notes), []
        return notes

    async def _rate(self, minute: int, batch: int | None = None) -> None:
        """Rates what nobody has rated: the oldest ``batch``, or all."""
        unrated = self.memory.unrated[:batch]
        for start in range(0, len(unrated), RATED_AT_ONCE):
            memories = unrated[start : start + RATED_AT_ONCE]
            count = len(memories)
            text = self._prompts["rate"].render(
                memories=quote(
                    "\n".join(f"{place}. {put_on_one_line(each.text)}" for place, each in enumerate(memories, start=1))
                ),
                count=str(count),
                example=", ".join(str(3 + place % 3) for place in range(min(count, 3))) + (", ..." if count > 3 else ""),
            )
            read = partial(ratings_in, count=count)
            found = await self._ask(self._situation.low, "rate", text, read, minute, "ratings", tries=1)
            for memory, importance in zip(memories, found or [EVERYDAY] * count, strict=True):
                self.memory.rate(memory.number, importance)
                self._gathered += importance if memory.kind in COUNTED else 0.0

    async def _reflect(self, minute: int) -> None:
        await self._rate(minute)
        self._gathered = 0.0
        latest = looked_back_on(self.memory.memories)
        text = self._prompts["reflect"].render(now=self._clock.in_words(minute), memories=memories_in_words(latest, self._clock))
        thoughts = await self._ask(self._situation.low, "reflect", text, thoughts_in, minute, "thoughts", tries=1)
        for thought in thoughts or ():
            self._remember(minute, "thought", thought.text, thought.importance)

    # Planning.

    async def _next_activity(self, view: View) -> Activity:
        minute = view.minute
        if step := self._step_at(minute):
            return step
        if view.activity is None or view.activity.asleep:
            self._plan, self._midnight = None, day_of(minute) * MINUTES_PER_DAY
        if self._plan is None:
            if minute >= self._midnight + self._persona.sleeps:
                return self._asleep(self._midnight + MINUTES_PER_DAY + self._persona.wakes, minute)
            self._plan = await self._plan_day(minute)
            if self._plan is None:
                return Activity(IDLE, minute + IDLE_MINUTES)
        return await self._go_on_with(self._plan, minute)

    async def _go_on_with(self, plan: DayPlan, minute: int) -> Activity:
        if minute >= plan.bed:
            return self._asleep(plan.wake, minute)
        self._steps = deque(await self._decompose(plan, minute))
        step = self._step_at(minute)
        assert step is not None, "the steps of a stretch begin with it"
        return step

    def _asleep(self, wake: int, minute: int) -> Activity:
        return Activity("sleeping", max(wake, minute + IDLE_MINUTES), self._persona.home, asleep=True)

    def _step_at(self, minute: int) -> Activity | None:
        while self._steps and self._steps[0].end <= minute:
            self._steps.popleft()
        if not self._steps:
            return None
        step = self._steps[0]
        return Activity(step.doing, step.end, step.place)

    async def _plan_day(self, minute: int) -> DayPlan | None:
        await self._rate(minute)
        if self._target_driven is not None:
            await self._target_driven.begin_day(minute)
        persona, day = self._persona, day_of(minute)
        query = f"plans for {self._clock.day_in_words(minute)}. {persona.currently}"
        text = self._prompts["plan_day"].render(
            now=self._clock.in_words(minute),
            weekday=f"{self._clock.day(minute):%A}",
            habits=habits_in_words(persona, self._clock, day),
            task=self._task_for_planning(),
            agenda=self.agenda.in_words(minute, self._clock),
            memories=memories_in_words(self.memory.retrieve(query, minute, REMEMBERED_FOR_PLANS), self._clock),
            **_example_hours(minute),
        )
        before = Part(minute, minute, "getting ready for the day", persona.home)
        wake = self._midnight + MINUTES_PER_DAY + persona.wakes
        frame = Frame(self._midnight, minute, before, self._midnight + persona.sleeps, wake)
        plan = await self._ask(self._situation.high, "plan_day", text, lambda reply: day_plan_in(reply, frame), minute, "plan")
        if plan is not None:
            self._note_planned(minute, plan)
            if plan.words:
                self._remember(minute, "plan", plan.words, PLAN_IMPORTANCE)
        return plan

    async def _replan(self, talk: Talk, minute: int) -> Activity | None:
        """Another plan for the rest of today; None when it cannot be read, and the old one holds."""
        old, doing = self._plan, self._activity
        assert old is not None
        query = f"plans for today. {talk.partner}. {self._persona.currently}"
        text = self._prompts["replan"].render(
            now=self._clock.in_words(minute),
            place=place_in_words(talk.address),
            plan=self._plan_in_words(minute),
            task=self._task_for_planning(),
            agenda=self.agenda.in_words(minute, self._clock),
            memories=memories_in_words(self.memory.retrieve(query, minute, REMEMBERED_FOR_PLANS), self._clock),
            **_example_hours(minute),
        )
        before = Part(minute, minute, doing.doing, doing.place) if doing else Part(minute, minute, IDLE)
        frame = Frame(self._midnight, minute, before, old.bed, old.wake)
        plan = await self._ask(self._situation.high, "replan", text, lambda reply: day_plan_in(reply, frame), minute, "plan")
        if plan is None:
            return None
        self._plan = plan
        self._note_planned(minute, plan)
        return await self._go_on_with(plan, minute)

    async def _decompose(self, plan: DayPlan, minute: int) -> Sequence[Part]:
        """The next stretch in steps; in whole parts where the reply cannot be read."""
        end = min(minute + STRETCH, plan.bed)
        parts = [Part(each.start, min(each.end, end), each.doing, each.place) for each in plan.rest(minute) if each.start < end]
        text = self._prompts["decompose"].render(now=self._clock.in_words(minute), parts=parts_in_words(parts, numbered=True))
        steps = await self._ask(self._situation.low, "decompose", text, lambda reply: steps_in(reply, parts), minute, "steps")
        return steps or parts

    def _task_for_planning(self) -> str:
        return f"\n{self._target_driven.for_planning()}\n" if self._target_driven is not None else ""

    def _plan_in_words(self, minute: int) -> str:
        return parts_in_words(self._plan.rest(minute) if self._plan is not None else ())

    def _note_planned(self, minute: int, plan: DayPlan) -> None:
        self._note(Planned(minute=minute, resident=self._persona.name, plan=plan.in_lines))

    # Reacting.

    def _worth_considering(self, view: View) -> Sequence[Sighting]:
        """Whom to ask the model about: everybody it could talk to, if that is to be asked at all.

        It is when there is one whom it has not lately considered, or talked with; and then not too often.
        """
        minute = view.minute
        able = [
            each for each in view.sightings if each.free and minute >= self._talked.get(each.name, -TALK_COOLDOWN) + TALK_COOLDOWN
        ]
        fresh = [each.name for each in able if minute >= self._may_be_considered(each.name)]
        new = any(name not in self._in_sight for name in fresh)
        return able if fresh and (new or minute >= self._reacted + REACTION_PAUSE) else ()

    def _may_be_considered(self, name: str) -> int:
        """From when on."""
        return max(self._talked.get(name, -TALK_COOLDOWN), self._considered.get(name, -TALK_COOLDOWN)) + TALK_COOLDOWN

    def _next_look(self, view: View) -> int | None:
        """When to ask again though nobody new has come."""
        looks = (
            max(
                self._may_be_considered(each.name),
                self._reacted + REACTION_PAUSE,
                # When somebody becomes free nothing tells.
                view.minute + (1 if each.free else REACTION_PAUSE),
            )
            for each in view.sightings
        )
        return min(looks, default=None)

    async def _react(self, view: View, activity: Activity | None, people: Sequence[Sighting]) -> str:
        """Whom it goes up to; empty for nobody."""
        minute, doing = view.minute, activity or view.activity
        known: dict[int, Memory] = {}
        queries = [(each.name, REMEMBERED_OF_ONE_IN_SIGHT) for each in people]
        queries.append((self._persona.currently, REMEMBERED_OF_SUBJECT))
        for query, count in queries:
            found = self.memory.retrieve(query, minute, count, kinds=OF_PEOPLE)
            known |= {memory.number: memory for memory in found}
        about = self._situation.acquaintances
        lines = (
            f"- {sighting_in_words(each)}{f'. {put_on_one_line(about[each.name])}' if each.name in about else ''}"
            for each in people
        )
        text = self._prompts["react"].render(
            now=self._clock.in_words(minute),
            place=place_in_words(view.address),
            doing=quote(put_on_one_line(doing.doing if doing else IDLE)),
            plan=self._plan_in_words(minute),
            agenda=self.agenda.in_words(minute, self._clock),
            people=quote("\n".join(lines)),
            memories=memories_in_words(list(known.values()), self._clock),
        )
        names = [each.name for each in people]
        chosen = await self._ask(
            self._situation.react, "react", text, lambda reply: choice_in(reply, names), minute, "choice", tries=1
        )
        self._reacted = minute
        if not chosen:
            # When one was chosen nothing is decided about the others; and somebody else may have been quicker.
            self._considered |= dict.fromkeys(names, minute)
        return chosen or ""

    # Talking.

    def _memories_of(self, talk: Talk) -> Sequence[Memory]:
        key = (talk.minute, talk.partner)
        if self._known is None or self._known[0] != key:
            found = self.memory.retrieve(talk.partner, talk.minute, REMEMBERED_OF_PARTNER, kinds=OF_PEOPLE)
            self._known = (key, found)
        return self._known[1]

    async def _take_away(self, talk: Talk, until: int) -> TakeAway:
        text = self._prompts["conclude"].render(
            now=self._clock.in_words(until),
            partner=talk.partner,
            place=place_in_words(talk.address),
            conversation=transcript(talk.lines),
            plan=self._plan_in_words(until),
            agenda=self.agenda.in_words(until, self._clock),
        )
        taken = await self._ask(
            self._situation.low,
            "conclude",
            text,
            lambda reply: take_away_in(reply, talk.partner, until, self._clock),
            until,
            "summary",
        )
        return taken or TakeAway(remains_of(talk.lines), 0.0, (), (), plan_anew=False)

    def _note_agreed(self, minute: int, partner: str, agreement: Agreement) -> None:
        self._note(
            Agreed(
                minute=minute,
                resident=self._persona.name,
                partner=partner,
                doing=agreement.doing,
                place=agreement.place,
                start=agreement.start,
                end=agreement.end,
            )
        )

    # Asking.

    async def _ask(
        self,
        asker: Asker,
        purpose: str,
        text: str,
        read: Callable[[str], T],
        minute: int,
        what: str,
        *,
        tries: int = 2,
    ) -> T | None:
        """What ``read`` makes of the reply. If it makes nothing of it, the model is told what was wrong and asked again; then
        it is None, and noted."""
        asked, excerpt = text, ""
        for left in reversed(range(tries)):
            reply = await asker.ask(purpose, messages(self._resident, asked))
            try:
                found = read(reply.text)
            except Unreadable as problem:
                why = str(problem)
            else:
                if not reply.defect:
                    return found
                if not left:
                    # What there is of it is better than nothing, and is told for what it is.
                    self._note(Noted(minute=minute, resident=self._persona.name, about=f"{what} {reply.defect}", text=""))
                    return found
                why = "Not all of it came."
            excerpt = storable(reply.text.strip()[:EXCERPT]) or "(nothing)"
            why = f"{why} It was {reply.defect}." if reply.defect else why
            asked = f"{text}\n\n{self._prompts['again'].render(problem=why, reply=quote(excerpt))}"
        self._note(Noted(minute=minute, resident=self._persona.name, about=f"unreadable {what}", text=excerpt))
        return None


def _example_hours(minute: int) -> dict[str, str]:
    """Times for the example in a prompt: from now to the next full hour but one."""
    return {"start": time_of_day(minute), "next": time_of_day((minute // 60 + 1) * 60)}
