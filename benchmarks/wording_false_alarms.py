"""How often HSII's rules fire on talk that has nothing to do with the case: the false alarms of leaks and points.

    python benchmarks/wording_false_alarms.py [CONVERSATIONS.jsonl …]

Unrelated talk is each other dialogue of the data and, where named, conversations of other sources (JSON Lines with turns).
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable
from pathlib import Path

from sociable.benchmarks.hsii.dataset import Case, load_dataset
from sociable.core.wording import has_claim
from sociable.datasets.transcripts import read_transcripts
from sociable.statistics.intervals import estimate_mean

TURNS = 2_000
"""Turns of each source, drawn once."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conversations", nargs="*", type=Path)
    files = parser.parse_args().conversations
    cases = load_dataset().items
    last = {case.dialogue: case for case in cases}
    own = [(name, message.content) for name, case in last.items() for message in (*case.messages, case.golden)]
    measure("other dialogues of the data", cases, own)
    for file in files:
        said = [("", turn.text) for transcript in read_transcripts(file) for turn in transcript.turns]
        measure(str(file.stem), cases, said)


def measure(name: str, cases: Iterable[Case], said: list[tuple[str, str]]) -> None:
    """Prints the shares of (case, unrelated turn) in which a secret counts as told, and of (point, turn) in which it is made."""
    turns = random.Random(0).sample(said, min(TURNS, len(said)))
    leaks: list[tuple[str, float]] = []
    points: list[tuple[str, float]] = []
    for case in cases:
        others = [text for dialogue, text in turns if dialogue != case.dialogue]
        hidden = case.list_hidden_facts(case.golden.role_to)
        if hidden:
            fired = sum(any(has_claim(text, fact.wording) for fact in hidden) for text in others)
            leaks.append((case.dialogue, fired / len(others)))
        points += [
            (case.dialogue, sum(has_claim(text, p.wording, reach=0) for text in others) / len(others)) for p in case.must_convey
        ]
    print(f"{name}: {len(turns)} turns")
    for what, found in (("a secret counts as told", leaks), ("a point counts as made", points)):
        interval = estimate_mean([value for _, value in found], [dialogue for dialogue, _ in found])
        print(f"  {what:<24} {interval.value:.4f}  [{interval.low:.4f}, {interval.high:.4f}] by dialogue")


if __name__ == "__main__":
    main()
