"""What tests see of a fit while it grows, and ways to interrupt it."""

from dataclasses import dataclass, field, replace

from greedynet.fitting.climb import FoldFit
from greedynet.linalg.factor import Factor
from greedynet.support.context import Clock


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


def watch_columns(monkeypatch, watch):
    """Call `watch` after every column that a factor was asked to append: whether it did."""
    append = Factor.append

    def watched(factor, column):
        taken = append(factor, column)
        watch(taken)
        return taken

    monkeypatch.setattr(Factor, "append", watched)


def fail_while_growing(monkeypatch, error):
    """Have every sixth column that is appended to a factor raise the error."""
    columns = []

    def fail(taken):
        columns.append(taken)
        if len(columns) % 6 == 0:
            raise error("power cut")

    watch_columns(monkeypatch, fail)


def folds_of_fit(monkeypatch, model, *arguments, **more):
    """Return the folds of a fit, which are training and held-out rows."""
    seen, before = [], FoldFit.__init__

    def begun(self, split, *rest):
        seen.append(split)
        before(self, split, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(FoldFit, "__init__", begun)
        model.fit(*arguments, **more)
    return seen


def predictions_of_folds(monkeypatch, model, *arguments):
    """Return what each fold of a fit predicted of its held-out rows, candidate by candidate."""
    found, before = {}, FoldFit.advance

    def advance(self, candidate):
        predictions = before(self, candidate)
        found.setdefault(self, []).append(predictions[0])
        return predictions

    with monkeypatch.context() as patch:
        patch.setattr(FoldFit, "advance", advance)
        model.fit(*arguments)
    return list(found.values())


@dataclass(frozen=True, eq=False)
class CountingClock(Clock):
    """A clock that is over after it was asked a number of times."""

    end: float = 0.0
    left: list = field(default_factory=list)

    def until(self, share):
        return replace(self)

    def is_over(self, needed=0.0):
        if self.left:
            self.left.pop()
            return False
        self.ran_out.set()
        return True


def run_out_of_time(monkeypatch, n):
    """Have fits run out of time when they have asked for it `n` times; return their clock."""
    clock = CountingClock(left=[None] * n)
    monkeypatch.setattr(Clock, "of", lambda _: clock)
    return clock
