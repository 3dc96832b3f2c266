"""An audit of judges: what is asked, through the journal and within the budget, and what is written down.

    runs/<name>/  audit.json  calls.sqlite  answers.jsonl  judge-card.json  report.html

``audit.json`` says what was asked of whom. Whatever was answered is kept; the same audit goes on where it ended.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Literal

import dotenv
from pydantic import Field

from sociable.core.errors import InputError
from sociable.core.records import Judgment, Record, Usage
from sociable.core.run_folder import RecordFile
from sociable.engine.benchmark import Benchmark
from sociable.engine.event_loop import run_to_end
from sociable.engine.judge_people import FamilyKind, PeopleKind, make_people_card
from sociable.engine.opening import make_study_options
from sociable.engine.phases import Progress, run_phase
from sociable.engine.registry import build_seat, find_benchmark, list_benchmark_names
from sociable.engine.rehearsal import RehearsedCall
from sociable.engine.seats import AbsentModel, Role, Seat
from sociable.engine.settings import RunSettings, strip_endpoint
from sociable.engine.study import JudgeAudited, JudgingKind
from sociable.judging.auditing.alterations import LANGUAGES
from sociable.judging.auditing.card import AuditAnswer, JudgeCard
from sociable.judging.auditing.findings import adjust, make_kind_card, make_preference
from sociable.judging.auditing.plan import USUAL_KNOWN, Ask, Part, plan_audit, plan_family, plan_known
from sociable.judging.pairwise import OrderVerdict
from sociable.judging.reference import TASTES
from sociable.models.limits import Budget, Price, find_price
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


class AuditSettings(Record):
    """What an audit asks of whom, as ``audit.json`` keeps it."""

    run: RunSettings
    """The judges, their roles and prices, the data, the prompts: as of a run, in which nobody plays."""
    kinds: tuple[str, ...] = ()
    """The kinds of judging; empty: all that the benchmark has."""
    languages: tuple[str, ...] = ()
    known: int = Field(default=USUAL_KNOWN, ge=1)
    """Known answers of each kind, and items of each set that people have judged, at the most."""
    people: tuple[str, ...] = ()
    """Files or folders of texts that people have judged."""
    corrections: tuple[str, ...] = ()
    """Run folders with verdicts of people."""
    family: tuple[str, ...] = ()
    """Two run folders that other judges have judged: of a model of the judge's own family, and of another."""


class AuditRecord(Record):
    """``audit.json``."""

    format: Literal[1] = 1
    created: str
    version: str
    """The benchmark's."""
    packages: dict[str, str]
    digests: dict[str, str]
    settings: AuditSettings


@dataclass(frozen=True)
class OpenAudit:
    """An audit with everything built and checked that can be without spending anything."""

    settings: AuditSettings
    benchmark: Benchmark
    planned: Sequence[PlannedKind]
    judges: Sequence[Seat]
    digests: Mapping[str, str]
    prices: Mapping[str, Price]


