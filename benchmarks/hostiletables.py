"""Text tables as they come, and worse: `draw(seed)` makes a CSV file, `verdict` fits it.

Promised is that `fit_table` raises a ValueError that says what is wrong with the file, or gives a
model that predicts the rows of the same file, or says of which row it cannot; and that no warning
escapes except those of the library. Tables have up to 30 rows; most have one or two oddities.
"""

import random
from dataclasses import dataclass, field

import numpy as np
from promises import BrokenPromiseError, no_other_warnings

from greedynet import fit_table, load

REFUSED, ANSWERED = "refused", "answered"
TARGET = "y"


@dataclass
class Attempt:
    """The bytes of a file, and the options with which to fit it."""

    data: bytes = field(repr=False)
    options: dict


# Cells


def _number(chance):
    return f"{chance.gauss(0, 1) * 10 ** chance.randint(-2, 3):.{chance.randint(0, 6)}f}"


COLUMNS = {
    "numbers": _number,
    "whole numbers": lambda chance: str(chance.randint(-50, 5000)),
    "few values": lambda chance: str(chance.randint(0, 2)),
    "colors": lambda chance: chance.choice(["red", "green", "blue", " red "]),
    "truth": lambda chance: chance.choice(["true", "false", "TRUE", "no"]),
    "dates": lambda chance: f"202{chance.randint(0, 9)}-0{chance.randint(1, 9)}-15",
    "times": lambda chance: f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}",
    "money": lambda chance: f"${chance.randint(1, 999)},{chance.randint(0, 999):03}",
    "per cent": lambda chance: f"{chance.randint(0, 100)} %",
    "decimal commas": lambda chance: f"{chance.randint(0, 99)},{chance.randint(0, 99)}",
    "thousands": lambda chance: f"{chance.randint(1, 9)}.{chance.randint(0, 999):03},5",
    "units": lambda chance: (
        f"{chance.randint(1, 9999):,} {chance.choice(['kg', 'kg', 'kg', 'lbs'])}"
    ),
    "months": lambda chance: (
        f"{chance.choice(['Jan', 'Feb', 'Dec', 'Mai'])}-{chance.randint(0, 99):02}"
    ),
    "quarters": lambda chance: f"{chance.randint(1990, 2030)}Q{chance.choice([1, 2, 3, 4, 4, 5])}",
    "slashes": lambda chance: f"{chance.randint(1, 13):02}/{chance.randint(1, 28):02}/20",
    "durations": lambda chance: f"{chance.randint(0, 30)}:{chance.randint(0, 60):02}",
    "hours": lambda chance: f"{chance.randint(0, 9)}h {chance.randint(0, 59)}m",
    "yes": lambda chance: chance.choice(["yes", "no", "Yes", "N"]),
    "marked": lambda chance: chance.choice(["n/a", "-", "?", ".", "1", "2.5", "77"]),
    "zeros": lambda chance: f"{chance.randint(0, 30):06}",
    "nothing": lambda chance: "",
    "keys": lambda chance: f"id{chance.randrange(10**6)}",
    "constant": lambda chance: "7",
    "all scales": lambda chance: f"{chance.choice([1, -1])}e{chance.randint(-330, 330)}",
    "umlauts": lambda chance: chance.choice(["Köln", "Zürich", "Łódź", "北京", "🙂"]),
}
ODD = [
    *(
        "",
        "NA",
        "nan",
        "NaN",
        "null",
        "None",
        "-",
        "?",
        "inf",
        "-inf",
        "Infinity",
        "1e400",
        "1e-400",
    ),
    *("1_000", "0x1F", "١٢", "1.2.3", "--1", "+5", ".5", "5.", "1e", "1,5", "1 000", "0" * 400),
    *("=1+1", "a" * 5000, "'", '"', '""', '"a,b"', '"a\nb"', '"open', "\\", "\t", "\0", "\ufeff"),
    *("9" * 400, "-0.0", "TRUE", "2024-13-45", "\u00a0", " 3 ", "3\r"),
]


def _column(chance, n):
    usual = ["numbers", "few values", "colors"]
    kind = chance.choice(list(COLUMNS) if chance.random() < 0.3 else usual)
    return [COLUMNS[kind](chance) for _ in range(n)]


def _table(chance):
    """Return a header and rows of cells."""
    n = chance.choice([12, 20, 30]) if chance.random() < 0.9 else chance.choice([0, 1, 2, 5])
    d = chance.randint(1, 5)
    columns = [_column(chance, n) for _ in range(d + 1)]
    header = [f"column{j}" for j in range(d)] + [TARGET]
    return header, [list(row) for row in zip(*columns, strict=True)]


# Oddities of a file


def _odd_cells(chance, header, rows):
    for row in rows:
        for j in range(len(row)):
            if chance.random() < 0.02:
                row[j] = chance.choice(ODD)


