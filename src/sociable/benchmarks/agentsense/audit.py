"""The audit of AgentSense: can the quiz be answered without the scene, and do rules see what people see?

Each distinct question counts once. A shortcut is a rule that looks at options and background only, or a classifier
that sees the options of all other templates; on good data none is far from chance, in either direction. Goals' signs must
show in the exchange by which the goal is reached, and not in the one by which it is missed; how far the rules
agree with independent readers is measured on scenes that were played and read for that purpose. With ``--source`` texts are
compared with those they may have been made from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev
from typing import Literal, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from sociable.benchmarks.agentsense.briefing import describe_scene
from sociable.benchmarks.agentsense.records import AgentSenseEpisode
from sociable.benchmarks.agentsense.scenario import QuizQuestion, Scenario, list_distinct_questions
from sociable.core.data_files import Text, read_records, validate_record
from sociable.core.names import find_words
from sociable.core.records import Record
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, format_figure, format_with_interval
from sociable.core.wording import find_telling_words, measure_overlap
from sociable.reports.audits import (
    ShortcutResult,
    compare_with_chance,
    find_alike_texts,
    make_shortcuts_plot,
    make_shortcuts_table,
    rate_shortcuts,
    shorten_list,
)
from sociable.statistics.agreement import measure_cohen, measure_fleiss
from sociable.statistics.guessing import cross_validate, measure_hit
from sociable.statistics.intervals import Interval, estimate_mean

TOLERANCE = 0.10
"""The greatest distance from chance that a shortcut may have on data that is to be trusted."""

FEW_QUESTIONS = 60
"""The least number of questions: a fair quiz of fewer is further than the tolerance from chance, by chance alone."""

_OF = "distinct questions"


def make_audit(scenarios: Sequence[Scenario], source: str) -> Document:
    results = measure_shortcuts(scenarios)
    questions = len(list_distinct_questions(scenarios))
    by_id = {scenario.id: scenario for scenario in scenarios}
    judged = load_judged_scenes()
    by_manner = {"all": judged} | {manner: [s for s in judged if s.manner == manner] for manner in ("lively", "plain")}
    rules = {manner: found for manner, some in by_manner.items() if (found := measure_rules(some, by_id)) is not None}
    templates = len({scenario.template for scenario in scenarios})
    return Document(
        title="Audit of agentsense",
        subtitle=f"{questions} distinct quiz questions in {len(scenarios)} scenarios of {templates} templates ({source})",
        summary=make_shortcuts_table("How often a shortcut finds the answer", results, TOLERANCE, _OF),
        sections=[
            Section("Verdict", list(_list_verdicts(scenarios, results, questions))),
            *([Section("Rules and readers", [_tabulate_rules(rules)])] if rules else []),
            *([Section("Shortcuts", [make_shortcuts_plot(results, _OF)])] if results else []),
        ],
    )


def _list_verdicts(scenarios: Sequence[Scenario], results: Sequence[ShortcutResult], questions: int) -> Iterator[Callout]:
    yield rate_shortcuts(results, TOLERANCE) if results else Callout("There is no quiz in these data.")
    if 0 < questions < FEW_QUESTIONS:
        yield Callout(f"{questions} questions are too few to tell.", Tone.WARNING)
    for problem in (*find_sign_faults(scenarios), *find_alike_templates(scenarios)):
        yield Callout(problem, Tone.BAD)


def find_sign_faults(scenarios: Sequence[Scenario]) -> list[str]:
    """Goals whose signs do not show where the data say it is reached, or all show where it is missed."""
    return [
        f"{scenario.id}, {character.name}, goal {number}: the signs {said}"
        for scenario in scenarios
        for character in scenario.characters
        for number, goal in enumerate(character.goals, start=1)
        for lines, wanted, said in (
            (goal.reached, True, "do not all show in 'reached'"),
            (goal.missed, False, "all show in 'missed'"),
        )
        if lines and goal.signs and goal.is_reached((line.by, line.says) for line in lines) is not wanted
    ]


def find_alike_templates(scenarios: Sequence[Scenario]) -> list[str]:
    """Pairs of templates whose scenes, goals and secrets share too many runs of five words."""
    first = {scenario.template: scenario for scenario in reversed(scenarios)}
    texts = {}
    for template in sorted(first):
        scene = first[template]
        known = [text for each in scene.characters for text in (each.private_info, *(goal.goal for goal in each.goals))]
        texts[template] = " ".join([scene.background, scene.description, *known])
    return shorten_list(find_alike_texts(texts))


# Shortcuts: guesses of a quiz's answer without having been in the scene.


@dataclass(frozen=True, slots=True)
class QuizItem:
    """A distinct question with the background that everybody knows."""

    template: str
    question: QuizQuestion
    background: str


def measure_shortcuts(scenarios: Sequence[Scenario]) -> list[ShortcutResult]:
    """The share of distinct questions in which each shortcut finds the answer; farthest from chance first."""
    found = list_distinct_questions(scenarios)
    items = [QuizItem(each.template, question, f"{each.background} {each.description}") for each, _, question in found]
    if not items:
        return []
    hits = {
        name: [measure_hit(_pick_highest(item, rank), item.question.answer_label) for item in items]
        for name, rank in RANKINGS.items()
    }
    hits |= {f"{name}, other templates": own for name, own in _classify_options(items).items()}
    chances = [1 / len(item.question.options) for item in items]
    return compare_with_chance(hits, [item.template for item in items], chances)


def _compare_with_text(option: str, text: str) -> float:
    return measure_overlap(find_telling_words(option), find_telling_words(text))


def _compare_with_others(item: QuizItem, option: str) -> float:
    own = find_telling_words(option)
    others = [find_telling_words(other) for other in item.question.options if other != option]
    return sum(measure_overlap(own | other, own & other) for other in others)


RANKINGS: dict[str, Callable[[QuizItem, str], float]] = {
    "the longest": lambda _, option: len(option),
    "the shortest": lambda _, option: -len(option),
    "the most words": lambda _, option: len(find_words(option)),
    "the first": lambda item, option: -item.question.options.index(option),
    "the last": lambda item, option: item.question.options.index(option),
    "the one most like the background": lambda item, option: _compare_with_text(option, item.background),
    "the one least like the background": lambda item, option: -_compare_with_text(option, item.background),
    "the one most like the question": lambda item, option: _compare_with_text(option, item.question.question),
    "the one most like the others": _compare_with_others,
    "the one unlike the others": lambda item, option: -_compare_with_others(item, option),
    "the one with a figure": lambda _, option: any(character.isdigit() for character in option),
    "the most capitals": lambda _, option: sum(character.isupper() for character in option),
}
"""Rules, each of which takes the option it ranks highest."""


def _pick_highest(item: QuizItem, rank: Callable[[QuizItem, str], float]) -> list[int]:
    """The places of the options that the rule ranks highest."""
    ranks = [rank(item, option) for option in item.question.options]
    return [place for place, own in enumerate(ranks) if own == max(ranks)]


def _classify_options(items: Sequence[QuizItem]) -> dict[str, list[float]]:
    """The hits of each classifier (see ``cross_validate``), trained on the options of other templates.

    Empty where questions differ in their number of options.
    """
    from sklearn.ensemble import RandomForestClassifier  # type: ignore[import-untyped]
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]

    if len({len(item.question.options) for item in items}) != 1:
        return {}
    options = [(item, place) for item in items for place in range(len(item.question.options))]
    texts = np.array([item.question.options[place] for item, place in options], dtype=object)
    shapes = np.array([_compare_option(item, place) for item, place in options])
    by_words = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression())
    by_shape = RandomForestClassifier(100, min_samples_leaf=4, random_state=0)
    classifiers = {"words (logistic regression)": (by_words, texts), "shape (random forest)": (by_shape, shapes)}
    right = [[place == item.question.answer_label for place in range(len(item.question.options))] for item in items]
    return cross_validate(classifiers, right, [item.template for item in items], folds=10)


def _compare_option(item: QuizItem, place: int) -> list[float]:
    """Numbers that compare an option with the others of its question; its place is none of them."""
    options = item.question.options
    lengths = [len(option) for option in options]
    counts = [len(find_words(option)) for option in options]
    own, said = options[place], find_words(options[place])
    return [
        lengths[place] - sum(lengths) / len(lengths),
        float(sorted(lengths).index(lengths[place])),
        counts[place] - sum(counts) / len(counts),
        _compare_with_others(item, own),
        float(any(character.isdigit() for character in own)),
        float(sum(character.isupper() for character in own)),
        float(own.count(",")),
        float(own.count("'") + own.count("’")),
        float(bool(said) and said[0] in ("the", "a", "an", "to", "that", "he", "she", "they")),
        float(not {"not", "never", "no", "nobody"}.isdisjoint(said)),
    ]


# Scenes judged by independent readers: the rules of ``reference/rule`` are measured against them.


class ReadTurn(Record):
    speaker: Text
    content: Text


class GoalReading(Record):
    """The answers, one each, of readers of the turns alone to whether a goal was reached."""

    owner: Text
    item: int
    """Place among the owner's goals, from 0."""
    reached: tuple[bool, ...]


