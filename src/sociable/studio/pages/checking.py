"""The pages of people who check: consent, instructions, one item at a time."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sociable.core.errors import DataError, InputError
from sociable.core.names import find_words
from sociable.core.records import Verdict
from sociable.core.view import Line, Transcript
from sociable.people.reading import parse_verdict, write_verdict
from sociable.people.surveys import HIGHEST, LOWEST, Asked, Person, ShownEpisode, Surveys, Task
from sociable.studio.rendering import make_link, show_page
from sociable.studio.surveys import OpenSurveys, find_open_surveys

PAIR_ANSWERS = (("1", "1", "The first is better"), ("2", "2", "The second is better"), ("0", "0", "Neither is better"))
QUESTION_ANSWERS = (("yes", "y", "Yes"), ("no", "n", "No"))
SKIP = ("skip", "s", "Cannot be decided")
"""Answers: what is sent, the key that sends it, the words on the button."""

_RATINGS = tuple((str(number), str(number), str(number)) for number in range(LOWEST, HIGHEST + 1))


def show_item(request: Request) -> Response:
    """Whatever comes next for the person: the text of consent, the instructions, an item, a break, or the end."""
    _, surveys, person = _find(request)
    at = request.query_params.get("at", "")
    done, total = surveys.count(person)
    base: dict[str, Any] = {"address": request.url.path, "person": person, "done": done, "total": total}
    if person.consent and person.agreed is None:
        return show_page(request, "consent.html.jinja", **base)
    place = int(at) if at.isdecimal() and len(at) < 9 else None
    if place is None:
        following = surveys.find_next(person)
        begun = "break" if at == "break" else "end" if following is None else "begin"
        return show_page(request, "check_between.html.jinja", kind=begun, following=following, **base)
    asked = _find_asked(surveys, person, place)
    surveys.start_clock(person, place)
    return show_page(
        request,
        "check.html.jinja",
        asked=asked,
        sides=_list_sides(asked),
        answers=_list_answers(person, asked),
        said=_write_said(person, asked),
        transcript=_make_transcript(asked.shown) if isinstance(asked.shown, ShownEpisode) else None,
        **base,
    )


def _find_asked(surveys: Surveys, person: Person, place: int) -> Asked:
    if (asked := surveys.find_asked(person, place)) is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, "There is no such item among yours. Open your link again.")
    return asked


def _list_sides(asked: Asked) -> list[str]:
    """Both sides of a pair in the order of this person."""
    if asked.kind != "pair":
        return []
    sides = [asked.shown.subject, asked.shown.golden]  # type: ignore[union-attr]
    return sides if asked.subject_first else sides[::-1]


def _make_transcript(shown: ShownEpisode) -> Transcript:
    return Transcript("What was said", [Line(*turn) for turn in shown.turns])


def _list_answers(person: Person, asked: Asked) -> tuple[tuple[str, str, str], ...]:
    if person.task is Task.JUDGE:
        return (*(PAIR_ANSWERS if asked.kind == "pair" else QUESTION_ANSWERS), SKIP)
    return _RATINGS if person.task is Task.RATE else ()


def _write_said(person: Person, asked: Asked) -> str:
    """What the person has said of this item before, as the buttons send it."""
    if person.task is not Task.JUDGE or not asked.said:
        return asked.said
    return write_verdict(Verdict(asked.said), question=asked.kind == "question", subject_first=asked.subject_first)


async def take_answer(request: Request) -> Response:
    """Keeps what a page sends: agreement, an answer, or a comment that was begun before a break."""
    form = await request.form()
    return await run_in_threadpool(_take, request, form)


def _take(request: Request, form: FormData) -> Response:
    run, surveys, person = _find(request)
    address, action = request.url.path, str(form.get("action", ""))
    if action == "agree":
        surveys.agree(person)
        return _go(address)
    if person.consent and person.agreed is None:
        raise InputError("Nothing is taken before you have agreed to the text on the first page. Open your link again.")
    position = str(form.get("position", ""))
    place = int(position) if position.isdecimal() and len(position) < 9 else 0
    comment = str(form.get("comment", ""))
    if action:
        surveys.put_aside(person, place, comment, stop_clock=action != "draft")
        _find_surveys(request).keep_soon(run)
        if action == "draft":
            return Response(status_code=HTTPStatus.NO_CONTENT)
        return _go(make_link(address, at="break" if action == "break" else max(1, place - 1)))
    asked = _find_asked(surveys, person, place)
    surveys.answer(person, place, _read_said(person, asked, str(form.get("answer", ""))), comment)
    _find_surveys(request).keep_soon(run)
    is_last = place == surveys.count(person)[1]
    following = surveys.find_next(person) if is_last or not asked.said else place + 1
    return _go(make_link(address, at=following))


def _read_said(person: Person, asked: Asked, given: str) -> str:
    """What is kept of an answer. Raises InputError where it is none."""
    if person.task is Task.JUDGE:
        try:
            return parse_verdict(given, "", question=asked.kind == "question", subject_first=asked.subject_first)
        except DataError as error:
            raise InputError(f"Your answer: {error.problem}. Go back, and choose one of the buttons.") from None
    if person.task is Task.RATE:
        if given not in {each for each, _, _ in _RATINGS}:
            raise InputError(f"Your answer: a number from {LOWEST} to {HIGHEST} was expected. Go back, and choose one.")
        return given
    words = find_words(given)
    if len(words) != 1 or len(words[0]) > 40:
        raise InputError("Your answer: one single word was expected. Go back, and write one.")
    return words[0]


def _find_surveys(request: Request) -> OpenSurveys:
    return find_open_surveys(request.app.state.studio.folder)


def _find(request: Request) -> tuple[Path, Surveys, Person]:
    """The run and the person whose link this is. Raises HTTPException: 404 where it is nobody's."""
    if found := _find_surveys(request).find(request.path_params["secret"]):
        return found
    text = "This link opens nothing, or nothing any more. Look whether all of it was copied; or ask whoever sent it to you."
    raise HTTPException(HTTPStatus.NOT_FOUND, text)


def _go(address: str) -> Response:
    return RedirectResponse(address, HTTPStatus.SEE_OTHER)


ROUTES = (
    Route("/desk/check/{secret}", show_item),
    Route("/desk/check/{secret}", take_answer, methods=["POST"]),
)
