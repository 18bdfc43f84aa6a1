"""DuckDB: connections that load no extensions, and SQL from names and texts that others chose."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# On many systems /tmp is memory; this folder is not.
_ON_DISK = Path("/var/tmp")
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
