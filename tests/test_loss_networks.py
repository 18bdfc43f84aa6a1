"""Networks for other losses: neurons by the norming functional, outer weights in the same norm."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import scopes
from greedynet import GreedyNetRegressor, NotCorrectedWarning
from greedynet.losses import (
    Absolute,
    Chebyshev,
    Huber,
    Power,
    Quantile,
)
from greedynet.paper import load_example
from greedynet.search import Dictionary
from problems import SEARCHES, noisy, regressor, relative_error, some_points

pytestmark = pytest.mark.slow

LOSSES = {
    "absolute_error": {"loss": "absolute_error"},
    "huber": {"loss": "huber"},
    "quantile": {"loss": Quantile(0.8)},
    "chebyshev": {"loss": "chebyshev"},
    "p=1.5": {"loss": 1.5},
    "p=4": {"loss": 4.0},
}
# Those that minimise what they are measured by.
NORMS = [name for name in LOSSES if name != "huber"]
OBJECTS = [Absolute(), Huber(), Quantile(0.8), Chebyshev(), Power(1.5), Power(4.0)]

every_loss = pytest.mark.parametrize("name", LOSSES)
every_norm = pytest.mark.parametrize("name", NORMS)
# What a loss does it does with either search: one of them for each loss, by turns.
every_loss_by_turns = pytest.mark.parametrize(
    ("small", "name"),
    [(SEARCHES[i % 2], name) for i, name in enumerate(LOSSES)],
    indirect=["small"],
)
with_and_without_weights = pytest.mark.parametrize("weighted", [False, True])


def measure(name, residuals, weights=None):
    """What a loss makes small, written out."""
    w = np.ones(len(residuals)) if weights is None else weights
    match name:
        case "absolute_error" | "huber":
            return np.sum(w * np.abs(residuals))
        case "quantile":
            return np.sum(w * np.maximum(0.8 * residuals, -0.2 * residuals))
        case "chebyshev":
            return np.abs(residuals).max()
    p = float(name.removeprefix("p="))
    return np.sum(w * np.abs(residuals) ** p) ** (1 / p)


@pytest.fixture(scope="module")
def data():
    return noisy(n_rows=150, n_features=3)


@pytest.fixture(params=SEARCHES)
def small(request):
    """Makes estimators with one of the searches."""
    return partial(regressor, request.param, n_points=400, max_nodes=14)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("rule", ["oga", "ols"])
@with_and_without_weights
def test_the_second_power_selects_what_squares_select(number, rule, weighted):
    example = load_example(number)
    X, y = example.X_train, example.y_train
    w = np.random.RandomState(0).uniform(0.2, 3.0, len(X)) if weighted else None
    grown = partial(GreedyNetRegressor, 30, search=Dictionary(rule=rule))
    power, squared = grown(loss=2.0).fit(X, y, w), grown().fit(X, y, w)
    if rule == "oga" or number == 3:
        np.testing.assert_array_equal(power.path_.indices, squared.path_.indices)
    # In one variable "ols" has ties: beside an affine term relu(z) is as good as relu(-z).
    np.testing.assert_allclose(
        power.path_.training_errors, squared.path_.training_errors, rtol=1e-9
    )
    np.testing.assert_allclose(power.predict(X), squared.predict(X), atol=1e-9)


def naive_functional(name, F, y, w):
    """The norming functional of the best residuals, by a general minimiser or a whole programme."""
    n, k = F.shape
    if name == "absolute_error":
        found = linprog(-y, A_eq=F.T, b_eq=np.zeros(k), bounds=np.column_stack([-w, w]))
        return found.x
    if name == "chebyshev":
        balance = np.vstack([np.hstack([F.T, -F.T]), np.ones((1, 2 * n))])
        found = linprog(np.concatenate([-y, y]), A_eq=balance, b_eq=np.append(np.zeros(k), 1.0))
        return found.x[:n] - found.x[n:]
    p = float(name.removeprefix("p="))

    def functional(c):
        r = y - F @ c
        return w * np.sign(r) * np.abs(r) ** (p - 1)

    if k == 0:
        return functional(np.zeros(0))
    found = minimize(
        lambda c: np.sum(w * np.abs(y - F @ c) ** p) / p,
        np.linalg.lstsq(F, y, rcond=None)[0],
        jac=lambda c: -F.T @ functional(c),
        method="BFGS",
        options={"gtol": 1e-8},
    )
    return functional(found.x)


def shortfall(name, points, X, y, w, chosen, power):
    """How far the choices are from the best |<F, g>| / |g|_p, as a share: the largest."""
    affine = np.column_stack([X, np.ones(len(X))])
    G = np.maximum(X @ points[:, :-1].T + points[:, -1], 0)
    lengths = G.max(axis=0) if np.isinf(power) else (w @ G**power) ** (1 / power)
    alive = lengths > 1e-6
    shares = []
    for k, atom in enumerate(chosen):
        gains = np.abs(naive_functional(name, np.hstack([affine, G[:, chosen[:k]]]), y, w) @ G)
        gains = np.where(alive, gains / np.where(alive, lengths, 1), 0)
        shares.append(1 - gains[atom] / gains.max())
    return max(shares)


@pytest.mark.parametrize(
    ("name", "power"),
    [("p=1.5", 1.5), ("p=3", 3.0), ("absolute_error", 1.0), ("chebyshev", np.inf)],
)
@with_and_without_weights
def test_the_functional_takes_the_atom_on_which_it_is_largest(name, power, weighted):
    X, y = noisy(n_rows=60)
    points = some_points(2, 220)
    w = np.random.RandomState(1).uniform(0.2, 3.0, len(X)) if weighted else np.ones(len(X))
    loss = power if name.startswith("p=") else name
    model = GreedyNetRegressor(10, search=Dictionary(points, rule="oga"), loss=loss).fit(X, y, w)
    chosen = list(model.path_.indices)
    assert len(chosen) == 8
    assert shortfall(name, points, X, y, w, chosen, power) < 1e-4
    # Atoms as long as in another norm, or other weights, would have been others.
    assert shortfall(name, points, X, y, w, chosen, 2.0) > 1e-2
    if weighted and name != "chebyshev":
        assert shortfall(name, points, X, y, np.ones(len(X)), chosen, power) > 1e-2


# The path


@every_norm
@with_and_without_weights
def test_training_errors_never_rise(small, data, name, weighted):
    X, y = data
    w = np.random.RandomState(0).uniform(0.2, 3.0, len(X)) if weighted else None
    model = small(**LOSSES[name], select="last", correct=False).fit(X, y, w)
    errors = model.path_.training_errors
    assert (np.diff(errors) <= 1e-10).all()
    assert errors[-1] < 0.6 * errors[0]
    wanted = measure(name, y - model.predict(X), w)
    assert errors[-1] == pytest.approx(wanted / measure(name, y - np.average(y, weights=w), w))


@every_loss_by_turns
def test_held_out_errors_are_those_of_the_loss(small, data, name):
    X, y = data
    w = np.random.RandomState(0).uniform(0.2, 3.0, 50)
    model = small(**LOSSES[name], correct=False).fit(
        X[:100], y[:100], X_val=X[100:], y_val=y[100:], sample_weight_val=w
    )
    path = model.path_
    wanted = np.array(
        [measure(name, y[100:] - path.network_at(n).predict(X[100:]), w) for n in path.n_nodes]
    )
    found = path.held_out_errors / path.held_out_errors[0]
    if name != "huber":  # whose threshold is that of the residuals
        np.testing.assert_allclose(found, wanted / wanted[0], rtol=1e-6)
    assert found[path.position(model.n_nodes_)] <= 1.001 * found.min()


# What the losses are for


def with_outliers(y, seed):
    """Two rows of fifty far off."""
    rng = np.random.default_rng(seed)
    y, at = y.copy(), rng.choice(len(y), 2, replace=False)
    y[at] += rng.choice([-1.0, 1.0], 2) * rng.uniform(5, 20, 2) * y.std()
    return y


def damage(loss, n_draws=7):
    """Test error with gross outliers over that without them: the median of some draws."""
    example = load_example(1)
    model = GreedyNetRegressor(loss=loss)

    def error(y):
        model.fit(example.X_train, y, X_val=example.X_val, y_val=example.y_val)
        return relative_error(model.predict(example.X_test), example.y_test)

    errors = [error(with_outliers(example.y_train, seed)) for seed in range(n_draws)]
    return np.median(errors) / error(example.y_train)


@pytest.mark.all_folds
@pytest.mark.parametrize("loss", ["absolute_error", "huber"])
def test_outliers_do_little_harm(loss):
    """Measured 1.31 and 1.35; 1.46 and 1.41 over 40 draws.

    Two rows of fifty are lost in any case. Straight lines between the right rows alone have 1.38
    times the error of all rows over 400 draws, but 1.64 over the first seven: these tell nothing.
    """
    assert damage(loss, n_draws=25) < 1.5


def test_outliers_ruin_least_squares():
    # Measured 196; without it the test above would show nothing.
    assert damage("squared_error") > 10


def hetero(n_rows, seed):
    """A function of two variables with noise that grows from the middle."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n_rows, 2))
    noise = (0.2 + 0.3 * np.abs(X[:, 0])) * rng.normal(size=n_rows)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + noise


