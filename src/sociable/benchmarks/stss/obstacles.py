"""What makes a task of level 2 or 3 hard, written with the task: who does not want to come and what moves them; a secret, a
rumour, few conversations, early notice, a skill that few have.

Whoever plays the residents is told of it: reference residents by rule (``reluctant.py``), models in their briefs (``briefs.py``).
The performer is told only what its goal says, and has to learn the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from pydantic import Field

from sociable.core.data_files import Text
from sociable.core.records import Record
from sociable.core.wording import Wording, find_telling_words, has_claim, has_wording, measure_overlap

COMES: Wording = tuple(
    (phrase,)
    for phrase in (
        "is coming", "coming", "comes", "will come", "ll come", "will be there", "ll be there", "is there", "be there too",
        "promised", "said yes", "says yes", "agreed", "has accepted", "will join", "ll join", "joins", "joining", "is joining",
        "is in", "is going", "is on board", "takes part", "taking part", "will take part", "wants to come", "is part of it",
        "will be part", "signed up", "is with us", "will be with us", "confirmed", "already in", "be joining", "will attend",
    )
)  # fmt: skip
"""Wordings of which one says, in a sentence with somebody's name, that this one comes."""

_LEFT_OPEN: Wording = tuple(
    (word,) for word in ("if", "whether", "maybe", "perhaps", "might", "speak to", "talk to", "hope", "unless")
)
"""Wordings with which a sentence leaves open whether somebody comes."""

_SPARES: Wording = tuple(
    (phrase,)
    for phrase in (
        "nobody*", "no one*", "no", "not", "none", "nothing", "never", "nowhere", "without", "wont", "isnt", "arent", "doesnt",
        "dont", "neednt", "wouldnt", "cant", "cannot", "ban*", "forbid*", "forbidden", "leave out", "left out", "taken out",
        "stays out", "stay out", "off the table", "off limits", "off duty", "steer*", "change the subject", "keep away",
        "away from", "free of", "spare*",
    )
)  # fmt: skip
"""Wordings of which one says that something will not be."""

_SENTENCE = re.compile(r"(?:[^.!?;:\n]|:(?!\s))+[.!?;:\n]*")

KIND_QUESTION: Wording = (
    *((phrase,) for phrase in ("why", "how come", "tell me", "reason*", "is something", "is anything", "are you all right")),
    *((phrase,) for phrase in ("may i ask", "mind me asking", "help me understand", "what is it", "what lies behind")),
    *((phrase,) for phrase in ("whats wrong", "what is wrong", "the matter", "on your mind", "talk about it", "im listening")),
    *(("what", phrase) for phrase in ("keep*", "stop*", "hold*", "would", "could", "worr*", "trouble*", "bother*", "prevent*")),
    *(("what", phrase) for phrase in ("make it", "easier", "can i do", "in the way", "put* you off", "behind", "against")),
    *(("anything", phrase) for phrase in ("i can", "i could", "bother*", "worr*", "wrong", "help", "makes it", "keep*")),
    *(("something", phrase) for phrase in ("else", "bother*", "worr*", "wrong", "in the way", "behind", "keep*")),
)
"""Wordings that ask somebody for a reason."""

_ASKS_TO_BE_TOLD: Wording = tuple(
    (phrase,)
    for phrase in (
        "tell me", "im listening", "i am listening", "help me understand", "like to know", "love to know", "like to understand",
        "like to hear", "want to understand", "wonder", "wondering", "talk about it", "curious", "if you want to say",
    )
)  # fmt: skip
"""The same in a sentence that is no question."""

UNKIND: Wording = tuple(
    (phrase,)
    for phrase in (
        "selfish", "stupid", "ridiculous", "coward*", "nonsense", "no excuse*", "how dare", "lazy", "shame on", "pathetic",
        "childish", "i insist", "i demand", "you must come", "you have to come", "you owe me", "dont be silly", "or else",
    )
)  # fmt: skip
"""Wordings after which nobody tells a reason."""

SECRECY: Wording = tuple(
    (phrase,)
    for phrase in (
        "secret", "surprise", "not a word", "tell no one", "tell nobody", "between us", "between ourselves", "keep it quiet",
        "keep this quiet", "keep mum", "hush", "without her knowing", "without him knowing", "must not know", "must not hear",
        "must not learn", "mustnt know", "mustnt hear", "to yourself", "dont tell", "do not tell", "dont mention",
        "do not mention", "dont let", "do not let", "breathe a",
    )
)  # fmt: skip
"""Wordings that ask for silence."""

