"""Kinds of judging: pairs, yes or no, choices, rubrics, panels."""
