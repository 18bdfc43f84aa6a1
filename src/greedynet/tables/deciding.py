"""What a column holds, decided from a survey of its cells: numbers, dates, durations or text."""

from greedynet.tables.kinds import Kind, Numbers
from greedynet.tables.kinds.base import MOSTLY, TextTally, Wording
from greedynet.tables.readers import TableError
from greedynet.tables.survey import Survey, TextTallies


def wording_of_input(label: str, name: str, decimal: str = ".") -> Wording:
    """Return the words for a column to predict from."""
    return Wording(
        f"{label}: column {name!r}",
        f"`text={name!r}` to treat them as text",
        f"correct or empty such cells, or drop the column with `ignore={name!r}`, or with "
        f"`text={name!r}` treat it as text",
        decimal,
    )


def wording_of_target(label: str, name: str, decimal: str = ".") -> Wording:
    """Return the words for the column to predict."""
    return Wording(
        f"{label}: the target {name!r}",
        "`classes=True` to treat them as text",
        'correct such cells, empty them and write `missing="drop"`, or write `classes=True` to '
        "treat it as text",
        decimal,
    )


def decide(found: Survey, words: Wording, dates: str | None = None) -> tuple[Kind | None, str]:
    """Return the kind of a column, None for categories, and what was assumed, if anything.

    Nine in ten of the cells decide; the first that is different is then an error.

    Parameters
    ----------
    found : Survey
        The cells.
    words : Wording
        For errors: cells that cannot be read, or could be meant in several ways.
    dates : {"dmy", "mdy"} or None
        The order of day and month, if the user has told it.
    """
    texts, enough = found.texts, MOSTLY * found.full
    if texts is None:
        return Numbers(), ""
    if found.numbers + texts.notation.n + texts.notation.n_commas >= enough:
        return _numbers(found, texts, words)
    if texts.dates.n >= enough:
        _refuse_others(found, texts.dates, "dates", words)
        return texts.dates.decide(words, dates)
    if texts.durations.n >= enough:
        _refuse_others(found, texts.durations, "durations", words)
        return texts.durations.decide(words)
    return None, ""


def _numbers(found: Survey, texts: TextTallies, words: Wording) -> tuple[Kind, str]:
    notation = texts.notation
    if notation.comma is not None:
        cell, row = notation.comma
        raise TableError(
            f"{words.what} holds {notation.n_commas:,} cells such as {cell!r} (data row {row}): if "
            f'the comma is a decimal one, write `decimal=","`, or {words.as_text}.'
        )
    _refuse_others(found, notation, "numbers", words)
    return notation.decide(words, found.plain)


def _refuse_others(found: Survey, tally: TextTally, nouns: str, words: Wording) -> None:
    """Raise an error for cells that are not like most of the column."""
    n_read = tally.n + (found.numbers if nouns == "numbers" else 0)
    if n_read == found.full:
        return
    # Numbers among dates are no texts, and not in the tally.
    cell, row = tally.other or (f"{found.plain.low:.10g}", None)
    where = "elsewhere" if row is None else f"in data row {row}"
    raise TableError(f"{words.what} has {n_read:,} {nouns}, but {cell!r} {where}: {words.remedy}.")
