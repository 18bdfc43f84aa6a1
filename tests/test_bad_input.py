"""Bad input: every mistake is named after the argument it is in, and leaves nothing half-fitted."""

import errno
import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import KFold

from greedynet import (
    GreedyNetClassifier,
    GreedyNetRegressor,
    Network,
    collapsed_ridgelet_transform,
    fit_table,
    ridgelet_transform,
)
from greedynet.cli import main
from greedynet.losses import Absolute
from greedynet.paper import load_example
from networks import random_deep_network
from problems import (
    SEARCHES,
    circle,
    gaussian,
    golden_spiral,
    noisy,
    regressor,
    sample_sphere,
)
from program import run
from refusals import Refusals, spoiled
from watching import StopAfter, fail_while_growing

X, y = noisy(n_rows=40)
FRAME = pd.DataFrame(X, columns=["a", "b"])
LINE = np.column_stack([X[:, 0], 2 * X[:, 0]])
VALIDATION = {"X_val": X, "y_val": y}
HONEST = {"X": X, "y": y, "sample_weight": np.ones(40), **VALIDATION}
BAD_NUMBERS = [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]


def small(search, **parameters):
    return regressor(search, **({"max_nodes": 8, "n_points": 60} | parameters))


@pytest.fixture(scope="module", params=SEARCHES)
def fitted(request):
    """An honest fit with one of the searches, which no failed one may change."""
    return small(request.param).fit(FRAME, y)


@pytest.fixture(scope="module")
def fitted_dictionary():
    """The same with a dictionary, for what only that has."""
    return small("dictionary").fit(FRAME, y)


refuse = Refusals(FRAME, X=X, y=y)


# Data of a fit


@pytest.mark.parametrize(("value", "what"), BAD_NUMBERS)
@pytest.mark.parametrize("name", HONEST)
def test_numbers_that_are_not_finite(fitted, name, value, what):
    data = HONEST | {name: spoiled(HONEST[name], value)}
    refuse(fitted, ValueError, rf"\b{name} contains {what}", data)


@pytest.mark.parametrize("name", HONEST)
def test_text_for_numbers(fitted, name):
    data = HONEST | {name: spoiled(HONEST[name], "red")}
    refuse(fitted, ValueError, rf"\b{name}\b.*'red'", data)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"X": X[:0], "y": y[:0]}, ValueError, r"0 sample\(s\)"),
        ({"X": X[:, :0]}, ValueError, r"0 feature\(s\) \(shape=\(40, 0\)\)"),
        ({"y": y[:-1]}, ValueError, "`X` and `y` must have the same number of rows, got 40 and 39"),
        ({"y": y[:, None, None]}, ValueError, "dim 3, while dim <= 2"),
        ({"y": np.empty((40, 0))}, ValueError, r"\by\b"),
        ({"y": 1.0}, (TypeError, ValueError), r"\by\b"),
        ({"y": sparse.csr_array(y[:, None])}, (TypeError, ValueError), r"\by\b.*toarray"),
        ({"y": pd.array([1, None] * 20, dtype="Int64")}, ValueError, "y contains NaN"),
        ({"X": FRAME.astype("Float64").mask(FRAME > 0)}, ValueError, "X contains NaN"),
    ],
)
def test_wrong_inputs_and_outputs(fitted, data, error, message):
    refuse(fitted, error, message, data)


