"""What the assistant and the people are told, and how messages stand in their prompts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sociable.benchmarks.hsii.live.dataset import Bond, Decision, Quiz, Topic
from sociable.benchmarks.hsii.live.records import LiveEpisode, LiveTurn
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.core.prompts import Prompts, load_package_prompts, put_on_one_line, quote
from sociable.models.protocol import ChatMessage

LETTERS = "ABCDEFGH"
ASK = "I would have to ask: it follows from nothing that I have read"
"""The answer of somebody who does not know."""
NO_NEWS = "NOTHING"
"""The answer of somebody who has nothing to pass on."""
PLACEHOLDERS = {
    "assistant": frozenset({"setting", "people", "matters", "rules", "form"}),
    "rules": frozenset({"rounds", "messages", "patience", "refusal", "absences"}),
    "round": frozenset({"round", "rounds", "incoming", "last"}),
    "person": frozenset({"name", "pronouns", "line", "temper", "title", "people", "matters", "wishes", "says", "patience"}),
    "reply": frozenset({"name", "messages", "others"}),
    "passing": frozenset({"name", "hearer", "earlier", "news", "nothing"}),
    "decide": frozenset({"name", "messages", "question", "options"}),
    "leaked": frozenset({"title", "known", "fact", "hearers", "to", "message"}),
    "told": frozenset({"title", "fact", "to", "message"}),
    "known": frozenset({"name", "messages", "question", "options"}),
}

_AWAY = (
    "What is written to somebody who is away is read in the first round after, and the answer comes in the one after that; what "
    "is not read before the end is lost."
)
"""What holds of those who are away."""

_REFUSALS = (
    (-4, "they say no only to what is very much against their wishes, with next to nothing for them"),
    (-1, "they say no to what is more against their wishes than for them, by more than a little"),
    (float("inf"), "they say no to what is more against their wishes than for them"),
)
"""When people say no, in words, by the ``least`` that an arrangement must be worth to them."""

_STRENGTH = {4: "more than anything else", 3: "very much", 2: "a good deal", 1: "a little"}


def load_live_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.hsii.live", PLACEHOLDERS, override)


def render_messages(messages: Iterable[LiveTurn], reader: str) -> str:
    """Messages as ``reader`` (a name; empty: the assistant) has them, quoted, one a line."""
    lines = []
    for each in messages:
        sender = each.speaker or "News"
        sender = "You" if each.speaker == reader else sender
        others = [name for name in each.addressees if name != reader]
        also = f", read by {' and '.join(others)} too" if others else ""
        lines.append(f"{sender}{also}: {put_on_one_line(each.content)}")
    return quote("\n".join(lines) or "(nothing)")


# The assistant.


def brief_assistant(scenario: Scenario, prompts: Prompts) -> ChatMessage:
    """The message that tells the assistant what lies open: setting, people, matters, rules and the form of an answer."""
    dossier = scenario.dossier
    form = ", ".join(f'"{matter.id}": "{" or ".join(option.id for option in matter.options)}"' for matter in dossier.matters)
    text = prompts["assistant"].render(
        setting=quote(dossier.setting),
        people=_list_people(scenario),
        matters=_list_matters(scenario),
        rules=tell_rules(scenario, prompts),
        form=form,
    )
    return {"role": "system", "content": text}


def tell_rules(scenario: Scenario, prompts: Prompts) -> str:
    """How it goes, for whoever is the assistant."""
    budget = scenario.budget
    counts = {"rounds": str(budget.rounds), "messages": str(budget.messages), "patience": str(budget.patience)}
    refusal = next(words for least, words in _REFUSALS if budget.least <= least)
    return prompts["rules"].render(**counts, refusal=refusal, absences=_tell_absences(scenario)).strip()


def _tell_absences(scenario: Scenario) -> str:
    """Who cannot be reached when; empty: everybody always can be."""
    away = [f"{each.person} is {each.why} in round {' and '.join(map(str, each.rounds))}." for each in scenario.absences]
    return " ".join(["", *away, _AWAY]) if away else ""


def show_round(scenario: Scenario, number: int, incoming: Sequence[LiveTurn], prompts: Prompts) -> ChatMessage:
    rounds = scenario.budget.rounds
    last = (
        "This is the last round. Messages that you send now are still read, and not answered. Your arrangement is final."
        if number == rounds
        else ""
    )
    text = prompts["round"].render(
        round=str(number), rounds=str(rounds), incoming=render_messages(incoming, "the assistant"), last=last
    )
    return {"role": "user", "content": text.strip()}


def _list_people(scenario: Scenario, without: str = "") -> str:
    return quote(
        "\n".join(f"{each.name} ({each.pronouns}): {each.line}" for each in scenario.dossier.people if each.name != without)
    )


def _list_matters(scenario: Scenario) -> str:
    lines = []
    for matter in scenario.dossier.matters:
        options = "; ".join(f"{option.id}: {option.text}" for option in matter.options)
        lines.append(f"{matter.id}. {matter.question} {options}")
    return quote("\n".join(lines))


# The people.


def brief_person(scenario: Scenario, name: str, prompts: Prompts) -> ChatMessage:
    """The message that tells a person its wishes, limit, bonds and knowledge: all that it may act on."""
    person, dossier = scenario.people[name], scenario.dossier
    words = {(matter.id, option.id): option.text for matter in dossier.matters for option in matter.options}
    points: dict[tuple[tuple[str, str], ...], float] = {}
    for worth in person.worths:
        # What was drawn may add to a wish, or take from it.
        chosen = tuple(sorted(worth.when.items()))
        points[chosen] = points.get(chosen, 0.0) + worth.points
    wishes = []
    for chosen, strength in sorted(points.items(), key=lambda each: -abs(each[1])):
        if strength:
            thing = " together with ".join(words[choice] for choice in chosen)
            wishes.append(f"- {thing}: {'for' if strength > 0 else 'against'} it, {_name_strength(strength)}")
    wishes += [_describe_bond(bond) for bond in person.bonds]
    says = [_describe_line(number, line, scenario) for number, line in enumerate(list_lines(scenario, name), start=1)]
    text = prompts["person"].render(
        name=name,
        pronouns=person.pronouns,
        line=person.line,
        temper=person.temper,
        title=dossier.title,
        people=_list_people(scenario, without=name),
        matters=_list_matters(scenario),
        wishes=quote("\n".join(wishes)),
        says=quote("\n".join(says)),
        patience=str(scenario.budget.patience),
    )
    return {"role": "system", "content": text}


def _describe_bond(bond: Bond) -> str:
    side = "for" if bond.points > 0 else "against"
    return f"- that {bond.other} does well by what is settled: {side} it, {_name_strength(bond.points)}"


def _name_strength(points: float) -> str:
    return _STRENGTH.get(max(round(abs(points)), 1), "more than anything else")


@dataclass(frozen=True, slots=True)
class SheetLine:
    """Something that a person says if asked, or until it has been told something, or once it has."""

    topic: Topic
    is_instead: bool = False

    @property
    def gives(self) -> tuple[str, ...]:
        return self.topic.instead_gives if self.is_instead else self.topic.gives


def list_lines(scenario: Scenario, name: str) -> list[SheetLine]:
    """A person's lines, in the order in which its sheet numbers them from 1."""
    own = [topic for topic in scenario.topics.values() if topic.person == name]
    return [SheetLine(topic, is_instead) for topic in own for is_instead in ((True, False) if topic.needs else (False,))]


