"""The reference agents: what each must score, and why (they are the benchmark's own calibration)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from statistics import fmean
from typing import Any

import pytest

from sociable.benchmarks.hsii.benchmark import BENCHMARK
from sociable.benchmarks.hsii.briefing import load_hsii_prompts
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, cut_cases, load_dataset
from sociable.benchmarks.hsii.measure import measure_points
from sociable.benchmarks.hsii.metrics import make_metrics
from sociable.benchmarks.hsii.parsing import AddressedReply, parse_reply
from sociable.benchmarks.hsii.records import HSIIEpisode, HSIIOptions, ReferenceConversation
from sociable.benchmarks.hsii.reference import WrittenPart, make_assistant
from sociable.core.errors import InputError
from sociable.core.prompts import Prompts
from sociable.core.records import Outcome, Score
from sociable.engine.registry import build_seat
from sociable.engine.seats import Role, Seat, Seats
from sociable.engine.settings import RunSettings
from sociable.models.protocol import Sampling

CASES = load_dataset().items
RATES = ("oracle", *(f"oracle@{tenth / 10}" for tenth in range(1, 11)))
RULE = Seat(Role.JUDGE, "reference/rule", None, Sampling())


def seats(agent: str) -> Seats:
    return Seats(
        Seat(Role.SUBJECT, f"reference/{agent}", None, Sampling()),
        Seat(Role.PARTNER, "reference/heuristic", None, Sampling()),
        Seat(Role.REFERENCE, "reference/oracle", None, Sampling()),
        (RULE,),
    )


@cache
def study(seed: int = 0) -> Any:
    return BENCHMARK.open(seed=seed)


@cache
def references() -> dict[str, ReferenceConversation]:
    async def make() -> dict[str, ReferenceConversation]:
        return {case.id: await study().make_reference(case.id, seats("oracle")) for case in CASES}

    return asyncio.run(make())


_JUDGED: dict[tuple[int, str], list[Score]] = {}
"""The scores of what was said, by seed and episode: agents that err with other rates say the same of most cases."""


async def score(episode: HSIIEpisode, seed: int) -> list[Score]:
    key = seed, episode.model_dump_json()
    if key not in _JUDGED:
        own, golden_side = study(seed), references()[episode.scenario]
        tasks = own.list_judging_tasks(episode, [RULE])
        judgments = [await own.judge(task, episode, golden_side) for task in tasks]
        _JUDGED[key] = own.score(episode, judgments, [RULE.name], study().measure(episode))
    return _JUDGED[key]


@cache
def scores(agent: str, seed: int = 0) -> list[Score]:
    """Of a whole run over the bundled cases, as ``sociable demo`` makes it."""
    references()  # before the loop runs in which they are needed

    async def run() -> list[Score]:
        episodes = [await study(seed).run_episode(case.id, 0, seats(agent)) for case in CASES]
        return [each for episode in episodes for each in await score(episode, seed)]

    return asyncio.run(run())


@cache
def estimates(agent: str, seed: int = 0) -> dict[str, float | None]:
    return {each.metric: each.value for each in make_metrics(HSIIOptions()).estimate(scores(agent, seed), 0)}


def outcomes(agent: str, metric: str, seed: int = 0) -> dict[str, Score]:
    return {score.scenario: score for score in scores(agent, seed) if score.metric == metric}


@cache
def choices(agent: str, seed: int) -> dict[str, str]:
    """What the agent replies to every case."""

    async def ask() -> dict[str, str]:
        return {case.id: (await make_assistant(agent, case, seed, 0).address()).content for case in CASES}

    return asyncio.run(ask())


# Oracle


def test_the_oracle_is_always_right_and_ties_with_itself() -> None:
    found = estimates("oracle")
    # It says the golden words, so that nothing is won or lost against them: r3 and r4 by wins are 0, as half 1/2.
    assert (found["r1"], found["r2"], found["r1_strict"]) == (1.0, 1.0, 1.0)
    assert (found["r3"], found["r4"], found["r3_ties_half"], found["r4_ties_half"]) == (0.0, 0.0, 0.5, 0.5)
    # iota 1 (1 + 1 (0 + 0)) and 1 (1 + 1 (1/2 + 1/2)).
    assert (found["hsii"], found["hsii_ties_half"]) == (1.0, 2.0)
    assert found["leak_rate"] == 0.0


def test_the_oracle_that_always_errs_is_right_about_nothing_but_the_words() -> None:
    found = estimates("oracle@1.0")
    assert found["r1"] < 1.0  # type: ignore[operator]
    assert found["r2"] < 1.0  # type: ignore[operator]
    assert found["r3_ties_half"] < 0.5  # type: ignore[operator]  # the weaker response never wins


@pytest.mark.parametrize("seed", range(3))
def test_errors_are_nested(seed: int) -> None:
    replies = [choices(agent, seed) for agent in RATES]
    right = replies[0]
    for case in CASES:
        wrong = [each[case.id] != right[case.id] for each in replies]
        assert wrong == sorted(wrong), "what p = 0.2 gets wrong, p = 0.4 gets wrong too"
        assert wrong[-1]
        assert len({each[case.id] for each in replies}) == 2, "and always in the same way"


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
def test_more_errors_never_raise_a_score(seed: int) -> None:
    found = [estimates(agent, seed) for agent in RATES]
    for metric in ("r1", "r2", "hsii_ties_half"):
        values = [each[metric] for each in found]
        assert values == sorted(values, reverse=True)  # type: ignore[type-var]
    assert found[5]["hsii_ties_half"] < found[0]["hsii_ties_half"]  # type: ignore[operator]


def test_the_share_of_errors_is_the_rate() -> None:
    for agent, rate in (("oracle@0.1", 0.1), ("oracle@0.5", 0.5)):
        shares = [
            sum(choices(agent, seed)[case.id] != choices("oracle", seed)[case.id] for case in CASES) / len(CASES)
            for seed in range(6)
        ]
        assert fmean(shares) == pytest.approx(rate, abs=0.08)  # of some 360 draws: three standard errors


def test_errors_come_in_all_three_ways(case: Case) -> None:
    replies = [parse_reply(asyncio.run(make_assistant("oracle@1", case, seed, 0).address()).content) for seed in range(40)]
    understood = [reply for reply in replies if isinstance(reply, AddressedReply)]
    assert len(understood) < len(replies)
    assert case.weaker is not None
    assert {(reply.role_to, reply.content) for reply in understood} == {
        (case.golden.role_to, case.weaker.content),
        ("Ann Lee", case.golden.content),
        ("Ben Cole", case.golden.content),
    }


# The others


def test_silence_scores_nothing() -> None:
    found = estimates("silent")
    assert [found[metric] for metric in ("r1", "r2", "r3", "r4", "hsii", "hsii_cascade")] == [0.0, None, None, None, 0.0, 0.0]
    assert {score.reason for score in outcomes("silent", "r1").values()} == {"empty reply"}


def test_random_is_right_by_chance() -> None:
    chance = fmean(1 / len(case.characters) for case in CASES)
    hits = [
        case.find_character(reply.role_to) == case.golden.role_to
        for seed in range(20)
        for case in CASES
        if isinstance(reply := parse_reply(choices("random", seed)[case.id]), AddressedReply)
    ]
    assert len(hits) == 20 * len(CASES)
    assert fmean(hits) == pytest.approx(chance, abs=0.04)  # of some 1200 draws: three standard errors


def test_the_heuristic_is_far_from_the_oracle() -> None:
    found = estimates("heuristic")
    assert found["r1"] == 1.0
    assert found["r2"] < 0.5  # type: ignore[operator]  # or the data can be solved by a shortcut
    assert found["hsii_cascade"] < estimates("oracle")["hsii_cascade"]  # type: ignore[operator]


ANN, BEN, CARA = "Ann Lee", "Ben Cole", "Cara Diaz"
ASK_BEN, ASK_ANN, ANSWER_ANN, ANSWER_BEN = (BEN, ASSISTANT), (ANN, ASSISTANT), (ASSISTANT, ANN), (ASSISTANT, BEN)


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([ASK_BEN, ASK_ANN, (CARA, BEN)], ANN),  # asked last
        ([ASK_BEN, ASK_ANN, ASK_BEN], BEN),  # asked last, if not for the first time
        ([ASK_BEN, ASK_ANN, (CARA, BEN), ANSWER_ANN], BEN),  # Ann has been answered, Ben waits
        ([ASK_BEN, ASK_ANN, (CARA, BEN), ANSWER_ANN, ANSWER_BEN], CARA),  # nobody waits: the last to speak
    ],
)
def test_the_heuristic_answers_who_waits(raw_case: dict[str, Any], turns: list[tuple[str, str]], expected: str) -> None:
    raw_case["messages"] = [{"role_from": one, "role_to": other, "content": f"{one}'s words"} for one, other in turns]
    raw_case["golden"]["index"] = None
    (case,) = cut_cases(raw_case, "test", "x")
    reply = parse_reply(asyncio.run(make_assistant("heuristic", case, 0, 0).address()).content, strict=True)
    assert reply == AddressedReply(expected, f"I have heard you: {expected}'s words I will see to it.")


@pytest.mark.parametrize("agent", ["oracle", "heuristic", "random"])
def test_agents_cope_with_a_case_that_has_only_what_it_must(agent: str, raw_case: dict[str, Any]) -> None:
    bare = {name: raw_case[name] for name in ("topic", "background", "golden")} | {"messages": []}
    bare["golden"]["index"] = None
    (case,) = cut_cases(bare, "test", "x")
    reply = parse_reply(asyncio.run(make_assistant(agent, case, 0, 0).address()).content, strict=True)
    assert isinstance(reply, AddressedReply)
    assert case.find_character(reply.role_to) in case.characters


@pytest.mark.parametrize("agent", BENCHMARK.reference_agents[Role.SUBJECT])
def test_the_same_seed_gives_the_same_replies(agent: str) -> None:
    assert choices(agent, 1) == choices(agent, 1)


def test_repeats_and_seeds_draw_anew(case: Case) -> None:
    def draws(seeds: range, repeats: range) -> set[str]:
        return {
            asyncio.run(make_assistant("random", case, seed, repeat).address()).content for seed in seeds for repeat in repeats
        }

    assert len(draws(range(10), range(1))) > 1
    assert len(draws(range(1), range(10))) > 1


async def test_the_written_partner_says_its_lines_and_leaves(case: Case, episode: Callable[..., HSIIEpisode]) -> None:
    partner = WrittenPart(case, case.golden.role_to)
    assert partner.name == "Cara Diaz"
    turns = episode("one", "two", "three").turns
    said = [await partner.take_turn(turns[:seen]) for seen in (1, 3, 5)]
    assert [utterance and utterance.content for utterance in said] == ["How bad is it?", "I am on my way.", None]


def build(name: str, role: Role = Role.SUBJECT) -> Seat:
    return build_seat(role, name, RunSettings(benchmark="hsii", model=name), BENCHMARK)


@pytest.mark.parametrize("agent", ["oracle", "oracle@0", "oracle@0.25", "oracle@1", "heuristic", "random", "silent"])
def test_every_agent_of_the_benchmark_can_be_made(agent: str, case: Case) -> None:
    assert make_assistant(build(f"reference/{agent}").agent, case, 0, 0).name == ASSISTANT


@pytest.mark.parametrize("agent", ["", "oracel", "golden", "ORACLE"])
def test_an_unknown_agent_is_named_with_those_there_are(agent: str) -> None:
    with pytest.raises(InputError, match=rf"'reference/{agent}'.*reference/oracle, reference/heuristic.*reference/silent"):
        build(f"reference/{agent}")


@pytest.mark.parametrize(("role", "agent"), [(Role.PARTNER, "heuristic"), (Role.REFERENCE, "oracle")])
def test_the_other_roles_have_one_agent_each(role: Role, agent: str) -> None:
    assert build(f"reference/{agent}", role).agent == agent
    with pytest.raises(InputError, match=rf"'reference/random' cannot be the {role.value}; .*: reference/{agent}\.$"):
        build("reference/random", role)


def test_a_rule_judges_or_a_rule_with_a_defect() -> None:
    assert [build(f"reference/{agent}", Role.JUDGE).agent for agent in ("rule", "longer@0.1")] == ["rule", "longer@0.1"]
    with pytest.raises(InputError, match=r"'reference/random' cannot be the judge; .*: reference/rule, reference/first-side, "):
        build("reference/random", Role.JUDGE)


@pytest.mark.parametrize("rate", ["", "x", "-0.1", "1.1", "nan", "inf", "0.3@0.4"])
def test_a_bad_error_rate_is_refused(rate: str) -> None:
    with pytest.raises(InputError, match=r"between 0 and 1, as in reference/oracle@0\.3"):
        build(f"reference/oracle@{rate}")


@pytest.mark.parametrize("agent", ["heuristic@0.5", "silent@1", "golden"])
def test_only_the_oracle_takes_an_error_rate(agent: str) -> None:
    with pytest.raises(InputError, match=f"'reference/{agent}'"):
        build(f"reference/{agent}")


# The bundled cases under the rule


def test_the_golden_response_earns_everything_and_the_weaker_no_more() -> None:
    checked = 0
    for case in CASES:
        if case.weaker:
            golden, weaker = measure_points(case, case.golden.content), measure_points(case, case.weaker.content)
            assert golden is not None, case.id
            assert weaker is not None, case.id
            assert golden[0] == 1.0, case.id
            checked += 1
    assert checked >= 24


def test_a_reference_conversation_says_all_that_is_written(prompts: Prompts) -> None:
    assert prompts.digest == load_hsii_prompts().digest
    for case in CASES:
        made = references()[case.id]
        assert made.failure == ""
        assert [turn.content for turn in made.turns] == [case.golden.content, *(line.content for line in case.continuation)]
        assert {score.outcome for score in scores("oracle") if score.metric == "r4"} == {Outcome.SCORED}
