"""`GreedyNetClassifier`."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.model_selection import BaseCrossValidator

from greedynet.activations import Activation
from greedynet.estimators.base import BaseGreedyNet
from greedynet.estimators.described import constraints_of, documented
from greedynet.estimators.inputs import class_rows, class_validation_rows
from greedynet.estimators.plans import check_coverage, classification_plan
from greedynet.fitting.plan import HiddenLayers, Plan, SearchName, Select
from greedynet.fitting.refit import Fitted
from greedynet.losses.logistic import log_probabilities, probabilities
from greedynet.model.uncertainty.calibration import ClassSets
from greedynet.model.uncertainty.expectation import LOG_LOSS, Expectation
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows, unit_vectors
from greedynet.search import Dictionary, SearchFactory
from greedynet.search.sphere import RandomState
from greedynet.support.checks import check_labels, named
from greedynet.support.threads import Pool
from greedynet.support.types import Float64


@documented("classifier")
class GreedyNetClassifier(ClassifierMixin, BaseGreedyNet):
    """A small classification network, built neuron by neuron, that chooses its own width.

    All classes share one hidden layer; the outputs are logits,
    `f(x) = C' sigma(A x + b) + L' x + m`, and the class probabilities are their softmax, or the
    logistic function of a single logit for two classes. Each new neuron is the best for `y - p`,
    the residual of the current logistic model. Then all weights are corrected jointly with a ridge.

    The shares of the classes, logistic regressions and networks of several ridges and widths are
    compared by stratified cross-validation, where every fold grows a network of its own, or by a
    validation set if one is given. The network is a blend of the best of each; what hardly helps is
    left out, so that labels without any relation to the inputs give a constant.

    A *neuron* is one hidden unit `c sigma(a . x + b)`. The number of *nodes* is the number of
    neurons plus two for the affine term `L' x + m`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    expected_error_ : float or None
        Expected mean log-loss on new rows: that of held-out rows, or of the validation set. None if
        no row could be held out.
    sets_ : ClassSets or None
        What `predict_set` uses: the probabilities of the classes of held-out rows. None if no row
        was held out.
    training_sample_ : TrainingSample
        What `outside` uses: a sample of the training inputs.
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(300, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> model = GreedyNetClassifier().fit(X, y)
    >>> model.predict([[0.5, 0.5], [0.5, -0.5]])
    array(['same', 'other'], dtype='<U5')
    """

    classes_: NDArray[Any]
    sets_: ClassSets | None
    _most_nodes = 100
    _parameter_constraints = constraints_of("classifier")

    def __init__(
        self,
        n_nodes: int | None = None,
        *,
        max_nodes: int | None = None,
        select: Select = "best",
        cv: int | BaseCrossValidator | Iterable[Any] | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        missing: Literal["error", "learn"] = "error",
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        convex: ArrayLike | Mapping[str, int] | None = None,
        extrapolate: bool = False,
        hidden_layers: HiddenLayers | None = None,
        activation: str | Activation = "relu",
        alpha: float | Literal["auto"] = "auto",
        max_seconds: float | None = None,
        search: SearchName | Dictionary | SearchFactory = "continuous",
        correct: bool = True,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_nodes = n_nodes
        self.max_nodes = max_nodes
        self.select = select
        self.cv = cv
        self.class_weight = class_weight
        self.missing = missing
        self.monotonic_cst = monotonic_cst
        self.convex = convex
        self.extrapolate = extrapolate
        self.hidden_layers = hidden_layers
        self.activation = activation
        self.alpha = alpha
        self.max_seconds = max_seconds
        self.search = search
        self.correct = correct
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _training_rows(
        self, X: Any, y: Any, sample_weight: Any, pool: Pool, groups: Any
    ) -> tuple[Rows | Blocks, bool]:
        rows, self.classes_ = class_rows(
            self, X, y, sample_weight, self.class_weight, pool, self._settings.fit.blocks, groups
        )
        return rows, rows.n_outputs == 1

    def _validation_rows(
        self, rows: Rows | Blocks, X: Any, y: Any, sample_weight: Any
    ) -> Rows | None:
        merged_up_to = self._settings.fit.merged_up_to
        return class_validation_rows(self, X, y, sample_weight, rows, self.classes_, merged_up_to)

    def _plan(self, rows: Rows | Blocks, validation: Rows | None, single_output: bool) -> Plan:
        return classification_plan(self, rows, self._limits(), self._seed())

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of classes that are right.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        score : float
        """
        found = self.predict(X)
        check_labels(y, "y")
        with named("y"):
            return float(accuracy_score(y, found, sample_weight=sample_weight))

    def _store_errors(self, fitted: Fitted, plan: Plan) -> None:
        calibration, network = fitted.calibration, self.network_
        self.sets_ = ClassSets.of(calibration.with_later(self._later_rows(), network), fitted.path)
        self.expectation_ = Expectation.of_classes(calibration, network, self._ahead(calibration))

    def _as_outputs(self, y: NDArray[Any]) -> Float64:
        return unit_vectors(y, self.classes_)

    def _known_at(self, position: int) -> dict[str, Any]:
        sets = getattr(self, "sets_", None)
        return {
            "sets_": None if sets is None else sets.at_width(position),
            "ladder_": None,
            "expectation_": Expectation(LOG_LOSS, self.path_.expected_error(position)),
        }

    def decision_function(self, X: ArrayLike) -> Float64:
        """Return the logits: that of the second class for two classes, otherwise one per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        logits : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._outputs(X)

    def predict_proba(self, X: ArrayLike) -> Float64:
        """Return the probability of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        logits = self._outputs(X)
        return probabilities(logits.reshape(len(logits), -1))

    def predict_log_proba(self, X: ArrayLike) -> Float64:
        """Return the logarithm of the probability of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
        """
        logits = self._outputs(X)
        return log_probabilities(logits.reshape(len(logits), -1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the largest probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._classes_of(self._outputs(X))

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
        return self._of_held_out("sets_", needed, "fit at least two rows of every class")

    def _classes_of(self, logits: Float64) -> NDArray[Any]:
        best = (logits > 0).astype(int) if logits.ndim == 1 else logits.argmax(axis=1)
        return np.asarray(self.classes_[best])
