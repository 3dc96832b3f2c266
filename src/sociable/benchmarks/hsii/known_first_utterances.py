"""First utterances beside others that are known to be better or worse: they show how often a judge is right."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from random import Random
from typing import NamedTuple

from sociable.benchmarks.hsii.briefing import split_sentences
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, PrivateFact
from sociable.benchmarks.hsii.judge import judge_stage
from sociable.benchmarks.hsii.measure import makes_point, measure_points
from sociable.benchmarks.hsii.records import HSIIEpisode, Stage
from sociable.core.names import find_people, find_words
from sociable.core.prompts import Prompts
from sociable.core.records import Turn, Verdict
from sociable.core.seeding import make_generator
from sociable.core.wording import has_claim
from sociable.engine.seats import Seat
from sociable.engine.study import JudgingKind
from sociable.judging.auditing.known_answers import KnownAnswer, Said, find_text, load_known_answers
from sociable.judging.pairwise import PairJudgment

WRITTEN_BY_HAND = Path(__file__).parent / "data" / "judge_audit" / "first_utterances.jsonl"

MOST = 100
"""The most pairs of one kind of damage that are made by rule."""
MOST_WEAKER = 20
"""The most pairs of a golden and a weaker response. Few: in most of them no rule sees the difference, only the sense tells it."""


class Damaged(NamedTuple):
    """A response that is worse than the golden one, and the share of it that is damaged; None where that has no size."""

    content: str
    size: float | None


Damage = Callable[[Case, Random], Damaged | None]
"""Damages a case's golden response; None where the case has nothing for it."""


class FirstUtterances(JudgingKind):
    """Whether a first utterance is better than another to the same person (stage 3)."""

    name = Stage.FIRST_UTTERANCE.value
    metrics = (
        "r3",
        "r3_ties_half",
        "r3_order_disagreement",
        "hsii",
        "hsii_printed",
        "hsii_cascade",
        "hsii_ties_half",
        "r4_minus_r3",
    )
    is_pair = True
    has_sides = True

    def __init__(self, cases: Mapping[str, Case], prompts: Prompts) -> None:
        self.cases = cases
        self.prompts = prompts

    def list_known(self) -> list[KnownAnswer]:
        by_hand = [known for known in load_known_answers(WRITTEN_BY_HAND) if known.scenario in self.cases]
        return [*make_known_pairs(list(self.cases.values())), *by_hand]

    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> PairJudgment:
        case = self.cases[known.scenario]
        target = case.golden.role_to
        episode = HSIIEpisode(
            id=name,
            scenario=case.id,
            cluster=case.dialogue,
            repeat=0,
            role_to=target,
            target=target,
            target_correct=True,
            turns=(Turn(index=1, speaker=ASSISTANT, addressees=(target,), content=known.text),),
        )
        golden = find_text(known.golden, known.speaker)
        return await judge_stage(case, episode, Stage.FIRST_UTTERANCE, seat, None, self.prompts, golden)


def make_known_pairs(cases: Sequence[Case]) -> Iterator[KnownAnswer]:
    """Each case's golden response beside a damaged one, by several kinds of damage.

    The damaged side is the subject in half of the pairs, and the longer one in half of those and of the others. A damage is kept
    only where the scenario's rules see it, but for weaker responses.
    """
    kinds: Mapping[str, tuple[Damage, int]] = {
        "weaker response": (_take_weaker, MOST_WEAKER),
        "confidence leaked": (_tell_secrets, MOST),
        "point dropped": (_drop_points, MOST),
        "asks again": (_ask_again, MOST),
        "wrong person's facts": (_Mixer(cases).mix, MOST),
    }
    for name, (damage, most) in kinds.items():
        generator, made = make_generator(0, "known first utterances", name), 0
        for case in generator.sample(cases, len(cases)):
            damaged = damage(case, generator) if made < most else None
            if damaged is None:
                continue
            golden, worse = case.golden.content, damaged.content
            if damaged.size is not None:
                golden, worse = _even_out(golden, worse, worse_is_longer=made % 4 in (0, 3), generator=generator)
                if not _is_worse_by_rule(case, worse, golden):
                    continue
            subject, other, truth = (worse, golden, Verdict.LOSS) if made % 2 else (golden, worse, Verdict.WIN)
            made += 1
            yield KnownAnswer(
                id=f"{FirstUtterances.name}|{name}|{case.id}",
                kind=FirstUtterances.name,
                scenario=case.id,
                cluster=case.dialogue,
                about=case.golden.role_to,
                speaker=ASSISTANT,
                subject=_say(subject),
                golden=_say(other),
                truth=truth,
                damage=name,
                size=damaged.size,
            )


