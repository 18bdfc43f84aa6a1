"""The common base of the estimators: held-out rows, limits, progress, storage of the path."""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import copy
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from greedynet.estimators.checkpoint import (
    checkpointed,
    current_checkpoint,
    data_described,
    described,
)
from greedynet.estimators.gap_choice import keep_better_inputs
from greedynet.estimators.inputs import all_or_nothing
from greedynet.estimators.plans import (
    check_cv,
    check_in_blocks,
    check_n_neurons,
    check_reproducible,
    check_select,
    in_groups,
)
from greedynet.estimators.predicting import Predicting
from greedynet.estimators.saving import SaveMixin
from greedynet.estimators.settings import ESTIMATOR_SETTINGS, EstimatorSettings
from greedynet.estimators.shapes import check_shape, layers_of
from greedynet.fitting.climb import OnStep
from greedynet.fitting.construct import construct
from greedynet.fitting.objective import LogLoss, Objective
from greedynet.fitting.plan import HiddenLayers, Limits, Plan, Select, TrainingData
from greedynet.fitting.refit import Fitted
from greedynet.model.network import Network
from greedynet.model.path import StopReason
from greedynet.model.uncertainty.calibration import CalibrationData
from greedynet.model.uncertainty.expectation import Expectation
from greedynet.model.uncertainty.outside import TrainingSample, share_ahead
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import go_forward
from greedynet.search.sphere import RandomState
from greedynet.support.callbacks import (
    CallbackSupportMixin,
    NeuronTask,
    neuron_tasks,
    with_callbacks,
)
from greedynet.support.checks import check_float
from greedynet.support.context import Clock, FitContext, Journal
from greedynet.support.errors import FewerNodesWarning
from greedynet.support.threads import Pool, deterministic_threads
from greedynet.support.types import Float64

# Parameters that do not affect the result, or are represented by the seed and the folds;
# `max_seconds` is refused with a checkpoint.
_NOT_IN_FINGERPRINT = frozenset({"n_jobs", "random_state", "cv", "max_seconds"})


