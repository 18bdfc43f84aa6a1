"""What docs/reliability.md promises, on a sample of the campaigns, and what they have found."""

import errno
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import greedynet
import scopes
from greedynet import (
    CheckpointWarning,
    GreedyNetClassifier,
    GreedyNetRegressor,
    ModelFileError,
    fit_table,
    load,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import hostilearrays
import hostilefiles
import hostilenames
import hostiletables

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
y = np.abs(X[:, 0]) + 0.1 * rng.normal(size=40)
CLASSES = np.where(y > 0.6, "many", "few")


# Samples of the campaigns


def seeds(few, many):
    """Some seeds, and more where the slow tests run."""
    return [
        pytest.param(range(few), id="few"),
        pytest.param(range(few, many), id="many", marks=pytest.mark.slow),
    ]


def outcomes(attempt, numbers):
    """Count what became of attempts; a fault names its seed."""
    found = []
    for seed in numbers:
        try:
            found.append(attempt(seed))
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    return {outcome: found.count(outcome) for outcome in set(found)}


@pytest.mark.parametrize("numbers", seeds(60, 800))
def test_files_are_refused_or_give_a_model_that_works(tmp_path, numbers):
    def attempt(seed):
        return hostilefiles.verdict(hostilefiles.draw(seed)[1], tmp_path / "model")

    assert set(outcomes(attempt, numbers)) == {hostilefiles.REFUSED, hostilefiles.LOADED}


@pytest.mark.parametrize("numbers", seeds(16, 150))
def test_arrays_are_refused_by_name_or_fitted(tmp_path, numbers):
    def attempt(seed):
        return hostilearrays.verdict(hostilearrays.draw(seed), tmp_path / "model")

    assert set(outcomes(attempt, numbers)) == {hostilearrays.REFUSED, hostilearrays.ANSWERED}


# Attempts that were faults once.
ONCE_FAULTS = [
    1928,  # a held-out row whose scaled input overflows
    2856,  # a validation row whose logits overflow
    7100,  # outputs so small that their deviation is zero
    7569,  # weights of classes that overflow in the units of the data
    8023,  # a held-out row whose prediction overflows, with another loss
    18387,  # a held-out row whose error overflows, to the power of a loss
    19703,  # a score far beyond all others, for the distribution of errors
    27206,  # a held-out row far beyond the ramps of a first layer
    27982,  # an error far beyond those of other widths
    28440,  # a held-out row, to the third power
    41480,  # features among the smallest numbers, for the sizes of errors
    47208,  # errors that are stretched beyond all numbers
    49674,  # a penalty that overflows where a descent begins
]


def test_arrays_that_were_faults(tmp_path):
    def attempt(seed):
        with scopes.few_folds():
            return hostilearrays.verdict(hostilearrays.draw(seed), tmp_path / "model")

    assert set(outcomes(attempt, ONCE_FAULTS)) <= {hostilearrays.REFUSED, hostilearrays.ANSWERED}


@pytest.mark.parametrize("numbers", seeds(20, 300))
def test_tables_are_refused_with_a_reason_or_fitted(tmp_path, numbers):
    def attempt(seed):
        return hostiletables.verdict(hostiletables.draw(seed), tmp_path)

    assert set(outcomes(attempt, numbers)) == {hostiletables.REFUSED, hostiletables.ANSWERED}


@pytest.mark.parametrize("numbers", seeds(20, 300))
def test_names_levels_and_paths_are_no_code(tmp_path, numbers):
    def attempt(seed):
        with scopes.few_folds():
            return hostilenames.verdict(hostilenames.draw(seed), tmp_path)

    known = {hostilenames.SAME, hostilenames.REFUSED, hostilenames.LOADED}
    assert hostilenames.SAME in (found := set(outcomes(attempt, numbers)))
    assert found <= known


# Forged files


def forge(model, path, change):
    """Save a model with a change to its tree, and the right checksum."""
    model.save(path)
    header, tree, body = hostilefiles.opened(path.read_bytes())
    change(tree, header)
    path.write_bytes(hostilefiles.signed(header, tree, body))
    return path


@pytest.fixture(scope="module")
def classifier():
    return GreedyNetClassifier(4).fit(X, CLASSES)


def test_text_of_a_forged_width_takes_no_memory(tmp_path, classifier):
    def widen(tree, header):
        tree["fitted"]["classes_"]["text"]["dtype"] = "<U200000000"

    loaded = load(forge(classifier, tmp_path / "model", widen))
    assert loaded.classes_.nbytes < 2**20
    np.testing.assert_array_equal(loaded.predict(X), classifier.predict(X))


def set_text(**state):
    def change(tree, header):
        tree["fitted"]["classes_"]["text"].update(state)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_text(dtype="i8,(9000000000)f8"), "`dtype` must be"),
        (set_text(dtype="<U2"), "room for 4 characters"),
        (set_text(values=["few", 3]), "list of texts"),
        (set_text(values=["one"]), r"`classes_` must give the shape \(2,\)"),
        (set_text(values=["a", "b", "c"]), r"`classes_` must give the shape \(2,\)"),
        (lambda tree, _: tree["fitted"].update(predict=3), "`predict` is not the name of a fitted"),
        (lambda tree, _: tree["fitted"].update(network_=3), "`network_` must be a network"),
        (lambda tree, _: tree["fitted"].update(n_features_in_=3), "is expecting 3 features"),
        (lambda tree, _: tree["fitted"]["sets_"]["ClassSets"].update(scores=[1]), "no attribute"),
        (
            lambda tree, _: tree["fitted"]["network_"]["network"].update(biases=[10**400] * 2),
            "does not describe",
        ),
    ],
)
def test_forged_classifiers_are_refused(tmp_path, classifier, change, message):
    with pytest.raises(ModelFileError, match=message):
        load(forge(classifier, tmp_path / "model", change))


