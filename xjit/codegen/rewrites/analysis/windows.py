"""A window of a buffer: the part of it that a block touches, with storage of its own."""

from __future__ import annotations

from collections.abc import Iterable

from xjit.codegen.rewrites.analysis.dependence import Touch
from xjit.codegen.rewrites.analysis.exchange import reindexed
from xjit.codegen.rewrites.analysis.intervals import Interval, most, region
from xjit.codegen.rewrites.analysis.needs import Needed
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, minimum, variable
from xjit.ir.loops.nodes import Alloc, Block, Buffer, Load, Loop, Store
from xjit.ir.loops.ranges import Ranges


@dataclass(frozen=True, slots=True)
class Window:
    """``name`` holds the elements ``needed`` of a buffer, of which the buffer has those in ``bounds``."""

    name: str
    buffer: Buffer
    needed: tuple[Interval, ...]
    bounds: tuple[Interval, ...]
    extents: tuple[IntExpr, ...]

    @property
    def scratch(self) -> Buffer:
        """The storage of the window."""
        return Buffer.packed(self.name, self.buffer.dtype, *self.extents)

    @property
    def alloc(self) -> Alloc:
        """Its allocation, one for each iteration."""
        return Alloc(self.scratch)

    def inside(self, index: tuple[IntExpr, ...]) -> tuple[IntExpr, ...]:
        """An index of the buffer as one of the window."""
        return tuple(at - needed.low for at, needed in zip(index, self.needed, strict=True))

    def read_in(self, suffix: str) -> Loop:
        """Loops that copy the elements of the buffer into the window."""
        return self._over(suffix, self.name, self.buffer.name)

    def write_back(self, suffix: str) -> Loop:
        """Loops that copy the elements of the window into the buffer."""
        return self._over(suffix, self.buffer.name, self.name)

    def _over(self, suffix: str, target: str, source: str) -> Loop:
        axes = range(len(self.bounds))
        names = [f"{self.name}_{suffix}{axis if len(axes) > 1 else ''}" for axis in axes]
        index = tuple(map(variable, names))
        at = {self.name: self.inside(index), self.buffer.name: index}
        body: Block = (Store(target, at[target], Load(source, at[source], self.buffer.dtype)),)
        for name, bounds in zip(reversed(names), reversed(self.bounds), strict=True):
            body = (Loop(name, bounds.low, bounds.high + 1, body),)
        (loop,) = body
        assert isinstance(loop, Loop)
        return loop

    def instead(self, block: Block) -> Block:
        """The block with the window in place of the buffer."""
        return reindexed(block, self.buffer.name, self.inside, self.name)


def window(name: str, buffer: Buffer, touched: Iterable[Touch], known: Ranges) -> Window:
    """The window that some touches need; RefusedError where it is not known how far they go."""
    found = region(touched)
    if found is None:
        raise RefusedError(f"it is not known from where to where the indices of {buffer.name} go")
    bounds = tuple(_clipped(one, extent, known) for one, extent in zip(found, buffer.extents, strict=True))
    return Window(name, buffer, found, bounds, tuple(_extent(buffer, one, known) for one in found))


def window_of(name: str, buffer: Buffer, axes: Iterable[Needed], known: Ranges) -> Window:
    """The window that has what is needed along each axis; axes of which all is needed are those of the buffer."""
    found, extents = [], []
    for whole, span in zip(buffer.extents, axes, strict=True):
        one = Interval(constant(0), whole - 1) if span is None else Interval(span.low, span.stop - 1)
        found.append(one)
        extents.append(whole if span is None else _extent(buffer, one, known))
    return Window(name, buffer, tuple(found), tuple(found), tuple(extents))


def _extent(buffer: Buffer, one: Interval, known: Ranges) -> IntExpr:
    """The greatest length of an interval."""
    length = most(one.high - one.low + 1)
    if length is None:
        raise RefusedError(f"it is not known how far {one.low} .. {one.high} of {buffer.name} go")
    return length if known.at_most(constant(0), length) else maximum(length, 0)


def _clipped(one: Interval, extent: IntExpr, known: Ranges) -> Interval:
    """The part of an interval that is inside of a buffer."""
    low = one.low if known.at_most(constant(0), one.low) else maximum(one.low, 0)
    high = one.high if known.below(one.high, extent) else minimum(one.high, extent - 1)
    return Interval(low, high)
