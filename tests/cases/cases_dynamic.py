"""Cases of dynamic sizes: elements in front of the size count, written out or taken from the array by slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.harness import Case, array
from xjit import ops
from xjit.types import DTYPES

S = np.int32
TEN = np.arange(1, 11, dtype=np.float32)


def _size(x: Any, n: Any, axis: int = 0) -> Any:
    return ops.set_dimension_size(x, n, axis)


def _types() -> list[Case]:
    found = []
    for name in DTYPES:
        x = array(name, np.arange(6).reshape(2, 3) % 2)
        for axis, size in ((0, 1), (1, 2), (1, 0), (0, 2)):
            cut = x[:size] if axis == 0 else x[:, :size]
            found.append(
                Case("set_dimension_size", lambda a, n, d=axis: _size(a, n, d), (x, S(size)), cut, label=name)
            )
        found.append(Case("get_dimension_size", lambda a: ops.get_dimension_size(a, 1), (x,), S(3), label=name))
        found.append(Case("trim", _size, (x, S(1)), x[:1], label=name))
    return found


def _sums() -> list[Case]:
    found = []
    for size, total, product in ((0, 0, 1), (1, 1, 1), (5, 15, 120), (6, 21, 720), (10, 55, 3628800)):
        arrays, label = (TEN, S(size)), f"of {size}"

        def summed(x: Any, n: Any) -> Any:
            return ops.reduce(_size(x, n), np.float32(0), ops.add, (0,))

        def multiplied(x: Any, n: Any) -> Any:
            return ops.reduce(_size(x, n), np.float32(1), ops.mul, (0,))

        def counted(x: Any, n: Any) -> Any:
            return ops.get_dimension_size(_size(x, n), 0)

        found.append(Case("set_dimension_size", summed, arrays, np.float32(total), label=label))
        found.append(Case("set_dimension_size", multiplied, arrays, np.float32(product), label=label))
        found.append(Case("get_dimension_size", counted, arrays, S(size), label=label))
    return found


def _known_sizes() -> list[Case]:
    """Sizes that the trace knows: what is outside of the bound is a mistake."""
    found = [
        Case("set_dimension_size", lambda x, n=n: _size(x, S(n)), (TEN,), TEN[:n], label=f"to {n}")
        for n in (0, 3, 10)
    ]
    for wrong in (-1, 11):
        call = Case(
            "set_dimension_size", lambda x, n=wrong: _size(x, S(n)), (TEN,), ops.ArgumentError, label=str(wrong)
        )
        found.append(call)
    found += [
        Case("set_dimension_size", lambda x: _size(x, np.int64(2)), (TEN,), ops.DTypeError, label="wide"),
        Case("set_dimension_size", lambda x: _size(x, S([2])), (TEN,), ops.ShapeError, label="a list"),
        Case("set_dimension_size", lambda x: _size(x, S(2), 1), (TEN,), ops.ArgumentError, label="dimension"),
        Case("get_dimension_size", lambda x: ops.get_dimension_size(x, 1), (TEN,), ops.ArgumentError, label="rank 1"),
        Case("get_dimension_size", lambda x: ops.get_dimension_size(x, 0), (np.float32(1),), ops.ArgumentError),
    ]
    return found


def _results() -> list[Case]:
    """Operations on what has a size, expected by slices."""
    two, three = (TEN, S(2)), (TEN, S(3))
    return [
        Case("trim", lambda x, n: ops.neg(_size(x, n)), three, np.float32([-1, -2, -3]), label="negative"),
        Case("trim", lambda x, n: ops.add(_size(x, n), _size(x, n)), two, np.float32([2, 4]), label="sum"),
        Case("trim", lambda x, n: ops.sort(ops.neg(_size(x, n))), three, np.float32([-3, -2, -1]), label="sorted"),
        Case("trim", lambda x, n: ops.rev(_size(x, n), (0,)), three, np.float32([3, 2, 1]), label="reversed"),
        Case("trim", lambda x, n: ops.cumsum(_size(x, n), 0), three, np.float32([1, 3, 6]), label="running"),
        Case(
            "trim",
            lambda x, n: ops.concatenate((_size(x, n), x, _size(x, n)), 0),
            two,
            np.concatenate((TEN[:2], TEN, TEN[:2])),
            label="joined",
        ),
        Case("trim", lambda x, n: ops.dot(_size(x, n), _size(x, n)), three, np.float32(14), label="product"),
        Case("trim", lambda x, n: _size(_size(x, n), S(10)), (TEN, S(10)), TEN, label="whole again"),
    ]


CASES = [*_types(), *_sums(), *_known_sizes(), *_results()]
