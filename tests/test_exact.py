"""Exact answers about all rows of a region, against brute force and against `predict`."""

import json
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

import greedynet
from corners import corners
from greedynet import GreedyNetClassifier, GreedyNetRegressor, Network
from greedynet.cli.program import main
from greedynet.exact import extremes, is_monotone, largest_difference, optimise, sensitivity
from greedynet.exact.form import PiecewiseLinear
from greedynet.exact.questions import columns_of
from greedynet.exact.space import Space
from greedynet.exact.where import parse_conditions, region_of
from greedynet.model.ramps import Ramps
from greedynet.tables.columns import Columns, Input
from greedynet.tables.kinds import Categories, Dates, Truths
from networks import random_network

ACTIVATIONS = ("relu", "leaky_relu", "abs")


def drawn_network(seed: int, d: int | None = None, n: int | None = None, steep: float = 1.0):
    """Return a network of one hidden layer or of two, and a box."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 3)) if d is None else d
    n = int(rng.integers(0, 9)) if n is None else n
    ramps, inputs = None, d
    if rng.random() < 0.4:
        counts = rng.integers(3, 6, d)
        knots = [np.sort(rng.normal(size=count)) for count in counts]
        ramps = Ramps(d, np.repeat(np.arange(d), counts), np.concatenate(knots))
        inputs = ramps.n_lifted
    network = Network(
        rng.normal(size=(n, inputs)),
        rng.normal(size=n),
        rng.normal(size=(n, 1)),
        steep * rng.normal(size=(inputs, 1)),
        rng.normal(size=1),
        activation=ACTIVATIONS[seed % 3],
        ramps=ramps,
    )
    low = rng.normal(size=d) - 1
    high = low + rng.exponential(2, size=d)
    return network, low, high


def box_of(low, high):
    return dict(enumerate(zip(low.tolist(), high.tolist(), strict=True)))


def check_extremes(seed: int):
    network, low, high = drawn_network(seed)
    found = extremes(network, box_of(low, high))
    y = network.predict(corners(network, low, high))
    close = {"rel": 1e-9, "abs": 1e-9 * np.ptp(y)}
    assert found.proven, seed
    assert found.lowest.value == pytest.approx(y.min(), **close), seed
    assert found.highest.value == pytest.approx(y.max(), **close), seed
    for end in (found.lowest, found.highest):
        assert end.value == network.predict(end.point[None])[0]
        assert (low <= end.point).all()
        assert (end.point <= high).all()
        assert end.gap == pytest.approx(0, abs=1e-6 * (np.ptp(y) + np.abs(y).max()))


def test_extremes_are_those_of_all_corners():
    for seed in range(25):
        check_extremes(seed)


@pytest.mark.slow
def test_hundreds_of_extremes():
    for seed in range(1000, 1300):
        check_extremes(seed)


@pytest.mark.slow
def test_no_sampled_row_is_beyond_the_extremes_of_eight_columns():
    rng = np.random.default_rng(0)
    for seed in range(15):
        network = random_network(20, n_features=8, seed=seed, activation=ACTIVATIONS[seed % 3])
        low = rng.normal(size=8) - 1
        high = low + rng.exponential(size=8)
        found = extremes(network, box_of(low, high))
        y = network.predict(rng.uniform(low, high, (100_000, 8)))
        assert found.proven
        assert found.lowest.value <= y.min()
        assert found.highest.value >= y.max()


def test_two_columns_of_another_order_and_a_fixed_one():
    network, low, high = drawn_network(4, d=2, n=6)
    fixed = optimise(network, "max", {1: float(low[1]), 0: (low[0], high[0])})
    assert fixed.point[1] == low[1]
    line = corners(network, low, high)
    line[:, 1] = low[1]
    assert fixed.value >= network.predict(line).max() - 1e-12
    alone = optimise(network, "min", {0: 0.25, 1: -1.0})
    assert alone.value == network.predict([[0.25, -1.0]])[0]
    assert alone.proven
    assert alone.gap == 0


def table_model(seed: int = 0):
    """Return a network on a table with a category, and its columns."""
    columns = Columns((Input("size"), Input("kind", Categories(("A", "B", "C"))), Input("rooms")))
    network = replace(random_network(6, n_features=5, seed=seed), feature_names=columns.features)
    box = np.array([[0.0, 0, 0, 0, 1.2], [2.0, 1, 1, 1, 4.7]])
    return greedynet.TableModel(columns, replace(network, input_range=box))


def test_categories_and_whole_numbers_are_all_tried():
    for seed in range(4):
        model = table_model(seed)
        sizes = np.linspace(0, 2, 401)
        rows = [
            [size, *(float(kind == level) for level in "ABC"), rooms]
            for size in sizes
            for kind in "AC"
            for rooms in (2, 3, 4)
        ]
        y = model.network.predict(rows)
        found = optimise(model, "max", {"kind": ["A", "C"]}, integer=["rooms"])
        assert found.proven
        assert found.row["kind"] in "AC"
        assert found.row["rooms"] in (2, 3, 4)
        assert found.point[1:4].sum() == 1
        # The grid may miss the kinks in `size`, by at most a slope times half a step.
        slope = sensitivity(model, ["size"])["size"].largest
        assert y.max() - 1e-12 <= found.value <= y.max() + slope * 0.0025
        table = {name: [value] for name, value in found.row.items()}
        assert model.predict(table)[0] == found.value


@dataclass(frozen=True)
class Turning(Input):
    """A column of angles that becomes two features on a circle, as dates do."""

    n_features = 2
    features = ("sine", "cosine")

    def encode(self, cells, out, findings, start):
        turns = np.array([float(cell) for cell in cells])
        out[:] = np.column_stack([np.sin(turns), np.cos(turns)])


@dataclass(frozen=True)
class Gap(Input):
    """An input that says whether a cell is empty."""

    gaps_of: str = "size"


def test_columns_of_several_features_are_asked_by_their_values():
    columns = Columns((Turning("when"), Input("size"), Gap("size is empty")))
    network = random_network(6, n_features=4)
    box = np.array([[-1.0, -1, 0, 0], [1.0, 1, 2, 1]])
    network = replace(network, input_range=box, feature_names=None)
    model = greedynet.TableModel(columns, network)
    turns = [0.5, 2.0, 4.0]
    found = optimise(model, "max", {"when": turns})
    single = [optimise(model, "max", {"when": turn}).value for turn in turns]
    assert found.value == pytest.approx(max(single), rel=1e-12)
    assert found.row["when"] == str(turns[int(np.argmax(single))])
    assert list(found.row) == ["when", "size"]
    assert found.point[3] == 0
    turn = float(found.row["when"])
    np.testing.assert_array_equal(found.point[:2], [np.sin(turn), np.cos(turn)])
    with pytest.raises(ValueError, match="2 features that depend on each other, got None"):
        optimise(model)


def test_true_and_false_are_asked_as_such():
    """Between them there is nothing: a peak at one half is not found."""
    columns = Columns((Input("size"), Input("new", Truths())))
    peak = Network(
        inner_weights=np.array([[0.0, 1.0], [0.0, 1.0]]),
        biases=np.array([0.0, -0.5]),
        outer_weights=np.array([[1.0], [-2.0]]),
        input_range=np.array([[0.0, 0.0], [1.0, 1.0]]),
    )
    assert optimise(peak, "max").value == pytest.approx(0.5, abs=1e-9)
    found = optimise(greedynet.TableModel(columns, peak), "max")
    assert found.value == pytest.approx(0.0, abs=1e-12)


def test_gaps_of_an_estimator_are_none_unless_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    gaps = rng.random(120) < 0.3
    y = X[:, 1] + 3.0 * gaps
    X[gaps, 0] = np.nan
    model = greedynet.GreedyNetRegressor(max_nodes=6, missing="learn").fit(X, y)
    assert model.network_.n_features == 3
    found = optimise(model, "max")
    assert found.point[2] == 0
    assert found.value == pytest.approx(model.predict(found.point[None, :2])[0], rel=1e-9)


def test_slopes_of_one_column_are_those_between_kinks():
    for seed in range(9):
        network, low, high = drawn_network(seed, d=1, steep=3.0)
        kinks = corners(network, low, high)[:, 0]
        kinks = kinks[np.append(True, np.diff(kinks) > 1e-9)]
        slopes = np.diff(network.predict(kinks[:, None])) / np.diff(kinks)
        change = sensitivity(network, [0], box_of(low, high))[0]
        assert change.proven
        found = (change.steepest_fall, change.steepest_rise)
        assert found == pytest.approx((slopes.min(), slopes.max()), rel=1e-6, abs=1e-6)
        monotone = is_monotone(network, 0, box_of(low, high))
        assert monotone.holds is bool(slopes.min() >= 0)


def check_slopes(seed: int):
    network, low, high = drawn_network(seed, d=2, steep=3.0)
    box, rng = box_of(low, high), np.random.default_rng(seed)
    X = rng.uniform(low, high, (5_000, 2))
    step = np.array([1e-7, 0])
    slopes = (network.predict(X + step) - network.predict(X - step)) / 2e-7
    change = sensitivity(network, [0], box)[0]
    assert change.proven
    assert change.steepest_fall <= slopes.min() + 1e-5
    assert change.steepest_rise >= slopes.max() - 1e-5
    for increasing, worst in ((True, change.steepest_fall), (False, -change.steepest_rise)):
        found = is_monotone(network, 0, box, increasing=increasing)
        assert found.holds is bool(worst >= -1e-9)
        check_pair(network, found)


def check_pair(network, found):
    if found.holds:
        assert found.pair is None
        return
    first, second = found.pair
    assert first[0] < second[0]
    assert (first[1:] == second[1:]).all()
    a, b = network.predict(np.array(found.pair))
    assert (a, b) == found.predictions
    assert a > b if found.increasing else a < b


def test_slopes_are_keyed_by_the_columns_as_asked_for():
    network = replace(random_network(3, n_features=2), feature_names=("size", "age"))
    box = {0: (-1, 1), 1: (-1, 1)}
    for columns in ([1], ["age"], [1, "size"], (0, 1)):
        found = sensitivity(network, columns, box)
        assert list(found) == list(columns)
        assert {change.column for change in found.values()} <= {"size", "age"}
    assert list(sensitivity(network, None, box)) == ["size", "age"]


def exactly(network, x):
    """What a network of ReLUs predicts for a row, as a fraction."""
    columns = [Fraction(value) for value in x.tolist()]

    def dot(weights):
        return sum(Fraction(w) * v for w, v in zip(weights.tolist(), columns, strict=True))

    neurons = zip(network.inner_weights, network.biases, network.outer_weights[:, 0], strict=True)
    found = sum(Fraction(c) * max(dot(a) + Fraction(b), 0) for a, b, c in neurons)
    return found + dot(network.linear_weights[:, 0]) + Fraction(network.intercept[0])


def rounding(network, X):
    """The bound on the rounding of `predict` that docs/exact.md states."""
    X, u = np.abs(X), 2.0**-53
    sizes = (X @ np.abs(network.inner_weights.T) + np.abs(network.biases)) @ np.abs(
        network.outer_weights
    )
    sizes += X @ np.abs(network.linear_weights) + np.abs(network.intercept)
    return (network.n_neurons + network.n_features + 3) * u * sizes[:, 0]


@pytest.mark.parametrize("seed", range(8))
def test_predictions_are_rounded_by_no_more_than_their_terms_allow(seed):
    d, k = 1 + seed, 5 * (1 + seed)
    rng = np.random.default_rng(seed)
    network = replace(random_network(k, n_features=d, seed=seed), reach=np.inf)
    X = 10.0 ** rng.integers(0, 8, (20, d)) * rng.normal(size=(20, d))
    errors = [
        abs(Fraction(y) - exactly(network, x))
        for x, y in zip(X, network.predict(X).tolist(), strict=True)
    ]
    assert (np.array(errors, dtype=float) <= rounding(network, X)).all()
    assert max(errors) > 0


def test_a_proven_network_falls_by_rounding_alone():
    # From the year 2000 on, a plateau: the two neurons cancel, but not their rounding.
    network = Network(
        np.array([[3.0], [7.0]]),
        np.array([-6000.0, -14_000 - 1e-8]),
        np.array([[7.0], [-3.0]]),
        np.zeros((1, 1)),
        np.ones(1),
        input_range=[[1990.0], [2030.0]],
    )
    assert is_monotone(network, 0).holds
    X = np.linspace(1990, 2030, 10_001)[:, None]
    y = network.predict(X)
    fall = -np.diff(y).min()
    assert fall > 1e-9 * np.ptp(y)
    assert fall <= 2 * rounding(network, X).max()


def test_monotone_is_proven_or_contradicted_by_a_pair():
    for seed in range(7):
        check_slopes(seed)


@pytest.mark.slow
def test_hundreds_of_slopes():
    for seed in range(1000, 1050):
        check_slopes(seed)


def test_a_rare_fall_is_found_by_the_programme():
    """A fall near one of 65,536 corners of the box, which no drawn row meets."""
    d = 16
    corner = np.random.default_rng(7).choice([-1.0, 1.0], d)
    network = Network(
        100 * corner[None], np.array([-100 * (d - 0.1)]), np.array([[-corner[0]]]), np.ones((d, 1))
    )
    box = dict.fromkeys(range(d), (-1.0, 1.0))
    found = is_monotone(network, 0, box)
    assert found.holds is False
    assert (found.pair[0][1:] * corner[1:]).sum() > d - 1.2
    check_pair(network, found)
    assert is_monotone(network, 0, box | {1: (0, 0)})


def test_kinks_through_one_point_allow_no_slope_of_no_piece():
    """Three kinks meet: all neurons on or off count at the point alone, where nothing is steep."""
    inner = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.0]])
    network = Network(inner, np.zeros(3), np.array([[1.0], [1.0], [-1.0]]))
    change = sensitivity(network, [0], {0: (-1, 1), 1: (-1, 1)})[0]
    # All three on would be a slope of 3, but the third is on where x0 < 0 and the sum is negative.
    assert change.proven
    assert (change.steepest_fall, change.steepest_rise) == (1.0, 2.0)


def test_many_slopes_need_few_programmes():
    """With conditions that allow too much, more combinations than are excluded would come up."""
    rng = np.random.default_rng(0)
    inner, outer = rng.normal(size=(25, 1)), rng.normal(size=(25, 1))
    network = Network(inner, rng.normal(size=25), outer)
    kinks = np.sort(np.append(-network.biases / inner[:, 0], [-2.0, 2.0]))
    kinks = kinks[(kinks >= -2) & (kinks <= 2)]
    slopes = np.diff(network.predict(kinks[:, None])) / np.diff(kinks)
    change = sensitivity(network, [0], {0: (-2, 2)})[0]
    assert change.proven
    found = (change.steepest_fall, change.steepest_rise)
    assert found == pytest.approx((slopes.min(), slopes.max()))


def test_neurons_with_the_same_kink_are_one():
    inner = np.array([[1.0, 2.0], [-1.0, -2.0], [3.0, 6.0], [0.0, 1.0], [0.0, 0.0]])
    biases = np.array([0.5, -0.5, 1.5, 0.0, 2.0])
    network = Network(inner, biases, np.array([[1.0], [-2], [0.7], [1.0], [3.0]]))
    region = region_of(columns_of(network), {0: (-1, 2), 1: (-3, 1)})
    space = Space.of(region, (network,))
    form = PiecewiseLinear.of(network, 0, space)
    assert len(form.outer) == 2
    v = space.drawn(50)
    np.testing.assert_allclose(form(v), network.predict(space.rows(v)), atol=1e-12)


def test_a_whole_number_beside_a_peak():
    peak = Network(np.ones((1, 1)), np.array([-2.4]), -np.ones((1, 1)), activation="abs")
    found = optimise(peak, "max", {0: (0, 5)}, integer=[0])
    assert found.proven
    assert found.point.tolist() == [2.0]
    assert found.bound == pytest.approx(-0.4)


def test_largest_difference_of_two_networks():
    for seed in range(6):
        (a, low, high), (b, *_) = drawn_network(seed, d=1), drawn_network(seed + 50, d=1)
        found = largest_difference(a, b, box_of(low, high))
        rows = np.concatenate([corners(network, low, high) for network in (a, b)])
        wanted = np.abs(a.predict(rows) - b.predict(rows)).max()
        assert found.proven
        assert found.value == pytest.approx(wanted, rel=1e-9)
        assert found.value == abs(a.predict([found.point])[0] - b.predict([found.point])[0])
    same = largest_difference(a, a, box_of(low, high))
    assert same.value == 0
    assert same.bound == pytest.approx(0, abs=1e-9)


def test_without_time_the_answer_says_so_and_bounds():
    network = random_network(60, n_features=8)
    box = dict.fromkeys(range(8), (-1.0, 1.0))
    short = optimise(network, "max", box, max_seconds=0.01)
    assert not short.proven
    assert short.bound > short.value
    assert short.value == network.predict([short.point])[0]
    assert "not proven" in str(short)
    corner = np.random.default_rng(0).choice([-1.0, 1.0], (5_000, 8))
    assert network.predict(corner).max() <= short.bound


def test_outputs_and_classes():
    X = np.random.default_rng(0).uniform(-1, 1, (150, 2))
    classifier = GreedyNetClassifier(n_nodes=3).fit(X, np.where(X[:, 0] > X[:, 1], "b", "a"))
    found = extremes(classifier)
    assert found.highest.value == classifier.decision_function([found.highest.point])[0]
    several = random_network(4, 2)
    assert optimise(several, output=1).value == pytest.approx(
        -optimise(
            replace(
                several,
                outer_weights=-several.outer_weights,
                linear_weights=-several.linear_weights,
                intercept=-several.intercept,
            ),
            "min",
            output=1,
        ).value
    )
    with pytest.raises(ValueError, match="`output` must choose one of the 2 outputs"):
        optimise(several)
    with pytest.raises(ValueError, match="the log-odds of 'b'"):
        optimise(classifier, output=3)


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda m: optimise(m, "most"), "`direction` must be 'max' or 'min', got 'most'"),
        (lambda m: optimise(m, where={"siz": 3}), "no column 'siz': the columns are size, kind"),
        (lambda m: optimise(m, where={7: 3}), "a position from 0 to 2, got 7"),
        (lambda m: optimise(m, where={"kind": "Z"}), "are A, B, C; got 'Z'"),
        (lambda m: optimise(m, where={"kind": []}), "must leave a level of 'kind'"),
        (lambda m: optimise(m, where={"size": (None, -1)}), "in the data it goes from 0 to 2"),
        (lambda m: optimise(m, where={"size": "x"}), r"a pair \(low, high\) for 'size', got 'x'"),
        (lambda m: optimise(m, where={"size": (0, np.inf)}), "finite ends for 'size'"),
        (lambda m: optimise(m, integer=["kind"]), "`integer` must name columns of numbers"),
        (lambda m: optimise(m, where={"rooms": (1.2, 1.7)}, integer=["rooms"]), "a whole number"),
        (lambda m: is_monotone(m, "kind"), "got 'kind', which is one of"),
        (lambda m: is_monotone(m, "size", {"size": 1}), "is 1 everywhere in the region"),
        (lambda m: optimise(random_network(n_features=4)), "does not know the range of its data"),
        (lambda m: optimise(random_network(activation="relu2")), "'relu2', whose neurons are cur"),
        (lambda m: largest_difference(m, random_network()), "`b` must take the same columns"),
        (lambda m: optimise(m.network.predict), "`model` must be a TableModel"),
    ],
)
def test_refused_questions(ask, match):
    with pytest.raises((ValueError, TypeError), match=match):
        ask(table_model())


def test_the_box_of_other_rows():
    network = random_network(n_features=4)
    X = np.random.default_rng(0).normal(size=(20, 4))
    found = extremes(network, X=X)
    for end in (found.lowest, found.highest):
        assert (X.min(axis=0) <= end.point).all()
        assert (end.point <= X.max(axis=0)).all()


@pytest.mark.parametrize(
    ("texts", "where"),
    [
        (["size<=30"], {"size": (None, 30.0)}),
        (["size > 3", "size<9"], {"size": (3.0, 9.0)}),
        (["3<=size<=9"], {"size": (3.0, 9.0)}),
        (["size=4"], {"size": (4.0, 4.0)}),
        (["kind=A", "kind = C"], {"kind": ["A", "C"]}),
        (["kind=A=B"], {"kind": ["A=B"]}),
        (["size=big<=2"], {"size=big": (None, 2.0)}),
        (["sold=2024-05-31"], {"sold": ["2024-05-31"]}),
    ],
)
def test_conditions_in_words(texts, where):
    sold = Input("sold", Dates("2024-01-01", "2024-12-31", cycles=("week",)))
    kind = Input("kind", Categories(("A", "A=B", "C")))
    columns = Columns((Input("size"), kind, Input("size=big"), sold))
    assert parse_conditions(texts, columns) == where


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("age<=3", "a condition on a column"),
        ("kind<=A", "by '=', got 'kind<=A'"),
        ("size<=x", "compare with a number"),
    ],
)
def test_bad_conditions(text, match):
    with pytest.raises(ValueError, match=match):
        parse_conditions([text], table_model().columns)


def asked(tmp_path, *arguments):
    file = tmp_path / "model.safetensors"
    table_model().save(file)
    return CliRunner().invoke(main, ["ask", str(file), *arguments])


def test_command_answers_as_python_does(tmp_path):
    run = asked(tmp_path, "--max", "--where", "size<=1", "--where", "kind=B", "--json")
    (answer,) = json.loads(run.output)
    wanted = optimise(table_model(), "max", {"size": (None, 1), "kind": "B"})
    assert answer["value"] == wanted.value
    assert answer["row"] == wanted.row
    assert answer["proven"] is True


def test_command_in_words(tmp_path):
    both = asked(tmp_path).output
    assert both.startswith("smallest prediction: ")
    assert "largest prediction: " in both
    assert "(proven)" in both
    monotone = asked(tmp_path, "--monotone", "size").output.splitlines()
    assert monotone[0].startswith("only rises with size: ")
    assert monotone[1].startswith("only falls with size: ")
    wrong = asked(tmp_path, "--where", "kind=Z")
    assert wrong.exit_code == 2
    assert "are A, B, C; got 'Z'" in wrong.output


def test_report_tells_the_range_and_warns_of_wild_corners(tmp_path):
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 200)
    # All rows lie along a diagonal, so that nothing holds the network in the other corners.
    X = np.column_stack([t, t + 0.01 * rng.normal(size=200)])
    wild = Network(
        np.array([[1.0, -1.0]]), np.array([-0.1]), np.array([[50.0]]), np.ones((2, 1)), np.zeros(1)
    )
    wild = replace(wild, input_range=np.array([X.min(axis=0), X.max(axis=0)]))
    file = tmp_path / "report.html"
    greedynet.write_report(wild, file, X, X.sum(axis=1))
    page, top = file.read_text(encoding="utf-8"), optimise(wild, "max").value
    assert "Inside the data&#x27;s box" in page or "Inside the data's box" in page
    assert "In parts of the box with few training rows, the network predicts values far" in page
    assert f"{top:,.3g}".replace(",", "") in page.replace(",", "")
    tame = GreedyNetRegressor(n_nodes=3).fit(X[:, :1], np.abs(t))
    greedynet.write_report(tame, file, X[:, :1], np.abs(t))
    page = file.read_text(encoding="utf-8")
    assert "it predicts from" in page
    assert "few training rows" not in page
