"""The generative agent (Park et al. 2023): perceives, remembers, plans, reacts, talks and reflects.

The steps and what they mean are the original's; they take fewer and larger calls. Who is asked: ``high`` for day plans,
words and interviews, ``react`` for whether to start talking, ``low`` for everything else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from sociable.agents.architecture import Asker, Situation
from sociable.agents.generative import briefing, conversing, reflecting
from sociable.agents.generative.briefing import build_messages
from sociable.agents.generative.conversing import LATE, Agenda, Agreement, Conclusions
from sociable.agents.generative.planning import DayPlan, Frame, Part, make_habitual_plan, parse_day_plan, parse_steps
from sociable.agents.generative.reflecting import MIDDLE_IMPORTANCE, RATED_AT_ONCE
from sociable.agents.generative.replies import Unreadable
from sociable.agents.generative.target_driven import TargetDrivenPlanning
from sociable.core.prompts import put_on_one_line, quote
from sociable.core.records import make_storable
from sociable.town.clock import MINUTES_PER_DAY, format_time_of_day
from sociable.town.events import Agreed, AnyEvent, Noted, Planned, Remembered
from sociable.town.memory import Memory, MemoryKind
from sociable.town.minds import IDLE, IDLE_MINUTES, Activity, Decision, Sighting, TakenAway, Talk, Utterance, View
from sociable.town.persona import AT_HOME, Block, make_ordinary_day

TALK_COOLDOWN = 120
"""Minutes before a resident considers talking to the same person again: long enough for something new to have happened,
short enough to meet twice in a day."""
REACTION_PAUSE = 15
"""Minutes between two considerations whether to talk, unless somebody new has come: in a full room somebody is always
free again, and each consideration is a call."""
STRETCH = 180
"""Minutes of a plan that are broken into steps at once; what comes later may still change."""
INJECTED_IMPORTANCE = 8.0
"""The importance of what is injected: whoever does it means it to be noticed. What is seen and as important can change a day."""
NEWS_PAUSE = 180
"""Minutes between two plans that are made anew for something seen; models find much important."""
COUNTED: frozenset[MemoryKind] = frozenset({"seen", "conversation", "told"})
"""Kinds whose importance brings a reflection nearer: what happens, not what was thought about it."""
OF_PEOPLE: frozenset[MemoryKind] = frozenset({"fact", "conversation", "told", "thought"})
"""Kinds that come to mind about a person: what they were seen doing is short, holds their name, and would crowd out the rest."""

BESIDE_PLANS: frozenset[MemoryKind] = OF_PEOPLE | {"seen"}
"""Kinds that come to mind where the plan itself stands in the prompt."""

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

    def __init__(self, situation: Situation, *, target_driven: bool = False) -> None:
        """Makes the mind of one resident. Without a task ``target_driven`` changes nothing."""
        self.alarm: int | None = None
        self.memory = situation.new_memory()
        self.agenda = Agenda()
        self._situation = situation
        self._persona = situation.persona
        self._clock = situation.clock
        self._prompts = briefing.load_generative_prompts(situation.prompts)
        self._resident = briefing.render_resident(situation, self._prompts)
        self._target_driven = (
            TargetDrivenPlanning(situation.task, situation.high, self._resident, self._clock, self._prompts)
            if target_driven and situation.task is not None
            else None
        )
        self._questions: Mapping[str, tuple[Asker, str, int]] = {
            "plan_day": (situation.high, "plan", 2),
            "replan": (situation.high, "plan", 2),
            "decompose": (situation.low, "steps", 2),
            "react": (situation.react, "choice", 1),
            "conclude": (situation.low, "summary", 2),
            "rate": (situation.low, "ratings", 1),
            "reflect": (situation.low, "thoughts", 1),
        }
        """For each purpose: the model that is asked, the name of the answer's field, and the most times it is asked."""
        self._notes: list[AnyEvent] = []
        self._gathered = 0.0
        self._plan: DayPlan | None = None
        self._midnight = 0
        """The midnight before it last got up."""
        self._steps: deque[Part] = deque()
        self._activity: Activity | None = None
        self._talked: dict[str, int] = {}
        """The minute by name at which it last talked to somebody."""
        self._considered: dict[str, int] = {}
        """The minute by name at which it last decided that it had nothing to say to somebody."""
        self._reacted = -REACTION_PAUSE
        self._in_sight: set[str] = set()
        self._doings: dict[str, Sighting] = {}
        """By name how it last saw somebody."""
        self._news: list[str] = []
        """What has just come to its knowledge and may change its day."""
        self._changed_for_news = -NEWS_PAUSE
        """The minute in which it last planned anew for something seen."""
        self._known: Sequence[Memory] | None = None
        """The memories of the partner it is talking to, the same until the end of the conversation."""
        for fact in self._persona.facts:
            self._remember(0, "fact", fact, MIDDLE_IMPORTANCE)

    # What the town asks.

    def decide(self, view: View) -> Decision | Awaitable[Decision]:
        self._perceive(view)
        over = view.activity is None or view.minute >= view.activity.until
        people = self._find_worth_considering(view)
        if view.activity is None and view.minute < self._persona.wakes:
            return self._make_decision(view, Activity("sleeping", self._persona.wakes, self._persona.home, asleep=True))
        due = bool(self._news) or len(self.memory.unrated) >= RATED_AT_ONCE or self._gathered >= reflecting.REFLECTION_THRESHOLD
        step = self._find_step(view.minute) if over else None
        if people or due or (over and step is None):
            return self._think(view, over, people)
        return self._make_decision(view, step)

    async def _think(self, view: View, over: bool, people: Sequence[Sighting]) -> Decision:
        """A decision that needs a model."""
        if len(self.memory.unrated) >= RATED_AT_ONCE:
            await self._rate(view.minute, RATED_AT_ONCE)
        if self._gathered >= reflecting.REFLECTION_THRESHOLD:
            await self._reflect(view.minute)
        activity = await self._consider_news(view) or (await self._find_next_activity(view) if over else None)
        talk_to = await self._react(view, activity, people) if people and not (activity and activity.asleep) else ""
        return self._make_decision(view, activity, talk_to)

    def _make_decision(self, view: View, activity: Activity | None, talk_to: str = "") -> Decision:
        self._activity = activity or view.activity
        self._in_sight = {sighting.name for sighting in view.sightings}
        self.alarm = self._find_next_look(view)
        return Decision(activity, talk_to, self._take_notes())

    async def speak(self, talk: Talk) -> Utterance:
        situation, partner = self._situation, talk.partner
        task = ""
        if self._target_driven is not None:
            self._note_all(talk.minute, await self._target_driven.begin_to_talk())
            task = f"\n{self._target_driven.render_for_talking()}\n"
        if self._known is None:
            self._known = self.memory.retrieve(partner, talk.minute, REMEMBERED_OF_PARTNER, kinds=OF_PEOPLE)
        # The first words are about what occupies the resident, the later ones about what was said.
        subject = talk.lines[-1].says if talk.lines else self._persona.currently
        found = self.memory.retrieve(subject, talk.minute, REMEMBERED_OF_SUBJECT, kinds=BESIDE_PLANS)
        known = {memory.number for memory in self._known}
        more = [memory for memory in found if memory.number not in known]
        seen = self._doings.get(partner, Sighting(partner, ""))
        text = self._render(
            "speak",
            talk.minute,
            place=briefing.render_place(talk.address),
            partner=partner,
            beginning="You have gone up to them." if talk.began else "They have come up to you.",
            acquaintance=quote(put_on_one_line(situation.acquaintances.get(partner, "(only what you remember)"))),
            doing=quote(
                f"{self._persona.name}: {self._render_doing(talk.walking)}\n"
                f"{partner}: {briefing.render_doing(seen.doing, seen.walking)}"
            ),
            memories=briefing.render_memories(self._known, self._clock),
            task=task,
            conversation=briefing.render_transcript(talk.lines),
            subject=briefing.render_memories(more, self._clock),
            turns=briefing.render_turns(talk.turns_left),
        )
        # Section A.2: temperature 0.
        reply = await situation.high.ask("speak", build_messages(self._resident, text), temperature=0.0)
        return conversing.parse_utterance(reply, self._persona.name, plain=situation.plain)

    async def conclude(self, talk: Talk, until: int) -> TakenAway:
        self._talked[talk.partner] = until
        self._known = None
        if not any(line.says.strip() for line in talk.lines):
            return TakenAway(self._take_notes())
        taken = await self._ask(
            "conclude",
            until,
            lambda reply: conversing.parse_conclusions(reply, talk.partner, until, self._clock),
            partner=talk.partner,
            place=briefing.render_place(talk.address),
            conversation=briefing.render_transcript(talk.lines),
        ) or Conclusions(conversing.render_beginning(talk.lines))
        me, partner, plan = self._persona.name, talk.partner, self._plan
        self._remember(until, "conversation", f"{partner}: {taken.summary}", taken.importance)
        for fact in taken.facts:
            self._remember(until, "told", f"From a talk with {partner}: {fact}")
        anew = taken.plan_anew
        for each in taken.agreed:
            agreed = Agreed(
                minute=until, resident=me, partner=partner, doing=each.doing, place=each.place, start=each.start, end=each.end
            )
            self._notes.append(agreed)
            # What was on the agenda has been planned for already; what comes before the next rising cannot wait until then.
            if self.agenda.add(each) and plan is not None and each.start is not None and not each.is_over(until):
                anew = anew or each.start < plan.wake + IDLE_MINUTES
        where, query = briefing.render_place(talk.address), f"plans for today. {partner}. {self._persona.currently}"
        why = self._prompts["replan_heard"].render()
        activity = await self._replan(plan, until, why, where, query) if anew and plan is not None else None
        return TakenAway(self._take_notes(), activity)

    # What others may ask.

    async def interview(self, question: str, minute: int) -> str:
        """Returns its answer to somebody outside the town; neither question nor answer is remembered."""
        found = self.memory.retrieve(question, minute, REMEMBERED_FOR_PLANS, kinds=BESIDE_PLANS, noting_use=False)
        text = self._render(
            "interview",
            minute,
            doing=quote(self._render_doing()),
            memories=briefing.render_memories(found, self._clock),
            question=quote(question),
            name=self._persona.name,
        )
        reply = await self._situation.high.ask("interview", build_messages(self._resident, text))
        return make_storable(reply.text).strip()

    def inject(self, minute: int, text: str) -> None:
        """Tells it something from outside the simulation."""
        self._gathered += INJECTED_IMPORTANCE
        self._remember(minute, "told", text, INJECTED_IMPORTANCE)
        self._news.append(text)
        self.alarm = minute

    def restore(self, events: Iterable[AnyEvent]) -> None:
        """Remembers what its own part of a log says, in place of what it knew: for a scene taken out of a simulation."""
        self.memory = self._situation.new_memory()
        self.agenda = Agenda()
        self._notes.clear()
        for event in events:
            if isinstance(event, Remembered):
                self.memory.add(event.minute, event.memory, event.text, event.importance)
            elif isinstance(event, Agreed):
                self.agenda.add(Agreement((event.partner,), event.doing, event.place, event.start, event.end))

    # Perceiving and remembering.

    def _perceive(self, view: View) -> None:
        self._activity = view.activity
        for sighting in view.sightings:
            self._doings[sighting.name] = sighting
        for sighting in view.news:
            # It remembers those it has talked with from the conversation.
            if sighting.doing and sighting.talking_to != self._persona.name:
                self._remember(view.minute, "seen", briefing.render_sighting(sighting))

    def _remember(self, minute: int, kind: MemoryKind, text: str, importance: float = 0.0) -> None:
        self.memory.add(minute, kind, text, importance)
        if importance and kind == "conversation":
            self._gathered += importance
        self._notes.append(Remembered(minute=minute, resident=self._persona.name, memory=kind, text=text, importance=importance))

    def _take_notes(self) -> Sequence[AnyEvent]:
        notes, self._notes = tuple(self._notes), []
        return notes

    async def _rate(self, minute: int, batch: int | None = None) -> None:
        """Rates what nobody has rated: the oldest ``batch``, or all."""
        unrated = self.memory.unrated[:batch]
        for start in range(0, len(unrated), RATED_AT_ONCE):
            memories = unrated[start : start + RATED_AT_ONCE]
            count = len(memories)
            found = await self._ask(
                "rate",
                minute,
                partial(reflecting.parse_ratings, count=count),
                memories=quote(
                    "\n".join(f"{place}. {put_on_one_line(each.text)}" for place, each in enumerate(memories, start=1))
                ),
                example=", ".join(str(3 + place % 3) for place in range(min(count, 3))) + (", ..." if count > 3 else ""),
            )
            for memory, importance in zip(memories, found or [reflecting.EVERYDAY] * count, strict=True):
                self.memory.rate(memory.number, importance)
                self._gathered += importance if memory.kind in COUNTED else 0.0
                if memory.kind == "seen" and importance >= INJECTED_IMPORTANCE and minute >= self._changed_for_news + NEWS_PAUSE:
                    self._changed_for_news = minute
                    self._news.append(memory.text)

    async def _reflect(self, minute: int) -> None:
        await self._rate(minute)
        self._gathered = 0.0
        latest = briefing.render_memories(reflecting.choose_latest(self.memory.memories), self._clock)
        for thought in await self._ask("reflect", minute, reflecting.parse_thoughts, memories=latest) or ():
            self._remember(minute, "thought", thought.text, thought.importance)

    # Planning.

    async def _consider_news(self, view: View) -> Activity | None:
        """Another plan for the rest of today, if there is news that may change it; None where none can be read."""
        told, plan = "\n".join(map(put_on_one_line, self._news)), self._plan
        if not told or plan is None or view.activity is None or view.activity.asleep:
            # Whoever plans the day next remembers it.
            return None
        self._news.clear()
        query = f"{told} plans for today. {self._persona.currently}"
        why = self._prompts["replan_learnt"].render(news=quote(told))
        return await self._replan(plan, view.minute, why, briefing.render_place(view.address), query)

    async def _find_next_activity(self, view: View) -> Activity:
        minute = view.minute
        if step := self._find_step(minute):
            return step
        if view.activity is None or view.activity.asleep:
            self._plan, self._midnight = None, minute // MINUTES_PER_DAY * MINUTES_PER_DAY
        if self._plan is None:
            if minute >= self._midnight + self._persona.sleeps:
                return self._sleep(self._midnight + MINUTES_PER_DAY + self._persona.wakes, minute)
            self._plan = await self._plan_day(minute)
        return await self._go_on_with(self._plan, minute)

    async def _go_on_with(self, plan: DayPlan, minute: int) -> Activity:
        if minute >= plan.bed:
            return self._sleep(plan.wake, minute)
        self._steps = deque(plan.list_rest(minute) if plan.by_habit else await self._decompose(plan, minute))
        step = self._find_step(minute)
        assert step is not None, "the steps of a stretch begin with it"
        return step

    def _sleep(self, wake: int, minute: int) -> Activity:
        return Activity("sleeping", max(wake, minute + IDLE_MINUTES), self._persona.home, asleep=True)

    def _find_step(self, minute: int) -> Activity | None:
        while self._steps and self._steps[0].end <= minute:
            self._steps.popleft()
        if not self._steps:
            return None
        return Activity(self._steps[0].doing, self._steps[0].end, self._steps[0].place)

    async def _plan_day(self, minute: int) -> DayPlan:
        """The day's plan; one of habits where the model's cannot be read."""
        await self._rate(minute)
        persona = self._persona
        query = " ".join([f"plans for {self._clock.render_day(minute)}. {persona.currently}", *self._news])
        self._news.clear()
        if self._target_driven is not None:
            known = self.memory.retrieve(query, minute, REMEMBERED_FOR_PLANS)
            agenda = self.agenda.render(minute, self._clock)
            made = await self._target_driven.begin_day(minute, agenda, briefing.render_memories(known, self._clock))
            self._note_all(minute, made)
        before, wake = Part(minute, minute, "getting ready for the day", persona.home), MINUTES_PER_DAY + persona.wakes
        frame = Frame(self._midnight, minute, before, self._midnight + persona.sleeps, self._midnight + wake)
        plan = await self._make_plan(
            "plan_day",
            query,
            frame,
            weekday=f"{self._clock.to_date(minute):%A}",
            habits=briefing.render_habits(persona, self._clock, minute // MINUTES_PER_DAY),
        )
        if plan is not None and plan.words:
            self._remember(minute, "plan", plan.words, MIDDLE_IMPORTANCE)
        return plan or self._plan_by_habit(frame)

    def _plan_by_habit(self, frame: Frame) -> DayPlan:
        """Makes a plan of habits and of what was agreed, and notes that."""
        habits = make_ordinary_day(self._persona, self._clock, self._midnight // MINUTES_PER_DAY)
        agreed = [
            Block(each.start, each.end or each.start + LATE, each.doing, each.place, work=True)
            for each in self.agenda.list_coming(frame.now)
            if each.start is not None
        ]
        plan = make_habitual_plan([*agreed, *habits], frame)
        self._note(frame.now, "lives by habit", plan.in_lines)
        return plan

    async def _replan(self, old: DayPlan, minute: int, why: str, place: str, query: str) -> Activity | None:
        """Another plan for the rest of today; None when it cannot be read, and the old one holds."""
        doing = self._activity or Activity(IDLE, minute)
        frame = Frame(self._midnight, minute, Part(minute, minute, doing.doing, doing.place), old.bed, old.wake)
        if old.by_habit:
            home = Part(minute, minute, AT_HOME, self._persona.home)
            plan: DayPlan | None = self._plan_by_habit(replace(frame, before=home))
        else:
            plan = await self._make_plan("replan", query, frame, why=why, place=place)
        if plan is None:
            return None
        self._plan = plan
        return await self._go_on_with(plan, minute)

    async def _make_plan(self, purpose: str, query: str, frame: Frame, **told: str) -> DayPlan | None:
        """A plan for what is left of a day, made with the memories that ``query`` brings to mind."""
        # The plan for the rest of today stands in the prompt that changes it.
        kinds = BESIDE_PLANS if purpose == "replan" else None
        found = self.memory.retrieve(query, frame.now, REMEMBERED_FOR_PLANS, kinds=kinds)
        task = f"\n{self._target_driven.render_for_planning()}\n" if self._target_driven is not None else ""
        told |= {"memories": briefing.render_memories(found, self._clock), "task": task}
        plan = await self._ask(purpose, frame.now, lambda reply: parse_day_plan(reply, frame), **told)
        if plan is not None:
            self._notes.append(Planned(minute=frame.now, resident=self._persona.name, plan=plan.in_lines))
        return plan

    async def _decompose(self, plan: DayPlan, minute: int) -> Sequence[Part]:
        """The next stretch in steps; in whole parts where the reply cannot be read."""
        end = min(minute + STRETCH, plan.bed)
        parts = [
            Part(each.start, min(each.end, end), each.doing, each.place) for each in plan.list_rest(minute) if each.start < end
        ]
        told = briefing.render_parts(parts, numbered=True)
        return await self._ask("decompose", minute, lambda reply: parse_steps(reply, parts), parts=told) or parts

    # Reacting.

    def _find_worth_considering(self, view: View) -> Sequence[Sighting]:
        """Everybody it could talk to, if the model is to be asked about them; nobody else.

        It is asked when there is one whom it has not lately considered, or talked with, and with whom nothing is settled for
        later; and then not too often.
        """
        rested, again = view.minute - TALK_COOLDOWN, view.minute >= self._reacted + REACTION_PAUSE
        able = [each for each in view.sightings if each.free and self._talked.get(each.name, rested) <= rested]
        settled = self._list_settled(view.minute) if able else ()
        fresh = [each.name for each in able if self._considered.get(each.name, rested) <= rested and each.name not in settled]
        return able if fresh and (again or not self._in_sight.issuperset(fresh)) else ()

    def _list_settled(self, minute: int) -> Collection[str]:
        """The people with whom it has agreed on something that is still to come."""
        return {name for each in self.agenda.list_coming(minute) for name in each.partners}

    def _find_next_look(self, view: View) -> int | None:
        """The minute at which to ask again though nobody new has come."""
        settled = self._list_settled(view.minute) if view.sightings else ()
        looks = (
            max(
                *(known[each.name] + TALK_COOLDOWN for known in (self._talked, self._considered) if each.name in known),
                self._reacted + REACTION_PAUSE,
                # Nothing tells when somebody becomes free.
                view.minute + (1 if each.free else REACTION_PAUSE),
            )
            for each in view.sightings
            if each.name not in settled
        )
        return min(looks, default=None)

    async def _react(self, view: View, activity: Activity | None, people: Sequence[Sighting]) -> str:
        """The name of the one it goes up to; empty for nobody."""
        minute, doing = view.minute, activity or view.activity
        queries = [(each.name, REMEMBERED_OF_ONE_IN_SIGHT) for each in people]
        queries.append((self._persona.currently, REMEMBERED_OF_SUBJECT))
        found = {memory for query, count in queries for memory in self.memory.retrieve(query, minute, count, kinds=OF_PEOPLE)}
        about = self._situation.acquaintances
        lines = (
            f"- {briefing.render_sighting(each)}{f'. {put_on_one_line(about[each.name])}' if each.name in about else ''}"
            for each in people
        )
        names = [each.name for each in people]
        chosen = await self._ask(
            "react",
            minute,
            lambda reply: conversing.parse_choice(reply, names),
            place=briefing.render_place(view.address),
            doing=quote(briefing.render_doing(doing.doing if doing else "", view.walking and activity is None)),
            people=quote("\n".join(lines)),
            memories=briefing.render_memories(found, self._clock),
        )
        self._reacted = minute
        if not chosen:
            # When one was chosen nothing is decided about the others; and somebody else may have been quicker.
            self._considered |= dict.fromkeys(names, minute)
        return chosen or ""

    # Asking.

    def _render(self, purpose: str, minute: int, **told: str) -> str:
        """The text of a question with its form. Placeholders that are not ``told`` are filled with what holds at the minute."""
        known: Mapping[str, Callable[[], str]] = {
            "now": lambda: self._clock.render_minute(minute),
            "plan": lambda: briefing.render_parts(self._plan.list_rest(minute) if self._plan is not None else ()),
            "agenda": lambda: self.agenda.render(minute, self._clock),
            # Times for an example: from now to the next full hour but one.
            "start": lambda: format_time_of_day(minute),
            "next": lambda: format_time_of_day((minute // 60 + 1) * 60),
            "form": lambda: self._render(f"{purpose}_form{'_plain' * self._situation.plain}", minute, **told),
        }
        wanted = briefing.PLACEHOLDERS[purpose]
        return self._prompts[purpose].render(**{name: told[name] if name in told else known[name]() for name in wanted})

    def _render_doing(self, walking: bool = False) -> str:
        return briefing.render_doing(self._activity.doing if self._activity else "", walking)

    async def _ask(self, purpose: str, minute: int, read: Callable[[str], T], **told: str) -> T | None:
        """The reply as ``read`` reads it, or None. A model whose reply cannot be read is told why and may be asked again."""
        asker, wanted, tries = self._questions[purpose]
        asked = text = self._render(purpose, minute, **told)
        excerpt = ""
        for left in reversed(range(tries)):
            reply = await asker.ask(purpose, build_messages(self._resident, asked))
            try:
                found = read(reply.text)
                if not reply.defect:
                    return found
                if not left:
                    # A part of it is better than nothing, and is told for what it is.
                    self._note(minute, f"{wanted} {reply.defect}", "")
                    return found
                why = "Not all of it came."
            except Unreadable as problem:
                why = str(problem)
            excerpt = make_storable(reply.text.strip()[:EXCERPT]) or "(nothing)"
            why = f"{why} It was {reply.defect}." if reply.defect else why
            asked = f"{text}\n\n{self._prompts['again'].render(problem=why, reply=quote(excerpt))}"
        self._note(minute, f"unreadable {wanted}", excerpt)
        return None

    def _note_all(self, minute: int, texts: Iterable[tuple[str, str]]) -> None:
        for about, text in texts:
            self._note(minute, about, text)

    def _note(self, minute: int, about: str, text: str) -> None:
        self._notes.append(Noted(minute=minute, resident=self._persona.name, about=about, text=text))
