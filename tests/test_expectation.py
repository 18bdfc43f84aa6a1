"""What a fit says of new rows: its figures are those of the held-out rows, its words hold them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

from greedynet import Expectation, GreedyNetClassifier, GreedyNetRegressor, fit_table, load
from greedynet.losses import Quantile


def kinked(n=300, noise=0.3):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 2))
    return X, 5 * np.abs(X[:, 0]) + X[:, 1] + noise * rng.normal(size=n)


def rms(x):
    return float(np.sqrt(np.mean(np.square(x))))


def test_figures_are_those_of_the_ladder_and_the_rows():
    X, y = kinked()
    model = GreedyNetRegressor(max_nodes=8).fit(X, y)
    said, ladder = model.expectation_, model.ladder_
    assert said.expected_error == model.expected_error_
    assert said.constant == ladder.errors[list(ladder.kinds).index("mean")]
    assert said.line == ladder.errors[list(ladder.kinds).index("line")]
    assert said.on_training == pytest.approx(rms(y - model.predict(X)))
    assert said.kind is None


def test_the_mean_and_a_line_are_compared_on_the_validation_rows():
    X, y = kinked()
    model = GreedyNetRegressor(max_nodes=8).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    said = model.expectation_
    assert said.expected_error == pytest.approx(rms(y[200:] - model.predict(X[200:])))
    assert said.constant == pytest.approx(rms(y[200:] - y[:200].mean()))
    assert said.line == pytest.approx(rms(y[200:] - model.truncate(2).predict(X[200:])))
    # Its ridge is small.
    line = LinearRegression().fit(X[:200], y[:200])
    assert said.line == pytest.approx(rms(y[200:] - line.predict(X[200:])), rel=0.01)
    assert f"a straight line: {said.line:.3g}" in said.sentence()


def test_weighted_rows_count_as_copies():
    X, y = kinked(120)
    weights = np.random.default_rng(1).integers(1, 4, 120)
    model = GreedyNetRegressor(n_nodes=5).fit(X, y, sample_weight=weights)
    errors = np.repeat(y - model.predict(X), weights)
    assert model.expectation_.on_training == pytest.approx(rms(errors))


def test_another_loss_is_called_by_its_name():
    X, y = kinked(120)
    said = GreedyNetRegressor(loss=Quantile(0.9), n_nodes=4).fit(X, y).expectation_
    assert said.measure == "quantile_loss"
    assert said.sentence().startswith("On new rows expect a mean pinball loss of about ")
    assert "the best constant: " in said.sentence()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_by_hand(n_classes):
    X, y = kinked()
    labels = np.digitize(y, [2.0, 4.0][: n_classes - 1])
    seen, new = slice(200), slice(200, None)
    model = GreedyNetClassifier(max_nodes=6)
    model.fit(X[seen], labels[seen], X_val=X[new], y_val=labels[new])
    said, p = model.expectation_, model.predict_proba(X[new])
    assert said.accuracy == pytest.approx(model.score(X[new], labels[new]))
    # With half a row more, of another class than its label says.
    true = np.eye(n_classes)[labels[new]]
    wrong = -np.mean(np.sum((1 - true) * np.log(p), axis=1)) / (n_classes - 1)
    plain = log_loss(labels[new], p, labels=range(n_classes))
    assert said.expected_error == pytest.approx((100 * plain + 0.5 * wrong) / 100.5)
    assert said.training_accuracy == pytest.approx(model.score(X[seen], labels[seen]))
    shares = np.bincount(labels[seen]) / 200
    assert said.constant_accuracy == pytest.approx(np.mean(labels[new] == shares.argmax()))
    assert said.constant == pytest.approx(-np.mean(np.log(shares[labels[new]])))
    # The ridge is another one: it is chosen.
    line = LogisticRegression(C=10).fit(X[seen], labels[seen])
    of_line = log_loss(labels[new], line.predict_proba(X[new]))
    assert said.line == pytest.approx(of_line, rel=0.03)
    assert said.line_accuracy == pytest.approx(line.score(X[new], labels[new]), abs=0.05)


def test_a_logistic_regression_on_the_folds_that_choose():
    X, y = kinked()
    model = GreedyNetClassifier(max_nodes=6).fit(X, y > 2.5)
    said, ladder = model.expectation_, model.ladder_
    # The ladder adds half a row of another class to all losses.
    assert said.line == pytest.approx(ladder.error_of("line"), rel=0.01)
    folds = cross_val_predict(LogisticRegression(C=10), X, y > 2.5, method="predict_proba")
    assert said.line == pytest.approx(log_loss(y > 2.5, folds), rel=0.05)
    assert said.expected_error < 0.8 * said.line < 0.9 * said.constant
    assert said.kind is None


@pytest.mark.all_folds
def test_classes_without_a_network_are_said_to_have_none():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    for labels, kind in (
        (X[:, 0] + rng.logistic(size=300) > 0, "line"),
        (rng.permuted(X[:, 0]) > 0, "class shares"),
    ):
        model = GreedyNetClassifier().fit(X, labels)
        assert model.expectation_.kind == model.ladder_.kind == kind
    assert "nothing was clearly better" in model.expectation_.sentence()


def test_words():
    said = Expectation("rmse", 2.71, 7.84, 3.4, 2.2)
    assert said.sentence() == (
        "On new rows expect to be off by about 2.71 (RMSE); always guessing the mean: 7.84; a "
        "straight line: 3.4. On the rows it was fitted to: 2.2."
    )
    assert said.sentence(beside_held_out=True) == (
        "On rows that the fit itself left out: 2.71; always guessing the mean: 7.84; a straight "
        "line: 3.4. On the rows it was fitted to: 2.2."
    )
    said = Expectation("log_loss", 0.2, 1.5, None, 0.05, 0.924, 0.31, 0.982)
    assert said.sentence() == (
        "On new rows expect about 92.4 % of the classes to be right (log-loss 0.2); always naming "
        "the commonest class: 31.0 % (log-loss 1.5). On the rows it was fitted to: 98.2 % "
        "(log-loss 0.05)."
    )
    said = replace(said, line=0.7, line_accuracy=0.8)
    assert said.sentence(beside_held_out=True).startswith(
        "On rows that the fit itself left out: 92.4 % (log-loss 0.2); always naming the commonest "
        "class: 31.0 % (log-loss 1.5); logistic regression: 80.0 % (log-loss 0.7). On the rows"
    )
    assert "no network was clearly better" in Expectation("rmse", 1.0, kind="line").sentence()
    assert Expectation("rmse").sentence() == "The error on new rows is not known."


@pytest.mark.all_folds
def test_a_line_that_was_kept_is_said_to_be_one():
    rng = np.random.default_rng(2)
    x = rng.uniform(size=(300, 1))
    model = GreedyNetRegressor().fit(x, 2 * x[:, 0] + rng.normal(size=300))
    assert model.expectation_.kind == "line"


def test_tables_keep_it_and_say_it_first(tmp_path):
    X, y = kinked(150)
    model = fit_table({"a": X[:, 0], "b": X[:, 1], "y": y}, "y", max_nodes=6)
    model.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.expectation == model.expectation
    assert again.summary().splitlines() == model.summary().splitlines()
    assert model.summary().splitlines()[0] == model.expectation.sentence()
    assert model.expectation.on_training == model.about["training"]["rmse"]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (8951.2, "8,951"),
        (1234567.0, "1,234,567"),
        (999.6, "1,000"),
        (2.714, "2.71"),
        (0.0712, "0.0712"),
        (-250.4, "-250"),
        (0.0, "0"),
        (3.2e-7, "3.2e-07"),
        (1.234e18, "1.23e+18"),
    ],
)
def test_numbers_are_plain(value, wanted):
    assert f"by about {wanted} (RMSE)" in Expectation("rmse", value).sentence()


@pytest.mark.parametrize(
    ("share", "wanted"),
    [(0.5, "50.0 %"), (0.9899, "99.0 %"), (0.99, "99.00 %"), (0.9999, "99.99 %"), (1, "100.0 %")],
)
def test_per_cents_near_a_hundred_have_more_digits(share, wanted):
    said = Expectation("log_loss", 0.2, accuracy=share).sentence()
    assert f"about {wanted} of the classes" in said
