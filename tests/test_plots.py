"""The displays: what their artists show, where they draw, and what they refuse."""

import doctest
import io
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import to_hex
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import greedynet.plots
from classifiers import classifier
from deep_networks import bent_columns, random_deep_network
from greedynet import (
    GreedyNetRegressor,
    Network,
    fit_table,
)
from greedynet.paper import GreedyShallowNetwork, load_example
from greedynet.plots import (
    ApproximationDisplay,
    CurvesDisplay,
    NeuronsDisplay,
    PathDisplay,
)
from problems import SEARCHES, noisy, relative_error


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def one():
    """Example 1 with its published network and a model that chose by validation."""
    example = load_example(1)
    model = GreedyShallowNetwork(example.sphere, max_nodes=40)
    model.fit(example.X_train, example.y_train, X_val=example.X_val, y_val=example.y_val)
    return example, model


@pytest.fixture(scope="module")
def two():
    """Example 3 at the published width."""
    example = load_example(3)
    model = GreedyShallowNetwork(example.sphere, max_nodes=50)
    return example, model.fit(example.X_train, example.y_train)


def hat(n_features=1, n_outputs=1):
    """Kinks at -1/2, 0 and 1/2, and one neuron that is active everywhere on [-1, 1]."""
    rng = np.random.RandomState(0)
    inner = np.zeros((4, n_features))
    inner[:, 0] = [1.0, 2.0, -1.0, 0.5]
    outer = np.array([[1.0], [-2.0], [3.0], [0.5]]) * rng.uniform(1, 2, n_outputs)
    biases = np.array([0.5, 0.0, 0.5, 3.0])
    return Network(inner, biases, outer, single_output=n_outputs == 1)


def line_colours(collection):
    return [to_hex(colour) for colour in collection.get_colors()]


# Approximations


def test_curve_shows_data_target_network_and_kinks(one):
    example, model = one
    network = model.path_.network_at(23)
    display = ApproximationDisplay.from_estimator(
        network, example.X_train, example.y_train, target=example.target
    )
    x, values = display.curve_.get_data()
    np.testing.assert_array_equal(values, network.predict(x[:, None]))
    np.testing.assert_array_equal(display.target_.get_data(), (x, example.target(x[:, None])))
    np.testing.assert_array_equal(
        display.data_.get_data(), (example.X_train[:, 0], example.y_train)
    )
    kinks = -network.biases / network.inner_weights[:, 0]
    inside = np.sort(kinks[np.abs(kinks) < 1])
    np.testing.assert_array_equal(display.kinks_.get_xdata(), inside)
    assert set(inside) <= set(x), "the drawn curve has its corners"
    error = relative_error(network.predict(example.X_test), example.y_test)
    assert display.error == pytest.approx(error, rel=1e-12)
    assert display.ax_.get_title() == f"23 nodes, relative error {error:.2e}"
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["data", "target", "network", "kinks"]


def test_error_is_that_on_the_data_without_a_target():
    X = np.linspace(-1, 1, 30)[:, None]
    y = np.random.RandomState(0).randn(30)
    display = ApproximationDisplay.from_estimator(hat(), X, y)
    assert display.error == pytest.approx(relative_error(hat().predict(X), y))
    assert display.target_ is None
    np.testing.assert_allclose(display.kinks_.get_xdata(), [-0.5, 0.0, 0.5])


@pytest.mark.parametrize(("low", "high", "inside"), [(-0.2, 0.4, [0.0]), (-9, -0.1, [-6, -0.5])])
def test_kinks_outside_the_picture_are_left_out(low, high, inside):
    display = ApproximationDisplay.from_estimator(hat(), [[low], [high]])
    np.testing.assert_allclose(display.kinks_.get_xdata(), inside)
    assert display.curve_.get_xdata()[[0, -1]].tolist() == [low, high]


def test_network_alone_is_drawn_on_the_range_of_its_training_data(one):
    _, model = one
    display = ApproximationDisplay.from_estimator(model.network_)
    assert display.curve_.get_xdata()[[0, -1]].tolist() == [-1.0, 1.0]
    assert display.data_ is None
    assert display.error is None
    assert display.ax_.get_title() == f"{model.n_nodes_} nodes"


