"""Ways to interrupt a fit while it grows, shared by the tests."""

from greedynet.linalg.factor import Factor


class StopAfter:
    """A callback that asks to stop after some candidates, or raises an error."""

    def __init__(self, n, error=None):
        self.left, self.error = n, error

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        self.left -= context.task_name == "neuron"
        if self.left == 0 and self.error is not None:
            raise self.error("enough")
        return self.left == 0


def fail_while_growing(monkeypatch, error):
    """Have every sixth column that is appended to a factor raise the error."""
    append, calls = Factor.append, []

    def limited(factor, column):
        calls.append(column)
        if len(calls) % 6 == 0:
            raise error("power cut")
        return append(factor, column)

    monkeypatch.setattr(Factor, "append", limited)
