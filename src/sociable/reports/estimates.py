"""What a run will take, before it is made: calls, tokens, money, and time once a few scenarios were tried."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sociable.core.records import Usage
from sociable.core.view import Column, Document, Row, Table
from sociable.engine.benchmark import Benchmark
from sociable.engine.opening import OpenStudy
from sociable.engine.rehearsal import RehearsedCall
from sociable.models.limits import Price

Asked = tuple[str, str]
"""(role, model)."""

UNKNOWN_PRICES = " Write unknown prices into the [prices] table of a --config file."


@dataclass(frozen=True)
class Probe:
    """What a few scenarios took when they were really run, beside what their rehearsal said."""

    folder: str
    scenarios: int
    rehearsed: Mapping[Asked, Usage]
    used: Mapping[Asked, Usage]
    seconds: Mapping[Asked, float]
    """Of all calls together."""
    at_once: int
    """Calls at once that the settings allow, or that were found by trial."""

    def correct(self, asked: Asked, usage: Usage) -> Usage:
        """A rehearsed usage, changed as that of the probed scenarios turned out to be different."""
        before, after = self.rehearsed.get(asked), self.used.get(asked)
        if before is None or after is None:
            return usage
        values = {
            name: math.ceil(getattr(usage, name) * getattr(after, name) / (getattr(before, name) or 1))
            for name in Usage.model_fields
        }
        return Usage(**values)

    def estimate_seconds(self, asked: Asked, usage: Usage) -> float:
        """The seconds of the calls, one after the other."""
        used = self.used.get(asked)
        return usage.calls * self.seconds[asked] / used.calls if used and used.calls else 0.0


def sum_calls(calls: Sequence[RehearsedCall]) -> dict[Asked, Usage]:
    used: dict[Asked, Usage] = defaultdict(Usage)
    for call in calls:
        used[call.role.value, call.model] += call.usage
    return dict(used)


def make_estimate_document(opened: OpenStudy, rehearsed: Mapping[Asked, Usage], probe: Probe | None = None) -> Document:
    """The document on the calls and the cost of a run: at the most, from its rehearsal; or as a probe corrects that."""
    benchmark = opened.benchmark
    used = {asked: probe.correct(asked, usage) for asked, usage in rehearsed.items()} if probe else rehearsed
    if probe:
        caption = f"Calls and tokens, as {probe.scenarios} {benchmark.scenarios_called} took that were run, drawn by lot"
        note = _tell_time(probe, used)
    else:
        caption = describe_rehearsal(benchmark)
        note = "Tokens are estimated from characters. --probe 3 runs three cases first, and tells the time too."
    if opened.settings.until:
        note += f" That is at the most: the run ends earlier if its rule {opened.settings.until} is met."
    return Document(
        title=f"Estimate for {benchmark.name}",
        subtitle=f"{len(opened.study.scenarios)} {benchmark.scenarios_called} × {opened.settings.repeats}",
        summary=make_usage_table(caption, used, opened.prices, note),
        sections=[],
    )


def describe_rehearsal(benchmark: Benchmark) -> str:
    """What the counts of an estimate are, that rests on a rehearsal."""
    return f"Calls {benchmark.rehearsed}; tokens as if replies were as long as those in the data"


def make_usage_table(caption: str, used: Mapping[Asked, Usage], prices: Mapping[str, Price], note: str) -> Table:
    """The calls, tokens and price of every role and model, and of all together."""
    rows, total = [], Usage()
    for (role, model), usage in used.items():
        price = prices.get(model)
        cost = f"{price.compute_cost(usage):.2f}" if price else "unknown"
        rows.append(Row([role, model, f"{usage.calls:,}", f"{usage.input_tokens:,}", f"{usage.output_tokens:,}", cost]))
        total += usage
    known = sum(prices[model].compute_cost(usage) for (_, model), usage in used.items() if model in prices)
    all_known = all(model in prices for _, model in used)
    cost = f"{known:.2f}" if all_known else f"{known:.2f} + unknown" if known else "unknown"
    rows.append(Row(["all", "", f"{total.calls:,}", f"{total.input_tokens:,}", f"{total.output_tokens:,}", cost], True))
    return Table(
        caption=caption,
        columns=[
            *map(Column, ("Role", "Model")),
            *(Column(name, True) for name in ("Calls", "Tokens in", "Tokens out", "US dollars")),
        ],
        rows=rows,
        note=f"{note}{UNKNOWN_PRICES if any('unknown' in row.cells for row in rows) else ''}",
    )


def _tell_time(probe: Probe, used: Mapping[Asked, Usage]) -> str:
    seconds = sum(probe.estimate_seconds(asked, usage) for asked, usage in used.items())
    times = [f"{format_seconds(seconds)} one call at a time"]
    if probe.at_once > 1:
        times.append(f"{format_seconds(seconds / probe.at_once)} with {probe.at_once} at once, if the servers keep that pace")
    return f"Time, with what is done already: {'; '.join(times)}. Nothing of it is lost: sociable resume {probe.folder}"


def format_seconds(seconds: float) -> str:
    """``56 s``, ``12 min``, ``2 h 5 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
