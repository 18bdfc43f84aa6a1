"""`GreedyShallowNetwork`: the paper's algorithm and nothing else, as a regressor.

The same construction as that of `GreedyNetRegressor`, with a dictionary, without an affine term and
without a correction.
"""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from greedynet.fitting.construct import construct
from greedynet.fitting.objective import Objective
from greedynet.fitting.plan import Limits, Plan, TrainingData
from greedynet.rows.rows import Rows
from greedynet.search import Dictionary
from greedynet.search.dictionary import Rule
from greedynet.support.context import FitContext
from greedynet.support.threads import deterministic_threads
from greedynet.support.types import Float64
from greedynet.train import train_networks


class GreedyShallowNetwork(RegressorMixin, BaseEstimator):
    """The network of the paper, and its algorithm in five steps.

    The network is `g(x) = sum_n c_n sigma(a_n . x + b_n)`, with ReLU as `sigma`.

    1. `points` `phi = (a, b)` are sampled from the sphere: neurons `g_phi(x) = sigma(a . x + b)`.
    2. `reduction` omits those whose collapsed ridgelet transform `CR f(phi)` is small.
    3. Greedily, the next neuron is chosen by its inner product with the residual, in the sense of
       `rule`, and the outer weights `c_n` are solved for by least squares.
    4. The number of nodes is that with the smallest error on the validation set given to `fit`.
    5. All weights are trained by backpropagation for a number of `epochs`.

    Parameters
    ----------
    points : int, array-like of shape (n_points, n_features + 1) or None, default=None
        Number of points to sample, for inputs scaled to [-1, 1]; None for 10,000 per feature. Or
        the points, bias last, for inputs as they are.
    reduction : float or None, default=None
        Omit points below this fraction of the largest transform; 0.001 in the paper. For one or two
        features.
    rule : {"ols", "oga"}, default="ols"
        "oga" is the orthogonal greedy algorithm in the text of the paper, `max |<r, g>| / |g|`.
        "ols" is orthogonal least squares, which gave its numbers: `g` is projected first on the
        complement of the neurons chosen before.
    max_nodes : int, default=100
        Number of greedy steps; without a validation set, that of the nodes.
    epochs : int, default=0
        Epochs of training with all rows in one batch; 0 for the greedy start itself.
    random_state : int, default=0
        Seed of the points sampled.

    Attributes
    ----------
    network_ : Network
        The network, trained if there were epochs.
    path_ : SelectionPath
        The greedy growth: every width with its network, its training error and its error on the
        validation set, in the place of which are the training rows if there is none.
    n_nodes_ : int
        Number of nodes, which are the neurons: there is no affine term.
    stop_reason_ : StopReason
        Why the growth ended.
    training_ : TrainingResult or None
        The history of the training.
    n_features_in_ : int
        Number of columns of `X` in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns of `X`, if it was a data frame and all are strings.

    Examples
    --------
    >>> from greedynet.paper import GreedyShallowNetwork, load_example
    >>> f = load_example(1)
    >>> model = GreedyShallowNetwork(f.sphere, max_nodes=40)
    >>> model.fit(f.X_train, f.y_train, X_val=f.X_val, y_val=f.y_val).n_nodes_
    29
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "points": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "reduction": Dictionary._parameter_constraints["reduction"],
        "rule": Dictionary._parameter_constraints["rule"],
        "max_nodes": [Interval(Integral, 1, None, closed="left")],
        "epochs": [Interval(Integral, 0, None, closed="left")],
        "random_state": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        points: int | ArrayLike | None = None,
        *,
        reduction: float | None = None,
        rule: Rule = "ols",
        max_nodes: int = 100,
        epochs: int = 0,
        random_state: int = 0,
    ) -> None:
        self.points = points
        self.reduction = reduction
        self.rule = rule
        self.max_nodes = max_nodes
        self.epochs = epochs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, X_val: Any = None, y_val: Any = None) -> Self:
        """Grow the network on `X` and `y`, choose its width on `X_val` and `y_val`, and train it.

        Without a validation set, all nodes are kept.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        rows = validation = Rows(X, np.asarray(y, dtype=np.float64)[:, None], None)
        if X_val is not None:
            X_val, y_val = check_X_y(X_val, y_val, dtype=np.float64, y_numeric=True)
            validation = Rows(X_val, np.asarray(y_val, dtype=np.float64)[:, None], None)
        points: Any = self.points
        name = "n_points" if np.ndim(points) == 0 else "points"
        search = Dictionary(rule=self.rule, reduction=self.reduction)
        search.set_params(**{name: points}).check(self.n_features_in_)
        plan = Plan(
            # On its own training rows, the wider a growth is, the better it is.
            limits=Limits(int(self.max_nodes), tol=1e-8, exact=validation is rows),
            search=search,
            correct=False,
            linear_term=False,
            extrapolate=True,
            random_state=int(self.random_state),
        )
        with deterministic_threads(None) as pool:
            data, context = TrainingData(rows, validation), FitContext(pool)
            self.path_ = construct(data, plan, Objective(), context=context).path
        self.network_, self.training_ = self.path_.kept, None
        self.n_nodes_, self.stop_reason_ = self.network_.n_nodes, self.path_.stop_reason
        if self.epochs:
            how: dict[str, Any] = {"epochs": self.epochs, "batch_size": len(X), "keep": "last"}
            self.training_ = train_networks([self.network_], X, y, **how)[0]
            self.network_ = self.training_.network
        return self

    def predict(self, X: ArrayLike) -> Float64:
        """Return `g(x)` for every row of `X`."""
        check_is_fitted(self)
        return self.network_.predict(validate_data(self, X, dtype=np.float64, reset=False))
