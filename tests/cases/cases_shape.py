"""Cases of operations that move elements, with expected indices worked out one by one from the definitions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.helpers.case_values import ALL
from tests.helpers.harness import Case, array
from xjit import ops
from xjit.ops.define.memory_order import pack
from xjit.ops.whole_arrays.diagonal import diagonal
from xjit.ops.whole_arrays.shape import spread
from xjit.ops.whole_arrays.tile_concat import mosaic

Place = Callable[[tuple[int, ...]], tuple[int, ...] | None]


def numbered(dtype: str, *shape: int) -> np.ndarray[Any, Any]:
    """Distinct small values."""
    return array(dtype, np.arange(int(np.prod(shape))) % 120).reshape(shape)


def picked(operand: Any, dims: Sequence[int], place: Place, fill: Any = 0) -> np.ndarray[Any, Any]:
    """An array whose element at i is the operand's at ``place(i)``, or the fill where that is None."""
    result = np.empty(tuple(dims), operand.dtype)
    for index in itertools.product(*map(range, dims)):
        source = place(index)
        result[index] = fill if source is None else operand[source]
    return result


def layouts(operand: Any) -> list[Any]:
    """The same values in row-major and column-major memory, strided and reversed."""
    if operand.ndim == 0:
        return [operand]
    wide = np.repeat(operand, 2, axis=-1)[..., ::2]
    turned = np.ascontiguousarray(operand[::-1])[::-1]
    return [operand, np.asfortranarray(operand), wide, turned]


# ---- broadcasts


def _broadcast_cases() -> list[Case]:
    found = []
    x = numbered("s32", 3)
    grid = numbered("f32", 2, 1)
    for operand, dims, mapping in (
        (x, (2, 3), (1,)),
        (x, (3, 2), (0,)),
        (grid, (2, 3), (0, 1)),
        (grid, (4, 2, 5), (1, 2)),
        (numbered("f64"), (2, 3), ()),
        (numbered("s8", 0), (2, 0), (1,)),
        (numbered("s8", 1), (2, 0), (1,)),
        (numbered("c64", 2, 3), (2, 3), (0, 1)),
    ):

        def place(index: tuple[int, ...], operand: Any = operand, mapping: Any = mapping) -> tuple[int, ...]:
            return tuple(0 if operand.shape[d] == 1 else index[b] for d, b in enumerate(mapping))

        expected = picked(operand, dims, place)

        def function(a: Any, dims: Any = dims, mapping: Any = mapping) -> Any:
            return ops.broadcast_in_dim(a, dims, mapping)

        found += [Case("broadcast_in_dim", function, (one,), expected) for one in layouts(operand)]
    for sizes in ((), (2,), (2, 0), (3, 1)):
        expected = picked(x, (*sizes, 3), lambda index: index[-1:])
        found.append(Case("broadcast_in_dim", lambda a, sizes=sizes: ops.broadcast(a, sizes), (x,), expected))
        found.append(Case("spread", lambda a, sizes=sizes: spread(a, (*sizes, 3)), (x,), expected))
    errors: list[tuple[Any, Any, Any]] = [
        ((2, 2), (1,), ops.ShapeError),
        ((2, 3), (1, 0), ops.ArgumentError),
        ((2, 3), (2,), ops.ArgumentError),
        ((2, 3), (-1,), ops.ArgumentError),
        ((-1, 3), (1,), ops.ArgumentError),
        (np.array([2, 3]), (1,), ops.DTypeError),
        ((2.0, 3), (1,), ops.ArgumentError),
    ]
    for dims, mapping, error in errors:
        found.append(
            Case("broadcast_in_dim", lambda a, d=dims, m=mapping: ops.broadcast_in_dim(a, d, m), (x,), error)
        )
    pair = numbered("s32", 2, 3)
    found.append(
        Case("broadcast_in_dim", lambda a: ops.broadcast_in_dim(a, (3, 2), (1, 0)), (pair,), ops.ArgumentError)
    )
    found.append(Case("broadcast_in_dim", lambda a: ops.broadcast(a, (-1,)), (x,), ops.ArgumentError))
    return found