def test_panels_of_two_inputs(two):
    example, model = two
    display = ApproximationDisplay.from_estimator(
        model, example.X_train, example.y_train, target=example.target
    )
    assert list(display.panels_) == ["target", "network", "error"]
    assert display.ax_.shape == (3,)
    assert all(ax.figure is display.figure_ for ax in display.ax_)
    target, network, error = display.panels_.values()
    assert target.get_clim() == network.get_clim()
    for artist in display.panels_.values():
        low, high = artist.get_clim()
        assert low == -high
    # The grid is the paper's test set, so the error is the published one.
    shown = display.prediction.ravel()
    np.testing.assert_allclose(shown, model.predict(example.X_test), atol=1e-12)
    assert error.get_clim()[1] == pytest.approx(np.abs(shown - example.y_test).max())
    assert display.error == pytest.approx(example.published.greedy, rel=0.005)
    assert display.ax_[2].get_title() == "error (relative 4.25e-02)"
    assert sorted(display.colorbars_) == ["error", "network"]


def test_contours_have_the_inputs_the_right_way_round():
    network = hat(n_features=2)  # does not depend on the second input
    display = ApproximationDisplay.from_estimator(network, X=[[-1, 0], [1, 5]])
    assert display.ax_.get_xlim() == (-1, 1)
    assert display.ax_.get_ylim() == (0, 5)
    paths = display.panels_["network"].get_paths()
    heights = np.concatenate([path.vertices[:, 1] for path in paths if len(path.vertices)])
    assert set(heights.round(6)) >= {0.0, 5.0}
    along = [path.vertices[:, 0] for path in paths if len(path.vertices)]
    assert min(np.ptp(x) for x in along) < 1, "levels are stripes across the first input"


def test_values_of_one_sign_have_no_diverging_colours():
    def square(X):
        return 1 + (X**2).sum(axis=1)

    grid = (np.linspace(-1, 1, 5), np.linspace(-1, 1, 4))
    rows = np.column_stack([g.ravel() for g in np.meshgrid(*grid, indexing="ij")])
    values = square(rows).reshape(5, 4)
    display = ApproximationDisplay(grid, values).plot()
    assert display.panels_["network"].get_clim() == (values.min(), values.max())


@pytest.mark.parametrize("search", SEARCHES)
def test_feature_names_of_the_network_name_the_axes(search):
    X, y = noisy(60, 2)
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = GreedyNetRegressor(6, search=search).fit(frame, y)
    for display in (
        ApproximationDisplay.from_estimator(model, frame),
        NeuronsDisplay.from_estimator(model),
    ):
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("width", "height")


def test_one_of_several_outputs():
    network = hat(n_outputs=3)
    X = np.linspace(-1, 1, 9)[:, None]
    Y = network.predict(X)
    display = ApproximationDisplay.from_estimator(network, X, Y, output=2)
    np.testing.assert_array_equal(display.data_.get_ydata(), Y[:, 2])
    assert display.error == pytest.approx(0, abs=1e-15)
    same = ApproximationDisplay.from_estimator(network, X, Y[:, 2], output=2)
    assert same.error == display.error
    neurons = NeuronsDisplay.from_estimator(network, output=1)
    sizes = np.abs(network.inner_weights[:, 0]) * network.outer_weights[:, 1]
    np.testing.assert_allclose(neurons.weights, sizes)


# Paths


def check_path(display, model):
    """The curves are those of the path, and the dot on them is the network that was kept."""
    path = model.path_
    assert display.ax_.get_yscale() == "log"
    np.testing.assert_array_equal(
        display.training_line_.get_data(), (path.n_nodes, path.training_errors)
    )
    np.testing.assert_array_equal(
        display.held_out_line_.get_data(), (path.n_nodes, path.held_out_errors)
    )
    (best,), (error,) = display.best_marker_.get_data()
    assert best == model.n_nodes_ == model.network_.n_nodes
    assert error == path.held_out_errors[path.position(best)]
    names = [text.get_text() for text in display.legend_.get_texts()]
    assert names == ["training", "held out", f"kept: {best} nodes"]


