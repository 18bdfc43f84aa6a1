"""Losses: optimal by duality, equal to naive twins, and indifferent to how the problem is put."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import QuantileRegressor

from greedynet import losses
from greedynet.linalg.factor import Factor
from greedynet.linalg.weights import outer_weights
from greedynet.losses import (
    Absolute,
    Chebyshev,
    Huber,
    Loss,
    Power,
    Quantile,
    Squared,
    get_loss,
)
from greedynet.losses.base import LossFactor, Reweightable, exponent
from greedynet.losses.solvers import reweighting, row_weights, weighted_median

# All that have a name, and those that are named by numbers.
REGISTERED = [make() for make in losses.LOSSES.values()]
POWERS = [Power(p) for p in (1.05, 1.1, 1.5, 2.0, 3.0, 10.0, 60.0)]
LOSSES = [*REGISTERED, Quantile(0.2), Quantile(0.9), *POWERS]
# Huber's fit is for a threshold of its own, its size for any: it does not minimise it.
NORMS = [loss for loss in LOSSES if loss.name != "huber"]
REWEIGHTABLE = [loss for loss in LOSSES if isinstance(loss, Reweightable)]


def naming(value):
    return (
        "-".join(str(part) for part in value.arguments.values()) if hasattr(value, "fit") else None
    )


every_loss = pytest.mark.parametrize("loss", LOSSES, ids=naming)
every_norm = pytest.mark.parametrize("loss", NORMS, ids=naming)
every_reweightable = pytest.mark.parametrize("loss", REWEIGHTABLE, ids=naming)


def problem(n_rows=60, k=7, n_outputs=2, seed=0):
    """Orthonormal columns of broken lines, targets with a few wild rows, uneven weights."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, (n_rows, 3))
    F = np.maximum(X @ rng.randn(3, k) + rng.uniform(-0.5, 1, k), 0)
    F[:, :1] = 1.0
    Y = np.sin(3 * X) @ rng.randn(3, n_outputs) + 0.3 * rng.standard_t(2, (n_rows, n_outputs))
    return np.linalg.qr(F)[0], Y, rng.uniform(0.2, 3.0, n_rows)


# Optimality


@every_loss
@pytest.mark.parametrize("shape", [(60, 7), (300, 40), (50, 30), (9, 8)])
def test_functional_is_orthogonal_to_the_columns(loss, shape):
    Q, Y, w = problem(*shape)
    fit = loss.fit(Q, Y, w)
    assert np.abs(fit.functional).max() > 1e-3
    np.testing.assert_allclose(Q.T @ fit.functional, 0, atol=1e-11 * np.abs(fit.functional).max())
    np.testing.assert_allclose(fit.residuals, Y - Q @ fit.weights, atol=1e-13)


@every_norm
@pytest.mark.parametrize("shape", [(60, 7), (300, 40), (50, 30), (9, 8)])
def test_functional_norms_the_residuals(loss, shape):
    # <f, r> = |r|, and so = <f, y>: with dual norm at most 1, no other weights can do better.
    Q, Y, w = problem(*shape)
    fit = loss.fit(Q, Y, w)
    size = loss.size(fit.residuals, w)
    np.testing.assert_allclose(np.sum(fit.functional * fit.residuals), size, rtol=1e-10)
    np.testing.assert_allclose(np.sum(fit.functional * Y), size, rtol=1e-10)
    assert dual_norm(loss, fit.functional, w) <= 1 + 1e-10


def dual_norm(loss, functional, w):
    """The largest <f, r> for r of size 1."""
    density = functional / w[:, None]
    match loss:
        case Absolute():
            return np.abs(density).max()
        case Quantile(quantile=q):
            return max((density / q).max(), (-density / (1 - q)).max())
        case Chebyshev():
            return np.abs(functional).sum(axis=0).max()
    p = getattr(loss, "p", 2.0)
    return np.sum(w[:, None] * np.abs(density) ** (p / (p - 1))) ** ((p - 1) / p)


def test_huber_threshold_is_that_of_its_residuals():
    Q, Y, _ = problem(n_rows=301, n_outputs=3)
    fit = Huber().fit(Q, Y, None)
    delta = 1.345 * 1.4826 * np.median(np.abs(fit.residuals), axis=0)
    assert (np.abs(fit.residuals) > 1.5 * delta).any(axis=0).all()
    np.testing.assert_allclose(fit.functional, np.clip(fit.residuals / delta, -1, 1), atol=1e-9)


