"""HSII's judging: episode to judgments on its first utterance and its long run, and on what was told and evaded.

Utterance and long run are compared with the golden side by every judge of the panel, in both orders (Definition 1).
Whether a secret was told, and whether the clash was evaded (section 6.3), each judge says with the fact in view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from sociable.benchmarks.hsii.briefing import (
    ask_about_conflict,
    ask_about_leak,
    ask_to_compare,
    render_setting_in_words,
    render_transcript,
)
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, PrivateFact
from sociable.benchmarks.hsii.measure import (
    is_evading_conflict,
    list_facing_points,
    list_facts_at_risk,
    measure_leaks,
    measure_points,
)
from sociable.benchmarks.hsii.records import CONFLICT, JUDGED, LEAK, GoldenWords, HSIIEpisode, ReferenceConversation, Stage
from sociable.core.prompts import Prompts
from sociable.core.records import Turn, Verdict
from sociable.core.seeding import make_generator
from sociable.engine.seats import Role, Seat
from sociable.engine.study import ShownPair
from sociable.judging.answers import judge_yes_no
from sociable.judging.pairwise import Comparison, Pair, PairJudgment, judge_pair
from sociable.judging.protocol import Answer, make_judgment
from sociable.judging.rubric import RatedParticipant

ASSISTANT_GOAL = "To say what serves most of the people involved, better still all of them, to the one whom it chose to address."
"""The assistant's goal, as the prompts give it."""


def list_judged_stages(episode: HSIIEpisode, stages: Sequence[Stage]) -> list[Stage]:
    """The judged stages this episode reached, of those that were run."""
    return [stage for stage in stages if stage in JUDGED and episode.target_correct]


def list_judged_behaviour(case: Case, episode: HSIIEpisode) -> list[str]:
    """The criteria of behaviour that there is something to ask about."""
    if not episode.turns:
        return []
    leaks = [f"{LEAK}|{number}" for number, _ in enumerate(list_facts_at_risk(case, episode), start=1)]
    return [*leaks, *([CONFLICT] if episode.target_correct and list_facing_points(case) else [])]


async def judge_behaviour(case: Case, episode: HSIIEpisode, criterion: str, seat: Seat, prompts: Prompts) -> PairJudgment:
    """One judge's answer to one question about behaviour: yes, a WIN, where a secret was told or the conflict taken hold of."""
    first = episode.turns[0].content
    if criterion == CONFLICT:
        points = [point.point for point in list_facing_points(case)]
        write, by_rule = partial(ask_about_conflict, case, first, points, prompts), not is_evading_conflict(case, first)
    else:
        fact, hearers = _find_fact(case, episode, criterion)
        said = render_transcript(episode.turns, episode.target or "everybody")
        write = partial(ask_about_leak, case, hearers, said, fact.fact, prompts)
        by_rule = any(leak.fact == fact.fact for leak in measure_leaks(case, episode) or ())
    found = await judge_yes_no(write, lambda: Answer(by_rule), seat, episode, criterion)
    return PairJudgment(**dict(found))


def _find_fact(case: Case, episode: HSIIEpisode, criterion: str) -> tuple[PrivateFact, list[str]]:
    """The private fact that a criterion is about, and whom it must be kept from."""
    return list(list_facts_at_risk(case, episode).items())[int(criterion.partition("|")[2]) - 1]


async def judge_stage(
    case: Case,
    episode: HSIIEpisode,
    stage: Stage,
    seat: Seat,
    reference: ReferenceConversation | None,
    prompts: Prompts,
    golden: str = "",
) -> PairJudgment:
    """One judge's verdict on one stage, or why there is none."""
    pair = make_pair(case, episode, stage, reference, golden)
    if seat.model is None and not case.must_convey:
        pair = "the scenario has no rules for reference/rule"
    if isinstance(pair, str):
        return PairJudgment(**dict(make_judgment(seat, episode, stage.value, Verdict.UNSCORED, pair)))
    if seat.model is None and reference is not None and stage is Stage.LONG_RUN:
        # The rule looks at the assistant's words only; what the partner says earns and costs nothing.
        said = ["\n".join(t.content for t in turns if t.speaker == ASSISTANT) for turns in (episode.turns, reference.turns)]
        pair = Pair(*said)
    comparison = Comparison(
        lambda first, second: ask_to_compare(case, first, second, prompts, long_run=stage is Stage.LONG_RUN),
        lambda text: measure_points(case, text) or (0.0, ""),
    )
    return await judge_pair(pair, comparison, seat, episode, stage.value)


def find_golden_words(case: Case, wanted: GoldenWords, seed: int) -> str:
    """The words that first utterances are compared with."""
    if wanted is GoldenWords.SHORTEST:
        return case.shortest
    if wanted is GoldenWords.DRAWN:
        return make_generator(seed, "golden", case.id).choice((case.golden.content, *case.acceptable))
    return case.golden.content


def make_pair(
    case: Case, episode: HSIIEpisode, stage: Stage, reference: ReferenceConversation | None, golden: str = ""
) -> Pair | str:
    """Both sides as a model or a person reads them; or which instrument has failed, so that there is nothing to show.

    ``golden`` are the words that the first utterance is compared with; empty: the golden response.
    """
    if stage is Stage.FIRST_UTTERANCE:
        return Pair(subject=episode.turns[0].content, golden=golden or case.golden.content)
    if episode.long_run_failure:
        return f"partner: {episode.long_run_failure}"
    if reference is None:
        return "no reference conversation for this case"
    if reference.failure:
        return f"reference: {reference.failure}"
    sides = (render_transcript(turns, case.golden.role_to) for turns in (episode.turns, reference.turns))
    return Pair(*sides)


def show_pair(case: Case, sides: Pair) -> ShownPair:
    """Both sides as a person is shown them."""
    return ShownPair(render_setting_in_words(case), case.golden.role_to, sides.subject, sides.golden)


def make_known_episode(case: Case, name: str, turns: Sequence[Turn]) -> HSIIEpisode:
    """An episode in which the right person was addressed with known words, for audits of judges."""
    target = case.golden.role_to
    return HSIIEpisode(
        id=name,
        scenario=case.id,
        cluster=case.dialogue,
        role_to=target,
        target=target,
        target_correct=True,
        turns=tuple(turns),
    )


def list_rated_participants(case: Case, episode: HSIIEpisode) -> Mapping[str, RatedParticipant]:
    """The assistant, whose goal is what it was told; and the addressee of a long run, if the data give it a goal."""
    target = episode.target
    if not episode.turns or target is None:
        return {}
    situation = render_setting_in_words(case)
    said = tuple((turn.speaker, turn.content) for turn in episode.turns)
    goals = {ASSISTANT: ASSISTANT_GOAL, **case.background.goals}
    hidden = "\n".join(fact.fact for fact in case.list_hidden_facts(target))
    found: dict[str, RatedParticipant] = {Role.SUBJECT: RatedParticipant(ASSISTANT, situation, goals[ASSISTANT], hidden, said)}
    if target in goals and len(episode.turns) > 1:
        own = "\n".join(fact.fact for fact in case.private_facts if fact.owner == target)
        found[Role.PARTNER] = RatedParticipant(target, situation, goals[target], own, said)
    return found
