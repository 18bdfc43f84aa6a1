"""Rows in blocks: sums over them, fits from files and iterables, and what may go wrong there."""

import gc
import weakref

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import scopes
from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.correction.all_rows import passes
from greedynet.rows.blocks import BlockSizes, Surveyed, readers
from greedynet.rows.rows import Rows

N_ROWS = 3_000
N_TRIES = 12
SMALL_BLOCKS = {"rows": 128, "read_bytes": 2**14}


def sampled(**more):
    """Fits in this scope see small samples and small blocks."""
    # Data that are sampled keep their order: they are more than are sorted.
    return scopes.sampled(500, blocks=SMALL_BLOCKS, in_order_above=1_000, **more)


@pytest.fixture
def small_samples():
    with sampled():
        yield


def problem(n=N_ROWS, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.sin(3 * X[:, 0]) + np.abs(X[:, 1]) + noise * rng.standard_normal(n)


def cut(*arrays, sizes=(700, 1, 1_299, 0, 1_000)):
    """Uneven blocks, one of them empty."""
    ends = np.cumsum(sizes)
    parts = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    return [tuple(a[part] for a in arrays) for part in parts]


class Again:
    """Gives blocks anew, and counts how often, and how many of them are held at once."""

    def __init__(self, blocks):
        self.blocks, self.passes, self.most, self._alive = blocks, 0, 0, weakref.WeakSet()

    def __iter__(self):
        self.passes += 1
        for X, *rest in self.blocks:
            held = np.array(X).view(Watched)
            self._alive.add(held)
            self.most = max(self.most, len(self._alive))
            yield (held, *rest)
            del held


class Watched(np.ndarray):
    """An array with a weak reference and an identity."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other


def same_network(one, other, rtol=1e-8):
    assert one.n_nodes_ == other.n_nodes_
    for name in ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept"):
        a, b = getattr(one.network_, name), getattr(other.network_, name)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


@pytest.mark.parametrize("weighted", [False, True])
def test_survey_is_the_same_however_the_rows_are_cut(weighted):
    X, y = problem()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X)) if weighted else None
    rows = Rows(X, y[:, None], weights)
    whole = Surveyed().of(rows)
    parts = [Surveyed().of(rows.take(np.arange(i, len(X), 7))) for i in range(7)]
    found = parts[0]
    for part in parts[1:]:
        found = Surveyed().join(found, part)
    assert found.n_rows == len(X)
    np.testing.assert_array_equal(found.input_range, [X.min(axis=0), X.max(axis=0)])
    np.testing.assert_array_equal(found.checksum, whole.checksum)
    np.testing.assert_allclose(found.mean_weight, 1.0 if weights is None else weights.mean())


@pytest.mark.parametrize("parameters", [{"n_nodes": 12}, {"max_nodes": 20, "n_networks": 1}])
def test_all_rows_are_better_than_the_sample(parameters):
    """Much of the error that a sample leaves in a single network is gone, on average over data.

    The sample is far too small for the network, so that the matrix of steps is rough.
    """
    T, truth = problem(5_000, seed=1, noise=0.0)
    errors = []
    for seed in (0, 11, 12):
        X, y = problem(20_000, seed=seed)
        with sampled():
            corrected = GreedyNetRegressor(**parameters).fit(X, y)
        with sampled(n_tries=0):
            grown = GreedyNetRegressor(**parameters).fit(X, y)
        assert corrected.n_nodes_ == grown.n_nodes_
        errors.append([np.mean((m.predict(T) - truth) ** 2) for m in (corrected, grown)])
    error, before = np.sum(errors, axis=0)
    assert error < 0.6 * before


# Fits from blocks


def sources(folder, X, y):
    names = ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=names).assign(t=y)
    frame.to_parquet(folder / "all.parquet", row_group_size=400)
    (folder / "parts").mkdir()
    for i, (part,) in enumerate(cut(frame)):
        part.to_parquet(folder / "parts" / f"{i}.parquet")
    for name, values in (("X", X), ("y", y)):
        np.save(folder / f"{name}.npy", values)
    return {
        "list": (cut(X, y),),
        "iterable": (Again(cut(X, y)),),
        "memmap": (np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy", "r")),
        "memmap and array": (np.load(folder / "X.npy", mmap_mode="r"), y),
        "parquet": (folder / "all.parquet", "t"),
        "folder": (str(folder / "parts"), "t"),
    }


KINDS = ["list", "iterable", "memmap", "memmap and array", "parquet", "folder"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_from_blocks_is_that_of_arrays(small_samples, tmp_path, kind):
    X, y = problem()
    wanted = GreedyNetRegressor(max_nodes=15).fit(X, y)
    assert wanted.n_nodes_ > 5
    source = sources(tmp_path, X, y)[kind]
    found = GreedyNetRegressor(max_nodes=15).fit(*source)
    same_network(found, wanted)
    # Some outputs are near zero.
    np.testing.assert_allclose(found.network_.predict(X), wanted.predict(X), rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(found.predict(source[0]), wanted.predict(X), rtol=1e-8, atol=1e-11)
    assert found.n_features_in_ == 3
    if kind in ("parquet", "folder"):
        assert list(found.feature_names_in_) == ["a", "b", "c"]
        assert found.network_.feature_names == ("a", "b", "c")


@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_are_taken_into_memory(tmp_path, kind):
    X, y = problem()
    wanted = GreedyNetRegressor(max_nodes=10).fit(X, y)
    found = GreedyNetRegressor(max_nodes=10).fit(*sources(tmp_path, X, y)[kind])
    same_network(found, wanted, rtol=0)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_do_not_change_a_bit(small_samples, n_jobs):
    X, y = problem()
    one = GreedyNetRegressor(max_nodes=15, n_jobs=2).fit(cut(X, y))
    other = GreedyNetRegressor(max_nodes=15, n_jobs=n_jobs).fit(cut(X, y))
    same_network(one, other, rtol=0)


def test_weights_and_several_outputs(small_samples):
    X, y = problem()
    Y = np.column_stack([y, y**2])
    weights = np.random.default_rng(1).uniform(0, 5, len(X))
    weights[::5] = 0
    wanted = GreedyNetRegressor(n_nodes=12).fit(X, Y, weights)
    found = GreedyNetRegressor(n_nodes=12).fit(cut(X, Y, weights))
    same_network(found, wanted)


@pytest.mark.parametrize("where", ["all.parquet", "parts"])
@pytest.mark.parametrize("order", [["t", "u"], ["u", "t"]])
def test_several_columns_of_files_are_learnt_in_the_order_asked_for(
    small_samples, tmp_path, order, where
):
    X, t = problem()
    outputs = {"t": t, "u": 1_000 - 50 * X[:, 2]}
    frame = pd.DataFrame({"u": outputs["u"], "a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "t": t})
    frame.to_parquet(tmp_path / "all.parquet")
    (tmp_path / "parts").mkdir()
    for i, (part,) in enumerate(cut(frame)):
        part.to_parquet(tmp_path / "parts" / f"{i}.parquet")
    Y = np.column_stack([outputs[name] for name in order])
    found = GreedyNetRegressor(n_nodes=8).fit(tmp_path / where, order)
    same_network(found, GreedyNetRegressor(n_nodes=8).fit(X, Y))
    for inputs in (frame[["a", "b", "c"]], tmp_path / where):
        error = np.sqrt(np.mean((found.predict(inputs) - Y) ** 2, axis=0))
        np.testing.assert_array_less(error, 1.0)
    assert list(found.feature_names_in_) == ["a", "b", "c"]


def test_single_precision(small_samples):
    X, y = problem()
    X = X.astype(np.float32)
    wanted = GreedyNetRegressor(n_nodes=10).fit(X, y)
    same_network(GreedyNetRegressor(n_nodes=10).fit(cut(X, y)), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "parameters",
    [{"loss": "absolute_error"}, {"correct": False}, {"activation": "tanh"}, {"alpha": 0.1}],
)
def test_other_fits_from_blocks(small_samples, parameters):
    X, y = problem()
    model = GreedyNetRegressor(n_nodes=8, **parameters)
    same_network(clone(model).fit(cut(X, y)), clone(model).fit(X, y))


def test_validation_data(small_samples):
    X, y = problem()
    T, t = problem(300, seed=1)
    wanted = GreedyNetRegressor(max_nodes=20).fit(X, y, X_val=T, y_val=t)
    found = GreedyNetRegressor(max_nodes=20).fit(cut(X, y), X_val=T, y_val=t)
    same_network(found, wanted)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"low": 3.0}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes(small_samples, n_classes, class_weight):
    X, y = problem()
    names = np.array(["high", "low", "middle"][:n_classes])
    labels = names[np.searchsorted([0.2, 1.0][: n_classes - 1], y)]
    weights = np.random.default_rng(1).uniform(0, 2, len(X))
    model = GreedyNetClassifier(max_nodes=6, class_weight=class_weight)
    wanted = clone(model).fit(X, labels, weights)
    found = clone(model).fit(cut(X, labels, weights))
    assert list(found.classes_) == list(names)
    same_network(found, wanted, rtol=1e-6)
    np.testing.assert_array_equal(found.predict(cut(X, labels)), wanted.predict(X))
    assert found.predict_proba(X).shape == (len(X), n_classes)


def test_passes_are_few_and_blocks_are_let_go(small_samples):
    X, y = problem()
    source = Again(cut(X, y))
    GreedyNetRegressor(n_nodes=20).fit(source)
    # The first block for its shape, a survey, the samples, and two a step.
    assert 5 <= source.passes <= 4 + 2 * N_TRIES
    gc.collect()
    # One at work, one fetched ahead, and the one that the iterable itself is about to hand over.
    assert source.most <= 3


def test_of_very_many_rows_a_sample_is_corrected_on(monkeypatch):
    """The same network from blocks, good on all rows, with few passes over them."""
    solve, solved = passes.products_of_all_rows, []
    monkeypatch.setattr(passes, "products_of_all_rows", lambda *a: solved.append(a) or solve(*a))
    X, y = problem(20_000)
    source = Again(cut(X, y, sizes=(7_000, 9_000, 4_000)))
    with sampled(corrected=10_000, many=5_000):
        wanted = GreedyNetRegressor(n_nodes=12).fit(X, y)
        assert [(sample.n_rows, rows.n_rows) for sample, rows, *_ in solved] == [(5_000, 20_000)]
        same_network(GreedyNetRegressor(n_nodes=12).fit(source), wanted)
    # Its first block, a survey, the samples, the outer weights.
    assert source.passes == 4
    F = np.column_stack([wanted.network_.hidden(X), X, np.ones(len(X))])
    best = F @ np.linalg.lstsq(F, y, rcond=None)[0]
    # But for the ridge, the outer weights are the best of all rows.
    assert np.linalg.norm(y - wanted.predict(X)) < 1.0005 * np.linalg.norm(y - best)
    T, truth = problem(5_000, seed=1, noise=0.0)
    error = np.mean((wanted.predict(T) - truth) ** 2)
    with sampled(n_tries=0, corrected=10_000, many=5_000):
        grown = GreedyNetRegressor(n_nodes=12).fit(X, y)
    assert error < 0.7 * np.mean((grown.predict(T) - truth) ** 2)


def test_mapped_pages_are_given_back(tmp_path, monkeypatch):
    X, _ = problem()
    np.save(tmp_path / "X.npy", X)
    let_go = []
    monkeypatch.setattr(readers, "release_pages", lambda array: let_go.append(type(array)))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    blocks = list(readers.ArrayReader(mapped, np.zeros(len(X)), sizes=BlockSizes(**SMALL_BLOCKS)))
    np.testing.assert_array_equal(np.concatenate([b[0] for b in blocks]), X)
    assert let_go.count(np.memmap) == len(blocks) > 3
    assert not any(isinstance(b[0], np.memmap) for b in blocks)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_letting_go_changes_nothing(tmp_path, mode):
    X, _ = problem(100)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode=mode)
    wanted = X.copy()
    if mode != "r":
        mapped[5] = wanted[5] = 7.0
    readers.release_pages(mapped)
    np.testing.assert_array_equal(mapped, wanted)


# What may go wrong


class Changing:
    """Other blocks after some passes; fewer, unless they are given."""

    def __init__(self, blocks, passes, later=None):
        self.blocks, self.passes = blocks, passes
        self.later = blocks[:-1] if later is None else later

    def __iter__(self):
        self.passes -= 1
        return iter(self.blocks if self.passes >= 0 else self.later)


def with_nan(X):
    X = X.copy()
    X[1_500, 1] = np.nan
    return X


X_, Y_ = problem()
FRAME = pd.DataFrame(X_, columns=["a", "b", "c"])
ONES = np.ones(N_ROWS)
# The third block has another order.
PERMUTED = [(X[list("cba")] if i == 2 else X, y) for i, (X, y) in enumerate(cut(FRAME, Y_))]
LABELS = np.where(Y_ > 0.7, "high", "low").astype(object)
WRONG = [
    ((block for block in cut(X_, Y_)), TypeError, "exhausted after one.*a list"),
    (Changing(cut(X_, Y_), 3), ValueError, "same rows every time.* 3,000.*rows requested"),
    (Changing(cut(X_, Y_), 4), ValueError, "same rows every time.* 3,000.*got 2,000 rows now"),
    (cut(with_nan(X_), Y_), ValueError, "`X` must hold finite.*row 799 of block 2"),
    ([*cut(X_, Y_), (X_[:5, :2], Y_[:5])], ValueError, "3 columns in every block.*2 in block 5"),
    ([*cut(X_, Y_), (X_[:5], Y_[:4])], ValueError, "5 of `X`, 4 of `y` in block 5"),
    ([*cut(X_, Y_), (X_[:5],)], TypeError, r"blocks `\(X, y\)`.*block 5"),
    (cut(X_, np.where(Y_ > 0, "a", "b")), ValueError, "GreedyNetClassifier"),
    (cut(X_, Y_, -np.ones(N_ROWS)), ValueError, "`sample_weight` must be non-negative"),
    (cut(X_, Y_, np.zeros(N_ROWS)), ValueError, "positive weight"),
    (Again([]), ValueError, "at least one block"),
    (PERMUTED, ValueError, r"same order.*\['a', 'b', 'c'\].*got \['c', 'b', 'a'\] in block 2"),
    ([(FRAME, Y_), (X_, Y_)], ValueError, "got columns without names in block 1"),
    ([(X_, Y_), (FRAME, Y_)], ValueError, "columns without names as in the first"),
    ([(FRAME.set_axis(["a", 1, "c"], axis=1), Y_)], TypeError, "only supported if all.*string"),
    (Changing(cut(X_, Y_), 3, cut(X_ + 0.1, Y_)), ValueError, "a different row 0 of block 0"),
    (Changing(cut(X_, Y_), 3, cut(X_, Y_ + 0.1)), ValueError, "a different row 0 of block 0"),
    (Changing(cut(X_, Y_), 3, cut(X_, Y_)[::-1]), ValueError, "a different row 0 of block 0"),
    (Changing(cut(X_, Y_), 3, cut(with_nan(X_), Y_)), ValueError, "finite.*row 799 of block 2"),
    ([(X_, Y_), (X_, Y_, ONES)], ValueError, "`sample_weight`.*none in the first.*some in block 1"),
    ([(X_, Y_, ONES), (X_, Y_)], ValueError, "`sample_weight`.*some in the first.*none in block 1"),
    (cut(X_, Y_, ONES[:, None]), ValueError, r"one weight for each.*\(700, 1\) in block 0"),
    ([(X_, Y_, ONES[:5])], ValueError, r"one weight for each of the 3000.*\(5,\) in block 0"),
    (cut(X_ + 0j, Y_), ValueError, "`X` must hold real numbers, got complex128"),
    (cut(X_, Y_ + 0j), ValueError, "`y` must hold real numbers, got complex128 in block 0"),
    (cut(X_, Y_, ONES + 0j), ValueError, "`sample_weight` must hold real numbers, got complex"),
    (cut(X_.astype("M8[s]"), Y_), ValueError, "`X` must hold real numbers.*subtract a date"),
    (cut(X_, Y_.astype("M8[s]")), ValueError, "`y` must hold real numbers.*subtract a date"),
    (cut(X_, np.zeros((N_ROWS, 2, 2))), ValueError, "one or two dimensions, got 3 in block 0"),
]


@pytest.mark.parametrize(("source", "kind", "message"), WRONG)
def test_wrong_blocks(small_samples, source, kind, message):
    with pytest.raises(kind, match=message):
        GreedyNetRegressor(n_nodes=5).fit(source)


@pytest.mark.parametrize("kind", ["M8[s]", "m8[s]"])
def test_times_are_no_numbers_in_memory_either(kind):
    for estimator, y in ((GreedyNetRegressor(), Y_), (GreedyNetClassifier(), LABELS)):
        with pytest.raises(ValueError, match="`X` must hold real numbers"):
            estimator.fit(X_.astype(kind), y)
    with pytest.raises(ValueError, match="`y` must hold real numbers"):
        GreedyNetRegressor().fit(X_, Y_.astype(kind))


def with_one(labels, value):
    labels = labels.copy()
    labels[5] = value
    return labels


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_rows_without_a_class(missing):
    labels = with_one(LABELS, missing)
    for source in [(cut(X_, labels),), (X_, labels)]:
        with pytest.raises(ValueError, match=r"`y` must contain a class for every row.*remove"):
            GreedyNetClassifier().fit(*source)
    with pytest.raises(ValueError, match="`y_val` must contain a class for every row"):
        GreedyNetClassifier().fit(X_, LABELS, X_val=X_, y_val=labels)


WRONG_CLASSES = [
    (cut(X_, np.zeros(N_ROWS)), "at least two classes"),
    (cut(X_, with_one(LABELS, 3)), "classes that can be sorted, got int and str in block 0"),
    (cut(X_, with_one(Y_.round(), np.nan)), "a class for every row, got nan in block 0"),
    (cut(X_, LABELS, -ONES), "`sample_weight` must be non-negative, got negative.*block 0"),
    (cut(X_, LABELS, ONES * np.nan), "`sample_weight` must hold finite numbers.*block 0"),
    (cut(X_, LABELS, 0 * ONES), "two classes among the rows of positive weight, got no such row"),
    ([(X_, LABELS, ONES[:5])], r"one weight for each of the 3000.*\(5,\) in block 0"),
    (Changing(cut(X_, LABELS), 3, cut(X_[::-1], LABELS)), "a different row 0 of block 0"),
]


@pytest.mark.parametrize(("source", "message"), WRONG_CLASSES)
def test_wrong_classes(small_samples, source, message):
    with pytest.raises(ValueError, match=message):
        GreedyNetClassifier(max_nodes=3).fit(source)


def test_names_of_blocks_are_kept():
    model = GreedyNetRegressor(n_nodes=3).fit(cut(FRAME, Y_))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    assert model.network_.feature_names == ("a", "b", "c")
    np.testing.assert_allclose(model.predict(cut(FRAME)), model.predict(FRAME))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "score"])
def test_results_want_the_columns_of_the_fit(method):
    model = GreedyNetClassifier(max_nodes=3).fit(FRAME, LABELS)
    call = getattr(model, method)
    more = (LABELS,) if method == "score" else ()
    in_order = [X for X, _ in cut(FRAME, Y_)]
    same = np.array_equal if method == "predict" else np.allclose
    assert same(call(iter(in_order), *more), call(FRAME, *more))
    with pytest.raises(ValueError, match="must be in the same order"):
        call(iter([X for X, _ in PERMUTED]), *more)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        call(iter([X_]), *more)
    with pytest.raises(ValueError, match="`X` must have at least one row"):
        call(iter([]), *more)


def test_rows_may_be_cut_otherwise_in_every_pass(small_samples):
    source = Changing(cut(X_, Y_), 3, cut(X_, Y_, sizes=(999, 2, 1_999)))
    same_network(
        GreedyNetRegressor(n_nodes=5).fit(source), GreedyNetRegressor(n_nodes=5).fit(X_, Y_)
    )


def test_an_empty_block_has_no_shape(small_samples):
    Y = np.column_stack([Y_, -Y_])
    model = GreedyNetRegressor(n_nodes=3).fit([(X_[:0], Y_[:0]), (X_, Y)])
    assert model.predict(X_).shape == Y.shape


@pytest.mark.parametrize("weight", [2.0, 1e305])
def test_equal_weights_are_none(small_samples, tmp_path, weight):
    np.save(tmp_path / "X.npy", X_)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    wanted = GreedyNetRegressor(n_nodes=5).fit(X_, Y_)
    same_network(GreedyNetRegressor(n_nodes=5).fit(mapped, Y_, weight), wanted)
    same_network(GreedyNetRegressor(n_nodes=5).fit(cut(X_, Y_, weight * ONES)), wanted)


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        ("y", None, "`y` must have a value for each row.*got 'y'.*Parquet"),
        (3.0, None, "`y` must have a value for each row.*got 3.0"),
        (None, None, "`y` must have a value for each row.*got None"),
        (Y_[:5], None, "`X` and `y` must have the same number of rows, got 3000 and 5"),
        (Y_, ONES[:, None], r"one weight for each of the 3000 rows, got the shape \(3000, 1\)"),
        (Y_, "w", "`sample_weight`: could not convert"),
        (Y_, -ONES, "`sample_weight` must be non-negative.*got negative values"),
    ],
)
def test_wrong_arrays_beside_a_map(tmp_path, y, weight, message):
    np.save(tmp_path / "X.npy", X_)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    with pytest.raises(ValueError, match=message):
        GreedyNetRegressor(n_nodes=3).fit(mapped, y, weight)


@pytest.mark.parametrize("parameters", [{"cv": 3}, {"search": "dictionary"}])
def test_what_needs_all_rows_is_refused(small_samples, parameters):
    with pytest.raises(ValueError, match="needs all rows in memory, got 3,000 rows in blocks"):
        GreedyNetRegressor(max_nodes=8, **parameters).fit(cut(X_, Y_))


def test_wrong_files(tmp_path):
    pd.DataFrame(X_, columns=["a", "b", "c"]).assign(t=Y_).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_text("no Parquet")
    model = GreedyNetRegressor(n_nodes=3)
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        model.fit(tmp_path / "missing.parquet", "t")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        model.fit(tmp_path / "b.parquet", "t")
    with pytest.raises(ValueError, match=r"must name the column to predict.*'a', 'b', 'c', 't'"):
        model.fit(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="got \\['price'\\]"):
        model.fit(tmp_path / "a.parquet", "price")
    model.fit(tmp_path / "a.parquet", "t")
    pd.DataFrame(X_[:, :2], columns=["a", "b"]).to_parquet(tmp_path / "c.parquet")
    with pytest.raises(ValueError, match="lacks the columns \\['c'\\]"):
        model.predict(tmp_path / "c.parquet")


def dated(frame):
    return frame.assign(day=np.arange(len(frame)).astype("M8[D]"))


@pytest.mark.parametrize(
    ("frame", "y", "message"),
    [
        (dated(FRAME), "a", r"`X` must hold numbers.*day \(timestamp"),
        (dated(FRAME)[["a", "day"]], "a", r"`X` must hold numbers.*day \(timestamp"),
        (dated(FRAME), "day", "`y` must hold real numbers, got datetime64"),
        (FRAME.assign(kind=LABELS), "a", r"`X` must hold numbers.*kind \("),
        (FRAME[["a"]], "a", r"at least one input column besides \['a'\], got none"),
        (FRAME, Y_, r"`y` must name the column.*got ndarray; the columns are \['a', 'b', 'c'\]"),
        (FRAME, ["a", 3], r"`y` must name the column.*got \['a', 3\]"),
    ],
)
def test_wrong_columns(tmp_path, frame, y, message):
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=message):
        GreedyNetRegressor(n_nodes=3).fit(tmp_path / "a.parquet", y)


@pytest.mark.parametrize("lacking", [0, 1])
def test_files_of_a_folder_have_the_same_columns(tmp_path, lacking):
    model = GreedyNetRegressor(n_nodes=3).fit(FRAME, Y_)
    for i in range(2):
        part = FRAME[i::2].drop(columns=["b"] if i == lacking else [])
        part.assign(t=Y_[i::2]).to_parquet(tmp_path / f"{i}.parquet")
    with pytest.raises(ValueError, match=rf"in every file.*{lacking}\.parquet without \['b'\]"):
        clone(model).fit(tmp_path, "t")
    with pytest.raises(ValueError, match=rf"in every file.*{lacking}\.parquet without \['b'\]"):
        model.predict(tmp_path)


def test_files_of_a_folder_may_have_other_kinds_of_numbers(tmp_path):
    table = FRAME.assign(a=np.arange(N_ROWS) / 2, t=Y_)
    table[::2].astype({"a": int}).to_parquet(tmp_path / "0.parquet")
    table[1::2].to_parquet(tmp_path / "1.parquet")
    model = GreedyNetRegressor(n_nodes=3).fit(tmp_path, "t")
    same_network(model, GreedyNetRegressor(n_nodes=3).fit(table[["a", "b", "c"]], Y_))
    table.assign(a=LABELS).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"must hold numbers.*in the columns a \(varchar"):
        model.fit(tmp_path, "t")


def test_what_a_prediction_does_not_need_may_be_missing(tmp_path):
    model = GreedyNetRegressor(n_nodes=3).fit(FRAME, Y_)
    FRAME[:1_000].assign(t=Y_[:1_000]).to_parquet(tmp_path / "0.parquet")
    FRAME[1_000:].to_parquet(tmp_path / "1.parquet")
    np.testing.assert_allclose(model.predict(tmp_path), model.predict(FRAME))


def test_names_of_folders_are_columns(tmp_path):
    side = np.arange(N_ROWS) // (N_ROWS // 2)
    table = FRAME.assign(side=side, t=Y_ + side)
    table.to_parquet(tmp_path / "hive", partition_cols=["side"])
    wanted = GreedyNetRegressor(n_nodes=5).fit(table[["a", "b", "c", "side"]], table["t"])
    model = GreedyNetRegressor(n_nodes=5).fit(tmp_path / "hive", "t")
    same_network(model, wanted)
    assert list(model.feature_names_in_) == ["a", "b", "c", "side"]
    np.testing.assert_allclose(
        model.predict(tmp_path / "hive"), wanted.predict(table[[*"abc", "side"]])
    )
    classes = GreedyNetClassifier(n_nodes=3).fit(tmp_path / "hive", "side")
    assert classes.classes_.tolist() == [0, 1]


def test_an_index_is_no_input(tmp_path):
    FRAME.assign(t=Y_).sample(frac=1, random_state=0).to_parquet(tmp_path / "a.parquet")
    model = GreedyNetRegressor(n_nodes=3).fit(tmp_path / "a.parquet", "t")
    assert list(model.feature_names_in_) == ["a", "b", "c"]


def test_columns_of_the_same_name(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.Table.from_arrays([arrow.array(Y_)] * 3, names=["a", "a", "t"])
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a.parquet has more than one column named 'a': rename"):
        GreedyNetRegressor(n_nodes=3).fit(tmp_path / "a.parquet", "t")


def test_a_failing_fit_leaves_the_model_alone(small_samples):
    model = GreedyNetRegressor(n_nodes=5).fit(X_, Y_)
    before = model.predict(X_[:10])
    with pytest.raises(ValueError, match="finite"):
        model.fit(cut(with_nan(X_), Y_))
    np.testing.assert_array_equal(model.predict(X_[:10]), before)
