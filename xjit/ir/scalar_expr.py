"""Scalar expressions: how one output element is computed from elements of the operands.

Frozen, typed trees. Python's operators build them, so that a record reads like the formula it means:

>>> import numpy as np
>>> x = Arg(0, np.dtype(np.float32))
>>> print(x * x + 1.0)
add(mul($0, $0), 1.0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from xjit.dataclass import dataclass
from xjit.machine import Machine
from xjit.types import BOOL, COMPLEX64, FLOAT32, INT64, DType, dtype_class, real_dtype


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant array that compares by element type and bit pattern: 0.0 is not -0.0, 1 is not True."""

    dtype: DType
    dims: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, value: Any, dtype: DType | None = None) -> Literal:
        """From anything that NumPy makes an array of."""
        array = np.asarray(value, dtype=dtype)
        return cls(array.dtype, array.shape, array.tobytes())

    def array(self) -> np.ndarray[Any, Any]:
        """The constant as a fresh, read-only array."""
        return np.frombuffer(self.data, dtype=self.dtype).reshape(self.dims)

    def item(self) -> Any:
        """The value of a one-element constant as a NumPy scalar."""
        return self.array().reshape(-1)[0]

    def __str__(self) -> str:
        array = self.array()
        return str(array.item() if array.size == 1 and self.dtype.kind in "biufc" else array.tolist())


class _Operators:
    """Python operators that build expressions; a bare Python number takes the other operand's type."""

    __slots__ = ()

    def __add__(self, other: Operand) -> Expr:
        return prim("add", self, other)

    def __radd__(self, other: Operand) -> Expr:
        return prim("add", other, self)

    def __sub__(self, other: Operand) -> Expr:
        return prim("sub", self, other)

    def __rsub__(self, other: Operand) -> Expr:
        return prim("sub", other, self)

    def __mul__(self, other: Operand) -> Expr:
        return prim("mul", self, other)

    def __rmul__(self, other: Operand) -> Expr:
        return prim("mul", other, self)

    def __truediv__(self, other: Operand) -> Expr:
        return prim("div", self, other)

    def __rtruediv__(self, other: Operand) -> Expr:
        return prim("div", other, self)

    def __neg__(self) -> Expr:
        return prim("neg", self)

    def __and__(self, other: Operand) -> Expr:
        return prim("and", self, other)

    def __or__(self, other: Operand) -> Expr:
        return prim("or", self, other)

    def __xor__(self, other: Operand) -> Expr:
        return prim("xor", self, other)

    def __invert__(self) -> Expr:
        return prim("not", self)

    def __lt__(self, other: Operand) -> Expr:
        return prim("lt", self, other)

    def __le__(self, other: Operand) -> Expr:
        return prim("le", self, other)

    def __gt__(self, other: Operand) -> Expr:
        return prim("gt", self, other)

    def __ge__(self, other: Operand) -> Expr:
        return prim("ge", self, other)

    def equals(self, other: Operand) -> Expr:
        """Elementwise equality; ``==`` stays structural equality of the trees."""
        return prim("eq", self, other)

    def differs(self, other: Operand) -> Expr:
        """Elementwise inequality."""
        return prim("ne", self, other)


@dataclass(frozen=True, slots=True)
class Arg(_Operators):
    """The element of an operand at the current index."""

    index: int
    dtype: DType

    def __str__(self) -> str:
        return f"${self.index}"


@dataclass(frozen=True, slots=True)
class Lit(_Operators):
    """A constant."""

    literal: Literal

    @property
    def dtype(self) -> DType:
        """The constant's type."""
        return self.literal.dtype

    def __str__(self) -> str:
        return str(self.literal)


@dataclass(frozen=True, slots=True)
class Index(_Operators):
    """The position along one axis of the result, as s64."""

    axis: int

    @property
    def dtype(self) -> DType:
        """Positions are 64-bit integers."""
        return INT64

    def __str__(self) -> str:
        return f"index({self.axis})"


@dataclass(frozen=True, slots=True)
class Prim(_Operators):
    """A primitive applied to expressions; ``dtype`` is the type of its result."""

    name: str
    args: tuple[Expr, ...]
    dtype: DType

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.args))})"


Expr: TypeAlias = "Arg | Lit | Index | Prim"
Operand: TypeAlias = "Expr | _Operators | bool | int | float | complex"

