"""What a difference between two runs is made of: the cases that one wins and the other loses, stage by stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.benchmarks.hsii.metrics import BEHAVIOURS, RATES
from sociable.benchmarks.hsii.records import HSIIEpisode
from sociable.core.records import Score
from sociable.core.view import Case as CaseView
from sociable.core.view import Column, Line, Paragraph, Quotation, Row, Section, Table, Tag, Tone, Transcript
from sociable.engine.result import RunResult

STAGES = {"r1": "Format", "r2": "Target", "r3": "First utterance", "r4": "Long run"}
BEHAVIOUR_WORDS = {"evades_conflict": "evades the conflict", "asks_again": "asks again what was said"}
"""Section 6.3's."""

_Values = Mapping[tuple[str, str, int], Score]


@dataclass(frozen=True, slots=True)
class Difference:
    """One episode in which one run passed a stage and the other did not."""

    metric: str
    case: Case
    episode: str
    first_won: bool


def contrast_sections(first: RunResult, second: RunResult) -> list[Section]:
    """A table of wins by stage and topic, then every such case with both responses."""
    values = (_values(first), _values(second))
    found = list(_differences(first, *values))
    names = _names(first, second)
    sections = [Section("Who wins where", [_table(found, names)])]
    for metric, title in STAGES.items():
        own = sorted((each for each in found if each.metric == metric), key=lambda each: (each.case.topic, each.episode))
        if own:
            views = [_case_view(each, (first, second), values, names) for each in own]
            sections.append(Section(f"{title}: cases that differ", views))
    return sections


def _names(first: RunResult, second: RunResult) -> tuple[str, str]:
    return f"A: {first.label}", f"B: {second.label}"


def _values(run: RunResult) -> _Values:
    return {(s.metric, s.scenario, s.repeat): s for s in run.scores if s.metric in (*RATES, *BEHAVIOURS)}


def _differences(run: RunResult, first: _Values, second: _Values) -> Iterator[Difference]:
    """At the earliest stage at which two episodes differ: what follows from it is no difference of its own."""
    for scenario, repeat in dict.fromkeys((scenario, repeat) for _, scenario, repeat in first):
        for metric in RATES:
            one, other = (values.get((metric, scenario, repeat)) for values in (first, second))
            if one is None or other is None or one.value is None or other.value is None:
                continue
            if one.value != other.value:
                yield Difference(metric, run.study.scenarios[scenario], f"{scenario}#{repeat}", one.value > other.value)
                break


def _table(found: Sequence[Difference], names: tuple[str, str]) -> Table:
    counts = Counter((each.metric, each.case.topic, each.first_won) for each in found)
    topics = sorted({each.case.topic for each in found})
    rows = []
    for metric, title in STAGES.items():
        sums = [sum(counts[metric, topic, won] for topic in topics) for won in (True, False)]
        rows.append(Row([title, "all", *map(str, sums)], emphasis=True))
        rows += [
            Row([title, topic, *(str(counts[metric, topic, won]) for won in (True, False))])
            for topic in topics
            if counts[metric, topic, True] or counts[metric, topic, False]
        ]
    return Table(
        "Episodes in which one passes a stage and the other does not",
        [Column("Stage"), Column("Topic"), Column("A wins", True, names[0]), Column("B wins", True, names[1])],
        rows,
        "Each counts once, at the first stage at which the two differ. A tie with the golden side is no win.",
    )


def _case_view(
    each: Difference, runs: tuple[RunResult, RunResult], values: tuple[_Values, _Values], names: tuple[str, str]
) -> CaseView:
    winner = names[0] if each.first_won else names[1]
    return CaseView(
        title=each.episode,
        tags=[Tag(each.case.topic), Tag(f"{winner} wins", Tone.GOOD)],
        blocks=list(_case_blocks(each, runs, values, names)),
    )


def _case_blocks(
    each: Difference, runs: tuple[RunResult, RunResult], values: tuple[_Values, _Values], names: tuple[str, str]
) -> Iterator[Paragraph | Quotation | Transcript]:
    case = each.case
    yield Paragraph(case.background.scene)
    lines = [Line(message.role_from, message.role_to, message.content) for message in case.messages]
    yield Transcript("The conversation so far", lines, folded=True)
    for run, own, name, won in zip(runs, values, names, (each.first_won, not each.first_won), strict=True):
        yield from _response(run, own, name, each, Tone.GOOD if won else Tone.BAD)
    yield Transcript("Golden", [Line(ASSISTANT, case.golden.role_to, case.golden.content)])
    if case.why:
        yield Paragraph(f"Why {case.golden.role_to} comes first: {case.why}")


def _response(
    run: RunResult, values: _Values, name: str, each: Difference, tone: Tone
) -> Iterator[Paragraph | Quotation | Transcript]:
    episode = run.records.episodes.read(each.episode)
    assert isinstance(episode, HSIIEpisode)
    if episode.format_failure:
        yield Quotation(f"{name}, without a format: {episode.format_failure}", episode.reply or "(empty)", tone)
        return
    scores = {metric: values.get((metric, each.case.id, episode.repeat)) for metric in (each.metric, *BEHAVIOURS)}
    notes = [BEHAVIOUR_WORDS[metric] for metric in BEHAVIOURS if (score := scores[metric]) is not None and score.value]
    reason = scores[each.metric]
    heading = ", ".join([f"{name} to {episode.target or episode.role_to}", *notes])
    yield Quotation(heading, episode.turns[0].content if episode.turns else "(empty)", tone)
    if each.metric == "r4":
        said = [Line(turn.speaker, ", ".join(turn.addressees), turn.content) for turn in episode.turns]
        yield Transcript(f"{name}: the long run", said, folded=True)
    if reason is not None and reason.reason:
        yield Paragraph(f"{name}: {reason.reason}")
