"""Which key points a player's claims state (section 4.1): one call for all points of one player at one time.

Each point is a criterion of its own, so that a panel decides point by point and people can check single decisions.
WIN: stated by a claim that no other point was given; LOSS: not stated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sociable.benchmarks.anteval.iep.briefing import LETTERS, ask_judge
from sociable.benchmarks.anteval.iep.matching import matched
from sociable.benchmarks.anteval.iep.metrics import player_criterion
from sociable.benchmarks.anteval.iep.records import IepEpisode, Recall
from sociable.benchmarks.anteval.iep.scenario import IepScenario
from sociable.core.prompts import Prompts
from sociable.core.records import Judgment, Usage
from sociable.core.wording import expresses
from sociable.engine.seats import Seat
from sociable.judging.verdicts import MAX_REASON
from sociable.judging.yes_no import yes_no_judgment
from sociable.models.protocol import Request
from sociable.models.replies import closing_object, only, text_of

SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string"},
        "matches": {"type": "array", "items": {"type": "array"}},
    },
    "required": ["reason", "matches"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class PointQuestion:
    """Whether what somebody claimed at one time states one key point."""

    recall: Recall
    place: int
    """Of the key point on its card, from 0."""

    @property
    def criterion(self) -> str:
        return player_criterion(self.recall.when, self.recall.player, self.place)


def point_questions(scenario: IepScenario, episode: IepEpisode) -> Iterator[PointQuestion]:
    """All that judges decide about an episode; who claims nothing needs no judge."""
    if not episode.npc_failure:
        for recall in episode.recalls:
            if recall.claims:
                yield from (PointQuestion(recall, place) for place in scenario.counted[recall.player])


@dataclass(frozen=True, slots=True)
class Matching:
    """One judge's view of one recall: by place of a key point the claim that states it; None and why if it has none."""

    claims: dict[int, int] | None
    reason: str
    usage: Usage


class ClaimJudge:
    """Asks once for all points of a recall, however many of its points are asked about at the same time."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts
        self._asked: dict[tuple[str, str, str, str], asyncio.Future[Matching]] = {}

    async def judge(self, scenario: IepScenario, episode: IepEpisode, asked: PointQuestion, seat: Seat) -> Judgment:
        recall = asked.recall
        key = (episode.id, recall.when.value, recall.player, seat.name)
        if key not in self._asked:
            self._asked[key] = asyncio.ensure_future(self._match(scenario, episode, recall, seat))
        try:
            found = await asyncio.shield(self._asked[key])
        except BaseException:
            # Whoever asks again is to be asked anew.
            self._asked.pop(key, None)
            raise
        claim = None if found.claims is None else found.claims.get(asked.place)
        return yes_no_judgment(
            None if found.claims is None else claim is not None,
            found.reason if claim is None else f"“{recall.claims[claim]}”",
            # One call for all points: it is booked with the first of them.
            usage=found.usage if asked.place == min(scenario.counted[recall.player]) else Usage(),
            episode=episode.id,
            scenario=scenario.id,
            criterion=asked.criterion,
            judge=seat.name,
        )

    async def _match(self, scenario: IepScenario, episode: IepEpisode, recall: Recall, seat: Seat) -> Matching:
        card, places = scenario.card, scenario.counted[recall.player]
        if seat.model is None:
            without = [place for place in places if card.key_points[place].wording is None]
            if without:
                return Matching(None, f"{seat.name}: nobody wrote down how key point {without[0] + 1} is said", Usage())
            pairs = [
                (row, column)
                for row, place in enumerate(places)
                for column, claim in enumerate(recall.claims)
                if expresses(claim, card.key_points[place].wording or ())
            ]
            return Matching(_by_place(pairs, places, recall.claims), "", Usage())
        scope = seat.scope(episode.id, f"{seat.name}|{recall.when.value}|{recall.player}")
        messages = ask_judge(card, places, recall.claims, self._prompts)
        reply = await seat.model.generate(Request(messages, scope, seat.sampling, SCHEMA))
        read = None if reply.defect else read_matches(reply.text, len(places), len(recall.claims))
        if read is None:
            return Matching(None, f"{seat.name}: {reply.defect or 'no list of matches in the reply'}", scope.usage)
        reason = text_of(closing_object(reply.text) or [], "reason", MAX_REASON)
        return Matching(_by_place(read, places, recall.claims), reason, scope.usage)


def _by_place(pairs: Sequence[tuple[int, int]], places: Sequence[int], claims: Sequence[str]) -> dict[int, int]:
    return {places[row]: claim for row, claim in matched(pairs, len(places), len(claims)).items()}


def read_matches(text: str, points: int, claims: int) -> list[tuple[int, int]] | None:
    """The pairs in a judge's reply, (point, claim) from 0; None if one of them cannot be read, or names what there is not."""
    listed = only(closing_object(text) or [], "matches")
    if not isinstance(listed, list):
        return None
    pairs = []
    for each in listed:
        if not (isinstance(each, list) and len(each) == 2):
            return None
        number, letter = each
        claim = LETTERS.find(letter.strip().upper()) if isinstance(letter, str) and len(letter.strip()) == 1 else -1
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= points or not 0 <= claim < claims:
            return None
        pairs.append((number - 1, claim))
    return pairs
