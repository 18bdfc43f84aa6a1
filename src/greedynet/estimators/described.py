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
    """Return a decorator that writes the parameters into the docstring of an estimator."""

    def write(kind: E) -> E:
        defaults = inspect.signature(kind).parameters
        entries = [
            f"{p.name} : {p.type}, default={_shown(defaults[p.name].default)}\n"
            + textwrap.indent(textwrap.fill(p.meaning, 92, break_on_hyphens=False), "    ")
            for p in parameters_of(estimator)
        ]
        text = textwrap.indent("\n".join(entries), "    ").lstrip()
        kind.__doc__ = (kind.__doc__ or "").replace("{parameters}", text)
        return kind

    return write


def _shown(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)
