"""Exact answers: optima, extremes, monotone columns, sensitivity, over all rows of a region."""

import ctypes
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import greedynet
from corners import corners, sums_of
from greedynet import GreedyNetClassifier, GreedyNetRegressor, Network
from greedynet.cli import main
from greedynet.exact import extremes, is_monotone, largest_difference, optimise, sensitivity
from greedynet.exact.answers import likeness
from greedynet.exact.conditions import parse_conditions, parse_constraint
from greedynet.exact.form import PiecewiseLinear
from greedynet.exact.moments import MomentColumn, Span
from greedynet.exact.programme import without_stray_lines
from greedynet.exact.questions import columns_of
from greedynet.exact.region_columns import NumberColumn
from greedynet.exact.space import Space
from greedynet.exact.where import region_of
from greedynet.tables.columns import Columns, Input
from greedynet.tables.kinds import Categories, Dates
from networks import MOMENTS, Ramps, all_moments, random_network

# Exact answers about all rows of a region, against brute force and against `predict`


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


def table_model(seed: int = 0):
    """Return a network on a table with a category, and its columns."""
    columns = Columns((Input("size"), Input("kind", Categories(("A", "B", "C"))), Input("rooms")))
    network = replace(random_network(6, n_features=5, seed=seed), feature_names=columns.features)
    box = np.array([[0.0, 0, 0, 0, 1.2], [2.0, 1, 1, 1, 4.7]])
    return greedynet.TableModel(columns, replace(network, input_range=box))


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


def test_neurons_with_the_same_kink_are_one_and_flat_ones_are_constants():
    inner = np.array([[1.0, 2.0], [-1.0, -2.0], [3.0, 6.0], [0.0, 1.0], [0.0, 0.0]])
    biases = np.array([0.5, -0.5, 1.5, 0.0, 2.0])
    network = Network(inner, biases, np.array([[1.0], [-2], [0.7], [1.0], [3.0]]))
    region = region_of(columns_of(network), {0: (-1, 2), 1: (-3, 1)})
    space = Space.of(region, (network,))
    form = PiecewiseLinear.of(network, 0, space)
    assert len(form.outer) == 2
    v = space.drawn(50)
    np.testing.assert_allclose(form(v), network.predict(space.rows(v)), atol=1e-12)


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
    parts = {name: getattr(several, name)[..., 1:] for name in ("outer_weights", "linear_weights")}
    second = replace(several, **parts, intercept=several.intercept[1:], single_output=True)
    assert optimise(several, output=1).value == pytest.approx(optimise(second).value)
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


@pytest.mark.parametrize("name", list(MOMENTS))
def test_what_encloses_a_span_contains_all_of_its_moments(name):
    kind, rng = MOMENTS[name], np.random.default_rng(0)
    moments = all_moments(name, "m" if name == "times" else "D").astype(np.int64)
    step, n = int(np.diff(moments)[0]), kind.n_features
    for _ in range(200):
        size = min(int(rng.integers(33, len(moments)) ** rng.uniform(0.6, 1.0)) + 33, len(moments))
        start = int(rng.integers(0, len(moments) - size + 1))
        inside = moments[start : start + size]
        spans = (Span(int(inside[0]), int(inside[-1])),)
        column = MomentColumn("when", tuple(range(n)), kind, spans, step)
        rows = column.rows(inside)
        columns, cuts = column.enclosed()
        for part in columns:
            if isinstance(part, NumberColumn):
                values = rows[:, part.feature]
                assert part.low - 1e-9 <= values.min()
                assert values.max() <= part.high + 1e-9
            else:
                days = rows[:, list(part.features)][:, None] - part.rows
                assert np.abs(days).max(axis=2).min(axis=1).max() < 1e-9
        for sums, most in cuts:
            assert (rows[:, list(sums)] @ np.array(list(sums.values()))).max() <= most + 1e-12
        parts = column.halves()
        assert sum(map(len, parts)) == len(column) == size


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


def parse_where(text):
    return parse_conditions([text], table_model().columns)


def parse_sum(text):
    return parse_constraint(text, columns_of(fitted("x0")))


def asked(tmp_path, *arguments):
    file = tmp_path / "model.safetensors"
    table_model().save(file)
    return CliRunner().invoke(main, ["ask", str(file), *arguments])


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


# Exact answers about estimators, by their columns: against brute force over all levels and gaps


