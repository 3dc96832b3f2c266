"""A person's page: what is asked of whoever came with a link, what was said before, and waiting while others are asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sociable.agents.people.desk import Earlier
from sociable.agents.people.person import count_known
from sociable.api.watching import find_status
from sociable.core.errors import InputError
from sociable.core.form import Form
from sociable.core.records import make_storable
from sociable.core.view import Block, Line, Transcript
from sociable.engine.status import State
from sociable.studio.events import RELOAD, stream_changes
from sociable.studio.links import OpenedLink, open_link
from sociable.studio.pages import reviews
from sociable.studio.rendering import render, show_page

NEWS = "new"
"""The id of what a person has not seen yet, to which a page scrolls after an answer."""


@dataclass(frozen=True)
class ShownBlock:
    """A block as it stands on the page; ``is_new`` where the rest has been seen before."""

    block: Block
    is_new: bool


def show_seat(request: Request) -> Response:
    """What is asked of this person now, or why nothing is."""
    with open_link(request) as opened:
        if reviews.is_review(opened.link):
            return RedirectResponse(f"{opened.address}/review", HTTPStatus.SEE_OTHER)
        return _show(request, opened)


def _show(request: Request, opened: OpenedLink, problem: str = "", typed: tuple[str, Sequence[str]] = ("", ())) -> Response:
    """The page; with a ``problem`` it keeps what was ``typed`` to which question."""
    request.app.state.studio.links.note_presence(opened.folder, opened.link)
    question = opened.desk.find_open_question(opened.link)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK
    if question is None:
        words = describe_waiting(opened)
        return show_page(request, "waiting.html.jinja", status, address=opened.address, words=words, problem=problem)
    earlier = opened.desk.list_earlier(question)
    given = typed[1] if typed[0] == question.id else question.draft
    return show_page(
        request,
        "seat.html.jinja",
        status,
        address=opened.address,
        question=question,
        given=[*given, *[""] * len(question.form.questions)],
        blocks=list(mark_news(question.form.blocks, earlier)),
        earlier=earlier,
        is_next=not earlier and opened.desk.count_done(opened.link) > 0,
        notice=_describe_run(opened),
        problem=problem,
    )


def mark_news(blocks: Sequence[Block], earlier: Sequence[Earlier]) -> Iterator[ShownBlock]:
    """The blocks, a transcript of which the beginning was shown before in two parts."""
    before: dict[str, Sequence[Line]] = {}
    for form in earlier:
        before |= {block.title: block.lines for block in form.form.blocks if isinstance(block, Transcript)}
    for block in blocks:
        known = count_known(block.lines, before.get(block.title, ())) if isinstance(block, Transcript) else 0
        if isinstance(block, Transcript) and known:
            yield ShownBlock(
                replace(block, title=f"{block.title}, as you have seen it".lstrip(", "), lines=block.lines[:known]), False
            )
            yield ShownBlock(replace(block, title="New since your last answer", lines=block.lines[known:]), True)
        else:
            yield ShownBlock(block, False)


def describe_waiting(opened: OpenedLink) -> str:
    """Why nothing is asked of a person now."""
    desk, link = opened.desk, opened.link
    if notice := _describe_run(opened):
        return notice
    if not desk.is_in_case(link):
        return "No case needs you at this moment. The next one opens here by itself as soon as there is one."
    cases = {place.item for place in desk.list_places(link)}
    waiting = [each.person for each in desk.list_waiting() if each.place.item in cases]
    named = sorted({each for each in waiting if each})
    if named:
        return f"Waiting for {' and '.join(named)}."
    return "Waiting for somebody to take a seat that is free." if waiting else "The others are speaking."


def _describe_run(opened: OpenedLink) -> str:
    """What a person should know of the run; empty while it is at work."""
    if opened.desk.read_run().is_alive:
        return ""
    status = find_status(opened.folder)
    done = opened.desk.count_done(opened.link)
    thanks = f"You took part in {done} of them. Thank you." if done else ""
    match status.state:
        case State.FINISHED:
            return f"All cases are over. {thanks}".strip()
        case State.RUNNING | State.STOPPING | State.NO_RUN:
            return "The run is being prepared. This page goes on by itself."
        case _:
            return (
                "The run is not at work at this moment; whoever invited you can wake it. Nothing is lost: what you have sent "
                "is kept, what you write now is kept as well, and this page goes on by itself."
            )


def follow_seat(request: Request) -> Response:
    """Tells an open page of what happens; ``question`` is the one that it shows, empty where it waits."""
    shown = request.query_params.get("question", "")

    def draw() -> str:
        try:
            with open_link(request) as opened:
                return _draw_news(request, opened, shown)
        except HTTPException:
            return RELOAD  # The link was withdrawn: its page says so.

    return stream_changes(draw)


def _draw_news(request: Request, opened: OpenedLink, shown: str) -> str:
    request.app.state.studio.links.note_presence(opened.folder, opened.link)
    question = opened.desk.find_open_question(opened.link)
    if shown:
        is_open = question is not None and question.id == shown
        return render("seat_news.html.jinja", is_open=is_open, notice=_describe_run(opened), address=opened.address)
    return RELOAD if question else render("waiting_news.html.jinja", words=describe_waiting(opened))


async def take_answer(request: Request) -> Response:
    """Takes an answer, or a draft, and shows what is asked next."""
    return await run_in_threadpool(_take, request, await request.form())


def _take(request: Request, form: FormData) -> Response:
    with open_link(request) as opened:
        reviews.check_kind(opened.link, for_review=False)
        identifier = str(form.get("question", ""))
        answers: list[str] = []
        try:
            answers = read_answers(opened.desk.find_form(opened.link, identifier), form)
            if form.get("do") == "keep":
                opened.desk.keep_draft(opened.link, identifier, answers)
            else:
                opened.desk.answer(opened.link, identifier, answers)
        except InputError as problem:
            return _show(request, opened, str(problem), (identifier, answers))
        return RedirectResponse(f"{opened.address}#{NEWS}", HTTPStatus.SEE_OTHER)


async def keep_draft(request: Request) -> Response:
    """Takes what a person is typing. Nothing is shown: the page stays."""
    return await run_in_threadpool(_keep, request, await request.form())


def _keep(request: Request, form: FormData) -> Response:
    with open_link(request) as opened:
        reviews.check_kind(opened.link, for_review=False)
        identifier = str(form.get("question", ""))
        opened.desk.keep_draft(opened.link, identifier, read_answers(opened.desk.find_form(opened.link, identifier), form))
    return Response(status_code=HTTPStatus.NO_CONTENT)


def read_answers(asked: Form, form: FormData) -> list[str]:
    """One answer for each question, as it was sent: a choice by its number, since browsers change texts on their way."""
    answers = []
    for number, question in enumerate(asked.questions):
        given = form.get(f"answer-{number}", "")
        text = make_storable(given).replace("\r\n", "\n") if isinstance(given, str) else ""
        if question.choices:
            text = {str(place): choice for place, choice in enumerate(question.choices)}.get(text, "")
        answers.append(text)
    return answers


ROUTES = (
    Route("/desk/{secret}", show_seat),
    Route("/desk/{secret}", take_answer, methods=["POST"]),
    Route("/desk/{secret}/draft", keep_draft, methods=["POST"]),
    Route("/desk/{secret}/events", follow_seat),
)
