"""Can a card be known without its NPC, and does the rule see what is said? ``sociable audit anteval-iep``.

A shortcut claims to know a card from what everybody is told, or from other cards; of good cards it states nothing. What the
rule is worth is measured on key points retold by writers who had not seen the wordings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sociable.benchmarks.anteval.iep.cards import KnowledgeCard
from sociable.benchmarks.anteval.iep.checked import CheckedCard, checked_cards, points_in, share
from sociable.benchmarks.anteval.iep.scenario import IepScenario
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, figure, with_interval
from sociable.core.wording import expresses
from sociable.reports.audits import (
    ShortcutResult,
    find_alike_texts,
    make_shortcuts_plot,
    make_shortcuts_table,
    rate_shortcuts,
    shorten_list,
    sort_by_distance,
)

TOLERANCE = 0.05
"""How much of a card may be known without its NPC, on data that are to be trusted."""

_OF = "key points"


def measure_shortcuts(cards: Sequence[KnowledgeCard]) -> list[ShortcutResult]:
    """What each shortcut knows of the cards that have wordings; the most first."""
    worded = [card for card in cards if all(point.wording is not None for point in card.key_points) and card.key_points]
    after = {card.id: other for card, other in zip(worded, [*worded[1:], *worded[:1]], strict=True)}
    claims: dict[str, Callable[[KnowledgeCard], Sequence[str]]] = {
        "the scene, sentence by sentence": lambda card: _sentences(card.scene),
        "title, scene and 'who' as one claim": lambda card: [" ".join((card.title, card.scene, card.npc.who))],
        "the key points of another card": lambda card: [point.point for point in after[card.id].key_points],
        "everything another card's NPC knows": lambda card: _sentences(after[card.id].knowledge),
    }
    read = checked_cards()
    guessed = [card for card in worded if card.id in read]
    results = [
        ShortcutResult(name, share({card.id: points_in(of(card), card) for card in worded}), 0.0) for name, of in claims.items()
    ]
    if guessed:
        found = share({card.id: points_in(read[card.id].guesses, card) for card in guessed})
        results.append(ShortcutResult("a reader's guesses from the scene", found, 0.0))
    return sort_by_distance(results) if worded else []


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in text.replace("\n", " ").split(". ") if sentence.strip()]


def audit_document(scenarios: Sequence[IepScenario], source: str) -> Document:
    cards = [scenario.card for scenario in scenarios]
    results = measure_shortcuts(cards)
    points = sum(len(card.key_points) for card in cards)
    read = checked_cards()
    retold = [(card, read[card.id]) for card in cards if card.id in read]
    return Document(
        title="Audit of anteval-iep",
        subtitle=f"{points} key points of {len(cards)} cards ({source})",
        summary=make_shortcuts_table("What is known of a card without its NPC", results, TOLERANCE, _OF),
        sections=[
            Section("Verdict", list(_verdict(scenarios, results))),
            *([Section("The rule", [_rule_table(retold)])] if retold else []),
            *([Section("Shortcuts", [make_shortcuts_plot(results, _OF)])] if results else []),
        ],
    )


def _verdict(scenarios: Sequence[IepScenario], results: Sequence[ShortcutResult]) -> Iterator[Callout]:
    yield (
        rate_shortcuts(results, TOLERANCE) if results else Callout("No card says how its key points are worded.", Tone.WARNING)
    )
    for problem in shorten_list(find_alike_texts({each.id: f"{each.card.scene} {each.card.knowledge}" for each in scenarios})):
        yield Callout(problem, Tone.BAD)
    for scenario in scenarios:
        for player, counted in scenario.counted.items():
            if lost := len(scenario.card.key_points) - len(counted):
                yield Callout(f"{scenario.id}: {lost} key points stand in the sheet of {player}, and do not count for it.")


def _rule_table(retold: Sequence[tuple[KnowledgeCard, CheckedCard]]) -> Table:
    """What the rule takes of key points in others' words, and what it takes them for besides."""
    taken = share(
        {
            card.id: [
                float(expresses(text, point.wording or ())) for point, text in zip(card.key_points, each.retold, strict=True)
            ]
            for card, each in retold
        }
    )
    mistaken = share(
        {
            card.id: [
                float(any(expresses(text, other.wording or ()) for other in card.key_points if other is not point))
                for point, text in zip(card.key_points, each.retold, strict=True)
            ]
            for card, each in retold
        }
    )
    rows = [
        Row(["key points retold", str(sum(len(each.retold) for _, each in retold))]),
        Row(["taken for what they are", with_interval(taken.value, taken.low, taken.high, 2)]),
        Row(["taken for another point of the card", with_interval(mistaken.value, mistaken.low, mistaken.high, 2)]),
        Row(["wordings a point", figure(_mean_wordings([card for card, _ in retold]), 1)]),
    ]
    note = "Retold by language models that had not seen the wordings. 95% intervals by card."
    return Table("reference/rule on key points in other words", [Column(""), Column("", True)], rows, note)


def _mean_wordings(cards: Sequence[KnowledgeCard]) -> float:
    counts = [len(point.wording or ()) for card in cards for point in card.key_points]
    return sum(counts) / len(counts)
