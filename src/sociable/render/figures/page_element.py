"""From matplotlib's file to an element of the page.

What matplotlib wrote is freed from all that would reach beyond the figure: style sheets, ids, and style
attributes, which the page's content security policy forbids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

from sociable.render.figures.canvas import OF_THE_PAGE, Name, on_a_line

_LONG_DECIMALS = re.compile(r"-?\d+\.\d{3,}")


def page_element(written: str, heading: Iterable[str], description: Iterable[str], titles: Mapping[Name, str]) -> str:
    """For those who cannot see the figure all that it shows; for those who point at a mark its title."""
    root = _of_the_page(fromstring(written))  # noqa: S314 - matplotlib wrote it
    root.set("role", "img")
    root.set("aria-label", ". ".join(text for text in map(on_a_line, heading) if text))
    for group in root.iter("g"):
        title = Element("title")
        title.text = titles[group.get("class", "")]
        group.insert(0, title)
    in_words = Element("desc")
    in_words.text = "; ".join(description)
    root.insert(0, in_words)
    return tostring(root, encoding="unicode")


def _of_the_page(root: Element) -> Element:
    """A new element with the shapes and texts in their order, those of a mark together, and nothing else."""
    _, _, width, height = root.get("viewBox", "").split()
    page = Element("svg", {"viewBox": f"0 0 {width} {height}", "width": width, "height": height})
    groups: dict[str, Element] = {"": page}
    for name, shape in _shapes(root, ""):
        if name not in groups:
            groups[name] = SubElement(page, "g", {"class": name})
        copy = SubElement(groups[name], _local(shape.tag), dict(_attributes(shape)))
        copy.text = shape.text
    return page


def _shapes(element: Element, name: str) -> Iterator[tuple[str, Element]]:
    """Every visible path and text, with the name of the mark it belongs to."""
    for child in element:
        if _local(child.tag) in ("path", "text"):
            if "#000" in child.get("style", ""):
                yield name, child
        elif _local(child.tag) == "g":
            own = child.get("id", "")
            yield from _shapes(child, own if own.startswith("mark-") else name)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _attributes(shape: Element) -> Iterator[tuple[str, str]]:
    """Where the shape is, and its style as attributes, since the page allows no inline styles."""
    for name in ("d", "x", "y"):
        if value := shape.get(name):
            yield name, _LONG_DECIMALS.sub(_rounded, " ".join(value.split()))
    for declaration in shape.get("style", "").split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name and name != "font-family":  # the page's
            yield name, OF_THE_PAGE.get(value, value)


def _rounded(found: re.Match[str]) -> str:
    """A hundredth of a pixel nobody sees, and a plane full of dots is half the size."""
    return f"{float(found.group()):.2f}".rstrip("0").rstrip(".")
