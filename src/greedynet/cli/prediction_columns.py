"""The columns that `greedynet predict` writes: predictions, probabilities, intervals, sets."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from greedynet.tables.model import TableModel

_BETWEEN = " | "


class PredictionColumns:
    """The columns of the output, block by block.

    Parameters
    ----------
    model : TableModel
    interval, sets : float or None
        Coverage of intervals, or of sets of classes, if they are asked for.
    outside : bool
        Whether to say where rows are outside the training data.

    Attributes
    ----------
    n_outside : int
        Number of rows so far that are outside the training data.
    """

    def __init__(
        self, model: "TableModel", interval: float | None, sets: float | None, outside: bool
    ) -> None:
        self._model, self._interval, self._sets, self._says = model, interval, sets, outside
        self.n_outside = 0
        self._beyond = dict.fromkeys(model.columns.labels, 0)
        self._check()

    def _check(self) -> None:
        for name, share in (("--interval", self._interval), ("--sets", self._sets)):
            if share is not None and not 0 < share < 1:
                raise ValueError(f"{name} must be between 0 and 1, such as 0.9, got {share}.")
        if self._interval is not None and self._model.classes_ is not None:
            raise ValueError("--interval is for numbers, this model predicts classes: use --sets.")
        if self._sets is not None and self._model.classes_ is None:
            raise ValueError("--sets is for classes, this model predicts numbers: use --interval.")

    def names(self) -> list[str]:
        """Return the names of the columns."""
        network, classes = self._model.network, self._model.classes_
        several = not network.single_output and classes is None
        each = [str(j) for j in range(network.n_outputs)] if several else [""]
        names = [f"prediction{j}" for j in each]
        if classes is not None:
            names += [f"probability of {label}" for label in self._labels()]
        if self._interval is not None:
            names += [f"{end}{j}" for end in ("lower", "upper") for j in each]
        if self._sets is not None:
            names.append("classes")
        return [*names, "outside"] if self._says else names

    def rows(self, X: Any, full: "NDArray[Any]") -> list[list[Any]]:
        """Return the cells of some rows, of which only those that are full are counted."""
        import numpy as np

        model, found = self._model, self._model.predict(X)
        columns: list[list[Any]] = [*found.reshape(len(found), -1).T.tolist()]
        if model.classes_ is not None:
            columns += model.predict_proba(X).T.tolist()
        if self._interval is not None:
            ends = model.predict_interval(X, self._interval)
            columns += np.column_stack(ends).T.tolist()
        if self._sets is not None:
            columns.append(self._texts(model.predict_set(X, self._sets)))
        columns += self._outside(X, full)
        return [list(row) for row in zip(*columns, strict=True)]

    def sentence(self, n_rows: int) -> str:
        """Return how many of the rows so far are outside the training data."""
        from greedynet.model.uncertainty.seen import outside_sentence

        return outside_sentence(n_rows, self.n_outside, self._beyond)

    def _outside(self, X: Any, full: "NDArray[Any]") -> list[list[str]]:
        """Count the rows outside, and return the column that says so if it is asked for."""
        if not hasattr(self._model.estimator, "outside") and not self._says:
            return []
        found = self._model.outside(X)
        self.n_outside += int((found.rows & full).sum())
        for name, n in zip(found.names, found.columns[full].sum(axis=0).tolist(), strict=True):
            self._beyond[name] += n
        return [found.describe()] if self._says else []

    def _texts(self, sets: "NDArray[Any]") -> list[str]:
        labels = self._labels()
        return [_BETWEEN.join(labels[j] for j in row.nonzero()[0].tolist()) for row in sets]

    def _labels(self) -> list[str]:
        from greedynet.tables.readers.base import label_text

        classes = self._model.classes_
        found = [] if classes is None else classes.tolist()
        return [label_text(label) for label in found]
