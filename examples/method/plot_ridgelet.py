"""
What the ridgelet transform shows
=================================

The transform is computed from the data alone, before any network is fitted. It is large where a
neuron would matter, in this example at the kinks of the function.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import collapsed_ridgelet_transform

kinks = (-0.5, 0.1, 0.6)
x = np.linspace(-1, 1, 400)[:, None]
y = sum(c * np.maximum(x[:, 0] - t, 0) for c, t in zip((2, -3, 4), kinks, strict=True))
y = y - np.polyval(np.polyfit(x[:, 0], y, 1), x[:, 0])  # left to the affine term of a network

# The neuron with its kink at t is the point (1, -t), normalised to lie on the sphere.
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
# The sign shows in which direction the function bends, and the height by how much. Outside the data
# the function is treated as zero, so that the transform also shows the edges of the data.
