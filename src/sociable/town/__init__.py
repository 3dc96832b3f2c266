"""The sandbox world: map, clock, perception, memory, movement, scheduler. No language model inside.

Everything here is exact: where somebody stands, who can see whom, when a walk ends. What residents think, say and want
comes from a mind (``minds.py``) that the world asks and never reads.
"""
