"""The one torch module that is not a plain `nn.Sequential`; imported only where torch is there."""

import torch
from torch import nn


class SkipNetwork(nn.Module):
    """A hidden layer beside an affine map, `outer(activation(inner(x))) + affine(x)`.

    Parameters
    ----------
    inner, outer, affine : torch.nn.Linear
        `outer` has no bias: the intercept is that of `affine`.
    activation : torch.nn.Module
        Between `inner` and `outer`.
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
