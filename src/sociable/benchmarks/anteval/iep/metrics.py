"""Information Exchange Precision (section 4.1): verdicts to scores, scores to estimates. Pure.

p = s / k: of the k key points of a card those that a player's claims state, one to one. A session's IEP is the mean of p over
its players, a run's the mean over sessions: the paper prints a sum. The same before the session is the baseline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from sociable.benchmarks.anteval.iep.cards import KnowledgeCard
from sociable.benchmarks.anteval.iep.records import IepEpisode, When
from sociable.benchmarks.anteval.session import TableTurn
from sociable.core.records import PANEL, EpisodeStatus, Estimate, NoValue, Outcome, Score, Verdict, Verdicts
from sociable.core.seeding import derive_seed
from sociable.core.wording import expresses
from sociable.statistics.estimates import estimate_jointly, estimate_proportion

IEP, BEFORE, GAIN = "iep", "iep_before", "iep_gain"
MAIN = (IEP, BEFORE)
"""Of a session, where somebody judged."""
CONDUCT = ("told", "passed", "unreadable")
"""Shares: of the key points those the NPC says in its card's wordings; of the players' turns those that were let pass; of their
answers to what they know those in which no list of claims was found."""


def kind_metric(kind: str) -> str:
    return f"{IEP}/{kind}"


def player_criterion(when: When, player: str, place: int) -> str:
    """What judges decide: whether a player's claims state the key point at a place of its card, from 0."""
    return f"{when.value}|{player}|{place + 1}"


def score_session(
    card: KnowledgeCard, counted: Mapping[str, Sequence[int]], episode: IepEpisode, verdicts: Verdicts, *, judged: bool
) -> list[Score]:
    """All scores of one episode. ``counted``: by player the key points that count; ``judged``: whether there is a panel."""
    return [episode.score(*each) for each in _values(card, counted, episode, verdicts, judged=judged)]


def _values(
    card: KnowledgeCard, counted: Mapping[str, Sequence[int]], episode: IepEpisode, verdicts: Verdicts, *, judged: bool
) -> Iterator[tuple[str, float | None, Outcome, str]]:
    for metric, when in ((IEP, When.AFTER), (BEFORE, When.BEFORE)) if judged else ():
        names = [metric, *([kind_metric(card.kind)] if when is When.AFTER else [])]
        try:
            shares = _shares(counted, episode, verdicts, when)
        except NoValue as missing:
            yield from ((name, None, missing.outcome, missing.reason) for name in names)
            continue
        reason = "; ".join(f"{player} {share:.2f}{note}" for player, (share, note) in shares.items())
        yield from ((name, fmean(share for share, _ in shares.values()), Outcome.SCORED, reason) for name in names)
    try:
        _check(episode)
    except NoValue as missing:
        yield from ((name, None, missing.outcome, missing.reason) for name in CONDUCT)
        return
    worded = [place for place, point in enumerate(card.key_points) if point.wording is not None]
    told = given_away(card, episode.turns)
    if worded:
        yield "told", len(told) / len(worded), Outcome.SCORED, ""
    else:
        yield "told", None, Outcome.NOT_REACHED, "the card says nothing about how its key points are said"
    yield "passed", fmean(turn.passed for turn in episode.turns if turn.speaker != card.npc.name), Outcome.SCORED, ""
    yield "unreadable", fmean(recall.unreadable for recall in episode.recalls), Outcome.SCORED, ""


def _check(episode: IepEpisode) -> None:
    if episode.status is EpisodeStatus.ERRORED:
        raise NoValue(Outcome.ERRORED, episode.error)
    if episode.npc_failure:
        raise NoValue(Outcome.UNSCORED, episode.npc_failure)


def _shares(
    counted: Mapping[str, Sequence[int]], episode: IepEpisode, verdicts: Verdicts, when: When
) -> dict[str, tuple[float, str]]:
    """By player p = s / k and a note. Key points that judges could not decide are no part of k."""
    _check(episode)
    claims = {recall.player: recall.claims for recall in episode.recalls if recall.when is when}
    shares = {}
    for player, places in counted.items():
        if not places:
            continue
        if not claims[player]:
            # A result: who claims nothing knows nothing.
            shares[player] = (0.0, "")
            continue
        found = [_verdict(verdicts, when, player, place) for place in places]
        decided = [verdict is Verdict.WIN for verdict, _ in found if verdict in (Verdict.WIN, Verdict.LOSS)]
        if not decided:
            raise NoValue(Outcome.UNSCORED, next((why for _, why in found if why), "the judges are split"))
        left = len(found) - len(decided)
        shares[player] = (fmean(decided), f" ({left} of {len(found)} undecided)" if left else "")
    if not shares:
        raise NoValue(Outcome.NOT_REACHED, "the card has no key point that counts")
    return shares


def _verdict(verdicts: Verdicts, when: When, player: str, place: int) -> tuple[Verdict, str]:
    found = verdicts.get((player_criterion(when, player, place), PANEL))
    if found is None:
        raise NoValue(Outcome.ERRORED, "judging was not finished")
    return found


def given_away(card: KnowledgeCard, turns: Sequence[TableTurn]) -> dict[int, int]:
    """By place of a key point the index of the first of the NPC's turns that says it, by the card's wordings."""
    own = [turn for turn in turns if turn.speaker == card.npc.name and not turn.passed]
    first = {
        place: next((turn.index for turn in own if expresses(turn.content, point.wording)), None)
        for place, point in enumerate(card.key_points)
        if point.wording is not None
    }
    return {place: index for place, index in first.items() if index is not None}


def estimate_all(scores: Sequence[Score], *, seed: int, confidence: float = 0.95) -> list[Estimate]:
    """IEP, its baseline and the difference; by kind of card; conduct. Intervals resample sessions."""
    metrics = list(dict.fromkeys(score.metric for score in scores))
    found = [_mean(metric, scores, seed, confidence) for metric in metrics]
    if set(MAIN) <= set(metrics):
        found.append(
            estimate_jointly(
                GAIN,
                scores,
                MAIN,
                lambda means: means[..., 0] - means[..., 1],
                seed=derive_seed(seed, "bootstrap", GAIN),
                confidence=confidence,
            )
        )
    return found


def _mean(metric: str, scores: Sequence[Score], seed: int, confidence: float) -> Estimate:
    """Over sessions, with a bootstrap. Where all are alike it sees nothing, and the interval is that of as many yes or no."""
    seed = derive_seed(seed, "bootstrap", metric)
    found = estimate_jointly(metric, scores, [metric], lambda means: means[..., 0], seed=seed, confidence=confidence)
    return found if found.low is not None else estimate_proportion(metric, scores, confidence)
