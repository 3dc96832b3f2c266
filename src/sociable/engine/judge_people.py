"""Judges asked about what people have judged: sets that others have published, and the sheets of a run."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from sociable.core.prompts import load_package_prompts, quote
from sociable.core.records import Episode, Judgment, Verdict
from sociable.core.seeding import derive_seed
from sociable.engine.seats import Seat
from sociable.engine.study import JudgingKind
from sociable.judging.auditing.card import AuditAnswer, Breakdown, PeopleCard
from sociable.judging.auditing.findings import count_causes
from sociable.judging.auditing.known_answers import KnownAnswer, Said
from sociable.judging.auditing.labelled_sets import LabelledSet
from sociable.judging.auditing.plan import Ask
from sociable.judging.pairwise import Comparison, Pair, judge_pair
from sociable.judging.protocol import make_judgment
from sociable.judging.rubric import SOTOPIA, load_rubric_prompts, rate
from sociable.models.protocol import ChatMessage
from sociable.statistics.agreement import correlate_ranks, measure_cohen, measure_fleiss
from sociable.statistics.intervals import Interval, bootstrap_rank_correlation, estimate_mean

EMPTY = "(nothing)"


class PeopleKind(JudgingKind):
    """What people have judged: the right verdict is that of most of them."""

    layout: str
    metrics = ()

    def __init__(self, name: str, layout: str) -> None:
        self.name = name  # type: ignore[misc]
        self.layout = layout
        self.labels: dict[str, tuple[Verdict, ...]] = {}
        """Each person's verdict, by item."""
        self.ratings: dict[str, tuple[Mapping[str, float], ...]] = {}
        """Each person's ratings, by item, where people rated."""


class FamilyKind(JudgingKind):
    """Items of two runs, one of a model of the judge's own family; the known answer is what other judges said."""

    metrics = ()

    @abstractmethod
    def list_both(self) -> list[tuple[KnownAnswer, KnownAnswer]]:
        """The items on which other judges gave both runs the same verdict: of the own family's run, and of the other."""

    def list_known(self) -> list[KnownAnswer]:
        return [known for both in self.list_both() for known in both]


class PublishedPairs(PeopleKind):
    """The pairs of a published set, asked about in words that fit any instruction."""

    is_pair = True
    has_sides = True

    def __init__(self, source: LabelledSet) -> None:
        super().__init__(f"pairs of {source.name}", source.layout)
        self._pairs = {f"{source.name}/{pair.id}": pair for pair in source.pairs}
        self.labels = {name: pair.labels for name, pair in self._pairs.items()}
        placeholders = {"preference_system": frozenset[str](), "preference": frozenset({"instruction", "first", "second"})}
        self._prompts = load_package_prompts("sociable.judging", placeholders)

    def list_known(self) -> list[KnownAnswer]:
        known = []
        for name, pair in self._pairs.items():
            sides = ((Said(speaker="a response", content=text.strip() or EMPTY),) for text in (pair.first, pair.second))
            if pair.majority is not None:
                known.append(_make_known(self.name, name, pair.majority, *sides))
        return known

    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> Judgment:
        pair = self._pairs[known.scenario]

        def write(first: str, second: str) -> list[ChatMessage]:
            asked = self._prompts["preference"].render(
                instruction=quote(pair.instruction), first=quote(first or EMPTY), second=quote(second or EMPTY)
            )
            system: ChatMessage = {"role": "system", "content": self._prompts["preference_system"].render()}
            return [system, {"role": "user", "content": asked}]

        episode = Episode(id=name, scenario=known.scenario, cluster=known.cluster)
        return await judge_pair(Pair(pair.first, pair.second), Comparison(write), seat, episode, "preference")


class RatedJudgment(Judgment):
    """A judge's ratings of one participant, kept as a judgment; UNSCORED where a dimension has none."""

    ratings: Mapping[str, int] = {}


