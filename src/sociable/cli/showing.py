"""``sociable show``: one episode or what is sent, in the terminal."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python
from rich.text import Text

from sociable.api import cases, results
from sociable.cli.output import console, say
from sociable.core.errors import InputError
from sociable.core.records import Score, make_episode_id
from sociable.engine.registry import find_benchmark
from sociable.engine.result import RunResult
from sociable.engine.seats import Role
from sociable.models.journal import Call, Journal
from sociable.render.displayable import make_displayable
from sociable.render.terminal import print_blocks

_PURPOSE = re.compile(r"\|([a-z_]+)$")
"""The purpose in the name of a participant who is asked again and again: ``Maeve Donnelly|speak``."""

_MOMENT = re.compile(r"\bIt is \w+ (\d{1,2} \w+ \d{4}), (\d\d:\d\d)")
"""The time as residents of a town are told it, at the head of what they are asked."""


def show_run(folder: Path, item: str, prompt: bool, of: str = "", find: str = "") -> None:
    """Prints an episode of a run, or the calls that were made for it; without an ``item`` a line for each episode.

    ``find``: only lines with this text. ``of`` names a participant, a purpose or both, as in ``Maeve|speak``: then all
    calls that fit are printed.
    """
    run = results.load_result(folder, scored=(folder / "scores.json").exists())
    if not item:
        lines = [line for line in _list_episodes(run) if find.casefold() in line.casefold()]
        if find and not lines:
            raise InputError(f"No line of the list has '{find}' in it; without --find all episodes are listed.")
        for line in lines:
            say(make_displayable(line))
        return
    episode = run.find_episode(item)
    if not prompt:
        views = find_benchmark(run.manifest["benchmark"]).load_views()
        print_blocks(views.show_episode(run, episode), console)
        return
    with Journal(folder / "calls.sqlite", replay_only=True) as journal:
        _show_calls(_sort_by_time(journal.find_calls(episode.id)), of, f"sociable show {folder} '{episode.id}' --prompt")


def _list_episodes(run: RunResult) -> Iterator[str]:
    """A line for every episode: how it ended, as its benchmark tells it."""
    views = find_benchmark(run.manifest["benchmark"]).load_views()
    scores: dict[str, dict[str, Score]] = defaultdict(dict)
    for score in run.scores:
        scores[make_episode_id(score.scenario, score.repeat)][score.metric] = score
    rows = [[each.id, *views.list_cells(run, each, scores[each.id])] for each in run.records.episodes]
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)).rstrip()


def _sort_by_time(calls: Iterable[Call]) -> list[Call]:
    """The calls by the simulated time that each tells; calls that tell none come last, in the order in which they come."""
    # Of one minute the plan of the day comes first: what else is asked then is about it.
    return sorted(calls, key=lambda call: (_find_moment(call), not call.participant.endswith("|plan_day")))


def _find_moment(call: Call) -> datetime:
    messages: Sequence[Any] = call.request["messages"]  # type: ignore[assignment]
    found = _MOMENT.search(str(messages[-1]["content"]))
    try:
        return datetime.strptime(" ".join(found.groups()), "%d %B %Y %H:%M") if found else datetime.max
    except ValueError:
        return datetime.max


def _show_calls(calls: Sequence[Call], of: str, command: str) -> None:
    """Prints all calls; of participants who are asked again and again, the first for each purpose."""
    if not calls:
        say("No model was asked: reference agents need none.")
        return
    # Name, purpose, or both: "Maeve|speak" are the words of Maeve Donnelly.
    wanted = [part.strip() for part in of.casefold().split("|")]
    chosen = [call for call in calls if all(part in call.participant.casefold() for part in wanted)]
    if not chosen:
        asked = {tuple(call.participant.partition("|")[::2]) for call in calls}
        names = "; ".join(", ".join(sorted(set(each) - {""})) for each in zip(*asked, strict=True)).removesuffix("; ")
        raise InputError(f"'{of}' names nobody who was asked. Asked were: {names}.")
    shown: set[str] = set()
    for call in chosen:
        if of or not _PURPOSE.search(call.participant) or call.participant not in shown:
            shown.add(call.participant)
            # A judge is called what its model is called.
            who = [call.role, call.model, call.participant.removeprefix(call.model).removeprefix("|")]
            _show_call(" · ".join(filter(None, who)), call.request["messages"], call.reply.text)  # type: ignore[arg-type]
    left = sum(bool(_PURPOSE.search(call.participant)) for call in chosen) - sum(bool(_PURPOSE.search(name)) for name in shown)
    if left and not of:
        example = next(call.participant for call in chosen if _PURPOSE.search(call.participant))
        console.rule()
        more = f"{len(calls)} calls; of each participant and purpose the first. All of one: {command} --of '{example}'"
        say(make_displayable(more))


def show_case(benchmark: str, item: str, prompt: bool, settings: dict[str, Any]) -> None:
    """Prints a case of a benchmark as data, or what would be sent for it; without an ``item`` the names of all cases."""
    if not item or not prompt:
        scenarios = cases.load_study(benchmark, **settings).scenarios
        if item and item not in scenarios:
            raise InputError(f"{benchmark} has no case '{item}'. `sociable show {benchmark}` lists them.")
        for text in [json.dumps(to_jsonable_python(scenarios[item]), indent=1, ensure_ascii=False)] if item else scenarios:
            say(make_displayable(text))
        return
    order = list(Role)
    calls = sorted(cases.rehearse_scenario(benchmark, item, **settings), key=lambda call: order.index(call.role))
    shown: set[str] = set()
    for call in calls:
        # Later calls of a conversation begin like its first one, and add what was said since. Whoever is asked again and again
        # for one purpose, named after the participant, is shown being asked once.
        purpose = _PURPOSE.search(call.participant)
        beginning = json.dumps([call.role.value, *([purpose[1]] if purpose else call.request.messages[:2])])
        if beginning not in shown:
            shown.add(beginning)
            _show_call(f"{call.role.value} · {call.participant}", call.request.messages, f"{call.reply}\n(a stand-in)")
    console.rule()
    say(f"{len(calls)} calls at the most; those not shown continue one of these, or are like it.")


def _show_call(heading: str, messages: Sequence[Any], reply: str) -> None:
    console.rule()
    # Never cut, as the title of a rule would be.
    console.print(Text(make_displayable(heading), style="bold"), soft_wrap=True)
    for message in (*messages, {"role": "reply", "content": reply}):
        console.print(Text(f"[{message['role']}]", style="bold"))
        say(make_displayable(message["content"]))
