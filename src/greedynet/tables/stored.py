"""What a model file says of its table: every field is checked when it is loaded."""

import base64
import json
import math
import zlib
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from greedynet.tables.columns import Columns, Missing
from greedynet.tables.kinds import from_state
from greedynet.tables.readers import MARKS

Check = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_unicode(value: Any) -> bool:
    """Whether all texts can be printed and written, which half a surrogate pair cannot."""
    try:
        return bool(json.dumps(value, ensure_ascii=False, default=str).encode())
    except UnicodeEncodeError:
        return False


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_text, value))


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _is_date(value: Any) -> bool:
    try:
        return _is_text(value) and bool(datetime.fromisoformat(value))
    except ValueError:
        return False


# Fields of `about`, all of which may be absent: what they must be, in a test and in words.
_FIELDS: dict[str, tuple[Check, str]] = {
    "created": (_is_date, "a date"),
    "source": (_is_text, "a text"),
    "assumed": (_are_texts, "texts"),
    "noticed": (_are_texts, "texts"),
    "groups": (_is_text, "a text"),
    "weights": (_is_text, "a text"),
    "time": (_is_text, "a text"),
    "rows": (_is_count, "a whole number"),
    "left_out": (_is_count, "a whole number"),
    "in_blocks": (_is_flag, "true or false"),
    "totals": (_is_flag, "true or false"),
    "seconds": (_is_number, "a number"),
}
_READING: dict[str, tuple[Check, str]] = {
    "decimal": (lambda value: value in (None, ".", ","), "'.' or ','"),
    "thousands": (lambda value: value is None or value in MARKS, f"one of {MARKS}"),
    "encoding": (_optional(_is_text), "a text"),
    "na": (_are_texts, "texts"),
    "target_gaps": (_are_texts, "texts"),
}
_HELD_OUT: dict[str, tuple[Check, str]] = {
    "rows": (_is_count, "a whole number"),
    "of": (_is_count, "a whole number"),
    "check": (_is_count, "a whole number"),
    "how": (_is_text, "a text"),
    "mask": (_is_text, "a text"),
    "measure": (_is_text, "a text"),
}


def table_of(tree: Mapping[str, Any]) -> tuple[Columns, str | None, Missing, dict[str, Any]]:
    """Return columns, target, treatment of empty cells and origin from the fields of a file."""
    for field in ("columns", "target", "about"):
        _require(field, _is_unicode(tree[field]), "of valid Unicode", tree[field])
    _check_inputs(tree["columns"])
    _require("target", _optional(_is_text)(tree["target"]), "a text", tree["target"])
    missing = tree["missing"]
    known = (None, "learn", "drop", "mean")
    _require("missing", missing is None or missing in known, f"one of {known}", missing)
    about = _mapping("about", tree["about"])
    _check_fields("about", about, _FIELDS)
    reading = _mapping("about['reading']", about.get("reading") or {})
    _check_fields("about['reading']", reading, _READING)
    if "target" in reading:
        from_state(_mapping("about['reading']['target']", reading["target"]))
    for part in ("training", "validation", "held_out"):
        if about.get(part) is not None:
            _check_scores(f"about[{part!r}]", _mapping(f"about[{part!r}]", about[part]))
    return Columns.from_state(tree["columns"]), tree["target"], missing, dict(about)


def _require(field: str, is_right: bool, wanted: str, got: Any) -> None:
    if not is_right:
        raise ValueError(f"`{field}` must be {wanted}, got {got!r:.80}.")


def _mapping(field: str, value: Any) -> Mapping[str, Any]:
    is_right = isinstance(value, Mapping) and all(map(_is_text, value))
    _require(field, is_right, "a mapping from names to values", value)
    found: Mapping[str, Any] = value
    return found


def _check_fields(
    field: str, values: Mapping[str, Any], fields: Mapping[str, tuple[Check, str]]
) -> None:
    for name, (check, wanted) in fields.items():
        if name in values:
            _require(f"{field}[{name!r}]", check(values[name]), wanted, values[name])


def _check_scores(field: str, scores: Mapping[str, Any]) -> None:
    """Raise an error unless scores are numbers, and rows that were set aside can be found."""
    of_rows = {name: scores[name] for name in _HELD_OUT if name in scores}
    _check_fields(field, of_rows, _HELD_OUT)
    for name, value in scores.items():
        if name not in of_rows:
            _require(f"{field}[{name!r}]", _optional(_is_number)(value), "a number", value)
    if "measure" in scores:
        _require(f"{field}['measure']", scores["measure"] in scores, "a score", scores["measure"])
    if "mask" in scores:
        try:
            bits = zlib.decompress(base64.b64decode(scores["mask"], validate=True))
        except (ValueError, zlib.error):
            bits = b""
        n_bytes = (scores.get("of", 0) + 7) // 8
        _require(f"{field}['mask']", len(bits) == n_bytes, f"{n_bytes} packed bytes", bits)


def _check_inputs(columns: Any) -> None:
    """Raise an error unless columns are as `Input.state` describes them."""
    _require("columns", isinstance(columns, list | tuple), "a list", columns)
    names = []
    for i, column in enumerate(columns):
        field = f"columns[{i}]"
        state = _mapping(field, column)
        fields = {
            "name": (_is_text, "a text"),
            "gaps": (_is_flag, "true or false"),
            "gaps_of": (_optional(_is_text), "a text"),
            "na": (_are_texts, "texts"),
        }
        _check_fields(field, state, fields)
        kind = from_state(_mapping(f"{field}['kind']", state["kind"]))
        means = state["means"]
        are_means = isinstance(means, list | tuple) and all(map(_is_number, means))
        wanted = f"{kind.n_features} finite numbers, or none"
        is_right = are_means and len(means) in (0, kind.n_features)
        _require(f"{field}['means']", is_right, wanted, means)
        names.append(state["name"])
    _require("columns", len(set(names)) == len(names), "of different names", names)
    have_means = {len(column["means"]) > 0 for column in columns}
    _require("columns", len(have_means) < 2, "with means, all or none", names)
    for i, column in enumerate(columns):
        of = column["gaps_of"]
        _require(f"columns[{i}]['gaps_of']", of is None or of in names, "one of the columns", of)
