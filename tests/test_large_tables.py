"""Tables that are read in blocks: the same models as in memory, and bounded memory."""

import json
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from click.testing import CliRunner

from extras import need
from greedynet import fit_table, load
from greedynet.cli import main
from greedynet.tables import memory
from greedynet.tables.readers import TableError

N = 300


def table(n=N, empty=()):
    rng = np.random.default_rng(0)
    x, kind = rng.normal(size=(2, n)), rng.choice(["a", "b", "c"], n)
    y = np.abs(x[0]) + np.where(kind == "a", x[1], 0) + 0.1 * rng.normal(size=n)
    found = {"u": x[0], "v": x[1], "kind": kind.astype(object), "y": y}
    for name in empty:
        found[name][rng.choice(n, n // 20, replace=False)] = None if name == "kind" else np.nan
    return found


def classes(n=N):
    found = table(n)
    return found | {"y": np.where(found["y"] > 0.7, "high", "low")}


def both(source, **options):
    """Fit in memory and in blocks."""
    settings = {"n_nodes": 4, "correct": False} | options
    return [fit_table(source, "y", memory_limit=limit, **settings) for limit in (None, 0)]


def same(one, other, rtol=0.0):
    assert one.columns.features == other.columns.features
    np.testing.assert_allclose(one.columns.means, other.columns.means, rtol=1e-12, atol=1e-14)
    for name in ("inner_weights", "biases", "outer_weights", "linear_weights"):
        wanted, found = (getattr(model.network, name) for model in (one, other))
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)
    assert one.network.feature_names == other.network.feature_names
    assert one.estimator.path_.network.feature_names == other.columns.features
    for part in ("training", "validation", "held_out"):
        wanted, found = one.about[part], other.about[part]
        assert (wanted is None) == (found is None)
        for name in wanted or ():
            if isinstance(wanted[name], float):
                assert found[name] == pytest.approx(wanted[name], rel=1e-9)
            else:
                assert found[name] == wanted[name]


# The same models


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (table(), {"hold_out": 0.2}),
        (table(), {"hold_out_last": 0.2, "random_state": 3}),
        (table(), {"validate": table(50)}),
        (table(empty=["y"]), {"missing": "drop", "hold_out": 0.3}),
        (table(empty=["u", "kind"]), {"missing": "drop"}),
        (classes(), {"hold_out": 0.2}),
        (classes() | {"y": (table()["y"] > 1).astype(int)}, {"hold_out": 0.2, "classes": True}),
    ],
)
def test_a_fit_in_blocks_is_that_in_memory(source, options):
    in_memory, in_blocks = both(source, **options)
    same(in_memory, in_blocks)
    assert in_blocks.about["in_blocks"]
    assert "in_blocks" not in in_memory.about
    assert [in_blocks.about[name] for name in ("rows", "left_out")] == [
        in_memory.about[name] for name in ("rows", "left_out")
    ]


def test_means_are_those_of_all_blocks_but_for_the_rows_held_out():
    same(*both(table(empty=["u", "kind"]), missing="mean", hold_out=0.2), rtol=1e-9)


def test_other_losses_are_measured_on_all_rows():
    in_memory, in_blocks = both(table(60), loss="absolute_error", hold_out=0.2, n_nodes=2)
    assert in_blocks.about["training"] == pytest.approx(in_memory.about["training"])
    assert in_blocks.about["held_out"] == pytest.approx(in_memory.about["held_out"])


def test_the_file_is_gone_after_the_fit(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    fit_table(table(), "y", n_nodes=2, memory_limit=0)
    assert list(tmp_path.iterdir()) == []


def test_matrices_in_files_are_those_in_memory():
    X = np.where(np.random.default_rng(0).random((200_000, 3)) < 0.1, np.nan, 2.0)
    X[:, 1] += np.arange(200_000)
    rows, columns = np.arange(200_000) % 3 > 0, np.array([True, False, True])
    mapped = memory.empty_matrix(*X.shape, on_disk=True)
    mapped[:] = X
    assert memory.is_on_disk(mapped)
    for one, other in [
        (memory.taken(X, rows), memory.taken(mapped, rows)),
        (memory.taken(X, None, columns), memory.taken(mapped, None, columns)),
        (memory.filled(X, np.arange(3.0)), memory.filled(mapped, np.arange(3.0))),
    ]:
        assert memory.is_on_disk(other)
        np.testing.assert_array_equal(one, other)
    mapped[:] = X
    np.testing.assert_allclose(memory.means_of(mapped), memory.means_of(X), rtol=1e-13)


def test_the_limit_is_a_sixth_of_the_memory(monkeypatch, tmp_path):
    assert memory.matrix_bytes(10, 3) == 320
    assert memory.limit_of(5) == 5
    assert 0 < memory.usable_memory() <= memory._of_machine()
    monkeypatch.setattr(memory, "_of_machine", lambda: 6 * 2**30)
    monkeypatch.setattr(memory, "_of_process", list)
    (tmp_path / "max").write_text("max\n")
    monkeypatch.setattr(memory, "_LIMITS", [str(tmp_path / "max"), str(tmp_path / "none")])
    assert memory.limit_of(None) == 2**30
    (tmp_path / "none").write_text(f"{3 * 2**30}\n")
    assert memory.limit_of(None) == 2**29
    monkeypatch.setattr(memory, "_of_process", lambda: [6 * 2**20])
    assert memory.limit_of(None) == 2**20


@pytest.mark.parametrize("limit", [-1, True, "2 GB", float("nan")])
def test_wrong_limits(limit):
    with pytest.raises(TableError, match=r"`memory_limit` must be a number of bytes.*2e9 for 2 GB"):
        fit_table(table(), "y", memory_limit=limit)


def test_the_limit_counts_features_and_target():
    n_bytes = 8 * N * (2 + 3 + 1)
    for limit, in_blocks in ((n_bytes, False), (n_bytes - 1, True)):
        model = fit_table(table(), "y", n_nodes=2, memory_limit=limit)
        assert model.about.get("in_blocks", False) is in_blocks


# What is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 5}, r"`cv` needs all rows in memory, got cv=5 for 300 rows.*omit `cv`"),
        ({"groups": "kind"}, r"`groups` needs all rows in memory, got groups='k"),
        ({"search": "dictionary"}, r"`search` needs all rows in memory"),
        ({"hold_out": 0.0001}, r"Of 300 rows, 0 would be held out"),
    ],
)
def test_what_needs_all_rows(options, message):
    with pytest.raises(TableError, match=message):
        fit_table(table(), "y", memory_limit=0, **options)


