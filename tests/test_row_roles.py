"""Weights, groups, times and weights of classes: `fit_table`, `greedynet fit`, `evaluate`."""

import json
import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.metrics import precision_recall_fscore_support, r2_score

from greedynet import (
    GreedyNetClassifier,
    GreedyNetRegressor,
    TableWarning,
    fit_table,
    load,
    write_report,
)
from greedynet.cli import main
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import folds_of
from greedynet.tables.hold_out import held_out_mask
from greedynet.tables.kinds.dates import ORDERS
from greedynet.tables.readers import TableError
from greedynet.tables.roles import forward_folds, latest, times_of
from reports import contents

N = 120


def run(*arguments, code=0):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X, order = rng.normal(size=(n, 2)), rng.permutation(n)
    y = np.abs(X[:, 0]) + 0.3 * rng.normal(size=n)
    return {
        "a": X[:, 0],
        "b": X[:, 1],
        "year": 1900.0 + order // 3,
        "patient": [f"p{i % 13}" for i in range(n)],
        "w": rng.integers(0, 4, n).astype(float),
        "y": y,
    }


def some(columns, *names):
    return {name: columns[name] for name in names}


def write(path, columns):
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


# Weights


def test_a_weight_stands_for_copies():
    columns = some(table(), "a", "b", "w", "y")
    copies = np.repeat(np.arange(N), columns["w"].astype(int))
    repeated = {name: np.asarray(columns[name])[copies] for name in ("a", "b", "y")}
    weighted = fit_table(columns, "y", max_nodes=5, weights="w")
    plain = fit_table(repeated, "y", max_nodes=5)
    assert weighted.columns.names == ("a", "b")
    np.testing.assert_allclose(
        weighted.predict(some(columns, "a", "b")), plain.predict(some(columns, "a", "b"))
    )
    for name, value in plain.about["training"].items():
        assert weighted.about["training"][name] == pytest.approx(value), name
    assert weighted.score(columns, sample_weight="w") == pytest.approx(plain.score(repeated))
    assert "120 rows, weighted by w, 2 columns" in weighted.summary()


def test_held_out_and_validation_rows_count_by_their_weights():
    columns, other = some(table(), "a", "w", "y"), some(table(seed=1), "a", "w", "y")
    model = fit_table(columns, "y", max_nodes=4, weights="w", hold_out=0.25, validate=other)
    # The error to expect is that on the validation rows.
    assert model.estimator.expected_error_ == pytest.approx(model.about["validation"]["rmse"])
    mask = held_out_mask(model.about["held_out"], columns["y"])
    for found, rows, chosen in (
        (model.about["held_out"], columns, mask),
        (model.about["validation"], other, np.ones(N, dtype=bool)),
    ):
        y, w = rows["y"][chosen], rows["w"][chosen]
        errors = y - model.predict({"a": rows["a"][chosen]})
        assert found["rmse"] == pytest.approx(np.sqrt(np.average(errors**2, weights=w)))
        assert found["mae"] == pytest.approx(np.average(np.abs(errors), weights=w))
        r2 = r2_score(y, y - errors, sample_weight=w)
        assert found["r2"] == pytest.approx(r2)
    y, w = columns["y"], columns["w"]
    off = y[mask] - np.average(y[~mask], weights=w[~mask])
    constant = np.sqrt(np.average(off**2, weights=w[mask]))
    assert model.about["held_out"]["constant"] == pytest.approx(constant)


def test_reports_count_rows_by_their_weights(tmp_path):
    columns = some(table(), "a", "w", "y")
    model = fit_table(columns, "y", n_nodes=3, weights="w", hold_out=0.25)
    write_report(model, tmp_path / "r.html", columns)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert model.summary().splitlines()[0].split(" On rows that")[0] in page
    assert "fitted to 90 rows of the table, weighted by w." in page


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("-1", "column 'w' holds negative weights (1 row, first data row 2)"),
        ("many", "column 'w' must hold numbers"),
        ("", "empty cells: 1 in 'w' (first data row 2)"),
        ("inf", "column 'w' holds infinite numbers"),
    ],
)
def test_weights_that_are_none(tmp_path, cells, message):
    path = tmp_path / "a.csv"
    path.write_text(f"x,w,y\n1,1,1\n2,{cells},2\n3,1,3\n4,0,4\n")
    strict = ("--weights", "w", "--missing", "error")
    result = run("fit", path, "--target", "y", *strict, "--out", tmp_path / "m", code=2)
    assert message in result.stderr


