"""Runs benchmarks on the small language model, and writes down what the page on it shows: see docs/benchmarks/small_model.md.

    python docs/recordings/record.py [--pack-only] [BENCHMARK …]

Each folder here has the settings of one run. The run is made in ``runs/recordings``, or gone on with; what a replay needs of
it is packed into ``recording.tar.xz``, and its tables are written into ``summary.md``. Best on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import sqlite3
import tarfile
import tempfile
from pathlib import Path

import sociable
from sociable.api.reports import make_report_document
from sociable.api.results import load_result
from sociable.core.view import Table
from sociable.models.journal import Journal

HERE = Path(__file__).parent
RUNS = Path("runs/recordings")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help="those to run; by default all")
    parser.add_argument("--pack-only", action="store_true", help="run nothing, pack what was run")
    asked = parser.parse_args()
    for benchmark in asked.benchmarks or list_recordings():
        folder = RUNS / benchmark
        if not asked.pack_only:
            if (folder / "manifest.json").exists():
                sociable.resume(folder)
            else:
                sociable.run(benchmark, config=HERE / benchmark / "settings.toml", out=folder)
        pack(folder, HERE / benchmark / "recording.tar.xz")
        summary = summarize(folder)
        (HERE / benchmark / "summary.md").write_text(summary, encoding="utf-8")
        print(f"{benchmark}\n{summary}", flush=True)


def list_recordings() -> list[str]:
    return sorted(path.parent.name for path in HERE.glob("*/settings.toml"))


def pack(folder: Path, target: Path) -> None:
    """Packs the manifest and the journal, which are all that a replay needs, under the name of the benchmark."""
    with tempfile.TemporaryDirectory() as place, tarfile.open(target, "w:xz") as archive:
        journal = Path(place) / "calls.sqlite"
        with sqlite3.connect(folder / "calls.sqlite") as database:
            # One file without a write-ahead log beside it.
            database.execute("VACUUM INTO ?", (str(journal),))
        for file in (folder / "manifest.json", journal):
            archive.add(file, f"{target.parent.name}/{file.name}", filter=forget_owner)


def forget_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """The same run gives the same archive, whoever packs it and when."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def summarize(folder: Path) -> str:
    """The main table of a run and that of its costs, in Markdown, with the warnings that its report has."""
    result = load_result(folder)
    document = make_report_document([result])
    costs = next(section for section in document.sections if section.title == "Cost").blocks[0]
    parts = [document.subtitle]
    for table in (document.summary, costs):
        assert isinstance(table, Table)
        parts.append(render_markdown(table))
    with Journal(folder / "calls.sqlite", replay_only=True) as journal:
        seconds = sum(took for _, _, took in journal.sum_seconds())
    parts.append(f"The calls took {seconds:.0f} s in all.")
    if result.notes:
        parts.append("\n".join(f"- {note}" for note in result.notes))
    return "\n\n".join(parts) + "\n"


def render_markdown(table: Table) -> str:
    rows = [[column.title for column in table.columns], ["--:" if column.numeric else "---" for column in table.columns]]
    rows += [list(map(str, row.cells)) for row in table.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows)


if __name__ == "__main__":
    main()