# Naive twins


@pytest.mark.parametrize("p", [1.3, 1.5, 3.0, 6.0])
def test_power_is_what_a_general_minimiser_finds(p):
    Q, Y, w = problem(n_outputs=1)
    found = minimize(
        lambda c: np.sum(w * np.abs(Y[:, 0] - Q @ c) ** p),
        Q.T @ Y[:, 0],
        jac=lambda c: -p * Q.T @ (w * np.sign(r := Y[:, 0] - Q @ c) * np.abs(r) ** (p - 1)),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    fit = Power(p).fit(Q, Y, w)
    np.testing.assert_allclose(fit.weights[:, 0], found.x, atol=1e-4)
    np.testing.assert_allclose(Power(p).size(fit.residuals, w), found.fun ** (1 / p), rtol=1e-8)


def test_squared_is_least_squares():
    Q, Y, w = problem()
    root = np.sqrt(w)[:, None]
    wanted = np.linalg.lstsq(root * Q, root * Y, rcond=None)[0]
    fit = Squared().fit(Q, Y, w)
    np.testing.assert_allclose(fit.weights, wanted, atol=1e-12)
    np.testing.assert_allclose(
        Squared().size(fit.residuals, w), np.linalg.norm(root * fit.residuals)
    )


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.8])
def test_quantile_is_that_of_scikit_learn(quantile):
    Q, Y, w = problem(n_outputs=1)
    wanted = QuantileRegressor(quantile=quantile, alpha=0, fit_intercept=False)
    wanted.fit(Q, Y[:, 0], sample_weight=w)
    loss = Quantile(quantile)
    fit = loss.fit(Q, Y, w)
    np.testing.assert_allclose(fit.weights[:, 0], wanted.coef_, atol=1e-7)
    assert abs(np.mean(fit.residuals < 0) - quantile) < 0.2  # by weight it is exact, up to k rows


def test_half_of_the_absolute_values_is_the_median():
    Q, Y, w = problem(n_rows=200, k=12)
    median, absolute = Quantile(0.5).fit(Q, Y, w), Absolute().fit(Q, Y, w)
    np.testing.assert_allclose(median.weights, absolute.weights, atol=1e-11)
    np.testing.assert_allclose(2 * median.functional, absolute.functional, atol=1e-11)
    assert Quantile(0.5).size(Y, w) == pytest.approx(Absolute().size(Y, w) / 2, rel=1e-14)


def test_chebyshev_polynomial_is_the_smallest():
    # Of all x^5 - (polynomial of degree 4) on [-1, 1], T_5 / 16 has the smallest maximum.
    x = np.cos(np.pi * np.arange(0, 201) / 200)
    fit = Chebyshev().fit(np.linalg.qr(np.vander(x, 5))[0], x[:, None] ** 5, None)
    np.testing.assert_allclose(fit.residuals[:, 0], np.cos(5 * np.arccos(x)) / 16, atol=1e-12)
    assert np.count_nonzero(np.abs(fit.functional) > 1e-9) == 6


def test_huber_is_least_squares_where_nothing_is_far():
    x = np.linspace(-1, 1, 40)
    Q = np.linalg.qr(np.vander(x, 3))[0]
    # Residuals of one size only: all lie within 1.345 * 1.4826 of their median.
    Y = (Q @ [1.0, 2.0, 3.0] + np.tile([1.0, -1.0, -1.0, 1.0], 10))[:, None]
    wanted = Squared().fit(Q, Y, None)
    np.testing.assert_allclose(Huber().fit(Q, Y, None).weights, wanted.weights, atol=1e-10)


# Indifference


@every_loss
def test_integer_weights_are_repeated_rows(loss):
    Q, Y, _ = problem()
    times = np.random.RandomState(3).randint(1, 5, len(Q))
    weighted = loss.fit(Q, Y, times.astype(float))
    repeated = loss.fit(np.repeat(Q, times, axis=0), np.repeat(Y, times, axis=0), None)
    size = loss.size(weighted.residuals, times.astype(float))
    np.testing.assert_allclose(size, loss.size(repeated.residuals, None), rtol=1e-10)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-6)
    if not isinstance(loss, Absolute | Quantile | Chebyshev):  # their dual is not unique
        added = np.add.reduceat(repeated.functional, np.cumsum(times) - times, axis=0)
        np.testing.assert_allclose(weighted.functional, added, atol=1e-4)


