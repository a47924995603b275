"""Mistakes in calls of loops, branches, calls and tuples."""

from __future__ import annotations

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops
from xjit.errors import ArgumentError, DTypeError, ShapeError

N = np.int32(0)
X = np.arange(3.0, dtype=np.float32)
BELOW = lambda v: ops.lt(v, np.int32(3))  # noqa: E731
SAME = lambda v: v  # noqa: E731

MISTAKES = [
    Mistake("condition of a number", lambda i: ops.while_loop(SAME, SAME, i), DTypeError, (N,)),
    Mistake("condition of an array", lambda x: ops.while_loop(lambda v: ops.lt(v, X), SAME, x), ShapeError, (X,)),
    Mistake("body of another type", lambda i: ops.while_loop(BELOW, lambda v: np.float32(1), i), DTypeError, (N,)),
    Mistake(
        "body of another shape",
        lambda x: ops.while_loop(lambda v: np.True_, lambda v: ops.slice(v, (0,), (2,), (1,)), x),
        ShapeError,
        (X,),
    ),
    Mistake(
        "body of another structure",
        lambda i: ops.while_loop(lambda t: BELOW(t[0]), lambda t: t[0], (i, i)),
        ArgumentError,
        (N,),
    ),
    Mistake("body of two arguments", lambda i: ops.while_loop(BELOW, lambda a, b: a, i), ArgumentError, (N,)),
    Mistake("state of text", lambda i: ops.while_loop(BELOW, SAME, (i, "a")), DTypeError, (N,)),
    Mistake("predicate of a number", lambda i: ops.conditional(i, i, SAME, i, SAME), DTypeError, (N,)),
    Mistake("index of a long integer", lambda i: ops.conditional(i, (SAME,), (i,)), DTypeError, (np.int64(0),)),
    Mistake("index of an array", lambda i: ops.conditional(i, (SAME,), (i,)), ShapeError, (np.int32([0]),)),
    Mistake("no branches", lambda i: ops.conditional(i, (), ()), ArgumentError, (N,)),
    Mistake("two arguments", lambda i: ops.conditional(i, (SAME,)), ArgumentError, (N,)),
    Mistake(
        "branches of two types",
        lambda i: ops.conditional(i, (SAME, lambda v: np.float32(1)), (i, i)),
        DTypeError,
        (N,),
    ),
    Mistake("call with too much", lambda i: ops.call(SAME, i, i), ArgumentError, (N,)),
    Mistake("element behind the last", lambda i: ops.get_tuple_element((i,), 1), ArgumentError, (N,)),
    Mistake("element of an array", lambda x: ops.get_tuple_element(x, 0), ArgumentError, (X,)),
]