def _is_worse_by_rule(case: Case, worse: str, golden: str) -> bool:
    measured, of_golden = measure_points(case, worse), measure_points(case, golden)
    return measured is not None and of_golden is not None and measured[0] < of_golden[0]


def _say(content: str) -> tuple[Said, ...]:
    return (Said(speaker=ASSISTANT, content=content),)


# Neither side should be known by its length.

NEUTRAL = (
    "I have put it to you in the way in which I see it from where I am.",
    "That is what I have to say at this point, in the words that I have for it.",
    "You have it from me now as well as I am able to put it.",
    "I say it to you directly, since you are the one whom I am talking to.",
    "There may be other ways to put this, and this is the one that I have found.",
    "That is my answer as things are at the moment.",
    "I have thought about how to say this, and I would say it in the same way again.",
    "So much from me for the present.",
)
"""Sentences that say nothing, which fit any response."""


def _even_out(golden: str, worse: str, *, worse_is_longer: bool, generator: Random) -> tuple[str, str]:
    """(golden, worse), the one that should be longer with as many neutral sentences as it needs for that."""
    neutral = generator.sample(NEUTRAL, len(NEUTRAL))
    texts = [golden, worse]
    while neutral and (count_words(texts[worse_is_longer]) <= count_words(texts[not worse_is_longer])):
        texts[worse_is_longer] += f" {neutral.pop()}"
    return texts[0], texts[1]


def count_words(text: str) -> int:
    return len(find_words(text))


# Kinds of damage.


def _take_weaker(case: Case, generator: Random) -> Damaged | None:
    """The weaker response, in which one thing is wrong."""
    return Damaged(case.weaker.content, None) if case.weaker else None


OPENINGS = (
    "There is one more thing.",
    "You may as well hear this too.",
    "And here is something else that I have heard.",
    "Something else, while we are talking.",
    "This is worth knowing as well.",
    "I will add this.",
)
"""Sentences after which something else is told."""
OF_DANGER = frozenset(
    {
        "abortion",
        "attack",
        "beaten",
        "bleeding",
        "blind",
        "blood",
        "burst",
        "cancer",
        "cracked",
        "dead",
        "died",
        "doctor",
        "drunk",
    }
    | {
        "dying",
        "faint",
        "fainted",
        "fell",
        "fever",
        "headache",
        "hit",
        "hospital",
        "hurt",
        "ill",
        "illness",
        "injured",
        "insulin",
    }
    | {"lump", "medicine", "oxygen", "pain", "pills", "poison", "pregnant", "sick", "slept", "stroke", "struck", "tablets"}
    | {"threatens", "unsafe", "warfarin", "weapon"}
)
"""Words of secrets about somebody's health or safety: readers may differ on whether these must be kept."""


def _tell_secrets(case: Case, generator: Random) -> Damaged | None:
    """The golden response, and one or more secrets in it that must be kept from its addressee."""
    facts = [fact for fact in case.list_hidden_facts(case.golden.role_to) if _can_be_leaked(case, fact)]
    if not facts:
        return None
    told = generator.sample(facts, generator.randint(1, len(facts)))
    sentences = split_sentences(case.golden.content)
    leaks = [f"{opening} {fact.fact}" for opening, fact in zip(generator.sample(OPENINGS, len(told)), told, strict=True)]
    return _join([*sentences, *leaks], len(leaks) / (len(sentences) + len(leaks)))


