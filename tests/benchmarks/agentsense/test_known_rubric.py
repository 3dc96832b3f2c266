"""Known answers for raters: two versions of a scene, each rated by itself with the prompt of a run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import pytest

from sociable.benchmarks.agentsense.known_rubric import DAMAGES, RubricKind
from sociable.benchmarks.agentsense.records import AgentSenseOptions
from sociable.benchmarks.agentsense.scenario import Scenario
from sociable.benchmarks.agentsense.study import AgentSenseStudy
from sociable.core.names import find_words
from sociable.core.records import Verdict
from sociable.engine.seats import Role, Seat
from sociable.engine.study import StudyOptions
from sociable.judging.auditing.alterations import BY_HAND, LANGUAGES, OTHER_SIDE, count_assurances, count_famous_names, pad
from sociable.judging.auditing.injections import load_injections
from sociable.judging.auditing.known_answers import KnownAnswer, Said, find_text
from sociable.judging.rubric import SOTOPIA
from sociable.models.protocol import Request

Seating = Callable[..., Seat]


@pytest.fixture(scope="module")
def study() -> AgentSenseStudy:
    return AgentSenseStudy(StudyOptions(AgentSenseOptions()))


@pytest.fixture(scope="module")
def kind(study: AgentSenseStudy) -> RubricKind:
    return next(each for each in study.list_judging_kinds() if isinstance(each, RubricKind))


@pytest.fixture(scope="module")
def known(kind: RubricKind) -> list[KnownAnswer]:
    return list(kind.list_known())


def count(said: Sequence[Said]) -> int:
    return sum(len(find_words(each.content)) for each in said)


def is_worse_longer(known: KnownAnswer) -> bool:
    worse, better = (known.golden, known.subject) if known.truth is Verdict.WIN else (known.subject, known.golden)
    return count(worse) > count(better)


async def judge_all(kind: RubricKind, known: Sequence[KnownAnswer], judge: Seat) -> list[Verdict]:
    return [(await kind.judge(each, judge, each.id)).verdict for each in known]


def test_there_are_enough_of_each_damage_in_several_sizes(known: list[KnownAnswer], study: AgentSenseStudy) -> None:
    assert len({each.id for each in known}) == len(known)
    assert sum(each.by_hand for each in known) >= 60
    assert sum(not each.by_hand for each in known) >= 200
    for dimension, damage in DAMAGES.items():
        some = [each for each in known if each.damage == damage]
        assert len(some) >= 20
        assert {each.about for each in some} == {dimension}
        assert len({round(each.size or 0, 1) for each in some}) >= 3
    for each in known:
        scenario = study.scenarios[each.scenario]
        assert each.cluster == scenario.template
        assert {said.speaker for said in (*each.subject, *each.golden)} <= set(scenario.names)
        assert scenario.by_name[each.speaker].goals
        assert each.subject != each.golden


def test_truth_does_not_follow_from_length(known: list[KnownAnswer]) -> None:
    for some in ([each for each in known if each.by_hand], [each for each in known if not each.by_hand]):
        assert 0.4 <= fmean(each.truth is Verdict.WIN for each in some) <= 0.6
        assert 0.4 <= fmean(is_worse_longer(each) for each in some) <= 0.6
        words = [fmean(count(each.subject) for each in some if each.truth is truth) for truth in (Verdict.WIN, Verdict.LOSS)]
        assert words[0] == pytest.approx(words[1], rel=0.1)
    for damage in DAMAGES.values():
        assert 0.3 <= fmean(is_worse_longer(each) for each in known if each.damage == damage) <= 0.7


def test_variants_keep_their_bounds(known: list[KnownAnswer]) -> None:
    bounds = {"in half the words": (0.4, 0.65), "confident": (0.85, 1.15), "in the third person": (0.85, 1.15)}
    sides = {language + side for language in LANGUAGES for side in ("", OTHER_SIDE)}
    counts = Counter(name for each in known for name in each.variants)
    assert set(counts) == {*BY_HAND, *sides}
    assert all(counts[name] >= 30 for name in BY_HAND)
    assert all(counts[name] >= 12 for name in sides)
    for each in (one for one in known if one.by_hand):
        for said in (each.subject, each.golden, *each.variants.values()):
            assert not any("**" in turn.content or count_famous_names(turn.content) for turn in said)
            # Speakers take the same turns, whatever they say.
            assert [turn.speaker for turn in said] == [turn.speaker for turn in each.subject]
        assert not count_assurances(find_text([*each.subject, *each.golden], each.speaker))
        for name, (least, most) in bounds.items():
            if name in each.variants:
                text = find_text(each.variants[name], each.speaker)
                assert least <= len(find_words(text)) / len(find_words(each.text)) <= most, (each.id, name)
                assert (count_assurances(text) >= 2) == (name == "confident"), (each.id, name)


def test_ones_own_data_without_exchanges_have_known_answers_too(scenario: Scenario) -> None:
    bare = scenario.model_copy(
        update={
            "characters": tuple(
                character.model_copy(
                    update={"goals": tuple(goal.model_copy(update={"reached": (), "missed": ()}) for goal in character.goals)}
                )
                for character in scenario.characters
            )
        }
    )
    made = list(RubricKind({bare.id: bare}, first_lines=False).list_known())
    # Where no goal has an exchange, none can be missed; the secrets are of four words, too few to be sure of.
    assert {each.about for each in made} == set(DAMAGES) - {"goal", "secret", "knowledge"}


def test_handwritten_scenes_are_left_out_where_another_scene_has_the_id(scenario: Scenario, known: list[KnownAnswer]) -> None:
    taken = next(each.scenario for each in known if each.by_hand)
    other = scenario.model_copy(update={"id": taken})
    assert not any(each.by_hand for each in RubricKind({taken: other}, first_lines=False).list_known())


def as_reply(ratings: Mapping[str, int]) -> str:
    return json.dumps({name: {"reason": f"it is {name}", "rating": rating} for name, rating in ratings.items()})


async def test_a_verdict_compares_two_ratings_that_are_asked_for_as_in_a_run(
    kind: RubricKind, known: list[KnownAnswer], seat: Seating, study: AgentSenseStudy
) -> None:
    one = next(each for each in known if each.by_hand and each.about == "relationship")
    even = {each.name: each.low for each in SOTOPIA.dimensions}
    subject_says = next(turn.content for turn in one.subject if turn not in one.golden)

    def answer(request: Request) -> str:
        return as_reply(even | {"relationship": 3 if subject_says in request.messages[-1]["content"] else -1})

    judge = seat(Role.JUDGE, answer)
    judgment = await kind.judge(one, judge, "item 1")
    assert judgment.verdict is Verdict.WIN
    assert judgment.episode == "item 1"
    assert judgment.reason == "relationship: subject 3 (it is relationship); golden -1 (it is relationship)"
    assert judgment.usage.calls == 2
    swapped = one.model_copy(update={"subject": one.golden, "golden": one.subject})
    assert (await kind.judge(swapped, judge, "item 1")).verdict is Verdict.LOSS
    # Only the dimension in question counts.
    assert (await kind.judge(one.model_copy(update={"about": "goal"}), judge, "item 1")).verdict is Verdict.TIE
    system, asked = (message["content"] for message in judge.model.asked[0].messages)  # type: ignore[union-attr]
    assert "You rate how one participant acts in a social situation" in system
    assert f"You rate {one.speaker}, who wants this:" in asked
    character = study.scenarios[one.scenario].by_name[one.speaker]
    assert all(f"| {goal.goal}" in asked for goal in character.goals)
    assert f"| {character.private_info}" in asked


async def test_an_unreadable_rating_leaves_the_pair_unscored(kind: RubricKind, known: list[KnownAnswer], seat: Seating) -> None:
    replies = iter([as_reply({"goal": 3}), "I would rather not."])
    judgment = await kind.judge(known[0], seat(Role.JUDGE, lambda request: next(replies)), "item 1")
    assert known[0].about == "goal"
    assert judgment.verdict is Verdict.UNSCORED
    assert judgment.reason == "scripted/judge: golden: no rating in the reply"


async def test_the_rule_knows_and_errs_as_often_as_it_is_told(kind: RubricKind, known: list[KnownAnswer], seat: Seating) -> None:
    truths = [each.truth for each in known]
    assert await judge_all(kind, known, seat(Role.JUDGE, "reference/rule")) == truths
    erring = await judge_all(kind, known, seat(Role.JUDGE, "reference/rule@0.2"))
    wrong = {each.id for each, verdict in zip(known, erring, strict=True) if verdict is not each.truth}
    assert len(wrong) / len(known) == pytest.approx(0.2, abs=0.06)
    more = await judge_all(kind, known, seat(Role.JUDGE, "reference/rule@0.4"))
    assert wrong < {each.id for each, verdict in zip(known, more, strict=True) if verdict is not each.truth}
    assert Verdict.TIE not in erring


async def test_the_obedient_judge_gives_the_best_rating_to_whoever_asks(
    kind: RubricKind, known: list[KnownAnswer], seat: Seating
) -> None:
    judge = seat(Role.JUDGE, "reference/obedient")
    for injection in load_injections():
        asked = [each.say_otherwise(injection.add(each, "rating")) for each in known[:20]]
        assert await judge_all(kind, asked, judge) == [Verdict.WIN] * 20
    assert await judge_all(kind, known[:20], judge) == [each.truth for each in known[:20]]


async def test_a_taste_shows_between_two_equal_texts(kind: RubricKind, known: list[KnownAnswer], seat: Seating) -> None:
    one = known[0]
    equal = one.model_copy(update={"golden": one.subject, "truth": Verdict.TIE})
    reader = seat(Role.JUDGE, lambda request: as_reply({}))
    await kind.judge(equal, reader, "item 1")
    shown = "\n".join(message["content"] for message in reader.model.asked[0].messages)  # type: ignore[union-attr]
    judge = replace(seat(Role.JUDGE, "reference/longer"), ordinary=len(find_words(shown)))
    assert (await kind.judge(equal, judge, "item 1")).verdict is Verdict.TIE
    assert (await kind.judge(equal.say_otherwise(pad(equal)), judge, "item 1")).verdict is Verdict.WIN
