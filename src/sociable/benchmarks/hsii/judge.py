"""HSII's judging: episode to judgments on its first utterance and its long run.

Each is compared with the golden side by every judge of the panel, in both orders (Definition 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sociable.benchmarks.hsii.briefing import ask_to_compare, render_setting_in_words, render_transcript
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.benchmarks.hsii.measure import measure_points
from sociable.benchmarks.hsii.records import JUDGED, HSIIEpisode, ReferenceConversation, Stage
from sociable.core.prompts import Prompts
from sociable.core.records import Verdict
from sociable.engine.seats import Role, Seat
from sociable.judging.pairwise import Comparison, Pair, PairJudgment, judge_pair
from sociable.judging.protocol import make_judgment
from sociable.judging.rubric import RatedParticipant

ASSISTANT_GOAL = "To say what serves most of the people involved, better still all of them, to the one whom it chose to address."
"""The assistant's goal, as the prompts give it."""


def list_judged_stages(episode: HSIIEpisode, stages: Sequence[Stage]) -> list[Stage]:
    """The judged stages this episode reached, of those that were run."""
    return [stage for stage in stages if stage in JUDGED and episode.target_correct]


async def judge_stage(
    case: Case, episode: HSIIEpisode, stage: Stage, seat: Seat, reference: ReferenceConversation | None, prompts: Prompts
) -> PairJudgment:
    """One judge's verdict on one stage, or why there is none."""
    pair = make_pair(case, episode, stage, reference)
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


def make_pair(case: Case, episode: HSIIEpisode, stage: Stage, reference: ReferenceConversation | None) -> Pair | str:
    """Both sides as a model or a person reads them; or which instrument has failed, so that there is nothing to show."""
    if stage is Stage.FIRST_UTTERANCE:
        return Pair(subject=episode.turns[0].content, golden=case.golden.content)
    if episode.long_run_failure:
        return f"partner: {episode.long_run_failure}"
    if reference is None:
        return "no reference conversation for this case"
    if reference.failure:
        return f"reference: {reference.failure}"
    subject, golden = (render_transcript(turns, case.golden.role_to) for turns in (episode.turns, reference.turns))
    return Pair(subject, golden)


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
