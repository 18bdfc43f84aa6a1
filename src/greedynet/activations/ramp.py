"""`Ramp`: the neuron that rises between two plateaus, of which two ReLUs are made."""

from dataclasses import dataclass

import numpy as np

from greedynet.activations.base import Array


@dataclass(frozen=True)
class Ramp:
    """`min(max(z, -1), 1) = relu(z + 1) - relu(z - 1) - 1`.

    Networks are constructed with it, and delivered with ReLUs: see `fitting/saturation.py`.
    """

    name: str = "ramp"
    scales: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)

    def value(self, z: Array) -> Array:
        """Return `min(max(z, -1), 1)`."""
        return np.clip(z, -1.0, 1.0)

    def slope(self, z: Array) -> Array:
        """Return 1 between the plateaus, 0 on them."""
        return np.asarray((z > -1.0) & (z <= 1.0), dtype=np.float64)
