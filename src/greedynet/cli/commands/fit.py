"""The command `greedynet fit`: fit a model to a table, save it and print a summary."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from greedynet.cli.files import check_files
from greedynet.cli.options import (
    DATA,
    DATES,
    DECIMAL,
    ENCODING,
    HIDDEN_LAYERS,
    INPUT,
    MEMORY_LIMIT,
    MISSING,
    OUTPUT,
    SEPARATOR,
    THOUSANDS,
)
from greedynet.cli.progress import reporter
from greedynet.cli.shell import as_options, scores, wrote

if TYPE_CHECKING:
    from greedynet.model.path import StopReason
    from greedynet.tables.model import TableModel

# Names of the options, and of the corresponding parameters of `fit_table`.
_PARAMETERS = {
    "max_nodes": "max_nodes",
    "nodes": "n_nodes",
    "select": "select",
    "hidden_layers": "hidden_layers",
    "tol": "tol",
    "max_seconds": "max_seconds",
    "activation": "activation",
    "loss": "loss",
    "seed": "random_state",
    "cv": "cv",
    "class_weight": "class_weight",
    "bounds": "bounds",
    "extrapolate": "extrapolate",
}
# Names of the options for shapes, the parameter they belong to, and their numbers in it.
_SHAPES = {
    "increasing": ("monotonic_cst", 1),
    "decreasing": ("monotonic_cst", -1),
    "convex_in": ("convex", 1),
    "concave_in": ("convex", -1),
}


_NO_ROWS = (
    "note: the report shows no rows, since DATA is too large to be held in memory: write "
    "`greedynet report` with some of its rows for a report that does."
)


def _number_or_name(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    try:
        return None if value is None else float(value)
    except ValueError:
        return value


def _loss(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    """Return a name, a power, or the loss of a quantile such as quantile=0.9."""
    name, _, number = (value or "").partition("=")
    if name != "quantile" or not number:
        return _number_or_name(context, parameter, value)
    from greedynet.losses import Quantile

    return Quantile(_number_or_name(context, parameter, number))


def _class_weight(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> Any:
    """Return "balanced", or weights by the names of the classes; None if there are none."""
    if not values or values == ("balanced",):
        return values[0] if values else None
    found = {}
    for value in values:
        name, sign, number = value.rpartition("=")
        try:
            found[name.strip()] = float(number) if sign else float("nan")
        except ValueError:
            found[name.strip()] = float("nan")
        if not 0 <= found[name.strip()] < float("inf"):
            raise click.BadParameter(
                f"write balanced, or a class and a number, such as yes=3, got {value!r}."
            )
    return found


def _shapes(named: dict[str, tuple[str, ...]]) -> dict[str, dict[str, int]]:
    """Return the parameters for shapes, by the names of columns."""
    found: dict[str, dict[str, int]] = {}
    for option, (parameter, number) in _SHAPES.items():
        of_columns = found.setdefault(parameter, {})
        for column in named[option]:
            if of_columns.get(column, number) != number:
                wrong = [name for name, (p, _) in _SHAPES.items() if p == parameter]
                options = " and ".join("--" + name.removesuffix("_in") for name in wrong)
                raise click.UsageError(f"{options} must name other columns, got {column} in both.")
            of_columns[column] = number
    return {parameter: shapes for parameter, shapes in found.items() if shapes}


@click.command()
@DATA
@click.option("--target", required=True, metavar="COLUMN", help="The column to predict.")
@click.option(
    "--out",
    required=True,
    type=OUTPUT,
    metavar="FILE",
    help="The file of the model, such as model.safetensors.",
)
@click.option(
    "--validate",
    type=INPUT,
    metavar="FILE",
    help="Rows by which the width is chosen; by default it is chosen from DATA alone.",
)
@click.option(
    "--hold-out",
    type=float,
    metavar="SHARE",
    help="Share of the rows to set aside, such as 0.2: they take no part in the fit, tell how good "
    "it is, and are shown in the report.",
)
@click.option(
    "--hold-out-by",
    metavar="COLUMN",
    help="Set aside whole groups of this column, such as patients; it is not used as an input.",
)
@click.option(
    "--hold-out-last",
    type=float,
    metavar="SHARE",
    help="Set aside the last rows, for rows in order of time.",
)
@click.option(
    "--cv",
    type=click.IntRange(2),
    metavar="N",
    help="Choose the width by so many folds, instead of the default number.",
)
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Keep rows of a group, such as a patient, together: in the folds that choose the width, "
    "and in --hold-out; it is not used as an input.",
)
@click.option(
    "--time",
    metavar="COLUMN",
    help="Numbers or dates: folds go forward, each predicted from earlier rows "
    "alone, and --hold-out sets aside the latest rows. It is an input too, unless ignored.",
)
@click.option(
    "--weights",
    metavar="COLUMN",
    help="Weights of the rows, in the fit and in the errors it tells; not used as an input.",
)
@click.option(
    "--class-weight",
    multiple=True,
    metavar="balanced|CLASS=NUMBER",
    callback=_class_weight,
    help="Weights of the classes: balanced, for classes that count the same whatever their number "
    "of rows, or a number for a class, such as yes=3; repeatable.",
)
@click.option("--max-nodes", type=click.IntRange(1), metavar="N", help="Maximum number of nodes.")
@click.option(
    "--max-seconds",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="About how long the fit may take; then the best network so far is kept.",
)
@click.option(
    "--tol",
    type=click.FloatRange(0),
    metavar="T",
    help="Relative training error at which to stop, for a target of numbers; 1e-08 by default.",
)
@click.option(
    "--nodes",
    type=click.IntRange(1),
    metavar="N",
    help="Exact number of nodes. Nodes are the neurons, which are the hidden units, plus two for "
    "the affine term.",
)
@click.option(
    "--select",
    metavar="best|1se|last|SHARE",
    callback=_number_or_name,
    help="Which network is kept: the best on held-out rows (default), the smallest within one "
    "standard error of it, the last one, or the smallest whose error is within a share of the best "
    "one's, such as 0.05.",
)
@HIDDEN_LAYERS
@click.option(
    "--increasing",
    multiple=True,
    metavar="COLUMN",
    help="Predictions never fall when this column rises and the others stay, anywhere; for two "
    "classes, the log-odds of the second one. Repeatable.",
)
@click.option(
    "--decreasing",
    multiple=True,
    metavar="COLUMN",
    help="Predictions never rise when this column rises; repeatable.",
)
@click.option(
    "--convex",
    "convex_in",
    multiple=True,
    metavar="COLUMN",
    help="Predictions are convex in this column; repeatable.",
)
@click.option(
    "--concave",
    "concave_in",
    multiple=True,
    metavar="COLUMN",
    help="Predictions are concave in this column; repeatable.",
)
@click.option(
    "--activation",
    metavar="NAME",
    help="relu (default), relu2, relu3, leaky_relu, abs, tanh, sigmoid, gelu, softplus, sin or "
    "gaussian.",
)
@click.option(
    "--loss",
    metavar="NAME|P",
    callback=_loss,
    help="squared_error (default), absolute_error, huber, quantile (the median) or a quantile such "
    "as quantile=0.9, chebyshev, or a power above 1.",
)
@click.option(
    "--at-least",
    type=float,
    metavar="LOW",
    help="For a target of numbers: no prediction is smaller than this, anywhere.",
)
@click.option(
    "--at-most",
    type=float,
    metavar="HIGH",
    help="For a target of numbers: no prediction is larger than this, anywhere.",
)
@click.option(
    "--bounds",
    type=click.Choice(["seen"]),
    help="For a target of numbers: no prediction is smaller or larger than all values seen.",
)
@click.option(
    "--extrapolate",
    is_flag=True,
    default=None,
    help="Continue in straight lines beyond the training rows. By default, a value outside their "
    "range counts as the nearest one in it.",
)
@click.option(
    "--classes",
    is_flag=True,
    help="Treat the numbers in the target as classes. A target of text always contains classes.",
)
@MISSING
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Ignore a column; repeatable.")
@click.option(
    "--text",
    multiple=True,
    metavar="COLUMN",
    help="Treat a column of numbers, such as codes, as text; repeatable.",
)
@SEPARATOR
@DECIMAL
@THOUSANDS
@DATES
@ENCODING
@MEMORY_LIMIT
@click.option("--seed", type=int, metavar="N", help="Random seed; 0 by default.")
@click.option(
    "--report",
    type=OUTPUT,
    metavar="FILE",
    help="Also write a report on the network, such as report.html.",
)
@click.option(
    "--checkpoint",
    type=OUTPUT,
    metavar="FILE",
    help="Save the progress of the fit every few seconds; if it is interrupted, the same command "
    "resumes from there.",
)
def fit(data: Path, target: str, out: Path, report: Path | None, **options: Any) -> None:
    """Fit a network to DATA: a table as CSV, TSV (also .gz, .bz2, .xz), Parquet or NPZ, or -.

    DATA may be larger than memory, and a folder of Parquet files.

    Every column except the target is an input; columns of text are one-hot encoded, dates become
    elapsed time and positions in the year, the week and the day. The fit is a regression, or a
    classification if the target is text.
    """
    from greedynet.estimators.checkpoint import checkpoint
    from greedynet.report import write_report
    from greedynet.support.errors import TableWarning
    from greedynet.tables.fit import fit_table
    from greedynet.tables.readers import open_table

    check_files(
        {"DATA": data, "--validate": options["validate"]},
        {"--out": out, "--report": report, "--checkpoint": options["checkpoint"]},
    )
    given = {ours: options.pop(name) for name, ours in _PARAMETERS.items()}
    parameters = {name: value for name, value in given.items() if value is not None}
    parameters |= _shapes({name: options.pop(name) for name in _SHAPES})
    bounds = (options.pop("at_least"), options.pop("at_most"))
    if bounds != (None, None):
        if "bounds" in parameters:
            raise click.UsageError("--bounds must be given without --at-least and --at-most.")
        parameters["bounds"] = bounds
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with reporter() as shown, checkpoint(options.pop("checkpoint")):
            options |= {"progress": shown, "on_stage": shown.show}
            options["decimal"] = options["decimal"] or "."
            model = fit_table(data, target, **options, **parameters)
    said = [*(str(warning.message) for warning in caught), *model.about["noticed"]]
    for message in dict.fromkeys(map(as_options, said)):
        click.echo(f"note: {message}", err=True)
    model.save(out)
    # Before the report: the model has been saved even if the report fails.
    click.echo(summary(model, out, chose_nodes="n_nodes" not in parameters))
    if report is not None:
        table = None
        if model.about.get("in_blocks"):
            click.echo(_NO_ROWS, err=True)
        else:
            names = ("separator", "decimal", "thousands", "encoding")
            with warnings.catch_warnings(action="ignore", category=TableWarning):  # said above
                table = open_table(data, **{name: options[name] for name in names})
        write_report(model, report, table, model_file=out.name)
        click.echo(wrote(report))


def summary(model: "TableModel", out: Path, *, chose_nodes: bool = True) -> str:
    """Return the errors to expect, what was fitted, and suggestions for the next steps."""
    about, lines = model.about, [model.summary()]
    lines.append(f"training: {scores(about['training'])}")
    if about.get("in_blocks"):
        lines.append("read in blocks, since it would take more memory than --memory-limit")
    if about["validation"] is not None:
        lines.append(f"validation: {scores(about['validation'])}")
    if about["held_out"] is not None:
        found = {name: about["held_out"][name] for name in about["training"]}
        lines.append(f"held out: {scores(found)}")
    lines.append(f"wrote {out} after {about['seconds']:.1f} s")
    lines += [f"next: {advice}" for advice in _advice(model, out, chose_nodes)]
    return "\n".join(lines)


def _advice(model: "TableModel", out: Path, chose_nodes: bool) -> list[str]:
    advice = []
    if model.about["validation"] is None and model.about["held_out"] is None:
        advice.append(f"greedynet evaluate {out} other.csv, for rows that were not used in the fit")
    advice.append(f"greedynet predict {out} new.csv --out predictions.csv")
    width = _width_advice(model.estimator.stop_reason_) if chose_nodes else None
    return advice if width is None else [*advice, width]


def _width_advice(reason: "StopReason") -> str | None:
    """Return advice on the number of nodes, in terms of the command line, or None."""
    from greedynet.model.path import StopReason

    match reason:
        case StopReason.MAX_NODES:
            return "The maximum number of nodes was reached; allow more with --max-nodes."
        case StopReason.MAX_SECONDS:
            return "Time ran out before the search ended; allow more with --max-seconds."
        case StopReason.EXHAUSTED:
            return "More nodes require more distinct rows."
        case StopReason.TOLERANCE | StopReason.NEARLY | StopReason.EXACT:
            return str(reason)
    return None
