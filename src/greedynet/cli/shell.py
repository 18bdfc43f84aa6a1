"""Behaviour common to all commands: paths, one-line errors, Ctrl-C; imports nothing numerical."""

import errno
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from greedynet.cli.files import STANDARD
from greedynet.support.errors import TableWarning
from greedynet.support.parameters import spelled
from greedynet.support.phrases import plural, score_name

__all__ = ["either", "plural", "score_name", "scores", "wrote"]


def either(names: Sequence[str]) -> str:
    """Return names as a choice: "one, another or a third"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def scores(values: Mapping[str, Any]) -> str:
    shown = {name: value for name, value in values.items() if value is not None}
    return ", ".join(f"{score_name(name)} {value:.4g}" for name, value in shown.items())


def wrote(page: Path) -> str:
    size = plural(round(page.stat().st_size / 1000), "kilobyte")
    return f"wrote {page} ({size}): open it in a browser"


EXIT_USAGE, EXIT_INTERRUPTED = 2, 130

# Parameters that have options, with these; of several options, a value is not one of them.
_SPELLED = spelled()
_SINGLE = "|".join(name for name, flag in _SPELLED.items() if " " not in flag)


@contextmanager
def clean_exit() -> Iterator[None]:
    """Turn errors that a user can fix into one line, and Ctrl-C into exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        raise  # the reader has closed the pipe: click exits silently
    except OSError as error:
        click.echo(f"greedynet: {_explained(error)}", err=True)
        sys.exit(EXIT_USAGE)
    except (ValueError, ModuleNotFoundError) as error:
        click.echo(f"greedynet: {as_options(str(error))}", err=True)
        sys.exit(EXIT_USAGE)


def _explained(error: OSError) -> str:
    """Return an explanation of an error of the file system."""
    if error.errno is None or error.filename is None:
        return str(error)
    name = str(error.filename)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"{name}: the disk is full. Nothing was written: free some space, or write elsewhere."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{name}: permission denied. Choose another file or folder, or ask for permission."
    return f"{name}: {error.strerror}"


def as_options(message: str) -> str:
    """Replace parameters in Python notation by options of the command line."""
    names = "missing|ignore|text|separator|decimal|thousands|encoding|dates|target|use|na"
    message = re.sub(rf"`({names})=[\"']([^`]*)[\"']`", r"--\1 '\2'", message)
    message = re.sub(r"(--(?:missing|dates)) '(\w+)'", r"\1 \2", message)
    message = re.sub(r"`output=(\d+)`", r"--output \1", message)
    message = re.sub(r"^`(ignore|text|output|repeats)` ", r"--\1 ", message)
    message = re.sub(r"`(where|constraint|integer)s?`", r"--\1", message)
    message = re.sub(r"`column` must (hold|vary)", r"--monotone must name columns that \1", message)
    message = re.sub(r"`?bounds=\((.+?), (.+?)\)`?", _bounds, message)
    message = re.sub(rf"\b({_SINGLE})=(?!None\b)(?=[\w.+-])", r"`\1` ", message)
    message = re.sub(r"The '(\w+)' parameter of \w+", r"`\1`", message)
    message = re.sub(rf"`({'|'.join(_SPELLED)})`", lambda m: _SPELLED[m[1]], message)
    message = message.replace("`encoding=`", "--encoding").replace("`classes=True`", "--classes")
    message = message.replace("`keep_totals=True`", "--keep-totals")
    message = message.replace("`memory_limit`", "--memory-limit")
    return message.replace("give `target`", "give --target")


def _bounds(found: re.Match[str]) -> str:
    """Return a pair of bounds as options; None is no option."""
    pairs = zip(("--at-least", "--at-most"), found.groups(), strict=True)
    return " ".join(f"{option} {end}" for option, end in pairs if end != "None")


@contextmanager
def notes_shown() -> Iterator[None]:
    """Print what was assumed about a table, which Python warns of, as a note of one line."""
    seen: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", TableWarning)
        others = warnings.showwarning

        def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            if not issubclass(category, TableWarning):
                others(message, category, *rest, **more)
            elif str(message) not in seen:
                seen.add(str(message))
                click.echo(f"note: {as_options(str(message))}", err=True)

        warnings.showwarning = show
        yield


class Commands(click.Group):
    """A group of commands whose errors are reported in one line."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with clean_exit():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with clean_exit(), notes_shown():
            return super().invoke(ctx)


class FilePath(click.Path):
    """A path other than `-`, which usually denotes standard input and output."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "-":
            self.fail("Standard input and output are not supported here: pass a path.", param, ctx)
        return super().convert(value, param, ctx)


class StreamPath(FilePath):
    """A path, or `-` for standard input or output, which stays a text."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return value if value == STANDARD else super().convert(value, param, ctx)
