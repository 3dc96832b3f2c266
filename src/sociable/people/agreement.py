"""People's verdicts and ratings beside judges and scores, as a part of a report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from sociable.core.people_files import PeopleFiles, SheetItem
from sociable.core.records import Outcome, Verdict, make_episode_id
from sociable.core.seeding import derive_seed
from sociable.core.view import Callout, Column, Paragraph, Row, Section, Table, Tone, format_figure, format_with_interval
from sociable.engine.result import RunResult
from sociable.people.corrected import show_corrected
from sociable.people.pairs import list_judged_pairs
from sociable.statistics.agreement import Label, correlate_ranks, measure_alpha, measure_cohen, measure_fleiss, measure_observed
from sociable.statistics.intervals import bootstrap_rank_correlation

MOST_WORDS = 30
"""Words that a report lists."""
PANEL = "the panel"


@dataclass(frozen=True)
class Checked:
    """Every item of one stage that at least one person judged, with all opinions on it."""

    items: Sequence[SheetItem]
    people: Mapping[str, Sequence[Label]]
    """The verdicts by person, in the order of the items; None where there is no verdict."""
    judges: Mapping[str, Sequence[Label]]
    """The verdicts by judge, and under ``the panel``."""


def line_up(run: RunResult, people: PeopleFiles) -> dict[str, Checked]:
    """People's verdicts beside the current panel's, by stage. An item that is no longer judged has no label from the judges."""
    judged = {(pair.episode.id, pair.criterion): pair for pair in list_judged_pairs(run)}
    panel = [seat.name for seat in run.seats.judges]
    given: dict[str, dict[str, Label]] = defaultdict(dict)
    for verdict in people.verdicts:
        given[verdict.person][verdict.item] = _label(verdict.verdict)

    def check(stage: str, items: Sequence[SheetItem]) -> Checked:
        pairs = [judged.get((item.episode, item.criterion)) for item in items]
        opinions = [{**pair.by_judge, PANEL: pair.verdict} if pair else {} for pair in pairs]
        judges = [*panel, PANEL] if len(panel) > 1 else panel
        return Checked(
            items,
            {person: [own.get(item.id) for item in items] for person, own in sorted(given.items())},
            {judge: [_label(each.get(judge)) for each in opinions] for judge in judges},
        )

    looked_at: dict[str, list[SheetItem]] = defaultdict(list)
    for item in people.sheets:
        if any(own.get(item.id) is not None for own in given.values()):
            looked_at[item.counted_as].append(item)
    return {stage: check(stage, items) for stage, items in looked_at.items()}


def _label(verdict: Verdict | None) -> Label:
    return None if verdict is Verdict.UNSCORED else verdict


def show_people(run: RunResult, people: PeopleFiles) -> list[Section]:
    """The section on what people said; none where they have said nothing."""
    blocks: list[Table | Callout | Paragraph] = []
    if len(people.verdicts):
        checked = line_up(run, people)
        blocks += [_compare_with_judges(checked), _compare_people(checked), *show_corrected(run, people)]
        blocks += _warn_of_unjudged(checked)
    if len(people.ratings):
        blocks.append(_correlate_ratings(run, people))
    if len(people.words):
        blocks.append(_count_words(people))
    return [Section("People", blocks)] if blocks else []


def _compare_with_judges(checked: Mapping[str, Checked]) -> Table:
    rows = []
    for stage, own in checked.items():
        for judge, said in own.judges.items():
            for person, verdicts in own.people.items():
                both = sum(a is not None and b is not None for a, b in zip(said, verdicts, strict=True))
                shares = [
                    format_figure(measure_observed(said, verdicts), 2),
                    format_figure(measure_cohen(said, verdicts).value, 2),
                ]
                rows.append(Row([stage, judge, person, str(both), *shares]))
    return Table(
        "Judges and people",
        [
            Column("Stage"),
            Column("Judge"),
            Column("Person"),
            Column("Pairs", True),
            Column("Agreement", True, "share of the pairs with the same verdict (win, tie, loss)"),
            Column("Cohen's κ", True, "agreement beyond chance; — where only one verdict was given"),
        ],
        rows,
        "On the sample, which has rare verdicts more often than the run: not an estimate of agreement over the whole run.",
    )


def _compare_people(checked: Mapping[str, Checked]) -> Table:
    rows = []
    for stage, own in checked.items():
        raters = list(own.people.values())
        complete = [item for item in zip(*raters, strict=True) if None not in item]
        pairs = [kappa for one, other in combinations(raters, 2) if (kappa := measure_cohen(one, other).value) is not None]
        kappas = (fmean(pairs) if pairs else None, measure_fleiss(complete).value, measure_alpha(raters).value)
        rows.append(Row([stage, str(len(raters)), str(len(complete)), *(format_figure(kappa, 2) for kappa in kappas)]))
    return Table(
        "People among themselves",
        [
            Column("Stage"),
            Column("People", True),
            Column("Pairs all judged", True),
            Column("Cohen's κ", True, "mean over all two people"),
            Column("Fleiss' κ", True, "over the pairs all of them judged"),
            Column("Krippendorff's α", True, "nominal, missing verdicts allowed"),
        ],
        rows,
    )


def _warn_of_unjudged(checked: Mapping[str, Checked]) -> Iterator[Callout]:
    for judge in dict.fromkeys(judge for own in checked.values() for judge in own.judges):
        labels = [label for own in checked.values() for label in own.judges[judge]]
        if missing := labels.count(None):
            yield Callout(f"{judge} has no verdict on {missing} of {len(labels)} pairs that people judged.", Tone.WARNING)


def _correlate_ratings(run: RunResult, people: PeopleFiles) -> Table:
    rated: dict[str, list[float]] = defaultdict(list)
    for rating in people.ratings:
        rated[rating.episode].append(rating.rating)
    means = {episode: fmean(ratings) for episode, ratings in rated.items()}
    clusters = {make_episode_id(score.scenario, score.repeat): score.cluster for score in run.scores}
    rows = []
    for name, values in _list_values(run).items():
        common = [episode for episode in means if episode in values]
        ours, theirs = [values[episode] for episode in common], [means[episode] for episode in common]
        found = correlate_ranks(ours, theirs)
        own = [clusters[episode] for episode in common]
        low, high = bootstrap_rank_correlation(ours, theirs, own, seed=derive_seed(0, "ranks", name))
        rows.append(
            Row([name, str(found.items), format_with_interval(found.spearman, low, high, 2), format_figure(found.kendall, 2)])
        )
    persons = len({rating.person for rating in people.ratings})
    return Table(
        f"Free ratings of {len(means)} episodes by {persons} {'person' if persons == 1 else 'people'}",
        [
            Column("Metric"),
            Column("Episodes", True, "rated, and with a value of the metric"),
            Column("Spearman's ρ", True, "95% interval by bootstrap over clusters"),
            Column("Kendall's τ", True),
        ],
        rows,
        "Rank correlation with the mean rating. — : one of the two does not vary, or there are under three episodes.",
    )


def _count_words(people: PeopleFiles) -> Table:
    """The most frequent words, in place of a cloud of them."""
    said = list(people.words)
    counts = Counter(each.word for each in said)
    persons, episodes = len({each.person for each in said}), len({each.episode for each in said})
    rows = [Row([word, str(count), format_figure(count / len(said), 2)]) for word, count in counts.most_common(MOST_WORDS)]
    caption = f"{len(said)} words of {persons} {'person' if persons == 1 else 'people'} on {episodes} episodes"
    note = f"{len(counts)} different words." + (f" The {MOST_WORDS} most frequent." if len(counts) > MOST_WORDS else "")
    return Table(caption, [Column("Word"), Column("Times", True), Column("Share", True)], rows, note)


def _list_values(run: RunResult) -> dict[str, dict[str, float]]:
    """The values, by episode, of every metric with a value per case, and of the number of stages an episode passed."""
    wanted = [metric.name for metric in run.study.metrics.list_compared()]
    passes = [metric.name for metric in run.study.metrics.values() if metric.is_stage]
    found: dict[str, dict[str, float]] = {name: {} for name in (*(["stages passed"] if passes else []), *wanted)}
    unknown = set()
    for score in run.scores:
        episode = make_episode_id(score.scenario, score.repeat)
        if score.metric in passes:
            # A stage that was not reached was not passed; one that failed on our side is not known.
            found["stages passed"][episode] = found["stages passed"].get(episode, 0.0) + (score.value or 0.0)
            if score.outcome in (Outcome.UNSCORED, Outcome.ERRORED):
                unknown.add(episode)
        if score.metric in found and score.value is not None:
            found[score.metric][episode] = score.value
    for episode in unknown:
        del found["stages passed"][episode]
    return {name: values for name, values in found.items() if values}
