"""Judges (section 3.2): for each goal condition, yes or no from the conversation, and again from the summary. WIN is yes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sociable.benchmarks.stss.conversations.conditions import CONDITIONS, Condition, ConditionRule
from sociable.benchmarks.stss.conversations.protocol import Setting
from sociable.benchmarks.stss.conversations.records import ConversationEpisode
from sociable.benchmarks.stss.conversations.scene import Scene
from sociable.core.prompts import Prompts, one_line, package_prompts, quoted
from sociable.core.records import Judgment, Usage
from sociable.engine.seats import Seat
from sociable.judging.yes_no import ask_yes_no, yes_no_judgment
from sociable.models.protocol import ChatMessage
from sociable.town.clock import Clock, time_of_day

RULE = "rule"
"""The reference judge."""

_TRUTH = {
    Condition.INVITED: {"performer", "target", "activity"},
    Condition.PLACE: {"target", "place"},
    Condition.TIME: {"target", "day", "from"},
    Condition.PURPOSE: {"performer", "target", "activity"},
    Condition.TIME_AGREED: {"performer", "target", "day", "from", "to"},
    Condition.PLACE_AGREED: {"performer", "target"},
    Condition.ASKED: {"performer", "target", "activity"},
    Condition.FIRST_STEP: {"target", "first"},
    Condition.FURTHER_STEPS: {"target", "further"},
    Condition.ORDER: {"target", "order"},
}
"""The parts of the task that each question names."""

_SHOWN = frozenset({"performer", "target", "task", "now", "text", "question"})


class Text(StrEnum):
    """The text in which a condition is looked for."""

    CONVERSATION = "conversation"
    SUMMARY = "summary"


PLACEHOLDERS: Mapping[str, frozenset[str]] = {
    "judge_system": frozenset(),
    **{f"judge_{text}": _SHOWN for text in Text},
    **{f"question_{condition.name.lower()}": frozenset(names) for condition, names in _TRUTH.items()},
}


def load_conversation_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return package_prompts("sociable.benchmarks.stss.conversations", PLACEHOLDERS, override)


@dataclass(frozen=True, slots=True)
class ConditionQuestion:
    text: Text
    condition: Condition

    @property
    def criterion(self) -> str:
        return f"{self.text}|{self.condition}"


def list_questions(scene: Scene, episode: ConversationEpisode) -> dict[str, ConditionQuestion]:
    """The questions to judges, by criterion.

    There are none where the other failed, or the performer said nothing (then nothing is met), and none about a lost summary.
    """
    said = any(turn.content.strip() and turn.speaker == scene.performer.name for turn in episode.turns)
    if episode.partner_failure or not said:
        return {}
    texts = [Text.CONVERSATION, *([] if episode.summary_failure else [Text.SUMMARY])]
    asked = [ConditionQuestion(text, condition) for text in texts for condition in CONDITIONS[scene.type]]
    return {each.criterion: each for each in asked}


async def judge_condition(
    scene: Scene, episode: ConversationEpisode, asked: ConditionQuestion, seat: Seat, setting: Setting, prompts: Prompts
) -> Judgment:
    """Puts a question to one judge. An answer that cannot be parsed is UNSCORED, never no."""
    usage, reason = Usage(), ""
    if seat.model is None:
        rule = ConditionRule(scene.task, scene.minute, setting.clock, setting.places)
        answer: bool | None = rule.is_met_in_conversation(asked.condition, episode.lines)
        if asked.text is Text.SUMMARY:
            answer = rule.is_met_in_summary(asked.condition, episode.summary)
    else:
        scope = seat.scope(episode.id, f"{seat.name}|{asked.criterion}")
        messages = ask_judge(scene, episode, asked, setting.clock, prompts)
        answer, reason = await ask_yes_no(seat.model, messages, scope=scope, sampling=seat.sampling)
        usage = scope.usage
    about = {"episode": episode.id, "scenario": scene.id, "criterion": asked.criterion, "judge": seat.name}
    return yes_no_judgment(answer, reason, usage=usage, **about)


def ask_judge(
    scene: Scene, episode: ConversationEpisode, asked: ConditionQuestion, clock: Clock, prompts: Prompts
) -> list[ChatMessage]:
    """The messages that put a question to a judge."""
    text = write_transcript(episode) if asked.text is Text.CONVERSATION else episode.summary or "(nothing)"
    shown = prompts[f"judge_{asked.text}"].render(
        performer=scene.performer.name,
        target=scene.target.name,
        task=quoted(one_line(scene.task.goal)),
        now=clock.in_words(scene.minute),
        text=quoted(text),
        question=quoted(word_question(scene, asked.condition, clock, prompts)),
    )
    return [{"role": "system", "content": prompts["judge_system"].render()}, {"role": "user", "content": shown}]


def write_transcript(episode: ConversationEpisode) -> str:
    """The conversation, one line a turn; silent turns are left out."""
    return "\n".join(f"{turn.speaker}: {one_line(turn.content)}" for turn in episode.turns if turn.content.strip())


def word_question(scene: Scene, condition: Condition, clock: Clock, prompts: Prompts) -> str:
    """The question whether a condition is met, with what it says of the task."""
    task = scene.task
    steps = [f"{step.doing}, at {step.place}" for step in task.subtasks]
    truth = {
        "performer": scene.performer.name,
        "target": scene.target.name,
        "activity": task.activity,
        "place": task.place,
        "day": clock.day_in_words(task.start),
        "from": time_of_day(task.start),
        "to": time_of_day(task.end),
        "first": "".join(steps[:1]),
        "further": "; ".join(steps[1:]),
        "order": ", then ".join(step.doing for step in task.subtasks),
    }
    return prompts[f"question_{condition.name.lower()}"].render(**{name: one_line(truth[name]) for name in _TRUTH[condition]})
