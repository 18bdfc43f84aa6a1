"""Empty cells of a large table: which columns keep an indicator of theirs."""

from dataclasses import replace

from greedynet.rows.missing import ENOUGH_ROWS
from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.encoding import Missing
from greedynet.tables.gaps import FitRows
from greedynet.tables.readers import Table
from greedynet.tables.training import first_rows


def with_telling_gaps(table: Table, types: ColumnTypes, missing: Missing) -> ColumnTypes:
    """Return the columns without indicators that say nothing of the target in the first rows.

    In a file that is sorted, the first rows may not be like the others.
    """
    if not any(types.inputs.are_indicators):
        return types
    data = first_rows(table, types, missing, ENOUGH_ROWS)
    learned = types.learned(data.X, data.y)
    found = FitRows(learned, data.filled(learned.inputs.means)).with_telling_gaps()
    return replace(types, inputs=found.types.inputs)
