"""Texts whose right verdict is known: how many, how even, how far a rule gets, and how they are put to judges."""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from sociable.benchmarks.stss.conversations.dataset import BUNDLED
from sociable.benchmarks.stss.conversations.judge import Text
from sociable.benchmarks.stss.conversations.known_answers import PAIRS
from sociable.benchmarks.stss.conversations.made_texts import list_damages
from sociable.benchmarks.stss.conversations.metrics import METRICS
from sociable.benchmarks.stss.conversations.records import ConversationOptions
from sociable.benchmarks.stss.conversations.study import ConversationStudy
from sociable.core.names import find_words
from sociable.core.records import Judgment, Verdict
from sociable.engine.seats import Role, Seat
from sociable.engine.study import JudgingKind, StudyOptions
from sociable.judging.auditing.alterations import ASSURANCES, BY_HAND, FAMOUS, LANGUAGES, pad
from sociable.judging.auditing.injections import load_injections
from sociable.judging.auditing.known_answers import INTACT, KnownAnswer, find_text
from sociable.models.protocol import Sampling

from .conftest import Talker

RULE = Seat(Role.JUDGE, "reference/rule", None, Sampling())
LENGTHS = {"in half the words": (0.4, 0.65), "confident": (0.85, 1.15), "in the third person": (0.85, 1.15)}


@pytest.fixture(scope="module")
def study() -> ConversationStudy:
    return ConversationStudy(StudyOptions(ConversationOptions()))


@pytest.fixture(name="kind", scope="module", params=[0, 1], ids=["conversation", "summary"])
def choose_kind(request: pytest.FixtureRequest, study: ConversationStudy) -> JudgingKind:
    return study.list_judging_kinds()[request.param]


@pytest.fixture(scope="module")
def known(kind: JudgingKind) -> Sequence[KnownAnswer]:
    return list(kind.list_known())


def judge(kind: JudgingKind, known: KnownAnswer, seat: Seat = RULE) -> Judgment:
    return asyncio.run(kind.judge(known, seat, known.id))


def count_words(text: str) -> int:
    return len(find_words(text))


def count_own_words(known: KnownAnswer) -> int:
    return count_words(known.text)


def count_all_words(known: KnownAnswer) -> int:
    return sum(count_words(said.content) for said in known.subject)


def select_made(known: Sequence[KnownAnswer]) -> list[KnownAnswer]:
    return [each for each in known if not each.by_hand]


def test_there_are_enough_of_each_kind(kind: JudgingKind, known: Sequence[KnownAnswer], study: ConversationStudy) -> None:
    assert len({each.id for each in known}) == len(known) >= 300
    damages = list_damages(Text(kind.name))
    assert Counter(each.damage for each in select_made(known) if each.damage) == dict.fromkeys(damages, PAIRS)
    assert sum(each.by_hand for each in known) == 60
    for each in known:
        scene = study.scenarios[each.scenario]
        assert (each.kind, each.cluster) == (kind.name, study.find_cluster(each.scenario))
        assert each.about in study.evaluator.conditions[scene.type]
        assert each.speaker == (scene.target if kind.name == "summary" else scene.performer).name
        assert {said.speaker for said in each.subject} <= {scene.performer.name, scene.target.name}
        assert (each.damage == INTACT) == (each.truth is Verdict.WIN)
    assert list(kind.list_known()) == known


def test_sizes_of_damage_come_in_steps(known: Sequence[KnownAnswer]) -> None:
    sizes: dict[str, set[float]] = {}
    for each in known:
        sizes.setdefault(each.damage, set()).add(round(each.size or 0.0, 2))
    # Another time is off by half an hour, two hours or a day, as a share of a day.
    assert sizes["another time"] >= {0.02, 0.08, 1.0}
    assert all(len(sizes[damage]) >= 3 for damage in ("left out", "another thing", "another place"))


@pytest.mark.parametrize("by_hand", [False, True])
def test_neither_length_nor_share_tells_the_answer(known: Sequence[KnownAnswer], by_hand: bool) -> None:
    own = [each for each in known if each.by_hand is by_hand]
    yes, no = ([each for each in own if each.truth is truth] for truth in (Verdict.WIN, Verdict.LOSS))
    assert len(yes) == len(no)
    for measure in (count_own_words, count_all_words):
        assert fmean(map(measure, yes)) == pytest.approx(fmean(map(measure, no)), rel=0.1)


def test_twins_differ_in_their_truth_and_little_else(known: Sequence[KnownAnswer]) -> None:
    made = select_made(known)
    longer = 0
    for intact, damaged in zip(made[::2], made[1::2], strict=True):
        assert (intact.scenario, intact.about) == (damaged.scenario, damaged.about)
        assert (intact.truth, damaged.truth) == (Verdict.WIN, Verdict.LOSS)
        assert intact.subject != damaged.subject
        before, after = count_all_words(intact), count_all_words(damaged)
        longer += (after > before) - (after < before)
    assert abs(longer) < 0.15 * len(made)


