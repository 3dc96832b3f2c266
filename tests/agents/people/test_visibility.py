"""People see what a model in their seat would be sent, never more: in every benchmark, in every role, as the desk has it.

Every word that a form shows must have been sent to that seat, with this call or an earlier one, or be one of the forms' own.
So no private information of another, whatever it is, can stand in a form.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import sociable
from sociable.api.cases import rehearse_scenario
from sociable.core.form import Form, Question
from sociable.core.form_json import read_form, write_form
from sociable.core.view import Paragraph
from sociable.engine.registry import list_benchmark_names
from sociable.engine.rehearsal import RehearsalModel
from sociable.models.protocol import Reply, Request, Scope

OWN_WORDS = frozenset(
    [
        "answer",
        "are",
        "asked",
        "before",
        "been",
        "case",
        "choose",
        "commas",
        "decides",
        "fact",
        "false",
        "fields",
        "for",
        "form",
        "goes",
        "instructions",
        "its",
        "judge",
        "judged",
        "left",
        "line",
        "may",
        "model",
        "new",
        "nobody",
        "not",
        "out",
        "own",
        "particular",
        "question",
        "reply",
        "say",
        "says",
        "sent",
        "side",
        "speaks",
        "talks",
        "think",
        "this",
        "thoughts",
        "told",
        "why",
        "words",
        "yes",
        "your",
    ]
)
"""The words of the forms themselves: none of them is out of a scenario."""

OPTIONS = {"anteval-ieg": {"real": "stand-in"}}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Request, str | None]]:
    """All requests of a rehearsal, each with its form as JSON, made when the request is."""
    found: list[tuple[Request, str | None]] = []
    generate = RehearsalModel.generate

    async def note(self: RehearsalModel, request: Request) -> Reply:
        found.append((request, write_form(request.form()) if request.form else None))
        return await generate(self, request)

    monkeypatch.setattr(RehearsalModel, "generate", note)
    return found


def list_texts(value: Any) -> Iterator[str]:
    """The texts of a form's JSON, without the names of its fields and kinds."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from list_texts(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in ("kind", "tone", "highlight"):
                yield from list_texts(each)


def find_words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]{3,}", text.casefold()))


def find_extra(calls: Sequence[tuple[Request, str | None]]) -> set[str]:
    """The words in forms that nobody was sent who sat there."""
    sent: dict[str, set[str]] = defaultdict(set)
    extra: set[str] = set()
    for request, form in calls:
        # Purposes of one participant are asked at one place.
        seat = request.scope.name.partition("|")[0]
        sent[seat] |= find_words(" ".join(message["content"] for message in request.messages))
        if form is not None:
            extra |= find_words(" ".join(list_texts(json.loads(form)))) - sent[seat]
    return extra - OWN_WORDS


@pytest.mark.parametrize("benchmark", list_benchmark_names())
def test_a_form_shows_what_a_model_would_be_sent_and_no_more(benchmark: str, shown: list[tuple[Request, str | None]]) -> None:
    options = OPTIONS.get(benchmark, {})
    study = sociable.load_study(benchmark, partner="nobody", opponent="nobody", options=options)
    rehearse_scenario(benchmark, next(iter(study.scenarios)), options=options)
    assert find_extra(shown) == set()
    # Whoever has no form of their own is shown the messages themselves; a resident of the town has another mind altogether.
    bare = {(request.scope.role, request.scope.participant.partition("|")[2]) for request, form in shown if form is None}
    assert not bare or benchmark.startswith("stss")
    for _, form in shown:
        if form is not None:
            assert write_form(read_form(form)) == form


def test_a_word_that_only_another_was_sent_is_found() -> None:
    def ask(name: str, told: str, form: str) -> tuple[Request, str]:
        shown = write_form(Form("It goes on", [Paragraph(form)], [Question("Say: yes?")]))
        return Request([{"role": "user", "content": told}], Scope("case#0", "subject", name)), shown

    calls = [ask("Maria", "You hid the lantern.", "You hid the lantern."), ask("Tom", "You see her.", "You see her.")]
    assert find_extra(calls) == set()
    assert find_extra([*calls, ask("Tom", "It goes on.", "Maria hid the lantern.")]) == {"maria", "hid", "the", "lantern"}
