"""Parquet files -> partitions, which the workers read themselves; they need the files, too."""

from pathlib import Path
from typing import Any

from dask.delayed import delayed

from greedynet.dask.collections import Partitions
from greedynet.rows.arrow import ArrowPart
from greedynet.rows.blocks.parquet import ParquetColumns, check_parquet, parquet_reader
from greedynet.rows.blocks.prepare import Raw


def partitions_of_files(path: Path, y: Any, sample_weight: Any) -> Partitions:
    """Return one partition for each group of rows of a Parquet file, or of a folder of them.

    Parameters
    ----------
    path : Path
    y : str or list of str
        Column or columns to predict.
    sample_weight : str or None
        Column of weights.
    """
    check_parquet(
        path,
        f"`frame = dask.dataframe.read_csv({path.name!r})` and pass its columns, or write it to "
        "Parquet first",
    )
    reader = parquet_reader(path, y, sample_weight)
    columns = reader.columns
    raws = [_read(part, columns) for part in reader.rows.parts()]
    places = (0, 1) if columns.weight is None else (0, 1, 2)
    pieces = [tuple(raw[place] for place in places) for raw in raws]
    shape = () if len(columns.targets) == 1 else (len(columns.targets),)
    return Partitions(pieces, len(columns.features), shape, columns.features)


@delayed(pure=False)
def _read(part: ArrowPart, columns: ParquetColumns) -> Raw:
    """Read a part; this runs on the worker that will hold it."""
    return columns.raw(part.read(columns.names))
