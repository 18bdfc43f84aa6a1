"""`CollapsedDisplay`: the collapsed ridgelet transform on the circle or the sphere."""

from greedynet.plots.collapsed.display import CollapsedDisplay

__all__ = ["CollapsedDisplay"]
