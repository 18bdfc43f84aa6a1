"""The directive `parameter-list`: the parameters of the estimators, from the table of these."""

import inspect
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx

from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.support.parameters import BOTH, PARAMETERS, Parameter


def described(parameter: Parameter) -> list[str]:
    """Return an entry of a definition list, as lines of reStructuredText."""
    kind = GreedyNetRegressor if "regressor" in parameter.of else GreedyNetClassifier
    default = inspect.signature(kind).parameters[parameter.name].default
    what = f"{parameter.type}; default {default!r}"
    if parameter.of != BOTH:
        what += f"; {parameter.of[0]} only"
    spelled = [f"``{o.flag} {o.metavar or ''}".rstrip() + "``" for o in parameter.options]
    meaning = parameter.meaning.replace("`", "``")
    on_command_line = f" On the command line: {', '.join(spelled)}." if spelled else ""
    return [f"``{parameter.name}``", f"    *{what}*", "", f"    {meaning}{on_command_line}", ""]


class ParameterList(Directive):
    """A definition list of all parameters, in the order of the constructors."""

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        lines = [line for parameter in PARAMETERS for line in described(parameter)]
        section = nodes.container()
        self.state.nested_parse(StringList(lines, "parameters"), self.content_offset, section)
        return section.children


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("parameter-list", ParameterList)
    return {"parallel_read_safe": True}
