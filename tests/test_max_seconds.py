"""Limits of time: whenever it runs out, a sound network is kept, and the fit says so."""

import numpy as np
import pytest
from click.testing import CliRunner

import greedynet
from greedynet import GreedyNetClassifier, GreedyNetRegressor, StopReason
from greedynet.cli import main
from greedynet.search import Dictionary
from watching import run_out_of_time

# They take long, and vary what other tests check once.
pytestmark = pytest.mark.slow


def waves(n=150, d=3, noise=0.1):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, d))
    return X, np.sin(4 * X[:, 0]) + np.abs(X[:, 1]) + noise * rng.standard_normal(n)


def classes(n=150):
    X, y = waves(n)
    return X, np.digitize(y, np.quantile(y, [0.4, 0.7]))


FITS = {
    "regressor": lambda: (GreedyNetRegressor(), waves()),
    "many rows": lambda: (GreedyNetRegressor(max_nodes=12), waves(1_200)),
    "several outputs": lambda: (
        GreedyNetRegressor(max_nodes=8),
        (waves()[0], np.column_stack([waves()[1], waves()[0][:, 2] ** 2])),
    ),
    "nodes": lambda: (GreedyNetRegressor(n_nodes=9), waves()),
    "as grown": lambda: (GreedyNetRegressor(max_nodes=9, correct=False), waves()),
    "dictionary": lambda: (
        GreedyNetRegressor(max_nodes=6, search=Dictionary(n_points=300)),
        waves(),
    ),
    "folds": lambda: (GreedyNetRegressor(max_nodes=6, cv=3), waves()),
    "absolute_error": lambda: (GreedyNetRegressor(max_nodes=6, loss="absolute_error"), waves()),
    "chebyshev": lambda: (GreedyNetRegressor(max_nodes=6, loss="chebyshev"), waves(60)),
    "classifier": lambda: (GreedyNetClassifier(max_nodes=12), classes()),
    "classifier, nodes": lambda: (GreedyNetClassifier(n_nodes=9), classes()),
    "classifier, as grown": lambda: (GreedyNetClassifier(max_nodes=6, correct=False), classes()),
}


LATE = (StopReason.MAX_SECONDS,)


def asked(model, X, y, monkeypatch):
    """Number of times that a fit asks how late it is."""
    clock = run_out_of_time(monkeypatch, 10**6)
    model.fit(X, y)
    return 10**6 - len(clock.left)


@pytest.mark.filterwarnings("ignore::greedynet.FewerNodesWarning")
@pytest.mark.parametrize("name", FITS)
def test_whenever_time_runs_out_a_sound_network_is_kept(name, monkeypatch):
    model, (X, y) = FITS[name]()
    total = asked(model, X, y, monkeypatch)
    whole = model.stop_reason_
    assert whole is not StopReason.MAX_SECONDS
    for n in np.unique(np.geomspace(1, total, 6).astype(int)) - 1:
        run_out_of_time(monkeypatch, int(n))
        model.fit(X, y)
        # Time that runs out on the folds that only tell the error leaves the network as it is.
        assert model.stop_reason_ in ((StopReason.MAX_SECONDS, whole) if n else LATE)
        found = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
        assert np.isfinite(found).all()
        assert np.all(np.asarray(model.expected_error_) > 0)
        assert model.path_.n_nodes[0] <= model.n_nodes_ <= 202


@pytest.mark.parametrize("make", [GreedyNetRegressor, GreedyNetClassifier])
def test_a_fit_that_ends_in_time_is_the_same(make):
    X, y = waves(60) if make is GreedyNetRegressor else classes(60)
    limited, free = make(max_nodes=8, max_seconds=1e6).fit(X, y), make(max_nodes=8).fit(X, y)
    np.testing.assert_array_equal(limited.network_.outer_weights, free.network_.outer_weights)
    assert limited.stop_reason_ is free.stop_reason_


@pytest.mark.parametrize("seconds", [1e-9, 0.02, 0.2])
def test_the_expected_error_is_at_least_that_of_the_rows(seconds):
    """A network that was cut short is less than those by which it was chosen."""
    X, y = waves(400, noise=0.0)
    model = GreedyNetRegressor(max_seconds=seconds).fit(X, y)
    rmse = np.sqrt(np.mean((model.predict(X) - y) ** 2))
    assert model.expected_error_ >= 0.999 * rmse
    labels = np.digitize(y, [0.5])
    classifier = GreedyNetClassifier(max_seconds=seconds).fit(X, labels)
    p = classifier.predict_proba(X)[np.arange(len(X)), labels]
    assert classifier.expected_error_ >= -0.999 * np.mean(np.log(p))


def test_samples_of_many_rows_in_blocks():
    X, y = waves(40_000)
    blocks = [(X[:20_000], y[:20_000]), (X[20_000:], y[20_000:])]
    model = GreedyNetRegressor(max_seconds=1e-3).fit(blocks)
    assert model.stop_reason_ is StopReason.MAX_SECONDS
    assert np.isfinite(model.predict(X[:100])).all()


def test_a_checkpoint_needs_a_fit_that_can_be_repeated(tmp_path):
    X, y = waves(40)
    model = GreedyNetRegressor(max_seconds=5)
    refused = pytest.raises(ValueError, match=r"max_seconds=5: .* Write\s+max_seconds=None")
    with refused, greedynet.checkpoint(tmp_path / "fit.checkpoint"):
        model.fit(X, y)


@pytest.mark.parametrize("wrong", [0, -1, "soon"])
def test_a_limit_is_positive(wrong):
    with pytest.raises(ValueError, match="max_seconds"):
        GreedyNetRegressor(max_seconds=wrong).fit(*waves(20))


def test_the_command_says_so(tmp_path):
    X, y = waves(300)
    table = tmp_path / "table.csv"
    np.savetxt(table, np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    out = str(tmp_path / "model.safetensors")
    command = ["fit", str(table), "--target", "y", "--out", out, "--max-seconds", "0.001"]
    found = CliRunner().invoke(main, command)
    assert found.exit_code == 0, found.output
    assert "next: --max-seconds was reached, and the best network so far was kept" in " ".join(
        found.output.split()
    )
