"""``sociable show``: one episode or what is sent, in the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from sociable import api
from sociable.core.errors import InputError
from sociable.models.journal import Journal
from sociable.registry import find_benchmark
from sociable.reports.displayable import displayable
from sociable.reports.terminal import print_blocks
from sociable.runner.seats import Role

_PURPOSE = re.compile(r"\|([a-z_]+)$")


def show_run(folder: Path, item: str, prompt: bool, console: Console) -> None:
    """An episode of a run, or the calls that were made for it."""
    with api.open_run(folder, scored=False) as run:
        episode = item if item in run.records.episodes else f"{item}#0"
        if episode not in run.records.episodes:
            if item:
                raise InputError(f"{folder} has no episode '{item}'. `sociable show {folder}` lists them.")
            for identifier in run.records.episodes.ids():
                console.print(Text(displayable(identifier)))
            return
        if not prompt:
            benchmark = find_benchmark(run.result.manifest["benchmark"])
            print_blocks(benchmark.episode_blocks(run, run.records.episodes.read(episode)), console)
            return
    with Journal(folder / "calls.sqlite", replay_only=True) as journal:
        calls = list(journal.calls(episode))
    if not calls:
        console.print(Text("No model was asked: reference agents need none."))
    for call in calls:
        _call(console, f"{call.role} · {call.model} · {call.participant}", call.request["messages"], call.reply.text)  # type: ignore[arg-type]


def show_case(benchmark: str, item: str, prompt: bool, console: Console, settings: dict[str, Any]) -> None:
    """A case of a benchmark as data, or what would be sent for it."""
    found = find_benchmark(benchmark)
    if not item:
        for identifier in api.study(benchmark, **settings).scenarios:
            console.print(Text(displayable(identifier)))
        return
    if not prompt:
        scenario = api.study(benchmark, **settings).scenarios.get(item)
        if scenario is None:
            raise InputError(f"{found.name} has no case '{item}'. `sociable show {benchmark}` lists them.")
        console.print(Text(displayable(json.dumps(scenario.model_dump(), indent=1, ensure_ascii=False))), soft_wrap=True)
        return
    order = list(Role)
    calls = sorted(api.prompts(benchmark, item, **settings), key=lambda call: order.index(call.role))
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
    console.rule(Text(displayable(heading)))
    for message in messages:
        console.print(Text(f"[{message['role']}]", style="bold"))
        console.print(Text(displayable(message["content"])), soft_wrap=True)
    console.print(Text("[reply]", style="bold"))
    console.print(Text(displayable(reply)), soft_wrap=True)
