"""The common base of the estimators: held-out rows, limits, progress, storage of the path."""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from greedynet.estimators.checkpoint import (
    COORDINATES,
    RECIPE,
    RECIPE_NUMBER,
    checkpointed,
    data_described,
    described,
)
from greedynet.estimators.parameters import check_in_blocks, check_n_neurons, check_reproducible
from greedynet.estimators.saving import SaveMixin
from greedynet.estimators.settings import ESTIMATOR_SETTINGS, EstimatorSettings
from greedynet.estimators.shapes import check_grown, layers_of
from greedynet.estimators.transforming import WithHiddenLayer
from greedynet.estimators.warm import network_digest
from greedynet.fitting.layers import HiddenLayers
from greedynet.fitting.limits import Limits
from greedynet.fitting.make_search import SEARCHES
from greedynet.fitting.objective import Objective
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import OnStep
from greedynet.model.any_network import Network
from greedynet.model.path import DeepPath, ShallowPath
from greedynet.model.uncertainty.seen import Seen
from greedynet.rows.blocks import Blocks, in_memory
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import canonical_columns
from greedynet.rows.splitting import Split, folds_of, hold_out
from greedynet.search.sphere import RandomState
from greedynet.support.callbacks import CallbackSupportMixin, NeuronTask
from greedynet.support.checks import check_float
from greedynet.support.clock import Clock
from greedynet.support.context import FitContext
from greedynet.support.errors import FewerNodesWarning
from greedynet.support.journal import Journal
from greedynet.support.threads import Pool

# Parameters that do not affect the result, or are represented by the seed and the folds;
# `max_seconds` is refused with a checkpoint.
# Parameters of later versions, with the values that are as if there was no choice.
_BEFORE_CHOICES = {
    "hidden_layers": 1,
    "n_networks": "auto",
    "missing": "error",
    "monotonic_cst": None,
    "convex": None,
    "bounds": None,
    "margin": None,
}
_NOT_IN_FINGERPRINT = frozenset(
    {"checkpoint", "n_jobs", "verbose", "random_state", "cv", "max_seconds"}
)


