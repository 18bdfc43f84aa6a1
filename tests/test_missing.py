"""Missing values: learned by indicators beside the mean, where gaps say something."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from extras import need
from greedynet import (
    GreedyNetClassifier,
    GreedyNetRegressor,
    TableWarning,
    fit_table,
    load,
    write_report,
)
from greedynet.export import to_c, to_onnx, to_torch
from problems import gap_table, with_gaps

# The filling


def test_a_column_without_any_value_is_ignored():
    X, y = with_gaps(60)
    more = np.column_stack([X, np.full(60, np.nan)])
    model = GreedyNetRegressor(n_nodes=3, missing="learn").fit(more, y)
    found = model.predict(more)
    more[:, 3] = 7.0
    np.testing.assert_array_equal(model.predict(more), found)
    assert not model.network_inputs(more)[:, 3].any()
    assert model.score(more, y) > 0.99


# The estimators


def test_the_fit_is_that_of_the_inputs_of_the_network():
    X, y = with_gaps()
    model = GreedyNetRegressor(n_nodes=6, missing="learn").fit(X, y)
    assert (model.n_features_in_, model.network_.n_features) == (3, 4)
    assert model.network_.feature_names == ("x0", "x1", "x2", "x0 is missing")
    assert "4 inputs" in model.network_.describe()
    inputs = model.network_inputs(X)
    np.testing.assert_array_equal(inputs, model.filling_.apply(X))
    plain = GreedyNetRegressor(n_nodes=6).fit(inputs, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(inputs))
    np.testing.assert_array_equal(model.predict_interval(X), plain.predict_interval(inputs))
    np.testing.assert_array_equal(model.outside(X).rows, plain.outside(inputs).rows)
    again = model.without_filling()
    np.testing.assert_array_equal(again.predict(inputs), model.predict(X))
    np.testing.assert_array_equal(model.truncate(3).predict(X), plain.truncate(3).predict(inputs))


def test_classes_and_names():
    pandas = need("pandas")
    X, y = with_gaps()
    frame, labels = pandas.DataFrame(X, columns=["a", "b", "c"]), np.where(y > 1, "high", "low")
    model = GreedyNetClassifier(n_nodes=4, missing="learn").fit(frame, labels)
    assert model.network_.feature_names == ("a", "b", "c", "a is missing")
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    gap = pandas.DataFrame({"a": [np.nan], "b": [0.0], "c": [0.0]})
    assert model.predict_proba(gap)[0, 0] > 0.9  # 3 is high
    assert not GreedyNetClassifier().__sklearn_tags__().input_tags.allow_nan
    assert model.__sklearn_tags__().input_tags.allow_nan


def test_round_trips(tmp_path):
    X, y = with_gaps(100)
    model = GreedyNetRegressor(n_nodes=4, missing="learn").fit(X, y)
    model.save(tmp_path / "m.safetensors")
    for again in (load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model))):
        assert again.missing == "learn"
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert clone(model).missing == "learn"
    # Another fit forgets it.
    model.set_params(missing="error").fit(np.nan_to_num(X), y)
    assert not hasattr(model, "filling_")
    with pytest.raises(ValueError, match="NaN"):
        model.predict(X)


def test_a_gap_that_was_not_in_training_is_said():
    X, y = with_gaps(100)
    model = GreedyNetRegressor(n_nodes=3, missing="learn").fit(X, y)
    new, filled = X.copy(), X.copy()
    new[:2, 2], filled[:2, 2] = np.nan, model.filling_.values[2]
    with pytest.warns(UserWarning, match="missing values in 'x2', where the training"):
        found = model.predict(new)
    np.testing.assert_array_equal(found, model.predict(filled))


def test_what_is_refused():
    X, y = with_gaps(30)
    with pytest.raises(ValueError, match=r"NaN\. Write missing=\"learn\" to learn from gaps"):
        GreedyNetRegressor().fit(X, y)
    with pytest.raises(ValueError, match="missing"):
        GreedyNetRegressor(missing="mean").fit(X, y)
    X[3, 2] = np.inf
    model = GreedyNetRegressor(missing="learn")
    with pytest.raises(ValueError, match="infinity"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="infinity in row 3 of block 0"):
        model.fit([(X, y)])


def test_validation_rows_may_have_gaps():
    X, y = with_gaps(120)
    options = {"X_val": X[80:], "y_val": y[80:]}
    model = GreedyNetRegressor(max_nodes=5, missing="learn").fit(X[:80], y[:80], **options)
    inputs, held = model.network_inputs(X[:80]), model.network_inputs(X[80:])
    plain = GreedyNetRegressor(max_nodes=5).fit(inputs, y[:80], X_val=held, y_val=y[80:])
    np.testing.assert_array_equal(model.predict(X), plain.predict(model.network_inputs(X)))
    with pytest.raises(ValueError, match="`X_val` must have as many columns as the training"):
        model.fit(X[:80], y[:80], X_val=held, y_val=y[80:])


def test_rows_in_blocks_give_the_same_network():
    X, y = with_gaps(200)
    whole = GreedyNetRegressor(n_nodes=4, missing="learn").fit(X, y)
    blocks = [(X[:50], y[:50]), (X[50:120], y[50:120]), (X[120:], y[120:])]
    parts = GreedyNetRegressor(n_nodes=4, missing="learn").fit(blocks)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    np.testing.assert_array_equal(
        parts.predict([(X[:50], y[:50]), (X[50:], y[50:])]), whole.predict(X)
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # tiny data give fewer nodes
@pytest.mark.parametrize("kind", [GreedyNetRegressor, GreedyNetClassifier])
def test_scikit_learn_checks(kind):
    found = check_estimator(kind(n_nodes=4, missing="learn"), on_skip=None, on_fail=None)
    assert [check["check_name"] for check in found if check["status"] == "failed"] == []


# Exports


@pytest.mark.parametrize("layers", [1, 2])
def test_exports_take_nan(tmp_path, layers):
    runtime = need("onnxruntime")
    X, y = with_gaps()
    X = np.column_stack([X, np.full(len(X), np.nan)])
    model = GreedyNetRegressor(n_nodes=6, hidden_layers=layers, missing="learn").fit(X, y)
    proto = to_onnx(model, tmp_path / "m.onnx", dtype="float64")
    session = runtime.InferenceSession(proto.SerializeToString())
    np.testing.assert_allclose(session.run(None, {"X": X})[0][:, 0], model.predict(X), atol=1e-12)
    assert {"key": "feature_names", "value": '["x0", "x1", "x2", "x3"]'} in [
        {"key": one.key, "value": one.value} for one in proto.metadata_props
    ]
    to_c(model, tmp_path / "m.h")  # compares what C does with `predict`, gaps included
    text = (tmp_path / "m.h").read_text()
    assert "#define M_N_FEATURES 4" in text
    assert "f[4] = x[0] != x[0] ? 1 : 0;" in text


def test_an_export_that_cannot_fill_is_refused():
    need("torch")
    X, y = with_gaps(60)
    model = GreedyNetRegressor(n_nodes=3, missing="learn").fit(X, y)
    with pytest.raises(ValueError, match="`to_torch` has no form for missing values"):
        to_torch(model)


# Names


def test_a_column_may_have_the_name_of_an_indicator(tmp_path):
    data = gap_table()
    data = {"a": data["a"], "a is missing": data["c"], "b": data["b"], "y": data["y"]}
    wanted = ("a", "a is missing", "b", "(a is missing)")
    model = fit_table(data, "y", n_nodes=3)
    assert model.columns.features == wanted
    assert len(set(model.network.feature_names)) == 4
    model.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.predict(data), model.predict(data))
    assert again.outside(data).names == wanted
    X, y = np.column_stack([data[name] for name in wanted[:3]]), data["y"]
    frame = need("pandas").DataFrame(X, columns=wanted[:3])
    estimator = GreedyNetRegressor(n_nodes=3, missing="learn").fit(frame, y)
    assert estimator.network_.feature_names == wanted


# Tables


def test_tables_learn_by_default(tmp_path):
    data = gap_table()
    model = fit_table(data, "y", n_nodes=3)
    assert model.missing == "learn"
    assert model.columns.features == ("a", "b", "c", "a is missing")
    assert model.columns.names == ("a", "b", "c")
    assert model.columns.learned_gaps == {"a", "b"}
    X, y = with_gaps()
    arrays = GreedyNetRegressor(n_nodes=3, missing="learn").fit(X, y)
    np.testing.assert_allclose(model.predict(data), arrays.predict(X), rtol=1e-9)
    model.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.columns == model.columns
    np.testing.assert_array_equal(again.predict(data), model.predict(data))
    assert "of which 1 tells where cells are empty" in model.summary()


def test_gaps_where_training_had_none():
    model = fit_table(gap_table(60), "y", n_nodes=2)
    lacking = {"a": [5.0, np.nan], "b": [0.0, np.nan], "c": [1.0, np.nan]}
    filled = {**lacking, "c": [1.0, model.columns.means[2]]}
    said = "empty, as none was in training, are 1 cell of 'c': they are replaced by the mean"
    with pytest.warns(TableWarning, match=said):
        np.testing.assert_array_equal(model.predict(lacking), model.predict(filled))
    np.testing.assert_array_equal(model.predict(lacking, missing="mean"), model.predict(filled))
    with pytest.raises(ValueError, match=r"`missing` must be one of .* got 'zero'"):
        model.predict(lacking, missing="zero")


def test_predictions_take_what_the_errors_recommend():
    data = {**gap_table(60), "kind": np.array(["u", "v"] * 30)}
    model = fit_table(data, "y", missing="drop", n_nodes=2)
    new = {"a": [np.nan, 5.0], "b": [0.0, 0.0], "c": [0.0, 0.0], "kind": ["u", "w"]}
    with pytest.warns(TableWarning, match="values of 1 cell of 'kind', such as 'w'"):
        dropped = model.predict(new, missing="drop")
    assert np.isnan(dropped).tolist() == [True, False]
    a, *_, u, v = model.columns.means
    assert u + v == pytest.approx(1.0)
    average = model.predict([[a, 0.0, 0.0, u, v], [5.0, 0.0, 0.0, u, v]])
    with pytest.warns(TableWarning, match="'kind'"):
        found = model.predict({**new, "kind": ["w", "w"]}, missing="mean")
    np.testing.assert_allclose(found, average, rtol=1e-12)
    with pytest.warns(TableWarning, match="'kind'"):
        low, high = model.predict_interval(new, 0.8, missing="drop")
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, False]
    with pytest.warns(TableWarning, match="'kind'"):
        outside = model.outside(new, missing="mean")
    assert outside.columns[:, 3].tolist() == [False, True]
    with pytest.raises(ValueError, match="where every row is needed"):
        model.outside(new, missing="drop")


def test_dropped_rows_have_no_class():
    data = gap_table(60)
    data["y"] = np.where(data["y"] > 1, "high", "low")
    model = fit_table(data, "y", n_nodes=2)
    new = {"a": [np.nan, 9.0], "b": [0.0, 0.0], "c": [0.0, 2.0]}
    assert model.predict(new).tolist() == ["high", "high"]
    assert model.predict(new, missing="drop").tolist() == [None, "high"]
    assert np.isnan(model.predict_proba(new, missing="drop")).tolist() == [[True] * 2, [False] * 2]
    assert not model.predict_set(new, 0.5, missing="drop")[0].any()


def levels(n=600):
    rng = np.random.default_rng(0)
    kind = np.array(["u"] * (n // 2) + ["v"] * (n - n // 2 - 4) + ["r1", "r2", "r3", "r3"])
    return {"x": rng.normal(size=n), "kind": kind, "y": rng.normal(size=n) + (kind == "u")}


def test_rare_levels_are_pooled_with_unknown_ones(tmp_path):
    data = levels()
    model = fit_table(data, "y", n_nodes=2)
    assert model.columns.features == ("x", "kind=u", "kind=v", "kind=(other)")
    new = {"x": [0.0] * 3, "kind": ["r1", "r3", "never seen"]}
    with pytest.warns(TableWarning, match="values of 1 cell of 'kind', such as 'never seen'"):
        found = model.predict(new)
    assert len(set(found.tolist())) == 1
    with pytest.warns(TableWarning, match="never seen"):
        assert model.outside(new).columns[:, 1].tolist() == [False, False, True]
    named = {**data, "kind": np.where(np.isin(data["kind"], ["u", "v"]), data["kind"], "z")}
    same = GreedyNetRegressor(n_nodes=2).fit(model.inputs(data), data["y"])
    np.testing.assert_array_equal(model.predict(data), same.predict(model.inputs(data)))
    assert (
        not fit_table(named, "y", n_nodes=2).columns.inputs[1].kind.pooled
    )  # four rows are not few
    model.save(tmp_path / "m.safetensors")
    assert load(tmp_path / "m.safetensors").columns == model.columns


def test_levels_are_not_pooled_where_none_is_rare():
    data = {name: values[:60] for name, values in levels(64).items()}
    data["kind"][:2] = "w"  # 2 of 60 rows
    model = fit_table(data, "y", n_nodes=2)
    assert model.columns.features == ("x", "kind=u", "kind=v", "kind=w")
    assert not model.columns.inputs[1].kind.pooled


def test_held_out_rows_and_reports(tmp_path):
    data = gap_table(120)
    # A line, and some of the rows that are held out lie outside the others.
    model = fit_table(data, "y", n_nodes=3, hold_out=0.25, extrapolate=True)
    assert model.about["held_out"]["rmse"] < 0.3
    write_report(model, tmp_path / "r.html", data)
    assert "a is missing" in (tmp_path / "r.html").read_text(encoding="utf-8")
    X, y = with_gaps(120)
    estimator = GreedyNetRegressor(n_nodes=3, missing="learn").fit(X, y)
    write_report(estimator, tmp_path / "e.html", X, y, held_out=(X[:9], y[:9]))
    assert "x1 is missing" in (tmp_path / "e.html").read_text(encoding="utf-8")
