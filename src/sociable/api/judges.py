"""Judges under test: audited, and the cards that come of it.

>>> import sociable
>>> (card,) = sociable.audit_judges("hsii", ["openai-compatible/qwen2.5-7b@http://127.0.0.1:8000/v1"])
>>> card.kinds[0].find("right")
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any, TypedDict

from pydantic import ValidationError
from typing_extensions import Unpack

from sociable.api.reports import write_document
from sociable.api.results import load_result
from sociable.api.runs import make_settings
from sociable.core.errors import InputError, RunFolderError
from sociable.core.run_folder import AUDIT_FILE, RecordFile, hold_lock, make_folder, write_atomically
from sociable.core.view import Document
from sociable.engine.event_loop import run_to_end, stop_on_interrupt
from sociable.engine.judge_asking import Failures, ask_judges, list_calls
from sociable.engine.judge_audit import (
    AuditRecord,
    AuditSettings,
    OpenAudit,
    find_judge_prices,
    make_cards,
    open_audit,
)
from sociable.engine.judge_people import make_people_kinds
from sociable.engine.opening import Watch, describe_packages, make_paths_absolute
from sociable.engine.phases import Progress
from sociable.engine.seats import Role
from sociable.engine.settings import RoleSettings, change_settings, make_folder_name, read_roles_and_prices, strip_endpoint
from sociable.engine.status import StatusKeeper
from sociable.judging.auditing.card import CARD_FILE, AuditAnswer, JudgeCard, load_card
from sociable.judging.auditing.labelled_sets import read_labelled_set
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget, Price
from sociable.people.judged_again import OwnFamily, list_checked_items, list_own_family
from sociable.reports.comparison import find_differences
from sociable.reports.estimates import make_usage_table, sum_calls
from sociable.reports.judge_cards import make_cards_document


class AuditOptions(TypedDict, total=False):
    """The arguments of an audit beside benchmark and judges: its own, and those that it shares with runs (``RunSettings``)."""

    kinds: Sequence[str]
    """The kinds of judging; by default all that the benchmark has."""
    languages: Sequence[str]
    """Other languages in which it is asked as well."""
    known: int
    """Known answers of each kind, at the most."""
    people: Sequence[str | Path]
    """Files or folders of texts that people have judged, in one of the layouts of ``judging.auditing.labelled_sets``."""
    corrections: Sequence[str | Path]
    """Run folders whose sheets people have filled in."""
    same_family: str | Path | None
    """The folder of a run that others have judged, of a model of the judges' own family."""
    other_family: str | Path | None
    """The same of another family's model."""
    dataset: str | Path | None
    skip_invalid: bool
    seed: int
    max_connections: int | None
    max_cost: float | None
    base_url: str | None
    prompts: str | Path | None
    roles: dict[str, RoleSettings]
    prices: dict[str, Price]
    options: dict[str, object]


_OWN = ("kinds", "languages", "known", "people", "corrections", "same_family", "other_family")


def audit_judges(
    benchmark: str,
    judges: Sequence[str],
    *,
    out: str | Path | None = None,
    config: str | Path | None = None,
    watch: Watch | None = None,
    **asked: Unpack[AuditOptions],
) -> list[JudgeCard]:
    """Audits judges of a benchmark, and returns a card for each.

    They are asked with the benchmark's own prompts about texts of each kind of judging whose right verdict is known, and about
    some of them again: said otherwise, with orders to the judge, in other ``languages``; about what people have judged
    (``people``, ``corrections``); and about two runs, whether they are kinder to their own family.

    The folder (``out``, or a new one under ``runs``) holds everything else; where it holds the same audit already, it goes on.
    Raises InputError before anything is spent, and RunStopped when the audit ended early and can be resumed.
    """
    settings = make_audit_settings(benchmark, judges, config, **asked)
    return run_audit(settings, Path(out) if out else name_audit_folder(benchmark), watch=watch)


def make_audit_settings(
    benchmark: str, judges: Sequence[str], config: str | Path | None = None, **asked: Unpack[AuditOptions]
) -> AuditSettings:
    """The settings of an audit. Raises InputError."""
    given: dict[str, Any] = dict(asked)
    own = {name: given.pop(name) for name in _OWN if given.get(name) is not None}
    if own.get("known", 1) < 1:
        raise InputError("--known takes a number of at least 1.")
    families = [own.pop(name, None) for name in ("same_family", "other_family")]
    if families.count(None) == 1:
        raise InputError("--same-family and --other-family go together: two runs on the same cases, judged by the same others.")
    for name in ("people", "corrections"):
        own[name] = tuple(str(Path(each).resolve()) for each in own.get(name, ()))
    run = make_settings(benchmark, config, model="nobody", judges=tuple(judges), **given)
    family = tuple(str(Path(each).resolve()) for each in families if each)
    return AuditSettings.model_validate({**own, "run": make_paths_absolute(run), "family": family})


