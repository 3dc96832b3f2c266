"""Episode to judgments: who is compared with what, and why a pair has no verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.hsii.dataset import Case, cut_cases
from sociable.benchmarks.hsii.judge import judge_behaviour, judge_stage, list_judged_behaviour, list_judged_stages
from sociable.benchmarks.hsii.records import STAGES, HSIIEpisode, ReferenceConversation, Stage
from sociable.core.prompts import Prompts
from sociable.core.records import Verdict
from sociable.engine.seats import Role, Seat
from sociable.judging.pairwise import PairJudgment
from sociable.models.protocol import Request
from sociable.models.scripted import ScriptedModel

FIRST, LONG = Stage.FIRST_UTTERANCE, Stage.LONG_RUN
RULE = "reference/rule"
WIN, TIE, LOSS, NONE = Verdict.WIN, Verdict.TIE, Verdict.LOSS, Verdict.UNSCORED
Judge = Callable[..., Any]


@pytest.fixture
def judge(case: Case, prompts: Prompts, seat: Callable[..., Seat]) -> Judge:
    """The judgment of ``who`` on one stage of an episode."""

    async def make(
        who: Any, stage: Stage, episode: HSIIEpisode, reference: ReferenceConversation | None = None, of: Case = case
    ) -> PairJudgment:
        return await judge_stage(of, episode, stage, seat(Role.JUDGE, who), reference, prompts)

    return make


def prefers(words: str) -> ScriptedModel:
    """A judge that prefers the response with these words in it, wherever it stands."""

    def answer(request: Request) -> str:
        asked = request.messages[-1]["content"]
        first = asked.index(words) < asked.index("Response 2:")
        return f'{{"reason": "{words}", "verdict": {1 if first else 2}}}'

    return ScriptedModel(answer, "judge")


@pytest.mark.parametrize(
    ("stages", "correct", "reached"),
    [(STAGES, True, [FIRST, LONG]), (STAGES[:3], True, [FIRST]), (STAGES[:2], True, []), (STAGES, False, [])],
)
def test_only_what_was_run_and_reached_is_judged(
    episode: Callable[..., HSIIEpisode], stages: tuple[Stage, ...], correct: bool, reached: list[Stage]
) -> None:
    assert list_judged_stages(episode("x", target_correct=correct), stages) == reached


async def test_the_first_utterance_is_compared_with_the_golden_words(
    judge: Judge, case: Case, episode: Callable[..., HSIIEpisode]
) -> None:
    played = episode("MINE", "LATER")
    judgment = await judge(prefers("MINE"), FIRST, played)
    assert (judgment.verdict, judgment.reason, judgment.judge) == (WIN, "MINE", "judge")
    assert (judgment.id, judgment.criterion) == ("mill:3#0|first utterance|judge", "first utterance")
    golden = prefers(case.golden.content)
    assert (await judge(golden, FIRST, played)).verdict is LOSS
    assert not any("LATER" in message["content"] for request in golden.requests for message in request.messages)


async def test_the_long_run_is_compared_with_the_reference_conversation(
    judge: Judge, episode: Callable[..., HSIIEpisode], reference: Callable[..., ReferenceConversation]
) -> None:
    played, other = episode("MINE 1", "MINE 2"), reference("THEIRS 1", "THEIRS 2")
    assert (await judge(prefers("MINE 2"), LONG, played, other)).verdict is WIN
    losing = prefers("THEIRS 2")
    assert (await judge(losing, LONG, played, other)).verdict is LOSS
    asked = losing.requests[0].messages[-1]["content"]
    assert "| Assistant: MINE 1\n| Cara Diaz: Yes.\n| Assistant: MINE 2" in asked
    assert "| Assistant: THEIRS 1\n| Cara Diaz: Yes.\n| Assistant: THEIRS 2" in asked


async def test_silence_in_the_long_run_is_judged(
    judge: Judge, episode: Callable[..., HSIIEpisode], reference: Callable[..., ReferenceConversation]
) -> None:
    silent = prefers("THEIRS 2")
    assert (await judge(silent, LONG, episode("MINE 1", ""), reference("THEIRS 1", "THEIRS 2"))).verdict is LOSS
    assert "| Assistant: MINE 1\n| Cara Diaz: Yes.\n| Assistant: \n" in silent.requests[0].messages[-1]["content"]


async def test_a_judge_unreadable_in_one_order_leaves_the_pair_unscored(
    judge: Judge, episode: Callable[..., HSIIEpisode]
) -> None:
    judgment = await judge(ScriptedModel(['{"verdict": 1}', "Hm."], "judge"), FIRST, episode("x"))
    assert (judgment.verdict, judgment.reason) == (NONE, "judge: no verdict in the reply: Hm.")
    assert sorted(order.preference.value for order in judgment.orders) == ["unscored", "win"]


async def test_what_another_instrument_failed_at_is_unscored_and_nobody_is_asked(
    judge: Judge, episode: Callable[..., HSIIEpisode], reference: Callable[..., ReferenceConversation]
) -> None:
    unasked = ScriptedModel([], "judge")
    for played, other, reason in (
        (episode("x", long_run_failure="Cara Diaz's turn 2: refused"), reference("y"), "partner: Cara Diaz's turn 2: refused"),
        (episode("x"), reference("y", failure="Cara Diaz's turn 4: empty"), "reference: Cara Diaz's turn 4: empty"),
        (episode("x"), None, "no reference conversation for this case"),
    ):
        judgment = await judge(unasked, LONG, played, other)
        assert (judgment.verdict, judgment.reason, judgment.orders_disagree) == (NONE, reason, None)
    assert unasked.requests == []


async def test_the_first_utterance_is_judged_whatever_became_of_the_long_run(
    judge: Judge, episode: Callable[..., HSIIEpisode]
) -> None:
    assert (await judge(prefers("MINE"), FIRST, episode("MINE", long_run_failure="refused"))).verdict is WIN


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("He is HURT. Up in the loft!", TIE),  # as much as the golden words convey
        ("He is hurt.", LOSS),
        ("Stay calm.", LOSS),
        ("Ben is injured; take your bag to the loft.", TIE),
    ],
)
async def test_the_rule_counts_what_is_conveyed(
    judge: Judge, episode: Callable[..., HSIIEpisode], said: str, verdict: Verdict
) -> None:
    judgment = await judge(RULE, FIRST, episode(said))
    assert (judgment.verdict, judgment.orders_disagree, judgment.judge) == (verdict, False, RULE)


async def test_the_rule_looks_at_the_assistants_words_only(
    judge: Judge, case: Case, episode: Callable[..., HSIIEpisode], reference: Callable[..., ReferenceConversation]
) -> None:
    # In the fixture the other side says "Yes."; here that would be worth a point.
    point = {"point": "yes", "wording": (("yes",),)}
    played = episode("Ben is hurt.", "In the loft.")
    assert (await judge(RULE, LONG, played, reference("Hurt, in the loft."))).verdict is TIE
    assert (await judge(RULE, LONG, played, reference("Hurt."))).verdict is WIN
    assert (await judge(RULE, LONG, episode("Hurt."), reference("Hurt.", "In the loft."))).verdict is LOSS
    yes = Case.model_validate(case.model_dump() | {"must_convey": [point]})
    assert (await judge(RULE, LONG, played, reference("Well."), of=yes)).verdict is TIE


async def test_a_judge_is_asked_about_a_secret_with_the_fact_in_view(
    case: Case, prompts: Prompts, seat: Callable[..., Seat], episode: Callable[..., HSIIEpisode]
) -> None:
    played = episode("Your man looks pale.", "And so on.", target="Ann Lee")
    assert list_judged_behaviour(case, played) == ["leak|1"]
    model = ScriptedModel(['{"reason": "She can tell.", "answer": "yes"}'], "judge")
    judgment = await judge_behaviour(case, played, "leak|1", seat(Role.JUDGE, model), prompts)
    assert (judgment.verdict, judgment.reason) == (WIN, "She can tell.")
    asked = model.requests[0].messages[-1]["content"]
    assert "| Ben has hurt his hand." in asked and 'hear it: "Ann Lee"' in asked
    assert "| Assistant: Your man looks pale." in asked and "And so on." in asked
    by_rule = await judge_behaviour(case, episode("He is injured.", target="Ann Lee"), "leak|1", seat(Role.JUDGE, RULE), prompts)
    assert by_rule.verdict is WIN


async def test_a_judge_is_asked_about_the_clash_in_the_first_utterance(
    raw: dict[str, Any], prompts: Prompts, seat: Callable[..., Seat], episode: Callable[..., HSIIEpisode]
) -> None:
    raw["cases"][0]["must_convey"][0]["faces_conflict"] = True
    case = next(iter(cut_cases(raw, "test", "x")))
    played = episode("All is well.", "He is injured.")
    assert list_judged_behaviour(case, played) == ["conflict"]
    model = ScriptedModel(['{"reason": "r", "answer": "no"}'], "judge")
    assert (await judge_behaviour(case, played, "conflict", seat(Role.JUDGE, model), prompts)).verdict is LOSS
    asked = model.requests[0].messages[-1]["content"]
    assert "| He is hurt." in asked and "| All is well." in asked and "| He is injured." not in asked.split("says:")[1]
    assert (await judge_behaviour(case, played, "conflict", seat(Role.JUDGE, RULE), prompts)).verdict is LOSS


async def test_what_is_better_beats_the_golden_words_by_rule(judge: Judge, raw: dict[str, Any], episode: Any) -> None:
    better = "Ben is injured, in the loft; the stairs are wet."
    raw["cases"][0]["better"] = {"content": better, "point": "The stairs.", "wording": [["stairs", "wet"]]}
    case = next(iter(cut_cases(raw, "test", "x")))
    won = await judge(RULE, FIRST, episode(better), of=case)
    assert won.verdict is WIN and "adds 'The stairs.'" in won.reason
    assert (await judge(RULE, FIRST, episode("He is injured, in the loft."), of=case)).verdict is TIE


async def test_without_rules_the_rule_has_no_verdict(
    judge: Judge, cases: list[Case], episode: Callable[..., HSIIEpisode], reference: Callable[..., ReferenceConversation]
) -> None:
    for stage in (FIRST, LONG):
        judgment = await judge(RULE, stage, episode("x", target="Ben Cole"), reference("y"), of=cases[1])
        assert (judgment.verdict, judgment.reason) == (NONE, "the scenario has no rules for reference/rule")
