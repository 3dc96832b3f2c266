"""Lists of claims whose right verdict is known: enough of them, balanced, and judged as in a run."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from statistics import fmean

import pytest

from sociable.benchmarks.anteval.iep.audit import load_checked_cards, load_hard_claims
from sociable.benchmarks.anteval.iep.cards import IepScenario, KnowledgeCard, load_cards, make_scenario
from sociable.benchmarks.anteval.iep.claims import LONGEST_CLAIM, tidy_claim
from sociable.benchmarks.anteval.iep.known_points import FEWEST_CLAIMS, MOST_CLAIMS, PointKind, find_subject, make_known
from sociable.benchmarks.anteval.iep.protocol import load_iep_prompts
from sociable.benchmarks.anteval.iep.records import IepOptions
from sociable.benchmarks.anteval.iep.study import IepStudy
from sociable.benchmarks.anteval.rules import DATA
from sociable.core.names import find_words
from sociable.core.records import Judgment, Verdict
from sociable.engine.seats import Role, Seat
from sociable.engine.study import StudyOptions
from sociable.judging.auditing.alterations import BY_HAND, LANGUAGES, count_assurances, pad
from sociable.judging.auditing.injections import load_injections
from sociable.judging.auditing.known_answers import INTACT, KnownAnswer
from sociable.models.protocol import Sampling
from sociable.models.scripted import ScriptedModel

STUDY = IepStudy(StudyOptions(IepOptions()))
(KIND,) = STUDY.list_judging_kinds()
KNOWN = list(KIND.list_known())
WRITTEN = [known for known in KNOWN if known.by_hand]
MADE = [known for known in KNOWN if not known.by_hand]
HALF, CONFIDENT, THIRD = BY_HAND


def judge(known: KnownAnswer, name: str, *, ordinary: float = float("inf"), kind: PointKind = KIND) -> Judgment:
    return asyncio.run(kind.judge(known, Seat(Role.JUDGE, name, None, Sampling(), ordinary), known.id))


def measure_accuracy(known: Sequence[KnownAnswer], name: str) -> float:
    async def judge_all() -> list[Judgment]:
        seat = Seat(Role.JUDGE, name, None, Sampling())
        return [await KIND.judge(each, seat, each.id) for each in known]

    return fmean(judged.verdict is each.truth for judged, each in zip(asyncio.run(judge_all()), known, strict=True))


def count_words(known: KnownAnswer) -> int:
    return len(find_words(known.text))


def test_there_are_enough_of_each_kind_of_damage_and_in_several_sizes() -> None:
    assert len(MADE) >= 200 and len(WRITTEN) >= 60
    assert len({known.id for known in KNOWN}) == len(KNOWN)
    damages = Counter(known.damage for known in KNOWN if known.truth is Verdict.LOSS)
    assert INTACT not in damages and len(damages) >= 5 and min(damages.values()) >= 20
    sizes = {damage: sorted(known.size or 0.0 for known in KNOWN if known.damage == damage) for damage in damages}
    assert {damage for damage, found in sizes.items() if found[0] == 1.0} == {"not told", "fact of another card"}
    for damage in damages.keys() - {"not told", "fact of another card"}:
        assert len(set(sizes[damage])) >= 3 and sizes[damage][0] < 0.34 and sizes[damage][-1] >= 0.5


def test_each_is_about_a_key_point_of_its_card_and_as_many_are_stated_as_are_not() -> None:
    for known in KNOWN:
        assert known.kind == KIND.name and STUDY.find_cluster(known.scenario) == known.cluster
        assert 1 <= int(known.about) <= len(STUDY.scenarios[known.scenario].key_points)
        assert FEWEST_CLAIMS <= len(known.subject) <= MOST_CLAIMS
        assert (known.truth is Verdict.WIN) == (known.damage == INTACT) == (known.size is None)
    for group in (MADE, WRITTEN):
        assert Counter(known.truth for known in group).keys() == {Verdict.WIN, Verdict.LOSS}
        assert len(set(Counter(known.truth for known in group).values())) == 1
    assert len({known.scenario for known in WRITTEN}) == len(STUDY.scenarios)


def test_the_list_alone_does_not_tell_the_answer() -> None:
    """By rules each list is asked about twice, with both answers; by hand both have the same length, and flaws beside the point."""
    answers: dict[str, set[Verdict]] = {}
    for known in MADE:
        answers.setdefault(known.text, set()).add(known.truth)
    assert all(len(found) == 2 for found in answers.values())
    mean = {
        truth: fmean(count_words(known) for known in WRITTEN if known.truth is truth) for truth in (Verdict.WIN, Verdict.LOSS)
    }
    assert mean[Verdict.WIN] / mean[Verdict.LOSS] == pytest.approx(1, abs=0.1)
    counts = [(count_words(known), known.truth is Verdict.WIN) for known in WRITTEN]
    cheats = [fmean((words > limit) == stated for words, stated in counts) for limit in range(30, 100)]
    assert 0.35 <= min(cheats) <= max(cheats) <= 0.65, "whoever goes by length is right about half the time"


def test_nothing_is_used_elsewhere() -> None:
    seen = {text for card in load_checked_cards().values() for text in (*card.retold, *card.guesses)}
    seen |= {claim.claim for claims in load_hard_claims().values() for claim in claims}
    said = {said.content for known in KNOWN for words in (known.subject, *known.variants.values()) for said in words}
    assert not seen & said
    points = {point.point for card in STUDY.scenarios.values() for point in card.key_points}
    assert not points & {said.content for known in WRITTEN for said in known.subject}


def test_padding_cuts_no_claim_off() -> None:
    for known in KNOWN:
        for said, padded in zip(known.subject, pad(known), strict=True):
            assert said.content in tidy_claim(padded.content) and len(said.content) < LONGEST_CLAIM


def test_variants_are_within_their_bounds() -> None:
    varied = [known for known in WRITTEN if known.variants]
    assert len(varied) >= 30 and {known.truth for known in varied} == {Verdict.WIN, Verdict.LOSS}
    for known in varied:
        texts = {name: known.say_otherwise(words) for name, words in known.variants.items()}
        words = {name: count_words(text) / count_words(known) for name, text in texts.items()}
        assert texts.keys() >= {*BY_HAND} and texts.keys() <= {*BY_HAND, *LANGUAGES}, known.id
        assert all(len(text.subject) == len(known.subject) for text in texts.values()), known.id
        assert 0.4 <= words[HALF] <= 0.65, known.id
        assert 0.85 <= words[CONFIDENT] <= 1.15 and 0.85 <= words[THIRD] <= 1.15, known.id
        assert count_assurances(texts[CONFIDENT].text) >= 2, known.id
        assert known.speaker in texts[THIRD].text and not re.search(r"\b(I|me|my)\b", texts[THIRD].text), known.id
        assert not re.search(r"[\u4e00-\u9fff]", known.text)
        assert "Chinese" not in texts or re.search(r"[\u4e00-\u9fff]", texts["Chinese"].text), known.id
    for language in LANGUAGES:
        told = [known for known in varied if language in known.variants]
        assert len(told) >= 12 and Counter(known.truth for known in told)[Verdict.WIN] == len(told) / 2
    for known in WRITTEN:
        assert not count_assurances(known.text), known.id
        everything = json.dumps([said.content for said in (*known.subject, *sum(known.variants.values(), ()))])
        assert "**" not in everything and not re.search("GPT|Claude|Gemini|Llama", everything), known.id


def test_the_rule_knows_what_rules_have_made_and_errs_where_it_is_told_to() -> None:
    assert measure_accuracy(MADE, "reference/rule") >= 0.95
    for truth in (Verdict.WIN, Verdict.LOSS):
        asked = [known for known in MADE if known.truth is truth]
        assert measure_accuracy(asked, "reference/rule@0.2") == pytest.approx(0.8, abs=0.08)
        assert measure_accuracy(asked, "reference/rule@1") == 0.0


def test_the_data_card_says_how_the_rule_decides_what_was_written_by_hand() -> None:
    def find_accuracy(damage: str) -> str:
        return f"{measure_accuracy([known for known in WRITTEN if known.damage == damage], 'reference/rule'):.2f}"

    text = " ".join((DATA / "README.md").read_text(encoding="utf-8").split())
    assert f"decides {measure_accuracy(WRITTEN, 'reference/rule'):.2f} of them rightly: {find_accuracy(INTACT)} of those" in text
    assert (
        f"{find_accuracy('one thing swapped')} with one thing swapped, {find_accuracy('one half wrong')} with one half wrong"
        in text
    )
    assert find_accuracy("detail dropped") == "1.00" and "all with a detail missing" in text


def test_an_obedient_judge_and_one_who_likes_length_say_yes() -> None:
    known = next(known for known in WRITTEN if known.truth is Verdict.LOSS)
    ordered = known.say_otherwise(load_injections()[0].add(known, "question"))
    assert judge(known, "reference/obedient").verdict is Verdict.LOSS
    assert judge(ordered, "reference/obedient").verdict is Verdict.WIN
    assert judge(ordered, "reference/rule").verdict is Verdict.LOSS
    shown = count_words(known) + 200
    padded = known.say_otherwise(pad(known))
    for ordinary, verdict in ((shown * 100, Verdict.LOSS), (shown / 100, Verdict.WIN)):
        assert judge(padded, "reference/longer", ordinary=ordinary).verdict is verdict


@pytest.mark.parametrize("truth", [Verdict.WIN, Verdict.LOSS])
async def test_a_model_is_asked_as_in_a_run_and_its_reply_is_the_verdict(truth: Verdict) -> None:
    known = next(known for known in WRITTEN if int(known.about) > 1)
    matches = [[int(known.about), "B"]] if truth is Verdict.WIN else [[1, "B"]]
    model = ScriptedModel([json.dumps({"reason": "So it says.", "matches": matches})], "m")
    judged = await KIND.judge(known, Seat(Role.JUDGE, "m", model, Sampling()), "asked|1")
    assert (judged.verdict, judged.episode) == (truth, "asked|1")
    assert judged.usage.calls == 1, "the call is booked, whichever point is asked about"
    (request,) = model.requests
    asked = request.messages[-1]["content"]
    assert "whoever knew only the claim would know what is particular about the fact" in asked
    scenario = STUDY.scenarios[known.scenario]
    for number, point in enumerate(scenario.key_points, start=1):
        assert f"| {number}. {point.point}" in asked
    for letter, said in zip("ABCDEF", known.subject, strict=False):
        assert f"| {letter}. {said.content}" in asked
    assert request.scope.name.startswith("asked|1/judge/m|")


@pytest.mark.parametrize("reply", ["I cannot say.", '{"matches": [[99, "A"]]}'])
async def test_a_reply_that_cannot_be_read_is_no_verdict(reply: str) -> None:
    judged = await KIND.judge(WRITTEN[0], Seat(Role.JUDGE, "m", ScriptedModel([reply]), Sampling()), "x")
    assert judged.verdict is Verdict.UNSCORED


def make_own(card: KnowledgeCard, **changes: object) -> IepScenario:
    return make_scenario(card.model_copy(update=changes), ())


def test_a_users_cards_have_known_answers_of_their_own_and_none_written_for_others() -> None:
    first, second = load_cards(None, skip_invalid=False).items[:2]
    prompts = load_iep_prompts()
    unworded = [point.model_copy(update={"wording": None}) for point in first.key_points]
    scenarios = {
        first.id: make_own(first, key_points=tuple(unworded)),
        second.id: make_own(second),
        "copy": make_own(second, id="copy"),
    }
    known = list(PointKind(scenarios, prompts).list_known())
    assert {each.scenario for each in known if each.by_hand} == {second.id}
    assert {each.damage for each in known if each.scenario == first.id} >= {"not told", "detail dropped", "fact of another card"}
    facts = {point.point for point in second.key_points}
    copied = [each for each in known if each.scenario == "copy" and each.damage == "fact of another card"]
    assert all(any(said.content not in facts for said in each.subject) for each in copied)
    assert known == list(PointKind(scenarios, prompts).list_known())
    few = first.model_copy(update={"key_points": first.key_points[:3]})
    assert not list(make_known([few]))


def test_a_cards_subject_is_named_as_in_its_key_points() -> None:
    subjects = {name: find_subject(scenario.card) for name, scenario in STUDY.scenarios.items()}
    assert subjects["oven-toad-of-ockerton"] == "the oven toad"
    assert subjects["auntie-in-dunnock-deep"] == "Auntie"
    assert subjects["the-grey-saddle"] == "the Grey Saddle"
    assert subjects["weighhouse-lock"] == "", "'Lock' is no name, and few points say 'the Weighhouse Lock'"