@pytest.mark.parametrize(
    ("parameters", "n_features", "noise"),
    [
        ({}, 2, 0.5),
        ({"n_nodes": 8}, 1, 0.1),
        ({"hidden_layers": 2, "max_nodes": 30}, 2, 0.0),
    ],
)
def test_dot_of_a_path_is_the_network_that_was_kept(n_features, parameters, noise):
    X, y = noisy(150, 2, noise=noise)
    model = GreedyNetRegressor(**parameters).fit(X[:, :n_features], y)
    check_path(PathDisplay.from_estimator(model), model)


def test_path_of_a_truncated_network_ends_there():
    X, y = noisy(150, 2)
    model = GreedyNetRegressor(max_nodes=14).fit(X, y)
    for n_nodes in model.path_.n_nodes[1:].tolist():
        smaller = model.truncate(n_nodes)
        check_path(PathDisplay.from_estimator(smaller), smaller)
        assert smaller.path_.n_nodes[-1] == n_nodes


def test_path_without_held_out_rows():
    model = GreedyNetRegressor().fit([[0.0]], [1.0])
    display, path = PathDisplay.from_estimator(model), model.path_
    assert display.held_out_line_ is None
    assert display.legend_.get_texts()[0].get_text() == "training"
    assert display.best_marker_.get_xdata().tolist() == [path.best_n_nodes]


def test_widths_with_gaps_between_them_have_markers():
    errors = np.geomspace(1, 0.1, 5)
    assert PathDisplay([2, 3, 4, 6, 9], errors).plot().training_line_.get_marker() == "."
    assert PathDisplay([2, 3, 4, 5, 6], errors).plot().training_line_.get_marker() == "None"


@pytest.mark.parametrize("n_classes", [2, 5])
def test_path_of_a_classifier_shows_log_losses(n_classes):
    model = classifier(n_classes, "text", n_nodes=None, max_nodes=10)
    display = PathDisplay.from_estimator(model)
    assert display.ax_.get_ylabel() == "log-loss"
    check_path(display, model)


def test_path_of_a_regressor_shows_relative_errors(one):
    assert PathDisplay.from_estimator(one[1]).ax_.get_ylabel() == "relative error"


def test_errors_that_a_logarithm_cannot_show_are_left_out():
    display = PathDisplay([0, 1, 2], [1.0, 0.5, 0.0], [1.0, np.inf, 0.25], best_n_nodes=2).plot()
    display.figure_.canvas.draw()
    low, high = display.ax_.get_ylim()
    assert 0.2 < low < 0.25 < 1 < high < 1.2
    PathDisplay([0, 1], [0.0, 0.0]).plot().figure_.canvas.draw()


# Neurons


def test_kinks_in_the_plane():
    inner = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, -2.0], [1.0, 1.0]])
    biases = np.array([-0.5, 0.0, 1.0, 9.0])
    outer = np.array([3.0, -1.0, 2.0, 5.0]) / np.linalg.norm(inner, axis=1)
    display = NeuronsDisplay.from_estimator(Network(inner, biases, outer[:, None]))
    segments = display.kinks_.get_segments()
    assert len(segments) == 3, "the last kink does not cross the square"
    # The heaviest come last.
    for segment, n in zip(segments, [1, 2, 0], strict=True):
        np.testing.assert_allclose(segment @ inner[n] + biases[n], 0, atol=1e-12)
        assert np.abs(segment).max(axis=1).min() >= 1, "from edge to edge"
    widths = display.kinks_.get_linewidths()
    assert (np.diff(widths) > 0).all()
    assert line_colours(display.kinks_) == ["#1f4e79", "#d1495b", "#d1495b"]
    assert display.ax_.get_xlim() == display.ax_.get_ylim() == (-1, 1)
    assert [text.get_text() for text in display.legend_.get_texts()] == ["$c > 0$", "$c < 0$"]


def test_neurons_on_the_circle_do_not_depend_on_units():
    network = hat()
    a, b, c = network.inner_weights, network.biases, network.outer_weights
    order = np.argsort(np.abs(a[:, 0] * c[:, 0]), kind="stable")
    wanted = np.column_stack([a, b])[order]
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    # The same function of x = 1000 u + 5000.
    scaled = Network(a / 1000, b - 5 * a[:, 0], c, input_range=[[4000.0], [6000.0]])
    for one in (network, scaled):
        display = NeuronsDisplay.from_estimator(one)
        np.testing.assert_allclose(display.kinks_.get_offsets(), wanted, atol=1e-12)
        assert (np.diff(display.kinks_.get_sizes()) > 0).all()