NAN = float("nan")
LEVELS = ("A", "B", "C")
LOW = np.array([-0.5, -1.5])


@cache
def fitted(gaps: str, classes: bool = False):
    """Return an estimator that has learned from empty cells in some columns."""
    rng = np.random.default_rng(len(gaps))
    n = 120
    frame = pd.DataFrame(
        {
            "x0": rng.uniform(-1, 2, n),
            "x1": rng.uniform(-3, 3, n),
            "kind": pd.Categorical(rng.choice(LEVELS, n)),
            "flag": pd.array(rng.random(n) < 0.6, dtype="boolean"),
        }
    )
    y = frame.x1 + 2.0 * frame.flag.astype(float)
    for step, name in enumerate(gaps.split()):
        empty = rng.random(n) < 0.25
        y += (3.0 + step) * empty
        frame.loc[empty, name] = None
    kind = GreedyNetClassifier if classes else GreedyNetRegressor
    return kind(n_nodes=3, missing="learn").fit(frame, (y > y.median()) if classes else y)


def drawn_model(seed: int):
    """Return an estimator with a network that is drawn at random, and its columns with gaps."""
    rng = np.random.default_rng(seed)
    gaps = ("x0", "x0 kind", "x0 kind flag", "kind flag")[seed % 4]
    model = fitted(gaps, seed % 3 == 0).truncate(3)
    known = model.network_
    d = inputs = known.n_features
    ramps = None
    if seed % 5 == 0:
        ramps = Ramps(d, np.array([0, 0, 0, 1, 1, 1]), np.sort(rng.normal(size=6)))
        inputs = ramps.n_lifted
    model.network_ = Network(
        rng.normal(size=(5, inputs)),
        rng.normal(size=5),
        rng.normal(size=(5, 1)),
        rng.normal(size=(inputs, 1)),
        rng.normal(size=1),
        activation=("relu", "leaky_relu", "abs")[seed % 3],
        input_range=known.input_range,
        feature_names=known.feature_names,
        ramps=ramps,
    )
    return model, gaps.split(), rng


def drawn_question(rng, gaps):
    """Return what to ask about, and all states: whether x0 is empty, the kind and the flag."""
    ends = tuple(LOW.tolist())
    allowed = {"x0": [False], "kind": list(LEVELS), "flag": [False, True]}
    where = {"x0": (ends[0], None), "x1": (ends[1], None)}
    for name in ("kind", "flag"):
        n = len(allowed[name])
        some = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
        allowed[name] = [allowed[name][i] for i in some]
        where[name] = list(allowed[name])
    for name in gaps:
        how = rng.integers(3)  # a value, an empty cell, or either
        if name == "x0":
            allowed["x0"] = [[False], [True], [False, True]][how]
            where["x0"] = [where["x0"], NAN, [where["x0"], NAN]][how]
        else:
            allowed[name] = [allowed[name], [NAN], [*allowed[name], NAN]][how]
            where[name] = list(allowed[name])
    return where, list(product(*allowed.values()))


def frame_of(X, state):
    """Return rows of x0 and x1 as a frame of all columns."""
    is_empty, kind, flag = state
    return pd.DataFrame(
        {
            "x0": np.where(is_empty, np.nan, X[:, 0]),
            "x1": X[:, 1],
            "kind": pd.Categorical([None if kind != kind else kind] * len(X), LEVELS),
            "flag": pd.array([None if flag != flag else flag] * len(X), dtype="boolean"),
        }
    )


def outputs(model, frame):
    return getattr(model, "decision_function", model.predict)(frame)


def rows_of_all_extremes(model, states, low, high, plane=None):
    """Return all corners in x0 and x1, of the neurons in some states and of a constraint."""

    def sums(X):
        found = [sums_of(model.network_, model.network_inputs(frame_of(X, s))) for s in states]
        return np.hstack(found if plane is None else [*found, (X @ plane[0] - plane[1])[:, None]])

    X = corners(model.network_, low, high, sums)
    return X if plane is None else X[X @ plane[0] <= plane[1] + 1e-9]


def all_extremes(model, states, boxes, plane=None):
    """Return predictions among which are the smallest and the largest one."""
    asked = product(states, boxes)
    rows = [(s, rows_of_all_extremes(model, [s], *box, plane)) for s, box in asked]
    return np.concatenate([outputs(model, frame_of(X, s)) for s, X in rows if len(X)])


