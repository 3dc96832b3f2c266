"""``sociable show``: one episode or what is sent, in the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from sociable.api import runs
from sociable.core.errors import InputError
from sociable.core.records import episode_id
from sociable.engine.registry import find_benchmark
from sociable.engine.result import RunResult
from sociable.engine.seats import Role
from sociable.models.journal import Call, Journal
from sociable.render.displayable import displayable
from sociable.render.terminal import print_blocks

_PURPOSE = re.compile(r"\|([a-z_]+)$")
"""Of a participant who is asked again and again, each time for one of a few things: ``Maeve Donnelly|speak``."""

_MOMENT = re.compile(r"\bIt is \w+ (\d{1,2} \w+ \d{4}), (\d\d:\d\d)")
"""As residents of a town are told the time, at the head of what they are asked."""


def show_run(folder: Path, item: str, prompt: bool, console: Console, of: str = "") -> None:
    """An episode of a run, or the calls that were made for it; ``of`` names a participant, a purpose or both, all calls of which
    are shown, as in ``Maeve|speak``."""
    run = runs.load_result(folder, scored=(folder / "scores.json").exists())
    if not item:
        for line in _list_episodes(run):
            console.print(Text(displayable(line)), soft_wrap=True)
        return
    episode = run.episode(item)
    if not prompt:
        views = find_benchmark(run.manifest["benchmark"]).load_views()
        print_blocks(views.episode(run, episode), console)
        return
    with Journal(folder / "calls.sqlite", replay_only=True) as journal:
        _show_calls(_in_order(journal.find_calls(episode.id)), of, f"sociable show {folder} '{episode.id}' --prompt", console)


def _list_episodes(run: RunResult) -> Iterator[str]:
    """Every episode; with the type of its case and its score where the benchmark has such: one number an episode."""
    identifiers = list(run.records.episodes.ids())
    scores = {episode_id(each.scenario, each.repeat): each.value for each in run.scores if each.metric == "score"}
    kinds = {each: str(getattr(run.study.scenarios.get(each.rpartition("#")[0]), "type", "")) for each in identifiers}
    widths = [max(map(len, texts), default=0) for texts in (identifiers, kinds.values())]
    for identifier in identifiers:
        if identifier not in scores:
            yield identifier
            continue
        value = scores[identifier]
        result = "not scored" if value is None else f"score {value:.2f}"
        yield f"{identifier:<{widths[0]}}  {kinds[identifier]:<{widths[1]}}  {result}"


def _in_order(calls: Iterable[Call]) -> list[Call]:
    """By the simulated time that a request tells; where none does, as they come. What tells none comes after what does."""
    told = [(_moment(call), not call.participant.endswith("|plan_day"), call) for call in calls]
    # Of one minute the plan of the day comes first: what else is asked then is about it.
    return [call for _, _, call in sorted(told, key=lambda each: each[:2])]


def _moment(call: Call) -> datetime:
    messages: Sequence[Any] = call.request["messages"]  # type: ignore[assignment]
    found = _MOMENT.search(str(messages[-1]["content"]))
    try:
        return datetime.strptime(" ".join(found.groups()), "%d %B %Y %H:%M") if found else datetime.max
    except ValueError:
        return datetime.max


def _show_calls(calls: Sequence[Call], of: str, command: str, console: Console) -> None:
    """All of them, or of those who are asked again and again for several purposes each time the first."""
    if not calls:
        console.print(Text("No model was asked: reference agents need none."))
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
            _call(console, " · ".join(filter(None, who)), call.request["messages"], call.reply.text)  # type: ignore[arg-type]
    left = sum(bool(_PURPOSE.search(call.participant)) for call in chosen) - sum(bool(_PURPOSE.search(name)) for name in shown)
    if left and not of:
        example = next(call.participant for call in chosen if _PURPOSE.search(call.participant))
        console.rule()
        said = f"{len(calls)} calls; of each participant and purpose the first. All of one: {command} --of '{example}'"
        console.print(Text(displayable(said)), soft_wrap=True)


def show_case(benchmark: str, item: str, prompt: bool, console: Console, settings: dict[str, Any]) -> None:
    """A case of a benchmark as data, or what would be sent for it."""
    found = find_benchmark(benchmark)
    if not item:
        for identifier in runs.load_study(benchmark, **settings).scenarios:
            console.print(Text(displayable(identifier)))
        return
    if not prompt:
        scenario = runs.load_study(benchmark, **settings).scenarios.get(item)
        if scenario is None:
            raise InputError(f"{found.name} has no case '{item}'. `sociable show {benchmark}` lists them.")
        console.print(Text(displayable(json.dumps(scenario.model_dump(), indent=1, ensure_ascii=False))), soft_wrap=True)
        return
    order = list(Role)
    calls = sorted(runs.rehearse_scenario(benchmark, item, **settings), key=lambda call: order.index(call.role))
    shown: set[str] = set()
    for call in calls:
        # Later calls of a conversation begin like its first one, and add what was said since. Whoever is asked again and again
        # for one purpose, named after the participant, is shown being asked once.
        purpose = _PURPOSE.search(call.participant)
        beginning = json.dumps([call.role.value, *([purpose[1]] if purpose else call.request.messages[:2])])
        if beginning not in shown:
            shown.add(beginning)
            _call(console, f"{call.role.value} · {call.participant}", call.request.messages, f"{call.reply}\n(a stand-in)")
    console.rule()
    console.print(Text(f"{len(calls)} calls at the most; those not shown continue one of these, or are like it."))


def _call(console: Console, heading: str, messages: Sequence[Any], reply: str) -> None:
    console.rule()
    # Never cut, as the title of a rule would be.
    console.print(Text(displayable(heading), style="bold"), soft_wrap=True)
    for message in messages:
        console.print(Text(f"[{message['role']}]", style="bold"))
        console.print(Text(displayable(message["content"])), soft_wrap=True)
    console.print(Text("[reply]", style="bold"))
    console.print(Text(displayable(reply)), soft_wrap=True)