def _implicit_cases() -> list[Case]:
    """The algorithm of binary operations: rank 0, broadcast_dimensions, dimensions of size 1."""
    matrix, vector = numbered("s32", 2, 3), array("s32", [7, 8, 9])
    cube = numbered("f32", 2, 3, 4)
    pair = numbered("s32", 1, 2)
    column = array("s32", [[[10], [20], [30]]])
    found = [
        Case("add", lambda a, b: ops.add(a, b, (1,)), (matrix, vector), array("s32", [[7, 9, 11], [10, 12, 14]])),
        Case("sub", lambda a, b: ops.sub(a, b, (1,)), (vector, matrix), array("s32", [[7, 7, 7], [4, 4, 4]])),
        Case("add", ops.add, (matrix, array("s32", 7)), array("s32", [[7, 8, 9], [10, 11, 12]])),
        Case("sub", ops.sub, (array("s32", 7), matrix), array("s32", [[7, 6, 5], [4, 3, 2]])),
        Case("add", ops.add, (matrix[:, :1], matrix[:1]), array("s32", [[0, 1, 2], [3, 4, 5]])),
        Case(
            "add", lambda a, b: ops.add(a, b, (1, 2)), (pair, column), array("s32", [[[10, 11], [20, 21], [30, 31]]])
        ),
        Case("add", lambda a, b: ops.add(a, b, (1, 2)), (cube, cube[0]), cube + cube[:1]),
        Case("add", ops.add, (np.zeros((0,), np.float32), array("f32", [1])), array("f32", [])),
        Case("lt", lambda a, b: ops.lt(a, b, (0,)), (matrix, vector[:2]), array("pred", [[1, 1, 1], [1, 1, 1]])),
    ]
    errors: list[tuple[Any, Any, Any, Any]] = [
        (matrix, vector, None, ops.ShapeError),
        (matrix, vector, (), ops.ShapeError),
        (matrix, vector, (0,), ops.ShapeError),
        (matrix, vector, (0, 1), ops.ArgumentError),
        (matrix, vector, (2,), ops.ArgumentError),
        (matrix, vector, (-1,), ops.ArgumentError),
        (matrix, matrix, (1, 0), ops.ArgumentError),
        (matrix, array("s32", 7), (0,), ops.ArgumentError),
        (cube, cube[0], (2, 1), ops.ArgumentError),
        (cube, cube[0], (1, 1), ops.ArgumentError),
        (cube, cube[:, :, :2], None, ops.ShapeError),
        (np.zeros(0, np.float32), np.zeros(2, np.float32), None, ops.ShapeError),
    ]
    for x, y, mapping, error in errors:
        found.append(Case("add", lambda a, b, m=mapping: ops.add(a, b, broadcast_dimensions=m), (x, y), error))
    return found


# ---- reshape, transpose, rev, slice


def _reshape_cases() -> list[Case]:
    found = []
    cube = numbered("f32", 2, 3, 4)
    flat = cube.ravel().tolist()
    for sizes in ((24,), (4, 6), (6, 4), (2, 1, 12), (2, 3, 4), (1, 2, 3, 4, 1), (2, 2, 3, 2)):
        expected = np.array(flat, np.float32).reshape(sizes)
        found += [Case("reshape", lambda a, s=sizes: ops.reshape(a, s), (one,), expected) for one in layouts(cube)]
    literal = array("f32", [[[10, 11], [12, 13]], [[20, 21], [22, 23]]])
    turned = array("f32", [10, 20, 11, 21, 12, 22, 13, 23])
    found += [
        Case("reshape", lambda a: ops.reshape(a, (8,), dimensions=(1, 2, 0)), (literal,), turned),
        Case("reshape", lambda a: ops.reshape(a, ()), (array("f32", [[5]]),), array("f32", 5)),
        Case("reshape", lambda a: ops.reshape(a, (1, 1)), (array("f32", 5),), array("f32", [[5]])),
        Case("reshape", lambda a: ops.reshape(a, (3, 0)), (np.zeros((0, 2), np.int8),), np.zeros((3, 0), np.int8)),
        Case("reshape", lambda a: ops.reshape(a, (5, 5)), (cube,), ops.ShapeError),
        Case("reshape", lambda a: ops.reshape(a, (-1, 4)), (cube,), ops.ArgumentError),
        Case("reshape", lambda a: ops.reshape(a, (24,), dimensions=(0, 1, 1)), (cube,), ops.ArgumentError),
        Case("reshape", lambda a: ops.collapse(a, (0, 1)), (cube,), np.array(flat, np.float32).reshape(6, 4)),
        Case("reshape", lambda a: ops.collapse(a, (1, 2)), (cube,), np.array(flat, np.float32).reshape(2, 12)),
        Case("reshape", lambda a: ops.collapse(a, ()), (cube,), cube.copy()),
        Case("reshape", lambda a: ops.collapse(a, (1,)), (cube,), cube.copy()),
        Case("reshape", lambda a: ops.collapse(a, (1, 0)), (cube,), ops.ArgumentError),
        Case("reshape", lambda a: ops.collapse(a, (0, 2)), (cube,), ops.ArgumentError),
        Case("reshape", lambda a: ops.collapse(a, (2, 3)), (cube,), ops.ArgumentError),
    ]
    return found


