"""What the rows say about the ridge, and about the error on new rows.

The effective number of parameters `gamma` is the sum of `s / (s + lam)` over the eigenvalues `s` of
the matrices of the penalised weights, plus the number of those that are not penalised. Then

    lam = sigma^2 gamma_penalised / (||W||^2 + ||c||^2),    sigma^2 = E / (n - gamma)

is the ridge of MacKay's evidence, and networks are compared by generalised cross-validation.
"""

from collections.abc import Sequence

import numpy as np

from greedynet.linalg import unlocked
from greedynet.linalg.weights import trace_of_inverse
from greedynet.support.magnitudes import TINY
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

# With more effective parameters than this fraction of the data, noise cannot be estimated.
_MAX_SHARE = 0.95


def gcv(error: float, n: float, gamma: float) -> float:
    """Generalised cross-validation, `(E / n) / (1 - gamma / n)^2`."""
    return error / n / (1.0 - min(_MAX_SHARE, gamma / n)) ** 2


def effective_parameters(
    systems: Sequence[Float64],
    cholesky: Float64,
    ridge: float,
    n_affine: int,
    n_outputs: int,
    pool: Pool | None = None,
) -> float:
    """Return `gamma`, of inner and outer weights.

    `systems` are lower triangles of the matrices `S` of blocks of inner weights, `cholesky` is the
    lower factor of `F'F` with the ridge on the neurons. Affine columns come first, without a ridge.
    """

    def of_block(S: Float64) -> float:
        damped = S.copy(order="F")
        diagonal = np.einsum("ii->i", damped)
        diagonal += ridge + 1e-12 * diagonal.max()
        found = unlocked.cholesky(damped)
        # Without a factor, nothing is known but the number of weights.
        return len(S) - (ridge * trace_of_inverse(damped) if found else 0.0)

    inner = sum((pool or Pool()).map(of_block, systems))
    n_neurons = len(cholesky) - n_affine
    outer = n_neurons - ridge * trace_of_inverse(cholesky, n_affine)
    return inner + n_outputs * (outer + n_affine)


def ridge_by_evidence(error: float, size: float, n: float, gamma: float, n_free: int) -> float:
    """Return the `lam` of the evidence, from the sum of the squared weights that are penalised.

    There are `n` outputs of independent rows, and `n_free` parameters without a penalty.
    """
    left = max(n - gamma, (1 - _MAX_SHARE) * n)
    penalised = max(gamma - n_free, 1.0)
    return error / left * penalised / max(size, TINY)
