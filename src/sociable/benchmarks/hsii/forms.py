"""Cases as people see them, and the forms for a person in the assistant's place, or in that of whom it talks with."""

from __future__ import annotations

from collections.abc import Sequence

from sociable.benchmarks.hsii.briefing import END, Situation
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, Message, write_reply
from sociable.core.form import Form, Question
from sociable.core.records import Episode, Turn
from sociable.core.view import Block, Callout, Line, Paragraph, Quotation, Tone, Transcript

CaseBlock = Paragraph | Callout | Transcript | Quotation


def show_error(episode: Episode) -> list[Callout]:
    """The error of an errored episode; nothing for any other episode."""
    return [Callout(episode.error, Tone.WARNING)] if episode.error else []


def show_conversation(messages: Sequence[Message], *, folded: bool = False, marked: int = 0) -> Transcript:
    """The messages; the one numbered ``marked`` stands out."""
    lines = [Line(m.role_from, _name_hearers(m), m.content, Tone.NEUTRAL if m.index == marked else None) for m in messages]
    return Transcript("The conversation so far", lines, folded)


def _name_hearers(message: Message) -> str:
    others = ", ".join(message.heard_by)
    return f"{message.role_to} (heard by {others})" if others else message.role_to


def show_reply(title: str, addressee: str, content: str, highlight: Tone | None = None) -> Transcript:
    """One turn of the assistant."""
    return Transcript(title, [Line(ASSISTANT, addressee, content, highlight)])


def show_golden(case: Case) -> list[Transcript | Paragraph]:
    """The golden response, and why its addressee comes first, where the data say it."""
    target = case.golden.role_to
    why = [Paragraph(f"Why {target} comes first: {case.why}")] if case.why else []
    return [show_reply("Golden", target, case.golden.content), *why]


def show_turns(title: str, turns: Sequence[Turn]) -> Transcript:
    """The turns, each with what was noticed about it."""
    lines = [Line(t.speaker, ", ".join(t.addressees), f"{t.content} [{t.note}]" if t.note else t.content) for t in turns]
    return Transcript(title, lines, folded=True)


def show_situation(case: Situation) -> list[Paragraph | Transcript]:
    """Scene, people and conversation, as the model sees them."""
    background = case.background
    parts = (background.scene, " ".join(background.relationships), background.conflicts)
    return [*(Paragraph(part) for part in parts if part), show_conversation(case.messages)]


def make_choice_form(case: Situation, told: Sequence[str]) -> Form:
    """The form of stages 1 to 3: whom to address, and what to say. Its reply has the format that models are asked for.

    ``told`` is what models are told, role and task.
    """
    questions = [
        Question("Whom do you address now?", case.background.characters),
        Question("What do you say? (one line)"),
    ]
    return Form("A new case", _show_task(case, told), questions, lambda answers: write_reply(*answers) if answers[1] else "")


def make_words_form(case: Situation, target: str, told: Sequence[str]) -> Form:
    """The form for words to an addressee who is given."""
    question = Question(f"What do you say to {target}? (one line)")
    return Form("A new case", _show_task(case, told), [question])


def _show_task(case: Situation, told: Sequence[str]) -> list[Block]:
    role, task = told
    return [Paragraph(role), *show_situation(case), Paragraph(task)]


def make_next_turn_form(target: str, task: str, seen: Sequence[Turn]) -> Form:
    """The form for a later turn with the same person; it shows what was said since the assistant's last turn."""
    # The task is told once, with the first of these turns.
    is_first = sum(turn.speaker == ASSISTANT for turn in seen) == 1
    blocks: list[Block] = [_show_since(ASSISTANT, seen), *([Paragraph(task)] if is_first else [])]
    return Form("It goes on", blocks, [Question(f"What do you say to {target}? (one line)")])


def make_partner_form(name: str, briefing: str, seen: Sequence[Turn]) -> Form:
    """The form for whom the assistant talks with; the first one tells all that a model is told."""
    is_first = not any(turn.speaker == name for turn in seen)
    blocks: list[Block] = [*([Paragraph(briefing)] if is_first else []), _show_since(name, seen)]
    question = Question(f"You are {name}. What do you say? (one line; with {END} behind it, these are your last words)")
    return Form(f"{ASSISTANT} talks to {name}", blocks, [question])


def _show_since(name: str, seen: Sequence[Turn]) -> Transcript:
    """What was said since the last turn of ``name``."""
    last = max((place for place, turn in enumerate(seen) if turn.speaker == name), default=-1)
    return Transcript("", [Line(turn.speaker, ", ".join(turn.addressees), turn.content) for turn in seen[last + 1 :]])
