"""What an audit found of judges: a page of its own, and what stands beside every score that such a judge gave."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sociable.core.errors import DataError
from sociable.core.plots import IntervalPlot, Mark
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Column,
    Document,
    Paragraph,
    Row,
    Section,
    Table,
    Tone,
    format_figure,
    format_interval,
)
from sociable.engine.result import RunResult
from sociable.engine.study import JudgeAudited
from sociable.judging.auditing.card import CARD_FILE, Breakdown, Finding, JudgeCard, KindCard, load_card
from sociable.judging.auditing.findings import (
    AGAIN,
    FALSE_ALARMS,
    FIRST,
    INJECTION,
    OWN_FAMILY,
    REORDERED,
    RIGHT,
    RIGHT_WANTED,
    UNREADABLE,
    YES,
)

_EXPLAINED = {
    RIGHT: "share of known answers that it gave; below .9 is a fault",
    YES: "share of questions answered with yes, less the share of those to be answered so",
    FIRST: "share of the first side's preferences less the second's",
    INJECTION: "share of verdicts moved in favour of a text that speaks to its judge, less those moved against it",
    AGAIN: "share of verdicts that changed when asked again; above .05 is a fault",
    OWN_FAMILY: "how much kinder it is to its own family than to another, where other judges made no difference",
    REORDERED: "share of verdicts that changed with the criteria in another order; above .05 is a fault",
    UNREADABLE: "share of what was asked of which no answer could be read; above .05 is a fault",
}
SMALL_FAULT = 0.1
"""An audit that would have shown a fault of this size in how often a judge is right says something by finding none."""
FEWEST_PER_WAY = 10
_SHOWN_IN_SUMMARY = (RIGHT, FIRST, "padded", INJECTION)


def make_cards_document(cards: Sequence[JudgeCard]) -> Document:
    """The page on one or several judges of a benchmark."""
    first = cards[0]
    sections = [section for card in cards for section in _show_card(card, several=len(cards) > 1)]
    return Document(
        title="Judges audited" if len(cards) > 1 else "Judge audited",
        subtitle=f"{', '.join(card.judge for card in cards)} on {first.benchmark} {first.version}, {first.created[:10]}",
        summary=make_cards_table(cards),
        sections=sections,
        details=[
            ("benchmark", f"{first.benchmark} {first.version}"),
            *((f"{name} digest", value) for name, value in first.digests.items()),
            *((f"sampling of {card.judge}", str(dict(card.sampling))) for card in cards if card.sampling),
            ("seed", str(first.seed)),
            ("packages", ", ".join(f"{name} {version}" for name, version in first.packages.items())),
        ],
    )


def make_cards_table(cards: Sequence[JudgeCard], *, named: bool = False) -> Table:
    """One row a judge and kind of judging: the figures that stand beside scores, and what is at fault.

    A single judge is ``named`` in the table only where it is not said beside it.
    """
    named, rows = named or len(cards) > 1, []
    for card in cards:
        for kind in card.kinds:
            found = {finding.row: finding for finding in kind.findings}
            cells = [format_interval(found.get(row), 2) for row in _SHOWN_IN_SUMMARY]
            rows.append(Row([*([card.judge] if named else []), kind.kind, _list_faults(kind), *cells]))
    titles = ("Right", "First side", "Padded", "Orders")
    return Table(
        "What judges are worth",
        [
            *([Column("Judge")] if named else []),
            Column("Judging of"),
            Column("Faults"),
            *(Column(title, True, _EXPLAINED.get(row, "")) for title, row in zip(titles, _SHOWN_IN_SUMMARY, strict=True)),
        ],
        rows,
        f"95% intervals by cluster. Faults: beyond chance after Benjamini and Hochberg over all tests of a judge, of which "
        f"{FALSE_ALARMS:.0%} at most are false alarms. {MISSING} : not asked, or nothing that could be read.",
    )


def _list_faults(kind: KindCard) -> str:
    if not kind.findings:
        return "nothing readable" if kind.asked else "all calls failed" if kind.missing else "not asked"
    return name_faults(kind) or "none found"


def name_faults(kind: KindCard) -> str:
    """The faults of a judge in words; empty where none was found."""
    return ", ".join("too seldom right" if finding.row == RIGHT else finding.row for finding in kind.findings if finding.lit)


def _show_card(card: JudgeCard, *, several: bool) -> Iterator[Section]:
    named = f": {card.judge}" if several else ""
    if card.people:
        yield Section(f"Beside people{named}", list(_show_people(card)))
    for kind in card.kinds:
        yield Section(f"{kind.kind.capitalize()}{named}", list(_show_kind(kind, card.judge)))


def _show_people(card: JudgeCard) -> Iterator[Block]:
    pairs = [each for each in card.people if not each.by_dimension]
    rows = [
        Row(
            [
                each.source,
                each.layout,
                str(each.items),
                str(each.people),
                format_interval(each.agreement, 2),
                format_interval(each.kappa, 2),
                format_figure(each.among, 2),
                format_figure(each.first_side, 2),
            ]
        )
        for each in pairs
    ]
    if rows:
        yield Table(
            "The judge and most people",
            [
                Column("Source"),
                Column("Layout"),
                Column("Items", True),
                Column("People", True, "the most on one item"),
                Column("Agreement", True, "share of items with the verdict of most people"),
                Column("Cohen's κ", True, "the judge and most people, beyond chance"),
                Column("Fleiss' κ", True, "people among themselves"),
                Column("First side", True, "share of the first side's preferences less the second's"),
            ],
            rows,
            "95% intervals. About items on which no verdict has more than half of the people the judge is not asked: "
            f"{', '.join(f'{each.undecided} of {each.source}' for each in pairs)}. People's own κ is over all items.",
        )
    for each in card.people:
        if each.by_dimension:
            yield _make_breakdown_table(
                f"{each.source}: rank correlation with people's mean ratings", each.by_dimension, "Spearman's ρ"
            )
        for count, what in ((each.unread, "answers could not be read"), (each.missing, "things could not be asked")):
            if count:
                yield Callout(f"{each.source}: {count} {what}: {'; '.join(each.causes)}.", Tone.WARNING)


def _show_kind(kind: KindCard, judge: str) -> Iterator[Block]:
    rests = f"It decides {', '.join(kind.metrics)}." if kind.metrics else ""
    yield Paragraph(f"{rests} {kind.asked} things were asked.".strip())
    if kind.missing:
        yield Callout(f"{kind.missing} things could not be asked: the calls failed. Resume the audit to ask them.", Tone.WARNING)
    if not kind.asked:
        return
    if not kind.findings:
        said = f"{judge}, {kind.kind}: none of {kind.unread} replies could be read: no number can be made of them."
        yield Callout(said, Tone.BAD)
        return
    if kind.unread:
        yield Callout(
            f"{kind.unread} of {kind.asked} replies could not be read, and are in no figure but their own.", Tone.WARNING
        )
    if faults := name_faults(kind):
        yield Callout(f"{judge}, {kind.kind}: {faults}.", Tone.BAD)
    else:
        yield _tell_no_fault(kind, judge)
    yield make_findings_table(kind.findings)
    biases = [finding for finding in kind.findings if finding.bias not in ("accuracy", "stability", "unreadable")]
    if biases:
        marks = [Mark(finding.row, finding.value, finding.low, finding.high) for finding in biases]
        yield IntervalPlot("How far what should not matter moves verdicts", "difference of shares", marks, reference=0.0)
    for caption, parts in (
        ("Right, by what was damaged", kind.by_damage),
        ("Right, by how much was damaged", kind.by_size),
        ("Right, by how the known answer was made", kind.by_origin),
    ):
        if parts:
            yield _make_breakdown_table(caption, parts)
    if kind.by_injection:
        yield _show_injections(kind)


def _tell_no_fault(kind: KindCard, judge: str) -> Callout:
    """That no fault was found, and how large one would have had to be: a small audit sees little."""
    right = kind.find(RIGHT)
    said = f"{judge}, {kind.kind}: no fault was found that chance does not explain."
    if right is None or right.smallest is None:
        return Callout(said)
    seen = f" To be right in less than {RIGHT_WANTED - right.smallest:.2f} would have been one that so many items show."
    return Callout(said + seen, Tone.GOOD if right.smallest <= SMALL_FAULT else Tone.NEUTRAL)


def _show_injections(kind: KindCard) -> Block:
    told, fewest = kind.find(INJECTION), min(part.items for part in kind.by_injection)
    if fewest < FEWEST_PER_WAY and not (told and told.lit):
        return Paragraph(
            f"{fewest} texts speak to the judge in each of {len(kind.by_injection)} ways: too few to tell the ways apart."
        )
    return _make_breakdown_table(
        "How far each way of speaking to the judge moved its verdicts in favour", kind.by_injection, "Moved"
    )


def make_findings_table(findings: Sequence[Finding]) -> Table:
    """Every finding of an audit with its p-values; those that are faults stand out."""
    rows = [
        Row(
            [
                f"{finding.row} (fault)" if finding.lit else finding.row,
                finding.bias,
                format_interval(finding, 2),
                str(finding.items),
                _write_p(finding.p),
                _write_p(finding.adjusted),
                format_figure(finding.smallest, 2),
            ],
            emphasis=finding.lit,
        )
        for finding in findings
    ]
    return Table(
        "All that was tested",
        [
            Column("Row"),
            Column("Of"),
            Column("Found", True, "a share; or a difference of shares, with what was done less without it"),
            Column("Items", True),
            Column("p", True),
            Column("adjusted", True, "after Benjamini and Hochberg, over all tests of the card"),
            Column(
                "Could have been found",
                True,
                "how far beyond .9, .05 or 0 a fault must be, if it is the only one, for four of five such audits to show it",
            ),
        ],
        rows,
        "Right: below .9 is a fault. Changed when asked again, and unreadable: above .05. All others: any difference from 0.",
    )


def _write_p(p: float | None) -> str:
    return "< 0.001" if p is not None and p < 0.001 else format_figure(p)


def _make_breakdown_table(caption: str, parts: Sequence[Breakdown], figure: str = "Share") -> Table:
    rows = [Row([part.group, str(part.items), format_interval(part, 2)]) for part in parts]
    return Table(caption, [Column(""), Column("Items", True), Column(figure, True)], rows)


log = logging.getLogger("sociable")

CARD_STEM = CARD_FILE.removesuffix(".json")
NOT_AUDITED = "not audited"


def find_cards(folders: Sequence[Path], benchmark: str, version: str) -> dict[str, JudgeCard]:
    """The newest card of each judge of a benchmark, in run folders or in folders beside them."""
    files = {file for folder in folders for file in folder.glob(f"{CARD_STEM}*.json")}
    files |= {file for parent in {folder.absolute().parent for folder in folders} for file in parent.glob(f"*/{CARD_STEM}*.json")}
    cards = []
    for file in sorted(files):
        try:
            cards.append(load_card(file))
        except DataError as problem:
            log.warning("%s", problem)
    found: dict[str, JudgeCard] = {}
    for card in sorted(cards, key=lambda card: card.created):
        if (card.benchmark, card.version) == (benchmark, version) and any(kind.findings for kind in card.kinds):
            found[card.judge] = _add_kinds(card, found.get(card.judge))
    return found


def _add_kinds(card: JudgeCard, earlier: JudgeCard | None) -> JudgeCard:
    """A card with the kinds of an earlier audit, asked for in the same way, that found something where this one did not."""
    if earlier is None or (earlier.digests.get("prompts"), earlier.sampling) != (card.digests.get("prompts"), card.sampling):
        return card
    kinds = {kind.kind: kind for kind in earlier.kinds} | {kind.kind: kind for kind in card.kinds if kind.findings}
    return card.model_copy(update={"kinds": tuple(kinds.values())})


def describe_judges(run: RunResult, cards: Mapping[str, JudgeCard]) -> str:
    """What stands beside judged scores: who judged, and what an audit found of them; empty where nobody judged."""
    manifest, told = run.manifest, []
    for judge in _list_judges(manifest):
        if judge not in cards:
            told.append(f"{judge} ({NOT_AUDITED})")
            continue
        card = cards[judge]
        differs = _find_difference(manifest, card)
        figures = [_describe_kind(kind) for kind in card.kinds if any(run.estimate(metric) for metric in kind.metrics)]
        figures += [f"{name}: {NOT_AUDITED}" for name in _list_kinds(run) if name not in {kind.kind for kind in card.kinds}]
        told.append(f"{judge} ({'; '.join([*(figures or [NOT_AUDITED]), *([differs] if differs else [])])})")
    return f"Judged by {', '.join(told)}." if told else ""


def _list_kinds(run: RunResult) -> list[str]:
    """The kinds of judging on which figures of a run rest."""
    kinds = run.study.list_judging_kinds() if isinstance(run.study, JudgeAudited) else ()
    return [kind.name for kind in kinds if any(run.estimate(metric) for metric in kind.metrics)]


def _list_judges(manifest: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([*manifest["models"]["judges"], *manifest.get("rubric", {}).get("raters", ())]))


def _find_difference(manifest: Mapping[str, Any], card: JudgeCard) -> str:
    """How a judge was asked otherwise in its audit than in a run; empty where it was not."""
    sampling = {
        **manifest["sampling"],
        **{f"judge {name}": own for name, own in manifest.get("rubric", {}).get("sampling", {}).items()},
    }
    if card.digests.get("prompts") != manifest["digests"].get("prompts"):
        return "audited with other prompts"
    own = sampling.get(f"judge {card.judge}")
    return "audited with another sampling" if card.sampling and own and dict(card.sampling) != own else ""


def _describe_kind(kind: KindCard) -> str:
    right = kind.find(RIGHT)
    if right is None:
        return f"{kind.kind}: {'nothing readable' if kind.asked else NOT_AUDITED}"
    lit = [finding for finding in kind.findings if finding.lit and finding.row != RIGHT]
    faults = f", moved by: {', '.join(finding.row for finding in lit)}" if lit else ""
    shown = format_interval(right, 2)
    return f"{kind.kind}: right in {shown} of {right.items} known answers{faults}"


def show_judges(runs: Sequence[RunResult], cards: Mapping[str, JudgeCard]) -> list[Section]:
    """The section on the cards of all who judged some runs; none where nobody judged."""
    judges = dict.fromkeys(judge for run in runs for judge in _list_judges(run.manifest))
    blocks: list[Block] = []
    if own := [cards[judge] for judge in judges if judge in cards]:
        blocks.append(make_cards_table(own, named=True))
    if others := [judge for judge in judges if judge not in cards]:
        command = f"sociable audit-judge {runs[0].manifest['benchmark']} --judge {others[0]}"
        remedy = f" To know what its verdicts are worth: {command}" if isinstance(runs[0].study, JudgeAudited) else ""
        blocks.append(Callout(f"Not audited: {', '.join(others)}.{remedy}", Tone.WARNING))
    return [Section("Judges", blocks)] if blocks else []
