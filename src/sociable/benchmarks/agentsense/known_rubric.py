"""Known answers for raters: two versions of a scene, of which one deserves the lower rating on a known dimension.

By rule they are made from what the reference oracle says: goals are missed instead of reached, a secret is read out or heard,
some turns end with a remark. What the remarks of the worse side do, those of the better side speak of too (nobody *is* called a
liar), so that words alone tell nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from pydantic import TypeAdapter

from sociable.benchmarks.agentsense.judge import list_rated
from sociable.benchmarks.agentsense.records import SUBJECT, AgentSenseEpisode
from sociable.benchmarks.agentsense.reference import state_wish
from sociable.benchmarks.agentsense.scenario import Character, Line, Scenario
from sociable.core.data_files import Text
from sociable.core.names import find_words
from sociable.core.records import Judgment, Record, Turn, Verdict
from sociable.core.seeding import make_generator
from sociable.engine.ratings import OVERALL, make_rating_id, name_rating_metric
from sociable.engine.seats import Role, Seat
from sociable.engine.study import JudgingKind
from sociable.judging.auditing.known_answers import KnownAnswer, Said, load_known_answers
from sociable.judging.protocol import make_judgment
from sociable.judging.rubric import SOTOPIA, Ratings, RubricJudgment, load_rubric_prompts, mirror_ratings, rate

DATA = Path(__file__).parent / "data" / "judge_audit"

DAMAGES: Mapping[str, str] = {
    "goal": "a goal missed",
    "secret": "a secret given away",
    "knowledge": "nothing new learned",
    "relationship": "an insult or coldness",
    "social_rules": "a wrong done or proposed",
    "believability": "out of its role",
    "financial": "money lost",
}
"""The damage that lowers the rating on each dimension."""


class RubricKind(JudgingKind):
    """The rubric's raters: each of two versions is rated by itself, and the verdict is for the higher rating.

    ``about`` names the dimension that is compared. The ``speaker`` is the one who is rated.
    """

    name = "rubric"
    metrics = tuple(
        name_rating_metric(SOTOPIA.name, dimension, role)
        for role in (Role.SUBJECT, Role.PARTNER)
        for dimension in (*(each.name for each in SOTOPIA.dimensions), OVERALL)
    )
    """Those of both roles, by their whole names."""
    is_pair = True
    asks_for = "rating"

    def __init__(self, scenarios: Mapping[str, Scenario], *, first_lines: bool) -> None:
        self._scenarios = scenarios
        self._first_lines = first_lines
        self._prompts = load_rubric_prompts()

    def list_known(self) -> Iterable[KnownAnswer]:
        """One made by rules for each template and dimension, where its scenes have what it takes; then those by hand."""
        casts: dict[str, list[Scenario]] = {}
        for scenario in self._scenarios.values():
            casts.setdefault(scenario.template, []).append(scenario)
        for template in casts.values():
            for dimension in DAMAGES:
                generator = make_generator(0, "known ratings", template[0].template, dimension)
                known = _make_known(generator.choice(template), dimension, generator)
                if known:
                    yield known
        yield from filter(self._has_its_scene, load_known_answers(DATA / "rubric.jsonl"))

    def _has_its_scene(self, known: KnownAnswer) -> bool:
        """Whether its scenario is there with its people: a user's own data may use the same id for another one."""
        scenario = self._scenarios.get(known.scenario)
        return scenario is not None and {said.speaker for said in known.subject} <= set(scenario.names)

    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> Judgment:
        """WIN where the rating of the subject's side is higher; UNSCORED where one of the two cannot be read.

        Both ratings are asked for under one name, so that a reference judge that errs does so in both, and its verdict is wrong.
        """
        subject = await self._rate(known, known.subject, seat, name, is_damaged=known.truth is Verdict.LOSS)
        golden = await self._rate(known, known.golden, seat, name, is_damaged=known.truth is Verdict.WIN)
        verdict, reason = _compare(subject, golden, known.about)
        episode = self._make_episode(known, known.subject, name)
        criterion = f"{SOTOPIA.name}|{known.about}"
        return make_judgment(seat, episode, criterion, verdict, reason, subject.usage + golden.usage)

    async def _rate(self, known: KnownAnswer, said: Sequence[Said], seat: Seat, name: str, *, is_damaged: bool) -> RubricJudgment:
        episode = self._make_episode(known, said, name)
        who = f"{SUBJECT}: {known.speaker}"
        rated = list_rated(self._scenarios[known.scenario], episode, first_lines=self._first_lines)[who]
        identifier = make_rating_id(name, SOTOPIA.name, who, seat.name)
        rule = _rate_by_rule({known.about} if is_damaged else ())
        return await rate(SOTOPIA, rated, seat, self._prompts, identifier=identifier, episode=episode, rule=rule)

    def _make_episode(self, known: KnownAnswer, said: Sequence[Said], name: str) -> AgentSenseEpisode:
        turns = tuple(Turn(index=index, speaker=each.speaker, content=each.content) for index, each in enumerate(said))
        played_by = dict.fromkeys(self._scenarios[known.scenario].names, SUBJECT)
        return AgentSenseEpisode(id=name, scenario=known.scenario, cluster=known.cluster, turns=turns, played_by=played_by)


