"""AgentSense's metrics: episodes and judgments to scores, scores to estimates. Pure.

A goal's value is the mean over its questions; goals are averaged per character, characters per scene, scenes overall.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from sociable.benchmarks.agentsense.records import AgentSenseEpisode, ProbeAnswer, ProbeKind
from sociable.benchmarks.agentsense.scenario import Goal, Scenario
from sociable.benchmarks.agentsense.sensitivity import profile_sensitivity
from sociable.core.records import CUT_OFF, PANEL, EpisodeStatus, Estimate, Outcome, Score, Verdict, Verdicts
from sociable.core.seeding import derive_seed
from sociable.statistics.estimates import estimate_jointly, estimate_proportion

GOALS = ("self", "other", "average", "majority")
"""Goal completion: as its owner, the others and the judges see it (section 3.4)."""

QUIZ = ("information", "information_blind", "information_gain")

MIXED = ("attack", "attack_blind", "defence", "defence_blind")
"""Only in mixed runs: with one model in all seats one is the other's complement (section 5.2)."""

PARTNER = "partner_"
"""Before the name of a metric: of the characters that the partner plays."""

JUDGE = "judge: "
"""Before a judge's name: goal completion as that judge alone sees it."""

SENSITIVITY = {"majority": "psi_goal", "self": "psi_self", "information": "psi_information"}

DIFFERENCES = frozenset({"information_gain", "overconfidence"})
"""Metrics with values from -1 to 1."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A metric's value for one scene, or why there is none."""

    value: float | None
    reason: str = ""
    outcome: Outcome = Outcome.UNSCORED
    """What the missing of a value is."""


_NOTHING = _Value(None, "", Outcome.NOT_REACHED)


def score_scene(
    scenario: Scenario,
    episode: AgentSenseEpisode,
    verdicts: Verdicts,
    judges: Sequence[str],
    judged_after: Sequence[int],
    *,
    mixed: bool = False,
    blind: bool = True,
) -> list[Score]:
    """All scores of one episode. ``judged_after``: the turns after which judges looked, the end last.

    ``mixed`` runs have a partner, ``blind`` ones ask the quiz before the scene: so that a scene without scores is missed
    in every metric it should have.
    """
    scorer = _Scorer(scenario, episode, verdicts, judges, mixed, blind)
    return [
        episode.score(metric, found.value, Outcome.SCORED if found.value is not None else found.outcome, found.reason)
        for metric, found in scorer.all(judged_after)
    ]


def value_over(
    metric: str, scenario: Scenario, episode: AgentSenseEpisode, verdicts: Verdicts, judges: Sequence[str], played: frozenset[str]
) -> float | None:
    """``self``, ``majority`` or ``information`` at the end of a scene, over some of its characters."""
    scorer = _Scorer(scenario, episode, verdicts, judges, mixed=False, blind=False)
    if scorer.failure() is not None:
        return None
    end = max((turn.index for turn in episode.turns), default=0)
    values = dict([*scorer.goals(played, end), *scorer.quiz(played)])
    return values[metric].value if metric in values else None


View = Callable[[str, int, Goal], _Value]
"""How a goal, given as owner, place and goal, went in somebody's eyes."""


