"""The audit of information exchange: can a card be known without its NPC, and does the rule see what is said?

A shortcut claims to know a card from what everybody is told, or from other cards; of good cards it states nothing. What
readers made of the bundled cards says more: their guesses from the scene alone, whether a card can be known without its NPC;
key points in their own words, on which the wordings were not written, what ``reference/rule`` sees and misses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from statistics import fmean

from sociable.benchmarks.anteval.iep.cards import IepScenario, KnowledgeCard
from sociable.benchmarks.anteval.iep.claims import find_pairs, match_claims
from sociable.benchmarks.anteval.rules import DATA
from sociable.core.records import Record
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, format_figure, format_with_interval
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
    retold = [(card, load_checked_cards()[card.id].retold) for card in cards if card.id in load_checked_cards()]
    return Document(
        title="Audit of anteval-iep",
        subtitle=f"{points} key points of {len(cards)} cards ({source})",
        summary=make_shortcuts_table("What is known of a card without its NPC", results, TOLERANCE, _OF),
        sections=[
            Section("Verdict", list(_find_verdict(scenarios, results))),
            *([Section("The rule", [_make_rule_table(retold)])] if retold else []),
            *([Section("Shortcuts", [make_shortcuts_plot(results, _OF)])] if results else []),
        ],
    )


def _find_verdict(scenarios: Sequence[IepScenario], results: Sequence[ShortcutResult]) -> Iterator[Callout]:
    yield rate_shortcuts(results, TOLERANCE) if results else Callout("No card says how its key points are worded.", Tone.WARNING)
    for problem in shorten_list(find_alike_texts({each.id: f"{each.card.scene} {each.card.knowledge}" for each in scenarios})):
        yield Callout(problem, Tone.BAD)
    for scenario in scenarios:
        for player, counted in scenario.counted.items():
            if lost := len(scenario.card.key_points) - len(counted):
                yield Callout(f"{scenario.id}: {lost} key points stand in the sheet of {player}, and do not count for it.")


def _make_rule_table(retold: Sequence[tuple[KnowledgeCard, Sequence[str]]]) -> Table:
    """The table of how the rule reads key points in others' words: those it finds, and those it takes for other points."""

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
        return format_with_interval(found.value, found.low, found.high, 2)

    wordings = fmean(len(point.wording or ()) for card, _ in retold for point in card.key_points)
    rows = [
        Row(["key points retold", str(sum(len(texts) for _, texts in retold))]),
        Row(["taken for what they are", estimate_taken(True)]),
        Row(["taken for another point of the card", estimate_taken(False)]),
        Row(["wordings a point", format_figure(wordings, 1)]),
    ]
    note = "Retold by language models that had not seen the wordings. 95% intervals by card."
    return Table("reference/rule on key points in other words", [Column(""), Column("", True)], rows, note)