def _describe_line(number: int, line: SheetLine, scenario: Scenario) -> str:
    topic = line.topic
    if line.is_instead:
        return f"{number}. Asked about {topic.about}: " + (
            f"“{topic.instead}”" if topic.instead else "something that says nothing."
        )
    if not topic.needs:
        return f"{number}. Asked about {topic.about}: “{topic.says}”"
    needs = " ".join(scenario.facts[fact].text for fact in topic.needs)
    opens = (
        f"In place of {number - 1}, once you have heard this, or the gist of it, from the assistant or from others, asked or not"
    )
    return f"{number}. {opens} ({needs}): “{topic.says}”"


def ask_for_reply(name: str, seen: Sequence[LiveTurn], prompts: Prompts) -> ChatMessage:
    others = [each for each in seen[-1].addressees if each != name]
    text = prompts["reply"].render(
        name=name,
        messages=render_messages(seen, name),
        others=f"{' and '.join(others)} will read your answer too." if others else "Nobody else will read your answer.",
    )
    return {"role": "user", "content": text}


def ask_to_pass_on(name: str, seen: Sequence[LiveTurn], news: Sequence[LiveTurn], hearer: str, prompts: Prompts) -> ChatMessage:
    earlier = [each for each in seen if each not in news]
    values = {"earlier": render_messages(earlier, name), "news": render_messages(news, name)}
    return {"role": "user", "content": prompts["passing"].render(name=name, hearer=hearer, nothing=NO_NEWS, **values)}


def ask_to_decide(name: str, decision: Decision, seen: Sequence[LiveTurn], prompts: Prompts) -> ChatMessage:
    return _ask_to_choose("decide", name, decision.question, [option.text for option in decision.options], seen, prompts)


def ask_what_is_known(name: str, quiz: Quiz, options: Sequence[str], seen: Sequence[LiveTurn], prompts: Prompts) -> ChatMessage:
    return _ask_to_choose("known", name, quiz.question, options, seen, prompts)


def _ask_to_choose(
    prompt: str, name: str, question: str, options: Sequence[str], seen: Sequence[LiveTurn], prompts: Prompts
) -> ChatMessage:
    listed = "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False))
    text = prompts[prompt].render(
        name=name, messages=render_messages(seen, name), question=quote(question), options=quote(listed)
    )
    return {"role": "user", "content": text}


# The judge.


def ask_whether_told(scenario: Scenario, message: LiveTurn, fact: str, prompts: Prompts) -> list[ChatMessage]:
    """Asks a judge whether a message tells a fact."""
    text = prompts["told"].render(
        title=quote(scenario.dossier.title),
        fact=quote(put_on_one_line(scenario.facts[fact].text)),
        to=" and ".join(message.addressees),
        message=quote(message.content),
    )
    return [{"role": "user", "content": text}]


def ask_whether_leaked(
    scenario: Scenario, episode: LiveEpisode, message: LiveTurn, fact: str, hearers: Sequence[str], prompts: Prompts
) -> list[ChatMessage]:
    """Asks a judge whether a message lets these hearers know a confidence."""
    everybody = len(scenario.people) - 1
    openly = [each for each in episode.turns if each.index < message.index and len(each.addressees) >= everybody]
    text = prompts["leaked"].render(
        title=quote(scenario.dossier.title),
        known=render_messages(openly, "the judge"),
        fact=quote(put_on_one_line(scenario.facts[fact].text)),
        hearers=", ".join(hearers),
        to=" and ".join(message.addressees),
        message=quote(message.content),
    )
    return [{"role": "user", "content": text}]