class _Scorer:
    """The values of one scene."""

    def __init__(
        self,
        scenario: Scenario,
        episode: AgentSenseEpisode,
        verdicts: Verdicts,
        judges: Sequence[str],
        mixed: bool,
        blind: bool,
    ) -> None:
        self.mixed = mixed
        self.blind = blind
        self.scenario = scenario
        self.episode = episode
        self.verdicts = verdicts
        self.judges = judges
        self.subject = episode.played_as("subject")
        self.partner = episode.played_as("partner")
        self.tested = self.subject | self.partner if episode.both_tested else self.subject
        self.probes: dict[tuple[ProbeKind, str, int], list[ProbeAnswer]] = defaultdict(list)
        for probe in episode.probes:
            owner = probe.about if probe.kind in (ProbeKind.OWN_GOAL, ProbeKind.OTHERS_GOAL) else probe.asked
            self.probes[probe.kind, owner, probe.item].append(probe)

    def all(self, judged_after: Sequence[int]) -> Iterator[tuple[str, _Value]]:
        failed = self.failure()
        if failed is not None:
            yield from ((metric, failed) for metric in self._main_metrics())
            return
        end = judged_after[-1]
        yield from self.goals(self.subject, end)
        yield from self.quiz(self.subject)
        if self.judges:
            yield "overconfidence", self._completion(self.subject, self._overconfidence(end))
        yield from self._conduct()
        if self.partner:
            yield from ((PARTNER + name, value) for name, value in self.goals(self.partner, end))
            yield from ((PARTNER + name, value) for name, value in self.quiz(self.partner))
            yield from self._attack_and_defence()
        yield from self._breakdowns(end)
        if len(judged_after) > 1:
            yield from self._rounds(judged_after)
        if scripts := [probe for probe in self.episode.probes if probe.kind is ProbeKind.SCRIPT]:
            yield "script", _Value(float(bool(scripts[0].answer)))

    def failure(self) -> _Value | None:
        if self.episode.status is EpisodeStatus.ERRORED:
            return _Value(None, self.episode.error, Outcome.ERRORED)
        if self.episode.partner_failure:
            return _Value(None, self.episode.partner_failure)
        return None

    def _main_metrics(self) -> list[str]:
        judged = ["average", "majority", *(JUDGE + judge for judge in self.judges)] if self.judges else []
        own = ["self", "other", *judged, *(QUIZ if self.blind else QUIZ[:1])]
        names = [*own, *(["overconfidence"] if self.judges else [])]
        if self.mixed:
            mixed = [name for name in MIXED if self.blind or not name.endswith("_blind")]
            names += [*mixed, *(PARTNER + name for name in (*own, *mixed))]
        return names

    # Goals.

    def goals(self, played: frozenset[str], end: int) -> Iterator[tuple[str, _Value]]:
        yield "self", self._completion(played, self._asked(ProbeKind.OWN_GOAL, end))
        yield "other", self._completion(played, self._asked(ProbeKind.OTHERS_GOAL, end))
        if not self.judges:
            return
        by_judge = {judge: self._completion(played, self._judged(judge, end)) for judge in self.judges}
        yield from ((JUDGE + judge, value) for judge, value in by_judge.items())
        given = [value.value for value in by_judge.values() if value.value is not None]
        lacking = next((value for value in by_judge.values() if value.value is None), None)
        yield "average", lacking or _Value(fmean(given))
        yield "majority", self._completion(played, self._judged(PANEL, end))

    def _completion(self, played: frozenset[str], view: View, goals: Callable[[Goal], bool] = lambda _: True) -> _Value:
        """The mean over the characters ``played`` of the mean over their goals."""
        return _mean_of_means(
            [view(character.name, item, goal) for item, goal in enumerate(character.goals) if goals(goal)]
            for character in self.scenario.characters
            if character.name in played
        )

    def _asked(self, kind: ProbeKind, after: int) -> View:
        """What participants said about a goal."""
        return lambda owner, item, _: self._share_true(
            [probe for probe in self.probes[kind, owner, item] if probe.after == after]
        )

    def _judged(self, judge: str, after: int) -> View:
        """What a judge, or the panel, made of a goal."""

        def view(owner: str, item: int, goal: Goal) -> _Value:
            questions = range(len(goal.eval_questions.judge or ()))
            found = [self.verdicts.get((f"{owner}|goal {item + 1}.{place + 1}|{after}", judge)) for place in questions]
            if None in found:
                return _Value(None, "judging was not finished", Outcome.ERRORED)
            return _mean_verdict([each for each in found if each is not None])

        return view

    def _overconfidence(self, end: int) -> View:
        """Self less the judges' majority, where a goal has both."""
        own, judged = self._asked(ProbeKind.OWN_GOAL, end), self._judged(PANEL, end)
        return lambda *goal: _difference(own(*goal), judged(*goal))

    def _breakdowns(self, end: int) -> Iterator[tuple[str, _Value]]:
        """Goal completion by kind of goal (Figure 6), domain (Figure 9) and number of participants (Figure 11)."""
        views = {"self": self._asked(ProbeKind.OWN_GOAL, end)}
        if self.judges:
            views["majority"] = self._judged(PANEL, end)
        kinds = {goal.type for character in self.scenario.characters for goal in character.goals if goal.type}
        for name, view in views.items():
            for kind in sorted(kinds):
                yield f"{name}/{kind}", self._completion(self.subject, view, lambda goal, kind=kind: goal.type is kind)  # type: ignore[misc]
            for need in sorted({kind.need for kind in kinds}):
                yield (
                    f"{name}/{need}",
                    self._completion(self.subject, view, lambda goal, need=need: bool(goal.type and goal.type.need is need)),  # type: ignore[misc]
                )
            whole = self._completion(self.subject, view)
            if self.scenario.domain:
                yield f"{name}/{self.scenario.domain}", whole
            yield f"{name}/{len(self.scenario.characters)} participants", whole

    def _rounds(self, judged_after: Sequence[int]) -> Iterator[tuple[str, _Value]]:
        """Goal completion as it stood after so many turns (Figure 10)."""
        for after in judged_after:
            if self.judges:
                yield f"majority/after {after}", self._completion(self.subject, self._judged(PANEL, after))
            for name, kind in (("self", ProbeKind.OWN_GOAL), ("other", ProbeKind.OTHERS_GOAL)):
                value = self._completion(self.subject, self._asked(kind, after))
                if value.outcome is not Outcome.NOT_REACHED:
                    yield f"{name}/after {after}", value

    # Quiz.

    def quiz(self, played: frozenset[str]) -> Iterator[tuple[str, _Value]]:
        yield "information", self._accuracy(played, ProbeKind.QUIZ)
        if self.blind:
            yield "information_blind", self._accuracy(played, ProbeKind.BLIND_QUIZ)
            yield (
                "information_gain",
                self._over_questions(
                    played,
                    # After less before, paired by question.
                    lambda *question: _difference(
                        self._share_true(self.probes[ProbeKind.QUIZ, *question]),
                        self._share_true(self.probes[ProbeKind.BLIND_QUIZ, *question]),
                    ),
                ),
            )

    def _accuracy(self, asked: frozenset[str], kind: ProbeKind, about: frozenset[str] | None = None) -> _Value:
        """The share of right answers, on questions about anybody or about some."""
        return self._over_questions(
            asked,
            lambda name, item: self._share_true(
                [probe for probe in self.probes[kind, name, item] if about is None or probe.about in about]
            ),
        )

    def _over_questions(self, asked: frozenset[str], value_of: Callable[[str, int], _Value]) -> _Value:
        """The mean over the characters ``asked`` of the mean over their questions."""
        return _mean_of_means(
            [value_of(character.name, item) for item in range(len(character.info_reason_questions))]
            for character in self.scenario.characters
            if character.name in asked
        )

    def _attack_and_defence(self) -> Iterator[tuple[str, _Value]]:
        """Attack: own accuracy on the others' secrets. Defence: 1 less the others' accuracy on one's own."""
        for suffix, kind in (("", ProbeKind.QUIZ), ("_blind", ProbeKind.BLIND_QUIZ)):
            if suffix and not self.blind:
                continue
            own, theirs = self._accuracy(self.subject, kind, self.partner), self._accuracy(self.partner, kind, self.subject)
            yield f"attack{suffix}", own
            yield f"defence{suffix}", _difference(_Value(1.0), theirs)
            yield f"{PARTNER}attack{suffix}", theirs
            yield f"{PARTNER}defence{suffix}", _difference(_Value(1.0), own)

    def _share_true(self, answers: Sequence[ProbeAnswer]) -> _Value:
        """The share of yes, or of right. No answer by a model under test is neither; an instrument's is left out."""
        counted = [probe for probe in answers if probe.answer is not None or probe.asked in self.tested]
        if counted:
            return _Value(fmean(float(bool(probe.answer)) for probe in counted))
        lost = next(iter(answers), None)
        return _Value(None, f"{lost.asked}: {lost.defect or 'no answer in the reply'}") if lost else _NOTHING

    # Conduct.

    def _conduct(self) -> Iterator[tuple[str, _Value]]:
        probes = [probe for probe in self.episode.probes if probe.asked in self.subject]
        turns = [turn for turn in self.episode.turns if turn.index > 0 and turn.speaker in self.subject]
        yield "no_answer", _share(probe.answer is None for probe in probes)
        yield "silent_turns", _share(not turn.content.strip() for turn in turns)
        yield "cut_off_turns", _share(CUT_OFF in turn.note for turn in turns)


