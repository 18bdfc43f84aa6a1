"""`WithIntervals` and `WithSets`: how wrong predictions may be, for the estimators."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from greedynet.estimators.plans import check_coverage
from greedynet.estimators.predicting import Predicting, finite_answers
from greedynet.losses.logistic import probabilities
from greedynet.model.uncertainty.calibration import ClassSets
from greedynet.model.uncertainty.intervals import Intervals
from greedynet.support.checks import check_matrix
from greedynet.support.types import Float64


class WithIntervals(Predicting):
    """Intervals and distributions of numbers."""

    intervals_: Intervals | None

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

    def predict_distribution(self, X: ArrayLike) -> Any:
        """Return a probability distribution of new outputs.

        Student's t distribution around the prediction, with the local size `s(x)` of the errors
        and as many degrees of freedom as make the errors of held-out rows most likely. Intervals
        of `predict_interval` do not depend on it. Its center lies within the `bounds` of the
        outputs, its tails do not: write `numpy.clip(distribution.ppf(q), low, high)`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        distribution : scipy.stats distribution
            With methods such as `logpdf(y)`, `cdf(y)` and `ppf(q)` for `y` in the shape of that in
            `fit`.
        """
        from scipy.stats import t  # this takes a moment to load

        intervals = self._known_intervals("predict_distribution")
        center, scale = self._in_two(self._of_blocks(X, self._with_scales))
        degrees = intervals.degrees
        return t(degrees[0] if center.ndim == 1 else degrees, loc=center, scale=scale)

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

    def _with_scales(self, X: Any) -> Float64:
        """Return outputs and the scales of their distributions, side by side."""
        X, outputs = self._with_outputs(X)
        intervals = self._known_intervals("predict_distribution")
        return np.hstack([outputs, intervals.scales(outputs, X, self.network_)])

    def _with_outputs(self, X: Any) -> tuple[Float64, Float64]:
        X = check_matrix(X, "X")
        return X, self.network_.predict(X).reshape(len(X), -1)

    def _known_intervals(self, what: str) -> Intervals:
        needed = f"`{what}` needs the errors of held-out rows"
        return _known(self, "intervals_", needed, "fit at least two rows")


class WithSets(Predicting):
    """Sets of classes."""

    sets_: ClassSets | None

    def predict_set(self, X: ArrayLike, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return sets of classes that contain the class of new rows with a given probability.

        A class is in the set if it is as likely as the classes of held-out rows, but for a share
        `1 - coverage` of them; the most likely class always is. Where a single class has a larger
        share of right answers than the coverage, the sets cover more.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.9
            Share of new rows whose class shall be in their set.

        Returns
        -------
        sets : ndarray of bool, of shape (n_samples, n_classes)
            Whether a class is in the set, in the order of `classes_`.

        Warns
        -----
        FewHeldOutRowsWarning
            If too few rows were held out: a coverage `p` needs at least `p / (1 - p)` of them.
        """
        sets, coverage = self._known_sets(), check_coverage(coverage)
        sets.warn_if_few(coverage)
        return self._sets(X, coverage)

    def _sets(self, X: Any, coverage: float) -> NDArray[np.bool_]:
        logits = self._outputs(X)
        p = probabilities(logits.reshape(len(logits), -1))
        return self._known_sets().sets(p, coverage)

    def _known_sets(self) -> ClassSets:
        needed = "`predict_set` needs predictions of held-out rows"
        return _known(self, "sets_", needed, "fit at least two rows of every class")


def _known(model: Predicting, name: str, what: str, advice: str) -> Any:
    """Return what a fit has learned from held-out rows; an error says why there is nothing."""
    check_is_fitted(model)
    found = getattr(model, name)
    if found is not None:
        return found
    why = f"no row was held out in the fit: {advice}"
    if hasattr(model, "trained_on_"):
        why = "its network was trained on after the fit: measure them on rows of your own"
    raise ValueError(f"{what}, but {why}.")
