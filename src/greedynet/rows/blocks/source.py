"""`SourceBlocks`: rows that are read, here or elsewhere, for every sum."""

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks.base import Survey, Surveyed, Work
from greedynet.rows.blocks.prepare import Labels, Preparation
from greedynet.rows.rows import Rows, rounded

T = TypeVar("T")


@runtime_checkable
class Source(Protocol):
    """A source of raw blocks, which can be read repeatedly."""

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        ...

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape of the outputs of one row: `()` for a 1-D array."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the inputs, or None if they have none."""
        ...

    def total(self, preparation: Preparation, work: Work[T]) -> tuple[int, T]:
        """Return the number of rows and the sum over them."""
        ...

    def take(self, preparation: Preparation, positions: NDArray[np.intp]) -> Rows:
        """Return the rows at some positions, in ascending order."""
        ...

    def labels(self) -> Labels:
        """Return the classes that occur in the outputs."""
        ...


@dataclass(frozen=True, eq=False)
class SourceBlocks:
    """The rows of a source.

    Attributes
    ----------
    source : Source
    preparation : Preparation
        The conversion of raw blocks to rows.
    known : Survey
        The survey of the first pass.
    """

    source: Source
    preparation: Preparation
    known: Survey

    @staticmethod
    def of(source: Source, preparation: Preparation) -> "SourceBlocks":
        """Check and survey all rows in one pass."""
        _, known = source.total(preparation, Surveyed())
        mean = float(rounded(known.mean_weight))
        return SourceBlocks(source, replace(preparation, checked=True, mean_weight=mean), known)

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.preparation.n_inputs

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.preparation.n_outputs

    def __len__(self) -> int:
        return self.known.n_rows

    def survey(self) -> Survey:
        """Return the survey of all rows."""
        return self.known

    def take(self, positions: NDArray[np.intp]) -> Rows:
        """Return the rows at some positions, in ascending order."""
        rows = self.source.take(self.preparation, positions)
        if len(rows) != len(positions):
            self._refuse(f"at most {len(rows)} of the {len(positions)} rows requested")
        self._check_numbers(rows)
        return rows

    def total(self, work: Work[T]) -> T:
        """Return the sum over all rows."""
        n_rows, found = self.source.total(self.preparation, work)
        if n_rows != len(self):
            self._refuse(f"{n_rows:,} rows")
        self._check_numbers(found)
        return found

    def _check_numbers(self, found: Any) -> None:
        """If the result contains NaN, check the rows again, which is not done in every pass."""
        if _has_nan(found):
            self.source.total(replace(self.preparation, checked=False), Surveyed())

    def _refuse(self, got: str) -> None:
        raise ValueError(
            f"`X` must yield the same rows every time it is read, {len(self):,} the first time, "
            f"got {got} now: blocks must not change or run out during a fit."
        )


def _has_nan(found: Any) -> bool:
    """Whether an array, a number, or a dataclass of them contains NaN."""
    if is_dataclass(found):
        return any(_has_nan(getattr(found, part.name)) for part in fields(found))
    return isinstance(found, np.ndarray | float) and bool(np.isnan(found).any())
