"""Copy what a loop touches of a buffer into scratch with rows and columns exchanged."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.rewrites.analysis.dependence import Touch, touches
from xjit.codegen.rewrites.analysis.exchange import reindexed
from xjit.codegen.rewrites.analysis.intervals import Interval
from xjit.codegen.rewrites.analysis.surroundings import known_before
from xjit.codegen.rewrites.analysis.sweeps import idle_loops, is_swept
from xjit.codegen.rewrites.analysis.windows import window
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, maximum, minimum, variable
from xjit.ir.loops.nodes import (
    UNKNOWN,
    Alloc,
    Block,
    Buffer,
    FromInt,
    If,
    Kernel,
    Load,
    Loop,
    Prim,
    Statement,
    Store,
    TransposeBlock,
)
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import statements
from xjit.types import BOOL, INT64


@dataclass(frozen=True, slots=True)
class StageTransposed:
    """Copy the part of a buffer that a loop reads into scratch in front of it, two axes exchanged.

    before      for i in 0 .. n:
                  for j in 0 .. m:
                    out[i, j] = (x[i] * a[j, 3])
    after       alloc t: f64[1, m] for each iteration   StageTransposed("a", "i", "t")
                t[0, 0] = transposed a[0, 3] of m x 1
                for i in 0 .. n:
                  for j in 0 .. m:
                    out[i, j] = (x[i] * t[0, j])

    Elements that are read across memory lie side by side then: packing.  What the loop writes is copied back behind
    it.  ``axes`` of the buffer become rows and columns of the scratch.  Where the buffer is touched in several ways,
    those elements are meant whose columns go along the loop ``along``, and of several planes the ``plane`` at these
    positions along other axes.  The copy is made in square blocks, element by element if ``block`` is 1, at once if
    it is 0.
    """

    buffer: str
    loop: str
    name: str
    axes: tuple[int, int] = (-1, -2)
    along: str = ""
    block: int = 0
    plane: tuple[tuple[int, int], ...] = ()

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses parts of buffers that are not known, or whose elements are touched in another way as well."""
        path, loop = found(kernel, self.loop)
        buffer = next((one.buffer for one in kernel.arguments if one.buffer.name == self.buffer), None)
        if buffer is None or len(buffer.extents) < 2:
            raise RefusedError(f"{self.buffer} is no argument of the kernel with rows and columns")
        if self.block > 1 and buffer.strides[self.axes[0]].value != 1:
            raise RefusedError(f"elements along axis {self.axes[0]} of {self.buffer} do not lie side by side")
        see_that_it_is_loaded_and_stored(self.buffer, (loop,))
        touched = self._touched(loop)
        known = known_before(kernel, path)
        part = self._part(buffer, loop, touched, known)
        scratch = Buffer.packed(self.name, buffer.dtype, *part.extents)
        inside = reindexed((loop,), self.buffer, part.inside, self.name, self._is_meant)
        is_made = is_swept(loop, touched) and all(touch.written for touch in touched)
        before = () if is_made else _if_there_are_any(_idle(buffer, loop, touched), known, part.copied_in())
        behind = part.copied_back() if any(touch.written for touch in touched) else ()
        return with_statements(kernel, loop, (Alloc(scratch), *before, *inside, *behind))

    def _is_meant(self, index: tuple[IntExpr, ...]) -> bool:
        is_along = not self.along or self.along in index[self.axes[1]].names()
        return is_along and all(index[axis].value == place for axis, place in self.plane)

    def _is_apart(self, index: tuple[IntExpr, ...]) -> bool:
        """Return whether an index is known to lie in another plane."""
        values = [(index[axis].value, place) for axis, place in self.plane]
        return any(value is not None and value != place for value, place in values)

    def _touched(self, loop: Loop) -> list[Touch]:
        """The touches of the buffer by the loop, of the elements that are meant."""
        every = (touch for touch in touches((loop,)) if touch.buffer == self.buffer)
        touched = [touch for touch in every if not self._is_apart(touch.index)]
        meant = [touch for touch in touched if self._is_meant(touch.index)]
        if not meant:
            raise RefusedError(f"the loop over {self.loop} does not touch {self.buffer} so")
        if not any(touch.written for touch in touched):
            return meant
        if len(meant) < len(touched):
            raise RefusedError(f"the loop over {self.loop} writes {self.buffer} and touches it in several ways")
        for one in statements((loop,)):
            if isinstance(one, Loop) and not one.kind.is_ordered:
                raise RefusedError(f"the loop over {one.variable}, which writes {self.buffer}, is {one.kind.value}")
        return meant

    def _part(self, buffer: Buffer, loop: Loop, touched: Sequence[Touch], known: Ranges) -> _Part:
        own = window(self.name, buffer, touched, known)
        rows, columns = (axis % len(own.needed) for axis in self.axes)
        needed, bounds = own.needed, own.bounds
        if is_swept(loop, touched) or _idle(buffer, loop, touched):
            bounds = needed  # whatever the extents of the buffer are, these elements are touched
        elif UNKNOWN in buffer.extents:
            raise RefusedError(f"the loop over {self.loop} may leave out elements that {self.buffer} may not have")
        if any(one.low != part.low for one, part in zip(needed, bounds, strict=True)):
            raise RefusedError(f"the part of {self.buffer} that is touched may begin before its first element")
        if any(one.low != one.high for axis, one in enumerate(needed) if axis not in (rows, columns)):
            raise RefusedError(f"several planes of {self.buffer} are touched")
        extents = own.extents[rows], own.extents[columns]
        start = tuple(one.low for one in needed)
        stops = [_stop(known, bounds[axis]) for axis in (rows, columns)]
        return _Part(self.name, buffer, (rows, columns), start, (stops[0], stops[1]), extents, self.block)