def state_of(row):
    return row["x0"] != row["x0"], row["kind"], row["flag"]


def check_row(model, found, states, **close):
    """Check that the row of an answer is one of the states, and what is predicted there."""
    state = state_of(found.row)
    assert str(state) in map(str, states)
    X = np.array([[found.row["x0"], found.row["x1"]]])
    assert outputs(model, frame_of(X, state))[0] == pytest.approx(found.value, **close)


@pytest.mark.parametrize(
    "seed", [*range(15), *(pytest.param(s, marks=pytest.mark.slow) for s in range(100, 250))]
)
def test_extremes_are_those_of_all_levels_booleans_and_gaps(seed):
    model, gaps, rng = drawn_model(seed)
    where, states = drawn_question(rng, gaps)
    high = model.network_.input_range[1, :2]
    found = extremes(model, where)
    y = all_extremes(model, states, [(LOW, high)])
    close = {"rel": 1e-9, "abs": 1e-9 * np.ptp(y)}
    assert found.proven
    assert found.lowest.value == pytest.approx(y.min(), **close)
    assert found.highest.value == pytest.approx(y.max(), **close)
    for end in (found.lowest, found.highest):
        check_row(model, end, states, **close)


@pytest.mark.parametrize("seed", range(12))
def test_constraints_agree_with_brute_force(seed):
    model, _, rng = drawn_model(seed)
    high = model.network_.input_range[1, :2]
    inside = rng.uniform(LOW, high)
    factors = rng.normal(size=2)
    plane = factors, float(factors @ inside)
    constraint = ({"x0": factors[0], "x1": factors[1]}, plane[1])
    where = {"x0": (LOW[0], None), "x1": (LOW[1], None)}
    integer = ["x1"] if seed % 4 == 0 else []
    states = list(product([False], LEVELS, [False, True]))
    boxes = [(LOW, high)]
    if integer:
        whole = np.arange(np.ceil(LOW[1]), np.floor(high[1]) + 1)
        boxes = [((LOW[0], x1), (high[0], x1)) for x1 in whole]
    y = all_extremes(model, states, boxes, plane)
    found = extremes(model, where, integer=integer, constraints=[constraint])
    close = {"rel": 1e-7, "abs": 1e-7 * np.ptp(y)}
    assert found.proven
    assert found.lowest.value == pytest.approx(y.min(), **close)
    assert found.highest.value == pytest.approx(y.max(), **close)
    for end in (found.lowest, found.highest):
        x0, x1 = end.row["x0"], end.row["x1"]
        assert factors @ [x0, x1] <= plane[1] + 1e-7
        assert not integer or x1 == round(x1)
        check_row(model, end, states, **close)


@pytest.mark.parametrize("seed", range(8))
def test_changes_from_false_to_true_are_those_of_all_rows(seed):
    model, gaps, rng = drawn_model(seed)
    where, states = drawn_question(rng, gaps)
    where["flag"] = [False, True]
    if seed % 2:
        bounds = greedynet.OutputBounds(np.array([-1.0]), np.array([1.0]))
        model.network_ = replace(model.network_, bounds=bounds)
    high, changes = model.network_.input_range[1, :2], []
    for empty, kind in {str(s[:2]): s[:2] for s in states}.values():
        both = [(empty, kind, flag) for flag in (False, True)]
        X = rows_of_all_extremes(model, both, LOW, high)
        if model.network_.bounds is not None:  # whose kinks are elsewhere
            X = np.vstack([X, rng.uniform(LOW, high, (20_000, 2))])
        false, true = (outputs(model, frame_of(X, state)) for state in both)
        changes.append(true - false)
    least, most = np.concatenate(changes).min(), np.concatenate(changes).max()
    change = sensitivity(model, ["flag"], where)["flag"]
    rising, falling = (is_monotone(model, "flag", where, increasing=up) for up in (True, False))
    assert change.proven
    assert change.steepest_fall <= least + 1e-9
    assert change.steepest_rise >= most - 1e-9
    sampled = 0.05 if model.network_.bounds is not None else 1e-9
    assert (change.steepest_fall, change.steepest_rise) == pytest.approx((least, most), abs=sampled)
    assert rising.holds is bool(change.steepest_fall >= -1e-9)
    assert falling.holds is bool(change.steepest_rise <= 1e-9)
    for said in (rising, falling):
        if not said:
            assert "as flag goes from False to True" in str(said)
            a, b = said.rows
            assert (a.pop("flag"), b.pop("flag")) == (False, True)
            assert str(a) == str(b)


