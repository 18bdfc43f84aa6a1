"""What must hold for any data: laws on random matrices, and data at the edge of the possible."""

import io
from functools import partial

import joblib
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.callback import ScoringMonitor
from sklearn.model_selection import GridSearchCV, cross_val_score

import scopes
from greedynet import StopReason
from problems import SEARCHES, noisy, regressor
from watching import watch_columns

# They take long, and vary what other tests check once.
pytestmark = pytest.mark.slow

MODES = {
    "continuous": [
        {},
        {"select": "last", "max_nodes": 12},
        {"n_nodes": 4},
        {"correct": False},
        {"alpha": 1e-3},
        {"correct": False, "alpha": 1e9},
    ],
    "dictionary": [
        {},
        {"select": "last", "max_nodes": 12},
        {"n_nodes": 4},
        {"rule": "oga"},
        {"alpha": 1e-3},
        {"rule": "oga", "alpha": 1e9, "memory_budget": 20_000},
    ],
}
each_search = pytest.mark.parametrize("search", SEARCHES)
few_nodes_are_fine = pytest.mark.filterwarnings("ignore::greedynet.FewerNodesWarning")


def estimator(search, **parameters):
    return regressor(search, **{"n_points": 60, **parameters})


dictionary = partial(estimator, "dictionary")


@pytest.fixture(params=SEARCHES)
def small(request):
    """Makes estimators with one of the searches."""
    return partial(estimator, request.param)


def law(**strategies):
    """A property of fits, on the same forty examples in every run."""

    def decorate(test):
        return settings(max_examples=40, derandomize=True, deadline=None)(given(**strategies)(test))

    return decorate


@pytest.fixture(scope="module")
def data():
    return noisy(n_rows=40)


# Laws on small matrices, degenerate ones among them

numbers = st.integers(-3, 3).map(float) | st.builds(
    lambda mantissa, exponent: mantissa * 10.0**exponent,
    st.floats(-10, 10, allow_subnormal=False).filter(lambda m: m == 0 or abs(m) > 1),
    st.integers(-50, 50),
)


def drawn_mode(draw, search, without=()):
    """One of the modes of a search, but for those that change one of the parameters `without`."""
    return draw(st.sampled_from([m for m in MODES[search] if not set(without) & set(m)]))


@st.composite
def problems(draw, elements=numbers, max_rows=8):
    """Inputs and outputs of any shape, one output or several."""
    n_rows, n_features = draw(st.integers(1, max_rows)), draw(st.integers(1, 3))
    shape = draw(st.sampled_from([(n_rows,), (n_rows, 2)]))
    return draw(arrays(float, (n_rows, n_features), elements=elements)), draw(
        arrays(float, shape, elements=elements)
    )


@few_nodes_are_fine
@each_search
@law(problem=problems(), data=st.data())
def test_any_finite_data_can_be_fitted(search, problem, data):
    X, y = problem
    mode = drawn_mode(data.draw, search)
    # See `test_a_constant_column_may_be_anything`.
    assume(np.abs(X[:, np.ptp(X, axis=0) == 0]).max(initial=0) < 1e6)
    model = estimator(search, **mode).fit(X, y)
    predictions = model.predict(X)
    assert predictions.shape == y.shape
    assert np.isfinite(predictions).all()
    # Least squares cannot make the outputs larger than they are.
    assert np.abs(predictions).max() <= 2 * np.sqrt(len(y)) * np.abs(y).max()
    repr(model.path_)


integers = st.integers(-3, 3).map(float)


@few_nodes_are_fine
@each_search
@law(problem=problems(integers), data=st.data(), seed=st.integers(0, 99))
def test_weights_are_copies_and_order_is_nothing(search, problem, data, seed):
    X, y = problem
    small = partial(estimator, search, **drawn_mode(data.draw, search))
    rng = np.random.RandomState(seed)
    weights = rng.randint(0, 4, len(X))
    weights[0] += 1
    wanted = small().fit(X, y, weights).predict(X)
    copies = rng.permutation(np.repeat(np.arange(len(X)), weights))
    np.testing.assert_array_equal(small().fit(X[copies], y[copies]).predict(X), wanted)
    order = rng.permutation(len(X))
    model = small().fit(X[order], y[order], 8.0 * weights[order])
    np.testing.assert_array_equal(model.predict(X), wanted)


@few_nodes_are_fine
@each_search
@law(
    problem=problems(integers),
    data=st.data(),
    powers=st.tuples(st.integers(-500, 500), st.integers(-500, 500)),
)
def test_units_that_are_powers_of_two_change_no_bit(search, problem, data, powers):
    X, y = problem
    small = partial(estimator, search, **drawn_mode(data.draw, search))
    constant = (np.ptp(X, axis=0) == 0).any()
    x_unit, y_unit = 1.0 if constant else 2.0 ** powers[0], 2.0 ** powers[1]
    wanted = small().fit(X, y).predict(X) * y_unit
    model = small().fit(X * x_unit, y * y_unit)
    np.testing.assert_array_equal(model.predict(X * x_unit), wanted)


