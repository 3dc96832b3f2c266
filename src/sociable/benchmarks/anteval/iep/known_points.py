"""Lists of claims of which it is known whether they state a key point: they show how often a judge of claims is right.

By rules one key point of a loaded card is left out or damaged, among others in the card's own words. Each such list is asked
about twice, once about the point that it does not state and once about one that it does, so that nothing in the list alone gives
the answer away. A damaged claim has none of the wordings that the card lists. For the bundled cards there are lists by hand too.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from sociable.benchmarks.anteval.iep.cards import IepScenario, KeyPoint, KnowledgeCard, load_cards
from sociable.benchmarks.anteval.iep.claims import tidy_claim
from sociable.benchmarks.anteval.iep.judge import ClaimJudge, PointQuestion
from sociable.benchmarks.anteval.iep.metrics import METRICS
from sociable.benchmarks.anteval.iep.records import IepEpisode, Recall, When
from sociable.benchmarks.anteval.rules import DATA
from sociable.core.names import find_words
from sociable.core.prompts import Prompts
from sociable.core.records import Judgment, Verdict
from sociable.core.seeding import make_generator
from sociable.core.wording import has_wording
from sociable.engine.seats import Seat
from sociable.engine.study import JudgingKind, ShownQuestion
from sociable.judging.auditing.known_answers import KnownAnswer, Said, load_known_answers

FILE = DATA / "judge_audit" / "key_points.jsonl"
KIND = "key point"
PLAYER = "the player"
"""Who claims what a rule has put together. Judges are shown no name."""
FEWEST_CLAIMS, MOST_CLAIMS = 3, 6


@dataclass(frozen=True, slots=True)
class _Told:
    """A card of which every key point counts, for whoever claims to know it."""

    title: str
    key_points: Sequence[KeyPoint]
    counted: Mapping[str, Sequence[int]]


class PointKind(JudgingKind):
    """Whether a list of claims, each a turn of its own, states the key point whose number on its card, from 1, is ``about``."""

    name = KIND
    metrics = tuple(metric.name for metric in METRICS.values() if metric.group != "conduct")
    asks_for = "matches"

    def __init__(self, scenarios: Mapping[str, IepScenario], prompts: Prompts) -> None:
        self._cards = {name: scenario.card for name, scenario in scenarios.items()}
        self._prompts = prompts

    def list_known(self) -> Iterator[KnownAnswer]:
        yield from make_known([*self._cards.values()])
        bundled = {card.id: card.key_points for card in load_cards(None, skip_invalid=False).items}
        for known in load_known_answers(FILE):
            card = self._cards.get(known.scenario)
            # A user's copy of a card may have its id still, and other key points.
            if card is not None and card.key_points == bundled[card.id]:
                yield known

    def show(self, known: KnownAnswer) -> ShownQuestion:
        told, asked = self._make_asked(known)
        return asked.show(told)

    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> Judgment:
        told, asked = self._make_asked(known)
        episode = IepEpisode(id=name, scenario=known.scenario, cluster=known.cluster, recalls=(asked.recall,))
        # No answer is shared: the same name may be given to other words.
        return await ClaimJudge(self._prompts).judge(told, episode, asked, seat, alone=True)

    def _make_asked(self, known: KnownAnswer) -> tuple[_Told, PointQuestion]:
        card = self._cards[known.scenario]
        claims = tuple(tidy_claim(said.content) for said in known.subject)
        recall = Recall(player=known.speaker, when=When.AFTER, claims=claims)
        told = _Told(card.title, card.key_points, {known.speaker: range(len(card.key_points))})
        return told, PointQuestion(recall, int(known.about) - 1)


@dataclass(frozen=True, slots=True)
class Damaged:
    """What is claimed in the place of a key point and does not state it; empty: nothing."""

    claim: str
    size: float = 1.0
    """The share of the point's words that are missing."""


Damage = Callable[[KnowledgeCard, KeyPoint, Sequence[KnowledgeCard], random.Random], Iterator[Damaged]]
"""Damages a key point of a card in one way after another; some take words from the other cards there are."""


def make_known(cards: Sequence[KnowledgeCard]) -> Iterator[KnownAnswer]:
    """Two known answers for each card and kind of damage, as far as the cards allow it; the same at each time."""
    for card in cards:
        if len(card.key_points) > FEWEST_CLAIMS:
            for name in DAMAGES:
                yield from _make_twins(card, name, cards, make_generator(0, KIND, card.id, name))


def _make_twins(
    card: KnowledgeCard, name: str, cards: Sequence[KnowledgeCard], generator: random.Random
) -> Iterator[KnownAnswer]:
    """One list of claims, asked about the point that it does not state and about one that it does."""
    points = generator.sample(card.key_points, len(card.key_points))
    tried = ((point, damaged) for point in points for damaged in DAMAGES[name](card, point, cards, generator))
    found = next((each for each in tried if not _states_any(each[1].claim, card)), None)
    if found is None:
        return
    missing, damaged = found
    stated = [point for point in points if point is not missing][: generator.randint(FEWEST_CLAIMS, MOST_CLAIMS - 1)]
    claims = [point.point for point in stated] + [damaged.claim] * bool(damaged.claim)
    generator.shuffle(claims)
    subject = tuple(Said(speaker=PLAYER, content=claim) for claim in claims)
    make = partial(KnownAnswer, kind=KIND, scenario=card.id, cluster=card.id, speaker=PLAYER, subject=subject)
    stem, place = f"{card.id}|{name}", card.key_points.index
    yield make(id=f"{stem}|no", about=str(place(missing) + 1), truth=Verdict.LOSS, damage=name, size=damaged.size)
    yield make(id=f"{stem}|yes", about=str(place(stated[0]) + 1), truth=Verdict.WIN)


