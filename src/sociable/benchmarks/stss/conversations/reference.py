"""Performers and listeners without a model, for one conversation. The performers are those of the action level.

Only the words of the action level's reference performers matter here: ``oracle`` says everything and negotiates, knowing
when the other is free; ``oracle@p`` leaves something out in a share p of the scenes; ``heuristic`` says everything and takes no
other time; ``forgetful`` leaves one thing out; ``random`` says a random time and place; ``silent`` says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from sociable.benchmarks.stss.conversations.conditions import CONDITIONS, Condition, ConditionRule
from sociable.benchmarks.stss.conversations.records import Scene
from sociable.benchmarks.stss.reference import Performer, make_performer
from sociable.benchmarks.stss.residents import ReferenceResident, RoutineMind, World
from sociable.benchmarks.stss.speech import say_moment
from sociable.benchmarks.stss.task import TaskType
from sociable.town.events import Line, Remembered
from sociable.town.minds import TakenAway, Talk


def make_scene_performer(agent: str, scene: Scene, world: World) -> Performer:
    """The performer called ``agent``, to whom the other is the whole cast: nobody else is there to be invited."""
    task = scene.task.model_copy(update={"cast": (scene.target.name,)})
    others = {scene.target.name: RoutineMind(scene.target.persona, world)}
    return make_performer(agent, scene.performer.persona, world, task, others)


class Listener(ReferenceResident):
    """A reference resident that says what it took away from a conversation."""

    def __init__(self, scene: Scene, world: World, places: Sequence[str]) -> None:
        super().__init__(scene.target.persona, world, scene.task, scene.target.acquaintances)
        self._places = places

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        text = summarise(ConditionRule(self.task, talk.minute, self.world.clock, self._places), talk.lines)
        return TakenAway([Remembered(minute=until, resident=self.persona.name, memory="conversation", text=text)])


def summarise(rule: ConditionRule, lines: Sequence[Line]) -> str:
    """Sums up a conversation: every condition that the rule finds met, in words by which it finds it again."""
    task = rule.task
    met = {each for each in CONDITIONS[task.type] if rule.is_met_in_conversation(each, lines)}
    if not met:
        return f"{task.performer} and I passed the time of day."
    if task.type is TaskType.HELP:
        conditions = [Condition.FIRST_STEP, *[Condition.FURTHER_STEPS] * (len(task.subtasks) - 1)]
        told = zip(task.subtasks, conditions, strict=True)
        steps = [f"{step.doing} ({step.place})" for step, condition in told if condition in met]
        between = "; then " if Condition.ORDER in met else "; "
        found = [f"{task.performer} asked me for this: {between.join(steps) or 'something'}"]
    else:
        what = f"the {task.activity}" if met & {Condition.INVITED, Condition.PURPOSE} else "something"
        found = [f"{task.performer} talked to me about {what}"]
    moment = task.start if Condition.TIME in met else rule.find_agreed_moment(lines)
    if met & {Condition.TIME, Condition.TIME_AGREED} and moment is not None:
        found.append(f"on {say_moment(moment, rule.clock)}")
    if Condition.PLACE in met:
        found.append(f"at {task.place.replace(':', ',')}")
    elif Condition.PLACE_AGREED in met:
        found.append(f"at {rule.find_agreed_place(lines)}")
    return f"{', '.join(found)}."
