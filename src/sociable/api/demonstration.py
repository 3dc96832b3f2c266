"""A demonstration without a key: the reference agents of a benchmark, and a small language model on a few cases."""

from __future__ import annotations

from pathlib import Path

from sociable.api.folders import name_new_folder
from sociable.api.judges import audit_judges
from sociable.api.reports import make_report_document, write_document
from sociable.api.runs import run
from sociable.core.errors import InputError
from sociable.core.view import Document
from sociable.engine.opening import Watch
from sociable.engine.registry import build_model, find_benchmark
from sociable.engine.settings import RoleSettings
from sociable.reports.judge_cards import make_cards_document

SMALL_MODEL = "local/smollm2"
ERRING_JUDGE = "reference/rule@0.2"


def demo(out: str | Path | None = None, benchmark: str = "hsii", *, watch: Watch | None = None) -> tuple[Document, Path]:
    """Runs every reference agent of a benchmark, offline. Returns the report and the path of its file."""
    found = find_benchmark(benchmark)
    if not found.demo_agents:
        raise InputError(f"{benchmark} has no reference agents that could be shown.")
    folder = Path(out) if out else name_new_folder("demo", benchmark)
    results = [run(benchmark, f"reference/{agent}", out=folder / agent, watch=watch, **found.demo) for agent in found.demo_agents]
    return write_document(make_report_document(results), folder / "report.html"), folder / "report.html"


def demo_audit(benchmark: str, out: str | Path, *, watch: Watch | None = None) -> tuple[Document, Document, Path]:
    """Audits a rule that errs in a fifth of all cases, and has it judge a run.

    Returns its card, the report of the run, in which the card's figures stand beside what it judged, and the report's path.
    """
    found, folder = find_benchmark(benchmark), Path(out)
    cards = audit_judges(benchmark, [ERRING_JUDGE], out=folder / "audit", watch=watch)
    settings = {**found.demo, "judges": (ERRING_JUDGE,)}
    result = run(benchmark, f"reference/{found.demo_agents[0]}", out=folder / "judged", watch=watch, **settings)
    return (
        make_cards_document(cards),
        write_document(make_report_document(result), folder / "report.html"),
        folder / "report.html",
    )


def load_small_model() -> None:
    """Makes ready the small model that comes along. Raises InputError where its library or its weights cannot be had."""
    build_model(SMALL_MODEL, RoleSettings())


def demo_small_model(benchmark: str, out: str | Path, *, watch: Watch | None = None) -> tuple[Document, Path]:
    """Runs the small language model on a few cases, beside the reference agents on the same. Returns the same as above."""
    found, folder = find_benchmark(benchmark), Path(out)
    agents = [f"reference/{agent}" for agent in found.demo_agents]
    results = [
        run(benchmark, model, out=folder / model.rpartition("/")[2], watch=watch, **found.demo_cases)
        for model in (*agents, SMALL_MODEL)
    ]
    return write_document(make_report_document(results), folder / "report.html"), folder / "report.html"
