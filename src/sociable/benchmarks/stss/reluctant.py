"""Residents without a model at levels 2 and 3: each says no for a reason, until it hears the one thing that moves it.

What they say of it is written with the task (``obstacles.py``); the rules by which they read what they hear are those of level 1
and wordings. At these levels nobody wants or forgets a thing by lot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from sociable.benchmarks.stss.obstacles import CORRECTION, SECRECY, Obstacles, is_kind_question, shorten_name
from sociable.benchmarks.stss.phrases import draw_phrase
from sociable.benchmarks.stss.residents import MEETING_MINUTES, ReferenceResident, World
from sociable.benchmarks.stss.speech import Said, find_moments, find_times, has_place, parse_speech, say_moment, say_place
from sociable.benchmarks.stss.task import Part, Task, TaskType
from sociable.core.wording import has_wording
from sociable.town.clock import MINUTES_PER_DAY, parse_minute
from sociable.town.events import AnyEvent, Noted
from sociable.town.minds import Decision, TakenAway, Talk, Utterance, View
from sociable.town.persona import Block, Persona

PATIENCE_MINUTES = 8
"""The time for which somebody stays at an event while the one is missing without whom it would not have come."""

TOO_LATE = (
    "You should have told me by last evening. I have made other plans since.",
    "That comes too late for me, I had to know a day ahead.",
)
_CHECKS = "I hear that you are coming to the {activity}, is that so?"
_CONFIRMS = "That is so, I have promised."
DENIES = "Me? I have promised nobody anything of the kind."
_SET_RIGHT = "Then I had it wrong, and I am glad that you say so."


def sets_right(task: Task, line: str) -> bool:
    """Whether a line tells better than the rumour when or where it is, and that what was heard is wrong."""
    rumour = task.obstacles.rumour if task.obstacles is not None else None
    if rumour is None or not has_wording(line, CORRECTION):
        return False
    named = any(task.start % MINUTES_PER_DAY in time.candidates for time in find_times(line))
    return named if rumour.time else has_place(line, task.place)


def _take_first(lines: Iterable[str], said: set[str]) -> str | None:
    """The first of some lines that has not been said, which then has been; None: all have."""
    line = next((each for each in lines if each not in said), None)
    if line is not None:
        said.add(line)
    return line


class ReluctantResident(ReferenceResident):
    """A background character with a will of its own."""

    def __init__(self, persona: Persona, world: World, task: Task, acquaintances: Collection[str], leaning: float = 1.0) -> None:
        super().__init__(persona, world, task, acquaintances, leaning)
        assert task.obstacles is not None, "a task of level 1 has the residents of level 1"
        self._obstacles: Obstacles = task.obstacles
        self._will = self._obstacles.find_will(persona.name)
        self._moved = self._will is None
        self._clash: Block | None = None
        if self._will is not None and self._will.clash:
            self._clash = self.engage(self._will.clash, task.start, task.end, self._will.place, 0)
        self._relies = ""
        """Somebody whom it has been told of, and without whom it does not stay; empty once it has seen that it is true."""
        self._has_checked = False
        self._warned = False
        """Whether it knows that the event is a secret."""
        self._said: dict[str, set[str]] = defaultdict(set)
        """The lines about the task that it has said to each person."""
        self._hints: dict[str, set[str]] = defaultdict(set)
        """What it has told each person of others, which is no answer to an invitation."""
        self._has_refused: set[str] = set()
        """Those to whom it has said no in a conversation that is over."""
        rumour = self._obstacles.rumour
        self._misled = rumour is not None and persona.name in rumour.believed_by
        """Whether it believes the rumour."""
        self._objected = False
        if self._misled:
            self._news = self._make_wrong_news()
            self._told.add(task.performer)

    # What it says.

    def _say_once(self, partner: str, lines: Sequence[str]) -> str | None:
        """The first of some lines that it has not said to this person; None: it has said them all."""
        return _take_first(lines, self._said[partner])

    def _answer(self, talk: Talk, heard: Sequence[str]) -> str | None:
        task, partner, last = self.task, talk.partner, heard[-1]
        if last == _CHECKS.format(activity=task.activity):
            return _CONFIRMS if self.agreement is not None else DENIES
        if hint := _take_first(self._obstacles.list_hints(self.persona.name, last), self._hints[partner]):
            return hint
        said = parse_speech(task, heard, talk.minute, self.world.clock)
        if partner != task.performer:
            return self._hear_from_another(talk, said, heard) if said.parts else None
        if self._is_kept_from(self.persona.name) or (task.target and task.target != self.persona.name):
            return None
        if not said.parts:
            return self._give_reason(partner, last) if self._said[partner] and not self._moved else None
        self._told.add(partner)
        self._warned = self._warned or has_wording("\n".join(heard), SECRECY)
        if self.agreement is not None:
            return self._set_right(talk, heard) if self._misled and self._objected else self._hear_again(talk)
        if said.list_missing(task):
            return None
        if self._obstacles.notice is not None and talk.minute > self._obstacles.notice:
            return self._say_once(partner, TOO_LATE)
        skill = self._obstacles.skill
        if skill is not None and self.persona.name not in skill.held_by:
            return self._say_once(partner, skill.lacks)
        before = "" if self._moved else self._become_moved(talk, heard)
        if not self._moved:
            return self._give_reason(partner, last)
        if self._misled:
            return f"{before} {self._set_right(talk, heard) or self._object(talk)}".strip()
        answer = self._promise_help(talk) if task.type is TaskType.HELP else self._accept(talk, said, heard)
        return f"{before} {answer}".strip()

    def _give_reason(self, partner: str, last: str) -> str | None:
        """Says no: vaguely at first, and why if it is asked kindly; a reserved one if it is asked so another time."""
        will = self._will
        assert will is not None
        trusts = partner in self._has_refused if self._obstacles.are_people_reserved else bool(self._said[partner])
        if will.tells and trusts and is_kind_question(last):
            return self._say_once(partner, [will.reason])
        return self._say_once(partner, will.vague)

    def _become_moved(self, talk: Talk, heard: Sequence[str]) -> str:
        """Finds out whether the words of this conversation move it. Returns what it says to them; empty: they do not."""
        will = self._will
        assert will is not None
        if not will.is_moved_by(heard) or any(map(self._obstacles.promises_everything, heard)):
            return ""
        self._moved, self._relies = True, will.third
        if self._clash is not None:
            self.engagements.remove(self._clash)
            self._set_alarm(talk.minute)
        return will.moved

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        will, skill = self._will, self._obstacles.skill
        refusals = {*TOO_LATE, *(will.vague if will is not None else ()), *(skill.lacks if skill is not None else ())}
        if self._said[talk.partner] & refusals:
            self._has_refused.add(talk.partner)
        return super().conclude(talk, until)

    # A promise.

    def _promise(self, talk: Talk, engagement: Block) -> None:
        super()._promise(talk, engagement)
        self._forgets = False
        if self._obstacles.secret is not None and not self._warned and self._news is None:
            # Nobody said that it was a secret.
            self._news = Said(frozenset(self.task.needed_parts), engagement.start, self.task.place)

    def _take_back(self, minute: int, text: str) -> AnyEvent:
        self.engagements = [each for each in self.engagements if each not in self._promises]
        self._promises, self.agreement, self._relies = [], None, ""
        self._moved = False
        return Noted(minute=minute, resident=self.persona.name, about="takes its promise back", text=text)

    def decide(self, view: View) -> Decision:
        promise, name = self.agreement, self._relies
        if promise is None or not name or view.minute < promise.start or not self.task.place:
            return super().decide(view)
        if any(each.name == name and not each.walking for each in view.sightings):
            self._relies = ""
            return super().decide(view)
        notes: list[AnyEvent] = []
        if view.minute >= promise.start + PATIENCE_MINUTES:
            notes.append(self._take_back(view.minute, f"{name} is not there, without whom it would not have come"))
            self._set_alarm(view.minute)
            self.alarm = view.minute
        decision = super().decide(view)
        if self._relies:
            self.alarm = min(self.alarm or view.minute + 1, view.minute + 1)
        return replace(decision, notes=[*decision.notes, *notes])

    # Others.

    def _is_kept_from(self, name: str) -> bool:
        return self._obstacles.secret is not None and self._obstacles.secret.keeps_from == name

    def _has_news_for(self, name: str, minute: int) -> bool:
        if self._is_kept_from(name) and (self._warned or self._misled):
            return False
        return super()._has_news_for(name, minute)

    def _is_willing_to_talk(self, name: str, minute: int) -> bool:
        return (name == self._relies and not self._has_checked) or super()._is_willing_to_talk(name, minute)

    def speak(self, talk: Talk) -> Utterance:
        heard = [line.says for line in talk.lines if line.speaker == talk.partner]
        if talk.began and talk.partner == self._relies:
            if not self._has_checked:
                self._has_checked = True
                return Utterance(_CHECKS.format(activity=self.task.activity))
            if heard and heard[-1] == DENIES:
                text = f"{talk.partner} knew nothing of it, without whom it would not have come"
                self.agreed_now.append(self._take_back(talk.minute, text))
        return super().speak(talk)

    def _hear_from_another(self, talk: Talk, said: Said, heard: Sequence[str]) -> str | None:
        """Hears of the event from somebody else, rightly or wrongly."""
        task, rumour = self.task, self._obstacles.rumour
        self._told.add(talk.partner)
        if self.agreement is not None or self._is_kept_from(self.persona.name):
            return None
        if rumour is not None and talk.partner in rumour.believed_by and self._is_wrong(heard[-1], talk.minute):
            self._misled = True
            return None
        if said.list_missing(task) or task.type is TaskType.HELP or task.target or not self._moved:
            return None
        return self._accept(talk, said, heard)

    # The rumour.

    def _find_wrong_moment(self) -> int:
        rumour, task = self._obstacles.rumour, self.task
        assert rumour is not None
        return parse_minute(rumour.time, task.day + 1) if rumour.time else task.start

    def _make_wrong_news(self) -> Said:
        rumour = self._obstacles.rumour
        assert rumour is not None
        return Said(frozenset({Part.ACTIVITY}), self._find_wrong_moment(), rumour.place or self.task.place)

    def _is_wrong(self, line: str, minute: int) -> bool:
        rumour = self._obstacles.rumour
        assert rumour is not None
        wrong = has_place(line, rumour.place) if rumour.place else False
        return wrong or self._find_wrong_moment() in find_moments(line, minute, self.world.clock)

    def _pass_on(self, news: Said, talk: Talk) -> str:
        place = news.place or self.task.place
        assert news.moment is not None
        draw = self.world.make_generator("says", "passes_on", self.persona.name, talk.partner, talk.minute)
        where = f", at {say_place(place)}" if place else ", from wherever you are"
        when, who = say_moment(news.moment, self.world.clock), shorten_name(self.task.performer)
        return draw_phrase("passes_on", self.persona.name, draw, what=self.task.activity, when=when, where=where, who=who)

    def _object(self, talk: Talk) -> str:
        """Promises to come when or where the rumour has it, and says so."""
        task, rumour = self.task, self._obstacles.rumour
        assert rumour is not None
        self._objected = True
        start, place = self._find_wrong_moment(), rumour.place or task.place
        end = min(start + MEETING_MINUTES, (start // MINUTES_PER_DAY + 1) * MINUTES_PER_DAY)
        doing = self._describe_thing(task.wordings or (task.activity,))
        self._promise(talk, self.engage(doing, start, end, place, talk.minute))
        return self._say_once(talk.partner, rumour.says) or ""

    def _set_right(self, talk: Talk, heard: Sequence[str]) -> str | None:
        """Hears when or where it really is: not just named again, but set right."""
        if not any(sets_right(self.task, each) for each in heard):
            return None
        self._misled, self._news = False, None
        self.engagements = [each for each in self.engagements if each not in self._promises]
        self._promises, self.agreement, self.agreed_now = [], None, []
        right = Said(frozenset(self.task.needed_parts), self.task.start, self.task.place)
        return f"{_SET_RIGHT} {self._accept(talk, right, heard)}"
