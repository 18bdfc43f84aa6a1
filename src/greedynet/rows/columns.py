"""The canonical order and signs of the columns, which do not depend on how they are given.

A fit depends on the order of the columns, on their signs and on their units only by arbitrary
choices, such as where directions are drawn. So it is carried out in canonical columns: sorted by
statistics of the standardised columns `z`, each with the sign that makes its third moment positive.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

# Statistics of the same numbers, summed in any order and in any units, agree to more digits.
_BITS = 26
_ZERO = 2.0**-_BITS
# Scaled numbers are rounded to multiples of this: the rounding errors of units lie far below it.
GRID = 2.0**-30


@dataclass(frozen=True, eq=False)
class CanonicalColumns:
    """The canonical order and signs of inputs, and signs of outputs.

    Attributes
    ----------
    order : ndarray of shape (d,)
        Positions of the canonical columns among the given ones.
    signs : ndarray of shape (d,)
        1 or -1 for each given column.
    output_signs : ndarray of shape (n_outputs,)
        1 or -1 for each output; only rows are sorted by them.
    """

    order: NDArray[np.intp]
    signs: Float64
    output_signs: Float64

    @staticmethod
    def of(Z: Float64, T: Float64, weights: Float64 | None) -> "CanonicalColumns":
        """Return the canonical order of standardised columns.

        With weighted means `E` over the rows, `a = |z|^2` over all inputs and `b = |t|^2` over all
        outputs, columns are compared by

            E z_j^4, E z_j^2 b, sum_k (E z_j t_k)^2, E z_j^2 a, sum_k (E z_j^2 t_k)^2,

        and by the absolute values of the following, whose first nonzero one gives the sign:

            E z_j^3, E z_j b, E z_j a, E z_j t_1, E z_j t_2, ...

        Columns that agree in all of them keep their given order, and a column for which the latter
        are all zero keeps its sign. As a rule such columns are equal, or exchanging or reflecting
        them maps the rows onto themselves; then the network may be the mirror image.

        Parameters
        ----------
        Z : ndarray of shape (n_rows, d)
            Inputs with mean 0 and standard deviation 1; zero for constant columns.
        T : ndarray of shape (n_rows, n_outputs)
            Outputs likewise.
        weights : ndarray of shape (n_rows,) or None
        """
        share = np.full(len(Z), 1.0 / len(Z)) if weights is None else weights / weights.sum()
        output_signs = _signs((share @ T**3)[None, :])
        T = T * output_signs
        a, b = np.einsum("ij,ij->i", Z, Z), np.einsum("ij,ij->i", T, T)
        square = Z * Z
        with_a, with_b, with_T = (share[:, None] * v for v in (a[:, None], b[:, None], T))
        cube = np.einsum("i,ij,ij->j", share, square, Z)
        odd = np.vstack([cube, with_b.T @ Z, with_a.T @ Z, with_T.T @ Z])
        even = np.vstack(
            [
                np.einsum("i,ij,ij->j", share, square, square),
                with_b.T @ square,
                np.sum((with_T.T @ Z) ** 2, axis=0),
                with_a.T @ square,
                np.sum((with_T.T @ square) ** 2, axis=0),
            ]
        )
        keys = _to_few_bits(np.vstack([even, np.abs(odd)]))
        # Constant columns, whose statistics are zero, come last.
        return CanonicalColumns(np.lexsort(-keys[::-1]), _signs(odd), output_signs)


def _signs(statistics: Float64) -> Float64:
    """Return the sign of the first nonzero statistic of each column; 1 if all are zero."""
    clear = np.where(np.abs(statistics) > _ZERO, np.sign(statistics), 0.0)
    first = np.take_along_axis(clear, np.argmax(clear != 0, axis=0)[None, :], axis=0)[0]
    return np.where(first == 0, 1.0, first)


def _to_few_bits(values: Float64) -> Float64:
    """Round to 26 bits, so that numbers compare equal that differ by rounding errors only.

    Below the last bit of 1 they are zero.
    """
    mantissa, exponent = np.frexp(values)
    few = np.ldexp(np.round(mantissa / _ZERO) * _ZERO, exponent)
    return np.where(np.abs(values) > _ZERO, few, 0.0)


def on_grid(values: NDArray[np.floating]) -> Float64:
    """Round scaled numbers to multiples of 2^-30, so that they are the same in all units."""
    # Adding zero turns -0 into 0.
    return np.asarray(np.rint(values / GRID) * GRID + 0.0, dtype=np.float64)