@pytest.mark.parametrize("seed", range(12))
def test_slopes_beside_levels_booleans_and_gaps(seed):
    model, gaps, rng = drawn_model(seed)
    where, states = drawn_question(rng, gaps)
    change = sensitivity(model, ["x1"], where)["x1"]
    rising = is_monotone(model, "x1", where)
    step, slopes = np.array([0.0, 1e-6]), []
    for state in states:
        X = rng.uniform(LOW, model.network_.input_range[1, :2] - step, (3_000, 2))
        rise = outputs(model, frame_of(X + step, state)) - outputs(model, frame_of(X, state))
        slopes.append(rise / step[1])
    slopes = np.concatenate(slopes)
    assert change.proven
    assert change.steepest_fall <= slopes.min() + 1e-6
    assert change.steepest_rise >= slopes.max() - 1e-6
    assert rising.holds is bool(change.steepest_fall >= 0)
    for row in change.rows:
        assert str(state_of(row)) in map(str, states)
    if not rising:
        assert str(state_of(rising.rows[0])) in map(str, states)
        X = np.array([[row["x0"], row["x1"]] for row in rising.rows])
        y = outputs(model, frame_of(X, state_of(rising.rows[0])))
        assert tuple(y) == pytest.approx(rising.predictions, rel=1e-9)
        assert y[1] < y[0]


@pytest.mark.parametrize("seed", [0, 1, 5, 30, 45, 260])
def test_slopes_with_and_without_a_gap_are_those_of_either(seed):
    model, _, _ = drawn_model(seed)
    there, empty, either = (
        sensitivity(model, ["x1"], {"x0": said})["x1"]
        for said in ((LOW[0], None), NAN, [(LOW[0], None), NAN])
    )
    assert either.proven
    steepest = min(there.steepest_fall, empty.steepest_fall)
    assert either.steepest_fall == pytest.approx(steepest, rel=1e-9)
    steepest = max(there.steepest_rise, empty.steepest_rise)
    assert either.steepest_rise == pytest.approx(steepest, rel=1e-9)


def test_a_gap_is_asked_for_by_nan_or_by_its_indicator():
    model, _, _ = drawn_model(2)
    names = model.network_.feature_names
    by_nan, by_name = (
        optimise(model, where={"x0": NAN}),
        optimise(model, where={"x0 is missing": 1}),
    )
    np.testing.assert_array_equal(by_nan.point, by_name.point)
    assert by_nan.point[names.index("x0")] == model.filling_.values[0]
    assert by_nan.point[names.index("x0 is missing")] == 1
    none, either = optimise(model), optimise(model, where={"x0 is missing": (0, 1)})
    assert none.point[names.index("x0 is missing")] == 0
    assert either.value == max(none.value, by_nan.value)
    assert "x0 = (empty)" in str(by_nan)
    empty = optimise(model, where={"kind=A is missing": 1})
    assert np.isnan(empty.row["kind"])


def test_a_gap_that_has_no_indicator_is_the_mean():
    model = GreedyNetRegressor(n_nodes=3, missing="learn")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x0": rng.normal(size=90), "new": rng.random(90) < 0.5}).astype(object)
    y = X.astype(float).sum(axis=1)
    X.loc[::9, "new"] = None
    model.fit(X, y)
    assert not model.filling_.indicated.any()
    assert model.booleans_.tolist() == [False, True]
    found = optimise(model, where={"new": [True, NAN], "x0": 0})
    assert found.row["new"] is True
    empty = optimise(model, where={"new": NAN, "x0": 0})
    assert empty.point.tolist() == [0, model.filling_.values[1]]
    assert np.isnan(empty.row["new"])


def test_tables_with_gaps_are_asked_as_estimators_are():
    rng = np.random.default_rng(0)
    size, kind = rng.normal(size=200), rng.choice(["A", "B"], 200).astype(object)
    no_size, no_kind = rng.random((2, 200)) < 0.3
    y = size + 3.0 * no_size + 2.0 * no_kind
    size[no_size], kind[no_kind] = np.nan, None
    model = greedynet.fit_table({"size": size, "kind": kind, "y": y}, "y", n_nodes=6)
    assert {"size is missing", "kind is missing"} <= set(model.columns.labels)
    for where in ({"size": NAN}, {"kind": NAN}, {"size": NAN, "kind": ["B", NAN]}, {}):
        found = optimise(model, where=where)
        row = {name: [None if value != value else value] for name, value in found.row.items()}
        assert model.predict(row)[0] == pytest.approx(found.value, rel=1e-12)
        assert np.isnan(found.row["size"]) == ("size" in where)


