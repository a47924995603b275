"""Mistakes in random numbers, computations, tuples and channels: rules that other tables leave out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops

LINE = np.arange(5, dtype=np.float32)


def zeros(*dims: int, dtype: Any = np.float32) -> Any:
    """Zeros of these dimensions."""
    return np.zeros(dims, dtype)


def _same(x: Any) -> Any:
    return x


def _uniform(shape: str) -> Any:
    return lambda a, b: ops.rng_uniform(a, b, shape)


MISTAKES = [
    Mistake(
        "rng_bit_generator: initial_state",
        lambda s: ops.rng_bit_generator("RNG_PHILOX", s, "u32[2]"),
        ops.ShapeError,
        (np.uint64(1),),
    ),
    Mistake("rng_uniform: a", _uniform("f32[2]"), ops.ShapeError, (zeros(1), np.float32(1))),
    Mistake("rng_normal: mu", lambda a, s: ops.rng_normal(a, s, "f32[2]"), ops.ShapeError, (zeros(1), np.float32(1))),
    Mistake("call: computation", lambda a: ops.call(lambda: np.float32(1), a), ops.ArgumentError, (LINE,)),
    Mistake(
        "conditional: pred",
        lambda p, a: ops.conditional(p, a, _same, a, _same),
        ops.ShapeError,
        (zeros(1, dtype=bool), LINE),
    ),
    Mistake(
        "conditional: false_computation",
        lambda p, a: ops.conditional(p, a, _same, a, lambda v: ops.convert_element_type(v, "f64")),
        ops.DTypeError,
        (np.bool_(1), LINE),
    ),
    Mistake(
        "conditional: false_computation, 2",
        lambda p, a: ops.conditional(p, a, _same, a, lambda v: ops.slice(v, (0,), (2,))),
        ops.ShapeError,
        (np.bool_(1), LINE),
    ),
    Mistake(
        "conditional: false_computation, 3",
        lambda p, a: ops.conditional(p, a, _same, a, lambda v: (v,)),
        ops.ArgumentError,
        (np.bool_(1), LINE),
    ),
    Mistake(
        "conditional: branch_operands",
        lambda p, a: ops.conditional(p, (_same, _same), (a,)),
        ops.ArgumentError,
        (np.int32(0), LINE),
    ),
    Mistake(
        "get_tuple_element: index",
        lambda a, k: ops.get_tuple_element((a,), k),
        ops.DTypeError,
        (LINE, np.array(0)),
    ),
    Mistake(
        "custom_call: shape", lambda a: ops.custom_call("nobody_", (a,), (("f32[2]",),)), ops.ArgumentError, (LINE,)
    ),
    Mistake("recv_done: context", lambda: ops.recv_done((LINE, np.uint32(0))), ops.ArgumentError),
    Mistake("recv: channel_handle", lambda: ops.recv("f32[2]", -3), ops.ArgumentError),
]
