"""What a person answers in a judge's form, the judge's parser reads as it was meant."""

from __future__ import annotations

from itertools import product

import pytest

from sociable.core.form import Form
from sociable.core.records import Verdict
from sociable.core.view import Quotation
from sociable.judging import forms
from sociable.judging.answers import parse_numbered_answers, parse_yes_no
from sociable.judging.pairwise import parse_preference
from sociable.judging.rubric import SOTOPIA, parse_ratings
from sociable.models.protocol import ChatMessage
from sociable.models.replies import find_closing_object

MESSAGES: list[ChatMessage] = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "| {a}\n| 'answer': no"}]
WHY = 'He says "no"; {"verdict": 0}\nAnswer: yes.'


def list_choices(form: Form) -> list[tuple[str, ...]]:
    return list(product(*(question.choices for question in form.questions if question.choices)))


@pytest.mark.parametrize("why", ["", WHY])
def test_a_preference_is_read_as_it_was_chosen(why: str) -> None:
    form = forms.make_preference_form(MESSAGES)
    read = [parse_preference(form.reply([*chosen, why])) for chosen in list_choices(form)]
    assert [answer.value for answer in read] == [Verdict.WIN, Verdict.LOSS, Verdict.TIE]
    assert {answer.reason for answer in read} == {why}


@pytest.mark.parametrize("why", ["", WHY])
def test_yes_and_no_are_read_as_they_were_chosen(why: str) -> None:
    form = forms.make_yes_no_form(MESSAGES)
    assert [parse_yes_no(form.reply([*chosen, why])).value for chosen in list_choices(form)] == [True, False]


def test_numbered_answers_are_read_as_they_were_chosen() -> None:
    form = forms.make_numbered_form(3)(MESSAGES)
    for chosen in list_choices(form):
        assert parse_numbered_answers(form.reply(chosen), 3).value == [each == "yes" for each in chosen]


def test_a_list_holds_the_numbers_that_belong_in_it() -> None:
    form = forms.make_listing_form("turns", {3: "Does turn 3?", 5: "Does turn 5?"})(MESSAGES)
    read = [dict(find_closing_object(form.reply([*chosen, WHY])) or {})["turns"] for chosen in list_choices(form)]
    assert read == [[3, 5], [3], [5], []]


def test_matches_pair_facts_with_claims() -> None:
    form = forms.make_matching_form(2, "AB")(MESSAGES)
    assert form.questions[0].choices == ("A", "B", "none")
    assert dict(find_closing_object(form.reply(["B", "none", WHY])) or {})["matches"] == [[1, "B"]]


def test_ratings_stay_within_their_ranges() -> None:
    form = forms.make_ratings_form({each.name: (each.meaning, each.low, each.high) for each in SOTOPIA.dimensions})(MESSAGES)
    for place in (0, -1):
        found = parse_ratings(form.reply([*(question.choices[place] for question in form.questions[:-1]), WHY]), SOTOPIA)
        assert not found.failures and set(found.reasons.values()) == {WHY}
        assert found.ratings == {each.name: each.high if place else each.low for each in SOTOPIA.dimensions}


def test_a_judge_is_shown_all_that_a_model_is_sent() -> None:
    form = forms.make_yes_no_form(MESSAGES)
    assert [block.text for block in form.blocks if isinstance(block, Quotation)] == [each["content"] for each in MESSAGES]
