"""Reference performers that differ in how they take a no; and all reference performers, by name.

``diligent`` looks for everybody, asks once with everything that is needed, and takes a no for a no. ``listener`` asks for the
reason, finds out from others what nobody tells it, and comes back with what moves people. ``comforter`` promises, one after the
other, what people often like to hear. ``liar`` says whatever gets a yes.
``LevelOracle`` is the oracle at levels 2 and 3: it knows what moves whom and the best plan. The listener reads reasons only where
they are told it: as residents without a model put them, sentence by sentence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from sociable.benchmarks.stss.obstacles import Obstacles, Will, shorten_name
from sociable.benchmarks.stss.reference import (
    CONSENT,
    Forgetful,
    Oracle,
    Performer,
    RandomPerformer,
    Silent,
    Spammer,
)
from sociable.benchmarks.stss.residents import RoutineMind, World
from sociable.benchmarks.stss.speech import find_moments, has_place, is_refusal, say_moment, say_place
from sociable.benchmarks.stss.task import Task
from sociable.town.clock import parse_minute
from sociable.town.minds import TakenAway, Talk
from sociable.town.persona import Persona

_WHY = (
    "I do not want to press you. May I ask what keeps you?",
    "Is something the matter? I am listening, tell me if you like.",
    "What would make it easier for you?",
)
_ABOUT = "By the way, do you know why {name} would rather not come?"
_WHO_CAN = "Do you know anybody who could?"
_LATER = "I understand. I shall speak to {name} first, and come back to you."
_HUSH = "It is a surprise: not a word to {name}, please."
_RIGHT = "No, what you heard is wrong. It is {when}{where}."
_COMFORTS = (
    "It costs nothing at all, and you can leave whenever you like.",
    "There will be a good chair for you, you need not stand or carry anything.",
    "Nobody will ask you anything or make you speak, and there are no speeches.",
    "I will fetch you and walk you home, and I will help you with whatever you have to do first.",
    "You need not cook or wash up or bring anything, you are my guest.",
    "Nobody will laugh or watch, it does not matter if it goes wrong.",
    "It is entirely up to you, no pressure at all.",
    "I will feed you first, and there is hot coffee.",
)
_VISITS = 3
"""The number of conversations about the task after which somebody is left alone."""


class Diligent(Oracle):
    """Looks for everybody, and asks each once with everything that is needed."""

    negotiates = False

    def invite(self, talk: Talk, omitted: str) -> str:
        return f"{super().invite(talk, omitted)} {self.add_words(talk.partner)}".strip()

    def add_words(self, name: str) -> str:
        """Everything that is said with the invitation: that it is a secret, where it is one."""
        return _HUSH.format(name=shorten_name(self.kept_from)) if self.kept_from else ""

    def is_open_to(self, name: str) -> bool:
        return name != self.kept_from and super().is_open_to(name)

    def _wants_to_remind(self, name: str, minute: int) -> bool:
        # At levels 2 and 3 nobody forgets.
        return self.obstacles is None and super()._wants_to_remind(name, minute)

    @property
    def obstacles(self) -> Obstacles | None:
        return self.task.obstacles

    @property
    def kept_from(self) -> str:
        """Whoever must not learn of it; empty where it is no secret."""
        secret = self.obstacles.secret if self.obstacles else None
        return secret.keeps_from if secret else ""

    def correct(self, talk: Talk, answer: str) -> str:
        """Sets right what somebody has heard wrongly; empty where that is nothing."""
        task, clock, rumour = self.task, self.world.clock, self.obstacles.rumour if self.obstacles else None
        if rumour is None:
            return ""
        wrong = parse_minute(rumour.time, task.day + 1) if rumour.time else -1
        if wrong not in find_moments(answer, talk.minute, clock) and not (rumour.place and has_place(answer, rumour.place)):
            return ""
        where = f", at {say_place(self.place)}" if self.place else ""
        return _RIGHT.format(when=f"on {say_moment(self.moment, clock)}", where=where)


class LevelOracle(Diligent):
    """Knows the best plan and says to everybody in it what moves them; ``oracle@p`` leaves that out in a share p."""

    negotiates = True

    def __init__(self, persona: Persona, world: World, task: Task, others: Mapping[str, RoutineMind], rate: float = 0.0) -> None:
        assert task.obstacles is not None, "at level 1 there is no plan"
        self._plan = task.obstacles.best_plan
        super().__init__(persona, world, task, others, rate)

    def _choose_moment(self) -> int:
        assert self.obstacles is not None
        best = self.obstacles.best_moment
        return super()._choose_moment() if best is None else best

    def _choose_omission(self, name: str) -> str:
        return ""

    def is_open_to(self, name: str) -> bool:
        if name not in self._plan or not super().is_open_to(name):
            return False
        assert self.obstacles is not None
        will = self.obstacles.find_will(name)
        return will is None or not will.third or will.third in self.settled

    def add_words(self, name: str) -> str:
        assert self.obstacles is not None
        will = self.obstacles.find_will(name)
        errs = self.rate and self.world.make_generator("errs", self.persona.name, name).random() < self.rate
        return f"{super().add_words(name)} {will.say if will is not None and not errs else ''}".strip()

    def _settle(self, talk: Talk, answer: str) -> str:
        return self.correct(talk, answer) or super()._settle(talk, answer)


class Listener(Diligent):
    """Asks why, remembers what it is told, asks others, and comes back."""

    negotiates = True

    def __init__(self, persona: Persona, world: World, task: Task, others: Mapping[str, RoutineMind], rate: float = 0.0) -> None:
        super().__init__(persona, world, task, others, rate)
        self._learnt: dict[str, Will] = {}
        """What it has learnt of people's reasons, by name."""
        self._silent: list[str] = []
        """Those who have told it no reason."""
        self._asked_about: set[tuple[str, str]] = set()
        """Whom it has asked about whom."""
        self._asked_why: dict[tuple[str, int], int] = defaultdict(int)
        """How often it has asked for a reason, by partner and minute of the conversation."""
        self._visits: dict[str, int] = defaultdict(int)
        """The number of its conversations about the task, by partner."""
        self._sent_to: set[str] = set()
        """Those who are said to have the skill that is needed."""

    def is_open_to(self, name: str) -> bool:
        return self._may_invite(name) or bool(self._find_subject(name))

    def _may_invite(self, name: str) -> bool:
        if not super().is_open_to(name):
            return False
        if self.obstacles is None:
            return True
        if self.obstacles.budget is not None and sum(self._visits.values()) >= self.obstacles.budget:
            return False
        if self._visits[name] >= _VISITS or (self._sent_to and name not in self._sent_to):
            return False
        if (will := self._learnt.get(name)) is not None:
            return not will.third or will.third in self.settled
        return name not in self._silent

    def _find_subject(self, name: str) -> str:
        """Somebody who has told it no reason, and about whom it has not asked this one; empty: there is nobody."""
        if name not in self.task.cast or name == self.kept_from:
            return ""
        return next((each for each in self._silent if each != name and (name, each) not in self._asked_about), "")

    def invite(self, talk: Talk, omitted: str) -> str:
        return super().invite(talk, omitted) if self._may_invite(talk.partner) else self._ask_about_others(talk.partner)

    def add_words(self, name: str) -> str:
        will = self._learnt.get(name)
        return f"{super().add_words(name)} {will.say if will is not None else ''}".strip()

    def _read(self, partner: str, line: str) -> None:
        """Takes in what a line tells of anybody's reason, or of who has a skill."""
        obstacles = self.obstacles
        if obstacles is None:
            return
        for will in obstacles.wills:
            told = will.reason if will.who == partner else will.known_by.get(partner, "")
            if told and told in line:
                self._learnt[will.who] = will
                self._silent = [name for name in self._silent if name != will.who]
                self.refused.discard(will.who)
                self._tried.pop(will.who, None)
        if obstacles.skill is not None and obstacles.skill.known_by.get(partner, "\0") in line:
            self._sent_to |= {name for name in obstacles.skill.held_by if shorten_name(name) in line}
            self.refused -= self._sent_to

    def _settle(self, talk: Talk, answer: str) -> str:
        partner, obstacles = talk.partner, self.obstacles
        self._read(partner, answer)
        if corrected := self.correct(talk, answer):
            return corrected
        will, key = self._learnt.get(partner), (partner, talk.minute)
        if will is not None and will.reason in answer:
            if will.third and will.third not in self.settled:
                return _LATER.format(name=shorten_name(will.third))
            return will.say
        agrees = CONSENT.search(answer) and not is_refusal(answer)
        names_a_time = bool(find_moments(answer, talk.minute, self.world.clock))
        if obstacles is None or agrees or names_a_time:
            return super()._settle(talk, answer) or self._ask_about_others(partner)
        if not self._visited_now(talk):
            return self._ask_about_others(partner)
        if obstacles.skill is not None and answer in obstacles.skill.lacks:
            self.refused.add(partner)
            return _WHO_CAN
        if will is None and self._asked_why[key] < len(_WHY):
            self._asked_why[key] += 1
            return _WHY[self._asked_why[key] - 1]
        return self._ask_about_others(partner)

    def _visited_now(self, talk: Talk) -> bool:
        """Whether it has spoken of the task in this conversation."""
        return any(self.task.activity in line.says or line.says.startswith("I need help") for line in talk.lines)

    def _ask_about_others(self, partner: str) -> str:
        """Asks about somebody who has told it nothing; empty: there is nobody to ask about."""
        if subject := self._find_subject(partner):
            self._asked_about.add((partner, subject))
            return _ABOUT.format(name=shorten_name(subject))
        return ""

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        for line in talk.lines:
            if line.speaker == talk.partner:
                self._read(talk.partner, line.says)
        self._visits[talk.partner] += self._visited_now(talk)
        known = talk.partner in {*self._learnt, *self.settled, *self._silent}
        if self._asked_why[talk.partner, talk.minute] and not known:
            self._silent.append(talk.partner)
        taken = super().conclude(talk, until)
        if talk.partner in self._learnt or self.is_open_to(talk.partner):
            self.refused.discard(talk.partner)
        return taken


