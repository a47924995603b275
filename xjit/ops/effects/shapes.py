"""Shapes of what comes in from outside of a computation: of one array, or of a flat tuple of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit.dataclass import dataclass
from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.ir.context import TracedValue
from xjit.ops.define.core import Array, Shape, as_operand, as_shape
from xjit.types import NAMES, ArrayType, TupleType, array_type, type_of

Parts: TypeAlias = "tuple[tuple[str, tuple[int, ...]], ...]"
"""Element types and dimensions, as plain values that can be kept with a program."""


@dataclass(frozen=True, slots=True)
class Described:
    """The parts of a shape; ``several`` says whether it is a tuple."""

    parts: Parts
    several: bool

    @property
    def params(self) -> dict[str, Any]:
        """The static parameters of an operation that yields such values."""
        return {"parts": self.parts, "several": self.several}


def described(shape: Any, name: str) -> Described:
    """The parts of a shape or of a tuple of shapes; ArgumentError for tuples in tuples.

    >>> described(("f32[2]", "s8[]"), "infeed").parts
    (('f32', (2,)), ('s8', ()))
    """
    if not isinstance(shape, tuple | list):
        return Described((_part(as_shape(shape, name), name),), several=False)
    if any(isinstance(part, tuple | list) for part in shape):
        raise ArgumentError(f"ops.{name}: shape: a tuple of shapes without tuples in it is required; got {shape!r}")
    return Described(tuple(_part(as_shape(part, name), name) for part in shape), several=True)


def _part(shape: Shape, name: str) -> tuple[str, tuple[int, ...]]:
    if any(size < 0 for size in shape.dims):
        raise ArgumentError(f"ops.{name}: shape: values of at least 0 are required; got {shape}")
    return NAMES[shape.dtype], shape.dims


def type_of_parts(parts: Parts, several: bool) -> ArrayType | TupleType:
    """The type of values of such a shape."""
    types = tuple(array_type(name, dims) for name, dims in parts)
    return TupleType(types) if several else types[0]


def operands_of(value: Any, name: str, argument: str = "operand") -> tuple[tuple[Any, ...], bool]:
    """The arrays of a value, and whether it is a tuple; DTypeError for tuples in tuples."""
    if not isinstance(value, tuple | list):
        return (as_operand(value, name, argument),), False
    return tuple(as_operand(part, name, f"{argument}[{place}]") for place, part in enumerate(value)), True


def host_value(value: Any, name: str) -> tuple[tuple[Array, ...], bool]:
    """Copies of the arrays of a value outside of any trace; DTypeError for traced values."""
    operands, several = operands_of(value, name, "value")
    if any(isinstance(operand, TracedValue) for operand in operands):
        raise DTypeError(f"ops.{name}: value: an array outside of compiled functions is required; got a traced value")
    return tuple(np.array(operand, order="C") for operand in operands), several


def words(parts: Parts, several: bool) -> str:
    """A shape as text.

    >>> words((("f32", (2, 3)),), False), words((("s8", ()),), True)
    ('f32[2,3]', '(s8[],)')
    """
    texts = [f"{name}[{','.join(map(str, dims))}]" for name, dims in parts]
    if not several:
        return texts[0]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def parts_of(arrays: Sequence[Array]) -> Parts:
    """The parts of the shape of these arrays."""
    types = [type_of(np.asarray(array)) for array in arrays]
    return tuple((NAMES[type.dtype], type.shape) for type in types)


def check_same_shape(name: str, wanted: Parts, several: bool, found: Parts, found_several: bool) -> None:
    """ShapeError unless what has come is of the shape that was asked for."""
    if (wanted, several) != (found, found_several):
        raise ShapeError(
            f"ops.{name}: shape: what has come is of another shape; "
            f"got {words(found, found_several)} for {words(wanted, several)}"
        )