def test_forged_arrays_are_refused(tmp_path, classifier):
    name = "fitted.network_.network.inner_weights"

    def complex_numbers(tree, header):
        header[name]["dtype"] = "C64"

    def of_no_rows(tree, header):
        header["nothing"] = {"dtype": "F64", "shape": [0, 2**40], "data_offsets": [0, 0]}

    for change, message in ((complex_numbers, "real numbers"), (of_no_rows, "in a file of")):
        with pytest.raises(ModelFileError, match=message):
            load(forge(classifier, tmp_path / "model", change))


def test_a_forged_table_is_refused(tmp_path):
    model = fit_table({"a": X[:, 0], "y": y}, "y", n_nodes=3)
    for change, message in (
        (lambda tree, _: tree["columns"][0].update(means=[10**400]), "too large"),
        (
            lambda tree, _: tree["columns"].append(tree["columns"][0]),
            "of different names",
        ),
    ):
        with pytest.raises(ModelFileError, match=message):
            load(forge(model, tmp_path / "model", change))


# Extremes


@pytest.mark.parametrize("seed", range(3))
def test_weights_of_all_scales_for_classes(seed):
    weights = 10.0 ** np.random.default_rng(seed).integers(-300, 300, len(X))
    p = GreedyNetClassifier(max_nodes=4).fit(X, CLASSES, weights).predict_proba(X)
    assert np.isfinite(p).all()


def test_the_largest_weights_are_weights():
    weights = 2.0 ** np.arange(-20, 20)
    wanted = GreedyNetRegressor(4).fit(X, y, weights).predict(X)
    copies = np.repeat(np.arange(40), 2)
    found = GreedyNetRegressor(4).fit(X[copies], y[copies], (weights * 2.0**1003)[copies])
    np.testing.assert_array_equal(found.predict(X), wanted)


@pytest.mark.parametrize("activation", ["relu", "relu3"])
def test_validation_rows_may_lie_beyond_all_numbers(activation):
    near = GreedyNetRegressor(max_nodes=3, n_jobs=1, activation=activation)
    near.fit(1e-200 * X, y, X_val=np.full((5, 2), 1e300), y_val=y[:5])
    assert np.isfinite(near.predict(1e-200 * X)).all()


LARGEST = np.clip(3 * X, -1, 1) * 1.7e308


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"X": LARGEST}, r"`X` must hold numbers of at most 1e\+301"),
        ({"y": LARGEST[:, 0]}, r"`y` must hold numbers of at most 1e\+301"),
        ({"X_val": LARGEST, "y_val": y}, "`X_val` must hold numbers of at most"),
        ({"X": [[10**400, 1]] * 40}, "`X` must hold floating-point numbers: int too large"),
        ({"y": [10**400] * 40}, "`y` must hold floating-point numbers: int too large"),
        ({"sample_weight": [10**400] * 40}, "`sample_weight` must hold floating-point numbers"),
        ({"X": np.ma.masked_greater(X, 1)}, r"`X` must have no masked values, got \d+: remove"),
        ({"y": np.ma.masked_greater(y, 1)}, "`y` must have no masked values"),
        ({"sample_weight": np.ma.masked_less(np.arange(40.0), 3)}, "`sample_weight` .* masked"),
        ({"X_val": np.ma.masked_greater(X, 1), "y_val": y}, "`X_val` must have no masked values"),
        (
            {"X": [(np.ma.masked_greater(X, 1), y)], "y": None},
            "masked .* in the first block",
        ),
        ({"X": [(LARGEST, y)], "y": None}, r"`X` must hold .* 1.7e\+308 in block 0"),
    ],
)
def test_extremes_are_named(data, message):
    with pytest.raises(ValueError, match=message):
        GreedyNetRegressor(4).fit(**{"X": X, "y": y, **data})


