"""The audit of HSII: can the golden addressee, or the golden response, be told without understanding?

A shortcut is a rule that looks at names and places of turns only, or a classifier trained on such features of all other
dialogues. On good data none is far from chance, in either direction. Beside the dataset stand the three cases printed in
the paper, to show that the audit finds what is there. Where the data say whom independent readers would have addressed,
their agreement is shown; where they have weaker responses, how far length and words tell these from the golden ones;
and dialogues that are too alike are named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy as np

from sociable.benchmarks.hsii.clusters import find_longest_cases
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, load_dataset
from sociable.benchmarks.hsii.measure import measure_points
from sociable.core.view import Block, Callout, Column, Document, Row, Section, Table, Tone, format_figure, format_interval
from sociable.core.wording import has_claim, pad_words
from sociable.reports.audits import (
    ShortcutResult,
    compare_with_chance,
    find_alike_texts,
    make_shortcuts_plot,
    make_shortcuts_table,
    rate_shortcuts,
    shorten_list,
)
from sociable.statistics.agreement import measure_fleiss
from sociable.statistics.guessing import FEWEST_CLUSTERS, cross_validate, measure_hit
from sociable.statistics.intervals import Floats, estimate_mean

FEW_CASES = 24
"""With fewer even a fair data set is further than the tolerance from chance, by chance alone."""

FEW_TURNS = 8
"""So few turns of a handful of people have the same sequence of speakers by chance, in any set of some size."""

TOLERANCE = 0.15
"""The distance from chance that a shortcut may have on data that are to be trusted."""

TELLS_TOLERANCE = 0.1
"""The distance from chance at which length and words may tell a golden response from a weaker one."""

Shortcut = Callable[[Case], str | None]
"""A rule: the character that it picks, or None (which is wrong)."""


class _Turns:
    """The names in a case's turns, each in the order of the turns."""

    def __init__(self, case: Case) -> None:
        self.speakers = [message.role_from for message in case.messages if message.role_from != ASSISTANT]
        self.askers = [message.role_from for message in case.messages if message.role_to == ASSISTANT]
        self.answered = [message.role_to for message in case.messages if message.role_to and message.role_from == ASSISTANT]
        self.addressed = [message.role_to for message in case.messages if message.role_to not in ("", ASSISTANT)]


def _take_last(names: Sequence[str]) -> str | None:
    return names[-1] if names else None


def _find_most_frequent(case: Case, names: Sequence[str]) -> str | None:
    """The most frequent; among equals the one listed first."""
    counts = Counter(names)
    return max(case.characters, key=lambda name: counts[name]) if names else None


def _count_mentions(case: Case, name: str) -> int:
    text = pad_words(" ".join(message.content for message in case.messages))
    return max(text.count(pad_words(spelling)) for spelling in (name, *case.aliases.get(name, ())))


SHORTCUTS: dict[str, Shortcut] = {
    "last speaker": lambda case: _take_last(_Turns(case).speakers),
    "last to address the assistant": lambda case: _take_last(_Turns(case).askers),
    "last person addressed by anybody": lambda case: _take_last(_Turns(case).addressed),
    "first speaker": lambda case: next(iter(_Turns(case).speakers), None),
    "first character listed": lambda case: case.characters[0],
    "last character listed": lambda case: case.characters[-1],
    "speaks most": lambda case: _find_most_frequent(case, _Turns(case).speakers),
    "speaks least": lambda case: min(case.characters, key=lambda name: _Turns(case).speakers.count(name)),
    "most mentioned": lambda case: max(case.characters, key=lambda name: _count_mentions(case, name)),
    "addresses the assistant most": lambda case: _find_most_frequent(case, _Turns(case).askers),
    "most frequent addressee of the assistant": lambda case: _find_most_frequent(case, _Turns(case).answered),
    "addressed by the assistant last": lambda case: _take_last(_Turns(case).answered),
    "waiting longest for an answer": lambda case: next(iter(case.waiting), None),
    "last to ask and still waiting": lambda case: _take_last(list(case.waiting)) or _take_last(_Turns(case).speakers),
}
AVOIDANCES: dict[str, Callable[[Case], Sequence[str | None]]] = {
    "never the last speaker": lambda case: [SHORTCUTS["last speaker"](case)],
    "never the last to address the assistant": lambda case: [SHORTCUTS["last to address the assistant"](case)],
    "never whom the assistant addressed last": lambda case: [SHORTCUTS["addressed by the assistant last"](case)],
    "nobody whom the assistant has addressed before": lambda case: _Turns(case).answered,
}
"""Rules that pick at random among all characters but those named here; among all, where these are all."""


