"""Warnings of the library."""


class FewerNodesWarning(UserWarning):
    """The network has fewer nodes than `n_nodes` asked for: the candidates ran out."""


class NotCorrectedWarning(UserWarning):
    """The neurons of a network could not be corrected together: it stays as grown."""
