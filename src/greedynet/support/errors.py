"""Warnings of the library."""


class FewerNodesWarning(UserWarning):
    """The network has fewer nodes than `n_nodes` asked for: the candidates ran out."""
