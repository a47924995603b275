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

from xjit import cache, errors, jobs
from xjit.api.decorator import xjit
from xjit.api.descriptions import ShapeDtype
from xjit.errors import (
    ArgumentError,
    CaptureError,
    CommunicatorError,
    DTypeError,
    ShapeError,
    TargetError,
    XjitError,
)
from xjit.runtime.threads import threads

if TYPE_CHECKING:
    from xjit import numpy as numpy
    from xjit import ops as ops

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
    "errors",
    "jit",
    "numpy",
    "ops",
    "threads",
    "xjit",
]


def __getattr__(name: str) -> Any:
    """Loads ``xjit.ops`` and ``xjit.numpy`` when they are asked for, so that importing xjit stays quick."""
    if name in ("ops", "numpy"):
        return jobs.module(f"xjit.{name}")
    raise AttributeError(f"module 'xjit' has no attribute {name!r}")