@law(seed=st.integers(0, 9999), data=st.data())
def test_an_affine_function_added_to_the_outputs_comes_back(seed, data):
    """For a given width: without the affine function, the mean may be the better choice."""
    mode = drawn_mode(data.draw, "dictionary", without=["alpha"])
    width = {} if "select" in mode else {"n_nodes": 4}
    small = partial(estimator, "dictionary", **(width | mode))
    rng = np.random.RandomState(seed)
    X = rng.randn(rng.randint(12, 40), rng.randint(1, 4))
    y, affine = rng.randn(len(X)), X @ rng.randn(X.shape[1]) + rng.randn()
    wanted = small().fit(X, y).predict(X) + affine
    found = small().fit(X, y + affine).predict(X)
    np.testing.assert_allclose(found, wanted, atol=1e-7 * np.abs(wanted).max())


# Scales

POWERS = [-1000, -530, 530, 990]


@pytest.mark.parametrize(
    ("x_power", "y_power"),
    [(a, b) for a in (0, *POWERS) for b in (0, *POWERS) if abs(a - b) <= 1000],
)
def test_extreme_units(small, data, x_power, y_power):
    """The same network as without units, as long as its weights are numbers."""
    (X, y), x_scale, y_scale = data, 2.0**x_power, 2.0**y_power
    model = small().fit(X * x_scale, y * y_scale)
    wanted = small().fit(X, y).predict(X) * y_scale
    np.testing.assert_allclose(model.predict(X * x_scale), wanted, rtol=1e-9, atol=1e-9 * y_scale)


@pytest.mark.parametrize(("x_scale", "y_scale"), [(1e-200, 1e200), (1e200, 1e-200), (1e-310, 1)])
def test_units_for_which_there_are_no_weights(small, data, x_scale, y_scale):
    X, y = data
    with pytest.raises(ValueError, match=r"`X`.*`y`.*scale"):
        small().fit(X * x_scale, y * y_scale)


@pytest.mark.parametrize(
    ("x_offset", "y_offset", "accuracy"),
    [(0, 1e9, 1e-6), (0, 1e12, 1e-3), (1e6, 0, 1e-8), (1e9, 0, 1e-5), (1e9, 1e9, 1e-5)],
)
def test_huge_offsets(small, data, x_offset, y_offset, accuracy):
    X, y = data
    wanted = small(n_nodes=8).fit(X, y).predict(X)
    model = small(n_nodes=8).fit(X + x_offset, y + y_offset)
    found = model.predict(X + x_offset) - y_offset
    # The correction enlarges the digits that the offset costs.
    accuracy = 1e-2 if model.search == "continuous" else accuracy
    np.testing.assert_allclose(found, wanted, atol=accuracy)


@pytest.mark.parametrize(
    "constant",
    [2024.0, 1e7, 1.7e18],
)
def test_a_constant_column_may_be_anything(small, data, constant):
    X, y = data
    X = np.column_stack([X, np.zeros(40)])
    wanted = small(n_nodes=8).fit(X, y).predict(X)
    X[:, 2] = constant
    np.testing.assert_allclose(small(n_nodes=8).fit(X, y).predict(X), wanted, atol=1e-6)


def test_columns_of_extreme_scales_side_by_side(small):
    X, y = noisy(n_rows=60, n_features=4)
    scales = np.array([2.0**-900, 1.0, 2.0**-30, 2.0**900])
    found = small().fit(X * scales, y).predict(X * scales)
    np.testing.assert_allclose(found, small().fit(X, y).predict(X), rtol=1e-9)


def test_outputs_of_extreme_scales_side_by_side(small, data):
    X, y = data
    Y = np.column_stack([y, y**2])
    scales = np.array([2.0**-900, 2.0**900])
    found = small().fit(X, Y * scales).predict(X) / scales
    np.testing.assert_allclose(found, small().fit(X, Y).predict(X), rtol=1e-9)


def test_weights_of_a_huge_range(small, data):
    X, y = data
    heavy = np.array([3, 17])
    weights = np.full(40, 1e-250)
    weights[heavy] = 1e250
    model = small().fit(X, y, weights)
    # Two rows count, which cannot tell a line from noise: their mean is kept.
    np.testing.assert_allclose(model.predict(X[heavy]), y[heavy].mean(), rtol=1e-9)
    assert np.isfinite(model.predict(X)).all()


# Forms in which the same data come


# How many nodes


def test_a_validation_set_does_not_overrule_the_number_of_nodes(small):
    X, y = noisy(n_rows=80, noise=0.5)
    model = small(n_nodes=30).fit(X[:40], y[:40], X_val=X[40:], y_val=y[40:])
    assert model.n_nodes_ == 30


