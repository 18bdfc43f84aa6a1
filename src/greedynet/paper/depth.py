"""The paper's five examples with one hidden layer and with two, of the same number of nodes.

The paper leaves deep networks to later work. Here both are built by the library's own search and
correction. The number of nodes is the published one; the affine term and the hinges of a first
layer are among them.
"""

import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Literal

from greedynet.estimators import GreedyNetRegressor
from greedynet.paper.examples import Example, load_example
from greedynet.paper.report import number_text
from greedynet.paper.reproduce import relative_error
from greedynet.paper.store import Part, PartStore

HEADER = (
    "example",
    "layers",
    "nodes",
    "of them hinges",
    "parameters",
    "multiplications",
    "training error",
    "test error",
    "seconds",
)
_LAYERS: tuple[Literal[1], Literal[2]] = (1, 2)


def compare_depths(
    numbers: Iterable[int],
    folder: Path,
    *,
    fresh: bool = False,
    progress: Callable[[str], None] | None = None,
) -> dict[int, list[Part]]:
    """Return one part per number of layers for each example, reusing those in the folder."""
    store = PartStore(folder, {"kind": "depth"}, fresh=fresh)
    results: dict[int, list[Part]] = {}
    for number in numbers:
        example = load_example(number)
        results[number] = []
        for layers in _LAYERS:
            name = f"example{number}-layers{layers}"
            if progress is not None:
                progress(name)
            results[number].append(store.part(name, partial(depth_part, example, layers)))
    return results


def depth_part(example: Example, hidden_layers: Literal[1, 2]) -> Part:
    """Return the size and the relative l2 errors of a network of the published number of nodes."""
    start = time.perf_counter()
    model = GreedyNetRegressor(n_nodes=example.published.n_nodes, hidden_layers=hidden_layers)
    network = model.fit(example.X_train, example.y_train).network_
    return {
        "hidden_layers": hidden_layers,
        "n_nodes": network.n_nodes,
        "n_hinges": network.n_hinges,
        "n_parameters": network.n_parameters,
        "n_multiplications": network.n_multiplications,
        "training_error": relative_error(network.predict(example.X_train), example.y_train),
        "test_error": relative_error(network.predict(example.X_test), example.y_test),
        "seconds": time.perf_counter() - start,
    }


def depth_rows(results: dict[int, list[Part]]) -> list[tuple[str, ...]]:
    """Return the rows of the table, with the cells of `HEADER`."""
    return [
        (
            str(number),
            str(part["hidden_layers"]),
            str(part["n_nodes"]),
            str(part["n_hinges"]),
            f"{part['n_parameters']:,}",
            f"{part['n_multiplications']:,}",
            number_text(part["training_error"]),
            number_text(part["test_error"]),
            f"{part['seconds']:.1f}",
        )
        for number, parts in results.items()
        for part in parts
    ]


def depth_markdown(results: dict[int, list[Part]]) -> str:
    """Return the table as Markdown."""
    lines = [HEADER, tuple("---" for _ in HEADER), *depth_rows(results)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
