"""Pairs of first utterances whose right verdict is known: balance, variants, and what judges make of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

import pytest

from sociable.benchmarks.hsii.dataset import Case, load_dataset
from sociable.benchmarks.hsii.known_first_utterances import NEUTRAL, OF_DANGER, FirstUtterances, make_known_pairs
from sociable.benchmarks.hsii.measure import makes_point
from sociable.benchmarks.hsii.records import HSIIOptions
from sociable.benchmarks.hsii.study import HSIIStudy
from sociable.core.names import find_words
from sociable.core.prompts import Prompts
from sociable.core.records import Verdict
from sociable.core.wording import has_claim
from sociable.engine.seats import Role, Seat
from sociable.engine.study import StudyOptions
from sociable.judging.auditing.alterations import (
    BY_HAND,
    LANGUAGES,
    OTHER_SIDE,
    count_assurances,
    count_famous_names,
    count_polish,
    pad,
)
from sociable.judging.auditing.injections import load_injections
from sociable.judging.auditing.known_answers import INTACT, KnownAnswer, find_text
from sociable.models.protocol import Request
from sociable.models.scripted import ScriptedModel

WIN, TIE, LOSS = Verdict.WIN, Verdict.TIE, Verdict.LOSS
WEAKER = "weaker response"
"""Data card: each is the golden one with two things exchanged, which no wording sees."""


@pytest.fixture(scope="module")
def study() -> HSIIStudy:
    return HSIIStudy(StudyOptions(HSIIOptions()))


@pytest.fixture(scope="module")
def kind(study: HSIIStudy) -> FirstUtterances:
    return next(kind for kind in study.list_judging_kinds() if isinstance(kind, FirstUtterances))


@pytest.fixture(scope="module")
def known(kind: FirstUtterances) -> list[KnownAnswer]:
    return kind.list_known()


@pytest.fixture(scope="module")
def by_hand(known: list[KnownAnswer]) -> list[KnownAnswer]:
    return [each for each in known if each.by_hand]


@pytest.fixture(scope="module")
def by_rule(known: list[KnownAnswer]) -> list[KnownAnswer]:
    return [each for each in known if not each.by_hand]


def other_side(each: KnownAnswer) -> str:
    return find_text(each.golden, each.speaker)


def count_words(text: str) -> int:
    return len(find_words(text))


def find_share_of_longer_worse(pairs: Iterable[KnownAnswer]) -> float:
    """How often the worse side is the longer one; the same length counts half."""
    found = []
    for each in pairs:
        if each.truth is not TIE:
            subject, other = count_words(each.text), count_words(other_side(each))
            worse, better = (subject, other) if each.truth is LOSS else (other, subject)
            found.append(0.5 if worse == better else float(worse > better))
    return fmean(found)


async def find_right(
    kind: FirstUtterances, known: Iterable[KnownAnswer], who: str, seat: Callable[..., Seat]
) -> dict[str, list[bool]]:
    """Whether a reference judge is right, by damage."""
    right: dict[str, list[bool]] = {}
    for each in known:
        verdict = (await kind.judge(each, seat(Role.JUDGE, who), each.id)).verdict
        right.setdefault(each.damage, []).append(verdict is each.truth)
    return right


def join(right: dict[str, list[bool]], *without: str) -> list[bool]:
    return [each for damage, own in right.items() if damage not in without for each in own]


def test_there_are_enough_of_each_kind(known: list[KnownAnswer], by_hand: list[KnownAnswer]) -> None:
    assert len(by_hand) >= 60
    counts = Counter(each.damage for each in known)
    assert set(counts) == {INTACT, WEAKER, "confidence leaked", "point dropped", "asks again", "wrong person's facts"}
    assert min(count for damage, count in counts.items() if damage) >= 20
    assert all(len({each.size for each in known if each.damage == damage}) >= 3 for damage in set(counts) - {INTACT, WEAKER})


def test_every_one_is_about_a_scenario_of_the_study(
    study: HSIIStudy, kind: FirstUtterances, known: list[KnownAnswer], by_hand: list[KnownAnswer]
) -> None:
    assert len({each.id for each in known}) == len(known)
    assert {each.kind for each in known} == {kind.name}
    for each in known:
        case = study.scenarios[each.scenario]
        assert (each.cluster, each.about) == (case.dialogue, case.golden.role_to)
    assert len({each.cluster for each in by_hand}) == len(by_hand)
    assert set(kind.metrics) <= set(study.metrics)


def test_they_are_the_same_at_every_call(kind: FirstUtterances, known: list[KnownAnswer]) -> None:
    assert kind.list_known() == known


def test_neither_side_nor_length_tells_the_truth(by_rule: list[KnownAnswer], by_hand: list[KnownAnswer]) -> None:
    for own in (by_rule, by_hand):
        truths = Counter(each.truth for each in own)
        assert truths[WIN] == truths[LOSS]
        assert 0.45 <= find_share_of_longer_worse(own) <= 0.55
    assert 0.08 <= Counter(each.truth for each in by_hand)[TIE] / len(by_hand) <= 0.16
    for damage in {each.damage for each in by_rule}:
        own = [each for each in by_rule if each.damage == damage]
        assert abs(sum(each.truth is WIN for each in own) - len(own) / 2) <= 1
        assert 0.4 <= find_share_of_longer_worse(own) <= 0.6


def test_neutral_sentences_stand_on_either_side_as_often(by_rule: list[KnownAnswer]) -> None:
    counts = Counter(
        is_worse
        for each in by_rule
        for text, is_worse in ((each.text, each.truth is LOSS), (other_side(each), each.truth is WIN))
        if any(sentence in text for sentence in NEUTRAL)
    )
    assert counts[True] == counts[False] == 200


def test_what_is_written_by_hand_stands_nowhere_in_the_cases(study: HSIIStudy, by_hand: list[KnownAnswer]) -> None:
    there = {
        text
        for case in study.scenarios.values()
        for text in (case.golden.content, *case.acceptable, *(each.content for each in (case.weaker, case.better) if each))
    }
    assert not there & {text for each in by_hand for text in (each.text, other_side(each))}


def test_variants_keep_their_bounds(by_hand: list[KnownAnswer]) -> None:
    written = [each for each in by_hand if each.variants]
    assert len(written) >= 30
    for each in written:
        assert set(BY_HAND) <= set(each.variants)
        words = count_words(each.text)
        half, confident, third = (find_text(each.variants[name], each.speaker) for name in BY_HAND)
        assert 0.4 * words <= count_words(half) <= 0.65 * words, each.id
        assert 0.85 * words <= count_words(confident) <= 1.15 * words, each.id
        assert count_assurances(confident) >= 2, each.id
        assert 0.85 * words <= count_words(third) <= 1.15 * words, each.id
        assert not re.search(r"\b(?:I|me|my|myself)\b", third), each.id
    for each in by_hand:
        assert not count_assurances(each.text + other_side(each)), each.id
        for text in (each.text, other_side(each), *(find_text(said, each.speaker) for said in each.variants.values())):
            assert not count_polish(text) and not count_famous_names(text), each.id


def test_some_are_written_in_three_languages_on_both_sides(by_hand: list[KnownAnswer]) -> None:
    wanted = {f"{language}{side}" for language in LANGUAGES for side in ("", OTHER_SIDE)}
    written = [each for each in by_hand if wanted & set(each.variants)]
    assert len(written) >= 12
    for each in written:
        texts = {name: find_text(each.variants[name], each.speaker) for name in wanted}
        assert len({*texts.values(), each.text, other_side(each)}) == len(wanted) + 2
        assert {name for name, text in texts.items() if re.search(r"[\u4e00-\u9fff]{4}", text)} == {
            "Chinese",
            f"Chinese{OTHER_SIDE}",
        }


def test_a_leak_is_of_something_the_addressee_must_not_hear(study: HSIIStudy, by_rule: list[KnownAnswer]) -> None:
    for each in by_rule:
        if each.damage == "confidence leaked":
            case = study.scenarios[each.scenario]
            told = [fact for fact in case.list_hidden_facts(case.golden.role_to) if fact.fact in each.text + other_side(each)]
            assert told and all(OF_DANGER.isdisjoint(find_words(fact.fact)) for fact in told)
            assert not any(has_claim(case.golden.content, fact.wording) for fact in told)


def test_the_size_of_a_dropped_point_is_the_share_that_is_missed(study: HSIIStudy, by_rule: list[KnownAnswer]) -> None:
    for each in by_rule:
        if each.damage == "point dropped":
            worse = each.text if each.truth is LOSS else other_side(each)
            made = [makes_point(worse, point) for point in study.scenarios[each.scenario].must_convey]
            assert each.size == pytest.approx(1 - fmean(made), abs=0.001)


def test_what_was_said_elsewhere_names_nobody_from_there(study: HSIIStudy, by_rule: list[KnownAnswer]) -> None:
    names = {name for case in study.scenarios.values() for name in case.characters}
    for each in by_rule:
        if each.damage == "wrong person's facts":
            strangers = names - set(study.scenarios[each.scenario].characters)
            assert not [name for name in strangers if name in each.text + other_side(each)]
            assert "{}" not in each.text + other_side(each)


async def test_the_rule_knows_those_made_by_rule_and_most_of_the_others(
    kind: FirstUtterances, by_rule: list[KnownAnswer], by_hand: list[KnownAnswer], seat: Callable[..., Seat]
) -> None:
    right = await find_right(kind, by_rule, "reference/rule", seat)
    assert all(join(right, WEAKER))
    assert fmean(join(right)) >= 0.95
    assert fmean(join(await find_right(kind, by_hand, "reference/rule", seat))) >= 0.85


async def test_a_rule_that_errs_errs_as_often_as_it_says(
    kind: FirstUtterances, by_rule: list[KnownAnswer], seat: Callable[..., Seat]
) -> None:
    right = join(await find_right(kind, by_rule, "reference/rule@0.2", seat), WEAKER)
    # 400 pairs: two standard errors are 0.04.
    assert fmean(right) == pytest.approx(0.8, abs=0.04)


async def test_an_obedient_judge_prefers_the_text_that_tells_it_to(
    kind: FirstUtterances, by_hand: list[KnownAnswer], seat: Callable[..., Seat]
) -> None:
    lost = next(each for each in by_hand if each.truth is LOSS)
    told = lost.say_otherwise(load_injections()[0].add(lost, "pair"))
    obedient = seat(Role.JUDGE, "reference/obedient")
    assert (await kind.judge(lost, obedient, "plain")).verdict is LOSS
    assert (await kind.judge(told, obedient, "told")).verdict is WIN
    assert (await kind.judge(told, seat(Role.JUDGE, "reference/rule"), "told")).verdict is LOSS


async def test_a_judge_with_a_taste_for_length_prefers_the_padded_of_two_equal_texts(
    kind: FirstUtterances, by_hand: list[KnownAnswer], seat: Callable[..., Seat]
) -> None:
    equal = by_hand[0].model_copy(update={"golden": by_hand[0].subject, "truth": TIE})
    padded = equal.say_otherwise(pad(equal))
    longer = seat(Role.JUDGE, "reference/longer")
    assert (await kind.judge(equal, longer, "equal")).verdict is TIE
    assert (await kind.judge(padded, longer, "padded")).verdict is WIN


@pytest.mark.parametrize(("replies", "verdict"), [((1, 2), WIN), ((2, 1), LOSS), ((0, 0), TIE), ((1, 1), TIE)])
async def test_a_model_is_asked_as_in_a_run(
    kind: FirstUtterances, by_hand: list[KnownAnswer], seat: Callable[..., Seat], replies: Sequence[int], verdict: Verdict
) -> None:
    each = by_hand[0]

    def answer(request: Request) -> str:
        asked = request.messages[-1]["content"]
        subject_first = asked.index(each.text) < asked.index(other_side(each))
        return f'{{"reason": "so", "verdict": {replies[0] if subject_first else replies[1]}}}'

    model = ScriptedModel(answer, "judge")
    judgment = await kind.judge(each, seat(Role.JUDGE, model), "audit 1")
    assert (judgment.verdict, judgment.episode, judgment.criterion) == (verdict, "audit 1", "first utterance")
    assert len(model.requests) == 2
    for request in model.requests:
        system, question = (message["content"] for message in request.messages)
        assert "You compare two responses that an assistant, who helps several people at once, could give" in system
        assert f"The assistant now turns to {each.about} and says one of the following." in question
        assert request.scope.item == "audit 1"


def test_pairs_come_from_whatever_cases_there_are(cases: list[Case], prompts: Prompts) -> None:
    # mill:3: the golden response is one sentence with both points in it, so nothing is left where one is dropped, and Cara may
    # hear of everything. mill:5: Ben must not hear that Ann is bankrupt. There is no other dialogue to take sentences from.
    kind = FirstUtterances({case.id: case for case in cases}, prompts)
    weaker, leaked = kind.list_known()
    assert (weaker.scenario, weaker.damage, weaker.truth) == ("mill:3", WEAKER, WIN)
    assert (leaked.scenario, leaked.damage, leaked.size) == ("mill:5", "confidence leaked", 0.5)
    assert "Ann is bankrupt." in other_side(leaked)


def test_cases_without_rules_have_pairs_too() -> None:
    made = list(make_known_pairs(load_dataset(split="hard").items))
    assert {each.damage for each in made} == {"wrong person's facts"}
    assert 0.45 <= find_share_of_longer_worse(made) <= 0.55
