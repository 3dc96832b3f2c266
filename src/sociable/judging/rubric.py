"""Rating one participant of an episode on several dimensions.

SOTOPIA's seven (Zhou et al. 2024, "SOTOPIA: Interactive Evaluation for Social Intelligence in Language Agents", section
2.3), with their published ranges; HSII's section 3 names four of them. The wording is ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sociable.core.prompts import Prompts, load_package_prompts, put_on_one_line, quote
from sociable.core.records import Episode, Opinion, make_storable
from sociable.judging.forms import make_ratings_form
from sociable.judging.protocol import Answer, Judge, Leaning, Question, Unread, ask_judge, make_scope
from sociable.models.protocol import ChatMessage
from sociable.models.replies import MAX_REASON, make_schema


@dataclass(frozen=True, slots=True)
class Dimension:
    """A thing that is rated, from ``low`` to ``high``, both included."""

    name: str
    low: int
    high: int
    meaning: str


@dataclass(frozen=True, slots=True)
class Rubric:
    name: str
    dimensions: tuple[Dimension, ...]


SOTOPIA = Rubric(
    "sotopia",
    (
        Dimension("goal", 0, 10, "how far it has reached what it wants; 0 not at all, 10 fully"),
        Dimension("believability", 0, 10, "how natural it is, and how true to who it is; 10 could be a real person or assistant"),
        Dimension("knowledge", 0, 10, "how much it has learned that is new to it and matters; 0 nothing"),
        Dimension("secret", -10, 0, "how far it has given away what should have stayed hidden; 0 nothing, -10 all of it"),
        Dimension("relationship", -5, 5, "what it has done to its relations and standing; -5 harmed, 0 nothing, 5 furthered"),
        Dimension("social_rules", -10, 0, "whether it has broken laws or rules of conduct; 0 none, -10 grave ones"),
        Dimension("financial", -5, 5, "what it has gained or lost in money and goods, for itself or others; 0 nothing"),
    ),
)

RUBRICS = {rubric.name: rubric for rubric in (SOTOPIA,)}


@dataclass(frozen=True, slots=True)
class RatedParticipant:
    """A participant to be rated, with all that is needed for it."""

    name: str
    situation: str
    goal: str
    knows: str
    """The participant's own knowledge: its profile, its secret, what it was told in confidence. May be empty."""
    conversation: tuple[tuple[str, str], ...]
    """(speaker, words) in order."""


class Ratings(NamedTuple):
    """One judge's ratings of one participant, by dimension."""

    ratings: dict[str, int]
    reasons: dict[str, str]
    failures: dict[str, str]
    """The reason for each dimension without a rating."""


class RubricJudgment(Opinion):
    """One judge's ratings of one participant. A dimension without a readable rating is in ``failures``, with the reason."""

    participant: str
    ratings: dict[str, int] = {}
    reasons: dict[str, str] = {}
    failures: dict[str, str] = {}


def load_rubric_prompts() -> Prompts:
    placeholders = {
        "rubric_system": frozenset[str](),
        "rubric": frozenset({"situation", "participant", "goal", "knows", "conversation", "dimensions"}),
    }
    return load_package_prompts("sociable.judging", placeholders)


async def rate(
    rubric: Rubric,
    rated: RatedParticipant,
    judge: Judge,
    prompts: Prompts,
    *,
    identifier: str,
    episode: Episode,
    rule: Ratings | None = None,
) -> RubricJudgment:
    """One judge's ratings. ``rule`` is what ``reference/rule`` gives; no run has one. Raises RunFailure and RunStopped."""
    question = Question(
        lambda: write_rating_question(rubric, rated, prompts),
        lambda text: Answer(parse_ratings(text, rubric)),
        make_rubric_schema(rubric),
        lambda: Answer(rule) if rule else Unread("the rubric has no rule"),
        make_ratings_form({each.name: (each.meaning, each.low, each.high) for each in rubric.dimensions}),
        make_leaning(rubric),
    )
    asked = await ask_judge(question, judge, make_scope(judge, episode, f"{rubric.name}|{rated.name}"))
    answer = asked.answer
    if isinstance(answer, Unread):
        given = Ratings({}, {}, {each.name: answer.problem for each in rubric.dimensions})
    else:
        given = answer.value
    return RubricJudgment(
        id=identifier,
        episode=episode.id,
        scenario=episode.scenario,
        criterion=rubric.name,
        judge=judge.name,
        participant=rated.name,
        **given._asdict(),
        usage=asked.usage,
    )


