"""Files as people have them: one run reads them, or one message says all there is to write.

Every table here is made up. What a messy file means is stated by a plain one: both must give the
same model, to the last bit.
"""

import gzip
import io
import subprocess
import sys
import warnings
from datetime import date, timedelta

import numpy as np
import pytest
from click.testing import CliRunner

from extras import need
from greedynet import TableWarning, fit_table, load
from greedynet.cli import main

N = 120
QUICK = {"n_nodes": 4, "correct": False, "n_jobs": 1}
rng = np.random.default_rng(0)
AREA = np.round(rng.uniform(900, 9000, N))
ROOMS = rng.integers(1, 7, N)
PRICE = np.round(20 * AREA + 9_000 * ROOMS + 3_000 * rng.normal(size=N), 2)
DAYS = [date(2009, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 2000, N)]


def house(**columns):
    """A table of houses, as texts; columns are put before the area, the rooms and the price."""
    usual = {"area": texts(AREA, "{:.0f}"), "rooms": texts(ROOMS), "price": texts(PRICE, "{:.2f}")}
    return {**{name: list(cells) for name, cells in columns.items()}, **usual}


def texts(values, form="{}"):
    return [form.format(value) for value in values]


def german(value):
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def text_of(table, separator=","):
    quoted = lambda cell: f'"{cell}"' if separator in cell else cell  # noqa: E731
    rows = [list(table), *zip(*table.values(), strict=True)]
    return "".join(separator.join(map(quoted, row)) + "\n" for row in rows)


def file_of(path, table, separator=",", *, before="", after="", encoding="utf-8"):
    path.write_bytes((before + text_of(table, separator) + after).encode(encoding))
    return path