def heavy_tailed(n_rows=61, seed=0):
    """Residuals of very different sizes, and numbers of copies that move their median."""
    rng = np.random.RandomState(seed)
    r = rng.choice([-1.0, 1.0], n_rows) * np.exp(rng.uniform(-2.0, 3.0, n_rows))
    return r, np.where(np.abs(r) > 1.0, 1, rng.randint(1, 6, n_rows))


@every_reweightable
def test_row_weights_of_integer_weights_are_those_of_repeated_rows(loss):
    r, times = heavy_tailed()
    # Some that are far below the median, and count as a share of it.
    r, times = np.append(r, [1e-4, -1e-3]), np.append(times, [1, 3])
    first = np.cumsum(times) - times
    found, wanted = (
        loss.row_weights(r, times.astype(float)),
        loss.row_weights(r.repeat(times), None),
    )
    np.testing.assert_allclose(found, wanted[first], rtol=1e-13)
    # With the sample weights in them, and mean 1.
    mean = times.mean()
    for floor in (None, 0.4):
        found = row_weights(loss, r, times / mean, floor)
        wanted = np.add.reduceat(row_weights(loss, r.repeat(times), None, floor), first)
        np.testing.assert_allclose(found, wanted / mean, rtol=1e-12)
        assert found.mean() == pytest.approx(1.0)


def slopes(function, r, step=3e-4):
    """The derivative of a function of all residuals by each of them."""
    changes = step * np.diag(np.abs(r))
    ends = [[function(r + sign * change) for sign in (1, -1)] for change in changes]
    return np.subtract(*np.transpose(ends)) / (2 * step * np.abs(r))


SMOOTH = [
    loss
    for loss in REWEIGHTABLE
    # The largest residual has one row that counts, and Lawson's rule; above 4 weights are those
    # of 4; Huber's are those of its threshold, below.
    if loss.name not in ("chebyshev", "huber") and exponent(loss) <= 4
]


@pytest.mark.parametrize("loss", SMOOTH, ids=naming)
@pytest.mark.parametrize("weighted", [False, True])
def test_row_weights_are_the_slope_of_the_loss_over_the_residual(loss, weighted):
    r, times = heavy_tailed(31)
    w = times / times.mean() if weighted else np.ones(len(r))
    wanted = slopes(lambda at: loss.size(at[:, None], w), r) / r
    np.testing.assert_allclose(row_weights(loss, r, w), wanted / wanted.mean(), rtol=1e-6)
    own = loss.row_weights(r, w) * w
    np.testing.assert_allclose(own / own.mean(), wanted / wanted.mean(), rtol=1e-6)


def test_row_weights_of_huber_are_the_slope_over_the_residual_at_its_threshold():
    r, times = heavy_tailed(31)
    delta = 1.345 * 1.4826 * np.median(np.abs(r).repeat(times))

    def rho(at):
        size = np.abs(at)
        return np.sum(times * np.where(size <= delta, size**2 / 2, delta * size - delta**2 / 2))

    wanted = slopes(rho, r) / r
    found = row_weights(Huber(), r, times / times.mean())
    np.testing.assert_allclose(found, wanted / wanted.mean(), rtol=1e-6)


def test_high_powers_weight_rows_like_the_fourth():
    r, times = heavy_tailed()
    w = times / times.mean()
    wanted = row_weights(Power(4.0), r, w)
    for p in (5.0, 10.0, 60.0):
        np.testing.assert_array_equal(row_weights(Power(p), r, w), wanted)
    assert not np.allclose(row_weights(Power(3.9), r, w), wanted, rtol=1e-3)


class Misshapen:
    """Weights that are not one for each residual."""

    name = "misshapen"

    def row_weights(self, residuals, weights):
        return np.ones((len(residuals), 1))


def test_row_weights_of_another_shape_are_refused():
    r, times = heavy_tailed(20)
    with pytest.raises(ValueError, match=r"loss 'misshapen' .* shape \(20,\), got \(20, 1\)"):
        row_weights(Misshapen(), r, times.astype(float))


