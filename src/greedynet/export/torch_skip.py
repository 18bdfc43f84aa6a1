"""Torch modules that `torch.nn` does not have; imported only if torch is installed.

`SkipNetwork` is a network with a separate affine term, `ScalingLayer` the fixed layer before all
others, `RampLayer` the first of two hidden layers, `BoundsLayer` the box of the inputs, after the
scaling, and what comes after all. The rest are activations: those that `torch.nn` does not have,
and the mapping between our names and modules.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from greedynet.activations import ACTIVATIONS, Activation, LeakyReLU

# Beyond it `nn.Softplus` returns z itself; the default of 20 would lose eight digits in float64.
SOFTPLUS_THRESHOLD = 40.0


class SkipNetwork(nn.Module):
    """A hidden layer in parallel with an affine map, `outer(activation(inner(x))) + affine(x)`.

    Parameters
    ----------
    inner, outer, affine : torch.nn.Linear
        `outer` has no bias: the intercept is part of `affine`.
    activation : torch.nn.Module
        Applied between `inner` and `outer`.
    """

    def __init__(
        self, inner: nn.Linear, activation: nn.Module, outer: nn.Linear, affine: nn.Linear
    ) -> None:
        super().__init__()
        self.inner, self.activation, self.outer, self.affine = inner, activation, outer, affine

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs, `(n_rows, n_outputs)`."""
        hidden: torch.Tensor = self.outer(self.activation(self.inner(x)))
        return hidden + self.affine(x)


class ScalingLayer(nn.Module):
    """Scaled inputs, `(x - center) / scale`.

    Both are buffers, which `load_state_dict` fills and training does not change.

    Parameters
    ----------
    n_features : int
        Number of inputs, which stay as they are until center and scale are loaded.
    """

    center: torch.Tensor
    scale: torch.Tensor

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.register_buffer("center", torch.zeros(n_features))
        self.register_buffer("scale", torch.ones(n_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return scaled inputs, `(n_rows, n_features)`."""
        return (x - self.center) / self.scale

    def extra_repr(self) -> str:
        """Return the argument."""
        return str(len(self.center))


class RampLayer(nn.Module):
    """Inputs and ramps of single columns, side by side, `[x, clip((x_j - start) / width)]`.

    The ramps are buffers, which `load_state_dict` fills and training does not change: knots that
    pass each other would leave no ramp between them.

    Parameters
    ----------
    n_ramps : int
        Number of ramps, all of them zero until they are loaded.
    """

    columns: torch.Tensor
    starts: torch.Tensor
    widths: torch.Tensor
    low: torch.Tensor
    high: torch.Tensor

    def __init__(self, n_ramps: int) -> None:
        super().__init__()
        self.register_buffer("columns", torch.zeros(n_ramps, dtype=torch.long))
        for name, value in (("starts", 0.0), ("widths", 1.0), ("low", 0.0), ("high", 0.0)):
            self.register_buffer(name, torch.full((n_ramps,), value))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return inputs and ramps, `(n_rows, n_features + n_ramps)`."""
        rises = (x[..., self.columns] - self.starts) / self.widths
        return torch.cat([x, torch.clamp(rises, self.low, self.high)], dim=-1)

    def extra_repr(self) -> str:
        """Return the argument."""
        return str(len(self.columns))


class BoundsLayer(nn.Module):
    """Inputs or outputs within bounds, `min(max(y, low), high)`.

    The bounds are buffers, which `load_state_dict` fills and training does not change. Where an
    output is outside of them, no weight has a gradient.

    Parameters
    ----------
    n_values : int
        Number of inputs or outputs, which have no bounds until they are loaded.
    """

    low: torch.Tensor
    high: torch.Tensor

    def __init__(self, n_values: int) -> None:
        super().__init__()
        self.register_buffer("low", torch.full((n_values,), -torch.inf))
        self.register_buffer("high", torch.full((n_values,), torch.inf))

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """Return values within the bounds, `(n_rows, n_values)`."""
        return torch.clamp(y, self.low, self.high)

    def extra_repr(self) -> str:
        """Return the argument."""
        return str(len(self.low))


class ActivationLayer(nn.Module):
    """An activation that `torch.nn` does not have, by its name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Return the activation of every number."""
        return _FUNCTIONS[self.name](z)

    def extra_repr(self) -> str:
        """Return the argument."""
        return repr(self.name)


_FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu2": lambda z: torch.square(torch.relu(z)),
    "relu3": lambda z: torch.relu(z) * torch.square(torch.relu(z)),
    "abs": torch.abs,
    "sin": torch.sin,
    "gaussian": lambda z: torch.exp(-z * z),
}

# Our name -> a function that makes the module; users may add their own activations.
ACTIVATION_MODULES: dict[str, Callable[[Any], nn.Module]] = {
    "relu": lambda own: nn.ReLU(),
    "leaky_relu": lambda own: nn.LeakyReLU(own.negative_slope),
    "tanh": lambda own: nn.Tanh(),
    "sigmoid": lambda own: nn.Sigmoid(),
    "gelu": lambda own: nn.GELU(),
    "softplus": lambda own: nn.Softplus(threshold=SOFTPLUS_THRESHOLD),
    **{name: lambda own: ActivationLayer(own.name) for name in _FUNCTIONS},
}


def read_activation(module: nn.Module) -> Activation | None:
    """Return the activation that a module computes, or None if it is not known."""
    if type(module) is nn.LeakyReLU:
        return LeakyReLU(float(module.negative_slope))
    if type(module) is ActivationLayer:
        return ACTIVATIONS[module.name]
    for name, make in ACTIVATION_MODULES.items():
        ours = ACTIVATIONS.get(name)
        if ours is not None and type(module) is type(make(ours)):
            return ours if _is_plain(module) else None
    return None


def _is_plain(module: nn.Module) -> bool:
    """Whether a module of `torch.nn` has the parameters of our activation."""
    if isinstance(module, nn.GELU):
        return bool(module.approximate == "none")
    return not isinstance(module, nn.Softplus) or bool(module.beta == 1)
