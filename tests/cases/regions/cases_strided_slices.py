"""Cases of strided windows that are read and replaced, beside NumPy's own basic indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases.cases_shape import layouts, numbered
from tests.helpers.case_values import ALL, INTEGERS
from tests.helpers.harness import Case, array
from xjit import ops
from xjit.ops.regions.strided_slices import slice_from, update_slice


def window(starts: tuple[Any, ...], sizes: tuple[int, ...], strides: tuple[int, ...]) -> tuple[slice, ...]:
    """The basic index of a window."""
    ends = (int(start) + (size - 1) * step + 1 for start, size, step in zip(starts, sizes, strides, strict=True))
    return tuple(
        slice(int(start), end if size else int(start), step)
        for start, size, step, end in zip(starts, sizes, strides, ends, strict=True)
    )


def update_case(operand: Any, update: Any, starts: tuple[Any, ...], strides: tuple[int, ...], label: str) -> Case:
    """One window replaced; starts that are arrays are operands."""
    data = [start for start in starts if isinstance(start, np.ndarray)]

    def function(a: Any, b: Any, *found: Any) -> Any:
        rest = iter(found)
        return update_slice(a, b, [next(rest) if isinstance(one, np.ndarray) else one for one in starts], strides)

    expected = operand.copy()
    expected[window(starts, update.shape, strides)] = update
    return Case("update_slice", function, (operand, update, *data), expected, label=label)


def slice_case(operand: Any, starts: tuple[Any, ...], sizes: tuple[int, ...], strides: tuple[int, ...]) -> Case:
    """One window read."""
    data = [start for start in starts if isinstance(start, np.ndarray)]

    def function(a: Any, *found: Any) -> Any:
        rest = iter(found)
        return slice_from(a, [next(rest) if isinstance(one, np.ndarray) else one for one in starts], sizes, strides)

    expected = operand[window(starts, sizes, strides)].copy()
    return Case("slice_from", function, (operand, *data), expected, label=f"{starts}+{strides}")


def _at(dtype: str, value: int) -> Any:
    return np.array(value, array(dtype, 0).dtype)


def _updates() -> list[Case]:
    grid, part, line = numbered("s32", 5, 7), -numbered("s32", 2, 3), numbered("f64", 6)
    block = numbered("f32", 3, 4, 5)
    found = [update_case(numbered(one, 4, 5), numbered(one, 2, 2)[::-1], (1, 0), (1, 3), one) for one in ALL]
    found += [update_case(line, -line[:2], (_at(one, 1),), (3,), f"at {one}") for one in INTEGERS]
    for number, operand in enumerate(layouts(grid)):
        found.append(update_case(operand, part, (1, 2), (3, 2), f"known-{number}"))
        found.append(update_case(operand, part, (_at("s64", 2), 1), (2, 2), f"mixed-{number}"))
        found.append(update_case(operand, part, (_at("s64", 2), _at("s64", 0)), (1, 3), f"data-{number}"))
    found += [update_case(grid, one, (0, 4), (4, 1), f"of-{number}") for number, one in enumerate(layouts(part))]
    found += [
        update_case(grid, -grid, (0, 0), (1, 1), "whole"),
        update_case(grid, part[:0], (0, 4), (1, 1), "nothing"),
        update_case(grid, part[:0], (_at("s64", 9), 4), (1, 1), "nothing-anywhere"),
        update_case(numbered("f64", 0, 3), numbered("f64", 0, 2), (0, 1), (1, 1), "of-nothing"),
        update_case(numbered("f64"), np.array(7.0), (), (), "rank-0"),
        update_case(block.transpose(1, 2, 0), numbered("f32", 2, 2, 3), (1, 0, 0), (2, 3, 1), "turned"),
    ]
    return found


def _in_place(a: Any) -> Any:
    """Windows of one value after another, which read what the one before has written."""
    for first, step in ((0, 1), (1, 2), (0, 2)):
        count = len(range(first, a.shape[0], step))
        old = ops.slice(a, (first,), (first + (count - 1) * step + 1,), (step,))
        a = update_slice(a, ops.add(ops.rev(old, (0,)), old), (first,), (step,))
    return a


def _chain() -> Case:
    line = numbered("s64", 9)
    expected = line.copy()
    for part in (slice(None), slice(1, None, 2), slice(0, None, 2)):
        expected[part] += expected[part][::-1].copy()
    return Case("update_slice", _in_place, (line,), expected, label="chain")


def _mistakes() -> list[Case]:
    line, one = numbered("f32", 6), numbered("f32", 1)
    wrong: list[tuple[Any, Any, Any, Any]] = [
        (one, (6,), (1,), ops.ShapeError),
        (one, (-1,), (1,), ops.ShapeError),
        (line[:3], (2,), (2,), ops.ShapeError),
        (line[:3], (np.array(1),), (3,), ops.ShapeError),
        (line[:3].reshape(1, 3), (2,), (1,), ops.ShapeError),
        (one, (0, 0), (1,), ops.ArgumentError),
        (one, (0,), (0,), ops.ArgumentError),
        (one, (np.array(0.5),), (1,), ops.DTypeError),
        (one, (np.array([1]),), (1,), ops.ShapeError),
        (one.astype(np.float64), (0,), (1,), ops.DTypeError),
    ]
    return [
        Case("update_slice", lambda a, b, s=starts, t=steps: update_slice(a, b, s, t), (line, update), error)
        for update, starts, steps, error in wrong
    ] + [
        Case("slice_from", lambda a: slice_from(a, (5,), (2,)), (line,), ops.ShapeError),
        Case("slice_from", lambda a: slice_from(a, (0,), (-1,)), (line,), ops.ArgumentError),
    ]


def _reads() -> list[Case]:
    grid = numbered("s32", 5, 7)
    found = [slice_case(one, (_at("s64", 1), 2), (2, 3), (3, 2)) for one in layouts(grid)]
    return [
        *found,
        slice_case(grid, (1, 2), (4, 5), (1, 1)),
        slice_case(grid, (_at("u8", 4), _at("s8", 0)), (1, 3), (5, 3)),
        slice_case(grid, (_at("u8", 4), 0), (0, 3), (1, 1)),
        slice_case(numbered("f64"), (), (), ()),
    ]


CASES = [*_reads(), *_updates(), _chain(), *_mistakes()]
