"""The example data of the library.

`daylight.csv`: hours of daylight for 2,000 places and days, as simulated observers would note them,
whose horizons and clocks differ: normal errors with a standard deviation of a quarter of an hour.
The places are uniformly distributed over the Earth between 60 degrees south and north.
"""

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from greedynet.support.types import Float64

NOISE = 0.25

_TILT, _HORIZON = np.radians(23.44), np.radians(-0.833)
_EQUINOX, _YEAR = 80.0, 365.2422


def daylight_hours(day: ArrayLike, latitude: ArrayLike) -> Float64:
    """Return the hours of daylight, by the sunrise equation.

    With the sun's declination `delta` on a day, `sin delta = sin(23.44) sin(2 pi (day - 80) / T)`
    for a year of `T` = 365.2422 days and a circular orbit, and its upper edge on the horizon at
    -0.833 degrees (refraction, and half of the sun's width),

        cos w = (sin(-0.833) - sin(latitude) sin(delta)) / (cos(latitude) cos(delta)),

    the sun is up for `24 w / pi` hours; for 24 or 0 if `cos w` would be outside [-1, 1].

    The first of January is day 1; latitudes are degrees north.

    Examples
    --------
    >>> from greedynet.cli.demo_data import daylight_hours
    >>> daylight_hours([172, 172, 355], [0.0, 70.0, 70.0]).round(1)
    array([12.1, 24. ,  0. ])
    """
    place = np.radians(np.asarray(latitude, dtype=np.float64))
    turn = 2 * np.pi * (np.asarray(day, dtype=np.float64) - _EQUINOX) / _YEAR
    sun = np.arcsin(np.sin(_TILT) * np.sin(turn))
    cosine = (np.sin(_HORIZON) - np.sin(place) * np.sin(sun)) / (np.cos(place) * np.cos(sun))
    return np.asarray(24 / np.pi * np.arccos(np.clip(cosine, -1.0, 1.0)))


def daylight_path() -> Path:
    return Path(__file__).with_name("daylight.csv")
