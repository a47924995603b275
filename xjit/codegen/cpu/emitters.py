"""LLVM instructions for the words and operators of the kernel language: arithmetic, conversions, bits.

An :class:`Operation` says which types it takes and how it is written in LLVM.  Types are strings: the names
of :data:`xjit.codegen.language.scalar_types.KINDS`, ``int:5`` for an integer literal (it takes the type its partner
has), ``table``, ``ptr:f32:3`` for a pointer from slot 3, ``void``.  Nothing here knows how the operations are
found in a program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from llvmlite import ir

from xjit import numerics
from xjit.codegen.language.scalar_types import COMPLEXES, FLOATS, INTEGERS, KINDS, KernelTypeError
from xjit.dataclass import dataclass
from xjit.llvm.targets import CpuTraits as CpuTraits

Value: TypeAlias = Any
Builder: TypeAlias = Any
LlvmType: TypeAlias = Any
Typing: TypeAlias = tuple[tuple[str, ...], str]
Infer: TypeAlias = Callable[[tuple[str, ...]], Typing]
Emit: TypeAlias = Callable[[Builder, tuple[str, ...], Sequence[Value]], Value]


@dataclass(frozen=True, slots=True)
class Operation:
    """One word: ``infer`` maps argument types to (converted argument types, result), ``emit`` writes it."""

    name: str
    infer: Infer
    emit: Emit


BIT = ir.IntType(1)
INT64 = ir.IntType(64)

LANES = "xjit.lanes"
"""The metadata of an addition that says how many elements its loop adds side by side."""

_FEW = str(numerics.FEW_LANES)

_FLOAT_TYPES = {"f32": ir.FloatType(), "f64": ir.DoubleType()}
LLVM_TYPES: dict[str, LlvmType] = {
    "void": ir.VoidType(),
    "b1": BIT,
    **{name: ir.IntType(KINDS[name].bits) for name in INTEGERS},
    **_FLOAT_TYPES,
    **{name: ir.LiteralStructType([_FLOAT_TYPES[part]] * 2) for name, part in COMPLEXES.items()},
}
"""Values of a type while they are computed with; in memory a b1 is a byte."""


def memory_type(kind: str) -> LlvmType:
    """The LLVM type of an element in memory: a b1 is a byte."""
    return ir.IntType(8) if kind == "b1" else LLVM_TYPES[kind]


def pointer_parts(kind: str) -> tuple[str, str]:
    """Element type and slot of a pointer type such as ``ptr:f32:3``."""
    prefix, _, rest = kind.partition(":")
    if prefix != "ptr":
        raise KernelTypeError(f"a pointer is expected; got {kind}")
    element, _, slot = rest.partition(":")
    return element, slot


def pointer_type(kind: str) -> LlvmType:
    """The LLVM type of a pointer type."""
    return memory_type(pointer_parts(kind)[0]).as_pointer()


def is_literal(kind: str) -> bool:
    """Return whether this is the type of an integer literal."""
    return kind.startswith("int:")


def strong(kind: str) -> str:
    """The type of a value that no partner has decided."""
    return "i64" if is_literal(kind) else kind


def unify(name: str, kinds: tuple[str, ...]) -> str:
    """The one type of all operands; integer literals follow the others.

    >>> unify("add", ("u8", "int:1"))
    'u8'
    """
    firm = {kind for kind in kinds if not is_literal(kind)}
    if not firm:
        return "i64"
    if len(firm) > 1 or (len(firm) < len(set(kinds)) and not firm <= set(INTEGERS)):
        raise KernelTypeError(f"{name} takes operands of one type; got {', '.join(kinds)}")
    return firm.pop()


def check(name: str, kind: str, allowed: Sequence[str]) -> str:
    """The kind itself, if it is allowed."""
    if kind not in allowed:
        raise KernelTypeError(f"{name} is not defined for {kind}; it takes {', '.join(allowed)}")
    return kind


def same(name: str, count: int, allowed: Sequence[str], result: str | None = None) -> Infer:
    """Typing of operations whose operands share one type; the result has it too unless given."""

    def infer(kinds: tuple[str, ...]) -> Typing:
        if len(kinds) != count:
            raise KernelTypeError(f"{name} takes {count} operands; got {len(kinds)}")
        kind = check(name, unify(name, kinds), allowed)
        return (kind,) * count, result or kind

    return infer


def signature(name: str, arguments: Sequence[str], result: str) -> Infer:
    """Typing of operations with fixed operand types."""

    def infer(kinds: tuple[str, ...]) -> Typing:
        if len(kinds) != len(arguments):
            raise KernelTypeError(f"{name} takes {len(arguments)} operands; got {len(kinds)}")
        for kind, expected in zip(kinds, arguments, strict=True):
            if kind != expected and not (is_literal(kind) and expected in INTEGERS):
                raise KernelTypeError(f"{name} takes {', '.join(arguments)}; got {', '.join(kinds)}")
        return tuple(arguments), result

    return infer


def call_intrinsic(builder: Builder, name: str, result: LlvmType, values: Sequence[Value]) -> Value:
    """A call of a function that the module declares: an intrinsic under its full name, or what is linked later."""
    function = builder.module.globals.get(name)
    if function is None:
        signature = ir.FunctionType(result, [value.type for value in values])
        function = ir.Function(builder.module, signature, name)
    return builder.call(function, values)


def make_complex(builder: Builder, kind: str, real: Value, imaginary: Value) -> Value:
    """A complex value from its parts."""
    value = builder.insert_value(ir.Constant(LLVM_TYPES[kind], ir.Undefined), real, 0)
    return builder.insert_value(value, imaginary, 1)


def parts(builder: Builder, value: Value) -> tuple[Value, Value]:
    """The real and the imaginary part."""
    return builder.extract_value(value, 0), builder.extract_value(value, 1)


def convert(builder: Builder, value: Value, source: str, target: str) -> Value:
    """The value as another type; float to integer only in range."""
    source = strong(source)
    if source == target:
        return value
    if target in COMPLEXES:
        return _to_complex(builder, value, source, target)
    if target == "b1":
        return truth(builder, value, source)
    if source == "b1":
        wide = builder.zext(value, ir.IntType(64))
        return convert(builder, wide, "i64", target) if target not in INTEGERS else _integer(builder, value, target)
    if source in FLOATS:
        return _from_float(builder, value, source, target)
    if target in FLOATS:
        to_float = builder.sitofp if KINDS[source].signed else builder.uitofp
        return to_float(value, LLVM_TYPES[target])
    if source not in INTEGERS or target not in INTEGERS:
        raise KernelTypeError(f"{source} cannot be converted to {target}")
    return _resize(builder, value, source, target)


def _integer(builder: Builder, bit: Value, target: str) -> Value:
    return builder.zext(bit, LLVM_TYPES[target])


def _resize(builder: Builder, value: Value, source: str, target: str) -> Value:
    old, new = KINDS[source].bits, KINDS[target].bits
    if new == old:
        return value
    if new < old:
        return builder.trunc(value, LLVM_TYPES[target])
    extend = builder.sext if KINDS[source].signed else builder.zext
    return extend(value, LLVM_TYPES[target])


def _from_float(builder: Builder, value: Value, source: str, target: str) -> Value:
    if target in FLOATS:
        resize = builder.fptrunc if KINDS[target].bits < KINDS[source].bits else builder.fpext
        return resize(value, LLVM_TYPES[target])
    if target not in INTEGERS:
        raise KernelTypeError(f"{source} cannot be converted to {target}")
    to_integer = builder.fptosi if KINDS[target].signed else builder.fptoui
    return to_integer(value, LLVM_TYPES[target])


def _to_complex(builder: Builder, value: Value, source: str, target: str) -> Value:
    part = COMPLEXES[target]
    if source in COMPLEXES:
        real, imaginary = parts(builder, value)
        real = convert(builder, real, COMPLEXES[source], part)
        return make_complex(builder, target, real, convert(builder, imaginary, COMPLEXES[source], part))
    real = convert(builder, value, source, part)
    return make_complex(builder, target, real, ir.Constant(LLVM_TYPES[part], 0.0))


def truth(builder: Builder, value: Value, kind: str) -> Value:
    """Return whether the value differs from zero; NaN does."""
    kind = strong(kind)
    if kind == "b1":
        return value
    if kind in FLOATS:
        return builder.fcmp_unordered("!=", value, ir.Constant(value.type, 0.0))
    check("truth value", kind, INTEGERS)
    return builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0))


def operations(traits: CpuTraits) -> dict[str, Operation]:
    """The arithmetic words of the language, by name."""
    table = [
        *_conversions(),
        *_bitcasts(),
        *_float_functions(),
        *_integer_functions(),
        *_complex_functions(),
        *_reduction_steps(),
        _select(),
        _fma(traits),
        _exact_fma(traits),
        _muladd(),
    ]
    return {operation.name: operation for operation in table}


def _conversions() -> list[Operation]:
    def conversion(target: str) -> Operation:
        def infer(kinds: tuple[str, ...]) -> Typing:
            (kind,) = kinds
            kind = check(target, strong(kind), tuple(KINDS))
            if kind in COMPLEXES and target not in COMPLEXES:
                raise KernelTypeError(f"{target} of a complex number; take re or im first")
            return (kind,), target

        return Operation(target, infer, lambda builder, kinds, values: convert(builder, values[0], kinds[0], target))

    return [conversion(name) for name in KINDS]


def _bitcasts() -> list[Operation]:
    def bitcast(target: str) -> Operation:
        name = f"as_{target}"
        allowed = tuple(k for k in (*INTEGERS, *FLOATS) if KINDS[k].bits == KINDS[target].bits)

        def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
            return builder.bitcast(values[0], LLVM_TYPES[target])

        return Operation(name, same(name, 1, allowed, target), emit)

    return [bitcast(name) for name in (*INTEGERS, *FLOATS)]


def _llvm_call(name: str, llvm: str) -> Emit:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        return call_intrinsic(builder, f"llvm.{llvm}.{kinds[0]}", LLVM_TYPES[kinds[0]], values)

    return emit


# rint instead of roundeven: in the default rounding mode they are one function, and every C library has rint.
_FLOAT_UNARY = {name: name for name in ("sqrt", "rint", "floor", "ceil", "trunc", "fabs")} | {"round_away": "round"}


def _float_functions() -> list[Operation]:
    unary = [Operation(name, same(name, 1, FLOATS), _llvm_call(name, llvm)) for name, llvm in _FLOAT_UNARY.items()]
    copysign = Operation("copysign", same("copysign", 2, FLOATS), _llvm_call("copysign", "copysign"))
    remainder = Operation("fmod", same("fmod", 2, FLOATS), builder_call("frem"))
    return [*unary, copysign, remainder, _extremum("fmin", "minimum", "min"), _extremum("fmax", "maximum", "max")]


def _extremum(name: str, floating: str, integral: str) -> Operation:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        kind = kinds[0]
        if kind in FLOATS:
            return call_intrinsic(builder, f"llvm.{floating}.{kind}", LLVM_TYPES[kind], values)
        full = f"llvm.{'s' if KINDS[kind].signed else 'u'}{integral}.i{KINDS[kind].bits}"
        return call_intrinsic(builder, full, LLVM_TYPES[kind], values)

    return Operation(name, same(name, 2, (*FLOATS, *INTEGERS)), emit)


def _integer_functions() -> list[Operation]:
    binary = {"shl": "shl", "lshr": "lshr", "ashr": "ashr"} | {n: n for n in ("sdiv", "srem", "udiv", "urem")}
    table = [Operation(name, same(name, 2, INTEGERS), builder_call(method)) for name, method in binary.items()]
    return [
        *table,
        _bit_count("ctpop"),
        _bit_count("ctlz", ir.Constant(BIT, 0)),
        _bit_count("cttz", ir.Constant(BIT, 0)),
    ]


def builder_call(method: str, **options: Any) -> Emit:
    """An operation that is one method of the LLVM builder."""

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        return getattr(builder, method)(*values, **options)

    return emit


def _bit_count(name: str, *extra: Value) -> Operation:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        full = f"llvm.{name}.i{KINDS[kinds[0]].bits}"
        return call_intrinsic(builder, full, LLVM_TYPES[kinds[0]], [*values, *extra])

    return Operation(name, same(name, 1, INTEGERS), emit)


def _complex_functions() -> list[Operation]:
    whole = {part: name for name, part in COMPLEXES.items()}

    def part_of(name: str, position: int) -> Operation:
        def infer(kinds: tuple[str, ...]) -> Typing:
            (kind,) = kinds
            return kinds, COMPLEXES[check(name, kind, tuple(COMPLEXES))]

        return Operation(name, infer, lambda builder, kinds, values: builder.extract_value(values[0], position))

    def infer(kinds: tuple[str, ...]) -> Typing:
        kind = check("cplx", unify("cplx", kinds), FLOATS)
        return (kind, kind), whole[kind]

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        return make_complex(builder, whole[kinds[0]], values[0], values[1])

    return [part_of("re", 0), part_of("im", 1), Operation("cplx", infer, emit)]


def _reduction_steps() -> list[Operation]:
    def step(name: str, combine: str, few: bool) -> Operation:
        def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
            lanes = numerics.FEW_LANES if few else numerics.lanes(KINDS[kinds[0]].dtype)
            result = getattr(builder, combine)(*values, flags=("reassoc",))
            result.set_metadata(LANES, builder.module.add_metadata([ir.Constant(ir.IntType(32), lanes)]))
            return result

        return Operation(name, same(name, 2, FLOATS), emit)

    return [
        *(step(name, "fadd", name.endswith(_FEW)) for name in ("radd", f"radd{_FEW}")),
        *(step(name, "fmul", name.endswith(_FEW)) for name in ("rmul", f"rmul{_FEW}")),
        _kept_extremum("keep_min", "<", "min"),
        _kept_extremum("keep_max", ">", "max"),
    ]


def steps_in_order() -> dict[str, Operation]:
    """The words that add and multiply lane by lane, doing so one after the other."""
    table = {"radd": "fadd", "rmul": "fmul"}
    words = ((f"{name}{few}", combine) for name, combine in table.items() for few in ("", _FEW))
    return {name: Operation(name, same(name, 2, FLOATS), builder_call(combine)) for name, combine in words}


def _kept_extremum(name: str, sign: str, integral: str) -> Operation:
    """An extreme that stays what it is where the operand is equal, so that the earlier one of two zeros wins."""
    plain = _extremum(name, "", integral)

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        if kinds[0] in INTEGERS:
            return plain.emit(builder, kinds, values)
        best, other = values
        better = builder.select(builder.fcmp_ordered(sign, other, best), other, best)
        # All bits of a NaN and more are NaN; choosing the operand would take another comparison to be exact.
        bits = ir.IntType(KINDS[kinds[0]].bits)
        both = builder.or_(builder.bitcast(better, bits), builder.bitcast(other, bits))
        is_nan = builder.fcmp_unordered("uno", other, other)
        return builder.select(is_nan, builder.bitcast(both, better.type), better)

    return Operation(name, plain.infer, emit)


def _select() -> Operation:
    def infer(kinds: tuple[str, ...]) -> Typing:
        check("select", kinds[0], ("b1",))
        kind = check("select", unify("select", kinds[1:]), tuple(KINDS))
        return ("b1", kind, kind), kind

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        condition, first, second = values
        if kinds[1] not in COMPLEXES:
            return builder.select(condition, first, second)
        pairs = zip(parts(builder, first), parts(builder, second), strict=True)
        real, imaginary = (builder.select(condition, a, b) for a, b in pairs)
        return make_complex(builder, kinds[1], real, imaginary)

    return Operation("select", infer, emit)


def _fma(traits: CpuTraits) -> Operation:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        if traits.fma:
            return call_intrinsic(builder, f"llvm.fma.{kinds[0]}", LLVM_TYPES[kinds[0]], values)
        # Without the instruction llvm.fma is a call of the C library, 25 times slower than the two
        # operations.
        return builder.fadd(builder.fmul(values[0], values[1]), values[2])

    return Operation("fma", same("fma", 3, FLOATS), emit)


def _exact_fma(traits: CpuTraits) -> Operation:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        if traits.fma:
            return call_intrinsic(builder, "llvm.fma.f32", LLVM_TYPES["f32"], values)
        # The product of two floats of 32 bits is a float of 64.
        first, second, addend = (builder.fpext(value, LLVM_TYPES["f64"]) for value in values)
        return builder.fptrunc(builder.fadd(builder.fmul(first, second), addend), LLVM_TYPES["f32"])

    return Operation("exact_fma", same("exact_fma", 3, ("f32",)), emit)


def _muladd() -> Operation:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        return call_intrinsic(builder, f"llvm.fma.{kinds[0]}", LLVM_TYPES[kinds[0]], values)

    return Operation("muladd", same("muladd", 3, FLOATS), emit)
