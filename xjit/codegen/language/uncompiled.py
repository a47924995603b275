"""The plain Python forms of the kernel language: NumPy scalars, bounds-checked pointers, no compiler.

The same kernel text runs here and compiled, with the same bits; only the order of additions inside ``radd``
may differ.  Used by tests and for debugging::

    table = [numpy.arange(4.0), numpy.empty(4)]
    run_kernel("def kernel(lo, hi, table): ...", 0, 4, table)
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from xjit.codegen.language.scalar_types import COMPLEXES, FLOATS, INTEGERS, KINDS, STEPS, TURNED, Kind

Scalar = Any  # a NumPy scalar, or a Python int where the language has an integer literal
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

# Scratch starts as this byte, so that reading it before writing shows: large integers, and -3.7e-103 as f64.
UNWRITTEN = 0xAA


class Pointer:
    """Elements of one type in a block of memory; reading or writing outside the block is an IndexError."""

    __slots__ = ("kind", "memory", "owner", "start")

    def __init__(self, kind: Kind, memory: Bytes, start: int, owner: object = None) -> None:
        self.kind = kind
        self.memory = memory
        self.start = start
        self.owner = owner

    def element(self, index: int) -> Bytes:
        """The bytes of one element, as a view."""
        offset = self.start + int(index) * self.kind.bytes
        if not 0 <= offset <= self.memory.size - self.kind.bytes:
            low, high = -(self.start // self.kind.bytes), (self.memory.size - self.start) // self.kind.bytes
            raise IndexError(f"element {index} is outside the buffer of elements {low} to {high - 1}")
        return self.memory[offset : offset + self.kind.bytes]

    def load(self, index: int) -> Scalar:
        """The element as a NumPy scalar."""
        return self.element(index).view(self.kind.dtype)[0]

    def store(self, index: int, value: Scalar) -> None:
        """Writes one element; the value must have the element type already."""
        if np.asarray(value).dtype != self.kind.dtype:
            raise TypeError(f"a {np.asarray(value).dtype} is stored through a pointer to {self.kind.name}")
        self.element(index).view(self.kind.dtype)[0] = value


def pointer_to(kind: Kind, array: np.ndarray[Any, Any]) -> Pointer:
    """A pointer to the first element of an array, able to reach exactly the bytes between its ends."""
    if array.dtype != kind.dtype:
        raise TypeError(f"an array of {array.dtype} is read as {kind.name}")
    low, high = np.lib.array_utils.byte_bounds(array)
    if high <= low:
        return Pointer(kind, np.empty(0, np.uint8), 0, array)
    return Pointer(kind, memory_at(low, high - low), array.ctypes.data - low, array)


def memory_at(address: int, count: int) -> Bytes:
    """The bytes at an address, not copied."""
    block = (ctypes.c_uint8 * count).from_address(address)
    return np.frombuffer(memoryview(block), np.uint8)


def run_kernel(source: str, lo: int, hi: int, table: Sequence[Any]) -> None:
    """Executes kernel text uncompiled over ``range(lo, hi)``.

    ``table`` has an ndarray (the pointer goes to its first element) or an integer in each slot.
    """
    from xjit.codegen.language import inline_functions, intrinsics

    scope = intrinsics.namespace() | inline_functions.namespace(source)
    exec(compile(source, "<kernel>", "exec"), scope)
    with np.errstate(all="ignore"):
        scope["kernel"](lo, hi, table)


def wrap(value: int, kind: Kind) -> Scalar:
    """The integer reduced modulo 2**bits, as a NumPy scalar.

    >>> wrap(255, KINDS["i8"])
    np.int8(-1)
    """
    value &= (1 << kind.bits) - 1
    if kind.signed and value >> (kind.bits - 1):
        value -= 1 << kind.bits
    return kind.dtype.type(value)


def _convert(kind: Kind) -> Callable[[Scalar], Scalar]:
    def convert(value: Scalar) -> Scalar:
        if kind.family == "int":
            return wrap(int(value), kind)
        with np.errstate(all="ignore"):
            return kind.dtype.type(value)

    return convert


def _saturate(kind: Kind) -> Callable[[Scalar], Scalar]:
    limits = np.iinfo(kind.dtype)

    def saturate(value: Scalar) -> Scalar:
        if value != value:
            return kind.dtype.type(0)
        if math.isinf(value):
            return kind.dtype.type(limits.max if value > 0 else limits.min)
        return kind.dtype.type(min(max(int(value), limits.min), limits.max))

    return saturate


def _bits(kind: Kind) -> Callable[[Scalar], Scalar]:
    def reinterpret(value: Scalar) -> Scalar:
        return _scalar(value).view(kind.dtype)

    return reinterpret


def _pointer(kind: Kind) -> Callable[[Sequence[Any], int], Pointer]:
    def pointer(table: Sequence[Any], slot: int) -> Pointer:
        return pointer_to(kind, table[slot])

    return pointer


def _scratch(kind: Kind) -> Callable[[int], Pointer]:
    def scratch(count: int) -> Pointer:
        return Pointer(kind, np.full(int(count) * kind.bytes, UNWRITTEN, np.uint8), 0)

    return scratch


def _word(table: Sequence[Any], slot: int) -> Scalar:
    return np.int64(table[slot])


def _first(pointer: Pointer, base: int, start: int, stop: int, value: Scalar) -> Any:
    places = range(int(start), int(stop))
    elements = ((place, pointer.load(base + place)) for place in places)
    return np.int64(next(place for place, x in elements if x == value or (x != x and value != value)))


def _lanes(start: Scalar, count: int) -> range:
    return range(int(start), int(start) + count)


def _load(pointer: Pointer, index: int) -> Scalar:
    return pointer.load(index)


def _store(pointer: Pointer, index: int, value: Scalar) -> None:
    pointer.store(index, value)


def _turn(kind: Kind) -> Callable[..., None]:
    size = TURNED[kind.bytes]

    def turn(
        target: Pointer, at: int, step: int, source: Pointer, start: int, stride: int, rows: int, columns: int
    ) -> None:
        for i in range(min(rows, size)):
            for j in range(min(columns, size)):
                target.store(at + j * step + i, source.load(start + i * stride + j))

    return turn


def _partners(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    # An integer literal takes the type of its partner.
    if type(a) is int:
        return (np.int64(a), np.int64(b)) if type(b) is int else (b.dtype.type(a), b)
    return a, (a.dtype.type(b) if type(b) is int else b)


def _select(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    a, b = _partners(a, b)
    return a if condition else b


def _scalar(value: Scalar) -> Scalar:
    return np.int64(value) if type(value) is int else value


def _minimum(a: Scalar, b: Scalar) -> Scalar:
    a, b = _partners(a, b)
    if a != a or b != b:
        return a if a != a else b
    if a == b:
        return a if np.signbit(a) else b
    return a if a < b else b


def _kept_minimum(best: Scalar, other: Scalar) -> Scalar:
    return other if other < best or other != other else best


def _kept_maximum(best: Scalar, other: Scalar) -> Scalar:
    return other if other > best or other != other else best


def _maximum(a: Scalar, b: Scalar) -> Scalar:
    a, b = _partners(a, b)
    if a != a or b != b:
        return a if a != a else b
    if a == b:
        return b if np.signbit(a) else a
    return a if a > b else b


def _load_where(pointer: Any, index: Any, condition: Any) -> Scalar:
    """An element where a condition holds, else zero."""
    return _load(pointer, index) if condition else pointer.kind.dtype.type(0)


def _add(a: Scalar, b: Scalar) -> Scalar:
    return a + b


def _multiply(a: Scalar, b: Scalar) -> Scalar:
    return a * b


def _typed(value: Any) -> Scalar:
    """A scalar; literals of floats are f64."""
    return value if isinstance(value, np.generic) else np.float64(value)


def _fma(a: Scalar, b: Scalar, c: Scalar) -> Scalar:
    dtype = _typed(a).dtype.type
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return a * b + c if a == 0 or b == 0 else dtype(0.0)
    try:
        nearest = float(exact)
    except OverflowError:
        return dtype(math.inf if exact > 0 else -math.inf)
    if dtype is np.float32:
        nearest = _round_to_odd(nearest, exact)
    if nearest == 0.0:
        nearest = 0.0 if exact > 0 else -0.0
    return dtype(nearest)


def _round_to_odd(nearest: float, exact: Fraction) -> float:
    # Rounding twice is right only if the first rounding keeps the discarded bits visible in the last bit.
    if Fraction(nearest) == exact or np.float64(nearest).view(np.int64) & 1:
        return nearest
    return math.nextafter(nearest, math.inf if exact > Fraction(nearest) else -math.inf)


def _round_away(x: Scalar) -> Scalar:
    whole = np.trunc(x)
    if np.fabs(x - whole) >= 0.5:
        whole += np.copysign(x.dtype.type(1), x)
    return np.copysign(whole, x)


def _integer(operation: Callable[[int, int, Kind], int], signed: bool) -> Callable[[Scalar, Scalar], Scalar]:
    def apply(a: Scalar, b: Scalar) -> Scalar:
        a, b = _partners(a, b)
        kind = _kind_of(a)
        bits = (1 << kind.bits) - 1
        first, second = int(a) & bits, int(b) & bits
        if signed:
            first, second = _signed(first, kind.bits), _signed(second, kind.bits)
        return wrap(operation(first, second, kind), kind)

    return apply


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _kind_of(value: Scalar) -> Kind:
    return next(kind for kind in KINDS.values() if kind.dtype == value.dtype)


def _quotient(a: int, b: int, kind: Kind) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int, kind: Kind) -> int:
    return a - b * _quotient(a, b, kind)


def _ones(x: Scalar) -> Scalar:
    return x.dtype.type((int(x) & ((1 << _kind_of(x).bits) - 1)).bit_count())


def _leading_zeros(x: Scalar) -> Scalar:
    bits = _kind_of(x).bits
    return x.dtype.type(bits - (int(x) & ((1 << bits) - 1)).bit_length())


def _trailing_zeros(x: Scalar) -> Scalar:
    bits = _kind_of(x).bits
    value = int(x) & ((1 << bits) - 1)
    return x.dtype.type((value & -value).bit_length() - 1 if value else bits)


def _complex(a: Scalar, b: Scalar) -> Scalar:
    value = np.empty((), np.complex64 if _typed(a).dtype == np.float32 else np.complex128)
    value.real, value.imag = a, b
    return value[()]


def _memory(kind: Kind, address: int) -> np.ndarray[Any, Any]:
    return memory_at(int(address), kind.bytes).view(kind.dtype)


def _load_from(kind: Kind) -> Callable[[int], Scalar]:
    def load(address: int) -> Scalar:
        return _memory(kind, address)[0]

    return load


def _store_to(kind: Kind) -> Callable[[int, Scalar], None]:
    def store(address: int, value: Scalar) -> None:
        _memory(kind, address)[0] = value

    return store


def _atomic_add(address: int, value: Scalar) -> Scalar:
    cell = _memory(KINDS["i64"], address)
    old = cell[0]
    cell[0] = wrap(int(old) + int(value), KINDS["i64"])
    return old


def _atomic_cas(address: int, expected: Scalar, new: Scalar) -> Scalar:
    cell = _memory(KINDS["i64"], address)
    old = cell[0]
    if old == expected:
        cell[0] = new
    return old


def _call(result: Any, count: int) -> Callable[..., Any]:
    prototype = ctypes.CFUNCTYPE(result, *[ctypes.c_int64] * count)

    def call(address: int, *arguments: Scalar) -> Any:
        value = prototype(int(address))(*map(int, arguments))
        return None if result is None else np.int64(value)

    return call


def _call_of_trials(address: int, first: Scalar, share: Scalar, trials: Scalar, memory: Scalar) -> Any:
    integer = ctypes.c_int64
    prototype = ctypes.CFUNCTYPE(integer, integer, ctypes.c_double, integer, integer)
    return np.int64(prototype(int(address))(int(first), float(share), int(trials), int(memory)))


def _call_of_floats(result: Any, number: Callable[[Any], Scalar], count: int) -> Callable[..., Any]:
    prototype = ctypes.CFUNCTYPE(result, ctypes.c_int64, *[ctypes.c_double] * count)

    def call(address: int, first: Scalar, *arguments: Scalar) -> Any:
        return number(prototype(int(address))(int(first), *map(float, arguments)))

    return call


def plain_forms() -> dict[str, Callable[..., Any]]:
    """Every word of the kernel language with what it does in plain Python."""
    return _typed_forms() | _float_forms() | _integer_forms() | _native_forms()


def _typed_forms() -> dict[str, Callable[..., Any]]:
    forms: dict[str, Callable[..., Any]] = {}
    for name, kind in KINDS.items():
        forms[name] = _convert(kind)
        forms[f"ptr_{name}"] = _pointer(kind)
        forms[f"scratch_{name}"] = _scratch(kind)
        if kind.bytes in TURNED:
            forms[f"turn_{name}"] = _turn(kind)
    for name in INTEGERS:
        forms[f"to_{name}"] = _saturate(KINDS[name])
    for name in (*INTEGERS, *FLOATS):
        forms[f"as_{name}"] = _bits(KINDS[name])
    loads: dict[str, Callable[..., Any]] = dict.fromkeys(("ld", "ldw", *(f"ld{step}" for step in STEPS)), _load)
    loads |= dict.fromkeys(("ld_where", "ldw_where"), _load_where)
    return forms | loads | {"word": _word, "st": _store, "select": _select, "first": _first, "lanes": _lanes}


def _float_forms() -> dict[str, Callable[..., Any]]:
    return {
        "fmin": _minimum,
        "fmax": _maximum,
        "radd": _add,
        "radd8": _add,
        "rmul": _multiply,
        "rmul8": _multiply,
        "keep_min": _kept_minimum,
        "keep_max": _kept_maximum,
        "fma": _fma,
        "exact_fma": _fma,
        "muladd": _fma,
        "sqrt": np.sqrt,
        "rint": np.rint,
        "floor": np.floor,
        "ceil": np.ceil,
        "trunc": np.trunc,
        "round_away": _round_away,
        "fabs": np.fabs,
        "copysign": np.copysign,
        "fmod": np.fmod,
        "re": lambda z: z.real,
        "im": lambda z: z.imag,
        "cplx": _complex,
    }


def _integer_forms() -> dict[str, Callable[..., Any]]:
    return {
        "shl": _integer(lambda a, n, kind: a << n, signed=False),
        "lshr": _integer(lambda a, n, kind: a >> n, signed=False),
        "ashr": _integer(lambda a, n, kind: a >> n, signed=True),
        "sdiv": _integer(_quotient, signed=True),
        "srem": _integer(_remainder, signed=True),
        "udiv": _integer(_quotient, signed=False),
        "urem": _integer(_remainder, signed=False),
        "ctpop": _ones,
        "ctlz": _leading_zeros,
        "cttz": _trailing_zeros,
    }


def _native_forms() -> dict[str, Callable[..., Any]]:
    forms: dict[str, Callable[..., Any]] = {}
    for name, kind in KINDS.items():
        if name not in COMPLEXES and name != "b1":
            forms[f"load_{name}"] = _load_from(kind)
            forms[f"store_{name}"] = _store_to(kind)
    for count in range(7):
        forms[f"call_void_i64x{count}"] = _call(None, count)
        forms[f"call_i64_i64x{count}"] = _call(ctypes.c_int64, count)
    for count in range(4):
        forms[f"call_f64_f64x{count}"] = _call_of_floats(ctypes.c_double, np.float64, count)
        forms[f"call_i64_f64x{count}"] = _call_of_floats(ctypes.c_int64, np.int64, count)
    return forms | {
        "call_i64_f64_i64x2": _call_of_trials,
        "atomic_load_i64": _load_from(KINDS["i64"]),
        "atomic_store_i64": _store_to(KINDS["i64"]),
        "atomic_add_i64": _atomic_add,
        "atomic_cas_i64": _atomic_cas,
        "cpu_pause": lambda: None,
        "keep_jump": lambda: None,
    }
