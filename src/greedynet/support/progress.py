"""What a fit is doing, told to whoever listens: most of its time passes between two neurons.

A part of a fit that may take long says so with `tell`. Nobody has to listen, and what is told
changes nothing. Listening is for one fit: fits in other threads have listeners of their own.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str], None]

_listener: ContextVar[Listener | None] = ContextVar("greedynet_listener", default=None)


def tell(stage: str) -> None:
    """Say what begins now, such as "pruning: 31 neurons"."""
    listener = _listener.get()
    if listener is not None:
        listener(stage)


@contextmanager
def heard_by(listener: Listener | None) -> Iterator[None]:
    """Let a listener hear what is told in this block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def listener() -> Listener | None:
    """Return who listens here, for threads that work for this one: `_listener` is not theirs."""
    return _listener.get()


def listen(listener: Listener | None) -> None:
    """Let the listener of another thread hear what is told in this one from now on."""
    _listener.set(listener)
