"""Functions that steps in Python call besides the user's: of operands and objects of the run, and tests.

They load nothing of the tracer, as kept programs call them too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import tree
from xjit.dataclass import dataclass
from xjit.errors import XjitError
from xjit.ir.opdef import OpDef
from xjit.ir.source_location import Where
from xjit.ops.effects.python_call import ShownError, unboxed
from xjit.ops.whole_arrays.runtime_check import LENGTH, MESSAGES, PINNED, REPEAT, LengthError, PinError, RepeatError

# Operands


def number(value: Any) -> Any:
    """A number of Python's, as programs hand it on: itself, or in an array of rank 0.

    >>> number(np.array(2.5)), number(3)
    (2.5, 3)
    """
    return value.item() if isinstance(value, np.ndarray | np.generic) else value


def scalar(value: Any) -> Any:
    """A number of NumPy's, in an array of rank 0.

    >>> scalar(np.array(2.5, np.float32))
    np.float32(2.5)
    """
    return np.asarray(value)[()]


def in_doubt(kind: Any, value: Any, holds: Any) -> Any:
    """A number of a type of Python's, if a truth value holds, else one of NumPy's.

    >>> in_doubt(float, np.array(2.5), True), in_doubt(float, np.array(2.5), False)
    (2.5, np.float64(2.5))
    """
    return kind(value) if holds else np.asarray(value)[()]


def read_only(array: Any) -> Any:
    """A view that nobody can write to.

    >>> read_only(np.zeros(2)).flags.writeable
    False
    """
    shown = array.view()
    shown.flags.writeable = False
    return shown


def kept_copy(array: Any) -> Any:
    """A copy that nobody can write to: the program may use the memory of the array again."""
    return read_only(array.copy(order="K"))


def read_only_object(value: Any) -> Any:
    """An object of the run for code that may write to it: a view that nobody can write to; ShownError for others that
    hold arrays.
    """
    found = unboxed(value)
    if isinstance(found, np.ndarray):
        return read_only(found)
    if any(isinstance(leaf, np.ndarray) for leaf in tree.flatten(found)[0]):
        raise ShownError
    return found


# Objects of the run


def call_method(owner: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """The result of a method of an object."""
    return getattr(owner, name)(*args, **kwargs)


def unpacked(value: Any, count: int) -> tuple[Any, ...]:
    """The items of an object that is unpacked into so many names, with Python's errors."""
    items = tuple(value)
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    if len(items) > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    return items


def filled(value: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array that holds a value as NumPy would store it, with NumPy's errors.

    >>> filled([1.5, 2.5], (2, 2), np.dtype(int))
    array([[1, 2],
           [1, 2]])
    """
    made = np.empty(shape, dtype)
    made[...] = value
    return made


def padded(value: Any, dtype: Any, room: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """An array of a shape within one of another shape, which has room for it; any other value as it is.

    >>> padded(np.array([1, 2]), np.dtype(int), (3,), (2,))
    array([1, 2, 0])
    """
    if type(value) is not np.ndarray or value.dtype != dtype or value.shape != shape:
        return value
    made = np.zeros(room, dtype)
    made[tuple(map(slice, shape))] = value
    return made


INPLACE: dict[Any, Any] = {
    np.add: operator.iadd,
    np.subtract: operator.isub,
    np.multiply: operator.imul,
    np.true_divide: operator.itruediv,
    np.floor_divide: operator.ifloordiv,
    np.remainder: operator.imod,
    np.power: operator.ipow,
    np.left_shift: operator.ilshift,
    np.right_shift: operator.irshift,
    np.bitwise_and: operator.iand,
    np.bitwise_or: operator.ior,
    np.bitwise_xor: operator.ixor,
    np.matmul: operator.imatmul,
}
"""Python's own operator in place for each ufunc."""


def updated(array: Any, value: Any, name: str) -> Any:
    """A copy of an array that an operator in place has changed.

    >>> updated(np.array([1, 2]), 3, "add")
    array([4, 5])
    """
    made = array.copy(order="K")
    return INPLACE[getattr(np, name)](made, value)


# Tests of conditions


def all_hold(*conditions: Any) -> None:
    """RepeatError unless all of the conditions are true."""
    if not all(conditions):
        raise RepeatError(MESSAGES[REPEAT])


def all_fit(*conditions: Any) -> None:
    """LengthError unless all of the conditions are true."""
    if not all(conditions):
        raise LengthError(MESSAGES[LENGTH])


def all_pinned(*conditions: Any) -> None:
    """PinError unless all of the conditions are true."""
    if not all(conditions):
        raise PinError(MESSAGES[PINNED])


TESTS = {REPEAT: all_hold, LENGTH: all_fit, PINNED: all_pinned}
"""The tests of conditions ahead of an effect, by the words of their errors."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The error of an operation whose condition does not hold; a ``summed`` one is that of all elements."""

    op: OpDef
    params: dict[str, Any]
    where: Where
    summed: bool

    @property
    def error(self) -> Exception:
        """The error at the line of the operation."""
        assert self.op.failure is not None
        error = self.op.failure(self.params)
        return error.located(self.where) if isinstance(error, XjitError) else error


@dataclass(frozen=True, slots=True)
class Test:
    """A test of conditions, the first operands: raises the error of the first that does not hold.

    The other operands are there to be in memory by then.
    """

    failures: tuple[Failure, ...]

    def __call__(self, *operands: Any) -> None:
        for holds, failure in zip(operands, self.failures, strict=False):
            if not holds:
                raise failure.error


@dataclass(frozen=True, slots=True)
class Storing:
    """A call of the first operands that stores the others where it raises an error.

    These are so many pairs of elements and the caller's array that they belong into.
    """

    function: Callable[..., Any]
    pairs: int

    def __call__(self, *operands: Any) -> Any:
        split = len(operands) - 2 * self.pairs
        try:
            return self.function(*operands[:split])
        except BaseException:
            for value, array in zip(operands[split::2], operands[split + 1 :: 2], strict=True):
                np.copyto(unboxed(unboxed(array)), value)  # from the box of its path
            raise
