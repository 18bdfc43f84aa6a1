"""`certificate`: how far a network is from the best one of any width at the same ridge."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from greedynet.activations import halves
from greedynet.exact.dual import Problem
from greedynet.exact.fitted_rows import fitted_rows
from greedynet.exact.form import check_activation
from greedynet.exact.models import network_of
from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.support.checks import check_matrix, check_same_length
from greedynet.support.phrases import percent
from greedynet.support.threads import deterministic_threads
from greedynet.tables.model import TableModel


@dataclass(frozen=True)
class Certificate:
    """How much of its training objective a network could save at most.

    Attributes
    ----------
    objective : float
        The penalised squared error of the network, as a share of the variance of `y`, per row.
    bound : float
        No network of any width has a smaller one at this ridge.
    best_found : float
        That of a wider network that was found on the way: the bound cannot be above it.
    ridge : float
        The `lam`, for standardised inputs and outputs, per row.
    error, penalty : float
        The two parts of the objective.
    proven : bool
        True if the bound is proven; False if it is an estimate, for more than three columns or if
        time ran out.
    seconds : float
    bounded : bool
        Whether the network has bounds on its outputs: this is about the network without them.
    """

    objective: float
    bound: float
    best_found: float
    ridge: float
    error: float
    penalty: float
    proven: bool
    seconds: float
    bounded: bool = False

    @property
    def gap(self) -> float:
        """Share of the objective that the best network of any width could save at most."""
        return (self.objective - self.bound) / self.objective if self.objective > 0 else 0.0

    def sentence(self) -> str:
        """Return in words what is certain."""
        about, how = ("", "proven") if self.proven else ("about ", "an estimate, not a proof")
        return (
            "On these rows, no network with the same penalty on its weights, however wide, "
            f"could lower squared error plus penalty by more than {about}{percent(self.gap)} "
            f"({how})." + (" This is about the network without its bounds." if self.bounded else "")
        )

    def __str__(self) -> str:
        return self.sentence()


def certificate(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    ridge: float | None = None,
    max_seconds: float = 10.0,
) -> Certificate:
    """Bound how much better any network, of any width, could fit the training rows.

    The objective is what the correction of a fit minimises: the squared error plus `2 lam` times
    the size of all neurons, `sum_j |c_j| |w_j|`, with inputs and outputs standardised and the
    affine term free; bounds on the outputs are left out. The bound is proven for one, two and three
    columns; for more it is an estimate, and `proven` is False.

    Parameters
    ----------
    model : TableModel, GreedyNetRegressor or Network
        A model with one output, one hidden layer and the activation "relu", "leaky_relu" or "abs".
    X : array-like of shape (n_rows, n_features), or a table
        The training rows.
    y : array-like of shape (n_rows,) or None, default=None
        Their targets; None if `X` is a table that contains them, as that of `fit_table`.
    sample_weight : array-like of shape (n_rows,) or None, default=None
    ridge : float or None, default=None
        The `lam`, per row; None for that at which the sizes of the network's neurons are best,
        `lam = sum_j c_j <r, relu(X1 w_j)> / sum_j |c_j| |w_j|`.
    max_seconds : float, default=10
        Time after which the bound stays what it is.

    Returns
    -------
    certificate : Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.exact import certificate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (200, 1))
    >>> y = np.sin(4 * X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> found = certificate(GreedyNetRegressor().fit(X, y), X, y)
    >>> found.proven, bool(found.gap < 0.05)
    (True, True)
    """
    start = time.perf_counter()
    network = _network(model)
    rows = _rows(model, network, X, y, sample_weight)
    with deterministic_threads(1):  # many small products, which threads would slow down
        problem = Problem(replace(network, bounds=None, reach=np.inf), rows)
        lam = problem.implied_ridge() if ridge is None else ridge * len(problem.Y)
        dual = problem.dual(lam, start + max_seconds)
    error, penalty = problem.error, 2.0 * lam * float(np.abs(problem.outer).sum())
    n = float(problem.Y @ problem.Y) if problem.Y.any() else 1.0
    return Certificate(
        objective=(error + penalty) / n,
        bound=dual.bound / n,
        best_found=min(dual.best, error + penalty) / n,
        ridge=lam / len(problem.Y),
        error=error / n,
        penalty=penalty / n,
        proven=dual.proven,
        seconds=time.perf_counter() - start,
        bounded=network.bounds is not None,
    )


def _network(model: Any) -> Network:
    network = network_of(model)
    if network.ramps is not None or network.n_outputs != 1 or _is_classifier(model):
        raise ValueError(
            "`model` must be a regressor with one hidden layer and one output for a certificate, "
            f"got {'classes or several outputs' if network.ramps is None else 'two layers'}."
        )
    check_activation(network.activation)
    if not network.has_affine_term and halves(network.activation)[1] != 0:
        raise ValueError(
            "`model` must have an affine term or the activation 'relu' for a certificate, got "
            f"{network.activation.name!r} without one."
        )
    return network


def _is_classifier(model: Any) -> bool:
    estimator = model.estimator if isinstance(model, TableModel) else model
    return hasattr(estimator, "classes_")


def _rows(model: Any, network: Network, X: Any, y: Any, weights: Any) -> Rows:
    if y is None:
        X, y = fitted_rows(model, X)
    inputs = check_matrix(model.inputs(X) if isinstance(model, TableModel) else X, "X")
    targets = np.asarray(y, dtype=np.float64).reshape(-1)
    check_same_length(X=inputs, y=targets)
    if inputs.shape[1] != network.n_features:
        raise ValueError(
            f"`X` must have {network.n_features} columns, one for each input of the network, got "
            f"{inputs.shape[1]}."
        )
    given = None if weights is None else np.asarray(weights, dtype=np.float64)
    return Rows(inputs, targets[:, None], given)
