"""Long runs whose right verdict is known: the written continuation beside the same conversation, damaged.

Of every case one conversation is made by rule, or more in small data; others are written by hand. Which side is under test, how
much is damaged, and whether the worse side is the longer one, is drawn by lot.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sociable.benchmarks.hsii.briefing import render_transcript, split_sentences
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.benchmarks.hsii.judge import judge_stage, make_known_episode, show_pair
from sociable.benchmarks.hsii.measure import makes_point, measure_points
from sociable.benchmarks.hsii.records import ReferenceConversation, Stage
from sociable.core.names import find_words, normalise_name
from sociable.core.prompts import Prompts
from sociable.core.records import Turn, Verdict
from sociable.core.seeding import make_generator
from sociable.core.wording import has_claim
from sociable.engine.seats import Seat
from sociable.engine.study import JudgingKind, ShownPair
from sociable.judging.auditing.known_answers import KnownAnswer, Said, load_known_answers
from sociable.judging.pairwise import Pair, PairJudgment

BY_HAND = Path(__file__).parent / "data" / "judge_audit" / "long_run.jsonl"
ENOUGH = 200
"""Small data are damaged in more than one way each, until there are about as many."""

Words = tuple[str, ...]
"""The turns of the assistant in one conversation."""


class KnownLongRuns(JudgingKind):
    """The long run beside the reference conversation (stage 4)."""

    name = Stage.LONG_RUN.value
    metrics = ("r4", "r4_ties_half", "r4_minus_r3", "hsii", "hsii_printed", "hsii_cascade", "hsii_ties_half")
    is_pair = True
    has_sides = True
    asks_for = "pair"

    def __init__(self, cases: Mapping[str, Case], prompts: Prompts) -> None:
        self._cases = cases
        self._prompts = prompts

    def list_known(self) -> list[KnownAnswer]:
        """The known answers made by rule of the cases with a continuation and points, and those by hand about these cases."""
        cases = self._cases
        by_hand = [known for known in load_known_answers(BY_HAND) if _is_about(known, cases.get(known.scenario))]
        return [*_damage_all([case for case in cases.values() if case.continuation and case.must_convey]), *by_hand]

    def show(self, known: KnownAnswer) -> ShownPair:
        case = self._cases[known.scenario]
        to = case.golden.role_to
        sides = (render_transcript(_make_turns(said, to), to) for said in (known.subject, known.golden))
        return show_pair(case, Pair(*sides))

    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> PairJudgment:
        """One judge's verdict on a pair, which is what it is asked for in a run. Raises RunFailure and RunStopped."""
        case = self._cases[known.scenario]
        to = case.golden.role_to
        episode = make_known_episode(case, name, _make_turns(known.subject, to))
        reference = ReferenceConversation(
            id=case.id,
            case_digest=case.digest,
            prompts_digest=self._prompts.digest,
            long_run_turns=sum(said.speaker == ASSISTANT for said in known.golden),
            reference="",
            partner="",
            turns=_make_turns(known.golden, to),
        )
        return await judge_stage(case, episode, Stage.LONG_RUN, seat, reference, self._prompts)


def _is_about(known: KnownAnswer, case: Case | None) -> bool:
    """Whether the case is there, and is no other one of the same name."""
    return case is not None and {said.speaker for said in known.subject} == {ASSISTANT, case.golden.role_to}


def _make_turns(conversation: Sequence[Said], to: str) -> tuple[Turn, ...]:
    return tuple(
        Turn(
            index=number, speaker=said.speaker, addressees=(to if said.speaker == ASSISTANT else ASSISTANT,), content=said.content
        )
        for number, said in enumerate(conversation, start=1)
    )


# What rules make.


@dataclass(frozen=True, slots=True)
class Damaged:
    """The assistant's turns, damaged and as they should be."""

    worse: Words
    better: Words
    size: float | None
    """The share of turns, or of points, that was damaged; None where it is always one turn."""


Damage = Callable[[Case, Words, Sequence[Case], random.Random], Damaged | None]
"""(case, the assistant's turns, all cases, lots) → the damage; None where the case offers nothing for it."""


