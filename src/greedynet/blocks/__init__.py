"""Rows that live in blocks: in memory, in files, on a cluster."""

from greedynet.blocks.base import Blocks, Survey, Surveyed, Work, summed
from greedynet.blocks.memory import MemoryBlocks, as_blocks, in_memory

__all__ = [
    "Blocks",
    "MemoryBlocks",
    "Survey",
    "Surveyed",
    "Work",
    "as_blocks",
    "in_memory",
    "summed",
]
