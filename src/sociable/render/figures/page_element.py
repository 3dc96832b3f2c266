"""Turns an SVG file of matplotlib into an element of the page.

The element has matplotlib's shapes and texts in their order and nothing else: no style sheets, no ids, and attributes
in place of inline styles, which the page's content security policy forbids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

from sociable.render.figures.style import COLOURS_OF_THE_PAGE, Titles, measure_width, put_on_a_line

_LONG_DECIMALS = re.compile(r"-?\d+\.\d{3,}")
_OF_UNKNOWN_WIDTH = re.compile(r"[^\0-\u052f\u2010-\u2026\u2212]")
"""Letters whose width differs from font to font: all but Latin, Greek, Cyrillic and usual punctuation."""


def make_page_element(written: str, caption: str, titles: Titles) -> str:
    """Returns the element's text; whoever points at a shape reads its title."""
    root = fromstring(written)  # noqa: S314 - matplotlib wrote it
    _, _, width, height = root.get("viewBox", "").split()
    page = Element("svg", {"viewBox": f"0 0 {width} {height}", "width": width, "height": height, "role": "img"})
    page.set("aria-label", put_on_a_line(caption))
    markers = {f"#{path.get('id')}": path for path in root.iter() if _get_name(path) == "path" and path.get("id")}
    for shape, title in _find_shapes(root, titles):
        attributes, text = _get_attributes(shape, markers), shape.text
        if any("var(" in value or value == "currentColor" for value in attributes.values()):
            copy = SubElement(page, "text" if _get_name(shape) == "text" else "path", attributes)
            copy.text = text
            if title:
                SubElement(copy, "title").text = title
    return tostring(page, encoding="unicode")


def _find_shapes(element: Element, titles: Titles, own: Iterator[str] = iter(())) -> Iterator[tuple[Element, str]]:
    """Every path, use of a marker and text outside of definitions, with its title; ``own`` are those of this artist."""
    for child in element:
        if _get_name(child) in ("path", "use", "text"):
            yield child, next(own, "")
        elif _get_name(child) == "g":
            name = child.get("id", "")
            yield from _find_shapes(child, titles, iter(titles[name]) if name in titles else own)


def _get_name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _get_attributes(shape: Element, markers: dict[str, Element]) -> dict[str, str]:
    marker = markers.get(shape.get("{http://www.w3.org/1999/xlink}href", ""))
    attributes = _read_style(shape) | (_read_style(marker) if marker is not None else {})
    text = shape.text or ""
    if marker is not None:
        attributes |= {"d": marker.get("d", ""), "transform": f"translate({shape.get('x', '0')} {shape.get('y', '0')})"}
    else:
        attributes |= {name: value for name in ("d", "x", "y") if (value := shape.get(name))}
        if text and "x" not in attributes:
            attributes["transform"] = shape.get("transform", "")
    if _OF_UNKNOWN_WIDTH.search(text):
        attributes |= {"textLength": str(measure_width(text)), "lengthAdjust": "spacingAndGlyphs"}
    # A hundredth of a pixel nobody sees, and a plane full of dots is half the size.
    return {name: _LONG_DECIMALS.sub(lambda found: f"{float(found[0]):.2f}", value) for name, value in attributes.items()}


def _read_style(shape: Element) -> dict[str, str]:
    declarations = (part.partition(":") for part in shape.get("style", "").split(";"))
    style = {name.strip(): value.strip() for name, _, value in declarations}
    return {name: COLOURS_OF_THE_PAGE.get(value, value) for name, value in style.items() if name and name != "font-family"}