def pinball(q, y, prediction):
    return np.mean(np.maximum(q * (y - prediction), (q - 1) * (y - prediction)))


def test_quantiles_cover_their_share_of_new_rows():
    (X, y), (X_new, y_new) = hetero(3000, 0), hetero(10_000, 1)
    bounds = []
    for q in (0.1, 0.9):
        bound = GreedyNetRegressor(loss=Quantile(q)).fit(X, y).predict(X_new)
        assert abs(np.mean(y_new < bound) - q) < 0.03
        # Measured 0.34; no constant can follow the function.
        assert pinball(q, y_new, bound) < 0.4 * pinball(q, y_new, np.quantile(y, q))
        bounds.append(bound)
    assert np.mean(bounds[0] > bounds[1]) < 0.005


@pytest.mark.parametrize("correct", [True, False])
@pytest.mark.parametrize("n_nodes", [10, None])
def test_quantiles_of_very_many_rows_are_not_solved_by_least_squares(correct, n_nodes):
    """A sample is seen, and its outer weights are those of the loss."""
    X, y = hetero(6_000, 0)
    model = GreedyNetRegressor(n_nodes, max_nodes=12, loss=Quantile(0.9), correct=correct)
    with scopes.sampled(1_000, in_order_above=0):
        model.fit(X, y)
    # Least squares have half of them below.
    assert abs(np.mean(y < model.predict(X)) - 0.9) < 0.03
    assert model.path_.kept_error < 0.7


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("n_rows", [60, 300])
def test_quantiles_have_their_share_of_the_training_rows(q, n_rows):
    X, y = hetero(n_rows, 0)
    model = GreedyNetRegressor(loss=Quantile(q)).fit(X, y)
    below = y - model.predict(X)
    # One row more or less, and one that is met.
    assert np.count_nonzero(below < -1e-9) <= q * n_rows + 1e-9
    assert np.count_nonzero(below > 1e-9) <= (1 - q) * n_rows + 1e-9


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("n_nodes", [10, 30])
def test_chebyshev_has_a_smaller_largest_error(number, n_nodes):
    example = load_example(number)
    X, y = example.X_train, example.y_train
    largest = [
        np.abs(y - GreedyNetRegressor(n_nodes, loss=loss).fit(X, y).predict(X)).max()
        for loss in ("chebyshev", "squared_error")
    ]
    # Measured 0.63 to 0.86, and up to 0.92 where the weights of the rows do not follow Lawson.
    assert largest[0] < 0.9 * largest[1]


