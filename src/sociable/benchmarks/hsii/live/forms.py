"""What a person at the terminal sees and is asked, as the assistant or as the people."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from sociable.benchmarks.hsii.live.briefing import NO_NEWS, tell_rules
from sociable.benchmarks.hsii.live.records import LiveTurn
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.core.form import Form, Question
from sociable.core.prompts import Prompts
from sociable.core.view import Block, Column, Line, Paragraph, Row, Table, Transcript
from sociable.models.protocol import ChatMessage

NOTHING = "-"


def show_turns(title: str, turns: Sequence[LiveTurn]) -> Transcript:
    return Transcript(title, [Line(turn.speaker or "News", ", ".join(turn.addressees), turn.content) for turn in turns])


def make_round_form(scenario: Scenario, number: int, incoming: Sequence[LiveTurn], prompts: Prompts) -> Form:
    """A round as the assistant: the first tells all that a model is told, the last asks for the arrangement."""
    dossier, budget = scenario.dossier, scenario.budget
    blocks: list[Block] = []
    if number == 1:
        people = [Row([person.name, person.line]) for person in dossier.people]
        matters = [Row([matter.question, "; ".join(option.text for option in matter.options)]) for matter in dossier.matters]
        blocks += [
            Paragraph(dossier.setting),
            Table("The people", [Column("Name"), Column("Who it is")], people),
            Table("What is to be settled", [Column("Question"), Column("In which ways")], matters),
            Paragraph(tell_rules(scenario, prompts)),
        ]
    is_last = number == budget.rounds
    blocks.append(show_turns(f"Round {number} of {budget.rounds}: this has come in", incoming))
    if is_last:
        blocks.append(Paragraph("This is the last round. What you write now is still read, and not answered."))
    questions = [
        Question(f"Message {place} of at most {budget.messages}, as NAME, NAME: WORDS ({NOTHING} for none; one line)")
        for place in range(1, budget.messages + 1)
    ]
    settled = (
        [Question(matter.question, [option.text for option in matter.options]) for matter in dossier.matters] if is_last else []
    )

    def write_move(answers: Sequence[str]) -> str:
        written = [answer.partition(":") for answer in answers[: len(questions)] if answer.strip() != NOTHING]
        sent = [{"to": [name.strip()], "text": words.strip()} for name, _, words in written]
        chosen = {matter.id: answer for matter, answer in zip(dossier.matters, answers[len(questions) :], strict=False)}
        return json.dumps({"messages": sent, "arrangement": chosen or None}, ensure_ascii=False)

    return Form(dossier.title, blocks, [*questions, *settled], write_move)


def make_answer_form(name: str, briefing: ChatMessage, seen: Sequence[LiveTurn], lines: int) -> Form:
    """An answer as one of the people, and which of the ``lines`` of its sheet it tells."""
    blocks: list[Block] = [Paragraph(str(briefing["content"])), show_turns("What you have read and written", seen)]
    questions = [Question("What do you answer? (one line)")]
    if lines:
        told = f"Which lines of your sheet does it tell? (numbers from 1 to {lines}, with commas; {NOTHING} for none)"
        questions.append(Question(told))

    def write_answer(answers: Sequence[str]) -> str:
        numbers = answers[1].strip().strip(NOTHING) if lines else ""
        return json.dumps({"lines": re.findall(r"\d+", numbers), "text": answers[0]}, ensure_ascii=False)

    return Form(f"You are {name}", blocks, questions, write_answer)


def make_aside_form(name: str, hearer: str, news: Sequence[LiveTurn]) -> Form:
    """What one of the people passes on to another."""
    question = Question(f"What do you tell {hearer} of it? (one line; {NOTHING} for nothing)")
    blocks: list[Block] = [
        Paragraph(f"You talk to {hearer} about whatever you hear, but for what concerns yourself."),
        show_turns("This has been written to you", news),
    ]
    return Form(f"You are {name}", blocks, [question], lambda answers: NO_NEWS if answers[0].strip() == NOTHING else answers[0])


def make_choice_form(title: str, question: str, options: Sequence[str], seen: Sequence[LiveTurn]) -> Form:
    """A choice of one of the people, by what it has read."""
    return Form(title, [show_turns("What you have read and written", seen)], [Question(question, list(options))])
