"""Sets of classes: what they cover, how large they are; whether probabilities are calibrated."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logit
from sklearn.model_selection import ShuffleSplit

import scopes
from greedynet import GreedyNetClassifier, load
from greedynet.losses.logistic import probabilities
from greedynet.model.uncertainty.calibration import CalibrationData, ClassSets, HeldOutPredictions
from greedynet.rows.rows import Rows
from greedynet.support.errors import FewHeldOutRowsWarning

LABELS = np.array(["blue", "green", "red", "white"])


def noisy_classes(n, n_classes, seed=0, strength=3.0):
    """Rows and classes drawn with probabilities that depend on the place, and these."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    logits = (
        strength * np.column_stack([X[:, 0], np.abs(X[:, 1]), -X[:, 0], X[:, 1]])[:, :n_classes]
    )
    y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    return X, LABELS[y], np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


def covered(model, X, y, coverage=0.9):
    return model.predict_set(X, coverage)[np.arange(len(y)), np.searchsorted(model.classes_, y)]


@pytest.fixture(scope="module", params=[2, 4])
def model(request):
    with scopes.defaults():
        return GreedyNetClassifier(max_nodes=12).fit(*noisy_classes(600, request.param)[:2])


def new_rows(model, n=20_000, seed=1):
    return noisy_classes(n, len(model.classes_), seed)


def path_of(*networks):
    """A path of networks, of which the last was kept; they are functions."""
    found = [SimpleNamespace(predict=network) for network in networks]
    return SimpleNamespace(
        n_nodes=np.arange(len(found)), network_at=found.__getitem__, kept=found[-1]
    )


def test_the_threshold_is_that_of_conformal_prediction():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(49, 3)), rng.integers(0, 3, 49)
    held_out = HeldOutPredictions(np.zeros((49, 1)), np.eye(3)[labels], logits, np.ones(49), 49)
    p = probabilities(logits)
    # The 45th of 49: 0.9 times 50.
    least = np.sort(p[np.arange(49), labels])[::-1][44]
    evidence = CalibrationData(Rows(held_out.X, held_out.Y), held_out)
    sets = ClassSets.of(evidence, path_of(lambda X: logits)).sets(p, 0.9)
    expected = p >= least - 1e-12
    expected[np.arange(49), p.argmax(axis=1)] = True
    np.testing.assert_array_equal(sets, expected)


def test_classes_that_have_nothing_to_do_with_the_inputs():
    """Shares of the classes differ a little between folds, and sets must not depend on that."""
    shares = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n_ones = int(rng.integers(15, 45))
        y = (np.arange(60) < n_ones).astype(int)
        model = GreedyNetClassifier(max_nodes=4).fit(rng.normal(size=(60, 3)), y)
        sets = model.predict_set(rng.normal(size=(500, 3)), 0.9)
        shares.append(sets.mean(axis=0) @ [1 - n_ones / 60, n_ones / 60])
    assert min(shares) > 0.85


def test_the_threshold_is_at_least_that_of_the_training_rows():
    rng = np.random.default_rng(0)
    labels = (np.arange(60) < 21).astype(float)[:, None]
    # Folds say a share of 0.36, and the network that was kept 0.35.
    held_out = HeldOutPredictions(
        np.zeros((60, 1)), labels, np.full((60, 1), logit(0.36)), np.ones(60), 60
    )
    path = path_of(lambda X: np.full(len(X), logit(0.35)))
    found = ClassSets.of(CalibrationData(Rows(rng.normal(size=(60, 1)), labels), held_out), path)
    assert found.sets(np.array([[0.65, 0.35]]), 0.9).all()
    assert not found.sets(np.array([[0.65, 0.35]]), 0.6)[0, 1]
    assert not found.sets(np.array([[0.66, 0.34]]), 0.9)[0, 1]


def test_sets_of_a_width_are_those_of_its_own_predictions():
    rng = np.random.default_rng(0)
    narrow, kept = rng.normal(size=(49, 3)), rng.normal(size=(49, 3))
    rows = Rows(np.zeros((49, 1)), np.eye(3)[rng.integers(0, 3, 49)])

    def evidence(logits, by_width=()):
        return CalibrationData(
            rows, HeldOutPredictions(rows.X, rows.Y, logits, np.ones(49), 49), by_width
        )

    path = path_of(lambda X: narrow, lambda X: kept)
    found = ClassSets.of(evidence(kept, (narrow, kept)), path)
    for position, logits in enumerate((narrow, kept)):
        alone = ClassSets.of(evidence(logits), path_of(path.network_at(position).predict))
        of_width = found.at_width(position)
        np.testing.assert_array_equal(of_width.scores.quantiles, alone.scores.quantiles)
        assert (of_width.n_rows, of_width.scores.n_rows) == (alone.n_rows, alone.scores.n_rows)