def test_the_estimator_of_a_table_is_asked_by_the_inputs_of_its_network():
    model = fitted("x0 kind flag")
    plain = model.without_filling()
    names = list(model.network_.feature_names)
    assert list(columns_of(plain).names) == names
    assert list(columns_of(model).names) == ["x0", "x1", "kind", "flag"]
    assert list(optimise(plain, where={"x0 is missing": 0}).row) == names


def test_largest_difference_where_cells_are_empty():
    model, _, _ = drawn_model(1)
    other, _, _ = drawn_model(5)
    where = {"x0": [(LOW[0], None), NAN], "kind": ["A", NAN]}
    found = largest_difference(model, other, where)
    X, state = np.array([[found.row["x0"], found.row["x1"]]]), state_of(found.row)
    a, b = (outputs(m, frame_of(X, state))[0] for m in (model, other))
    assert found.value == pytest.approx(abs(a - b), rel=1e-9)
    other.filling_ = replace(other.filling_, values=other.filling_.values + 1)
    with pytest.raises(ValueError, match="`b` must insert the same values for empty cells"):
        largest_difference(model, other, where)
    assert largest_difference(model, other).proven


def test_constraints_of_which_no_drawn_row_meets_both():
    """Between two constraints only a line is left, and in whole numbers a few rows."""
    model, _, _ = drawn_model(1)
    where = {"x0": (0, 2), "x1": (0, 2), "kind": "B", "flag": True}
    line = [({"x0": 1, "x1": 1}, 2.0), ({"x0": -1, "x1": -1}, -2.0)]
    found = optimise(model, where=where, constraints=line)
    t = np.linspace(0, 2, 20_001)
    y = outputs(model, frame_of(np.column_stack([t, 2 - t]), (False, "B", True)))
    assert found.proven
    assert y.max() - 1e-7 <= found.value <= y.max() + 1e-3
    whole = optimise(model, where=where, constraints=line, integer=["x0", "x1"])
    assert whole.value == pytest.approx(y[::10_000].max(), rel=1e-9)
    assert whole.row["x0"] + whole.row["x1"] == 2


def test_sums_that_meet_a_constraint_up_to_rounding_do():
    model, _, _ = drawn_model(1)
    where = {"x0": 0.1, "x1": 0.2}
    assert 0.1 + 0.2 > 0.3
    assert optimise(model, where=where, constraints=[({"x0": 1, "x1": 1}, 0.3)]).proven
    alone = {**where, "kind": np.array(["B"])[0], "flag": True}
    assert optimise(model, where=alone, constraints=[({"x0": 1, "x1": 1}, 0.3)]).proven


def test_constraints_with_booleans():
    model, _, _ = drawn_model(1)
    found = optimise(model, constraints=[({"flag": -2.0, "x1": 1.0}, -2.5)])
    by_flag = [
        optimise(model, where={"flag": True, "x1": (None, -0.5)}).value,
        optimise(model, where={"flag": False, "x1": (None, -2.5)}).value,
    ]
    assert found.value == pytest.approx(max(by_flag), rel=1e-9)


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"where": {"kind": "Z"}}, "levels of the category 'kind', which are A, B, C; got 'Z'"),
        ({"where": {"kind=A": 1}}, "no column 'kind=A': the columns are x0, x1, kind, flag, x0 is"),
        (
            {"where": {"x1": NAN}},
            "`where` must give values of 'x1', got nan: the training data had",
        ),
        ({"where": {"flag": 0.5}}, "`where` must leave True or False for 'flag', got 0.5"),
        ({"constraints": [({"kind": 1}, 2)]}, "a number in every row of the region, got 'kind'"),
        (
            {"constraints": [({"x0": 1}, 2)], "where": {"x0": [(0, 1), NAN]}},
            "a number in every row of the region, got 'x0'",
        ),
        ({"constraints": [({"x0": 1}, -9)]}, "`constraints` must leave rows, got .* is at least -"),
        ({"constraints": [({"x0": "1"}, 2)]}, "`constraints` must hold finite numbers, got '1'"),
        ({"constraints": [({"x0": 1}, NAN)]}, "`constraints` must hold finite numbers, got nan"),
        ({"constraints": [{"x0": 1}]}, "`constraints` must be a list of pairs of coefficients"),
        ({"constraints": ({"x0": 1}, 2)}, "`constraints` must be a list of pairs of coefficients"),
        (
            {"constraints": [({"x0": 1, "x1": 1}, 0.5), ({"x0": -1, "x1": -1}, -0.6)]},
            "`constraints` must leave rows of the region, got some that no row meets",
        ),
    ],
)
def test_refused_questions_about_columns(asked, match):
    with pytest.raises(ValueError, match=match):
        optimise(drawn_model(1)[0], **asked)


