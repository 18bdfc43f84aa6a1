"""
What the ridgelet transform tells
=================================

The transform is computed from the data alone, before any network. It is large where a neuron
would matter: here at the kinks of the function.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import collapsed_ridgelet_transform

kinks = (-0.5, 0.1, 0.6)
x = np.linspace(-1, 1, 400)[:, None]
y = sum(c * np.maximum(x[:, 0] - t, 0) for c, t in zip((2, -3, 4), kinks, strict=True))
y = y - np.polyval(np.polyfit(x[:, 0], y, 1), x[:, 0])  # a network has an affine term for this

# The neuron with the kink at t is the point (1, -t) of the sphere, made one long.
thresholds = np.linspace(-0.95, 0.95, 800)
points = np.column_stack([np.ones_like(thresholds), -thresholds])
lengths = np.linalg.norm(points, axis=1)
transform = collapsed_ridgelet_transform(points / lengths[:, None], x, y, reach=60)

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(7, 4), layout="constrained", sharex=True, height_ratios=(2, 3)
)
top.plot(x, y, color="#1f2430")
top.set_ylabel("the function")
bottom.plot(thresholds, transform.values, color="#2f6690")
bottom.set(xlabel="kink of the neuron", ylabel="transform", xlim=(-1, 1))
for t in kinks:
    top.axvline(t, color="#d1495b", lw=1, ls=":")
    bottom.axvline(t, color="#d1495b", lw=1, ls=":")
plt.show()

# %%
# The sign says which way the function bends, the height how much. Outside of the data it is taken
# as zero, so that their edges show as well.