@pytest.mark.parametrize("name", ["sample_weight", "sample_weight_val"])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.r_[-1.0, np.ones(39)], "must be non-negative.*got negative values"),
        (-1.0, "must be non-negative.*got negative values"),
        (np.ones(39), r"must have one weight for.*\(39,\)"),
        (np.ones((40, 1)), r"each of the 40 rows, got the shape \(40, 1\)"),
        (np.zeros(40), "zeros only"),
        (0.0, "zeros only"),
        ([], ""),
        (np.nan, "NaN"),
        (spoiled(np.ones(40), np.nan), "NaN"),
    ],
)
def test_wrong_weights(fitted, name, weights, message):
    refuse(fitted, ValueError, rf"\b{name}\b.*{message}", VALIDATION | {name: weights})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"y_val": None}, "`X_val` and `y_val` must be passed together: `y_val` is missing"),
        ({"X_val": None}, "`X_val` and `y_val` must be passed together: `X_val` is missing"),
        ({"X_val": None, "y_val": None, "sample_weight_val": y}, "`X_val` is missing"),
        ({"X_val": X[:, :1]}, "`X_val` must have as many columns as the training data, 2, got 1"),
        (
            {"y_val": np.c_[y, y]},
            "`y_val` must have as many columns as the training data, 1, got 2",
        ),
        ({"y": np.c_[y, y]}, "`y_val` must have as many columns as the training data, 2, got 1"),
        ({"X_val": X[:5]}, "`X_val` and `y_val` must have the same number of rows, got 5 and 40"),
        (
            {"X": FRAME, "X_val": FRAME[["b", "a"]]},
            r"`X_val` must have the columns of `X` in the same order, \['a', 'b'\], got "
            r"\['b', 'a'\]: write X_val\[X.columns\]",
        ),
        ({"X": FRAME, "X_val": FRAME.rename(columns={"a": "c"})}, r"`X_val`.*got \['c', 'b'\]"),
        ({"X_val": X[:0], "y_val": y[:0]}, "X_val"),
        ({"X_val": X[:, 0]}, "X_val"),
        ({"y_val": y[:, None, None]}, "y_val"),
    ],
)
def test_wrong_validation_data(fitted, data, message):
    refuse(fitted, ValueError, message, {"X": X, "y": y} | VALIDATION | data)


# Parameters


@pytest.mark.parametrize(
    ("name", "expected", "values"),
    [
        ("n_nodes", r"an int in the range \[1, inf\) or None", [0, -1, 2.5, "3"]),
        ("max_nodes", r"an int in the range \[1, inf\) or None", [0, -3, 1.5]),
        ("tol", r"a float in the range \[0.0, inf\)", [-1e-3, np.nan, np.inf, None]),
        ("select", r"a str among {.*'1se'.*} or a float in the range \[0.0, inf\)", ["2se", -0.1]),
        ("cv", r"an int in the range \[2, inf\), an object.*'split'", [0, 1, -2, 2.5]),
        ("search", "a str among {.*'dictionary'.*}", ["nope", None]),
        ("correct", "an instance of 'bool'", ["yes", None, 2]),
        (
            "alpha",
            r"a float in the range \[0.0, inf\) or a str among {'auto'}",
            ["no", -1, np.nan, np.inf, None],
        ),
        ("random_state", "an int in the range", [-1, "seed", 2.5]),
        ("n_jobs", "an instance of 'int' or None", ["all", 1.5]),
    ],
)
def test_parameters_out_of_range(fitted, name, expected, values):
    for value in values:
        message = f"'{name}' parameter of GreedyNetRegressor must be {expected}.*Got "
        refuse(fitted, ValueError, message + re.escape(f"{value!r} instead"), **{name: value})


@pytest.mark.parametrize(
    ("name", "expected", "values"),
    [
        ("points", "an array-like or None", ["circle", 3]),
        ("n_points", r"an int in the range \[1, inf\) or None", [0, -5, 2.5]),
        ("min_active", r"an int in the range \[1, inf\) or None", [0, -1, 2.5]),
        ("rule", "a str among {.*'ols'.*}", ["omp", None]),
        ("reduction", r"a float in the range \[0.0, 1.0\), a str among", [-1, 1, "radon", np.nan]),
        ("memory_budget", r"a float in the range \[1.0, inf\)", [0, -1, "1GB", np.nan]),
    ],
)
def test_parameters_of_a_dictionary_out_of_range(fitted_dictionary, name, expected, values):
    for value in values:
        message = f"'{name}' parameter of Dictionary must be {expected}.*Got "
        message += re.escape(f"{value!r} instead")
        refuse(fitted_dictionary, ValueError, message, **{f"search__{name}": value})


