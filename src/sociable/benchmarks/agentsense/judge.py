"""External judges (section 3.4): for each goal, yes or no from the conversation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sociable.benchmarks.agentsense.briefing import as_shown, ask_judge
from sociable.benchmarks.agentsense.records import AgentSenseEpisode, goal_criterion
from sociable.benchmarks.agentsense.scenario import Character, Goal, Scenario
from sociable.core.prompts import Prompts
from sociable.core.records import Judgment, Turn
from sociable.engine.seats import Seat
from sociable.judging.protocol import Answer, Reading, Unread
from sociable.judging.yes_no import judge_yes_no
from sociable.models.protocol import ChatMessage


@dataclass(frozen=True, slots=True)
class GoalQuestion:
    """One question about one goal, as the scene stands after so many turns."""

    owner: Character
    goal: Goal
    item: int
    """The goal's place among its owner's, from 0."""
    wording: int
    question: str
    after: int

    @property
    def criterion(self) -> str:
        return goal_criterion(self.owner.name, self.item, self.wording, self.after)


def goal_questions(scenario: Scenario, after: int) -> Iterator[GoalQuestion]:
    """All questions to judges about a scene as it stands after ``after`` turns."""
    for owner in scenario.characters:
        for item, goal in enumerate(owner.goals):
            for wording, question in enumerate(goal.eval_questions.judge or ()):
                yield GoalQuestion(owner, goal, item, wording, question.question, after)


def turns_until(episode: AgentSenseEpisode, after: int) -> tuple[Turn, ...]:
    """The greeting and the first ``after`` turns."""
    return tuple(turn for turn in episode.turns if turn.index <= after)


async def judge_goal(
    scenario: Scenario, episode: AgentSenseEpisode, asked: GoalQuestion, seat: Seat, prompts: Prompts, *, first_lines: bool
) -> Judgment:
    """One judge's answer to one question. An unreadable answer is UNSCORED, never no."""
    turns = turns_until(episode, asked.after)

    def write() -> list[ChatMessage]:
        return ask_judge(scenario, asked.owner, asked.goal, asked.question, turns, prompts, first_lines=first_lines)

    def apply_rule() -> Reading[bool]:
        reached = asked.goal.is_reached((turn.speaker, as_shown(turn, first_lines=first_lines)) for turn in turns)
        return Unread("nobody wrote down signs of this goal") if reached is None else Answer(reached)

    return await judge_yes_no(write, apply_rule, seat, episode, asked.criterion)
