"""AgentSense: scenes with private goals and secrets."""