# Tables


def test_tables_are_drawn():
    x = np.linspace(-1, 1, 40)
    model = fit_table({"u": x, "y": np.cos(4 * x)}, "y", max_nodes=8)
    estimator = model.estimator
    curve = ApproximationDisplay.from_estimator(model, {"u": x}, np.cos(4 * x))
    np.testing.assert_array_equal(
        curve.curve_.get_ydata(), estimator.network_.predict(curve.curve_.get_xdata()[:, None])
    )
    assert curve.ax_.get_xlabel() == "u"
    path = PathDisplay.from_estimator(model)
    np.testing.assert_array_equal(path.training_line_.get_ydata(), estimator.path_.training_errors)
    neurons = NeuronsDisplay.from_estimator(model)
    assert len(neurons.kinks_.get_offsets()) == estimator.network_.n_neurons
    classes = fit_table({"u": x, "y": np.where(x > 0, "a", "b")}, "y", n_nodes=3)
    assert PathDisplay.from_estimator(classes).ax_.get_ylabel() == "log-loss"


# Where they draw


def drawings():
    x = np.linspace(-1, 1, 40)
    X, X2 = x[:, None], np.random.RandomState(0).uniform(-1, 1, (50, 2))
    flat = hat(n_features=2)
    errors = np.geomspace(1, 0.01, 10)
    return {
        "curve": lambda ax: ApproximationDisplay.from_estimator(hat(), X, np.cos(x), ax=ax),
        "contour": lambda ax: ApproximationDisplay.from_estimator(flat, X2, ax=ax),
        "path": lambda ax: PathDisplay(range(10), errors, errors**0.5, best_n_nodes=9).plot(ax),
        "lines": lambda ax: NeuronsDisplay.from_estimator(flat, ax=ax),
        "points": lambda ax: NeuronsDisplay.from_estimator(hat(), ax=ax),
    }


@pytest.mark.parametrize("name", drawings())
def test_given_axes_are_used_and_nothing_else(name):
    settings = dict(matplotlib.rcParams)
    figure, (ax, other) = plt.subplots(1, 2)
    before = len(other.get_children())
    display = drawings()[name](ax)
    figure.canvas.draw()
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert figure.axes == [ax, other]
    assert len(other.get_children()) == before
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == settings


@pytest.mark.parametrize("name", drawings())
def test_a_new_figure_is_one_of_pyplots(name):
    display = drawings()[name](None)
    assert plt.get_fignums() == [display.figure_.number]
    again = display.plot()
    assert again is display
    assert plt.get_fignums()[-1] == display.figure_.number == 2


@pytest.mark.parametrize("name", drawings())
def test_text_is_neither_clipped_nor_overlapping(name, monkeypatch):
    figure = drawings()[name](None).figure_
    texts = []
    draw = matplotlib.text.Text.draw

    def record(self, *args, **kwargs):
        texts.append(self)
        return draw(self, *args, **kwargs)

    monkeypatch.setattr(matplotlib.text.Text, "draw", record)
    figure.canvas.draw()
    texts = [text for text in texts if text.get_visible() and text.get_text()]
    assert texts
    page = figure.bbox
    boxes = [text.get_window_extent() for text in texts]
    for text, box in zip(texts, boxes, strict=True):
        assert page.x0 <= box.x0 < box.x1 <= page.x1, text
        assert page.y0 <= box.y0 < box.y1 <= page.y1, text
    for i, box in enumerate(boxes):
        for j in range(i):
            assert not box.padded(-1).overlaps(boxes[j].padded(-1)), (texts[i], texts[j])


def test_threads_draw_what_one_thread_draws():
    def picture(name):
        display = drawings()[name](None)
        buffer = io.BytesIO()
        display.figure_.savefig(buffer, format="png", dpi=50)
        return buffer.getvalue()

    names = ["path", "curve", "lines"] * 3
    alone = {name: picture(name) for name in set(names)}
    figures = plt.get_fignums()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(picture, names))
    assert together == [alone[name] for name in names]
    assert plt.get_fignums() == figures, "figures of other threads are not pyplot's"


