"""Audits the small language model as a judge, on every kind of judging: see docs/benchmarks/small_judge.md.

    python docs/recordings/audit.py [--pack-only] [BENCHMARK …]

The audits are made in ``runs/recordings``, or gone on with; their cards are kept in ``audits``, and the tables of all in
``audits/summary.md``. It takes hours, best on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from record import render_markdown

import sociable
from sociable.judging.auditing.card import JudgeCard, load_card
from sociable.reports.judge_cards import make_cards_table, make_findings_table

HERE = Path(__file__).parent
CARDS = HERE / "audits"
RUNS = Path("runs/recordings")
JUDGE = "local/smollm2"
KNOWN = {"anteval-iep": 40, "stss-conversations": 40, "agentsense": 20, "hsii": 10}
"""Known answers of each kind: the longer the prompts, the fewer."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help="those to audit it on; by default all")
    parser.add_argument("--pack-only", action="store_true", help="ask nothing, keep what was found")
    asked = parser.parse_args()
    CARDS.mkdir(exist_ok=True)
    for benchmark in asked.benchmarks or KNOWN:
        folder = RUNS / f"audit-{benchmark}"
        if not asked.pack_only:
            sociable.audit_judges(benchmark, [JUDGE], known=KNOWN[benchmark], config=CARDS / "judge.toml", out=folder)
        shutil.copyfile(folder / "judge-card.json", CARDS / f"{benchmark}.json")
    summary = summarize(list_cards())
    (CARDS / "summary.md").write_text(summary, encoding="utf-8")
    print(summary)


def list_cards() -> list[JudgeCard]:
    return [load_card(CARDS / f"{benchmark}.json") for benchmark in KNOWN if (CARDS / f"{benchmark}.json").exists()]


def summarize(cards: Sequence[JudgeCard]) -> str:
    """The tables of the cards in Markdown: what the judge is worth, and all that was tested of each kind."""
    parts = []
    for card in cards:
        parts.append(f"**{card.benchmark}**, {card.usage.calls:,} calls")
        parts.append(render_markdown(make_cards_table([card])))
        for kind in card.kinds:
            if kind.findings:
                parts.append(
                    f"*{kind.kind.capitalize()}*: {kind.asked} things asked, {kind.unread} answers that could not be read."
                )
                parts.append(render_markdown(make_findings_table(kind.findings)))
            else:
                parts.append(f"*{kind.kind.capitalize()}*: of {kind.asked} things asked no answer could be read.")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
