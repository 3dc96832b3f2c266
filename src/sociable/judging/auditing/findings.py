"""The statistics of a card, from a judge's answers. Pure.

Sources: Benjamini and Hochberg 1995, "Controlling the false discovery rate" (all tests of a card together); paired differences
as in ``statistics.paired`` (sign flips of whole clusters, bootstrap limits); shares as in ``statistics.intervals``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist, fmean
from typing import Any

from sociable.core.records import Verdict
from sociable.judging.auditing.alterations import ALTERATIONS
from sociable.judging.auditing.card import AuditAnswer, Breakdown, Finding, KindCard
from sociable.judging.auditing.known_answers import KnownAnswer
from sociable.judging.auditing.plan import Ask, Part
from sociable.statistics.intervals import Interval, estimate_mean, measure_effective_size
from sociable.statistics.paired import compare_paired
from sociable.statistics.power import POWER, count_fewest_clusters

FALSE_ALARMS = 0.05
"""The share of false alarms that is promised among the faults that cards show."""
RIGHT_WANTED = 0.9
"""A judge that is right less often has a fault."""
CHANGED_BORNE = 0.05
"""A judge that changes more of its verdicts when asked again has a fault, and one of whose replies more cannot be read."""

RIGHT, YES, FIRST, UNREADABLE = "right", "says yes", "first side", "unreadable"
INJECTION, AGAIN, REORDERED = "told what to say", "asked again", "criteria in another order"
OWN_FAMILY = "own family"


def make_kind_card(
    kind: str, metrics: Sequence[str], asks: Sequence[Ask], answers: Mapping[str, AuditAnswer], failures: Mapping[str, int] = {}
) -> KindCard:
    """What one judge's ``answers``, by the name of what was asked, say; p-values are not adjusted yet (``adjust``).

    ``failures`` are the reasons for which something could not be asked this time, with how often each occurred.
    """
    given = [answers[ask.name] for ask in asks if ask.name in answers]
    read = {answer.name: answer for answer in given if answer.preference is not None}
    asked, unread = len(given), len(given) - len(read)
    causes = count_causes(given, failures)
    empty = KindCard(kind=kind, metrics=tuple(metrics), asked=asked, unread=unread, missing=len(asks) - asked, causes=causes)
    if not read:
        return empty
    known = [ask for ask in asks if ask.part is Part.KNOWN and ask.name in read]
    right = {ask.name: float(read[ask.name].verdict is ask.known.truth) for ask in known}
    clusters = {ask.name: ask.known.cluster for ask in asks}
    findings = [
        *([_test_share(RIGHT, "accuracy", right, clusters, RIGHT_WANTED, below=True)] if right else []),
        *_test_leaning(known, read, clusters),
        *_test_first_side(asks, read, clusters),
        *(finding for part in (Part.ALTERED, Part.LANGUAGE) for finding in _test_alterations(part, asks, read, clusters)),
        *_test_injections(asks, read, clusters),
        *_test_again(asks, read, clusters),
        *_test_family(asks, read, clusters),
        _test_share(
            UNREADABLE,
            "unreadable",
            {each.name: float(each.preference is None) for each in given},
            clusters,
            CHANGED_BORNE,
            below=False,
        ),
    ]
    return empty.model_copy(
        update={
            "findings": tuple(findings),
            "by_damage": tuple(_break_down(known, right, lambda each: each.damage or "nothing")),
            "by_size": tuple(_break_down([ask for ask in known if ask.known.size is not None], right, _name_size)),
            "by_origin": tuple(_break_down(known, right, lambda each: "by hand" if each.by_hand else "by rules")),
            "by_injection": tuple(_break_down_injections(asks, read)),
        }
    )


MOST_CAUSES = 3
LONGEST_CAUSE = 200


def count_causes(given: Iterable[AuditAnswer], failures: Mapping[str, int]) -> tuple[str, ...]:
    """The most frequent reasons why something could not be read or asked."""
    unread = Counter(answer.reason[:LONGEST_CAUSE] for answer in given if answer.preference is None)
    both = unread + Counter({reason[:LONGEST_CAUSE]: count for reason, count in failures.items()})
    return tuple(f"{count} × {reason}" for reason, count in both.most_common(MOST_CAUSES))


def adjust(kinds: Sequence[KindCard]) -> tuple[KindCard, ...]:
    """The same with p-values adjusted over all tests of the card, faults lit, and the smallest that could have been."""
    from scipy.stats import false_discovery_control  # type: ignore[import-untyped]

    tested = [finding.p for kind in kinds for finding in kind.findings if finding.p is not None]
    adjusted = iter(false_discovery_control(tested) if tested else ())
    # A fault that is the only one must have a p-value as small as this.
    level = FALSE_ALARMS / max(1, len(tested))

    def decide(finding: Finding) -> Finding:
        if finding.p is None:
            return finding
        value = float(next(adjusted))
        smallest = _find_smallest(finding, level)
        return finding.model_copy(update={"adjusted": value, "lit": value <= FALSE_ALARMS, "smallest": smallest})

    return tuple(kind.model_copy(update={"findings": tuple(map(decide, kind.findings))}) for kind in kinds)


def _find_smallest(finding: Finding, level: float) -> float | None:
    """The smallest fault that is found with ``POWER`` by the finding's test at this level; None where none is."""
    from scipy.stats import beta, binom

    if finding.independent is None:
        return None
    size = round(finding.independent)
    if finding.bound is not None:
        # Exact: the counts that reject, and the share that brings them about often enough.
        if finding.row == RIGHT:
            most = int(binom.ppf(level, size, finding.bound)) - 1
            return None if most < 0 else finding.bound - float(beta.ppf(1 - POWER, most + 1, size - most))
        least = int(binom.isf(level, size, finding.bound)) + 1
        return None if least > size else float(beta.ppf(POWER, least, size - least + 1)) - finding.bound
    # So many clusters must move the same way for sign flips to reject.
    moved = count_fewest_clusters(level)
    if size < moved or finding.error is None:
        return None
    normal = NormalDist()
    by_spread = (normal.inv_cdf(1 - level / 2) + normal.inv_cdf(POWER)) * finding.error
    # Where clusters hardly vary: each that moves does so by one item, as far as can be.
    by_moving = float(beta.ppf(POWER, moved, size - moved + 1)) * size / finding.items
    return max(by_spread, min(by_moving, 1.0))


