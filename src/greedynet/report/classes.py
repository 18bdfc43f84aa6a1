"""The classes shown on a page: the most frequent ones, and all others merged into one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.report.subject import Subject
from greedynet.support.types import Float64

MOST_CLASSES = 12


@dataclass(frozen=True, eq=False)
class ShownClasses:
    """Which classes are shown.

    Attributes
    ----------
    names : list of str
        Their names on the page.
    place : ndarray of shape (n_classes,)
        Position at which each class is shown.
    """

    names: list[str]
    place: NDArray[np.intp]

    @staticmethod
    def of(subject: Subject) -> "ShownClasses":
        """Return all classes, or the most frequent ones and "all others"."""
        names = [str(name) for name in np.asarray(subject.classes).tolist()]
        if len(names) <= MOST_CLASSES:
            return ShownClasses(names, np.arange(len(names)))
        counts = np.zeros(len(names))
        for rows in (subject.rows, subject.held_out):
            if rows is not None:
                counts += np.bincount(subject.class_index(rows.y), minlength=len(names))
        chosen = np.sort(np.argsort(-counts, kind="stable")[: MOST_CLASSES - 1])
        place = np.full(len(names), MOST_CLASSES - 1)
        place[chosen] = np.arange(len(chosen))
        return ShownClasses([names[i] for i in chosen] + ["all others"], place)

    def merged(self, p: Float64) -> Float64:
        """Return probabilities, classes last, with those of the merged classes summed."""
        shown = np.zeros((*p.shape[:-1], len(self.names)))
        for i, at in enumerate(self.place):
            shown[..., at] += p[..., i]
        return shown
