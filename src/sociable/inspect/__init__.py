"""Inspect AI: our benchmarks as its tasks, our runs as its logs. Needs the extra ``sociable[inspect]``."""

# First of all: it tells in a sentence if Inspect is another version than this room can use.
import sociable.models.inspect_internals  # noqa: F401