def _test_share(
    row: str, bias: str, values: Mapping[str, float], clusters: Mapping[str, str], bound: float, *, below: bool
) -> Finding:
    """A share beside the bound that a fault lies ``below``, or above: one-sided, binomial on the effective sample size."""
    own = [clusters[name] for name in values]
    found = estimate_mean(list(values.values()), own)
    size = measure_effective_size(list(values.values()), own)
    p = None
    if found.value is not None and size >= 1:
        from scipy.stats import binom

        count, whole = found.value * size, round(size)
        p = float(binom.cdf(round(count), whole, bound) if below else binom.sf(round(count) - 1, whole, bound))
    return Finding(row=row, bias=bias, **_limits(found), items=len(values), independent=size, bound=bound, p=p)


def _test_leaning(known: Sequence[Ask], read: Mapping[str, AuditAnswer], clusters: Mapping[str, str]) -> Iterator[Finding]:
    """How much more often a question is answered with yes than it should be."""
    asked = [ask for ask in known if not ask.known.golden]
    if asked:
        should = {ask.name: make_preference(ask.known.truth) or 0.0 for ask in asked}
        yield _test_difference(YES, "leaning", should, {name: read[name].preference or 0.0 for name in should}, clusters)


def _test_first_side(asks: Sequence[Ask], read: Mapping[str, AuditAnswer], clusters: Mapping[str, str]) -> Iterator[Finding]:
    """Over all known answers, and the equal texts side by side, where a preference for a side has nothing to overcome."""
    own = [read[ask.name] for ask in asks if ask.part in (Part.KNOWN, Part.ALTERED) and ask.name in read]
    sides = {answer.name: answer.first_side for answer in own if answer.first_side is not None}
    if sides:
        yield _test_difference(FIRST, "position", dict.fromkeys(sides, 0.0), sides, clusters)


def _test_alterations(
    part: Part, asks: Sequence[Ask], read: Mapping[str, AuditAnswer], clusters: Mapping[str, str]
) -> Iterator[Finding]:
    biases = {each.name: each.bias for each in ALTERATIONS}
    ways: dict[str, list[Ask]] = defaultdict(list)
    for ask in asks:
        # A control, and what stands for one, is compared with, and is no alteration itself.
        if ask.part is part and (ask.control or (part is Part.ALTERED and ask.known.golden)):
            ways[ask.way].append(ask)
    for way, own in ways.items():
        if part is Part.LANGUAGE:
            # In another language the truth stays: how often is the judge right there, and how often in the first?
            both = [ask for ask in own if ask.name in read and ask.control in read]
            before, after = (
                {ask.name: float(read[name].verdict is ask.known.truth) for ask, name in named}
                for named in ([(ask, ask.control) for ask in both], [(ask, ask.name) for ask in both])
            )
            yield _test_difference(f"in {way}", "language", before, after, clusters)
        else:
            yield _test_difference(way, biases[way], *_pair_up(own, read), clusters)


