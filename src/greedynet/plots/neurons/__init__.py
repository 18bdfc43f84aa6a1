"""`NeuronsDisplay`: the kinks of a network."""

from greedynet.plots.neurons.display import NeuronsDisplay

__all__ = ["NeuronsDisplay"]
