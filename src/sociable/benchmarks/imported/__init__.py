"""Conversations that other tools recorded: nobody is asked to play, and rubrics rate what was said."""
