"""Limited arrays: of the size of some axis only a bound is known while tracing.

Such an array is no traced value, so that nothing takes its bounds for sizes: only the functions here know it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit import ops
from xjit.dataclass import dataclass
from xjit.errors import CaptureError, IndexOutOfBoundsError, ShapeError
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.numpy.limited.run_time_integers import (
    Integer,
    check_slice,
    chosen,
    integer,
    is_below,
    is_same,
    resolved,
    wrapped,
)
from xjit.numpy.rules.values import as_value, shape_of
from xjit.ops.define.core import Operand, apply, aval_of
from xjit.ops.dynamic.extents import TRIM
from xjit.ops.dynamic.limited_windows import (
    LIMITED_WINDOW,
    Range,
    bound_of,
    limited_window,
    number,
    ranges_of,
    store_window,
    whole,
)
from xjit.ops.whole_arrays.index import look_up
from xjit.ops.whole_arrays.runtime_check import require
from xjit.ops.whole_arrays.shape import iota
from xjit.types import DType

Sizes: TypeAlias = "tuple[Integer, ...]"

_MOST_BYTES = 2**33
"""Bytes that the bounds of an array may make it have: memory that nothing touches, but that has to be there."""
_FIX = "use an array whose size is known while tracing"


@dataclass(frozen=True, eq=False)
class Part:
    """A region of another array: a range along each of its axes.

    ``places`` says of each axis of the part which one of the other array it runs along, in any order, None for a new
    one.
    """

    source: Any
    ranges: tuple[Range, ...]
    places: tuple[int | None, ...]


PartAndSizes: TypeAlias = "tuple[Part, Sizes]"


class LimitedArray:
    """Elements up to a size of the run along some axes: a ``part`` of another array, or a ``value`` of its own.

    A part shows the elements that the other array has at the time.
    """

    __slots__ = ("_value", "part", "sizes")

    def __init__(self, value: TracedValue | None, sizes: Sizes, part: Part | None = None) -> None:
        self._value, self.sizes, self.part = value, sizes, part

    @property
    def value(self) -> Any:
        """The traced value at its bounds, with the limits that it has in the trace that is under way."""
        if self.part is not None:
            return _picked(self.part)
        assert self._value is not None
        if self._value.owner is current() and len(self._value.node.limits) == sum(
            size.known is None for size in self.sizes
        ):
            return self._value
        return limited(self._value, self.sizes)

    @property
    def whole(self) -> Any:
        """The traced value at its bounds, to be written into."""
        return self._value if self.part is None and self._value is not None else self.value

    @property
    def owner(self) -> Trace:
        """The trace that the value was made in, of an array that is no part."""
        assert self._value is not None
        return self._value.owner

    def replace(self, value: TracedValue) -> None:
        """Gives an array that is no part other elements."""
        self._value = value

    @property
    def dtype(self) -> DType:
        """The element type."""
        base: Any = self.part.source if self.part is not None else self._value
        found: DType = base.dtype
        return found

    @property
    def bounds(self) -> tuple[int, ...]:
        """The dimensions of the value."""
        if self.part is not None:
            return _bounds(self.part)
        assert self._value is not None
        return shape_of(self._value)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.sizes)


def sizes_of(value: Any) -> Sizes:
    """The sizes of an array, limited or not."""
    if isinstance(value, LimitedArray):
        return tuple(size.here() for size in value.sizes)
    return tuple(map(integer, np.shape(value) if not isinstance(value, TracedValue) else shape_of(value)))


def value_of(value: Any) -> Any:
    """The value of an array at its bounds."""
    return value.value if isinstance(value, LimitedArray) else value


def is_limited(sizes: Sizes) -> bool:
    """Return whether some size is known in the run only."""
    return any(size.known is None for size in sizes)


def made(value: Any, sizes: Sizes) -> Any:
    """An array of these sizes: limited if some of them are not known.

    CaptureError where its bounds leave room for more than there may be memory for.
    """
    if not is_limited(sizes):
        return value
    if isinstance(value, TracedValue) and value.node.aval.nbytes > _MOST_BYTES:
        raise CaptureError("an array whose size only the run knows has bounds that are too large", fix=_FIX)
    return LimitedArray(value, sizes)


def limited(value: Any, sizes: Sizes, bounds: Sequence[int] | None = None) -> Any:
    """The value with the limits of sizes that are not known, and with other bounds along these axes."""
    bounds = shape_of(value) if bounds is None else bounds
    ranges = [
        whole(bound) if size.known is not None else Range(0, 1, size.operand, bound)
        for size, bound in zip(sizes, bounds, strict=True)
    ]
    return limited_window(value, ranges) if is_limited(sizes) else value


def at_bounds(array: Any) -> Any:
    """The value of an array, without the windows that say where it ends: for what reads no further."""
    value = value_of(array)
    if not isinstance(value, TracedValue):
        return value
    node = value.node
    while node.op is LIMITED_WINDOW and _shows_all(node):
        node = node.inputs[0]
    return value if node is value.node else value.owner.wrap(node, value.owner)


def trimmed(array: LimitedArray) -> Any:
    """The elements of an array without what lies behind them, as they leave the program."""
    sizes = sizes_of(array)
    axes = tuple(axis for axis, size in enumerate(sizes) if size.known is None)
    return apply(TRIM, at_bounds(array), *(sizes[axis].operand for axis in axes), axes=axes)


def _shows_all(node: Node) -> bool:
    """Return whether a window begins where its operand does, and goes as far."""
    ranges, dims = ranges_of(node), node.inputs[0].aval.shape
    return all(one.start == 0 and one.step == 1 and one.bound == size for one, size in zip(ranges, dims, strict=True))


# ---- parts


def root_of(value: Any) -> Any:
    """The array whose memory a part shows, or a part of it; the value itself if it is no part."""
    while isinstance(value, LimitedArray) and value.part is not None:
        value = value.part.source
    return value


def _picked(part: Part) -> Any:
    source = value_of(part.source)
    known = not isinstance(part.source, LimitedArray) and all(map(_is_known, part.ranges))
    found = _sliced(source, part.ranges) if known else limited_window(source, part.ranges)
    order, dims = _order(part), _bounds(part)
    if order != sorted(order):
        kept = ops.reshape(found, [part.ranges[axis].bound for axis in sorted(order)])
        found = ops.transpose(kept, [sorted(order).index(axis) for axis in order])
    return ops.reshape(found, dims) if dims != shape_of(found) else found


def _is_known(one: Range) -> bool:
    return isinstance(one.start, int) and isinstance(one.count, int)


def _sliced(source: Operand, ranges: Sequence[Range]) -> Any:
    """The elements at ranges that are all known: a view of the same memory, as NumPy has it."""
    lowest = [min(one.start, one.start + (one.count - 1) * one.step) if one.count else 0 for one in ranges]
    limits = [
        low + (one.count - 1) * abs(one.step) + 1 if one.count else 0 for low, one in zip(lowest, ranges, strict=True)
    ]
    found = ops.slice(source, lowest, limits, [abs(one.step) for one in ranges])
    turned = [axis for axis, one in enumerate(ranges) if one.step < 0]
    return ops.rev(found, turned) if turned else found


def _order(part: Part) -> list[int]:
    """The axes of the other array that the part runs along, as the part has them."""
    return [axis for axis in part.places if axis is not None]


def _bounds(part: Part) -> tuple[int, ...]:
    return tuple(1 if place is None else part.ranges[place].bound for place in part.places)


def stored_part(part: Part, value: Any) -> Any:
    """The new version of the array that a part shows, once the part has the elements of a value at its bounds."""
    dims, order = tuple(one.bound for one in part.ranges), _order(part)
    if order != sorted(order):
        kept = ops.reshape(value, [part.ranges[axis].bound for axis in order])
        value = ops.transpose(kept, [order.index(axis) for axis in sorted(order)])
    update = ops.reshape(value, dims) if shape_of(value) != dims else value
    source = part.source.whole if isinstance(part.source, LimitedArray) else part.source
    return store_window(source, update, part.ranges)


def is_moving(entry: Any) -> bool:
    """Return whether an entry of an index is a slice with a traced number in it."""
    return isinstance(entry, slice) and any(
        isinstance(one, TracedValue) for one in (entry.start, entry.stop, entry.step)
    )


def part_at(source: Any, entries: Sequence[Any]) -> PartAndSizes:
    """The part of an array, limited or not, that integers, slices and new axes pick: one entry for each axis.

    Raises IndexOutOfBoundsError for a position outside, when the program runs if only that tells.
    """
    sizes, bounds = sizes_of(source), shape_of(value_of(source))
    ranges: list[Range] = []
    places: list[int | None] = []
    found: list[Integer] = []
    for entry in entries:
        if entry is None:
            places.append(None)
            found.append(integer(1))
            continue
        axis = len(ranges)
        if isinstance(entry, slice):
            one, count = range_of(entry, sizes[axis], bounds[axis])
            places.append(axis)
            found.append(count)
        else:
            one = Range(position(entry, axis, sizes[axis]).operand, 1, 1, 1)
            source = _within_memory(source, axis)
        ranges.append(one)
    return Part(source, tuple(ranges), tuple(places)), tuple(found)


def _within_memory(source: Any, axis: int) -> Any:
    """The array; a part that may be empty along an axis begins within the memory that it shows all the same.

    What takes an element of it finds out only when the program runs that there are none, and has read one by then.
    """
    if not isinstance(source, LimitedArray) or source.part is None:
        return source
    part, size, place = source.part, source.sizes[axis].here(), source.part.places[axis]
    if place is None or size.low > 0:
        return source
    one = part.ranges[place]
    begin = integer(one.start)
    start = begin if begin.known == 0 else chosen(ops.gt(number_of(size), number(0)), begin, integer(0))
    ranges = list(part.ranges)
    ranges[place] = Range(start.operand, one.step, one.count, one.bound)
    return LimitedArray(None, source.sizes, Part(_within_memory(part.source, place), tuple(ranges), part.places))


def turned(found: PartAndSizes, order: Sequence[int]) -> PartAndSizes:
    """A part with its axes in another order."""
    part, sizes = found
    places = tuple(part.places[axis] for axis in order)
    return Part(part.source, part.ranges, places), tuple(sizes[axis] for axis in order)


def picked(found: PartAndSizes) -> Any:
    """A part as an array: a limited one, unless all of its sizes are known."""
    part, sizes = found
    return LimitedArray(None, sizes, part) if is_limited(sizes) else _picked(part)


def shows_same(one: Part, found: PartAndSizes) -> bool:
    """Return whether a part is known to show the very elements of another one of the same array."""
    other, _ = found
    return one.places == other.places and all(
        a.step == b.step and _are_equal(a.start, b.start) and _are_equal(a.count, b.count)
        for a, b in zip(one.ranges, other.ranges, strict=True)
    )


def _are_equal(one: Any, other: Any) -> bool:
    return integer(one).equals(integer(other))


def range_of(entry: slice, size: Integer, bound: int) -> tuple[Range, Integer]:
    """The positions of a slice of an axis of some size, and how many there are.

    Raises DTypeError for numbers that are no integers, as Python does.
    """
    check_slice(entry)
    step = 1 if entry.step is None else int(entry.step)
    start, count = resolved(entry, step, size)
    most = count.known if count.known is not None else bound_of(min(bound, count.high))
    return Range(start.operand, step, count.operand, most), count


def position(entry: Any, axis: int, size: Integer) -> Integer:
    """A position along an axis, which has to be there."""
    position = integer(entry)
    if position.low >= 0 and (position + 1).at_most(size):
        return position
    found = wrapped(position, size)
    if found.low >= 0 and (found + 1).at_most(size):
        return found
    if found.known is not None and size.known is not None:
        message = f"index {position.known} is out of bounds for axis {axis} with size {size.known}"
        raise IndexOutOfBoundsError(message)
    inside = ops.logical_and(ops.ge(number_of(found), number(0)), is_below(found, size))
    safe = chosen(inside, found, integer(0))
    held = require(safe.operand, inside, "index", f"an index is out of bounds for axis {axis}")
    return integer(held).within(0, size.high)


def number_of(one: Integer) -> Any:
    """An integer as an operand of 64 bits."""
    found = one.operand
    return number(found) if isinstance(found, int) else found


# ---- broadcasting


def common_sizes(name: str, several: Sequence[Sizes]) -> Sizes:
    """The sizes that all of these broadcast to, aligned at the last axis.

    ShapeError if there are none, when the program runs if only that tells.
    """
    rank = max(map(len, several))
    result = []
    for axis in range(rank):
        own = [sizes[axis - rank + len(sizes)] for sizes in several if axis - rank + len(sizes) >= 0]
        result.append(_common(name, own, several))
    return tuple(result)


def _common(name: str, own: Sequence[Integer], several: Sequence[Sizes]) -> Integer:
    different: list[Integer] = []
    for size in own:
        if size.known != 1 and not any(size.equals(other) for other in different):
            different.append(size)
    if len(different) <= 1:
        return different[0] if different else integer(1)
    known = [size for size in different if size.known is not None]
    text = " ".join(
        "(" + ",".join("?" if one.known is None else str(one.known) for one in sizes) + ")" for sizes in several
    )
    message = f"numpy.{name}: operands could not be broadcast together with shapes {text}"
    if len(known) > 1:
        raise ShapeError(message)
    result = known[0] if known else different[0]
    for size in () if known else different[1:]:
        result = chosen(is_same(result, 1), size, result)
    fits = None
    for size in different:
        if not size.equals(result):
            one = ops.logical_or(is_same(size, result), is_same(size, 1))
            fits = one if fits is None else ops.logical_and(fits, one)
    held = require(number_of(result), fits, "shape", message)
    checked = integer(held).within(0, max(size.high for size in different))
    return checked if result.known is None else _known_size(result, checked)


def _known_size(result: Integer, checked: Integer) -> Integer:
    """A size that is known once a check has been made: it is looked at as a number of the run."""
    return checked.within(0, result.constant)


def aligned(name: str, values: Sequence[Any]) -> tuple[tuple[Any, ...], Sizes]:
    """Operands whose axes have one bound each, or one element, and the sizes that they broadcast to."""
    several = [sizes_of(value) for value in values]
    common = common_sizes(name, several)
    rank, shapes = len(common), [shape_of(as_value(value_of(value), name)) for value in values]
    bounds = []
    for axis, size in enumerate(common):
        own = [
            shape[axis - rank + len(shape)]
            for shape, sizes in zip(shapes, several, strict=True)
            if axis - rank + len(shape) >= 0 and sizes[axis - rank + len(shape)].known != 1
        ]
        bounds.append(size.known if size.known is not None else bound_of(max(own)))
    found = tuple(
        fitted(as_value(value_of(value), name), sizes, common[rank - len(sizes) :], bounds[rank - len(sizes) :])
        for value, sizes in zip(values, several, strict=True)
    )
    return found, common


def fitted(value: Operand, sizes: Sizes, wanted: Sizes, bounds: Sequence[int]) -> Any:
    """The value with these bounds; along axes of one element where more are wanted, that one is repeated."""
    own = shape_of(value)
    for axis, (size, result) in enumerate(zip(sizes, wanted, strict=True)):
        if size.known != 1 and not size.equals(result):
            value = _repeated(value, axis, size, bounds[axis])
    final = tuple(1 if size.known == 1 else bound for size, bound in zip(sizes, bounds, strict=True))
    stays = tuple(integer(1) if size.known == 1 else result for size, result in zip(sizes, wanted, strict=True))
    same = own == final and all(size.equals(result) for size, result in zip(sizes, stays, strict=True))
    return value if same else limited(value, stays, final)


def _repeated(value: Operand, axis: int, size: Integer, bound: int) -> Any:
    """The value at its last position wherever it has no further ones along an axis."""
    sizes = shape_of(value)
    if not sizes[axis]:
        nothing = ops.constant(0, dtype=aval_of(value).dtype)
        return ops.broadcast_in_dim(nothing, (*sizes[:axis], bound, *sizes[axis + 1 :]), ())
    last = ops.max(number_of(size - 1), number(0))
    positions = ops.min(iota(f"s64[{bound}]", 0), ops.broadcast_in_dim(last, (bound,), ()))
    return look_up(_readable(value) if size.low < 1 else value, (positions,), (axis,), axis)


def _readable(value: Any) -> Any:
    """The value, of which a window without elements begins at one: the sizes do not fit then, but it is read.

    What is computed of windows element by element, or shows their elements in other places, is made of such ones.
    """
    node = value.node if isinstance(value, TracedValue) else None
    readable = node is not None and (node.op is LIMITED_WINDOW or node.op.kind in (Kind.ELEMENTWISE, Kind.INDEXING))
    if node is None or not readable or any(0 in one.aval.shape for one in node.inputs):
        return value
    owner = value.owner
    if node.op is not LIMITED_WINDOW:
        inputs = [_readable(owner.wrap(one, owner)).node for one in node.inputs]
        same = all(one is other for one, other in zip(inputs, node.inputs, strict=True))
        return value if same else owner.wrap(owner.add(node.op, tuple(inputs), node.kwargs, node.where), owner)

    def operand(one: Any) -> Any:
        return owner.wrap(one, owner) if isinstance(one, Node) else one

    def inside(one: Range, size: int) -> Range:
        start = operand(one.start)
        if not isinstance(start, int):
            start = ops.min(ops.max(start, number(0)), number(size - 1))
        return Range(start, one.step, operand(one.count), one.bound)

    base = _readable(operand(node.inputs[0]))
    return limited_window(base, list(map(inside, ranges_of(node), shape_of(base))))


def elements_of(sizes: Sizes) -> Integer:
    """The number of elements of an array of these sizes, where at most one of them is not known."""
    known = math.prod(size.known for size in sizes if size.known is not None)
    rest = [size for size in sizes if size.known is None]
    total = integer(known)
    for size in rest:
        if total.known is not None:
            terms = {node: times * total.constant for node, times in size.terms.items() if total.constant}
            total = Integer(
                size.constant * total.constant, terms, size.low * total.constant, size.high * total.constant
            )
        else:
            product = ops.mul(number_of(total), number_of(size))
            total = integer(product).within(0, total.high * size.high)
    return total
