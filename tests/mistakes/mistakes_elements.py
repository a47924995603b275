"""Mistakes in calls of operations on elements, shapes, reductions, products, sorts and transforms."""

from __future__ import annotations

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops

ROWS = np.zeros((2, 3), np.float32)
LINE = np.zeros(3, np.float32)
COUNTS = np.zeros((2, 3), np.int32)
WAVES = np.zeros((2, 3), np.complex64)
ZERO = np.zeros((), np.float32)

MISTAKES = [
    Mistake("ranks differ", lambda x, y: ops.add(x, y), ops.ShapeError, (ROWS, LINE)),
    Mistake("sizes differ", lambda x, y: ops.mul(x, y), ops.ShapeError, (LINE, np.zeros(4, np.float32))),
    Mistake("types differ", lambda x, y: ops.sub(x, y), ops.DTypeError, (ROWS, COUNTS)),
    Mistake("dimension met twice", lambda x, y: ops.add(x, y, (1, 1)), ops.ArgumentError, (ROWS, ROWS[:, :2])),
    Mistake("order of complex", lambda x, y: ops.lt(x, y), ops.DTypeError, (WAVES, WAVES)),
    Mistake("sine of integers", lambda x: ops.sin(x), ops.DTypeError, (COUNTS,)),
    Mistake("float for integers", lambda x: ops.add(x, 0.5), ops.DTypeError, (COUNTS,)),
    Mistake("clamp of a longer bound", lambda x, y: ops.clamp(y, x, y), ops.ShapeError, (ROWS, LINE)),
    Mistake("select by numbers", lambda x: ops.select(x, x, x), ops.DTypeError, (ROWS,)),
    Mistake("bits of another width", lambda x: ops.bitcast_convert_type(x, "f64"), ops.ShapeError, (ROWS,)),
    Mistake("unknown element type", lambda x: ops.convert_element_type(x, "f33"), ops.DTypeError, (ROWS,)),
    Mistake("element count changes", lambda x: ops.reshape(x, (7,)), ops.ShapeError, (ROWS,)),
    Mistake("no permutation", lambda x: ops.transpose(x, (0, 0)), ops.ArgumentError, (ROWS,)),
    Mistake("slice past the end", lambda x: ops.slice(x, (0, 0), (2, 4)), ops.ShapeError, (ROWS,)),
    Mistake("sizes beside the seam", lambda x, y: ops.concatenate((x, y), 1), ops.ShapeError, (ROWS, ROWS[:1])),
    Mistake(
        "reduced dimension out of range",
        lambda x, z: ops.reduce(x, z, ops.add, (7,)),
        ops.ArgumentError,
        (ROWS, ZERO),
    ),
    Mistake("start of another type", lambda x, z: ops.reduce(x, z, ops.add, (0,)), ops.DTypeError, (COUNTS, ZERO)),
    Mistake("inner sizes differ", lambda x: ops.dot(x, x), ops.ShapeError, (ROWS,)),
    Mistake("factor of a row", lambda x: ops.cholesky(x, True), ops.ShapeError, (ROWS,)),
    Mistake("sort along a missing dimension", lambda x: ops.sort(x, dimension=2), ops.ArgumentError, (ROWS,)),
    Mistake("more than there are", lambda x: ops.top_k(x, 4), ops.ShapeError, (LINE,)),
    Mistake("running sum along a missing dimension", lambda x: ops.cumsum(x, 1), ops.ArgumentError, (LINE,)),
    Mistake("dimension beyond the shape", lambda: ops.iota("f32[2]", 1), ops.ArgumentError),
    Mistake("text that is no shape", lambda: ops.iota("two floats", 0), ops.ArgumentError),
]
