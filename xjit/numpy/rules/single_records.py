"""Calls of ufuncs that one record computes: what such a call does is found once for operands of these types.

Most operators in loops of Python are calls of this kind, such as ``x * y`` and ``x + 0.5`` over arrays of one shape.
They need neither conversions nor repeated arrays, so that only the node is left to make.  All other calls, errors
among them, go the long way through the rules for promotion, broadcasting and memory order.
"""

from __future__ import annotations

import functools
import struct
from typing import Any, TypeAlias

import numpy as np

from xjit.dataclass import dataclass
from xjit.errors import XjitError
from xjit.ir.context import Trace, TracedValue
from xjit.ir.node import Node
from xjit.ir.opdef import OpDef
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import loop_types, typed
from xjit.numpy.rules.values import order_of_loop
from xjit.ops.define import rules
from xjit.ops.define.core import lift
from xjit.types import ArrayType, DType, TupleType, dtype_class, scalar_type

Operands: TypeAlias = "tuple[ArrayType | type, ...]"
_NUMBERS = (float, int)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a record: the element type and the shape of all operands, and whether it yields a scalar."""

    op: OpDef
    dtype: DType
    shape: tuple[int, ...]

    @property
    def is_scalar(self) -> bool:
        """Return whether NumPy hands out a scalar."""
        return not self.shape


def result(ufunc: np.ufunc, op: OpDef, classes: str, operands: tuple[Any, ...], trace: Trace) -> Any:
    """The result of a call that one record computes in some classes of types; None where there is more to do."""
    if trace.extents is not None:
        return None
    types = tuple([_type_of(value) for value in operands])
    call = _call(ufunc, op, classes, types)
    if call is None:
        return None
    nodes = [
        _number(value, call, trace) if type in _NUMBERS else trace.adopt(value.node)
        for value, type in zip(operands, types, strict=True)
    ]
    made = trace.wrap(trace.add(call.op, tuple(nodes), {}), trace)
    if call.is_scalar:
        made.scalar = True
    return made


def _type_of(value: Any) -> Any:
    """The type of a traced array, or of a Python number; None of everything else."""
    if isinstance(value, TracedValue):
        return value.node.type if value.weak is None else None
    kind = type(value)
    return kind if kind in _NUMBERS else None


def _number(value: float, call: Call, trace: Trace) -> Node:
    """The node of a Python number in the shape of the arrays that it meets."""
    bits = struct.pack("<d", value) if type(value) is float else value
    return trace.once(
        (type(value), bits, call.dtype, call.shape),
        lambda: lift(trace, broadcast_to_shape(typed(value, call.dtype), call.shape)),
    )


@functools.lru_cache(maxsize=4096)
def _call(ufunc: np.ufunc, op: OpDef, classes: str, operands: Operands) -> Call | None:
    """The call of a record over operands of these types, if there is nothing else to do."""
    arrays = [one for one in operands if isinstance(one, ArrayType)]
    if len(operands) != ufunc.nin or not arrays or any(one is None for one in operands):
        return None
    try:
        loop = loop_types(ufunc, tuple(one.dtype if isinstance(one, ArrayType) else one for one in operands))
        dtype, dims = loop[0], arrays[0].dims
        if any(one.dtype != dtype or one.dims != dims for one in arrays) or set(loop[: ufunc.nin]) != {dtype}:
            return None
        number = rules.view_type(scalar_type(dtype), dims, (None,) * len(dims))
        if dtype_class(dtype) not in classes:
            return None
        types = tuple(one if isinstance(one, ArrayType) else number for one in operands)
        found = op.infer(types, {})
    except XjitError:
        return None  # told by the long way, in the user's words
    packed = not isinstance(found, TupleType) and found.order == order_of_loop(arrays)
    return Call(op, dtype, arrays[0].shape) if packed else None
