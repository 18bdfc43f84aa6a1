"""A fitted estimator whose network was trained on after the fit, in another library."""

from copy import copy
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from greedynet.estimators.base import BaseGreedyNet
from greedynet.model.network import Network
from greedynet.model.uncertainty.expectation import Expectation

E = TypeVar("E", bound=BaseGreedyNet)

# What held-out rows say of the errors of a network.
_OF_ERRORS = ("expected_error_", "ladder_", "intervals_", "sets_")


def with_trained_network(model: E, network: Network) -> E:
    """Return a copy of a fitted estimator that predicts by another network.

    Parameters, classes, names and the path of the growth stay. What held-out rows said of the
    errors was said of the network before: it is not known of this one.

    Parameters
    ----------
    model : GreedyNetRegressor or GreedyNetClassifier
    network : Network
        For the same inputs and outputs.
    """
    check_is_fitted(model)
    trained = copy(model)
    trained.__dict__.pop("training_", None)
    known = [name for name in _OF_ERRORS if hasattr(model, name)]
    unknown: dict[str, Any] = dict.fromkeys(known)
    unknown |= {"expectation_": Expectation(model.expectation_.measure), "alpha_": None}
    for name, value in {**model._attributes(network), **unknown, "trained_on_": True}.items():
        setattr(trained, name, value)
    return trained