def test_a_round_of_lawson_multiplies_by_the_residual():
    r, times = heavy_tailed(20)
    weighting, wanted = reweighting(Chebyshev()), np.ones(20)
    for at in (r, r[::-1], r**2):
        wanted = wanted * np.abs(at)
        found = weighting(at, times / times.mean())
        np.testing.assert_allclose(found, wanted / wanted.mean(), rtol=1e-12)
    # Another fit begins anew.
    one = np.abs(r) / np.abs(r).mean()
    np.testing.assert_allclose(reweighting(Chebyshev())(r, None), one, rtol=1e-12)


def test_huber_fit_of_integer_weights_is_that_of_repeated_rows():
    Q, Y, _ = problem(n_outputs=1)
    plain = Y[:, 0] - Q @ Squared().fit(Q, Y, None).weights[:, 0]
    times = np.where(np.abs(plain) > 0.4, 1, 4)
    weighted = Huber().fit(Q, Y, times.astype(float))
    repeated = Huber().fit(np.repeat(Q, times, axis=0), np.repeat(Y, times, axis=0), None)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-10)
    added = np.add.reduceat(repeated.functional, np.cumsum(times) - times, axis=0)
    np.testing.assert_allclose(weighted.functional, added, atol=1e-9)
    size = np.abs(weighted.residuals)
    delta = 1.345 * 1.4826 * np.median(np.repeat(size, times))
    assert 5 < np.count_nonzero(size > delta) < 55
    clipped = times[:, None] * np.clip(weighted.residuals / delta, -1, 1)
    np.testing.assert_allclose(weighted.functional, clipped, atol=1e-9)
    assert np.median(size) > 1.2 * np.median(np.repeat(size, times))


# The median by weight


@pytest.mark.parametrize("seed", range(20))
def test_weighted_median_is_the_median_of_repeated_values(seed):
    rng = np.random.RandomState(seed)
    n = rng.randint(1, 12)
    # Few different values, so that some are equal.
    values = rng.choice([0.0, 0.1, 1.0, 2.5, 7.0], n) if seed % 2 else rng.randn(n)
    times = rng.randint(0, 5, n)
    times[rng.randint(n)] += 1
    wanted = float(np.median(np.repeat(values, times)))
    assert weighted_median(values, times.astype(float)) == wanted
    # Whatever the unit of the weights and the order of the values.
    assert weighted_median(values, times / 3.0) == wanted
    order = rng.permutation(n)
    assert weighted_median(values[order], 0.1 * times[order]) == wanted


@pytest.mark.parametrize(
    ("values", "weights", "wanted"),
    [
        ([1.0, 2.0, 10.0], [2, 1, 1], 1.5),  # one half exactly, between two neighbours
        ([1.0, 2.0, 10.0], [1, 1, 2], 6.0),
        ([10.0, 1.0, 2.0], [2, 1, 1], 6.0),
        ([1.0, 2.0, 10.0], [1, 3, 1], 2.0),
        ([1.0, 2.0, 10.0], [2, 0, 2], 5.5),  # a weight of zero is no neighbour
        ([1.0, 1.0, 3.0], [1, 2, 3], 2.0),
        ([4.0], [7.0], 4.0),
        ([1.0, 2.0], [0.3, 0.3], 1.5),
        ([1.0, 2.0, 3.0, 4.0], [0.1, 0.2, 0.1, 0.2], 2.5),  # one half but for rounding
        ([1.0, 2.0, 3.0], [1e-9, 1.0, 1e-9], 2.0),
    ],
)
def test_weighted_median_where_weights_tie(values, weights, wanted):
    values, weights = np.array(values), np.array(weights, dtype=float)
    assert weighted_median(values, weights) == wanted
    assert weighted_median(-values, weights) == -wanted


@every_loss
@pytest.mark.parametrize("factor", [1e-6, 1e-3, 7.0, 1e6])
def test_a_larger_target_has_larger_weights(loss, factor):
    Q, Y, w = problem()
    fit, scaled = loss.fit(Q, Y, w), loss.fit(Q, factor * Y, w)
    np.testing.assert_allclose(scaled.weights, factor * fit.weights, atol=1e-8 * factor)
    np.testing.assert_allclose(
        loss.size(scaled.residuals, w), factor * loss.size(fit.residuals, w), rtol=1e-9
    )
    np.testing.assert_allclose(scaled.functional, fit.functional, atol=1e-6)


