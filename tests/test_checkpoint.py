"""A fit that was interrupted goes on, and comes to the network it would have come to.

A killed process leaves the file of its last write. So to begin again from every file that a fit
writes is to be killed at every moment; a few processes are killed in earnest.
"""

import hashlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit

import greedynet
import scopes
from extras import need
from greedynet import GreedyNetClassifier, GreedyNetRegressor, load
from greedynet.cli import main
from greedynet.estimators import checkpoint
from greedynet.estimators.checkpoint import CheckpointSettings, checkpointed
from greedynet.fitting.objective import Growth
from greedynet.rows.blocks import SourceBlocks
from greedynet.search import Dictionary

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(120, 3))
CLEAN = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2]
NOISY = CLEAN + 0.3 * rng.normal(size=120)
CLASSES = np.digitize(CLEAN, [-0.5, 0.5])
WEIGHTS = rng.uniform(0.5, 2.0, 120)
MANY = rng.uniform(-1, 1, size=(2_200, 3))
OF_MANY = np.sin(3 * MANY[:, 0]) + 0.3 * rng.normal(size=2_200)


class Blocks:
    """Rows in three blocks, in an order."""

    def __init__(self, order=(0, 1, 2)):
        self.order = order

    def __iter__(self):
        for i in self.order:
            yield MANY[i::3], OF_MANY[i::3]


def regression(X=X, y=NOISY, sample_weight=None, kind=GreedyNetRegressor, **parameters):
    validation = parameters.pop("validation", {})

    def fit(on_stage=None, checkpoint=None, **more):
        model = kind(**{"max_nodes": 8, **parameters, **more}).set_progress(on_stage=on_stage)
        with greedynet.checkpoint(checkpoint):
            return model.fit(X, y, sample_weight, **validation)

    return fit


def classification(X=X, y=CLASSES, sample_weight=None, **parameters):
    parameters = {"max_nodes": 6, **parameters}
    return regression(X, y, sample_weight, GreedyNetClassifier, **parameters)


FITS: dict[str, Callable] = {
    "default": regression(),
    "without noise": regression(X[:, :1], np.abs(X[:, 0]), max_nodes=4),
    "averages": regression(n_networks=3),
    "averages in threads": regression(n_networks=3, n_jobs=2),
    "n_nodes": regression(n_nodes=7, sample_weight=WEIGHTS, max_nodes=None),
    "folds": regression(cv=3),
    "X_val": regression(validation={"X_val": X[:50], "y_val": CLEAN[:50]}),
    "as grown": regression(correct=False),
    "dictionary": regression(search=Dictionary(n_points=500)),
    "dictionary, as grown": regression(search=Dictionary(n_points=500), correct=False),
    "tanh": regression(activation="tanh", max_nodes=5),
    "several outputs": regression(y=np.column_stack([CLEAN, NOISY])),
    "monotone": regression(y=CLEAN + 3 * X[:, 0], monotonic_cst=[1, 0, 0], max_nodes=6),
    "two layers": regression(hidden_layers=2, max_nodes=16),
    "one or two layers": regression(hidden_layers="auto", max_nodes=16),
    "absolute_error": regression(loss="absolute_error", max_nodes=6),
    "chebyshev": regression(X[:60], NOISY[:60], loss="chebyshev", max_nodes=4),
    "sampled": regression(MANY, OF_MANY),
    "sampled, absolute": regression(MANY, OF_MANY, loss="absolute_error", max_nodes=6),
    "blocks": regression(Blocks(), None),
    "classes": classification(X[:60], CLASSES[:60]),
    "two classes": classification(X[:60], CLEAN[:60] > 0, WEIGHTS[:60], max_nodes=4),
    "classes as grown": classification(X[:60], CLASSES[:60], correct=False),
    "sampled classes": classification(MANY[:700], OF_MANY[:700] > 0, max_nodes=4, alpha=1e-2),
}


