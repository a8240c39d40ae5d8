"""Every command with its options, as ``--help`` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from bayesieve.cli.app import app as command_line

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def spelled(param: Any) -> str:
    """Return an argument or option as it is typed."""
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper())
    names = ", ".join([*param.opts, *param.secondary_opts])
    return names if param.is_flag else f"{names} {param.metavar or 'FILE'}"


def panels(command: Any) -> dict[str, list[Any]]:
    """Return what is told about a command, by the heading under which ``--help`` has it."""
    found: dict[str, list[Any]] = {}
    for param in command.params:
        if not getattr(param, "hidden", False):
            found.setdefault(param.rich_help_panel or "Options", []).append(param)
    return found


class Commands(SphinxDirective):
    """One section for every command."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [self._section(name, command) for name, command in get_command(command_line).commands.items()]

    def _section(self, name: str, command: Any) -> nodes.section:
        section = nodes.section("", nodes.title("", f"bayesieve {name}"), ids=[f"bayesieve-{name}"], names=[name])
        said, _, example = (command.help or "").partition("\n\n")
        section += nodes.paragraph("", said.replace("\n", " "))
        if example:
            section += nodes.literal_block(example, example, language="console")
        for heading, params in panels(command).items():
            section += nodes.rubric("", heading)
            options = nodes.definition_list(classes=["options"])
            options += [self._item(param) for param in params]
            section += options
        return section

    def _item(self, param: Any) -> nodes.Node:
        term = nodes.term("", "", nodes.literal("", spelled(param)))
        said = nodes.paragraph("", " ".join((getattr(param, "help", None) or "").split()))
        return nodes.definition_list_item("", term, nodes.definition("", said))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
