"""Python's garbage collector, held while the compiler builds what it goes on to use."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """No garbage collection inside, if there is one outside.

    Tracing and compiling make many objects in a short time and drop few of them, which is when the collector walks
    everything that is alive in the process: tens of milliseconds, more than a small kernel takes to compile.

    >>> with paused():
    ...     gc.isenabled()
    False
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
