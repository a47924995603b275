"""Mistakes in calls of reductions, windows and sorts: rules that other tables leave out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops

LINE = np.arange(5, dtype=np.float32)


def zeros(*dims: int, dtype: Any = np.float32) -> Any:
    """Zeros of these dimensions."""
    return np.zeros(dims, dtype)


def _scattered(**changes: Any) -> Any:
    rest: dict[str, Any] = {"window_dimensions": (3,), "window_strides": (1,), "padding": "VALID"}
    rest |= {"init_value": np.float32(0), "scatter": ops.add, **changes}
    return lambda a, s: ops.select_and_scatter(a, ops.ge, source=s, **rest)


MISTAKES = [
    Mistake("reduce: init_values", lambda: ops.reduce((), (), ops.add, (0,)), ops.ArgumentError),
    Mistake(
        "reduce: dimensions", lambda a: ops.reduce(a, np.float32(0), ops.add, (0, 0)), ops.ArgumentError, (LINE,)
    ),
    Mistake(
        "reduce: operands[1]",
        lambda a, b: ops.reduce((a, b), (np.float32(0), np.float32(0)), lambda a, b, c, d: (a, b), (0,)),
        ops.ShapeError,
        (LINE, zeros(4)),
    ),
    Mistake("reduce: init_values[0]", lambda a: ops.reduce(a, zeros(1), ops.add, (0,)), ops.ShapeError, (LINE,)),
    Mistake("reduce: computation", lambda a: ops.reduce(a, np.float32(0), ops.lt, (0,)), ops.DTypeError, (LINE,)),
    Mistake(
        "reduce_window: base_dilations",
        lambda a: ops.reduce_window(a, np.float32(0), ops.add, (1,), None, (0,)),
        ops.ArgumentError,
        (LINE,),
    ),
    Mistake(
        "reduce_window: padding",
        lambda a: ops.reduce_window(a, np.float32(0), ops.add, (1,), padding=((0, 0), (0, 0))),
        ops.ArgumentError,
        (LINE,),
    ),
    Mistake("select_and_scatter: source", _scattered(), ops.ShapeError, (LINE, zeros(2))),
    Mistake(
        "select_and_scatter: window_dimensions",
        _scattered(window_dimensions=(0,)),
        ops.ArgumentError,
        (LINE, zeros(3)),
    ),
    Mistake(
        "select_and_scatter: window_strides",
        _scattered(window_strides=(0,)),
        ops.ArgumentError,
        (LINE, zeros(3)),
    ),
    Mistake(
        "select_and_scatter: window_dimensions, 2",
        _scattered(window_dimensions=(1, 1)),
        ops.ArgumentError,
        (LINE, zeros(3)),
    ),
    Mistake("select_and_scatter: init_value", _scattered(init_value=zeros(1)), ops.ShapeError, (LINE, zeros(3))),
    Mistake(
        "select_and_scatter: init_value, 2",
        _scattered(init_value=np.int32(0)),
        ops.DTypeError,
        (LINE, zeros(3)),
    ),
    Mistake("sort: dimension", lambda a: ops.sort(a, None, 1), ops.ArgumentError, (LINE,)),
    Mistake("top_k: operand", lambda a: ops.top_k(a, 6), ops.ShapeError, (LINE,)),
]