class PublishedRatings(PeopleKind):
    """The participants of a published set of episodes that people have rated, by the rubric and its prompts."""

    def __init__(self, source: LabelledSet) -> None:
        super().__init__(f"ratings of {source.name}", source.layout)
        self._rated = {f"{source.name}/{item.id}": item for item in source.ratings}
        self.ratings = {name: item.ratings for name, item in self._rated.items()}
        self._prompts = load_rubric_prompts()

    def list_known(self) -> list[KnownAnswer]:
        known = []
        for name, item in self._rated.items():
            said = [Said(speaker=speaker, content=words) for speaker, words in item.rated.conversation]
            own = [Said(speaker=item.rated.name, content=EMPTY)] if item.rated.name not in {each.speaker for each in said} else []
            made = KnownAnswer(
                id=name,
                kind=self.name,
                scenario=name,
                cluster=item.episode,
                speaker=item.rated.name,
                subject=(*said, *own),
                truth=Verdict.TIE,
            )
            known.append(made)
        return known

    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> Judgment:
        episode = Episode(id=name, scenario=known.scenario, cluster=known.cluster)
        found = await rate(SOTOPIA, self._rated[known.scenario].rated, seat, self._prompts, identifier=name, episode=episode)
        verdict = Verdict.UNSCORED if found.failures else Verdict.TIE
        reason = "; ".join(f"{dimension}: {why}" for dimension, why in found.failures.items())
        judged = make_judgment(seat, episode, SOTOPIA.name, verdict, reason, found.usage)
        return RatedJudgment(**dict(judged), ratings=found.ratings)


def _make_known(kind: str, name: str, truth: Verdict, subject: tuple[Said, ...], golden: tuple[Said, ...] = ()) -> KnownAnswer:
    assert truth is not Verdict.UNSCORED
    return KnownAnswer(
        id=name,
        kind=kind,
        scenario=name,
        cluster=name,
        speaker=subject[0].speaker,
        subject=subject,
        golden=golden,
        truth=truth,
    )


def make_people_kinds(source: LabelledSet) -> list[PeopleKind]:
    """What a judge can be asked of a published set."""
    pairs: list[PeopleKind] = [PublishedPairs(source)] if source.pairs else []
    return [*pairs, *([PublishedRatings(source)] if source.ratings else [])]


def make_people_card(
    kind: PeopleKind, asks: Sequence[Ask], answers: Mapping[str, AuditAnswer], failures: Mapping[str, int] = {}
) -> PeopleCard:
    """How far a judge's ``answers``, by the name of what was asked, agree with people. ``failures`` as for other kinds."""
    given = [(ask, answers[ask.name]) for ask in asks if ask.name in answers]
    read = [(ask, answer) for ask, answer in given if answer.preference is not None]
    # People among themselves: over everything that they judged, not only what most of them agree on.
    labels = list(kind.labels.values())
    counts = list(map(len, labels or kind.ratings.values()))
    card = PeopleCard(
        source=kind.name,
        layout=kind.layout,
        items=len(given),
        people=max(counts, default=0),
        unread=len(given) - len(read),
        missing=len(asks) - len(given),
        causes=count_causes([answer for _, answer in given], failures),
        undecided=len(labels) - len(list(kind.list_known())) if labels else 0,
    )
    if not read:
        return card
    if kind.ratings:
        return card.model_copy(update={"by_dimension": tuple(_correlate(kind, read))})
    clusters = [ask.known.cluster for ask, _ in read]
    truths, verdicts = [ask.known.truth for ask, _ in read], [answer.verdict for _, answer in read]
    agreement = estimate_mean([float(one is other) for one, other in zip(truths, verdicts, strict=True)], clusters)
    kappa = measure_cohen(truths, verdicts, seed=derive_seed(0, "people", kind.name), clusters=clusters)
    several = [each for each in labels if len(each) == max(counts)]
    sides = [answer.first_side for _, answer in read if answer.first_side is not None]
    return card.model_copy(
        update={
            "agreement": _break("agreement", agreement, len(read)),
            "kappa": _break("Cohen's kappa", kappa, len(read)),
            "among": measure_fleiss(several).value if max(counts) > 1 else None,
            "first_side": fmean(sides) if sides else None,
        }
    )


def _correlate(kind: PeopleKind, read: Sequence[tuple[Ask, AuditAnswer]]) -> list[Breakdown]:
    found: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    for ask, answer in read:
        for dimension, rating in answer.ratings.items():
            people = [own[dimension] for own in kind.ratings[ask.known.scenario] if dimension in own]
            if people:
                found[dimension].append((float(rating), fmean(people), ask.known.cluster))
    parts = []
    for dimension, own in found.items():
        ours, theirs, clusters = (list(column) for column in zip(*own, strict=True))
        value = correlate_ranks(ours, theirs).spearman
        low, high = bootstrap_rank_correlation(ours, theirs, clusters, seed=0) if value is not None else (None, None)
        parts.append(Breakdown(group=dimension, value=value, low=low, high=high, items=len(own)))
    return parts


def _break(group: str, found: Interval, items: int) -> Breakdown:
    return Breakdown(group=group, value=found.value, low=found.low, high=found.high, items=items)
