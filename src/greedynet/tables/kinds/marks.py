"""Numbers as people write them: `$228,704`, `(1 234.50)`, `40 %`; and which mark means what.

The rules are those of decimal points; where the decimal mark is a comma, both are exchanged before
and after.
"""

import re
from dataclasses import dataclass, replace

CURRENCIES = "$€£¥₹₽₩₺₪"
_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK"

# Marks between groups of three digits, each with others that look the same.
ALIKE = {",": ",", "'": "'\u2019", " ": " \u00a0\u202f"}
_ANY_MARK = "".join(ALIKE.values())
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

# A word behind a number, such as sqft or km/h; a letter without a space may be a part of a code.
_UNIT = (
    r"[A-Za-z\u00b5\u00b0\u03a9][A-Za-z/\u00b5\u00b0\u00b2\u00b3\u03a9]{1,11}\.?|(?:m|ft|cm|km|in)[23]|"
    r"(?<=\s)[A-Za-z]"
)

_AROUND = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>{_SIGN})?\s*(?P<left>[{CURRENCIES}]|(?:{_CODES})(?=[\s\d-]))?\s*"
    rf"(?P<sign2>{_SIGN})?\s*(?P<core>[\d.,][\d.{_ANY_MARK}]*?(?:[eE][+-]?\d+)?)\s*"
    rf"(?P<right>[{CURRENCIES}%]|{_CODES}|{_UNIT})?\s*(?P<close>\))?"
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
    unit : str
        `sqft`, for example, or "".
    """

    value: float
    thousands: str = ""
    is_sure: bool = False
    currency: str = ""
    percent: bool = False
    has_point: bool = False
    has_decimal_comma: bool = False
    unit: str = ""


def read_marked(cell: str, decimal: str = ".") -> Marked | None:
    """Return a cell as a number with its marks, or None if it is none."""
    if decimal == ",":
        found = _read(cell.translate(_SWAP))
        return None if found is None else replace(found, thousands=found.thousands.translate(_SWAP))
    return _read(cell)


def _read(cell: str) -> Marked | None:
    found = _AROUND.fullmatch(cell.strip())
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    signs = [s for s in (found["open"], found["sign"], found["sign2"]) if s is not None]
    if len(signs) > 1 or (found["left"] and found["right"]):
        return None  # -(-5), or $5 %
    right = found["right"] or ""
    percent = right == "%"
    is_currency = right in CURRENCIES or right in _CODES.split("|")
    unit = "" if percent or is_currency else right
    currency = found["left"] or ("" if percent or unit else right)
    sign = -1.0 if signs and signs[0] != "+" else 1.0
    core = found["core"]
    if _PLAIN.fullmatch(core):
        value = sign * float(core)
        return Marked(value, currency=currency, percent=percent, has_point="." in core, unit=unit)
    grouped = _GROUPED.fullmatch(core)
    if grouped is not None:
        written, fraction = grouped["mark"], grouped["fraction"] or ""
        mark = next(mark for mark, alike in ALIKE.items() if written in alike)
        value = sign * float(grouped["first"] + grouped["rest"].replace(written, "") + fraction)
        # 0,144 and 007,144 are no thousands.
        if not grouped["first"].startswith("0"):
            is_sure = mark != "," or bool(fraction) or grouped["rest"].count(written) > 1
            return Marked(value, mark, is_sure, currency, percent, bool(fraction), unit=unit)
    if _COMMA.fullmatch(core):
        return Marked(float("nan"), "", False, currency, percent, False, True, unit)
    return None
