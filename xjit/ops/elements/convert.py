"""Conversions: by value, by bits, and to fewer bits of precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from xjit.dataclass import dataclass
from xjit.errors import DTypeError, ShapeError
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ir.scalar_expr import Arg, Expr, bitcast, cast, cast_in_range, prim, select
from xjit.ops.define import rules
from xjit.ops.define.core import apply, as_operand, aval_of, register, static_int
from xjit.ops.define.formulas import bit_type
from xjit.ops.define.references import Array, convert
from xjit.ops.define.rules import got
from xjit.types import ArrayType, DType, array_type, as_dtype, bits, dtype_class

__all__ = ["bitcast_convert_type", "convert_element_type", "reduce_precision"]

Types = tuple[ArrayType, ...]
_float_info: Callable[[DType], Any] = ml_dtypes.finfo  # the package is not annotated

# ---- convert_element_type


def _infer_convert(types: Types, params: Params) -> ArrayType:
    return rules.elementwise_type(types, params["dtype"])


def _element_convert(types: Types, params: Params, out: ArrayType) -> Expr:
    operand = Arg(0, types[0].dtype)
    return cast_in_range(operand, out.dtype) if params.get("in_range") else cast(operand, out.dtype)


CONVERT = register(
    OpDef(
        name="convert_element_type",
        kind=Kind.ELEMENTWISE,
        xla_name="ConvertElementType",
        infer=_infer_convert,
        reference=lambda operand, dtype, in_range=False: convert(operand, dtype),
        element=_element_convert,
        doc="The same values in another element type: integers wrap, floats saturate to integers.",
    )
)


def convert_element_type(operand: Any, new_element_type: Any) -> Any:
    """The operand with its values converted; any element type to any other.

    Integers wrap; floats are truncated toward zero and held within the integer's range, NaN gives 0; everything
    that is not zero becomes true; of a complex number the real part is converted. Raises DTypeError.

    >>> convert_element_type(np.float32([3.99, -300, np.nan]), "s8")
    array([   3, -128,    0], dtype=int8)
    """
    name = "convert_element_type"
    array = as_operand(operand, name, "operand")
    return apply(CONVERT, array, dtype=as_dtype(new_element_type, f"ops.{name}: new_element_type"))


# ---- bitcast_convert_type


def _check_bitcast(types: Types, dtype: DType) -> None:
    source = types[0].dtype
    letters = dtype_class(source), dtype_class(dtype)
    if source != dtype and ("P" in letters or letters.count("C") == 1):
        raise DTypeError(
            "ops.bitcast_convert_type: new_element_type: PRED and complex numbers go to their own kind only; "
            f"got {got((types[0], types[0].with_dtype(dtype)))}"
        )


def _infer_bitcast(types: Types, params: Params) -> ArrayType:
    _check_bitcast(types, params["dtype"])
    return rules.elementwise_type(types, params["dtype"])


def _infer_bitcast_width(types: Types, params: Params) -> ArrayType:
    (type,), dtype = types, params["dtype"]
    _check_bitcast(types, dtype)
    if type.dtype.itemsize > dtype.itemsize:
        return array_type(dtype, (*type.dims, type.dtype.itemsize // dtype.itemsize))
    ratio = dtype.itemsize // type.dtype.itemsize
    if type.rank == 0 or type.dims[-1] != ratio:
        raise ShapeError(
            f"ops.bitcast_convert_type: operand: a last dimension of {ratio} is required; got {got(types)}"
        )
    return array_type(dtype, type.dims[:-1])


def _bitcast_width(operand: Array, dtype: DType) -> Array:
    packed = np.ascontiguousarray(operand)
    if operand.dtype.itemsize > dtype.itemsize:
        dims = (*operand.shape, operand.dtype.itemsize // dtype.itemsize)
    else:
        dims = operand.shape[:-1]
    return np.frombuffer(packed.tobytes(), dtype).reshape(dims)


BITCAST = register(
    OpDef(
        name="bitcast_convert_type",
        kind=Kind.ELEMENTWISE,
        xla_name="BitcastConvertType",
        infer=_infer_bitcast,
        reference=lambda operand, dtype: operand.view(dtype),
        element=lambda types, params, out: bitcast(Arg(0, types[0].dtype), params["dtype"]),
        doc="The same bits read as another type of the same width.",
    )
)
BITCAST_WIDTH = register(
    OpDef(
        name="bitcast_width",
        kind=Kind.INDEXING,
        xla_name="BitcastConvertType",
        infer=_infer_bitcast_width,
        reference=_bitcast_width,
        flat=True,
        doc="The same bytes read as elements of another width, along the last dimension.",
    )
)


def bitcast_convert_type(operand: Any, new_element_type: Any) -> Any:
    """The operand's bytes, little-endian, read as another element type.

    A narrower type appends a dimension; a wider one takes the last dimension, which has to be the ratio of the
    widths. Raises DTypeError between PRED or complex and another kind, ShapeError for a wrong last dimension.

    >>> bitcast_convert_type(np.float32([1, -2]), "u16")
    array([[    0, 16256],
           [    0, 49152]], dtype=uint16)
    """
    name = "bitcast_convert_type"
    array = as_operand(operand, name, "operand")
    dtype = as_dtype(new_element_type, f"ops.{name}: new_element_type")
    same_width = aval_of(array).dtype.itemsize == dtype.itemsize
    return apply(BITCAST if same_width else BITCAST_WIDTH, array, dtype=dtype)


# ---- reduce_precision


@dataclass(frozen=True, slots=True)
class Format:
    """The bits of a float type: exponent and fraction bits, exponent bias, patterns of limits without their sign."""

    exponent: int
    mantissa: int
    bias: int
    largest: int
    overflow: int
    signed_zero: bool


def float_format(dtype: DType) -> Format:
    """Return the layout of bits of a float type.

    >>> float_format(np.dtype(np.float32))
    Format(exponent=8, mantissa=23, bias=127, largest=2139095039, overflow=2139095040, signed_zero=True)
    """
    info = _float_info(dtype)
    raw = bit_type(dtype)

    def pattern(value: float) -> int:
        return int(np.array([value]).astype(dtype).view(raw)[0])

    mantissa = int(info.nmant)
    one, sign = pattern(1.0), 1 << (bits(dtype) - 1)
    signless = "fnuz" not in dtype.name
    return Format(
        exponent=bits(dtype) - 1 - mantissa,
        mantissa=mantissa,
        bias=one >> mantissa,
        largest=int(np.array([info.max], dtype).view(raw)[0]),
        overflow=pattern(np.inf) & (sign - 1) if signless else sign,
        signed_zero=signless,
    )


def _infer_reduce_precision(types: Types, params: Params) -> ArrayType:
    rules.check_class("reduce_precision", "operand", types[0], "F")
    rules.check_at_least("reduce_precision", "exponent_bits", (params["exponent_bits"],), 1)
    rules.check_at_least("reduce_precision", "mantissa_bits", (params["mantissa_bits"],), 0)
    return rules.elementwise_type(types, types[0].dtype)


def _reduce_precision(operand: Array, exponent_bits: int, mantissa_bits: int) -> Array:
    form, raw = float_format(operand.dtype), bit_type(operand.dtype)
    sign = np.uint64(1 << (bits(operand.dtype) - 1))
    pattern = operand.view(raw).astype(np.uint64)
    value = pattern & (sign - np.uint64(1))
    if mantissa_bits < form.mantissa:
        drop = np.uint64(form.mantissa - mantissa_bits)
        even = (value >> drop) & np.uint64(1)
        value = (value + np.uint64((1 << (int(drop) - 1)) - 1) + even) >> drop << drop
        value = np.where(value > form.largest, form.overflow, value)
    if exponent_bits < form.exponent:
        below, above = _exponent_limits(form, exponent_bits)
        value = np.where(value >= above, form.overflow, np.where(value < below, 0, value))
    signed = value | (pattern & sign)
    if not form.signed_zero:
        signed = np.where(value == 0, 0, signed)
    kept = np.where(np.isnan(operand), pattern, signed)
    return kept.astype(raw).view(operand.dtype)


def _exponent_limits(form: Format, exponent_bits: int) -> tuple[int, int]:
    """The least pattern that stays a normal number, and the least one that overflows."""
    bias = (1 << (exponent_bits - 1)) - 1
    return (form.bias + 1 - bias) << form.mantissa, (form.bias + bias + 1) << form.mantissa


def _element_reduce_precision(types: Types, params: Params, out: ArrayType) -> Expr:
    form, operand = float_format(out.dtype), Arg(0, out.dtype)
    pattern = bitcast(operand, bit_type(out.dtype))
    sign = 1 << (bits(out.dtype) - 1)
    value: Expr = pattern & (sign - 1)
    if params["mantissa_bits"] < form.mantissa:
        drop = form.mantissa - params["mantissa_bits"]
        even = prim("lshr", value, drop) & 1
        value = (value + ((1 << (drop - 1)) - 1) + even) & (2 * sign - (1 << drop))
        value = select(value > form.largest, form.overflow, value)
    if params["exponent_bits"] < form.exponent:
        below, above = _exponent_limits(form, params["exponent_bits"])
        value = select(value >= above, form.overflow, select(value < below, 0, value))
    signed = value | (pattern & sign)
    if not form.signed_zero:
        signed = select(value.equals(0), 0, signed)
    return bitcast(select(operand.differs(operand), pattern, signed), out.dtype)


REDUCE_PRECISION = register(
    OpDef(
        name="reduce_precision",
        kind=Kind.ELEMENTWISE,
        xla_name="ReducePrecision",
        infer=_infer_reduce_precision,
        reference=_reduce_precision,
        element=_element_reduce_precision,
        doc="Rounds to fewer exponent and fraction bits, in the same type.",
    )
)


def reduce_precision(operand: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
    """The nearest numbers of a format with these bits, ties to even, in the operand's own float type.

    What is too large becomes infinite (NaN in types without infinity), what lies below the normal range zero; NaN
    stays. Raises ArgumentError for exponent_bits < 1 or mantissa_bits < 0, DTypeError unless the type is float.

    >>> reduce_precision(np.float32([65519, 65520, 1e-8]), exponent_bits=5, mantissa_bits=10)
    array([65504.,    inf,     0.], dtype=float32)
    """
    name = "reduce_precision"
    array = as_operand(operand, name, "operand")
    exponent = static_int(exponent_bits, name, "exponent_bits")
    mantissa = static_int(mantissa_bits, name, "mantissa_bits")
    return apply(REDUCE_PRECISION, array, exponent_bits=exponent, mantissa_bits=mantissa)
