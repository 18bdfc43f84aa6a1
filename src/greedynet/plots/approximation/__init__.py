"""`ApproximationDisplay`: a network and the data or function it approximates."""

from greedynet.plots.approximation.display import ApproximationDisplay

__all__ = ["ApproximationDisplay"]