@every_loss
def test_outputs_are_fitted_each_by_itself(loss):
    Q, Y, w = problem(n_outputs=3)
    together = loss.fit(Q, Y, w)
    for j in range(3):
        alone = loss.fit(Q, Y[:, [j]], w)
        np.testing.assert_allclose(together.weights[:, [j]], alone.weights, atol=1e-12)


@every_loss
@pytest.mark.parametrize("shape", [(60, 7), (400, 30)])
def test_warm_start_reaches_the_cold_optimum(loss, shape):
    Q, Y, w = problem(*shape)
    cold = loss.fit(Q, Y, w)
    for before in (0, 1, Q.shape[1] - 1, Q.shape[1]):
        warm = loss.fit(Q, Y, w, loss.fit(Q[:, :before], Y, w))
        np.testing.assert_allclose(
            loss.size(warm.residuals, w), loss.size(cold.residuals, w), rtol=1e-9
        )
        np.testing.assert_allclose(Q.T @ warm.functional, 0, atol=1e-10)


@every_loss
def test_size_grows_in_proportion(loss):
    _, Y, w = problem()
    for factor in (1e-200, 1e-3, 5.0, 1e150):
        assert loss.size(factor * Y, w) == pytest.approx(factor * loss.size(Y, w), rel=1e-12)
    assert loss.size(0 * Y, w) == 0.0


# Edges


@every_loss
def test_targets_within_the_span_are_met(loss):
    Q, _, w = problem()
    wanted = np.random.RandomState(4).randn(7, 2)
    fit = loss.fit(Q, Q @ wanted, w)
    np.testing.assert_allclose(fit.weights, wanted, atol=1e-11)
    assert np.isfinite(fit.functional).all()


@every_loss
@pytest.mark.parametrize(
    "Y",
    [np.zeros((8, 1)), np.full((8, 1), 3.0), np.eye(8)[:, :2]],
    ids=["zero", "constant", "unit"],
)
@pytest.mark.parametrize("k", [0, 1, 3])
def test_plain_targets_are_fitted(loss, Y, k):
    Q = np.linalg.qr(np.vander(np.arange(8.0), k, increasing=True))[0]
    fit = loss.fit(Q, Y, None)
    assert np.isfinite(fit.weights).all()
    assert np.isfinite(fit.functional).all()
    if loss.name != "huber":  # it does not minimise its size
        assert loss.size(fit.residuals, None) <= loss.size(Y, None) * (1 + 1e-12)
    if k and not np.ptp(Y):
        np.testing.assert_allclose(fit.residuals, 0, atol=1e-12)


@every_loss
@pytest.mark.parametrize("shape", [(1, 1), (3, 8), (6, 6)])
def test_as_many_columns_as_rows_interpolate(loss, shape):
    rng = np.random.RandomState(5)
    F, Y = rng.randn(*shape), rng.randn(shape[0], 2)
    fit = loss.fit(F, Y, np.arange(1.0, shape[0] + 1))
    np.testing.assert_allclose(fit.residuals, 0, atol=1e-8)
    assert np.isfinite(fit.functional).all()


@every_loss
def test_a_column_twice_does_no_harm(loss):
    Q, Y, w = problem()
    once, twice = loss.fit(Q, Y, w), loss.fit(np.hstack([Q, Q[:, :1]]), Y, w)
    np.testing.assert_allclose(
        loss.size(twice.residuals, w), loss.size(once.residuals, w), rtol=1e-6
    )


# What users write


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("squared_error", Squared()),
        ("absolute_error", Absolute()),
        ("huber", Huber()),
        ("quantile", Quantile(0.5)),
        ("chebyshev", Chebyshev()),
        (1.5, Power(1.5)),
        (2, Power(2.0)),
        (np.float32(1.5), Power(1.5)),
        (Quantile(0.3), Quantile(0.3)),
    ],
)
def test_losses_are_found(value, wanted):
    assert get_loss(value) == wanted


@every_loss
def test_loss_comes_back_from_its_arguments(loss):
    assert get_loss(**loss.arguments) == loss
    assert isinstance(loss, Loss)
    assert isinstance(loss.name, str)
    with pytest.raises(FrozenInstanceError, match="name"):
        loss.name = "other"


