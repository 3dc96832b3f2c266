"""Cards are checked when they are read, and so are the bundled ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.anteval.characters import load_sheets
from sociable.benchmarks.anteval.iep.audit import TOLERANCE, load_checked_cards, measure_shortcuts
from sociable.benchmarks.anteval.iep.cards import IepScenario, draw_scenario, load_cards, make_scenario
from sociable.core.errors import DataError
from sociable.core.wording import has_wording

MakeCard = Callable[..., dict[str, Any]]


def written(tmp_path: Path, *records: Any) -> Path:
    path = tmp_path / "cards.json"
    path.write_text(json.dumps(list(records)))
    return path


def test_a_card_is_read_as_it_is(raw_card: MakeCard, tmp_path: Path) -> None:
    (card,) = load_cards(written(tmp_path, raw_card()), skip_invalid=False).items
    assert [each.point for each in card.key_points][1] == "Ruprecht, the nephew, cut the rope."


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "weather"}, "kind"),
        ({"title": "The well whose key lies under the third step"}, "key point 3 stands in title, scene or 'who'"),
        ({"knowledge": "The water is salt since Tuesday. A key lies under the third step."}, "key point 2 does not stand in"),
        ({"key_points": [{"point": "The moon is low.", "wording": [["sun"]]}]}, "does not take the key point's own sentence"),
        (
            {
                "key_points": [
                    {"point": "The key is small.", "wording": [["key"]]},
                    {"point": "The key is hot.", "wording": [["hot"]]},
                ],
                "knowledge": "A key, small and hot.",
            },
            "the wording of key point 1 takes key point 2",
        ),
        ({"npc": {"name": "Old Hanna"}}, "npc.pronouns"),
        ({"extra": 1}, "extra"),
    ],
)
def test_a_card_that_gives_itself_away_or_is_not_whole_is_refused(
    changes: dict[str, Any], said: str, raw_card: MakeCard, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as error:
        load_cards(written(tmp_path, raw_card(id="first"), raw_card(**changes)), skip_invalid=False)
    assert said in str(error.value)
    assert "record 2" in str(error.value)


def test_bad_cards_can_be_left_out_and_are_counted(raw_card: MakeCard, tmp_path: Path) -> None:
    loaded = load_cards(written(tmp_path, raw_card(), raw_card(id="b", kind="weather")), skip_invalid=True)
    assert len(loaded.items) == 1
    assert "1 bad records" in loaded.notes[0]


def test_a_key_point_in_a_players_own_sheet_does_not_count_for_it(scenario: IepScenario) -> None:
    knows, *others = scenario.players
    told = knows.model_copy(update={"bond": "Ruprecht my nephew once cut the rope on me."})
    again = make_scenario(scenario.card, [told, *others])
    assert again.counted[knows.name] == (0, 2)
    assert all(again.counted[each.name] == (0, 1, 2) for each in others)


def test_casts_differ_by_card_and_seed_and_never_meet_themselves() -> None:
    cards, sheets = load_cards(None, skip_invalid=False).items, load_sheets(None).items
    casts = [tuple(each.name for each in draw_scenario(card, sheets, 3, 0).players) for card in cards]
    assert len(set(casts)) > len(cards) // 2
    assert casts != [tuple(each.name for each in draw_scenario(card, sheets, 3, 1).players) for card in cards]
    for card, names in zip(cards, casts, strict=True):
        assert card.npc.name not in names


def test_the_bundled_cards_are_many_of_four_kinds_and_not_to_be_guessed() -> None:
    cards = load_cards(None, skip_invalid=False).items
    assert len(cards) >= 40
    assert {kind: sum(card.kind == kind for card in cards) for kind in ("place", "item", "creature", "plot")} == {
        "place": 12, "item": 12, "creature": 12, "plot": 12,
    }  # fmt: skip
    assert all(5 < len(card.key_points) < 9 for card in cards)
    assert len({card.npc.name for card in cards}) == len(cards)
    for shortcut in measure_shortcuts(cards):
        assert shortcut.hits.value is not None
        assert shortcut.hits.value <= TOLERANCE, shortcut.name


def test_the_rule_takes_most_key_points_in_other_words() -> None:
    read = load_checked_cards()
    cards = load_cards(None, skip_invalid=False).items
    assert set(read) == {card.id for card in cards}
    taken = [
        has_wording(text, point.wording or ())
        for card in cards
        for point, text in zip(card.key_points, read[card.id].retold, strict=True)
    ]
    assert len(taken) > 300
    assert sum(taken) / len(taken) > 0.8
