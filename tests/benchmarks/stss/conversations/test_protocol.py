"""One scene, played: who is asked what, who knows what, when it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sociable.benchmarks.stss.conversations import protocol
from sociable.benchmarks.stss.conversations.protocol import Setting, run_scene
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, ConversationOptions, Scene
from sociable.benchmarks.stss.task import TaskType
from sociable.core.errors import InputError
from sociable.engine.seats import Seats
from sociable.models.protocol import FinishReason, Reply, Request
from sociable.town.clock import Clock
from sociable.town.events import Agreed
from sociable.town.map import TownMap

from .conftest import Talker, seats

CONCLUSION = json.dumps(
    {
        "summary": "We spoke of soup.",
        "importance": 6,
        "agreed": [{"doing": "tasting soup", "place": "The Guildhall: hall", "day": "Tuesday", "from": "17:00", "to": "18:00"}],
        "remember": ["The soup swap is on Tuesday."],
        "today": False,
    }
)


def says(*words: str, ends: bool = False) -> list[str]:
    return [json.dumps({"says": each, "ends": ends and each == words[-1]}) for each in words]


@pytest.fixture
def play(town: TownMap, clock: Clock) -> Callable[..., ConversationEpisode]:
    def run(scene: Scene, who: Seats, **options: Any) -> ConversationEpisode:
        return asyncio.run(run_scene(scene, 0, who, Setting(town, clock, ConversationOptions(**options), 0)))

    return run


def told(episode: ConversationEpisode) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.content) for turn in episode.turns]


def test_the_subject_speaks_as_the_performer_and_the_partner_listens_and_sums_up(
    play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene]
) -> None:
    pia = Talker(speak=says("Come to my soup swap!", "See you.", ends=True))
    ann = Talker(speak=says("Gladly."), conclude=[CONCLUSION])
    episode = play(make_scene(), seats(pia, ann))
    assert told(episode) == [("Pia", "Come to my soup swap!"), ("Ann", "Gladly."), ("Pia", "See you.")]
    assert [request.scope.participant for request in pia.requests] == ["Pia|speak"] * 2
    assert [request.scope.participant for request in ann.requests] == ["Ann|speak", "Ann|conclude"]
    assert {request.scope.role for request in ann.requests} == {"partner"}
    assert episode.summary.splitlines() == [
        "Pia: We spoke of soup.",
        "From a talk with Pia: The soup swap is on Tuesday.",
        "Agreed: tasting soup, Tuesday 14 February 2023, 17:00 to 18:00, at The Guildhall: hall.",
    ]
    assert episode.played_by == {"Pia": "talker", "Ann": "talker"}


def test_neither_sees_what_only_the_other_knows(
    play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene]
) -> None:
    pia = Talker(speak=says("Come to my soup swap!"), general_plan=["PIAS PLAN"], conversation_reminder=["PIAS REMINDER"])
    ann = Talker(speak=says("Gladly."), conclude=[CONCLUSION])
    scene = make_scene()
    play(scene, seats(pia, ann), agent="generative+tdp")
    for prompt in pia.prompts("Pia", "speak"):
        # The performer has its memory, its task and its plans; and nothing of the other's.
        for own in ("PIAS SECRET", "I am Pia.", scene.task.goal, "being Pia", "being Ann", "PIAS PLAN", "PIAS REMINDER"):
            assert own in prompt
        assert "ANNS SECRET" not in prompt
        assert "I am Ann." not in prompt
    for prompt in ann.prompts("Ann", "speak"):
        for own in ("ANNS SECRET", "I am Ann.", "being Pia"):
            assert own in prompt
    for prompt in ann.prompts("Ann"):
        for others in ("PIAS SECRET", "I am Pia.", scene.task.goal, scene.task.description, "PIAS PLAN", "PIAS REMINDER"):
            assert others not in prompt


def test_the_other_has_no_task_whatever_its_architecture(
    play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene]
) -> None:
    scene, ann = make_scene(), Talker(speak=says("Gladly."), conclude=[CONCLUSION])
    play(scene, seats(Talker(speak=says("Come!")), ann), background_agent="generative+tdp")
    assert {request.scope.participant for request in ann.requests} == {"Ann|speak", "Ann|conclude"}
    assert not any(scene.task.goal in prompt for prompt in ann.prompts("Ann"))


def test_a_plain_performer_has_no_plan_and_tdp_asks_for_two_texts_only(
    play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene]
) -> None:
    asked = []
    for agent in ("generative", "generative+tdp"):
        pia = Talker(speak=says("Come!"), general_plan=["Plan."], conversation_reminder=["Reminder."])
        play(make_scene(), seats(pia), agent=agent, turns_each=1)
        asked.append([request.scope.participant for request in pia.requests])
    # Only the conversation module is active (section 4): no reminder for planning.
    assert asked == [["Pia|speak"], ["Pia|general_plan", "Pia|conversation_reminder", "Pia|speak"]]


def test_what_was_promised_before_is_on_the_agenda(
    play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene]
) -> None:
    promise = Agreed(minute=650, resident="Ann", partner="Cy", doing="mending CYS BOAT", start=2400, end=2460)
    scene = make_scene()
    scene = scene.model_copy(update={"target": scene.target.model_copy(update={"agreed": (promise,)})})
    ann = Talker(speak=says("No."), conclude=[CONCLUSION])
    play(scene, seats("heuristic", ann))
    assert all("CYS BOAT" in prompt for prompt in ann.prompts("Ann"))


def test_whoever_began_in_the_simulation_begins_and_each_speaks_at_most_eight_times(
    play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene]
) -> None:
    for begins, first in ((True, "Pia"), (False, "Ann")):
        pia, ann = Talker(speak=says("And then?")), Talker(speak=says("Go on."), conclude=[CONCLUSION])
        episode = play(make_scene(performer_begins=begins), seats(pia, ann))
        assert [turn.speaker for turn in episode.turns][:2] == [first, {"Pia": "Ann", "Ann": "Pia"}[first]]
        assert len(episode.turns) == 16
        assert "this once, and then the conversation ends" in pia.prompts("Pia")[-1]


def test_a_performer_that_cannot_be_read_ends_the_conversation_and_that_is_a_result(
    play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene]
) -> None:
    pia, ann = Talker(speak=["{}"]), Talker(speak=says("Hello."), conclude=[CONCLUSION])
    episode = play(make_scene(), seats(pia, ann))
    assert told(episode) == [("Pia", "")]
    assert episode.turns[0].note
    assert (episode.partner_failure, episode.summary, episode.summary_failure) == ("", "", "")
    assert not ann.requests
    # If the other has spoken there is something to take away.
    assert play(make_scene(performer_begins=False), seats(Talker(speak=["{}"]), ann)).summary


def test_another_that_cannot_be_read_is_a_failure_of_the_instrument(
    play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene]
) -> None:
    ann = Talker(speak=["{}"], conclude=[CONCLUSION])
    episode = play(make_scene(), seats(Talker(speak=says("Come!")), ann))
    assert episode.partner_failure.startswith("Ann said nothing")
    assert not ann.prompts("Ann", "conclude")
    unreadable = Talker(speak=says("Gladly.", ends=True), conclude=["no JSON"])
    episode = play(make_scene(), seats(Talker(speak=says("Come!")), unreadable))
    assert episode.partner_failure == ""
    assert episode.summary_failure.startswith("unreadable summary")


class Defective(Talker):
    """A talker whose words do not stand as they are."""

    def __init__(self, finish: FinishReason) -> None:
        super().__init__(speak=says("I am sorry, I can", ends=False), conclude=[CONCLUSION])
        self._finish = finish

    async def generate(self, request: Request) -> Reply:
        return replace(await super().generate(request), finish=self._finish)


@pytest.mark.parametrize("finish", [FinishReason.LENGTH, FinishReason.REFUSAL, FinishReason.CONTENT_FILTER])
def test_words_of_the_other_that_do_not_stand_are_a_failure_of_the_instrument(
    finish: FinishReason, play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene]
) -> None:
    episode = play(make_scene(), seats(Talker(speak=says("Come!")), Defective(finish)))
    assert episode.partner_failure == f"Ann's turn 1: {episode.turns[1].note}"
    assert episode.turns[1].note
    # The performer's are its own, whatever they are.
    assert play(make_scene(), seats(Defective(finish), Talker(speak=says("Yes."), conclude=[CONCLUSION]))).partner_failure == ""


def test_words_only_where_they_are_asked_for(play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene]) -> None:
    pia = Talker(speak=["Come to my soup swap."])
    ann = Talker(speak=says("Gladly.", ends=True), conclude=[CONCLUSION])
    episode = play(make_scene(), seats(pia, ann), plain=True)
    assert episode.turns[0].content == "Come to my soup swap."
    assert not episode.turns[0].note
    # The other is a plain generative agent on a model that can do more (App. A.2).
    assert "JSON" not in pia.prompts("Pia")[0].rpartition("What do you say")[2]
    assert "JSON" in ann.prompts("Ann")[0].rpartition("What do you say")[2]


def test_an_architecture_without_memory_to_give_back_is_refused(
    play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetting:
        alarm = None

        def decide(self, view: object) -> object:
            return object()

    monkeypatch.setattr(protocol, "find_architecture", lambda name: lambda situation: Forgetting())
    with pytest.raises(InputError, match=r"'generative' cannot be given a memory.*restore"):
        play(make_scene(), seats(Talker(speak=says("Hm."))))


@pytest.mark.parametrize("kind", list(TaskType))
@pytest.mark.parametrize("begins", [True, False])
def test_reference_agents_talk_without_a_model(
    kind: TaskType, begins: bool, play: Callable[..., ConversationEpisode], make_scene: Callable[..., Scene]
) -> None:
    episode = play(make_scene(kind, performer_begins=begins), seats("oracle"))
    assert episode.summary
    assert episode.usage == {}
    again = play(make_scene(kind, performer_begins=begins), seats("oracle"))
    assert again == episode
    assert not told(play(make_scene(kind), seats("silent")))