def _moving_cases() -> list[Case]:
    found = []
    cube = numbered("s16", 2, 3, 4)
    for permutation in itertools.permutations(range(3)):
        dims = tuple(cube.shape[axis] for axis in permutation)
        inverse = tuple(permutation.index(axis) for axis in range(3))
        expected = picked(cube, dims, lambda index, inverse=inverse: tuple(index[k] for k in inverse))
        function = lambda a, p=permutation: ops.transpose(a, p)  # noqa: E731
        found += [Case("transpose", function, (one,), expected) for one in layouts(cube)]
    for axes in ((), (0,), (2, 0), (0, 1, 2)):
        expected = picked(
            cube,
            cube.shape,
            lambda i, axes=axes: tuple(cube.shape[d] - 1 - k if d in axes else k for d, k in enumerate(i)),
        )
        found += [Case("rev", lambda a, x=axes: ops.rev(a, x), (one,), expected) for one in layouts(cube)]
    for start, limit, steps in (
        ((0, 0, 0), (2, 3, 4), None),
        ((1, 1, 0), (2, 3, 4), (1, 2, 3)),
        ((0, 2, 1), (0, 3, 4), (1, 1, 1)),
        ((0, 0, 1), (2, 1, 4), (2, 5, 2)),
    ):
        by = steps or (1, 1, 1)
        dims = tuple(len(range(a, b, c)) for a, b, c in zip(start, limit, by, strict=True))
        place = lambda i, start=start, by=by: tuple(a + k * c for a, k, c in zip(start, i, by, strict=True))  # noqa: E731
        expected = picked(cube, dims, place)
        function = lambda a, b=(start, limit, steps): ops.slice(a, *b)  # noqa: E731
        found += [Case("slice", function, (one,), expected) for one in layouts(cube)]
    found += [
        Case("transpose", lambda a: ops.transpose(a, (0, 1)), (cube,), ops.ArgumentError),
        Case("transpose", lambda a: ops.transpose(a, (0, 1, 1)), (cube,), ops.ArgumentError),
        Case("transpose", lambda a: ops.transpose(a, ()), (array("f32", 3),), array("f32", 3)),
        Case("rev", lambda a: ops.rev(a, (3,)), (cube,), ops.ArgumentError),
        Case("rev", lambda a: ops.rev(a, (0, 0)), (cube,), ops.ArgumentError),
        Case("rev", lambda a: ops.rev(a, (-1,)), (cube,), ops.ArgumentError),
        Case("slice", lambda a: ops.slice(a, (0, 0), (1, 1)), (cube,), ops.ArgumentError),
        Case("slice", lambda a: ops.slice(a, (0, 0, 0), (1, 1, 1), (1, 1, 0)), (cube,), ops.ArgumentError),
        Case("slice", lambda a: ops.slice(a, (0, 0, 0), (1, 1, 5)), (cube,), ops.ShapeError),
        Case("slice", lambda a: ops.slice(a, (0, 2, 0), (1, 1, 1)), (cube,), ops.ShapeError),
        Case("slice", lambda a: ops.slice(a, (-1, 0, 0), (1, 1, 1)), (cube,), ops.ShapeError),
    ]
    return found


