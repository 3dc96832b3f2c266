"""Inspect AI: our benchmarks as its tasks, our runs as its logs. Needs the extra ``sociable[inspect]``."""
