"""One table through every door: files, folders, frames and parts give the same model."""

from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from extras import need
from greedynet import GreedyNetClassifier, GreedyNetRegressor, TableWarning, fit_table
from greedynet.tables.readers import TableError, open_table

N = 240
SETTINGS = {"n_nodes": 5, "correct": False}


def frame_of(n=N, seed=0):
    """A frame with numbers of several kinds, true and false, and a target."""
    pandas = need("pandas")
    rng = np.random.default_rng(seed)
    x, whole, flag = rng.normal(size=n), rng.integers(0, 9, n), rng.random(n) > 0.4
    frame = pandas.DataFrame(
        {
            "x": x,
            "single": rng.normal(size=n).astype(np.float32),
            "whole": whole.astype(np.int16),
            "flag": flag,
        }
    )
    frame["y"] = np.abs(x) + 0.3 * whole * flag - frame["single"]
    return frame


def same_bits(one, other):
    assert one.feature_names == other.feature_names
    for name in ("inner_weights", "biases", "outer_weights", "linear_weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


class Again:
    """Parts that can be read repeatedly, but are no list."""

    def __init__(self, parts):
        self.parts = parts

    def __iter__(self):
        return iter(self.parts)


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """The same table, by every door."""
    arrow, polars, frame = need("pyarrow"), need("polars"), frame_of()
    folder = tmp_path_factory.mktemp("doors")
    frame.to_parquet(folder / "a.parquet")
    (folder / "parts").mkdir()
    for i in range(3):
        frame[80 * i : 80 * i + 80].to_parquet(folder / "parts" / f"{i}.parquet")
    frame.astype({"single": float}).to_csv(folder / "a.csv", index=False)
    np.savez(folder / "a.npz", **{name: frame[name].to_numpy() for name in frame})
    halves = [frame[:100], frame[100:]]
    for i, half in enumerate(halves):
        half.astype({"single": float}).to_csv(folder / f"{i}.csv", index=False)
    return {
        "file": folder / "a.parquet",
        "folder": folder / "parts",
        "csv": folder / "a.csv",
        "npz": folder / "a.npz",
        "arrow": arrow.Table.from_pandas(frame),
        "batch": arrow.RecordBatch.from_pandas(frame),
        "polars": polars.from_pandas(frame),
        "pandas": frame,
        "mapping": dict(frame),
        "frames": halves,
        "files": [folder / "0.csv", str(folder / "1.csv")],
        "mixed": Again([halves[0], folder / "1.csv"]),
    }


@pytest.fixture(scope="module")
def wanted(doors):
    """The network of an estimator that reads the Parquet file itself."""
    return GreedyNetRegressor(**SETTINGS).fit(doors["file"], "y")


def test_a_boolean_is_one_column_of_a_file(wanted, doors):
    assert list(wanted.feature_names_in_) == ["x", "single", "whole", "flag"]
    frame = doors["pandas"]
    arrays = GreedyNetRegressor(**SETTINGS).fit(frame.drop(columns="y").astype(float), frame["y"])
    same_bits(
        wanted.network_, replace(arrays.network_, feature_names=wanted.network_.feature_names)
    )


@pytest.mark.parametrize(
    "door",
    [
        *("file", "folder", "csv", "npz", "arrow", "batch"),
        *("polars", "pandas", "mapping", "frames", "files", "mixed"),
    ],
)
def test_every_door_leads_to_the_same_model(wanted, doors, door):
    model = fit_table(doors[door], "y", **SETTINGS)
    assert model.columns.features == ("x", "single", "whole", "flag")
    same_bits(model.network, wanted.network_)
    inputs = doors["pandas"].drop(columns="y").astype(float)
    np.testing.assert_array_equal(model.predict(doors[door]), wanted.network_.predict(inputs))


def test_a_folder_of_parquet_files_by_both_doors(wanted, doors):
    model = GreedyNetRegressor(**SETTINGS).fit(doors["folder"], "y")
    same_bits(model.network_, wanted.network_)
    np.testing.assert_array_equal(model.predict(doors["folder"]), wanted.predict(doors["file"]))


def test_names_of_folders_are_columns_of_tables(tmp_path):
    frame = frame_of()
    frame["year"] = np.where(np.arange(N) < 100, 2023, 2024)
    frame["y"] += frame["year"] - 2023
    frame.to_parquet(tmp_path / "hive", partition_cols=["year"])
    model = fit_table(tmp_path / "hive", "y", **SETTINGS)
    assert model.columns.features[-1] == "year"
    same_bits(model.network, GreedyNetRegressor(**SETTINGS).fit(tmp_path / "hive", "y").network_)


def test_decimals_are_rounded_as_in_text(tmp_path):
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    rng = np.random.default_rng(0)
    cells = [Decimal(int(n)).scaleb(-7) for n in rng.integers(0, 10**15, 500)]
    table = arrow.table({"x": arrow.array([*cells, None], arrow.decimal128(30, 7))})
    parquet.write_table(table, tmp_path / "a.parquet")
    found = np.concatenate([b["x"] for b in open_table(tmp_path / "a.parquet").blocks(["x"])])
    np.testing.assert_array_equal(found, [*map(float, cells), np.nan])


# True and false


def truths(*cells):
    return {"flag": [*cells] * 10, "y": np.arange(10.0 * len(cells))}


@pytest.mark.parametrize(
    ("cells", "features"),
    [
        ((True, False), ("flag",)),
        (("TRUE", "FALSE"), ("flag",)),
        (("true", "False"), ("flag",)),
        ((True, True), ("flag",)),
        ((True, None, False), ("flag",)),
        (("True", "No"), ("flag=No", "flag=True")),
        (("yes", "no"), ("flag=no", "flag=yes")),
    ],
)
def test_what_is_true_and_false(cells, features):
    missing = "mean" if None in cells else None
    model = fit_table(truths(*cells), "y", missing=missing, n_nodes=2)
    assert model.columns.features == features


def test_true_and_false_as_asked_for_and_as_classes():
    assert fit_table(truths(True, False), "y", text="flag", n_nodes=2).columns.features == (
        "flag=False",
        "flag=True",
    )
    flags = truths(True, False)
    model = fit_table({"x": flags["y"], "flag": flags["flag"]}, "flag", n_nodes=2)
    assert isinstance(model.estimator, GreedyNetClassifier)
    assert model.classes_.tolist() == ["False", "True"]


def test_true_and_false_of_other_files(tmp_path):
    model = fit_table(truths(True, False), "y", n_nodes=2)
    model.save(tmp_path / "m.safetensors")
    from greedynet import load

    for other in (model, load(tmp_path / "m.safetensors")):
        wanted = other.predict({"flag": [True, False]})
        for cells in (["TRUE", "false"], [1, 0], ["1", "0.0"]):
            np.testing.assert_array_equal(other.predict({"flag": cells}), wanted)
    with pytest.raises(TableError, match=r"column 'flag' must hold true and false.*'maybe'"):
        model.predict({"flag": ["maybe"]})
    with pytest.warns(TableWarning, match="as none was in training, are 1 cell of 'flag'"):
        model.predict({"flag": [True, None]})


# Long text files: columns of numbers are read as numbers, without their texts


@pytest.fixture(scope="module")
def long():
    """Columns of a text file of more rows than are looked at before it is read."""
    rng, n = np.random.default_rng(0), 21_000
    x, code = rng.normal(size=n).round(4), rng.integers(0, 4, n)
    columns = {"x": x, "code": [f"0{i}" for i in code], "z": rng.integers(-99, 99, n)}
    return columns | {"y": (np.abs(x) + code / 4).round(5)}


def texts(columns):
    return {name: [str(cell) for cell in cells] for name, cells in columns.items()}


def write(path, columns, rows=slice(None)):
    cells = zip(*(column[rows] for column in columns.values()), strict=True)
    path.write_text("\n".join(map(",".join, [tuple(columns), *cells])))
    return path


def network_of(source, **options):
    return fit_table(source, "y", **SETTINGS, **options).network


@pytest.mark.parametrize("late", ["", "NA", "n/a", "1,250"])
def test_long_text_files_give_the_model_of_their_numbers(tmp_path, long, late):
    columns = texts(long)
    columns["z"][-2] = late
    wanted = {name: np.array(cells, dtype=object) for name, cells in columns.items()}
    if late != "1,250":
        wanted = {name: np.array([*map(float, long[name])]) for name in long}
        wanted["z"][-2] = np.nan
    else:
        columns["z"][-2] = f'"{late}"'
    said = {"n/a": "'n/a' is read as an empty cell", "1,250": "'1,250'"}.get(late)
    with nullcontext() if said is None else pytest.warns(TableWarning, match=said):
        same_bits(network_of(write(tmp_path / "a.csv", columns)), network_of(wanted))


def test_texts_of_numbers_that_are_asked_for_are_as_they_are_written(tmp_path, long):
    columns = texts(long)
    model = fit_table(write(tmp_path / "a.csv", columns), "y", text="code", **SETTINGS)
    assert model.columns.features == ("x", "code=00", "code=01", "code=02", "code=03", "z")
    assert open_table(tmp_path / "a.csv").store().rows("select min(c1) from {t}") == [("00",)]


@pytest.mark.parametrize("last", ["7", "seven"])
def test_long_files_one_after_the_other(tmp_path, long, last):
    columns = texts(long) | {"kind": ["7"] * 21_000}
    columns["kind"][-1] = last
    halves = (slice(None, 20_500), slice(20_500, None))
    files = [write(tmp_path / f"{i}.csv", columns, rows) for i, rows in enumerate(halves)]
    whole, other = write(tmp_path / "a.csv", columns), {"text": "kind"} if last != "7" else {}
    same_bits(network_of(files, **other), network_of(whole, **other))


# What is refused


def test_what_no_door_takes(tmp_path):
    arrow, polars, frame = need("pyarrow"), need("polars"), frame_of(20)
    with pytest.raises(TypeError, match=r"exhausted after one: pass a list"):
        fit_table((part for part in [frame]), "y")
    with pytest.raises(TypeError, match=r"exhausted after one: pass a list"):
        fit_table(arrow.Table.from_pandas(frame).to_reader(), "y")
    with pytest.raises(TypeError, match=r"got LazyFrame: write `frame.collect\(\)`"):
        fit_table(polars.from_pandas(frame).lazy(), "y")
    with pytest.raises(TypeError, match=r"got a tuple as a part: blocks `\(X, y\)` have no names"):
        fit_table(Again([(np.ones((3, 2)), np.ones(3))]), "y")
    with pytest.raises(TableError, match=r"at least one part, got none"):
        fit_table(Again([]), "y")
    with pytest.raises(TableError, match=r"part 1 \(the table\) has no 'flag'"):
        fit_table([frame, frame.drop(columns="flag")], "y")
    twice = arrow.Table.from_arrays([arrow.array([1.0, 2.0])] * 2, names=["a", "a"])
    with pytest.raises(TableError, match="more than one column named 'a'"):
        open_table(twice)
    frame.to_csv(tmp_path / "a.csv")
    with pytest.raises(ValueError, match=r"got the file .*a.csv: .*fit_table\('a.csv', 'y'\)`"):
        GreedyNetRegressor().fit(tmp_path / "a.csv", "y")


def test_text_files_are_no_inputs_of_estimators(wanted, doors):
    with pytest.raises(ValueError, match=r"got the file .*a.csv: write `predict\(pandas.read_csv"):
        wanted.predict(doors["csv"])
    need("dask")
    from greedynet.dask.partitions import partitions_of_files

    with pytest.raises(ValueError, match=r"got the file .*a.npz: .*dask.dataframe.read_csv"):
        partitions_of_files(doors["npz"], "y", None)
