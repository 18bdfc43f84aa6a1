"""
A neuron is a kink
==================

The neuron ``relu(a . x + b)`` is zero on one side of a boundary and rises linearly on the other. In
one dimension the boundary is a point, in two it is a line.
"""

import matplotlib.pyplot as plt
import numpy as np

INK, SOFT, RED, BLUE = "#1f2430", "#b8bfcc", "#d1495b", "#2f6690"


def relu(z):
    return np.maximum(z, 0)


x = np.linspace(-1, 1, 401)
neurons = [(0.9, -0.7), (-1.9, -0.1), (2.2, 0.4)]  # outer weight and threshold of each

figure = plt.figure(figsize=(11, 3.2), layout="constrained")
left, middle, right = figure.subplots(1, 3)
for c, t in neurons:
    left.plot(x, c * relu(x - t), lw=2, color=BLUE)
    left.plot(t, 0, "o", color=RED)
left.set_title("three neurons ...")
middle.plot(x, sum(c * relu(x - t) for c, t in neurons), lw=2, color=BLUE)
for _, t in neurons:
    middle.axvline(t, color=RED, lw=1, ls=":")
middle.set_title("... and their sum")
for ax in (left, middle):
    ax.set(xlabel="x", ylim=(-2.2, 1.7))

# In two dimensions, a neuron has a direction u and a threshold t.
u, t = np.array([0.8, 0.6]), 0.3
grid = np.linspace(-1, 1, 200)
a, b = np.meshgrid(grid, grid)
right.contourf(a, b, relu(u[0] * a + u[1] * b - t), 12, cmap="Blues")
along = np.array([-1.5, 1.5])
right.plot(t * u[0] - along * u[1], t * u[1] + along * u[0], color=RED, lw=2)
right.annotate("", t * u + 0.5 * u, t * u, arrowprops={"arrowstyle": "->", "color": INK, "lw": 2})
right.text(*(t * u + 0.58 * u), "u", fontsize=12)
right.text(-0.85, -0.75, "0 on this side")
right.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal", title="one neuron of two inputs")
right.set(xlabel="$x_1$", ylabel="$x_2$")
plt.show()