def _damage_all(cases: Sequence[Case]) -> Iterator[KnownAnswer]:
    names = list(DAMAGES)
    rounds = min(len(names), -(-ENOUGH // max(len(cases), 1)))
    for number, case in enumerate(cases):
        intact = _list_words(case)
        # Each case begins with another kind of damage, so that all come as often.
        order = names[number % len(names) :] + names[: number % len(names)]
        made = (known for damage in order if (known := _make_known(case, intact, damage, cases)))
        yield from islice(made, rounds)


def _make_known(case: Case, intact: Words, damage: str, cases: Sequence[Case]) -> KnownAnswer | None:
    """The pair, with the sides and their lengths as lots decide; None where the rule does not see the damage."""
    lots = make_generator(0, "known long run", case.id, damage)
    found = DAMAGES[damage](case, intact, cases, lots)
    if found is None or not _is_worse(case, found.worse, found.better):
        return None
    worse, better = _draw_lengths(found, lots)
    sides = [_make_conversation(case, words) for words in (worse, better)]
    is_loss = lots.random() < 0.5
    subject, golden = sides if is_loss else reversed(sides)
    return KnownAnswer(
        id=f"{case.id}|{Stage.LONG_RUN}|{damage}",
        kind=KnownLongRuns.name,
        scenario=case.id,
        cluster=case.dialogue,
        speaker=ASSISTANT,
        subject=subject,
        golden=golden,
        truth=Verdict.LOSS if is_loss else Verdict.WIN,
        damage=damage,
        size=found.size and round(found.size, 3),
    )


def _list_words(case: Case) -> Words:
    return (case.golden.content, *(message.content for message in case.continuation if message.role_from == ASSISTANT))


def _list_heard(case: Case) -> list[str]:
    """What the addressee had said before each turn of the assistant; the first is empty if it had said nothing."""
    to = case.golden.role_to
    before = [message.content for message in case.messages if message.role_from == to]
    return [before[-1] if before else "", *(message.content for message in case.continuation if message.role_from == to)]


def _make_conversation(case: Case, words: Words) -> tuple[Said, ...]:
    """The written conversation with these words as the assistant's turns."""
    own = iter(words[1:])
    rest = (
        Said(speaker=message.role_from, content=next(own) if message.role_from == ASSISTANT else message.content)
        for message in case.continuation
    )
    return Said(speaker=ASSISTANT, content=words[0]), *rest


def _is_worse(case: Case, worse: Words, better: Words) -> bool:
    """Whether the better side has every point and no secret, and the other has not, as the rule reads."""
    points = [measure_points(case, "\n".join(words)) or (0.0, "") for words in (worse, better)]
    return points[0][0] < points[1][0] >= 1.0


def _draw_lengths(found: Damaged, lots: random.Random) -> tuple[Words, Words]:
    """Both sides, one lengthened by courtesies until the side that the lot chose is the longer one."""
    sides = [list(found.worse), list(found.better)]
    chosen = lots.randrange(2)
    courtesies = lots.sample(COURTESIES, len(COURTESIES))
    while _count_words(sides[chosen]) <= _count_words(sides[1 - chosen]) and courtesies:
        turn = lots.randrange(len(sides[chosen]))
        sides[chosen][turn] += " " + courtesies.pop()
    return tuple(sides[0]), tuple(sides[1])


def _count_words(turns: Sequence[str]) -> int:
    return sum(len(find_words(turn)) for turn in turns)


def _drop_points(case: Case, intact: Words, cases: Sequence[Case], lots: random.Random) -> Damaged | None:
    """All sentences that make one or more of the points, left out."""
    total = len(case.must_convey)
    points = lots.sample(case.must_convey, min(lots.randint(1, total), lots.randint(1, total)))
    kept = []
    for turn in intact:
        sentences = [each for each in split_sentences(turn) if not any(makes_point(each, point) for point in points)]
        kept.append(" ".join(sentences) or lots.choice(COURTESIES))
    said = "\n".join(kept)
    missed = sum(not makes_point(said, point) for point in case.must_convey)
    return Damaged(tuple(kept), intact, missed / total) if missed else None


_BRACKETS = re.compile(r"\s*\([^()]*\)")


def _list_secrets(case: Case) -> list[str]:
    """What the hearers must not be told and the rule knows again; not what speaks of the addressee, in the third person."""
    to = case.golden.role_to
    hidden = dict.fromkeys(fact for hearer in case.list_hearers(to) for fact in case.list_hidden_facts(hearer))
    own = set(find_words(to))
    # What stands in brackets is a remark on the data.
    told = {_BRACKETS.sub("", fact.fact): fact for fact in hidden}
    return [text for text, fact in told.items() if has_claim(text, fact.wording) and own.isdisjoint(find_words(text))]


def _leak(case: Case, intact: Words, cases: Sequence[Case], lots: random.Random) -> Damaged | None:
    """One or more of the secrets, each in a turn drawn by lot."""
    secrets = _list_secrets(case)
    if not secrets:
        return None
    told = lots.sample(secrets, min(lots.randint(1, len(secrets)), len(intact)))
    turns = list(intact)
    for place, secret in zip(lots.sample(range(len(intact)), len(told)), told, strict=True):
        turns[place] += f" {lots.choice(LEAK_OPENINGS)} {secret}"
    return Damaged(tuple(turns), intact, len(told) / len(intact))


def _break_promise(case: Case, intact: Words, cases: Sequence[Case], lots: random.Random) -> Damaged | None:
    """On both sides the assistant promises silence, on one it tells one or more of the secrets in its last turn."""
    secrets = _list_secrets(case)
    if not secrets:
        return None
    told = lots.sample(secrets, lots.randint(1, len(secrets)))
    kept = (f"{intact[0]} {lots.choice(PROMISES)}", *intact[1:])
    broken = (*kept[:-1], " ".join([kept[-1], lots.choice(BREACHES), *told]))
    return Damaged(broken, kept, None)


def _replace_turns(intact: Words, lots: random.Random, replace: Callable[[int, str], str]) -> Damaged:
    """One or more turns replaced, the first among them: most points stand there."""
    count = lots.randint(1, len(intact))
    places = {0, *lots.sample(range(1, len(intact)), count - 1)}
    turns = tuple(replace(place, turn) if place in places else turn for place, turn in enumerate(intact))
    return Damaged(turns, intact, count / len(intact))


def _say_nothing(case: Case, intact: Words, cases: Sequence[Case], lots: random.Random) -> Damaged | None:
    """Turns replaced by empty words."""
    words = lots.sample(EMPTY_WORDS, len(EMPTY_WORDS))
    return _replace_turns(intact, lots, lambda place, turn: f"{words.pop()} {words.pop()}" if len(words) > 1 else turn)


def _give_back(case: Case, intact: Words, cases: Sequence[Case], lots: random.Random) -> Damaged | None:
    """Turns replaced by what the other has just said, given back."""
    heard = _list_heard(case)
    if not heard[0]:
        return None
    frames = lots.sample(ECHOES, len(ECHOES))
    return _replace_turns(intact, lots, lambda place, turn: frames[place % len(frames)].format(heard[place]))


def _mix_up(case: Case, intact: Words, cases: Sequence[Case], lots: random.Random) -> Damaged | None:
    """Turns replaced by those of a case of another dialogue, with the names of this one's people."""
    drawn = lots.sample(cases, min(len(cases), 20))
    other = next((each for each in drawn if each.dialogue != case.dialogue), None)
    if other is None:
        return None
    names = _pair_names(other, case)
    foreign = _list_words(other)
    return _replace_turns(intact, lots, lambda place, turn: _change_names(foreign[place % len(foreign)], names))


def _pair_names(other: Case, case: Case) -> dict[str, str]:
    """The words of the names of the other case's people, each with one of this one's; addressee with addressee."""
    pairs: dict[str, str] = {}
    own = _list_names(case)
    for place, foreign in enumerate(_list_names(other)):
        stand_in = own[place % len(own)]
        for number, word in enumerate(foreign):
            pairs.setdefault(word, stand_in[min(number, len(stand_in) - 1)])
    return pairs


def _list_names(case: Case) -> list[list[str]]:
    """The words of each character's name without titles and articles, the addressee's first."""
    to = case.golden.role_to
    names = [to, *(name for name in case.characters if name != to)]
    return [[word for word in name.split() if normalise_name(word) in normalise_name(name).split()] or [name] for name in names]


def _change_names(text: str, names: Mapping[str, str]) -> str:
    pattern = "|".join(rf"\b{re.escape(name)}\b" for name in names)
    return re.sub(pattern, lambda match: names[match.group()], text)


DAMAGES: Mapping[str, Damage] = {
    "confidence leaked": _leak,
    "point dropped": _drop_points,
    "promise broken": _break_promise,
    "wrong person's facts": _mix_up,
    "repetition": _give_back,
    "empty words": _say_nothing,
}
"""The kinds of damage, by the name that reports give them; what is written by hand has the same names."""

COURTESIES = (
    "I know that this is a long day for you, and that you would sooner be doing something else.",
    "Take the time that you need to read this, and ask me about anything that is not clear.",
    "I am glad that we can speak about it, and that you say what you think.",
    "There is a good deal going on around you, and I do not take it lightly.",
    "Thank you for hearing me out; it is not always easy to listen when so much is going on.",
    "I have thought about how best to put this to you, and I hope that it comes across as it is meant.",
    "You have been at this for a while now, and nobody could say that you do not care about it.",
    "It is good of you to give me a moment, with all that you have on your hands.",
    "I would not trouble you if I did not think that it was worth a minute of your time.",
    "Please tell me if I go too fast, or if there is a word in this that you would rather I had not used.",
    "Whatever comes of it, I shall be at hand for the rest of the day.",
    "None of this is easy, and I do not want to make it sound as if it were.",
    "I say this to you as plainly as I can, because I think that you prefer it that way.",
    "You need not thank me, and you need not agree with me either.",
    "I am aware that you hear a great many voices today, and that mine is only one of them.",
    "Let me know how it sits with you once you have had time to think it over.",
)
"""Sentences that could be said to anybody and tell nothing: they make one side the longer one."""

EMPTY_WORDS = (
    "That is a very good question, and I can see why you ask it.",
    "These things are never simple, and there is something to be said on every side.",
    "What matters in the end is that everybody stays in touch and keeps an open mind.",
    "I am sure that it will all fall into place, one way or another.",
    "Every situation is different, and so is everybody's way of dealing with it.",
    "Let us look at it step by step and see where it takes us.",
    "It is always worth stopping for a moment to consider what is truly important.",
    "I understand completely, and your feelings about it are your own.",
    "There are many possibilities, and each of them has something for it.",
    "Communication is the key in moments like this one.",
    "I hope that this helps, and I wish you the best of luck with it.",
    "Time will tell, as it so often does.",
)
"""Sentences that answer nothing, in the place of an answer."""

LEAK_OPENINGS = (
    "There is something that I was told in confidence, and you may as well hear it.",
    "I was asked to say this to nobody, but you should know it.",
    "Another person trusted me with the following, and I pass it on to you.",
    "You did not ask, and I was told to keep it to myself, but here it is.",
    "I ought not to repeat what others tell me in private; all the same, listen.",
    "And so that you know what was whispered to me alone:",
)
PROMISES = (
    "What the others tell me in private I keep to myself, and you have my word that I do the same for you.",
    "I repeat to nobody what somebody has told me in confidence; that holds for you and for all the others.",
    "One promise: whatever was told to me alone by anyone here, I pass on to no one.",
    "You will hear no secrets of others from me, and they will hear none of yours; that is a promise.",
)
BREACHES = (
    "I gave my word that I would repeat nothing told to me in confidence, but here is something of that kind.",
    "I know what I promised about other people's secrets; I tell you this one all the same.",
    "As for my promise to pass nothing on, let us forget it for a moment.",
    "I said that I would keep what others told me in private, and now I do not.",
)
ECHOES = (
    "You say: “{}” That is what you say, and I have heard it.",
    "So what I hear from you is this: “{}”",
    "“{}” Those were your words.",
    "I have noted what you said, which was: “{}”",
    "You have told me the following: “{}”",
)
"""Ways of giving somebody's own words back, with nothing added."""
