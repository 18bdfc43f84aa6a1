"""Text tables: a careful reader of every file, and compiled code for large plain ones.

`table` holds the reader, which the rest of the library sees; `plain` reads what is plain; `split`,
`numbers` and `distinct` are its compiled parts, and `cells` the columns that it yields.
"""

from greedynet.tables.readers.delimited.encodings import known_encoding
from greedynet.tables.readers.delimited.table import DelimitedTable

__all__ = ["DelimitedTable", "known_encoding"]
