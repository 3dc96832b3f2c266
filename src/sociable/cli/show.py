"""``list`` and ``show``: what there is to run, what was recorded, and what is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from sociable.cli import options as shared
from sociable.cli.benchmarks import read_options
from sociable.cli.output import messages, say
from sociable.core.errors import InputError


def list_() -> None:
    """List benchmarks, reference agents and kinds of models."""
    from sociable.engine.registry import find_benchmark, list_benchmark_names

    for name in list_benchmark_names():
        try:
            benchmark = find_benchmark(name)
        except InputError as error:  # A package with a fault must not hide the other benchmarks.
            messages.print(Text(str(error)), soft_wrap=True)
            continue
        say(f"{benchmark.name} {benchmark.version}: {benchmark.title}")
        for role, agents in ((role, agents) for role, agents in benchmark.reference_agents.items() if agents):
            say(f"  {role.value + ':':<11}{', '.join(f'reference/{agent}' for agent in agents)}")
    say(
        "models: openai/MODEL, openai-compatible/MODEL[@URL], local/smollm2, local/FILE.gguf, inspect/PROVIDER/MODEL, "
        "python:file.py:function, human"
    )


def show(
    target: Annotated[str, typer.Argument(metavar="DIR|BENCHMARK", help="A run folder, or a benchmark.")],
    item: Annotated[str, typer.Argument(metavar="[EPISODE|CASE]", help="One of them; without it they are listed.")] = "",
    prompt: Annotated[bool, typer.Option("--prompt", help="Show exactly what was sent, or would be.")] = False,
    of: shared.Of = "",
    find: shared.Find = "",
    dataset: shared.DatasetPath = None,
    prompts: shared.PromptsFolder = None,
    option: shared.Options = None,
) -> None:
    """Show an episode of a run; or, with --prompt, what is sent to each role."""
    from sociable.cli import showing
    from sociable.engine.registry import list_benchmark_names

    is_benchmark = target in list_benchmark_names() and not (Path(target) / "manifest.json").exists()
    if is_benchmark:
        given = {"dataset": dataset, "prompts": prompts, "options": read_options(option)}
        showing.show_case(target, item, prompt, given)
    elif Path(target).exists() or "/" in target:
        showing.show_run(Path(target), item, prompt, of, find)
    else:
        raise InputError(f"'{target}' is neither a run folder nor a benchmark; `sociable list` names the benchmarks.")