class JudgedScene(Record):
    """A scene as it was played, and its goals as readers judged them."""

    scenario: Text
    manner: Literal["lively", "plain"]
    """The manner of playing: as people talk, with images and half answers, or as assistants do, saying things outright."""
    turns: tuple[ReadTurn, ...]
    readings: tuple[GoalReading, ...]


def load_judged_scenes() -> list[JudgedScene]:
    """The bundled judged scenes. Raises DataError when their file is damaged."""
    path = Path(__file__).parent / "data" / "judged_scenes.jsonl"
    return [validate_record(JudgedScene, raw.value, raw.place) for raw in read_records(path, None)]


@dataclass(frozen=True, slots=True)
class RuleAgreement:
    """The rules beside the majority of the readers, over the goals of all judged scenes."""

    scenes: int
    goals: int
    reached: float
    """Share of goals that most readers found reached."""
    agreement: Interval
    """Share of goals on which rule and majority agree; clusters are templates."""
    kappa: float | None
    """Cohen's, between rule and majority."""
    missed: int
    """Goals that most readers found reached and the rule did not."""
    invented: int
    """Goals that the rule found reached and most readers did not."""
    readers: float | None
    """Fleiss' kappa among the readers."""
    reader_agreement: float | None
    """Share of pairs of readers that agree, over all goals."""