CORRECTION: Wording = tuple(
    (phrase,)
    for phrase in (
        "not", "no", "wrong", "mistake*", "mistaken", "rumour*", "rumor*", "actually", "instead", "rather than", "misheard",
        "mix*", "correct*", "isnt", "never", "misunderst*", "got it from", "forget what", "in fact", "confus*", "false",
    )
)  # fmt: skip
"""Wordings of which one shows that what was heard is being set right."""

_ASKS_ABOUT: Wording = tuple(
    (word,) for word in ("why", "know", "what", "whats", "how", "about", "wrong", "matter", "against", "tell")
)
"""Wordings of which a question has one that asks about somebody."""

_WONDERS: Wording = (("why",), ("wonder*",), ("tell me", "about"), ("what you know",), ("anything about",))
"""Wordings with which a sentence that is no question asks about somebody."""

BELIEVED = 4
"""The number of kinds of reason that one line may take care of; whoever promises more at once is not believed."""

ECHO = 0.8
"""The share of a sentence's words from which on it only repeats what somebody has said itself."""

RECOGNISED = 0.6
"""The share of a reason's words that a line must have to count as telling it, for reports."""


_KNOWS_NOT = "I could not tell you. Ask {name}, and kindly."
"""What somebody says that is asked about another and does not know."""


class Will(Record):
    """Somebody's reason not to come, and the one thing that moves it."""

    who: Text
    kind: Text
    """The kind of reason in a word or two: pride, money, a promise, fear."""
    vague: tuple[Text, ...] = Field(min_length=2)
    """Ways of saying no without the reason; each is said once to the same person."""
    reason: Text
    """The true reason, as it tells it itself."""
    tells: bool = True
    """Whether it tells the reason itself if it is asked kindly, at level 3 another time; else only ``known_by`` do."""
    known_by: dict[Text, Text] = {}
    """What others say who know, if they are asked about this one."""
    moved_by: Text
    """What moves it: a clause that begins with "somebody", as in "if somebody says that …"."""
    wording: Wording | None = None
    """How that may be put; may be left out where it is only that ``third`` comes."""
    spares: Wording | None = None
    """Topics of which it is enough to hear, in whatever words, that they will not come up."""
    say: Text
    """The same as reference performers put it."""
    moved: Text
    """Its answer when it is moved, before it says yes."""
    third: str = ""
    """Somebody without whom it does not come: what is said of this one must be true."""
    clash: str = ""
    """What else it means to do while the event lasts, until it is moved; only where the time is fixed."""
    place: str = ""
    """The place of the clash."""

    def is_moved_by(self, lines: Sequence[str]) -> bool:
        """Whether the words said in one conversation move it."""
        if self.wording:
            passages = [each for line in lines for each in self._list_new_passages(line)]
            return any(has_claim(each, self.wording) or self._is_spared(each) for each in passages)
        return any(
            has_wording(each, ((shorten_name(self.third),),))
            and not each.rstrip().endswith("?")
            and not has_wording(each, _LEFT_OPEN)
            and has_claim(each, COMES)
            for line in lines
            for each in _SENTENCE.findall(line)
        )

    def _is_spared(self, passage: str) -> bool:
        """Whether a passage, and no question, says of what it dreads that it will not be."""
        if self.spares is None:
            return False
        said = [each for each in _SENTENCE.findall(passage) if not each.rstrip().endswith("?")]
        return any(has_wording(each, self.spares) and has_wording(each, _SPARES) for each in said)

    def _list_new_passages(self, line: str) -> Iterator[str]:
        """Every sentence of a line with the one after it, but what only repeats its own words to it.

        Words that are further apart do not belong together.
        """
        own = find_telling_words(" ".join((*self.vague, self.reason)))
        sentences = [each for each in _SENTENCE.findall(line) if measure_overlap(find_telling_words(each), own) < ECHO]
        for first, second in zip_longest(sentences, sentences[1:], fillvalue=""):
            yield f"{first} {second}"

    def is_told_in(self, line: str) -> bool:
        """Whether a line tells the reason, or what others know of it."""
        said = find_telling_words(line)
        return any(
            measure_overlap(find_telling_words(text), said) >= RECOGNISED for text in (self.reason, *self.known_by.values())
        )


