"""`ApproximationDisplay`: a network beside what it approximates."""

from greedynet.plots.approximation.display import ApproximationDisplay

__all__ = ["ApproximationDisplay"]
