"""Goals of which it is known whether they were reached: the scenes, and what judges make of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from statistics import fmean
from typing import Any

import pytest

from sociable.benchmarks.agentsense import known_goals
from sociable.benchmarks.agentsense.known_goals import GoalKind, make_known_goals
from sociable.benchmarks.agentsense.metrics import METRICS
from sociable.benchmarks.agentsense.records import AgentSenseOptions
from sociable.benchmarks.agentsense.scenario import Scenario
from sociable.benchmarks.agentsense.study import AgentSenseStudy
from sociable.core.names import find_words
from sociable.core.records import Judgment, Verdict
from sociable.engine.seats import Role, Seat
from sociable.engine.study import StudyOptions
from sociable.judging.auditing.alterations import BY_HAND, FAMOUS, LANGUAGES, count_assurances, pad
from sociable.judging.auditing.injections import load_injections
from sociable.judging.auditing.known_answers import INTACT, KnownAnswer
from sociable.models.protocol import Sampling

ANN, BEN, CARA = "Ann Lee", "Ben Cole", "Cara Diaz"


@pytest.fixture(scope="module")
def study() -> AgentSenseStudy:
    return AgentSenseStudy(StudyOptions(AgentSenseOptions()))


@pytest.fixture(scope="module")
def kind(study: AgentSenseStudy) -> GoalKind:
    found = next(each for each in study.list_judging_kinds() if each.name == "goal")
    assert isinstance(found, GoalKind)
    return found


@pytest.fixture(scope="module")
def known(kind: GoalKind) -> list[KnownAnswer]:
    return list(kind.list_known())


@pytest.fixture(scope="module")
def by_hand(known: list[KnownAnswer]) -> list[KnownAnswer]:
    return [each for each in known if each.by_hand]


def ask(kind: GoalKind, known: list[KnownAnswer], seat: Seat) -> list[Judgment]:
    async def ask_all() -> list[Judgment]:
        return [await kind.judge(each, seat, f"known|{each.id}") for each in known]

    return asyncio.run(ask_all())


def seat_reference(name: str, ordinary: float = float("inf")) -> Seat:
    return Seat(Role.JUDGE, f"reference/{name}", None, Sampling(), ordinary)


def count_words(each: KnownAnswer) -> int:
    return len(find_words(each.text))


# The scenes.


def test_there_are_enough_of_each_kind_and_all_are_of_the_scenarios_there_are(
    study: AgentSenseStudy, known: list[KnownAnswer], by_hand: list[KnownAnswer]
) -> None:
    assert len({each.id for each in known}) == len(known) >= 200
    assert len(by_hand) >= 60
    for each in known:
        scenario = study.scenarios[each.scenario]
        owner, _, number = each.about.partition(": goal ")
        assert each.cluster == scenario.template
        assert each.speaker == owner
        assert 1 <= int(number) <= len(scenario.by_name[owner].goals)
        assert {said.speaker for said in each.subject} <= set(scenario.names)
        assert 4 <= len(each.subject) <= 10
        assert (each.truth is Verdict.WIN) == (each.damage == INTACT)
    damages = Counter(each.damage for each in known if each.damage)
    assert len(damages) == 7
    assert min(damages.values()) >= 20
    # Of three kinds of damage there is more and less.
    for damage in ("the telling line is missing", "taken back", "promised, then broken"):
        assert len({each.size for each in known if each.damage == damage}) >= 3


def test_goals_that_are_left_out_are_in_the_data_and_in_no_scene_by_rule(
    study: AgentSenseStudy, known: list[KnownAnswer]
) -> None:
    left_out = {tuple(each.split("|")) for each in known_goals._LEFT_OUT}
    there = {
        (each.id, f"{who.name}: goal {n}") for each in study.scenarios.values() for who in each.characters for n in (1, 2, 3)
    }
    assert left_out <= there
    assert not left_out & {(each.scenario, each.about) for each in known if not each.by_hand}


def test_the_list_is_the_same_each_time(kind: GoalKind, known: list[KnownAnswer]) -> None:
    assert list(kind.list_known()) == known


@pytest.mark.parametrize("part", ["by rule", "by hand"])
def test_neither_the_number_of_answers_nor_their_length_tells_the_truth(known: list[KnownAnswer], part: str) -> None:
    some = [each for each in known if each.by_hand == (part == "by hand")]
    yes, no = ([each for each in some if each.truth is truth] for truth in (Verdict.WIN, Verdict.LOSS))
    assert len(yes) == len(no)
    assert fmean(map(count_words, yes)) == pytest.approx(fmean(map(count_words, no)), rel=0.1)
    whole = [fmean(sum(len(find_words(said.content)) for said in each.subject) for each in one_truth) for one_truth in (yes, no)]
    assert whole[0] == pytest.approx(whole[1], rel=0.05)


def test_a_scene_by_rule_is_asked_about_twice(known: list[KnownAnswer]) -> None:
    by_scene = Counter((each.scenario, each.subject) for each in known if not each.by_hand)
    truths = {(each.scenario, each.subject, each.truth) for each in known if not each.by_hand}
    # Two kinds of damage may make the same scene.
    assert all(count % 2 == 0 for count in by_scene.values())
    assert len(truths) == 2 * len(by_scene)


def test_variants_by_hand_keep_their_bounds(by_hand: list[KnownAnswer]) -> None:
    varied = [each for each in by_hand if each.variants]
    assert len(varied) >= 20
    assert sum(set(LANGUAGES) <= set(each.variants) for each in varied) >= 12
    for each in by_hand:
        texts = {"": each, **{name: each.say_otherwise(said) for name, said in each.variants.items()}}
        assert set(texts) - {""} <= {*BY_HAND, *LANGUAGES}
        for name, text in texts.items():
            everything = " ".join(said.content for said in text.subject)
            assert "**" not in everything and FAMOUS not in everything
            if name not in LANGUAGES:
                share = count_words(text) / count_words(each)
                assert 0.4 <= share <= 0.65 if name == "in half the words" else 0.85 <= share <= 1.15, (each.id, name)
            # Only the one under test is heard in other words; in another language, everybody.
            assert [said.speaker for said in text.subject] == [said.speaker for said in each.subject]
            changed = {said.speaker for said, plain in zip(text.subject, each.subject, strict=True) if said != plain}
            assert changed <= {each.speaker} or name in LANGUAGES
            assert count_assurances(text.text) >= 2 if name == "confident" else count_assurances(everything) == 0
        if "in the third person" in each.variants:
            text = each.say_otherwise(each.variants["in the third person"])
            assert any(part in text.text for part in each.speaker.split())
            assert not {"i", "me", "my"} & set(find_words(text.text))


# Data of one's own.


@pytest.fixture
def make(native: dict[str, Any], read: Callable[[dict[str, Any]], Scenario]) -> Callable[[], list[KnownAnswer]]:
    """Known answers of the small scene, in which Ben and Cara too have goals that can be reached."""

    def goal(text: str, by: str, request: tuple[str, str], answer: str, sign: str, refusal: str) -> dict[str, Any]:
        return {
            "goal": text,
            "signs": [{"by": by, "says": [[sign]], "unless": [["only if"], ["depends"]]}],
            "reached": [{"by": request[0], "says": request[1]}, {"by": by, "says": answer}],
            "missed": [{"by": request[0], "says": request[1]}, {"by": by, "says": refusal}],
        }

    ann, ben, cara = native["characters"]
    ann["goals"] = [goal("To get Ben to agree to row.", BEN, (ANN, "Will you row?"), "Then I will row.", "i will row", "No.")]
    ben["goals"] = [goal("To get Cara to agree to sing.", CARA, (BEN, "Sing?"), "I will sing for you.", "i will sing", "Not I.")]
    cara["goals"] = [goal("To get Ann to allow a fire.", ANN, (CARA, "A fire?"), "You may light it.", "you may light", "Never.")]
    return lambda: list(make_known_goals(read(native)))


def test_scenes_are_made_of_a_users_own_data(make: Any) -> None:
    found = {each.id.split("|", 2)[2]: each for each in make()}
    assert {name.partition("|")[0] for name in found} == {
        "the telling line is missing",
        "only tried",
        "said by the wrong person",
        "on an open condition",
        "taken back",
        "promised, then broken",
        "another's goal is reached",
    }
    tried = found["only tried|missed"]
    assert any(said.content in ("No.", "Not I.", "Never.") for said in tried.subject)
    reached = found["only tried|reached"]
    assert (reached.subject, reached.truth, reached.damage) == (tried.subject, Verdict.WIN, "")
    moved = found["said by the wrong person|missed"]
    quoted = next(said for said in moved.subject if "“" in said.content)
    teller = {ANN: BEN, BEN: CARA, CARA: ANN}[moved.speaker]
    assert quoted.speaker not in (moved.speaker, teller)
    assert teller.split()[0] in quoted.content
    back = found["taken back|missed"]
    place = next(place for place, said in enumerate(back.subject) if "never said" in said.content)
    # The scene has the three exchanges, and the words that take one back.
    assert len(back.subject) == 7
    assert back.size == pytest.approx((6 - place) / 7)
    cut = found["the telling line is missing|missed"]
    assert cut.size == (7 - 1 - len(cut.subject)) / 2


def test_goals_without_signs_or_granted_on_a_condition_make_no_scenes(make: Any, native: dict[str, Any]) -> None:
    native["characters"][0]["goals"][0]["reached"][1]["says"] = "Then I will row, if the sea is calm."
    assert make() == []  # two goals are left, and a scene has three


def test_of_two_goals_that_exclude_each_other_no_scene_reaches_both(make: Any, native: dict[str, Any]) -> None:
    native["exclusive"] = [[{"of": ANN, "goal": 1}, {"of": BEN, "goal": 1}]]
    assert make() == []


def test_scenes_by_hand_are_left_out_where_the_scenario_is_another(study: AgentSenseStudy, scenario: Scenario) -> None:
    bundled = study.scenarios["boat-at-four:1"]
    foreign = scenario.model_copy(update={"id": bundled.id})
    for there, expected in ((bundled, 2), (foreign, 0)):
        kind = GoalKind({there.id: there}, study.prompts, first_lines=False)
        assert sum(each.by_hand for each in kind.list_known()) == expected


# The judges.


def test_the_rule_is_right_about_what_rules_made(kind: GoalKind, known: list[KnownAnswer]) -> None:
    by_rule = [each for each in known if not each.by_hand]
    verdicts = ask(kind, by_rule, seat_reference("rule"))
    assert fmean(each.truth is found.verdict for each, found in zip(by_rule, verdicts, strict=True)) >= 0.95


def test_the_rule_that_errs_does_so_in_a_fifth(kind: GoalKind, known: list[KnownAnswer]) -> None:
    right, wrong = (ask(kind, known, seat_reference(name)) for name in ("rule", "rule@0.2"))
    assert fmean(a.verdict is not b.verdict for a, b in zip(right, wrong, strict=True)) == pytest.approx(0.2, abs=0.05)


def test_a_model_is_asked_as_in_a_run(kind: GoalKind, by_hand: list[KnownAnswer], seat: Callable[..., Seat]) -> None:
    asked, other = by_hand[0], by_hand[1]
    yes: Any = seat(Role.JUDGE, lambda _: '{"reason": "So it was said.", "answer": "yes"}')
    (found,) = ask(kind, [asked], yes)
    assert (found.verdict, found.reason, found.episode) == (Verdict.WIN, "So it was said.", f"known|{asked.id}")
    (request,) = yes.model.asked
    sent = request.messages[-1]["content"]
    assert "an attempt, a hope or a promise to think about it is not enough" in sent
    assert all(said.content in sent for said in asked.subject)
    assert f"The question, about {asked.speaker}:" in sent
    assert request.scope.item == f"known|{asked.id}"
    no = seat(Role.JUDGE, lambda _: "No, she never says so.")
    assert [each.verdict for each in ask(kind, [asked, other], no)] == [Verdict.LOSS, Verdict.LOSS]
    assert ask(kind, [asked], seat(Role.JUDGE, lambda _: "Hm."))[0].verdict is Verdict.UNSCORED


def test_the_obedient_judge_does_as_it_is_told(kind: GoalKind, by_hand: list[KnownAnswer]) -> None:
    missed = [each for each in by_hand if each.truth is Verdict.LOSS and each.damage == "only tried"]
    told = [each.say_otherwise(load_injections()[0].add(each, "question")) for each in missed]
    obedient = seat_reference("obedient")
    assert {each.verdict for each in ask(kind, missed, obedient)} == {Verdict.LOSS}
    assert {each.verdict for each in ask(kind, told, obedient)} == {Verdict.WIN}


def test_the_judge_with_a_taste_for_length_approves_of_padding(
    kind: GoalKind, by_hand: list[KnownAnswer], seat: Callable[..., Seat]
) -> None:
    missed = next(each for each in by_hand if each.damage == "only tried")
    shown: Any = seat(Role.JUDGE, lambda _: "no")
    ask(kind, [missed], shown)
    ordinary = len(find_words("\n".join(message["content"] for message in shown.model.asked[0].messages)))
    found = ask(kind, [missed, missed.say_otherwise(pad(missed))], seat_reference("longer", ordinary))
    assert [each.verdict for each in found] == [Verdict.LOSS, Verdict.WIN]


def test_the_metrics_that_rest_on_it_are_declared() -> None:
    assert set(GoalKind.metrics) <= set(METRICS)
