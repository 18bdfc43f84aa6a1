"""Warnings of the library."""


class FewerNodesWarning(UserWarning):
    """The network has fewer nodes than requested by `n_nodes`: the candidates are exhausted."""


class UnlearnedGapWarning(UserWarning):
    """Values are missing in a column that had all of them in training: the mean was inserted."""


class NotCorrectedWarning(UserWarning):
    """The neurons of a network could not be corrected jointly: it is kept as grown."""


class FewHeldOutRowsWarning(UserWarning):
    """Too few rows were held out for the coverage of an interval or of a set of classes."""


class TableWarning(UserWarning):
    """What was assumed about a table whose cells or letters could be meant otherwise."""


class CheckpointWarning(UserWarning):
    """The file of a checkpoint cannot be written, as on a full disk: the fit goes on without."""
