"""An audit finds the defect that a reference judge has, and no other: over 20 seeds, on every kind of judging.

The table of what each judge must light up stands in README.md, and is read from there.
"""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import pytest

from sociable.api.cases import load_study
from sociable.engine.judge_asking import ask_judges, plan_kinds
from sociable.engine.registry import find_benchmark, list_benchmark_names
from sociable.engine.seats import Role, Seat
from sociable.engine.study import JudgeAudited, JudgingKind
from sociable.judging import protocol
from sociable.judging.auditing.card import AuditAnswer, KindCard
from sociable.judging.auditing.findings import FALSE_ALARMS, adjust, make_kind_card
from sociable.judging.protocol import Reading
from sociable.judging.questions import Judge, Question
from sociable.judging.reference import REFERENCE_JUDGES
from sociable.judging.rubric import SOTOPIA
from sociable.models.limits import Budget
from sociable.models.protocol import ChatMessage, Sampling, Scope

ROOT = Path(__file__).parents[3]
SEEDS = range(20)
"""The first seven are one of each kind."""
KNOWN = 200
AUDITED = [name for name in list_benchmark_names() if issubclass(find_benchmark(name).load_study_type(), JudgeAudited)]


def read_table() -> dict[str, set[str]]:
    """The rows that each judge lights up, as the README says."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `reference/([^`]+)` \|[^|]*\| ([^|]+) \|$", text, re.MULTILINE)
    return {judge: set() if lit == "none" else set(lit.split(", ")) for judge, lit in rows}


PLANTED = read_table()


def test_the_readme_has_every_reference_judge() -> None:
    assert PLANTED.keys() == {*REFERENCE_JUDGES, "rule@0.2"}


@cache
def list_kinds() -> list[JudgingKind]:
    """All kinds of judging; what is known is listed once."""
    kinds = [kind for name in AUDITED for kind in load_study(name).list_judging_kinds()]  # type: ignore[attr-defined]
    for kind in kinds:
        kind.list_known = partial(list, list(kind.list_known()))
    return kinds


@pytest.fixture
def rules_asked_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All reference judges are shown the same and go by the same rule: either is worked out once."""
    said: dict[tuple[str, ...], Reading[object]] = {}
    shown: dict[tuple[str, ...], Sequence[ChatMessage]] = {}
    answer = protocol.answer_as_reference

    def answer_from_memory(question: Question[object], judge: Judge, scope: Scope) -> Reading[object]:
        texts = question.leaning.texts if question.leaning else ()
        key = (scope.item, scope.participant.removeprefix(judge.name), *texts)

        def apply_rule() -> Reading[object]:
            if key not in said:
                said[key] = question.apply_rule()
            return said[key]

        def write() -> Sequence[ChatMessage]:
            if key not in shown:
                shown[key] = question.write()
            return shown[key]

        # A rating's rule knows the answer beforehand, and both texts of a pair are rated under one name.
        is_quick = SOTOPIA.name in scope.participant
        return answer(question if is_quick else dataclasses.replace(question, apply_rule=apply_rule, write=write), judge, scope)

    monkeypatch.setattr(protocol, "answer_as_reference", answer_from_memory)
    yield


class Answers(dict[str, AuditAnswer]):
    """Kept in memory."""

    def append(self, answer: AuditAnswer) -> None:
        self[answer.id] = answer


def audit(judges: Iterable[str], kind: JudgingKind, seed: int) -> dict[str, KindCard]:
    """The card of each judge."""
    (planned,) = plan_kinds([kind], languages=(), limit=KNOWN, seed=seed)
    seats = {judge: Seat(Role.JUDGE, f"reference/{judge}", None, Sampling()) for judge in judges}
    answers, cards = Answers(), {}
    asking = ask_judges([planned], list(seats.values()), answers, Budget({}), lambda _: None, at_once=50)  # type: ignore[arg-type]
    asyncio.run(asking)
    for judge, seat in seats.items():
        by_name = {answer.name: answer for answer in answers.values() if answer.judge == seat.name}
        assert len(by_name) == len(planned.asks)
        (cards[judge],) = adjust([make_kind_card(kind.name, kind.metrics, planned.asks, by_name)])
    return cards


@pytest.mark.parametrize("seeds", [SEEDS[:7], pytest.param(SEEDS[7:], marks=pytest.mark.long)], ids=str)
def test_each_judge_lights_up_its_own_rows_and_no_other(seeds: Sequence[int], rules_asked_once: None) -> None:
    kinds = list_kinds()
    assert len(kinds) >= 7
    missed, false, lit = Counter[str](), Counter[str](), 0
    for seed in seeds:
        kind = kinds[seed % len(kinds)]
        cards = audit(PLANTED, kind, seed)
        for judge, own in PLANTED.items():
            # Only where two are shown together is one of them the first.
            wanted = own if kind.has_sides or judge != "first-side" else set()
            found = {finding.row for finding in cards[judge].findings if finding.lit}
            lit += len(found)
            if wanted and not wanted & found:
                missed[f"{judge}: {kind.name}"] += 1
            for row in found - wanted:
                false[f"{judge}: {kind.name}: {row}"] += 1
    assert lit > 5 * len(seeds)
    assert sum(false.values()) <= FALSE_ALARMS * lit, false
    assert sum(missed.values()) <= 0.1 * len(seeds) * len(PLANTED), missed
