"""JAX and optax, or an error with the command to install them; float64 during training."""

from contextlib import AbstractContextManager
from typing import Any

from greedynet.support.extras import require

jax = require("jax", "train", "greedynet.train")
jnp = require("jax.numpy", "train", "greedynet.train")
lax = require("jax.lax", "train", "greedynet.train")
optax = require("optax", "train", "greedynet.train")

Array = Any  # jax.Array, which type checkers do not find if JAX is not installed

# Each training runs on one thread: for products this small, XLA's own threads cost more than they
# gain, and without them the result does not depend on the number of cores.
COMPILER_OPTIONS = {"xla_cpu_multi_thread_eigen": False}


def float64() -> AbstractContextManager[None]:
    """Compute in float64 inside the block, in this thread; the user's setting is not changed."""
    # JAX 0.8 moved the context manager out of `jax.experimental`.
    home = (
        jax
        if hasattr(jax, "enable_x64")
        else require("jax.experimental", "train", "greedynet.train")
    )
    manager: AbstractContextManager[None] = home.enable_x64(True)
    return manager
