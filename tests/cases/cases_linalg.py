"""Cases of dot and dot_general by sums over the definition's indices, of matrix factors and triangular systems."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.helpers.case_values import COMPLEX, FLOATS, INTEGERS, integers, rounded, wrapped
from tests.helpers.harness import Case, array
from xjit import ops

Numbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


def contracted(lhs: Any, rhs: Any, numbers: Numbers) -> Any:
    """The definition, term by term, over Python numbers."""
    (left, right), (left_batch, right_batch) = numbers
    left_free = [axis for axis in range(lhs.ndim) if axis not in (*left, *left_batch)]
    right_free = [axis for axis in range(rhs.ndim) if axis not in (*right, *right_batch)]
    sizes = [lhs.shape[a] for a in (*left_batch, *left_free)] + [rhs.shape[a] for a in right_free]
    result = np.empty(sizes, object)
    for place in itertools.product(*map(range, sizes)):
        batch, rest = place[: len(left_batch)], place[len(left_batch) :]
        total: Any = 0
        for summed in itertools.product(*(range(lhs.shape[axis]) for axis in left)):
            one = dict(zip((*left_batch, *left, *left_free), (*batch, *summed, *rest), strict=False))
            two = dict(
                zip((*right_batch, *right, *right_free), (*batch, *summed, *rest[len(left_free) :]), strict=True)
            )
            total += (
                lhs[tuple(one[a] for a in range(lhs.ndim))].item()
                * rhs[tuple(two[a] for a in range(rhs.ndim))].item()
            )
        result[place] = total
    return result


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...], Numbers]] = [
    ((2, 3), (3, 4), (((1,), (0,)), ((), ()))),
    ((3,), (3,), (((0,), (0,)), ((), ()))),
    ((2, 3), (2, 3), (((1,), (1,)), ((), ()))),
    ((2, 3, 4), (4, 2, 5), (((2,), (0,)), ((0,), (1,)))),
    ((2, 3, 4), (3, 4, 2), (((2, 0), (1, 2)), ((), ()))),
    ((2, 3, 2, 3), (3, 2, 4), (((3,), (0,)), ((0,), (1,)))),
    ((2,), (3,), (((), ()), ((), ()))),
    ((2, 3), (2, 3), (((), ()), ((0, 1), (0, 1)))),
    ((2, 0), (0, 3), (((1,), (0,)), ((), ()))),
]


def _general_cases() -> list[Case]:
    found = []
    for dtype in (*INTEGERS, "f32", "f64"):
        for left, right, numbers in SHAPES:
            x = array(dtype, np.arange(int(np.prod(left))) % 13).reshape(left)
            y = array(dtype, np.arange(int(np.prod(right))) % 11).reshape(right)
            exact = contracted(x, y, numbers)
            if dtype in INTEGERS:
                expected = integers(dtype, [wrapped(int(v), dtype) for v in exact.ravel()]).reshape(exact.shape)
            else:
                expected = array(dtype, exact.astype(np.float64))
            found.append(Case("dot_general", lambda a, b, n=numbers: ops.dot_general(a, b, n), (x, y), expected))
    return found


def _narrow_cases() -> list[Case]:
    found = []
    for dtype in FLOATS:
        x, y = array(dtype, np.full((2, 40), 0.25)), array(dtype, np.full((40, 1), 1.0))
        expected = rounded(dtype, np.full((2, 1), 10.0))
        found.append(Case("dot_general", ops.dot, (x, y), expected, label="wide_sum"))
    for dtype in COMPLEX:
        x, y = array(dtype, [1 + 1j, 2]), array(dtype, [1j, 1 - 1j])
        found.append(Case("dot_general", ops.dot, (x, y), array(dtype, 1 - 1j), 4))
    x, y = array("pred", [[1, 0], [0, 0]]), array("pred", [[1, 1], [0, 1]])
    found.append(Case("dot_general", ops.dot, (x, y), array("pred", [[1, 1], [0, 0]])))
    return found


def _preferred(dtype: str) -> Any:
    numbers = ops.DotDimensionNumbers((0,), (0,))
    return lambda a, b: ops.dot_general(a, b, numbers, preferred_element_type=dtype)


def _preferred_cases() -> list[Case]:
    s8, f16, f32 = array("s8", [100, 100]), array("f16", [200, 300]), array("f32", [200, 300])
    return [
        Case("dot_general", _preferred("s32"), (s8, s8), array("s32", 20000)),
        Case("dot_general", _preferred("f32"), (f16, f32), array("f32", 130000)),
        Case("dot_general", _preferred("bf16"), (f32, f32), rounded("bf16", 130000.0)),
        Case("dot_general", _preferred("s8"), (array("s32", [1]), array("s32", [1])), ops.DTypeError),
        Case("dot_general", _preferred("f32"), (s8, s8), ops.DTypeError),
        Case("dot_general", _preferred("f32"), (array("f64", [1]), array("f64", [1])), ops.DTypeError),
    ]


def _error_cases() -> list[Case]:
    x, y = np.zeros((2, 3), np.float32), np.zeros((3, 4), np.float32)
    cube = np.zeros((2, 3, 4), np.float32)

    def general(numbers: Any) -> Any:
        return lambda a, b: ops.dot_general(a, b, numbers)

    return [
        Case("dot_general", ops.dot, (x, x), ops.ShapeError, label="dot"),
        Case("dot_general", ops.dot, (cube, y), ops.ShapeError, label="dot"),
        Case("dot_general", ops.dot, (np.float32(1).reshape(()), y), ops.ShapeError, label="dot"),
        Case("dot_general", ops.dot, (x, y.astype(np.float64)), ops.DTypeError, label="dot"),
        Case("dot_general", general((((0,), (0,)), ((), ()))), (x, y), ops.ShapeError),
        Case("dot_general", general((((1,), (0, 1)), ((), ()))), (x, y), ops.ArgumentError),
        Case("dot_general", general((((1, 1), (0, 1)), ((), ()))), (x, y), ops.ArgumentError),
        Case("dot_general", general((((1,), (0,)), ((1,), (1,)))), (x, y), ops.ArgumentError),
        Case("dot_general", general((((2,), (0,)), ((), ()))), (x, y), ops.ArgumentError),
        Case("dot_general", general(((1,), (0,))), (x, y), ops.ArgumentError),
    ]


# ---- triangular systems

LOWER = np.array([[2, 0, 0], [1, 3, 0], [-1, 2, 1]])
COMPLEX_LOWER = np.array([[2, 0, 0], [1j, 3, 0], [-1, 2 - 1j, 1]])


def _hidden(matrix: Any, lower: bool) -> Any:
    """The matrix with numbers in the triangle that is not to be read."""
    rows, columns = np.indices(matrix.shape[-2:])
    return np.where(columns > rows if lower else columns < rows, 99, matrix)


def _cholesky_cases() -> list[Case]:
    found = []
    for dtype in (*FLOATS, *COMPLEX):
        factor = COMPLEX_LOWER if dtype in COMPLEX else LOWER
        product = factor @ factor.conj().T
        for lower in (True, False):
            expected = array(dtype, factor if lower else factor.conj().T)
            a = array(dtype, _hidden(product, lower))
            found.append(Case("cholesky", lambda a, up=lower: ops.cholesky(a, up), (a,), expected, 4))
    indefinite, fine = [[1.0, 2], [2, 1]], [[4.0, 0], [0, 9]]
    both = array("f64", [[indefinite, fine]])
    expected = array("f64", [[np.full((2, 2), np.nan), [[2, 0], [0, 3]]]])
    found.append(Case("cholesky", lambda a: ops.cholesky(a, True), (both,), expected, label="indefinite"))
    for shape in ((0, 0), (3, 0, 0), (0, 2, 2)):
        empty = np.zeros(shape, np.float32)
        found.append(Case("cholesky", lambda a: ops.cholesky(a, True), (empty,), empty.copy(), label="empty"))
    return found


def _op(matrix: Any, transposed: str) -> Any:
    return {"NO_TRANSPOSE": matrix, "TRANSPOSE": matrix.swapaxes(-1, -2), "ADJOINT": matrix.conj().swapaxes(-1, -2)}[
        transposed
    ]


def _triangular_cases() -> list[Case]:
    found = []
    for dtype in (*FLOATS, *COMPLEX):
        triangle = COMPLEX_LOWER if dtype in COMPLEX else LOWER
        solution = np.array([[1, 2], [0, -1], [2, 1]])
        for lower, unit, left in itertools.product((True, False), repeat=3):
            for how in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
                matrix = triangle if lower else triangle.T
                matrix = matrix - np.diag(np.diag(matrix)) + np.eye(3) if unit else matrix
                x = solution if left else solution.T
                b = _op(matrix, how) @ x if left else x @ _op(matrix, how)
                a = _hidden(matrix + (6 * np.eye(3) if unit else 0), lower)
                arrays = array(dtype, [a, a]), array(dtype, [b, b])
                found.append(
                    Case(
                        "triangular_solve",
                        lambda a, b, f=(left, lower, unit), t=how: ops.triangular_solve(a, b, *f, t),
                        arrays,
                        array(dtype, [x, x]),
                        0 if dtype in FLOATS else 8,
                    )
                )
    return found


def _special_triangular_cases() -> list[Case]:
    def solve(a: Any, b: Any) -> Any:
        return ops.triangular_solve(a, b, True, True, False)

    singular, ones = array("f32", [[0, 0], [1, 1]]), array("f32", [[1], [0]])
    empty, none = np.zeros((2, 0, 0), np.float32), np.zeros((2, 0, 3), np.float32)
    return [
        Case("triangular_solve", solve, (singular, ones), array("f32", [[np.inf], [-np.inf]]), label="singular"),
        Case("triangular_solve", solve, (empty, none), none.copy(), label="empty"),
        Case("triangular_solve", solve, (singular, np.zeros((2, 0), np.float32)), np.zeros((2, 0), np.float32)),
    ]


def _triangular_error_cases() -> list[Case]:
    a, b = np.eye(2, dtype=np.float32), np.ones((2, 1), np.float32)

    def solve(*flags: Any) -> Any:
        return lambda a, b: ops.triangular_solve(a, b, *flags)

    flags = (True, True, False)
    return [
        Case("cholesky", lambda a: ops.cholesky(a, True), (b,), ops.ShapeError),
        Case("cholesky", lambda a: ops.cholesky(a, True), (b[:, 0],), ops.ShapeError),
        Case("cholesky", lambda a: ops.cholesky(a, True), (a.astype(np.int32),), ops.DTypeError),
        Case("cholesky", lambda a: ops.cholesky(a, 1), (a,), ops.ArgumentError),
        Case("cholesky", lambda a, b: ops.cholesky(a, b), (a, b), ops.DTypeError),
        Case("triangular_solve", solve(*flags), (a.astype(np.float64), b), ops.DTypeError),
        Case("triangular_solve", solve(*flags), (a.astype(np.int32), b.astype(np.int32)), ops.DTypeError),
        Case("triangular_solve", solve(*flags, "SIDEWAYS"), (a, b), ops.ArgumentError),
        Case("triangular_solve", solve(*flags), (b, b), ops.ShapeError),
        Case("triangular_solve", solve(*flags), (a, b[:, 0]), ops.ShapeError),
        Case("triangular_solve", solve(False, True, False), (a, b), ops.ShapeError),
        Case("triangular_solve", solve(*flags), (np.stack([a, a]), b[None]), ops.ShapeError),
    ]


CASES = [
    *_general_cases(),
    *_narrow_cases(),
    *_preferred_cases(),
    *_error_cases(),
    *_cholesky_cases(),
    *_triangular_cases(),
    *_special_triangular_cases(),
    *_triangular_error_cases(),
]