def measure_shortcuts(cases: Sequence[Case]) -> list[ShortcutResult]:
    """The share of cases in which each shortcut picks the golden addressee; farthest from chance first.

    A shortcut that never picks anybody, since the assistant has not spoken yet, is none.
    """
    picks = {name: [pick(case) for case in cases] for name, pick in SHORTCUTS.items()}
    hits = {
        name: [float(one == case.golden.role_to) for one, case in zip(own, cases, strict=True)]
        for name, own in picks.items()
        if any(own)
    }
    for name, avoid in AVOIDANCES.items():
        left = [[each for each in case.characters if each not in avoid(case)] or case.characters for case in cases]
        hits[name] = [measure_hit(own, case.golden.role_to) for own, case in zip(left, cases, strict=True)]
    hits |= {f"{name}, other dialogues": own for name, own in classify_addressees(cases).items()}
    return compare_with_chance(hits, [case.dialogue for case in cases], [1 / len(case.characters) for case in cases])


def classify_addressees(cases: Sequence[Case]) -> dict[str, list[float]]:
    """The hits of each classifier (see ``cross_validate``): 1.0 for a case whose golden addressee it finds likeliest."""
    from sklearn.ensemble import RandomForestClassifier  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

    rows = np.concatenate([_compare_characters(case) for case in cases])
    classifiers = {
        "logistic regression": (make_pipeline(StandardScaler(), LogisticRegression()), rows),
        "random forest": (RandomForestClassifier(n_estimators=60, min_samples_leaf=4, random_state=0), rows),
    }
    golden = [[name == case.golden.role_to for name in case.characters] for case in cases]
    return cross_validate(classifiers, golden, [case.dialogue for case in cases])


def _compare_characters(case: Case) -> Floats:
    """[characters, features]: numbers that compare each character with the others in all that the shortcuts look at."""
    turns = _Turns(case)
    said = (turns.speakers, turns.askers, turns.answered, turns.addressed)
    waiting = list(case.waiting)
    mentions = {name: _count_mentions(case, name) for name in case.characters}
    rows = []
    for place, name in enumerate(case.characters):
        spoke_at = [number for number, message in enumerate(case.messages) if message.role_from == name]
        rows.append(
            [
                place == 0,
                place == len(case.characters) - 1,
                *(_take_last(names) == name for names in said),
                *(names.count(name) / max(1, len(names)) for names in said),
                mentions[name] / max(1, sum(mentions.values())),
                name in waiting,
                waiting[:1] == [name],
                waiting[-1:] == [name],
                not spoke_at,
                len(case.messages) - spoke_at[-1] if spoke_at else len(case.messages) + 1,
                said[0][:1] == [name],
                len(case.characters),
            ]
        )
    return np.array(rows, dtype=np.float64)


