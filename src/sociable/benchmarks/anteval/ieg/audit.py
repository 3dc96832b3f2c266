"""What there is in the real sessions, and what can be known of them without understanding. ``sociable audit anteval-ieg``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sociable.benchmarks.anteval.ieg.experiment import last_speaker, most_frequent_skill
from sociable.benchmarks.anteval.ieg.fscore import FScores, f_scores
from sociable.benchmarks.anteval.ieg.masters.interface import Master
from sociable.benchmarks.anteval.ieg.real import RealSessions
from sociable.benchmarks.anteval.ieg.windows import Window, windows_of
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, figure


def audit_document(real: RealSessions, width: int, untuned: Master, notes: Sequence[str]) -> Document:
    """What rules and an ``untuned`` virtual DM find in windows of so many turns."""
    windows = windows_of(real.logs, width)
    labels = [window.checks for window in windows]
    skill = most_frequent_skill(windows)
    shortcuts = {
        f"last speaker, {skill}": f_scores(last_speaker(windows, skill), labels),
        f"everybody who spoke, {skill}": f_scores(
            [frozenset((player, skill) for player in window.players) for window in windows], labels
        ),
        "untuned virtual DM": f_scores(untuned.predict(windows), labels),
    }
    return Document(
        title="Audit of anteval-ieg",
        subtitle=f"{len(real.logs)} real sessions ({real.source}), {len(windows)} calls for checks",
        summary=_shortcuts(shortcuts),
        sections=[
            Section("Verdict", [Callout(note, Tone.NEUTRAL) for note in notes]),
            Section("Calls", [_calls(real), _skills(windows)]),
        ],
    )


def _shortcuts(found: dict[str, FScores]) -> Table:
    rows = [Row([name, figure(each.character, 2), figure(each.tuple, 2)]) for name, each in found.items()]
    note = "What is known of the real sessions without having learned from any: an F-score of a tuned DM says what it adds."
    return Table("F-scores on all real windows", [Column(""), Column("Character", True), Column("Overall", True)], rows, note)


def _calls(real: RealSessions) -> Table:
    rows = [Row([what, str(count)]) for what, count in sorted(real.counts.items(), key=lambda pair: -pair[1])]
    return Table("Calls for checks that were found", [Column("What became of them"), Column("Calls", True)], rows)


def _skills(windows: Sequence[Window]) -> Table:
    skills = Counter(skill for window in windows for _, skill in window.checks)
    sizes = Counter(len({who for who, _ in window.checks}) for window in windows)
    rows = [Row([skill, str(count)]) for skill, count in skills.most_common()]
    note = "Players a call is for: " + ", ".join(f"{size} in {count}" for size, count in sorted(sizes.items())) + "."
    return Table("Skills called for, which intentions are drawn from", [Column("Skill"), Column("Checks", True)], rows, note)
