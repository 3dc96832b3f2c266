"""AntEval: a role-playing game."""
