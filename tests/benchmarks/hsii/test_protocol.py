"""One case to one episode: the four stages, who fails at what, and the reference conversation."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.hsii.briefing import render_transcript
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.benchmarks.hsii.protocol import make_reference, run_case
from sociable.benchmarks.hsii.records import HSIIEpisode, HSIIOptions
from sociable.core.prompts import Prompts
from sociable.core.records import EpisodeStatus, Usage
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import FinishReason, Reply, Request
from sociable.models.scripted import ScriptedModel

CARA = "Cara Diaz"


class Cast:
    """Seats of scripted models, by role."""

    def __init__(self, case: Case, prompts: Prompts, seat: Callable[..., Seat]) -> None:
        self.case, self.prompts, self.seat = case, prompts, seat
        self.models: dict[Role, ScriptedModel] = {}

    def sits(self, role: Role, who: Any) -> Seat:
        made: Seat = self.seat(role, who)
        if isinstance(made.model, ScriptedModel):
            self.models[role] = made.model
        return made

    async def play(
        self, subject: Any, partner: Any = (), *, turns: int = 3, strict: bool = False, seed: int = 0, forced: bool = False
    ) -> HSIIEpisode:
        seats = Seats(self.sits(Role.SUBJECT, subject), None if partner is None else self.sits(Role.PARTNER, partner))
        options = HSIIOptions(format="strict" if strict else "lenient", long_run_turns=max(turns, 1), forced_target=forced)
        return await run_case(self.case, 0, seats, self.prompts, options, seed=seed, has_long_run=turns > 0)

    def asked(self, role: Role) -> list[Request]:
        return self.models[role].requests


@pytest.fixture
def cast(case: Case, prompts: Prompts, seat: Callable[..., Seat]) -> Cast:
    return Cast(case, prompts, seat)


def said(episode: HSIIEpisode) -> list[tuple[str, tuple[str, ...], str]]:
    return [(turn.speaker, turn.addressees, turn.content) for turn in episode.turns]


async def test_all_four_stages(cast: Cast, reply: Callable[..., str]) -> None:
    episode = await cast.play([reply("the nurse", "one"), "two", reply(CARA, "three")], ["a", "b"])
    assert said(episode) == [
        (ASSISTANT, (CARA,), "one"),
        (CARA, (ASSISTANT,), "a"),
        (ASSISTANT, (CARA,), "two"),
        (CARA, (ASSISTANT,), "b"),
        (ASSISTANT, (CARA,), "three"),  # also where the model still wraps it in JSON
    ]
    assert (episode.id, episode.scenario, episode.cluster, episode.status) == (
        "mill:3#0",
        "mill:3",
        "mill",
        EpisodeStatus.COMPLETED,
    )
    assert (episode.role_to, episode.target, episode.target_correct) == ("the nurse", CARA, True)
    assert (episode.format_failure, episode.strict_format, episode.long_run_failure) == ("", True, "")
    assert episode.reply == reply("the nurse", "one")


async def test_no_server_is_asked_to_hold_the_model_to_a_form(cast: Cast, reply: Callable[..., str]) -> None:
    # With constrained decoding r1 would measure the server, not the model.
    await cast.play([reply(CARA, "one"), "two", "three"], ["a", "b"])
    assert [request.schema for request in cast.asked(Role.SUBJECT)] == [None, None, None]
    assert [request.schema for request in cast.asked(Role.PARTNER)] == [None, None]


@pytest.mark.parametrize("turns", [1, 2, 4])
async def test_the_long_run_has_so_many_turns_of_the_assistant(cast: Cast, reply: Callable[..., str], turns: int) -> None:
    episode = await cast.play([reply(CARA, "one"), *"234"[: turns - 1]], list("abc")[: turns - 1], turns=turns)
    assert [turn.speaker for turn in episode.turns] == ([ASSISTANT, CARA] * turns)[:-1]


async def test_without_stage_4_nobody_is_needed_to_talk_with(cast: Cast, reply: Callable[..., str]) -> None:
    assert len((await cast.play([reply(CARA, "one")], None, turns=0)).turns) == 1


async def test_a_failed_format_ends_the_case(cast: Cast) -> None:
    episode = await cast.play(["I'll tell the nurse."])
    assert episode.format_failure == "no addressee and content to be found in it"
    assert (episode.reply, episode.turns, episode.target, episode.target_correct) == ("I'll tell the nurse.", (), None, False)


@pytest.mark.parametrize(
    ("text", "finish", "failure"),
    [
        ("", FinishReason.STOP, "empty reply"),
        ("", FinishReason.LENGTH, "cut off at its token limit: empty reply"),
        ('{"role_to": "Cara Diaz", "cont', FinishReason.LENGTH, "cut off at its token limit: no addressee"),
        ("I cannot help with that.", FinishReason.REFUSAL, "refused: no addressee"),
        ("", FinishReason.CONTENT_FILTER, "stopped by a content filter: empty reply"),
    ],
)
async def test_what_the_subject_fails_at_is_its_own_result(cast: Cast, text: str, finish: FinishReason, failure: str) -> None:
    episode = await cast.play([Reply(text, Usage(), finish)])
    assert episode.format_failure.startswith(failure)
    assert episode.status is EpisodeStatus.COMPLETED


async def test_a_cut_off_reply_that_can_be_read_counts_with_a_note(cast: Cast, reply: Callable[..., str]) -> None:
    cut = Reply(reply(CARA, "one") + " And I", Usage(), FinishReason.LENGTH)
    episode = await cast.play([cut], ["a"], turns=1)
    assert (episode.format_failure, episode.turns[0].note) == ("", "cut off at its token limit")


@pytest.mark.parametrize(
    ("role_to", "target"),
    [("Ben", "Ben Cole"), ("Ben and Cara Diaz", None), ("everybody", None), ("everyone, especially Cara Diaz", None)],
)
async def test_a_wrong_target_ends_the_case(cast: Cast, reply: Callable[..., str], role_to: str, target: str | None) -> None:
    episode = await cast.play([reply(role_to, "one")])
    assert (episode.role_to, episode.target, episode.target_correct) == (role_to, target, False)
    assert said(episode) == [(ASSISTANT, (target or role_to,), "one")]


async def test_strict_counts_only_one_line_of_json(cast: Cast, reply: Callable[..., str]) -> None:
    fenced = f"```json\n{reply(CARA, 'one')}\n```"
    assert (await cast.play([fenced], strict=True)).format_failure == "more than one line"
    lenient = await cast.play([fenced], turns=1)
    assert (lenient.format_failure, lenient.strict_format) == ("", False)
    assert (await cast.play([reply(CARA, "one")], turns=1, strict=True)).target_correct


async def test_half_a_character_in_the_reply_breaks_nothing(cast: Cast) -> None:
    episode = await cast.play([r'{"role_to": "Cara Diaz", "content": "\ud83d one"}'], turns=1)
    assert said(episode) == [(ASSISTANT, (CARA,), "? one")]
    assert json.loads(episode.model_dump_json())["turns"][0]["content"] == "? one"


async def test_an_enormous_reply_is_kept_in_part(cast: Cast, reply: Callable[..., str]) -> None:
    episode = await cast.play([reply(CARA, "x" * 50_000)], turns=1)
    assert len(episode.model_dump_json()) < 50_000
    assert episode.turns[0].note == "shortened from 50000 characters"


async def test_a_subject_that_falls_silent_has_a_shorter_long_run(cast: Cast, reply: Callable[..., str]) -> None:
    episode = await cast.play([reply(CARA, "one"), "  "], ["a"])
    assert [(turn.speaker, turn.content, turn.note) for turn in episode.turns][1:] == [(CARA, "a", ""), (ASSISTANT, "", "empty")]
    assert episode.long_run_failure == ""


@pytest.mark.parametrize(
    ("reply_of_partner", "failure"),
    [
        (Reply("", Usage()), "empty"),
        (Reply("I can't play", Usage(), FinishReason.REFUSAL), "refused"),
        (Reply("So I said", Usage(), FinishReason.LENGTH), "cut off at its token limit"),
        (Reply("", Usage(), FinishReason.CONTENT_FILTER), "stopped by a content filter"),
    ],
)
async def test_a_partner_that_fails_leaves_the_first_utterance_standing(
    cast: Cast, reply: Callable[..., str], reply_of_partner: Reply, failure: str
) -> None:
    episode = await cast.play([reply(CARA, "one"), "two"], ["a", reply_of_partner])
    assert episode.long_run_failure == f"Cara Diaz's turn 4: {failure}"
    assert (episode.target_correct, episode.turns[0].content, episode.status) == (True, "one", EpisodeStatus.COMPLETED)


async def test_a_bug_is_not_hidden(cast: Cast, reply: Callable[..., str]) -> None:
    with pytest.raises(AssertionError, match="the script has no more replies"):
        await cast.play([reply(CARA, "one")], ["a"])


async def test_usage_is_kept_by_role(cast: Cast, reply: Callable[..., str]) -> None:
    def counting(answers: list[str]) -> Callable[[Request], str]:
        def answer(request: Request) -> str:
            request.scope.usage += Usage(calls=1, input_tokens=10, output_tokens=1)  # as the journal does
            return answers.pop(0)

        return answer

    episode = await cast.play(counting([reply(CARA, "one"), "two"]), counting(["a"]), turns=2)
    assert episode.usage == {
        "subject": Usage(calls=2, input_tokens=20, output_tokens=2),
        "partner": Usage(calls=1, input_tokens=10, output_tokens=1),
    }
    assert (await cast.play("reference/oracle", "reference/heuristic")).usage == {}


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ("I have a theatre to scrub for. [ends the talk]", "I have a theatre to scrub for."),
        ("Enough.\n(Ends the conversation.)", "Enough."),
        ("[ends the talk]", "[ends the talk]"),
    ],
)
async def test_a_partner_may_end_the_talk(cast: Cast, reply: Callable[..., str], last: str, words: str) -> None:
    episode = await cast.play([reply(CARA, "one"), "never said"], [last], turns=4)
    assert [(turn.speaker, turn.content, turn.note) for turn in episode.turns] == [
        (ASSISTANT, "one", ""),
        (CARA, words, "ends the talk"),
    ]
    assert episode.long_run_failure == ""
    assert render_transcript(episode.turns, CARA).endswith(f"{words} (ends the talk)")


async def test_who_says_that_something_ends_has_not_left(cast: Cast, reply: Callable[..., str]) -> None:
    episode = await cast.play([reply(CARA, "one"), "two"], ["He ends the talk when he likes."], turns=2)
    assert len(episode.turns) == 3


async def test_the_same_seed_gives_the_identical_episode(cast: Cast) -> None:
    episodes = [await cast.play("reference/random", "reference/heuristic", seed=seed) for seed in (1, 1, 2, 3, 4, 5, 6)]
    assert episodes[0] == episodes[1]
    assert len({episode.reply for episode in episodes}) > 1


async def test_the_written_conversation(cast: Cast) -> None:
    # The oracle and the written partner say what is written, the golden words first, and then leave.
    episode = await cast.play("reference/oracle", "reference/heuristic", turns=7)
    assert [turn.content for turn in episode.turns] == [
        "Ben is injured; take your bag to the loft.",
        "How bad is it?",
        "He can walk.",
        "I am on my way.",
        "Mind the stairs.",
    ]
    assert len((await cast.play("reference/oracle", "reference/heuristic", turns=2)).turns) == 3


# The reference conversation


async def test_a_reference_begins_with_the_golden_words(cast: Cast, case: Case, prompts: Prompts) -> None:
    seats = Seats(
        cast.sits(Role.SUBJECT, []),
        cast.sits(Role.PARTNER, ["a", "b"]),
        cast.sits(Role.REFERENCE, ["two", "three"]),
    )
    made = await make_reference(case, seats, prompts, long_run_turns=3)
    assert [(turn.speaker, turn.content) for turn in made.turns] == [
        (ASSISTANT, case.golden.content),
        (CARA, "a"),
        (ASSISTANT, "two"),
        (CARA, "b"),
        (ASSISTANT, "three"),
    ]
    assert (made.id, made.case_digest, made.prompts_digest, made.failure) == (case.id, case.digest, prompts.digest, "")
    assert (made.reference, made.partner) == ("scripted/reference", "scripted/partner")
    assert cast.asked(Role.SUBJECT) == []


@pytest.mark.parametrize(
    ("partner", "reference", "failure"),
    [
        ([""], [], "Cara Diaz's turn 2: empty"),
        (["a"], [""], "Intelligent Assistant's turn 3: empty"),
        (["a"], [Reply("I won't", Usage(), FinishReason.REFUSAL)], "Intelligent Assistant's turn 3: refused"),
    ],
)
async def test_a_reference_that_fails_is_kept_with_its_failure(
    cast: Cast, case: Case, prompts: Prompts, partner: list[str], reference: list[str | Reply], failure: str
) -> None:
    seats = Seats(cast.sits(Role.SUBJECT, []), cast.sits(Role.PARTNER, partner), cast.sits(Role.REFERENCE, reference))
    assert (await make_reference(case, seats, prompts, long_run_turns=3)).failure == failure


async def test_a_references_thinking_and_words_are_kept_apart(cast: Cast, case: Case, prompts: Prompts) -> None:
    thoughtful = [Reply("two", Usage(), thinking="hm")]
    seats = Seats(cast.sits(Role.SUBJECT, []), cast.sits(Role.PARTNER, ["a"]), cast.sits(Role.REFERENCE, thoughtful))
    made = await make_reference(case, seats, prompts, long_run_turns=2)
    assert [(turn.content, turn.thinking) for turn in made.turns][-1] == ("two", "hm")


async def test_with_a_forced_target_words_are_asked_for_and_the_long_run_follows(cast: Cast, reply: Callable[..., str]) -> None:
    episode = await cast.play([" Take your bag. ", "two", "three"], ["a", "b"], forced=True)
    assert (episode.target, episode.target_correct, episode.target_given) == (CARA, True, True)
    assert [content for _, _, content in said(episode)] == ["Take your bag.", "a", "two", "b", "three"]
    text = cast.asked(Role.SUBJECT)[0].messages[-1]["content"]
    assert f"you speak to {CARA}" in text
    assert "JSON object" not in text  # no form is asked for
    assert "NAME is one of" not in text
    wrapped = await cast.play([reply("Ann Lee", "Come.")], None, forced=True, turns=0)
    assert [content for _, _, content in said(wrapped)] == ["Come."]


async def test_with_a_forced_target_silence_is_no_format(cast: Cast) -> None:
    episode = await cast.play(["  "], forced=True)
    assert episode.format_failure == "empty reply"


async def test_with_a_forced_target_reference_agents_say_what_they_would_have_said(cast: Cast) -> None:
    assert (await cast.play("reference/random", None, turns=0, forced=True)).target == CARA
    assert (await cast.play("reference/silent", None, turns=0, forced=True)).format_failure
