"""A search of a user's own: what it is given, what becomes of it, and what it cannot do."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import greedynet
import scopes
from greedynet import FewerNodesWarning, GreedyNetClassifier, GreedyNetRegressor, StopReason, load
from greedynet.search.base import Proposal
from problems import noisy

# They take long, and vary what other tests check once.
pytestmark = pytest.mark.slow


class Growing:
    """The best of some random neurons, new ones for every step."""

    def __init__(self, X, row_scale, seed, n_tries):
        self.X, self.n_tries = X, n_tries
        self.row_scale = np.ones(len(X)) if row_scale is None else row_scale
        self.rng = np.random.default_rng(seed)

    def propose(self, factor):
        U = self.rng.standard_normal((self.n_tries, self.X.shape[1]))
        at = self.rng.integers(0, len(self.X), self.n_tries)
        points = np.column_stack([U, -np.einsum("ij,ij->i", U, self.X[at])])
        columns = [self.column(point) for point in points]
        sizes = [np.linalg.norm(column) for column in columns]
        gains = [
            np.linalg.norm(column @ factor.residual) / size if size > 1e-6 else 0.0
            for column, size in zip(columns, sizes, strict=True)
        ]
        best = int(np.argmax(gains))
        if not gains[best] > 0:
            return None
        self.point = points[best]
        return Proposal(points[best], sizes[best], columns[best] / sizes[best], -1)

    def column(self, point):
        return np.maximum(self.X @ point[:-1] + point[-1], 0) * self.row_scale

    def accept(self, factor): ...

    def reject(self): ...


@dataclass
class RandomNeurons:
    """What `search=` takes."""

    n_tries: int = 30
    kind: type = field(default=Growing, repr=False)
    begun: list = field(default_factory=list, compare=False, repr=False)

    def begin(self, X, row_scale, activation, seed):
        self.begun.append((X, row_scale, seed))
        return self.kind(X, row_scale, seed, self.n_tries)


def labels(y):
    return np.where(y > 0.5, "up", "down")


ESTIMATORS = [GreedyNetRegressor, GreedyNetClassifier]
each_estimator = pytest.mark.parametrize("make", ESTIMATORS)
corrected_or_not = pytest.mark.parametrize("correct", [True, False])


def problem(make, n_rows=150, n_features=2):
    X, y = noisy(n_rows, n_features)
    # Units of their own, which the search is not to see.
    X = X * np.array([3.0, 0.01, 20.0])[:n_features] + 5.0
    return X, y if make is GreedyNetRegressor else labels(y)


# What it comes to


@each_estimator
@corrected_or_not
@pytest.mark.parametrize("weighted", [False, True])
def test_networks_are_grown_by_it(make, correct, weighted):
    X, y = problem(make)
    w = np.random.RandomState(0).uniform(0.2, 3.0, len(X)) if weighted else None
    model = make(10, search=RandomNeurons(), correct=correct).fit(X, y, w)
    assert model.n_nodes_ == model.network_.n_nodes == 10
    linear = LinearRegression() if make is GreedyNetRegressor else LogisticRegression(max_iter=1000)
    wanted = linear.fit(X, y, w).score(X, y, w)
    assert model.score(X, y, w) > wanted + 0.1 * (1 - wanted)


@pytest.mark.parametrize("loss", ["huber", "quantile", 1.5, "chebyshev"])
@corrected_or_not
def test_other_losses_are_served_too(loss, correct):
    X, y = problem(GreedyNetRegressor)
    model = GreedyNetRegressor(10, search=RandomNeurons(), loss=loss, correct=correct).fit(X, y)
    assert model.n_nodes_ == 10
    assert model.score(X, y) > 0.5


def test_very_many_rows_are_sampled_for_it():
    X, y = problem(GreedyNetRegressor, 2_000)
    search = RandomNeurons()
    with scopes.sampled(300, in_order_above=0):
        for correct in (True, False):
            model = GreedyNetRegressor(10, search=search, correct=correct).fit(X, y)
            assert model.n_nodes_ == 10
            assert model.score(X, y) > 0.8
    assert {len(rows) for rows, _, _ in search.begun} == {300}


@each_estimator
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_scaled_and_weights_are_square_roots(make, weighted):
    X, y = problem(make)
    w = np.random.RandomState(0).uniform(0.2, 3.0, len(X)) if weighted else None
    search = RandomNeurons()
    make(4, search=search).fit(X.astype(np.float32), y, w)
    for rows, row_scale, seed in search.begun:
        assert rows.dtype == np.float64
        assert rows.flags.c_contiguous
        assert isinstance(seed, int)
        assert (row_scale is not None) == weighted
        weights = np.ones(len(rows)) if row_scale is None else row_scale**2
        np.testing.assert_allclose(weights.mean(), 1, rtol=1e-9)
        np.testing.assert_allclose(np.average(rows, axis=0, weights=weights), 0, atol=1e-6)
        np.testing.assert_allclose(np.average(rows**2, axis=0, weights=weights), 1, rtol=1e-5)


def test_networks_that_are_averaged_have_seeds_of_their_own():
    X, y = problem(GreedyNetRegressor)
    search = RandomNeurons()
    GreedyNetRegressor(24, search=search).fit(X, y)
    seeds = [seed for *_, seed in search.begun]
    assert len(set(seeds[:2])) == 2
    others = RandomNeurons()
    GreedyNetRegressor(24, search=others, random_state=1).fit(X, y)
    assert others.begun[0][2] != seeds[0]


class Nothing:
    """Finds no neuron."""

    def begin(self, X, row_scale, activation, seed):
        return self

    def propose(self, factor):
        return None

    def accept(self, factor):
        raise AssertionError("nothing was proposed")

    reject = accept


@each_estimator
@corrected_or_not
def test_a_search_may_find_nothing(make, correct):
    X, y = problem(make)
    with pytest.warns(FewerNodesWarning, match="has 2 nodes, not the 5"):
        model = make(5, search=Nothing(), correct=correct).fit(X, y)
    assert model.stop_reason_ is StopReason.EXHAUSTED
    assert model.network_.n_neurons == 0


class Same(Growing):
    """The same neuron again and again, until it is told that it depends on the others."""

    n_rejected = 0

    def propose(self, factor):
        if self.n_rejected == 2:
            return None
        column = self.column(np.array([1.0, 0.0, 0.3]))
        size = np.linalg.norm(column)
        return Proposal(np.array([1.0, 0.0, 0.3]), size, column / size, -1)

    def reject(self):
        self.n_rejected += 1


def test_a_search_is_told_of_neurons_that_are_not_taken():
    X, y = problem(GreedyNetRegressor)
    model = GreedyNetRegressor(max_nodes=9, search=RandomNeurons(kind=Same), correct=False)
    model.fit(X, y)
    # The affine term alone, and with the one neuron that was taken.
    np.testing.assert_array_equal(model.path_.n_nodes, [2, 3])
    np.testing.assert_array_equal(model.path_.indices, [-1])


@each_estimator
@pytest.mark.parametrize("search", [object(), "random", None, 3, Growing])
def test_other_things_are_refused(make, search):
    X, y = problem(make)
    with pytest.raises(ValueError, match=r"'search' parameter of .* must be .*'begin'"):
        make(6, search=search).fit(X, y)
    with pytest.raises(TypeError, match=r"got the class RandomNeurons: write search=RandomNeurons"):
        make(6, search=RandomNeurons).fit(X, y)


# Files


@each_estimator
def test_saving_says_what_to_do(make, tmp_path):
    X, y = problem(make)
    model = make(6, search=RandomNeurons()).fit(X, y)
    message = (
        "`search` must be a number, text or an array to be saved, because files contain no code, "
        "got RandomNeurons: set it to such a value by `set_params`, or save only the network by "
        "`network_.save`."
    )
    with pytest.raises(TypeError, match="`search` must be") as caught:
        model.save(tmp_path / "model.safetensors")
    assert str(caught.value) == message
    assert list(tmp_path.iterdir()) == []
    # Either does.
    model.network_.save(tmp_path / "network.safetensors")
    network = load(tmp_path / "network.safetensors")
    np.testing.assert_array_equal(network.predict(X), model.network_.predict(X))
    model.set_params(search="continuous").save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "model.safetensors").predict(X), model.predict(X))


class Stop(Exception):  # noqa: N818
    """Ends a fit before it is done."""


@each_estimator
@pytest.mark.parametrize("after", [1, 3])
@pytest.mark.parametrize("correct", [False, True])
def test_a_fit_is_resumed(make, correct, after, tmp_path):
    """What is kept as grown is grown again, to the same network."""
    X, y = problem(make)
    wanted = make(8, search=RandomNeurons(), correct=correct).fit(X, y)
    model = make(8, search=RandomNeurons(), correct=correct)

    def stop(n_nodes, error):
        if n_nodes >= 2 + after:
            raise Stop("enough")

    with pytest.raises(Stop, match="enough"), greedynet.checkpoint(tmp_path / "fit"):
        model.set_progress(stop).fit(X, y)
    assert (tmp_path / "fit").exists()
    with greedynet.checkpoint(tmp_path / "fit"):
        model.set_progress().fit(X, y)
    np.testing.assert_array_equal(model.network_.inner_weights, wanted.network_.inner_weights)
    np.testing.assert_array_equal(model.network_.outer_weights, wanted.network_.outer_weights)
    assert not (tmp_path / "fit").exists()


@dataclass
class OfAnyActivation(RandomNeurons):
    """Proposes neurons of the activation it is given."""

    def begin(self, X, row_scale, activation, seed):
        search = super().begin(X, row_scale, activation, seed)
        inputs = np.column_stack([X, np.ones(len(X))])
        scale = 1.0 if row_scale is None else row_scale
        search.column = lambda point: scale * activation.value(inputs @ point)
        return search


@corrected_or_not
@pytest.mark.parametrize("activation", ["tanh", "relu2"])
def test_neurons_have_the_activation_of_the_network(correct, activation):
    X, y = problem(GreedyNetRegressor)
    model = GreedyNetRegressor(
        8, search=OfAnyActivation(kind=Growing), activation=activation, correct=correct
    ).fit(X, y)
    error = np.linalg.norm(y - model.predict(X)) / np.linalg.norm(y - y.mean())
    assert error == pytest.approx(model.path_.kept_error, rel=1e-6)


@each_estimator
def test_neurons_of_another_activation_are_refused(make):
    X, y = problem(make)
    message = "`search` must propose neurons with the activation 'tanh'"
    with pytest.raises(ValueError, match=message):
        make(8, search=RandomNeurons(), activation="tanh").fit(X, y)
