"""Draws what ``core.view`` describes, as one HTML file and in the terminal. Knows no benchmark, no model."""
