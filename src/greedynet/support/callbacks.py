"""The callbacks of scikit-learn 1.9; in older versions the same names do nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    SUPPORTED = True
except ImportError:  # scikit-learn 1.8
    SUPPORTED = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "neuron_tasks", "with_callbacks"]

NeuronTask = Callable[[Callable[[], dict[str, Any]]], bool]


@contextmanager
def neuron_tasks(estimator: Any, X: Any, y: Any) -> Iterator[NeuronTask | None]:
    """Report a fit to the callbacks, with a task for each candidate: how many is not known before.

    Yields a function to call after each of them; its argument is a function that returns the fitted
    attributes so far, and it returns True if a callback requests a stop. Yields None if the
    estimator has no callbacks.
    """
    if not (SUPPORTED and hasattr(estimator, "_skl_callbacks")):
        yield None
        return
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def neuron(attributes: Callable[[], dict[str, Any]]) -> bool:
        task = context.subcontext(task_name="neuron")
        task.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        return bool(
            task.call_on_fit_task_end(
                estimator=estimator, X=X, y=y, reconstruction_attributes=attributes
            )
        )

    yield neuron
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes={})
