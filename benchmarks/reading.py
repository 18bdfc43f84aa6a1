"""Reading of text tables: ours against pandas and pyarrow.

    python benchmarks/reading.py [--repeats 5] [--megabytes 9]

Writes tables of numbers with 17 digits, of numbers with 4 digits, of numbers and categories, of
numbers with a decimal comma, with quotes inside quotes, which only the careful reader reads, and
one of 4 rows and 100,000 columns; then prints the median processor time of `pandas.read_csv` and
the ratio to it of

- pyarrow: `pyarrow.csv.read_csv`, on one thread; it reads no text as categories;
- reading: one pass over the file that reads every cell and counts the distinct ones;
- both passes: all that `fit_table` does before the fit, up to the matrix of features, in which
  categories are one-hot encoded;
- the same by the careful reader alone, that is without compiled code.

Compiled code is loaded before, and pandas imported; `startup.py` shows what that takes.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas
import pyarrow.csv

from greedynet.tables.columns import Columns, Input, encoded
from greedynet.tables.findings import Findings
from greedynet.tables.kinds import Categories, Numbers
from greedynet.tables.memory import TwoPasses
from greedynet.tables.readers.composed import MarksTable
from greedynet.tables.readers.delimited import DelimitedTable
from greedynet.tables.survey import survey

WIDE = 100_000


def numbers(rng, n, digits=17):
    return [f"{value:.{digits}g}" for value in rng.normal(size=n).tolist()]


def texts(rng, n, n_levels, name="level {}"):
    return rng.choice([name.format(i) for i in range(n_levels)], n).tolist()


def narrow(rng, megabytes, digits=17):
    n = int(megabytes * 1e6 / (9 * (digits + 3)))
    return {f"x{j}": numbers(rng, n, digits) for j in range(9)}


def mixed(rng, megabytes):
    n = int(megabytes * 1e6 / 143)
    table = {f"x{j}": numbers(rng, n) for j in range(6)}
    table |= {"color": texts(rng, n, 4), "city": texts(rng, n, 50), "code": texts(rng, n, 99, "{}")}
    return table | {"is_new": rng.choice(["True", "False"], n).tolist()}


def quoted(rng, megabytes):
    return mixed(rng, megabytes) | {"note": texts(rng, int(megabytes * 1e6 / 143), 5, '"a ""{}"""')}


def wide(rng, megabytes):
    return {f"x{j}": numbers(rng, 4) for j in range(WIDE)}


TABLES = {
    "17 digits": narrow,
    "4 digits": lambda rng, megabytes: narrow(rng, megabytes, 4),
    "mixed": mixed,
    "comma": narrow,
    "quotes": quoted,
    "4 x 100,000": wide,
}


def write(path, table, comma):
    lines = [";".join(row) for row in [list(table), *zip(*table.values(), strict=True)]]
    text = "\n".join(lines) + "\n"
    path.write_text(text.replace(".", ",") if comma else text.replace(";", ","))


def opened(path, comma, **options):
    table = DelimitedTable(path, ";" if comma else ",", **options)
    return MarksTable(table, ",") if comma else table


def both_passes(table):
    """Survey the columns and encode the rows, as `fit_table` does."""
    rows = TwoPasses(table)
    found = survey(rows, rows.names)
    inputs = [
        Input(name, Categories(tuple(sorted(column.distinct))) if column.text else Numbers())
        for name, column in found.items()
    ]
    columns = Columns(tuple(inputs))
    X = columns.zeros(found[rows.names[0]].rows)
    for _ in encoded(columns, rows, Findings(rows.label), out=X):
        pass
    return X


def seconds(functions, repeats):
    """Median processor time of each function, called in turn."""
    found = [[] for _ in functions]
    for _ in range(repeats):
        for times, function in zip(found, functions, strict=True):
            start = time.process_time()
            function()
            times.append(time.process_time() - start)
    return [statistics.median(times) for times in found]


def measure(name, path, repeats):
    comma = name == "comma"
    pandas_options = {"sep": ";", "decimal": ","} if comma else {}
    arrow = pyarrow.csv
    # A row of 100,000 columns must fit into a block.
    arrow_options = {
        "read_options": arrow.ReadOptions(use_threads=False, block_size=2**24),
        "parse_options": arrow.ParseOptions(delimiter=";" if comma else ","),
        "convert_options": arrow.ConvertOptions(decimal_point="," if comma else "."),
    }
    both_passes(opened(path, comma))  # loads compiled code
    theirs, arrows, reading, both, careful = seconds(
        [
            lambda: pandas.read_csv(path, **pandas_options),
            lambda: arrow.read_csv(path, **arrow_options),
            lambda: survey(table := opened(path, comma), table.names),
            lambda: both_passes(opened(path, comma)),
            lambda: both_passes(opened(path, comma, least_bytes=10**18)),
        ],
        repeats,
    )
    size = path.stat().st_size / 1e6
    ratios = "".join(f"{ours / theirs:10.1f}" for ours in (arrows, reading, both, careful))
    print(f"{name:12} {size:5.1f} MB {theirs:9.3f} s{ratios}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--megabytes", type=float, default=9.0)
    parser.add_argument("--tables", default=";".join(TABLES))
    arguments = parser.parse_args()
    print("table            size      pandas   pyarrow   reading      both   careful")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.tables.split(";"):
            path = Path(folder) / "table.csv"
            table = TABLES[name](np.random.default_rng(0), arguments.megabytes)
            write(path, table, name == "comma")
            measure(name, path, arguments.repeats)


if __name__ == "__main__":
    main()