@pytest.mark.parametrize(
    ("draw", "artist"),
    [
        (lambda **k: PathDisplay([0, 1], [1.0, 0.5]).plot(**k), "training_line_"),
        (lambda **k: ApproximationDisplay.from_estimator(hat(), [[-1], [1]], **k), "curve_"),
        (lambda **k: NeuronsDisplay.from_estimator(hat(2), **k), "kinks_"),
    ],
)
def test_options_of_the_user_replace_ours(draw, artist):
    drawn = getattr(draw(lw=3.5), artist)
    drawn = drawn[0] if isinstance(drawn, list) else drawn
    assert np.allclose(drawn.get_linewidth(), 3.5)
    drawn = getattr(draw(color="#123456"), artist)
    drawn = drawn[0] if isinstance(drawn, list) else drawn
    colour = drawn.get_color() if hasattr(drawn, "get_color") else drawn.get_facecolor()
    assert to_hex(np.ravel(colour)[:4] if not isinstance(colour, str) else colour) == "#123456"


def wide(n_features):
    return Network(np.ones((2, n_features)), np.zeros(2), np.ones((2, 1)))


def fitted(n_features):
    X, y = noisy(40, n_features)
    return GreedyNetRegressor(4).fit(X, y), X


def first_column(X):
    return X[:, 0]


NONE = Network(np.empty((0, 1)), np.empty(0), np.empty((0, 1)))
network = ApproximationDisplay.from_estimator
WRONG_VALUES = {
    r"`estimator` must have 1 or 2 inputs to be drawn, got 3: draw .* `PathDisplay`": (
        lambda: network(wide(3), np.ones((2, 3)))
    ),
    "`network` must have 1 or 2 inputs to be drawn, got 3": (
        lambda: NeuronsDisplay.from_estimator(wide(3))
    ),
    "`network` must have at least one neuron to be drawn, .* larger `n_nodes`": (
        lambda: NeuronsDisplay.from_estimator(NONE)
    ),
    r"`X` must be given .*, got None: write `X=\[\[-1\], \[1\]\]`": lambda: network(wide(1)),
    "`X` must be given together with `y`, got None: give both": lambda: network(wide(1), y=[1.0]),
    "`X` must have at least two distinct values in every column, .* got only 2 in one": (
        lambda: network(wide(1), [[2.0], [2.0]])
    ),
    "`X` and `y` must have the same number of rows, got 2 and 3": (
        lambda: network(wide(1), [[0], [1]], [1.0, 2.0, 3.0])
    ),
    "`output` must select one of the 2 outputs to show, got None: write `output=0`": (
        lambda: network(hat(1, 2), [[0], [1]])
    ),
    "`output` must select one of the 2 outputs to show, got 2": (
        lambda: NeuronsDisplay.from_estimator(hat(1, 2), output=2)
    ),
    r"`panels` must be some of \['network'\], got \['error'\]: .* require a `target`": (
        lambda: network(wide(2), np.eye(2), panels=["error"])
    ),
    "`ax` .* must be 3 Axes, one for each panel, got 1: write `ax=None`": (
        lambda: network(wide(2), np.eye(2), target=first_column, ax=plt.figure().subplots())
    ),
    "`ax` of `PathDisplay.plot` must be one Axes, got str: write `ax=None`": (
        lambda: PathDisplay([0, 1], [1, 0.5]).plot(ax="here")
    ),
    "`best_n_nodes` must be one of `n_nodes`, 0 to 1, got 7: write None": (
        lambda: PathDisplay([0, 1], [1, 0.5], best_n_nodes=7)
    ),
    r"`prediction` must have the shape of the grid, \(3,\), got \(4,\)": (
        lambda: ApproximationDisplay([np.arange(3)], np.ones(4))
    ),
}
WRONG_TYPES = {
    "`estimator` .* must be a fitted greedynet estimator, .* got StandardScaler": (
        lambda: network(StandardScaler().fit([[0], [1]]), [[0], [1]])
    ),
    "`estimator` .* must be a fitted greedynet estimator, .* got LinearRegression": (
        lambda: PathDisplay.from_estimator(LinearRegression().fit([[0], [1]], [0, 1]))
    ),
    r"got Pipeline: pass its last step, `pipeline\[-1\]`": (
        lambda: PathDisplay.from_estimator(make_pipeline(fitted(1)[0]))
    ),
}


