"""Who sees what: a canary in every place of a scenario, and all that every role was ever sent."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, cut_cases
from sociable.benchmarks.hsii.judge import judge_stage
from sociable.benchmarks.hsii.protocol import make_reference, run_case
from sociable.benchmarks.hsii.records import HSIIEpisode, HSIIOptions, Stage
from sociable.core.prompts import Prompts
from sociable.core.records import Usage, Verdict
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Reply, Request
from sociable.models.scripted import ScriptedModel

# The target's name stands inside another's on purpose.
RAW: dict[str, Any] = {
    "id": "canaries",
    "topic": "canary-topic",
    "background": {
        "scene": "canary-scene",
        "characters": ["Ann", "Ann Lee", "Ben Cole", "Cara Diaz"],
        "relationships": [
            "Ann owes Ben Cole money canary-ann-ben.",
            "Ann Lee hates Cara Diaz canary-annlee-cara. Cara Diaz loves Ann canary-cara-ann.",
            'Ben Cole works for Dr. Cara Diaz and says "never canary-ben-cara." Ann Lee knows canary-annlee.',
        ],
        "conflicts": "canary-conflicts",
        "goals": {"Ann": "canary-anns-goal", "Ben Cole": "canary-bens-goal"},
        "wills": {"Ann": "canary-anns-will", "Ben Cole": "canary-bens-will"},
    },
    "aliases": {"Ben Cole": ["canary-alias"]},
    "private_facts": [
        {"fact": "canary-fact", "owner": "Ben Cole", "told_at": 2, "wording": [["canary-fact-wording"]]},
        {"fact": "canary-anns-fact", "owner": "Ann", "told_at": 3, "wording": [["canary-fact-wording"]]},
    ],
    "messages": [
        {"role_from": "Ann", "role_to": "Ben Cole", "content": "canary-ann-to-ben"},
        {"role_from": "Ben Cole", "role_to": ASSISTANT, "content": "canary-ben-to-assistant"},
        {"role_from": "Ann", "role_to": ASSISTANT, "content": "canary-ann-to-assistant"},
        {"role_from": "Ann Lee", "role_to": "Cara Diaz", "content": "canary-annlee-to-cara", "heard_by": ["Ben Cole"]},
        {"role_from": "Cara Diaz", "role_to": "Ann Lee", "content": "canary-cara-aloud", "heard_by": ["Ann", "Ben Cole"]},
        {"role_from": "Ben Cole", "content": "canary-ben-to-nobody-knows-whom"},
        {"role_from": ASSISTANT, "role_to": "Cara Diaz", "content": "canary-assistant-to-cara"},
        {"role_from": ASSISTANT, "role_to": "Ann", "content": "canary-golden"},
        {"role_from": "Ann", "role_to": ASSISTANT, "content": "canary-later"},
        {"role_from": ASSISTANT, "role_to": "Ben Cole", "content": "canary-later-golden"},
    ],
    "cases": [
        {
            "index": 8,
            "why": "canary-why",
            "weaker": {"role_to": "Ann", "content": "canary-weaker", "fault": "canary-fault"},
            "must_convey": [{"point": "canary-point", "wording": [["canary-point-wording"]]}],
            "continuation": [
                {"role_from": "Ann", "role_to": ASSISTANT, "content": "canary-continuation"},
                {"role_from": ASSISTANT, "role_to": "Ann", "content": "canary-continuation-golden"},
            ],
        },
        {"index": 10, "why": "canary-other-why"},
    ],
}

SCENE = {"canary-scene"}
BACKGROUND = {
    "canary-topic",
    "canary-conflicts",
    "canary-ann-ben",
    "canary-annlee-cara",
    "canary-cara-ann",
    "canary-ben-cara",
} | {"canary-annlee"}
MESSAGES = {
    "canary-ann-to-ben",
    "canary-ben-to-assistant",
    "canary-ann-to-assistant",
    "canary-annlee-to-cara",
    "canary-cara-aloud",
    "canary-ben-to-nobody-knows-whom",
    "canary-assistant-to-cara",
}
SETTING = SCENE | BACKGROUND | MESSAGES
ANNS_PART = SCENE | {"canary-ann-ben", "canary-cara-ann", "canary-ann-to-ben", "canary-ann-to-assistant", "canary-cara-aloud"}
ANNS_PART |= {"canary-anns-goal", "canary-anns-will"}


@dataclass
class Played:
    """A whole case, from the reference to the judgments, and who was sent what."""

    episode: HSIIEpisode
    sent: dict[str, list[Request]]
    """By role; the partner's apart, as it talks with the subject and with the reference."""

    def canaries(self, role: str) -> set[str]:
        said = "\n".join(message["content"] for request in self.sent[role] for message in request.messages)
        return set(re.findall(r"canary-[a-z0-9-]*[a-z0-9]", said))


@pytest.fixture
def case() -> Case:
    return next(case for case in cut_cases(RAW, "test", "x") if case.id == "canaries:8")


