"""`GreedyNetRegressor`."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
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
from greedynet.estimators.plans import regression_plan
from greedynet.estimators.predicting import StagedNumbers, r_squared
from greedynet.estimators.shapes import number_bounds
from greedynet.estimators.uncertainty import WithIntervals
from greedynet.fitting.plan import HiddenLayers, Plan, SearchName, Select
from greedynet.fitting.refit import Fitted
from greedynet.losses import Loss
from greedynet.model.uncertainty.expectation import Expectation, errors_by_output
from greedynet.model.uncertainty.intervals import Intervals
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.search import Dictionary, SearchFactory
from greedynet.search.sphere import RandomState
from greedynet.support.checks import check_columns, named
from greedynet.support.threads import Pool
from greedynet.support.types import Float64


@documented("regressor")
class GreedyNetRegressor(RegressorMixin, WithIntervals, StagedNumbers, BaseGreedyNet):
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
        self, X: Any, y: Any, sample_weight: Any, pool: Pool
    ) -> tuple[Rows | Blocks, bool]:
        return training_rows(self, X, y, sample_weight, pool, self._settings.fit.blocks)

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
        """Return the tags by which scikit-learn knows the capabilities of the estimator."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _store_errors(self, fitted: Fitted, plan: Plan) -> None:
        """Store what is known of the errors on new rows."""
        evidence, settings = fitted.evidence, self._settings.intervals
        later = evidence.with_later(self._later_rows(), self.network_)
        self.intervals_ = Intervals.of(later, self.network_, settings)
        if self.network_.n_outputs > 1:
            self.expected_error_ = errors_by_output(evidence.held_out, plan.loss)
        self.expectation_ = Expectation.of_numbers(
            evidence,
            self.network_,
            plan.loss,
            self.expected_error_,
            self.ladder_,
            self._ahead(evidence),
        )

    def _as_outputs(self, y: NDArray[Any]) -> Float64:
        return np.asarray(y, dtype=np.float64).reshape(len(y), -1)

    def _known_at(self, position: int) -> dict[str, Any]:
        intervals, said = self.intervals_, self.expectation_
        found = None if intervals is None else intervals.at_width(position, self.network_)
        expected: Any = self.path_.expected_error(position)
        if found is not None and found.errors_by_width is not None and len(found.outputs) > 1:
            expected = found.errors_by_width[position]
        return {
            "intervals_": found,
            "ladder_": None,
            "expected_error_": expected,
            "expectation_": replace(said, on_new=expected, on_training=None, kind=None),
        }