def sampled():
    """Make a few hundred rows very many for the fits in this scope."""
    return scopes.sampled(250, averages=False)


@pytest.fixture(autouse=True)
def small_samples(request):
    """Sample few rows for the fits that see samples."""
    if "sampled" in request.node.name or "blocks" in request.node.name:
        with sampled():
            yield
    else:
        yield


SECONDS = CheckpointSettings().seconds


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


class Clock:
    """A clock that goes on by a step whenever it is looked at."""

    def __init__(self, step: float):
        self.step, self.now = step, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def numbers(thing) -> Iterator[bytes]:
    """All numbers and texts in an object, in its order, except times."""
    if isinstance(thing, np.ndarray):
        yield np.ascontiguousarray(thing).tobytes()
    elif isinstance(thing, tuple | list):
        for part in thing:
            yield from numbers(part)
    elif is_dataclass(thing):
        for field in fields(thing):
            if field.name != "seconds":
                yield from numbers(getattr(thing, field.name))
    else:
        yield repr(thing).encode()


def bits(model) -> str:
    """A digest of all numbers of a fitted model that do not depend on the time."""
    known = model.predict_set(MANY[:20]) if hasattr(model, "classes_") else model.intervals_
    found = hashlib.sha256()
    for part in numbers([model.network_, model.path_, model.ladder_, model.expected_error_, known]):
        found.update(part)
    return found.hexdigest() + model.stop_reason_.name


class Moments:
    """All files that fits write, one after every step."""

    def __init__(self, monkeypatch, file: Path):
        self.file, self.contents, self._patch = file, [], monkeypatch

    def of(self, fit: Callable):
        """Fit and keep every file that is written."""

        def write(path, kind, tree):
            write_tree(path, kind, tree)
            self.contents.append(self.file.read_bytes())

        write_tree = checkpoint.write_tree
        with self._patch.context() as patch, scopes.checkpoints(pause=0.0, clock=Clock(SECONDS)):
            patch.setattr(checkpoint, "write_tree", write)
            return fit(checkpoint=self.file)

    def again(self, fit: Callable, i: int):
        """Begin again where a kill after the i-th write would have left the fit."""
        self.file.write_bytes(self.contents[i])
        return fit(checkpoint=self.file)


@pytest.fixture
def moments(monkeypatch, tmp_path) -> Moments:
    return Moments(monkeypatch, tmp_path / "fit.checkpoint")


class Work:
    """Counts the candidates that are computed, on any fold, and those whose step is noted."""

    def __init__(self, monkeypatch):
        self.n_computed, self.n_noted = 0, 0
        for kind in all_growths(Growth):
            if "fitted" in vars(kind):
                monkeypatch.setattr(kind, "fitted", self._counting(kind.fitted))
        note = checkpoint._Book.note

        def noting(book, step):
            self.n_noted = self.n_computed
            note(book, step)

        monkeypatch.setattr(checkpoint._Book, "note", noting)

    def _counting(self, fitted):
        def counting(growth, candidate, known):
            self.n_computed += 1
            return fitted(growth, candidate, known)

        return counting

    def of(self, fit: Callable) -> tuple[str, int, int]:
        """The bits of a fit that nobody interrupts, its number of stages, and of candidates."""
        stages = []
        return bits(fit(on_stage=stages.append)), len(stages), self.n_computed


def all_growths(kind: type) -> Iterator[type]:
    for child in kind.__subclasses__():
        yield child
        yield from all_growths(child)


@pytest.fixture
def work(monkeypatch) -> Work:
    return Work(monkeypatch)


class Killed(BaseException):
    """The process is gone."""


def interrupting(at: int) -> Callable:
    """A listener that ends the fit as its stage `at` begins."""
    left = at

    def on_stage(_):
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed

    return on_stage


# The same network


