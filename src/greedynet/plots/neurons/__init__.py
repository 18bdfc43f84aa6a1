"""`NeuronsDisplay`: where a network has its kinks."""

from greedynet.plots.neurons.display import NeuronsDisplay

__all__ = ["NeuronsDisplay"]
