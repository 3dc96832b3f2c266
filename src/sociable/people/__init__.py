"""People who check: sheets, verdicts, ratings, words."""