def _diagonal_cases() -> list[Case]:
    found = []
    for shape in ((3, 3), (2, 4), (5, 3), (2, 3, 4), (3, 1, 3), (2, 0, 2)):
        x, rank = numbered("s16", *shape), len(shape)
        for pair in itertools.permutations(range(rank), 2):
            rest = [axis for axis in range(rank) if axis not in pair]
            dims = (*(shape[axis] for axis in rest), min(shape[axis] for axis in pair))
            place = lambda i, r=rest: tuple(i[r.index(k)] if k in r else i[-1] for k in range(len(r) + 2))  # noqa: E731
            function = lambda a, p=pair: diagonal(a, *p)  # noqa: E731
            found += [Case("diagonal", function, (one,), picked(x, dims, place)) for one in layouts(x)]
    x = numbered("f64", 3, 3)
    found += [Case("diagonal", lambda a: diagonal(a, 0, 1), (numbered(t, 2, 2),), numbered(t, 4)[::3]) for t in ALL]
    found.append(Case("diagonal", lambda a: diagonal(ops.add(a, a), 1, 0), (x,), array("f64", [0, 8, 16])))
    found += [
        Case("diagonal", lambda a, p=pair: diagonal(a, *p), (x,), ops.ArgumentError) for pair in ((0, 0), (0, 2))
    ]
    return found


# ---- pad, concatenate, iota


def _padded(operand: Any, fill: Any, config: Sequence[tuple[int, int, int]]) -> np.ndarray[Any, Any]:
    dims = [
        low + n + max(n - 1, 0) * inner + high for n, (low, high, inner) in zip(operand.shape, config, strict=True)
    ]

    def place(index: tuple[int, ...]) -> tuple[int, ...] | None:
        found = []
        for i, n, (low, _, inner) in zip(index, operand.shape, config, strict=True):
            k, rest = divmod(i - low, inner + 1)
            if rest or not 0 <= k < n:
                return None
            found.append(k)
        return tuple(found)

    return picked(operand, dims, place, fill)


def _pad_cases() -> list[Case]:
    found = []
    row, grid, value = numbered("s32", 5), numbered("s32", 3, 4), array("s32", 77)
    for low, high, inner in itertools.product((-3, -1, 0, 2), (-4, -1, 0, 1), (0, 1, 2)):
        config = ((low, high, inner),)
        if low + 5 + 4 * inner + high >= 0:
            expected = _padded(row, 77, config)
            found.append(Case("pad", lambda a, v, c=config: ops.pad(a, v, c), (row, value), expected))
    for rows in (((0, 0, 0), (0, 0, 0)), ((1, 2, 1), (0, 1, 2)), ((-1, 0, 2), (3, -2, 0)), ((0, 0, 0), (5, -9, 0))):
        expected = _padded(grid, 77, rows)
        found += [Case("pad", lambda a, v, c=rows: ops.pad(a, v, c), (one, value), expected) for one in layouts(grid)]
    empty = np.zeros(0, np.int32)
    found += [
        Case("pad", lambda a, v: ops.pad(a, v, ((1, 1, 5),)), (empty, value), array("s32", [77, 77])),
        Case("pad", lambda a: ops.pad(a, 7, ((1, 0, 0),)), (row[:2],), array("s32", [7, 0, 1])),
        Case("pad", lambda a, v: ops.pad(a, v, ()), (array("s32", 3), value), array("s32", 3)),
        Case("pad", lambda a, v: ops.pad(a, v, ((-3, 0, 0),)), (row[:2], value), ops.ShapeError),
        Case("pad", lambda a, v: ops.pad(a, v, ((0, 0, -1),)), (row, value), ops.ArgumentError),
        Case("pad", lambda a, v: ops.pad(a, v, ((0, 0, 0), (0, 0, 0))), (row, value), ops.ArgumentError),
        Case("pad", lambda a, v: ops.pad(a, v, ((0, 0),)), (row, value), ops.ArgumentError),
        Case("pad", lambda a, v: ops.pad(a, v, ((0, 0, 0),)), (row, row[:1]), ops.ShapeError),
        Case("pad", lambda a, v: ops.pad(a, v, ((0, 0, 0),)), (row, array("f32", 0)), ops.DTypeError),
    ]
    return found


