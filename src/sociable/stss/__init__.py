"""Social tasks in a sandbox town: one resident is to bring something about, and the town decides whether it does."""