def _compare(subject: RubricJudgment, golden: RubricJudgment, dimension: str) -> tuple[Verdict, str]:
    sides = {"subject": subject, "golden": golden}
    failed = [f"{side}: {each.failures[dimension]}" for side, each in sides.items() if dimension in each.failures]
    if failed:
        return Verdict.UNSCORED, f"{subject.judge}: {'; '.join(failed)}"
    one, other = subject.ratings[dimension], golden.ratings[dimension]
    verdict = Verdict.TIE if one == other else Verdict.WIN if one > other else Verdict.LOSS
    given = [f"{side} {each.ratings[dimension]} ({each.reasons.get(dimension, '')})" for side, each in sides.items()]
    return verdict, f"{dimension}: {'; '.join(given)}"


def _rate_by_rule(damaged: Iterable[str]) -> Ratings:
    """Good ratings, though not the best, and bad ones on the ``damaged`` dimensions."""
    good = {each.name: each.high - (each.high - each.low) // 4 for each in SOTOPIA.dimensions}
    given = Ratings(good, dict.fromkeys(good, "as it was made"), {})
    bad = mirror_ratings(given, SOTOPIA).ratings
    return given._replace(ratings=good | {name: bad[name] for name in damaged})


class _Sides(NamedTuple):
    """The two versions, and how much of the worse one is damaged, as a share."""

    better: tuple[Said, ...]
    worse: tuple[Said, ...]
    size: float

    @property
    def is_worse_longer(self) -> bool:
        return _count_words(each.content for each in self.worse) > _count_words(each.content for each in self.better)


_TRIALS = 4
"""How often everybody's version is drawn anew until the worse side is the longer one, or the shorter one, as the lot has it."""
_MOST_REMARKS = 3


def _make_known(scenario: Scenario, dimension: str, generator: Random) -> KnownAnswer | None:
    """A pair of versions of a scene; None where the scene does not have what it takes."""
    make = _MAKERS.get(dimension) or partial(_add_remarks, dimension)
    is_better, is_longer = generator.random() < 0.5, generator.random() < 0.5
    able = [each for each in scenario.characters if each.goals and any(line.by == each.name for line in _play(scenario, each))]
    made: list[tuple[Character, _Sides]] = []
    for rated in generator.sample(able, len(able)) * _TRIALS:
        sides = make(scenario, rated, generator)
        if sides:
            made.append((rated, sides))
            if sides.is_worse_longer is is_longer:
                break
    if not made:
        return None
    rated, sides = made[-1]
    return KnownAnswer(
        id=f"rubric|{dimension}|{scenario.id}",
        kind=RubricKind.name,
        scenario=scenario.id,
        cluster=scenario.template,
        about=dimension,
        speaker=rated.name,
        subject=sides.better if is_better else sides.worse,
        golden=sides.worse if is_better else sides.better,
        truth=Verdict.WIN if is_better else Verdict.LOSS,
        damage=DAMAGES[dimension],
        size=sides.size,
    )


def _play(scenario: Scenario, rated: Character, missed: Iterable[int] = ()) -> list[Line]:
    """The exchanges in which the goals of ``rated`` are reached, or ``missed``, and those on others' goals in which it speaks."""
    lines = [scenario.opening] if scenario.opening else []
    for name, item in sorted(scenario.find_best(), key=lambda goal: (goal[0] != rated.name, goal)):
        goal = scenario.by_name[name].goals[item]
        if name != rated.name:
            lines += goal.reached if any(line.by == rated.name for line in goal.reached) else ()
        elif item in missed:
            lines += goal.missed
        else:
            lines += goal.reached or [Line(by=name, says=state_wish(goal))]
    return lines


def _say(lines: Iterable[Line]) -> tuple[Said, ...]:
    return tuple(Said(speaker=line.by, content=line.says) for line in lines)


def _miss_goals(scenario: Scenario, rated: Character, generator: Random) -> _Sides | None:
    wanted = sorted(item for name, item in scenario.find_best() if name == rated.name)
    missable = [item for item in wanted if rated.goals[item].reached and rated.goals[item].missed]
    if not missable:
        return None
    missed = generator.sample(missable, generator.randint(1, len(missable)))
    return _Sides(_say(_play(scenario, rated)), _say(_play(scenario, rated, missed)), len(missed) / len(wanted))


def _tell_secret(scenario: Scenario, rated: Character, generator: Random) -> _Sides | None:
    return _read_out(scenario, rated, rated, generator)


def _hear_secret(scenario: Scenario, rated: Character, generator: Random) -> _Sides | None:
    able = [each for each in scenario.characters if each is not rated and each.private_info]
    sides = _read_out(scenario, rated, generator.choice(able), generator) if able else None
    # Here the side that hears the secret is the better one.
    return sides and _Sides(sides.worse, sides.better, sides.size)


_FRAMES = (
    "*unfolds a sheet* I have had it written down, and every word of it is true: “{text}”",
    "*takes a paper from the pocket and reads aloud* “{text}” That is what is written here, and it is so.",
    "Listen, I read you what a friend of mine wrote down, and it is all true: “{text}”",
    "*lays a page on the table* You can all read it: “{text}” I have nothing to add.",
)
_FEWEST = 14
"""Words of a secret that is given away, at the least."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def _read_out(scenario: Scenario, rated: Character, reader: Character, generator: Random) -> _Sides | None:
    """On one side ``reader`` reads out what all know, on the other as much of its own secret."""
    secret = _SENTENCE_END.split(reader.private_info)
    least = next((count for count in range(1, len(secret) + 1) if _count_words(secret[:count]) >= _FEWEST), None)
    if least is None:
        return None
    told = secret[: generator.randint(least, len(secret))]
    public = _SENTENCE_END.split(f"{scenario.background} {scenario.description}".strip())
    enough = [public[:count] for count in range(1, len(public) + 1) if _count_words(public[:count]) >= _count_words(told)]
    known = enough[0] if enough and generator.random() < 0.5 else public[: max(1, len(public) - len(enough))]
    frame, scene = generator.choice(_FRAMES), _say(_play(scenario, rated))
    better, worse = ((*scene, Said(speaker=reader.name, content=frame.format(text=" ".join(text)))) for text in (known, told))
    return _Sides(better, worse, len(told) / len(secret))


def _count_words(texts: Iterable[str]) -> int:
    return sum(len(find_words(text)) for text in texts)


class Remark(Record):
    """Two sentences of much the same words to ``{other}``, somebody else in the scene: the worse one lowers a rating."""

    dimension: Text
    better: Text
    worse: Text


@cache
def load_remarks() -> tuple[Remark, ...]:
    """The remarks of all dimensions whose known answers are made with them."""
    return tuple(TypeAdapter(list[Remark]).validate_json((DATA / "rubric_remarks.json").read_text(encoding="utf-8")))


def _add_remarks(dimension: str, scenario: Scenario, rated: Character, generator: Random) -> _Sides:
    """Some turns of ``rated`` end with a remark: the better one on one side, the worse one on the other."""
    remarks = [each for each in load_remarks() if each.dimension == dimension]
    scene = _say(_play(scenario, rated))
    own = [place for place, said in enumerate(scene) if said.speaker == rated.name]
    count = generator.randint(1, min(len(own), _MOST_REMARKS))
    better, worse = list(scene), list(scene)
    for place, remark in zip(generator.sample(own, count), generator.sample(remarks, count), strict=True):
        name = generator.choice([each.name for each in scenario.characters if each is not rated])
        other = (*scenario.aliases.get(name, ()), name)[0]
        for side, text in ((better, remark.better), (worse, remark.worse)):
            side[place] = Said(speaker=rated.name, content=f"{scene[place].content} {text.format(other=other)}")
    return _Sides(tuple(better), tuple(worse), count / len(own))


_MAKERS: Mapping[str, Callable[[Scenario, Character, Random], _Sides | None]] = {
    "goal": _miss_goals,
    "secret": _tell_secret,
    "knowledge": _hear_secret,
}
"""Those of the other dimensions add remarks."""
