"""Forms for a person who plays a character: the scene, its news, and the questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sociable.benchmarks.agentsense.briefing import LETTERS, as_shown, called
from sociable.benchmarks.agentsense.scenario import Character, QuizQuestion, Scenario
from sociable.core.form import Form, Question
from sociable.core.records import Turn
from sociable.core.view import Block, Line, Paragraph, Transcript


@dataclass
class PersonsForms:
    """The forms of one person in one scene: each shows what has not been shown yet, the scene itself first.

    So a person knows at every question what a model would be sent with it.
    """

    scenario: Scenario
    character: Character
    first_lines: bool
    shown: int | None = None
    """Index of the last turn that was shown; None before the scene was."""

    def turn(self, seen: Sequence[Turn]) -> Form:
        title = "A new scene" if self.shown is None else "It goes on"
        question = Question(f"You are {self.character.name}. What do you say? (one line; *what you do* in asterisks)")
        return Form(title, self._news(seen), [question])

    def bid(self, seen: Sequence[Turn]) -> Form:
        return Form(
            "Who speaks next?",
            self._news(seen),
            [Question("How much do you want to be next, from 0 to 10?", tuple(map(str, range(11))))],
            lambda answers: json.dumps({"bid": int(answers[0])}),
        )

    def yes_no(self, seen: Sequence[Turn], question: str) -> Form:
        return Form(
            "Looking back at the scene",
            self._news(seen),
            [Question(question, ("yes", "no"))],
            lambda answers: json.dumps({"reason": "", "answer": answers[0]}),
        )

    def quiz(self, seen: Sequence[Turn], question: QuizQuestion, order: Sequence[int]) -> Form:
        options = tuple(question.options[place] for place in order)

        def reply(answers: Sequence[str]) -> str:
            return json.dumps({"answer": LETTERS[options.index(answers[0])]})

        return Form("A question on the side: what do you think?", self._news(seen), [Question(question.question, options)], reply)

    def _news(self, seen: Sequence[Turn]) -> list[Block]:
        """All that the person has not been shown; its own words only with the scene, which is shown again after a break."""
        blocks: list[Block] = list(self._scene()) if self.shown is None else []
        last = -1 if self.shown is None else self.shown
        own = self.character.name
        lines = [
            Line(turn.speaker, "", as_shown(turn, first_lines=self.first_lines) if turn.speaker != own else turn.content)
            for turn in seen
            if turn.index > last
            and turn.content.strip()
            # A greeting is nobody's own words: the person may not know of having begun.
            and (blocks or turn.speaker != own or turn.index == 0)
        ]
        if lines:
            blocks.append(Transcript("", lines))
        self.shown = max((turn.index for turn in seen), default=last)
        return blocks

    def _scene(self) -> Sequence[Paragraph]:
        scenario, character = self.scenario, self.character
        others = ", ".join(called(other) for other in scenario.characters if other is not character)
        parts = [
            scenario.background,
            scenario.description,
            f"You are {character.name}. {character.profile}",
            f"Present with you: {others}",
            *(f"You want: {goal.goal}" for goal in character.goals),
            f"Nobody may learn: {character.private_info}" if character.private_info else "",
        ]
        return [Paragraph(part) for part in parts if part]
