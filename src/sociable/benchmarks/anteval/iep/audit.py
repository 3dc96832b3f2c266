"""The audit of information exchange: can a card be known without its NPC, and does the rule see what is said?

A shortcut claims to know a card from what everybody is told, or from other cards; of good cards it states nothing. What
readers made of the bundled cards says more: their guesses from the scene alone, whether a card can be known without its NPC;
key points in their own words, on which the wordings were not written, what ``reference/rule`` sees and misses; claims that
only come close to a key point, or say it in an unusual way, where the rule errs, kind by kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Annotated, Literal, get_args

from pydantic import Field

from sociable.benchmarks.anteval.iep.cards import IepScenario, KnowledgeCard, load_cards
from sociable.benchmarks.anteval.iep.claims import find_pairs, match_claims
from sociable.benchmarks.anteval.rules import DATA
from sociable.core.data_files import Text
from sociable.core.records import Record
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, format_figure, format_interval
from sociable.core.wording import has_wording
from sociable.reports.audits import (
    ShortcutResult,
    find_alike_texts,
    make_shortcuts_plot,
    make_shortcuts_table,
    rate_shortcuts,
    shorten_list,
    sort_by_distance,
)
from sociable.statistics.intervals import Interval, estimate_mean

TOLERANCE = 0.05
"""The largest share of a card that may be known without its NPC, on data that are to be trusted."""

_OF = "key points"


class CheckedCard(Record):
    """Readers' work on one card: guesses at its key points, and its key points in other words."""

    card: str
    guesses: tuple[str, ...]
    """The guesses of a reader of title, scene and 'who', as many as there are key points."""
    retold: tuple[str, ...]
    """Each key point in other words, in order, by a writer who did not see the wordings."""


@cache
def load_checked_cards() -> Mapping[str, CheckedCard]:
    """The readers' results on the bundled cards, by the id of the card."""
    lines = (DATA / "cards_checked.jsonl").read_text(encoding="utf-8").splitlines()
    return {each.card: each for each in map(CheckedCard.model_validate_json, lines)}


class HardClaim(Record):
    """A claim of which it is hard, by wordings, to say whether it states a key point, and not in doubt by its meaning."""

    card: Text
    point: Annotated[int, Field(ge=1)]
    """The number of the key point on its card, from 1."""
    claim: Text
    kind: Literal[
        "paraphrase",
        "telegram",
        "two facts",
        "more, harmless",
        "half right",
        "detail missing",
        "same words, other fact",
        "more, changed by it",
        "left open or denied",
    ]
    states: bool
    """Whether it states the key point. It states no other one, save that of two facts the other is another claim's as well."""


HARD_KINDS: tuple[str, ...] = get_args(HardClaim.model_fields["kind"].annotation)


@cache
def load_hard_claims() -> Mapping[str, Sequence[HardClaim]]:
    """The hard claims on the bundled cards, by the id of the card: a judge is asked about all claims on a card at once."""
    claims = map(HardClaim.model_validate_json, (DATA / "claims_hard.jsonl").read_text(encoding="utf-8").splitlines())
    by_card: dict[str, list[HardClaim]] = {}
    for each in claims:
        by_card.setdefault(each.card, []).append(each)
    return by_card


def rate_matches(claims: Sequence[HardClaim], pairs: Iterable[tuple[int, int]], points: int) -> list[bool]:
    """Whether each of a card's hard claims is decided rightly by a judge's ``pairs``: its key point gets it, or none does.

    ``pairs`` are places of key points and claims, from 0, matched one to one as in play; ``points`` is how many key points
    the card has.
    """
    points_by_claim = {claim: place + 1 for place, claim in match_claims(pairs, points, len(claims)).items()}
    return [points_by_claim.get(place) == (each.point if each.states else None) for place, each in enumerate(claims)]


def measure_shortcuts(cards: Sequence[KnowledgeCard]) -> list[ShortcutResult]:
    """The share that each shortcut knows of the cards that have wordings; the largest first."""
    worded = [card for card in cards if all(point.wording is not None for point in card.key_points) and card.key_points]
    after = {card.id: other for card, other in zip(worded, [*worded[1:], *worded[:1]], strict=True)}
    claims: dict[str, Callable[[KnowledgeCard], Sequence[str]]] = {
        "the scene, sentence by sentence": lambda card: _split_sentences(card.scene),
        "title, scene and 'who' as one claim": lambda card: [" ".join((card.title, card.scene, card.npc.who))],
        "the key points of another card": lambda card: [point.point for point in after[card.id].key_points],
        "everything another card's NPC knows": lambda card: _split_sentences(after[card.id].knowledge),
    }
    results = [
        ShortcutResult(name, _estimate_share({card.id: _find_points(claim(card), card) for card in worded}), 0.0)
        for name, claim in claims.items()
    ]
    read = load_checked_cards()
    if guessed := {card.id: _find_points(read[card.id].guesses, card) for card in worded if card.id in read}:
        results.append(ShortcutResult("a reader's guesses from the scene", _estimate_share(guessed), 0.0))
    return sort_by_distance(results) if worded else []