def _states_any(claim: str, card: KnowledgeCard) -> bool:
    return any(claim == point.point or has_wording(claim, point.wording or ()) for point in card.key_points)


# Kinds of damage.


def _leave_out(
    card: KnowledgeCard, point: KeyPoint, cards: Sequence[KnowledgeCard], generator: random.Random
) -> Iterator[Damaged]:
    yield Damaged("")


def _tell_of_another(
    card: KnowledgeCard, point: KeyPoint, cards: Sequence[KnowledgeCard], generator: random.Random
) -> Iterator[Damaged]:
    """Facts of other cards of the kind; where both subjects have a name, the fact is told of this card's."""
    own = find_subject(card)
    for other in generator.sample(cards, len(cards)):
        if other is card or other.kind != card.kind:
            continue
        its = find_subject(other)
        for each in generator.sample(other.key_points, len(other.key_points)):
            told = re.sub(rf"\b{re.escape(its)}\b", own, each.point, flags=re.IGNORECASE) if own and its else each.point
            if told != each.point or not (own and its):
                yield Damaged(told[0].upper() + told[1:])


NAMED = 0.6
"""The share of a card's key points that must name its subject."""


def find_subject(card: KnowledgeCard) -> str:
    """The longest name in a card's title by which its key points call their subject; empty where there is none."""
    words = [word.strip(",.") for word in card.title.split()]
    found = ""
    for begin, end in combinations(range(len(words) + 1), 2):
        name = " ".join(words[begin:end])
        times = sum(has_wording(each.point, ((name,),)) for each in card.key_points)
        if len(name) > len(found) and times >= NAMED * len(card.key_points) and _is_name(words, begin, end):
            found = name
    return re.sub("^The ", "the ", found)


def _is_name(words: Sequence[str], begin: int, end: int) -> bool:
    """Whether these words of a title are a noun with its article, or a name; one word of a longer name is none."""
    if words[begin].lower() == "the":
        return end - begin > 1
    return words[begin][:1].isupper() and not (end - begin == 1 and begin and words[begin - 1][:1].isupper())


_BREAKS = (
    "“{} …” That is as far as it went before we were interrupted.",
    "All that I caught of one answer is “{} …”",
    "“{} …” The rest of that sentence was lost in the noise.",
    "There was something that began with “{} …”, and no more of it.",
)
_KEPT = (0.5, 0.4, 0.3)
"""The shares of its words after which a sentence is broken off."""


def _break_off(
    card: KnowledgeCard, point: KeyPoint, cards: Sequence[KnowledgeCard], generator: random.Random
) -> Iterator[Damaged]:
    words = point.point.split()
    # Without wordings nothing tells whether the telling detail stands in the longer beginnings.
    shares = generator.sample(_KEPT, len(_KEPT)) if point.wording else _KEPT[-1:]
    for kept in (max(3, int(share * len(words))) for share in shares):
        if kept < len(words):
            begun = " ".join(words[:kept]).rstrip(",.;:")
            yield Damaged(generator.choice(_BREAKS).format(begun), 1 - kept / len(words))


def _end_otherwise(
    card: KnowledgeCard, point: KeyPoint, cards: Sequence[KnowledgeCard], generator: random.Random
) -> Iterator[Damaged]:
    """The point's beginning with the ends of facts of other cards."""
    others = [each for other in cards if other is not card for each in other.key_points]
    for joint in generator.sample(_JOINTS, len(_JOINTS)):
        begin, end = _take_apart(point, joint)
        ends = [_take_apart(each, joint)[1] for each in others] if end else []
        for its in generator.sample(ends, len(ends)):
            if its and its != end and not _REFERRING & {*find_words(its)}:
                yield Damaged(f"{begin} {joint} {its}", len(end.split()) / len(point.point.split()))


_CLAUSES = ("because", "only while", "only when", "only if", "unless", "until", "if", "when", "anybody who")
"""Words after which a clause runs to the end of the sentence."""
_JOINTS = (
    *_CLAUSES,
    *("in the", "in a", "into the", "inside the", "under the", "on the", "over the", "behind the", "at the", "by the", "by a"),
    *("to the", "to a", "from the", "from a", "with a", "by", "from", "with"),
)
_OPENINGS = frozenset(
    {"after", "any", "anybody", "anyone", "at", "before", "by", "each", "every", "if", "in", "on", "once", "unless", "when"}
    | {"wherever", "while", "whoever", "without"}
)
"""First words of sentences whose end may hold more than what the joint begins."""
_REFERRING = frozenset(
    {"and", "he", "him", "his", "she", "her", "hers", "it", "its", "itself", "one", "that", "this", "these", "those"}
    | {"they", "them", "their", "theirs"}
)
"""Words that an end may not have: they refer to its own beginning."""


def _take_apart(point: KeyPoint, joint: str) -> tuple[str, str]:
    """The sentence before and after the joint; two empty texts where it does not come apart there."""
    begin, _, end = point.point.rpartition(f" {joint} ")
    words = begin.split()
    if len(words) < 4 or words[0].lower() in _OPENINGS or "," in end:
        return "", ""
    if joint not in _CLAUSES and (len(words) < 5 or not {*_CLAUSES}.isdisjoint(words) or not 2 <= len(end.split()) <= 5):
        return "", ""
    return begin, end


DAMAGES: Mapping[str, Damage] = {
    "not told": _leave_out,
    "fact of another card": _tell_of_another,
    "detail dropped": _break_off,
    "one half wrong": _end_otherwise,
}