def _concatenate_cases() -> list[Case]:
    found = []
    grids = (numbered("f32", 2, 3), numbered("f32", 2, 1), numbered("f32", 2, 0), numbered("f32", 2, 2))
    expected = np.array([[*row_a, *row_b, *row_d] for row_a, row_b, _, row_d in zip(*grids, strict=True)], np.float32)
    found.append(Case("concatenate", lambda *a: ops.concatenate(a, 1), grids, expected))
    columns = tuple(np.asfortranarray(grid) for grid in grids)
    found.append(Case("concatenate", lambda *a: ops.concatenate(a, 1), columns, expected))
    tall = numbered("f32", 3, 2), numbered("f32", 1, 2)
    literal = array("f32", [[0, 1], [2, 3], [4, 5], [0, 1]])
    found += [
        Case("concatenate", lambda *a: ops.concatenate(a, 0), tall, literal),
        Case("concatenate", lambda a: ops.concatenate((a,), 0), tall[:1], literal[:3].copy()),
        Case("concatenate", lambda *a: ops.concatenate(a, 1), tall, ops.ShapeError),
        Case("concatenate", lambda *a: ops.concatenate(a, 2), tall, ops.ArgumentError),
        Case("concatenate", lambda *a: ops.concatenate(a, -1), tall, ops.ArgumentError),
        Case("concatenate", lambda a: ops.concatenate((), 0), tall[:1], ops.ArgumentError),
        Case("concatenate", lambda a: ops.concatenate(a, 0), tall[:1], ops.ArgumentError),
        Case("concatenate", lambda a, b: ops.concatenate((a, b), 0), (tall[0], tall[0][0]), ops.ShapeError),
        Case("concatenate", lambda a: ops.concatenate((a, a), 0), (array("f32", 1),), ops.ShapeError),
        Case(
            "concatenate", lambda a, b: ops.concatenate((a, b), 0), (tall[0], array("f64", tall[0])), ops.DTypeError
        ),
    ]
    return found


def _mosaic_cases() -> list[Case]:
    found = []
    dims, starts = (3, 4), [(0, 0), (0, 3), (2, 0), (2, 3)]
    sizes = [(2, 3), (2, 1), (1, 3), (1, 1)]
    for dtype in ALL:
        parts = tuple(numbered(dtype, *size) for size in sizes)
        whole = np.empty(dims, parts[0].dtype)
        for part, (row, column) in zip(parts, starts, strict=True):
            for i, j in np.ndindex(part.shape):
                whole[row + i, column + j] = part[i, j]
        for order in ((0, 1), (1, 0)):
            function = lambda *p, o=order: mosaic(p, starts, dims, o)  # noqa: E731
            found.append(Case("mosaic", function, parts, whole))
    x, y = numbered("f32", 2), numbered("f32", 3)
    turned = array("f32", [2, 1, 0, 1, 0])
    both = lambda a, b: mosaic([ops.rev(b, (0,)), ops.rev(a, (0,))], [(0,), (3,)], (5,), (0,))  # noqa: E731
    return [
        *found,
        Case("mosaic", both, (x, y), turned),
        Case("mosaic", lambda a: mosaic([a, a], [(0,), (2,)], (3,), (0,)), (x,), ops.ShapeError, label="outside"),
        Case("mosaic", lambda a: mosaic([a], [(0,)], (3,), (0,)), (x,), ops.ShapeError, label="unfilled"),
        Case("mosaic", lambda a: mosaic([a], [(0, 0)], (2, 1), (0, 1)), (x,), ops.ShapeError, label="rank"),
        Case("mosaic", lambda a: mosaic([a], [], (2,), (0,)), (x,), ops.ArgumentError, label="starts"),
        Case("mosaic", lambda a: mosaic([a], [(0,)], (2,), (1,)), (x,), ops.ArgumentError, label="order"),
        Case("mosaic", lambda a, b: mosaic([a, b], [(0,), (2,)], (5,), (0,)), (x, array("s32", [1])), ops.DTypeError),
    ]