def asks_about(line: str, name: str) -> bool:
    """Whether a line asks what there is with somebody."""
    sentences = [each for each in _SENTENCE.findall(line) if has_wording(each, ((shorten_name(name),),))]
    return any(has_wording(each, _ASKS_ABOUT if each.rstrip().endswith("?") else _WONDERS) for each in sentences)


def shorten_name(name: str) -> str:
    """Somebody's first name."""
    return name.split()[0]


class Secret(Record):
    """The event is a surprise: the task counts half if the one it is kept from learns of it before it begins."""

    keeps_from: Text


class Rumour(Record):
    """What some have heard of the event before the performer tells them: another hour, or another place."""

    teller: Text
    """The person whom they have it from."""
    believed_by: tuple[Text, ...] = Field(min_length=1)
    time: str = ""
    """The wrong hour, HH:MM."""
    place: str = ""
    """The wrong place, ``Sector: arena``."""
    says: tuple[Text, ...] = Field(min_length=1)
    """How they put it when they are invited. They promise to come, then or there, unless it is set right."""


class Skill(Record):
    """A step of help that only few can do, which is written nowhere."""

    step: int = Field(ge=1)
    held_by: tuple[Text, ...] = Field(min_length=1)
    lacks: tuple[Text, ...] = Field(min_length=1)
    """How others say that they cannot."""
    known_by: dict[Text, Text]
    """What those say who know somebody that can, if they are asked who could."""


ASKS_WHO_CAN: Wording = (
    *(("who", phrase) for phrase in ("can", "could", "knows how", "might", "is able", "would know", "else", "able to")),
    *(("know", phrase) for phrase in ("anyone", "anybody", "someone", "somebody", "who", "of a person")),
    *(("is there", phrase) for phrase in ("anyone", "anybody", "someone", "somebody")),
    *((phrase,) for phrase in ("any idea who", "anyone who", "anybody who", "someone who", "somebody who", "who should i ask")),
)


class Obstacles(Record):
    """All that stands in a task's way, and how much of it can be done all the same."""

    level: int = Field(ge=2, le=3)
    wills: tuple[Will, ...]
    secret: Secret | None = None
    rumour: Rumour | None = None
    budget: int | None = Field(default=None, ge=1)
    """The number of conversations in which the performer may speak of the task. Whoever is won only after that does not count."""
    notice: int | None = None
    """The minute by which people must know. Whoever is told all that is needed only later does not count."""
    skill: Skill | None = None
    best: int = Field(default=0, ge=0)
    """The most people that can be won, as a search found (``best.py``); of an appointment and of help 1."""
    best_moment: int | None = None
    """The event's time in that plan."""
    best_plan: tuple[str, ...] = ()
    """The people won in that plan, in the order in which they are spoken to."""

    @property
    def are_people_reserved(self) -> bool:
        """Whether people tell a reason only to somebody who comes back, and not in the first conversation about it."""
        return self.level > 2

    def find_will(self, name: str) -> Will | None:
        return next((will for will in self.wills if will.who == name), None)

    def promises_everything(self, line: str) -> bool:
        """Whether a line would move people of very many kinds of reason at once: nobody believes that."""
        return len({will.kind for will in self.wills if not will.third and will.is_moved_by([line])}) > BELIEVED

    def list_hints(self, name: str, line: str) -> Iterator[str]:
        """Lists what somebody can tell of others' reasons and skills, asked in these words."""
        for will in self.wills:
            if name != will.who and asks_about(line, will.who):
                others = [each for each in will.known_by if each != name]
                yield will.known_by.get(name) or _KNOWS_NOT.format(name=shorten_name(others[0] if others else will.who))
        if self.skill is not None and name in self.skill.known_by and has_wording(line, ASKS_WHO_CAN):
            yield self.skill.known_by[name]


def is_kind_question(line: str) -> bool:
    """Whether a line asks kindly for somebody's reason."""
    sentences = _SENTENCE.findall(line)
    asks = any(each.rstrip().endswith("?") and has_wording(each, KIND_QUESTION) for each in sentences)
    return (asks or has_wording(line, _ASKS_TO_BE_TOLD)) and not has_wording(line, UNKIND)
