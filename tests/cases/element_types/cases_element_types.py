"""Operations in every element type that they admit, by small numbers that all of those hold, and refused in others.

A row is the record of an operation, the classes of element types that the call admits, the call, its operands and
results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.helpers.case_values import ALL, COMPLEX, width
from tests.helpers.harness import Case, array
from xjit import ops
from xjit.types import DTYPES, in_classes

Row = tuple[str, str, Callable[..., Any], tuple[Any, ...], Any]

GRID = [[0, 1, 3], [2, 0, 1]]
LINE = [1, 3, 2, 1]


def _by_real_part(p: Any, q: Any) -> Any:
    return ops.ge(ops.real(p), ops.real(q))


def _scattered_at(select: Any) -> Callable[..., Any]:
    return lambda a, s, z: ops.select_and_scatter(a, select, (2,), (2,), "VALID", s, z, ops.add)


def _batch_norms() -> list[Row]:
    column, gradient = [[1], [3], [1], [3]], [[1], [2], [3], [6]]
    normal = [[-2], [2], [-2], [2]]
    two, zero, one = [2], [0], [1]
    return [
        ("batch_norm_training", "F", lambda *a: ops.batch_norm_training(*a, 0.0, 1), (column, two, zero),
         (normal, two, one)),
        ("batch_norm_inference", "F", lambda *a: ops.batch_norm_inference(*a, 0.0, 1), (column, two, zero, two, one),
         normal),
        ("batch_norm_grad", "F", lambda *a: ops.batch_norm_grad(*a, 0.0, 1), (column, two, two, one, gradient),
         ([[-2], [-4], [2], [4]], [4], [12])),
    ]  # fmt: skip


def _moves() -> list[Row]:
    return [
        ("concatenate", "PIFC", lambda *a: ops.concatenate(a, 1), (GRID, [[1], [2]]), [[0, 1, 3, 1], [2, 0, 1, 2]]),
        ("slice", "PIFC", lambda a: ops.slice(a, (0, 1), (2, 3)), (GRID,), [[1, 3], [0, 1]]),
        ("slice", "PIFC", lambda a: ops.slice(a, (0, 0), (1, 3), (1, 2)), (GRID,), [[0, 3]]),
        ("broadcast_in_dim", "PIFC", lambda a: ops.broadcast(a, (2,)), (LINE,), [LINE, LINE]),
        ("broadcast_in_dim", "PIFC", lambda a: ops.broadcast_in_dim(a, (4, 2), (0,)), (LINE,),
         [[1, 1], [3, 3], [2, 2], [1, 1]]),
        ("reshape", "PIFC", lambda a: ops.collapse(a, (0, 1)), (GRID,), [0, 1, 3, 2, 0, 1]),
        ("select", "PIFC", lambda a, b: ops.select(np.array([True, False, True, False]), a, b), (LINE, [2, 0, 0, 3]),
         [1, 0, 2, 3]),
    ]  # fmt: skip


def _folds() -> list[Row]:
    first = lambda p, q: p  # noqa: E731
    return [
        ("reduce", "PIFC", lambda a, z: ops.reduce(a, z, ops.add, (1,)), (GRID, 0), [4, 3]),
        ("reduce", "PIFC", lambda a, z: ops.reduce(a, z, lambda p, q: q, (0,)), (GRID, 0), [2, 0, 1]),
        ("scan", "IFC", lambda a: ops.cumsum(a, 0), ([1, 1, 2, 0],), [1, 2, 4, 4]),
        ("scan", "IFC", lambda a: ops.cumsum(a, 1, True), (GRID,), [[4, 4, 3], [3, 1, 1]]),
        ("scan", "IFC", lambda a: ops.cumprod(a, 0), (LINE,), [1, 3, 6, 6]),
        ("scan", "IF", lambda a: ops.cummax(a, 0), (LINE,), [1, 3, 3, 3]),
        ("scan", "IF", lambda a: ops.cummin(a, 0, True), (LINE,), [1, 1, 1, 1]),
        ("associative_scan", "PIFC", lambda a: ops.associative_scan(ops.add, a), ([1, 1, 2, 0],), [1, 2, 4, 4]),
        ("associative_scan", "PIFC", lambda a: ops.associative_scan(first, a, 1), (GRID,), [[0, 0, 0], [2, 2, 2]]),
        ("sort", "IF", lambda a: ops.top_k(a, 2)[0], (LINE,), [3, 2]),
        ("sort", "IF", lambda a: ops.top_k(a, 3, largest=False)[0], (LINE,), [1, 1, 2]),
        ("select_and_scatter", "IF", _scattered_at(ops.ge), (LINE, [2, 1], 0), [0, 2, 1, 0]),
        ("select_and_scatter", "FC", _scattered_at(_by_real_part), (LINE, [2, 1], 0), [0, 2, 1, 0]),
    ]


def _parts() -> list[Row]:
    return [
        ("map", "PIFC", lambda a, b: ops.map((a, b), lambda p, q: p * q), (LINE, [2, 1, 0, 3]), [2, 3, 0, 3]),
        ("map", "PIFC", lambda a, b: ops.map((a, b), lambda p, q: q), (LINE, [2, 1, 0, 3]), [2, 1, 0, 3]),
        ("call", "PIFC", lambda a: ops.call(lambda p, q: (q, p), a, ops.slice(a, (0,), (2,))), (LINE,),
         (LINE[:2], LINE)),
        ("make_tuple", "PIFC", lambda a, b: ops.make_tuple(b, a), (LINE, GRID), (GRID, LINE)),
        ("get_tuple_element", "PIFC", lambda a, b: ops.get_tuple_element(ops.make_tuple(a, b), 1), (LINE, GRID),
         GRID),
        ("reduce_precision", "F", lambda a: ops.reduce_precision(a, exponent_bits=3, mantissa_bits=0),
         ([1, 1.25, 1.75, 2, 2.5, 0],), [1, 1, 2, 2, 2, 0]),
    ]  # fmt: skip


def _as(dtype: str, values: Any) -> Any:
    """Values of an element type, in tuples as they were."""
    return tuple(array(dtype, one) for one in values) if isinstance(values, tuple) else array(dtype, values)


def _row_cases() -> list[Case]:
    found = []
    for name, classes, call, operands, expected in (*_batch_norms(), *_moves(), *_folds(), *_parts()):
        for dtype in ALL:
            admitted = in_classes(DTYPES[dtype], classes)
            found.append(
                Case(
                    name,
                    call,
                    _as(dtype, operands),
                    _as(dtype, expected) if admitted else ops.DTypeError,
                    label="type",
                )
            )
    return found


def _bit_cases() -> list[Case]:
    """Bits of every element type as unsigned integers of its width, and as bytes; complex numbers as such."""
    found = []
    for dtype in ALL:
        x = array(dtype, LINE)
        pairs = {"pred": "pred", "c64": "c128", "c128": "c64"}
        others = [pairs[dtype]] if dtype in pairs else [f"u{width(dtype)}", "u8"]
        for other in others:
            size = DTYPES[other].itemsize
            parts = x.dtype.itemsize // size
            dims = {0: (2,), 1: (4,)}.get(parts, (4, parts))
            operand = x.reshape(2, 2) if parts == 0 else x
            expected = np.frombuffer(x.tobytes(), DTYPES[other]).reshape(dims)

            def function(a: Any, other: str = other) -> Any:
                return ops.bitcast_convert_type(a, other)

            found.append(Case("bitcast_convert_type", function, (operand,), expected, label=other))
            if dtype not in COMPLEX:
                continue
            found.append(
                Case("bitcast_convert_type", lambda a: ops.bitcast_convert_type(a, "u8"), (x,), ops.DTypeError)
            )
    return found


CASES = [*_row_cases(), *_bit_cases()]
