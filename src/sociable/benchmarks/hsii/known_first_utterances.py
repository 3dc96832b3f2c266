"""First utterances beside others that are known to be better, worse or as good: they show how often a judge is right."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from random import Random

from sociable.benchmarks.hsii.briefing import split_sentences
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, PrivateFact
from sociable.benchmarks.hsii.judge import judge_stage, make_known_episode, show_pair
from sociable.benchmarks.hsii.measure import makes_point, measure_points
from sociable.benchmarks.hsii.records import Stage
from sociable.core.names import find_people, find_words
from sociable.core.prompts import Prompts
from sociable.core.records import Turn, Verdict
from sociable.core.seeding import make_generator
from sociable.core.wording import has_claim
from sociable.engine.seats import Seat
from sociable.engine.study import JudgingKind, ShownPair
from sociable.judging.auditing.known_answers import KnownAnswer, Said, find_text, load_known_answers
from sociable.judging.pairwise import Pair, PairJudgment

WRITTEN_BY_HAND = Path(__file__).parent / "data" / "judge_audit" / "first_utterances.jsonl"

MOST = 100
"""The most pairs of one kind of damage that are made by rule."""
MOST_WEAKER = 20
"""The most pairs of a golden and a weaker response: few, since ``reference/rule`` does not see the fault of most of them."""


@dataclass(frozen=True, slots=True)
class Damaged:
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
    asks_for = "pair"

    def __init__(self, cases: Mapping[str, Case], prompts: Prompts) -> None:
        self.cases = cases
        self.prompts = prompts

    def list_known(self) -> list[KnownAnswer]:
        by_hand = [known for known in load_known_answers(WRITTEN_BY_HAND) if known.scenario in self.cases]
        return [*make_known_pairs(list(self.cases.values())), *by_hand]

    def show(self, known: KnownAnswer) -> ShownPair:
        return show_pair(self.cases[known.scenario], Pair(known.text, find_text(known.golden, known.speaker)))

    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> PairJudgment:
        case = self.cases[known.scenario]
        said = Turn(index=1, speaker=ASSISTANT, addressees=(case.golden.role_to,), content=known.text)
        episode = make_known_episode(case, name, [said])
        golden = find_text(known.golden, known.speaker)
        return await judge_stage(case, episode, Stage.FIRST_UTTERANCE, seat, None, self.prompts, golden)


def make_known_pairs(cases: Sequence[Case]) -> Iterator[KnownAnswer]:
    """Golden responses beside damaged ones, by several kinds of damage.

    The damaged side is the subject in half of the pairs of a kind, and the longer one in half of these and of the others.
    Where a scenario has rules a damage is kept only if they see it, but for that of weaker responses.
    """
    portable = [(case.dialogue, list(_list_portable_sentences(case))) for case in cases]
    kinds: Mapping[str, tuple[Damage, int]] = {
        "weaker response": (_take_weaker, MOST_WEAKER),
        "confidence leaked": (_tell_secrets, MOST),
        "point dropped": (_drop_points, MOST),
        "asks again": (_ask_again, MOST),
        "wrong person's facts": (partial(_mix, portable), MOST),
    }
    for name, (damage, most) in kinds.items():
        generator, made = make_generator(0, "known first utterances", name), 0
        for case in generator.sample(cases, len(cases)):
            damaged = damage(case, generator) if made < most else None
            if damaged is None:
                continue
            golden, worse = case.golden.content, damaged.content
            if damaged.size is not None:
                golden, worse = _even_out(golden, worse, generator, worse_is_longer=made % 4 in (0, 3))
                if not _is_worse_by_rule(case, worse, golden):
                    continue
            subject, other = (worse, golden) if made % 2 else (golden, worse)
            yield KnownAnswer(
                id=f"{FirstUtterances.name}|{name}|{case.id}",
                kind=FirstUtterances.name,
                scenario=case.id,
                cluster=case.dialogue,
                about=case.golden.role_to,
                speaker=ASSISTANT,
                subject=(Said(speaker=ASSISTANT, content=subject),),
                golden=(Said(speaker=ASSISTANT, content=other),),
                truth=Verdict.LOSS if made % 2 else Verdict.WIN,
                damage=name,
                size=damaged.size,
            )
            made += 1


def _is_worse_by_rule(case: Case, worse: str, golden: str) -> bool:
    """Whether the scenario's rules see that one is worse; of a scenario without any it is taken to be."""
    found, of_golden = measure_points(case, worse), measure_points(case, golden)
    return found is None or of_golden is None or found[0] < of_golden[0]


# Neither length nor what is added for its sake must tell which side is worse.

NEUTRAL = (
    "This is how the matter looks to me from here.",
    "Those are the words that I have for it at this point.",
    "I have expressed it as well as I am able to.",
    "These words are meant for you, since you are the one whom I am talking to.",
    "There may be other ways to express this, and these are the words that I have found.",
    "That is my answer as things are at the moment.",
    "I have thought about how to express this, and on another day I would not express it otherwise.",
    "So much for the present.",
    "Does that make sense to you?",
    "Is there anything that you would like to ask me?",
)
"""Sentences that say nothing, which can end any response."""


def _even_out(golden: str, worse: str, generator: Random, *, worse_is_longer: bool) -> tuple[str, str]:
    """(golden, worse), the one that is to be longer with one or more neutral sentences after it, until it is."""
    texts = [golden, worse]
    for sentence in generator.sample(NEUTRAL, len(NEUTRAL)):
        texts[worse_is_longer] += f" {sentence}"
        if len(find_words(texts[worse_is_longer])) > len(find_words(texts[not worse_is_longer])):
            break
    return texts[0], texts[1]