@pytest.mark.parametrize("name", ["n_nodes", "max_nodes", "alpha", "tol", "max_seconds"])
def test_parameters_of_400_digits_are_named(name):
    with pytest.raises(ValueError, match=rf"`{name}` must be at most .* about 400 digits"):
        GreedyNetRegressor(**{name: 10**400}).fit(X, y)


def test_arrays_without_masked_values_are_arrays():
    wanted = GreedyNetRegressor(4).fit(X, y)
    found = GreedyNetRegressor(4).fit(np.ma.masked_array(X), np.ma.masked_array(y))
    np.testing.assert_array_equal(found.predict(np.ma.masked_array(X)), wanted.predict(X))
    with pytest.raises(ValueError, match="`X` must have no masked values"):
        wanted.predict(np.ma.masked_greater(X, 1))
    with pytest.raises(ValueError, match="`y` must have no masked values"):
        GreedyNetClassifier(4).fit(X, np.ma.masked_equal(CLASSES, "few"))


def test_masked_values_of_a_table_are_empty_cells():
    table = {"a": np.ma.masked_greater(X[:, 0], 1), "b": np.ma.masked_equal(CLASSES, "few"), "y": y}
    with pytest.raises(ValueError, match=r"empty cells: \d+ in 'a'.*\d+ in 'b'"):
        fit_table(table, "y", n_nodes=3, missing=None)
    empty = table | {
        "a": table["a"].filled(np.nan),
        "b": np.where(table["b"].mask, "", table["b"].data),
    }
    found, wanted = (fit_table(t, "y", n_nodes=3, missing="mean") for t in (table, empty))
    np.testing.assert_array_equal(found.predict(table), wanted.predict(empty))


def test_predictions_that_overflow_name_the_row():
    model = GreedyNetRegressor(4, extrapolate=True).fit(X, 1e10 * y)
    rows = np.vstack([X[:2], np.full((1, 2), 1e308)])
    for method in (model.predict, lambda X: model.predict_interval(X, 0.5)):
        with pytest.raises(ValueError, match=r"`X` must be closer .* for row 2 is too large"):
            method(rows)
    assert not np.isfinite(model.network_.predict(rows)[2])


# Disks


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_that_is_full_for_a_while(tmp_path, monkeypatch):
    """Later writes succeed, and an interrupted fit resumes from them."""
    fsync, n_writes = os.fsync, []

    def sometimes_full(file):
        n_writes.append(file)
        if len(n_writes) < 4:
            full_disk()
        fsync(file)

    def stop(n_nodes, error):
        if n_nodes == 5:
            raise KeyboardInterrupt("enough")

    monkeypatch.setattr(os, "fsync", sometimes_full)
    model = GreedyNetRegressor(6).set_progress(stop)
    with (
        scopes.checkpoints_at_once(),
        greedynet.checkpoint(tmp_path / "c"),
        pytest.warns(CheckpointWarning, match="goes on"),
        pytest.raises(KeyboardInterrupt, match="enough"),
    ):
        model.fit(X, y)
    assert (tmp_path / "c").exists()
    wanted = GreedyNetRegressor(6).fit(X, y).predict(X)
    with greedynet.checkpoint(tmp_path / "c"):
        model.set_progress().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), wanted)
    assert not (tmp_path / "c").exists()


@pytest.mark.filterwarnings("ignore::greedynet.CheckpointWarning")
def test_an_interrupt_is_not_hidden_by_a_full_disk(tmp_path, monkeypatch):
    def stop(n_nodes, error):
        raise KeyboardInterrupt("enough")

    monkeypatch.setattr(os, "fsync", full_disk)
    model = GreedyNetRegressor(6).set_progress(stop)
    with (
        pytest.raises(KeyboardInterrupt, match="enough"),
        greedynet.checkpoint(tmp_path / "c"),
    ):
        model.fit(X, y)
