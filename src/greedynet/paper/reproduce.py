"""Section 4 of the paper, reproduced: greedy start, training from it, and from random starts.

Each example has a part "greedy" and, for the published width and the one chosen by validation, the
parts "trained" and "random". Every part is a dictionary of numbers and networks.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from greedynet.model.network import Network
from greedynet.paper.examples import Example, load_example
from greedynet.paper.regressor import GreedyShallowNetwork
from greedynet.search.ridgelet import collapsed_ridgelet_transform
from greedynet.train import TrainingResult, random_networks, train_networks
from greedynet.views.models import relative_error

Part = dict[str, Any]
Progress = Callable[[str, float], None]

HISTORY_POINTS = 200


@dataclass(frozen=True)
class Settings:
    """Settings on which the results depend."""

    epochs: int = 10_000
    restarts: int = 10  # number of random starts
    batches: int = 100  # for each epoch of training from these

    @staticmethod
    def quick() -> "Settings":
        """Return settings for a quick run, of less than a minute."""
        return Settings(epochs=100, restarts=3, batches=10)


def reproduce(
    numbers: Iterable[int], settings: Settings, progress: Progress | None = None
) -> dict[int, dict[str, Part]]:
    """Return the parts of the examples.

    `progress` is called with the name of a part and the share of it that is done.
    """
    examples = {number: load_example(number) for number in numbers}
    return {k: run_example(example, settings, progress) for k, example in examples.items()}


def part_names(number: int) -> list[str]:
    """Return the names of the parts of an example, in the order in which they are run."""
    widths = ("published", "validated")
    return [f"example{number}-greedy"] + [
        f"example{number}-{what}-{width}" for width in widths for what in ("trained", "random")
    ]


def run_example(
    example: Example, settings: Settings, progress: Progress | None = None
) -> dict[str, Part]:
    """Run the parts of one example."""
    parts: dict[str, Part] = {}

    def part(name: str, compute: Callable[[Callable[[float], None]], Part]) -> Part:
        full = f"example{example.number}-{name}"

        def report(share: float) -> None:
            if progress is not None:
                progress(full, share)

        report(0.0)
        parts[name] = compute(report)
        report(1.0)
        return parts[name]

    greedy = part("greedy", lambda _: greedy_part(example))
    for width in ("published", "validated"):
        start = greedy[width]["network"]
        part(f"trained-{width}", partial(trained_part, example, start, settings))
        part(f"random-{width}", partial(random_part, example, start, settings))
    return parts


def greedy_part(example: Example) -> Part:
    """Return the greedy start at both widths, the path, and the fraction of points removed."""
    start = time.perf_counter()
    model = GreedyShallowNetwork(example.sphere, max_nodes=example.published.max_nodes)
    model.fit(example.X_train, example.y_train, X_val=example.X_val, y_val=example.y_val)
    seconds = time.perf_counter() - start
    path, network = model.path_, model.network_
    published = path.network_at(example.published.n_nodes)
    return {
        "published": {"network": published, **errors(example, published)},
        "validated": {"network": network, **errors(example, network)},
        "path": path,
        "seconds": seconds,
        **reduction(example),
    }


def reduction(example: Example) -> Part:
    """Return the fraction of points that the collapsed ridgelet transform removes at 0.1 %."""
    if example.X_train.shape[1] > 2:
        return {"removed": None, "reduction_seconds": None}
    start = time.perf_counter()
    transform = collapsed_ridgelet_transform(example.sphere, example.X_train, example.y_train)
    removed = 1.0 - float(transform.keep().mean())
    return {"removed": removed, "reduction_seconds": time.perf_counter() - start}


def trained_part(
    example: Example, start: Network, settings: Settings, report: Callable[[float], None]
) -> Part:
    """Train from the greedy start: full batches, last weights."""
    results = _train(example, [start], len(example.X_train), settings, report)
    return {
        **errors(example, results[0].network),
        **_training(results),
        "network": results[0].network,
    }


def random_part(
    example: Example, start: Network, settings: Settings, report: Callable[[float], None]
) -> Part:
    """Train from random starts of the same width together, with mini-batches."""
    networks = random_networks(settings.restarts, start.n_features, start.n_nodes, random_state=0)
    batch = ceil(len(example.X_train) / settings.batches)
    results = _train(example, networks, batch, settings, report)
    each = [errors(example, result.network) for result in results]
    tests = [e["test_error"] for e in each]
    best = int(np.argmin(tests))
    return {
        **each[best],
        "median_test_error": float(np.median(tests)),
        "test_errors": tests,
        "best": best,
        **_training(results),
        "network": results[best].network,
    }


def _train(
    example: Example,
    networks: list[Network],
    batch_size: int,
    settings: Settings,
    report: Callable[[float], None],
) -> list[TrainingResult]:
    results = train_networks(
        networks,
        example.X_train,
        example.y_train,
        epochs=settings.epochs,
        batch_size=batch_size,
        keep="last",
        progress=lambda done, total: report(done / total),
    )
    if any(result.interrupted for result in results):
        raise KeyboardInterrupt
    return results


def _training(results: list[TrainingResult]) -> Part:
    """Return epochs, loss curves (thinned, for plotting) and seconds."""
    n = len(results[0].loss_history)
    # Dense at first, where the losses change fast and the logarithmic axis is wide.
    early = np.geomspace(1, n, min(n, HISTORY_POINTS)) - 1
    late = np.linspace(0, n - 1, min(n, HISTORY_POINTS))
    shown = np.unique(np.concatenate([early, late]).round().astype(int))
    return {
        "epochs": shown.tolist(),
        "losses": [result.loss_history[shown].tolist() for result in results],
        "seconds": results[0].seconds,
    }


def errors(example: Example, network: Network) -> Part:
    """Return the relative l2 errors of a network on the training and test data."""
    return {
        "n_nodes": network.n_nodes,
        "test_error": relative_error(network.predict(example.X_test), example.y_test),
        "training_error": relative_error(network.predict(example.X_train), example.y_train),
    }
