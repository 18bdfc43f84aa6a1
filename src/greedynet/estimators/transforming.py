"""`WithHiddenLayer`: the hidden layer as features, by the conventions of scikit-learn."""

from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from greedynet.estimators.predicting import Predicting
from greedynet.support.types import Float64


class WithHiddenLayer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Predicting):
    """A fitted network as a transformer, with `set_output` and `get_feature_names_out`."""

    @property
    def _n_features_out(self) -> int:
        return self.network_.n_neurons

    def transform(self, X: ArrayLike) -> Float64:
        """Return the values of the neurons, `sigma(a_n . x + b_n)`, as features.

        With two hidden layers, those of the second. The affine term `l . x + m` is not among them:
        beside the columns themselves, they span all that the network can represent.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        H : ndarray of shape (n_samples, n_neurons)
            Without any column if the network has no neurons.
        """
        check_is_fitted(self)
        return self._of_blocks(X, self.network_.hidden)
