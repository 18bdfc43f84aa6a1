"""How a fit goes, on standard error: a bar on a terminal, else a line now and then."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

FIRST_LINE, NEXT_LINES = 2.0, 5.0  # seconds


@dataclass(frozen=True)
class Report:
    """Shows how a fit goes.

    Attributes
    ----------
    show : callable
        Takes what the fit is doing now, such as "pruning: 31 neurons".
    """

    show: Callable[[str], None]

    def __call__(self, n_nodes: int, error: float) -> None:
        """Show the number of nodes and the error."""
        self.show(f"{n_nodes} nodes, error {error:.3g}")


@contextmanager
def reporter() -> Iterator[Report]:
    """Lend a report, to be called with the number of nodes and the error."""
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
    # How many nodes there will be is what the fit finds out: the bar only moves.
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, state="reading")
        yield Report(lambda state: bar.update(task, state=state))


@contextmanager
def _lines() -> Iterator[Report]:
    """Print from a thread: a fit may be busy for longer than between two neurons."""
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