def measure_tells(cases: Sequence[Case]) -> list[ShortcutResult]:
    """How often length and words tell the golden response from the weaker one, in cases that have one; by half in a tie."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pairs = [(case.golden.content, case.weaker.content) for case in cases if case.weaker]
    if not pairs:
        return []
    dialogues = [case.dialogue for case in cases if case.weaker]
    lengths = [[len(response.split()) for response in pair] for pair in pairs]
    hits = {"the longer one": [(1.0 + np.sign(golden - weaker)) / 2 for golden, weaker in lengths]}
    texts = [response for pair in pairs for response in pair]
    classifiers = {
        name: (make_pipeline(TfidfVectorizer(ngram_range=(1, longest)), LogisticRegression(C=10)), texts)
        for name, longest in (("words", 1), ("words and pairs of words", 2))
    }
    found = cross_validate(classifiers, [(True, False)] * len(pairs), dialogues, FEWEST_CLUSTERS)
    hits |= {f"{name}, other dialogues": own for name, own in found.items()}
    return compare_with_chance(hits, dialogues, [0.5] * len(pairs))


@dataclass(frozen=True, slots=True)
class Readings:
    """The addressees that independent readers chose, over the cases that have at least two readings."""

    cases: int
    readers: tuple[int, int]
    """The fewest and the most readers of a case."""
    unanimous: int
    """Cases in which all of them chose the golden addressee."""
    contested: tuple[str, ...]
    """Cases in which fewer than two of three did."""
    kappa: float | None
    """Fleiss' kappa among the readers (the golden addressee is none of them), over the cases with as many readers as most.

    A label is the place in the list of characters, so that chance agreement is that of picking among so many.
    """


def measure_readings(cases: Sequence[Case]) -> Readings | None:
    """The readers' agreement with the data and with each other; None if no case was read by two."""
    read = [case for case in cases if len(case.readings) > 1]
    if not read:
        return None
    right = {case.id: sum(case.find_character(name) == case.golden.role_to for name in case.readings) for case in read}
    counts = Counter(len(case.readings) for case in read)
    usual = counts.most_common(1)[0][0]
    labels = [[case.characters.index(case.find_character(name) or name) for name in case.readings] for case in read]
    return Readings(
        cases=len(read),
        readers=(min(counts), max(counts)),
        unanimous=sum(right[case.id] == len(case.readings) for case in read),
        contested=tuple(case.id for case in read if 3 * right[case.id] < 2 * len(case.readings)),
        kappa=measure_fleiss([label for label in labels if len(label) == usual]).value,
    )


def find_alike_dialogues(cases: Sequence[Case]) -> list[str]:
    """Pairs of dialogues that share too many runs of five words, or the whole sequence of speakers."""
    longest = {case.dialogue: case for case in find_longest_cases(cases)}
    turns = {name: (*case.messages, case.golden) for name, case in longest.items()}
    texts = {name: " ".join([longest[name].background.scene, *(turn.content for turn in own)]) for name, own in turns.items()}
    speakers = {name: _number_speakers([turn.role_from for turn in own]) for name, own in turns.items() if len(own) > FEW_TURNS}
    same = [pair for pair in combinations(speakers, 2) if speakers[pair[0]] == speakers[pair[1]]]
    told = [f"{one} and {other} have the same sequence of speakers" for one, other in same]
    return [*shorten_list(find_alike_texts(texts)), *shorten_list(told)]


def _number_speakers(speakers: Sequence[str]) -> list[int]:
    """The speakers, turn by turn, numbered in the order in which they first speak; -1 for the assistant."""
    first = list(dict.fromkeys(name for name in speakers if name != ASSISTANT))
    return [-1 if name == ASSISTANT else first.index(name) for name in speakers]


def find_rule_faults(cases: Sequence[Case]) -> list[str]:
    """Cases whose own rules do not hold: the golden response must earn everything, and the weaker one no more."""
    faults = []
    for case in cases:
        golden = measure_points(case, case.golden.content)
        if golden is None:
            continue
        if golden[0] < 1.0:
            faults.append(f"{case.id}: the golden response {golden[1]}")
        if case.weaker and (weaker := measure_points(case, case.weaker.content)) and weaker[0] > golden[0]:
            faults.append(f"{case.id}: the weaker response earns more than the golden one")
        faults += [f"{case.id}: an acceptable response reveals {each}" for each in _list_revealed(case)]
    return faults


def _list_revealed(case: Case) -> list[str]:
    """The facts that acceptable responses tell somebody who may not know them."""
    hidden = [fact for hearer in case.list_hearers(case.golden.role_to) for fact in case.list_hidden_facts(hearer)]
    return list(dict.fromkeys(f"'{each.fact}'" for each in hidden if any(has_claim(t, each.wording) for t in case.acceptable)))


