"""Prompt tokens a second of the model in this process, with and without what it keeps of earlier prompts: see README.md here.

    python benchmarks/local_prompts.py [--calls 6]

Every prompt is one setting of about 1,000 tokens and a question of its own, as the cases of a dialogue are. The two ways take
turns, and what counts is their ratio within one run.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from typing import Any

from sociable.models.local import load_server
from sociable.models.weights import find_weights

SETTING = "The ferry leaves at noon, the baker has the key, and nobody has told the harbour master that the pump is broken. " * 40


async def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=6, help="of each way")
    calls: int = parser.parse_args().calls
    server = load_server(find_weights("smollm2"), None)
    rates: dict[bool, list[float]] = {False: [], True: []}
    seconds: dict[bool, list[float]] = {False: [], True: []}
    await ask(server, -1, keep=True)
    for number in range(calls):
        for keep in rates:
            # A question is never asked in both ways: all of it would be kept.
            took = await ask(server, 2 * number + keep, keep=keep)
            tokens = took["cache_n"] + took["prompt_n"]
            rates[keep].append(1000 * tokens / took["prompt_ms"])
            seconds[keep].append(took["prompt_ms"] / 1000)
    print(f"{calls} prompts of {tokens} tokens each\n\n| prompts | tokens/s | seconds to the first token |\n|---|---|---|")
    for keep, title in ((False, "read from the beginning"), (True, "the common beginning kept")):
        print(f"| {title} | {statistics.median(rates[keep]):.0f} | {statistics.median(seconds[keep]):.2f} |")
    print(f"\nratio {statistics.median(rates[True]) / statistics.median(rates[False]):.1f}")


async def ask(server: Any, number: int, *, keep: bool) -> dict[str, float]:
    """The times of one call, as llama.cpp measured them."""
    messages = [{"role": "user", "content": f"{SETTING}\nQuestion {number}: who should be told first, and why?"}]
    body = {"messages": messages, "max_tokens": 1, "temperature": 0.0, "cache_prompt": keep}
    answer = await server.complete(body, "benchmark")
    return dict(answer["timings"])


if __name__ == "__main__":
    asyncio.run(main())
