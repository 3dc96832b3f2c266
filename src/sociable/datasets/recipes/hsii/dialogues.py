"""Dialogues that are there already to HSII's cases (Appendix B.4, native dialogues): no model writes anything.

One of the speakers takes the assistant's part: whoever speaks to the most others. Every turn of theirs is a case, whose golden
response is what was really said; whom it was for is known from the data, or inferred, and then the case says how.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sociable.benchmarks.hsii.dataset import ASSISTANT, cut_cases
from sociable.core.errors import DataError
from sociable.core.prompts import put_on_one_line
from sociable.datasets.build import Recipe, digest_of
from sociable.datasets.recipes.hsii.checks import PARTIES, check_golden
from sociable.datasets.stages import EachStage, Item, Rejected, Writer
from sociable.datasets.transcripts import CERTAIN, SaidTurn, Transcript, with_addressees

LONGEST = 24
"""Turns of a stretch that is cut from a longer conversation."""


class Stretch(Item):
    transcript: str
    topic: str
    scene: str
    assistant: str
    """Whose part the assistant takes."""
    turns: tuple[SaidTurn, ...]


class CutCase(Item):
    record: dict[str, Any]


class FindAddressees(EachStage[Transcript, Transcript]):
    """Known, or inferred and marked so (Appendix B.4)."""

    name = "addressees"
    meaning = "conversations of three speakers or more, with whom each turn is for"
    makes = Transcript

    async def work(self, item: Transcript, writer: Writer) -> Sequence[Transcript]:
        if len(item.speakers) < 3:
            raise Rejected("fewer than three speakers", ", ".join(item.speakers))
        return [with_addressees(item)]


class CutStretches(EachStage[Transcript, Stretch]):
    """So that nobody has to read a whole hearing before answering, and no scene has more than five others (Figure 6)."""

    name = "stretches"
    meaning = f"stretches of up to {LONGEST} turns in which the assistant's part meets {PARTIES[0]} to {PARTIES[1]} others"
    makes = Stretch

    def __init__(self, assistant: str | None) -> None:
        self._assistant = assistant

    async def work(self, item: Transcript, writer: Writer) -> Sequence[Stretch]:
        assistant = self._assistant or _most_turned_to_others(item)
        if assistant not in item.speakers:
            raise Rejected("nobody of the assistant's name", str(assistant))
        found: list[list[SaidTurn]] = [[]]
        for turn in item.turns:
            if len(found[-1]) == LONGEST or len(_others([*found[-1], turn], assistant)) > PARTIES[1]:
                found.append([])
            found[-1].append(turn)
        kept = [stretch for stretch in found if _is_fit(stretch, assistant)]
        if not kept:
            raise Rejected("nobody turns from one to another in it", f"{assistant}'s part")
        scene = item.scene or item.title or "A conversation."
        return [
            Stretch(
                id=f"{item.id}-{number}",
                transcript=item.id,
                topic=item.title or "conversation",
                # What was really said stays as it was said, so people call the assistant by this name.
                scene=f"{put_on_one_line(scene)} The {ASSISTANT} takes the part of {assistant}.",
                assistant=assistant,
                turns=tuple(stretch),
            )
            for number, stretch in enumerate(kept, start=1)
        ]


class CutCases(EachStage[Stretch, CutCase]):
    """What the assistant's part really said is the golden response."""

    name = "cases"
    meaning = "a case for every turn of the assistant's part"
    makes = CutCase

    def __init__(self, inferred: bool) -> None:
        self._inferred = inferred

    async def work(self, item: Stretch, writer: Writer) -> Sequence[CutCase]:
        messages = [_message(turn, item.assistant) for turn in item.turns]
        background = {"scene": item.scene, "characters": _others(item.turns, item.assistant)}
        made = []
        for place, turn in enumerate(item.turns):
            if turn.speaker != item.assistant or messages[place] is None or not any(messages[:place]):
                continue
            if not self._inferred and turn.how not in CERTAIN:
                writer.left_out["turn: whom it is for can only be guessed (--inferred)"] += 1
                continue
            record = {
                "id": f"{item.id}-{place + 1}",
                "dialogue": item.transcript,
                "topic": item.topic,
                "background": background,
                "messages": [message for message in messages[:place] if message is not None],
                "golden": messages[place],
                "why": f"Whom it is for: {turn.how}.",
            }
            try:
                list(cut_cases(record, item.id, item.id))
            except DataError as error:
                raise Rejected("not in the data's layout", f"{error.field}: {error.problem}") from None
            made.append(CutCase(id=str(record["id"]), record=record))
        if not made:
            raise Rejected("no turn of the assistant's part of which it is known whom it is for")
        return made