@pytest.mark.parametrize("name", FITS)
def test_an_interrupted_fit_ends_with_the_same_network(name, tmp_path, work):
    """After any step, and nothing that was known is computed again."""
    fit, file = FITS[name], tmp_path / "c"
    wanted, n_stages, n_all = work.of(fit)
    for at in (n_stages // 2, n_stages - 1):
        work.n_computed = work.n_noted = 0
        with pytest.raises(Killed, match=r"^$"):
            fit(on_stage=interrupting(at), checkpoint=file)
        n_known = work.n_noted
        work.n_computed = 0
        assert bits(fit(checkpoint=file)) == wanted
        assert work.n_computed == n_all - n_known
        assert not file.exists()


# Of every kind one: those of the same growth write the same notes.
WRITTEN = ("default", "averages in threads", "X_val", "as grown", "dictionary", "two layers")
WRITTEN += ("one or two layers", "absolute_error", "sampled", "blocks", "classes", "two classes")


@pytest.mark.parametrize("name", WRITTEN)
def test_a_fit_that_was_killed_after_a_write_ends_with_the_same_network(name, moments):
    fit = FITS[name]
    wanted = bits(fit())
    # A checkpoint alone changes nothing, and is gone when the fit is done.
    assert bits(moments.of(fit)) == wanted
    assert not moments.file.exists()
    last = len(moments.contents) - 1
    assert last > 1
    for i in (0, random.Random(name).randrange(1, last), last):
        assert bits(moments.again(fit, i)) == wanted
        assert not moments.file.exists()


@pytest.mark.parametrize("name", ["averages", "dictionary, as grown"])
def test_a_fit_may_be_interrupted_again_and_again(name, tmp_path, work):
    fit, n_interruptions, n_computed = FITS[name], 0, 0
    wanted, n_stages, n_all = work.of(fit)
    for at in range(n_stages + 1):
        work.n_computed = 0
        try:
            model = fit(on_stage=interrupting(at), checkpoint=tmp_path / "c")
        except Killed:
            n_interruptions += 1
        n_computed += work.n_computed
    assert n_interruptions == n_stages > 5
    assert bits(model) == wanted
    assert n_computed == n_all


def test_sums_over_all_rows_are_not_made_again(moments, monkeypatch):
    """Except one, for the outer weights of the network."""
    sums, total = [], SourceBlocks.total
    monkeypatch.setattr(
        SourceBlocks, "total", lambda *given, **how: sums.append(1) or total(*given, **how)
    )
    with sampled():
        moments.of(FITS["blocks"])
        assert len(sums) > 3
        sums.clear()
        moments.again(FITS["blocks"], -1)
    assert len(sums) == 1


def test_a_fit_that_fails_at_once_leaves_no_file(tmp_path):
    file = tmp_path / "c"
    with pytest.raises(Killed, match=r"^$"), checkpointed(file, dict):
        raise Killed
    assert not file.exists()


# Writing


def test_a_write_that_fails_leaves_the_file_before_it(moments, monkeypatch):
    wanted = bits(moments.of(FITS["as grown"]))
    before, seen = moments.contents[3], []
    moments.file.write_bytes(before)

    def full(*_):
        seen.append((moments.file.read_bytes(), len(list(moments.file.parent.iterdir()))))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    warns = pytest.warns(greedynet.CheckpointWarning, match="No space left on device. The fit goes")
    with warns as said, scopes.checkpoints(pause=0.0, clock=Clock(10.0)):
        model = FITS["as grown"](checkpoint=moments.file)
    assert len(said) == 1
    assert bits(model) == wanted
    assert len(seen) > 1
    assert set(seen) == {(before, 2)}  # and the new one, under another name


def test_what_a_kill_left_of_a_write_is_cleared_away(tmp_path):
    file = tmp_path / "fit[1].checkpoint"
    (tmp_path / f".{file.name}.0123456789abcdef.tmp").write_bytes(b"half")
    (tmp_path / ".fit1.checkpoint.0123456789abcdef.tmp").write_bytes(b"of another file")
    FITS["as grown"](checkpoint=file)
    assert [found.name for found in tmp_path.iterdir()] == [".fit1.checkpoint.0123456789abcdef.tmp"]


def test_files_are_written_seconds_apart_and_slow_ones_more_rarely(tmp_path, monkeypatch):
    now, written = 0.0, []

    def write(*_):
        nonlocal now
        written.append(now)
        now += duration

    monkeypatch.setattr(checkpoint, "write_tree", write)
    settings = CheckpointSettings(clock=lambda: now)
    for duration, most_apart in [(0.0, 3.5), (1.0, 22.0)]:
        now = 0.0
        written.clear()
        with checkpointed(tmp_path / "c", dict, settings) as journal:
            while now < 200:
                journal.note([1.0])
                now += 0.25
        apart = np.diff(written)
        assert written[0] >= SECONDS
        assert apart.min() >= SECONDS
        assert apart.max() <= most_apart
        assert duration * len(written) < 0.06 * now


def test_few_modules_know_of_journals():
    """A fit notes its candidates, its result and its rows: all else is told nothing."""
    source = Path(greedynet.__file__).parent
    knowing = {
        file.relative_to(source).as_posix()
        for file in source.rglob("*.py")
        if "journal" in file.read_text(encoding="utf-8").lower()
    }
    assert knowing == {
        "support/context.py",
        "estimators/base.py",
        "estimators/checkpoint.py",
        "fitting/split.py",
        "fitting/climb.py",
        "fitting/refit.py",
    }


# Refusals


@pytest.fixture
def interrupted(moments) -> Path:
    """A checkpoint of a fit half done."""
    moments.of(regression(correct=False))
    moments.file.write_bytes(moments.contents[4])
    return moments.file


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (regression(max_nodes=9, correct=False), "max_nodes=8, not 9"),
        (regression(), "correct=False, not True"),
        (regression(correct=False, random_state=1), "seed="),
        (regression(correct=False, y=CLEAN), "training=120 rows [0-9a-f]+, not 120 rows"),
        (regression(correct=False, cv=3), "cv=None, not 3"),
        (
            regression(correct=False, validation={"X_val": X, "y_val": NOISY}),
            "validation=none, not 120 rows",
        ),
        (classification(), "estimator=GreedyNetRegressor, not GreedyNetClassifier"),
    ],
)
def test_another_fit_is_refused(other, message, interrupted):
    before = interrupted.read_bytes()
    with pytest.raises(ValueError, match=f"`checkpoint` must name the checkpoint.*{message}"):
        other(checkpoint=interrupted)
    assert interrupted.read_bytes() == before


