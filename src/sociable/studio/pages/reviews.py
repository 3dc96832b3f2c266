"""Review of built data in the browser: the owner invites reviewers, each of whom decides item by item.

Decisions are those of ``sociable review``. A reviewer's link, and what was begun and not sent, are kept on a desk in the folder
of the data; its question is the item that is on the screen.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sociable.agents.people.desk import Desk, Link, OpenQuestion, Place
from sociable.api.watching import DEEPEST
from sociable.core.errors import InputError
from sociable.core.form import Form, Question
from sociable.core.records import make_storable
from sociable.core.view import Block, Quotation
from sociable.datasets.build import DATASET
from sociable.datasets.review.items import ReviewItem, outline, parse_fix, show_json
from sociable.datasets.review.records import Choice, Group, Tag
from sociable.datasets.review.results import show_status
from sociable.datasets.review.reviewing import Review
from sociable.studio.folders import name_run
from sociable.studio.links import OpenedLink, check_name, open_link
from sociable.studio.rendering import make_link, show_page

REVIEWER = "reviewer"
"""The role of a reviewer's link; its item is the reviewer's group."""

CHOICES = (
    (Choice.KEEP, "Keep: good as it is."),
    (Choice.FIX, "Fix: worth keeping, with a change."),
    (Choice.DROP, "Drop: it does not belong in the data."),
)


@dataclass(frozen=True)
class Said:
    """What a reviewer has said of an item so far."""

    choice: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    record: str = ""
    """The record as JSON, as it should be; empty or unchanged where no fix is given."""

    def make_draft(self) -> list[str]:
        return [self.choice, json.dumps(self.tags), self.note, self.record]

    def is_changed(self, item: ReviewItem) -> bool:
        """Whether the record is another than the item's."""
        return self.record.strip() not in ("", show_json(item.record).strip())

    @classmethod
    def read_draft(cls, draft: tuple[str, ...]) -> Said:
        return cls(draft[0], tuple(json.loads(draft[1])), draft[2], draft[3]) if draft else cls()

    @classmethod
    def read_form(cls, form: FormData) -> Said:
        def read(name: str) -> str:
            given = form.get(name, "")
            return make_storable(given.replace("\r\n", "\n")) if isinstance(given, str) else ""

        return cls(
            read("choice"), tuple(each for each in form.getlist("tag") if isinstance(each, str)), read("note"), read("record")
        )


_QUESTIONS = tuple(Question(name, is_long=True, may_be_empty=True) for name in ("decision", "tags", "note", "record"))


def is_review(link: Link) -> bool:
    """Whether a link is a reviewer's."""
    return link.role == REVIEWER


def check_kind(link: Link, *, for_review: bool) -> None:
    """Raises HTTPException: 404 where a link is a reviewer's and the page is not, or the other way round."""
    if is_review(link) is not for_review:
        raise HTTPException(HTTPStatus.NOT_FOUND, "This link is for something else. Open it as it was sent to you.")


def list_data_folders(root: Path) -> Iterator[Path]:
    """The folders below ``root`` that hold a data set, by path."""
    for path, folders, files in os.walk(root):
        here = Path(path)
        if DATASET in files:
            yield here
        is_deep = len(here.relative_to(root).parts) >= DEEPEST
        folders[:] = [] if is_deep or DATASET in files else sorted(each for each in folders if not each.startswith("."))


def _find_data(request: Request) -> Path:
    root: Path = request.app.state.studio.folder
    name = request.query_params.get("data", "")
    path = (root / name).resolve() if "\0" not in name else root.parent
    if not path.is_relative_to(root) or not (path / DATASET).is_file():
        raise HTTPException(HTTPStatus.NOT_FOUND, f"There is no data set '{name}' here. The page Sit down lists those there are.")
    return path


# The owner's page.


def show_review(request: Request) -> Response:
    """How far the reviewers of a data set are, and their links."""
    return _show_review(request, _find_data(request))


def _show_review(request: Request, folder: Path, problem: str = "", name: str = "") -> Response:
    links = request.app.state.studio.links
    try:
        status: list[Block] = list(show_status(Review.open(folder)))
    except InputError:
        status = []  # Nobody has begun.
    with Desk(folder) as desk:
        invited = [
            (each, links.find_secret(folder, each), links.is_here(folder, each), len(desk.list_answers(each)))
            for each in desk.list_links()
            if each.is_open
        ]
    return show_page(
        request,
        "review.html.jinja",
        HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        name=name_run(request.app.state.studio.folder, folder),
        blocks=status,
        invited=invited,
        origin=str(request.base_url).rstrip("/"),
        problem=problem,
        typed=name,
    )


async def change_review(request: Request) -> Response:
    """Invites a reviewer, or withdraws a link."""
    return await run_in_threadpool(_change_review, request, await request.form())


def _change_review(request: Request, form: FormData) -> Response:
    folder, name = _find_data(request), str(form.get("person", ""))
    try:
        with Desk(folder) as desk:
            if form.get("do") == "close":
                for link in (each for each in desk.list_links() if each.is_open and str(each.id) == form.get("link")):
                    desk.close_link(link)
            else:
                group: Group = 2 if form.get("group") == "2" else 1
                reviewer = check_name(name, desk)
                Review.begin(folder).check_reviewer(reviewer, group)
                made = desk.make_link(reviewer, role=REVIEWER, participant=f"{reviewer}, group {group}")
                request.app.state.studio.links.note(folder, made)
    except InputError as problem:
        return _show_review(request, folder, str(problem), name)
    return RedirectResponse(make_link("/review", data=request.query_params["data"]), HTTPStatus.SEE_OTHER)