class BaseGreedyNet(Predicting, SaveMixin, CallbackSupportMixin, BaseEstimator):
    """Base class of the regressor and the classifier."""

    n_nodes: int | None
    select: Select
    cv: Any
    search: Any
    max_nodes: int | None
    hidden_layers: HiddenLayers | None
    max_seconds: float | None
    random_state: RandomState
    n_jobs: int | None
    missing: Literal["error", "learn"]
    monotonic_cst: Any
    convex: Any
    extrapolate: bool

    _most_nodes: int
    expectation_: Expectation
    truncated_from_: int
    alpha_: float | None
    n_networks_: int
    # Not parameters, never saved: see `set_progress`.
    _on_neuron: Callable[[int, float], None] | None = None
    _on_stage: Callable[[str], None] | None = None
    # Not a parameter either: whether informative gaps get indicators, see `gap_choice`.
    _indicates: bool = True
    # Whether many levels of a category have a feature each.
    _units: bool = False
    # Set by tables: inputs, outputs and weights of rows set aside because they come later.
    _later: tuple[Float64, NDArray[Any], Float64 | None] | None = None

    def _validate_params(self) -> None:
        for name, value in self.get_params(deep=False).items():
            check_float(value, name)
        super()._validate_params()

    @property
    def _settings(self) -> EstimatorSettings:
        return ESTIMATOR_SETTINGS.current

    def set_progress(
        self,
        on_neuron: Callable[[int, float], None] | None = None,
        on_stage: Callable[[str], None] | None = None,
    ) -> Self:
        """Set functions to call during a fit; they are not parameters, not cloned and not saved.

        Parameters
        ----------
        on_neuron : callable or None, default=None
            Called after each neuron with the number of nodes and the training error.
        on_stage : callable or None, default=None
            Called with a description of each stage as it begins, such as "pruning: 31 neurons";
            possibly from several threads.

        Returns
        -------
        self : estimator
        """
        self._on_neuron, self._on_stage = on_neuron, on_stage
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        for name in ("_on_neuron", "_on_stage"):
            state.pop(name, None)
        return state

    def __sklearn_tags__(self) -> Tags:
        """Return what scikit-learn may expect of the estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "learn"
        return tags

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Build the network.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), memmap, path or iterable
            Inputs. Columns of the type `category` in a data frame become a feature for each level.
            A sparse matrix is made dense, in blocks if it would take more than 4 GiB. With float32
            inputs, a dictionary is stored in float32, with half the memory.
            For data larger than memory: a `numpy.memmap`; the name of a Parquet file or of a folder
            of them; or an iterable that yields blocks `(X, y)` or `(X, y, sample_weight)` and can
            be iterated over repeatedly.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), str, or None
            Outputs, of which several share one hidden layer; for a classifier one column of
            classes, which are numbers, text or anything that can be sorted. The name of a column,
            or a list of names, for Parquet; None if `X` yields blocks.
        sample_weight : array-like of shape (n_samples,), str, or None, default=None
            Weights of the rows; an integer weight is equivalent to that many copies of the row, for
            up to 10,000 rows including copies, beyond which some rows are held out. The name of a
            column for Parquet.
        X_val, y_val : array-like or None, default=None
            Validation data by which the width is chosen.
        sample_weight_val : array-like or None, default=None
            Weights of the validation rows.
        groups : array-like of shape (n_samples,) or None, default=None
            The group of each row, such as a patient with several rows. The width is chosen by folds
            that keep groups together: those of `cv`, or five if it is None.

        Returns
        -------
        self : estimator
        """
        self._validate_params()
        held_out = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        with all_or_nothing(self), deterministic_threads(self.n_jobs) as pool:
            rows, single_output = self._training_rows(X, y, sample_weight, pool, groups)
            validation = self._validation_rows(rows, *held_out.values())
            check_cv(self.cv, validation)
            rows = in_groups(groups, rows, validation)
            plan = self._plan(rows, validation, single_output)
            data = TrainingData(rows, validation, self.cv)
            fitted = self._constructed(plan, data, pool, neuron_tasks(self, X, y))
            self._store_errors(fitted, plan)
        keep_better_inputs(self, X, y, sample_weight, **held_out, groups=groups)
        return self

    def _training_rows(
        self, X: Any, y: Any, sample_weight: Any, pool: Pool, groups: Any
    ) -> tuple[Rows | Blocks, bool]:
        """Return the training rows, and whether the network has a single output."""
        raise NotImplementedError

    def _validation_rows(
        self, rows: Rows | Blocks, X: Any, y: Any, sample_weight: Any
    ) -> Rows | None:
        """Return the validation rows, None without any; errors compare them with training rows."""
        raise NotImplementedError

    def _plan(self, rows: Rows | Blocks, validation: Rows | None, single_output: bool) -> Plan:
        """Return how to construct the network, from parameters that are checked together."""
        raise NotImplementedError

    def _store_errors(self, fitted: Fitted, plan: Plan) -> None:
        """Store what is known of the errors on new rows."""
        raise NotImplementedError

    def _constructed(
        self,
        plan: Plan,
        data: TrainingData,
        pool: Pool,
        tasks: AbstractContextManager[NeuronTask | None],
    ) -> Fitted:
        """Construct the network and store it; resume an interrupted fit if there is a checkpoint.

        `tasks` yields the function to call after each candidate, or None.
        """
        self._check_blocks(plan, data)
        classes = hasattr(self, "classes_")
        with tasks as task:
            with self._checkpointed(plan.random_state, data) as journal:
                fitted = construct(
                    data,
                    plan,
                    LogLoss() if classes else Objective(),
                    context=self._context(pool, journal),
                    on_step=self._on_step(task),
                )
            if plan.shape is not None:
                check_shape(fitted.path.kept, plan.shape)
            # Before the last callback, which may score the model.
            self._store(fitted)
        return fitted

    def _later_rows(self) -> Rows | None:
        """Return the rows that were set aside because they come later."""
        if self._later is None:
            return None
        X, y, weights = self._later
        return Rows(X, self._as_outputs(y), weights)

    def _as_outputs(self, y: NDArray[Any]) -> Float64:
        """Return the outputs of a network for targets."""
        raise NotImplementedError

    def _ahead(self, calibration: CalibrationData) -> float | None:
        """Return the share of rows ahead in time that are outside; None if no rows are ahead."""
        pairs = list(calibration.splits) if go_forward(calibration.splits) else []
        later = self._later_rows()
        pairs += [] if later is None else [(calibration.rows, later)]
        inputs = [(a.X.astype(np.float64), b.X.astype(np.float64)) for a, b in pairs]
        return share_ahead(inputs) if inputs else None

    def _check_blocks(self, plan: Plan, data: TrainingData) -> None:
        """Raise an error for parameters that need all rows in memory, if they stay in blocks."""
        rows = data.rows
        if isinstance(rows, Rows) or data.sampling(plan) is None:
            return
        check_in_blocks(rows, cv=data.cv is not None, search=plan.dictionary is not None)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _checkpointed(self, seed: int, data: TrainingData) -> AbstractContextManager[Journal]:
        """Return the journal of a fit, with the steps of an earlier run of the same fit."""

        def fingerprint() -> dict[str, str]:
            parameters = self.get_params(deep=False)
            asked = {k: described(v) for k, v in parameters.items() if k not in _NOT_IN_FINGERPRINT}
            return {
                "estimator": type(self).__name__,
                **asked,
                "hidden_layers": described(layers_of(self)),
                "seed": str(seed),
                "training": data_described(data.rows),
                "validation": data_described(data.validation),
                "cv": described(data.cv),
            }

        path = current_checkpoint()
        if path is not None:
            check_reproducible(self.random_state, self.max_seconds)
        return checkpointed(path, fingerprint, self._settings.checkpoint)

    def _on_step(self, task: NeuronTask | None) -> OnStep:
        def on_step(network: Callable[[], Network], error: float, n_nodes: int) -> bool:
            if self._on_neuron is not None:
                self._on_neuron(n_nodes, error)
            return task is not None and task(lambda: {"network_": network()})

        return on_step

    def _context(self, pool: Pool, journal: Journal) -> FitContext:
        def on_stage(stage: str) -> None:
            if self._on_stage is not None:
                self._on_stage(stage)

        clock = Clock.of(self.max_seconds)
        return FitContext(pool, journal, on_stage, pool.cancelled, clock)

    def _store(self, fitted: Fitted) -> None:
        path = fitted.path
        self.training_sample_ = TrainingSample.of(fitted.calibration.rows.X)
        names = self._network_names()
        if names is not None:
            path = path.with_feature_names(names)
        for name in ("truncated_from_", "trained_on_", "training_"):
            self.__dict__.pop(name, None)
        self.network_, self.path_, self.ladder_ = path.kept, path, fitted.ladder
        self.alpha_ = fitted.ridge
        self.n_networks_ = 1 if fitted.ladder is None else fitted.ladder.choice.n_networks
        if self.n_nodes is not None and self.n_nodes_ < self.n_nodes:
            warnings.warn(
                f"The network has {self.n_nodes_} nodes, not the {self.n_nodes} requested by "
                f"`n_nodes`. {self.stop_reason_}",
                FewerNodesWarning,
                stacklevel=5,
            )

    def truncate(self, n_nodes: int | None = None, *, within: float | None = None) -> Self:
        """Return a copy with fewer nodes: a network of the path, without a new fit.

        Its neurons are those of the growth at this width, corrected jointly on the rows of a fold,
        with outer weights for all rows. What held-out rows say of it is what they said of this
        width: the copy has an expected error, and intervals or sets, of its own.

        Parameters
        ----------
        n_nodes : int or None, default=None
            Number of nodes, one of `path_.n_nodes`.
        within : float or None, default=None
            Instead: the fewest nodes whose held-out error is larger than that of this network by at
            most such a share; 0.05 for 5 %.

        Returns
        -------
        model : estimator
            A fitted copy with the same parameters.
        """
        check_is_fitted(self)
        if (n_nodes is None) == (within is None):
            raise ValueError(
                "`truncate` takes either `n_nodes` or `within`, got "
                f"{'none' if n_nodes is None else 'both'}: write truncate(10) or "
                "truncate(within=0.05)."
            )
        if within is not None:
            n_nodes = self.path_.within(float(within))
        assert n_nodes is not None
        position, path = self.path_.position(n_nodes), self.path_.truncated(n_nodes)
        smaller = copy(self)
        for name in ("training_", "trained_on_"):
            smaller.__dict__.pop(name, None)
        if n_nodes != self.n_nodes_:
            smaller.alpha_, smaller.n_networks_ = None, 1
        smaller.__dict__.update(self._known_at(position), network_=path.kept, path_=path)
        smaller.truncated_from_ = int(getattr(self, "truncated_from_", self.network_.n_nodes))
        return smaller

    def _known_at(self, position: int) -> dict[str, Any]:
        """Return attributes that say what is known of the errors at a width of the path."""
        raise NotImplementedError

    @property
    def expected_error_(self) -> Any:
        """Expected error on new rows, that of `expectation_`; of several outputs an array."""
        found = self.expectation_.expected_error
        return np.array(found) if isinstance(found, tuple) else found

    @property
    def stop_reason_(self) -> StopReason:
        """Why the growth ended, and what to try next."""
        return self.path_.stop_reason

    @property
    def n_nodes_(self) -> int:
        """Number of nodes of `network_`."""
        return self.network_.n_nodes

    @property
    def n_outputs_(self) -> int:
        """Number of outputs of `network_`."""
        return self.network_.n_outputs

    @property
    def hidden_layers_(self) -> int:
        """Number of hidden layers of `network_`."""
        return 1 if self.network_.ramps is None else 2

    def _limits(self, tol: float = 0.0) -> Limits:
        check_select(self.select, self.n_nodes)
        neurons = check_n_neurons(self.n_nodes, self.max_nodes, self._most_nodes)
        if self.n_nodes is not None:
            # A requested number is reached irrespective of the error, unless that is only rounding.
            return Limits(neurons, exact=True)
        return Limits(neurons, tol)