@pytest.mark.parametrize("kind", [GreedyNetRegressor, GreedyNetClassifier])
@pytest.mark.parametrize("name", ["points", "linear_term", "verbose", "quantile", "margin"])
def test_names_that_are_no_parameters(kind, name):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        kind(**{name: None})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_nodes": 9}, "`n_nodes` must be at most `max_nodes`, got n_nodes=9 and max_nodes=8"),
        ({"n_nodes": 1}, "`n_nodes` must be at least 2, the nodes of the affine.*write n_nodes=2"),
        ({"max_nodes": 1}, "`max_nodes` must be at least 2, .*got 1: write max_nodes=2 for a line"),
        *(
            ({"n_nodes": 5, "select": s}, f"`select` chooses the number of nodes, got select={s!r}")
            for s in (0.1, "last")
        ),
        ({"cv": 41}, "`cv` must be at most the number of distinct rows, got cv=41 and"),
        ({"cv": KFold(41)}, "n_splits=41 greater than the number of samples: n_samples=40"),
        ({"cv": "three"}, "`cv`.*three"),
        ({"activation": "than"}, r"`activation` must be one of \['abs', .*'tanh'\].*got 'than'"),
        ({"n_jobs": 0}, "`n_jobs` must not be 0; use 1 for one thread or -1 for all cores"),
    ],
)
def test_parameters_that_do_not_fit_the_data(fitted, parameters, message):
    refuse(fitted, ValueError, message, **parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"memory_budget": 100}, r"`memory_budget` must cover.*at least \d+ bytes, got 100: inc"),
        ({"points": np.ones((5, 2))}, "`points` must have 3 columns.*the bias last, got 2"),
        ({"points": np.full((5, 3), np.nan)}, "points contains NaN"),
        ({"points": np.full((5, 3), np.inf)}, "points contains infinity"),
        ({"points": np.ones(3)}, "points"),
        ({"points": [[]]}, "points"),
        ({"points": [["a", "b", "c"]]}, "points"),
    ],
)
def test_points_that_do_not_fit_the_data(fitted_dictionary, parameters, message):
    of_dictionary = {f"search__{name}": value for name, value in parameters.items()}
    refuse(fitted_dictionary, ValueError, message, **of_dictionary)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (1, '`loss` as a power .* above 1, got 1.0: write "absolute_error"'),
        (0.5, "`loss` as a power must be a finite number above 1, got 0.5"),
        (-2.0, "above 1, got -2.0: write"),
        (np.nan, "`loss` as a power .* above 1, got nan: write"),
        (np.inf, 'got inf: write "chebyshev"'),
        ("squared", '`loss` must be .* write "squared_error" for least'),
        (None, "`loss` must be one of .*got None"),
        (Absolute, "`loss` must be one of .*got <class"),
    ],
)
def test_losses_that_are_none(fitted, loss, message):
    refuse(fitted, ValueError, message, loss=loss)


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "quantile", "chebyshev", 1.5])
def test_a_ridge_of_a_dictionary_with_another_loss(fitted_dictionary, loss):
    message = f'`alpha` requires loss="squared_error", got it with loss={loss!r}: omit `alpha`'
    refuse(fitted_dictionary, ValueError, message, loss=loss, alpha=1e-3)


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "quantile", "chebyshev", 1.5])
def test_no_ridge_for_another_loss_unless_as_grown(loss):
    model = GreedyNetRegressor(n_nodes=4, loss=loss, alpha=0)
    with pytest.raises(
        ValueError, match=r'`alpha` requires loss="squared_error", .*: omit `alpha`'
    ):
        model.fit(X, y)
    assert model.set_params(correct=False).fit(X, y).alpha_ == 0.0


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "`cv`.*no fold"),
        ([3, 4], "`cv` must yield pairs of two arrays.*, got 3: write cv=5"),
        ([(np.arange(3),)], "`cv`"),
        ([(np.arange(50), np.arange(3))], "`cv`"),
        ([(np.arange(0), np.arange(3))], "`cv`"),
        ([(np.arange(3), np.arange(0))], "`cv`"),
        ([(0, 1)], r"`cv` must yield pairs of two arrays.*, got \(0, 1\): write cv=5"),
        ([(None, None)], r"`cv` must yield pairs of two arrays.*, got \(None, None\): write"),
        ([([[0, 1]], [[2]])], r"`cv` must yield pairs of two arrays.*, got \(\[\[0, 1\]\], "),
        ([([0, 1], [2], [3])], r"`cv` must yield pairs of two arrays.*, got \(\[0, 1\], \[2\], "),
        ([([0.5, 1.5], [2.5])], r"`cv` must yield pairs of two arrays.*, got \(\[0.5, "),
    ],
)
def test_folds_that_are_none(fitted, cv, message):
    refuse(fitted, ValueError, message, cv=cv)


