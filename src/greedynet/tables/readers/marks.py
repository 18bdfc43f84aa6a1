"""Numbers as people write them: `$228,704`, `(1 234.50)`, `40 %`; and which mark means what.

The decimal mark is a point here. Tables with decimal commas are rewritten by `with_point`, so that
one set of rules is enough.
"""

import re
from dataclasses import dataclass

CURRENCIES = "$€£¥₹₽₩₺₪"
_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK"

# Marks between groups of three digits, each with others that look the same.
_MARKS = {",": ",", "'": "'\u2019", " ": " \u00a0\u202f"}
_ANY_MARK = "".join(_MARKS.values())
_SIGN = "[-+\u2212]"
_GROUPED = re.compile(
    rf"(?P<first>\d{{1,3}})(?P<rest>(?P<mark>[{_ANY_MARK}])\d{{3}}"
    r"(?:(?P=mark)\d{3})*)"
    r"(?P<fraction>\.\d*)?"
)
_PLAIN = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
# What a decimal comma looks like, with groups of thousands or without.
_COMMA = re.compile(
    rf"(?:\d{{1,3}}(?:[.{_ANY_MARK[1:]}]\d{{3}})+|\d+),\d*|,\d+|\d{{1,3}}(?:\.\d{{3}}){{2,}}"
)

_AROUND = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>{_SIGN})?\s*(?P<left>[{CURRENCIES}]|(?:{_CODES})(?=[\s\d-]))?\s*"
    rf"(?P<sign2>{_SIGN})?\s*(?P<core>[\d.,][\d.{_ANY_MARK}]*?(?:[eE][+-]?\d+)?)\s*"
    rf"(?P<right>[{CURRENCIES}%]|{_CODES})?\s*(?P<close>\))?"
)

_SWAP = str.maketrans(",.", ".,")


@dataclass(frozen=True)
class Marked:
    """A number with the marks it was written with.

    Attributes
    ----------
    value : float
        The number; that of `40 %` is 40. NaN if it is written with a decimal comma.
    thousands : str
        The mark between groups of three digits, or "".
    is_sure : bool
        Whether that mark cannot be a decimal one: it comes twice, or with a decimal point.
    currency : str
        `$` or `EUR`, for example, or "".
    has_decimal_comma : bool
        Whether it is a number only if its comma is read as a decimal one.
    """

    value: float
    thousands: str = ""
    is_sure: bool = False
    currency: str = ""
    percent: bool = False
    has_point: bool = False
    has_decimal_comma: bool = False


def read_marked(cell: str) -> Marked | None:
    """Return a cell as a number with its marks, or None if it is none."""
    found = _AROUND.fullmatch(cell.strip())
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    signs = [s for s in (found["open"], found["sign"], found["sign2"]) if s is not None]
    if len(signs) > 1 or (found["left"] and found["right"]):
        return None  # -(-5), or $5 %
    right = found["right"] or ""
    currency = found["left"] or right.strip("%")
    percent = right == "%"
    sign = -1.0 if signs and signs[0] != "+" else 1.0
    core = found["core"]
    if _PLAIN.fullmatch(core):
        value = sign * float(core)
        return Marked(value, currency=currency, percent=percent, has_point="." in core)
    grouped = _GROUPED.fullmatch(core)
    if grouped is not None:
        written, fraction = grouped["mark"], grouped["fraction"] or ""
        mark = next(mark for mark, alike in _MARKS.items() if written in alike)
        value = sign * float(grouped["first"] + grouped["rest"].replace(written, "") + fraction)
        # 0,144 and 007,144 are no thousands.
        if not grouped["first"].startswith("0"):
            is_sure = mark != "," or bool(fraction) or grouped["rest"].count(written) > 1
            return Marked(value, mark, is_sure, currency, percent, bool(fraction))
    if _COMMA.fullmatch(core):
        return Marked(float("nan"), "", False, currency, percent, False, True)
    return None


def with_point(cell: str) -> str:
    """Return a number with points for commas and commas for points, other texts unchanged."""
    if "," not in cell and "." not in cell:
        return cell
    other = cell.translate(_SWAP)
    found = read_marked(other)
    return cell if found is None or found.has_decimal_comma else other


def without_thousands(cell: str, mark: str) -> str:
    """Return a number without the marks between its groups of digits, other texts unchanged."""
    found = read_marked(cell)
    if found is None or found.thousands != mark:
        return cell
    return re.sub(rf"(?<=\d)[{_MARKS[mark]}](?=\d)", "", cell)
