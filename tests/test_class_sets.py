"""Sets of classes: what they cover, how large they are; whether probabilities are calibrated."""

import numpy as np
import pytest

from greedynet import GreedyNetClassifier, load
from greedynet.estimators.settings import EstimatorSettings, settings_context
from greedynet.losses.logistic import probabilities
from greedynet.model.uncertainty.class_sets import ClassSets
from greedynet.model.uncertainty.evidence import Unseen
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
    with settings_context(EstimatorSettings()):
        return GreedyNetClassifier(max_nodes=12).fit(*noisy_classes(600, request.param)[:2])


def new_rows(model, n=20_000, seed=1):
    return noisy_classes(n, len(model.classes_), seed)


def test_the_threshold_is_that_of_conformal_prediction():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(49, 3)), rng.integers(0, 3, 49)
    unseen = Unseen(np.zeros((49, 1)), np.eye(3)[labels], logits, np.ones(49), 49)
    p = probabilities(logits)
    # The 45th of 49: 0.9 times 50.
    least = np.sort(p[np.arange(49), labels])[::-1][44]
    sets = ClassSets.of(unseen).sets(p, 0.9)
    expected = p >= least - 1e-12
    expected[np.arange(49), p.argmax(axis=1)] = True
    np.testing.assert_array_equal(sets, expected)


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
        {"validation_fraction": 0.25},
        {"correct": False},
        {"correct": False, "validation_fraction": 0.25},
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


def test_truncated_networks_have_no_sets(model):
    X = new_rows(model, 50)[0]
    small = model.truncate(3)
    wanted = model.path_.network.truncate(3).predict(X).reshape(50, -1)
    np.testing.assert_array_equal(small.predict_proba(X), probabilities(wanted))
    with pytest.raises(ValueError, match="truncated to 3 nodes: fit `n_nodes=3`"):
        small.predict_set(X)
    assert small.expectation_.sentence() == "The accuracy on new rows is not known."


def test_what_users_get_wrong(model):
    with pytest.raises(ValueError, match=r"`coverage` must be a number between 0 and 1.*got 95"):
        model.predict_set([[0.0, 0.0]], 95)
    with pytest.warns(FewHeldOutRowsWarning, match="held-out rows can tell: the sets"):
        model.predict_set([[0.0, 0.0]], 0.9999)


def test_without_held_out_rows_there_are_no_sets():
    X, y, _ = noisy_classes(60, 3, seed=4)
    model = GreedyNetClassifier(correct=False, cv=2, max_nodes=4).fit(X, y)
    with pytest.raises(ValueError, match=r"`predict_set` needs .* without `correct=False`"):
        model.predict_set(X)