def open_audit(
    settings: AuditSettings, judged_by_others: Sequence[PeopleKind | FamilyKind] = (), *, build: bool = True
) -> OpenAudit:
    """Benchmark, kinds and judges of the settings. Raises InputError and DataError before anything is spent.

    ``judged_by_others`` is asked about as well. Without ``build`` no model is built, and none needs a key.
    """
    run = settings.run
    benchmark = find_benchmark(run.benchmark)
    if not run.judges:
        raise InputError("Name at least one judge with --judge MODEL.")
    if len(set(map(strip_endpoint, run.judges))) < len(run.judges):
        raise InputError("A judge is named twice. Judges must differ in their names, not only in their endpoints.")
    study = benchmark.open(**{**make_study_options(run), "filled": frozenset(Role)})
    if not isinstance(study, JudgeAudited):
        others = [name for name in list_benchmark_names() if issubclass(find_benchmark(name).load_study_type(), JudgeAudited)]
        have = f"these have: {', '.join(others)}"
        raise InputError(f"{benchmark.name} has no known answers by which a judge could be audited; {have}.")
    kinds = {kind.name: kind for kind in study.list_judging_kinds()}
    if unknown := [name for name in settings.kinds if name not in kinds]:
        raise InputError(f"{benchmark.name} has no kind of judging '{unknown[0]}'; it has: {', '.join(kinds)}.")
    wanted = [kind for name, kind in kinds.items() if name in (settings.kinds or kinds)]
    planned = plan_kinds(wanted, languages=settings.languages, limit=settings.known, seed=run.seed)
    for language in settings.languages:
        if not any(ask.way == language for each in planned for ask in each.asks):
            raise InputError(f"Nothing is written in '{language}'; there are: {', '.join(LANGUAGES)}.")
    names = [kind.name for kind in judged_by_others]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"Two of the sets or runs are called '{twice}'. Rename the file or the folder of one.")
    planned += [PlannedKind(kind, _plan_others(kind, settings.known, run.seed)) for kind in judged_by_others]
    if build:
        dotenv.load_dotenv(dotenv.find_dotenv(usecwd=True))
    judges = [_seat(name, run, benchmark, build=build) for name in run.judges]
    known = blake2b("\n".join(ask.known.model_dump_json() for each in planned for ask in each.asks).encode(), digest_size=16)
    digests = {**study.digests, "known answers": known.hexdigest()}
    return OpenAudit(settings, benchmark, planned, judges, digests, _find_prices(run, judges))


def _plan_others(kind: PeopleKind | FamilyKind, limit: int, seed: int) -> list[Ask]:
    if isinstance(kind, FamilyKind):
        return plan_family(kind.list_both(), limit, seed)
    return plan_known(list(kind.list_known()), limit, seed)


def _seat(name: str, run: RunSettings, benchmark: Benchmark, *, build: bool) -> Seat:
    if build or name.startswith("reference/"):
        return build_seat(Role.JUDGE, name, run, benchmark)
    plain = strip_endpoint(name)
    return Seat(Role.JUDGE, plain, AbsentModel(plain), run.find_role_settings(Role.JUDGE, name).sampling)


def _find_prices(run: RunSettings, judges: Sequence[Seat]) -> dict[str, Price]:
    found = {seat.name: find_price(seat.name, run.prices) for seat in judges}
    if run.max_cost is not None and (unknown := [name for name, price in found.items() if price is None]):
        raise InputError(f"--max-cost needs the price of '{unknown[0]}': write it into the [prices] table of a --config file.")
    return {name: price for name, price in found.items() if price is not None}


def make_cards(opened: OpenAudit, record: AuditRecord, file: RecordFile[AuditAnswer], failures: Failures) -> list[JudgeCard]:
    """The card of every judge, from its answers."""
    by_judge: dict[str, dict[str, dict[str, AuditAnswer]]] = defaultdict(lambda: defaultdict(dict))
    for answer in file:
        by_judge[answer.judge][answer.kind][answer.name] = answer
    cards = []
    for seat in opened.judges:
        own = by_judge[seat.name]
        kinds = [
            make_kind_card(
                each.kind.name,
                each.kind.metrics,
                each.asks,
                own[each.kind.name],
                failures.get((seat.name, each.kind.name), Counter()),
            )
            for each in opened.planned
            if not isinstance(each.kind, PeopleKind)
        ]
        people = [
            make_people_card(each.kind, each.asks, own[each.kind.name], failures.get((seat.name, each.kind.name), Counter()))
            for each in opened.planned
            if isinstance(each.kind, PeopleKind)
        ]
        usage = sum((answer.usage for given in own.values() for answer in given.values()), Usage())
        price = opened.prices.get(seat.name)
        cards.append(
            JudgeCard(
                judge=seat.name,
                benchmark=opened.benchmark.name,
                version=record.version,
                created=record.created,
                packages=record.packages,
                digests=record.digests,
                sampling=asdict(seat.sampling) if seat.model else None,
                seed=record.settings.run.seed,
                known=record.settings.known,
                kinds=adjust(kinds),
                people=tuple(people),
                usage=usage,
                cost=price.compute_cost(usage) if price else None,
            )
        )
    return cards
