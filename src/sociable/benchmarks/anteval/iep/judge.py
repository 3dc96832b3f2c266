"""Which key points a player's claims state (section 4.1): one call for all points of one player at one time.

Each point is a criterion of its own, so that a panel decides point by point and people can check single decisions.
WIN: stated by a claim that no other point was given; LOSS: not stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sociable.benchmarks.anteval.iep.briefing import LETTERS, ask_judge
from sociable.benchmarks.anteval.iep.cards import KnowledgeCard
from sociable.benchmarks.anteval.iep.matching import matched
from sociable.benchmarks.anteval.iep.metrics import player_criterion
from sociable.benchmarks.anteval.iep.records import IepEpisode, Recall
from sociable.benchmarks.anteval.iep.scenario import IepScenario
from sociable.core.prompts import Prompts
from sociable.core.records import Judgment, Usage, Verdict
from sociable.core.wording import expresses
from sociable.engine.seats import Seat
from sociable.judging.protocol import Answer, Question, Reading, SharedAnswers, Unread, make_judgment
from sociable.models.replies import find_closing_object, find_field, find_reason, make_schema

SCHEMA = make_schema(reason={"type": "string"}, matches={"type": "array", "items": {"type": "array"}})

Pairs = list[tuple[int, int]]
"""A key point, by its place among those counted, and a claim that states it, both from 0."""


@dataclass(frozen=True, slots=True)
class PointQuestion:
    """Whether what somebody claimed at one time states one key point."""

    recall: Recall
    place: int
    """The key point's place on its card, from 0."""

    @property
    def criterion(self) -> str:
        return player_criterion(self.recall.when, self.recall.player, self.place)


def point_questions(scenario: IepScenario, episode: IepEpisode) -> Iterator[PointQuestion]:
    """All questions to judges about an episode. A player who claims nothing needs no judge."""
    if not episode.npc_failure:
        for recall in episode.recalls:
            if recall.claims:
                yield from (PointQuestion(recall, place) for place in scenario.counted[recall.player])


class ClaimJudge:
    """Asks once for all points of a recall, however many of its points are asked about at the same time."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts
        self._answers: SharedAnswers[Pairs] = SharedAnswers()

    async def judge(self, scenario: IepScenario, episode: IepEpisode, asked: PointQuestion, seat: Seat) -> Judgment:
        recall, places = asked.recall, scenario.counted[asked.recall.player]
        scope = seat.scope(episode.id, f"{seat.name}|{recall.when.value}|{recall.player}")
        found = await self._answers.ask(self._question(scenario.card, places, recall.claims), seat, scope)
        # One call for all points: it is booked with the first of them.
        usage = found.usage if asked.place == min(places) else Usage()
        if isinstance(found.answer, Unread):
            reason = f"{seat.name}: {found.answer.problem}"
            return make_judgment(seat, episode, asked.criterion, Verdict.UNSCORED, reason, usage)
        claim = matched(found.answer.value, len(places), len(recall.claims)).get(places.index(asked.place))
        if claim is None:
            return make_judgment(seat, episode, asked.criterion, Verdict.LOSS, found.answer.reason, usage)
        return make_judgment(seat, episode, asked.criterion, Verdict.WIN, f"“{recall.claims[claim]}”", usage)

    def _question(self, card: KnowledgeCard, places: Sequence[int], claims: Sequence[str]) -> Question[Pairs]:
        def apply_rule() -> Reading[Pairs]:
            pairs = []
            for row, place in enumerate(places):
                wording = card.key_points[place].wording
                if wording is None:
                    return Unread(f"nobody wrote down how key point {place + 1} is said")
                pairs += [(row, column) for column, claim in enumerate(claims) if expresses(claim, wording)]
            return Answer(pairs)

        return Question(
            lambda: ask_judge(card, places, claims, self._prompts),
            lambda text: parse_matches(text, len(places), len(claims)),
            SCHEMA,
            apply_rule,
        )


def parse_matches(text: str, points: int, claims: int) -> Reading[Pairs]:
    """The pairs in a judge's reply. It gives none where one of them cannot be read, or names what there is not."""
    fields, pairs = find_closing_object(text), []
    listed = find_field(fields, "matches")
    for each in listed if isinstance(listed, list) else [None]:
        number, letter = each if isinstance(each, list) and len(each) == 2 else (0, "")
        claim = LETTERS.find(letter.strip().upper()) if isinstance(letter, str) and len(letter.strip()) == 1 else -1
        if type(number) is not int or not 1 <= number <= points or not 0 <= claim < claims:
            return Unread("no list of matches in the reply")
        pairs.append((number - 1, claim))
    return Answer(pairs, find_reason(fields))
