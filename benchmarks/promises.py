"""What all attempts to break the library share: the error, and the warnings that may escape."""

import warnings
from contextlib import contextmanager

from greedynet import (
    FewerNodesWarning,
    FewHeldOutRowsWarning,
    NotCorrectedWarning,
    TableWarning,
)

# Of scikit-learn, and to the point.
FAIR = (
    "The number of unique classes is greater than 50%",
    "The least populated class in y has only",
    "A column-vector y was passed",
)


class BrokenPromiseError(AssertionError):
    """A promise that was not kept."""


@contextmanager
def no_other_warnings():
    """Turn every warning into an error, except those that are meant for users."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (FewerNodesWarning, FewHeldOutRowsWarning, NotCorrectedWarning, TableWarning):
            warnings.simplefilter("ignore", kind)
        for message in FAIR:
            warnings.filterwarnings("ignore", message)
        yield
