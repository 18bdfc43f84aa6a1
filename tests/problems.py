"""Small problems with known answers, shared by the tests, and naive twins of fast code."""

import numpy as np

from greedynet import GreedyNetRegressor
from greedynet.search import Dictionary
from greedynet.search.sphere import circle, gaussian, golden_spiral, sample_sphere  # noqa: F401

SEARCHES = ("continuous", "dictionary")


def regressor(search, *, n_points, **parameters):
    """An estimator with one of the searches; `n_points` and the like are for the dictionary."""
    of_dictionary = {k: parameters.pop(k) for k in Dictionary().get_params() if k in parameters}
    if search == "dictionary":
        sampled = {} if "points" in of_dictionary else {"n_points": n_points}
        search = Dictionary(**sampled, **of_dictionary)
    return GreedyNetRegressor(search=search, **parameters)


def relative_error(found, wanted):
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)


def numeric_gradient(function, at, step=1e-5):
    """The derivative of a function of an array, by central differences."""
    changes = step * np.eye(at.size).reshape(at.size, *at.shape)
    differences = [function(at + change) - function(at - change) for change in changes]
    return np.reshape(differences, at.shape) / (2 * step)


def planted(n_rows=200, n_features=3, n_neurons=4, n_points=120, n_outputs=1, seed=0):
    """Rows, points and outputs of a network whose neurons are among the points."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, (n_rows, n_features))
    points = sample_sphere(n_features, n_points, random_state=rng)
    active = np.maximum(points[:, :-1] @ X.T + points[:, -1:], 0).astype(bool).mean(axis=1)
    usable = np.flatnonzero((active > 0.25) & (active < 0.75))
    chosen = rng.choice(usable, n_neurons, replace=False)
    hidden = np.maximum(X @ points[chosen, :-1].T + points[chosen, -1], 0)
    weights = rng.choice([-1.0, 1.0], (n_neurons, n_outputs)) * rng.uniform(1, 2, n_outputs)
    Y = hidden @ weights
    return X, (Y[:, 0] if n_outputs == 1 else Y), points, chosen


def noisy(n_rows=120, n_features=2, noise=0.1, seed=0):
    """Rows of a smooth function with noise."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, (n_rows, n_features))
    y = np.sin(3 * X[:, 0]) + np.cos(2 * X.sum(axis=1)) + noise * rng.randn(n_rows)
    return X, y


def some_points(n_features, n_points=200, seed=1):
    return gaussian(n_points, n_features, random_state=seed)


def atoms_of(points, X, row_scale=None):
    """The dictionary written out: normalised columns and their norms."""
    columns = np.maximum(X @ points[:, :-1].T + points[:, -1], 0)
    if row_scale is not None:
        columns = columns * row_scale[:, None]
    norms = np.linalg.norm(columns, axis=0)
    return columns / np.where(norms > 0, norms, 1), norms


def naive_gains(D, Y, chosen, rule):
    """Score of every atom after the chosen ones, by definition: all projections anew."""
    Y = Y.reshape(len(Y), -1)
    span = D[:, chosen]
    residual = Y - span @ np.linalg.lstsq(span, Y, rcond=None)[0]
    rest = D - span @ np.linalg.lstsq(span, D, rcond=None)[0]
    size = np.linalg.norm(rest, axis=0)
    gains = np.linalg.norm(residual.T @ D, axis=0)
    if rule == "ols":
        gains = gains / np.where(size > 1e-5, size, 1)
    return np.where(size > 1e-5, gains, 0)


def follows_the_rule(D, Y, chosen, rule):
    """Whether each choice is the naive best given those before it, up to rounding."""
    for k, atom in enumerate(chosen):
        gains = naive_gains(D, Y, chosen[:k], rule)
        if gains[atom] < gains.max() * (1 - 1e-7):
            return False
    return True


def mixed(n=120, seed=0, noise=0.2):
    """Columns of many kinds: uniform, lognormal, few values, two values, normal."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.uniform(-1, 1, n),
            rng.lognormal(size=n),
            0.1 * rng.integers(0, 5, n),
            rng.integers(0, 2, n),
            rng.standard_normal(n),
        ]
    )
    y = np.abs(X[:, 0] + X[:, 2]) + np.log(X[:, 1]) * X[:, 3] + noise * rng.standard_normal(n)
    return X, y


def renamed(X, seed=0):
    """Columns in another order, some with the opposite sign."""
    rng = np.random.default_rng(seed)
    order, signs = rng.permutation(X.shape[1]), rng.choice([-1.0, 1.0], X.shape[1])
    return (X * signs)[:, order]


def in_other_units(X, seed=0):
    """`a x + b`, with factors from a thousandth to a thousand."""
    rng = np.random.default_rng(seed)
    factors = 10.0 ** rng.uniform(-3, 3, X.shape[1])
    return factors * (X + 3 * rng.standard_normal(X.shape[1]))


def with_gaps(n=240, seed=0):
    """Three columns; a gap in the first means 3, one in the second nothing, the last has none."""
    rng = np.random.default_rng(seed)
    X = rng.normal(loc=[5.0, 0.0, 0.0], size=(n, 3))
    missing = rng.random((n, 3)) < [0.3, 0.3, 0.0]
    y = np.where(missing[:, 0], 3.0, X[:, 0] - 5) + 2 * X[:, 2] + 0.1 * rng.normal(size=n)
    X[missing] = np.nan
    return X, y


def gap_table(n=240):
    X, y = with_gaps(n)
    return {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}