# The cost of one evaluation is the only property of a primitive that planning looks at.
# What is not an instruction of a processor is a function.
_QUICK = """
    add sub mul neg radd rmul and or xor not eq ne lt le gt ge abs max min select copysign cast cast_in_range bitcast
    encode decode shl lshr ashr popcount clz real imag complex rint floor ceil trunc round_away
"""
QUICK = frozenset(_QUICK.split())
"""The primitives that take about as long as an addition."""
_DIVISIONS = ("div", "sqrt")
_INTEGER_DIVISIONS = ("idiv", "irem")
INSTRUCTIONS = frozenset((*QUICK, *_DIVISIONS, *_INTEGER_DIVISIONS))
"""The primitives that are no functions."""


def lit(value: Any, dtype: DType) -> Lit:
    """A constant of this type.

    >>> lit(2, np.dtype(np.float32)).dtype
    dtype('float32')
    """
    return Lit(Literal.of(value, dtype))


def cast(value: Expr, dtype: DType) -> Expr:
    """A numeric conversion with the rules of convert_element_type; nothing when the type is the same already."""
    return value if value.dtype == dtype else Prim("cast", (value,), dtype)


def cast_in_range(value: Expr, dtype: DType) -> Expr:
    """The integers of a type that floats are truncated to, all of which are known to lie within it."""
    return Prim("cast_in_range", (value,), dtype)


def bitcast(value: Expr, dtype: DType) -> Expr:
    """The same bits read as another type of the same width."""
    return value if value.dtype == dtype else Prim("bitcast", (value,), dtype)


def select(condition: Operand, on_true: Operand, on_false: Operand) -> Expr:
    """The one or the other; both are evaluated, as vector code does."""
    true, false = _unify((on_true, on_false))
    return Prim("select", (_expr(condition, BOOL), true, false), true.dtype)


def prim(name: str, *operands: Operand) -> Expr:
    """A primitive whose operands share one type; bare Python numbers take it."""
    args = _unify(operands)
    return Prim(name, args, _RESULT.get(name, _same)(args[0].dtype))


def _same(dtype: DType) -> DType:
    return dtype


def _bool(dtype: DType) -> DType:
    return BOOL


_RESULT: dict[str, Callable[[DType], DType]] = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), _bool),
    "abs": real_dtype,
    "real": real_dtype,
    "imag": real_dtype,
    "complex": lambda dtype: COMPLEX64 if dtype == FLOAT32 else np.dtype(np.complex128),
}


def _unify(operands: tuple[Operand, ...]) -> tuple[Expr, ...]:
    dtype = next(operand.dtype for operand in operands if isinstance(operand, Arg | Lit | Index | Prim))
    args = tuple(_expr(operand, dtype) for operand in operands)
    if any(arg.dtype != dtype for arg in args):
        raise TypeError(f"operands of one primitive differ in type: {[str(arg.dtype) for arg in args]}")
    return args


def _expr(operand: Operand, dtype: DType) -> Expr:
    return operand if isinstance(operand, Arg | Lit | Index | Prim) else lit(operand, dtype)


def primitives(expr: Expr) -> Iterator[Prim]:
    """Yield the primitives of an expression; one that occurs in several places is one object and comes once.

    >>> [one.name for one in primitives(lit(2, np.dtype(np.float32)) * 3 + 1)]
    ['add', 'mul']
    """
    stack, seen = [expr], {id(expr)}
    while stack:
        top = stack.pop()
        if isinstance(top, Prim):
            yield top
            for arg in top.args:
                if id(arg) not in seen:
                    seen.add(id(arg))
                    stack.append(arg)


def cost(expr: Expr, machine: Machine) -> float:
    """The cost of one evaluation, in additions; casts and selects count as one, leaves as nothing.

    An expression that occurs in several places is one object and computed once.
    """
    total = 0.0
    for one in primitives(expr):
        total += primitive_cost(one.name, one.dtype, one.args[0].dtype if one.args else one.dtype, machine)
    return total


def primitive_cost(name: str, dtype: DType, operands: DType, machine: Machine) -> float:
    """The cost of one primitive that gives a type, on operands of another one."""
    cost = _own_cost(name, machine) * (machine.complex_factor if dtype_class(dtype) == "C" else 1.0)
    return cost + 2 * machine.division_cost if name == "abs" and dtype_class(operands) == "C" else cost


def _own_cost(name: str, machine: Machine) -> float:
    if name not in INSTRUCTIONS:
        return machine.function_cost
    if name in _DIVISIONS:
        return machine.division_cost
    return machine.integer_division_cost if name in _INTEGER_DIVISIONS else 1.0
