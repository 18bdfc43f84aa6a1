"""`Candidate`: one of the networks that a fit compares, and `Ladder`: all of them, with errors."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64

# Kinds of candidates: a constant, which for classes are their shares; an affine function, which for
# classes is a logistic regression; a network; and for classes a mixture of these.
MEAN, SHARES, LINE, NETWORK, BLEND = "mean", "class shares", "line", "network", "blend"
CONSTANTS = (MEAN, SHARES)
# Forms of networks: one hidden layer; the same on rows of which cells far out are clipped; two
# layers; or one of neurons that level off.
ONE_LAYER, CLIPPED, TWO_LAYERS, RAMPS = "one layer", "clipped", "two layers", "ramps"
_IN_WORDS = {CLIPPED: "inputs clipped", TWO_LAYERS: "two layers", RAMPS: "of ramps"}
CURVES = "curves of single columns"

_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Candidate:
    """A network that could be the result of a fit, by what makes it."""

    kind: str  # "mean", "class shares", "line", "network" or "blend"
    width: int = 0  # number of neurons, of each network if several are averaged
    n_networks: int = 1  # number of networks whose mean it is
    form: str = ONE_LAYER  # "one layer", "clipped", "two layers" or "ramps"
    pruned: bool = False  # whether it is a wider network from which neurons were removed
    # Ridge of a classifier's network or regression; None where the training rows decide.
    ridge: float | None = None

    @property
    def n_neurons(self) -> int:
        """Number of neurons; one that levels off counts as two."""
        return self.width * self.n_networks * (2 if self.form == RAMPS else 1)

    @property
    def is_constant(self) -> bool:
        """Whether it predicts the same for all rows."""
        return self.kind in CONSTANTS

    def plain(self) -> "Candidate":
        """Return what it is, without what it is made of."""
        names = (field.name for field in fields(Candidate))
        return Candidate(**{name: getattr(self, name) for name in names})

    def __str__(self) -> str:
        if self.kind == LINE and self.form == TWO_LAYERS:
            return CURVES
        name = self.kind
        if self.n_networks > 1:
            name = f"average of {_NUMBERS[self.n_networks - 2]}"
        parts = [f"pruned {name}" if self.pruned else name]
        if self.form != ONE_LAYER and not self.is_constant:
            parts.append(_IN_WORDS[self.form])
        return ", ".join(parts)


@dataclass(frozen=True, eq=False)
class Ladder:
    """Candidates in the order in which they were tried, each scored on rows that it has not seen.

    Attributes
    ----------
    candidates : tuple of Candidate
    errors : ndarray of shape (n_candidates,)
        Root mean squared error on held-out rows, in the units of the output; for another loss, its
        mean; for classes, the mean log-loss.
    chosen : int
        Position of the candidate that was chosen.
    """

    candidates: tuple[Candidate, ...]
    errors: Float64
    chosen: int

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def choice(self) -> Candidate:
        """The candidate that was chosen."""
        return self.candidates[self.chosen]

    @property
    def kinds(self) -> list[str]:
        return [str(candidate) for candidate in self.candidates]

    @property
    def kind(self) -> str:
        return str(self.choice)

    @property
    def expected_error(self) -> float:
        """Error of the chosen candidate on held-out rows."""
        return float(self.errors[self.chosen])

    @property
    def n_neurons(self) -> NDArray[np.intp]:
        return np.array([candidate.n_neurons for candidate in self.candidates], dtype=np.intp)

    def error_of(self, *kinds: str, form: str = ONE_LAYER) -> float | None:
        """Return the smallest error of candidates of some kinds; None if there is none."""
        found = [
            float(error)
            for candidate, error in zip(self.candidates, self.errors, strict=True)
            if candidate.kind in kinds and candidate.form == form
        ]
        return min(found, default=None)

    def __str__(self) -> str:
        names = self.kinds
        wide = 2 + max(16, *map(len, names))
        lines = [f"{'candidate':{wide}}{'neurons':>8}{'error':>12}"]
        for i, row in enumerate(zip(names, self.n_neurons, self.errors, strict=True)):
            mark = "  <- chosen" if i == self.chosen else ""
            name, n, error = row
            lines.append(f"{name:{wide}}{n:8d}{error:12.4g}{mark}")
        return "\n".join(lines)


def widths_up_to(most: int, growth: float) -> list[int]:
    """Return increasing numbers of neurons: 1, 2, 3, 4, 6, 9, ... and `most`."""
    widths, width = [], 1
    while width < most:
        widths.append(width)
        width = max(width + 1, round(growth * width))
    return [*widths, most] if most > 0 else []


def single_networks(candidates: Sequence[Candidate], form: str) -> list[Candidate]:
    """Return the networks of a form that were grown, neither averaged nor pruned."""
    return [
        c
        for c in candidates
        if c.kind == NETWORK and c.form == form and c.n_networks == 1 and not c.pruned
    ]