@pytest.fixture
def played(case: Case, prompts: Prompts, seat: Callable[..., Seat], reply: Callable[..., str]) -> Played:
    def speaking(name: str) -> Callable[[Request], Reply]:
        """Says numbered things, and thinks others."""
        said = 0

        def answer(request: Request) -> Reply:
            nonlocal said
            said += 1
            content = f"canary-{name}-says-{said}"
            first = name == "subject" and said == 1
            return Reply(reply("Ann", content) if first else content, Usage(), thinking=f"canary-{name}-thinks-{said}")

        return answer

    subject, reference, partner = (ScriptedModel(speaking(name), name) for name in ("subject", "reference", "partner"))
    judge = ScriptedModel(lambda _: Reply('{"reason": "canary-reason", "verdict": 0}', Usage(), thinking="canary-judge-thinks"))
    seats = Seats(seat(Role.SUBJECT, subject), seat(Role.PARTNER, partner), seat(Role.REFERENCE, reference))
    judging = seat(Role.JUDGE, judge)

    async def play() -> HSIIEpisode:
        episode = await run_case(case, 0, seats, prompts, HSIIOptions(long_run_turns=3), seed=0, has_long_run=True)
        made = await make_reference(case, seats, prompts, long_run_turns=3)
        for stage in (Stage.FIRST_UTTERANCE, Stage.LONG_RUN):
            judgment = await judge_stage(case, episode, stage, judging, made, prompts)
            assert judgment.verdict is Verdict.TIE
        return episode

    episode = asyncio.run(play())
    references = [request for request in partner.requests if request.scope.item.startswith("reference:")]
    sent = {
        "subject": subject.requests,
        "reference": reference.requests,
        "judge": judge.requests,
        "partner": [request for request in partner.requests if request not in references],
        "partner of the reference": references,
    }
    assert {role: len(requests) for role, requests in sent.items()} == {
        "subject": 3,
        "reference": 2,
        "judge": 4,
        "partner": 2,
        "partner of the reference": 2,
    }
    return Played(episode, sent)


def test_the_subject_sees_the_setting_and_its_own_conversation(played: Played) -> None:
    talk = {"canary-subject-says-1", "canary-partner-says-1", "canary-subject-says-2", "canary-partner-says-2"}
    assert played.canaries("subject") == SETTING | talk


def test_the_partner_sees_its_own_part_and_the_conversation(played: Played) -> None:
    talk = {"canary-subject-says-1", "canary-partner-says-1", "canary-subject-says-2"}
    assert played.canaries("partner") == ANNS_PART | talk


def test_the_reference_goes_on_from_the_golden_words(played: Played) -> None:
    talk = {"canary-golden", "canary-partner-says-3", "canary-reference-says-1", "canary-partner-says-4"}
    assert played.canaries("reference") == SETTING | talk


def test_the_references_partner_sees_its_own_part_too(played: Played) -> None:
    talk = {"canary-golden", "canary-partner-says-3", "canary-reference-says-1"}
    assert played.canaries("partner of the reference") == ANNS_PART | talk


def test_the_judge_sees_the_setting_and_both_conversations(played: Played) -> None:
    talks = {f"canary-subject-says-{number}" for number in (1, 2, 3)} | {
        f"canary-partner-says-{number}" for number in (1, 2, 3, 4)
    }
    assert played.canaries("judge") == SETTING | talks | {"canary-golden"} | {f"canary-reference-says-{n}" for n in (1, 2)}


def test_the_judge_of_the_first_utterance_sees_nothing_of_the_long_run(played: Played) -> None:
    played.sent["judge"] = [
        request for request in played.sent["judge"] if Stage.FIRST_UTTERANCE.value in request.scope.participant
    ]
    assert len(played.sent["judge"]) == 2
    assert played.canaries("judge") == SETTING | {"canary-subject-says-1", "canary-golden"}


def test_thinking_is_kept_in_the_record_only(played: Played) -> None:
    assert played.episode.thinking == "canary-subject-thinks-1"
    assert [turn.thinking for turn in played.episode.turns] == [
        "",
        "canary-partner-thinks-1",
        "canary-subject-thinks-2",
        "canary-partner-thinks-2",
        "canary-subject-thinks-3",
    ]
    assert not any("thinks" in canary for role in played.sent for canary in played.canaries(role))


def test_roles_and_episodes_have_scopes_of_their_own(played: Played) -> None:
    scopes = {role: {request.scope.name for request in requests} for role, requests in played.sent.items()}
    assert scopes == {
        "subject": {"canaries:8#0/subject/subject"},
        "partner": {"canaries:8#0/partner/Ann"},
        "reference": {"reference:canaries:8/reference/reference"},
        "partner of the reference": {"reference:canaries:8/partner/Ann"},
        "judge": {"canaries:8#0/judge/scripted|first utterance", "canaries:8#0/judge/scripted|long run"},
    }


def test_a_prompt_begins_with_what_does_not_change(played: Played) -> None:
    # So that a server's prefix cache serves all calls about a case.
    first, *others = ([message["content"] for message in request.messages] for request in played.sent["subject"])
    assert all(other[0] == first[0] for other in others)
    shared = first[1].split("\n\n")[0]
    assert "canary-assistant-to-cara" in shared
    assert all(other[1].startswith(shared) for other in others)
