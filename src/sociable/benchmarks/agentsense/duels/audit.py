"""Checks of bargains that need no model: ``sociable audit agentsense-duels``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sociable.benchmarks.agentsense.duels.dataset import Bargain
from sociable.benchmarks.agentsense.duels.outcome import list_efficient
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone
from sociable.core.wording import has_wording

FEWEST_EFFICIENT = 4
"""Efficient papers below which there is little to bargain about."""
MOST_BOTH_GAIN = 0.7
"""The part of all papers that may give both more than their fallbacks: above it nobody need look for one."""
LONGEST_SITUATION = 110
LONGEST_SHEET = 330
"""Words."""

_COLUMNS = (
    Column("Bargain"),
    Column("Issues", True),
    Column("Papers", True),
    Column("Both gain", True, "papers that give both more than their fallbacks"),
    Column("Efficient", True, "papers of those than which none is better for one and no worse for the other"),
    Column("Fallbacks", True),
    Column("Halfway", True, "points of both together, each halfway between worst and best in every issue"),
    Column("Best joint", True, "points of both together by the best paper"),
    Column("Most each", True, "the most each side can get while the other keeps its fallback"),
    Column("Deeds", True, "sides with a choice afterwards"),
    Column("Others", True, "third persons"),
)


def make_audit(bargains: Sequence[Bargain], source: str) -> Document:
    rows, remarks = [], []
    for bargain in bargains:
        fallbacks = [side.fallback for side in bargain.sides]
        cells = [
            str(len(bargain.issues)),
            str(len(bargain.gains)),
            str(sum(min(gains) > 0 for gains in bargain.gains.values())),
            str(len(list_efficient(bargain))),
            " and ".join(map(str, fallbacks)),
            f"{bargain.halfway:g}",
            str(bargain.best_joint + sum(fallbacks)),
            " and ".join(str(bargain.find_best(side) + fallbacks[side]) for side in (0, 1)),
            str(sum(side.afterwards is not None for side in bargain.sides)),
            str(len(bargain.others)),
        ]
        rows.append(Row([bargain.id, *cells]))
        remarks += [f"{bargain.id}: {remark}" for remark in _find_remarks(bargain)]
    blocks = [Callout(each, Tone.WARNING) for each in remarks] or [Callout("Nothing to remark.", Tone.GOOD)]
    summary = Table("Bargains", _COLUMNS, rows)
    return Document("Audit of agentsense-duels", f"{len(rows)} bargains ({source})", summary, [Section("Remarks", blocks)])


def _find_remarks(bargain: Bargain) -> Iterator[str]:
    if (count := len(list_efficient(bargain))) < FEWEST_EFFICIENT:
        yield f"{count} efficient papers; expected {FEWEST_EFFICIENT} at the least, so that there is something to divide"
    joint = [each for each, gains in bargain.gains.items() if min(gains) > 0]
    if len(joint) > MOST_BOTH_GAIN * len(bargain.gains):
        yield f"{len(joint)} of {len(bargain.gains)} papers give both more than their fallbacks; raise the fallbacks"
    if not all(side.afterwards for side in bargain.sides):
        yield "one side has no choice afterwards, so that promises bind one alone"
    if (words := len(bargain.situation.split())) > LONGEST_SITUATION:
        yield f"the situation has {words} words; expected {LONGEST_SITUATION} at the most"
    for side, other in zip(bargain.sides, reversed(bargain.sides), strict=True):
        sheet = [side.wants, side.otherwise, side.secret.text, *side.facts]
        if (words := len(" ".join(sheet).split())) > LONGEST_SHEET:
            yield f"{side.name}'s sheet has {words} words; expected {LONGEST_SHEET} at the most"
        public = [side.who, other.who, *(line for each in bargain.others for line in (each.who, each.brief, *each.lines))]
        if has_wording(" ".join(public), side.secret.wording):
            yield f"{side.name}: what others are told, or say, tells the secret"
        if deed := side.afterwards:
            said = " ".join([deed.question, deed.keeps.text, deed.breaks.text])
            if has_wording(said, side.secret.wording):
                yield f"{side.name}: the choice afterwards, which the other knows of, tells the secret"
