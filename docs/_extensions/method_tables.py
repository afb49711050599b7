"""The directives ``methods`` and ``rules``: tables made from the methods and rules that the library goes by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from docutils import nodes
from method_tables import KINDS, methods_in_full, rules
from sphinx.util.docutils import SphinxDirective


class MethodTable(SphinxDirective):
    """A table for the "strength" or for the "couplings", which is the argument."""

    required_arguments = 1
    make: ClassVar[Callable[[str], str]]

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        kind = self.arguments[0]
        if kind not in KINDS:
            raise self.error(f"Expected one of {', '.join(KINDS)}: found {kind!r}.")
        return self.parse_text_to_nodes(type(self).make(kind))


class Methods(MethodTable):
    """``{methods} strength``: every method with what it can do."""

    make = methods_in_full


class Rules(MethodTable):
    """``{rules} strength``: the rules of "auto" in their order."""

    make = rules


def setup(app: Any) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("methods", Methods)
    app.add_directive("rules", Rules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
