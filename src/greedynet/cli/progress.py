"""Progress of a fit, on standard error: a bar on a terminal, otherwise occasional lines."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

FIRST_LINE, NEXT_LINES = 2.0, 5.0  # seconds


@dataclass(frozen=True)
class Report:
    """Displays the progress of a fit.

    Attributes
    ----------
    show : callable
        Takes a description of the current stage, such as "pruning: 31 neurons".
    """

    show: Callable[[str], None]

    def __call__(self, n_nodes: int, error: float) -> None:
        """Show the number of nodes and the error."""
        self.show(f"{n_nodes} nodes, error {error:.3g}")


@contextmanager
def reporter() -> Iterator[Report]:
    """Yield a report, to be called with the number of nodes and the error."""
    with _bar() if sys.stderr.isatty() else _lines() as report:
        yield report


@contextmanager
def _bar() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("fitting"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    # The final number of nodes is not known: the bar only indicates activity.
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, state="reading")
        yield Report(lambda state: bar.update(task, state=state))


@contextmanager
def _lines() -> Iterator[Report]:
    """Print from a thread: a stage of the fit may take long without any call."""
    began, state, done = time.perf_counter(), ["reading"], threading.Event()

    def talk() -> None:
        pause = FIRST_LINE
        while not done.wait(pause):
            seconds = time.perf_counter() - began
            print(f"greedynet: {state[0]}, {seconds:.0f} s", file=sys.stderr, flush=True)
            pause = NEXT_LINES

    def show(now: str) -> None:
        state[0] = now

    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    try:
        yield Report(show)
    finally:
        done.set()
        thread.join()
