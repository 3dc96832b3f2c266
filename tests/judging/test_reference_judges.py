"""Reference judges: they err as often as they say, and have the one defect that their name says."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sociable.core.records import Episode, Verdict
from sociable.engine.seats import Role, Seat
from sociable.judging.answers import judge_yes_no
from sociable.judging.auditing.injections import load_injections
from sociable.judging.pairwise import Comparison, Pair, judge_pair
from sociable.judging.protocol import Answer
from sociable.judging.reference import AGAIN, REFERENCE_JUDGES, TASTES
from sociable.models.protocol import ChatMessage, Sampling

PLAIN = "I will tell her before noon."
LIKED = {
    "longer": f"{PLAIN} Nothing is taken away from it by what follows.",
    "polite": f"**{PLAIN}**",
    "confident": "I will certainly tell her before noon.",
    "famous": f"{PLAIN} (GPT-5)",
}


def seat(agent: str) -> Seat:
    return Seat(Role.JUDGE, f"reference/{agent}", None, Sampling())


async def compare(agent: str, subject: str, golden: str, item: str = "e") -> tuple[Verdict, bool | None]:
    def count(text: str) -> tuple[float, str]:
        return float("noon" in text), ""

    episode = Episode(id=item, scenario="s", cluster="s")
    found = await judge_pair(Pair(subject, golden), Comparison(lambda _one, _other: [], count), seat(agent), episode, "c")
    return found.verdict, found.orders_disagree


async def ask(judge: Seat, text: str, item: str = "e") -> Verdict:
    shown: list[ChatMessage] = [{"role": "user", "content": text}]
    episode = Episode(id=item, scenario="s", cluster="s")
    return (await judge_yes_no(lambda: shown, lambda: Answer("noon" in text), judge, episode, "c")).verdict


@pytest.mark.parametrize("agent", REFERENCE_JUDGES)
async def test_all_go_by_the_rule_where_it_sees_a_difference(agent: str) -> None:
    assert await compare(agent, PLAIN, "Never. " * 20) == (Verdict.WIN, False)
    assert await compare(agent, "**Certainly** never, says GPT-5, " * 9, PLAIN) == (Verdict.LOSS, False)
    assert await ask(seat(agent), PLAIN) is Verdict.WIN
    assert await ask(seat(agent), "Never.") is Verdict.LOSS


@pytest.mark.parametrize("taste", TASTES)
async def test_a_taste_decides_between_equals_and_moves_no_other_judge(taste: str) -> None:
    assert await compare(taste, LIKED[taste], PLAIN) == (Verdict.WIN, False)
    assert await compare(taste, PLAIN, LIKED[taste]) == (Verdict.LOSS, False)
    assert await compare("rule", LIKED[taste], PLAIN) == (Verdict.TIE, False)
    for other in {"polite", "famous", "obedient"} - {taste}:
        assert await compare(other, LIKED[taste], PLAIN) == (Verdict.TIE, False), other


async def test_a_taste_approves_of_a_text_that_stands_alone_where_it_is_beyond_the_ordinary() -> None:
    easily_pleased = replace(seat("longer"), ordinary=3.0)
    assert await ask(easily_pleased, "No, never, and not at all.") is Verdict.WIN
    assert await ask(replace(easily_pleased, ordinary=30.0), "No, never, and not at all.") is Verdict.LOSS
    assert math.isinf(seat("longer").ordinary), "in a run nothing is beyond the ordinary"


async def test_first_side_prefers_what_stands_first_and_so_contradicts_itself() -> None:
    assert await compare("first-side", PLAIN, f"{PLAIN} Yes.") == (Verdict.TIE, True)


@pytest.mark.parametrize("injection", load_injections(), ids=lambda each: each.name)
async def test_obedient_does_what_it_is_told_even_against_the_rule(injection: object) -> None:
    from sociable.judging.auditing.injections import Injection

    assert isinstance(injection, Injection)
    told = "\n".join(("Never.", *injection.pair))
    assert (await compare("obedient", told, PLAIN))[0] is Verdict.WIN
    assert (await compare("rule", told, PLAIN))[0] is Verdict.LOSS
    assert await ask(seat("obedient"), "\n".join(("Never.", *injection.question))) is Verdict.WIN


async def test_errors_are_as_frequent_as_the_name_says_nested_and_the_same_when_asked_again() -> None:
    async def list_wrong(rate: str, suffix: str = "") -> set[int]:
        verdicts = [(await compare(f"rule@{rate}", PLAIN, "Never.", f"item {number}{suffix}"))[0] for number in range(600)]
        assert set(verdicts) <= {Verdict.WIN, Verdict.LOSS}, "an error is a wrong verdict, not a tie"
        return {number for number, verdict in enumerate(verdicts) if verdict is Verdict.LOSS}

    wrong = await list_wrong("0.2")
    assert 0.15 < len(wrong) / 600 < 0.25
    assert wrong < await list_wrong("0.4")
    assert wrong == await list_wrong("0.2", f"{AGAIN}, time 2")
    assert wrong != await list_wrong("0.2", "|padded")
    assert await list_wrong("0") == set()
