"""``sociable demo``: what the package does, without a key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sociable import api
from sociable.cli.output import print_summary, say, show_progress
from sociable.core.errors import InputError


def demo(
    benchmark: Annotated[
        str, typer.Argument(metavar="[BENCHMARK]", help="The benchmark whose reference agents are run; by default HSII.")
    ] = "hsii",
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder for the runs and the report; by default under runs/.")
    ] = None,
) -> None:
    """Run the reference agents of a benchmark and show their scores; then a small language model on a few cases. No key."""
    from sociable.engine.registry import find_benchmark
    from sociable.engine.study import JudgeAudited

    with show_progress() as progress:
        document, path = api.demonstration.demo(out, benchmark, watch=progress)
    print_summary(document)
    say(f"Report: {path}")
    if issubclass(find_benchmark(benchmark).load_study_type(), JudgeAudited):
        say(f"\n{api.demonstration.ERRING_JUDGE}, a judge that errs in a fifth of all cases: its card, and a run that it judged.")
        with show_progress() as progress:
            card, document, judged = api.demonstration.demo_audit(benchmark, path.parent / "audited", watch=progress)
        print_summary(card)
        print_summary(document)
        say(f"Report: {judged}")
    shown = [
        name for name in (("hsii", "agentsense") if benchmark == "hsii" else (benchmark,)) if find_benchmark(name).demo_cases
    ]
    try:
        if shown:
            api.demonstration.load_small_model()
    except InputError as problem:
        say(f"No language model is shown beside them: {problem}")
        return
    for name in shown:
        say(f"\n{api.demonstration.SMALL_MODEL}, a language model in this process, on a few cases of {name}:")
        with show_progress() as progress:
            document, small = api.demonstration.demo_small_model(name, path.parent / f"{name}-small", watch=progress)
        print_summary(document)
        say(f"Report: {small}")
