"""JAX and optax, or one line that says how to install them; float64 for as long as we run."""

from contextlib import AbstractContextManager
from typing import Any

from greedynet.support.extras import require

jax = require("jax", "train", "greedynet.train")
jnp = require("jax.numpy", "train", "greedynet.train")
lax = require("jax.lax", "train", "greedynet.train")
optax = require("optax", "train", "greedynet.train")

Array = Any  # jax.Array, which a type checker cannot see where JAX is not installed

# One training is one thread: XLA's own threads cost more than they bring on products this small,
# and without them the result does not depend on the number of cores.
COMPILER_OPTIONS = {"xla_cpu_multi_thread_eigen": False}


def float64() -> AbstractContextManager[None]:
    """Compute in float64 inside the block, in this thread; the user's own setting stays."""
    # JAX 0.8 moved the context manager out of `jax.experimental`.
    home = (
        jax
        if hasattr(jax, "enable_x64")
        else require("jax.experimental", "train", "greedynet.train")
    )
    manager: AbstractContextManager[None] = home.enable_x64(True)
    return manager
