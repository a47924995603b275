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
    Mistake(
        "scale of another length",
        lambda x, s: ops.batch_norm_training(x, s, s, 0.1, 1),
        ops.ShapeError,
        (ROWS, LINE),
    ),
    Mistake(
        "features along no dimension",
        lambda x, s: ops.batch_norm_training(x, s, s, 0.1, 2),
        ops.ArgumentError,
        (ROWS, LINE[:3]),
    ),
    Mistake(
        "normalised integers",
        lambda x: ops.batch_norm_training(x, x, x, 0.1, 0),
        ops.DTypeError,
        (COUNTS,),
    ),
    Mistake(
        "gradient of other sizes",
        lambda x, s: ops.batch_norm_grad(x, s, s, s, s, 0.1, 1),
        ops.ShapeError,
        (ROWS, LINE[:3]),
    ),
    Mistake(
        "epsilon in an array",
        lambda x, s: ops.batch_norm_training(x, s, s, s, 1),
        ops.DTypeError,
        (ROWS, LINE[:3]),
    ),
    Mistake(
        "source for other windows",
        lambda x, z: ops.select_and_scatter(x, ops.ge, (2,), None, "VALID", x, z, ops.add),
        ops.ShapeError,
        (LINE, ZERO),
    ),
    Mistake(
        "selection of numbers",
        lambda x, z: ops.select_and_scatter(x, ops.add, (1,), None, "VALID", x, z, ops.add),
        ops.DTypeError,
        (LINE, ZERO),
    ),
    Mistake(
        "source of another type",
        lambda x, y, z: ops.select_and_scatter(x, ops.ge, (1,), None, "VALID", y, z, ops.add),
        ops.DTypeError,
        (LINE, COUNTS, ZERO),
    ),
]
