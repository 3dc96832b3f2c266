"""Draws what ``core.view`` describes, as one HTML file and in the terminal. Knows no benchmark, no model."""

from sociable.render.html import render_html, write_html
from sociable.render.terminal import print_document, render_table

__all__ = ["print_document", "render_html", "render_table", "write_html"]