def _share(flags: Iterable[bool]) -> _Value:
    counted = list(flags)
    return _Value(fmean(counted)) if counted else _NOTHING


def _difference(first: _Value, second: _Value) -> _Value:
    if first.value is None or second.value is None:
        return first if first.value is None else second
    return _Value(first.value - second.value)


def _mean_of_means(found: Iterable[Sequence[_Value]]) -> _Value:
    """The mean over characters of the mean over what each has; what the instrument failed at is left out.

    What the run did not finish is no value at all.
    """
    means: list[float] = []
    missing: list[_Value] = []
    for values in found:
        if given := [each.value for each in values if each.value is not None]:
            means.append(fmean(given))
        missing += [each for each in values if each.value is None and each.outcome is not Outcome.NOT_REACHED]
    if errored := next((each for each in missing if each.outcome is Outcome.ERRORED), None):
        return errored
    if means:
        return _Value(fmean(means), missing[0].reason if missing else "")
    return missing[0] if missing else _NOTHING


def _mean_verdict(verdicts: Sequence[tuple[Verdict, str]]) -> _Value:
    """The share of yes. A panel that is split has no verdict on a question of yes or no."""
    if not verdicts:
        return _NOTHING
    given = [float(verdict is Verdict.WIN) for verdict, _ in verdicts if verdict in (Verdict.WIN, Verdict.LOSS)]
    lost = next(
        (reason or "the judges are split" for verdict, reason in verdicts if verdict in (Verdict.UNSCORED, Verdict.TIE)), ""
    )
    return _Value(fmean(given), lost) if given else _Value(None, lost)


def estimate_all(scores: Sequence[Score], *, seed: int, confidence: float = 0.95) -> list[Estimate]:
    """Every estimate of ``scores.json``: the mean of every metric, and the profile sensitivity of two."""
    by_metric: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        by_metric[score.metric].append(score)

    def mean(metric: str, own: Sequence[Score]) -> Estimate:
        if metric.removeprefix(PARTNER) not in DIFFERENCES:
            return estimate_proportion(metric, own, confidence)
        drawn = derive_seed(seed, "bootstrap", metric)
        return estimate_jointly(metric, own, [metric], lambda means: means[..., 0], seed=drawn, confidence=confidence)

    estimates = [mean(metric, own) for metric, own in by_metric.items()]
    for metric, name in SENSITIVITY.items():
        if metric in by_metric:
            estimates += profile_sensitivity(name, by_metric[metric], seed=seed, confidence=confidence)
    return estimates