def measure_rules(scenes: Sequence[JudgedScene], scenarios: Mapping[str, Scenario]) -> RuleAgreement | None:
    """The agreement of rules and readers; None when none of the judged scenes is among ``scenarios``."""
    rule: list[bool] = []
    clusters: list[str] = []
    readings: list[tuple[bool, ...]] = []
    known = [scene for scene in scenes if _has_its_goals(scenarios.get(scene.scenario), scene)]
    for scene in known:
        scenario = scenarios[scene.scenario]
        said = [(turn.speaker, turn.content) for turn in scene.turns]
        for reading in scene.readings:
            verdict = scenario.by_name[reading.owner].goals[reading.item].is_reached(said)
            if verdict is not None:
                rule.append(verdict)
                clusters.append(scenario.template)
                readings.append(reading.reached)
    if not rule:
        return None
    majority = [2 * sum(reading) > len(reading) for reading in readings]
    both = list(zip(rule, majority, strict=True))
    usual = Counter(map(len, readings)).most_common(1)[0][0]
    full = [reading for reading in readings if len(reading) == usual]
    pairs = [a == b for reading in full for a, b in combinations(reading, 2)]
    return RuleAgreement(
        scenes=len(known),
        goals=len(rule),
        reached=sum(majority) / len(majority),
        agreement=estimate_mean([float(a == b) for a, b in both], clusters),
        kappa=measure_cohen(rule, majority).value,
        missed=both.count((False, True)),
        invented=both.count((True, False)),
        readers=measure_fleiss(full).value,
        reader_agreement=sum(pairs) / len(pairs) if pairs else None,
    )


def _has_its_goals(scenario: Scenario | None, scene: JudgedScene) -> bool:
    """Whether the scene is of this scenario: a user's own data may use the same names for others."""
    goals = {character.name: len(character.goals) for character in scenario.characters} if scenario else {}
    return bool(scenario) and all(reading.item < goals.get(reading.owner, 0) for reading in scene.readings)


