"""An architecture of one's own for the town of STSS: a resident who keeps its usual day and talks to everybody it meets.

It needs no plans and no memory of a model: its model is asked for words only, and is told what was said to it before.
"""

from __future__ import annotations

from sociable.agents.architecture import Situation
from sociable.models.protocol import ChatMessage
from sociable.town.clock import MINUTES_PER_DAY, count_day
from sociable.town.minds import Activity, Decision, Mind, TakenAway, Talk, Utterance, View
from sociable.town.persona import make_ordinary_day

GOODBYE = "GOODBYE"
LOOKS_EVERY_MINUTES = 15
"""People who have been in sight for long are no news; it looks for them all the same."""


class Messenger:
    """One resident's mind."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.alarm: int | None = None
        self.talks: list[str] = []
        """The words of each conversation so far, as this resident remembers them."""
        self.met: set[tuple[int, str]] = set()
        """(number of a day, name) of everybody it has talked to."""

    def decide(self, view: View) -> Decision:
        """Asked by the town when its activity is over, somebody comes into sight, or the alarm is due."""
        self.alarm = view.minute + LOOKS_EVERY_MINUTES
        is_over = view.activity is None or view.minute >= view.activity.until
        activity = self.find_activity(view.minute) if is_over else None
        if (activity or view.activity or Activity("", 0)).asleep:
            return Decision(activity)
        day = count_day(view.minute)
        free = (seen.name for seen in view.sightings if seen.free and (day, seen.name) not in self.met)
        return Decision(activity, talk_to=next(free, ""))

    def find_activity(self, minute: int) -> Activity:
        """The activity that its habits give a minute."""
        persona = self.situation.persona
        day = minute // MINUTES_PER_DAY
        midnight = day * MINUTES_PER_DAY
        wakes, sleeps = midnight + persona.wakes, midnight + persona.sleeps
        if minute < wakes:
            return Activity("sleeping", wakes, persona.home, asleep=True)
        if minute >= sleeps:
            return Activity("sleeping", wakes + MINUTES_PER_DAY, persona.home, asleep=True)
        blocks = make_ordinary_day(persona, self.situation.clock, day)
        for block in blocks:
            if block.start <= minute < block.end:
                return Activity(block.doing, block.end, block.place)
        return Activity("resting", min([block.start for block in blocks if block.start > minute] + [sleeps]), persona.home)

    async def speak(self, talk: Talk) -> Utterance:
        """Asks the model for the next words; ``situation.high`` is the model under test if this is the performer."""
        reply = await self.situation.high.ask("speak", self.write_prompt(talk))
        says, goodbye, _ = reply.text.partition(GOODBYE)
        return Utterance(says.strip(), ends=bool(goodbye) or not says.strip(), defect=reply.defect)

    def write_prompt(self, talk: Talk) -> list[ChatMessage]:
        """The messages to the model: who it is, what it heard before, what is being said."""
        situation, persona = self.situation, self.situation.persona
        wish = f"What you want of others, whom you must tell: {situation.task.goal}" if situation.task else ""
        now = [f"{line.speaker}: {line.says}" for line in talk.lines] or ["(nothing yet)"]
        parts = (
            f"You are {persona.name}. {persona.learned} {persona.currently}",
            f"It is {situation.clock.render_minute(talk.minute)}. You talk with {talk.partner}. {wish}".strip(),
            "Said in earlier conversations:\n" + "\n".join(self.talks[-5:]) if self.talks else "",
            "Said now, each line behind '| ':\n" + "\n".join(f"| {line}" for line in now),
            f"Write your next words, in one or two sentences, and {GOODBYE} behind them if you have no more to say.",
        )
        return [{"role": "user", "content": "\n\n".join(filter(None, parts))}]

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        """Remembers whom it has talked to, and about what."""
        self.met.add((count_day(talk.minute), talk.partner))
        self.talks.append("\n".join(f"| {line.speaker}: {line.says}" for line in talk.lines))
        return TakenAway()

    async def interview(self, question: str, minute: int) -> str:
        """Optional: answers a question from outside the simulation (``sociable interview``)."""
        heard = "\n".join(self.talks) or "nothing"
        asked = f"You are {self.situation.persona.name}. You have heard:\n{heard}\n\n{question}"
        return (await self.situation.high.ask("interview", [{"role": "user", "content": asked}])).text


def messenger(situation: Situation) -> Mind:
    """The entry point: makes a mind out of a resident's situation."""
    return Messenger(situation)