def test_answers_say_how_far_they_are_from_the_data():
    for seed in range(4):
        model, gaps, rng = drawn_model(seed)
        where, _ = drawn_question(rng, gaps)
        found = optimise(model, where=where)
        frame = frame_of(np.array([[found.row["x0"], found.row["x1"]]]), state_of(found.row))
        wanted = model.outside(frame)
        assert found.outside.distance == pytest.approx(wanted.distance, rel=1e-9)
        assert found.outside.rows.tolist() == wanted.rows.tolist()


def test_a_corner_far_from_a_diagonal_is_unlike_any_row():
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 200)
    X = np.column_stack([t, t + 0.01 * rng.normal(size=200)])
    model = GreedyNetRegressor(n_nodes=3).fit(X, t)
    near, far = optimise(model, where={0: 0.1, 1: 0.1}), optimise(model, where={0: 0.9, 1: -0.9})
    assert str(near).endswith("x1 = 0.1; like rows seen")
    assert "x1 = -0.9; unlike any row seen: distance " in str(far)
    assert str(far).endswith("(rows seen are within 1.5 of each other)")
    distance = model.outside([[0.9, -0.9]]).distance[0]
    assert far.outside.distance[0] == pytest.approx(distance)
    beyond = optimise(model, where={0: 1.01, 1: 1.0})
    assert str(beyond).endswith("unlike any row seen: beyond the range of x0")
    assert "unlike any row seen" in str(largest_difference(model, model, {0: 0.9, 1: -0.9}))
    assert "unlike any row seen" in str(sensitivity(model, [0], {1: -0.9})[0])
    falls = is_monotone(model, 0, {0: (0.8, 0.9), 1: -0.9}, increasing=False)
    assert falls.pair is None or "unlike any row seen" in str(falls)
    alone = optimise(model.network_)
    assert alone.outside is None
    assert "row" not in str(alone)


def test_a_saved_estimator_is_asked_by_its_columns(tmp_path):
    model, file = fitted("x0 kind flag"), tmp_path / "model.safetensors"
    model.save(file)
    loaded = greedynet.load(file)
    assert loaded.booleans_.tolist() == model.booleans_.tolist()
    arguments = ["--where", "kind=B", "--where", "flag=true", "--where", "x0 is missing"]
    run = CliRunner().invoke(main, ["ask", str(file), "--max", *arguments, "--json"])
    (answer,) = json.loads(run.output)
    wanted = optimise(model, where={"kind": "B", "flag": True, "x0": NAN})
    assert answer["value"] == wanted.value
    assert answer["row"] == {**wanted.row, "x0": None}
    assert answer["distance"] == wanted.outside.distance[0]
    assert answer["like_rows_seen"] is bool(not wanted.outside.rows[0])
    said = CliRunner().invoke(main, ["ask", str(file), "--max", *arguments]).output
    assert said.endswith(f"  This row is {likeness(wanted.outside)}.\n")
    assert "  x0    (empty)\n  x1 " in said
    assert "  flag  True\n" in said
    limited = ["ask", str(file), "--max", "--constraint", "x0 + 2*x1 <= -3", "--json"]
    (answer,) = json.loads(CliRunner().invoke(main, limited).output)
    wanted = optimise(model, constraints=[({"x0": 1, "x1": 2}, -3)])
    assert answer["value"] == wanted.value
    wrong = CliRunner().invoke(main, [*limited, "--monotone", "x0"])
    assert wrong.exit_code == 2
    assert "--constraint is for --max and --min" in wrong.output
    monotone = CliRunner().invoke(main, ["ask", str(file), "--monotone", "flag", "--json"])
    for answer in json.loads(monotone.output):
        assert answer["holds"] or [row["flag"] for row in answer["rows"]] == [False, True]
        assert answer["holds"] or answer["like_rows_seen"] in (True, False)