def test_a_fold_of_zero_weights(fitted):
    weights = np.r_[np.zeros(20), np.ones(20)]
    refuse(fitted, ValueError, "`cv`.*weight", {"sample_weight": weights}, cv=KFold(2))


def test_folds_that_are_spent():
    model = small("continuous", cv=KFold(3).split(X)).fit(X, y)
    with pytest.raises(ValueError, match="`cv`"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (np.column_stack([X, X[:, 0]]), "1 or 2 features, got 3.*Write `reduction=None`"),
        (LINE, "span the plane, got 32 distinct points on a line: write `reduction=None`"),
        (np.column_stack([X[:, 0], np.ones(40)]), "span the plane"),
        (np.ones((40, 1)), "at least 2 distinct data points, got 1: write `reduction=None`"),
    ],
)
def test_reduction_where_there_is_no_transform(fitted_dictionary, inputs, message):
    refuse(fitted_dictionary, ValueError, message, {"X": inputs}, search__reduction="ridgelet")


# A fit that is interrupted


def test_interrupt_by_a_callback(fitted):
    before = dict(vars(fitted))
    with pytest.raises(KeyboardInterrupt, match="enough"):
        fitted.set_callbacks(StopAfter(3, KeyboardInterrupt)).fit(X[:30, :1], y[:30])
    del fitted._skl_callbacks
    assert vars(fitted) == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, RuntimeError])
@pytest.mark.parametrize(
    ("search", "parameters"),
    [
        *[(search, mode) for search in SEARCHES for mode in ({}, {"cv": 2}, {"n_jobs": 2})],
        ("continuous", {"correct": False}),
        ("dictionary", {}),
    ],
)
def test_interrupt_in_the_middle_of_growing(monkeypatch, error, search, parameters):
    fitted = small(search).fit(FRAME, y)
    fail_while_growing(monkeypatch, error)
    refuse(fitted, error, "power cut", {"X": LINE[:, :1]}, **parameters)


def test_a_fit_after_a_failed_one(fitted):
    model = small(fitted.search)
    with pytest.raises(ValueError, match="X contains NaN"):
        model.fit(spoiled(X, np.nan), y)
    np.testing.assert_array_equal(model.fit(FRAME, y).predict(FRAME), fitted.predict(FRAME))


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        (X[:, :1], ValueError, "X has 1 features, .* expecting 2|`X` must have 2 columns.*got 1"),
        (X[:0], ValueError, r"0 sample\(s\)"),
        (X[0], ValueError, "Expected 2D array, got 1D"),
        ([["a", "b"]], ValueError, r"\bX\b"),
        *[(spoiled(X, value), ValueError, f"X contains {what}") for value, what in BAD_NUMBERS],
    ],
)
def test_prediction_of_bad_inputs(inputs, error, message):
    model = small("continuous").fit(X, y)
    for predict in (model.predict, model.network_.predict):
        with pytest.raises(error, match=message):
            predict(inputs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"biases": np.zeros((3, 1))}, r"`biases` must have the shape \(3,\).*got \(3, 1\)"),
        ({"outer_weights": np.ones((2, 1))}, r"`outer_weights` must have the shape \(3, 1\)"),
        ({"linear_weights": np.ones((3, 1))}, r"`linear_weights` must have the shape \(2, 1\)"),
        ({"intercept": 1.0}, r"`intercept` must have the shape \(1,\).*got \(\)"),
        ({"outer_weights": np.ones((3, 2))}, "got 2: write `single_output=False`"),
        (
            {"ramps": random_deep_network().ramps},
            "`inner_weights` must have 10 columns, for 3 inputs and 7 `ramps`, got 2",
        ),
        ({"inner_weights": np.ones(3)}, "`inner_weights`"),
        ({"inner_weights": np.ones((3, 2, 1))}, "`inner_weights`"),
        ({"inner_weights": None}, "`inner_weights`"),
        ({"inner_weights": [["a", "b"]] * 3}, "`inner_weights`"),
        ({"outer_weights": np.ones(3)}, "`outer_weights`"),
        ({"inner_weights": np.full((3, 2), np.nan)}, "inner_weights"),
        ({"biases": np.full(3, np.inf)}, "biases"),
        ({"outer_weights": np.full((3, 1), np.nan)}, "outer_weights"),
        ({"activation": "than"}, "`activation`.*'than'"),
        ({"activation": None}, "`activation`"),
    ],
)
def test_arrays_that_make_no_network(change, message):
    arrays = {
        "inner_weights": np.ones((3, 2)),
        "biases": np.zeros(3),
        "outer_weights": np.ones((3, 1)),
    }
    with pytest.raises((ValueError, TypeError, IndexError, AttributeError), match=message):
        Network(**arrays | change)


