"""Behaviour common to all commands: paths, one-line errors, Ctrl-C; imports only click."""

import errno
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

EXIT_USAGE, EXIT_INTERRUPTED = 2, 130


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
        click.echo(f"greedynet: {_as_options(str(error))}", err=True)
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


def _as_options(message: str) -> str:
    """Replace parameters in Python notation by options of the command line."""
    names = "missing|unknown|ignore|text|separator|decimal|target"
    message = re.sub(rf"`({names})=[\"']([^`]*)[\"']`", r"--\1 '\2'", message)
    message = re.sub(r"(--(?:missing|unknown)) '(\w+)'", r"\1 \2", message)
    message = re.sub(r"`output=(\d+)`", r"--output \1", message)
    message = re.sub(r"^`(ignore|text|output|repeats)` ", r"--\1 ", message)
    message = re.sub(r"`hold_out(_by|_last)?`", lambda m: _hold_out_option(m[1]), message)
    message = message.replace("`memory_limit`", "--memory-limit")
    return message.replace("`classes=True`", "--classes").replace("give `target`", "give --target")


def _hold_out_option(ending: str | None) -> str:
    return "--hold-out" + (ending or "").replace("_", "-")


class Commands(click.Group):
    """A group of commands whose errors are reported in one line."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse the arguments."""
        with clean_exit():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with clean_exit():
            return super().invoke(ctx)


class FilePath(click.Path):
    """A path other than `-`, which usually denotes standard input and output."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path."""
        if value == "-":
            self.fail("Standard input and output are not supported: pass a path.", param, ctx)
        return super().convert(value, param, ctx)
