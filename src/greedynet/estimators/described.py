"""What the estimators take from the table of parameters: their docstrings, and the checks."""

import inspect
import textwrap
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, TypeVar

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from greedynet.fitting.make_search import SEARCHES
from greedynet.search import Dictionary
from greedynet.support.parameters import Names, Number, Whole, parameters_of

E = TypeVar("E", bound=type)

_ATTRIBUTES = """\
network_ : Network
    The network that was kept, of one hidden layer or of two. Those of classifiers give logits: for
    two classes a single one, of the second class.
path_ : SelectionPath
    The growth: every width that was tried, with its network, its training error and its error on
    held-out rows. `truncate` returns any of them.
n_nodes_ : int
    Number of nodes of `network_`: neurons plus two for an affine term.
hidden_layers_ : int
    Number of hidden layers of `network_`, 1 or 2.
n_networks_ : int
    Number of networks whose average `network_` is; 1 for a single network, and for classes.
n_outputs_ : int
    Number of outputs of `network_`.
alpha_ : float or None
    Ridge of `network_`: `alpha` if it was given. Otherwise that of the correction; of numbers, it
    penalises inner and outer weights alike, so that it is not comparable with `alpha`. The mean for
    an average. None without neurons, after `truncate` to another width, and after further training.
stop_reason_ : StopReason
    Why the growth ended, and what to try next.
ladder_ : Ladder or None
    The candidates that were compared on held-out rows, from the mean or the shares of the classes
    to wide networks, and their errors: `print(model.ladder_)`. None if no row could be held out.
expectation_ : Expectation
    The expected error beside that of simple guesses; `expectation_.sentence()` is a summary.
filling_ : Filling
    With `missing="learn"`: the values to insert, and which columns have an indicator.
training_ : TrainingResult
    History of the training, of what `greedynet.train.train` returns.
categories_ : dict of str to ndarray
    The levels of columns of categories, if `X` was a data frame with some.
level_features_ : dict of str to ndarray of shape (n_levels + 1, n_features)
    The features of each level, and of one that is new.
booleans_ : ndarray of bool, of shape (n_features,)
    Which columns of `X` are true and false, if some are; a category has an entry for each of its
    levels.
n_features_in_ : int
    Number of columns of `X` in `fit`. `network_` has one input for each level of a category.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the columns of `X`, if it was a data frame and all are strings.
"""

_WORDS: dict[str, tuple[Any, ...]] = {
    "int": (Integral,),
    "splitter": (HasMethods("split"),),
    "iterable": (Iterable,),
    "search": (StrOptions(set(SEARCHES)), Dictionary, HasMethods("begin")),
}


def constraints_of(estimator: str) -> dict[str, list[Any]]:
    """Return what scikit-learn checks of the parameters of the "regressor" or the "classifier"."""
    return {
        p.name: [c for allowed in p.allowed for c in _constraints(allowed)] or [object]
        for p in parameters_of(estimator)
    }


def _constraints(allowed: Any) -> tuple[Any, ...]:
    match allowed:
        case Whole(low, high):
            closed = "left" if high is None else "both"
            return (Interval(Integral, low, high, closed=closed),)
        case Number(low, is_open):
            return (Interval(Real, low, None, closed="neither" if is_open else "left"),)
        case Names(names):
            return (StrOptions(set(names)),)
        case str() if allowed in _WORDS:
            return _WORDS[allowed]
    return (allowed,)


def documented(estimator: str) -> Callable[[E], E]:
    """Return a decorator that writes parameters and attributes into the docstring."""

    def write(kind: E) -> E:
        defaults = inspect.signature(kind).parameters
        entries = [
            f"{p.name} : {p.type}, default={_shown(defaults[p.name].default)}\n"
            + textwrap.indent(textwrap.fill(p.meaning, 92, break_on_hyphens=False), "    ")
            for p in parameters_of(estimator)
        ]
        text = kind.__doc__ or ""
        for place, lines in (("parameters", "\n".join(entries)), ("attributes", _ATTRIBUTES)):
            text = text.replace(f"{{{place}}}", textwrap.indent(lines, "    ").strip())
        kind.__doc__ = text
        return kind

    return write


def _shown(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)