# The ridgelet transform


def collapse(points, inputs, outputs):
    return collapsed_ridgelet_transform(points, inputs, outputs)


def transform(points, inputs, outputs):
    return ridgelet_transform(points, [0.5, 1.0], inputs, outputs)


@pytest.mark.parametrize("function", [collapse, transform])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"points": circle(9)}, r"`points` must have one column more than `X`.*: 3, got 2"),
        ({"points": np.full((9, 3), np.nan)}, "points contains NaN"),
        ({"X": spoiled(X, np.nan)}, "X contains NaN"),
        ({"X": spoiled(X, np.inf)}, "X contains infinity"),
        ({"y": spoiled(y, np.nan)}, "y contains NaN"),
        ({"y": y[1:]}, "`X` and `y` must have the same number of rows, got 40 and 39"),
        ({"X": np.ones((40, 3))}, "1 or 2 features, got 3"),
        ({"X": LINE}, "span the plane, got 40 distinct points on a line"),
        ({"X": X[:2], "y": y[:2]}, "span the plane"),
        ({"X": np.ones((40, 1)), "points": circle(9)}, "at least 2 distinct data points, got 1"),
        ({"points": circle(9)[0]}, "points"),
        ({"points": np.empty((0, 3))}, "points"),
        ({"X": X[:, 0]}, r"\bX\b"),
        ({"y": ["a"] * 40}, r"\by\b"),
        ({"y": y[:, None, None]}, r"\by\b"),
    ],
)
def test_bad_data_for_the_transform(function, change, message):
    data = {"points": golden_spiral(9), "X": X, "y": y} | change
    with pytest.raises(ValueError, match=message):
        function(data["points"], data["X"], data["y"])


def test_transform_of_several_outputs():
    with pytest.raises(ValueError, match="`y` must have one output, got 2: transform one column"):
        transform(golden_spiral(9), X, np.c_[y, y])


@pytest.mark.parametrize("reach", [0, -1, np.nan, np.inf, "far"])
def test_bad_reach(reach):
    with pytest.raises((ValueError, TypeError), match=f"`reach` must be .*{reach}"):
        collapsed_ridgelet_transform(golden_spiral(9), X, y, reach=reach)


@pytest.mark.parametrize("radii", [[np.nan], [np.inf], [], 1.0, [-1.0], [0.0], [[1.0, 2.0]]])
def test_bad_radii(radii):
    with pytest.raises((ValueError, TypeError), match="radii"):
        ridgelet_transform(golden_spiral(9), radii, X, y)


@pytest.mark.parametrize("threshold", [-0.1, 1, 2, np.nan, "half", None])
def test_bad_threshold(threshold):
    transform = collapse(golden_spiral(9), X, y)
    with pytest.raises((ValueError, TypeError), match=f"`threshold` must be .*{threshold}"):
        transform.keep(threshold)


# Points, examples, atoms


@pytest.mark.parametrize(
    "sample", [circle, golden_spiral, lambda n: gaussian(n, 3), lambda n: sample_sphere(4, n)]
)
@pytest.mark.parametrize("n_points", [0, -1, "ten", 2.5])
def test_bad_number_of_points(sample, n_points):
    with pytest.raises((ValueError, TypeError), match=f"`n_points` must be .*{n_points}"):
        sample(n_points)


