"""How corners are tamed: internal constants; tests inject other values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TamingSettings:
    """How the corners of a network are tamed.

    Attributes
    ----------
    more_neurons : tuple of float
        Shares of the neurons of a network that are added in its corners, tried in this order until
        it is tame.
    weight : float
        Weight of a row in a corner, beside that of a training row.
    far, most_far : float
        Share of the width of the margin beyond which a row pulls as if it were that far: at first,
        and at most.
    stronger, weaker : float
        Factors of it after a round that costs no error, and after one that does.
    most_error : float
        The error may be this multiple of the error before, estimated by rows that are not held.
    one_in : int
        One row in so many is not held.
    min_rows : int
        With fewer rows, these would be too few.
    inside : float
        Rows in corners are pulled inside the margin by this share of half its width, so that few
        steps suffice.
    n_rounds : int
        Maximum number of rounds, each with a search for rows in corners.
    steps_a_round : int
        Steps of the correction between two searches.
    n_wild : int
        Maximum number of rows of a search, for each end of each output.
    apart : float
        They differ by so much of the box in some column.
    tolerance : float
        Share of the width of the margin by which it may be missed.
    n_drawn : int
        Rows drawn in the box from which a search starts; half of them are corners.
    max_elements : int
        A search starts from fewer rows where these times the weights would be more.
    n_climbing_steps : int
        Steps of a search.
    max_rows : int
        Training rows at which predictions are held, at most.
    min_between, n_nearest : int
        Rows between them at which predictions are held, at least, and the number of nearest rows
        towards one of which such a row lies.
    ridge : float
        Penalty on the weights, for each row, with outputs of unit variance.
    """

    more_neurons: tuple[float, ...] = (0.5, 1.0)
    weight: float = 0.01
    far: float = 0.01
    most_far: float = 0.05
    stronger: float = 1.5
    weaker: float = 0.4
    most_error: float = 1.01
    one_in: int = 5
    min_rows: int = 20
    inside: float = 0.1
    n_rounds: int = 12
    steps_a_round: int = 5
    n_wild: int = 25
    apart: float = 0.05
    tolerance: float = 1e-3
    n_drawn: int = 400
    max_elements: int = 5_000_000
    n_climbing_steps: int = 40
    max_rows: int = 2_048
    min_between: int = 512
    n_nearest: int = 10
    ridge: float = 1e-6
