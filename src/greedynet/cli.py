"""The command line. Everything but click is imported inside the commands: `--help` is instant."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

EXIT_USAGE, EXIT_INTERRUPTED = 2, 130


@contextmanager
def clean_exit() -> Iterator[None]:
    """Turn errors a user can mend into one line, and Ctrl-C into exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        click.echo(f"greedynet: {error}", err=True)
        sys.exit(EXIT_USAGE)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="greedynet")
def main() -> None:
    """Build small neural networks, neuron by neuron."""


@main.command()
@click.argument("numbers", nargs=-1, type=click.IntRange(1, 5), metavar="[1 2 3 4 5]")
@click.option("--quick", is_flag=True, help="A short version, under a minute, for a first look.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    metavar="DIR",
    help="Where results go; reproduction, or reproduction-quick, by default.",
)
@click.option("--fresh", is_flag=True, help="Run again what DIR holds already.")
def reproduce(numbers: tuple[int, ...], quick: bool, out: Path | None, fresh: bool) -> None:
    """Run the paper's examples: greedy start, training from it and from random starts.

    Writes report.html, table.md, results.json and the figures to DIR. Finished parts are kept
    there: an interrupted run goes on where it stopped.
    """
    with clean_exit():
        from greedynet.commands.reproduce import run

        run(
            sorted(set(numbers)) or [1, 2, 3, 4, 5],
            out or Path("reproduction-quick" if quick else "reproduction"),
            quick=quick,
            fresh=fresh,
        )


@main.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--to",
    "target",
    type=click.Choice(["onnx", "torch", "keras", "c"]),
    required=True,
    help="What to write.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Where to write it; by default the model's name with another ending.",
)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    default="float32",
    show_default=True,
    help="Precision of the weights.",
)
def export(model: Path, target: str, out: Path | None, dtype: str) -> None:
    """Write a saved MODEL for PyTorch, ONNX, Keras or C, checked against its predictions."""
    with clean_exit():
        from greedynet.commands.export import run

        click.echo(run(model, target, out, dtype))  # type: ignore[arg-type]
