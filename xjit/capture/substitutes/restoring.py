"""Context managers that put something back at their end and pass every error on, known to the trace."""

from __future__ import annotations

import contextlib
import sys
import warnings
from typing import Any

import numpy as np

from xjit.capture.tracers.provenance import enclosing_capture


def _restoring(cls: Any) -> Any:
    """The class with a trace that knows which frames run in its ``with`` statements."""

    def enter(self: Any) -> Any:
        trace = enclosing_capture()
        if trace is not None:
            trace.restoring.append(sys._getframe(1))
        entered = cls.__enter__(self)
        if trace is not None and cls is np.errstate:
            trace.error_states.append(dict(np.geterr()))
        return entered

    def leave(self: Any, *error: Any) -> Any:
        trace, frame = enclosing_capture(), sys._getframe(1)
        if trace is not None and frame in trace.restoring:
            trace.restoring.remove(frame)
            if cls is np.errstate and trace.error_states:
                trace.error_states.pop()
        return cls.__exit__(self, *error)

    return type(cls.__name__, (cls,), {"__enter__": enter, "__exit__": leave, "__module__": cls.__module__})


RESTORING: dict[Any, Any] = {
    cls: _restoring(cls) for cls in (np.errstate, warnings.catch_warnings, contextlib.nullcontext)
}
"""Stand-ins of such classes."""
