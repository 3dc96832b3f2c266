"""Target-driven planning (section 4, App. B): the performer thinks about its task before it plans its days and talks.

1. A general plan, once: the task broken down into a few points.
2. A reminder for planning, every day.
3. A reminder for conversations, once.

All at temperature 0. The plan reminder goes into the prompts that plan a day, the general plan and the conversation reminder
into those for words, the task's description into both; none of them goes anywhere else.
"""

from __future__ import annotations

from sociable.agents.architecture import Asker, TaskInWords
from sociable.agents.generative.briefing import build_messages, render_task
from sociable.core.prompts import Prompts, quote
from sociable.core.records import storable
from sociable.models.protocol import ChatMessage
from sociable.town.clock import MINUTES_PER_DAY, Clock

LONGEST = 2000
"""Characters of a plan or reminder: what is longer is cut."""


class TargetDrivenPlanning:
    def __init__(self, task: TaskInWords, asker: Asker, resident: ChatMessage, clock: Clock, prompts: Prompts) -> None:
        """``resident`` is the message that says who plans."""
        self._task = render_task(task)
        self._asker = asker
        self._resident = resident
        self._clock = clock
        self._prompts = prompts
        self._reminded_of: int | None = None
        self.general_plan: str | None = None
        self.plan_reminder = ""
        self.conversation_reminder: str | None = None

    async def begin_day(self, minute: int) -> None:
        """Makes what is missing on this day, in the order of the paper."""
        await self._plan()
        if self._reminded_of != minute // MINUTES_PER_DAY:
            self.plan_reminder = await self._ask("plan_reminder", day=self._clock.day_in_words(minute))
            self._reminded_of = minute // MINUTES_PER_DAY
        await self.begin_to_talk()

    async def begin_to_talk(self) -> None:
        """Makes what conversations need, if it is missing: in the language-level benchmark there is no day before."""
        await self._plan()
        if self.conversation_reminder is None:
            self.conversation_reminder = await self._ask("conversation_reminder")

    async def _plan(self) -> None:
        if self.general_plan is None:
            self.general_plan = await self._ask("general_plan")

    async def _ask(self, purpose: str, **told: str) -> str:
        question = build_messages(self._resident, self._render(purpose, **told))
        reply = await self._asker.ask(purpose, question, temperature=0.0)
        lines = (line.strip() for line in storable(reply.text).splitlines())
        return "\n".join(filter(None, lines))[:LONGEST].rstrip()

    def render_for_planning(self) -> str:
        """The text for the prompts that plan a day."""
        return self._render("for_planning", reminder=_quote(self.plan_reminder))

    def render_for_talking(self) -> str:
        """The text for the prompts for words."""
        return self._render("for_talking", reminder=_quote(self.conversation_reminder))

    def _render(self, name: str, **told: str) -> str:
        return self._prompts[f"tdp_{name}"].render(task=self._task, general_plan=_quote(self.general_plan), **told)


def _quote(text: str | None) -> str:
    return quote(text or "(nothing)")