def _make_acceptable_table(cases: Sequence[Case]) -> Table:
    """How short acceptable responses are, and how many of their points the wordings find, which were written before them."""
    own = [case for case in cases if case.acceptable]
    clusters = [case.dialogue for case in own]
    found, shortest = [], []
    for case in own:
        plain = case.model_copy(update={"better": None, "private_facts": ()})
        earned = [points[0] for text in case.acceptable if (points := measure_points(plain, text))]
        found.append(fmean(earned) if earned else 0.0)
        shortest.append(len(case.shortest.split()) / len(case.golden.content.split()))
    made = estimate_mean(found, clusters)
    rows = [
        ["cases that have them", f"{len(own)} of {len(cases)}"],
        ["responses", str(sum(len(case.acceptable) for case in own))],
        ["words of the shortest, of the golden one's", format_figure(fmean(shortest), 2)],
        ["points in them that the wordings find", format_interval(made)],
    ]
    caption = "Responses that are as good as the golden one"
    return Table(caption, [Column(""), Column("", True)], [Row(row) for row in rows], "95% intervals by dialogue.")


def load_printed_cases() -> tuple[Case, ...]:
    """The three cases of Tables 3 to 5: their names and turns; the words are paraphrased."""
    return load_dataset(Path(__file__).parent / "data" / "printed_cases.json").items


def _make_readings_table(readings: Readings, cases: int) -> Table:
    fewest, most = readings.readers
    rows = [
        ["cases read", f"{readings.cases} of {cases}"],
        ["readers a case", str(fewest) if fewest == most else f"{fewest} to {most}"],
        ["all chose the golden addressee", f"{readings.unanimous} of {readings.cases}"],
        ["at least two of three did", f"{readings.cases - len(readings.contested)} of {readings.cases}"],
        ["Fleiss' kappa among readers", format_figure(readings.kappa, 2)],
    ]
    caption = "The addressees that independent readers chose, who knew the dialogue up to there only"
    return Table(caption, [Column(""), Column("", True)], [Row(row) for row in rows])


def _list_tells(tells: Sequence[ShortcutResult]) -> list[Block]:
    caption = "How often the golden response is told from the weaker one"
    return [make_shortcuts_table(caption, tells, TELLS_TOLERANCE, "cases"), rate_shortcuts(tells, TELLS_TOLERANCE)]


def make_audit(cases: Sequence[Case], source: str) -> Document:
    """The audit: shortcuts on these and on the printed cases, agreement with readers, faults of the data."""
    own, printed = measure_shortcuts(cases), measure_shortcuts(load_printed_cases())
    readings, tells = measure_readings(cases), measure_tells(cases)
    problems = [*find_rule_faults(cases), *find_alike_dialogues(cases)]
    if readings and readings.contested:
        listed = ", ".join(readings.contested)
        problems.append(f"Fewer than two of three readers chose the golden addressee in: {listed}.")
    few = [Callout(f"{len(cases)} cases are too few to tell.", Tone.WARNING)] if len(cases) < FEW_CASES else []
    beside = Column("Printed cases", numeric=True, explanation="the three cases of the paper's Tables 3 to 5")
    printed_hits = {result.name: format_figure(result.hits.value, 2) for result in printed}
    caption = "How often a shortcut picks the golden addressee"
    return Document(
        title="Audit of hsii",
        subtitle=f"{len(cases)} cases of {len({case.dialogue for case in cases})} dialogues ({source})",
        summary=replace(
            make_shortcuts_table(caption, own, TOLERANCE, "cases", (beside, printed_hits)),
            note=f"Chance on the three printed cases: {format_figure(printed[0].chance, 2)}.",
        ),
        sections=[
            Section("Verdict", [rate_shortcuts(own, TOLERANCE), *few, *(Callout(problem, Tone.BAD) for problem in problems)]),
            *([Section("Readers", [_make_readings_table(readings, len(cases))])] if readings else []),
            Section("Shortcuts", [make_shortcuts_plot(own, "cases")]),
            *([Section("Weaker responses", _list_tells(tells))] if tells else []),
            *([Section("Acceptable responses", [_make_acceptable_table(cases)])] if any(c.acceptable for c in cases) else []),
        ],
    )