@pytest.mark.parametrize(
    ("quantile", "error", "text"),
    [
        (0.0, ValueError, "`quantile` must lie strictly between 0 and 1, got 0.0: write"),
        (1, ValueError, "`quantile` must lie strictly between 0 and 1, got 1: write"),
        (np.nan, ValueError, "`quantile` must lie strictly between 0 and 1, got nan"),
        ("0.5", TypeError, "`quantile` must be a number .* got '0.5': write 0.5"),
        (True, TypeError, "`quantile` must be a number .* got True"),
    ],
)
def test_bad_quantiles_are_explained(quantile, error, text):
    with pytest.raises(error, match=text):
        Quantile(quantile)


def test_no_warning_on_wide_ranging_targets():
    Q, Y, w = problem()
    Y = Y * np.logspace(-12, 0, len(Y))[:, None]
    for loss in LOSSES:  # a warning would be an error
        fit = loss.fit(Q, Y, w)
        scale = np.abs(fit.functional).max()
        np.testing.assert_allclose(Q.T @ fit.functional, 0, atol=1e-10 * scale)


# The factor of the chosen columns

CORRECTED = [Absolute(), Huber(), Quantile(0.8), Chebyshev(), Power(1.5), Power(4.0)]
every_corrected = pytest.mark.parametrize("loss", CORRECTED, ids=repr)
with_and_without_weights = pytest.mark.parametrize("weighted", [False, True])


def columns_and_targets(n_rows=50, k=7, n_outputs=2, seed=0):
    rng = np.random.RandomState(seed)
    F = rng.randn(n_rows, k)
    Y = F[:, :3] @ rng.randn(3, n_outputs) + rng.standard_t(3, (n_rows, n_outputs))
    return F, Y, rng.uniform(0.2, 3.0, n_rows)


def weights_and_roots(w, weighted):
    return (w, np.sqrt(w)[:, None]) if weighted else (None, np.ones((len(w), 1)))


@pytest.mark.parametrize("loss", [Squared(), Power(2.0)], ids=["squared_error", "p=2"])
@with_and_without_weights
def test_squares_are_the_factor_of_a_hilbert_space(loss, weighted):
    F, Y, w = columns_and_targets()
    w, root = weights_and_roots(w, weighted)
    factor, wanted = LossFactor(Y, w, loss), Factor(root * Y)
    assert factor.target_size == pytest.approx(wanted.target_size, rel=1e-13)
    for column in (root * F).T:
        factor.append(column)
        wanted.append(column)
        scaled = wanted.residual / wanted.residual_norm
        np.testing.assert_allclose(factor.residual, scaled, atol=1e-13)
        np.testing.assert_allclose(factor.z, wanted.z, atol=1e-12)
        weights = outer_weights(factor.R, factor.z)
        np.testing.assert_allclose(weights, outer_weights(wanted.R, wanted.z), atol=1e-12)
        left = factor.rss(weights, 0.0)
        assert left == pytest.approx(wanted.rss(weights, 0.0), rel=1e-12)


@every_corrected
@with_and_without_weights
def test_every_width_is_the_fit_of_its_columns(loss, weighted):
    F, Y, w = columns_and_targets()
    w, root = weights_and_roots(w, weighted)
    factor, n_affine = LossFactor(Y, w, loss), 2
    for k, column in enumerate((root * F).T, start=1):
        factor.append(column)
        if k >= n_affine:
            assert factor.rss(factor.z, 0.0) > 0
    for width in range(n_affine, F.shape[1] + 1):
        z = factor.z_of(width)
        found = Y - F[:, :width] @ outer_weights(factor.R[:width, :width], z)
        wanted = loss.fit(F[:, :width], Y, w)
        np.testing.assert_allclose(loss.size(found, w), loss.size(wanted.residuals, w), rtol=1e-9)
        np.testing.assert_allclose(found, wanted.residuals, atol=1e-5)


def test_exponents_are_those_of_the_norms():
    assert [exponent(loss) for loss in CORRECTED] == [1.0, 2.0, 1.0, np.inf, 1.5, 4.0]
    assert exponent(Squared()) == 2.0


@every_corrected
def test_weights_of_rows_near_zero_have_a_bound(loss):
    rng = np.random.RandomState(0)
    r = rng.choice([-1.0, 1.0], 41) * np.exp(rng.uniform(-1.0, 2.0, 41))
    level = row_weights(loss, np.append(r, [1e-9, 0.0]), None, 0.5)
    assert np.isfinite(level).all()
    assert level.max() < 60 * np.median(level)