def _open(settings: AuditSettings, *, build: bool = True) -> OpenAudit:
    """The audit with all that people have judged."""
    sets = [kind for path in settings.people for kind in make_people_kinds(read_labelled_set(Path(path)))]
    checked = [kind for path in settings.corrections for kind in list_checked_items(load_result(path, scored=False))]
    return open_audit(settings, [*sets, *checked, *_list_own_family(settings)], build=build)


def _list_own_family(settings: AuditSettings) -> list[OwnFamily]:
    if not settings.family:
        return []
    own, other = (load_result(path, scored=False) for path in settings.family)
    if different := find_differences(own, other):
        raise InputError(f"{own.folder} and {other.folder} are not comparable: {'; '.join(different)}.")
    return list_own_family(own, other, list(map(strip_endpoint, settings.run.judges)))


def name_audit_folder(benchmark: str) -> Path:
    """``runs/audit-judge-<benchmark>-<time>``, which does not exist yet."""
    return Path("runs") / f"audit-judge-{benchmark}-{datetime.now().strftime('%Y%m%d-%H%M%S')}"


def is_judge_audit(folder: str | Path) -> bool:
    """Whether a folder holds an audit of judges."""
    return (Path(folder) / AUDIT_FILE).is_file()


def estimate_audit(settings: AuditSettings) -> Document:
    """The calls, tokens and price of an audit. Spends nothing."""
    opened = _open(settings, build=False)
    calls = [call for seat in opened.judges if seat.model for call in run_to_end(list_calls(opened.planned, seat))]
    asks = sum(len(each.asks) for each in opened.planned)
    note = "Tokens are estimated from characters, as if every reply gave its reason in two sentences."
    return Document(
        title=f"Estimate for an audit of judges of {opened.benchmark.name}",
        subtitle=f"{asks} questions: {', '.join(f'{len(each.asks)} on {each.kind.name}' for each in opened.planned)}",
        summary=make_usage_table("Calls and tokens", sum_calls(calls), opened.prices, note),
        sections=[],
    )


def run_audit(settings: AuditSettings, folder: Path, *, watch: Watch | None = None) -> list[JudgeCard]:
    """Begins an audit in ``folder``, or goes on with the same one there. Raises InputError where it is another."""
    opened = _open(settings)
    if (folder / "manifest.json").exists():
        raise InputError(f"{folder} holds a run. Choose another --out for an audit.")
    make_folder(folder)
    with hold_lock(folder):
        if is_judge_audit(folder):
            _check_same(read_audit(folder), opened, folder)
        else:
            record = AuditRecord(
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                version=opened.benchmark.version,
                packages=describe_packages(),
                digests=dict(opened.digests),
                settings=settings,
            )
            write_atomically(folder / AUDIT_FILE, record.model_dump_json(indent=1) + "\n")
        return _go_on(opened, folder, watch)


def resume_audit(
    folder: str | Path, *, config: str | Path | None = None, max_cost: float | None = None, watch: Watch | None = None
) -> list[JudgeCard]:
    """Goes on with an audit. ``config`` is a TOML file with roles and prices that change."""
    path = Path(folder)
    with hold_lock(path):
        record = read_audit(path)
        before = record.settings.run
        changed = change_settings(before, max_cost=max_cost, **read_roles_and_prices(before, config))
        settings = record.settings.model_copy(update={"run": changed})
        opened = _open(settings)
        _check_same(record, opened, path)
        write_atomically(path / AUDIT_FILE, record.model_copy(update={"settings": settings}).model_dump_json(indent=1) + "\n")
        return _go_on(opened, path, watch)


def read_audit(folder: Path) -> AuditRecord:
    """``audit.json``. Raises RunFolderError where it cannot be read."""
    try:
        return AuditRecord.model_validate_json((folder / AUDIT_FILE).read_bytes())
    except (OSError, ValidationError) as error:
        problem = str(error).splitlines()[0]
        raise RunFolderError(f"{folder / AUDIT_FILE} cannot be read ({problem}). Start a new audit.") from None


_MAY_CHANGE = {"max_cost", "max_connections", "prices", "roles", "base_url"}
"""Settings that may be others when an audit goes on: none on which an answer depends."""


