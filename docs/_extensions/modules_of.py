"""The directive ``modules-of``: every public module of a package with all its members, so that none is forgotten."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def names_of(package: str) -> list[str]:
    """The public modules of a package, in the order of the alphabet."""
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return [f"{package}.{info.name}" for info in found if not info.name.startswith("_")]


class ModulesOf(SphinxDirective):
    """``.. modules-of:: bayesing.strength``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make an ``automodule`` of each."""
        entries = (f".. automodule:: {name}\n   :members:\n\n" for name in names_of(self.arguments[0]))
        return self.parse_text_to_nodes("".join(entries))


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("modules-of", ModulesOf)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
