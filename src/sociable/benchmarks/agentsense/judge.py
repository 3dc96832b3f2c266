"""External judges (section 3.4): for each goal, yes or no from the conversation. WIN is yes, LOSS is no."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sociable.benchmarks.agentsense.briefing import as_shown, ask_judge
from sociable.benchmarks.agentsense.records import AgentSenseEpisode, goal_criterion
from sociable.benchmarks.agentsense.scenario import Character, Goal, Scenario
from sociable.core.prompts import Prompts
from sociable.core.records import Judgment, Turn, Usage
from sociable.engine.seats import Seat
from sociable.judging.yes_no import ask_yes_no, yes_no_judgment


@dataclass(frozen=True, slots=True)
class GoalQuestion:
    """One question about one goal, as it stands after so many turns."""

    owner: Character
    goal: Goal
    item: int
    """Place among the owner's goals, from 0."""
    wording: int
    question: str
    after: int

    @property
    def criterion(self) -> str:
        return goal_criterion(self.owner.name, self.item, self.wording, self.after)


def goal_questions(scenario: Scenario, after: int) -> Iterator[GoalQuestion]:
    """All that judges are asked about a scene after ``after`` turns."""
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
    """One judge's answer to one question. Unparsable is UNSCORED, never no."""
    turns = turns_until(episode, asked.after)
    usage = Usage()
    if seat.model is None:
        answer = asked.goal.is_reached((turn.speaker, as_shown(turn, first_lines=first_lines)) for turn in turns)
        reason = f"{seat.name}: nobody wrote down signs of this goal" if answer is None else ""
    else:
        scope = seat.scope(episode.id, f"{seat.name}|{asked.criterion}")
        messages = ask_judge(scenario, asked.owner, asked.goal, asked.question, turns, prompts, first_lines=first_lines)
        answer, reason = await ask_yes_no(seat.model, messages, scope=scope, sampling=seat.sampling)
        usage = scope.usage
    about = {"episode": episode.id, "scenario": scenario.id, "criterion": asked.criterion, "judge": seat.name}
    return yes_no_judgment(answer, reason, usage=usage, **about)
