"""Blocks: rows in memory, in files or on a cluster, over which a fit computes sums.

May import `support` and the rest of `rows`; knows nothing of networks.
"""

from greedynet.rows.blocks.base import (
    DEFAULT_SIZES,
    Blocks,
    BlockSizes,
    ChangedBlocks,
    MemoryBlocks,
    RowSurvey,
    Surveyed,
    Work,
    as_blocks,
    in_memory,
    summed,
)
from greedynet.rows.blocks.prepare import Labels, Preparation
from greedynet.rows.blocks.readers import gives_blocks, input_blocks, parquet_inputs, reader_of
from greedynet.rows.blocks.source import Source, SourceBlocks, StreamSource, joined

__all__ = [
    "DEFAULT_SIZES",
    "BlockSizes",
    "Blocks",
    "ChangedBlocks",
    "Labels",
    "MemoryBlocks",
    "Preparation",
    "RowSurvey",
    "Source",
    "SourceBlocks",
    "StreamSource",
    "Surveyed",
    "Work",
    "as_blocks",
    "gives_blocks",
    "in_memory",
    "input_blocks",
    "joined",
    "parquet_inputs",
    "reader_of",
    "summed",
]
