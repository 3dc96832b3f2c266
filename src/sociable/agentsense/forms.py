"""What a person who plays a character is shown and asked."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sociable.agentsense.briefing import LETTERS
from sociable.agentsense.scenario import Character, QuizQuestion, Scenario
from sociable.core.form import Form, Question
from sociable.core.records import Turn
from sociable.core.view import Line, Paragraph, Transcript


def turn_form(scenario: Scenario, character: Character, seen: Sequence[Turn]) -> Form:
    """The scene, at one's first turn; what was said since one's last turn; what do you say?"""
    own = [place for place, turn in enumerate(seen) if turn.speaker == character.name and turn.index > 0]
    heard = [Line(turn.speaker, "", turn.content) for turn in seen[own[-1] + 1 if own else 0 :] if turn.content.strip()]
    question = Question(f"You are {character.name}. What do you say? (one line; *what you do* in asterisks)")
    if own:
        return Form("It goes on", [Transcript("", heard)], [question])
    others = ", ".join(other.name for other in scenario.characters if other is not character)
    parts = [
        scenario.background,
        scenario.description,
        f"You are {character.name}. {character.profile}",
        f"Present with you: {others}",
        *(f"You want: {goal.goal}" for goal in character.goals),
        f"Nobody may learn: {character.private_info}" if character.private_info else "",
    ]
    return Form("A new scene", [*(Paragraph(part) for part in parts if part), Transcript("So far", heard)], [question])


def bid_form() -> Form:
    return Form(
        "Who speaks next?",
        [],
        [Question("How much do you want to be next, from 0 to 10?", tuple(map(str, range(11))))],
        lambda answers: json.dumps({"bid": int(answers[0])}),
    )


def yes_no_form(question: str) -> Form:
    return Form(
        "The scene is over",
        [],
        [Question(question, ("yes", "no"))],
        lambda answers: json.dumps({"reason": "", "answer": answers[0]}),
    )


def quiz_form(question: QuizQuestion, order: Sequence[int]) -> Form:
    options = tuple(question.options[place] for place in order)

    def reply(answers: Sequence[str]) -> str:
        return json.dumps({"answer": LETTERS[options.index(answers[0])]})

    return Form("A question on the side", [], [Question(question.question, options)], reply)
