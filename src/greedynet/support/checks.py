"""Checks of arrays: those of scikit-learn, with types and with the argument's name in errors."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.utils import check_array

from greedynet.support.magnitudes import LARGEST
from greedynet.support.types import Float64


def check_size(values: NDArray[Any], name: str, where: str = "") -> None:
    """Raise an error for numbers so large that computing with them would overflow."""
    if values.dtype.kind != "f" or not values.size:
        return
    # NaN may stand for what is missing.
    low, high = (float(f.reduce(values, axis=None)) for f in (np.fmin, np.fmax))
    largest = max(high, -low)
    if largest > LARGEST:
        raise ValueError(
            f"`{name}` must hold numbers of at most {LARGEST:.0e} in size, got {largest:.3g}"
            f"{where}: write them in another unit."
        )


def check_unmasked(values: Any, name: str, where: str = "") -> None:
    """Raise an error for masked arrays with masked values, which NumPy would silently unmask."""
    n_masked = np.ma.count_masked(values) if isinstance(values, np.ma.MaskedArray) else 0
    if n_masked:
        raise ValueError(
            f"`{name}` must have no masked values, got {n_masked}{where}: remove such rows, or "
            f"fill in values by `{name}.filled`."
        )


def check_matrix(
    values: ArrayLike, name: str, dtype: DTypeLike = np.float64, *, gaps: bool = False
) -> Float64:
    """Return a two-dimensional array, finite but for NaN if there may be `gaps`.

    Errors name the argument `name`.
    """
    # Always C order: otherwise products of a data frame and of its array would differ in the last
    # bits.
    check_unmasked(values, name)
    with named(name):
        finite = finite_or_nan(gaps)
        checked = check_array(
            values, dtype=dtype, order="C", input_name=name, ensure_all_finite=finite
        )
        return np.asarray(checked)


def finite_or_nan(gaps: bool) -> bool | Literal["allow-nan"]:
    """Return scikit-learn's `ensure_all_finite` for inputs that may be missing, or may not."""
    return "allow-nan" if gaps else True


def check_columns(values: ArrayLike, name: str) -> Float64:
    """Return finite values as columns: `(n,)` becomes `(n, 1)`, `(n, t)` stays."""
    check_unmasked(values, name)
    with named(name):
        checked = check_array(values, dtype=np.float64, ensure_2d=False, input_name=name)
        if checked.ndim == 0 or 0 in checked.shape:
            raise ValueError(f"`{name}` must have rows and columns, got shape {checked.shape}.")
    return np.asarray(checked.reshape(len(checked), -1))


# Kinds that NumPy would convert to unintended numbers, and what to use instead.
_NOT_REAL = {
    "c": "pass the real and imaginary parts as separate columns",
    "M": "subtract a date and divide by np.timedelta64(1, 'D'), for example",
    "m": "divide by np.timedelta64(1, 'D'), for example",
}


def check_kind(values: Any, name: str, where: str = "") -> None:
    """Raise an error for arrays of complex numbers, dates and times.

    Anything that is not an array is left to other checks; `where` is such as " in block 3".
    """
    advice = _NOT_REAL.get(getattr(getattr(values, "dtype", None), "kind", ""))
    if advice:
        raise ValueError(f"`{name}` must hold real numbers, got {values.dtype}{where}: {advice}.")


def check_labels(values: Any, name: str, where: str = "", what: str = "class") -> None:
    """Raise an error for rows without a class, and for classes that cannot be sorted."""
    with named(name):
        labels = np.asarray(values)
    if labels.dtype.kind in "fmM":
        missing = labels[labels != labels].ravel().tolist()
    elif labels.dtype.hasobject and labels.ndim:
        with named(name):
            kinds = set(labels.ravel().tolist())
        missing = [label for label in kinds if _is_missing(label)]
        _check_not_bytes(kinds, name, where, what)
        _check_sortable(kinds.difference(missing), name, where, what)
    else:
        missing = []
        _check_not_bytes(labels.ravel()[:1].tolist(), name, where, what)
    if missing:
        raise ValueError(
            f"`{name}` must contain a {what} for every row, got {missing[0]!r}{where}: remove such "
            f"rows, or assign them to a separate {what}."
        )


