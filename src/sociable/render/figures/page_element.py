"""Turns an SVG file of matplotlib into an element of the page.

The element has matplotlib's shapes and texts in their order and nothing else: no style sheets, no ids, and attributes
in place of inline styles, which the page's content security policy forbids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

from sociable.render.displayable import make_displayable_line
from sociable.render.figures.style import COLOURS_OF_THE_PAGE, Titles, measure_width

_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'
_LONG_DECIMALS = re.compile(r"-?\d+\.\d{3,}")
_OF_UNKNOWN_WIDTH = re.compile(r"[^\0-\u052f\u2010-\u2026\u2212]")
"""Letters whose width differs from font to font: all but Latin, Greek, Cyrillic and usual punctuation."""


def make_page_element(written: str, caption: str, titles: Titles) -> str:
    """Returns the element's text; whoever points at a shape reads its title."""
    root = fromstring(written.replace(_NAMESPACE, "", 1))  # noqa: S314 - matplotlib wrote it
    _, _, width, height = root.get("viewBox", "").split()
    page = Element("svg", {"viewBox": f"0 0 {width} {height}", "width": width, "height": height, "role": "img"})
    page.set("aria-label", make_displayable_line(caption))
    markers = {f"#{name}": path for path in root.iter() if path.tag == "path" and (name := path.get("id"))}
    for shape, title in _find_shapes(root, titles, own=iter(())):
        attributes = _get_attributes(shape, markers)
        if any("var(" in value or value == "currentColor" for value in attributes.values()):
            copy = SubElement(page, "path" if shape.tag == "use" else shape.tag, attributes)
            copy.text = shape.text
            if title:
                SubElement(copy, "title").text = title
    return tostring(page, encoding="unicode")


def _find_shapes(element: Element, titles: Titles, own: Iterator[str]) -> Iterator[tuple[Element, str]]:
    """Yields every path, marker and text outside of definitions with its title; ``own`` are the titles of this artist."""
    for child in element:
        if child.tag in ("path", "use", "text"):
            yield child, next(own, "")
        elif child.tag == "g":
            name = child.get("id", "")
            yield from _find_shapes(child, titles, iter(titles[name]) if name in titles else own)


def _get_attributes(shape: Element, markers: Mapping[str, Element]) -> dict[str, str]:
    """Returns where the shape is and how it looks; a marker is drawn where it is used."""
    drawn = markers.get(shape.get("{http://www.w3.org/1999/xlink}href", ""), shape)
    attributes = _read_style(shape) | _read_style(drawn)
    attributes |= {name: value for name in ("d", "x", "y") if (value := drawn.get(name))}
    if drawn is not shape:
        attributes["transform"] = f"translate({shape.get('x', '0')} {shape.get('y', '0')})"
    elif "x" not in attributes and (moved := shape.get("transform")):
        attributes["transform"] = moved
    if _OF_UNKNOWN_WIDTH.search(shape.text or ""):
        attributes |= {"textLength": str(measure_width(shape.text or "")), "lengthAdjust": "spacingAndGlyphs"}
    # A hundredth of a pixel nobody sees, and a plane full of dots is half the size.
    return {name: _LONG_DECIMALS.sub(lambda found: f"{float(found[0]):.2f}", value) for name, value in attributes.items()}


def _read_style(shape: Element) -> dict[str, str]:
    declarations = (part.partition(":") for part in shape.get("style", "").split(";"))
    style = {name.strip(): value.strip() for name, _, value in declarations}
    return {name: COLOURS_OF_THE_PAGE.get(value, value) for name, value in style.items() if name and name != "font-family"}
