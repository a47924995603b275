"""Mistakes in calls of operations over windows."""

from __future__ import annotations

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops

LINE = np.zeros(5, np.float32)
ROWS = np.zeros((2, 3), np.float32)
COUNTS = np.zeros(5, np.int32)
ZERO = np.zeros((), np.float32)

MISTAKES = [
    Mistake(
        "window of nothing", lambda x, z: ops.reduce_window(x, z, ops.add, (0,)), ops.ArgumentError, (LINE, ZERO)
    ),
    Mistake(
        "window for two dimensions",
        lambda x, z: ops.reduce_window(x, z, ops.add, (2, 2)),
        ops.ArgumentError,
        (LINE, ZERO),
    ),
    Mistake(
        "stride of nothing",
        lambda x, z: ops.reduce_window(x, z, ops.add, (2,), (0,)),
        ops.ArgumentError,
        (LINE, ZERO),
    ),
    Mistake(
        "dilation of nothing",
        lambda x, z: ops.reduce_window(x, z, ops.add, (2,), window_dilations=(0,)),
        ops.ArgumentError,
        (LINE, ZERO),
    ),
    Mistake(
        "unknown padding",
        lambda x, z: ops.reduce_window(x, z, ops.add, (2,), padding="FULL"),
        ops.ArgumentError,
        (LINE, ZERO),
    ),
    Mistake(
        "padding of one side",
        lambda x, z: ops.reduce_window(x, z, ops.add, (2,), padding=((1,),)),
        ops.ArgumentError,
        (LINE, ZERO),
    ),
    Mistake(
        "start of another type than the windows",
        lambda x, z: ops.reduce_window(x, z, ops.add, (2,)),
        ops.DTypeError,
        (COUNTS, ZERO),
    ),
    Mistake(
        "start for every element",
        lambda x: ops.reduce_window(x, x, ops.add, (2,)),
        ops.ShapeError,
        (LINE,),
    ),
    Mistake(
        "windows of other sizes",
        lambda x, y, z: ops.reduce_window((x, y), (z, z), lambda a, b, c, d: (a, b), (2,)),
        ops.ShapeError,
        (LINE, LINE[1:], ZERO),
    ),
    Mistake(
        "windows without operands",
        lambda: ops.reduce_window((), (), ops.add, (2,)),
        ops.ArgumentError,
    ),
    Mistake(
        "computation of another type",
        lambda x, z: ops.reduce_window(x, z, lambda a, b: ops.lt(a, b), (2,)),
        ops.DTypeError,
        (LINE, ZERO),
    ),
]