def test_a_fold_that_is_soon_exact_does_not_cut_the_others_short(small):
    X = np.linspace(-1, 1, 60)[:, None]
    y = np.abs(X[:, 0])
    rows, right = np.arange(60), X[:, 0] > 0
    # On the left, the mean is better than any network that has seen the right only; everywhere
    # else, networks are.
    others = [rows % n == i for n in (3, 4, 5) for i in range(n)]
    folds = [(right, ~right), *((~held, held) for held in others)]
    model = small(cv=folds, n_points=500, correct=False).fit(X, y)
    assert model.score(X, y) > 0.99


class ByOutput:
    """A splitter that looks at the outputs: every other row in their order."""

    def split(self, X, y=None, groups=None):
        order = np.argsort(np.ravel(y), kind="stable")
        return iter([(order[::2], order[1::2]), (order[1::2], order[::2])])

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2


def test_folds_may_depend_on_the_outputs(small, data):
    folds = list(ByOutput().split(*data))
    found = small(cv=ByOutput()).fit(*data).ladder_.errors
    np.testing.assert_array_equal(found, small(cv=folds).fit(*data).ladder_.errors)


@pytest.mark.parametrize(
    ("parameters", "limit"),
    [
        ({}, 2),
        ({"cv": 5}, 2),
        ({"n_nodes": 15}, 20),
        ({"n_nodes": 30}, 50),
    ],
)
@each_search
def test_no_explosion_between_the_rows(search, parameters, limit):
    """Kinks that crowd between two rows fit noise with huge weights that cancel on the rows."""
    worst = 0.0
    for seed in range(12):
        rng = np.random.RandomState(seed)
        X = rng.uniform(-1, 1, (60, 1))
        y = np.sin(4 * X[:, 0]) + 0.1 * rng.randn(60)
        between = np.linspace(X.min(), X.max(), 3001)[:, None]
        model = estimator(search, n_points=2000, **parameters).fit(X, y)
        worst = max(worst, np.abs(model.predict(between)).max())
    assert worst < limit


def test_a_column_written_twice_with_rounding(small):
    """Celsius and Fahrenheit: where they disagree a little, the prediction moves a little."""
    rng = np.random.RandomState(0)
    celsius = rng.uniform(0, 30, 60)
    X = np.column_stack([celsius, np.round(1.8 * celsius + 32, 5)])
    model = small().fit(X, np.sin(celsius / 5) + 0.1 * rng.randn(60))
    moved = model.predict(X + np.array([0.0, 0.01])) - model.predict(X)
    assert np.abs(moved).max() < 1


def test_rows_without_weight_do_not_make_data_large(small):
    X, y = noisy()
    weights = np.r_[np.ones(len(X)), 0.0]
    with scopes.in_order_above(len(X), few_folds=True):
        wanted = small(max_nodes=6).fit(X, y).predict(X[:50])
        model = small(max_nodes=6).fit(np.r_[X, X[:1]], np.r_[y, 9.0], weights)
    np.testing.assert_array_equal(model.predict(X[:50]), wanted)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_spent_atoms_are_not_proposed_over_and_over(dtype, monkeypatch):
    appended = []
    watch_columns(monkeypatch, appended.append)
    rng = np.random.RandomState(0)
    X = rng.randint(0, 3, (200, 2)).astype(dtype)
    assert (
        dictionary(n_points=2000, select="last").fit(X, rng.randn(200)).stop_reason_
        is StopReason.EXHAUSTED
    )
    assert appended.count(False) < 20


# Around the fit


def test_monitor_of_a_second_fit(small, data):
    """What the monitor logs for the whole fit is the new network, not the one before."""
    X, y = data
    monitor = ScoringMonitor(scoring="r2")
    model = small().fit(X, y).set_callbacks(monitor).fit(X, -y)
    whole = [row["r2"] for row in monitor.get_logs().data if row["task_name"] == "fit"]
    assert whole == [model.score(X, -y)]


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize(
    ("search", "name", "values"),
    [("dictionary", "search__rule", ["ols", "oga"]), ("continuous", "correct", [False, True])],
)
@pytest.mark.all_folds  # settings of a test hold for its own thread
def test_parallel_searches_and_files(data, backend, search, name, values):
    X, y = data
    with joblib.parallel_config(backend):
        grid = GridSearchCV(estimator(search), {name: values}, cv=2, n_jobs=2).fit(X, y)
    alone = cross_val_score(estimator(search).set_params(**{name: values[1]}), X, y, cv=2)
    np.testing.assert_array_equal(grid.cv_results_["mean_test_score"][1], alone.mean())
    file = io.BytesIO()
    joblib.dump(grid.best_estimator_, file)
    file.seek(0)
    loaded = joblib.load(file)
    np.testing.assert_array_equal(loaded.predict(X), grid.predict(X))
    assert loaded.stop_reason_ is grid.best_estimator_.stop_reason_