def _check_same(record: AuditRecord, opened: OpenAudit, folder: Path) -> None:
    """Raises InputError where the folder's audit is of other judges, data, prompts or questions."""
    before, now = record.settings, opened.settings
    for name in ("kinds", "languages", "known", "people", "corrections", "family"):
        if getattr(before, name) != getattr(now, name):
            raise InputError(f"{folder} holds an audit with other {name}. Choose another --out.")
    one, other = before.run.model_dump(), now.run.model_dump()
    if different := [name for name in one if name not in _MAY_CHANGE and one[name] != other[name]]:
        raise InputError(f"{folder} holds an audit with other settings ({', '.join(different)}). Choose another --out.")
    for name in now.run.judges:
        one_sampling, other_sampling = (run.find_role_settings(Role.JUDGE, name).sampling for run in (before.run, now.run))
        if one_sampling != other_sampling:
            raise InputError(f"{folder} holds an audit of {name} with another sampling. Choose another --out.")
    if record.version != opened.benchmark.version or dict(record.digests) != dict(opened.digests):
        raise RunFolderError(f"{folder} was begun with other data, prompts or questions. Start a new audit.")


def _go_on(opened: OpenAudit, folder: Path, watch: Watch | None) -> list[JudgeCard]:
    budget = Budget(dict(opened.prices), opened.settings.run.max_cost)
    file = RecordFile(folder / "answers.jsonl", AuditAnswer)
    try:
        with Journal(folder / "calls.sqlite") as journal:
            for model, role, usage in journal.sum_usage():
                budget.book(model, role, usage)
            failures = run_to_end(_ask(opened, folder, journal, budget, file, watch))
        cards = make_cards(opened, read_audit(folder), file, failures)
    finally:
        file.close()
    names: list[str] = []
    for card in cards:
        names.append(_name_unlike(_name_card(card.judge, len(cards)), names))
        write_atomically(folder / names[-1], card.model_dump_json(indent=1) + "\n")
    write_document(make_cards_document(cards), folder / "report.html")
    return cards


async def _ask(
    opened: OpenAudit, folder: Path, journal: Journal, budget: Budget, file: RecordFile[AuditAnswer], watch: Watch | None
) -> Failures:
    seats = [replace(seat, model=JournalledModel(seat.model, journal, budget)) if seat.model else seat for seat in opened.judges]

    progress: list[Progress] = []

    def report(counts: Progress) -> None:
        progress[:] = [counts]
        if watch:
            watch(counts, budget)

    def change_limit(max_cost: float) -> None:
        record = read_audit(folder)
        run = change_settings(record.settings.run, max_cost=max_cost)
        find_judge_prices(run, opened.judges)  # a limit is of no use where a price is missing
        settings = record.settings.model_copy(update={"run": run})
        write_atomically(folder / AUDIT_FILE, record.model_copy(update={"settings": settings}).model_dump_json(indent=1) + "\n")
        budget.change_limit(max_cost)

    try:
        with StatusKeeper(folder, budget, lambda: next(iter(progress), None), change_limit), stop_on_interrupt(budget):
            return await ask_judges(opened.planned, seats, file, budget, report, at_once=opened.settings.run.at_once)
    finally:
        for seat in seats:
            if seat.model:
                await seat.model.close()


def _name_card(judge: str, several: int) -> str:
    return CARD_FILE if several == 1 else CARD_FILE.replace(".json", f"-{make_folder_name(judge)}.json")


def _name_unlike(name: str, taken: Collection[str]) -> str:
    """``name``, or with a number where it is taken: names of models that differ in punctuation only make one name."""
    stem, _, ending = name.rpartition(".")
    return next(each for each in chain([name], (f"{stem}-{number}.{ending}" for number in count(2))) if each not in taken)


def load_cards(folder: str | Path) -> list[JudgeCard]:
    """The cards of an audit. Raises RunFolderError where it is not finished."""
    files = sorted(Path(folder).glob("judge-card*.json"))
    if not files:
        raise RunFolderError(f"{folder} has no card yet. Finish the audit with: sociable resume {folder}")
    # In the order in which the judges were named.
    judges = list(map(strip_endpoint, read_audit(Path(folder)).settings.run.judges))
    return sorted(map(load_card, files), key=lambda card: judges.index(card.judge) if card.judge in judges else len(judges))


def report_cards(folder: str | Path, out: str | Path | None = None) -> Document:
    """Writes the page on the judges that an audit was of, by default into its folder, from their cards."""
    return write_document(make_cards_document(load_cards(folder)), out or Path(folder) / "report.html")
