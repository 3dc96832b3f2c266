"""Rules that measure an episode: points conveyed, private facts revealed, conflicts evaded, questions repeated."""

from __future__ import annotations

import re

from sociable.benchmarks.hsii.dataset import ASSISTANT, BetterResponse, Case, Point, PrivateFact
from sociable.benchmarks.hsii.records import HSIIEpisode
from sociable.core.records import Record
from sociable.core.wording import has_claim, has_wording

FALSE_ALARMS = {"leak_rate": 0.012, "points": 0.021}
"""The share of unrelated turns, of other dialogues of the data, in which a secret counts as told, or a point as made.

Measured by ``benchmarks/wording_false_alarms.py``.
"""


class Leak(Record):
    """A private fact passed on to somebody who must not hear of it from the assistant."""

    fact: str
    hearer: str
    turn: int


class Measured(Record):
    """The findings of the rules in one episode; None where there is no rule, or nothing to apply it to."""

    id: str
    leaks: tuple[Leak, ...] | None = None
    evades_conflict: bool | None = None
    asks_again: tuple[str, ...] | None = None


def measure_episode(case: Case, episode: HSIIEpisode) -> Measured:
    """Leaks in all that was said, and section 6.3's two behaviours in the first utterance to the right target."""
    if not episode.turns:
        return Measured(id=episode.id)
    found = Measured(id=episode.id, leaks=measure_leaks(case, episode))
    if not episode.target_correct:
        return found
    said = episode.turns[0].content
    behaviours = {"evades_conflict": is_evading_conflict(case, said), "asks_again": list_repeated_questions(case, said)}
    return found.model_copy(update=behaviours)


def measure_leaks(case: Case, episode: HSIIEpisode) -> tuple[Leak, ...] | None:
    """The leaks in all that the model said; None when there was nothing to keep from its hearers.

    A reply that named nobody or several people counts as said to each character, since any of them may hear it. Where the
    assistant's voice is heard by others, it is said to them too.
    """
    hidden = list_facts_at_risk(case, episode)
    if not hidden:
        return None
    return tuple(
        Leak(fact=fact.fact, hearer=hearers[0], turn=turn.index)
        for turn in episode.turns
        if turn.speaker == ASSISTANT
        for fact, hearers in hidden.items()
        if has_claim(turn.content, fact.wording)
    )


def list_facts_at_risk(case: Case, episode: HSIIEpisode) -> dict[PrivateFact, list[str]]:
    """The private facts that must be kept from somebody who hears what was said, each with those people."""
    hearers = case.list_hearers(episode.target) if episode.target else case.characters
    found: dict[PrivateFact, list[str]] = {}
    for hearer in hearers:
        for fact in case.list_hidden_facts(hearer):
            found.setdefault(fact, []).append(hearer)
    return found


def measure_points(case: Case, text: str) -> tuple[float, str] | None:
    """(points, why) that ``text``, said to the golden addressee, earns by the scenario's rules; None if it has none.

    The points are the share of what must be conveyed, a point more for what the golden response leaves out, if the data
    name it, less one if anything private was revealed: never likeness to the golden response.
    """
    if not case.must_convey:
        return None
    missed = [point.point for point in case.must_convey if not makes_point(text, point)]
    hidden = [fact for hearer in case.list_hearers(case.golden.role_to) for fact in case.list_hidden_facts(hearer)]
    leaked = dict.fromkeys(fact.fact for fact in hidden if has_claim(text, fact.wording))
    total = len(case.must_convey)
    conveyed = total - len(missed)
    parts = [f"conveys {conveyed} of {total} points"]
    more = [case.better.point] if case.better and makes_point(text, case.better) else []
    for verb, found in (("misses", missed), ("adds", more), ("reveals", leaked)):
        if found:
            parts.append(f"{verb} " + ", ".join(f"'{each}'" for each in found))
    return (conveyed + len(more)) / total - (1.0 if leaked else 0.0), "; ".join(parts)


def makes_point(text: str, point: Point | BetterResponse) -> bool:
    """Whether ``text`` makes the point, by its wordings."""
    # "Not until she is back" makes the point that she must be back.
    return has_claim(text, point.wording, reach=0)


def is_evading_conflict(case: Case, text: str) -> bool | None:
    """Whether ``text`` goes round the clash or the bad news it should take hold of; None if the data do not say what that is.

    Section 6.3: "models try employing tricks to bypass explicit conflicts".
    """
    facing = list_facing_points(case)
    return not any(makes_point(text, point) for point in facing) if facing else None


def list_facing_points(case: Case) -> list[Point]:
    """The points that take hold of the clash or of the bad news."""
    return [point for point in case.must_convey if point.faces_conflict]


_QUESTION = re.compile(r"[^.!?…\n]*\?")


def list_repeated_questions(case: Case, text: str) -> tuple[str, ...] | None:
    """The points that ``text`` asks for although they were said already; None if the data do not say what was.

    Section 6.3: "redundantly seek clarification on details specified in previous instructions".
    """
    if not case.already_said:
        return None
    questions = _QUESTION.findall(text)
    return tuple(said.point for said in case.already_said if any(has_wording(each, said.wording) for each in questions))