def _idle(buffer: Buffer, loop: Loop, touched: Sequence[Touch]) -> tuple[Loop, ...]:
    """The loops whose iterations say that elements are in a buffer of which nothing else is known."""
    is_read = UNKNOWN in buffer.extents and not any(touch.written for touch in touched)
    return (idle_loops(loop, touched) or ()) if is_read else ()


def _if_there_are_any(loops: Sequence[Loop], known: Ranges, block: Block) -> Block:
    """The block, only where loops have iterations."""
    for one in loops:
        if not known.below(one.start, one.stop):
            bounds = FromInt(one.start, INT64), FromInt(one.stop, INT64)
            block = (If(Prim("lt", bounds, BOOL), block),)
    return block


def _stop(known: Ranges, one: Interval) -> IntExpr:
    """The end of an interval, its beginning at least."""
    return one.high + 1 if known.at_most(one.low, one.high + 1) else maximum(one.high + 1, one.low)


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of a buffer from ``start`` on, to ``stops`` along ``axes``, which are rows and columns of scratch."""

    name: str
    buffer: Buffer
    axes: tuple[int, int]
    start: tuple[IntExpr, ...]
    stops: tuple[IntExpr, IntExpr]
    extents: tuple[IntExpr, ...]
    block: int

    def inside(self, index: tuple[IntExpr, ...]) -> tuple[IntExpr, ...]:
        """An index of the buffer as one of the scratch."""
        return tuple(index[axis] - self.start[axis] for axis in self.axes)

    def copied_in(self) -> Block:
        """The copy of the buffer in scratch."""
        rows, columns = self.axes
        return self._copied((self.name, self.buffer.name), ((1, columns), (0, rows)), is_written=False)

    def copied_back(self) -> Block:
        """The copy of the scratch in the buffer."""
        rows, columns = self.axes
        return self._copied((self.buffer.name, self.name), ((rows, 0), (columns, 1)), is_written=True)

    def _copied(
        self, names: tuple[str, str], axes: tuple[tuple[int, int], tuple[int, int]], *, is_written: bool
    ) -> Block:
        """The copy from the second of two buffers to the first."""
        at = [self.start[axis] for axis in self.axes]
        if self.block:
            at = [variable(f"{self.name}_{one}") for one in ("row", "column")]
        here = list(self.start)
        for axis, place in zip(self.axes, at, strict=True):
            here[axis] = place
        places = self.inside(tuple(here)), tuple(here)
        to, origin = reversed(places) if is_written else places
        left = [stop - place for stop, place in zip(self.stops, at, strict=True)]
        counts = left if not self.block else [minimum(one, self.block) for one in left]
        extents = (counts[0], counts[1]) if is_written else (counts[1], counts[0])
        statement: Statement = TransposeBlock(names[0], to, names[1], origin, extents, *axes)
        if self.block == 1:
            statement = Store(names[0], to, Load(names[1], origin, self.buffer.dtype))
        return (statement,) if not self.block else self._in_blocks(statement)

    def _in_blocks(self, statement: Statement) -> Block:
        """The loops over blocks; what is contiguous in the buffer is the inner one, but for single elements."""
        body: Block = (statement,)
        for number in (1, 0) if self.block == 1 else (0, 1):
            name = f"{self.name}_{('row', 'column')[number]}"
            start, stop = self.start[self.axes[number]], self.stops[number]
            body = (Loop(name, start, stop, body, step=self.block),)
        return body