def _is_missing(label: Any) -> bool:
    try:
        return label is None or not label == label  # noqa: SIM201 - NaN equals nothing
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True


def _check_not_bytes(labels: Iterable[Any], name: str, where: str, what: str) -> None:
    found = next((label for label in labels if isinstance(label, bytes)), None)
    if found is not None:
        raise ValueError(
            f"`{name}` must hold a {what} of every row as text or a number, got the bytes "
            f"{found!r}{where}: decode them, as by [label.decode() for label in {name}]."
        )


def _check_sortable(labels: set[Any], name: str, where: str, what: str) -> None:
    try:
        # A single one is compared with itself, as it will be where it is repeated.
        sorted([*labels, *labels])
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        plural = "classes" if what == "class" else f"{what}s"
        raise ValueError(
            f"`{name}` must hold {plural} that can be sorted, got {' and '.join(kinds)}{where}: "
            "convert all of them to text."
        ) from None


def check_same_length(**arrays: NDArray[np.generic]) -> None:
    """Raise an error unless all arrays have the same number of rows."""
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        names = " and ".join(f"`{name}`" for name in lengths)
        counts = " and ".join(str(length) for length in lengths.values())
        raise ValueError(f"{names} must have the same number of rows, got {counts}.")


@contextmanager
def named(name: str) -> Iterator[None]:
    """Add the name of the argument to errors raised within, unless they mention it."""
    try:
        # To find infinite numbers, scikit-learn adds up all, which may overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except OverflowError as error:
        raise ValueError(f"`{name}` must hold floating-point numbers: {error}.") from error
    except (TypeError, ValueError) as error:
        text = str(error)
        if re.search(rf"\b{name}\b", text):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"`{name}`: {text}") from error


def check_count(value: object, name: str, least: int = 1) -> int:
    """Return an integer of at least `least`; errors name the argument `name`."""
    is_count = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_count or not value >= least:  # type: ignore[operator]
        kind = ValueError if is_count else TypeError
        raise kind(f"`{name}` must be an integer of at least {least}, got {value!r}.")
    return int(value)  # type: ignore[call-overload]


def check_float(value: object, name: str) -> None:
    """Raise an error for whole numbers that are too large for a floating-point number."""
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError(
            f"`{name}` must be at most {LARGEST:.0e} in size, got a number of about "
            f"{round(value.bit_length() * np.log10(2))} digits: write a smaller one."
        )


# Not `isinstance` itself: type checkers know of no order and no arithmetic of `Real`.
def is_number(value: object) -> bool:
    return isinstance(value, Real)


def is_whole(value: object) -> bool:
    return isinstance(value, Integral)


def safe_norm(values: Float64) -> float:
    """Euclidean norm without overflow, for values up to the largest float."""
    largest = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(values / largest))


def check_weights(values: ArrayLike | None, name: str, n_rows: int) -> Float64 | None:
    """Return finite non-negative weights, one for each row; None is returned as None."""
    if values is None:
        return None
    if is_number(values):
        values = np.full(n_rows, values)
    check_unmasked(values, name)
    with named(name):
        weights = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name)
    check_weight_shape(weights, name, n_rows)
    if weights.max(initial=0.0) > LARGEST:
        weights = weights / 2.0**100  # only ratios count
    if (weights < 0).any() or not weights.any():
        what = "negative values" if (weights < 0).any() else "zeros only"
        raise ValueError(
            f"`{name}` must be non-negative with at least one positive weight, got {what}: use 0 "
            "for rows to ignore, None for equal weights."
        )
    return np.asarray(weights)


def check_weight_shape(weights: NDArray[Any], name: str, n_rows: int, where: str = "") -> None:
    if weights.shape != (n_rows,):
        raise ValueError(
            f"`{name}` must have one weight for each of the {n_rows} rows, got the shape "
            f"{weights.shape}{where}: use None for equal weights."
        )