def test_all_weights_zero():
    with pytest.raises(TableError, match="weights in column 'w' are all zero"):
        fit_table({"x": [1, 2, 3], "w": [0, 0, 0], "y": [1, 2, 3]}, "y", weights="w")


def test_rows_without_a_weight_are_left_out_where_cells_may_be_empty():
    columns = {"x": [1.0, 2, 3, 4], "w": [1.0, np.nan, 1, 1], "y": [1.0, 9, 3, 4]}
    model = fit_table(columns, "y", weights="w", missing="drop", n_nodes=2)
    assert (model.about["rows"], model.about["left_out"]) == (3, 1)


# Weights of classes


def classes(n=N):
    columns = some(table(n), "a", "b")
    columns["k"] = np.where(columns["a"] + 0.5 * columns["b"] > 1.2, "yes", "no")
    return columns


def test_class_weights_reach_the_classifier(tmp_path):
    data = write(tmp_path / "a.csv", classes())
    options = ["--target", "k", "--nodes", 2, "--out", tmp_path / "m"]
    result = run("fit", data, *options, "--class-weight", "balanced")
    assert "left out count by the weights of their classes." in result.stdout.splitlines()[0]
    assert load(tmp_path / "m").estimator.class_weight == "balanced"
    run("fit", data, *options, "--class-weight", "yes=3", "--class-weight", "no=0.5")
    model = load(tmp_path / "m")
    assert model.estimator.class_weight == {"yes": 3.0, "no": 0.5}
    X = np.column_stack([classes()["a"], classes()["b"]])
    alone = GreedyNetClassifier(2, class_weight={"yes": 3.0, "no": 0.5}).fit(X, classes()["k"])
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X))


@pytest.mark.slow
def test_classes_that_are_numbers_are_named_by_their_texts():
    columns = classes()
    columns["k"] = np.where(columns["k"] == "yes", 1, 0)
    model = fit_table(columns, "k", classes=True, n_nodes=2, class_weight={"1": 4})
    assert model.estimator.class_weight == {1: 4.0}
    columns["k"] = columns["k"] + 0.5
    model = fit_table(columns, "k", classes=True, n_nodes=2, class_weight={"1.5": 4})
    assert model.estimator.class_weight == {"1.5": 4.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "k", "--class-weight", "yes"], "such as yes=3, got 'yes'"),
        (["--target", "k", "--class-weight", "yes=x"], "such as yes=3, got 'yes=x'"),
        (["--target", "k", "--class-weight", "yes=-1"], "such as yes=3, got 'yes=-1'"),
        (
            ["--target", "k", "--class-weight", "maybe=2"],
            "--class-weight must name classes of 'k', no, yes, got 'maybe'",
        ),
        (["--target", "a", "--class-weight", "balanced"], "--class-weight applies to a target of"),
    ],
)
def test_class_weights_that_cannot_be(tmp_path, options, message):
    options = ["--ignore", "k", *options] if "a" in options else options
    data = write(tmp_path / "a.csv", classes())
    assert message in run("fit", data, *options, "--out", tmp_path / "m", code=2).stderr


# Groups and folds


def test_groups_stay_together_in_folds_and_are_set_aside_whole(tmp_path):
    columns = table()
    data = write(tmp_path / "a.csv", some(columns, "a", "b", "patient", "y"))
    options = ["--target", "y", "--max-nodes", 5, "--groups", "patient", "--cv", 3]
    result = run("fit", data, *options, "--hold-out", 0.2, "--out", tmp_path / "m")
    assert "held out (whole groups of patient)" in result.stdout
    model = load(tmp_path / "m")
    assert model.columns.names == ("a", "b")
    groups = np.array(columns["patient"])
    mask = held_out_mask(model.about["held_out"], columns["y"])
    assert not set(groups[mask]) & set(groups[~mask])
    X = np.column_stack([columns["a"], columns["b"]])[~mask]
    alone = GreedyNetRegressor(max_nodes=5, cv=3).fit(X, columns["y"][~mask], groups=groups[~mask])
    assert model.estimator.expected_error_ == alone.expected_error_
    assert json.loads(run("info", tmp_path / "m", "--json").stdout)["roles"] == {
        "groups": "patient"
    }
    # No word about them where they are not needed.
    assert run("predict", tmp_path / "m", data, "--out", tmp_path / "p.csv").stderr == ""


