"""Judges (section 3.2): for each goal condition, yes or no from the conversation, and again from the summary. WIN is yes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from sociable.benchmarks.stss.conversations.conditions import CONDITIONS, LEVEL_2_CONDITIONS, Condition, ConditionRule
from sociable.benchmarks.stss.conversations.protocol import Setting
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, Scene
from sociable.benchmarks.stss.rehearsal import SENTENCE
from sociable.benchmarks.stss.task import TaskType
from sociable.core.prompts import Prompts, load_package_prompts, put_on_one_line, quote
from sociable.core.records import Judgment
from sociable.engine.seats import Seat
from sociable.engine.study import ShownQuestion
from sociable.judging.answers import judge_yes_no
from sociable.judging.protocol import Answer
from sociable.models.protocol import ChatMessage
from sociable.town.clock import Clock, format_time_of_day

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
    Condition.AGREED: {"target", "activity"},
}
"""The parts of the task that each question states."""


class Text(StrEnum):
    """The texts in which a condition is looked for."""

    CONVERSATION = "conversation"
    SUMMARY = "summary"


def _name_prompt(condition: Condition) -> str:
    return f"question_{condition.replace(' ', '_')}"


def load_judge_prompts(override: Path | None = None, level: int = 1) -> Prompts:
    """The bundled prompts that a level needs, or the user's own in their place."""
    placeholders = {"judge_system": frozenset[str]()}
    placeholders |= {f"judge_{text}": frozenset({"performer", "target", "task", "now", "text", "question"}) for text in Text}
    needed = {condition for conditions in (CONDITIONS if level == 1 else LEVEL_2_CONDITIONS).values() for condition in conditions}
    placeholders |= {_name_prompt(condition): frozenset(names) for condition, names in _TRUTH.items() if condition in needed}
    return load_package_prompts("sociable.benchmarks.stss.conversations", placeholders, override)


@dataclass(frozen=True, slots=True)
class ConditionQuestion:
    text: Text
    condition: Condition

    @property
    def criterion(self) -> str:
        return f"{self.text}|{self.condition}"


class Evaluator:
    """Judges as this benchmark asks them: in its own words, one call a condition."""

    conditions: Mapping[TaskType, tuple[Condition, ...]] = CONDITIONS
    notes: ClassVar[tuple[str, ...]] = ()
    rehearsed: ClassVar[str] = json.dumps({"reason": SENTENCE, "answer": "yes"})
    """A reply as long as most, for estimates of what a run costs."""

    def __init__(self, setting: Setting, prompts: Prompts) -> None:
        self.setting = setting
        self._prompts = prompts
        if setting.options.level > 1:
            self.conditions = LEVEL_2_CONDITIONS

    @property
    def digest(self) -> str:
        return self._prompts.digest

    def conveys_nothing(self, scene: Scene, episode: ConversationEpisode) -> bool:
        """Whether too little was said to meet any condition: then no judge is asked."""
        return not episode.has_words_of(scene.performer.name)

    def list_questions(self, scene: Scene, episode: ConversationEpisode) -> dict[str, ConditionQuestion]:
        """The questions to judges, by criterion.

        There are none where the partner failed, or where nothing was conveyed; and none about a summary that is lost.
        """
        if episode.partner_failure or self.conveys_nothing(scene, episode):
            return {}
        texts = [Text.CONVERSATION, *([] if episode.summary_failure else [Text.SUMMARY])]
        asked = [ConditionQuestion(text, condition) for text in texts for condition in self.conditions[scene.type]]
        return {each.criterion: each for each in asked}

    async def judge(self, scene: Scene, episode: ConversationEpisode, asked: ConditionQuestion, seat: Seat) -> Judgment:
        """One judge's answer. An unreadable answer is UNSCORED, never no. Raises RunFailure and RunStopped."""
        return await judge_yes_no(
            lambda: write_question(scene, episode, asked, self.setting.clock, self._prompts),
            lambda: Answer(self.apply_rule(scene, episode, asked)),
            seat,
            episode,
            asked.criterion,
        )

    def show(self, scene: Scene, episode: ConversationEpisode, asked: ConditionQuestion) -> ShownQuestion:
        """A question to judges as a person reads it."""
        text = write_text(episode, asked.text)
        if asked.text is Text.SUMMARY:
            text = f"({scene.target.name} remembers:)\n{text}"
        situation = f"{self.setting.clock.render_minute(scene.minute)}. {scene.task.goal}"
        return ShownQuestion(situation, scene.performer.name, text, self.word_question(scene, asked))

    def word_question(self, scene: Scene, asked: ConditionQuestion) -> str:
        """The question itself, without the text it is about."""
        return render_question(scene, asked.condition, self.setting.clock, self._prompts)

    def apply_rule(self, scene: Scene, episode: ConversationEpisode, asked: ConditionQuestion) -> bool:
        """The answer of the rule that stands in for a judge."""
        rule = ConditionRule(scene.task, scene.minute, self.setting.clock, self.setting.places)
        if asked.text is Text.SUMMARY:
            return rule.is_met_in_summary(asked.condition, episode.summary)
        return rule.is_met_in_conversation(asked.condition, episode.lines)


def write_question(
    scene: Scene, episode: ConversationEpisode, asked: ConditionQuestion, clock: Clock, prompts: Prompts
) -> list[ChatMessage]:
    shown = prompts[f"judge_{asked.text}"].render(
        performer=scene.performer.name,
        target=scene.target.name,
        task=quote(put_on_one_line(scene.task.goal)),
        now=clock.render_minute(scene.minute),
        text=quote(write_text(episode, asked.text)),
        question=quote(render_question(scene, asked.condition, clock, prompts)),
    )
    return [{"role": "system", "content": prompts["judge_system"].render()}, {"role": "user", "content": shown}]


def write_text(episode: ConversationEpisode, text: Text) -> str:
    """The conversation, one line a turn without those in which nothing was said; or the summary."""
    if text is Text.SUMMARY:
        return episode.summary or "(nothing)"
    return "\n".join(f"{turn.speaker}: {put_on_one_line(turn.content)}" for turn in episode.turns if turn.content.strip())


def render_question(scene: Scene, condition: Condition, clock: Clock, prompts: Prompts) -> str:
    task = scene.task
    told = [f"{step.doing}, at {step.place}" for step in task.subtasks]
    truth = {
        "performer": scene.performer.name,
        "target": scene.target.name,
        "activity": task.activity,
        "place": task.place,
        "day": clock.render_day(task.start),
        "from": format_time_of_day(task.start),
        "to": format_time_of_day(task.end),
        "first": told[0] if told else "",
        "further": "; ".join(told[1:]),
        "order": ", then ".join(step.doing for step in task.subtasks),
    }
    return prompts[_name_prompt(condition)].render(**{name: put_on_one_line(truth[name]) for name in _TRUTH[condition]})
