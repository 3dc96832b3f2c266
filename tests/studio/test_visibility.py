"""The page of a person shows what a model in that seat would be sent, and no more: in every benchmark, word by word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

import sociable
from sociable.agents.people.desk import Desk, Place
from sociable.agents.people.person import make_plain_form
from sociable.api.cases import rehearse_scenario
from sociable.core.form import Form, Question
from sociable.engine.registry import list_benchmark_names
from sociable.engine.rehearsal import RehearsalModel
from sociable.models.protocol import Reply, Request, Scope

from ..agents.people.test_visibility import OPTIONS, OWN_WORDS, find_words
from .conftest import Asked

MOST_OF_A_SEAT = 4
"""Requests of one participant for one purpose that are looked at: the first ones, which build upon one another."""


class _Words(HTMLParser):
    """All words of a page: its texts, and the values that it brings along."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_data(self, data: str) -> None:
        self.found |= find_words(data)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told = {"value", "title", "aria-label", "alt", "placeholder"}
        self.found |= find_words(" ".join(value or "" for name, value in attributes if name in told))


def read_words(page: str) -> set[str]:
    reader = _Words()
    reader.feed(page)
    return reader.found


class Sat:
    """One person in every seat in turn, at the desk of one run."""

    def __init__(self, studio: Asked, run: Path) -> None:
        run.mkdir()
        self._studio = studio
        self._desk = Desk(run)
        self._desk.beat("episodes", 0, 1)
        self._numbers: dict[Place, int] = defaultdict(int)
        self._paths: dict[str, str] = {}
        self.sent: dict[Place, set[str]] = defaultdict(set)

    def show(self, request: Request, form: Form) -> set[str]:
        """The words of the page that a person in the request's place is shown, the identifier of the question left out."""
        place = Place(request.scope.item, request.scope.role, request.scope.participant)
        identifier = f"{len(self._numbers)}:{self._numbers[place]}:{abs(hash(place))}"
        self._numbers[place] += 1
        self._desk.put(identifier, place, form)
        if request.scope.name not in self._paths:
            # Somebody else for each place: nobody judges what they played.
            made = self._desk.make_link("Ada", role=place.role, participant=place.participant, item=place.item, several=True)
            self._paths[request.scope.name] = f"/desk/{made.secret}"
        path = self._paths[request.scope.name]
        page = self._studio.get(path, owner=False).text
        answers = [question.choices[0] if question.choices else "thus" for question in form.questions]
        link = self._desk.find_link(path.removeprefix("/desk/"))
        assert link is not None and f'value="{identifier}"' in page
        self._desk.answer(link, identifier, answers)
        return read_words(page.replace(identifier, ""))

    def close(self) -> None:
        self._desk.close()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Request, Form]]:
    """The requests of a rehearsal, each with the form that a person would be shown, made when the request is."""
    found: list[tuple[Request, Form]] = []
    generate = RehearsalModel.generate

    async def note(self: RehearsalModel, request: Request) -> Reply:
        found.append((request, request.form() if request.form else make_plain_form(request)))
        return await generate(self, request)

    monkeypatch.setattr(RehearsalModel, "generate", note)
    return found


def find_extra(sat: Sat, calls: list[tuple[Request, Form]]) -> set[str]:
    """The words on pages that nobody was sent who sat there, and that no page has of itself."""
    blank = sat.show(Request([], Scope("none#0", "subject", "Nobody")), Form("", [], [Question("", is_long=True)]))
    blank |= sat.show(Request([], Scope("none#0", "subject", "Nobody")), Form("", [], [Question("", is_long=True)]))
    sent: dict[str, set[str]] = defaultdict(set)
    asked: dict[str, int] = defaultdict(int)
    extra: set[str] = set()
    for request, form in calls:
        seat = request.scope.name.partition("|")[0]
        sent[seat] |= find_words(" ".join(message["content"] for message in request.messages))
        asked[request.scope.name] += 1
        if asked[request.scope.name] <= MOST_OF_A_SEAT:
            extra |= sat.show(request, form) - sent[seat]
    return extra - blank - OWN_WORDS - PAGES_WORDS


PAGES_WORDS = frozenset(
    find_words(
        "turn turns answer answers nothing may be left empty since your last as you have seen it new note user system assistant "
        "the run is being prepared this page goes on by itself"
    )
)
"""The words that a page has of itself beside those of a page that asks nothing: parts that are not on every page."""


@pytest.mark.parametrize("benchmark", list_benchmark_names())
def test_a_page_shows_what_a_model_would_be_sent_and_no_more(
    benchmark: str, start_studio: Callable[..., Asked], tmp_path: Path, shown: list[tuple[Request, Form]]
) -> None:
    options = OPTIONS.get(benchmark, {})
    study = sociable.load_study(benchmark, partner="nobody", opponent="nobody", options=options)
    rehearse_scenario(benchmark, next(iter(study.scenarios)), options=options)
    sat = Sat(start_studio(tmp_path), tmp_path / "run")
    assert find_extra(sat, shown) == set()
    sat.close()


def test_a_word_that_only_another_was_sent_is_found(start_studio: Callable[..., Asked], tmp_path: Path) -> None:
    def ask(name: str, told: str, title: str) -> tuple[Request, Form]:
        return Request([{"role": "user", "content": told}], Scope("case#0", "subject", name)), Form(title, [], [Question("You:")])

    sat = Sat(start_studio(tmp_path), tmp_path / "run")
    calls = [ask("Maria", "You hid the lantern.", "You hid the lantern."), ask("Tom", "You see her.", "Maria hid the lantern.")]
    assert find_extra(sat, calls) == {"maria", "hid", "the", "lantern"} - sat.show(*ask("Zoe", "", ""))
    sat.close()
