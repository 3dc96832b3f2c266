"""Data of others that AgentSense can read."""