@np.errstate(all="ignore")
def _iota_cases() -> list[Case]:
    found = []
    for dtype in ALL[1:]:
        with np.errstate(all="ignore"):
            expected = array(dtype, [[k] * 2 for k in range(5)])
        found.append(Case("iota", lambda d=dtype: ops.iota(f"{d}[5,2]", 0), (), expected, label=dtype))
    long = array("s64", range(300))
    found += [
        Case("iota", lambda: ops.iota(ops.Shape((300,), np.int8), 0), (), long.astype(np.int8)),
        Case("iota", lambda: ops.iota("f16[70000]", 0), (), np.array([*range(70000)], np.float64).astype(np.float16)),
        Case("iota", lambda: ops.iota("s32[2,0]", 1), (), np.zeros((2, 0), np.int32)),
        Case("iota", lambda: ops.iota("pred[2]", 0), (), ops.DTypeError),
        Case("iota", lambda: ops.iota("s32[]", 0), (), ops.ArgumentError),
        Case("iota", lambda: ops.iota("s32[2]", 1), (), ops.ArgumentError),
        Case("iota", lambda: ops.iota("s32[2]", -1), (), ops.ArgumentError),
        Case("iota", lambda: ops.iota("s32 2", 0), (), ops.ArgumentError),
    ]
    return found


def _type_cases() -> list[Case]:
    """Every operation on every element type, bits kept."""
    cube = numbered("f32", 2, 3, 4)
    found = [Case("pack", lambda a: pack(a, (2, 0, 1)), (one,), cube.copy()) for one in layouts(cube)]
    found.append(Case("pack", lambda a: pack(a, (0, 1)), (cube,), ops.ArgumentError))
    for dtype in ALL:
        x = numbered(dtype, 2, 3)
        raw = x.tobytes()
        cells = [x[i, j] for i in range(2) for j in range(3)]
        turned = np.array([cells[0], cells[3], cells[1], cells[4], cells[2], cells[5]], x.dtype).reshape(3, 2)
        padded = np.array([*cells[:3], cells[5], *cells[3:], cells[5]], x.dtype).reshape(2, 4)
        corner = x[1, 2].reshape(())
        found += [
            Case("reshape", lambda a: ops.reshape(a, (6,)), (x,), np.frombuffer(raw, x.dtype), label="bits"),
            Case("transpose", lambda a: ops.transpose(a, (1, 0)), (x,), turned, label="bits"),
            Case("pad", lambda a, v: ops.pad(a, v, ((0, 0, 0), (0, 1, 0))), (x, corner), padded, label="bits"),
            Case("rev", lambda a: ops.rev(a, (1,)), (x[:1],), np.array([cells[2::-1]], x.dtype), label="bits"),
        ]
    return found


def _look_up_cases() -> list[Case]:
    x = numbered("f32", 2, 3, 4)
    rows, cells = array("s64", [2, 0]), array("s32", [[1, 1, 0]])
    by_rows = np.array([[x[0, 2], x[0, 0]], [x[1, 2], x[1, 0]]])
    by_cells = np.array([[[x[i, int(k), j] for j in range(4)] for k in (1, 1, 0)] for i in range(2)])[:, None]
    both = np.array([[x[1, j, 2] for j in range(3)], [x[0, j, 0] for j in range(3)]])
    return [
        Case("look_up", lambda a, i: ops.look_up(a, (i,), (1,), 1), (x, rows), by_rows),
        Case("look_up", lambda a, i: ops.look_up(a, (i,), (1,), 1), (x, cells), by_cells),
        Case("look_up", lambda a, i: ops.look_up(a, (i,), (0,), 0), (x[0, :, 0], array("s64", 2)), x[0, 2, 0]),
        Case(
            "look_up",
            lambda a, i, j: ops.look_up(a, (i, j), (0, 2), 0),
            (x, array("s64", [1, 0]), array("s64", [2, 0])),
            both,
        ),
        Case("look_up", lambda a, i: ops.look_up(a, (i,), (3,), 0), (x, rows), ops.ArgumentError),
        Case("look_up", lambda a, i: ops.look_up(a, (i,), (0,), 0), (x, x), ops.DTypeError),
    ]


CASES = [
    *_look_up_cases(),
    *_broadcast_cases(),
    *_implicit_cases(),
    *_reshape_cases(),
    *_moving_cases(),
    *_diagonal_cases(),
    *_pad_cases(),
    *_concatenate_cases(),
    *_mosaic_cases(),
    *_iota_cases(),
    *_type_cases(),
]
