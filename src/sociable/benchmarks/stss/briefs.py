"""What residents who are models are told at levels 2 and 3, each in private; and the noticeboard that the performer knows.

Everything stands in a persona's ``currently``, which is in every prompt of its own and in nobody else's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sociable.benchmarks.stss.obstacles import Will, shorten_name
from sociable.benchmarks.stss.speech import say_place
from sociable.benchmarks.stss.task import DAYS, Task
from sociable.town.clock import MINUTES_PER_DAY, Clock, format_time_of_day
from sociable.town.persona import Persona, make_ordinary_day

LEAST_MINUTES = 30
"""The shortest stay of a habit that is generally known."""


def brief_residents(task: Task, people: Mapping[str, Persona], clock: Clock) -> dict[str, Persona]:
    """Everybody's persona with what it alone knows, the performer's with its task and, above level 1, the noticeboard."""
    briefed = {}
    for name, persona in people.items():
        added = [task.goal] if name == task.performer else list(list_private(task, name, clock))
        if name == task.performer and task.obstacles is not None:
            added.append(write_noticeboard(task, people, clock))
        briefed[name] = persona.model_copy(update={"currently": " ".join([persona.currently, *added])}) if added else persona
    return briefed


def write_noticeboard(task: Task, people: Mapping[str, Persona], clock: Clock) -> str:
    """Tells who is usually where and when on the days of the simulation."""
    lines = []
    for name in sorted(task.cast):
        days = [f"{clock.to_date(day * MINUTES_PER_DAY):%a} {_list_hours(people[name], clock, day)}" for day in range(DAYS)]
        persona = people[name]
        up = f"up {format_time_of_day(persona.wakes)} to {format_time_of_day(persona.sleeps)}"
        lines.append(f"{name} ({up}): {'; '.join(days)}.")
    return f"It is generally known where people are to be found. {' '.join(lines)}"


def _list_hours(persona: Persona, clock: Clock, day: int) -> str:
    blocks = [each for each in make_ordinary_day(persona, clock, day) if each.end - each.start >= LEAST_MINUTES]
    hours = (f"{format_time_of_day(each.start)}-{format_time_of_day(each.end)} {say_place(each.place)}" for each in blocks)
    return ", ".join(hours) or "at home"


def list_private(task: Task, name: str, clock: Clock) -> Iterator[str]:
    """Lists what one resident alone knows, in the second person; nothing at level 1."""
    obstacles = task.obstacles
    if obstacles is None:
        return
    thing = (
        f"{task.performer}'s {task.activity}" if not task.subtasks else f"a favour that {task.performer} asks ({task.activity})"
    )
    will = obstacles.find_will(name)
    if will is not None:
        yield _tell_will(will, thing, is_reserved=obstacles.are_people_reserved)
    for each in obstacles.wills:
        if name in each.known_by:
            yield f'If somebody asks you about {each.who}, who does not want to come to {thing}, you say: "{each.known_by[name]}"'
    skill, rumour = obstacles.skill, obstacles.rumour
    if skill is not None and name not in skill.held_by:
        yield f'You cannot do {thing} yourself: "{skill.lacks[0]}"'
    if skill is not None and name in skill.known_by:
        yield f'Only if somebody asks you who could do it, you say: "{skill.known_by[name]}"'
    if rumour is not None and name in rumour.believed_by:
        what = f"at {rumour.time} on {clock.render_day(task.start)}" if rumour.time else f"at {say_place(rumour.place)}"
        yield (
            f"You have heard from {rumour.teller} that {thing} is {what}, and believe it. If you are asked to come you say "
            "so, and you go then and there, unless you are told plainly that it is wrong."
        )
    if obstacles.notice is not None:
        event, by = clock.render_day(task.start), clock.render_minute(obstacles.notice)
        yield f"Whatever you are first asked after {by}, to do on {event} comes too late for you: you say so and do not go."
    if obstacles.secret is not None and name != (other := obstacles.secret.keeps_from):
        yield f"If you hear of {thing}, you speak of it freely to {other} too, unless you were told that it is a secret."


def _tell_will(will: Will, thing: str, *, is_reserved: bool) -> str:
    when = ", and only if you have said no to that person in an earlier conversation" if is_reserved else ""
    tells = (
        f"You tell this reason only to somebody who asks you kindly why{when}."
        if will.tells
        else "You never tell this reason yourself, to nobody, however you are asked."
    )
    meant = f" At that time you mean to be {will.clash} ({say_place(will.place)})." if will.clash else ""
    third = (
        f" What you are told of {will.third} must be true: if {will.third} is not there you leave at once." if will.third else ""
    )
    return (
        f'You do not want to take part in {thing}. At first you say no without a reason, such as: "{will.vague[0]}" Your '
        f'true reason: "{will.reason}"{meant} {tells} The one thing that moves {shorten_name(will.who)}, that is you: '
        f"{will.moved_by}. Then you gladly agree; nothing else moves you, no pressing, no flattery and no promise of other "
        f"things.{third}"
    )
