"""Uncertainty of scores whose cases come in clusters: intervals, paired comparisons, agreement; and clusters of texts."""
