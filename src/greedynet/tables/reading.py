"""How the text of a table is to be read: what was said at the fit holds for later files too."""

from collections.abc import Mapping
from typing import Any

# Of `open_table`, as the model remembers them; the separator and the encoding belong to each file.
_REMEMBERED = ("decimal", "thousands")


def reading_record(
    decimal: str, thousands: str | None, target: Mapping[str, Any]
) -> dict[str, Any]:
    """Return plain values for the file of a model.

    Parameters
    ----------
    decimal, thousands
        As for `open_table`.
    target : mapping
        The `state` of the kind of the target.
    """
    return {"decimal": decimal, "thousands": thousands, "target": dict(target)}


def reading_of(
    about: Mapping[str, Any], decimal: str | None = None, thousands: str | None = None
) -> dict[str, Any]:
    """Return `decimal` and `thousands` for `open_table`: as given, else as at the fit.

    Parameters
    ----------
    about : mapping
        The `about` of a model.
    decimal, thousands : str or None
        What is said about a file; None for nothing.
    """
    given = {"decimal": decimal, "thousands": thousands}
    if any(mark is not None for mark in given.values()):
        return given
    remembered = about.get("reading") or {}
    return {name: remembered.get(name) for name in _REMEMBERED}
