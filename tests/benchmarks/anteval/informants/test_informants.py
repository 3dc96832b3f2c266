"""What gets a fact out of a written informant, and what a model is told that plays one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from sociable.benchmarks.anteval.informants.briefing import brief_informant, brief_player, load_informants_prompts, render_heard
from sociable.benchmarks.anteval.informants.dataset import Card, Level
from sociable.benchmarks.anteval.informants.informants import WrittenInformant
from sociable.benchmarks.anteval.informants.reading import cut_turn, read_turn
from sociable.benchmarks.anteval.informants.records import InformantsTurn
from sociable.benchmarks.anteval.informants.scenario import Scenario
from sociable.core.wording import has_claim

from .conftest import WELL

MakeScenario = Callable[..., Scenario]


def ask(scenario: Scenario, *questions: str, aside: bool = False, to: str = "Hanna") -> list[InformantsTurn]:
    """The answers of a written informant to one question after another."""
    own = next(each for each in scenario.informants if each.name == to)
    seat, heard, answers = WrittenInformant(own, scenario), list[InformantsTurn](), list[InformantsTurn]()
    for question in questions:
        heard.append(
            InformantsTurn(index=len(heard) + 1, speaker="Ulla", to=to, addressees=(to,) if aside else (), content=question)
        )
        answers.append(asyncio.run(seat.answer(heard)))
        heard.append(answers[-1].model_copy(update={"index": len(heard) + 1}))
    return answers


def list_told(answers: Sequence[InformantsTurn]) -> list[tuple[str, ...]]:
    return [each.told for each in answers]


def test_only_what_is_asked_about_is_told_and_only_once(make_scenario: MakeScenario) -> None:
    answers = ask(make_scenario(), "Good morning! Tell us all.", "Who cut the rope?", "And the rope?")
    assert list_told(answers) == [(), ("f1",), ()]


def test_who_has_nothing_to_tell_says_why(make_scenario: MakeScenario) -> None:
    answers = ask(make_scenario(), "The rope?", "The rope?", "And the lid?", "And the weather?")
    assert "I have said" in answers[1].content or "you have heard" in answers[1].content
    assert "Berta" in answers[2].content
    assert not any(name in answers[3].content for name in ("Berta", "Ilse"))


def test_a_price_is_hinted_at_and_once_it_is_promised_what_was_asked_before_is_told(make_scenario: MakeScenario) -> None:
    answers = ask(make_scenario(), "What of the mill?", "We promise you anything.", "We shall knit you mittens.")
    assert list_told(answers) == [(), (), ("f2",)]
    assert answers[0].content == "My hands are cold."
    assert list(answers[0].waits) == ["price"]


def test_a_word_aside_gets_what_nobody_else_may_hear(make_scenario: MakeScenario) -> None:
    assert ask(make_scenario(), "What of Easter?")[0].content == "Not here."
    assert list_told(ask(make_scenario(), "What of Easter?", aside=True)) == [("f4",)]


def test_a_lie_is_told_until_it_is_contradicted(make_scenario: MakeScenario) -> None:
    scenario = make_scenario()
    answers = ask(scenario, "What depth has it?", "Really, that depth?", "Berta's chain of eighteen fathoms did not reach.")
    assert list_told(answers) == [("f3-lie",), (), ("f3",)]
    assert answers[0].content == "It is eleven fathoms to the ground."
    assert list_told(ask(make_scenario(Level.MIDDLE), "What depth has it?")) == [("f3",)], "at the middle level nobody lies"


def test_two_things_at_once_are_the_most(make_scenario: MakeScenario) -> None:
    answers = ask(make_scenario(Level.EASY), "The rope, the mill and the depth?", "The depth?")
    assert list_told(answers) == [("f1", "f2"), ("f3",)]


def test_levels_have_more_informants_and_what_is_not_so(make_scenario: MakeScenario) -> None:
    counts = {level: (len(make_scenario(level).facts), len(make_scenario(level).statements)) for level in Level}
    assert counts == {Level.EASY: (4, 4), Level.MIDDLE: (6, 6), Level.HARD: (7, 9)}


def test_an_informants_sheet_holds_its_own_part_and_what_gets_it(make_scenario: MakeScenario) -> None:
    scenario, prompts = make_scenario(), load_informants_prompts()
    hanna, berta = (str(brief_informant(scenario, each, 60, prompts)["content"]) for each in scenario.informants[:2])
    for part in ("mittens was promised", "You say instead: It is eleven fathoms", "nineteen", "one who asks aside", "goat"):
        assert part in hanna
    for part in ("church door", "bailiff is gone"):
        assert part in berta
        assert part not in hanna, "she has nothing that she is afraid to tell"
    player = str(brief_player(scenario, scenario.players[0], 30, 40, prompts)["content"])
    for each in scenario.statements:
        assert each[1].point not in player
    assert "mittens" not in player


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"facts": [{**WELL["facts"][2], "shown_by": "f1"}, *WELL["facts"][:2]]}, "expected a fact of another informant"),
        ({"facts": [{**WELL["facts"][0], "holder": "Nobody"}]}, "there is no informant 'Nobody'"),
        ({"facts": [{**WELL["facts"][0], "wording": [["rope"]]}]}, "everybody would know it"),
        ({"facts": [{**WELL["facts"][0], "asked": [["donkey"]]}]}, "does not take a question about its own topic"),
        ({"facts": [{**WELL["facts"][0], "instead": "x"}]}, "belong to a fact that is got by 'lie'"),
        ({"facts": [WELL["facts"][0], {**WELL["facts"][1], "wording": [["out"], ["miller"], ["down"]]}]}, "takes f1 as well"),
        ({"facts": [WELL["facts"][0], WELL["facts"][0]]}, "'f1' is there twice"),
    ],
)
def test_cards_that_cannot_be_played_are_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Card.model_validate({**WELL, "rumours": [], **changes})


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ('{"to": "Hanna", "aside": true, "say": "Who?"}', ("Who?", "Hanna", True)),
        ("{'To': 'Hanna', 'aside': 'True', 'Say': 'Who?'}", ("Who?", "Hanna", True)),
        ('```json\n{"to": "hanna", "aside": false, "say": "Who?"}\n```', ("Who?", "Hanna", False)),
        ('{"to": "the goat", "aside": true, "say": "Who?"}', ("Who?", "", False)),
        ('{"to": "Hanna", "say": ""}', ("", "Hanna", False)),
        ('{"to": 7, "aside": "maybe", "say": ["x"]}', ("", "", False)),
        ('{"say": ' + "[" * 3000, ('{"say": ' + "[" * 3000, "", False)),
        ("{" * 3000, ("{" * 3000, "", False)),
        ("Who cut it?", ("Who cut it?", "", False)),
    ],
)
def test_a_players_turn_is_read(reply: str, read: tuple[str, str, bool]) -> None:
    found = read_turn(reply, ["Hanna", "Berta"])
    assert (found.text, found.to, found.aside) == read


def test_what_could_not_be_read_of_a_turn_is_noted() -> None:
    assert read_turn('{"turn": {"say": "Who?"}}', ["Hanna"]).problem == "no 'say' in the reply"
    assert "goat" in read_turn('{"to": "the goat", "say": "Who?"}', ["Hanna"]).problem
    assert not read_turn("Who?", ["Hanna"]).problem


def test_with_few_points_nobody_lies_where_nobody_could_show_it(make_scenario: MakeScenario) -> None:
    facts = [WELL["facts"][2], *WELL["facts"][:2], *WELL["facts"][3:]]
    scenario = replace(make_scenario(facts=facts, rumours=[]), points=1)
    assert [each.id for each in scenario.facts] == ["f3", "f5", "f7"]
    assert not scenario.lies
    assert list_told(ask(scenario, "What depth has it?")) == [("f3",)]


def test_a_lie_of_two_clauses_is_found_in_its_own_words(make_scenario: MakeScenario) -> None:
    facts = [*WELL["facts"][:2], {**WELL["facts"][2], "instead": "It is eleven fathoms; a rope was lost."}, *WELL["facts"][3:]]
    (lie,) = make_scenario(facts=facts).lies.values()
    assert has_claim(lie.point, lie.wording or (), reach=0)


def test_words_are_cut_and_a_speakers_own_name_is_left_out() -> None:
    assert cut_turn("Hanna: one two\nthree four", 3, "Hanna") == ("one two three", 1)
    assert cut_turn("rope/mill/depth/" * 9, 3, "Hanna") == (("rope/mill/depth/" * 9)[:36], 1)


def test_of_a_word_aside_to_another_one_sees_only_that_it_is_said() -> None:
    turn = InformantsTurn(
        index=1, speaker="Ulla", to="Hanna", addressees=("Hanna",), heard_by=("Hanna",), content="What of Easter?"
    )
    assert "Ulla, aside to you: What of Easter?" in render_heard([turn], "Hanna")
    seen = render_heard([turn], "Berta")
    assert "(Ulla speaks aside to Hanna.)" in seen
    assert "Easter" not in seen