class BaseGreedyNet(WithHiddenLayer, SaveMixin, CallbackSupportMixin, BaseEstimator):
    """Base class of the regressor and the classifier."""

    n_nodes: int | None
    validation_fraction: float | None
    cv: Any
    search: Any
    max_nodes: int | None
    hidden_layers: HiddenLayers | None
    patience: int | None
    max_seconds: float | None
    points: ArrayLike | None
    linear_term: bool
    random_state: RandomState
    checkpoint: str | os.PathLike[str] | None
    verbose: int
    warm_start: bool
    missing: Literal["error", "learn"]
    monotonic_cst: Any
    convex: Any
    bounds: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_nodes": [Interval(Integral, 1, None, closed="left"), None],
        "max_nodes": [Interval(Integral, 1, None, closed="left"), None],
        "hidden_layers": [Options(Integral, {1, 2}), StrOptions({"auto"}), None],
        "validation_fraction": [Interval(Real, 0, 1, closed="left"), None],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods("split"), Iterable, None],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
        "search": [StrOptions(set(SEARCHES)), HasMethods("begin")],
        "correct": ["boolean"],
        "points": ["array-like", None],
        "n_points": [Interval(Integral, 1, None, closed="left"), None],
        "min_active": [Interval(Integral, 1, None, closed="left"), None],
        "linear_term": ["boolean"],
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "activation": [object],
        "memory_budget": [Interval(Real, 1, None, closed="left")],
        "random_state": ["random_state"],
        "checkpoint": [str, os.PathLike, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "missing": [StrOptions({"error", "learn"})],
        "monotonic_cst": ["array-like", dict, None],
        "convex": ["array-like", dict, None],
        "bounds": ["array-like", None],
    }
    _most_nodes: int
    _error_name: str
    truncated_from_: int
    # Whether held-out rows preserve the class proportions.
    _stratified: ClassVar[bool] = False
    # What a checkpoint must have in common with a fit beside parameters and data.
    _recipe: ClassVar[dict[str, str]] = {}
    # Not parameters, never saved: see `set_progress`.
    _on_neuron: Callable[[int, float], None] | None = None
    _on_stage: Callable[[str], None] | None = None
    # Not a parameter either: whether telling gaps get indicators, see `gap_choice`.
    _indicates: bool = True

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
        """Return the tags by which scikit-learn knows the capabilities of the estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "learn"
        return tags

    def _divided(
        self,
        data: Rows | Blocks,
        validation: Rows | None,
        plan: Plan,
        objective: Objective,
        **needed: bool,
    ) -> TrainingData:
        """Return training and validation rows, and how they are sampled.

        Parameters
        ----------
        data : Rows or Blocks
        validation : Rows or None
            Validation rows given by the user.
        plan : Plan
        objective : Objective
        **needed
            Parameters that are not supported for rows in blocks, and whether they are used.
        """
        fraction = self._requested_fraction()
        needed |= {"validation_fraction": fraction > 0, "search": plan.search == "dictionary"}
        if self._kept_in_blocks(data, plan, needed):
            return TrainingData(data, validation, plan.sampling(data))
        rows, merged_up_to = self._in_memory(data), self._settings.merged_up_to
        if validation is not None:
            fraction = 0.0
            validation = replace(validation, columns=rows.columns).canonical(merged_up_to)
        sampling = objective.sampling(rows, plan, fraction)
        # Rows held out at random would be of the same groups.
        if validation is None and sampling is None and not needed.get("cv"):
            fraction = fraction or self._default_fraction(rows)
        if fraction > 0:
            rows, validation = hold_out(
                rows,
                fraction,
                plan.random_state,
                stratified=self._stratified,
                merged_up_to=merged_up_to,
            )
            validation = validation.canonical(merged_up_to)
        return TrainingData(rows.canonical(merged_up_to), validation, sampling)

    def _in_memory(self, data: Rows | Blocks) -> Rows:
        """Return all rows, with canonical columns unless points refer to the columns as given.

        Canonical rows are sorted by them, so that held-out rows and folds do not depend on the
        order and the signs of the columns.
        """
        rows = in_memory(data)
        if self.search == "dictionary" or len(rows) > self._settings.merged_up_to:
            return rows
        X = np.asarray(rows.X, dtype=np.float64)
        return replace(rows, X=X, columns=canonical_columns(rows))

    def _folds(
        self, data: Rows | Blocks, seed: int, groups: NDArray[Any] | None = None
    ) -> list[Split]:
        """Return the folds of `cv`, by which the network is chosen."""
        rows, merged_up_to = self._in_memory(data), self._settings.merged_up_to
        return folds_of(rows, self.cv, seed, merged_up_to, groups, stratified=self._stratified)

    def _kept_in_blocks(
        self, rows: Rows | Blocks, plan: Plan, needed: dict[str, bool]
    ) -> TypeGuard[Blocks]:
        """Whether rows stay in blocks; raise an error for parameters that need all rows."""
        if isinstance(rows, Rows) or plan.sampling(rows) is None:
            return False
        check_in_blocks(rows, **needed)
        return True

    def _requested_fraction(self) -> float:
        """Return the fraction of the rows that is to be held out; folds take precedence."""
        if self.n_nodes is not None or self.cv is not None:
            return 0.0
        return float(self.validation_fraction or 0.0)

    def _default_fraction(self, rows: Rows) -> float:
        """Return the fraction of the rows to hold out by default."""
        return 0.0

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _checkpointed(
        self, seed: int, **data: Rows | Blocks | Sequence[tuple[Rows, Rows]] | None
    ) -> AbstractContextManager[Journal]:
        """Return the journal of a fit, with the results of an earlier run of the same fit."""

        def fingerprint() -> dict[str, str]:
            parameters = self.get_params(deep=False)
            of_data = {name: data_described(rows) for name, rows in data.items()}
            asked = {k: described(v) for k, v in parameters.items() if k not in _NOT_IN_FINGERPRINT}
            if layers_of(self) == 1:
                asked["hidden_layers"] = described(1)
            for name, value in _BEFORE_CHOICES.items():
                if asked.get(name) == described(value):
                    del asked[name]  # as in checkpoints from before there was a choice
            if asked.pop("warm_start") != described(False) and hasattr(self, "network_"):
                asked["started from"] = network_digest(self.network_)
            if self.search != "dictionary":
                asked |= {COORDINATES: "canonical columns", RECIPE: RECIPE_NUMBER}
            said = {"estimator": type(self).__name__, **self._recipe, **asked}
            return {**said, "seed": str(seed), **of_data}

        check_reproducible(self.checkpoint, self.random_state, self.max_seconds)
        return checkpointed(self.checkpoint, fingerprint, self._settings.checkpoint)

    def _on_step(self, task: NeuronTask | None) -> OnStep:
        def on_step(network: Callable[[], Network], error: float, n_nodes: int) -> bool:
            if self.verbose and (self.verbose > 1 or n_nodes % 10 == 0):
                line = f"[greedynet] {n_nodes} nodes: {self._error_name} {error:.3e}"
                print(line, file=sys.stderr)
            if self._on_neuron is not None:
                self._on_neuron(n_nodes, error)
            return task is not None and task(lambda: self._attributes(network()))

        return on_step

    def _context(self, pool: Pool, journal: Journal) -> FitContext:
        """Return the context shared by all stages of the fit."""

        def on_stage(stage: str) -> None:
            if self.verbose:
                print(f"[greedynet] {stage}", file=sys.stderr)
            if self._on_stage is not None:
                self._on_stage(stage)

        clock = Clock.of(self.max_seconds)
        return FitContext(pool, journal, on_stage, pool.cancelled, clock)

    def _store(self, path: ShallowPath | DeepPath) -> None:
        evidence, path = path.evidence, replace(path, evidence=None)
        assert evidence is not None
        self.seen_ = Seen.of(evidence.rows.X)
        names = self._network_names()
        if names is not None:
            path = path.with_feature_names(names)
        for name, value in self._attributes(path.kept).items():
            setattr(self, name, value)
        for name in ("truncated_from_", "trained_on_"):
            self.__dict__.pop(name, None)
        self.path_ = path
        self.stop_reason_ = path.stop_reason
        self.expected_error_ = path.expected_error
        if self.n_nodes is not None and self.n_nodes_ < self.n_nodes:
            warnings.warn(
                f"The network has {self.n_nodes_} nodes, not the {self.n_nodes} requested by "
                f"`n_nodes`. {self.stop_reason_}",
                FewerNodesWarning,
                stacklevel=4,
            )

    def truncate(self, n_nodes: int) -> Self:
        """Return a copy with fewer nodes: the network as it was in the growth, without a new fit.

        The growth is that of `path_`: each neuron was the best beside those before, and they have
        not been corrected jointly, so that a fit with `n_nodes` gives a better network.

        Intervals of the copy come from the same held-out rows: the errors of the network that was
        kept, plus the difference between its predictions and those of the smaller network. Their
        widths depend on the place as before; the copy keeps the larger network for this. They are
        refused where this would say too little: if the smaller network has more neurons than the
        one that was kept, if the mean was kept, or if there are fewer than four rows for each of
        its `(n_features + 2) n_neurons + n_features + 1` parameters, unless validation rows were
        held out. The sets of a classifier always are.

        Parameters
        ----------
        n_nodes : int
            Number of nodes, neurons plus two for an affine term; at most `path_.n_nodes[-1]`.

        Returns
        -------
        model : estimator
            A fitted copy with the same parameters.
        """
        check_is_fitted(self)
        check_grown(self, "truncate", "fit again with `n_nodes`")
        path = self.path_.truncated(n_nodes)
        known = self._known_of(path.network)
        smaller = copy(self)
        for name in ("training_", "trained_on_"):
            smaller.__dict__.pop(name, None)
        for name, value in {**self._attributes(path.network), **known}.items():
            setattr(smaller, name, value)
        smaller.path_, smaller.stop_reason_ = path, path.stop_reason
        smaller.truncated_from_ = int(getattr(self, "truncated_from_", self.network_.n_nodes))
        return smaller

    def _known_of(self, network: Network) -> dict[str, Any]:
        """Return attributes that say what is known of the errors of a smaller network."""
        raise NotImplementedError

    def _attributes(self, network: Network) -> dict[str, Any]:
        return {"network_": network, "n_nodes_": network.n_nodes}

    def _limits(self, tol: float = 0.0) -> Limits:
        """Return when to stop."""
        neurons = check_n_neurons(
            self.n_nodes, self.max_nodes, self._most_nodes, bool(self.linear_term)
        )
        if self.n_nodes is not None:
            # A requested number is reached irrespective of the error, unless that is only rounding.
            return Limits(neurons, exact=True)
        return Limits(neurons, tol, self.patience)
