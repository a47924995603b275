"""Cases of operations over windows, with expected values from loops written from their index equations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.cases.case_values import ALL
from tests.cases.cases_shape import layouts, numbered, picked
from tests.helpers.harness import Case
from xjit import ops
from xjit.ops.windows.window_view import window_view


def _view_cases() -> list[Case]:
    found = []
    rows: list[tuple[Any, Any, Any, Any, Any]] = [
        ((7,), (3,), (1,), (1,), (0,)),
        ((7,), (3,), (2,), (2,), (0,)),
        ((7,), (1,), (3,), (1,), (0,)),
        ((7,), (7,), (1,), (1,), (0,)),
        ((2,), (3,), (1,), (1,), (0,)),
        ((0,), (1,), (1,), (1,), (0,)),
        ((4, 5), (2, 3), (1, 2), (3, 1), (0, 1)),
        ((4, 5), (3,), (1,), (2,), (1,)),
        ((4, 5), (3, 2), (2, 1), (1, 1), (1, 0)),
        ((3, 0), (2,), (1,), (1,), (0,)),
        ((3, 4, 2), (), (), (), ()),
    ]
    for shape, window, strides, dilations, axes in rows:
        counts = list(shape)
        for axis, size, stride, dilation in zip(axes, window, strides, dilations, strict=True):
            counts[axis] = len(range(0, shape[axis] - (size - 1) * dilation, stride))
        moves = list(zip(axes, strides, dilations, strict=True))

        def place(index: tuple[int, ...], rank: int = len(shape), moves: Any = moves) -> tuple[int, ...]:
            at = list(index[:rank])
            for k, (axis, stride, dilation) in enumerate(moves, rank):
                at[axis] = at[axis] * stride + index[k] * dilation
            return tuple(at)

        x = numbered("f32", *shape)
        expected = picked(x, (*counts, *window), place)
        for outer, one in itertools.product((True, False), layouts(x)):

            def function(a: Any, rest: Any = (window, strides, dilations, axes), outer: Any = outer) -> Any:
                return window_view(a, *rest, outer=outer)

            found.append(Case("window_view", function, (one,), expected))
    for dtype in ALL:
        x = numbered(dtype, 4)
        found.append(Case("window_view", lambda a: window_view(a, (3,)), (x,), np.array([x[:3], x[1:]])))
    x = numbered("s32", 4)
    found += [
        Case("window_view", lambda a: window_view(a, (0,)), (x,), ops.ArgumentError),
        Case("window_view", lambda a: window_view(a, (2,), (0,)), (x,), ops.ArgumentError),
        Case("window_view", lambda a: window_view(a, (2, 2)), (x,), ops.ArgumentError),
        Case("window_view", lambda a: window_view(a, (2,), axes=(1,)), (x,), ops.ArgumentError),
    ]
    return found


CASES = [*_view_cases()]