def _find_points(claims: Sequence[str], card: KnowledgeCard) -> list[float]:
    """The hits by key point: 1 if a claim states it in a wording of the card, one to one."""
    found = match_claims(find_pairs(card.key_points, claims), len(card.key_points), len(claims))
    return [float(place in found) for place in range(len(card.key_points))]


def _estimate_share(by_card: Mapping[str, Sequence[float]]) -> Interval:
    """The share of key points, with cards as clusters."""
    values = [value for points in by_card.values() for value in points]
    return estimate_mean(values, [card for card, points in by_card.items() for _ in points])


def _split_sentences(text: str) -> list[str]:
    return [sentence for sentence in text.replace("\n", " ").split(". ") if sentence.strip()]


def make_audit(scenarios: Sequence[IepScenario], source: str) -> Document:
    cards = [scenario.card for scenario in scenarios]
    results = measure_shortcuts(cards)
    points = sum(len(card.key_points) for card in cards)
    bundled = {card.id: _list_points(card) for card in load_cards(None, skip_invalid=False).items}
    # A user's copy of a card may have its id still, and other key points; other wordings are what these tables try.
    read = [card for card in cards if _list_points(card) == bundled.get(card.id)]
    return Document(
        title="Audit of anteval-iep",
        subtitle=f"{points} key points of {len(cards)} cards ({source})",
        summary=make_shortcuts_table("What is known of a card without its NPC", results, TOLERANCE, _OF),
        sections=[
            Section("Verdict", list(_find_verdict(scenarios, results))),
            *([Section("The rule", [_make_rule_table(read), _make_hard_table(read)])] if read else []),
            *([Section("Shortcuts", [make_shortcuts_plot(results, _OF)])] if results else []),
        ],
    )


def _list_points(card: KnowledgeCard) -> list[str]:
    return [each.point for each in card.key_points]


def _find_verdict(scenarios: Sequence[IepScenario], results: Sequence[ShortcutResult]) -> Iterator[Callout]:
    yield rate_shortcuts(results, TOLERANCE) if results else Callout("No card says how its key points are worded.", Tone.WARNING)
    for problem in shorten_list(find_alike_texts({each.id: f"{each.card.scene} {each.card.knowledge}" for each in scenarios})):
        yield Callout(problem, Tone.BAD)
    for scenario in scenarios:
        for player, counted in scenario.counted.items():
            if lost := len(scenario.card.key_points) - len(counted):
                yield Callout(f"{scenario.id}: {lost} key points stand in the sheet of {player}, and do not count for it.")


def _make_rule_table(cards: Sequence[KnowledgeCard]) -> Table:
    """The table of how the rule reads key points in others' words: those it finds, and those it takes for other points."""
    retold = [(card, load_checked_cards()[card.id].retold) for card in cards]

    def estimate_taken(for_itself: bool) -> str:
        """The share of key points that the rule takes for themselves, or for another point of the card."""
        taken = {
            card.id: [
                float(any(has_wording(text, each.wording or ()) for each in card.key_points if (each is point) is for_itself))
                for point, text in zip(card.key_points, texts, strict=True)
            ]
            for card, texts in retold
        }
        found = _estimate_share(taken)
        return format_interval(found, 2)

    wordings = fmean(len(point.wording or ()) for card in cards for point in card.key_points)
    rows = [
        Row(["key points retold", str(sum(len(texts) for _, texts in retold))]),
        Row(["taken for what they are", estimate_taken(True)]),
        Row(["taken for another point of the card", estimate_taken(False)]),
        Row(["wordings a point", format_figure(wordings, 1)]),
    ]
    note = "Retold by language models that had not seen the wordings. 95% intervals by card."
    return Table("reference/rule on key points in other words", [Column(""), Column("", True)], rows, note)


def _make_hard_table(cards: Sequence[KnowledgeCard]) -> Table:
    """The table of how often the rule decides a hard claim rightly, by kind of claim."""
    decided: list[tuple[HardClaim, bool]] = []
    for card in cards:
        claims = load_hard_claims().get(card.id, ())
        pairs = find_pairs(card.key_points, [each.claim for each in claims])
        decided += zip(claims, rate_matches(claims, pairs, len(card.key_points)), strict=True)

    groups = {kind: [each for each in decided if each[0].kind == kind] for kind in HARD_KINDS}
    groups["all that state it"] = [each for each in decided if each[0].states]
    groups["all that do not"] = [each for each in decided if not each[0].states]
    rows = []
    for name, own in groups.items():
        if own:
            right = estimate_mean([float(is_right) for _, is_right in own], [claim.card for claim, _ in own])
            cells = [name, "yes" if own[0][0].states else "no", str(len(own))]
            rows.append(Row([*cells, format_interval(right, 2)]))
    columns = [Column("Claim"), Column("States the point"), Column("Claims", True), Column("Decided rightly", True)]
    note = "By a language model that had not seen the wordings. A card's claims are judged together. 95% intervals by card."
    return Table("reference/rule on hard claims", columns, rows, note)
