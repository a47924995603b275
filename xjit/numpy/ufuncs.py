"""NumPy's ufuncs: one row each, from the ufunc to the record or composition that computes its loop.

Adding one is one row in ROWS. Everything else (promotion, casts, broadcasting, scalars) is the same for all.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import CaptureError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.opdef import OpDef
from xjit.numpy.analysis import scipy_special
from xjit.numpy.rules import compositions as c
from xjit.numpy.rules import single_records
from xjit.numpy.rules.broadcasting import broadcast, broadcast_to_shape
from xjit.numpy.rules.powers import power
from xjit.numpy.rules.promotion import as_array, cast, loop_types, requested, spec_of, typed, weak_type
from xjit.numpy.rules.values import as_scalar, copied, is_scalar, loop_order, operand, refuse, shape_of, with_order
from xjit.ops.define.core import Operand, apply, dtype_of
from xjit.ops.for_numpy.numpy_ufunc import record_of
from xjit.types import BOOL, INT64, DType, dtype_class

Row = Callable[..., Any]

ROWS: dict[np.ufunc, Row] = {
    np.add: ops.add,
    np.subtract: ops.sub,
    np.multiply: ops.mul,
    np.divide: ops.div,
    np.floor_divide: ops.floor_divide,
    np.remainder: ops.remainder,
    np.fmod: ops.fmod,
    np.divmod: lambda x, y: (ops.floor_divide(x, y), ops.remainder(x, y)),
    np.power: power,
    np.float_power: power,
    np.negative: ops.neg,
    np.positive: c.positive,
    np.absolute: c.absolute,
    np.fabs: ops.abs,
    np.sign: c.sign,
    np.square: ops.square,
    np.reciprocal: c.reciprocal,
    np.exp: ops.exp,
    np.exp2: ops.exp2,
    np.expm1: ops.expm1,
    np.log: ops.log,
    np.log2: ops.log2,
    np.log10: ops.log10,
    np.log1p: ops.log1p,
    np.sin: ops.sin,
    np.cos: ops.cos,
    np.tan: ops.tan,
    np.arcsin: ops.asin,
    np.arccos: ops.acos,
    np.arctan: ops.atan,
    np.arctan2: ops.atan2,
    np.sinh: ops.sinh,
    np.cosh: ops.cosh,
    np.tanh: ops.tanh,
    np.arcsinh: ops.asinh,
    np.arccosh: ops.acosh,
    np.arctanh: ops.atanh,
    np.sqrt: ops.sqrt,
    np.cbrt: ops.cbrt,
    np.hypot: ops.hypot,
    np.logaddexp: c.logaddexp,
    np.logaddexp2: c.logaddexp2,
    np.nextafter: ops.nextafter,
    np.spacing: ops.spacing,
    np.frexp: lambda x: (ops.frexp_mantissa(x), ops.frexp_exponent(x)),
    np.modf: c.modf,
    np.ldexp: ops.ldexp,
    np.degrees: c.degrees,
    np.rad2deg: c.degrees,
    np.radians: c.radians,
    np.deg2rad: c.radians,
    np.maximum: c.maximum,
    np.minimum: c.minimum,
    np.fmax: c.fmax,
    np.fmin: c.fmin,
    np.equal: ops.eq,
    np.not_equal: ops.ne,
    np.less: c.less,
    np.less_equal: c.less_equal,
    np.greater: c.greater,
    np.greater_equal: c.greater_equal,
    np.logical_and: c.logical_and,
    np.logical_or: c.logical_or,
    np.logical_xor: c.logical_xor,
    np.logical_not: c.logical_not,
    np.bitwise_and: ops.and_,
    np.bitwise_or: ops.or_,
    np.bitwise_xor: ops.xor,
    np.invert: ops.not_,
    np.left_shift: ops.shift_left,
    np.right_shift: c.right_shift,
    np.bitwise_count: c.bit_count,
    np.floor: c.whole(ops.floor),
    np.ceil: c.whole(ops.ceil),
    np.trunc: c.trunc,
    np.rint: c.rint,
    np.isnan: c.isnan,
    np.isinf: c.isinf,
    np.isfinite: c.isfinite,
    np.signbit: c.signbit,
    np.copysign: c.copysign,
    np.heaviside: c.heaviside,
    np.conjugate: c.conjugate,
}

COMPARISONS: dict[np.ufunc, str] = {
    np.equal: "eq",
    np.not_equal: "ne",
    np.less: "lt",
    np.less_equal: "le",
    np.greater: "gt",
    np.greater_equal: "ge",
}

# Compositions that are one record in some classes of element types.
_IN_CLASSES: dict[np.ufunc, tuple[Any, str]] = {
    np.maximum: (ops.max, "PIF"),
    np.minimum: (ops.min, "PIF"),
    np.absolute: (ops.abs, "IFC"),
}
# Ufuncs that one record computes, and where; comparisons also take Python integers that their loop does not.
_RECORDS: dict[np.ufunc, tuple[OpDef, str]] = {
    ufunc: (function.record, classes)
    for ufunc, (function, classes) in ({ufunc: (row, "PIFC") for ufunc, row in ROWS.items()} | _IN_CLASSES).items()
    if hasattr(function, "record") and ufunc not in COMPARISONS
}


def call(ufunc: np.ufunc, *inputs: Any, dtype: Any = None, casting: str = "same_kind", **options: Any) -> Any:
    """One call of a ufunc, with NumPy's promotion, broadcasting and result kind.

    Raises DTypeError for operands the ufunc does not take, ShapeError for shapes that do not broadcast,
    OverflowError for Python integers out of range, CaptureError for what cannot be traced.

    >>> call(np.add, np.int8([1, 2]), 3)
    array([4, 5], dtype=int8)
    """
    single, trace = _RECORDS.get(ufunc), current()
    if single is not None and trace is not None and not options and dtype is None and casting == "same_kind":
        result = single_records.result(ufunc, *single, inputs, trace)
        if result is not None:
            return result
    name = ufunc.__name__
    _refuse_options(name, options)
    if ufunc not in ROWS:
        _known(ufunc)
    if len(inputs) != ufunc.nin:
        raise TypeError(f"{name}() takes {ufunc.nin} positional arguments but {len(inputs)} were given")
    operands = tuple(operand(value, name, f"operand {place}") for place, value in enumerate(inputs))
    if ufunc in COMPARISONS and dtype is None:
        result = _compare(ufunc, *operands)
    else:
        loop = loop_types(ufunc, tuple(map(spec_of, operands)), requested(dtype, name), casting)
        result = _run(ufunc, _row(ufunc, loop), operands, loop)
    return finish(result, operands)


def _row(ufunc: np.ufunc, loop: tuple[DType, ...]) -> Row:
    """Return what computes a loop: kernels where there is a row, else NumPy itself between them."""
    found = ROWS.get(ufunc) or scipy_special.row_of(ufunc, dtype_class(loop[0]))
    return found or functools.partial(apply, _known(ufunc))


def _known(ufunc: np.ufunc) -> OpDef:
    record = record_of(ufunc)
    if record is None:
        raise CaptureError(f"numpy.{ufunc.__name__} is not supported", fix="call it outside of the compiled function")
    return record


def _refuse_options(name: str, options: dict[str, Any]) -> None:
    if options.get("where") is True:
        options.pop("where")
    if options.get("order") == "K":
        options.pop("order")
    options.pop("subok", None)
    refuse(name, **{key: key if key == "where" else value for key, value in options.items()})


def _run(ufunc: np.ufunc, row: Row, operands: tuple[Any, ...], loop: tuple[DType, ...]) -> Any:
    values = [typed(value, dtype) for value, dtype in zip(operands, loop, strict=False)]
    if ufunc in (np.power, np.float_power):
        exponent = spec_of(operands[1])
        result = power(values[0], values[1], loop[1] if isinstance(exponent, type) else exponent)
        return with_order(result, loop_order(*operands))
    return in_order(row, operands, *broadcast(ufunc.__name__, *values))


def in_order(row: Row, operands: tuple[Any, ...], *values: Operand) -> Any:
    """A composition over values of one shape, its results in the order of one loop of NumPy over the operands."""
    order, result = loop_order(*operands), row(*values)
    if isinstance(result, tuple):
        return tuple(with_order(part, order) for part in result)
    return with_order(result, order)


def finish(result: Any, operands: tuple[Any, ...]) -> Any:
    """Results as a ufunc returns them: never an operand itself, scalars in place of arrays of rank 0."""
    if isinstance(result, tuple):
        return tuple(finish(part, operands) for part in result)
    own = copied(result) if any(result is value for value in operands) else result
    return as_scalar(own)


def _compare(ufunc: np.ufunc, x: Any, y: Any) -> Any:
    """Comparisons also take Python integers beyond the range of the other operand's type."""
    name = COMPARISONS[ufunc]
    for number, other, relation in ((y, x, name), (x, y, c.MIRRORED[name])):
        if weak_type(number) is int and weak_type(other) is None and dtype_class(_dtype(other)) == "I":
            return _compare_integer(relation, other, number)
    both_integers = weak_type(x) is int and weak_type(y) is int  # compared as objects by NumPy
    loop = (INT64, INT64) if both_integers else loop_types(ufunc, (spec_of(x), spec_of(y)))
    values = broadcast(ufunc.__name__, typed(x, loop[0]), typed(y, loop[1]))
    row = ROWS[ufunc] if loop[0] == loop[1] else functools.partial(c.compare_mixed, name)
    return in_order(row, (x, y), *values)