@pytest.mark.parametrize(("number", "n_nodes"), [(1, 30), (3, 10)])
@pytest.mark.parametrize(("p", "most"), [(1.5, 1.1), (3.0, 1.0), (4.0, 1.0), (8.0, 1.0)])
def test_powers_are_small_in_their_own_norm(number, n_nodes, p, most):
    # Above 2 never larger than with squares, with whose network they begin; measured 0.80 to 0.998.
    example = load_example(number)
    X, y = example.X_train, example.y_train
    sizes = [
        measure(f"p={p}", y - GreedyNetRegressor(n_nodes, loss=loss).fit(X, y).predict(X))
        for loss in (p, "squared_error")
    ]
    assert sizes[0] < most * sizes[1]


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "quantile", "chebyshev", 1.5, 4.0])
def test_a_close_fit_stays_close(loss, request):
    if loss == "absolute_error":
        reason = "1.37 times: rows that are met have most of the weight"
        request.applymarker(pytest.mark.xfail(reason=reason))
    # Thirty nodes for fifty rows without noise: most residuals vanish, and count for nothing.
    example = load_example(1)
    errors = []
    for chosen in (loss, "squared_error"):
        model = GreedyNetRegressor(30, loss=chosen).fit(example.X_train, example.y_train)
        errors.append(relative_error(model.predict(example.X_test), example.y_test))
    assert errors[0] < 1.3 * errors[1]


@every_loss
def test_correction_pays(name):
    example = load_example(3)
    model = GreedyNetRegressor(15, **LOSSES[name]).fit(example.X_train, example.y_train)
    residuals = example.y_train - model.predict(example.X_train)
    centred = example.y_train - example.y_train.mean()
    error = measure(name, residuals) / measure(name, centred)
    assert model.path_.kept_error == pytest.approx(error, rel=1e-8)
    grown = GreedyNetRegressor(15, correct=False, **LOSSES[name])
    grown.fit(example.X_train, example.y_train)
    assert error < 0.7 * grown.path_.training_errors[-1]


