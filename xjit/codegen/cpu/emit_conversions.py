"""LLVM instructions for conversions: of floats to integers, saturating, and between f32 and the bits of an f16.

AArch64 has instructions that do.  x86 has none, and vectors of LLVM's saturating conversion become scalar code there:
so the value is brought into range first, by what vectors have.  ``to_u8(x)`` of an f32 is a maximum, a minimum, one
conversion and a truncation::

    above = select(x > 0.0, x, 0.0)  # also of NaN
    within = select(above < 255.0, above, 255.0)
    u8(i32(within))

``f16_to_f32`` and ``f32_to_f16`` are words where the processor has instructions for them; elsewhere they are inline
functions (:mod:`xjit.codegen.language.narrow_floats`). LLVM may compute with halves where that gives the same
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llvmlite import ir

from xjit.codegen.cpu.emitters import (
    LLVM_TYPES,
    Builder,
    CpuTraits,
    Emit,
    Operation,
    Value,
    call_intrinsic,
    same,
    signature,
)
from xjit.codegen.language.scalar_types import FLOATS, INTEGERS, KINDS

X86 = frozenset(("x86_64", "i686"))
_TO_WHOLE = frozenset(f"llvm.{name}.f32" for name in ("floor", "ceil", "rint", "trunc", "round"))
_SIGNIFICANT_BITS = {"f32": 24, "f64": 53}


def operations(traits: CpuTraits) -> dict[str, Operation]:
    """``to_i8`` .. ``to_u64``, and conversions of f16 where the processor has them, by name."""
    emit = _brought_into_range if traits.architecture in X86 else _by_instruction
    table = [Operation(f"to_{target}", same(f"to_{target}", 1, FLOATS, target), emit(target)) for target in INTEGERS]
    if traits.half:
        table += _halves()
    return {operation.name: operation for operation in table}


def _halves() -> list[Operation]:
    half, single = ir.HalfType(), LLVM_TYPES["f32"]

    def widen(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        return builder.fpext(builder.bitcast(values[0], half), single)

    def round_to_half(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        (x,) = values
        if isinstance(x, ir.CallInstr) and x.callee.name in _TO_WHOLE:
            # LLVM would round the half, for which vectors have no instruction; giving it its sign prevents that.
            x = call_intrinsic(builder, "llvm.copysign.f32", single, (x, x.args[0]))
        return builder.bitcast(builder.fptrunc(x, half), LLVM_TYPES["u16"])

    return [
        Operation("f16_to_f32", signature("f16_to_f32", ["u16"], "f32"), widen),
        Operation("f32_to_f16", signature("f32_to_f16", ["f32"], "u16"), round_to_half),
    ]


def _by_instruction(target: str) -> Emit:
    kind = KINDS[target]

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        full = f"llvm.fpto{'s' if kind.signed else 'u'}i.sat.i{kind.bits}.{kinds[0]}"
        return call_intrinsic(builder, full, LLVM_TYPES[target], values)

    return emit


def _brought_into_range(target: str) -> Emit:
    bits, signed, dtype = KINDS[target].bits, KINDS[target].signed, KINDS[target].dtype
    lowest, largest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    # Vector instructions give i32 and i64; narrow integers, signed or not, lie within i32.
    wide = ir.IntType(max(bits, 32))
    method = "fptosi" if signed or bits < 32 else "fptoui"

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        (x,) = values
        within = _bounded(builder, ">", x, lowest)
        if bits <= _SIGNIFICANT_BITS[kinds[0]]:
            result = getattr(builder, method)(_bounded(builder, "<", within, largest), wide)
        else:
            # The largest number is no float, the first beyond it is: what is made of that and others is dropped.
            is_large = builder.fcmp_ordered(">=", x, ir.Constant(x.type, float(largest + 1)))
            result = builder.select(is_large, ir.Constant(wide, largest), getattr(builder, method)(within, wide))
        if signed:
            # NaN has become the lowest number, which is zero only without a sign.
            result = builder.select(builder.fcmp_ordered("ord", x, x), result, ir.Constant(wide, 0))
        return builder.trunc(result, LLVM_TYPES[target]) if bits < 32 else result

    return emit


def _bounded(builder: Builder, sign: str, value: Value, bound: int) -> Value:
    """The value where it compares so with the bound, else, and for NaN, the bound."""
    limit = ir.Constant(value.type, float(bound))
    return builder.select(builder.fcmp_ordered(sign, value, limit), value, limit)
