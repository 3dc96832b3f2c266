"""How a template becomes a task (section 3.1).

Performer, cast, place and time of a task are drawn so that it can be solved: at its time enough of its cast are neither
asleep nor at work.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence

from sociable.benchmarks.stss.best import find_best
from sociable.benchmarks.stss.obstacles import Obstacles, Will
from sociable.benchmarks.stss.residents import LEAST_MINUTES, MEETING_MINUTES, RoutineMind, World, count_errand_minutes
from sociable.benchmarks.stss.task import Subtask, Task, TaskType
from sociable.benchmarks.stss.templates import CAST, LevelTemplate, Reason, TaskTemplate
from sociable.core.errors import InputError
from sociable.core.seeding import make_generator
from sociable.town.clock import Clock, format_time_of_day, parse_minute
from sociable.town.map import TownMap
from sociable.town.persona import Persona

_DRAWS = 200
"""The number of draws after which a template is given up as one that cannot be solved."""


def draw_task(template: TaskTemplate, people: Mapping[str, Persona], town: TownMap, clock: Clock, seed: int) -> Task:
    """Draws performer, cast, place and time by the seed. Raises InputError when no draw could be solved."""
    if len(people) < 2:
        raise InputError(f"task {template.id}: nobody lives there beside {', '.join(people)}; a task needs others to ask.")
    world = World(town, clock, 6, seed, template.id)
    minds = {name: RoutineMind(persona, world) for name, persona in people.items()}
    for attempt in range(_DRAWS):
        task = _draw_once(template, people, clock, make_generator(seed, "task", template.id, attempt))
        if is_solvable(task, minds):
            return task
    raise InputError(f"task {template.id}: in {_DRAWS} draws nobody had time for it; give it other times, places or performers.")


def _draw_once(
    template: TaskTemplate, people: Mapping[str, Persona], clock: Clock, draw: random.Random, needed: Collection[str] = ()
) -> Task:
    """``needed``: those who must be in the cast."""
    performer = draw.choice(template.performers)
    others = sorted(set(people) - {performer})
    count = min(draw.randint(*CAST), len(others))
    targets = template.targets.get(performer, ())
    target = draw.choice(targets) if targets else ""
    fixed = {*needed, target} - {"", performer}
    rest = [name for name in others if name not in fixed]
    cast = sorted([*draw.sample(rest, max(count - len(fixed), 0)), *fixed])
    window = draw.choice(template.times)
    start, end = parse_minute(window.start, window.day), parse_minute(window.end, window.day)
    place = draw.choice(template.places) if template.type in (TaskType.PUBLIC, TaskType.COMPANIONS) else ""
    expected = template.type.count_expected(len(cast))
    words = {"performer": performer, "target": target, "place": place, "expected": str(expected)}
    words |= {"day": clock.render_day(start), "from": format_time_of_day(start), "to": format_time_of_day(end)}
    why = f" {template.why_help.format(**words)}" if template.why_help else ""
    same = {name: getattr(template, name) for name in ("id", "type", "activity", "description", "signs", "wordings")}
    return Task(
        **same,
        template=template.id,
        goal=template.goal.format(**words) + why,
        first_person=template.first_person.format(**words) + why,
        performer=performer,
        cast=tuple(cast),
        target=target,
        place=place,
        places=template.places if template.type is TaskType.APPOINTMENT else (),
        start=start,
        end=end,
        expected=expected,
        subtasks=tuple(Subtask.model_validate(step, from_attributes=True) for step in template.subtasks),
    )


def draw_level_task(
    template: LevelTemplate,
    reasons: Sequence[Reason],
    people: Mapping[str, Persona],
    town: TownMap,
    clock: Clock,
    seed: int,
    level: int,
) -> Task:
    """Draws a task of level 2 or 3, and searches for the best that can be done in it. Raises InputError where nothing can."""
    world = World(town, clock, 6, seed, template.id)
    minds = {name: RoutineMind(persona, world) for name, persona in people.items()}
    for attempt in range(_DRAWS):
        draw = make_generator(seed, "task", template.id, attempt)
        task = _draw_once(template, people, clock, draw, template.list_people())
        wills = tuple(_draw_wills(template, reasons, task, draw))
        if any(not will.tells and not will.known_by for will in wills) or not is_solvable(task, minds):
            continue
        same = {name: getattr(template, name) for name in ("secret", "rumour", "budget", "skill")}
        notice = parse_minute(template.notice) if template.notice else None
        obstacles = Obstacles(**same, level=level, wills=wills, notice=notice)
        words = {"performer": task.performer, "place": task.place, "budget": str(template.budget), "notice": template.notice}
        words |= {"day": clock.render_day(task.start), "target": task.target}
        more = "" if task.type in (TaskType.APPOINTMENT, TaskType.HELP) else " Everybody more who takes part counts."
        added = {
            "goal": f"{task.goal}{more} {template.adds.format(**words)}",
            "first_person": f"{task.first_person} {template.adds_first.format(**words)}",
        }
        task = task.model_copy(update={**added, "obstacles": obstacles})
        best = find_best(task, {name: minds[name] for name in task.residents}, world)
        if best.people >= task.expected:
            found = {"best": best.people, "best_moment": best.moment, "best_plan": best.plan}
            return task.model_copy(update={"obstacles": obstacles.model_copy(update=found)})
    raise InputError(
        f"task {template.id}: in {_DRAWS} draws the full score was out of reach; give it other times, people or a larger budget."
    )


def _draw_wills(template: LevelTemplate, reasons: Sequence[Reason], task: Task, draw: random.Random) -> Iterator[Will]:
    """The wills of a cast: those written with the task, and of others, but for a few, one of their own reasons."""
    written = {will.who: will for will in template.wills}
    for will in written.values():
        if will.who in ((task.target,) if task.target else task.cast):
            yield will.model_copy(update={"known_by": {name: hint for name, hint in will.known_by.items() if name in task.cast}})
    if task.target:
        return
    # Whoever it is kept from is not asked.
    unasked = {template.secret.keeps_from} if template.secret else set[str]()
    others = [name for name in task.cast if name not in written.keys() | unasked]
    draw.shuffle(others)
    for name in others[template.open :]:
        own = [
            each for each in reasons if each.who == name and template.type in each.fits and task.performer not in each.not_with
        ]
        wills = [will for each in own if (will := each.make_will(task.cast)).tells or will.known_by]
        # What the goal takes away by itself is no reason.
        wills = [will for will in wills if not will.is_moved_by([task.first_person, task.description])]
        if wills:
            yield draw.choice(wills)


def is_solvable(task: Task, minds: Mapping[str, RoutineMind]) -> bool:
    """Whether, by their habits, enough of the cast could do their part at a time at which the performer can do its own."""
    performer, cast = minds[task.performer], [minds[name] for name in task.cast]
    match task.type:
        case TaskType.PUBLIC | TaskType.ONLINE:
            # A little more than half, since somebody will not be found.
            able = sum(mind.is_free(LEAST_MINUTES, task.start, task.end) for mind in cast)
            return able >= task.expected + 1 and performer.is_free(task.end - task.start, task.start)
        case TaskType.COMPANIONS | TaskType.APPOINTMENT:
            wanted, needed = ([minds[task.target]], 1) if task.target else (cast, task.expected + 1)
            return any(
                performer.is_free(MEETING_MINUTES, moment)
                and sum(mind.is_free(MEETING_MINUTES, moment) for mind in wanted) >= needed
                for moment in range(-(-task.start // 30) * 30, task.end - MEETING_MINUTES, 30)
            )
        case TaskType.HELP:
            minutes = count_errand_minutes(task.subtasks)
            return sum(mind.is_free(minutes, task.start, task.end) for mind in cast) >= 2