@pytest.mark.parametrize("sample", [sample_sphere, lambda d: gaussian(5, d)])
@pytest.mark.parametrize("n_features", [0, -1, -2, 2.5])
def test_bad_number_of_features(sample, n_features):
    with pytest.raises((ValueError, TypeError, IndexError), match="`n_features` must be"):
        sample(n_features)


@pytest.mark.parametrize("number", [0, 6, -1, 2.5, "1", None, [1]])
def test_examples_that_the_paper_does_not_have(number):
    message = r"`number` must be one of 1, 2, 3, 4, 5.*got " + re.escape(repr(number))
    with pytest.raises((ValueError, TypeError), match=message):
        load_example(number)


# The command line

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes there")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Models: of a table, of arrays, of two outputs."""
    folder = tmp_path_factory.mktemp("saved")
    fit_table(FRAME.assign(y=y), "y", n_nodes=2).save(folder / "m")
    GreedyNetRegressor(n_nodes=2).fit(X, y).save(folder / "plain")
    GreedyNetRegressor(n_nodes=2).fit(X, np.c_[y, -y]).save(folder / "two")
    return folder


@pytest.fixture
def folder(saved, tmp_path, monkeypatch):
    """A current folder with these models, one of them by four names, and a table."""
    monkeypatch.chdir(tmp_path)
    names = {"m": "m", "m.html": "m", "m.keras": "m", "m.csv": "m", "plain": "plain", "two": "two"}
    for name, model in names.items():
        (tmp_path / name).write_bytes((saved / model).read_bytes())
    FRAME.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    FRAME.to_csv(tmp_path / "inputs.csv", index=False)
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def refused(folder, arguments):
    """Demand the exit code of a mistake, every file as it was, and return what was said."""
    before = contents(folder)
    said = run(*arguments.split(), code=2).stderr
    assert contents(folder) == before
    return said


@pytest.mark.parametrize(
    ("arguments", "new", "old"),
    [
        ("fit d.csv --target y --out d.csv", "--out", "DATA"),
        ("fit d.csv --target y --out x --report ./x", "--report", "--out"),
        ("fit d.csv --target y --out x --report z --checkpoint z", "--checkpoint", "--report"),
        ("fit d.csv --target y --validate m.csv --out m.csv", "--out", "--validate"),
        ("predict m.csv d.csv --out m.csv", "--out", "MODEL"),
        ("predict m d.csv --out link", "--out", "DATA"),
        ("report m.html", "--out", "MODEL"),
        ("report m d.csv --out d.csv", "--out", "DATA"),
        ("report m --held-out d.csv --out d.csv", "--out", "--held-out"),
        ("export m --to c --out m", "--out", "MODEL"),
    ],
)
def test_results_replace_no_other_file(folder, arguments, new, old):
    (folder / "link").symlink_to("d.csv")
    said = refused(folder, arguments)
    assert f"`{new}` must be a separate file, got " in said
    assert f"which is also `{old}`: use another name for {new}." in said


@needs_pipes
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("fit d.csv --target y --out pipe", "--out"),
        ("fit d.csv --target y --out x --report pipe", "--report"),
        ("fit d.csv --target y --out x --checkpoint pipe", "--checkpoint"),
        ("predict m d.csv --out link", "--out"),
        ("report m --out pipe", "--out"),
        ("export m --to c --out pipe", "--out"),
    ],
)
def test_pipes_are_no_place_for_results(folder, arguments, name):
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("pipe")
    assert f"`{name}` must name a file, got " in refused(folder, arguments)
    assert (folder / "pipe").is_fifo()
    assert (folder / "link").is_symlink()


