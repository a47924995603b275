"""Mistakes in calls of operations on dynamic sizes, and in sorts."""

from __future__ import annotations

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops

ROWS = np.zeros((2, 3), np.float32)
LINE = np.zeros(3, np.float32)
COUNTS = np.zeros(3, np.int32)

MISTAKES = [
    Mistake(
        "wide size", lambda x, n: ops.set_dimension_size(x, n, 0), ops.DTypeError, (ROWS, np.zeros((), np.int64))
    ),
    Mistake("float size", lambda x: ops.set_dimension_size(x, np.float32(1), 0), ops.DTypeError, (ROWS,)),
    Mistake("several sizes", lambda x, n: ops.set_dimension_size(x, n, 0), ops.ShapeError, (ROWS, COUNTS)),
    Mistake("size beyond the bound", lambda x: ops.set_dimension_size(x, np.int32(4), 1), ops.ArgumentError, (ROWS,)),
    Mistake("negative size", lambda x: ops.set_dimension_size(x, np.int32(-1), 1), ops.ArgumentError, (ROWS,)),
    Mistake("dimension to set", lambda x: ops.set_dimension_size(x, np.int32(1), 2), ops.ArgumentError, (ROWS,)),
    Mistake("size of a list", lambda: ops.set_dimension_size([1, 2], np.int32(1), 0), ops.DTypeError),
    Mistake("dimension to read", lambda x: ops.get_dimension_size(x, 2), ops.ArgumentError, (ROWS,)),
    Mistake("dimension from behind", lambda x: ops.get_dimension_size(x, -1), ops.ArgumentError, (ROWS,)),
    Mistake("sort of nothing", lambda: ops.sort(()), ops.ArgumentError),
    Mistake("sort of a number", lambda x: ops.sort(ops.reduce(x, 0.0, ops.add, (0,))), ops.ShapeError, (LINE,)),
    Mistake("sort of other sizes", lambda x, y: ops.sort((x, y)), ops.ShapeError, (LINE, np.zeros(4, np.float32))),
    Mistake("comparator of numbers", lambda x: ops.sort(x, lambda a, b: a - b), ops.DTypeError, (LINE,)),
    Mistake("sort from far behind", lambda x: ops.sort(x, dimension=-2), ops.ArgumentError, (ROWS,)),
]
