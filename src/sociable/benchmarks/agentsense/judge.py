"""External judges (section 3.4): for each goal, yes or no from the conversation; and what rubrics and people need to judge."""

from __future__ import annotations

from collections.abc import Mapping

from sociable.benchmarks.agentsense.briefing import as_shown, describe_scene, write_judge_question, write_transcript
from sociable.benchmarks.agentsense.records import AgentSenseEpisode
from sociable.benchmarks.agentsense.rule import is_reached
from sociable.benchmarks.agentsense.scenario import GoalProbe, Scenario
from sociable.core.prompts import Prompts
from sociable.core.records import Episode, Judgment
from sociable.engine.seats import Seat
from sociable.engine.study import ShownQuestion
from sociable.judging.answers import judge_yes_no
from sociable.judging.protocol import Answer, Reading, Unread
from sociable.judging.rubric import RatedParticipant
from sociable.models.protocol import ChatMessage


async def judge_goal(
    scenario: Scenario,
    episode: Episode,
    probe: GoalProbe,
    seat: Seat,
    prompts: Prompts,
    *,
    first_lines: bool,
    criterion: str = "",
) -> Judgment:
    """One judge's answer to one question. An unreadable answer is UNSCORED, never no. By default the criterion is the probe's."""
    turns = [turn for turn in episode.turns if turn.index <= probe.after]

    def write() -> list[ChatMessage]:
        return write_judge_question(scenario, probe, turns, prompts, first_lines=first_lines)

    def apply_rule() -> Reading[bool]:
        said = ((turn.speaker, as_shown(turn, first_lines=first_lines)) for turn in turns)
        reached = is_reached(scenario, probe.owner.name, probe.item, said)
        return Unread("nobody wrote down signs of this goal") if reached is None else Answer(reached)

    return await judge_yes_no(write, apply_rule, seat, episode, criterion or probe.criterion)


def show_question(scenario: Scenario, episode: Episode, probe: GoalProbe, *, first_lines: bool) -> ShownQuestion:
    """A judge's question about the end of a scene, as a person reads it."""
    conversation = write_transcript(episode.turns, first_lines=first_lines)
    question = f"{probe.question}\n(The goal: {probe.goal.goal})"
    return ShownQuestion(describe_scene(scenario), probe.owner.name, conversation, question)


def list_rated(scenario: Scenario, episode: AgentSenseEpisode, *, first_lines: bool) -> Mapping[str, RatedParticipant]:
    """Every character with goals, as a rubric's judge reads it, by role and name; nobody where nothing was said."""
    said = [turn for turn in episode.turns if turn.content.strip() and not episode.partner_failure]
    conversation = tuple((turn.speaker, as_shown(turn, first_lines=first_lines)) for turn in said)
    return {
        f"{episode.played_by[character.name]}: {character.name}": RatedParticipant(
            character.name,
            describe_scene(scenario),
            "\n".join(goal.goal for goal in character.goals),
            "\n".join(filter(None, (character.profile, character.private_info))),
            conversation,
        )
        for character in scenario.characters
        if character.goals and said
    }
