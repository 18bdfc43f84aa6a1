"""The algorithm on one page: from rows to a network and its path.

    samples, coordinates -> search -> selection -> outer weights -> correction -> choice

Steps GSN 1 to GSN 4 of the paper, and the extensions to it. The `Plan` contains the parameters, the
`Objective` defines what is minimised; `construct` is the same for least squares, other losses and
classification.
"""

from dataclasses import replace

from greedynet.fitting.growth import Growth
from greedynet.fitting.objective import Objective
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import OnStep, Problem, steps_beyond
from greedynet.model.path import ShallowPath
from greedynet.model.stop_reason import StopReason
from greedynet.support.clock import FOR_GROWTH
from greedynet.support.context import FitContext
from greedynet.support.types import Float64

# A network with a smaller error is constructed again, from rows that are not rounded.
NOISE_FREE = 1e-7


def construct(
    data: TrainingData,
    plan: Plan,
    objective: Objective,
    *,
    scores: Float64 | None = None,
    context: FitContext | None = None,
    on_step: OnStep | None = None,
) -> ShallowPath:
    """Construct a network from rows (GSN 1 to 4).

    Parameters
    ----------
    data : TrainingData
        Training rows, rows by which the width is chosen, and how rows are sampled.
    plan : Plan
        Parameters of the construction.
    objective : Objective
        What to minimise.
    scores : ndarray or None
        Scores of the widths, if already known (from `cross_validate`).
    context : FitContext or None
        Threads, journal, progress.
    on_step : callable or None
        Called after each neuron with a function that returns the network so far, its training error
        and its number of nodes; the growth ends if it returns True.

    Returns
    -------
    path : ShallowPath
        Contains the network of the full growth, and the finished one.
    """
    context = context or FitContext()
    path = _in_time(_constructed(data, plan, objective, scores, context, on_step), context)
    if not plan.rounds or path.kept_error > NOISE_FREE or context.clock.is_over():
        return path
    # The rows are nearly reproduced: they deserve all their digits.
    plan, context = replace(plan, rounded=False), context.branch("exact")
    beyond = steps_beyond(path, on_step)
    again = _in_time(_constructed(data, plan, objective, scores, context, beyond), context)
    is_late = context.clock.ran_out.is_set()
    return path if is_late and again.kept_error > path.kept_error else again


def _in_time(path: ShallowPath, context: FitContext) -> ShallowPath:
    """Return the path, which says so if the time ran out."""
    kept = (StopReason.CALLBACK, StopReason.EXACT)
    if not context.clock.ran_out.is_set() or path.stop_reason in kept:
        return path
    return replace(path, stop_reason=StopReason.MAX_SECONDS)


def _constructed(
    data: TrainingData,
    plan: Plan,
    objective: Objective,
    scores: Float64 | None,
    context: FitContext,
    on_step: OnStep | None,
) -> ShallowPath:
    """Construct a network from rows that are rounded or not."""
    problem = Problem(data, plan, objective, scores, context)
    problem.decision = objective.decided(problem)
    growth, *others = _grown(problem, on_step)
    path = problem.path(growth, problem.limits.max_neurons)
    is_final = plan.shape is None and objective.is_final(growth, path)
    if not plan.correct or (is_final and problem.is_decided(growth)):
        return problem.told(objective.as_grown(problem, growth, path))
    for grown in (growth, *others):
        grown.release_search()
    finished = objective.correct(problem, [growth, *others], path)
    return problem.told(problem.finished_path(path, growth, finished))


def _grown(problem: Problem, on_step: OnStep | None) -> list[Growth]:
    """Grow one network, and others that share its width if the residual may be noise."""
    most, objective = problem.reach, problem.objective
    # If time is limited, some of it is left for the correction.
    context = problem.context.until(FOR_GROWTH) if problem.is_corrected else problem.context
    growth = problem.grow(problem.start(0, context), most, on_step, context)
    n_networks = objective.n_networks(problem) if problem.is_corrected else 1
    if n_networks == 1 or not objective.is_noise(problem, growth) or context.clock.is_over():
        return [growth]
    starts = [problem.start(turn, context) for turn in range(1, n_networks)]
    others = [problem.grow(start, most // n_networks, context=context) for start in starts]
    return [growth, *(other for other in others if other.candidates)]
