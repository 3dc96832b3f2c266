"""The judge of which key points a player's claims state (section 4.1): one call for all points of one player at one time.

Each point is a criterion of its own, so that a panel decides point by point and people can check single decisions.
WIN: stated by a claim that no other point was given; LOSS: not stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sociable.benchmarks.anteval.iep.cards import IepScenario, KeyPoint, KnowledgeCard
from sociable.benchmarks.anteval.iep.claims import Pairs, find_pairs, match_claims
from sociable.benchmarks.anteval.iep.metrics import name_player_criterion
from sociable.benchmarks.anteval.iep.records import IepEpisode, Recall
from sociable.core.prompts import Prompts, put_on_one_line, quote
from sociable.core.records import Judgment, Usage, Verdict
from sociable.engine.seats import Seat
from sociable.engine.study import ShownQuestion
from sociable.judging.protocol import Answer, Question, Reading, SharedAnswers, Unread, make_judgment
from sociable.models.protocol import ChatMessage
from sociable.models.replies import find_closing_object, find_field, find_reason, make_schema

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SCHEMA = make_schema(reason={"type": "string"}, matches={"type": "array", "items": {"type": "array"}})


@dataclass(frozen=True, slots=True)
class PointQuestion:
    """Whether what somebody claimed at one time states one key point."""

    recall: Recall
    place: int
    """The key point's place on its card, from 0."""

    @property
    def criterion(self) -> str:
        return name_player_criterion(self.recall.moment, self.recall.player, self.place)

    def show(self, card: KnowledgeCard) -> ShownQuestion:
        """The question as a person reads it."""
        player, claims = self.recall.player, "\n".join(f"- {claim}" for claim in self.recall.claims)
        question = "Does one of the claims state this fact, with what is particular about it?"
        point = card.key_points[self.place].point
        return ShownQuestion(f"{card.title}. {player} claims to know:", player, claims, f"{question} {point}")


def list_questions(scenario: IepScenario, episode: IepEpisode) -> dict[str, PointQuestion]:
    """All questions to judges about an episode, by criterion. A player who claims nothing needs no judge."""
    recalls = [] if episode.npc_failure else [recall for recall in episode.recalls if recall.claims]
    questions = [PointQuestion(recall, place) for recall in recalls for place in scenario.counted[recall.player]]
    return {question.criterion: question for question in questions}


class ClaimJudge:
    """Asks once for all points of a recall, however many of its points are asked about at the same time."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts
        self._answers: SharedAnswers[Pairs] = SharedAnswers()

    async def judge(self, scenario: IepScenario, episode: IepEpisode, criterion: str, seat: Seat) -> Judgment:
        asked = list_questions(scenario, episode)[criterion]
        recall, places = asked.recall, scenario.counted[asked.recall.player]
        scope = seat.make_scope(episode.id, f"{seat.name}|{recall.moment}|{recall.player}")
        found = await self._answers.ask(self._make_question(scenario.card, places, recall.claims), seat, scope)
        # One call for all points: it is booked with the first of them.
        usage = found.usage if asked.place == min(places) else Usage()
        if isinstance(found.answer, Unread):
            verdict, reason = Verdict.UNSCORED, f"{seat.name}: {found.answer.problem}"
        else:
            claim = match_claims(found.answer.value, len(places), len(recall.claims)).get(places.index(asked.place))
            verdict = Verdict.LOSS if claim is None else Verdict.WIN
            reason = found.answer.reason if claim is None else f"“{recall.claims[claim]}”"
        return make_judgment(seat, episode, criterion, verdict, reason, usage)

    def _make_question(self, card: KnowledgeCard, places: Sequence[int], claims: Sequence[str]) -> Question[Pairs]:
        points = [card.key_points[place] for place in places]

        def apply_rule() -> Reading[Pairs]:
            unworded = next((place for place in places if card.key_points[place].wording is None), None)
            if unworded is not None:
                return Unread(f"nobody wrote down how key point {unworded + 1} is said")
            return Answer(find_pairs(points, claims))

        return Question(
            lambda: ask_judge(card, points, claims, self._prompts),
            lambda text: parse_matches(text, len(points), len(claims)),
            SCHEMA,
            apply_rule,
        )


def ask_judge(card: KnowledgeCard, points: Sequence[KeyPoint], claims: Sequence[str], prompts: Prompts) -> list[ChatMessage]:
    """The question which of these key points, by number, are stated by which claims, by letter."""
    facts = [f"{number}. {put_on_one_line(each.point)}" for number, each in enumerate(points, start=1)]
    said = [f"{letter}. {put_on_one_line(claim)}" for letter, claim in zip(LETTERS, claims, strict=False)]
    text = prompts["judge_claims"].render(
        subject=quote(card.title), points=quote("\n".join(facts)), claims=quote("\n".join(said))
    )
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
