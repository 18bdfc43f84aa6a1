"""A last row that holds the totals of the rows above it, which is no case."""

import re
from typing import Any

from greedynet.support.duck import NUMBER, TEXT
from greedynet.tables.readers import Table
from greedynet.tables.readers.base import plain_sql
from greedynet.tables.readers.store import as_block_column

_FEWEST = 4  # rows
_WORD = re.compile(
    r"(?:grand |sub)?totals?:?|sum|summe|gesamt|insgesamt|all|overall", re.IGNORECASE
)
_CLOSE = 1e-6


def leave_out_totals(table: Table) -> str:
    """Leave out a last row of totals, and return what is said of it, "" if there is none.

    It is called a total, or lacks what all other rows have, and its numbers are the sums of those
    above.
    """
    store: Any = table.store()
    last = store.n_rows - 1
    if last < _FEWEST:
        return ""
    store.learn(table.names)
    cells = {name: store.cell(name) for name in table.names}
    names = list(cells)
    row = store.query(
        f"select {', '.join(f'cast({cells[n]} as varchar) as v{i}' for i, n in enumerate(names))} "
        f"from {{t}} where rowid = {last}"
    )
    values = (as_block_column(cells)[0] or None for cells in row.values())
    texts = dict(zip(names, values, strict=True))
    word = next((t for t in texts.values() if t and _WORD.fullmatch(t.strip())), None)
    gaps = [name for name, text in texts.items() if text is None]
    if word is None:
        counts = store.ask({name: [f"count({cells[name]}) = {last}"] for name in gaps})
        if not any(is_only_gap for (is_only_gap,) in counts.values()):
            return ""
    asked = {}
    for name in names:
        if store.kind(name) in (NUMBER, TEXT) and texts[name] is not None:
            number = cells[name] if store.kind(name) == NUMBER else plain_sql(cells[name])
            asked[name] = [
                f"sum(case when rowid < {last} then {number} end)",
                f"max(case when rowid = {last} then {number} end)",
            ]
    found = [pair for pair in store.ask(asked).values() if None not in pair and pair != (0, 0)]
    are_sums = [abs(above - total) <= _CLOSE * abs(total) for above, total in found]
    if not any(are_sums) or (word is None and not all(are_sums)):
        return ""
    table.drop_last_row()
    called = "" if word is None else f", {word!r},"
    return f"the last row{called} holds totals: left out; `keep_totals=True` keeps it"
