"""The cases that make the difference between two runs, as one wins them and the other loses them, stage by stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sociable.benchmarks.hsii.dataset import Case
from sociable.benchmarks.hsii.forms import CaseBlock, show_conversation, show_golden, show_turns
from sociable.benchmarks.hsii.metrics import BEHAVIOURS, RATES
from sociable.core.records import make_episode_id
from sociable.core.view import Case as CaseView
from sociable.core.view import Column, Paragraph, Quotation, Row, Section, Table, Tag, Tone
from sociable.engine.result import RunResult

STAGES = {"r1": "Format", "r2": "Target", "r3": "First utterance", "r4": "Long run"}
BEHAVIOUR_WORDS = {"evades_conflict": "evades the conflict", "asks_again": "asks again what was said"}
"""The two behaviours of section 6.3 in words."""


class _Side:
    """One of the two runs: its name here, and its scores by metric, scenario and repeat."""

    def __init__(self, letter: str, run: RunResult) -> None:
        self.run = run
        self.name = f"{letter}: {run.label}"
        self.scores = {(s.metric, s.scenario, s.repeat): s for s in run.scores if s.metric in (*RATES, *BEHAVIOURS)}


@dataclass(frozen=True, slots=True)
class Difference:
    """One episode in which one run passed a stage and the other did not."""

    metric: str
    case: Case
    repeat: int
    first_won: bool

    @property
    def episode(self) -> str:
        return make_episode_id(self.case.id, self.repeat)


def make_contrast(first: RunResult, second: RunResult) -> list[Section]:
    """A table of wins by stage and topic, then every such case with both responses."""
    sides = _Side("A", first), _Side("B", second)
    found = sorted(_find_differences(*sides), key=lambda each: (each.case.topic, each.episode))
    sections = [Section("Who wins where", [_make_table(found, sides)])]
    for metric, title in STAGES.items():
        if views := [_show_difference(each, sides) for each in found if each.metric == metric]:
            sections.append(Section(f"{title}: cases that differ", views))
    return sections


def _find_differences(first: _Side, second: _Side) -> Iterator[Difference]:
    """The earliest stage at which two episodes differ: what follows from it is no difference of its own."""
    for scenario, repeat in dict.fromkeys((scenario, repeat) for _, scenario, repeat in first.scores):
        for metric in RATES:
            one, other = (side.scores.get((metric, scenario, repeat)) for side in (first, second))
            if one is None or other is None or one.value is None or other.value is None:
                continue
            if one.value != other.value:
                yield Difference(metric, first.run.study.scenarios[scenario], repeat, one.value > other.value)
                break


def _make_table(found: Sequence[Difference], sides: Sequence[_Side]) -> Table:
    counts = Counter((each.metric, each.case.topic, each.first_won) for each in found)
    topics = sorted({each.case.topic for each in found})
    rows = []
    for metric, title in STAGES.items():
        wins = {topic: [counts[metric, topic, won] for won in (True, False)] for topic in topics}
        sums = [sum(own) for own in zip(*wins.values(), strict=True)] or [0, 0]
        rows.append(Row([title, "all", *map(str, sums)], emphasis=True))
        rows += [Row([title, topic, *map(str, own)]) for topic, own in wins.items() if any(own)]
    columns = [Column("Stage"), Column("Topic"), *(Column(f"{side.name[0]} wins", True, side.name) for side in sides)]
    note = "Each counts once, at the first stage at which the two differ. A tie with the golden side is no win."
    return Table("Episodes in which one passes a stage and the other does not", columns, rows, note)


def _show_difference(each: Difference, sides: tuple[_Side, _Side]) -> CaseView:
    winner, case = sides[0] if each.first_won else sides[1], each.case
    responses = [block for side in sides for block in _show_response(side, each, Tone.GOOD if side is winner else Tone.BAD)]
    blocks = [Paragraph(case.background.scene), show_conversation(case.messages, folded=True), *responses, *show_golden(case)]
    return CaseView(each.episode, [Tag(case.topic), Tag(f"{winner.name} wins", Tone.GOOD)], blocks)


def _show_response(side: _Side, each: Difference, tone: Tone) -> Iterator[CaseBlock]:
    episode = side.run.find_episode(each.episode)
    if episode.format_failure:
        yield Quotation(f"{side.name}, without a format: {episode.format_failure}", episode.reply or "(empty)", tone)
        return
    scores = {metric: side.scores.get((metric, each.case.id, each.repeat)) for metric in (each.metric, *BEHAVIOURS)}
    notes = [BEHAVIOUR_WORDS[metric] for metric in BEHAVIOURS if (score := scores[metric]) is not None and score.value]
    heading = ", ".join([f"{side.name} to {episode.target or episode.role_to}", *notes])
    yield Quotation(heading, episode.turns[0].content if episode.turns else "(empty)", tone)
    if each.metric == "r4":
        yield show_turns(f"{side.name}: the long run", episode.turns)
    if (score := scores[each.metric]) is not None and score.reason:
        yield Paragraph(f"{side.name}: {score.reason}")