@pytest.mark.parametrize(
    ("message", "call", "error"),
    [
        *((*case, ValueError) for case in WRONG_VALUES.items()),
        *((*case, TypeError) for case in WRONG_TYPES.items()),
    ],
)
def test_refusals_name_the_argument(message, call, error):
    with pytest.raises(error, match=message):
        call()


def test_paths_need_a_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        PathDisplay.from_estimator(GreedyNetRegressor())


WITHOUT_MATPLOTLIB = """
import sys

class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError(name, name="matplotlib")

sys.meta_path.insert(0, Missing())
from greedynet.plots import PathDisplay
print("imported", file=sys.stderr)
PathDisplay([0, 1], [1.0, 0.5]).plot()
"""


def test_matplotlib_is_needed_to_draw_only():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_MATPLOTLIB], capture_output=True, text=True
    )
    first, *_, last = done.stderr.splitlines()
    assert first == "imported"
    assert last == (
        "ModuleNotFoundError: `PathDisplay.plot` needs matplotlib, which is not installed: "
        'pip install "greedynet[plots]"'
    )


@pytest.mark.parametrize("name", greedynet.plots.__all__)
def test_every_display_has_an_example(name):
    found = doctest.DocTestFinder().find(getattr(greedynet.plots, name), name)
    assert [test.examples != [] for test in found].count(True) == 1


# Two hidden layers


@pytest.fixture(scope="module")
def deep():
    table = bent_columns()
    return table, fit_table(table, "y", hidden_layers=2, max_nodes=60)


def test_curves_of_an_estimator_and_a_table(deep):
    _, model = deep
    display = CurvesDisplay.from_estimator(model, color="green")
    assert {ax.get_xlabel() for ax in display.ax_} == {"age", "height"}
    assert to_hex(display.direct_[0].get_color()) == to_hex("green")
    assert CurvesDisplay.from_estimator(model.estimator).names == display.names
    without = CurvesDisplay.from_estimator(random_deep_network(3, affine=False))
    assert without.direct_ == [None, None]


def test_what_curves_refuse(deep, one):
    _, model = deep
    network = random_deep_network()
    with pytest.raises(ValueError, match="'height', which enters the network as it is"):
        CurvesDisplay.from_estimator(network, "height")
    with pytest.raises(ValueError, match="`features` must be positions from 0 to 2 or names"):
        CurvesDisplay.from_estimator(network, 3)
    with pytest.raises(ValueError, match="`features` must have at least one position or name"):
        CurvesDisplay.from_estimator(network, [])
    with pytest.raises(ValueError, match="`output` must select one of the 2 outputs"):
        CurvesDisplay.from_estimator(random_deep_network(3, 2))
    with pytest.raises(ValueError, match="draw its effects by `PartialDependenceDisplay`"):
        CurvesDisplay.from_estimator(one[1])
    with pytest.raises(TypeError, match="is not an estimator instance"):
        CurvesDisplay.from_estimator(type("Green", (), {})())
    with pytest.raises(ValueError, match=r"one hidden layer.*`CurvesDisplay`"):
        NeuronsDisplay.from_estimator(model)


@pytest.mark.parametrize("d", [1, 2])
def test_approximation_by_two_layers(d):
    X = np.random.default_rng(0).uniform(-1, 1, (200, d))
    y = np.sin(4 * X[:, 0]) * X[:, -1]
    model = GreedyNetRegressor(hidden_layers=2, max_nodes=30).fit(X, y)
    for display in (
        ApproximationDisplay.from_estimator(model, X, y),
        ApproximationDisplay.from_estimator(model.network_, X, y),
    ):
        assert display.kinks is None
        assert display.error == pytest.approx(relative_error(model.predict(X), y))
        at = np.column_stack([part.ravel() for part in np.meshgrid(*display.grid, indexing="ij")])
        np.testing.assert_allclose(display.prediction.ravel(), model.predict(at), atol=1e-12)
