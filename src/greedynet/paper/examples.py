"""The data of the paper's Section 4 and its published results.

All random numbers come from one legacy NumPy generator, seeded with 0, in the order training
points, validation points, test points, sphere.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from greedynet.search.sphere import sample_sphere
from greedynet.support.types import Float64

Array = Float64


@dataclass(frozen=True)
class Published:
    """Published results of one example; errors are relative l2 errors on the test set."""

    n_nodes: int
    greedy: float  # of the greedy start
    trained: float  # from the greedy start; on example 5 this is the training error
    random: float  # the best of ten training runs from random starts
    max_nodes: int  # number of greedy iterations in the protocol


@dataclass(frozen=True, eq=False)
class Example:
    """Data of one example: arrays in scikit-learn's format, the sphere, the published results."""

    number: int
    target: Callable[[Array], Array]  # from (n, d) inputs to (n,) values
    X_train: Array
    y_train: Array
    X_val: Array
    y_val: Array
    X_test: Array
    y_test: Array
    sphere: Array  # (n_points, d + 1): inner weights, bias last
    published: Published


@dataclass(frozen=True)
class _Protocol:
    target: Callable[[Array], Array]
    n_features: int
    n_train: int
    n_val: int
    n_test: int
    published: Published


def _target1(X: Array) -> Array:
    x = X[:, 0]
    return np.cos(2 * np.pi * x) * np.exp(x)


def _target2(X: Array) -> Array:
    x = X[:, 0]
    return np.sin(2 * np.pi * x) * np.exp(-(x**2)) + np.cos(17 * x) * np.exp(x)


def _target3(X: Array) -> Array:
    x, y = X.T
    return np.sin(np.pi * x) * np.cos(np.pi * y) * np.exp(-(x**2 + y**2))


def _target4(X: Array) -> Array:
    x, y = X.T
    return np.cos(5 * (x + y)) * np.sin(3 * (x - y)) * np.exp(-(x**2 + y**2))


def _target5(X: Array) -> Array:
    return np.sin(2 * np.pi * X.sum(axis=1))


_PROTOCOLS = {
    1: _Protocol(_target1, 1, 50, 15, 1_000, Published(23, 1.02e-02, 1.00e-02, 6.76e-02, 40)),
    2: _Protocol(_target2, 1, 100, 20, 1_000, Published(40, 2.63e-02, 2.44e-02, 8.17e-01, 60)),
    3: _Protocol(_target3, 2, 256, 50, 10_000, Published(50, 4.25e-02, 3.31e-02, 2.25e-01, 60)),
    4: _Protocol(_target4, 2, 1_024, 200, 10_000, Published(84, 4.26e-02, 3.59e-02, 2.14e-01, 100)),
    5: _Protocol(
        _target5, 4, 4_000, 400, 10_000, Published(109, 3.20e-01, 6.99e-02, 4.29e-01, 200)
    ),
}


def load_example(number: int) -> Example:
    """Draw the data of one of the paper's examples.

    Parameters
    ----------
    number : int
        1 to 5: two functions of one variable, two of two, one of four.

    Returns
    -------
    example : Example
        Training, validation and test data, the sphere and the published results.

    Examples
    --------
    >>> from greedynet.paper import load_example
    >>> example = load_example(1)
    >>> example.X_train.shape, example.sphere.shape, example.published.n_nodes
    ((50, 1), (10000, 2), 23)
    """
    if number not in tuple(_PROTOCOLS):
        raise ValueError(
            f"`number` must be one of 1, 2, 3, 4, 5 (the paper has five examples), got {number!r}."
        )
    protocol = _PROTOCOLS[number]
    stream = np.random.RandomState(0)
    d = protocol.n_features
    X_train = _regular_or_random(protocol.n_train, d, stream)
    X_val = _uniform(protocol.n_val, d, stream)
    X_test = _regular_or_random(protocol.n_test, d, stream)
    return Example(
        number=number,
        target=protocol.target,
        X_train=X_train,
        y_train=protocol.target(X_train),
        X_val=X_val,
        y_val=protocol.target(X_val),
        X_test=X_test,
        y_test=protocol.target(X_test),
        sphere=sample_sphere(d, random_state=stream if d > 2 else None),
        published=protocol.published,
    )


def _regular_or_random(n: int, d: int, stream: np.random.RandomState) -> Array:
    """Return regular points for one or two variables, uniform random points for more."""
    if d == 1:
        return np.linspace(-1.0, 1.0, n)[:, None]
    if d == 2:
        side = np.linspace(-1.0, 1.0, round(np.sqrt(n)))
        return np.column_stack([g.ravel() for g in np.meshgrid(side, side, indexing="ij")])
    return _uniform(n, d, stream)


def _uniform(n: int, d: int, stream: np.random.RandomState) -> Array:
    """Return uniform points on the cube, drawn coordinate by coordinate, sorted by the first."""
    X = np.column_stack([stream.uniform(-1.0, 1.0, n) for _ in range(d)])
    return X[np.argsort(X[:, 0], kind="stable")]