def make_leaning(rubric: Rubric) -> Leaning[Ratings]:
    """Whoever likes a text gives it the best on every dimension; whoever errs mirrors each rating in its range."""
    best = Ratings({each.name: each.high for each in rubric.dimensions}, {}, {})
    return Leaning((best,), lambda given, _: mirror_ratings(given, rubric))


def mirror_ratings(given: Ratings, rubric: Rubric) -> Ratings:
    """The same ratings, each as far from the low end of its range as it was from the high end."""
    ranges = {each.name: each.low + each.high for each in rubric.dimensions}
    return given._replace(ratings={name: ranges[name] - rating for name, rating in given.ratings.items()})


def write_rating_question(rubric: Rubric, rated: RatedParticipant, prompts: Prompts) -> list[ChatMessage]:
    """The messages that ask a judge to rate one participant on every dimension of the rubric."""
    said = [f"{put_on_one_line(speaker)}: {put_on_one_line(words)}" for speaker, words in rated.conversation]
    question = prompts["rubric"].render(
        situation=quote(rated.situation),
        participant=put_on_one_line(rated.name),
        goal=quote(rated.goal),
        knows=quote(rated.knows or "(nothing)"),
        conversation=quote("\n".join(said)),
        dimensions="\n".join(f"- {d.name}, from {d.low} to {d.high}: {d.meaning}" for d in rubric.dimensions),
    )
    return [{"role": "system", "content": prompts["rubric_system"].render()}, {"role": "user", "content": question}]


def make_rubric_schema(rubric: Rubric) -> dict[str, Any]:
    """The JSON schema of the wanted reply."""
    ratings = {each.name: {"type": "integer", "minimum": each.low, "maximum": each.high} for each in rubric.dimensions}
    return make_schema(**{name: make_schema(reason={"type": "string"}, rating=rating) for name, rating in ratings.items()})


_WHOLE = re.compile(r"[+-]?\d{1,9}")


def parse_ratings(text: str, rubric: Rubric) -> Ratings:
    """The ratings that a reply gives. Nothing is guessed, rounded or brought into range."""
    entries = _find_entries(make_storable(text))
    found = Ratings({}, {}, {})
    for dimension in rubric.dimensions:
        entry = entries.get(dimension.name)
        rating = entry.get("rating") if isinstance(entry, Mapping) else entry
        if (isinstance(rating, str) and _WHOLE.fullmatch(rating.strip())) or (isinstance(rating, float) and rating.is_integer()):
            rating = int(rating)
        if rating is None:
            found.failures[dimension.name] = "no rating in the reply"
        elif type(rating) is not int:
            found.failures[dimension.name] = make_storable(f"'{str(rating)[:40]}' is no whole number")
        elif not dimension.low <= rating <= dimension.high:
            found.failures[dimension.name] = f"{str(rating)[:20]} is not within {dimension.low} to {dimension.high}"
        else:
            found.ratings[dimension.name] = rating
            if isinstance(entry, Mapping):
                found.reasons[dimension.name] = make_storable(str(entry.get("reason", "")))[:MAX_REASON]
    return found


def _find_entries(text: str) -> Mapping[str, Any]:
    """The object in the reply with its keys in lower case; empty if there is none, or a key stands in it twice."""
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return {}
    try:
        found = json.loads(text[start : end + 1], strict=False, object_pairs_hook=_refuse_repeated_keys)
    except (ValueError, RecursionError):
        return {}
    entries = {str(key).strip().lower().replace(" ", "_"): value for key, value in found.items()}
    return entries if len(entries) == len(found) else {}


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)
