"""Participants: prompted models, people, generative agents, and the architectures of the town."""
