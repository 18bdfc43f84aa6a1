"""Types that every part of the library speaks of."""

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
