"""The trace under construction: the one ambient value of the package.

Operations such as iota have no traced operand, so they have to find the trace they belong to here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xjit.ir.context import Trace

_current: ContextVar[Trace | None] = ContextVar("xjit_trace", default=None)


def current() -> Trace | None:
    """The trace under construction in this context, if any."""
    return _current.get()


@contextlib.contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Makes a trace the current one."""
    before = _current.get()
    _current.set(trace)
    try:
        yield trace
    finally:
        # Not reset to having no value: CPython 3.11 keeps a pointer to the old one if a finaliser reads it meanwhile.
        _current.set(before)


@contextlib.contextmanager
def untraced() -> Iterator[None]:
    """Runs code as if nothing were traced."""
    before = _current.get()
    _current.set(None)
    try:
        yield
    finally:
        _current.set(before)
