"""The command `greedynet info`: the contents of a model file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from greedynet.cli.options import AS_JSON, MODEL
from greedynet.cli.shell import plural, scores

if TYPE_CHECKING:
    from greedynet.model.network import Network
    from greedynet.model.uncertainty.expectation import Expectation
    from greedynet.tables.model import TableModel

_NEURONS, _LEVELS, _INPUTS = 10, 8, 30


@click.command()
@MODEL
@AS_JSON
def info(model: Path, as_json: bool) -> None:
    """Show the contents of a saved MODEL."""
    found = describe(model)
    click.echo(json.dumps(found, indent=1) if as_json else "\n".join(_lines(model, found)))


def describe(path: Path) -> dict[str, Any]:
    """Return the contents of a model file as plain values."""
    from greedynet.model.network import Network
    from greedynet.support.tensorfile import read_tree
    from greedynet.tables.load import load
    from greedynet.tables.model import TableModel
    from greedynet.tables.scores import loss_of

    model = load(path)
    table = model if isinstance(model, TableModel) else None
    estimator = model if table is None else table.estimator
    network = estimator if isinstance(estimator, Network) else estimator.network_
    loss = loss_of(estimator)
    selection = getattr(estimator, "path_", None)
    classes = getattr(estimator, "classes_", None)
    about = {} if table is None else dict(table.about)
    return {
        "kind": type(estimator).__name__,
        "library_version": read_tree(path).library_version,
        "created": about.get("created"),
        "target": None if table is None else table.target,
        "classes": None if classes is None else classes.tolist(),
        "inputs": _inputs(table, network),
        "network": network.contents,
        "nodes": network.n_nodes,
        "neurons": network.n_neurons,
        "hidden_layers": 2 if network.ramps is not None and network.n_neurons else 1,
        "hinges": None if network.ramps is None else _hinges(network),
        "affine_term": network.has_affine_term,
        "features": network.n_features,
        "outputs": network.n_outputs,
        "parameters": network.n_parameters,
        "multiplications": network.n_multiplications,
        "activation": network.activation.name,
        "bounds": None if network.bounds is None else network.bounds.pairs(),
        "extrapolates": network.box is None,
        "loss": "log-loss" if classes is not None else None if loss is None else loss.name,
        "expected": _expected(model),
        "summary": _first(model),
        "training_error": None if selection is None else float(selection.kept_error),
        "stop_reason": None if selection is None else selection.stop_reason.name,
        "rows": about.get("rows"),
        "roles": {role: about[role] for role in ("groups", "time", "weights") if role in about},
        "missing": None if table is None else table.missing,
        "assumed": about.get("assumed", []),
        "training": about.get("training"),
        "validation": about.get("validation"),
        "held_out": _without_mask(about.get("held_out")),
        "largest_neurons": _largest(network),
    }


def _expected(model: Any) -> dict[str, Any] | None:
    """Return the errors to expect on new rows, beside those of simple guesses."""
    from greedynet.tables.model import TableModel

    found = model.expectation if isinstance(model, TableModel) else _of_estimator(model)
    return None if found is None else {k: v for k, v in vars(found).items() if v is not None}


def _first(model: Any) -> str | None:
    """Return the same in words."""
    from greedynet.tables.model import TableModel
    from greedynet.tables.summary import first_sentences

    if isinstance(model, TableModel):
        return first_sentences(model) or None
    found = _of_estimator(model)
    return None if found is None else found.sentence()


def _of_estimator(estimator: Any) -> "Expectation | None":
    found: Expectation | None = getattr(estimator, "expectation_", None)
    return found


def _without_mask(held_out: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what is known of the rows that were set aside, but not which they were."""
    if held_out is None:
        return None
    return {key: value for key, value in held_out.items() if key not in ("mask", "check", "of")}


def _inputs(table: "TableModel | None", network: "Network") -> list[dict[str, Any]] | None:
    """Return names and levels, or None if they are not known."""
    if table is not None:
        return [
            {
                "name": column.name,
                "levels": None if column.levels is None else list(column.levels),
                "holds": column.describe(),
                "features": list(column.features),
                **({} if column.gaps_of is None else {"gaps_of": column.gaps_of}),
            }
            for column in table.columns.inputs
        ]
    if network.feature_names is None:
        return None
    return [
        {"name": name, "levels": None, "holds": "a number", "features": [name]}
        for name in network.feature_names
    ]


def _hinges(network: "Network") -> list[dict[str, Any]]:
    """Return the columns that the first layer bends, and the knots of each."""
    features, knots = network.hinges()
    names = network.feature_names or [f"x{j}" for j in range(network.n_features)]
    return [
        {"column": names[j], "knots": knots[features == j].tolist()}
        for j in sorted(set(features.tolist()))
    ]


