"""The directive `command-help`: what the commands say of themselves, from click at build time."""

from typing import Any

import click
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from greedynet.cli import main


def help_texts() -> dict[str, str]:
    """Return what `greedynet --help` prints, and `greedynet NAME --help` for every command."""
    program = click.Context(main, info_name="greedynet", terminal_width=88, max_content_width=88)
    texts = {"": main.get_help(program)}
    for name in main.list_commands(program):
        command = main.get_command(program, name)
        texts[name] = command.get_help(click.Context(command, info_name=name, parent=program))
    return texts


class CommandHelp(Directive):
    """A block for the program, and a section with a block for each of its commands."""

    def run(self) -> list[nodes.Node]:
        """Return the block and the sections."""
        found: list[nodes.Node] = []
        for name, text in help_texts().items():
            block = nodes.literal_block(text, text, language="text")
            if not name:
                found.append(block)
                continue
            section = nodes.section("", nodes.title(name, name), block, ids=[name], names=[name])
            self.state.document.note_explicit_target(section)
            found.append(section)
        return found


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
