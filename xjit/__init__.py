"""xjit compiles ordinary NumPy functions to fused, parallel, vectorised loop nests.

>>> import numpy as np
>>> from xjit import xjit
>>> @xjit
... def softplus(x):
...     return np.log(1.0 + np.exp(x))
>>> softplus(np.zeros(2)).round(4)
array([0.6931, 0.6931])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xjit import errors, jobs
from xjit.api.decorator import xjit
from xjit.errors import (
    ArgumentError,
    CaptureError,
    CommunicatorError,
    DTypeError,
    ShapeError,
    TargetError,
    XjitError,
)

if TYPE_CHECKING:
    from xjit import cache as cache
    from xjit import numpy as numpy
    from xjit import ops as ops
    from xjit.api.descriptions import ShapeDtype as ShapeDtype
    from xjit.capture.control.branches import cond as cond
    from xjit.capture.control.branches import switch as switch
    from xjit.capture.control.loops import fori_loop as fori_loop
    from xjit.capture.control.loops import while_loop as while_loop
    from xjit.capture.control.row_loops import scan as scan
    from xjit.runtime.parallel.threads import threads as threads

jit = xjit

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "CaptureError",
    "CommunicatorError",
    "DTypeError",
    "ShapeDtype",
    "ShapeError",
    "TargetError",
    "XjitError",
    "__version__",
    "cache",
    "cond",
    "errors",
    "fori_loop",
    "jit",
    "numpy",
    "ops",
    "scan",
    "switch",
    "threads",
    "while_loop",
    "xjit",
]


_LATER = {
    "cache": "xjit.cache",
    "ops": "xjit.ops",
    "numpy": "xjit.numpy",
    "ShapeDtype": "xjit.api.descriptions:ShapeDtype",
    "threads": "xjit.runtime.parallel.threads:threads",
    "cond": "xjit.capture.control.branches:cond",
    "fori_loop": "xjit.capture.control.loops:fori_loop",
    "scan": "xjit.capture.control.row_loops:scan",
    "switch": "xjit.capture.control.branches:switch",
    "while_loop": "xjit.capture.control.loops:while_loop",
}


def __getattr__(name: str) -> Any:
    """Loads what importing xjit leaves out to be quick: a module, or a name in a module."""
    if name not in _LATER:
        raise AttributeError(f"module 'xjit' has no attribute {name!r}")
    module, _, inner = _LATER[name].partition(":")
    found: Any = jobs.module(module)
    if inner:
        found = globals()[name] = getattr(found, inner)
    return found
