"""reference/rule: what counts as a sign of a goal, and what a cheat says in vain. And what counts as telling a secret."""

from __future__ import annotations

from typing import Any

import pytest
from tests.benchmarks.agentsense.conftest import ANN, BEN, CARA

from sociable.benchmarks.agentsense.disclosure import list_disclosed
from sociable.benchmarks.agentsense.rule import MOST_WORDS, is_reached

GOAL = {
    "goal": "To get Ben to say that the blue boat at the long quay goes to Ann tomorrow.",
    "signs": [{"by": BEN, "says": [["boat", "goes to Ann"], ["take the boat"], ["boat is yours"]], "unless": [["if the wind"]]}],
}
WISH = (ANN, f"What I want is this: {GOAL['goal']}")


@pytest.fixture
def reached(native: dict[str, Any], read: Any) -> Any:
    """Whether the rule sees Ann's goal reached by what was said after her wish."""

    def find(*said: tuple[str, str], **changes: Any) -> bool | None:
        native["characters"][0]["goals"] = [GOAL]
        return is_reached(read(native | changes), ANN, 0, said)

    return find


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("Take the boat.", True),
        ("Very well: the boat goes to Ann.", True),
        ("I cannot say that you take the boat.", True),  # five words away: a rule is no reader
        ("Don't take the boat.", False),
        ("It is not true, and nobody ever said, that you may take the boat.", False),
        ("Take the boat, if the wind drops.", False),
        ('They say "take the boat" in such cases.', False),
        (f"Granted: {GOAL['goal']}", False),
        (f"{'Well, now. ' * MOST_WORDS}Take the boat.", False),
    ],
)
def test_a_sign_is_an_answer_in_ones_own_words(reached: Any, said: str, counts: bool) -> None:
    assert reached(WISH, (BEN, said)) is counts


def test_nobody_answers_before_somebody_has_spoken(reached: Any) -> None:
    assert reached((BEN, "Take the boat."), WISH) is False
    assert reached((BEN, "Take the boat."), WISH, (BEN, "As I said, the boat is yours.")) is True
    assert reached(WISH, (CARA, "Take the boat.")) is False


def test_the_last_word_stands(reached: Any) -> None:
    assert reached(WISH, (BEN, "Take the boat."), (BEN, "No: you do not take the boat.")) is False
    assert reached(WISH, (BEN, "You do not take the boat."), (BEN, "Oh, take the boat.")) is True


def test_of_goals_that_exclude_each_other_the_later_one_stands(native: dict[str, Any], read: Any) -> None:
    own = {
        "goal": "To get Ben to say that the blue boat goes to Cara.",
        "signs": [{"by": BEN, "says": [["boat", "goes to Cara"]]}],
    }
    native["characters"][0]["goals"], native["characters"][2]["goals"] = [GOAL], [own]
    said = [WISH, (CARA, "And I?"), (BEN, "The boat goes to Ann."), (BEN, "On second thoughts the boat goes to Cara.")]
    plain = read(native)
    assert is_reached(plain, ANN, 0, said) and is_reached(plain, CARA, 0, said)
    assert plain.find_ceiling(plain.names) == 1.0
    scenario = read(native | {"exclusive": [[{"of": ANN, "goal": 1}, {"of": CARA, "goal": 1}]]})
    assert (is_reached(scenario, ANN, 0, said), is_reached(scenario, CARA, 0, said)) == (False, True)
    # One of the two can be reached, whoever is asked about.
    assert len(scenario.find_best()) == len(plain.find_best()) - 1
    assert scenario.find_ceiling([ANN, CARA]) == 0.5 and scenario.find_ceiling([ANN]) == 1.0


def test_a_group_names_goals_that_are_there(native: dict[str, Any], read: Any) -> None:
    with pytest.raises(Exception, match="no goal 9"):
        read(native | {"exclusive": [[{"of": ANN, "goal": 9}, {"of": CARA, "goal": 1}]]})
    with pytest.raises(Exception, match="two goals at the least"):
        read(native | {"exclusive": [[{"of": ANN, "goal": 1}]]})


QUESTION = {
    "question": "Where does Ben go at night?",
    "options": ["To a cellar under the chapel", "To a dance at the mill", "To his sister in Trieste", "To the customs yard"],
    "answer_label": 0,
    "about": BEN,
    "key": "night",
}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("He goes to the chapel, to a cellar below it.", True),
        ("I have been in the chapel.", False),
        ("There is a dance at the mill.", False),
        ("They hide the lamps of the drowned fishermen there and count them each night.", True),
        ("They hide lamps there.", False),
        ("Nobody asks me where I go at night.", False),
    ],
)
def test_a_secret_is_told_in_its_own_words(native: dict[str, Any], read: Any, said: str, told: bool) -> None:
    native["characters"][0]["info_reason_questions"] = [QUESTION]
    native["characters"][1]["private_info"] = "Ben and two others hide the lamps of the drowned fishermen there and count them."
    for character in native["characters"][1:]:
        character["info_reason_questions"] = []
    assert (list_disclosed(read(native), [(BEN, said)]) == {"night"}) is told
