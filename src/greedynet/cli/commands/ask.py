"""The command `greedynet ask`: exact answers about all rows of a region, not about a sample."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from greedynet.cli.options import AS_JSON, MODEL

if TYPE_CHECKING:
    from greedynet.exact import Monotone, Optimum

_LONG = {"max": "largest", "min": "smallest"}


@click.command()
@MODEL
@click.option("--max", "largest", is_flag=True, help="Find the largest prediction.")
@click.option("--min", "smallest", is_flag=True, help="Find the smallest prediction.")
@click.option(
    "--monotone",
    "columns",
    metavar="COLUMN",
    multiple=True,
    help="Find out whether predictions only rise, or only fall, with this column.",
)
@click.option(
    "--where",
    "conditions",
    metavar="CONDITION",
    multiple=True,
    help="Rows to ask about, in the words of the file: 'age<=30', '10<=size<=80', 'rooms=3', "
    "'kind=A', 'kind=A,B', 'new=true', 'date>=2024-01-01', 'date=2024-05-31', 'trip<=1:30:00' or "
    "'age is missing'; by default all between the smallest and the largest values of the training "
    "data, without empty cells.",
)
@click.option(
    "--constraint",
    "sums",
    metavar="CONSTRAINT",
    multiple=True,
    help="A limit of a sum, such as 'size + 2 age <= 90', for --max, --min.",
)
@click.option(
    "--integer",
    metavar="COLUMN",
    multiple=True,
    help="A column of whole numbers, for --max, --min.",
)
@click.option("--output", help="Output or class to ask about, if the model has several.")
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Time for each answer, after which it says how far it is from proven.",
)
@AS_JSON
def ask(
    model: Path,
    largest: bool,
    smallest: bool,
    columns: tuple[str, ...],
    conditions: tuple[str, ...],
    sums: tuple[str, ...],
    integer: tuple[str, ...],
    output: str | None,
    max_seconds: float,
    as_json: bool,
) -> None:
    """Ask what a saved MODEL predicts at most, at least, or along a column, with proof.

    Without --max, --min and --monotone, find the smallest and the largest prediction.
    """
    from greedynet.exact import is_monotone, optimise
    from greedynet.exact.conditions import parse_question
    from greedynet.tables.load import load

    loaded = load(model)
    if sums and columns:
        raise ValueError(
            "--constraint is for --max and --min, got --monotone, too: limit columns by --where."
        )
    where, constraints = parse_question(loaded, conditions, sums, integer, columns)
    options: dict[str, Any] = {
        "where": where,
        "output": _output(loaded, output),
        "max_seconds": max_seconds,
    }
    both = not (largest or smallest or columns)
    wanted: list[Literal["min", "max"]] = ["min"] if smallest or both else []
    wanted += ["max"] if largest or both else []
    answers: list[dict[str, Any]] = []
    lines: list[str] = []
    for direction in wanted:
        found = optimise(loaded, direction, integer=integer, constraints=constraints, **options)
        answers.append({"question": direction, **_optimum(found)})
        lines += _optimum_lines(f"{_LONG[direction]} {_what(loaded)}", found)
    for column in columns:
        for increasing in (True, False):
            said = is_monotone(loaded, column, increasing=increasing, **options)
            answers.append(_monotone(said))
            question = "only rises" if increasing else "only falls"
            lines.append(f"{question} with {said.column}: {said}")
    click.echo(json.dumps(answers, indent=1) if as_json else "\n".join(lines))


def _output(model: Any, given: str | None) -> Any:
    """Return the output as a number, or as a class of the model."""
    if given is None:
        return None
    classes = _classes(model)
    if classes is None:
        if not given.isdigit():
            raise ValueError(f"`output` must be the number of an output, from 0, got {given!r}.")
        return int(given)
    return next((name for name in classes if str(name) == given), given)


def _optimum(found: "Optimum") -> dict[str, Any]:
    return {
        "value": found.value,
        "bound": found.bound,
        "proven": found.proven,
        "seconds": round(found.seconds, 3),
        "row": _plain(found.row),
        "distance": None if found.outside is None else float(found.outside.distance[0]),
        "like_rows_seen": None if found.outside is None else not found.outside.rows[0],
    }


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for JSON, in which empty cells are null."""
    return {name: None if value != value else value for name, value in row.items()}


def _what(model: Any) -> str:
    """Return what the output of a model is called."""
    classes = _classes(model)
    if classes is None:
        return "prediction"
    return f"log-odds of {classes[1]}" if len(classes) == 2 else "score of the class"


def _classes(model: Any) -> list[Any] | None:
    found = getattr(model, "classes", getattr(model, "classes_", None))
    return None if found is None else list(found.tolist())


def _optimum_lines(what: str, found: "Optimum") -> list[str]:
    from greedynet.exact.answers import cell_text, likeness

    proof = "proven" if found.proven else f"not proven: the bound is {found.bound:.8g}"
    width = max(map(len, found.row), default=0)
    rows = [f"  {name:<{width}}  {cell_text(value)}" for name, value in found.row.items()]
    said = [] if found.outside is None else [f"  This row is {likeness(found.outside)}."]
    return [f"{what}: {found.value:.8g} ({proof})", *rows, *said]


def _monotone(found: "Monotone") -> dict[str, Any]:
    return {
        "question": "increasing" if found.increasing else "decreasing",
        "column": found.column,
        "holds": found.holds,
        "rows": None if found.rows is None else [_plain(row) for row in found.rows],
        "predictions": None if found.predictions is None else list(found.predictions),
        "like_rows_seen": None if found.outside is None else not found.outside.rows.any(),
        "seconds": round(found.seconds, 3),
    }
