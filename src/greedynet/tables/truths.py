"""True and false: the texts that stand for them, of which a column is one input of ones and zeros.

Files of typed columns hold them as such, and every reader writes them as text; so a table gives the
same inputs whichever way it comes.
"""

from collections.abc import Collection

_WORDS = {"true": 1, "false": 0}
# In a column that was learned as true and false.
_NUMBERS = {"1": 1, "0": 0, "1.0": 1, "0.0": 0}

EMPTY_CELL, OTHER = -1, -2


def are_truths(texts: Collection[str] | None) -> bool:
    """Whether the distinct texts of a column are true and false, or one of them."""
    return bool(texts) and all(text.lower() in _WORDS for text in texts or ())


def truth_of(text: str) -> int:
    """Return 1 for true, 0 for false, `EMPTY_CELL` for an empty text and `OTHER` for any other."""
    if not text:
        return EMPTY_CELL
    return _WORDS.get(text.lower(), _NUMBERS.get(text, OTHER))