class CheckCases(EachStage[CutCase, CutCase]):
    """Of real talk the layout and the golden response can be checked; who was told what in private nobody knows."""

    name = "checked"
    meaning = "cases whose golden response nobody has given away"
    makes = CutCase

    async def work(self, item: CutCase, writer: Writer) -> Sequence[CutCase]:
        (case,) = cut_cases(item.record, item.id, item.id)
        check_golden(case)
        return [item]


def _most_turned_to_others(transcript: Transcript) -> str:
    """Whoever speaks to the most others, then most often, then first."""
    spoken = Counter(turn.speaker for turn in transcript.turns)
    to = {speaker: {turn.to for turn in transcript.turns if turn.speaker == speaker and turn.to} for speaker in spoken}
    return max(transcript.speakers, key=lambda speaker: (len(to[speaker]), spoken[speaker]))


def _others(turns: Sequence[SaidTurn], assistant: str) -> list[str]:
    """Who speaks, or is spoken to, beside the assistant."""
    named = (name for turn in turns for name in (turn.speaker, turn.to) if name and name != assistant)
    return list(dict.fromkeys(named))


def _is_fit(turns: Sequence[SaidTurn], assistant: str) -> bool:
    to = {turn.to for turn in turns if turn.speaker == assistant and turn.to}
    return len(to) >= 2 and PARTIES[0] <= len(_others(turns, assistant)) <= PARTIES[1]


def _message(turn: SaidTurn, assistant: str) -> dict[str, Any] | None:
    """None for what is said to nobody in particular, before anybody else has spoken."""
    if turn.to is None or not turn.text:
        return None
    names = [ASSISTANT if name == assistant else name for name in (turn.speaker, turn.to)]
    return {"role_from": names[0], "role_to": names[1], "content": turn.text}


def _facts(cases: Sequence[CutCase]) -> Mapping[str, str]:
    """How it is known whom the golden responses are for, and what becomes of the test if it is only guessed."""
    ways = Counter(str(case.record["why"]).removeprefix("Whom it is for: ").rstrip(".") for case in cases)
    last = sum(case.record["golden"]["role_to"] == _last_speaker(case.record["messages"]) for case in cases)
    return {
        "whom golden responses are for": ", ".join(f"{way} {count}" for way, count in ways.most_common()),
        "solved by answering the last speaker": f"{last} of {len(cases)}",
    }


def _last_speaker(messages: Sequence[Mapping[str, str]]) -> str:
    return next((each["role_from"] for each in reversed(messages) if each["role_from"] != ASSISTANT), "")


def dialogues_recipe(transcripts: Sequence[Transcript], *, assistant: str | None = None, inferred: bool = False) -> Recipe:
    """``assistant``: whose part the assistant takes; ``inferred``: cases too whose addressee is not given, linked or named."""
    return Recipe(
        name="dialogues",
        version="1.0.0",
        benchmark="hsii",
        use="sociable run hsii --dataset {data}",
        audit="sociable audit hsii --dataset {data}",
        stages=(FindAddressees(), CutStretches(assistant), CutCases(inferred), CheckCases()),
        settings={"assistant": assistant, "inferred": inferred},
        digests={"dialogues": digest_of(transcripts)},
        record=lambda case: case.record,
        facts=_facts,
    )
