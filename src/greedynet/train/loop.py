"""The compiled loop: epochs of steps, the best weights kept, several networks as one `vmap`.

One call runs a number of epochs and returns; it is compiled once and called until the training is
done, so that progress can be shown and Ctrl-C handled in between.
"""

from functools import partial
from typing import Any, NamedTuple

from greedynet.train.activations import Form
from greedynet.train.backend import COMPILER_OPTIONS, Array, jax, jnp, lax, optax
from greedynet.train.batches import Batches
from greedynet.train.model import Block, Weights, loss, loss_and_gradient

# Maximum number of epochs of one call: the length of the histories it returns.
MAX_EPOCHS = 1_000


class Recipe(NamedTuple):
    """What the loop is compiled for: the activation in JAX, and the optimiser or None for Adam."""

    activation: Form
    optimizer: Any


class Data(NamedTuple):
    """What the loop reads: rows in several forms, the seed, Adam's learning rate and its decay.

    `batches` is None if each step uses all rows, `validation` if there are no validation rows.
    """

    blocks: Block
    batches: Batches | None
    validation: Block | None
    key: Array
    learning_rate: Array
    decay: Array


class State(NamedTuple):
    """State of a training: the weights, the optimiser's state, the best weights so far."""

    weights: Weights
    memory: Any
    best: Weights
    best_score: Array
    best_epoch: Array


@partial(jax.jit, static_argnames="recipe", compiler_options=COMPILER_OPTIONS)
def start(recipe: Recipe, weights: Weights, data: Data) -> State:
    """Return the state before the first epoch, of each network along the first axis."""

    def one(weights: Weights) -> State:
        memory = _optimizer(recipe, data).init(weights)
        # With the dtypes that the loop returns: others would trigger a second compilation.
        return State(weights, memory, weights, jnp.array(jnp.inf, float), jnp.array(0, int))

    state: State = jax.vmap(one)(weights)
    return state


@partial(jax.jit, static_argnames="recipe", compiler_options=COMPILER_OPTIONS)
def run(
    recipe: Recipe, state: State, data: Data, first: Array, count: Array
) -> tuple[State, Array, Array]:
    """Run `count` epochs; also return the training and validation errors before each of them.

    Errors are arrays `(n_networks, MAX_EPOCHS)`, of which the first `count` columns are filled. To
    evaluate the weights after the last epoch, run one more and discard its steps.
    """

    def one(state: State) -> tuple[State, Array, Array]:
        def body(i: Array, carry: tuple[State, Array, Array]) -> tuple[State, Array, Array]:
            state, losses, scores = carry
            state, error, score = _epoch(recipe, state, data, first + i)
            return state, losses.at[i].set(error), scores.at[i].set(score)

        empty = jnp.zeros(MAX_EPOCHS)
        result: tuple[State, Array, Array] = lax.fori_loop(0, count, body, (state, empty, empty))
        return result

    after: tuple[State, Array, Array] = jax.vmap(one)(state)
    return after


def _epoch(recipe: Recipe, state: State, data: Data, epoch: Array) -> tuple[State, Array, Array]:
    """Run one epoch; also return the training and the validation error before it."""

    def step(carry: tuple[Weights, Any], blocks: Block) -> tuple[tuple[Weights, Any], Array]:
        weights, memory = carry
        error, gradient = loss_and_gradient(weights, blocks, recipe.activation)
        change, memory = optimizer.update(
            gradient,
            memory,
            weights,
            value=error,
            grad=gradient,
            value_fn=lambda weights: loss(weights, blocks, recipe.activation),
        )
        return (optax.apply_updates(weights, change), memory), error

    optimizer = optax.with_extra_args_support(_optimizer(recipe, data))
    begin = state.weights, state.memory
    if data.batches is None:
        end, error = step(begin, data.blocks)
    else:
        error = loss(state.weights, data.blocks, recipe.activation)
        end, _ = lax.scan(step, begin, data.batches.shuffled(jax.random.fold_in(data.key, epoch)))
    score = _score(recipe, state.weights, data, error)
    kept = _keep_best(state, state.weights, score, epoch)
    return kept._replace(weights=end[0], memory=end[1]), error, score


def _optimizer(recipe: Recipe, data: Data) -> Any:
    """The optimiser of the recipe, or Adam with the learning rate `rate * decay**epoch`."""
    if recipe.optimizer is not None:
        return recipe.optimizer
    n_steps = 1 if data.batches is None else data.batches.places.shape[0]
    return optax.adam(lambda count: data.learning_rate * data.decay ** (count // n_steps))


def _score(recipe: Recipe, weights: Weights, data: Data, error: Array) -> Array:
    """The error by which the best weights are chosen."""
    if data.validation is None:
        return error
    return loss(weights, data.validation, recipe.activation)


def _keep_best(state: State, weights: Weights, score: Array, epoch: Array) -> State:
    better = score < state.best_score  # False for NaN
    return state._replace(
        best=jax.tree.map(lambda new, old: jnp.where(better, new, old), weights, state.best),
        best_score=jnp.where(better, score, state.best_score),
        best_epoch=jnp.where(better, epoch, state.best_epoch),
    )