@pytest.mark.slow
def test_groups_alone_set_nothing_aside():
    columns = some(table(), "a", "b", "patient", "y")
    model = fit_table(columns, "y", max_nodes=4, groups="patient")
    assert (model.about["held_out"], model.about["rows"]) == (None, N)
    X = np.column_stack([columns["a"], columns["b"]])
    alone = GreedyNetRegressor(max_nodes=4).fit(X, columns["y"], groups=columns["patient"])
    assert model.estimator.expected_error_ == alone.expected_error_


@pytest.mark.slow
def test_folds_of_a_classifier_keep_groups_together():
    columns = classes()
    columns["g"] = [f"g{i % 7}" for i in range(N)]
    model = fit_table(columns, "k", max_nodes=4, groups="g", cv=3, hold_out=0.3)
    assert model.estimator.get_params()["cv"] == 3
    assert model.columns.names == ("a", "b")


# Time


def test_held_out_rows_are_the_latest_and_folds_go_forward(tmp_path):
    columns = some(table(), "a", "year", "y")
    data = write(tmp_path / "a.csv", columns)
    options = ["--target", "y", "--max-nodes", 4, "--time", "year", "--hold-out", 0.2]
    result = run("fit", data, *options, "--out", tmp_path / "m")
    assert "held out (the latest by year)" in result.stdout
    model = load(tmp_path / "m")
    year, mask = columns["year"], held_out_mask(model.about["held_out"], columns["y"])
    assert mask.sum() == 24
    assert year[mask].min() > year[~mask].max()
    assert model.estimator.cv is None
    X = np.column_stack([columns["a"], year])[~mask]
    folds = forward_folds(year[~mask])
    alone = GreedyNetRegressor(max_nodes=4, cv=folds).fit(X, columns["y"][~mask])
    assert model.estimator.expected_error_ == alone.expected_error_


