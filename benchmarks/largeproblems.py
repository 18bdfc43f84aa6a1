"""Large random problems, of more than 10,000 rows, half of them with typing errors.

`draw_large(seed)` returns a regression problem with 10,001 to 60,000 rows, 3 to 30 columns and
5,000 new rows. Seeds with an even number are for tuning, odd ones for judging: see
`judgement.py --large`.

A typing error changes one cell of the inputs of a row and leaves its target. A problem has one kind
of them (`SLIPS`), in one place: in 5 to 50 training rows ("training"), in one to three training
rows, of which the fit may hold out some ("few"), or in 1 to 20 new rows only ("new").
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from randomproblems import (
    NOISES,
    TARGETS,
    RandomProblem,
    correlated,
    few_values,
    heavy_tails,
    lognormal,
    normal,
    standardised,
)

N_NEW = 5_000
NO_ERRORS = "none"
LEVELS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
# Noise of infinite variance has no root mean squared error that could be told.
NOISE_KINDS = tuple(kind for kind in NOISES if kind != "t2")


@dataclass(frozen=True, eq=False)
class LargeProblem(RandomProblem):
    """A problem with the kind and the place of its typing errors, and new targets without noise."""

    slip: str
    place: str
    truth: np.ndarray


def categories(rng, n, d):
    """Up to three categories as indicators, and numbers, of which there is at least one."""
    parts, room = [], d - 1
    for _ in range(int(rng.integers(1, 4))):
        if room >= 2:
            k = int(rng.integers(2, min(room, 8) + 1))
            parts.append(np.eye(k)[rng.choice(k, n, p=rng.dirichlet(np.full(k, 2.0)))])
            room -= k
    kinds = (normal, lognormal, heavy_tails)
    parts += [kinds[rng.integers(0, len(kinds))](rng, n, 1) for _ in range(room + 1)]
    return np.column_stack(parts)


INPUTS = {
    f.__name__: f for f in (normal, lognormal, heavy_tails, correlated, few_values, categories)
}


# Typing errors: functions of a generator and a number as text.


def times_ten(rng, text):
    return repr(10 * float(text))


def sign_changed(rng, text):
    return repr(-float(text))


def digits_swapped(rng, text):
    """Swap two neighbouring digits that differ, if there are any."""
    digits = [i for i, character in enumerate(text) if character.isdigit()]
    pairs = [(i, j) for i, j in pairwise(digits) if text[i] != text[j]]
    if not pairs:
        return text
    i, j = pairs[rng.integers(0, len(pairs))]
    return text[:i] + text[j] + text[i + 1 : j] + text[i] + text[j + 1 :]


def point_lost(rng, text):
    return text.replace(".", "")


SLIPS = {f.__name__: f for f in (times_ten, sign_changed, digits_swapped, point_lost)}
# Fewest and most rows with an error.
PLACES = {"training": (5, 50), "few": (1, 3), "new": (1, 20)}


def written(number):
    """Return a number with four digits, as somebody would type it."""
    return np.format_float_positional(number, precision=4, fractional=False, trim="-")


def mistype(rng, X, slip, n_rows):
    """Mistype one cell each of some rows of `X`, and return how many.

    Categories are chosen, not typed; and some numbers stay the same, such as 0 with another sign.
    """
    numbers, done = np.flatnonzero(~np.isin(X, [0.0, 1.0]).all(axis=0)), 0
    for row in rng.permutation(len(X)) if len(numbers) else ():
        column = rng.choice(numbers)
        meant = written(X[row, column])
        typed = SLIPS[slip](rng, meant)
        if float(typed) != float(meant):
            X[row, column] = float(typed)
            done += 1
        if done == n_rows:
            break
    return done


def draw_large(seed: int) -> LargeProblem:
    """Return the problem of a seed."""
    rng = np.random.default_rng([seed, 18])
    n = round(float(np.exp(rng.uniform(np.log(10_001), np.log(60_000)))))
    d = round(float(np.exp(rng.uniform(np.log(3), np.log(30)))))
    inputs, target = str(rng.choice(list(INPUTS))), str(rng.choice(list(TARGETS)))
    level, noise_kind = float(rng.choice(LEVELS)), str(rng.choice(NOISE_KINDS))
    X = INPUTS[inputs](rng, n + N_NEW, d)
    Z = standardised(X, X)
    signal = TARGETS[target](rng, d)(Z)
    spread = signal.std()
    if not spread > 0:
        target, spread = "pure_noise", 1.0
    scale, offset = 10.0 ** rng.uniform(-3, 4), rng.choice([0.0, 100.0])
    level = 1.0 if target == "pure_noise" else level
    truth = (signal - signal.mean()) / spread * scale + offset
    y = truth + scale * level * NOISES[noise_kind](rng, n + N_NEW)
    slip = place = NO_ERRORS
    if rng.uniform() < 0.5:
        slip, place = str(rng.choice(list(SLIPS))), str(rng.choice(list(PLACES)))
        least, most = PLACES[place]
        rows = X[n:] if place == "new" else X[:n]
        if not mistype(rng, rows, slip, int(rng.integers(least, most + 1))):
            slip = place = NO_ERRORS
    return LargeProblem(
        seed, inputs, target, level, noise_kind, X[:n], y[:n], X[n:], y[n:], slip, place, truth[n:]
    )
