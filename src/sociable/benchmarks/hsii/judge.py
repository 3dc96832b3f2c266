"""HSII's judging: episode to judgments on its first utterance and its long run.

Each is compared with the golden side by every judge of the panel, in both orders (Definition 1).
"""

from __future__ import annotations

from collections.abc import Sequence

from sociable.benchmarks.hsii.briefing import ask_to_compare, transcript
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.benchmarks.hsii.measure import measure_points
from sociable.benchmarks.hsii.records import HSIIEpisode, ReferenceConversation, Stage
from sociable.core.prompts import Prompts
from sociable.core.records import Verdict
from sociable.engine.seats import Seat
from sociable.judging.pairwise import Comparison, Pair, PairJudgment, judge_pair
from sociable.judging.protocol import make_judgment


def criteria_reached(episode: HSIIEpisode, stages: Sequence[Stage]) -> list[Stage]:
    """The judged stages this episode reached, of those that were run."""
    return [stage for stage in stages if stage in (Stage.FIRST_UTTERANCE, Stage.LONG_RUN) and episode.target_correct]


async def judge_criterion(
    case: Case,
    episode: HSIIEpisode,
    stage: Stage,
    seat: Seat,
    reference: ReferenceConversation | None,
    prompts: Prompts,
) -> PairJudgment:
    """One judge's verdict on one stage, or why there is none."""
    if seat.model is None and not case.must_convey:
        missing = "the scenario has no rules for reference/rule"
    else:
        missing = _find_failure(episode, stage, reference)
    pair = pair_to_show(case, episode, stage, reference)
    if missing or pair is None:
        return PairJudgment(**dict(make_judgment(seat, episode, stage.value, Verdict.UNSCORED, missing)))
    if seat.model is None and reference is not None and stage is Stage.LONG_RUN:
        # The rule looks at the assistant's words only; what the partner says earns and costs nothing.
        said = ["\n".join(t.content for t in turns if t.speaker == ASSISTANT) for turns in (episode.turns, reference.turns)]
        pair = Pair(*said)
    comparison = Comparison(
        lambda first, second: ask_to_compare(case, first, second, prompts, long_run=stage is Stage.LONG_RUN),
        lambda text: measure_points(case, text) or (0.0, ""),
    )
    return await judge_pair(pair, comparison, seat, episode, stage.value)


def _find_failure(episode: HSIIEpisode, stage: Stage, reference: ReferenceConversation | None) -> str:
    """Which instrument has already failed, so that there is nothing to show; or the empty string."""
    if stage is Stage.FIRST_UTTERANCE:
        return ""
    if episode.long_run_failure:
        return f"partner: {episode.long_run_failure}"
    if reference is None:
        return "no reference conversation for this case"
    return f"reference: {reference.failure}" if reference.failure else ""


def pair_to_show(case: Case, episode: HSIIEpisode, stage: Stage, reference: ReferenceConversation | None) -> Pair | None:
    """Both sides as a model or a person reads them; None where partner or reference failed."""
    if _find_failure(episode, stage, reference):
        return None
    if stage is Stage.FIRST_UTTERANCE:
        return Pair(subject=episode.turns[0].content, golden=case.golden.content)
    assert reference is not None
    target = case.golden.role_to
    return Pair(subject=transcript(episode.turns, target), golden=transcript(reference.turns, target))