def test_forward_folds():
    times = np.random.default_rng(0).permutation(np.arange(100) // 4).astype(float)
    folds = forward_folds(times, 5)
    assert len(folds) == 5
    assert len(np.unique(np.concatenate([held for _, held in folds]))) == sum(
        len(held) for _, held in folds
    )
    for train, held in folds:
        assert times[train].max() < times[held].min()
        assert len(train) == np.sum(times < times[held].min())  # all that came before
    assert 45 <= len(folds[0][0]) <= 55
    assert times[folds[-1][1]].max() == times.max()
    # They are folds that estimators take.
    found = folds_of(Rows(times[:, None] + np.arange(100)[:, None] / 1e3, times[:, None]), folds, 0)
    assert [len(held) for _, held in found] == [len(held) for _, held in folds]


def test_few_different_times():
    times = np.repeat([0.0, 1.0, 2.0], 10)
    assert [len(held) for _, held in forward_folds(times)] == [10, 10]
    with pytest.raises(TableError, match=r"enough different values for 5 folds.*at most 2 for"):
        forward_folds(times, 5)
    with pytest.raises(TableError, match="got 1: omit it"):
        forward_folds(np.zeros(10))
    assert latest(times, 0.2).sum() == 10
    assert latest(times, 0.8).sum() == 20  # never all
    columns = {"x": np.arange(30.0), "t": np.zeros(30), "k": ["a"] * 25 + ["b"] * 5}
    with pytest.raises(TableError, match=r"`time` must be .* but 't' is the same in every row"):
        fit_table(columns, "k", time="t", hold_out=0.2)
    with pytest.raises(TableError, match=r"contain the class 'b', .* or omit `time`"):
        fit_table(some(columns, "x", "k"), "k", time="x", hold_out=0.3)


def test_dates_are_times():
    texts = np.array(["2024-02-01", "2023-12-31", "2024-01-31 23:59", "2024-01-31T12:00:00Z"])
    assert np.argsort(times_of(texts, "d", "t")).tolist() == [1, 3, 2, 0]
    numbers = np.array(["10", "9", "-1.5"])
    assert times_of(numbers, "d", "t").tolist() == [10.0, 9.0, -1.5]
    with pytest.raises(TableError, match=r"`time` must be .* such as 2024-01-31 .*'soon'"):
        times_of(np.array(["31.1.2024", "soon"]), "d", "t")
    with pytest.raises(TableError, match=r"`time` must be .*'17'"):  # a number among dates
        times_of(np.array(["31.1.2024", "17"]), "d", "t")
    with pytest.raises(TableError, match="'d' is empty in 1 of them"):
        times_of(np.array(["2024-01-31", ""]), "d", "t")


@pytest.mark.parametrize(
    ("texts", "n_told"),
    [
        (["1.2.2024", "31.12.2023", "31.1.2024"], 1),
        (["01/02/2024", "31/12/2023", "31/01/2024 23:59"], 1),
        (["1 February 2024", "Dec 31, 2023", "31-Jan-2024"], 0),
        (["2024Q2", "2023Q4", "2024Q1"], 0),
    ],
)
def test_times_are_the_dates_of_columns(texts, n_told):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        times = times_of(np.array(texts), "d", "t")
    assert np.argsort(times).tolist() == [1, 2, 0]
    # The order of day and month is said where it was concluded.
    assert len(told) == n_told
    assert times_of(np.array(texts), "d", "t", "dmy").tolist() == times.tolist()


def test_the_order_of_day_and_month_in_times():
    days = ["01/02/2024", "02/01/2024"]
    with pytest.raises(TableError, match=r"`time` 'd' holds .* `dates=\"mdy\"`.*`hold_out_last`"):
        times_of(np.array(days), "d", "t")
    later = {order: np.argmax(times_of(np.array(days), "d", "t", order)) for order in ORDERS}
    assert later == {"dmy": 0, "mdy": 1}
    pairs = np.random.default_rng(0).integers(1, 13, (40, 2))
    columns = {"d": [f"{m}/{d}/2024" for m, d in pairs], "x": pairs[:, 0], "y": np.arange(40.0)}
    for ignore in ("d", ()):  # what was told holds for an input, and for a column that is none
        with warnings.catch_warnings():
            warnings.simplefilter("error", TableWarning)
            options = {"dates": "mdy", "hold_out": 0.5, "max_nodes": 3}
            model = fit_table(columns, "y", time="d", ignore=ignore, **options)
        held = held_out_mask(model.about["held_out"], columns["y"])
        assert min(map(tuple, pairs[held])) > max(map(tuple, pairs[~held]))


def test_dates_of_a_frame():
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2024-01-01", periods=40)[::-1]
    frame = pandas.DataFrame({"day": days, "x": np.arange(40.0), "y": np.arange(40.0) ** 2})
    model = fit_table(frame, "y", time="day", ignore="day", hold_out=0.25, max_nodes=3)
    mask = held_out_mask(model.about["held_out"], frame["y"].to_numpy())
    assert np.flatnonzero(mask).tolist() == list(range(10))


# What does not go together


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"groups": "patient", "time": "year"}, "`time` must be given without `groups`"),
        ({"time": "year", "validate": {"a": [1]}}, "must be given without `validate`"),
        ({"cv": 3, "validate": {"a": [1]}}, "`cv` must be given without `validate`"),
        ({"time": "year", "cv": [([0, 1], [2])]}, "`cv` must be a number of folds with `time`"),
        ({"groups": "patient", "hold_out_last": 0.2}, "`hold_out_last` must be given without"),
        ({"time": "year", "hold_out_last": 0.2}, "without `time`.*write `hold_out`"),
        ({"groups": "y"}, "`groups` must be another column than the target"),
        ({"weights": "y"}, "`weights` must be another column than the target"),
        ({"time": "y"}, "`time` must be another column than the target"),
        ({"weights": "ww"}, "has no column 'ww': did you mean 'w'"),
    ],
)
def test_what_cannot_be(options, match):
    with pytest.raises(TableError, match=match):
        fit_table(table(), "y", **{"ignore": ["patient"], "max_nodes": None, **options})


def test_the_command_names_its_options(tmp_path):
    data = write(tmp_path / "a.csv", table())
    options = ["--target", "y", "--out", tmp_path / "m", "--time", "year", "--hold-out-last", 0.2]
    message = run("fit", data, *options, code=2).stderr
    assert "--hold-out-last must be given without --time" in message
    assert "write --hold-out" in message
    message = run("fit", data, "--target", "y", "--out", tmp_path / "m", "--cv", 1, code=2).stderr
    assert "Invalid value for '--cv'" in message


# Scores of classes, and of models


