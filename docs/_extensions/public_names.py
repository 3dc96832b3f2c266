"""The directive ``public-names``: everything in ``sociable.__all__``, so that a new name stands in the reference at once."""

from __future__ import annotations

import inspect

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import sociable


class PublicNames(SphinxDirective):
    """``.. public-names:: functions`` describes the functions; ``classes`` lists the classes with links to their modules."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        found = {name: getattr(sociable, name) for name in sorted(sociable.__all__)}
        if self.arguments[0] == "functions":
            lines = [f".. autofunction:: sociable.{name}" for name, each in found.items() if inspect.isfunction(each)]
        else:
            lines = [f"* {describe_class(each)}" for each in found.values() if inspect.isclass(each)]
        container = nodes.container()
        # Each on a line of its own, with an empty one behind it: bullets of one list may stand apart.
        text = "\n\n".join(lines).splitlines()
        self.state.nested_parse(StringList(text, source="sociable.__all__"), self.content_offset, container)
        return list(container.children)


def describe_class(found: type) -> str:
    """A link to the page that describes a class, and the first line of its docstring."""
    return f":py:class:`{found.__module__}.{found.__qualname__}`: {(inspect.getdoc(found) or '').partition(chr(10))[0]}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
