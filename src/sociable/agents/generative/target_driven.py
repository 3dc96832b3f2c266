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
from sociable.core.records import make_storable
from sociable.models.protocol import ChatMessage
from sociable.town.clock import MINUTES_PER_DAY, Clock

PLANS = ("general plan", "plan reminder", "conversation reminder")
"""The texts by the names under which they are noted in the event log."""

LONGEST = 2000
"""Characters of a plan or reminder: what is longer is cut."""


class TargetDrivenPlanning:
    """The planning of a resident that has a task (STSS, section 4)."""

    def __init__(self, task: TaskInWords, asker: Asker, resident: ChatMessage, clock: Clock, prompts: Prompts) -> None:
        """``resident`` is the message that says who plans."""
        self._task = render_task(task)
        self._asker = asker
        self._resident = resident
        self._clock = clock
        self._prompts = prompts
        self._texts: dict[str, str] = {}
        """Its thoughts for each purpose."""
        self._today: int | None = None
        """The day of the reminder for planning."""

    async def begin_day(self, minute: int, agenda: str, memories: str) -> list[tuple[str, str]]:
        """Makes what is missing on this day, in the order of the paper; the reminder knows what was agreed and remembered.

        Returns the name and the text of each.
        """
        made = await self._make("general_plan")
        if self._today != minute // MINUTES_PER_DAY:
            self._today = minute // MINUTES_PER_DAY
            self._texts.pop("plan_reminder", None)
        made += await self._make("plan_reminder", day=self._clock.render_day(minute), agenda=agenda, memories=memories)
        return made + await self._make("conversation_reminder")

    async def begin_to_talk(self) -> list[tuple[str, str]]:
        """Makes what conversations need, if it is missing: in the language-level benchmark there is no day before."""
        return await self._make("general_plan") + await self._make("conversation_reminder")

    async def _make(self, purpose: str, **told: str) -> list[tuple[str, str]]:
        if purpose in self._texts:
            return []
        question = build_messages(self._resident, self._render(purpose, **told))
        reply = await self._asker.ask(purpose, question, temperature=0.0)
        lines = (line.strip() for line in make_storable(reply.text).splitlines())
        self._texts[purpose] = "\n".join(filter(None, lines))[:LONGEST].rstrip()
        return [(purpose.replace("_", " "), self._texts[purpose])]

    def render_for_planning(self) -> str:
        """The text for the prompts that plan a day."""
        return self._render("for_planning", reminder=self._quote("plan_reminder"))

    def render_for_talking(self) -> str:
        """The text for the prompts for words."""
        return self._render("for_talking", reminder=self._quote("conversation_reminder"))

    def _render(self, name: str, **told: str) -> str:
        return self._prompts[f"tdp_{name}"].render(task=self._task, general_plan=self._quote("general_plan"), **told)

    def _quote(self, purpose: str) -> str:
        return quote(self._texts.get(purpose) or "(nothing)")
