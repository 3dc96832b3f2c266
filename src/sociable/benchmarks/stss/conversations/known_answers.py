"""Conversations and summaries of which it is known whether they meet a condition: judges are audited by them.

By rule they are put together from sentences. Each intact text has a twin that differs from it in one thing, so that neither its
length nor its words tell the answer. Others are written by hand, about bundled scenes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar

from sociable.benchmarks.stss.conversations.conditions import Condition
from sociable.benchmarks.stss.conversations.judge import ConditionQuestion, Evaluator, Text
from sociable.benchmarks.stss.conversations.made_texts import DAMAGED, Damage, Maker, list_damages
from sociable.benchmarks.stss.conversations.metrics import METRICS
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, Scene
from sociable.core.records import Judgment, Turn
from sociable.core.seeding import make_generator
from sociable.engine.seats import Seat
from sociable.engine.study import JudgingKind, ShownQuestion
from sociable.judging.auditing.known_answers import KnownAnswer, load_known_answers

PAIRS = 20
"""Pairs of an intact text and its damaged twin, for each kind of damage."""

_FOLDER = Path(__file__).parent / "data" / "judge_audit"


def _list_metrics(text: Text) -> tuple[str, ...]:
    """The metrics that rest on one text: those of a scene, their families, and the figures of a run."""
    return tuple(name for name in METRICS if name.startswith((f"{text}_", f"{text}/")))


class _ConditionKind(JudgingKind):
    """Questions whether one of the two texts meets a condition; ``about`` is the condition."""

    text: ClassVar[Text]
    file: ClassVar[str]

    def __init__(self, evaluator: Evaluator, scenes: Mapping[str, Scene], *, are_bundled: bool) -> None:
        """``are_bundled``: whether the scenes are the bundled ones, which the texts written by hand are about."""
        self._evaluator = evaluator
        self._scenes = scenes
        self._by_hand = _FOLDER / self.file if are_bundled else None

    def list_known(self) -> list[KnownAnswer]:
        by_hand = load_known_answers(self._by_hand) if self._by_hand else []
        return [each for each in chain(by_hand, self._make()) if self._is_asked(each)]

    def _is_asked(self, known: KnownAnswer) -> bool:
        """Whether a run would ask this: another level has other scenes, and the authors' prompts other conditions."""
        scene = self._scenes.get(known.scenario)
        return scene is not None and known.about in self._evaluator.conditions[scene.type]

    def _make(self) -> Iterator[KnownAnswer]:
        """The texts made by rule, one kind of damage after the other."""
        setting = self._evaluator.setting
        maker = Maker(self.text, list(self._scenes.values()), setting.clock, setting.places)
        for damage in list_damages(self.text):
            yield from chain.from_iterable(islice(self._make_pairs(maker, damage), PAIRS))

    def _make_pairs(self, maker: Maker, damage: Damage) -> Iterator[tuple[KnownAnswer, KnownAnswer]]:
        """Pairs of one kind of damage, the conditions in turn, each about the first scene by lot that can be damaged so."""
        draw = make_generator(0, "known answers", self.text, damage)
        scenes = sorted(self._scenes.values(), key=lambda scene: scene.id)
        number = 0
        for _ in range(PAIRS):
            for condition in draw.sample(DAMAGED[damage], len(DAMAGED[damage])):
                asked = [each for each in draw.sample(scenes, len(scenes)) if condition in self._evaluator.conditions[each.type]]
                pairs = (maker.make_pair(scene, condition, damage, number) for scene in asked)
                if pair := next(filter(None, pairs), None):
                    number += 1
                    yield pair

    def show(self, known: KnownAnswer) -> ShownQuestion:
        return self._evaluator.show(self._scenes[known.scenario], self._make_episode(known, known.id), self._ask(known))

    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> Judgment:
        scene = self._scenes[known.scenario]
        return await self._evaluator.judge(scene, self._make_episode(known, name), self._ask(known), seat)

    def _ask(self, known: KnownAnswer) -> ConditionQuestion:
        return ConditionQuestion(self.text, Condition(known.about))

    def _make_episode(self, known: KnownAnswer, name: str) -> ConversationEpisode:
        is_summary = self.text is Text.SUMMARY
        turns = [] if is_summary else enumerate(known.subject)
        return ConversationEpisode(
            id=name,
            scenario=known.scenario,
            cluster=known.cluster,
            turns=tuple(Turn(index=place, speaker=said.speaker, content=said.content) for place, said in turns),
            summary=known.text if is_summary else "",
        )


class ConversationKind(_ConditionKind):
    name = "conversation"
    text = Text.CONVERSATION
    file = "conversations.jsonl"
    metrics = _list_metrics(text)


class SummaryKind(_ConditionKind):
    name = "summary"
    text = Text.SUMMARY
    file = "summaries.jsonl"
    metrics = _list_metrics(text)
