"""What the memory test keeps of an episode."""

from __future__ import annotations

from sociable.core.records import Episode


class MemoryEpisode(Episode):
    """One answer; ``turns`` holds it."""

    @property
    def reply(self) -> str:
        return self.turns[0].content if self.turns else ""
