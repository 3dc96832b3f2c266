"""Hard claims: each names a key point, kinds are balanced, and a judge's pairs are rated claim by claim."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from sociable.benchmarks.anteval.characters import load_sheets
from sociable.benchmarks.anteval.iep.audit import (
    HARD_KINDS,
    HardClaim,
    load_checked_cards,
    load_hard_claims,
    make_audit,
    rate_matches,
)
from sociable.benchmarks.anteval.iep.cards import KnowledgeCard, load_cards, make_scenario
from sociable.benchmarks.anteval.iep.claims import LONGEST_CLAIM, Pairs
from sociable.benchmarks.anteval.rules import DATA
from sociable.core.view import Table
from sociable.core.wording import find_telling_words

CARDS = {card.id: card for card in load_cards(None, skip_invalid=False).items}
CLAIMS = [each for claims in load_hard_claims().values() for each in claims]


def find_point(claim: HardClaim) -> str:
    return CARDS[claim.card].key_points[claim.point - 1].point


def find_tables(cards: list[KnowledgeCard]) -> dict[str, Table]:
    players = load_sheets(None).items[:3]
    document = make_audit([make_scenario(card, players) for card in cards], "test")
    return {block.caption: block for section in document.sections for block in section.blocks if isinstance(block, Table)}


def test_every_claim_names_a_key_point_of_its_own() -> None:
    assert len(load_hard_claims()) >= 40
    for card, claims in load_hard_claims().items():
        points = [each.point for each in claims]
        assert max(points) <= len(CARDS[card].key_points), card
        assert len(set(points)) == len(points) <= 5, f"{card}: two claims for one point, of which one would be left over"
    assert all(len(each.claim) <= LONGEST_CLAIM for each in CLAIMS)


def test_kinds_are_balanced_and_each_has_one_truth() -> None:
    assert set(Counter(each.kind for each in CLAIMS).values()) == {18}
    assert {each.kind for each in CLAIMS} == set(HARD_KINDS)
    assert len({(each.kind, each.states) for each in CLAIMS}) == len(HARD_KINDS)


def test_a_telegram_is_short_and_a_paraphrase_has_other_words() -> None:
    for each in CLAIMS:
        if each.kind == "telegram":
            assert len(each.claim.split()) <= 6, each.claim
        if each.kind == "paraphrase":
            shared = find_telling_words(find_point(each)) & find_telling_words(each.claim)
            names = find_telling_words(" ".join(re.findall(r"\b[A-Z][\w']+", each.claim)))
            assert shared - names <= {"from", "have"}, each.claim


def test_no_claim_was_there_when_the_wordings_were_written() -> None:
    """Some wordings were written with the retellings in view; how many paraphrases the rule takes is told, not required."""
    seen = {text for card in load_checked_cards().values() for text in (*card.retold, *card.guesses)}
    seen |= {point.point for card in CARDS.values() for point in card.key_points}
    assert not seen & {each.claim for each in CLAIMS}


@pytest.mark.parametrize(
    ("pairs", "right"),
    [
        ([(0, 0)], [True, True, False]),
        # A claim that does not state its point is taken for it, or for another one.
        ([(0, 0), (1, 1)], [True, False, False]),
        ([(0, 0), (3, 1)], [True, False, False]),
        # The third claim states two facts: it goes to the one that no other claim states.
        ([(0, 0), (0, 2), (2, 2)], [True, True, True]),
        ([(0, 2)], [False, True, False]),
        ([(2, 0)], [False, True, False]),
        ([], [False, True, False]),
    ],
)
def test_a_claim_is_decided_rightly_if_its_own_point_gets_it_or_none_does(pairs: Pairs, right: list[bool]) -> None:
    claims = [
        HardClaim(card="the-well", point=1, claim="Salt since Tuesday.", kind="telegram", states=True),
        HardClaim(card="the-well", point=2, claim="Ruprecht never cut it.", kind="left open or denied", states=False),
        HardClaim(card="the-well", point=3, claim="It is salt, and a key is there.", kind="two facts", states=True),
    ]
    assert rate_matches(claims, pairs, 4) == right


def test_the_audit_tells_how_the_rule_decides_each_kind() -> None:
    table = find_tables(list(CARDS.values()))["reference/rule on hard claims"]
    assert [row.cells[0] for row in table.rows] == [*HARD_KINDS, "all that state it", "all that do not"]
    assert [int(row.cells[2]) for row in table.rows] == [18] * 9 + [72, 90]
    # Kinds are of one size: four that state their point, five that do not. Shares are rounded to two places.
    shares = [float(row.cells[3].split()[0]) for row in table.rows]
    assert shares[9] == pytest.approx(sum(shares[:4]) / 4, abs=0.01)
    assert shares[10] == pytest.approx(sum(shares[4:9]) / 5, abs=0.01)

    # The data card and the README say the same.
    card, readme = ((DATA / path).read_text(encoding="utf-8") for path in ("README.md", "../iep/README.md"))
    for row in table.rows[:9]:
        assert re.search(rf"^\| {row.cells[0]} \| {row.cells[1]} \|.*\| {re.escape(row.cells[3])} \|$", card, re.MULTILINE)
    states, does_not = (row.cells[3] for row in table.rows[9:])
    assert f"{states} of those that state it, {does_not} of the others" in card
    assert f"| `reference/rule` | {states} | {does_not} |" in readme


def test_what_was_written_for_the_bundled_cards_says_nothing_of_other_points() -> None:
    first = next(iter(CARDS.values()))
    fewer = first.model_copy(update={"key_points": first.key_points[:-1]})
    reworded = [each.model_copy(update={"wording": None}) for each in first.key_points]
    assert "reference/rule on hard claims" in find_tables([first])
    assert "reference/rule on hard claims" in find_tables([first.model_copy(update={"key_points": tuple(reworded)})])
    assert not any(caption.startswith("reference/rule") for caption in find_tables([fewer]))
