"""A judge of what was said: which clues a turn tells, claims that nobody's clues support, and those that another repeats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sociable.benchmarks.anteval.hidden.briefing import ask_about_turn
from sociable.benchmarks.anteval.hidden.dataset import Clue
from sociable.benchmarks.anteval.hidden.hearing import list_heard, list_within_reach
from sociable.benchmarks.anteval.hidden.records import REPEATS, TOLD, UNSUPPORTED, HiddenEpisode, HiddenJudgment
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.core.prompts import Prompts
from sociable.core.records import Judgment, Verdict, make_storable
from sociable.engine.seats import Seat
from sociable.engine.study import ShownQuestion
from sociable.judging.answers import judge_yes_no
from sociable.judging.forms import make_listing_form
from sociable.judging.protocol import Answer, Question, Reading, Unread, ask_judge, make_judgment, make_scope
from sociable.models.replies import MAX_REASON, find_closing_object, find_field, find_reason, make_schema

_QUESTIONS = {
    TOLD: "Do these words tell any of these clues, so that whoever hears them has its gist?",
    UNSUPPORTED: "Does it state as a fact something that none of these clues says, and that does not follow from them?",
    REPEATS: "Does it repeat as a fact something that another has said before, and that none of these clues says or implies?",
}
_TOLD_SCHEMA = make_schema(reason={"type": "string"}, told={"type": "array", "items": {"type": "integer"}})


async def judge_turn(scenario: Scenario, episode: HiddenEpisode, criterion: str, seat: Seat, prompts: Prompts) -> Judgment:
    """One judge's answer: WIN for yes, and the clues that are told. An unreadable answer is UNSCORED, never no."""
    kind, _, index = criterion.partition("|")
    turn = episode.turns[int(index) - 1]
    heard = list_heard(scenario, episode.turns[: turn.index - 1], turn.speaker)
    if kind != TOLD:
        return await judge_yes_no(
            lambda: ask_about_turn(kind, scenario, turn, heard, scenario.clues, prompts),
            lambda: Unread("a rule cannot tell what clues support"),
            seat,
            episode,
            criterion,
        )
    clues = list_within_reach(scenario, episode.turns, turn.index)
    question: Question[tuple[str, ...]] = Question(
        lambda: ask_about_turn(kind, scenario, turn, heard, clues, prompts),
        partial(parse_told, clues=clues),
        _TOLD_SCHEMA,
        form=make_listing_form("told", {number: f"Is clue {number} told?" for number in range(1, len(clues) + 1)}),
    )
    asked = await ask_judge(question, seat, make_scope(seat, episode, criterion))
    told = asked.answer.value
    verdict = Verdict.UNSCORED if told is None else Verdict.WIN if told else Verdict.LOSS
    reason = asked.answer.reason if told is not None else f"{seat.name}: {asked.answer.why}"
    return HiddenJudgment(**dict(make_judgment(seat, episode, criterion, verdict, reason, asked.usage)), clues=told or ())


def parse_told(text: str, clues: Sequence[Clue]) -> Reading[tuple[str, ...]]:
    """The clues that a reply names by their numbers in its field ``told``; one number that is none of them spoils it."""
    text = make_storable(text).strip()
    fields = find_closing_object(text)
    told = find_field(fields, "told")
    by_number = {str(number): clue.id for number, clue in enumerate(clues, start=1)}
    if not isinstance(told, list) or any(str(each) not in by_number for each in told):
        return Unread("no list of the clues' numbers in the reply", text[:MAX_REASON])
    return Answer(tuple(dict.fromkeys(by_number[str(each)] for each in told)), find_reason(fields))


def show_question(scenario: Scenario, episode: HiddenEpisode, criterion: str) -> ShownQuestion:
    """The question as a person reads it."""
    kind, _, index = criterion.partition("|")
    turn = episode.turns[int(index) - 1]
    shown = list_within_reach(scenario, episode.turns, turn.index) if kind == TOLD else scenario.clues
    clues = "\n".join(f"- {each.text}" for each in shown)
    heard = list_heard(scenario, episode.turns[: turn.index - 1], turn.speaker)
    before = "\n".join(f"{each.speaker}: {each.content}" for each in heard if each.content)
    said = f"\n\nSaid so far, as far as {turn.speaker} heard it:\n{before}" if kind == REPEATS else ""
    return ShownQuestion(f"{scenario.case.setting}\n\nClues:\n{clues}{said}", turn.speaker, turn.content, _QUESTIONS[kind])
