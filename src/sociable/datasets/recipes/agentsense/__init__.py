"""AgentSense: scenes and casts from plays."""
