"""Keep a block of scratch and the last elements before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import known_inside, touches
from xjit.codegen.rewrites.analysis.exchange import reindexed
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.intervals import interval, most, region
from xjit.codegen.rewrites.analysis.surroundings import block_of, known_before, with_block
from xjit.codegen.rewrites.record import RefusedError, found
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, minimum, variable
from xjit.ir.loops.nodes import Alloc, Block, Buffer, Kernel, LetInt, Load, Loop, Statement, Store
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import replaced


@dataclass(frozen=True, slots=True)
class SlideStorage:
    """Keep the elements of scratch that a loop over blocks needs in one: its own, and some before it.

    before      alloc c: f64[n] for each iteration
                for b in 0 .. n by 512:
                  for i in b .. min(b + 512, n):
                    c[i] = (x[i] * x[i])
                  for j in max(2, b) .. min(b + 512, n):
                    out[j] = (c[j] - c[j - 2])
    after       alloc c: f64[514] for each iteration    SlideStorage(("c",), "b")
                for b in 0 .. n by 512:
                  for i in b .. min(b + 512, n):
                    c[-b + i + 2] = (x[i] * x[i])
                  for j in max(2, b) .. min(b + 512, n):
                    out[j] = (c[-b + j + 2] - c[-b + j])
                  b_end = min(b + 512, n)
                  for b_h in max(-b_end + 2, 0) .. 2:
                    c[b_h] = c[-b + b_end + b_h]

    Behind each block those before the next one move to the front.
    """

    buffers: tuple[str, ...]
    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where it is not known how far before a block elements are needed, or some behind it are."""
        path, loop = found(kernel, self.loop)
        if not loop.kind.is_ordered or loop.start.value != 0:
            raise RefusedError(f"the loop over {self.loop} runs in no order, or begins later than at 0")
        block, known = block_of(kernel, path), known_inside(known_before(kernel, path), loop, {})
        windows = [self._window(name, block, loop, known) for name in self.buffers]
        body = loop.body
        for one in windows:
            body = reindexed(body, one.alloc.buffer.name, one.inside)
        new = replaced(block, loop, (replace(loop, body=(*body, *self._moved(windows, loop, Names(kernel)))),))
        for one in windows:
            new = tuple(one.smaller if other is one.alloc else other for other in new)
        return with_block(kernel, block, new)

    def _window(self, name: str, block: Block, loop: Loop, known: Ranges) -> _Window:
        alloc = next((one for one in block if isinstance(one, Alloc) and one.buffer.name == name), None)
        if alloc is None or len(alloc.buffer.extents) != 1:
            raise RefusedError(f"{name} is no line of scratch allocated beside the loop over {self.loop}")
        see_that_it_is_loaded_and_stored(name, block)
        inside = [touch for touch in touches(loop.body) if touch.buffer == name]
        if len(inside) != sum(touch.buffer == name for touch in touches(block)):
            raise RefusedError(f"{name} is not touched in the loop over {self.loop} alone")
        start = variable(loop.variable)
        lines = [interval(touch.index[0], touch.around) for touch in inside]
        before = [most(start - one.low) for one in lines if one is not None]
        behind = [most(one.high + 1 - start) for one in lines if one is not None]
        if None in lines or None in before or None in behind:
            raise RefusedError(f"it is not known from where to where the indices of {name} go")
        room = _greatest([one for one in behind if one is not None], known)
        if not known.at_most(room, constant(loop.step)):
            raise RefusedError(f"elements of {name} behind a block are needed")
        history = _greatest([constant(0), *(one for one in before if one is not None)], known)
        stored = region(replace(touch, around=(loop, *touch.around)) for touch in inside if touch.written)
        return _Window(alloc, start, history, room, constant(0) if stored is None else stored[0].low)

    def _moved(self, windows: list[_Window], loop: Loop, names: Names) -> Iterator[Statement]:
        """Loops that move what was written of the elements before the next block."""
        moving = [one for one in windows if one.history.value != 0]
        if not moving:
            return
        end, step = (names.fresh(f"{loop.variable}_{what}") for what in ("end", "h"))
        yield LetInt(end, minimum(variable(loop.variable) + loop.step, loop.stop))
        count = variable(end) - variable(loop.variable)
        for history, begin in dict.fromkeys((one.history, one.begin) for one in moving):
            alike = [one.alloc.buffer for one in moving if (one.history, one.begin) == (history, begin)]
            at = variable(step)
            copies = (Store(one.name, (at,), Load(one.name, (at + count,), one.dtype)) for one in alike)
            yield Loop(step, maximum(history - variable(end) + begin, 0), history, tuple(copies))


@dataclass(frozen=True, slots=True)
class _Window:
    """Scratch of ``room`` elements of a block and ``history`` before it; ``begin`` is the first ever written."""

    alloc: Alloc
    start: IntExpr
    history: IntExpr
    room: IntExpr
    begin: IntExpr

    def inside(self, index: tuple[IntExpr, ...]) -> tuple[IntExpr, ...]:
        """An element as one of the window."""
        return (index[0] - self.start + self.history,)

    @property
    def smaller(self) -> Alloc:
        """The window in place of all elements."""
        buffer = self.alloc.buffer
        return Alloc(Buffer.packed(buffer.name, buffer.dtype, self.history + self.room), self.alloc.scope)


def _greatest(several: list[IntExpr], known: Ranges) -> IntExpr:
    """The greatest of some expressions, as one of them where that is proved."""
    kept: list[IntExpr] = []
    for one in several:
        if not any(known.at_most(one, other) for other in kept):
            kept = [*(other for other in kept if not known.at_most(other, one)), one]
    return maximum(*kept)
