"""Types used throughout the library."""

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
