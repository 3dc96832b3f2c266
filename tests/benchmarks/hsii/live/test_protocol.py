"""Rounds with people who are written, and with people played by a model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence

import pytest

from sociable.benchmarks.hsii.live.briefing import brief_assistant, brief_person, load_live_prompts
from sociable.benchmarks.hsii.live.dataset import Level
from sociable.benchmarks.hsii.live.metrics import METRICS, Played
from sociable.benchmarks.hsii.live.people import ENOUGH
from sociable.benchmarks.hsii.live.protocol import ModelAssistant, run_scenario
from sociable.benchmarks.hsii.live.reading import find_asked, find_told, read_answer, read_move
from sociable.benchmarks.hsii.live.records import ASSISTANT, LiveEpisode
from sociable.benchmarks.hsii.live.reference import ReferenceAssistant
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.benchmarks.hsii.live.solver import Solver
from sociable.core.records import Outcome, Usage
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Reply, Request, Sampling

from .conftest import TEA, worth

PEOPLE = Seat(Role.PARTNER, "reference/people", None, Sampling())


class Answering:
    """A model that answers by a function of the request."""

    name = "answering"

    def __init__(self, answer: Callable[[Request], str]) -> None:
        self.requests: list[Request] = []
        self._answer = answer

    async def generate(self, request: Request) -> Reply:
        self.requests.append(request)
        return Reply(self._answer(request), Usage(calls=1))

    async def close(self) -> None:
        pass


def play(scenario: Scenario, replies: Sequence[str], partner: Seat = PEOPLE) -> tuple[LiveEpisode, Answering]:
    waiting = list(replies)
    model = Answering(lambda request: waiting.pop(0))
    subject = Seat(Role.SUBJECT, model.name, model, Sampling())
    prompts = load_live_prompts()
    assistant = ModelAssistant(scenario, subject, "tea#0", prompts)
    return asyncio.run(run_scenario(scenario, 0, assistant, Seats(subject, partner), prompts)), model


def move(*messages: tuple[str, str], **arrangement: str) -> str:
    return json.dumps({"messages": [{"to": [name], "text": text} for name, text in messages], "arrangement": arrangement or None})


def refer(agent: str, scenario: Scenario) -> LiveEpisode:
    solution = Solver(scenario).solve()
    assistant = ReferenceAssistant(agent, scenario, lambda: solution, 0, 0)
    subject = Seat(Role.SUBJECT, f"reference/{agent}", None, Sampling())
    return asyncio.run(run_scenario(scenario, 0, assistant, Seats(subject, PEOPLE), load_live_prompts()))


def test_who_opens_by_what_it_was_told_has_been_asked_nothing(make_scenario: Callable[..., Scenario]) -> None:
    one = {"easy": {"rounds": 3, "messages": 3, "patience": 1, "least": -2}}
    told = [
        move(("Cy", "What about the evenings?")),
        move(("Cy", "It will rain at noon.")),
        move(when="dusk", where="yard"),
    ]
    episode, _ = play(make_scenario(budgets=one), told)
    assert [each.content for each in episode.turns if each.speaker == "Cy"] == ["Noon is fine.", "The lamps in the yard!"]


def test_people_answer_what_they_are_asked_and_decide_by_what_they_were_told(make_scenario: Callable[..., Scenario]) -> None:
    episode, model = play(
        make_scenario(),
        [
            move(("Ada", "How is work?"), ("Cy", "And the evenings?"), ("Bo", "Rain at noon, they say.")),
            move(("Cy", "It will rain at noon. And in the evening?"), when="dusk", where="yard"),
            move(when="noon", where="hall"),
        ],
    )
    said = [(each.round, each.speaker, each.content) for each in episode.turns if each.speaker not in (ASSISTANT, "")]
    assert said == [
        (1, "Ada", "Noon, please."),
        (2, "Ada", "I work until five."),
        (2, "Cy", "Noon is fine."),
        (2, "Bo", "Bo says little."),
        (2, "Bo", "Why is Ada so fond of noon?"),
        (3, "Cy", "The lamps in the yard!"),
    ]
    assert episode.decided == {"umbrella": "umbrella"}
    assert episode.arrangement == {"when": "noon", "where": "hall"}
    assert [len(request.messages) for request in model.requests] == [2, 4, 6]
    assert "I work until five." in model.requests[1].messages[-1]["content"]
    assert "last round" in model.requests[2].messages[-1]["content"]


def test_what_several_read_nobody_says_who_would_keep_it_from_them(make_scenario: Callable[..., Scenario]) -> None:
    together = json.dumps({"messages": [{"to": ["Ada", "Bo"], "text": "Ada, what of your work?"}], "arrangement": None})
    episode, _ = play(make_scenario(), [together, move(), move()])
    answer = next(each for each in episode.turns if each.speaker == "Ada" and each.round == 2)
    assert (answer.addressees, answer.facts) == (("Bo",), ())


def test_who_hears_what_matters_says_more_without_being_asked(make_scenario: Callable[..., Scenario]) -> None:
    episode, _ = play(make_scenario(), [move(("Cy", "It is to rain at noon.")), move(("Cy", "As I said, rain.")), move()])
    assert [each.content for each in episode.turns if each.speaker == "Cy"] == ["The lamps in the yard!", "Cy says little."]


def test_people_have_enough_of_questions(make_scenario: Callable[..., Scenario]) -> None:
    usual = make_scenario().dossier.model_dump(mode="json")
    home = {**usual["topics"][0], "id": "ada-home", "wording": [["home"]], "says": "Five stairs up."}
    budgets = {"easy": {"rounds": 2, "messages": 3, "patience": 1, "least": -2}}
    scenario = make_scenario(topics=[*usual["topics"], home], budgets=budgets)
    episode, _ = play(scenario, [move(("Ada", "How is work?"), ("Ada", "And home?")), move()])
    assert [each.content for each in episode.turns if each.speaker == "Ada" and each.round == 2] == [
        "I work until five.",
        ENOUGH,
    ]


def test_a_reply_that_cannot_be_read_sends_nothing_and_is_told(make_scenario: Callable[..., Scenario]) -> None:
    episode, _ = play(make_scenario(Level.HARD), ["I would ask Ada.", move(when="dusk", where="yard")])
    assert episode.unread == ("round 1: no JSON object in the reply",)
    assert episode.arrangement == {"when": "dusk", "where": "yard"}


@pytest.mark.parametrize(
    ("reply", "to", "arrangement"),
    [
        ('{"messages": [{"to": "Ada", "text": "Hi"}], "arrangement": {"when": "at dusk", "Where?": "YARD"}}', [("Ada",)], True),
        ('Sure!\n```json\n{"messages": [{"to": ["everybody"], "text": "Hi"},], "arrangement": {"when": "dusk"}}\n```', [("Ada", "Bo", "Cy")], False),
        ('{"messages": [{"to": ["Dee"], "text": "Hi"}, {"to": ["Bo"], "text": " "}, {"to": ["Cy"], "text": "Hi"}]}', [("Cy",)], False),
        ('{"messages": [{"to": ["Bo"], "text": "1"}, {"to": ["Cy"], "text": "2"}, {"to": ["Ada"], "text": "3"}]}', [("Bo",), ("Cy",)], False),
        ('{"messages": [{"to": ["Bo"], "text": "1"}', [("Bo",)], False),
        ("[]", [], False),
    ],
)  # fmt: skip
def test_replies_are_read_leniently_and_nothing_is_guessed(
    reply: str, to: list[tuple[str, ...]], arrangement: bool, make_scenario: Callable[..., Scenario]
) -> None:
    found = read_move(reply, make_scenario().dossier, 2)
    assert [each.to for each in found.messages] == to
    assert (found.arrangement == {"when": "dusk", "where": "yard"}) is arrangement


def test_an_object_that_cannot_be_mended_is_told(make_scenario: Callable[..., Scenario]) -> None:
    reply = '{"text": ' + "[" * 1500
    assert read_move(reply, make_scenario().dossier, 2).problem == "no JSON object in the reply"
    assert read_answer(reply, 3) == (reply, None)


def test_what_is_asked_and_told_is_read_by_wordings(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario()
    assert find_told("Ada is at it until five, and it rains.", scenario) == ("ada-work", "rain")
    assert find_asked("Which place, and where exactly?", scenario, "Bo") == "bo-place"
    assert find_asked("Which place?", scenario, "Bo", spent=["bo-place"]) == ""
    assert find_asked("Which place?", scenario, "Ada") == ""


def test_reference_assistants_make_a_scale(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario()
    best = {"when": "dusk", "where": "yard"}
    assert refer("oracle", scenario).arrangement == best
    assert refer("silent", scenario).arrangement is None
    assert refer("polite-only", scenario).arrangement == {"when": "noon", "where": "hall"}
    told = {
        (name, f)
        for m in refer("forward-all", scenario).turns
        if m.speaker == ASSISTANT
        for name in m.addressees
        for f in m.facts
    }
    assert ("Bo", "rain") in told


@pytest.mark.parametrize(("truth", "is_best"), [("work=five", False), ("work=free", True)])
def test_who_takes_everybody_at_his_word_is_right_where_that_is_meant(
    make_scenario: Callable[..., Scenario], truth: str, is_best: bool
) -> None:
    usual = make_scenario().dossier.model_dump(mode="json")
    ada, seen = usual["facts"][:3], [{**each, "of": "Ada"} for each in usual["facts"][1:3]]
    claim = {
        **ada[0],
        "id": "ada-claim",
        "text": "Ada says that she is free.",
        "wording": [["free"]],
        "shows": [],
        "claims": "work=free",
    }
    own = {**usual["topics"][0], "side": "", "says": "I am free.", "gives": ["ada-claim"]}
    witness = [{**each, "person": "Bo", "id": "bo-saw", "about": "Ada"} for each in usual["topics"][:2]]
    scenario = make_scenario(
        draw=frozenset({truth, "lamps=lit"}),
        facts=[ada[0], *seen, claim, *usual["facts"][3:]],
        topics=[own, *witness, *usual["topics"][2:]],
    )
    best = refer("oracle", scenario).arrangement
    believed = refer("depth@2", scenario)
    asked = {name for turn in believed.turns if turn.speaker == ASSISTANT and turn.topic == "bo-saw" for name in turn.addressees}
    assert not asked, "nobody is asked about another"
    assert (believed.arrangement == best) is is_best


def test_a_model_plays_a_person_by_its_sheet_alone(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario()

    def answer(request: Request) -> str:
        return (
            '{"answer": "A"}' if "decide something" in request.messages[-1]["content"] else "Ask me at five, I work until five."
        )

    partner = Answering(answer)
    episode, _ = play(
        scenario,
        [move(("Ada", "How is work?")), move(), move()],
        Seat(Role.PARTNER, partner.name, partner, Sampling()),
    )
    (sheet, asked), (own, _) = (tuple(each["content"] for each in request.messages) for request in partner.requests)
    assert "I work until five." in sheet
    assert "The yard, rather." not in sheet
    assert "The yard, rather." in own
    assert "How is work?" in asked
    assert "Why is Ada so fond of noon?" not in asked
    assert [each.facts for each in episode.turns if each.speaker == "Ada"] == [("ada-noon",), ("ada-work",)]
    assert episode.decided == {"umbrella": "umbrella"}


def test_a_person_whose_model_says_nothing_is_the_instruments_failure(make_scenario: Callable[..., Scenario]) -> None:
    silent = Answering(lambda request: " ")
    episode, _ = play(
        make_scenario(), [move(("Ada", "Hello?")), move(), move()], Seat(Role.PARTNER, silent.name, silent, Sampling())
    )
    assert episode.partner_failure.startswith("Ada, round 1")


def test_a_decision_that_cannot_be_read_is_not_the_assistants_failure(make_scenario: Callable[..., Scenario]) -> None:
    vague = Answering(lambda request: "I could not say.")
    scenario = make_scenario()
    episode, _ = play(scenario, [move(), move(), move()], Seat(Role.PARTNER, vague.name, vague, Sampling()))
    assert episode.partner_failure == "Bo's decision 'umbrella': no choice in the reply"
    scores = METRICS.score(episode, Played(scenario, Solver(scenario).solve(), episode, frozenset()))
    assert {score.outcome for score in scores} == {Outcome.UNSCORED}


def test_sheets_tell_what_is_wanted_in_words(make_scenario: Callable[..., Scenario]) -> None:
    prompts, scenario = load_live_prompts(), make_scenario()
    cy = brief_person(scenario, "Cy", prompts)["content"]
    assert "at dusk together with in the yard: for it, more than anything else" in cy
    assert (
        "1. Asked about evenings: “Noon is fine.”\n| 2. In place of 1, once you have heard this, or the gist of it, from the assistant or "
        "from others, asked or not (It will rain at noon.): “The lamps in the yard!”"
    ) in cy
    assert "1. Asked about her work" in brief_person(scenario, "Ada", prompts)["content"]
    less = [
        {**each, "worths": [*each["worths"], worth(-5, "lamps=lit", when="noon")]} if each["name"] == "Cy" else each
        for each in TEA["people"]
    ]
    unsure = brief_person(make_scenario(people=less), "Cy", prompts)["content"]
    assert "at noon: against it, more than anything else" in unsure
    assert "at noon: for it" not in unsure, "a wish stands once, with what the draw has made of it"
    shown = brief_assistant(scenario, prompts)["content"]
    assert "points" not in shown
    assert '"when": "noon or dusk"' in shown


@pytest.mark.parametrize(
    ("reply", "words", "told"),
    [
        ('{"lines": [1], "text": "I am at it late."}', "I am at it late.", ("ada-work",)),
        ('```json\n{"lines": [], "text": "Until five, I fear."}\n```', "Until five, I fear.", ()),
        ('{"lines": [7], "text": "Until five, I fear."}', "Until five, I fear.", ("ada-work",)),
        ('{"text": "Until five, I fear."}', "Until five, I fear.", ("ada-work",)),
        ("Until five, I fear.", "Until five, I fear.", ("ada-work",)),
    ],
    ids=["a line", "none", "no such line", "not said", "plain words"],
)
def test_what_a_person_told_is_known_by_the_lines_it_names_else_by_wordings(
    make_scenario: Callable[..., Scenario], reply: str, words: str, told: tuple[str, ...]
) -> None:
    def answer(request: Request) -> str:
        return '{"answer": "A"}' if "decide something" in str(request.messages[-1]["content"]) else reply

    partner = Answering(answer)
    episode, model = play(
        make_scenario(), [move(("Ada", "How is work?")), move(), move()], Seat(Role.PARTNER, partner.name, partner, Sampling())
    )
    (said,) = (each for each in episode.turns if each.speaker == "Ada" and each.round == 2)
    assert (said.content, said.facts) == (words, told)
    assert f"Ada: {words}" in str(model.requests[1].messages[-1]["content"]), "the assistant reads the words alone"
