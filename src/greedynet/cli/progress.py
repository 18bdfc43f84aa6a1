"""Progress of a fit, on standard error: a bar on a terminal, otherwise occasional lines."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """When lines are printed where there is no terminal."""

    first: float = 2.0  # seconds to the first line
    next: float = 5.0  # from one to the next
    clock: Callable[[], float] = time.perf_counter


@dataclass(frozen=True)
class Report:
    """Displays the progress of a fit."""

    show: Callable[[str], None]  # takes a stage, such as "pruning: 31 neurons"

    def __call__(self, n_nodes: int, error: float) -> None:
        self.show(f"{n_nodes} nodes, error {error:.3g}")


@contextmanager
def reporter(pace: Pace | None = None) -> Iterator[Report]:
    """Lend a report, to be called with the number of nodes and the error."""
    with _bar() if sys.stderr.isatty() else _lines(pace or Pace()) as report:
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
def _lines(pace: Pace) -> Iterator[Report]:
    """Print from a thread: a fit may be busy for longer than between two neurons."""
    began, state, done = pace.clock(), ["reading"], threading.Event()

    def talk() -> None:
        pause = pace.first
        while not done.wait(pause):
            seconds = pace.clock() - began
            print(f"greedynet: {state[0]}, {seconds:.0f} s", file=sys.stderr, flush=True)
            pause = pace.next

    def show(now: str) -> None:
        state[0] = now

    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    try:
        yield Report(show)
    finally:
        done.set()
        thread.join()