# A reviewer's page.


@dataclass(frozen=True)
class _Session:
    """One reviewer at work."""

    opened: OpenedLink
    review: Review

    @property
    def reviewer(self) -> str:
        return self.opened.link.person

    @property
    def group(self) -> Group:
        return 2 if self.opened.link.participant.endswith("group 2") else 1

    def find_question(self) -> tuple[ReviewItem, OpenQuestion] | None:
        """The item that is to be decided now, and its question on the desk, which keeps the time and the draft."""
        desk, link = self.opened.desk, self.opened.link
        items = self.review.find_open_items(self.reviewer, self.group)
        place = Place(items[0].id, REVIEWER, link.participant) if items else None
        question = desk.find_open_question(link)
        if question and question.place != place:
            # Decided meanwhile: by this reviewer, as somebody kept it in a file, or by enough others.
            desk.withdraw(question.id)
            question = None
        if not items or place is None:
            return None
        if question is None:
            earlier = sum(each.place == place for each in desk.list_answers(link))
            desk.put(f"{items[0].digest}|{link.id}|{earlier}", place, Form(items[0].id, (), _QUESTIONS))
            question = desk.find_open_question(link)
            assert question is not None
        return items[0], question


def show_item(request: Request) -> Response:
    """The item that this reviewer decides on now."""
    with open_link(request) as opened:
        return _show_item(request, opened)


def _show_item(request: Request, opened: OpenedLink, problem: str = "", typed: Said | None = None) -> Response:
    check_kind(opened.link, for_review=True)
    request.app.state.studio.links.note_presence(opened.folder, opened.link)
    session = _Session(opened, Review.begin(opened.folder))
    found = session.find_question()
    status = HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK
    left = len(session.review.find_open_items(session.reviewer, session.group))
    done = sum(each.reviewer == session.reviewer for each in session.review.read_decisions())
    shown: dict[str, Any] = {"address": opened.address, "problem": problem, "done": done, "left": left}
    if found is None:
        return show_page(request, "review_done.html.jinja", status, **shown, group=session.group)
    item, question = found
    said = typed or Said.read_draft(question.draft)
    return show_page(
        request,
        "review_item.html.jinja",
        status,
        **shown,
        item=item,
        question=question,
        blocks=[Quotation(name, outline(value)) for name, value in item.record.items() if name != "id"],
        said=said,
        is_changed=said.is_changed(item),
        record=said.record or show_json(item.record),
        choices=CHOICES,
        tags=_group_tags(session.review.settings.tags),
    )


def _group_tags(tags: tuple[Tag, ...]) -> list[tuple[str, list[Tag]]]:
    """Tags by the question that they answer, in their order; those that stand alone under an empty one."""
    found: dict[str, list[Tag]] = {}
    for tag in tags:
        found.setdefault(tag.question, []).append(tag)
    return list(found.items())


async def decide(request: Request) -> Response:
    """Takes a decision, or takes the last one back."""
    return await run_in_threadpool(_decide, request, await request.form())


def _decide(request: Request, form: FormData) -> Response:
    with open_link(request) as opened:
        check_kind(opened.link, for_review=True)
        session, said = _Session(opened, Review.begin(opened.folder)), Said.read_form(form)
        if form.get("do") == "back":
            session.review.take_back(session.reviewer)
            return RedirectResponse(f"{opened.address}/review", HTTPStatus.SEE_OTHER)
        found = session.find_question()
        if found is None or found[1].id != form.get("question"):
            return _show_item(
                request, opened, "You have decided on that item already, or enough others have. This is the next one."
            )
        item, question = found
        try:
            _write_decision(session, item, said, question)
        except InputError as problem:
            return _show_item(request, opened, str(problem), said)
        # The decision stands; what is left of it here is the time it took.
        opened.desk.answer(opened.link, question.id, said.make_draft())
        return RedirectResponse(f"{opened.address}/review", HTTPStatus.SEE_OTHER)


def _write_decision(session: _Session, item: ReviewItem, said: Said, question: OpenQuestion) -> None:
    """Adds a decision to those of the data set. Raises InputError."""
    choice = next((each for each in Choice if each == said.choice), None)
    if choice is None:
        raise InputError("Say what is to be done with it: keep, fix or drop.")
    is_changed = said.is_changed(item)
    fixed = parse_fix(said.record, item) if is_changed and choice is Choice.FIX else None
    if is_changed and choice is not Choice.FIX:
        raise InputError(f"You have changed the record, but chose to {choice}. Choose to fix it, or undo the change.")
    made = session.review.decide(
        item, session.reviewer, session.group, choice,
        tags=said.tags, note=said.note, fixed=fixed, seconds=time.time() - question.shown,
    )  # fmt: skip
    session.review.add([made])


async def keep_item_draft(request: Request) -> Response:
    """Takes what a reviewer is writing."""
    return await run_in_threadpool(_keep_item_draft, request, await request.form())


def _keep_item_draft(request: Request, form: FormData) -> Response:
    with open_link(request) as opened:
        check_kind(opened.link, for_review=True)
        opened.desk.keep_draft(opened.link, str(form.get("question", "")), Said.read_form(form).make_draft())
    return Response(status_code=HTTPStatus.NO_CONTENT)


ROUTES = (
    Route("/review", show_review),
    Route("/review", change_review, methods=["POST"]),
    Route("/desk/{secret}/review", show_item),
    Route("/desk/{secret}/review", decide, methods=["POST"]),
    Route("/desk/{secret}/review/draft", keep_item_draft, methods=["POST"]),
)
