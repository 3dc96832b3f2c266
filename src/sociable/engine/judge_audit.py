"""An audit of judges: its settings, what is opened for it, and the cards that come of it.

    runs/<name>/  audit.json  calls.sqlite  answers.jsonl  judge-card.json  report.html

``audit.json`` says what was asked of whom. Whatever was answered is kept; the same audit goes on where it ended.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Literal

import dotenv
from pydantic import Field

from sociable.core.errors import InputError
from sociable.core.form import PERSON
from sociable.core.records import Record, Usage
from sociable.core.run_folder import RecordFile
from sociable.engine.benchmark import Benchmark
from sociable.engine.judge_asking import Failures, PlannedKind, plan_kinds
from sociable.engine.judge_people import FamilyKind, PeopleKind, make_people_card
from sociable.engine.opening import make_study_options
from sociable.engine.registry import build_seat, find_benchmark, list_benchmark_names
from sociable.engine.seats import AbsentModel, Role, Seat
from sociable.engine.settings import RunSettings, strip_endpoint
from sociable.engine.study import JudgeAudited
from sociable.judging.auditing.alterations import LANGUAGES
from sociable.judging.auditing.card import AuditAnswer, JudgeCard
from sociable.judging.auditing.findings import adjust, make_kind_card
from sociable.judging.auditing.plan import USUAL_KNOWN, Ask, plan_family, plan_known
from sociable.models.limits import Price, find_price


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
    return OpenAudit(settings, benchmark, planned, judges, digests, find_judge_prices(run, judges))


def _plan_others(kind: PeopleKind | FamilyKind, limit: int, seed: int) -> list[Ask]:
    if isinstance(kind, FamilyKind):
        return plan_family(kind.list_both(), limit, seed)
    return plan_known(list(kind.list_known()), limit, seed)


def _seat(name: str, run: RunSettings, benchmark: Benchmark, *, build: bool) -> Seat:
    if name == PERSON:
        raise InputError("An audit is for models and rules: people's verdicts on its texts would take days. Leave human out.")
    if build or name.startswith("reference/"):
        return build_seat(Role.JUDGE, name, run, benchmark)
    plain = strip_endpoint(name)
    return Seat(Role.JUDGE, plain, AbsentModel(plain), run.find_role_settings(Role.JUDGE, name).sampling)


def find_judge_prices(run: RunSettings, judges: Sequence[Seat]) -> dict[str, Price]:
    """The prices of judges that have one. Raises InputError where there is a cost limit and one has none."""
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