def fitted(source, target="price", **options):
    """Return a model, and what was said about the table."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", TableWarning)
        model = fit_table(source, target, **QUICK, **options)
    lines = [str(w.message) for w in said if issubclass(w.category, TableWarning)]
    lines += model.about["noticed"]
    return model, "\n".join(lines)


def weights_of(model):
    network = model.network
    names = ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept")
    return [np.asarray(getattr(network, name)).tolist() for name in names]


def same(one, other):
    return weights_of(one) == weights_of(other)


def run(*arguments, code=0, **options):
    result = CliRunner().invoke(main, list(map(str, arguments)), **options)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


FEW = ("--nodes", "4")


# What a number is written like


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return fitted(file_of(tmp_path_factory.mktemp("plain") / "houses.csv", house()))[0]


NUMBERS = {
    "42.000,00": ("area", german, ";", ""),
    "1,234.00": ("area", "{:,.2f}", ",", ""),
    "1 234": ("area", lambda value: f"{value:,.0f}".replace(",", " "), ",", ""),
    "1'234": ("area", lambda value: f"{value:,.0f}".replace(",", "'"), ",", ""),
    "5,850 sqft": ("area", "{:,.0f} sqft", ",", "sqft"),
    "3504 lbs": ("area", "{:.0f} lbs", ",", "lbs"),
    "1.234,00 m²": ("area", lambda value: german(value) + " m²", ";", "m²"),
    "$1,234": ("area", "${:,.0f}", ",", ""),
    "1.234,00 €": ("price", lambda value: german(value) + " €", ";", ""),
    "USD 1,234.00": ("price", "USD {:,.2f}", ",", ""),
    "18 %": ("area", "{:.0f} %", ",", ""),
    "1.2e3": ("area", "{:e}", ",", ""),
}


@pytest.mark.parametrize("notation", NUMBERS)
def test_numbers_in_every_notation(tmp_path, plain, notation):
    column, write, separator, said = NUMBERS[notation]
    write = write if callable(write) else write.format
    values = {"area": AREA, "price": PRICE}[column]
    messy = house() | {column: [write(value) for value in values]}
    model, lines = fitted(file_of(tmp_path / "houses.csv", messy, separator))
    assert same(model, plain)
    assert said in lines


@pytest.mark.parametrize("mark", ["n/a", "-", "?", ".", "N/A", "NULL", "#N/A"])
def test_marks_of_gaps_are_gaps(tmp_path, mark):
    empty, marked = house(), house()
    for i in range(0, N, 7):
        empty["area"][i], marked["area"][i] = "", mark
    wanted, _ = fitted(file_of(tmp_path / "empty.csv", empty))
    model, lines = fitted(file_of(tmp_path / "marked.csv", marked))
    assert same(model, wanted)
    if mark in ("n/a", "-", "?", "."):
        assert "'area'" in lines
        assert repr(mark) in lines


def test_a_mark_of_ones_own(tmp_path):
    empty, marked = house(), house()
    for i in range(0, N, 15):
        empty["area"][i], marked["area"][i] = "", "unknown"
    wanted, _ = fitted(file_of(tmp_path / "empty.csv", empty))
    path = file_of(tmp_path / "marked.csv", marked)
    with pytest.raises(ValueError, match=r"'area'.*'unknown'.*na="):
        fitted(path)
    assert same(fitted(path, na="unknown")[0], wanted)
    refused = run("fit", path, "--target", "price", "--out", tmp_path / "m", code=2)
    assert "--na 'unknown'" in refused.stderr
    run("fit", path, "--target", "price", "--out", tmp_path / "m", *FEW, "--na", "unknown")


# Dates, durations, truth


DATES = {
    "31.12.2015": "%d.%m.%Y",
    "31/12/2015": "%d/%m/%Y",
    "12/31/2015": "%m/%d/%Y",
    "2015/12/31": "%Y/%m/%d",
    "Dec 31 2015": "%b %d %Y",
    "31 Dec 2015": "%d %b %Y",
    "Dec-31-2015": "%b-%d-%Y",
    "31-Dec-15": "%d-%b-%y",
    "December 31, 2015": "%B %d, %Y",
    "2015-12-31T00:00:00": "%Y-%m-%dT00:00:00",
}


@pytest.mark.parametrize("notation", DATES)
def test_dates_in_every_notation(tmp_path, notation):
    wanted, _ = fitted(file_of(tmp_path / "a.csv", house(sold=texts(DAYS))))
    written = house(sold=[day.strftime(DATES[notation]) for day in DAYS])
    assert same(fitted(file_of(tmp_path / "b.csv", written))[0], wanted)


@pytest.mark.parametrize("form", ["%b-%y", "%b %Y", "%Y-%m", "%m/%Y"])
def test_months(tmp_path, form):
    months = [day.replace(day=1) for day in DAYS]
    wanted, _ = fitted(file_of(tmp_path / "a.csv", house(month=texts(months))))
    written = house(month=[month.strftime(form) for month in months])
    assert same(fitted(file_of(tmp_path / "b.csv", written))[0], wanted)


def test_what_is_said_of_months(tmp_path):
    months = [f"{day:%b-%y}" for day in DAYS]
    lines = fitted(file_of(tmp_path / "a.csv", house(month=months)))[1]
    assert "is read as" in lines
    assert f"{DAYS[0]:%B %Y}" in lines
    days = [f"{day:%b-%d}" for day in DAYS]
    for cells in (days, [*months[1:], str(DAYS[0])]):
        with pytest.raises(ValueError, match=r"'month' holds '\w+-\d\d'.*years of four digits"):
            fitted(file_of(tmp_path / "b.csv", house(month=cells)))


@pytest.mark.parametrize("form", ["{}Q{}", "{}-Q{}", "{} Q{}"])
def test_quarters(tmp_path, form):
    firsts = [day.replace(month=day.month - (day.month - 1) % 3, day=1) for day in DAYS]
    wanted, _ = fitted(file_of(tmp_path / "a.csv", house(quarter=texts(firsts))))
    written = [form.format(day.year, 1 + day.month // 3) for day in firsts]
    assert same(fitted(file_of(tmp_path / "b.csv", house(quarter=written)))[0], wanted)


DURATIONS = {
    "1:30:00": lambda minutes: f"{minutes // 60}:{minutes % 60:02}:00",
    "90 min": lambda minutes: f"{minutes} min",
    "1h 30m": lambda minutes: f"{minutes // 60}h {minutes % 60}m",
    "PT1H30M": lambda minutes: f"PT{minutes // 60}H{minutes % 60}M",
}


@pytest.mark.parametrize("notation", DURATIONS)
def test_durations_are_hours(tmp_path, notation):
    minutes = [30 * int(room) + 2_400 for room in ROOMS]
    wanted, _ = fitted(file_of(tmp_path / "a.csv", house(length=texts(np.array(minutes) / 60))))
    written = house(length=[DURATIONS[notation](m) for m in minutes])
    assert same(fitted(file_of(tmp_path / "b.csv", written))[0], wanted)


@pytest.mark.parametrize("words", [("true", "false"), ("TRUE", "FALSE")])
def test_truth_is_one_input(tmp_path, words):
    flags = AREA > 4000
    wanted, _ = fitted(file_of(tmp_path / "a.csv", house(large=texts(flags))))
    written = house(large=[words[0] if flag else words[1] for flag in flags])
    assert same(fitted(file_of(tmp_path / "b.csv", written))[0], wanted)


# Around the cells


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_separators_and_encodings(tmp_path, separator, encoding):
    table = house(town=np.where(ROOMS > 3, "Köln", "Málaga"))
    wanted, _ = fitted(file_of(tmp_path / "a.csv", table))
    path = file_of(tmp_path / "b.csv", table, separator, encoding=encoding)
    model, lines = fitted(path)
    assert same(model, wanted)
    assert "town=Köln" in model.columns.features
    assert ("cp1252" in lines or "1252" in lines) == (encoding == "cp1252")


def test_titles_above_the_header(tmp_path, plain):
    before = "Houses sold in 2015\nSource: the town\n\n"
    model, lines = fitted(file_of(tmp_path / "houses.csv", house(), before=before))
    assert same(model, plain)
    assert "Houses sold in 2015" in lines


def total(separator=","):
    return separator.join(["Total", f"{AREA.sum():.0f}", f"{ROOMS.sum()}", f"{PRICE.sum():.2f}"])


def test_a_row_of_totals(tmp_path):
    table = house(street=texts(rng.integers(0, 5, N), "street {}"))
    wanted, _ = fitted(file_of(tmp_path / "a.csv", table))
    path = file_of(tmp_path / "b.csv", table, after=total() + "\n")
    model, lines = fitted(path)
    assert same(model, wanted)
    assert "keep_totals" in lines
    kept, _ = fitted(path, keep_totals=True)
    assert not same(kept, wanted)
    # Where the column that says so is ignored, too.
    ignored, _ = fitted(path, ignore="street")
    assert same(ignored, fitted(tmp_path / "a.csv", ignore="street")[0])
    found = run("fit", path, "--target", "price", "--out", tmp_path / "m", *FEW)
    assert "--keep-totals" in found.stderr


# Columns that are left out


LEFT_OUT = {
    "a key": ("house_id", [f"H{1000 + i}" for i in range(N)]),
    "a row number": ("Nr", texts(range(1, N + 1))),
    "a row number with zeros": ("Nr", texts(range(1, N + 1), "{:05}")),
    "an unnamed row number": ("", texts(range(N))),
    "an empty column": ("remarks", [""] * N),
    "a constant": ("country", ["Spain"] * N),
    "a constant number": ("year", ["2015"] * N),
}


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_columns_that_are_left_out(tmp_path, plain, kind):
    name, cells = LEFT_OUT[kind]
    path = file_of(tmp_path / "houses.csv", house(**{name: cells}))
    model, lines = fitted(path)
    assert same(model, plain)
    assert len(lines.splitlines()) == 1
    assert repr(name) in lines or (not name and "without a name" in lines)
    # Rows to predict need not have it.
    without = file_of(tmp_path / "new.csv", house())
    np.testing.assert_array_equal(model.predict(path), model.predict(without))


def test_columns_that_are_used_all_the_same(tmp_path, plain):
    path = file_of(tmp_path / "houses.csv", house(Nr=texts(range(1, N + 1), "{:05}")))
    model, lines = fitted(path, use="Nr")
    assert "Nr" in model.columns.features
    assert not same(model, plain)
    assert lines == ""
    found = run("fit", path, "--target", "price", "--out", tmp_path / "m", *FEW)
    assert "--use 'Nr'" in found.stderr
    run("fit", path, "--target", "price", "--out", tmp_path / "m", *FEW, "--use", "Nr")
    assert "Nr" in load(tmp_path / "m").columns.features


def test_ignore_takes_a_list(tmp_path, plain):
    table = house(agent=texts(rng.integers(0, 4, N), "agent {}"), floor=texts(ROOMS % 2))
    path = file_of(tmp_path / "houses.csv", table)
    run("fit", path, "--target", "price", "--out", tmp_path / "m", "--ignore", "agent,floor", *FEW)
    assert load(tmp_path / "m").columns.features == plain.columns.features


# What has two meanings


def ambiguous():
    """A file with everything that may be meant in two ways, and cells that are nothing."""
    table = house(
        weight=[f"{1 + value / 1000:.3f}".replace(".", ",") for value in AREA],
        sold=[f"{1 + i % 12:02}/{1 + i % 11:02}/2015" for i in range(N)],
        height=texts(AREA, "{:.0f}"),
    )
    table["height"][5] = "tall"
    return table | {"price": texts(np.round(PRICE), "{:.0f}")}


def test_one_message_names_all_columns(tmp_path):
    path = file_of(tmp_path / "houses.csv", ambiguous(), ";")
    with pytest.raises(ValueError, match="weight") as refused:
        fitted(path)
    message = str(refused.value)
    for name in ("'weight'", "'sold'", "'height'", "'tall'"):
        assert name in message
    said = run("fit", path, "--target", "price", "--out", tmp_path / "m", code=2).stderr
    for option in ("--decimal", "--dates", "--na"):
        assert option in said
    written = ("--decimal", ",", "--dates", "dmy", "--na", "tall")
    run("fit", path, "--target", "price", "--out", tmp_path / "m", *FEW, *written)


def test_two_units_are_refused_by_name(tmp_path):
    cells = [f"{value:.0f} {'kg' if i % 2 else 'lbs'}" for i, value in enumerate(AREA)]
    assert len(set(cells)) > 100
    path = file_of(tmp_path / "houses.csv", house(weight=cells))
    with pytest.raises(ValueError, match=r"'weight'.*(kg|lbs).*(kg|lbs)"):
        fitted(path)


# Every door


def by_every_door(folder, table):
    """The same table by every door."""
    pandas, polars, arrow = need("pandas"), need("polars"), need("pyarrow")
    duckdb = need("duckdb")
    plain = file_of(folder / "houses.csv", table)
    text = plain.read_bytes()
    (folder / "houses.csv.gz").write_bytes(gzip.compress(text))
    frame = pandas.read_csv(plain)
    frame.to_parquet(folder / "houses.parquet")
    (folder / "parts").mkdir()
    frame[:50].to_parquet(folder / "parts" / "0.parquet")
    frame[50:].to_parquet(folder / "parts" / "1.parquet")
    frame.to_json(folder / "houses.jsonl", orient="records", lines=True)
    arrays = {name: np.array(frame[name].tolist()) for name in frame}
    np.savez(folder / "houses.npz", **arrays)
    with duckdb.connect(folder / "houses.duckdb") as database:
        database.execute("create table houses as select * from frame")
        database.execute(f"copy houses to '{folder / 'houses.csv.zst'}'")
    return {
        "csv": plain,
        "tsv": file_of(folder / "houses.tsv", table, "\t"),
        "semicolons": file_of(folder / "semicolons.csv", table, ";"),
        "bars": file_of(folder / "bars.txt", table, "|"),
        "gz": folder / "houses.csv.gz",
        "zst": folder / "houses.csv.zst",
        "parquet": folder / "houses.parquet",
        "folder": folder / "parts",
        "glob": str(folder / "parts" / "*.parquet"),
        "jsonl": folder / "houses.jsonl",
        "npz": folder / "houses.npz",
        "duckdb": folder / "houses.duckdb",
        "pandas": frame,
        "polars": polars.from_pandas(frame),
        "arrow": arrow.Table.from_pandas(frame, preserve_index=False),
        "mapping": {name: frame[name].to_numpy() for name in frame},
        "texts": table,
    }


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    towns = np.array(["Köln", "Málaga", "Łódź"])[ROOMS % 3]
    table = house(town=towns, large=texts(AREA > 4000), sold=texts(DAYS))
    return by_every_door(tmp_path_factory.mktemp("doors"), table)


@pytest.fixture(scope="module")
def by_text(doors):
    return fitted(doors["csv"])[0]


DOORS = (
    *("tsv", "semicolons", "bars", "gz", "zst", "parquet", "folder", "glob", "jsonl", "npz"),
    *("duckdb", "pandas", "polars", "arrow", "mapping", "texts"),
)


@pytest.mark.parametrize("door", DOORS)
def test_the_same_bits_by_every_door(doors, by_text, door):
    model, _ = fitted(doors[door])
    assert model.columns.features == by_text.columns.features
    assert same(model, by_text)
    np.testing.assert_array_equal(by_text.predict(doors[door]), by_text.predict(doors["csv"]))


@pytest.mark.parametrize("door", ["csv", "parquet", "duckdb", "polars"])
def test_the_same_numbers_in_blocks(doors, door):
    in_memory, _ = fitted(doors["csv"])
    in_blocks, _ = fitted(doors[door], memory_limit=0)
    ours, wanted = in_blocks.predict(doors["csv"]), in_memory.predict(doors["csv"])
    np.testing.assert_allclose(ours, wanted, rtol=1e-6)


def test_excel(tmp_path, by_text, doors):
    need("python_calamine"), need("openpyxl")
    frame = doors["pandas"].assign(sold=lambda t: need("pandas").to_datetime(t["sold"]))
    frame.to_excel(tmp_path / "houses.xlsx", index=False)
    assert same(fitted(tmp_path / "houses.xlsx")[0], by_text)


def test_a_sheet_of_excel(tmp_path, plain):
    pandas = need("pandas")
    need("python_calamine"), need("openpyxl")
    with pandas.ExcelWriter(tmp_path / "houses.xlsx") as book:
        pandas.DataFrame({"nothing": [1]}).to_excel(book, sheet_name="notes", index=False)
        frame = pandas.DataFrame({"area": AREA, "rooms": ROOMS, "price": PRICE})
        frame.to_excel(book, sheet_name="2015", index=False)
    path = tmp_path / "houses.xlsx"
    assert same(fitted(path, sheet="2015")[0], plain)
    out = ("--target", "price", "--out", tmp_path / "m")
    run("fit", path, *out, *FEW, "--sheet", "2015")
    run("predict", tmp_path / "m", path, "--sheet", "2015", "--out", tmp_path / "p.csv")


def test_a_query_of_a_database(tmp_path, doors, by_text):
    query = ("--query", "select * from houses")
    path, model = doors["duckdb"], tmp_path / "m"
    run("fit", path, "--target", "price", "--out", model, *FEW, *query)
    run("predict", model, path, "--out", tmp_path / "p.csv", *query)
    assert same(fitted(path, query="select * from houses")[0], by_text)


def test_standard_input(tmp_path, doors):
    """As a program: only that has a standard input of bytes."""
    for source, model in (("-", "m"), (doors["csv"], "n")):
        arguments = ["fit", source, "--target", "price", "--out", tmp_path / model, *FEW]
        command = [sys.executable, "-m", "greedynet", *map(str, arguments)]
        text = doors["csv"].read_bytes()
        done = subprocess.run(command, input=text, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
    assert same(load(tmp_path / "m"), load(tmp_path / "n"))


def test_predictions_of_every_door_are_of_its_rows(tmp_path, doors, by_text):
    by_text.save(tmp_path / "m")
    wanted = by_text.predict(doors["csv"])
    for door in ("tsv", "gz", "zst", "parquet", "jsonl"):
        out = run("predict", tmp_path / "m", doors[door], "--out", "-", "--keep", "town").stdout
        lines = [line.split(",") for line in io.StringIO(out).read().splitlines()[1:]]
        found = np.array([float(line[1]) for line in lines])
        np.testing.assert_array_equal(found, wanted)
        assert [line[0] for line in lines] == list(doors["pandas"]["town"])
