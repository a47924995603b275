"""Mistakes in choices, conversions and sizes of dimensions: rules that other tables leave out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops

LINE = np.arange(5, dtype=np.float32)


def zeros(*dims: int, dtype: Any = np.float32) -> Any:
    """Zeros of these dimensions."""
    return np.zeros(dims, dtype)


MISTAKES = [
    Mistake("clamp: min", lambda a, b, c: ops.clamp(a, b, c), ops.DTypeError, (np.int32(0), zeros(2), np.float32(3))),
    Mistake(
        "clamp: operand",
        lambda a, b, c: ops.clamp(a, b, c),
        ops.DTypeError,
        (np.complex64(0), zeros(2, dtype=np.complex64), np.complex64(3)),
    ),
    Mistake(
        "select: on_false",
        lambda p, a, b: ops.select(p, a, b),
        ops.DTypeError,
        (np.bool_(1), LINE, zeros(5, dtype=np.int32)),
    ),
    Mistake(
        "select: on_false, 2",
        lambda p, a, b: ops.select(p, a, b),
        ops.ShapeError,
        (np.bool_(1), LINE, zeros(4)),
    ),
    Mistake("select: pred", lambda p, a: ops.select(p, a, a), ops.ShapeError, (zeros(1, dtype=bool), LINE)),
    Mistake("select: pred, 2", lambda p, a: ops.select(p, (a,), (a,)), ops.ShapeError, (zeros(5, dtype=bool), LINE)),
    Mistake("map: operands", lambda: ops.map((), lambda: np.float32(1)), ops.ArgumentError),
    Mistake("map: dimensions", lambda a: ops.map((a,), lambda p: p, dimensions=(1,)), ops.ArgumentError, (LINE,)),
    Mistake("map: operands[1]", lambda a, b: ops.map((a, b), lambda p, q: p), ops.ShapeError, (LINE, zeros(4))),
    Mistake("map: computation", lambda a: ops.map((a,), lambda p: ops.broadcast(p, (2,))), ops.ShapeError, (LINE,)),
    Mistake("map: computation, 2", lambda a: ops.map((a,), lambda p: (p, p)), ops.ArgumentError, (LINE,)),
    Mistake(
        "bitcast_convert_type: new_element_type",
        lambda a: ops.bitcast_convert_type(a, "u8"),
        ops.DTypeError,
        (zeros(2, dtype=bool),),
    ),
    Mistake(
        "reduce_precision: exponent_bits",
        lambda a: ops.reduce_precision(a, exponent_bits=0, mantissa_bits=1),
        ops.ArgumentError,
        (LINE,),
    ),
    Mistake(
        "reduce_precision: mantissa_bits",
        lambda a: ops.reduce_precision(a, exponent_bits=1, mantissa_bits=-1),
        ops.ArgumentError,
        (LINE,),
    ),
    Mistake(
        "reduce_precision: operand",
        lambda a: ops.reduce_precision(a, exponent_bits=1, mantissa_bits=1),
        ops.DTypeError,
        (zeros(2, dtype=np.int32),),
    ),
    Mistake(
        "convert_element_type: operand", lambda a: ops.convert_element_type((a,), "f64"), ops.DTypeError, (LINE,)
    ),
    Mistake(
        "convert_element_type: four bits",
        lambda a: ops.convert_element_type(a, "u4"),
        ops.DTypeError,
        (LINE,),
    ),
    Mistake("convert_element_type: no type", lambda a: ops.convert_element_type(a, None), ops.DTypeError, (LINE,)),
    Mistake("zeros: shape of four bits", lambda: ops.zeros("f4[2]"), ops.DTypeError),
    Mistake(
        "set_dimension_size: dimension",
        lambda a, n: ops.set_dimension_size(a, n, 1),
        ops.ArgumentError,
        (LINE, np.int32(2)),
    ),
    Mistake(
        "set_dimension_size: size", lambda a: ops.set_dimension_size(a, np.int32(7), 0), ops.ArgumentError, (LINE,)
    ),
    Mistake("get_dimension_size: dimension", lambda a: ops.get_dimension_size(a, 1), ops.ArgumentError, (LINE,)),
]
