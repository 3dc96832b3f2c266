"""The audit of the real sessions: what is in them, and what a rule can know of them. ``sociable audit anteval-ieg``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sociable.benchmarks.anteval.ieg.experiment import find_most_frequent_skill, predict_last_speaker
from sociable.benchmarks.anteval.ieg.fscore import measure_f_scores
from sociable.benchmarks.anteval.ieg.masters.interface import Master
from sociable.benchmarks.anteval.ieg.real import RealSessions
from sociable.benchmarks.anteval.ieg.windows import count_skills, cut_windows
from sociable.benchmarks.anteval.views import make_counts_table
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, format_figure


def audit_real_sessions(real: RealSessions, width: int, untuned: Master, notes: Sequence[str]) -> Document:
    """Returns the document on what rules and an ``untuned`` virtual DM find in windows of so many turns."""
    windows = cut_windows(real.logs, width)
    skill = find_most_frequent_skill(windows)
    predicted = {
        f"last speaker, {skill}": predict_last_speaker(windows, skill),
        f"everybody who spoke, {skill}": [frozenset((player, skill) for player in window.players) for window in windows],
        "untuned virtual DM": untuned.predict(windows),
    }
    scores = {name: measure_f_scores(found, [window.checks for window in windows]) for name, found in predicted.items()}
    note = "What is known of the real sessions without having learned from any: an F-score of a tuned DM says what it adds."
    columns = [Column(""), Column("Character", True), Column("Overall", True)]
    rows = [Row([name, format_figure(each.character, 2), format_figure(each.tuple, 2)]) for name, each in scores.items()]
    calls = dict(Counter(real.counts).most_common())
    skills = dict(count_skills(windows).most_common())
    sizes = Counter(len({who for who, _ in window.checks}) for window in windows)
    sizes_note = "Players a call is for: " + ", ".join(f"{size} in {count}" for size, count in sorted(sizes.items())) + "."
    tables = [
        make_counts_table("Calls for checks that were found", "What became of them", "Calls", calls),
        make_counts_table("Skills called for, which intentions are drawn from", "Skill", "Checks", skills, sizes_note),
    ]
    return Document(
        title="Audit of anteval-ieg",
        subtitle=f"{len(real.logs)} real sessions ({real.source}), {len(windows)} calls for checks",
        summary=Table("F-scores on all real windows", columns, rows, note),
        sections=[
            Section("Verdict", [Callout(note, Tone.NEUTRAL) for note in notes]),
            Section("Calls", tables),
        ],
    )
