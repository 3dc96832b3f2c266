"""What judges are asked in an audit: planned for every kind of judging, asked with its own prompts, answers kept as they come."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sociable.core.records import Judgment, Usage
from sociable.core.run_folder import RecordFile
from sociable.engine.event_loop import run_to_end
from sociable.engine.phases import Progress, run_phase
from sociable.engine.rehearsal import RehearsedCall
from sociable.engine.seats import AbsentModel, Role, Seat
from sociable.engine.study import JudgingKind
from sociable.judging.auditing.card import AuditAnswer
from sociable.judging.auditing.findings import make_preference
from sociable.judging.auditing.plan import Ask, Part, plan_audit
from sociable.judging.pairwise import OrderVerdict
from sociable.judging.reference import TASTES
from sociable.models.limits import Budget
from sociable.models.protocol import ChatMessage, Model, Reply, Request, Sampling

ORDINARY = 0.95
"""The share of texts that a reference judge takes for ordinary."""
_ANSWER = '{"reason": "' + "The one takes up what was asked and the other leaves it open. " * 2 + '", "verdict": 1}'
"""A reply as long as most, for estimates of what an audit costs."""


Failures = dict[tuple[str, str], Counter[str]]
"""The reasons why something could not be asked, by judge and kind, with how often each occurred."""


@dataclass(frozen=True)
class PlannedKind:
    """A kind of judging, and all that is asked about it."""

    kind: JudgingKind
    asks: Sequence[Ask]


def plan_kinds(kinds: Sequence[JudgingKind], *, languages: Sequence[str], limit: int, seed: int) -> list[PlannedKind]:
    """What is asked about each kind; ``limit`` known answers of each at the most."""
    planned = []
    for kind in kinds:
        known = list(kind.list_known())
        asks = plan_audit(known, is_pair=kind.is_pair, form=kind.asks_for, languages=languages, limit=limit, seed=seed)
        planned.append(PlannedKind(kind, _drop_idle(kind, asks)))
    return planned


def _drop_idle(kind: JudgingKind, asks: Sequence[Ask]) -> Sequence[Ask]:
    """Without what would ask for criteria in another order where the prompt has no list of them."""
    first = next((ask for ask in asks if ask.part is Part.REORDERED), None)
    if first is None:
        return asks
    nobody = Seat(Role.JUDGE, "nobody", AbsentModel("nobody"), Sampling())
    (*_, call) = run_to_end(list_calls([PlannedKind(kind, [first])], nobody))
    is_list = any(reverse_list(message["content"]) != message["content"] for message in call.request.messages)
    return asks if is_list else [ask for ask in asks if ask.part is not Part.REORDERED]


async def ask_judges(
    planned: Sequence[PlannedKind],
    judges: Sequence[Seat],
    file: RecordFile[AuditAnswer],
    budget: Budget,
    watch: Callable[[Progress], None],
    *,
    at_once: int,
) -> Failures:
    """Asks every judge what it has not answered yet. Returns why some could not be asked. Raises RunStopped."""
    failures: Failures = defaultdict(Counter)

    def note(item: tuple[Ask, Seat], reason: str) -> None:
        ask, seat = item
        failures[seat.name, ask.known.kind][reason] += 1

    for each in planned:
        seats = [await _settle_in(seat, each) for seat in judges]
        pending = [(ask, seat) for ask in each.asks for seat in seats if _name_answer(ask, seat) not in file]

        async def work(item: tuple[Ask, Seat], kind: JudgingKind = each.kind) -> AuditAnswer:
            return await _ask(kind, *item)

        progress = Progress(each.kind.name, len(pending), changed=watch)
        await run_phase(pending, work, note, file, budget, progress, at_once=at_once)
    return failures


async def _ask(kind: JudgingKind, ask: Ask, seat: Seat) -> AuditAnswer:
    if ask.part is Part.REORDERED and seat.model is not None:
        seat = replace(seat, model=_Reordering(seat.model))
    return _make_answer(ask, kind, await kind.judge(ask.known, seat, ask.name), seat)


def _name_answer(ask: Ask, seat: Seat) -> str:
    return f"{ask.name}|{ask.known.kind}|{seat.name}"


def _make_answer(ask: Ask, kind: JudgingKind, judgment: Judgment, seat: Seat) -> AuditAnswer:
    orders: Sequence[OrderVerdict] = getattr(judgment, "orders", ())
    preferences = [make_preference(order.preference) for order in orders] or [make_preference(judgment.verdict)]
    read = [each for each in preferences if each is not None]
    is_read = len(read) == len(preferences)
    # Of a pair how far either order is for what stood first: with the subject first, as far as for the subject.
    both = zip(read, orders, strict=True) if orders and is_read else ()
    sides = [2.0 * each - 1.0 if order.subject_first else 1.0 - 2.0 * each for each, order in both]
    return AuditAnswer(
        id=_name_answer(ask, seat),
        name=ask.name,
        kind=kind.name,
        judge=seat.name,
        verdict=judgment.verdict,
        preference=sum(read) / len(read) if is_read else None,
        first_side=sum(sides) / len(sides) if sides else None,
        ratings=getattr(judgment, "ratings", {}),
        reason=judgment.reason,
        usage=judgment.usage,
    )


_CRITERION = re.compile(r"^- .*$", re.MULTILINE)


class _Reordering:
    """A model that is shown the criteria of a prompt, which stand in a list, from the last to the first."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model

    async def generate(self, request: Request) -> Reply:
        messages = [ChatMessage(role=each["role"], content=reverse_list(each["content"])) for each in request.messages]
        return await self._model.generate(replace(request, messages=messages))

    async def close(self) -> None:
        pass


def reverse_list(text: str) -> str:
    """``text`` with the lines of its list, which begin with a dash, from the last to the first; what is quoted stays."""
    lines = iter(reversed(_CRITERION.findall(text)))
    return _CRITERION.sub(lambda _: next(lines), text)


class _Listening:
    """Stands in for a judge, and notes what it would have been asked."""

    def __init__(self, seat: Seat) -> None:
        self.name = seat.name
        self.calls: list[RehearsedCall] = []

    async def generate(self, request: Request) -> Reply:
        self.calls.append(RehearsedCall(Role.JUDGE, self.name, request.scope.participant, request, _ANSWER))
        return Reply(_ANSWER, Usage(calls=1))

    async def close(self) -> None:
        pass


async def list_calls(planned: Sequence[PlannedKind], seat: Seat) -> list[RehearsedCall]:
    """The calls that a judge would get, without any being made."""
    listening = _Listening(seat)
    for each in planned:
        for ask in each.asks:
            await each.kind.judge(ask.known, replace(seat, model=listening), ask.name)
    return listening.calls


async def _settle_in(seat: Seat, planned: PlannedKind) -> Seat:
    """A reference judge with a taste, who knows what is ordinary; anybody else as they are."""
    count = TASTES.get(seat.agent.partition("@")[0])
    if count is None or planned.kind.has_sides:
        return seat
    plain = [ask for ask in planned.asks if ask.part is Part.KNOWN]
    calls = await list_calls([replace(planned, asks=plain)], seat)
    liking = sorted(count("\n".join(message["content"] for message in call.request.messages)) for call in calls)
    return replace(seat, ordinary=liking[int(ORDINARY * (len(liking) - 1))]) if liking else seat
