"""`Scope`: settings that hold for a block of code, as scikit-learn's `config_context` does."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

T = TypeVar("T")


class Scope(Generic[T]):
    """A value with a default, which a block of code may have otherwise.

    Parameters
    ----------
    name : str
    default : any
        An immutable value.
    """

    def __init__(self, name: str, default: T) -> None:
        self._variable: ContextVar[T] = ContextVar(name, default=default)

    @property
    def current(self) -> T:
        """The value here."""
        return self._variable.get()

    @contextmanager
    def use(self, value: T) -> Iterator[None]:
        """Let code in this block, and in this thread, have another value."""
        token = self._variable.set(value)
        try:
            yield
        finally:
            self._variable.reset(token)