def test_the_rule_knows_what_was_made_by_rules(kind: JudgingKind, known: Sequence[KnownAnswer]) -> None:
    right: dict[bool, list[bool]] = {False: [], True: []}
    for each in known:
        right[each.by_hand].append(judge(kind, each).verdict is each.truth)
    assert fmean(right[False]) >= 0.95
    # People say it in more ways than a rule knows.
    assert 0.7 < fmean(right[True]) < 0.95


def test_reference_judges_err_as_they_are_told(kind: JudgingKind, known: Sequence[KnownAnswer]) -> None:
    erring = replace(RULE, name="reference/rule@0.2")
    agree = [judge(kind, each, erring).verdict is judge(kind, each).verdict for each in known]
    assert fmean(agree) == pytest.approx(0.8, abs=0.06)


def test_reference_judges_with_a_taste_follow_it(kind: JudgingKind, known: Sequence[KnownAnswer]) -> None:
    damaged = [each for each in select_made(known) if each.damage][:20]
    told = [each.say_otherwise(load_injections()[0].add(each, "question")) for each in damaged]
    obedient = replace(RULE, name="reference/obedient")
    assert {judge(kind, each, obedient).verdict for each in damaged} == {Verdict.LOSS}
    assert {judge(kind, each, obedient).verdict for each in told} == {Verdict.WIN}
    longer = replace(RULE, name="reference/longer", ordinary=0)
    padded = [each.say_otherwise(pad(each)) for each in damaged]
    assert {judge(kind, each, longer).verdict for each in padded} == {Verdict.WIN}
    unmoved = replace(longer, ordinary=math.inf)
    assert [judge(kind, each, unmoved).verdict for each in padded] == [judge(kind, each).verdict for each in padded]


def test_models_are_asked_as_in_a_run(kind: JudgingKind, known: Sequence[KnownAnswer], study: ConversationStudy) -> None:
    each = next(each for each in known if each.by_hand and each.about == "time")
    for answer, verdict in (("yes", Verdict.WIN), ("no", Verdict.LOSS)):
        model = Talker(**{f"{kind.name}|time": [f'{{"reason": "It says so.", "answer": "{answer}"}}']})
        found = asyncio.run(kind.judge(each, Seat(Role.JUDGE, "talker", model, Sampling()), "audited 1"))
        assert (found.verdict, found.episode, found.scenario) == (verdict, "audited 1", each.scenario)
        assert found.criterion == f"{kind.name}|time"
        (shown,) = model.prompts("talker")
        asks = {"conversation": "only if the conversation itself shows it", "summary": "What is missing there is"}[kind.name]
        assert asks in shown
        assert f"| {study.scenarios[each.scenario].task.goal}" in shown
        assert re.search(r"\| Did \w+ \w+ learn that it takes place on Tuesday 14 February 2023, beginning at \d\d:\d\d\?", shown)
        assert all(said.content in shown for said in each.subject)


def test_metrics_are_those_that_rest_on_the_text(kind: JudgingKind) -> None:
    assert {f"{kind.name}_sr_micro", f"{kind.name}_gcsr_macro", f"{kind.name}_sr", f"{kind.name}/…"} <= set(kind.metrics)
    assert set(kind.metrics) < set(METRICS)


def test_variants_keep_their_bounds(known: Sequence[KnownAnswer]) -> None:
    found = Counter(name for each in known for name in each.variants)
    assert set(found) == {*BY_HAND, *LANGUAGES}
    assert all(found[name] >= 20 for name in BY_HAND)
    assert all(found[name] >= 12 for name in LANGUAGES)
    for each in known:
        for text in (each.text, *(find_text(said, each.speaker) for said in each.variants.values())):
            assert "**" not in text and FAMOUS not in text
        assert not ASSURANCES & set(find_words(each.text))
        for name, said in each.variants.items():
            words = find_words(find_text(said, each.speaker))
            assert [turn.speaker for turn in said] == [turn.speaker for turn in each.subject]
            low, high = LENGTHS.get(name, (0.0, math.inf))
            assert low <= len(words) / count_words(each.text) <= high, (each.id, name)
            assert name != "confident" or sum(word in ASSURANCES for word in words) >= 2, each.id
            assert name != "in the third person" or not {"i", "me", "my", "mine"} & set(words), each.id


def test_other_data_have_those_made_by_rules_only(tmp_path: Path, study: ConversationStudy) -> None:
    file = tmp_path / "scenes.jsonl"
    file.write_text(BUNDLED.read_text(encoding="utf-8"), encoding="utf-8")
    other = ConversationStudy(StudyOptions(ConversationOptions(), dataset=file, limit=5))
    for kind in other.list_judging_kinds():
        known = list(kind.list_known())
        assert known and not any(each.by_hand for each in known)
        assert {each.scenario for each in known} <= set(other.scenarios)