def _largest(network: "Network") -> list[dict[str, Any]]:
    """Return the neurons with the largest weights, as `describe` ranks them.

    Over two layers, their weights are those of the columns and then of the hinges.
    """
    from greedynet.model.description import over_hinges

    form = over_hinges(network)
    return [
        {
            "neuron": int(n),
            "weights": form.inner_weights[n].tolist(),
            "bias": float(form.biases[n]),
            "outer_weights": form.outer_weights[n].tolist(),
        }
        for n in network.largest_neurons()[:_NEURONS]
    ]


def _lines(path: Path, found: dict[str, Any]) -> list[str]:
    date = "" if found["created"] is None else f", made {found['created'][:10]}"
    lines = [f"{path.name}: a {found['kind']} by greedynet {found['library_version']}{date}"]
    if found["summary"] is not None:
        lines.append(f"  {found['summary']}")
    lines += [
        f"  network     {found['network']} "
        f"({plural(found['nodes'], 'node')}), {plural(found['features'], 'feature')}, "
        f"{plural(found['outputs'], 'output')}, {plural(found['parameters'], 'parameter')}, "
        f"{plural(found['multiplications'], 'multiplication')}",
    ]
    if found["target"] is not None:
        lines.append(f"  target      {found['target']}")
    if found["classes"] is not None:
        lines.append(f"  classes     {_some(found['classes'])}")
    if found["loss"] is not None:
        lines.append(f"  loss        {found['loss']}")
    lines += _bound_lines(found)
    if found["training_error"] is not None:
        name = "mean log-loss" if found["classes"] is not None else "relative"
        lines.append(f"  error       {found['training_error']:.4g} {name}, on the training rows")
    for part in ("training", "validation"):
        if found[part] is not None:
            rows = f" ({plural(found['rows'], 'row')})" if part == "training" else ""
            lines.append(f"  {part:<11} {scores(found[part])}{rows}")
    lines += [f"  {role:<11} {name}" for role, name in found["roles"].items()]
    lines += [f"  assumed     {line}" for line in found["assumed"]]
    return lines + _input_lines(found["inputs"]) + _hinge_lines(found) + _neuron_lines(found)


def _bound_lines(found: dict[str, Any]) -> list[str]:
    """Return what no output leaves."""
    from greedynet.model.bounds import OutputBounds

    if found["bounds"] is None:
        return []
    said = OutputBounds(*zip(*found["bounds"], strict=True)).sentence()
    what = "predictions" if found["classes"] is None else f"log-odds of {found['classes'][1]}"
    return [f"  bounds      {what} {said}, everywhere"]


def _input_lines(inputs: list[dict[str, Any]] | None) -> list[str]:
    if inputs is None:
        return ["  inputs      without names"]
    lines = ["  inputs"]
    for column in inputs[:_INPUTS]:
        lines.append(f"    {column['name']}: {column['holds']}")
    more = len(inputs) - _INPUTS
    return [*lines, f"    ... and {more} more"] if more > 0 else lines


def _hinge_lines(found: dict[str, Any]) -> list[str]:
    """Return the knots of each column that the first of two layers bends."""
    if found["hinges"] is None:
        return []
    lines = ["  hinges of the first layer, and where they bend"]
    for part in found["hinges"][:_INPUTS]:
        lines.append(f"    {part['column']}: {' '.join(f'{t:.4g}' for t in part['knots'])}")
    more = len(found["hinges"]) - _INPUTS
    return [*lines, f"    ... and of {more} more columns"] if more > 0 else lines


def _neuron_lines(found: dict[str, Any]) -> list[str]:
    """Return a line for each neuron, with its features of largest weight."""
    if not found["largest_neurons"]:
        return []
    names = [*_feature_names(found), *_hinge_names(found)]
    lines = ["  largest neurons"]
    for neuron in found["largest_neurons"]:
        weights = neuron["weights"]
        order = sorted(range(len(weights)), key=lambda j: -abs(weights[j]))[:4]
        inner = " ".join(f"{weights[j]:+.3g} {names[j]}" for j in order if weights[j])
        more = " ..." if sum(map(bool, weights)) > 4 else ""
        outer = " ".join(f"{c:+.3g}" for c in neuron["outer_weights"][:4])
        formula = f"{found['activation']}({inner}{more} {neuron['bias']:+.3g})"
        lines.append(f"    {outer} {formula}")
    return lines


def _hinge_names(found: dict[str, Any]) -> list[str]:
    return [
        f"relu({part['column']} {-knot:+.4g})"
        for part in found["hinges"] or []
        for knot in part["knots"]
    ]


def _feature_names(found: dict[str, Any]) -> list[str]:
    if found["inputs"] is None:
        return [f"x{j}" for j in range(found["features"])]
    return [name for column in found["inputs"] for name in column["features"]]


def _some(values: list[Any]) -> str:
    more = f", ... ({len(values)} in all)" if len(values) > _LEVELS else ""
    return ", ".join(map(str, values[:_LEVELS])) + more