def test_precision_and_recall_are_scikit_learns(tmp_path):
    columns = classes()
    columns["k"] = np.where(np.arange(N) % 5 == 0, "other", columns["k"])
    columns["w"] = table()["w"]
    data = write(tmp_path / "a.csv", columns)
    run("fit", data, "--target", "k", "--ignore", "w", "--nodes", 2, "--out", tmp_path / "m")
    predicted = load(tmp_path / "m").predict(data)
    assert 1 < len(set(predicted)) < 3  # one class is never predicted
    for options, weights in (([], None), (["--weights", "w"], columns["w"])):
        found = json.loads(run("evaluate", tmp_path / "m", data, "--json", *options).stdout)
        names = [part["class"] for part in found["by_class"]]
        assert names == ["no", "other", "yes"]
        wanted = precision_recall_fscore_support(
            columns["k"], predicted, labels=names, sample_weight=weights, zero_division=np.nan
        )
        for key, values in zip(("precision", "recall"), wanted[:2], strict=True):
            ours = [np.nan if part[key] is None else part[key] for part in found["by_class"]]
            np.testing.assert_allclose(ours, values)
        accuracy = np.average(predicted == columns["k"], weights=weights)
        assert found["accuracy"] == pytest.approx(accuracy)
    lines = run("evaluate", tmp_path / "m", data).stdout.splitlines()
    assert lines[3].split() == ["class", "rows", "precision", "recall"]
    assert lines[5].split() == ["other", "24", "-", "0.000"]


def test_evaluate_says_that_weights_were_left_out(tmp_path):
    columns = some(table(), "a", "w", "y")
    data = write(tmp_path / "a.csv", columns)
    options = ["--target", "y", "--weights", "w", "--nodes", 2, "--out", tmp_path / "m"]
    run("fit", data, *options)
    assert "note: every row counts once; the fit had --weights w" in (
        run("evaluate", tmp_path / "m", data).stderr
    )
    found = json.loads(run("evaluate", tmp_path / "m", data, "--weights", "w", "--json").stdout)
    assert found["rmse"] == pytest.approx(load(tmp_path / "m").about["training"]["rmse"])


def test_score_of_tables_and_arrays(tmp_path):
    columns = some(table(), "a", "b", "y")
    model = fit_table(columns, "y", n_nodes=4)
    X = np.column_stack([columns["a"], columns["b"]])
    wanted = model.estimator.score(X, columns["y"])
    data = write(tmp_path / "a.csv", columns)
    inputs = some(columns, "a", "b")
    for given in ((columns,), (str(data),), (X, columns["y"]), (inputs, columns["y"])):
        assert model.score(*given) == pytest.approx(wanted)
    weights = np.arange(N)
    weighted = model.estimator.score(X, columns["y"], weights)
    assert model.score(X, columns["y"], weights) == pytest.approx(weighted)
    labelled = classes()
    classifier = fit_table(labelled, "k", n_nodes=2)
    right = classifier.predict(some(labelled, "a", "b")) == labelled["k"]
    assert classifier.score(labelled) == np.mean(right)
    with pytest.raises(ValueError, match="`y` must be given for an array"):
        model.score(X)
    with pytest.raises(ValueError, match="`sample_weight` must be the name of a column"):
        model.score(columns, sample_weight=weights)
    with pytest.raises(TableError, match="has no target 'y'"):
        model.score(inputs)


def test_a_truncated_model_knows_which_rows_were_set_aside_but_no_errors(tmp_path):
    columns = some(table(), "a", "b", "y")
    model = fit_table(columns, "y", max_nodes=8, hold_out=0.25)
    small = model.truncate(3)
    assert small.network.n_nodes == 3
    assert small.network.feature_names == ("a", "b")
    np.testing.assert_array_equal(
        small.predict(columns), model.estimator.truncate(3).predict(model.inputs(columns))
    )
    assert small.about["training"] is None
    assert small.about["held_out"]["rows"] == 30
    assert "held out" not in small.summary()
    small.save(tmp_path / "m")
    assert load(tmp_path / "m").score(columns) == small.score(columns)
    write_report(small, tmp_path / "r.html", columns)
    assert contents(tmp_path / "r.html")["rows"]["all"] == 30
    bare = fit_table(columns, "y", n_nodes=3)
    with pytest.raises(AttributeError, match="only its network"):
        type(bare)(bare.columns, bare.network).truncate(2)