def test_coverage_of_new_rows(model):
    X, y, _ = new_rows(model)
    for coverage in (0.85, 0.9, 0.95):
        found = covered(model, X, y, coverage).mean()
        alone = np.mean(model.predict(X) == y)
        # 600 held-out rows have a deviation of 0.012; the most likely class alone may cover more.
        assert found == pytest.approx(max(coverage, alone), abs=0.04)


def test_sets_contain_the_prediction_and_grow_with_the_coverage(model):
    X, _, _ = new_rows(model, 500)
    small, large = model.predict_set(X, 0.7), model.predict_set(X, 0.97)
    assert (small <= large).all()
    assert large.sum() > small.sum()
    best = np.searchsorted(model.classes_, model.predict(X))
    assert small[np.arange(500), best].all()
    assert small.shape == (500, len(model.classes_))


def test_sets_are_larger_where_classes_are_mixed(model):
    X, _, p = new_rows(model)
    n_in_set, sure = model.predict_set(X).sum(axis=1), p.max(axis=1)
    assert n_in_set[sure > 0.9].mean() + 0.3 < n_in_set[sure < 0.6].mean()


def test_probabilities_are_calibrated(model):
    X, y, _ = new_rows(model)
    p = model.predict_proba(X)[:, -1]
    is_last = y == model.classes_[-1]
    for low, high in ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0)):
        inside = (low <= p) & (p < high)
        if inside.sum() > 500:
            assert is_last[inside].mean() == pytest.approx(p[inside].mean(), abs=0.08)


@pytest.mark.parametrize(
    "parameters",
    [
        {"cv": ShuffleSplit(1, test_size=0.25, random_state=0)},
        {"correct": False},
        {"correct": False, "cv": ShuffleSplit(1, test_size=0.25, random_state=0)},
        {"correct": False, "cv": 3},
        {"n_nodes": 5},
        {"cv": 3},
    ],
)
def test_every_way_to_choose_has_sets(parameters):
    X, y, _ = noisy_classes(2_300, 3, seed=2)
    model = GreedyNetClassifier(**{"max_nodes": 8, **parameters}).fit(X[:300], y[:300])
    assert covered(model, X[300:], y[300:]).mean() == pytest.approx(0.9, abs=0.1)


def test_the_same_sets_for_any_order_and_any_number_of_threads():
    X, y, _ = noisy_classes(200, 3, seed=3)
    order = np.random.default_rng(0).permutation(200)
    one = GreedyNetClassifier(max_nodes=6, n_jobs=1).fit(X, y)
    other = GreedyNetClassifier(max_nodes=6, n_jobs=2).fit(X[order], y[order])
    np.testing.assert_array_equal(one.sets_.scores.quantiles, other.sets_.scores.quantiles)


def test_files_keep_every_bit(model, tmp_path):
    X, _, _ = new_rows(model, 300)
    model.save(tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict_set(X), model.predict_set(X))
    np.testing.assert_array_equal(loaded.outside(X).distance, model.outside(X).distance)


def test_truncated_networks_have_sets_that_cover(model, tmp_path):
    X, y, _ = new_rows(model)
    assert len(model.path_) > 2
    for n_nodes, error in zip(model.path_.n_nodes, model.path_.held_out_errors, strict=True):
        small = model.truncate(int(n_nodes))
        wanted = model.path_.network_at(n_nodes).predict(X).reshape(len(X), -1)
        np.testing.assert_array_equal(small.predict_proba(X), probabilities(wanted))
        alone = np.mean(small.predict(X) == y)
        assert covered(small, X, y).mean() == pytest.approx(max(0.9, alone), abs=0.04)
        assert small.expected_error_ == error * model.path_.unit == small.expectation_.on_new
        small.save(tmp_path / "m.safetensors")
        again = load(tmp_path / "m.safetensors")
        np.testing.assert_array_equal(again.predict_set(X), small.predict_set(X))


def test_the_width_that_was_kept_has_the_sets_of_the_model(model):
    X = new_rows(model, 300)[0]
    same = model.truncate(model.n_nodes_)
    np.testing.assert_array_equal(same.predict_set(X), model.predict_set(X))
    assert same.expected_error_ == model.expected_error_


def test_what_users_get_wrong(model):
    with pytest.raises(ValueError, match=r"`coverage` must be a number between 0 and 1.*got 95"):
        model.predict_set([[0.0, 0.0]], 95)
    with pytest.warns(FewHeldOutRowsWarning, match="held-out rows can tell: the sets"):
        model.predict_set([[0.0, 0.0]], 0.9999)


def test_without_held_out_rows_there_are_no_sets():
    model = GreedyNetClassifier(max_nodes=4).fit([[0.0], [1.0]], ["a", "b"])
    for one in (model, model.truncate(model.n_nodes_)):
        with pytest.raises(ValueError, match=r"`predict_set` needs .* two rows of every class"):
            one.predict_set([[0.0]])
