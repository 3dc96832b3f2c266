"""The judge of which key points a player's claims state (section 4.1): one call for all points of one player at one time.

Each point is a criterion of its own, so that a panel decides point by point and people can check single decisions.
WIN: stated by a claim that no other point was given; LOSS: not stated.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from sociable.benchmarks.anteval.iep.cards import KeyPoint
from sociable.benchmarks.anteval.iep.claims import Pairs, find_pairs, match_claims
from sociable.benchmarks.anteval.iep.metrics import name_player_criterion
from sociable.benchmarks.anteval.iep.records import Recall
from sociable.core.prompts import Prompts, put_on_one_line, quote
from sociable.core.records import Episode, Judgment, Usage, Verdict
from sociable.engine.seats import Seat
from sociable.engine.study import ShownQuestion
from sociable.judging.forms import make_matching_form
from sociable.judging.protocol import Answer, Leaning, Question, Reading, SharedAnswers, Unread, make_judgment
from sociable.models.protocol import ChatMessage
from sociable.models.replies import find_closing_object, find_field, find_reason, make_schema

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SCHEMA = make_schema(reason={"type": "string"}, matches={"type": "array", "items": {"type": "array"}})


class Exchange(Protocol):
    """A scenario in which players learn key points."""

    @property
    def title(self) -> str: ...

    @property
    def key_points(self) -> Sequence[KeyPoint]: ...

    @property
    def counted(self) -> Mapping[str, Sequence[int]]:
        """The places of the key points that count, by player."""


@dataclass(frozen=True, slots=True)
class PointQuestion:
    """Whether what somebody claimed at one time states one key point."""

    recall: Recall
    place: int
    """The key point's place among those of the scenario, from 0."""

    @property
    def criterion(self) -> str:
        return name_player_criterion(self.recall.moment, self.recall.player, self.place)

    def show(self, scenario: Exchange) -> ShownQuestion:
        """The question as a person reads it."""
        player, claims = self.recall.player, "\n".join(f"- {claim}" for claim in self.recall.claims)
        question = "Does one of the claims state this fact, with what is particular about it?"
        point = scenario.key_points[self.place].point
        return ShownQuestion(f"{scenario.title}. {player} claims to know:", player, claims, f"{question} {point}")


def list_questions(scenario: Exchange, recalls: Sequence[Recall]) -> dict[str, PointQuestion]:
    """All questions to judges about what players recalled, by criterion. A player who claims nothing needs no judge."""
    claimed = [recall for recall in recalls if recall.claims]
    questions = [PointQuestion(recall, place) for recall in claimed for place in scenario.counted[recall.player]]
    return {question.criterion: question for question in questions}


def find_question(recalls: Sequence[Recall], criterion: str) -> PointQuestion:
    """One of these questions, by its criterion."""
    moment, _, rest = criterion.partition("|")
    player, _, number = rest.rpartition("|")
    recall = next(each for each in recalls if (each.moment, each.player) == (moment, player))
    return PointQuestion(recall, int(number) - 1)


class ClaimJudge:
    """Asks once for all points of a recall, however many of its points are asked about at the same time."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts
        self._answers: SharedAnswers[Pairs] = SharedAnswers()

    async def judge(
        self, scenario: Exchange, episode: Episode, asked: PointQuestion, seat: Seat, *, alone: bool = False
    ) -> Judgment:
        """A judge's verdict on one point; ``alone``: no other point of the recall is asked about.

        Raises RunFailure and RunStopped.
        """
        criterion = asked.criterion
        recall, places = asked.recall, scenario.counted[asked.recall.player]
        own = places.index(asked.place)
        # Rules need no call that points could share; those that err do so point by point.
        shared = f"{recall.moment}|{recall.player}" if seat.model else criterion
        scope = seat.make_scope(episode.id, f"{seat.name}|{shared}")
        found = await self._answers.ask(self._make_question(scenario, places, recall.claims, own), seat, scope)
        # One call for all points: it is booked with the first of them.
        usage = found.usage if alone or asked.place == min(places) else Usage()
        if isinstance(found.answer, Unread):
            verdict, reason = Verdict.UNSCORED, f"{seat.name}: {found.answer.problem}"
        else:
            claim = match_claims(found.answer.value, len(places), len(recall.claims)).get(own)
            verdict = Verdict.LOSS if claim is None else Verdict.WIN
            reason = found.answer.reason if claim is None else f"“{recall.claims[claim]}”"
        return make_judgment(seat, episode, criterion, verdict, reason, usage)

    def _make_question(self, scenario: Exchange, places: Sequence[int], claims: Sequence[str], own: int) -> Question[Pairs]:
        """The question about all points at these places; a reference judge errs about, or favours, the one at ``own`` of them."""
        points = [scenario.key_points[place] for place in places]
        stated = [(own, claim) for claim in range(len(claims))]

        def apply_rule() -> Reading[Pairs]:
            unworded = next((place for place in places if scenario.key_points[place].wording is None), None)
            if unworded is not None:
                return Unread(f"nobody wrote down how key point {unworded + 1} is said")
            return Answer(_find_pairs(tuple(points), tuple(claims)))

        def err(pairs: Pairs, _generator: random.Random) -> Pairs:
            return [] if own in match_claims(pairs, len(points), len(claims)) else stated

        return Question(
            lambda: ask_judge(scenario.title, points, claims, self._prompts),
            lambda text: parse_matches(text, len(points), len(claims)),
            SCHEMA,
            apply_rule,
            make_matching_form(len(points), LETTERS[: len(claims)]),
            Leaning((stated,), err),
        )


@lru_cache(maxsize=64)
def _find_pairs(points: tuple[KeyPoint, ...], claims: tuple[str, ...]) -> Pairs:
    """The pairs by the points' wordings, found once for all points of a recall."""
    return find_pairs(points, claims)


def ask_judge(title: str, points: Sequence[KeyPoint], claims: Sequence[str], prompts: Prompts) -> list[ChatMessage]:
    """The question which of these key points, by number, are stated by which claims, by letter."""
    facts = [f"{number}. {put_on_one_line(each.point)}" for number, each in enumerate(points, start=1)]
    said = [f"{letter}. {put_on_one_line(claim)}" for letter, claim in zip(LETTERS, claims, strict=False)]
    text = prompts["judge_claims"].render(subject=quote(title), points=quote("\n".join(facts)), claims=quote("\n".join(said)))
    return [{"role": "system", "content": prompts["judge_system"].render()}, {"role": "user", "content": text}]


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
