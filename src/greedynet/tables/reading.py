"""How the text of a table is to be read: what was said at the fit holds for later files too."""

from collections.abc import Mapping
from typing import Any

from greedynet.tables.readers import Table, open_table, text_encoding

# Of `open_table`, as the model remembers them; the separator belongs to each file.
_REMEMBERED = ("decimal", "thousands")


def reading_record(
    table: Table, decimal: str, thousands: str | None, target: Mapping[str, Any]
) -> dict[str, Any]:
    """Return plain values for the file of a model.

    Parameters
    ----------
    table : Table
        The table of the fit.
    decimal, thousands
        As for `open_table`.
    target : mapping
        The `state` of the kind of the target.
    """
    return {
        "decimal": decimal,
        "thousands": thousands,
        "encoding": text_encoding(table),
        "target": dict(target),
    }


def open_as_fitted(about: Mapping[str, Any], source: Any, **given: Any) -> Table:
    """Open a table with the marks of numbers of the fit, and expect its encoding.

    Parameters
    ----------
    about : mapping
        The `about` of a model.
    source : str, path, data frame, mapping, Table, or iterable of these
        As for `open_table`; a `Table` that is open already is returned.
    **given
        Options of `open_table`. One mark of numbers that is not None replaces both of the fit.
    """
    if hasattr(source, "blocks"):
        return open_table(source, **given)
    remembered = about.get("reading") or {}
    if all(given.get(name) is None for name in _REMEMBERED):
        given |= {name: remembered.get(name) for name in _REMEMBERED}
    return open_table(source, **given, expected_encoding=remembered.get("encoding"))
