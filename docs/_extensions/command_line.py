"""The directive ``options``: a table of the options of a command, as click has them, so that none is forgotten."""

from __future__ import annotations

from typing import Any

import click
from docutils import nodes
from docutils.parsers.rst import Directive

from bayesing.cli import cli


def rows_of(command: click.Command) -> list[tuple[str, str]]:
    """Every option as it is written, and what it does."""
    context = click.Context(command)
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    return [record for record in records if record is not None and "--help" not in record[0]]


class Options(Directive):
    """``{options} fit``. The page itself explains the arguments of the command."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        command = cli.commands.get(self.arguments[0])
        if command is None:
            raise self.error(f"bayesing has no command {self.arguments[0]!r}.")
        body = nodes.tbody()
        for option, meaning in rows_of(command):
            cells = nodes.literal(text=option), nodes.Text(meaning)
            body += nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))
        group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in (35, 65)), body, cols=2)
        return [nodes.table("", group, classes=["options"])]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("options", Options)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
