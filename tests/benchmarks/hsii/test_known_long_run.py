"""Long runs whose right verdict is known: how many, how even, how certain, and that they are judged as in a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from sociable.benchmarks.hsii.benchmark import BENCHMARK
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, load_dataset
from sociable.benchmarks.hsii.known_long_run import BY_HAND, COURTESIES, DAMAGES, KnownLongRuns
from sociable.benchmarks.hsii.study import HSIIStudy
from sociable.core.names import find_words
from sociable.core.prompts import Prompts
from sociable.core.records import Verdict
from sociable.engine.seats import Role, Seat
from sociable.judging.auditing import alterations
from sociable.judging.auditing.injections import load_injections
from sociable.judging.auditing.known_answers import KnownAnswer, find_text, load_known_answers
from sociable.judging.pairwise import PairJudgment
from sociable.models.scripted import ScriptedModel

WIN, TIE, LOSS = Verdict.WIN, Verdict.TIE, Verdict.LOSS
VARIANTS = [known for known in load_known_answers(BY_HAND) if known.variants]
Judge = Callable[..., Any]


@pytest.fixture(scope="module")
def study() -> HSIIStudy:
    opened = BENCHMARK.open({})
    assert isinstance(opened, HSIIStudy)
    return opened


@pytest.fixture(scope="module")
def kind(study: HSIIStudy) -> KnownLongRuns:
    return next(kind for kind in study.list_judging_kinds() if isinstance(kind, KnownLongRuns))


@pytest.fixture(scope="module")
def known(kind: KnownLongRuns) -> list[KnownAnswer]:
    return kind.list_known()


@pytest.fixture
def judge(kind: KnownLongRuns, seat: Callable[..., Seat]) -> Judge:
    async def make(each: KnownAnswer, who: Any) -> PairJudgment:
        return await kind.judge(each, seat(Role.JUDGE, who), each.id)

    return make


def is_worse_longer(each: KnownAnswer) -> bool:
    subject, golden = (len(find_words(find_text(side, ASSISTANT))) for side in (each.subject, each.golden))
    return (subject > golden) is (each.truth is LOSS)


def test_there_are_enough_of_each_kind_of_damage(known: list[KnownAnswer], kind: KnownLongRuns) -> None:
    by_hand = [each for each in known if each.by_hand]
    assert len(known) >= 300 and len(by_hand) == 76
    assert len({each.id for each in known}) == len(known)
    damages = Counter(each.damage for each in known if each.damage)
    assert set(damages) == set(DAMAGES) and min(damages.values()) >= 40
    assert kind.list_known() == known
    for damage in set(DAMAGES) - {"promise broken"}:
        assert len({each.size for each in known if each.damage == damage}) >= 3


def test_each_is_about_a_case_and_its_addressee(known: list[KnownAnswer], study: HSIIStudy) -> None:
    for each in known:
        case = study.scenarios[each.scenario]
        assert each.cluster == case.dialogue and each.kind == "long run"
        for side in (each.subject, each.golden, *each.variants.values()):
            assert [said.speaker for said in side[:2]] == [ASSISTANT, case.golden.role_to]
        assert (each.damage == "") is (each.truth is TIE)
    assert set(study.metrics) >= set(KnownLongRuns.metrics)


def test_neither_side_nor_length_nor_filling_tells_the_truth(known: list[KnownAnswer]) -> None:
    for own in ([each for each in known if each.by_hand], [each for each in known if not each.by_hand]):
        uneven = [each for each in own if each.truth is not TIE]
        assert 0.44 <= sum(each.truth is WIN for each in uneven) / len(uneven) <= 0.56
        assert 0.44 <= sum(map(is_worse_longer, uneven)) / len(uneven) <= 0.56
    by_hand: Counter[Verdict] = Counter(each.truth for each in known if each.by_hand)
    assert by_hand[TIE] == 20

    def count_courtesies(side: Sequence[Any]) -> int:
        return sum(courtesy in find_text(side, ASSISTANT) for courtesy in COURTESIES)

    more: Counter[bool] = Counter()
    for each in known:
        subject, golden = count_courtesies(each.subject), count_courtesies(each.golden)
        if subject != golden:
            more[(subject > golden) is (each.truth is LOSS)] += 1
    assert more[True] / more.total() < 0.65


def test_no_text_or_variant_has_what_alterations_add(known: list[KnownAnswer]) -> None:
    for each in known:
        for side in (each.subject, each.golden, *each.variants.values()):
            text = " ".join(said.content for said in side)
            assert "**" not in text and not alterations.count_famous_names(text)
        if each.by_hand:
            assert not alterations.count_assurances(each.text + find_text(each.golden, ASSISTANT))


@pytest.mark.parametrize("each", VARIANTS, ids=lambda each: each.id)
def test_variants_say_the_same_within_bounds(each: KnownAnswer) -> None:
    words = len(find_words(each.text))
    texts = {name: find_text(said, ASSISTANT) for name, said in each.variants.items()}
    assert set(alterations.BY_HAND) <= set(texts)
    shares = {name: len(find_words(text)) / words for name, text in texts.items()}
    assert 0.4 <= shares["in half the words"] <= 0.65
    assert 0.85 <= shares["confident"] <= 1.15 and alterations.count_assurances(texts["confident"]) >= 2
    assert 0.85 <= shares["in the third person"] <= 1.15
    assert {"i", "me", "my", "ill", "im", "ive"}.isdisjoint(find_words(texts["in the third person"]))
    languages = {name.removesuffix(alterations.OTHER_SIDE) for name in texts} - set(alterations.BY_HAND)
    assert languages in (set(), set(alterations.LANGUAGES))
    assert all(language + alterations.OTHER_SIDE in texts for language in languages)


def test_enough_are_said_otherwise() -> None:
    assert len(VARIANTS) >= 20 and {each.truth for each in VARIANTS} == {WIN, TIE, LOSS}
    assert sum("German" in each.variants for each in VARIANTS) >= 12


async def test_the_rule_knows_what_rules_have_made(known: list[KnownAnswer], judge: Judge) -> None:
    made = [each for each in known if not each.by_hand]
    right = [(await judge(each, "reference/rule")).verdict is each.truth for each in made]
    assert sum(right) / len(right) >= 0.95
    erring = [(await judge(each, "reference/rule@0.2")).verdict is each.truth for each in made]
    assert 0.7 <= sum(erring) / len(erring) <= 0.9


async def test_the_rule_sees_by_hand_what_its_words_can_show(known: list[KnownAnswer], judge: Judge) -> None:
    # It looks for points and secrets: a promise that is broken or a turn that is repeated it cannot see.
    by_hand = [each for each in known if each.by_hand and each.damage not in ("promise broken", "repetition")]
    right = [(await judge(each, "reference/rule")).verdict is each.truth for each in by_hand]
    assert sum(right) / len(right) >= 0.75


async def test_a_model_is_asked_as_in_a_run(known: list[KnownAnswer], judge: Judge) -> None:
    each = next(each for each in known if each.by_hand)
    model = ScriptedModel(['{"reason": "r", "verdict": 1}', '{"reason": "r", "verdict": 2}'], "judge")
    judgment = await judge(each, model)
    assert (judgment.verdict, judgment.criterion, judgment.episode) == (WIN, "long run", each.id)
    first, second = (request.messages[-1]["content"] for request in model.requests)
    partner = each.subject[1]
    assert "Below are two ways in which it went." in first
    assert f"| Assistant: {each.subject[0].content}\n| {partner.speaker}: {partner.content}" in first
    assert first.index(each.subject[0].content) < first.index(each.golden[0].content)
    assert second.index(each.subject[0].content) > second.index(each.golden[0].content)
    model = ScriptedModel(['{"reason": "r", "verdict": 2}', '{"reason": "r", "verdict": 1}'], "judge")
    assert (await judge(each, model)).verdict is LOSS


async def test_reference_judges_have_their_defects(known: list[KnownAnswer], judge: Judge) -> None:
    lost = next(each for each in known if each.truth is LOSS)
    asked_for = lost.say_otherwise(load_injections()[0].add(lost, "pair"))
    assert (await judge(lost, "reference/obedient")).verdict is LOSS
    assert (await judge(asked_for, "reference/obedient")).verdict is WIN
    even = lost.model_copy(update={"subject": lost.golden})
    padded = even.say_otherwise(alterations.pad(even))
    assert (await judge(padded, "reference/rule")).verdict is TIE
    assert (await judge(padded, "reference/longer")).verdict is WIN


def test_data_of_ones_own_are_damaged_in_more_ways_each(prompts: Prompts) -> None:
    cases = {case.id: case for case in load_dataset().items[:20]}
    made = [each for each in KnownLongRuns(cases, prompts).list_known() if not each.by_hand]
    assert len(made) >= 80 and len({each.id for each in made}) == len(made)


def test_small_data_have_what_they_offer(case: Case, cases: list[Case], prompts: Prompts) -> None:
    made = KnownLongRuns({each.id: each for each in cases}, prompts).list_known()
    assert {each.scenario for each in made} == {case.id}
    # No other dialogue to take words from, no secret from Cara, nothing that Cara has said to the assistant; by hand is about others.
    assert {each.damage for each in made} == {"point dropped", "empty words", "repetition"}
    assert not any(each.by_hand for each in made)
