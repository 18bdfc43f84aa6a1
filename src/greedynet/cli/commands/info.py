"""The command `greedynet info`: the contents of a model file."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from greedynet.cli.options import AS_JSON, MODEL
from greedynet.cli.shell import plural, scores

if TYPE_CHECKING:
    from greedynet.model.network import Network
    from greedynet.tables.model import TableModel

_NEURONS, _LEVELS, _INPUTS = 10, 8, 30


@click.command()
@MODEL
@AS_JSON
def info(model: Path, as_json: bool) -> None:
    """Show the contents of a saved MODEL."""
    found, words = describe(model)
    click.echo(json.dumps(found, indent=1) if as_json else "\n".join(_lines(model, found, words)))


def describe(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the contents of a model file as plain values, and its network in words."""
    from greedynet.model.network import Network
    from greedynet.support.tensorfile import read_tree
    from greedynet.tables.load import load
    from greedynet.tables.model import TableModel
    from greedynet.tables.scores import loss_of

    model = load(path)
    expected, said = _expected(model)
    table = model if isinstance(model, TableModel) else None
    estimator = model if table is None else table.estimator
    network = estimator if isinstance(estimator, Network) else estimator.network_
    loss = loss_of(estimator)
    selection = getattr(estimator, "path_", None)
    classes = getattr(estimator, "classes_", None)
    about = {} if table is None else dict(table.about)
    if table is not None:
        network = replace(network, feature_names=table.columns.features)
    found = {
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
        "expected": expected,
        "summary": said,
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
    return found, network.describe().splitlines()


def _expected(model: Any) -> tuple[dict[str, Any] | None, str | None]:
    """Return the errors to expect on new rows, beside those of simple guesses, also in words."""
    from greedynet.tables.model import TableModel
    from greedynet.tables.summary import first_sentences

    of_table = isinstance(model, TableModel)
    found = model.expectation if of_table else getattr(model, "expectation_", None)
    if found is None:
        return None, first_sentences(model) or None if of_table else None
    said = first_sentences(model) if of_table else found.sentence()
    return {k: v for k, v in vars(found).items() if v is not None}, said or None


def _without_mask(held_out: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what is known of the rows that were set aside, but not which they were."""
    if held_out is None:
        return None
    return {key: value for key, value in held_out.items() if key not in ("mask", "check", "of")}


def _inputs(table: "TableModel | None", network: "Network") -> list[dict[str, Any]] | None:
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


def _lines(path: Path, found: dict[str, Any], words: list[str]) -> list[str]:
    date = "" if found["created"] is None else f", made {found['created'][:10]}"
    lines = [f"{path.name}: a {found['kind']} by greedynet {found['library_version']}{date}"]
    if found["summary"] is not None:
        lines.append(f"  {found['summary']}")
    lines.append(f"  network     {words[0]}")
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
    lines += _input_lines(found["inputs"])
    return lines + [line for line in words[1:] if not line.startswith("  outputs ")]


def _bound_lines(found: dict[str, Any]) -> list[str]:
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


def _some(values: list[Any]) -> str:
    more = f", ... ({len(values)} in all)" if len(values) > _LEVELS else ""
    return ", ".join(map(str, values[:_LEVELS])) + more