@pytest.mark.parametrize("before", [None, b"old"])
def test_links_are_written_through(folder, before):
    (folder / "inner").mkdir()
    if before is not None:
        (folder / "inner" / "target.csv").write_bytes(before)
    (folder / "link").symlink_to("inner/target.csv")
    for out in ("link", "plain.csv"):
        run("predict", "m", "d.csv", "--out", out)
    assert (folder / "link").is_symlink()
    assert contents(folder / "inner") == {"target.csv": (folder / "plain.csv").read_bytes()}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("link", "got 'link', a link to itself"),
        ("no/x", "got 'link': create the folder"),
        (".", "got the folder 'link'"),
    ],
)
def test_links_that_lead_nowhere(folder, target, message):
    (folder / "link").symlink_to(target)
    assert message in refused(folder, "predict m d.csv --out link")
    assert (folder / "link").is_symlink()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("fit d.csv --target y --out -", "--out"),
        ("fit d.csv --target y --out x --report -", "--report"),
        ("fit d.csv --target y --out x --validate -", "--validate"),
        ("predict - d.csv --out x", "MODEL"),
        ("export m --to c --out -", "--out"),
    ],
)
def test_standard_input_and_output_are_refused_where_files_are_needed(folder, arguments, name):
    said = refused(folder, arguments)
    assert f"Invalid value for '{name}': Standard input and output" in said
    assert "pass a path" in said


@needs_pipes
@pytest.mark.parametrize("arguments", ["fit pipe --target y --out x", "predict m pipe --out x"])
def test_tables_are_not_read_from_pipes(folder, arguments):
    os.mkfifo(folder / "pipe")
    said = refused(folder, arguments)
    assert "'pipe' is a pipe or a device, but a table is read more than once" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("report two", "--output must select one of the 2 outputs to show, got None: write --outp"),
        (
            "report two --output 2",
            "of the 2 outputs to show, got 2: write --output 0 for the first",
        ),
        ("report two --output -1", "Invalid value for '--output'"),
        ("report plain d.csv", "If one of its columns is to be predicted, give --target."),
        ("report plain inputs.csv", "does not know which column it predicts: give --target."),
        ("evaluate plain d.csv", "If one of its columns is to be predicted, give --target."),
        ("evaluate plain inputs.csv", "does not know which column it predicts: give --target."),
        ("fit d.csv --target y --out x --ignore y", "--ignore contains the target 'y', which is"),
        ("fit d.csv --target y --out x --text y", "--text contains the target 'y'"),
        (
            "fit d.csv --target y --out x --ignore a --ignore b",
            "--ignore contains every column of d",
        ),
    ],
)
def test_advice_names_options_that_there_are(folder, arguments, message):
    assert message in refused(folder, arguments)


def test_reports_of_one_of_several_outputs(folder):
    for output in ("0", "1"):
        given = ("--target", "y", "--output", output, "--out", f"{output}.html")
        run("report", "two", "d.csv", *given)
    assert (folder / "0.html").read_bytes() != (folder / "1.html").read_bytes()
    run("report", "plain", "d.csv", "--target", "y")


# Ctrl-C, and readers that leave

# Imported before all else, these act in the place of the user, at the worst moment.
INTERRUPTION = """
import sys

class Finder:
    def find_spec(self, name, *_):
        if name == {moment!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Finder())
"""


def program(folder, *arguments, before):
    """Run the program as it is installed, after some code of the interpreter's own start."""
    (folder / "sitecustomize.py").write_text(before)
    about = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    module, _, function = about["project"]["scripts"]["greedynet"].partition(":")
    code = f"import sys; from {module} import {function}; sys.exit({function}())"
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", code, *arguments]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    "moment", ["greedynet.cli", "click", "greedynet.cli.commands.info", "numpy"]
)
def test_interrupts_while_the_program_is_imported(folder, moment):
    done = program(folder, "info", "m", before=INTERRUPTION.format(moment=moment))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another thing there")
def test_interrupts_between_the_options(folder, monkeypatch):
    """While arguments are parsed, which click by itself answers with exit code 1."""

    def interrupt(*arguments):
        os.kill(os.getpid(), signal.SIGINT)

    for group in (main, main.commands["info"]):
        with monkeypatch.context() as patch:
            patch.setattr(group, "parse_args", interrupt)
            assert run("info", "m", code=130).stderr == "interrupted\n"


def test_readers_that_leave(folder, monkeypatch):
    def left(*arguments):
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    monkeypatch.setattr("greedynet.cli.commands.info.describe", left)
    assert run("info", "m", code=1).stderr == ""
