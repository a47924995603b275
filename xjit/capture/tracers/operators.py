"""Python's operators as NumPy's ufuncs, for every traced value."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

Ufunc = Any

PYTHON: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.divmod: divmod,
    np.power: operator.pow,
    np.left_shift: operator.lshift,
    np.right_shift: operator.rshift,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
    np.matmul: operator.matmul,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: abs,
    np.invert: operator.invert,
}
"""Python's own operator for each ufunc."""

COMPARISONS: dict[Any, str] = {
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
    np.equal: "==",
    np.not_equal: "!=",
}
"""The signs of the ufuncs that compare."""


class Operators:
    """Each operator calls one ufunc through ``_binary``, ``_unary`` or ``_inplace``; subclasses define those."""

    __slots__ = ()

    def _unary(self, ufunc: Ufunc) -> Any:
        raise NotImplementedError

    def _binary(self, ufunc: Ufunc, left: Any, right: Any) -> Any:
        raise NotImplementedError

    def _inplace(self, ufunc: Ufunc, other: Any) -> Any:
        raise NotImplementedError

    def __lt__(self, other: Any) -> Any:
        return self._binary(np.less, self, other)

    def __le__(self, other: Any) -> Any:
        return self._binary(np.less_equal, self, other)

    def __gt__(self, other: Any) -> Any:
        return self._binary(np.greater, self, other)

    def __ge__(self, other: Any) -> Any:
        return self._binary(np.greater_equal, self, other)

    def __eq__(self, other: object) -> Any:
        return self._binary(np.equal, self, other)

    def __ne__(self, other: object) -> Any:
        return self._binary(np.not_equal, self, other)

    def __neg__(self) -> Any:
        return self._unary(np.negative)

    def __pos__(self) -> Any:
        return self._unary(np.positive)

    def __abs__(self) -> Any:
        return self._unary(np.absolute)

    def __invert__(self) -> Any:
        return self._unary(np.invert)

    def __add__(self, other: Any) -> Any:
        return self._binary(np.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._binary(np.add, other, self)

    def __iadd__(self, other: Any) -> Any:
        return self._inplace(np.add, other)

    def __sub__(self, other: Any) -> Any:
        return self._binary(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary(np.subtract, other, self)

    def __isub__(self, other: Any) -> Any:
        return self._inplace(np.subtract, other)

    def __mul__(self, other: Any) -> Any:
        return self._binary(np.multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._binary(np.multiply, other, self)

    def __imul__(self, other: Any) -> Any:
        return self._inplace(np.multiply, other)

    def __truediv__(self, other: Any) -> Any:
        return self._binary(np.true_divide, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary(np.true_divide, other, self)

    def __itruediv__(self, other: Any) -> Any:
        return self._inplace(np.true_divide, other)

    def __floordiv__(self, other: Any) -> Any:
        return self._binary(np.floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._binary(np.floor_divide, other, self)

    def __ifloordiv__(self, other: Any) -> Any:
        return self._inplace(np.floor_divide, other)

    def __mod__(self, other: Any) -> Any:
        return self._binary(np.remainder, self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._binary(np.remainder, other, self)

    def __imod__(self, other: Any) -> Any:
        return self._inplace(np.remainder, other)

    def __divmod__(self, other: Any) -> Any:
        return self._binary(np.divmod, self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return self._binary(np.divmod, other, self)

    def __pow__(self, other: Any) -> Any:
        return self._binary(np.power, self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._binary(np.power, other, self)

    def __ipow__(self, other: Any) -> Any:
        return self._inplace(np.power, other)

    def __lshift__(self, other: Any) -> Any:
        return self._binary(np.left_shift, self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._binary(np.left_shift, other, self)

    def __ilshift__(self, other: Any) -> Any:
        return self._inplace(np.left_shift, other)

    def __rshift__(self, other: Any) -> Any:
        return self._binary(np.right_shift, self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._binary(np.right_shift, other, self)

    def __irshift__(self, other: Any) -> Any:
        return self._inplace(np.right_shift, other)

    def __and__(self, other: Any) -> Any:
        return self._binary(np.bitwise_and, self, other)

    def __rand__(self, other: Any) -> Any:
        return self._binary(np.bitwise_and, other, self)

    def __iand__(self, other: Any) -> Any:
        return self._inplace(np.bitwise_and, other)

    def __or__(self, other: Any) -> Any:
        return self._binary(np.bitwise_or, self, other)

    def __ror__(self, other: Any) -> Any:
        return self._binary(np.bitwise_or, other, self)

    def __ior__(self, other: Any) -> Any:
        return self._inplace(np.bitwise_or, other)

    def __xor__(self, other: Any) -> Any:
        return self._binary(np.bitwise_xor, self, other)

    def __rxor__(self, other: Any) -> Any:
        return self._binary(np.bitwise_xor, other, self)

    def __ixor__(self, other: Any) -> Any:
        return self._inplace(np.bitwise_xor, other)

    def __matmul__(self, other: Any) -> Any:
        return self._binary(np.matmul, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._binary(np.matmul, other, self)

    def __imatmul__(self, other: Any) -> Any:
        return self._inplace(np.matmul, other)
