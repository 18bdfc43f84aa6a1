"""Folds: what a classifier chooses by them, the error that is told, `cv` and `groups`."""

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

import greedynet
from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.search import Dictionary
from watching import folds_of_fit, predictions_of_folds

N_NEW = 2_000


def small(**parameters):
    return GreedyNetClassifier(**({"max_nodes": 8, "n_jobs": 1} | parameters))


def drawn(n, d, logit, seed=0):
    """Rows and new rows of two classes with a given logit."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + N_NEW, d))
    y = (rng.uniform(size=len(X)) < 1 / (1 + np.exp(-logit(X)))).astype(int)
    return X[:n], y[:n], X[n:], y[n:]


def coin(X):
    return np.zeros(len(X))


def straight(X):
    return 3 * X[:, 0] - 2 * X[:, 1]


def crossed(X):
    return 12 * X[:, 0] * X[:, 1]


def loss_of_shares(y, y_new):
    return log_loss(y_new, np.tile(np.bincount(y) / len(y), (len(y_new), 1)))


# What is chosen


@pytest.mark.parametrize(("n", "d"), [(200, 50), (100, 30)])
@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_is_learned_from_labels_by_coin(n, d, seed):
    X, y, X_new, y_new = drawn(n, d, coin, seed)
    model = GreedyNetClassifier(n_jobs=1).fit(X, y)
    loss = log_loss(y_new, model.predict_proba(X_new))
    assert loss < 1.05 * loss_of_shares(y, y_new)
    assert 0.9 < loss / model.expected_error_ < 1.1


def test_a_network_where_it_pays():
    X, y, X_new, y_new = drawn(300, 2, crossed)
    model = small(max_nodes=16).fit(X, y)
    assert model.n_nodes_ > 4
    loss = log_loss(y_new, model.predict_proba(X_new))
    assert loss < 0.5 * loss_of_shares(y, y_new)
    assert 0.6 < loss / model.expected_error_ < 1.6


def test_few_distinct_rows_are_a_table_of_categories():
    """The share of a class in each category is learned, and copies may be weights."""
    rng = np.random.default_rng(0)
    category, shares = rng.integers(0, 3, 400), np.array([0.1, 0.5, 0.9])
    X, y = np.eye(3)[category], (rng.uniform(size=400) < shares[category]).astype(int)
    model = small().fit(X, y)
    found = [y[category == c].mean() for c in range(3)]
    np.testing.assert_allclose(model.predict_proba(np.eye(3))[:, 1], found, atol=0.05)
    entropy = -np.mean(np.log(np.where(y == 1, shares[category], 1 - shares[category])))
    assert model.expected_error_ == pytest.approx(entropy, rel=0.1)
    rows, counts = np.unique(np.c_[X, y], axis=0, return_counts=True)
    other = small().fit(rows[:, :3], rows[:, 3].astype(int), counts)
    assert other.expected_error_ == model.expected_error_


def test_weights_of_many_rows_are_no_copies():
    """Copies that judge each other would promise what is not kept."""
    X, y, *_ = drawn(300, 3, coin)
    weights = np.random.default_rng(0).integers(1, 9, 300)
    assert small().fit(X, y, weights).expected_error_ > 0.65


# What is expected


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_nodes": 6},
        {"n_nodes": 6, "alpha": 1e-3},
        {"n_nodes": 6, "correct": False},
        {"correct": False},
        {"correct": False, "cv": 3},
        {"search": Dictionary(n_points=200)},
        {"select": "last"},
        {"cv": 3},
        {"alpha": 1e-2},
    ],
    ids=str,
)
def test_the_expected_error_is_that_of_new_rows(parameters, tmp_path):
    """The loss of the training rows is far from it: their labels are noisy."""
    X, y, X_new, y_new = drawn(160, 6, lambda X: crossed(X) / 4)
    model = small(**parameters).fit(X, y)
    told, true = model.expected_error_, log_loss(y_new, model.predict_proba(X_new))
    assert 0.75 < true / told < 1.35
    model.save(tmp_path / "model.safetensors")
    assert greedynet.load(tmp_path / "model.safetensors").expected_error_ == told


def test_training_rows_without_an_error_are_no_promise():
    X, y, X_new, y_new = drawn(120, 20, coin)
    model = small(n_nodes=30, max_nodes=None, alpha=1e-4).fit(X, y)
    assert log_loss(y, model.predict_proba(X)) < 0.1
    assert model.expected_error_ > 1
    assert 0.6 < log_loss(y_new, model.predict_proba(X_new)) / model.expected_error_ < 1.6


def test_nothing_is_expected_where_nothing_can_be_held_out():
    assert small().fit([[0.0], [1.0], [3.0]], [0, 1, 2]).expected_error_ is None


# Folds


@pytest.mark.parametrize("make", ["classifier", "regressor"])
@pytest.mark.parametrize("search", ["continuous", "dictionary"])
def test_no_output_has_a_say_in_what_scores_it(monkeypatch, make, search):
    """Other outputs of the rows of a fold change no bit of what is predicted of them."""
    X, y, *_ = drawn(90, 3, crossed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    folds = list(KFold(3).split(X))
    kind = GreedyNetClassifier if make == "classifier" else GreedyNetRegressor
    search = Dictionary(n_points=50) if search == "dictionary" else search
    model = kind(n_nodes=5, cv=folds, search=search, alpha=1e-3, n_jobs=1)

    def predictions(labels):
        return predictions_of_folds(monkeypatch, model, X, labels)

    wanted = predictions(y)
    assert len(wanted) == 3
    for i, (_, held) in enumerate(folds):
        other = y.copy()
        other[held] = 1 - y[held]
        again = predictions(other)
        same = [
            all(np.array_equal(a, b) for a, b in zip(*of_fold, strict=True))
            for of_fold in zip(wanted, again, strict=True)
        ]
        assert same == [j == i for j in range(3)]


def groups_of(folds):
    """The groups of training and held-out rows: those of the values of a column."""
    found = []
    for train, held in folds:
        # The group is the column with the fewest values.
        column = int(np.argmin([len(np.unique(x)) for x in train.X.T]))
        found.append((set(train.X[:, column]), set(held.X[:, column])))
    return found


def grouped_rows(n_groups=12, per_group=8, seed=0):
    """Rows whose first column is the number of their group; half of the groups are of a class."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), per_group)
    X = np.column_stack([groups.astype(float), rng.normal(size=(len(groups), 2))])
    y = rng.permutation(np.arange(n_groups) % 2)[groups]
    return X, y, groups


