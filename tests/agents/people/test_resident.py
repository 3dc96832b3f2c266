"""A person who lives in the town: what it is asked, and that its answers are its life."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

import sociable
from sociable.core.form import Form
from sociable.core.records import Usage
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Reply, Request, Sampling
from sociable.town.events import Agreed, Began, Remembered, Talked

PLACE = "The Guildhall: hall"


class Person:
    """Answers forms at once, and keeps what it was asked; its first time of day is none."""

    name = "human"

    def __init__(self) -> None:
        self.asked: list[tuple[Request, Form]] = []

    async def generate(self, request: Request) -> Reply:
        assert request.form is not None, f"a bare prompt: {request.messages}"
        form = request.form()
        self.asked.append((request, form))
        return Reply(form.reply([self.answer(question.text, question.choices) for question in form.questions]), Usage(calls=1))

    @property
    def purposes(self) -> Counter[str]:
        return Counter(request.scope.participant.partition("|")[2] for request, _ in self.asked)

    def answer(self, question: str, choices: tuple[str, ...]) -> str:
        if question.startswith("Until when? (as"):
            return "noon" if len(self.asked) == 1 else "23:30"
        said = {
            "What do you do now?": "drinking tea",
            "Where?": PLACE,
            "Are you awake": "awake",
            "What is there": "We spoke of soup.",
            "What have you promised": "drinking soup",
            "From when?": "five" if self.purposes["conclude"] == 1 else "17:00",
        }
        given = next((each for start, each in said.items() if question.startswith(start)), None)
        if given is None and choices:
            return next((choice for choice in choices if choice.startswith("speak to")), choices[-1])
        return "Good day to you." if given is None and question.startswith("What do you say") else given or ""

    async def close(self) -> None: ...


@pytest.fixture(scope="module")
def lived() -> tuple[Person, Any]:
    person = Person()
    study = sociable.load_study("stss", limit=1, options={"ends_early": True})
    (scenario,) = list(study.scenarios)[:1]
    seats = Seats(Seat(Role.SUBJECT, "human", person, Sampling()))
    return person, asyncio.run(study.run_episode(scenario, 0, seats))


def test_the_answers_of_a_person_are_its_life(lived: tuple[Person, Any]) -> None:
    _, episode = lived
    name = episode.task.performer
    own = [event for event in episode.events if event.resident == name]
    assert episode.played_by[name] == "human" and set(episode.played_by.values()) == {"human", "reference/residents"}
    began = [event for event in own if isinstance(event, Began) and not event.asleep]
    assert {(event.doing, event.address) for event in began} == {("drinking tea", PLACE)}
    talked = [event for event in episode.events if isinstance(event, Talked) and name in (event.resident, event.partner)]
    assert talked and {line.says for event in talked for line in event.lines if line.speaker == name} == {"Good day to you."}
    assert {event.text for event in own if isinstance(event, Remembered)} == {"We spoke of soup."}
    agreed = [event for event in own if isinstance(event, Agreed)]
    assert {event.doing for event in agreed} == {"drinking soup"} and all(event.start is not None for event in agreed)


def test_a_person_is_asked_few_things_and_told_all_it_knows_once(lived: tuple[Person, Any]) -> None:
    person, episode = lived
    assert set(person.purposes) == {"decide", "speak", "conclude"} and person.purposes["decide"] < 60
    told = ["Who you are:" in request.messages[0]["content"] for request, _ in person.asked]
    assert told[0] and not any(told[1:])
    assert episode.task.goal in person.asked[0][0].messages[0]["content"]
    # What is no time is asked for again.
    refused = [
        each for request, _ in person.asked for each in re.findall(r"'(\w+)' is no time of day", request.messages[0]["content"])
    ]
    assert refused == ["noon", "five"]


def test_the_form_shows_what_stands_in_the_journal(lived: tuple[Person, Any]) -> None:
    for request, form in lived[0].asked:
        sent = request.messages[0]["content"]
        shown = [getattr(block, "text", "") for block in form.blocks]
        said = [line.text for block in form.blocks for line in getattr(block, "lines", ())]
        assert all(text in sent for text in [*shown, *said, *(question.text for question in form.questions)])


def test_a_person_among_models_is_asked_in_its_own_way() -> None:
    seat = Seat(Role.SUBJECT, "openai/some-model", Person(), Sampling(), people=frozenset({"Maeve"}))
    assert seat.is_person("Maeve") and not seat.is_person("Colm")
    assert replace(seat, name="human").is_person("Colm")