@pytest.mark.parametrize(
    ("parse", "text", "match"),
    [
        (parse_where, "age<=3", "a condition on a column"),
        (parse_where, "kind<=A", "by '=', such as 'kind=A', got 'kind<=A'"),
        (parse_where, "size<=x", "compare 'size' with numbers, got 'size<=x'"),
        *(
            (parse_sum, text, "`constraint` must be a sum of columns that is at most")
            for text in ("x0 x1 <= 2", "x0 + z <= 2", "x0 = 2", "x0 <= x1", "<= 2")
        ),
    ],
)
def test_words_that_say_no_condition(parse, text, match):
    with pytest.raises(ValueError, match=match):
        parse(text)


@pytest.mark.parametrize(
    ("text", "constraint"),
    [
        ("x0 + 2 x1 <= 5", ({"x0": 1, "x1": 2}, 5)),
        ("-x1+.5*x0<1e1", ({"x1": -1, "x0": 0.5}, 10)),
        ("x0 - x1 >= -2.5", ({"x0": -1, "x1": 1}, 2.5)),
        ("x0 + x0 <= 1", ({"x0": 2}, 1)),
    ],
)
def test_constraints_in_words(text, constraint):
    assert parse_constraint(text, columns_of(fitted("x0"))) == constraint


def test_booleans_are_known_from_frames_arrays_and_blocks():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x0": rng.normal(size=60), "new": rng.random(60) < 0.5})
    y = X.x0 + X.new
    by_frame = GreedyNetRegressor(n_nodes=3).fit(X, y)
    blocks = [(X[:30], y[:30]), (X[30:], y[30:])]
    by_blocks = GreedyNetRegressor(n_nodes=3).fit(blocks)
    by_bits = GreedyNetRegressor(n_nodes=2).fit(X[["new"]].to_numpy(), y)
    assert by_frame.booleans_.tolist() == by_blocks.booleans_.tolist() == [False, True]
    assert by_bits.booleans_.tolist() == [True]
    assert not hasattr(by_frame.fit(X.astype(float), y), "booleans_")


# What HiGHS prints on its own never reaches the standard output; what others print does


STRAY = b"HighsMipSolverData::transformNewIntegerFeasibleSolution tmpSolver.run();\n"
C = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)


def ask_what_makes_highs_print():
    """Ask for slopes of a network at which HiGHS 1.12 prints a line."""
    network = random_network(20, n_features=3, seed=8)
    return sensitivity(network, [0], dict.fromkeys(range(3), (-2.0, 2.0)))


def test_nothing_is_printed(capfd):
    (found,) = ask_what_makes_highs_print().values()
    assert found.proven
    C.fflush(None)
    assert capfd.readouterr().out == ""


def test_what_others_print_is_passed_on(capfd):
    with without_stray_lines(), without_stray_lines():
        os.write(1, b"mine\nhalf a ")
        os.write(1, STRAY)
        os.write(1, b"line\n")
        assert capfd.readouterr().out == ""
    assert capfd.readouterr().out == "mine\nhalf a line\n"


def test_the_last_of_many_threads_restores_the_output(capfd):
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with without_stray_lines():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait()
    with without_stray_lines():
        os.write(1, STRAY + b"first\n")
    os.write(1, STRAY + b"second\n")
    leave.set()
    thread.join()
    os.write(1, b"third\n")
    assert capfd.readouterr().out == "first\nsecond\nthird\n"


def test_an_error_restores_the_output(capfd):
    with pytest.raises(ZeroDivisionError, match="division"), without_stray_lines():
        raise ZeroDivisionError("division")
    os.write(1, b"after\n")
    assert capfd.readouterr().out == "after\n"


def test_a_closed_output_is_left_alone():
    code = (
        "import os, sys, test_exact\n"
        "os.close(1)\n"
        "test_exact.ask_what_makes_highs_print()\n"
        "print('answered', file=sys.stderr)\n"
        "os.fstat(1)"
    )
    here = os.path.dirname(__file__)
    run = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True)
    assert run.stderr.startswith("answered")
    assert "Bad file descriptor" in run.stderr
