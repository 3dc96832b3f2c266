"""Conversations and summaries put together from sentences: an intact one, and its twin in which one condition is not met."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sociable.benchmarks.stss.conversations.conditions import Condition
from sociable.benchmarks.stss.conversations.judge import Text
from sociable.benchmarks.stss.conversations.records import Scene
from sociable.benchmarks.stss.keywords import is_about
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.records import Verdict
from sociable.core.seeding import make_generator
from sociable.judging.auditing.known_answers import KnownAnswer, Said
from sociable.town.clock import MINUTES_PER_DAY, Clock, format_time_of_day


class Damage(StrEnum):
    """The ways in which a text is kept from meeting a condition."""

    LEFT_OUT = "left out"
    OTHER_THING = "another thing"
    OTHER_PLACE = "another place"
    OTHER_TIME = "another time"
    WRONG_SPEAKER = "said by the wrong one"
    PUT_OFF = "put off"
    TAKEN_BACK = "taken back"


_THING = (Condition.INVITED, Condition.PURPOSE, Condition.ASKED)
_STEPS = (Condition.FIRST_STEP, Condition.FURTHER_STEPS)
_AGREED = (Condition.TIME_AGREED, Condition.PLACE_AGREED)
DAMAGED: Mapping[Damage, Sequence[Condition]] = {
    Damage.LEFT_OUT: (*_THING, *_STEPS, *_AGREED, Condition.PLACE, Condition.TIME, Condition.ORDER),
    Damage.OTHER_THING: (*_THING, *_STEPS),
    Damage.OTHER_PLACE: (Condition.PLACE, *_STEPS),
    Damage.OTHER_TIME: (Condition.TIME, Condition.TIME_AGREED),
    Damage.WRONG_SPEAKER: (*_THING, *_AGREED),
    Damage.PUT_OFF: _AGREED,
    Damage.TAKEN_BACK: _AGREED,
}
"""The conditions that each kind of damage is made for."""

_CONVERSATIONS_ONLY = frozenset({Damage.WRONG_SPEAKER})


def list_damages(text: Text) -> list[Damage]:
    """The kinds of damage that texts of this kind can have."""
    return [damage for damage in Damage if text is Text.CONVERSATION or damage not in _CONVERSATIONS_ONLY]


_MINUTES_OFF = (30, 120, MINUTES_PER_DAY)


class Fact(StrEnum):
    """The things that a text tells of a task other than help."""

    THING = "thing"
    TIME = "time"
    PLACE = "place"


_FACTS: Mapping[Condition, Fact] = {
    Condition.INVITED: Fact.THING,
    Condition.PURPOSE: Fact.THING,
    Condition.PLACE: Fact.PLACE,
    Condition.PLACE_AGREED: Fact.PLACE,
    Condition.TIME: Fact.TIME,
    Condition.TIME_AGREED: Fact.TIME,
}
_SETTLED: Mapping[TaskType, Sequence[Fact]] = {
    TaskType.APPOINTMENT: (Fact.TIME, Fact.PLACE),
    TaskType.COMPANIONS: (Fact.TIME,),
}
"""The facts on which the two must agree."""


class Course(StrEnum):
    """How the two settle something."""

    AGREED = "agreed"
    AFTER_ALL = "agreed after a doubt"
    PUT_OFF = "put off"
    CHANGED = "agreed, taken back, something else agreed"
    TAKEN_BACK = "agreed, taken back, something else not agreed"
    DECLARED = "agreed, and declared to be"
    ALONE = "declared by one alone"


_COURSES: Mapping[Damage, tuple[Course, Course]] = {
    Damage.PUT_OFF: (Course.AFTER_ALL, Course.PUT_OFF),
    Damage.TAKEN_BACK: (Course.CHANGED, Course.TAKEN_BACK),
    Damage.WRONG_SPEAKER: (Course.DECLARED, Course.ALONE),
}
"""The two courses that a pair takes where what is asked must be agreed."""


class Step(NamedTuple):
    doing: str
    place: str


@dataclass(frozen=True)
class Plan:
    """Everything that a text tells. What is empty is not told, and news stand in its place."""

    facts: Mapping[Fact, str]
    """The facts in words."""
    asked: Fact | None = None
    """The fact that is asked about; it is told last."""
    course: Course = Course.AGREED
    """How that is settled, where it must be; the others are agreed."""
    instead: str = ""
    """The other proposal, where one is taken back."""
    keeps_secret: bool = False
    """Whether something else is not named: then it is not that which makes the other text one in which nothing is."""
    steps: tuple[Step | None, ...] = ()
    is_ordered: bool = True
    is_swapped: bool = False
    """Whether each says what the other says in the intact text."""


class Pair(NamedTuple):
    intact: Plan
    damaged: Plan
    size: float | None


@cache
def _load_sentences() -> Mapping[str, Mapping[str, Sequence[str]]]:
    file = Path(__file__).parent / "data" / "judge_audit" / "sentences.json"
    loaded: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(file.read_text(encoding="utf-8"))
    return loaded


class Maker:
    """Makes texts about scenes."""

    def __init__(self, text: Text, scenes: Sequence[Scene], clock: Clock, places: Sequence[str]) -> None:
        """``places``: names that a place can have where the scenes themselves name too few."""
        self._text = text
        self._clock = clock
        self._tasks = list({scene.template: scene.task for scene in scenes}.values())
        named = [place for task in self._tasks for place in (task.place, *task.places, *(step.place for step in task.subtasks))]
        self._places = sorted({place for place in named if place})
        self._spare_places = sorted(places)
        self._unlike: dict[str, list[Task]] = {}

    def make_pair(
        self, scene: Scene, condition: Condition, damage: Damage, number: int
    ) -> tuple[KnownAnswer, KnownAnswer] | None:
        """An intact text and its damaged twin; None where this scene cannot be damaged so."""
        name = f"{self._text}, {damage}, {number + 1}"
        draw = make_generator(0, "known answers", name, scene.id)
        plan_pair = self._plan_help if scene.type is TaskType.HELP else self._plan
        pair = plan_pair(scene, condition, damage, number, draw)
        if pair is None:
            return None
        writing = _Writing(scene, name, _load_sentences()[self._text])
        write = writing.summarise if self._text is Text.SUMMARY else writing.converse
        intact = KnownAnswer(
            id=f"{name}, intact",
            kind=self._text.value,
            scenario=scene.id,
            cluster=scene.template,
            about=condition.value,
            speaker=(scene.target if self._text is Text.SUMMARY else scene.performer).name,
            subject=write(pair.intact),
            truth=Verdict.WIN,
        )
        changes = {"truth": Verdict.LOSS, "damage": damage.value, "size": pair.size, "subject": write(pair.damaged)}
        damaged = intact.model_copy(update={"id": f"{name}, damaged", **changes})
        return intact, damaged

    def _plan(self, scene: Scene, condition: Condition, damage: Damage, number: int, draw: random.Random) -> Pair | None:
        task, asked = scene.task, _FACTS[condition]
        moments = self._list_moments(scene)
        if not moments:
            return None
        draw.shuffle(moments)
        place = task.place or draw.choice(task.places or self._places or self._spare_places)
        when = self._say_moment(moments[0], scene, draw)
        facts = {Fact.THING: task.activity, Fact.TIME: when, Fact.PLACE: say_place(place)}
        if task.type is TaskType.ONLINE:
            del facts[Fact.PLACE]
        intact = Plan(facts, asked)
        elsewhere = say_place(self._draw_place([place], draw))
        if not elsewhere:
            return None
        if damage in _COURSES and asked in _SETTLED.get(task.type, ()):
            if asked is Fact.PLACE:
                intact = replace(intact, instead=elsewhere)
            elif len(moments) > 1:
                intact = replace(intact, instead=self._say_moment(moments[1], scene, draw))
            elif damage is Damage.TAKEN_BACK:
                return None
            before, after = _COURSES[damage]
            return Pair(replace(intact, course=before), replace(intact, course=after), None)
        if damage is Damage.WRONG_SPEAKER:
            return Pair(intact, replace(intact, is_swapped=True), None)
        off = _MINUTES_OFF[number % len(_MINUTES_OFF)] if damage is Damage.OTHER_TIME else 120
        wrong = self._list_moments(scene, off)
        other = self._draw_task(task, draw)
        if not wrong or (damage is Damage.OTHER_THING and other is None):
            return None
        others = {Fact.TIME: self._say_moment(draw.choice(wrong), scene, draw), Fact.PLACE: elsewhere}
        if damage is Damage.OTHER_TIME:
            return Pair(intact, _change(intact, {asked: others[asked]}), off / MINUTES_PER_DAY)
        others[Fact.THING] = other.activity if other else task.activity
        # Beside what is asked, some of the rest is damaged too.
        rest = [each for each in facts if each is not asked and others[each] != facts[each]]
        changed = [asked, *draw.sample(rest, draw.randrange(len(rest) + 1))]
        damaged = _change(intact, {each: "" if damage is Damage.LEFT_OUT else others[each] for each in changed})
        return Pair(_keep_secret(intact, damaged), damaged, len(changed) / len(facts))

    def _plan_help(self, scene: Scene, condition: Condition, damage: Damage, number: int, draw: random.Random) -> Pair | None:
        steps = [Step(step.doing, step.place) for step in scene.task.subtasks]
        intact = Plan({Fact.THING: scene.task.activity}, steps=tuple(steps), is_ordered=draw.random() < 0.5)
        if damage is Damage.WRONG_SPEAKER:
            return Pair(intact, replace(intact, is_swapped=True), None)
        if condition is Condition.ORDER:
            intact = replace(intact, is_ordered=True)
            return Pair(intact, replace(intact, is_ordered=False), 1.0)
        other = self._draw_task(scene.task, draw)
        if damage is not Damage.LEFT_OUT and other is None:
            return None
        if condition is Condition.ASKED:
            if other is None or damage is Damage.LEFT_OUT:
                damaged = replace(intact, facts={Fact.THING: ""}, steps=(None,) * len(steps))
                return Pair(_keep_secret(intact, damaged), damaged, 1.0)
            others = tuple(Step(step.doing, step.place) for step in other.subtasks)
            return Pair(intact, replace(intact, facts={Fact.THING: other.activity}, steps=others), 1.0)
        where = [0] if condition is Condition.FIRST_STEP else list(range(1, len(steps)))
        if not where:
            return None
        changed = list(intact.steps)
        where = draw.sample(where, draw.randint(1, len(where)))
        own = {step.place.partition(":")[0] for step in steps}
        others_steps = [step for step in (other.subtasks if other else ()) if step.place.partition(":")[0] not in own]
        elsewhere = self._draw_place([step.place for step in steps], draw)
        if not {Damage.OTHER_THING: others_steps, Damage.OTHER_PLACE: elsewhere}.get(damage, True):
            return None
        for place in where:
            if damage is Damage.LEFT_OUT:
                changed[place] = None
            elif damage is Damage.OTHER_PLACE:
                changed[place] = Step(steps[place].doing, elsewhere)
            else:
                step = draw.choice(others_steps)
                changed[place] = Step(step.doing, step.place)
        return Pair(intact, replace(intact, steps=tuple(changed)), len(where) / len(steps))

    def _list_moments(self, scene: Scene, off: int = 0) -> list[int]:
        """The moments at which it can begin, ``off`` minutes from the nearest right one; of the right ones every half hour."""
        task = scene.task
        first, last = (task.start, task.start) if task.has_fixed_time else (task.start, max(task.start, task.end - 30))
        if not off:
            found = list(range(first, last + 1, 30))
        elif off == MINUTES_PER_DAY:
            found = [first + off] if task.has_fixed_time or task.end <= first + off else []
        else:
            end = first if task.has_fixed_time else task.end
            found = [each for each in (first - off, end + off) if each // MINUTES_PER_DAY == task.day]
        return [each for each in found if each > scene.minute]

    def _say_moment(self, moment: int, scene: Scene, draw: random.Random) -> str:
        at = self._clock.to_datetime(moment)
        is_next = moment // MINUTES_PER_DAY == scene.minute // MINUTES_PER_DAY + 1
        day = "tomorrow" if is_next and draw.random() < 0.5 else f"{at:%A}"
        if draw.random() < 0.5:
            return f"{day} at {format_time_of_day(moment)}"
        minutes = f":{at.minute:02d}" if at.minute else ""
        return f"{day} at {at.hour % 12 or 12}{minutes} {'am' if at.hour < 12 else 'pm'}"

    def _draw_place(self, own: Sequence[str], draw: random.Random) -> str:
        """A place in another building than ``own``; empty where there is none."""
        buildings = {each.partition(":")[0] for each in own}
        found = [each for each in self._places if each.partition(":")[0] not in buildings]
        found = found or [each for each in self._spare_places if each not in buildings]
        return draw.choice(found) if found else ""

    def _draw_task(self, task: Task, draw: random.Random) -> Task | None:
        """Another task of the type, of which nothing sounds like this one; None: there is none."""
        if task.template not in self._unlike:
            signs = [task.signs, *(step.signs for step in task.subtasks)]

            def is_like(other: Task) -> bool:
                said = " ".join([other.activity, *(step.doing for step in other.subtasks)])
                return any(is_about(said, each) for each in signs)

            others = [each for each in self._tasks if each.type is task.type and each.template != task.template]
            self._unlike[task.template] = [each for each in others if not is_like(each)]
        found = self._unlike[task.template]
        return draw.choice(found) if found else None


def _change(plan: Plan, facts: Mapping[Fact, str]) -> Plan:
    return replace(plan, facts={**plan.facts, **facts})


def _keep_secret(intact: Plan, damaged: Plan) -> Plan:
    return replace(intact, keeps_secret=not damaged.facts[Fact.THING])


def say_place(place: str) -> str:
    """Puts ``Sector: arena`` as people say it: the hall at the Guildhall."""
    sector, _, arena = place.partition(":")
    if sector.startswith("The "):
        sector = f"the {sector.removeprefix('The ')}"
    arena = arena.strip()
    return sector if not arena else f"{arena if arena[-1].isdigit() else f'the {arena}'} at {sector}"


class _Writing:
    """The sentences of one pair: what the two texts share is said in the same words."""

    def __init__(self, scene: Scene, name: str, sentences: Mapping[str, Sequence[str]]) -> None:
        self._scene = scene
        self._name = name
        self._sentences = sentences
        self._news = make_generator(0, name, "news").sample(sentences["news"], len(sentences["news"]))
        self._settled = _SETTLED.get(scene.type, ())
        self._asks = {TaskType.APPOINTMENT: "asks to meet", TaskType.HELP: "asks for help"}.get(scene.type, "invites")

    def _say(self, kind: str, it: str = "", key: str = "", other: str = "") -> str:
        said = make_generator(0, self._name, kind, key).choice(self._sentences[kind])
        said = said.format(it=it, other=other, performer=self._scene.performer.persona.short)
        return said[0].upper() + said[1:]

    def _say_plainly(self, kind: str) -> str:
        return make_generator(0, self._name, kind).choice(self._sentences[kind])

    def _tell_news(self, place: int) -> str:
        news = self._news[place % len(self._news)]
        return news.format(performer=self._scene.performer.persona.short)

    def _ask(self, plan: Plan) -> str:
        thing = plan.facts[Fact.THING].replace(" for somebody", " for me" if "listens" in self._sentences else "")
        return self._say(self._asks if thing else f"{self._asks} unnamed", thing)

    def _tell(self, plan: Plan, fact: Fact) -> str:
        """A fact; in its place news, where it is not told."""
        it = plan.facts[fact]
        return self._say(fact.value, it) if it else self._tell_news(list(Fact).index(fact))

    def _list_steps(self, plan: Plan) -> str:
        told = [f"{step.doing}, at {say_place(step.place)}" for step in plan.steps if step]
        news = [self._tell_news(3 + place) for place, step in enumerate(plan.steps) if not step]
        if plan.is_ordered and len(told) > 1:
            told = [f"first {told[0]}", *(f"then {each}" for each in told[1:])]
        kind = "steps in order" if plan.is_ordered else "steps in any order"
        return " ".join([*([self._say(kind, "; ".join(told))] if told else []), *news])

    def _order_facts(self, plan: Plan) -> list[Fact]:
        """All but the thing itself, in an order by lot, what is asked about last."""
        facts = [fact for fact in plan.facts if fact is not Fact.THING]
        make_generator(0, self._name, "order").shuffle(facts)
        return sorted(facts, key=lambda fact: fact is plan.asked)

    # A conversation: the two speak in turn.

    def converse(self, plan: Plan) -> tuple[Said, ...]:
        both = [self._scene.performer, self._scene.target]
        first, second = reversed(both) if plan.is_swapped else both
        lines = [f"{self._say('opens', other=second.persona.short)} {self._ask(plan)}", self._say("listens")]
        facts = self._order_facts(plan)
        told = [self._tell(plan, fact) for fact in facts if fact not in self._settled]
        told += [self._say("joins")] if self._scene.type is TaskType.ONLINE else []
        told += [self._list_steps(plan)] if plan.steps else []
        lines += [" ".join(told), self._say("comments")] if told else []
        for fact in facts:
            if fact in self._settled:
                # What is asked is settled last: a yes to something else, said after it, would be none to it.
                lines += [*(self._lend(plan.course) if fact is plan.asked else []), *self._settle(plan, fact)]
        closing = "keeps a secret" if plan.keeps_secret else "thanks" if plan.steps else "asks once more"
        # News stand in every conversation, so that they do not show that something was left out.
        lines += [self._say(closing), f"{self._say('stays open')} {self._tell_news(8)}"]
        return tuple(Said(speaker=(first, second)[place % 2].name, content=line) for place, line in enumerate(lines))

    def _lend(self, course: Course) -> list[str]:
        """Another matter, which ends as the asked one does in the twin: so the answer is in the words of both texts."""
        if course not in _OPPOSITE_ENDS:
            return []
        loan = self._say_plainly("loans")
        return [self._say("asks to borrow", loan), self._say(_OPPOSITE_ENDS[course], loan, "loan")]

    def _settle(self, plan: Plan, fact: Fact) -> list[str]:
        """The turns in which the two come to an agreement, or do not; first and last speak different people."""
        it, other = plan.facts[fact], plan.instead
        if not it:
            return [self._tell_news(list(Fact).index(fact)), self._say("comments", key=fact)]
        proposes, agrees = self._say("proposes", it, fact), self._say("agrees", it, fact)
        news, more = self._tell_news(6), self._tell_news(7)
        match plan.course if fact is plan.asked else Course.AGREED:
            case Course.AGREED:
                return [proposes, agrees]
            case Course.AFTER_ALL | Course.PUT_OFF as course:
                end = self._say("agrees after all", it) if course is Course.AFTER_ALL else self._say("puts off")
                return [proposes, self._say("doubts"), self._say("waits"), end]
            case Course.CHANGED | Course.TAKEN_BACK as course:
                end = self._say("agrees to the new", other) if course is Course.CHANGED else self._say("leaves the new open")
                change = [self._say("takes back", other), end]
                if make_generator(0, self._name, "who takes back").random() < 0.5:
                    return [proposes, agrees, *change]
                return [proposes, agrees, self._say("looks forward"), *change, news]
            case Course.DECLARED:
                return [proposes, agrees, self._say("declares", it), news]
            case Course.ALONE:
                return [proposes, more, self._say("declares", it), news]

    # A summary, in the words of the one who listened.

    def summarise(self, plan: Plan) -> tuple[Said, ...]:
        sentences = [self._say("opens"), self._ask(plan)]
        for fact in self._order_facts(plan):
            if fact in self._settled and plan.facts[fact]:
                course = plan.course if fact is plan.asked else Course.AGREED
                sentences.append(self._say(_SUMMED_UP[course], plan.facts[fact], fact))
            else:
                sentences.append(self._tell(plan, fact))
        sentences += [self._list_steps(plan)] if plan.steps else []
        sentences += [self._say("joins")] if self._scene.type is TaskType.ONLINE else []
        loan = _SUMMED_UP_LOAN.get(plan.course, "declines to lend" if plan.asked not in self._settled else "")
        sentences += [self._say("keeps a secret")] if plan.keeps_secret else []
        sentences += [self._say(loan, self._say_plainly("loans"))] if loan else []
        sentences.append(self._tell_news(6))
        return (Said(speaker=self._scene.target.name, content=" ".join(sentences)),)


_SUMMED_UP: Mapping[Course, str] = {
    Course.AGREED: "agrees",
    Course.AFTER_ALL: "agrees after all",
    Course.PUT_OFF: "puts off",
    Course.CHANGED: "changed",
    Course.TAKEN_BACK: "taken back",
}
"""The sentences by which a summary tells a course; no other is in one."""
_OPPOSITE_ENDS: Mapping[Course, str] = {
    Course.AFTER_ALL: "puts off",
    Course.PUT_OFF: "agrees after all",
    Course.CHANGED: "leaves the new open",
    Course.TAKEN_BACK: "agrees to the new",
}
"""The answer to a second request in a conversation that takes a course."""
_SUMMED_UP_LOAN: Mapping[Course, str] = {
    Course.AFTER_ALL: "leaves the loan open",
    Course.PUT_OFF: "agrees to lend",
    Course.CHANGED: "leaves the loan open",
    Course.TAKEN_BACK: "agrees to lend",
}
"""The same in a summary."""
