"""Reports on pipelines of scikit-learn: the network, and its inputs after the other steps."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from greedynet import GreedyNetClassifier, GreedyNetRegressor, write_report
from reports import contents

N = 60


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(100.0, 20.0, size=(N, 3))
    return X, np.abs(X[:, 0] - 100.0) + X[:, 1] + rng.normal(size=N)


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(StandardScaler(), GreedyNetRegressor(4)).fit(*rows())


def names_of(path):
    return sorted(column["name"] for column in contents(path)["importance"]["columns"])


def test_rows_are_as_the_network_gets_them(pipeline, tmp_path):
    X, y = rows()
    write_report(pipeline, tmp_path / "r.html", X, y, held_out=rows(1))
    held_X, held_y = rows(1)
    scaled, held_out = pipeline[0].transform(X), (pipeline[0].transform(held_X), held_y)
    write_report(pipeline[-1], tmp_path / "q.html", scaled, y, held_out=held_out)
    ours, alone = contents(tmp_path / "r.html"), contents(tmp_path / "q.html")
    for name in ("errors", "rows", "growth", "rowScores"):
        assert ours[name] == alone[name], name
    assert ours["errors"]["found"] == pytest.approx(pipeline.predict(held_X), rel=1e-3)
    assert names_of(tmp_path / "r.html") == ["x0", "x1", "x2"]


def test_the_page_does_not_speak_of_a_file(pipeline, tmp_path):
    write_report(pipeline, tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "pipeline.predict(X)" in text
    assert "Pass them with: write_report(pipeline, path, X, y)" in text
    for command in ("greedynet report model", "greedynet evaluate", "greedynet predict"):
        assert command not in text


def test_names_and_targets_of_a_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = rows()
    frame = pandas.DataFrame({"size": X[:, 0], "age": X[:, 1], "y": y})
    frame["kind"] = np.where(X[:, 2] > 100, "new", "old")
    encode = make_column_transformer((OneHotEncoder(), ["kind"]), remainder=StandardScaler())
    model = make_pipeline(encode, GreedyNetRegressor(3))
    model.fit(frame.drop(columns="y"), frame["y"])
    write_report(model, tmp_path / "r.html", frame[:40], target="y", held_out=frame[40:])
    assert contents(tmp_path / "r.html")["rows"]["all"] == 20
    assert names_of(tmp_path / "r.html") == [
        "onehotencoder__kind_new",
        "onehotencoder__kind_old",
        "remainder__age",
        "remainder__size",
    ]
    with pytest.raises(ValueError, match="`y` must be given with the rows of a pipeline"):
        write_report(model, tmp_path / "r.html", frame)


@pytest.mark.slow
def test_sparse_rows_and_steps_without_names(tmp_path):
    X, y = rows()
    kinds = np.where(X > 100, "high", "low")
    one_hot = OneHotEncoder(sparse_output=False).fit(kinds)
    model = make_pipeline(one_hot, GreedyNetClassifier(2)).fit(kinds, y > y.mean())
    one_hot.sparse_output = True
    write_report(model, tmp_path / "r.html", kinds, y > y.mean())
    assert names_of(tmp_path / "r.html")[:2] == ["x0_high", "x0_low"]
    nameless = make_pipeline(FunctionTransformer(np.square), GreedyNetRegressor(3)).fit(X, y)
    write_report(nameless, tmp_path / "r.html", X, y)
    assert names_of(tmp_path / "r.html") == ["x1", "x2", "x3"]
    alone = make_pipeline(GreedyNetRegressor(3)).fit(X, y)
    write_report(alone, tmp_path / "r.html", X, y)


def test_pipelines_that_end_elsewhere(tmp_path):
    ridge = make_pipeline(StandardScaler(), Ridge()).fit(*rows())
    with pytest.raises(TypeError, match=r"ends in a greedynet estimator, .* in Ridge"):
        write_report(ridge, tmp_path / "r.html", *rows())
    unfitted = make_pipeline(StandardScaler(), GreedyNetRegressor())
    with pytest.raises(ValueError, match="not fitted yet"):
        write_report(unfitted, tmp_path / "r.html", *rows())
