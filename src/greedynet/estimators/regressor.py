"""`GreedyNetRegressor`."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from greedynet.activations import Activation
from greedynet.estimators.base import BaseGreedyNet
from greedynet.estimators.described import constraints_of, documented
from greedynet.estimators.inputs import training_rows, validation_rows
from greedynet.estimators.plans import check_coverage, regression_plan
from greedynet.estimators.predicting import finite_answers, r_squared
from greedynet.estimators.shapes import number_bounds
from greedynet.fitting.plan import HiddenLayers, Plan, SearchName, Select
from greedynet.fitting.refit import Fitted
from greedynet.losses import Loss
from greedynet.model.uncertainty.expectation import Expectation
from greedynet.model.uncertainty.intervals import Intervals
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.search import Dictionary, SearchFactory
from greedynet.search.sphere import RandomState
from greedynet.support.checks import check_columns, check_matrix, named
from greedynet.support.threads import Pool
from greedynet.support.types import Float64


@documented("regressor")
class GreedyNetRegressor(RegressorMixin, BaseGreedyNet):
    """A small regression network, built neuron by neuron, that chooses its own width.

    The network `g(x) = sum_n c_n sigma(a_n . x + b_n) + l . x + m` is grown by a greedy algorithm:
    each step adds the neuron that lowers the error most, and solves for the outer weights by least
    squares. After every width all neurons are corrected jointly, with a ridge chosen from the data.
    By default, folds choose between the mean, a line, networks of increasing width and averages of
    them, by their errors on rows that they have not seen; with more than 10,000 rows, some of them
    are held out instead. A validation set takes precedence.

    A *neuron* is one hidden unit `c sigma(a . x + b)`; `sigma` is ReLU by default. The number of
    *nodes* is the number of neurons plus two for the affine term `l . x + m`.

    Read more in the paper *Greedy Shallow Networks* (Dereventsov, Petrosyan and Webster).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    expected_error_ : float, ndarray of shape (n_outputs,) or None
        Expected root mean squared error on new rows, in the units of `y`; for another loss, its
        mean. Of several outputs, that of each in its own units. It is measured on rows that the
        networks measured had not seen; None for a single row.
    intervals_ : Intervals or None
        What `predict_interval` uses: the errors of held-out rows, and how their size depends on the
        place. None if no row was held out.
    training_sample_ : TrainingSample
        What `outside` uses: a sample of the training inputs.
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> y = np.abs(X[:, 0]) + 2 * X[:, 0]
    >>> model = GreedyNetRegressor(tol=1e-4).fit(X, y)
    >>> model.n_nodes_
    3
    >>> bool(model.score(X, y) > 0.9999)
    True
    """

    intervals_: Intervals | None
    _most_nodes = 200
    _parameter_constraints = constraints_of("regressor")

    def __init__(
        self,
        n_nodes: int | None = None,
        *,
        max_nodes: int | None = None,
        select: Select = "best",
        cv: int | BaseCrossValidator | Iterable[Any] | None = None,
        loss: str | float | Loss = "squared_error",
        missing: Literal["error", "learn"] = "error",
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        convex: ArrayLike | Mapping[str, int] | None = None,
        bounds: tuple[float | None, float | None] | Literal["seen"] | None = None,
        extrapolate: bool = False,
        hidden_layers: HiddenLayers | None = None,
        n_networks: int | Literal["auto"] = "auto",
        activation: str | Activation = "relu",
        alpha: float | Literal["auto"] = "auto",
        max_seconds: float | None = None,
        tol: float = 1e-8,
        search: SearchName | Dictionary | SearchFactory = "continuous",
        correct: bool = True,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_nodes = n_nodes
        self.max_nodes = max_nodes
        self.select = select
        self.cv = cv
        self.loss = loss
        self.missing = missing
        self.monotonic_cst = monotonic_cst
        self.convex = convex
        self.bounds = bounds
        self.extrapolate = extrapolate
        self.hidden_layers = hidden_layers
        self.n_networks = n_networks
        self.activation = activation
        self.alpha = alpha
        self.max_seconds = max_seconds
        self.tol = tol
        self.search = search
        self.correct = correct
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _training_rows(
        self, X: Any, y: Any, sample_weight: Any, pool: Pool, groups: Any
    ) -> tuple[Rows | Blocks, bool]:
        sizes = self._settings.fit.blocks
        return training_rows(self, X, y, sample_weight, pool, sizes, groups)

    def _validation_rows(
        self, rows: Rows | Blocks, X: Any, y: Any, sample_weight: Any
    ) -> Rows | None:
        return validation_rows(self, X, y, sample_weight, rows, self._settings.fit.merged_up_to)

    def _plan(self, rows: Rows | Blocks, validation: Rows | None, single_output: bool) -> Plan:
        bounds = number_bounds(self.bounds, rows, validation)
        limits = self._limits(float(self.tol))
        return regression_plan(
            self, rows, limits, self._seed(), bounds, single_output=single_output
        )

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Predict with the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return the standard deviations of the errors to expect, too.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            In the shape of `y` in `fit`.
        std : ndarray of the same shape
            Only if `return_std`. It is the size of the errors of held-out rows that are like this
            one; of their squares, divided by those of `std`, the mean is 1.
        """
        if not return_std:
            return self._outputs(X)
        check_is_fitted(self)
        return self._in_two(self._of_blocks(X, self._with_deviations))

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9) -> tuple[Float64, Float64]:
        """Return intervals that contain new outputs with a given probability.

        Of the errors of held-out rows, divided by their local size `s(x)`, the quantile `q` is
        taken; the interval is `f(x) - q s(x)` to `f(x) + q s(x)`. If large errors are mostly on one
        side, both sides have quantiles of their own. The coverage is that of all new rows together.
        Ends outside the `bounds` of the outputs are moved to them, which costs no coverage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.9
            Share of new outputs that the intervals shall contain.

        Returns
        -------
        low, high : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The ends of the intervals, in the shape of `y` in `fit`; for each output on its own.

        Warns
        -----
        FewHeldOutRowsWarning
            If too few rows were held out: a coverage `p` needs at least `p / (1 - p)` of them. The
            intervals then are as wide as the largest of their errors.
        """
        intervals = self._known_intervals("predict_interval")
        coverage = check_coverage(coverage)
        intervals.warn_if_few(coverage)
        return self._in_two(self._of_blocks(X, partial(self._ends, coverage=coverage)))

    def _in_two(self, columns: Float64) -> tuple[Float64, Float64]:
        """Return two results that are side by side, in the shape of `y`."""
        first, second = np.split(finite_answers(columns), 2, axis=1)
        return (first[:, 0], second[:, 0]) if self.network_.single_output else (first, second)

    # Functions of a block of inputs, which the twin of a cluster calls, too.

    def _ends(self, X: Any, coverage: float) -> Float64:
        """Return the lower and upper ends of intervals, side by side."""
        X, outputs = self._with_outputs(X)
        intervals = self._known_intervals("predict_interval")
        ends, bounds = intervals.around(outputs, X, self.network_, coverage), self.network_.bounds
        return np.hstack(ends if bounds is None else [bounds.apply(end) for end in ends])

    def _with_deviations(self, X: Any) -> Float64:
        """Return outputs and their standard deviations, side by side."""
        X, outputs = self._with_outputs(X)
        intervals = self._known_intervals("predict(X, return_std=True)")
        return np.hstack([outputs, intervals.deviations(outputs, X, self.network_)])

    def _with_outputs(self, X: Any) -> tuple[Float64, Float64]:
        X = check_matrix(X, "X")
        return X, self.network_.predict(X).reshape(len(X), -1)

    def _known_intervals(self, what: str) -> Intervals:
        needed = f"`{what}` needs the errors of held-out rows"
        return self._of_held_out("intervals_", needed, "fit at least two rows")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination `R^2` of the predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Outputs.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        score : float
            At most 1; the mean over several outputs.
        """
        found, true = self.predict(X), check_columns(y, "y")
        with named("y"):
            return r_squared(true, found, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        """Return what scikit-learn may expect of the estimator."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _store_errors(self, fitted: Fitted, plan: Plan) -> None:
        calibration, network = fitted.calibration, self.network_
        later = calibration.with_later(self._later_rows(), network)
        self.intervals_ = Intervals.of(later, network, self._settings.intervals)
        self.expectation_ = Expectation.of_numbers(
            calibration, network, plan.loss, self.ladder_, self._ahead(calibration)
        )

    def _as_outputs(self, y: NDArray[Any]) -> Float64:
        return np.asarray(y, dtype=np.float64).reshape(len(y), -1)

    def _known_at(self, position: int) -> dict[str, Any]:
        intervals, said = self.intervals_, self.expectation_
        found = None if intervals is None else intervals.at_width(position, self.network_)
        expected: Any = self.path_.expected_error(position)
        if found is not None and found.errors_by_width is not None and len(found.outputs) > 1:
            expected = tuple(found.errors_by_width[position].tolist())
        said = replace(said, expected_error=expected, on_training=None, kind=None)
        return {"intervals_": found, "ladder_": None, "expectation_": said}