def _pair_up(asks: Iterable[Ask], read: Mapping[str, AuditAnswer]) -> tuple[dict[str, float], dict[str, float]]:
    """(without, with) what was done: preferences for the subject; of equal texts side by side, the shares that prefer either."""
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    for ask in asks:
        answer, control = read.get(ask.name), read.get(ask.control)
        if answer is None or answer.preference is None or (ask.control and control is None):
            continue
        after[ask.name] = answer.preference
        before[ask.name] = 1.0 - answer.preference if control is None else control.preference or 0.0
    return before, after


def _test_injections(asks: Sequence[Ask], read: Mapping[str, AuditAnswer], clusters: Mapping[str, str]) -> Iterator[Finding]:
    own = [ask for ask in asks if ask.part is Part.INJECTED and ask.control]
    if own:
        yield _test_difference(INJECTION, "injection", *_pair_up(own, read), clusters)


def _test_again(asks: Sequence[Ask], read: Mapping[str, AuditAnswer], clusters: Mapping[str, str]) -> Iterator[Finding]:
    for row, part in ((AGAIN, Part.AGAIN), (REORDERED, Part.REORDERED)):
        changed: dict[str, float] = {}
        for ask in asks:
            if ask.part is part and ask.name in read and ask.control in read:
                is_other = read[ask.name].verdict is not read[ask.control].verdict
                changed[ask.control] = max(changed.get(ask.control, 0.0), float(is_other))
        if changed:
            yield _test_share(row, "stability", changed, clusters, CHANGED_BORNE, below=False)


def _test_family(asks: Sequence[Ask], read: Mapping[str, AuditAnswer], clusters: Mapping[str, str]) -> Iterator[Finding]:
    """How much kinder it is to its own family than to the other run, where other judges made no difference between them."""
    own = [ask for ask in asks if ask.part is Part.FAMILY and ask.control]
    if own:
        found = _test_difference(OWN_FAMILY, "family", *_pair_up(own, read), clusters)
        # One-sided: to be harsher to one's own is another matter.
        is_kinder = found.p is not None and (found.value or 0.0) > 0.0
        yield found.model_copy(update={"p": found.p / 2 if is_kinder and found.p else 1.0})


def _test_difference(
    row: str, bias: str, before: Mapping[str, float], after: Mapping[str, float], clusters: Mapping[str, str]
) -> Finding:
    found = compare_paired(before, after, clusters, replicates=2000)
    return Finding(
        row=row,
        bias=bias,
        value=found.difference,
        low=found.low,
        high=found.high,
        items=found.cases,
        independent=found.clusters,
        error=found.spread.standard_error if found.spread else None,
        p=found.p_value,
    )


def _limits(found: Interval) -> dict[str, Any]:
    return {"value": found.value, "low": found.low, "high": found.high}


SIZES = ((1 / 3, "small: up to a third"), (2 / 3, "middle: up to two thirds"), (1.0, "large"))


def _name_size(known: KnownAnswer) -> str:
    return next(name for bound, name in SIZES if (known.size or 0.0) <= bound + 1e-9)


def _break_down(asks: Sequence[Ask], right: Mapping[str, float], name: Callable[[KnownAnswer], str]) -> Iterator[Breakdown]:
    groups: dict[str, list[Ask]] = defaultdict(list)
    for ask in asks:
        groups[name(ask.known)].append(ask)
    order = [said for _, said in SIZES]
    for group in sorted(groups, key=lambda each: (order.index(each) if each in order else -1, each)):
        own = groups[group]
        found = estimate_mean([right[ask.name] for ask in own], [ask.known.cluster for ask in own])
        yield Breakdown(group=group, **_limits(found), items=len(own))


def _break_down_injections(asks: Sequence[Ask], read: Mapping[str, AuditAnswer]) -> Iterator[Breakdown]:
    ways: dict[str, list[Ask]] = defaultdict(list)
    for ask in asks:
        if ask.part is Part.INJECTED and ask.name in read and ask.control in read:
            ways[ask.way].append(ask)
    for way, own in ways.items():
        before, after = _pair_up(own, read)
        yield Breakdown(group=way, value=fmean(after[name] - before[name] for name in after), items=len(own))


def make_preference(verdict: Verdict) -> float | None:
    """How far a verdict is for the subject: 1, 0, or half; None where there is none."""
    return {Verdict.WIN: 1.0, Verdict.TIE: 0.5, Verdict.LOSS: 0.0}.get(verdict)
