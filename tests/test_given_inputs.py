"""Inputs as they are given: sparse matrices, data frames with categories, and what errors name."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import greedynet
from extras import need
from greedynet import GreedyNetClassifier, GreedyNetRegressor, TableWarning
from greedynet.estimators.settings import EstimatorSettings, settings_context
from greedynet.tables.load import as_table_model
from greedynet.tables.readers import open_table

pandas = need("pandas")

N = 120


def sparse_rows(n_rows: int = N) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4)) * (rng.random((n_rows, 4)) < 0.4)
    return X, np.maximum(X[:, 0], 0) + X[:, 1] - 0.5 * X[:, 2] ** 2 + 0.2 * np.sin(X[:, 3])


def frame(n_rows: int = N) -> tuple["pandas.DataFrame", np.ndarray]:
    rng = np.random.default_rng(1)
    size, color = rng.uniform(0, 1, n_rows), rng.choice(["red", "blue", "green"], n_rows)
    new = rng.random(n_rows) > 0.5
    y = size + 2.0 * (color == "red") - (color == "blue") + 0.5 * new
    return pandas.DataFrame({"size": size, "color": pandas.Categorical(color), "new": new}), y


# Sparse matrices


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array"])
def test_sparse_rows_give_the_network_of_dense_ones(form: str):
    X, y = sparse_rows()
    given = getattr(sparse, form)(X)
    dense = GreedyNetRegressor(n_nodes=6, correct=False).fit(X, y)
    model = GreedyNetRegressor(n_nodes=6, correct=False).fit(given, y)
    np.testing.assert_array_equal(model.network_.inner_weights, dense.network_.inner_weights)
    np.testing.assert_array_equal(model.predict(given), dense.predict(X))
    np.testing.assert_array_equal(model.transform(given), dense.transform(X))


def test_sparse_validation_rows():
    X, y = sparse_rows()
    options = {"X_val": X[80:], "y_val": y[80:]}
    dense = GreedyNetRegressor(max_nodes=6).fit(X[:80], y[:80], **options)
    options["X_val"] = sparse.csr_array(X[80:])
    model = GreedyNetRegressor(max_nodes=6).fit(X[:80], y[:80], **options)
    np.testing.assert_array_equal(model.predict(X), dense.predict(X))


def test_sparse_classes():
    X, y = sparse_rows()
    given, labels = sparse.csr_array(X), np.where(y > 0, "up", "down")
    model = GreedyNetClassifier(n_nodes=5, correct=False).fit(given, labels)
    np.testing.assert_array_equal(model.predict_proba(given), model.predict_proba(X))


# Rows beyond the budget are read in blocks: a fit that needs all of them at once says so.
def test_sparse_rows_beyond_the_memory_are_read_in_blocks():
    X, y = sparse_rows(40_000)
    weights = np.full(len(X), 2.0)
    model = GreedyNetRegressor(n_nodes=8, correct=False)
    with settings_context(EstimatorSettings(dense_bytes=500_000)):
        model.fit(sparse.csr_array(X), y, weights)
        assert model.score(X, y) > 0.9
        with pytest.raises(ValueError, match=r"`cv` needs all rows in memory, got 40"):
            model.set_params(cv=3).fit(sparse.csr_array(X), y)
        with pytest.raises(ValueError, match=r"`X` and `y` must have the same number of rows"):
            model.fit(sparse.csr_array(X), y[:-1])


def test_too_many_sparse_columns_are_refused_with_the_way_out():
    X = sparse.csr_array((20_000, 1000))
    refused = pytest.raises(ValueError, match=r"`X` is sparse with 1,000 columns.*TruncatedSVD")
    with refused, settings_context(EstimatorSettings(dense_bytes=1_000_000)):
        GreedyNetRegressor().fit(X, np.arange(20_000.0))


# Data frames


def test_categories_are_features():
    X, y = frame()
    model = GreedyNetRegressor(n_nodes=2).fit(X, y)
    features = ("size", "color=blue", "color=green", "color=red", "new")
    assert model.network_.feature_names == features
    np.testing.assert_array_equal(model.feature_names_in_, ["size", "color", "new"])
    assert model.n_features_in_ == 3
    assert model.categories_["color"].tolist() == ["blue", "green", "red"]
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    # The table of the same columns has the same features.
    table = greedynet.fit_table({"size": X["size"], "color": X["color"].astype(str), "y": y}, "y")
    assert table.columns.features == features[:-1]
    # Levels in another order or of another type.
    text = X.assign(color=X["color"].astype(str))
    few = X.assign(color=pandas.Categorical(text["color"], ["red", "green", "blue"])).iloc[:7]
    np.testing.assert_array_equal(model.predict(text), model.predict(X))
    np.testing.assert_array_equal(model.predict(few), model.predict(X)[:7])
    for other in ([[0.5, "red", True]], X.to_numpy(), model.network_inputs(X)):
        with pytest.raises(ValueError, match=r"`X` must be a data frame .* 'color', got .*: write"):
            model.predict(other)
    with pytest.raises(ValueError, match=r"in the same order, \['size', 'color', 'new'\], got"):
        model.predict(X[["color", "size", "new"]])


def test_scikit_learn_inspects_the_columns_as_given():
    X, y = frame()
    model = GreedyNetRegressor(n_nodes=2).fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=2, random_state=0).importances_mean
    assert found.shape == (3,)
    assert found.argmax() == 1
    curve = partial_dependence(model, X, ["color"])
    np.testing.assert_allclose(np.diff(curve["average"][0]), [1.0, 2.0], atol=1e-9)
    wide = GreedyNetRegressor(n_nodes=4, correct=False).fit(X, y * X["size"])
    assert list(wide.get_feature_names_out()) == ["greedynetregressor0", "greedynetregressor1"]
    pipeline = make_pipeline(FunctionTransformer(feature_names_out="one-to-one"), model)
    np.testing.assert_array_equal(pipeline.fit(X, y)[-1].feature_names_in_, list(X))


@pytest.mark.parametrize("name", ["monotonic_cst", "convex"])
@pytest.mark.parametrize("shape", [[1, 0, 0], {"size": 1}])
def test_shapes_are_those_of_the_columns_as_given(name, shape):
    X, y = frame()
    model = GreedyNetRegressor(max_nodes=6, **{name: shape}).fit(X, y - X["size"])
    change = np.diff([model.predict(X.assign(size=size)) for size in (0.2, 0.5, 0.8)], axis=0)
    assert (change[1] >= (change[0] if name == "convex" else 0.0) - 1e-12).all()
    blocks = [(X[:50], y[:50]), (X[50:], y[50:])]
    assert GreedyNetRegressor(max_nodes=6, **{name: shape}).fit(blocks).n_features_in_ == 3


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([0, -1, 0], "must be 0 for the column 'color', which has categories .* got -1: leave"),
        (
            {"color": 1},
            "must be 0 for the column 'color', which has categories and no order, got 1",
        ),
        (
            {"color=red": 1},
            r"must be 1 for increasing.* unexpected feature names: \['color=red'\]",
        ),
        ([1, 0, 0, 0, 0], r"must be .* for each column.* shape \(5,\) .* has 3 features"),
    ],
)
def test_shapes_that_categories_cannot_have(shape, message):
    X, y = frame()
    with pytest.raises(ValueError, match=f"`monotonic_cst` {message}"):
        GreedyNetRegressor(monotonic_cst=shape).fit(X, y)


@pytest.mark.parametrize("place", [0, 3])
def test_a_column_may_not_have_the_name_of_a_level(place):
    X, y = frame()
    X.insert(place, "color=red", np.arange(N))
    with pytest.raises(ValueError, match=r"`X` must have one column 'color=red', .* got two: ren"):
        GreedyNetRegressor().fit(X, y)


def test_names_of_columns_that_are_numbers():
    X, y = frame()
    X = X.set_axis([0, 1, 2], axis=1)
    model = GreedyNetRegressor(n_nodes=2).fit(X, y)
    assert model.feature_names_in_.tolist() == ["0", "1", "2"]
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)


def test_categories_are_saved(tmp_path: Path):
    X, y = frame()
    model = GreedyNetClassifier(n_nodes=3, correct=False).fit(X, y > 1)
    model.save(tmp_path / "model.safetensors")
    again = greedynet.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    model.fit(X[["size"]], y > 1)
    assert not hasattr(model, "categories_")


def test_categories_of_polars_and_of_validation_rows():
    polars = need("polars")
    X, y = frame()
    columns = {name: X[name].tolist() for name in X}
    given = polars.DataFrame(columns).with_columns(polars.col("color").cast(polars.Categorical))
    model = GreedyNetRegressor(n_nodes=2).fit(given, y)
    wanted = GreedyNetRegressor(n_nodes=2).fit(X, y)
    np.testing.assert_array_equal(model.predict(given), wanted.predict(X))
    validated = GreedyNetRegressor(max_nodes=4).fit(X, y, X_val=X, y_val=y)
    np.testing.assert_allclose(validated.predict(X), y, atol=1e-6)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_of_blocks_are_those_of_one_frame(library):
    X, y = frame()
    y = np.abs(y)
    # A level that only the last block has, and numbers that are names of something.
    X = X.assign(code=pandas.Categorical(np.where(np.arange(N) < 100, 7, 8)))
    wanted = GreedyNetRegressor(n_nodes=3, correct=False).fit(X, y)
    assert wanted.network_.feature_names[-2:] == ("code=7", "code=8")

    def block(a, b):
        part = X.iloc[a:b]
        if library == "polars":
            polars = need("polars")
            kinds = dict.fromkeys(("color", "code"), polars.Categorical)
            part = (
                polars.DataFrame(
                    {n: part[n].astype(str).tolist() for n in kinds}
                    | {n: part[n].to_numpy() for n in X if n not in kinds}
                )
                .cast(kinds)
                .select(list(X))
            )
        return part, y[a:b]

    blocks = [block(0, 50), block(50, 50), block(50, N)]
    model = GreedyNetRegressor(n_nodes=3, correct=False).fit(blocks)
    assert model.network_.feature_names == wanted.network_.feature_names
    assert {n: v.tolist() for n, v in model.categories_.items()} == {
        n: v.tolist() for n, v in wanted.categories_.items()
    }
    np.testing.assert_array_equal(model.predict(X), wanted.predict(X))
    np.testing.assert_array_equal(model.predict(blocks), wanted.predict(X))
    labels = [(part, values > 1) for part, values in blocks]
    assert GreedyNetClassifier(n_nodes=3, correct=False).fit(labels).score(X, y > 1) > 0.8


def test_what_is_wrong_with_categories_of_blocks():
    X, y = frame()
    model, half = GreedyNetRegressor(n_nodes=3), N // 2
    text = X.assign(color=X["color"].astype(str))
    first = X.assign(new=X["new"].astype(float))
    with pytest.raises(ValueError, match=r"in the column 'new' of block 1, and none in that of th"):
        model.fit([(first[:half], y[:half]), (X.assign(new=X["new"].astype("category")), y)])
    with pytest.raises(ValueError, match=r"got text such as '\w+' in the column 'color'.*category"):
        model.fit([(text, y)])
    many = X.assign(color=pandas.Categorical(np.arange(N)))
    with pytest.raises(ValueError, match=r"at most 60 categories .* got 120 in the column 'color'"):
        model.fit([(many, y)])
    with pytest.raises(TypeError, match="exhausted after one: pass a list"):
        model.fit(block for block in [(X, y)])
    with pytest.raises(TypeError, match="got NoneType as block 1"):
        model.fit([(X, y), None])
    with pytest.raises(ValueError, match=r"`X` must have the same columns in the same order"):
        model.fit([(X, y), (X[["size", "new"]], y)])


def test_categories_of_files(tmp_path):
    need("pyarrow")
    X, y = frame()
    X.assign(y=y).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"the columns color \(varchar.*greedynet.fit_table"):
        GreedyNetRegressor().fit(tmp_path / "a.parquet", "y")
    model = GreedyNetRegressor(n_nodes=2).fit(X, y)
    with pytest.raises(ValueError, match=r"categories in the column 'color', got .*read_parquet"):
        model.predict(tmp_path / "a.parquet")


@pytest.mark.parametrize("missing", ["error", "learn"])
def test_tables_for_an_estimator_with_categories(tmp_path, missing):
    X, y = frame()
    if missing == "learn":
        y = np.where(np.arange(N) % 3 == 0, 9.0, y)
        X.loc[np.arange(N) % 3 == 0, "color"] = np.nan
    model = GreedyNetRegressor(n_nodes=3, correct=False, missing=missing).fit(X, np.abs(y))
    model.save(tmp_path / "m.safetensors")
    X.assign(new=X["new"].astype(int), key=np.arange(N)).to_csv(tmp_path / "a.csv", index=False)
    X.to_csv(tmp_path / "b.csv", index=False)  # with True and False
    loaded = greedynet.load(tmp_path / "m.safetensors")
    for name in ("a.csv", "b.csv"):
        table = open_table(tmp_path / name)
        found = as_table_model(loaded, table).predict(table)
        np.testing.assert_allclose(found, model.predict(X), rtol=1e-12)


def test_errors_name_the_column():
    X, y = frame()
    model = GreedyNetRegressor(n_nodes=2).fit(X, y)
    text = X.assign(color=X["color"].astype(str))
    advice = r"got text such as '\w+' in the column 'color'.*fit_table.*'category'.*OneHotEncoder"
    with pytest.raises(ValueError, match=advice):
        GreedyNetRegressor().fit(text, y)
    with pytest.raises(ValueError, match=advice):
        GreedyNetClassifier().fit(text, y > 1)
    with pytest.raises(ValueError, match=r"got text such as 'tall' in the column 'size'"):
        model.predict(X.assign(size="tall"))
    with pytest.raises(TypeError, match=r"got dates or times such as '2020.* in the column 'size'"):
        model.predict(X.assign(size=pandas.Timestamp("2020-01-01")))
    with pytest.raises(ValueError, match=r"`X` must have the column 'color', as in the fit, got"):
        model.predict(X[["size", "new"]])
    with pytest.raises(ValueError, match=r"NaN(.|\n)*empty cell is in the column 'size'"):
        model.predict(X.assign(size=np.nan))
    with pytest.raises(ValueError, match=r"NaN(.|\n)*empty cell is in the column 'color=blue'"):
        model.predict(X.assign(color=pandas.Categorical([None] * N)))
    array = np.array([[1, "a"], [2, "b"]] * 10, dtype=object)
    with pytest.raises(ValueError, match=r"got text such as 'a' in the column 1. Use OneHot"):
        GreedyNetRegressor().fit(array, np.arange(20.0))


def test_new_categories_are_predicted_like_the_average_and_marked():
    X, y = frame()
    model = GreedyNetRegressor(n_nodes=2).fit(X, y)
    pink = X.assign(color=np.where(np.arange(N) < 2, "pink", X["color"].astype(str)))
    said = r"predicted like the average: 2 in the column 'color', such as 'pink'"
    with pytest.warns(TableWarning, match=said):
        found = model.predict(pink)
    inputs = model.network_inputs(X)
    inputs[:2, 1:4] = inputs[:, 1:4].mean(axis=0)
    np.testing.assert_allclose(found, model.network_.predict(inputs))
    with pytest.warns(TableWarning, match="such as 'pink'"):
        outside = model.outside(pink)
    np.testing.assert_array_equal(outside.rows, np.arange(N) < 2)
    table = open_table({name: pink[name].to_numpy() for name in pink})
    with pytest.warns(TableWarning, match="did not contain the values of 2 cells of 'color'"):
        np.testing.assert_allclose(as_table_model(model, table).predict(table), found)


def many_levels(n_levels, n=2_000):
    rng = np.random.default_rng(0)
    effects, at, x = rng.normal(size=n_levels), rng.integers(0, n_levels, n), rng.normal(size=n)
    y = 3 * effects[at] + x + 0.3 * rng.normal(size=n)
    town = pandas.Categorical([f"town {i:03}" for i in at])
    return pandas.DataFrame({"town": town, "x": x}), y


def test_categories_of_many_levels_are_coded_as_in_tables(tmp_path: Path):
    X, y = many_levels(250)
    train, new = np.arange(2_000) < 1_500, np.arange(2_000) >= 1_500
    new &= X["town"].isin(set(X["town"][train])).to_numpy()
    model = GreedyNetRegressor(max_nodes=6).fit(X[train], y[train])
    assert model.network_.feature_names == ("town: mean", "town: rows", "x")
    assert model.n_features_in_ == 2
    # The noise is 0.3, and a level has six rows; without the towns, the error is 3.
    error = np.sqrt(np.mean((model.predict(X[new]) - y[new]) ** 2))
    assert error < 0.8
    assert model.expected_error_ == pytest.approx(error, rel=0.3)
    table = X[train].assign(town=X["town"][train].astype(str), y=y[train])
    with pytest.warns(TableWarning, match="distinct values"):
        twin = greedynet.fit_table(table, "y", max_nodes=6)
    np.testing.assert_allclose(
        twin.network.predict(model.network_inputs(X[new])), model.predict(X[new])
    )
    model.save(tmp_path / "m.safetensors")
    again = greedynet.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.predict(X[new]), model.predict(X[new]))
    cells = open_table({name: X[name][new].to_numpy() for name in X})
    np.testing.assert_allclose(as_table_model(again, cells).predict(cells), model.predict(X[new]))
    labels = np.where(y > 0, "high", "low")
    assert GreedyNetClassifier(max_nodes=6).fit(X, labels).score(X, labels) > 0.9


def test_many_levels_have_features_of_their_own_where_held_out_rows_say_so():
    X, y = many_levels(120)
    model = GreedyNetRegressor(max_nodes=6).fit(X[:1_500], y[:1_500])
    assert len(model.network_.feature_names) == 121
    assert np.sqrt(np.mean((model.predict(X[1_500:]) - y[1_500:]) ** 2)) < 0.4


def test_categories_that_come_once_are_refused():
    X, y = frame()
    many = X.assign(color=pandas.Categorical(np.arange(N)))
    with pytest.raises(ValueError, match=r"120 categories in the column 'color' .* most of them o"):
        GreedyNetRegressor().fit(many, y)
    empty = X.assign(color=pandas.Categorical([None] * N, ["red"]))
    with pytest.raises(ValueError, match=r"nothing but empty cells in the column 'color'"):
        GreedyNetRegressor().fit(empty, y)


def test_report_takes_the_frame_of_the_fit(tmp_path: Path):
    X, y = frame()
    model = GreedyNetRegressor(n_nodes=3, correct=False).fit(X, np.abs(y))
    greedynet.write_report(model, tmp_path / "report.html", X, y)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "color=blue" in page
    assert "model.predict(X)  # 3 columns" in page