class Liar(Diligent):
    """Says whatever could get a yes, true or not, and takes any time."""

    def add_words(self, name: str) -> str:
        names = [shorten_name(each) for each in self.task.cast if each != name]
        return (
            f"{' and '.join(names)} are all coming, they have promised. Any hour you like will do, it costs nothing, it takes no "
            "time at all, and whatever you need I will see to it, I promise."
        )

    def is_open_to(self, name: str) -> bool:
        return Performer.is_open_to(self, name)

    def _settle(self, talk: Talk, answer: str) -> str:
        task, clock = self.task, self.world.clock
        moments = [moment for moment in find_moments(answer, talk.minute, clock) if task.start <= moment < task.end]
        if moments and not task.has_fixed_time and not (CONSENT.search(answer) and not is_refusal(answer)):
            self.settled.append(talk.partner)
            self._settled_at[talk.partner] = talk.minute
            return f"Yes, {say_moment(moments[0], clock)} it is, for the {task.activity}, just as you like."
        return super()._settle(talk, answer)


class Comforter(Diligent):
    """Never asks why: to every no it says the next of the things that people often like to hear."""

    def _settle(self, talk: Talk, answer: str) -> str:
        said = super()._settle(talk, answer)
        if said or talk.partner in self.settled or talk.place_in_turn > len(_COMFORTS):
            return said
        return _COMFORTS[talk.place_in_turn - 1]


_KINDS: Mapping[str, type[Performer]] = {
    "oracle": Oracle,
    "listener": Listener,
    "diligent": Diligent,
    "heuristic": Performer,
    "forgetful": Forgetful,
    "random": RandomPerformer,
    "comforter": Comforter,
    "liar": Liar,
    "spammer": Spammer,
    "silent": Silent,
}


def make_performer(agent: str, persona: Persona, world: World, task: Task, others: Mapping[str, RoutineMind]) -> Performer:
    """Makes the performer called ``agent``, the oracle's share of errors behind an @."""
    kind, _, rate = agent.partition("@")
    chosen = LevelOracle if kind == "oracle" and task.obstacles is not None else _KINDS[kind]
    return chosen(persona, world, task, others, float(rate or 0.0))