def _empty_cells(chance, header, rows):
    j = chance.randrange(len(header))
    for row in rows:
        if chance.random() < 0.2:
            row[j : j + 1] = [""]


def _ragged(chance, header, rows):
    if rows:
        row = chance.choice(rows)
        chance.choice([lambda: row[-1:] and row.pop(), lambda: row.append("1"), row.clear])()


def _header(chance, header, rows):
    chance.choice(
        [
            lambda: header.__setitem__(0, header[-1]),
            lambda: header.__setitem__(0, ""),
            lambda: header.__setitem__(0, chance.choice(ODD)),
            lambda: header.clear(),
            lambda: header.pop(),
            lambda: header.reverse(),
            lambda: rows.insert(0, list(header)),
        ]
    )()


def _one_column(chance, header, rows):
    for row in (header, *rows):
        del row[:-1]


def _titles(chance, header, rows):
    rows.insert(0, list(header))
    header[:] = chance.choice([["Prices of 2015"], ["Source: the town", "2015"], [""], ["1"]])
    if chance.random() < 0.5:
        rows.insert(0, [])


def _totals(chance, header, rows):
    sums = [f"{chance.randint(0, 9999)}" for _ in header]
    rows.append([chance.choice(["Total", "Sum", "total:", "Gesamt"]), *sums[1:]])


ODDITIES = [*[_odd_cells] * 3, *[_empty_cells] * 3, _ragged, _header, _one_column, _titles, _totals]


def _written(chance, header, rows):
    """Return the bytes of a table, with separators, ends of lines and an encoding."""
    separator = chance.choice([",", ",", ",", ";", ";", "\t", "|"])
    end = chance.choice(["\n"] * 5 + ["\r\n"] * 3 + ["\r"])
    careless, quoted = chance.random() < 0.1, chance.random() < 0.2
    needs = lambda c: not careless and (quoted or separator in c)  # noqa: E731
    cells = [[f'"{c}"' if needs(c) else c for c in row] for row in (header, *rows)]
    lines = [separator.join(row) for row in cells]
    if chance.random() < 0.1:
        lines.insert(chance.randint(0, len(lines)), "")
    text = end.join(lines) + (end if chance.random() < 0.8 else "")
    encodings = ["utf-8"] * 15 + ["latin-1", "cp1252", "utf-16", "utf-8-sig", "utf-16-le"]
    data = text.encode(chance.choice(encodings), errors="replace")
    if chance.random() < 0.06 and data:
        start = chance.randrange(len(data))
        data = data[:start] + chance.randbytes(chance.choice([1, 3, 50])) + data[start + 1 :]
    return data[: chance.randrange(len(data) + 1)] if chance.random() < 0.05 else data


def _options(chance):
    found = {"n_nodes": chance.choice([2, 3, 4]), "n_jobs": 1, "correct": chance.random() < 0.3}
    if chance.random() < 0.7:
        found["missing"] = chance.choice(["drop", "mean"])
    if chance.random() < 0.2:
        found["classes"] = True
    if chance.random() < 0.1:
        found["hold_out"] = 0.2
    if chance.random() < 0.1:
        found["decimal"] = ","
    if chance.random() < 0.1:
        found[chance.choice(["ignore", "text"])] = "column0"
    return found


def draw(seed):
    """Return the attempt of a seed."""
    chance = random.Random(seed)
    header, rows = _table(chance)
    for _ in range(chance.choice([0, 0, 0, 1, 1, 2])):
        if header:
            chance.choice(ODDITIES)(chance, header, rows)
    return Attempt(_written(chance, header, rows), _options(chance))


# What becomes of it


def verdict(attempt, folder):
    """Fit the file; return what came of it, or raise what is wrong."""
    path, saved = folder / "table.csv", folder / "model"
    path.write_bytes(attempt.data)
    with no_other_warnings():
        model = _or_said(lambda: fit_table(path, TARGET, **attempt.options))
        if model is None:
            return REFUSED
        model.summary()
        model.save(saved)
        found = _or_said(lambda: model.predict(path))
        again = _or_said(lambda: load(saved).predict(path))
    if (found is None) != (again is None) or (found is not None and (found != again).any()):
        raise BrokenPromiseError("the saved model predicts something else")
    if found is not None and found.dtype.kind == "f" and not np.isfinite(found).all():
        raise BrokenPromiseError("predictions are not finite")
    return ANSWERED


def _or_said(call):
    """Return what the call returns; None if it raises an error that says what is wrong."""
    try:
        return call()
    except ValueError as error:
        # The library's own errors name an argument, a file, a row or a column.
        if any(word in str(error) for word in ("`", "table.csv", "row", "column", "line")):
            return None
        raise