def _dtype(value: Any) -> DType:
    return BOOL if isinstance(value, bool) else dtype_of(value)


def _compare_integer(name: str, array: Operand, number: Any) -> Any:
    dtype = dtype_of(array)
    if isinstance(number, TracedValue):  # a traced Python integer: any 64-bit value
        x, y = broadcast(name, array, as_array(number))
        if dtype == np.dtype(np.uint64):
            return c.compare_mixed(name, x, y)
        return getattr(ops, name)(cast(x, INT64), y)
    info = np.iinfo(dtype)
    if not info.min <= number <= info.max:
        below = number < info.min
        answer = name == "ne" or (name in ("gt", "ge") if below else name in ("lt", "le"))
        answers = broadcast_to_shape(np.asarray(answer), shape_of(array))
        return with_order(answers, loop_order(array))
    x, y = broadcast(name, array, np.asarray(number, dtype))
    return getattr(ops, name)(x, y)


# What NumPy's operator ** computes for these very numbers, in these classes of element types.
_SHORT_POWERS: dict[tuple[type, float], tuple[np.ufunc, str]] = {
    (int, 2): (np.square, "PIFC"),
    (int, -1): (np.reciprocal, "FC"),
    (float, 0.5): (np.sqrt, "FC"),
}


def power_operator(x: Any, y: Any) -> Any:
    """``x ** y``, which differs from ``numpy.power(x, y)`` for arrays to the powers of 2, -1 and 0.5.

    >>> power_operator(np.array([True]), 2).dtype, call(np.power, np.array([True]), 2).dtype
    (dtype('int8'), dtype('int64'))
    """
    short = short_power(x, y)
    return call(np.power, x, y) if short is None else call(short, x)


def short_power(x: Any, y: Any) -> np.ufunc | None:
    """The ufunc of one operand that ``x ** y`` means for an array and a constant, if there is one."""
    short = None if isinstance(y, TracedValue) or is_scalar(x) else _SHORT_POWERS.get((type(y), _number(y)))
    return short[0] if short is not None and dtype_class(dtype_of(x)) in short[1] else None


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) else math.nan