def test_classes_that_only_rows_held_out_have():
    source = classes()
    source["y"] = np.array([*source["y"][:-30], *["other"] * 30])
    with pytest.raises(TableError, match="contain the class 'other', which no other row has"):
        fit_table(source, "y", memory_limit=0, hold_out_last=0.1, n_nodes=3)


def test_indicators_of_telling_gaps_are_chosen_in_the_first_rows():
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, 300))
    gaps, others = rng.random((2, 300)) < 0.3
    y = u + 3.0 * gaps + 0.1 * rng.normal(size=300)
    columns = {"u": np.where(gaps, np.nan, u), "v": np.where(others, np.nan, v), "y": y}
    model = fit_table(columns, "y", n_nodes=2, memory_limit=0)
    assert model.about["in_blocks"]
    assert model.columns.features == ("u", "v", "u is missing")
    other = fit_table(columns, "y", n_nodes=2, missing="mean")
    error, of_mean = (np.std(m.predict(columns) - y) for m in (model, other))
    assert error < 0.6 * of_mean


def test_empty_cells_are_found_in_the_first_pass():
    with pytest.raises(TableError, match=r"empty cells: 15 in 'u'"):
        fit_table(table(empty=["u"]), "y", memory_limit=0, missing=None)
    lone = {"x": [1.0, np.nan, np.nan], "y": [1.0, 2.0, 3.0]}
    with pytest.raises(TableError, match="has 1 rows without empty cells, and a fit needs"):
        fit_table(lone, "y", missing="drop", memory_limit=0)


# The command


def test_the_command_reads_in_blocks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = table()
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    command = "fit a.csv --target y --out m.safetensors --nodes 5 --hold-out 0.2"
    run = CliRunner().invoke(main, f"{command} --memory-limit 1e-6 --report r.html")
    assert run.exit_code == 0, run.output
    assert "read in blocks, since it would take more memory than --memory-limit" in run.output
    assert "the report shows no rows, since DATA is too large" in run.output
    assert (tmp_path / "r.html").exists()
    wanted = fit_table("a.csv", "y", n_nodes=5, hold_out=0.2)
    same(wanted, load("m.safetensors"))
    run = CliRunner().invoke(main, f"{command} --memory-limit 1e-6 --groups kind")
    assert run.exit_code == 2
    assert "give fewer rows, or raise --memory-limit" in run.output


# Memory

LIMITED = """
import json, os, re, sys, threading, time
from pathlib import Path
from greedynet import fit_table

path, small, limit = sys.argv[1:]


def held():
    # Memory of its own, without the pages of files, which the system takes back when it needs them.
    return 1024 * int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])


def watch():
    while True:
        peaks.append(held())
        time.sleep(0.005)


options = {"max_nodes": 6, "correct": False}
fit_table(small, "y", memory_limit=0, **options)  # loads what is loaded once
before, peaks = held(), [0]
threading.Thread(target=watch, daemon=True).start()
about = fit_table(path, "y", memory_limit=float(limit), **options).about
found = [max(peaks) - before, about["rows"], about["in_blocks"], about["training"]["r2"]]
print(json.dumps(found), flush=True)
os._exit(0)  # the thread holds objects of DuckDB, which complains of that at the end
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures memory as on Linux")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_larger_than_memory(tmp_path, kind):
    duckdb, path, small = need("duckdb"), tmp_path / f"a.{kind}", tmp_path / f"small.{kind}"
    n, d, limit = 2_700_000, 30, 200_000_000
    numbers = ", ".join(f"(hash(i, {j}) % 1999)::integer / 100 - 10 as x{j}" for j in range(d))
    y = "abs(x0) + case when x2 > 0 then x1 else 0 end as y"
    for file, rows in ((path, n), (small, 50_000)):
        table = f"select *, {y} from (select {numbers} from range({rows}) as of_rows(i))"
        connection = duckdb.connect(config={"memory_limit": "1GB"})
        connection.execute(f"copy ({table}) to '{file}'").fetchall()
    size = path.stat().st_size if kind == "csv" else 1.5 * memory.matrix_bytes(n, d)
    assert size > 5 * limit
    call = [sys.executable, "-c", LIMITED, *map(str, (path, small, limit))]
    run = subprocess.run(call, capture_output=True, text=True, timeout=500)
    assert run.returncode == 0, run.stderr
    peak, n_rows, in_blocks, r2 = json.loads(run.stdout)
    assert (n_rows, in_blocks) == (n, True)
    assert r2 > 0.3
    assert peak < limit
