"""What there is in the real sessions, and what can be known of them without understanding. ``sociable audit anteval-ieg``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sociable.benchmarks.anteval.ieg.experiment import find_most_frequent_skill, predict_last_speaker
from sociable.benchmarks.anteval.ieg.fscore import FScores, measure_f_scores
from sociable.benchmarks.anteval.ieg.masters.interface import Master
from sociable.benchmarks.anteval.ieg.real import RealSessions
from sociable.benchmarks.anteval.ieg.windows import Window, count_skills, cut_windows
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, figure


def audit_real_sessions(real: RealSessions, width: int, untuned: Master, notes: Sequence[str]) -> Document:
    """What rules and an ``untuned`` virtual DM find in windows of so many turns."""
    windows = cut_windows(real.logs, width)
    skill = find_most_frequent_skill(windows)
    predicted = {
        f"last speaker, {skill}": predict_last_speaker(windows, skill),
        f"everybody who spoke, {skill}": [frozenset((player, skill) for player in window.players) for window in windows],
        "untuned virtual DM": untuned.predict(windows),
    }
    scores = {name: measure_f_scores(found, [window.checks for window in windows]) for name, found in predicted.items()}
    return Document(
        title="Audit of anteval-ieg",
        subtitle=f"{len(real.logs)} real sessions ({real.source}), {len(windows)} calls for checks",
        summary=_make_shortcuts_table(scores),
        sections=[
            Section("Verdict", [Callout(note, Tone.NEUTRAL) for note in notes]),
            Section("Calls", [_make_calls_table(real), _make_skills_table(windows)]),
        ],
    )


def _make_shortcuts_table(found: dict[str, FScores]) -> Table:
    rows = [Row([name, figure(each.character, 2), figure(each.tuple, 2)]) for name, each in found.items()]
    note = "What is known of the real sessions without having learned from any: an F-score of a tuned DM says what it adds."
    return Table("F-scores on all real windows", [Column(""), Column("Character", True), Column("Overall", True)], rows, note)


def _make_calls_table(real: RealSessions) -> Table:
    rows = [Row([what, str(count)]) for what, count in Counter(real.counts).most_common()]
    return Table("Calls for checks that were found", [Column("What became of them"), Column("Calls", True)], rows)


def _make_skills_table(windows: Sequence[Window]) -> Table:
    sizes = Counter(len({who for who, _ in window.checks}) for window in windows)
    rows = [Row([skill, str(count)]) for skill, count in count_skills(windows).most_common()]
    note = "Players a call is for: " + ", ".join(f"{size} in {count}" for size, count in sorted(sizes.items())) + "."
    return Table("Skills called for, which intentions are drawn from", [Column("Skill"), Column("Checks", True)], rows, note)