def _can_be_leaked(case: Case, fact: PrivateFact) -> bool:
    """Whether everybody would say that this must be kept from the addressee, who is not spoken of in it."""
    about = find_people(fact.fact, case.characters, case.aliases)
    return (
        case.golden.role_to not in about
        and OF_DANGER.isdisjoint(find_words(fact.fact))
        and has_claim(fact.fact, fact.wording)
        and not has_claim(case.golden.content, fact.wording)
    )


def _drop_points(case: Case, generator: Random) -> Damaged | None:
    """The golden response without the sentences that make one or more of its points; the size is the share of points."""
    points, sentences = case.must_convey, split_sentences(case.golden.content)
    dropped = generator.sample(points, generator.randint(1, len(points))) if points else []
    left = [each for each in sentences if not any(makes_point(each, point) for point in dropped)]
    missed = [point for point in points if not makes_point(" ".join(left), point)]
    return _join(left, len(missed) / len(points)) if left and missed else None


QUESTIONS = (
    ("What was it that you told me before?", "Could you say that to me once more?"),
    ("Can you tell me again what this is about?", "And what was it that you said to me about it?"),
    ("What did you say to me just now?", "Would you go through it with me again from the start?"),
    ("Would you tell me once more what you have told me?", "What exactly was it?"),
)
"""Questions for what the addressee has told the assistant."""


def _ask_again(case: Case, generator: Random) -> Damaged | None:
    """The golden response with questions for what its addressee has told the assistant, in place of what it should say."""
    speakers = {message.index: (message.role_from, message.role_to) for message in case.messages}
    if (case.golden.role_to, ASSISTANT) not in {speakers.get(said.told_at) for said in case.already_said}:
        return None
    questions = generator.choice(QUESTIONS)
    return _replace(case, questions[: generator.randint(1, len(questions))])


def _replace(case: Case, others: Sequence[str]) -> Damaged | None:
    """The golden response with other sentences in place of as many of its own, those first that make most points."""
    sentences = split_sentences(case.golden.content)
    if len(others) > len(sentences):
        return None
    made = [sum(makes_point(each, point) for point in case.must_convey) for each in sentences]
    places = sorted(sorted(range(len(sentences)), key=lambda place: -made[place])[: len(others)])
    for place, other in zip(places, others, strict=True):
        sentences[place] = other
    return _join(sentences, len(others) / len(sentences))


class _Mixer:
    """Puts what was said to somebody in another dialogue into a response, under the name of its addressee."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases

    @cached_property
    def portable(self) -> Mapping[str, Sequence[str]]:
        """The sentences of each case's golden response that name nobody but, at most, its addressee, with ``{}`` for the name."""
        return {case.id: list(_list_portable(case)) for case in self.cases}

    def mix(self, case: Case, generator: Random) -> Damaged | None:
        count = generator.randint(1, len(split_sentences(case.golden.content)))
        others = [each for each in self.cases if each.dialogue != case.dialogue and len(self.portable[each.id]) >= count]
        if not others:
            return None
        name = next(iter(re.findall(_find_name(case), case.golden.content)), case.golden.role_to)
        sentences = self.portable[generator.choice(others).id]
        # The longest say most.
        longest = sorted(sorted(range(len(sentences)), key=lambda place: -len(sentences[place]))[:count])
        return _replace(case, [sentences[place].replace("{}", name) for place in longest])


_TITLES = r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Doctor|Professor|Father|Sister|Don|Doña)\.? )?"


def _find_name(case: Case) -> str:
    """A pattern for the addressee's name, as in the text of its case."""
    name = case.golden.role_to
    spellings = sorted((name, *case.aliases.get(name, ()), *name.split()), key=len, reverse=True)
    return _TITLES + r"\b(?:" + "|".join(map(re.escape, spellings)) + r")\b"


def _list_portable(case: Case) -> Iterator[str]:
    names = chain(case.characters, *case.aliases.values())
    words = {word for name in names for word in find_words(name) if len(word) > 2}
    for sentence in split_sentences(case.golden.content):
        named = re.sub(_find_name(case), "{}", sentence)
        if words.isdisjoint(find_words(named)) and named.count("{") < 2:
            yield named


def _join(sentences: Sequence[str], size: float) -> Damaged:
    return Damaged(" ".join(sentences), round(size, 3))
