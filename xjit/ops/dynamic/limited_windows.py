"""Windows of which the run tells where they begin and how long they are: ``x[i:]``, ``A[i, :i]``, ``x[i - 1 :: -1]``.

The type of such a window has bounds in place of lengths. Only the elements before the *limit* of each axis exist:
nothing reads beyond it, loops run up to it, and what is computed from the window has the same limits
(:attr:`xjit.ir.node.Node.limits`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xjit import numerics
from xjit.dataclass import dataclass
from xjit.ir.node import Node
from xjit.ir.opdef import Access, AxisMap, Kind, Lookup, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, register
from xjit.ops.define.references import Array
from xjit.showing import Along, Indexed, Showing
from xjit.types import INT64, ArrayType, c_order

Types = tuple[ArrayType, ...]

LEAST_BOUND = max(numerics.TINY, numerics.SHORT) + 1
"""The bound of a window, at least: with fewer positions an axis is no loop, which a limit could end."""


@dataclass(frozen=True, slots=True)
class Range:
    """The positions of one axis: from ``start`` in steps; ``count`` of them, which is a number of the run if it is
    limited.

    The numbers of the run are operands of rank 0, of 64 bits. A limited range has at most ``bound`` positions.
    """

    start: Any
    step: int
    count: Any
    bound: int

    @property
    def is_limited(self) -> bool:
        """Return whether only the run knows how many positions there are."""
        return not isinstance(self.count, int)


def bound_of(size: int) -> int:
    """The bound of windows of at most so many elements."""
    return max(size, LEAST_BOUND)


def whole(size: int) -> Range:
    """All positions of an axis."""
    return Range(0, 1, size, size)


# ---- what both operations keep of their ranges


def split_ranges(ranges: Sequence[Range], operands: int) -> tuple[list[Any], dict[str, Any]]:
    """The operands and params of an operation on ranges, which has other operands ahead."""
    numbers: list[Any] = []

    def place(value: Any) -> int:
        numbers.append(value)
        return operands + len(numbers) - 1

    starts = tuple((one.start, -1) if isinstance(one.start, int) else (0, place(one.start)) for one in ranges)
    counts = tuple(place(one.count) if one.is_limited else -1 for one in ranges)
    bounds, steps = tuple(one.bound for one in ranges), tuple(one.step for one in ranges)
    return numbers, {"starts": starts, "counts": counts, "bounds": bounds, "steps": steps}


def ranges_of(node: Node) -> tuple[Range, ...]:
    """The ranges of such an operation along each axis."""
    columns = (node.param(name) for name in ("starts", "counts", "bounds", "steps"))
    return tuple(
        Range(node.inputs[place] if place >= 0 else offset, step, node.inputs[count] if count >= 0 else bound, bound)
        for (offset, place), count, bound, step in zip(*columns, strict=True)
    )


def _access(params: Params) -> Access:
    return Access(
        tuple(
            AxisMap(axis, step, offset, () if operand < 0 else (Lookup(operand, ()),))
            for axis, ((offset, operand), step) in enumerate(zip(params["starts"], params["steps"], strict=True))
        )
    )


def _limits(params: Params) -> Mapping[int, int]:
    return {axis: operand for axis, operand in enumerate(params["counts"]) if operand >= 0}


def _places(arrays: Sequence[Array], params: Params) -> tuple[Array, ...]:
    """The positions along each axis that exist, as an open mesh."""
    found = []
    rows = zip(params["starts"], params["counts"], params["bounds"], params["steps"], strict=True)
    for (offset, operand), count, bound, step in rows:
        start = offset + (int(arrays[operand]) if operand >= 0 else 0)
        found.append(start + step * np.arange(int(arrays[count]) if count >= 0 else bound))
    return np.ix_(*found) if found else ()


def _check_numbers(name: str, types: Sequence[ArrayType]) -> None:
    for number, type in enumerate(types):
        rules.check_rank(name, f"numbers[{number}]", type, 0)


# ---- reading


def _infer_window(types: Types, params: Params) -> ArrayType:
    _check_numbers("limited_window", types[1:])
    return ArrayType(types[0].dtype, params["bounds"], types[0].order)


def _window(operand: Array, *numbers: Array, **params: Any) -> Array:
    places = _places((operand, *numbers), params)
    result = np.zeros(params["bounds"], operand.dtype)
    result[tuple(slice(size) for size in np.broadcast_shapes(*(one.shape for one in places)))] = operand[places]
    return result


def _shown_window(types: Types, params: Params, out: ArrayType) -> Showing:
    columns = zip(*(params[name] for name in ("starts", "steps", "bounds", "counts")), strict=True)
    return Indexed(
        tuple(Along(offset, step, bound if of < 0 else -1, at, of) for (offset, at), step, bound, of in columns)
    )


LIMITED_WINDOW = register(
    OpDef(
        name="limited_window",
        kind=Kind.INDEXING,
        infer=_infer_window,
        reference=_window,
        access=lambda types, params, out: _access(params),
        limits=_limits,
        shown=_shown_window,
        silent=True,
        doc="A window of the operand whose place and lengths other operands hold, up to bounds.",
    )
)


def limited_window(operand: Operand, ranges: Sequence[Range]) -> Any:
    """The elements at these ranges along every axis, which have to lie within the operand.

    Any element type. Raises ShapeError for numbers that are arrays.
    """
    numbers, params = split_ranges(ranges, 1)
    return apply(LIMITED_WINDOW, operand, *numbers, **params)


# ---- writing


def _infer_store(types: Types, params: Params) -> ArrayType:
    name, operand = "store_window", types[0]
    rules.check_same_dtype(name, ("operand", "update"), types[:2])
    rules.check_rank(name, "update", types[1], operand.rank)
    _check_numbers(name, types[2:])
    order = operand.order if len(operand.order) == operand.rank else c_order(operand.rank)
    return ArrayType(operand.dtype, operand.dims, order)


def _store(operand: Array, update: Array, *numbers: Array, n: int, **params: Any) -> Array:
    places = _places((operand, update, *numbers), params)
    result = np.array(operand, order="K")
    result[places] = update[tuple(slice(size) for size in np.broadcast_shapes(*(one.shape for one in places)))]
    return result


STORE_WINDOW = register(
    OpDef(
        name="store_window",
        kind=Kind.UPDATE,
        infer=_infer_store,
        reference=_store,
        access=lambda types, params, out: _access(params),
        silent=True,
        doc="The operand with a window replaced whose place and lengths other operands hold.",
    )
)


def store_window(operand: Operand, update: Operand, ranges: Sequence[Range]) -> Any:
    """The operand with the elements at these ranges, which have to lie within, replaced by those of the update.

    The update has the bounds of the ranges as dimensions. Any element type. Raises DTypeError for another type of
    the update, ShapeError for another rank, and for numbers that are arrays.
    """
    numbers, params = split_ranges(ranges, 2)
    limited = limited_window(update, [Range(0, 1, one.count, one.bound) for one in ranges])
    return apply(STORE_WINDOW, operand, limited, *numbers, n=1, **params)


def number(value: int) -> Any:
    """A number as the operations on windows take it."""
    return np.asarray(value, INT64)
