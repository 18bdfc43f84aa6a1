"""DuckDB: connections that load no extensions, and SQL from names and texts that others chose."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# On many systems /tmp is memory; this folder is not.
_ON_DISK = Path("/var/tmp")
# What becomes of a type of DuckDB.
TEXT, NUMBER, MOMENT, SPAN = "text", "number", "moment", "span"
# DuckDB needs some memory for each thread, however little a user allows for the rows.
_LEAST_MEMORY = 2**27


def connect(database: str = ":memory:", memory_limit: float | None = None, **config: Any) -> Any:
    """Return a connection that downloads and loads nothing, and keeps the order of rows.

    What does not fit into `memory_limit` bytes is written to a temporary folder, which is removed
    with the connection.
    """
    import duckdb

    folder = os.path.join(
        scratch_folder() or tempfile.gettempdir(), f"greedynet-{os.urandom(8).hex()}"
    )
    config |= {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": folder,
    }
    if memory_limit is not None:
        config["memory_limit"] = f"{int(max(memory_limit, _LEAST_MEMORY))}B"
    connection = duckdb.connect(database, config=config)
    connection.execute("set TimeZone = 'UTC'").fetchall()
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
