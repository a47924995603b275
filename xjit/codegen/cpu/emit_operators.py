"""LLVM instructions for Python's operators and truth tests in the kernel language.

Both operands have one type and the result has it too; nothing is widened.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from xjit.codegen.cpu.emitters import (
    Builder,
    Emit,
    Operation,
    Typing,
    Value,
    builder_call,
    check,
    make_complex,
    parts,
    same,
    strong,
    truth,
)
from xjit.codegen.language.scalar_types import COMPLEXES, FLOATS, INTEGERS, KINDS, KernelTypeError

_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_BITS = {"and_": "and_", "or_": "or_", "xor": "xor"}


def operators() -> dict[str, Operation]:
    """The operations behind Python's operators, by their names in the module operator, and ``bool``."""
    table = [
        _arithmetic("add", "fadd", "add"),
        _arithmetic("sub", "fsub", "sub"),
        _multiply(),
        Operation("truediv", same("/", 2, FLOATS), builder_call("fdiv")),
        *(Operation(name, same(name, 2, ("b1", *INTEGERS)), builder_call(method)) for name, method in _BITS.items()),
        *(_comparison(name, sign) for name, sign in _COMPARISONS.items()),
        Operation("invert", same("~", 1, ("b1", *INTEGERS)), builder_call("not_")),
        _negate(),
        _truth("bool", negated=False),
        _truth("not_", negated=True),
    ]
    return {operation.name: operation for operation in table}


def _arithmetic(name: str, floating: str, integral: str) -> Operation:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        if kinds[0] in INTEGERS:
            return getattr(builder, integral)(*values)
        combine = getattr(builder, floating)
        if kinds[0] in FLOATS:
            return combine(*values)
        (ar, ai), (br, bi) = parts(builder, values[0]), parts(builder, values[1])
        return make_complex(builder, kinds[0], combine(ar, br), combine(ai, bi))

    return Operation(name, same(name, 2, (*INTEGERS, *FLOATS, *COMPLEXES)), emit)


def _multiply() -> Operation:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        if kinds[0] not in COMPLEXES:
            return builder.mul(*values) if kinds[0] in INTEGERS else builder.fmul(*values)
        (ar, ai), (br, bi) = parts(builder, values[0]), parts(builder, values[1])
        real = builder.fsub(builder.fmul(ar, br), builder.fmul(ai, bi))
        imaginary = builder.fadd(builder.fmul(ar, bi), builder.fmul(ai, br))
        return make_complex(builder, kinds[0], real, imaginary)

    return Operation("mul", same("*", 2, (*INTEGERS, *FLOATS, *COMPLEXES)), emit)


def _negate() -> Operation:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        if kinds[0] in INTEGERS:
            return builder.neg(values[0])
        if kinds[0] in FLOATS:
            return builder.fneg(values[0])
        real, imaginary = parts(builder, values[0])
        return make_complex(builder, kinds[0], builder.fneg(real), builder.fneg(imaginary))

    return Operation("neg", same("-", 1, (*INTEGERS, *FLOATS, *COMPLEXES)), emit)


def _comparison(name: str, sign: str) -> Operation:
    equality = sign in ("==", "!=")
    allowed = ("b1", *INTEGERS, *FLOATS, *COMPLEXES) if equality else ("b1", *INTEGERS, *FLOATS)
    return Operation(name, same(sign, 2, allowed, "b1"), _compare(sign))


def _compare(sign: str) -> Emit:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        kind = kinds[0]
        if kind in FLOATS:
            # NaN differs from everything and compares false otherwise.
            compare = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
            return compare(sign, *values)
        if kind in COMPLEXES:
            part = (COMPLEXES[kind],) * 2
            pairs = zip(parts(builder, values[0]), parts(builder, values[1]), strict=True)
            real, imaginary = (emit(builder, part, pair) for pair in pairs)
            return builder.and_(real, imaginary) if sign == "==" else builder.or_(real, imaginary)
        signed = kind != "b1" and KINDS[kind].signed
        return (builder.icmp_signed if signed else builder.icmp_unsigned)(sign, *values)

    return emit


def _truth(name: str, negated: bool) -> Operation:
    def infer(kinds: tuple[str, ...]) -> Typing:
        if len(kinds) != 1:
            raise KernelTypeError(f"{name} takes one operand; got {len(kinds)}")
        kind = check(name, strong(kinds[0]), ("b1", *INTEGERS, *FLOATS))
        return (kind,), "b1"

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        value = truth(builder, values[0], kinds[0])
        return builder.xor(value, ir.Constant(ir.IntType(1), 1)) if negated else value

    return Operation(name, infer, emit)