@every_loss
@pytest.mark.parametrize("parameters", [{"max_nodes": 15}, {"max_nodes": 30}])
def test_few_noisy_rows_are_not_lost_in_the_ridge(name, parameters, data):
    # The ridge is the data's choice; with a third of the rows it once smoothed all away.
    model = GreedyNetRegressor(**LOSSES[name], **parameters).fit(*data)
    assert model.score(*noisy(n_rows=2000, n_features=3, seed=5)) > 0.9


# Indifference


@every_loss_by_turns
def test_weights_are_repeated_rows_and_order_is_nothing(small, data, name):
    X, y = data
    weights = np.random.RandomState(0).randint(0, 4, len(X))
    repeated = np.random.RandomState(1).permutation(np.repeat(np.arange(len(X)), weights))
    wanted = small(**LOSSES[name]).fit(X, y, weights).predict(X)
    found = small(**LOSSES[name]).fit(X[repeated], y[repeated]).predict(X)
    np.testing.assert_array_equal(found, wanted)
    there = weights > 0
    left_out = small(**LOSSES[name]).fit(X[there], y[there], 8.0 * weights[there]).predict(X)
    np.testing.assert_array_equal(left_out, wanted)
    assert not np.array_equal(small(**LOSSES[name]).fit(X, y).predict(X), wanted)


@every_loss_by_turns
def test_several_outputs_share_one_layer(small, data, name):
    X, y = data
    Y = np.column_stack([y, np.cos(4 * X[:, 1]), X[:, 2]])
    model = small(**LOSSES[name], select="last").fit(X, Y)
    grown = small(**LOSSES[name], select="last", correct=False).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    np.testing.assert_allclose(model.predict(X)[:, 2], X[:, 2], atol=1e-9)
    np.testing.assert_allclose(model.path_.training_errors[0], grown.path_.training_errors[0])
    # Each output by itself has the best weights of the neurons.
    loss = dict(zip(LOSSES, OBJECTS, strict=True))[name]
    columns = np.column_stack([model.network_.hidden(X), X, np.ones(len(X))])
    best = loss.fit(np.linalg.qr(columns)[0], Y[:, :2], None)
    np.testing.assert_allclose(
        [measure(name, r) for r in (Y - model.predict(X)).T[:2]],
        [measure(name, r) for r in best.residuals.T],
        rtol=1e-6,
    )


# Around the fit


class Own:
    """The pinball loss of the library, as one of a user's own."""

    name, arguments, theirs = "own", {}, Quantile(0.8)
    fit, size = theirs.fit, theirs.size


class Weighting(Own):
    """It says how it weights rows, too."""

    row_weights = Own.theirs.row_weights


@with_and_without_weights
def test_a_loss_of_ones_own_that_weights_rows_is_corrected(data, weighted):
    X, y = data
    w = np.random.RandomState(0).uniform(0.2, 3.0, len(X)) if weighted else None
    model, theirs = (GreedyNetRegressor(12, loss=f).fit(X, y, w) for f in (Weighting(), Own.theirs))
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-9, atol=1e-9)
    grown = GreedyNetRegressor(12, loss=Weighting(), correct=False).fit(X, y, w)
    sizes = [Own.size((y - m.predict(X))[:, None], w) for m in (model, grown)]
    assert sizes[0] < 0.8 * sizes[1]
    centred = Own.size((y - np.average(y, weights=w))[:, None], w)
    assert model.path_.kept_error == pytest.approx(sizes[0] / centred, rel=1e-8)


def test_a_loss_of_ones_own_that_does_not_stays_as_grown(data):
    X, y = data
    with pytest.warns(NotCorrectedWarning, match="is kept as grown") as seen:
        model = GreedyNetRegressor(max_nodes=12, loss=Own()).fit(X, y)
    (warning,) = seen
    assert str(warning.message) == (
        "The network is kept as grown: `loss='own'` does not define row weights, so its "
        "neurons cannot be corrected. Add `row_weights(residuals, weights)` to it, or write "
        "`correct=False`."
    )
    assert warning.filename == __file__
    grown = GreedyNetRegressor(max_nodes=12, loss=Own(), correct=False).fit(X, y)
    assert model.n_nodes_ == grown.n_nodes_
    for name in ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept"):
        np.testing.assert_array_equal(getattr(model.network_, name), getattr(grown.network_, name))
    np.testing.assert_array_equal(model.ladder_.errors, grown.ladder_.errors)


def test_nobody_is_warned_who_did_not_ask_for_a_correction(data):
    X, y = data
    for parameters in ({"correct": False}, {"search": Dictionary(n_points=100)}):
        GreedyNetRegressor(6, loss=Own(), **parameters).fit(X, y)
    GreedyNetRegressor(6, loss=Weighting()).fit(X, y)
    # Power 2 is least squares, in whichever form.
    GreedyNetRegressor(6, loss=Power(2.0)).fit(X, y)
