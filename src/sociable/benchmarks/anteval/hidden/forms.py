"""What a person sees and is asked as a member of a group, or as one who knows everything."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sociable.benchmarks.anteval.hidden.briefing import describe_choice, show_words
from sociable.benchmarks.anteval.hidden.records import HiddenTurn
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.core.form import Form, Question, make_prompt_form
from sociable.core.view import Block, Line, Paragraph, Transcript
from sociable.models.protocol import ChatMessage

NOTHING = "-"


def _show_heard(heard: Sequence[HiddenTurn]) -> Transcript:
    return Transcript("What has been said", [Line(turn.speaker, ", ".join(turn.addressees), show_words(turn)) for turn in heard])


def make_turn_form(scenario: Scenario, name: str, briefing: ChatMessage, number: int, heard: Sequence[HiddenTurn]) -> Form:
    """A turn; the first one tells all that a model is told."""
    blocks: list[Block] = [Paragraph(str(briefing["content"]))] if number == 1 else []
    aside = ", or TO NAME: for one alone" if scenario.asides else ""
    options = [option.text for option in scenario.case.options]
    questions = [
        Question(f"What do you say? (at most {scenario.budget.words} words, one line{aside}; {NOTHING} to pass)"),
        Question("Which would you choose now? (nobody hears it)", options),
    ]

    def write(answers: Sequence[str]) -> str:
        said = "" if answers[0].strip() == NOTHING else answers[0]
        return json.dumps({"say": said, "lean": answers[1]}, ensure_ascii=False)

    title = f"You are {name}: round {number} of {scenario.budget.rounds}"
    return Form(title, [*blocks, _show_heard(heard)], questions, write)


def make_choice_form(scenario: Scenario, name: str, briefing: ChatMessage, heard: Sequence[HiddenTurn], is_after: bool) -> Form:
    blocks: list[Block] = [_show_heard(heard)] if is_after else [Paragraph(str(briefing["content"]))]
    question = f"{describe_choice(scenario, name, is_after)} {scenario.case.question}"
    title = f"You are {name}: {'the talk is over' if is_after else 'before the talk'}"
    return Form(title, blocks, [Question(question, [option.text for option in scenario.case.options])])


def make_informed_form(messages: Sequence[ChatMessage], options: Sequence[str]) -> Form:
    """The choice of one who is shown everything."""
    asked = [Question("Which do you choose?", list(options))]
    return make_prompt_form("A decision", messages, asked, lambda answers: json.dumps({"answer": answers[0]}, ensure_ascii=False))
