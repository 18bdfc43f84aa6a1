"""DuckDB: connections that load no extensions, and SQL from names and texts that others chose."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

# On many systems /tmp is memory; this folder is not.
_ON_DISK = Path("/var/tmp")
# What becomes of a type of DuckDB.
TEXT, NUMBER, MOMENT, SPAN = "text", "number", "moment", "span"
# What DuckDB needs for each thread.
_OF_THREAD = 2**25


def connect(memory_limit: float | None = None) -> Any:
    """Return a connection that downloads and loads nothing, and keeps the order of rows.

    What does not fit into `memory_limit` bytes is written to a temporary folder, which is removed
    with the connection.
    """
    import duckdb

    folder = os.path.join(
        scratch_folder() or tempfile.gettempdir(), f"greedynet-{os.urandom(8).hex()}"
    )
    config: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": folder,
    }
    if memory_limit is not None:
        n_threads = min(os.cpu_count() or 1, int(memory_limit) // _OF_THREAD)
        config |= {"memory_limit": f"{int(memory_limit)}B", "threads": max(1, n_threads)}
    connection = duckdb.connect(config=config)
    # A bar of its progress would be printed among the output of a program.
    connection.execute("set TimeZone = 'UTC'; set enable_progress_bar = false").fetchall()
    weakref.finalize(connection, shutil.rmtree, folder, ignore_errors=True)
    return connection


@contextmanager
def explained(label: str, what: str, raised: type[ValueError]) -> Iterator[None]:
    """Say which data cannot be read as what, instead of an error of DuckDB."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        reason = str(error).splitlines()[0].partition(": ")[2]
        raise raised(f"{label} cannot be read as {what}: {reason}") from None


def scratch_folder() -> str | None:
    """Return the folder of large temporary files: the one that was chosen, or one on a disk."""
    if any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")):
        return None
    return str(_ON_DISK) if os.access(_ON_DISK, os.W_OK) else None


def quoted(name: str) -> str:
    """Return the name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Iterable[str]) -> str:
    """Return several texts in SQL, between commas."""
    return ", ".join(map(literal, texts))


def kind_of(sql_type: str) -> str:
    """Return what becomes of a type: texts, numbers, moments or spans of time."""
    head = "" if sql_type.endswith("]") else sql_type.partition("(")[0].strip().upper()
    if head.endswith("INT") or head in ("INTEGER", "DOUBLE", "FLOAT", "REAL", "DECIMAL", "BIGNUM"):
        return NUMBER
    if head in ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"):
        return MOMENT
    return SPAN if head == "INTERVAL" else TEXT


def as_double(column: str, sql_type: str) -> str:
    """Return the SQL of a number as float64; of decimals, the text is rounded once."""
    is_wide = sql_type.partition("(")[0].strip().upper() in ("DECIMAL", "HUGEINT", "UHUGEINT")
    return f"cast(cast({column} as varchar) as double)" if is_wide else f"cast({column} as double)"


# Of one query that is prepared.
_MOST_TEXTS = 1000
_LOCK = Lock()


@cache
def _shared(process: int) -> tuple[Any, dict[str, str]]:
    """Return a connection, which does not survive a fork, and its prepared queries."""
    return connect(), {}


def evaluate(
    expression: Callable[[str], str], texts: Sequence[str], kind: str = "f"
) -> NDArray[Any]:
    """Return the values of an expression of texts, NaN or NaT where it is null.

    `kind` is that of NumPy: "f" for numbers, "M" and "m" for moments and spans of time. Planning a
    query takes longer than reading a text, so it is prepared once.
    """
    value = f"case when v <> '' then {expression('v')} end"
    sql = f"select {value} as x from (select unnest($1::varchar[]) as v)"
    dtype = "f8" if kind == "f" else f"{kind}8[us]"
    found = [np.zeros(0, dtype)]
    with _LOCK:
        connection, prepared = _shared(os.getpid())
        if sql not in prepared:
            name = f"q{len(prepared)}"
            connection.execute(f"prepare {name} as {sql}")
            prepared[sql] = name
        for start in range(0, len(texts), _MOST_TEXTS):
            given = f"[{literals(texts[start : start + _MOST_TEXTS])}]"
            arrays = connection.execute(f"execute {prepared[sql]}({given})").fetchnumpy()
            values = np.ma.getdata(arrays["x"]).astype(dtype)
            values[np.ma.getmaskarray(arrays["x"])] = "nan" if kind == "f" else "NaT"
            found.append(values)
    return np.concatenate(found)