@pytest.mark.parametrize(("cv", "n_folds"), [(None, 5), (3, 3), (GroupKFold(4), 4)], ids=str)
@pytest.mark.parametrize("names", [False, True])
def test_groups_stay_together(monkeypatch, cv, n_folds, names):
    X, y, groups = grouped_rows()
    rows = np.random.default_rng(1).permutation(len(X))
    labels = np.array([f"group {g}" for g in groups]) if names else groups
    model = small(max_nodes=3, cv=cv)
    folds = groups_of(folds_of_fit(monkeypatch, model, X[rows], y[rows], groups=labels[rows]))
    assert len(folds) == n_folds
    assert all(not train & held for train, held in folds)
    assert sum(len(held) for _, held in folds) == 12


def test_copies_are_weights_with_groups():
    X, y, groups = grouped_rows()
    rng = np.random.default_rng(2)
    weights = rng.integers(0, 4, len(X))
    twice = np.repeat(np.arange(len(X)), weights)
    one = small().fit(X, y, weights, groups=groups)
    other = small().fit(X[twice], y[twice], groups=groups[twice])
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.expected_error_ == other.expected_error_


def of_groups(n_groups, per_group, seed):
    """Rows with an effect of their group, which is not among the columns but shows in them."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), per_group)
    place = rng.uniform(-1, 1, (n_groups, 3))
    X = place[groups] + 0.02 * rng.normal(size=(len(groups), 3))
    return X, X[:, 0] + rng.normal(size=n_groups)[groups] + 0.1 * rng.normal(size=len(X)), groups


@pytest.mark.parametrize("parameters", [{"n_nodes": 40}, {"n_nodes": 16, "cv": 3}, {}], ids=str)
def test_the_error_of_new_groups_is_told(parameters):
    """Also for a given number of nodes: rows of known groups would promise a tenth of it."""
    X, y, groups = of_groups(40, 6, 0)
    new, y_new, _ = of_groups(400, 5, 1)
    model = GreedyNetRegressor(**(parameters or {"max_nodes": 20}), n_jobs=1)
    model.fit(X, y, groups=groups)
    error = np.sqrt(np.mean((model.predict(new) - y_new) ** 2))
    assert model.expected_error_ == pytest.approx(error, rel=0.3)
    if "n_nodes" in parameters:
        assert model.n_nodes_ == parameters["n_nodes"]
    if "cv" in parameters:
        alone = GreedyNetRegressor(40, cv=3, n_jobs=1).fit(X, y)
        assert alone.expected_error_ < 0.6 * model.expected_error_


ESTIMATORS = [GreedyNetClassifier, GreedyNetRegressor]


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(
    ("parameters", "more", "message"),
    [
        ({}, {"X_val": [[0.0] * 3], "y_val": [0]}, "without `X_val`.* omit `groups`"),
        ({}, {"groups": [1, 2]}, "`X` and `groups` must have the same number of rows"),
        ({}, {"groups": [[1, 2]] * 96}, "`groups`: .*1d array"),
        ({}, {"groups": [0] * 96}, "`groups` must have at least two groups.* got 1"),
        ({}, {"groups": [None] + [1] * 95}, "`groups` must contain a group for every row"),
        (
            {},
            {"groups": np.array(["a", 1] * 48, dtype=object)},
            "`groups` must hold groups that can be sorted",
        ),
        ({"cv": 7}, {"groups": [0, 1, 2] * 32}, "`cv` must be at most the number of groups"),
        ({"cv": GroupKFold(3)}, {"groups": None}, "`cv`: .*groups"),
    ],
)
def test_groups_that_cannot_be_used(kind, parameters, more, message):
    X, y, groups = grouped_rows()
    with pytest.raises(ValueError, match=message):
        kind(**({"max_nodes": 8} | parameters)).fit(X, y, **({"groups": groups} | more))


def test_folds_that_divide_groups_are_said():
    X, y, groups = grouped_rows()
    folds = list(GroupKFold(3).split(X, y, groups))
    for cv in (GroupKFold(3), folds, TimeSeriesSplit(3)):
        GreedyNetRegressor(max_nodes=4, cv=cv).fit(X, y, groups=groups)  # a warning is an error
    divided = KFold(3, shuffle=True, random_state=0)
    for cv in (divided, list(divided.split(X))):
        with pytest.warns(UserWarning, match=r"^`cv` divides `groups`: .* Write cv=GroupKFold"):
            GreedyNetRegressor(max_nodes=4, cv=cv).fit(X, y, groups=groups)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_groups_of_rows_in_blocks(kind):
    X, y, groups = grouped_rows()

    class Blocks:
        def __iter__(self):
            yield X, y

    with pytest.raises(ValueError, match="`groups` needs all rows in memory, got 96 rows"):
        kind(max_nodes=4).fit(Blocks(), groups=groups)


def test_folds_as_given(monkeypatch):
    X, y, *_ = drawn(60, 2, straight)
    folds = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    found = folds_of_fit(monkeypatch, small(cv=folds), X, y)
    assert [(len(train), len(held)) for train, held in found] == [(40, 20), (40, 20)]
    assert len(folds_of_fit(monkeypatch, small(cv=4), X, y)) == 4
