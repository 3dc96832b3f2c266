"""A judge of what was said: claims that nobody's clues support, and claims of that kind which another repeats."""

from __future__ import annotations

from sociable.benchmarks.anteval.hidden.briefing import ask_judge
from sociable.benchmarks.anteval.hidden.records import REPEATS, UNSUPPORTED, HiddenEpisode
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.core.prompts import Prompts
from sociable.core.records import Judgment
from sociable.engine.seats import Seat
from sociable.engine.study import ShownQuestion
from sociable.judging.answers import judge_yes_no
from sociable.judging.protocol import Unread

_QUESTIONS = {
    UNSUPPORTED: "Does it state as a fact something that none of these clues says, and that does not follow from them?",
    REPEATS: "Does it repeat as a fact something that another has said before, and that none of these clues says or implies?",
}


def list_criteria(episode: HiddenEpisode) -> list[str]:
    """Two questions for each turn in which something is said; the first one repeats nobody."""
    if episode.partner_failure:
        return []
    said = [turn for turn in episode.turns if turn.content]
    found = [f"{UNSUPPORTED}|{turn.index}" for turn in said]
    for place, turn in enumerate(said):
        if any(each.speaker != turn.speaker for each in said[:place]):
            found.append(f"{REPEATS}|{turn.index}")
    return found


async def judge_turn(scenario: Scenario, episode: HiddenEpisode, criterion: str, seat: Seat, prompts: Prompts) -> Judgment:
    """One judge's answer: WIN for yes. An unreadable answer is UNSCORED, never no."""
    kind, _, index = criterion.partition("|")
    return await judge_yes_no(
        lambda: ask_judge(kind, scenario, episode.turns, int(index), prompts),
        lambda: Unread("a rule cannot tell what clues support"),
        seat,
        episode,
        criterion,
    )


def show_question(scenario: Scenario, episode: HiddenEpisode, criterion: str) -> ShownQuestion:
    """The question as a person reads it."""
    kind, _, index = criterion.partition("|")
    turn = episode.turns[int(index) - 1]
    clues = "\n".join(f"- {each.text}" for each in scenario.clues)
    before = "\n".join(f"{each.speaker}: {each.content}" for each in episode.turns[: turn.index - 1] if each.content)
    said = f"\n\nSaid so far:\n{before}" if kind == REPEATS else ""
    return ShownQuestion(f"{scenario.case.setting}\n\nClues:\n{clues}{said}", turn.speaker, turn.content, _QUESTIONS[kind])