def test_points_are_compared_by_their_numbers(moments):
    points = rng.normal(size=(40, 4))

    def fit(points):
        return regression(search=Dictionary(points))

    moments.of(fit(points))
    wanted = bits(fit(points)())
    assert bits(moments.again(fit(points.tolist()), 2)) == wanted
    points[3, 2] += 1e-9
    with pytest.raises(ValueError, match=r"points=\(40, 4\) .* not Dict.*=\(40, 4\)"):
        moments.again(fit(points), 2)


def test_another_version_is_refused(interrupted, monkeypatch):
    monkeypatch.setattr(greedynet, "__version__", "0.0.1")
    with pytest.raises(ValueError, match=r"greedynet=.*, not 0\.0\.1"):
        regression(correct=False)(checkpoint=interrupted)


def test_other_folds_are_refused(moments):
    """Those of a splitter without a seed differ from one run to the next."""

    def fit(checkpoint):
        return regression(correct=False, cv=ShuffleSplit(2, test_size=0.25))(checkpoint=checkpoint)

    moments.of(fit)
    with pytest.raises(ValueError, match="`cv` must yield the same folds as when the fit was"):
        moments.again(fit, 3)


def test_blocks_in_another_order_are_refused(moments):
    moments.of(FITS["blocks"])
    with pytest.raises(ValueError, match="in the same order as when the fit was started"):
        moments.again(regression(Blocks((2, 1, 0)), None), 5)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "truncated"),
        (lambda data: b"my notes\n" * 20, "truncated"),
        (lambda data: data[: len(data) // 2], "truncated|damaged"),
        (lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], "damaged"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_refused_and_left_alone(damage, message, interrupted):
    damaged = damage(interrupted.read_bytes())
    interrupted.write_bytes(damaged)
    with pytest.raises(ValueError, match=f"`checkpoint` must name.*({message}).*delete the file"):
        regression(correct=False)(checkpoint=interrupted)
    assert interrupted.read_bytes() == damaged


def test_a_model_is_no_checkpoint(tmp_path):
    file = tmp_path / "model"
    FITS["as grown"]().save(file)
    before = file.read_bytes()
    with pytest.raises(ValueError, match="contains a 'GreedyNetRegressor'"):
        FITS["as grown"](checkpoint=file)
    assert file.read_bytes() == before


def test_the_place_of_a_file_is_checked_before_the_work(tmp_path):
    with pytest.raises(FileNotFoundError, match="`checkpoint` must be in an existing folder"):
        FITS["as grown"](checkpoint=tmp_path / "nowhere" / "c")
    with pytest.raises(IsADirectoryError, match="`checkpoint` must name a file"):
        FITS["as grown"](checkpoint=tmp_path)
    with pytest.raises(TypeError, match="`checkpoint` must be the name of a file, or None, got 3"):
        FITS["as grown"](checkpoint=3)


def test_a_fit_that_cannot_be_begun_again_is_refused(tmp_path):
    with pytest.raises(ValueError, match="`checkpoint` needs a reproducible fit"):
        FITS["as grown"](checkpoint=tmp_path / "c", random_state=None)


def test_a_fit_on_blocks_of_a_cluster_goes_on_with_other_partitions(moments):
    need("distributed")
    import dask.array as da
    from distributed import Client

    from greedynet.dask import DaskGreedyNetRegressor

    def fit(chunk):
        X, y = (
            da.from_array(values, chunks=(chunk, *values.shape[1:])) for values in (MANY, OF_MANY)
        )
        model = DaskGreedyNetRegressor(max_nodes=12, n_jobs=1)

        def of(checkpoint=None):
            with greedynet.checkpoint(checkpoint):
                return model.fit(X, y)

        return of

    with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
        wanted = moments.of(fit(500)).network_
        again = moments.again(fit(700), len(moments.contents) // 2).network_
    for name in ("inner_weights", "biases", "outer_weights"):
        theirs = getattr(wanted, name)
        tolerance = 1e-10 * np.abs(theirs).max()
        np.testing.assert_allclose(getattr(again, name), theirs, rtol=0, atol=tolerance)


# The block


def test_threads_may_change(interrupted):
    wanted = bits(regression(correct=False)())
    assert bits(regression(correct=False, n_jobs=2)(checkpoint=interrupted)) == wanted


def test_an_activation_of_the_users_own_is_the_same_in_another_process():
    class Mine:
        def __init__(self, slope=0.1, inner=None):
            self.slope, self.inner, self.itself = slope, inner, self

    described = checkpoint.described
    assert described(Mine()) == described(Mine())
    assert described(Mine(0.5)) != described(Mine())
    assert described(Mine(inner=Mine(0.5))) != described(Mine(inner=Mine()))
    assert described(Mine(np.arange(3))) != described(Mine(np.arange(4)))
    assert described(Mine(inner=bits)) == described(Mine(inner=bits))
    assert " at 0x" not in described(Mine(inner=bits))
    assert described(np.float64(0.5)) == described(0.5)
    assert described(Mine((None, [1, [2, 3]]))) == described(Mine((None, [1, [2, 3]])))
    assert described(Mine((None, [1, [2, 3]]))) != described(Mine((None, [1, [2, 4]])))
    assert described({"a": Mine(0.1)}) != described({"a": Mine(0.5)})
    assert described([*range(500)]) != described([*range(499), 0])
    assert " at 0x" not in described([Mine(), {"b": Mine()}])


def test_a_block_has_one_fit(tmp_path):
    first, second = (GreedyNetRegressor(max_nodes=4) for _ in range(2))
    with greedynet.checkpoint(tmp_path / "c"):
        first.fit(X, NOISY)
        with pytest.raises(ValueError, match="`checkpoint` belongs to one fit, got a second one"):
            second.fit(X, NOISY)
        with greedynet.checkpoint(tmp_path / "d"):
            second.fit(X, NOISY)
        with greedynet.checkpoint(None):
            clone(second).fit(X, NOISY)
    first.fit(X, NOISY)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError, match="unexpected keyword argument 'checkpoint'"):
        GreedyNetRegressor(checkpoint=tmp_path / "c")


def test_a_second_fit_for_gaps_has_no_checkpoint(tmp_path):
    """What a fit with indicators of gaps is compared with is fitted without a file."""
    gaps = np.where(np.random.default_rng(0).random(len(X)) < 0.3, np.nan, X[:, 0])
    X_gaps, y = np.column_stack([gaps, X[:, 1]]), NOISY + 5 * np.isnan(gaps)
    wanted = GreedyNetRegressor(max_nodes=4, missing="learn").fit(X_gaps, y)
    assert wanted.filling_.indicated.any()
    model = clone(wanted)
    with greedynet.checkpoint(tmp_path / "c"):
        model.fit(X_gaps, y)
    assert bits(model.without_filling()) == bits(wanted.without_filling())
    assert list(tmp_path.iterdir()) == []


def test_the_command_goes_on(moments, tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=NOISY)
    out = tmp_path / "model"

    def command(checkpoint, *more):
        arguments = ["fit", tmp_path / "a.npz", "--target", "y", "--out", out, "--max-nodes", "9"]
        arguments += [*more, "--checkpoint", checkpoint]
        return CliRunner().invoke(main, list(map(str, arguments)))

    assert moments.of(command).exit_code == 0
    wanted = bits(load(out).estimator)
    result = moments.again(command, 5)
    assert result.exit_code == 0, result.output
    assert bits(load(out).estimator) == wanted
    assert not moments.file.exists()
    result = moments.again(lambda checkpoint: command(checkpoint, "--seed", 3), 5)
    assert result.exit_code == 2
    assert "`checkpoint` must name the checkpoint of this fit" in result.stderr
    assert "seed=" in result.stderr


PROCESS = """
import sys
sys.path.insert(0, {tests!r})
from killed import dying_in_write
from scopes import checkpoints
from test_checkpoint import FITS, bits
with {scope}:
    print("ready", flush=True)
    print(bits(FITS[{name!r}](checkpoint={file!r})), flush=True)
"""


@contextmanager
def fitting(name: str, file: Path, scope: str = "checkpoints()"):
    """Start a process that fits, and wait until it does."""
    code = PROCESS.format(tests=str(Path(__file__).parent), name=name, file=str(file), scope=scope)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        yield run


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")
@pytest.mark.all_folds
@pytest.mark.parametrize("name", ["averages", "classes"])
def test_a_process_that_is_killed_while_it_writes(name, tmp_path):
    file = tmp_path / "c"
    for number in (2, 6):
        with fitting(name, file, f"dying_in_write({number})") as process:
            assert process.stdout.read() == ""
        assert process.returncode == -signal.SIGKILL
        assert file.exists()
        assert len(list(tmp_path.glob(".c.*.tmp"))) == 1
    with fitting(name, file) as process:
        assert process.stdout.read().strip() == bits(FITS[name]())
    assert list(tmp_path.iterdir()) == []
