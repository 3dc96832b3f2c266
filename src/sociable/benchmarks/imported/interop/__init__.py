"""What other tools write, as conversations: a module for each layout."""