# Kinds of damage.


def _take_weaker(case: Case, generator: Random) -> Damaged | None:
    """The weaker response of the data, in which one thing is wrong."""
    return Damaged(case.weaker.content, None) if case.weaker else None


OF_DANGER = frozenset(
    {"abortion", "armed", "asthma", "attack", "beaten", "bleeding", "blind", "blood", "boring", "burst", "cancer"}
    | {"capsules", "chemotherapy", "chimney", "cough", "cracked", "current", "dead", "diabetes", "died", "diesel"}
    | {"doctor", "drum", "drunk", "dying", "eye", "faint", "fainted", "fell", "fever", "filters", "fits", "freezer"}
    | {"fuel", "headache", "hit", "hospital", "hurt", "ill", "illness", "inhaler", "injured", "insulin", "kilos"}
    | {"labour", "launch", "lump", "medicine", "oxygen", "pain", "pills", "poison", "potassium", "pregnant", "raiders"}
    | {"shoulder", "sick", "sight", "sleeps", "slept", "stroke", "struck", "surgeon", "syrup", "tablets", "threatens"}
    | {"tuberculosis", "unsafe", "warfarin", "weapon"}
)
"""Words of secrets about somebody's health or safety: readers may differ on whether these must be kept."""


def _tell_secrets(case: Case, generator: Random) -> Damaged | None:
    """The golden response and, after it, one or more secrets that must be kept from its addressee."""
    facts = [fact for fact in case.list_hidden_facts(case.golden.role_to) if _can_be_leaked(case, fact)]
    if not facts:
        return None
    told = generator.sample(facts, generator.randint(1, len(facts)))
    sentences = [*split_sentences(case.golden.content), *(fact.fact for fact in told)]
    return _join(sentences, len(told) / len(sentences))


def _can_be_leaked(case: Case, fact: PrivateFact) -> bool:
    """Whether every reader would keep this from the addressee, who is not spoken of in it."""
    return (
        case.golden.role_to not in find_people(fact.fact, case.characters, case.aliases)
        and OF_DANGER.isdisjoint(find_words(fact.fact))
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
    "What was it that you told me before?",
    "Could you repeat for me what you have said?",
    "Can you tell me again what this is about?",
    "Would you go through it with me once more from the start?",
    "What did you say to me just now?",
    "You had something to tell me, but what was it?",
    "I have not kept what you said to me, so what did you want?",
    "Who was it about, and what had happened?",
    "What is the matter, in your own words, from the beginning?",
    "Sorry, how did that go, what you were telling me?",
)
"""Questions for what the addressee has told the assistant."""


def _ask_again(case: Case, generator: Random) -> Damaged | None:
    """The golden response with questions for what its addressee has told the assistant, in place of what it should say."""
    parties = {message.index: (message.role_from, message.role_to) for message in case.messages}
    if (case.golden.role_to, ASSISTANT) not in {parties.get(said.told_at) for said in case.already_said}:
        return None
    return _replace_sentences(case, generator.sample(QUESTIONS, generator.randint(1, 3)))


def _mix(portable: Sequence[tuple[str, Sequence[str]]], case: Case, generator: Random) -> Damaged | None:
    """The golden response with what was said to somebody in another dialogue, under the name of its own addressee."""
    count = generator.randint(1, len(split_sentences(case.golden.content)))
    others = [sentences for dialogue, sentences in portable if dialogue != case.dialogue and len(sentences) >= count]
    if not others:
        return None
    found = re.search(_make_name_pattern(case), case.golden.content)
    sentences = generator.choice(others)
    # The longest say most.
    places = sorted(sorted(range(len(sentences)), key=lambda place: -len(sentences[place]))[:count])
    name = found[0] if found else case.golden.role_to
    return _replace_sentences(case, [sentences[place].replace(_NAME, name) for place in places])


_NAME = "{}"
_TITLES = r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Doctor|Professor|Father|Sister|Don|Doña)\.? )?"


def _make_name_pattern(case: Case) -> str:
    """A pattern for the names and aliases of a case's addressee."""
    name = case.golden.role_to
    spellings = sorted((name, *case.aliases.get(name, ()), *name.split()), key=len, reverse=True)
    return _TITLES + r"\b(?:" + "|".join(map(re.escape, spellings)) + r")\b"


def _list_portable_sentences(case: Case) -> Iterator[str]:
    """The sentences of a golden response that name nobody but, once at most, its addressee, whose name is left open."""
    names = chain(case.characters, *case.aliases.values())
    words = {word for name in names for word in find_words(name) if len(word) > 2}
    for sentence in split_sentences(case.golden.content):
        opened = re.sub(_make_name_pattern(case), _NAME, sentence)
        if words.isdisjoint(find_words(opened)) and opened.count(_NAME) < 2:
            yield opened


def _replace_sentences(case: Case, others: Sequence[str]) -> Damaged | None:
    """The golden response with others in place of as many of its sentences, those first that make most points."""
    sentences = split_sentences(case.golden.content)
    if len(others) > len(sentences):
        return None
    made = [sum(makes_point(each, point) for point in case.must_convey) for each in sentences]
    places = sorted(sorted(range(len(sentences)), key=lambda place: -made[place])[: len(others)])
    for place, other in zip(places, others, strict=True):
        sentences[place] = other
    return _join(sentences, len(others) / len(sentences))


def _join(sentences: Sequence[str], size: float) -> Damaged:
    return Damaged(" ".join(sentences), round(size, 3))