def _tabulate_rules(by_manner: Mapping[str, RuleAgreement]) -> Table:
    """One column for all scenes, and one for each manner of playing them."""
    every = by_manner.values()
    agreement = [format_with_interval(each.agreement.value, each.agreement.low, each.agreement.high, 2) for each in every]
    rows = [
        ["scenes played and read", *(str(each.scenes) for each in every)],
        ["goals", *(str(each.goals) for each in every)],
        ["reached, as most readers say", *(format_figure(each.reached, 2) for each in every)],
        ["rule and most readers agree", *agreement],
        ["Cohen's kappa of the two", *(format_figure(each.kappa, 2) for each in every)],
        ["reached for readers, not for the rule", *(str(each.missed) for each in every)],
        ["reached for the rule, not for readers", *(str(each.invented) for each in every)],
        ["Fleiss' kappa among readers", *(format_figure(each.readers, 2) for each in every)],
        ["two readers agree", *(format_figure(each.reader_agreement, 2) for each in every)],
    ]
    columns = [Column(""), *(Column(manner, True) for manner in by_manner)]
    note = "lively: as people talk, with images and half answers; plain: as assistants do, saying things outright."
    return Table("reference/rule beside independent readers of the same scenes", columns, [Row(row) for row in rows], note)


# Likeness of scenes to the source they were made from (Table 3), and of dialogues to it (Table 10). A source is longer than a
# scene by far, so a text is compared with the passage of its own length that shares most words with it.

MOST_SHOWN = 5
"""Texts that are shown: those most like a source."""


class Nearest(NamedTuple):
    """The passage of a source that is most like a text, and three measures of their likeness in [0, 1], over words."""

    source: str
    passage: str
    jaccard: float
    """Words in both texts, of the words in either."""
    gestalt: float
    """Ratcliff and Obershelp: twice the matching words, of the words of both (difflib)."""
    levenshtein: float
    """1 less the edit distance in words, of the longer text's words (rapidfuzz)."""


def find_nearest_passage(text: str, sources: Mapping[str, str]) -> Nearest | None:
    """The passage with most shared words, of those of the text's length, half a length apart. None without sources or words."""
    own = find_words(text)
    if not own:
        return None
    counted, step = Counter(own), max(1, len(own) // 2)
    passages = (
        (name, every[start : start + len(own)])
        for name, every in ((name, find_words(source)) for name, source in sources.items())
        for start in range(0, max(1, len(every) - step), step)
    )
    best = max(passages, key=lambda each: (counted & Counter(each[1])).total(), default=None)
    if best is None:
        return None
    name, passage = best
    return Nearest(
        name,
        " ".join(passage),
        jaccard=len(set(own) & set(passage)) / len(set(own) | set(passage)),
        gestalt=SequenceMatcher(None, own, passage, autojunk=False).ratio(),
        levenshtein=Levenshtein.normalized_similarity(own, passage),
    )


def compare_texts(scenarios: Sequence[Scenario], sources: Mapping[str, str], episodes: Sequence[AgentSenseEpisode]) -> Section:
    """Scenes beside the sources, one cast a template; and dialogues, where there are any."""
    first = {scenario.template: scenario for scenario in reversed(scenarios)}
    scenes = {template: describe_scene(scenario) for template, scenario in sorted(first.items())}
    tables = [_tabulate_likeness("Scenes beside the sources (Table 3)", scenes, sources)]
    if episodes:
        said = {episode.id: " ".join(turn.content for turn in episode.turns if turn.index > 0) for episode in episodes}
        tables.append(_tabulate_likeness("Dialogues beside the sources (Table 10)", said, sources))
    return Section("Beside the sources", tables)


def _tabulate_likeness(caption: str, texts: Mapping[str, str], sources: Mapping[str, str]) -> Table:
    """Mean and standard deviation over the texts, and the texts most like a source."""
    found = {name: nearest for name, text in texts.items() if (nearest := find_nearest_passage(text, sources)) is not None}
    rows = []
    if found:
        columns = zip(*(nearest[2:] for nearest in found.values()), strict=True)
        shown = [f"{fmean(own):.3f} ± {stdev(own):.3f}" if len(own) > 1 else f"{own[0]:.3f}" for own in columns]
        rows.append(Row(["mean ± standard deviation", "", *shown, ""], emphasis=True))
    for name, (source, passage, *measures) in sorted(found.items(), key=lambda each: -each[1].gestalt)[:MOST_SHOWN]:
        rows.append(Row([name, source, *(f"{value:.3f}" for value in measures), passage[:200]]))
    figures = [Column(measure.capitalize(), True) for measure in Nearest._fields[2:]]
    return Table(
        caption,
        [Column("Text"), Column("Source"), *figures, Column("Nearest passage")],
        rows,
        "Each text beside the passage of its own length that shares most words with it; over words, without case and "
        "punctuation. The paper's figures (Tables 3 and 10) are of whole scripts, and not comparable.",
    )
